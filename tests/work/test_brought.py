"""What `work/brought.py` remembers between drains, and what `Recorded` finds by it that nothing else has any more."""

from pathlib import Path

import pytest

from pogstore.digest import hexdigest
from pogstore.draft import FileVersion
from pogstore.model import Oid
from pogstore.work import brought
from pogstore.work.brought import Brought
from pogstore.work.compared import compare, observe
from pogstore.work.spooled_record import Seen
from tests.builders_store import opened
from tests.conftest import Repo
from tests.work.test_compared import Watched, record, told

ONE, TWO = Oid("1" * 40), Oid("2" * 64)
HASHES = [f"{number:064x}" for number in range(8)]


def listed(folder: Path) -> list[str]:
    return [line[:64] for line in (folder / brought.NAME).read_text().splitlines()[2:]]


def test_what_was_added_is_known_to_the_next_one(tmp_path: Path) -> None:
    Brought(tmp_path).add({HASHES[0]: ONE, HASHES[1]: TWO})
    found = Brought(tmp_path)
    assert [found.oid(each) for each in HASHES[:3]] == [ONE, TWO, None]
    assert (tmp_path / brought.NAME).stat().st_mode & 0o777 == 0o600
    assert [each.name for each in tmp_path.iterdir()] == [brought.NAME]


@pytest.mark.parametrize("at", [0, 20, 90, -1])
def test_a_damaged_file_says_nothing_and_is_written_anew(tmp_path: Path, at: int) -> None:
    Brought(tmp_path).add({HASHES[0]: ONE})
    path = tmp_path / brought.NAME
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)
    found = Brought(tmp_path)
    assert found.oid(HASHES[0]) is None
    found.add({HASHES[1]: TWO})
    assert listed(tmp_path) == [HASHES[1]]


def test_the_newest_are_kept_and_those_that_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(brought, "MOST", 3)
    for number, each in enumerate(HASHES[:5]):
        Brought(tmp_path).add({each: ONE}, HASHES[:1] if number else ())
    assert listed(tmp_path) == [HASHES[3], HASHES[0], HASHES[4]]
    Brought(tmp_path).add(dict.fromkeys(HASHES, ONE))
    assert sorted(listed(tmp_path)) == HASHES, "one look tells of more"


def test_nothing_is_written_where_nothing_is_new_or_nothing_can_be(tmp_path: Path) -> None:
    Brought(tmp_path / "none").add({HASHES[0]: ONE})
    Brought(tmp_path).add({}, HASHES)
    Brought(tmp_path).look_anew()
    assert list(tmp_path.iterdir()) == []


def told_once(repo: Repo, data: bytes = b"as a branch has it\n") -> Watched:
    """A work tree with a file as a branch has it, and not HEAD: one look told its bytes, and nothing else is known."""
    repo.commit({"file": "as it was\n"})
    repo.commit({"file": data})
    repo.git("branch", "other")
    repo.git("reset", "--quiet", "HEAD~1")
    tree = Watched(repo)
    assert tree.begin().states
    assert not tree.store.tasks()
    return tree


def by_command(tree: Watched) -> tuple[str | None, list[tuple[object, bytes | None, bytes | None]]]:
    """Lets a command change the file; its looks are met by the next drain, when the file is no more what it was."""
    tree.recorded = tree.fresh()
    begin = tree.look()
    tree.write("file", "by a command\n")
    end = tree.look()
    observe(tree.recorded, None, begin)
    found = compare(tree.recorded, begin, end)
    return found.reason, told(found.changes)


@pytest.mark.parametrize("data", [b"as a branch has it\n", b"as a branch has it\r\n"])
def test_what_git_brought_is_known_after_a_drain_when_a_command_changes_it(repo: Repo, data: bytes) -> None:
    if b"\r" in data:
        repo.git("config", "core.autocrlf", "true")
    tree = told_once(repo, data)
    assert by_command(tree) == ("shell", [("file", b"as a branch has it\n", b"by a command\n")])


def test_what_cannot_be_found_again_is_told_by_the_next_look(repo: Repo) -> None:
    """Somebody deleted the file, or git has removed the blob: the loss is said, and does not last."""
    tree = told_once(repo)
    (tree.store.layout.own_here / brought.NAME).unlink()
    assert by_command(tree) == ("unread", [("file", None, None)])
    assert not (tree.store.layout.own_here / "looked").exists()
    state = tree.look().states[b"file"]
    assert isinstance(state, Seen)
    assert state.data == b"by a command\n"


def test_a_blob_that_is_gone_is_none(repo: Repo) -> None:
    tree = told_once(repo)
    repo.git("branch", "-D", "other")
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("gc", "--quiet", "--prune=now")
    tree.store.close()
    tree.store = opened(repo)
    assert by_command(tree)[0] == "unread"


def test_only_what_git_has_is_remembered(repo: Repo) -> None:
    tree = told_once(repo)
    tree.write("mine", "written by hand\n")
    tree.write("file", "by hand\n")
    tree.end(tree.begin())
    assert listed(tree.store.layout.own_here) == [hexdigest(b"as a branch has it\n")]


def test_what_an_event_stores_is_found_wherever_it_stood(repo: Repo) -> None:
    """No event is on this path, and the file is gone: that the store has the content by its name is enough."""
    tree = Watched(repo)
    record(tree.store, "elsewhere", b"stored\n", tree.recorded.worktree or "")
    state = Seen(b"file", "100644", 7, hexdigest(b"stored\n"), None, kept=True)
    assert tree.fresh().held(state).version == FileVersion(mode="100644", data=b"stored\n")
