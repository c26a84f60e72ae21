"""What blame keeps in the index changes no answer, whenever and from wherever events come."""

import shutil
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from unittest import mock
from uuid import uuid4

import pytest

from pogstore.draft import DraftChange, FileVersion
from pogstore.history import attributed as module
from pogstore.history.attribution import Attribution
from pogstore.history.beforehand import prepare
from pogstore.history.blame import BlamedLine, blame
from pogstore.history.past import Past, WholePast
from pogstore.history.stream import EventStep
from pogstore.model import Oid
from pogstore.store import gitlog
from pogstore.store.libgit2 import line_hunks
from pogstore.store.store import Store, open_store
from pogstore.work import intake
from tests.conftest import Repo
from tests.history.agents import OTHER, Agent

BASE = "alpha line of the base\nbeta line of the base\ngamma line of the base\n"
ADDED = "delta line by the agent\nepsilon line by the agent\n"
LATER = {"GIT_AUTHOR_DATE": "2026-01-05T09:30:00+00:00", "GIT_COMMITTER_DATE": "2026-01-05T09:30:00+00:00"}


@pytest.fixture
def replays() -> Iterator[mock.Mock]:
    """Counts how often a file is looked at from its beginning."""
    with mock.patch.object(module, "Attribution", wraps=Attribution) as counted:
        yield counted


def lines(store: Store, path: str, revision: str | None = None, *, strict: bool = False) -> tuple[BlamedLine, ...]:
    """Returns a file's lines without git's heads, which tell the present time of what is not committed."""
    found = blame(store, path.encode(), revision, strict=strict)
    return tuple(line._replace(head=()) for line in found.lines)


def fresh(repo: Repo, path: str) -> tuple[BlamedLine, ...]:
    """Returns the answer where nothing was kept: in a copy of the repository."""
    copy = repo.path.with_name(f"copy-{uuid4()}")
    shutil.copytree(repo.path, copy, symlinks=True)
    for file in (copy / ".git" / "pog").glob("index.*"):
        file.unlink()
    store = open_store(copy)
    found = lines(store, path)
    store.close()
    return found


def test_an_event_from_another_clone_that_came_late_counts(repo: Repo, tmp_path: Path, replays: mock.Mock) -> None:
    """The other clone's event is older than what was blamed here, and explains a line of the commit."""
    repo.commit({"a.py": BASE, "b.py": BASE}, "base")
    other = Repo(tmp_path / "other")
    repo.git("clone", "-q", str(repo.path), str(other.path))
    late = Agent(other, OTHER, name="late")
    event = late.write("a.py", BASE + ADDED)
    here = Agent(repo)
    here.write("b.py", BASE + "a line of b by the agent\n")
    repo.commit({"a.py": BASE + ADDED}, "work of the other")
    assert [line.owner for line in lines(here.store, "a.py")] == ["commit"] * 5
    known = lines(here.store, "b.py")
    looked_at = replays.call_count
    repo.git("fetch", "-q", str(other.path), "refs/pog/*:refs/pog/*")
    assert [line.event for line in lines(here.store, "a.py")][3:] == [event] * 2
    assert replays.call_count == looked_at + 1
    assert lines(here.store, "b.py") == known
    assert replays.call_count == looked_at + 1, "what came late was not about this file"
    assert lines(here.store, "a.py") == fresh(repo, "a.py")


def test_contents_that_come_late_count(repo: Repo, tmp_path: Path) -> None:
    repo.commit({"a.py": BASE}, "base")
    other = Repo(tmp_path / "other")
    repo.git("clone", "-q", str(repo.path), str(other.path))
    agent = Agent(other)
    event = agent.write("a.py", BASE + ADDED)
    Agent(repo, OTHER)
    repo.commit({"a.py": BASE + ADDED}, "work")
    repo.git("fetch", "-q", str(other.path), "refs/pog/tasks/*:refs/pog/tasks/*")
    store = open_store(repo.path)
    first = blame(store, b"a.py")
    assert first.absent == (event,)
    assert first == blame(store, b"a.py")
    repo.git("fetch", "-q", str(other.path), "refs/pog/content/*:refs/pog/content/*")
    assert [line.event for line in lines(store, "a.py")][3:] == [event] * 2


def test_an_event_that_is_gone_owns_nothing(repo: Repo) -> None:
    repo.commit({"a.py": BASE}, "base")
    first = Agent(repo)
    second = Agent(repo, OTHER, started=first.now + 1_000_000)
    kept = first.write("a.py", BASE + ADDED)
    gone = second.write("a.py", BASE + ADDED + "a last line by the second\n")
    assert [line.event for line in lines(first.store, "a.py")][3:] == [kept, kept, gone]
    repo.git("update-ref", "-d", f"refs/pog/tasks/{OTHER}")
    assert [line.event for line in lines(first.store, "a.py")][3:] == [kept, kept, None]


def test_an_answer_is_kept_without_reading_the_events(repo: Repo, replays: mock.Mock) -> None:
    repo.commit({"a.py": BASE}, "base")
    agent = Agent(repo)
    agent.write("a.py", BASE + ADDED)
    first = lines(agent.store, "a.py")
    with mock.patch.object(module, "stream_of", side_effect=AssertionError):
        assert lines(agent.store, "a.py") == first
    assert replays.call_count == 1


def test_strict_gives_a_line_to_who_changed_its_white_space_and_both_answers_are_kept(
    repo: Repo, replays: mock.Mock
) -> None:
    repo.commit({"a.py": BASE}, "base")
    agent = Agent(repo)
    event = agent.write("a.py", BASE + ADDED)
    repo.git("commit", "-qam", "work", env=LATER)
    formatted = BASE + "".join(f"    {line}\n" for line in ADDED.splitlines())
    (repo.path / "a.py").write_text(formatted)
    repo.git("commit", "-qam", "format", env=LATER)
    for _ in range(2):
        assert [line.event for line in lines(agent.store, "a.py")] == [None] * 3 + [event] * 2
        assert [line.event for line in lines(agent.store, "a.py", strict=True)] == [None] * 5
    assert replays.call_count == 2


def history(repo: Repo) -> Agent:
    """Files that are changed, renamed, copied, merged and deleted, by an agent and by commits."""
    repo.commit({"a.py": BASE, "b.py": BASE * 3 + "one of its own\n", "sub/c.py": ADDED * 5}, "base")
    agent = Agent(repo)
    agent.write("a.py", BASE + ADDED)
    repo.git("commit", "-qam", "work", env=LATER)
    repo.git("switch", "-qc", "side")
    repo.git("mv", "b.py", "moved.py")
    repo.git("commit", "-qm", "move", env=LATER)
    repo.commit({"a.py": "first\n" + BASE + ADDED}, "on the side")
    repo.git("switch", "-q", "main")
    repo.commit({"a.py": BASE + ADDED + "last\n", "n.py": "no newline at its end"}, "on main")
    repo.git("merge", "-q", "side", "-m", "merge", env=LATER)
    agent.write("moved.py", BASE * 3 + "one of its own\nanother by the agent\n")
    repo.git("commit", "-qam", "more", env=LATER)
    return agent


def test_one_look_at_the_whole_history_says_the_same_as_one_at_each_file(repo: Repo) -> None:
    store = history(repo).store
    tip = gitlog.find_head(store.git)
    assert tip is not None
    whole, single = WholePast(store, tip), Past(store, tip)
    assert set(whole.files) == {b"README", b"a.py", b"moved.py", b"n.py", b"sub/c.py"}
    for path in whole.files:
        for names in ([path], [path, b"b.py"], [path, b"sub"]):
            assert whole.commits(names) == single.commits(names), names
        assert whole.blob(path) == single.blob(path)
        assert not whole.never_renamed(path) or gitlog.older_names(store.git, tip, path) == []
    assert not whole.never_renamed(b"moved.py")
    assert whole.never_renamed(b"a.py")


def test_what_was_found_beforehand_is_what_would_be_found(repo: Repo, replays: mock.Mock) -> None:
    store = history(repo).store
    expected = {path: fresh(repo, path) for path in ("a.py", "moved.py", "n.py", "sub/c.py")}
    assert list(prepare(store)) == [(done, 5) for done in (1, 2, 3, 4, 5)]
    looked_at = replays.call_count
    for path, found in expected.items():
        assert lines(store, path) == found
    assert replays.call_count == looked_at


def test_one_file_is_answered_before_the_others_are_ready(repo: Repo) -> None:
    store = history(repo).store
    expected = fresh(repo, "sub/c.py")
    running = prepare(store)
    next(running)
    assert lines(store, "sub/c.py") == expected
    assert [done for done, _ in running] == [2, 3, 4, 5]


def test_a_part_of_a_long_event_counts_on_its_path_alone(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """An event with very many changes is split, and a path is in one part only."""
    repo.commit({"a.py": BASE, "b.py": BASE}, "base")
    agent = Agent(repo)
    monkeypatch.setattr(intake, "PART_CHANGES", 1)
    changes = [
        DraftChange(
            path=path,
            before=FileVersion(mode="100644", data=BASE.encode()),
            after=FileVersion(mode="100644", data=(BASE + ADDED).encode()),
        )
        for path in ("a.py", "b.py")
    ]
    agent.record(*changes)
    parts = [sealed for sealed in agent.store.events(agent.task) if getattr(sealed.event, "part", None)]
    assert len(parts) == 2
    for path, part in zip(("a.py", "b.py"), parts, strict=True):
        (repo.path / path).write_text(BASE + ADDED)
        assert [line.event for line in lines(agent.store, path)][3:] == [part.event_id] * 2


def test_memory_of_a_long_history_is_bounded() -> None:
    """Two thousand versions of 40 KB are 80 MB of text and, as lists, 16 MB of owners."""
    head = [f"line {number} of a file that is long".encode() for number in range(1_000)]

    def read(key: str) -> bytes:
        number = int(key)
        return b"\n".join([*head[: number % 900], b"edit %d" % number, *head[number % 900 + 1 :], b""])

    tracemalloc.start()
    attribution = Attribution(read, line_hunks, has=lambda _: True)
    attribution.replay(
        EventStep(str(number).zfill(64), number, str(number - 1) if number else None, str(number), "chain")
        for number in range(2_000)
    )
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 16 << 20
    assert Oid("1999") in attribution._versions
