"""One store: what it answers, and what it says about what it does not have."""

from pathlib import Path
from typing import Any

import pytest

from pogstore.errors import AmbiguousName, NotFound, ObjectDamaged
from pogstore.model import BlobId, EventId, Text
from pogstore.store import content
from pogstore.store.loose import find_loose
from pogstore.store.refs import TASKS
from pogstore.store.store import DEFAULT_MAX_BLOB, Store, open_store
from tests.builders_store import OTHER, TASK, append, edit, noted, opened, topics
from tests.conftest import Repo


def test_what_is_written_is_read_in_replay_order(store: Store) -> None:
    written = [append(store, str(number), TASK if number % 2 else OTHER) for number in range(6)]
    assert store.tasks() == [TASK, OTHER]
    assert store.events(TASK) == written[1::2]
    assert store.events(OTHER) == written[::2]
    for sealed in written:
        assert store.event(sealed.event_id) == sealed
    assert list(store.newest_of(["noted"])) == written[::-1]
    assert list(store.newest_of(["moved", "ran"])) == []


def test_what_is_absent_is_named(store: Store) -> None:
    for ask, name in (
        (lambda: store.events(TASK), TASK),
        (lambda: store.event(EventId("a" * 64)), "a" * 64),
        (lambda: store.read_content(BlobId("b" * 64)), "b" * 64),
        (lambda: store.resolve_event("c" * 8), "c" * 8),
    ):
        with pytest.raises(NotFound, match=name):
            ask()
    assert store.find_content(BlobId("b" * 64)) is None
    assert store.find_text(None) is None
    assert store.find_text(Text(blob=BlobId("b" * 64), size=1, class_="private")) is None
    assert store.tasks() == []
    assert list(store.tips()) == []


def test_an_event_is_found_by_the_beginning_of_its_id(store: Store) -> None:
    written = sorted(append(store, str(number)).event_id for number in range(40))
    for event_id in written:
        length = next(n for n in range(1, 65) if sum(other.startswith(event_id[:n]) for other in written) == 1)
        assert store.resolve_event(event_id[:length]) == event_id
    with pytest.raises(AmbiguousName) as caught:
        store.resolve_event("")
    assert set(caught.value.candidates) <= {event_id[:16] for event_id in written}
    assert store.event_ids(written[3][:6]) == [written[3]]
    assert store.event_ids("f" * 64) == []
    assert store.event_ids("%") == store.event_ids("zz") == []


def test_contents_are_checked_against_their_names(store: Store) -> None:
    """T14: swapped content is damage, not an answer."""
    edit(store, "a.py", b"print()\n")
    blob = content.blob_id(b"print()\n")
    assert store.read_content(blob) == b"print()\n"
    other = store.git.run("hash-object", "-w", "--stdin", stdin=b"other").stdout.decode().strip()
    store.index.connection.execute("UPDATE contents SET oid = ?", (other,))
    with pytest.raises(ObjectDamaged, match="holds something else"):
        store.read_content(blob)


def test_a_content_whose_object_is_damaged_is_named(store: Store) -> None:
    edit(store, "a.py", b"print()\n")
    row = store.find_content(content.blob_id(b"print()\n"))
    assert row is not None
    path = find_loose(store.layout.objects, row.oid)
    assert path is not None
    path.chmod(0o644)
    path.write_bytes(b"")
    with pytest.raises(ObjectDamaged, match=row.oid):
        store.read_content(content.blob_id(b"print()\n"))


def test_a_text_comes_back(store: Store) -> None:
    text = store.transact(lambda batch: batch.add_text(TASK, "said\n", "private"))
    assert store.read_text(text) == store.find_text(text) == "said\n"


def test_what_a_text_names_must_be_one(store: Store) -> None:
    edit(store, "a.py", b"no salt")
    with pytest.raises(ObjectDamaged, match="without its salt"):
        store.find_text(Text(blob=content.blob_id(b"no salt"), size=7, class_="content"))


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, (False, DEFAULT_MAX_BLOB, True)),
        ({"pog.enabled": "true", "pog.maxBlob": "1k", "pog.fsync": "no"}, (True, 1024, False)),
        ({"pog.enabled": "perhaps", "pog.maxBlob": "lots", "pog.fsync": "7x"}, (False, DEFAULT_MAX_BLOB, True)),
    ],
)
def test_settings(repo: Repo, settings: dict[str, str], expected: Any) -> None:
    for name, value in settings.items():
        repo.git("config", name, value)
    store = open_store(repo.path)
    assert (store.enabled, store.max_blob, store.fsync) == expected


def test_a_store_is_opened_from_anywhere_in_the_repository(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    append(opened(repo), "one")
    (repo.path / "sub").mkdir()
    monkeypatch.chdir(repo.path / "sub")
    assert topics(open_store()) == topics(open_store(str(repo.path))) == ["one"]


def test_nothing_of_the_users_is_touched(store: Store, repo: Repo) -> None:
    """DESIGN 6: index, HEAD, branches, reflogs and work tree stay as they are."""
    repo.commit({"a.py": "1\n"})
    repo.git("checkout", "-q", "-b", "topic")
    (repo.path / "a.py").write_text("dirty\n")
    (repo.path / "new").write_text("untracked\n")
    ours = (repo.path / ".git" / "pog", repo.path / ".git" / "objects", repo.path / ".git" / "refs" / "pog")

    def seen() -> dict[Path, tuple[int, bytes]]:
        return {
            path: (path.stat().st_mtime_ns, path.read_bytes())
            for path in repo.path.rglob("*")
            if path.is_file() and not any(path.is_relative_to(own) for own in ours)
        }

    before = seen()
    append(store, "one")
    edit(store, "a.py", b"2\n")
    store.transact(lambda batch: [batch.append(noted()) for _ in range(100)])
    assert len(store.events(TASK)) == 102
    assert seen() == before
    assert [name for name in store.tips() if not name.startswith("refs/pog/")] == []
    assert TASKS + TASK in store.tips()


def test_a_clone_has_nothing_until_it_is_fetched(store: Store, repo: Repo, tmp_path: Path) -> None:
    append(store, "one")
    repo.git("clone", "-q", str(repo.path), str(tmp_path / "clone"))
    clone = Repo(tmp_path / "clone")
    assert open_store(clone.path).tasks() == []
    clone.git("fetch", "-q", "origin", "refs/pog/*:refs/pog/*")
    fetched = open_store(clone.path)
    assert fetched.events(TASK) == store.events(TASK)
    assert clone.git("fsck", "--strict", "--no-dangling") == ""


def test_nothing_is_lost_by_gc(store: Store, repo: Repo) -> None:
    """RC-16, SC-58."""
    for number in range(5):
        append(store, str(number))
        edit(store, "a.py", b"%d" % number)
    repo.git("gc", "-q", "--prune=now")
    store.index.discard()
    assert len(store.events(TASK)) == 10
    assert [store.read_content(content.blob_id(b"%d" % number)) for number in range(5)]
    append(store, "after")
    assert len(store.events(TASK)) == 11
    assert repo.git("fsck", "--strict") == ""
