"""What `history/verify_contents.py` promises: nothing in a content chain but contents under their own names (T14)."""

import pytest

from pogstore.history.verify import verify
from pogstore.store import content
from pogstore.store.carrier import content_commit
from pogstore.store.loose import oid_of
from pogstore.store.refs import CONTENT
from pogstore.store.store import Store
from tests.conftest import STARTED, Repo
from tests.history.stores import (
    SALTED,
    TASK,
    append,
    content_chain,
    content_oids,
    enabled,
    naming,
    objects_of,
    only,
    point,
    raw,
    text_of,
    write,
)


@pytest.fixture
def store(repo: Repo) -> Store:
    """The store of `repo`, in which events may be written."""
    return enabled(repo)


def test_a_swapped_content_is_named(repo: Repo, store: Store) -> None:
    append(store, "stepped")
    commit, tree, one, other = content_oids(repo, "content")
    names = repo.git("ls-tree", "--name-only", tree).splitlines()
    swapped = write(repo, "tree", content.tree({names[0]: other, names[1]: one}))
    point(repo, write(repo, "commit", raw(repo, commit).replace(tree.encode(), swapped.encode())), place=CONTENT)
    report = verify(store)
    assert sorted(objects_of(report)) == sorted([one, other])
    assert all(fault.reason.startswith("holds the content ") for fault in report.faults)
    assert {name[:64] for name in names} == {fault.lost.split()[1].rstrip(",") for fault in report.faults}


NO_TEXTS = {
    "no salt": (b"spoken", "is a text without its salt"),
    "a salt of other letters": (b"X" + SALTED[1:], "is a text without its salt"),
    "not UTF-8": (SALTED + b"\xff", "is a text that is not UTF-8"),
}


@pytest.mark.parametrize(("data", "reason"), NO_TEXTS.values(), ids=NO_TEXTS)
def test_a_text_that_is_none_is_named(repo: Repo, store: Store, data: bytes, reason: str) -> None:
    naming(repo, text_of(data))
    content_chain(repo, {content.blob_id(data): data})
    fault = only(verify(store))
    assert (fault.object, fault.reason) == (oid_of("blob", data), reason)
    assert content.blob_id(data) in fault.lost
    content_chain(repo, {content.file_name(content.blob_id(data), "a"): data})
    fault = only(verify(store))
    assert (fault.object, fault.reason) == (content.blob_id(data), reason)


def test_sizes_must_agree(repo: Repo, store: Store) -> None:
    naming(repo, text_of(SALTED, size=7))
    content_chain(repo, {content.blob_id(SALTED): SALTED})
    assert only(verify(store)).reason == "has 6 bytes where its event says 7"
    naming(repo, text_of(SALTED, size=6))
    assert verify(store).ok
    naming(repo, text_of(SALTED, size=5), text_of(SALTED, size=6))
    assert only(verify(store)).reason == "has 6 bytes where its event says 5"


def test_a_name_that_no_content_can_have_is_named(repo: Repo, store: Store) -> None:
    blob = content.blob_id(SALTED)
    for name in (blob[:63], f"{blob}-short", f"{blob}-{'G' * 16}", f"{blob}.{'0' * 16}", "note.txt"):
        commit = content_chain(repo, {name: SALTED})
        fault = only(verify(store))
        assert (fault.object, fault.ref) == (repo.git("rev-parse", f"{commit}^{{tree}}"), CONTENT + TASK)
        assert fault.reason == "holds something else than contents, in order"


def test_a_tree_holds_nothing_but_contents(repo: Repo, store: Store) -> None:
    name, blob = content.blob_id(SALTED).encode(), bytes.fromhex(write(repo, "blob", SALTED))
    whole = b"100644 %b\0%b" % (name, blob)
    for data in (
        b"100755 %b\0%b" % (name, blob),
        b"40000 %b\0%b" % (name, bytes.fromhex(write(repo, "tree", b""))),
        whole * 2,
        b"100644 %b-%b\0%b" % (name, b"0" * 16, blob) + whole,
        whole[:-1],
        whole + b"x",
    ):
        tree = write(repo, "tree", data)
        point(repo, write(repo, "commit", content_commit(tree, [], STARTED)), place=CONTENT)
        assert only(verify(store)).object == tree, data


def test_a_forged_content_commit_is_named(repo: Repo, store: Store) -> None:
    for change in (
        lambda data: data.replace(b"author pogstore", b"author Eve"),
        lambda data: data.replace(b"+0000", b"+0100"),
        lambda data: data + b"\nmore\n",
        lambda data: data.replace(b"\n\n", b"\nencoding x\n\n"),
    ):
        oid = content_chain(repo, {content.blob_id(SALTED): SALTED}, change)
        fault = only(verify(store))
        assert (fault.object, fault.reason) == (oid, "is not a commit of contents")
