"""Contents: names, salts, path tags, git trees; and what is refused in a tree."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pogstore import digest
from pogstore.errors import ObjectDamaged
from pogstore.model import BlobId, OddPath, Oid
from pogstore.store import content
from pogstore.store.loose import oid_of, write_loose
from tests.conftest import Repo

SALT = "0" * 32
OID = Oid("1" * 40)
BLOB = BlobId("a" * 64)


@given(st.text(max_size=50), st.binary(min_size=16, max_size=16).map(bytes.hex))
def test_a_text_comes_back_without_its_salt(text: str, salt: str) -> None:
    data = content.salted(text, salt)
    assert data == f"{salt}\n{text}".encode()
    assert content.text_in(content.blob_id(data), data) == text


def test_the_name_of_a_text_depends_on_its_salt() -> None:
    """T19: after an erasure the name of "yes" says nothing."""
    names = {content.blob_id(content.salted("yes", os.urandom(16).hex())) for _ in range(20)}
    assert len(names) == 20
    assert digest.hexdigest(b"yes") not in names


@pytest.mark.parametrize("data", [b"", b"0" * 32, b"0" * 33, b"0" * 31 + b"\ntext", b"0" * 32 + b"\n\xff"])
def test_what_is_no_salted_text_is_damaged(data: bytes) -> None:
    with pytest.raises(ObjectDamaged) as caught:
        content.text_in(BLOB, data)
    assert caught.value.name == BLOB


def test_equal_versions_have_one_name_and_each_path_its_tag() -> None:
    first, second = (content.file_name(BLOB, path) for path in ("a.py", "b/a.py"))
    assert first != second
    assert first == f"{BLOB}-{digest.hexdigest(b'a.py')[:16]}"
    assert content.file_name(BLOB, OddPath(b64="YS5weQ==")) == first
    assert content.file_name(BLOB, OddPath(outside=True)) == f"{BLOB}-{digest.hexdigest(b'')[:16]}"


@given(st.binary(min_size=1, max_size=20))
def test_every_path_can_be_spelled(name: bytes) -> None:
    """PC-60, PC-61."""
    path = content.path_of(name)
    assert content.path_bytes(path) == name
    assert isinstance(path, str) or path.b64


@pytest.mark.parametrize(
    "path", [OddPath(), OddPath(outside=True), OddPath(b64="A"), OddPath(b64="!!!!"), OddPath(b64="é")]
)
def test_a_path_that_nobody_can_read_is_none(path: OddPath) -> None:
    """A fetched event may say anything; nothing breaks on it."""
    assert content.path_bytes(path) is None


@given(st.dictionaries(st.binary(min_size=32, max_size=32).map(bytes.hex), st.just(OID), max_size=6))
def test_a_tree_says_what_it_was_given(entries: dict[str, Oid]) -> None:
    data = content.tree(entries)
    assert {(entry.blob, entry.name, entry.oid) for entry in content.entries_of(OID, data)} == {
        (name, name, oid) for name, oid in entries.items()
    }


def test_git_makes_the_same_tree(repo: Repo) -> None:
    objects = repo.path / ".git" / "objects"
    blob = write_loose(objects, "blob", b"x", fsync=False)
    names = [content.file_name(BlobId(f"{n:064x}"), f"p{n}") for n in (3, 1, 2)] + ["b" * 64]
    listed = "".join(f"100644 blob {blob}\t{name}\n" for name in names)
    assert repo.git("mktree", input=listed) == oid_of("tree", content.tree(dict.fromkeys(names, blob)))


@pytest.mark.parametrize(
    "data",
    [
        b"100644 " + b"a" * 64,
        b"100644 " + b"a" * 64 + b"\0" + b"x" * 19,
        b"100755 " + b"a" * 64 + b"\0" + b"x" * 20,
        b"40000 " + b"a" * 64 + b"\0" + b"x" * 20,
        b"100644 short\0" + b"x" * 20,
        b"100644" + b"a" * 64 + b"\0" + b"x" * 20,
        b"\0",
    ],
)
def test_a_tree_that_holds_something_else_is_damaged(data: bytes) -> None:
    with pytest.raises(ObjectDamaged) as caught:
        list(content.entries_of(OID, data))
    assert caught.value.name == OID
