"""Replays that write: a branch, a directory, the events that tell of them, and what a kill leaves.

RC-20, RC-37, RC-43, RC-55, RC-65.
"""

import os
import stat
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings

from pogstore.errors import BadInput, Conflict, LockHeld, NotEnabled, NotFound, UnsafePath, WorkTreeFailed
from pogstore.history import replayed, replayed_branch, replayed_directory
from pogstore.history.replay import Replay, plan_replay
from pogstore.history.replayed_branch import ReplayedBranch, check_branch, replay_branch, resume_branch
from pogstore.history.replayed_directory import ReplayedDirectory, check_directory, replay_directory, resume_directory
from pogstore.history.rollback import plan_undo
from pogstore.model import Change, Link, OddPath, Outcome, Replayed, Side
from pogstore.store import libgit2
from pogstore.store.content import blob_id
from pogstore.store.refs import TASKS
from pogstore.work import writer
from pogstore.work.writer import TEMPORARY, Write, read_version
from tests.builders_rollback import ADA, WORKTREE, Bench, Benches, Files, Step, file, link, program, untouched
from tests.history.replays import (
    Action,
    as_git_has,
    committed,
    histories,
    lose,
    named,
    outcomes,
    record,
    replay,
)


def branch(bench: Bench, name: str = "again", **options: object) -> ReplayedBranch:
    """Replays everything into a branch."""
    return replay_branch(bench.store, replay(bench), name, bench.by(), **options)  # type: ignore[arg-type]


def directory(bench: Bench, path: Path, found: Replay | None = None, **options: object) -> ReplayedDirectory:
    """Replays everything into a directory."""
    return replay_directory(bench.store, found or replay(bench), path, bench.by(), **options)  # type: ignore[arg-type]


def files_in(root: Path) -> Files:
    """The versions of all files below a directory."""
    found = {}
    for folder, folders, names in os.walk(root):
        links = [name for name in folders if Path(folder, name).is_symlink()]
        for name in (*names, *links):
            path = Path(folder, name).relative_to(root).as_posix()
            version = read_version(root, path)
            assert version is not None
            found[path] = version
    return found


def of_user(bench: Bench) -> dict[str, tuple[object, ...]]:
    """All that is not ours, the new branch apart."""
    return untouched(
        bench.path, (".git/pog", ".git/refs/pog", ".git/objects", ".git/refs/heads", ".git/logs/refs/heads")
    )


@settings(max_examples=8)
@given(done=histories)
def test_every_commit_and_the_directory_are_what_was_recorded(benches: Benches[Bench], done: list[Action]) -> None:
    with benches.new() as bench:
        known = record(bench, done)
        if not known:
            return
        made = branch(bench)
        revisions = bench.repo.git("rev-list", "--reverse", "again").split()
        assert revisions == [made.commits[each.event_id] for each in known], "one for each event, and no other (RC-37)"
        for each, revision in zip(known, revisions, strict=True):
            assert committed(bench, revision) == as_git_has(each.files)
        bench.repo.git("fsck", "--strict")
        place = bench.path.parent / "out"
        directory(bench, place)
        assert files_in(place) == known[-1].files
        assert not any(path.is_relative_to(place / ".git") for path in place.rglob("*"))


def test_a_branch_is_all_that_changes(bench: Bench) -> None:
    bench.repo.commit({"f": "1\n", "kept": "k\n"})
    bench.write("f", b"dirty\n")
    event_id = bench.record(Step("f", file(b"1\n"), file(b"2\n")))
    replay(bench)
    before = of_user(bench)
    head, main = bench.repo.git("rev-parse", "HEAD"), bench.repo.git("symbolic-ref", "HEAD")
    found = plan_replay(bench.store, named(bench), head)
    made = replay_branch(bench.store, found, "tried/again", bench.by())
    assert of_user(bench) == before
    assert bench.repo.git("rev-parse", "HEAD") == head
    assert bench.repo.git("for-each-ref", "--format=%(refname)", "refs/heads") == (f"{main}\nrefs/heads/tried/again")
    assert made.commits == {event_id: made.tip}
    assert bench.repo.git("log", "-1", "--format=%P|%an|%cn|%at|%s|%b", made.tip) == (
        f"{head}|pogstore|Ada Example|{bench.store.event(event_id).event.time // 10**6}|Edit f|"
        f"Pog-Task: {bench.task}\nPog-Event: {event_id}\n"
    )
    assert bench.repo.git("show", f"{made.tip}:kept") == "k"


def test_it_is_told_once_for_each_task_and_no_undo_takes_it(bench: Bench) -> None:
    one = bench.step({"f": b"1\n"})
    other = bench.new_task()
    two = bench.step({"g": b"1\n"}, task=other)
    made = branch(bench)
    assert [sealed.event.task for sealed in made.events] == [bench.task, other]
    for sealed, target in zip(made.events, (one, two), strict=True):
        event = sealed.event
        assert isinstance(event, Replayed)
        assert (event.targets, event.strategy, event.changes) == ((target,), "effects", ())
        assert event.outcomes == (Outcome(event=target, outcome="applied"),)
        assert event.links == (Link(rel="made", commit=f"sha1_{made.tip}"),)
        assert (event.worktree, event.actor) == (WORKTREE, ADA)
    with pytest.raises(NotFound, match="operation"):
        plan_undo(bench.store, WORKTREE)
    assert outcomes(replay(bench)) == {one: "applied", two: "applied"}, "a replay has no effects of its own"
    assert not list((bench.path / ".git" / "pog" / "replay").iterdir())


def test_many_targets_are_told_in_parts(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replayed, "PART_TARGETS", 2)
    ids = [bench.step({"f": b"%d\n" % number}) for number in range(5)]
    events = [sealed.event for sealed in branch(bench).events]
    assert [target for event in events for target in event.targets] == ids  # type: ignore[union-attr]
    assert [(event.part.n, event.part.of) for event in events if event.part] == [(1, 3), (2, 3), (3, 3)]  # type: ignore[union-attr]


def test_the_same_replay_makes_the_same_commits(bench: Bench) -> None:
    bench.step({"f": b"1\n"})
    bench.step({"f": b"2\n"})
    assert branch(bench, "one").tip == branch(bench, "two").tip


def test_what_git_merged_is_stored(bench: Bench) -> None:
    event_id = bench.record(Step("f", file(b"1\n2\n"), file(b"1\n2b\n")))
    commit = bench.repo.commit({"f": "0\n1\n2\n"})
    found = replay(bench, event_id, onto=commit)
    made = replay_branch(bench.store, found, "again", bench.by())
    assert bench.repo.git("show", "again:f") == "0\n1\n2b"
    assert bench.repo.git("rev-parse", "again~") == commit
    bench.repo.git("fsck", "--strict")
    place = bench.path.parent / "out"
    directory(bench, place, found)
    assert (place / "f").read_bytes() == b"0\n1\n2b\n"
    assert made.commits[event_id] == made.tip


def test_nothing_is_written_where_an_event_would_be_left_out(bench: Bench) -> None:
    first = bench.step({"f": b"1\n", "g": b"g\n"})
    second = bench.step({"f": b"2\n"})
    third = bench.step({"g": b"gg\n"})
    commit = bench.repo.commit({"f": "other\n"})
    bench.repo.git("checkout", "--quiet", "--orphan", "empty")
    found = replay(bench, second, third, onto=commit)
    assert outcomes(found) == {second: "conflicted", third: "identical"}
    before = untouched(bench.path)
    for write in (
        lambda: replay_branch(bench.store, found, "again", bench.by()),
        lambda: replay_directory(bench.store, found, bench.path.parent / "out", bench.by()),
    ):
        with pytest.raises(Conflict) as fault:
            write()
        assert fault.value.paths == ("f",)
    assert untouched(bench.path) == before
    assert not (bench.path.parent / "out").exists()
    made = replay_branch(bench.store, found, "again", bench.by(), partial=True)
    assert (made.tip, made.commits) == (commit, {})
    assert first


def test_with_partial_what_is_here_is_written(bench: Bench) -> None:
    bench.step({"f": b"1\n"})
    bench.step({"f": b"2\n"})
    bench.step({"f": b"3\n", "g": b"g\n"})
    lose(bench, b"2\n")
    found = replay(bench)
    assert list(outcomes(found).values()) == ["applied", "unverifiable", "unverifiable"]
    replay_branch(bench.store, found, "again", bench.by(), partial=True)
    assert committed(bench, "again") == as_git_has({"f": file(b"3\n"), "g": file(b"g\n")})
    assert bench.repo.git("rev-list", "--count", "again") == "2"


BAD_NAMES = ("", "-b", "a..b", "a b", "HEAD", "a.lock", "/a", "a/", "@", "refs\x07")


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_bad_name_is_refused(bench: Bench, name: str) -> None:
    if name == "@":
        check_branch(bench.store, name)  # git itself allows it as refs/heads/@
        return
    with pytest.raises(BadInput):
        check_branch(bench.store, name)


def test_a_taken_name_is_refused(bench: Bench) -> None:
    bench.repo.git("symbolic-ref", "HEAD", "refs/heads/main")
    with pytest.raises(Conflict, match="HEAD is on 'main'"):
        check_branch(bench.store, "main")
    bench.repo.commit({"f": "1\n"})
    bench.repo.git("branch", "topic/one")
    for name in ("main", "topic/one", "topic", "topic/one/deeper"):
        with pytest.raises(Conflict, match="exists already"):
            check_branch(bench.store, name)
    bench.repo.git("pack-refs", "--all")
    for name in ("main", "topic"):
        with pytest.raises(Conflict, match="exists already"):
            check_branch(bench.store, name)


def test_a_lock_that_a_killed_git_left_is_named(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """RC-43."""
    bench.step({"f": b"1\n"})
    monkeypatch.setattr(libgit2, "RETRY_SECONDS", 0.01)
    lock = bench.path / ".git" / "refs" / "heads" / "again.lock"
    lock.write_text("")
    with pytest.raises(LockHeld) as fault:
        branch(bench)
    assert fault.value.hint is not None
    assert "remove 'refs/heads/again.lock'" in fault.value.hint
    lock.unlink()
    begun = replayed.find_begun(bench.store, "again", None)
    again = replayed.plan_again(bench.store, begun, lambda _done, _total: None)
    assert resume_branch(bench.store, again, begun, bench.by()).tip == bench.repo.git("rev-parse", "again")


def test_no_identity_no_branch(bench: Bench) -> None:
    bench.step({"f": b"1\n"})
    bench.repo.git("config", "user.useConfigOnly", "true")
    bench.repo.git("config", "user.name", "")
    with pytest.raises(BadInput, match="identity"):
        branch(bench)


def test_where_nobody_has_run_init_nothing_is_written(bench: Bench) -> None:
    bench.step({"f": b"1\n"})
    bench.repo.git("config", "pog.enabled", "false")
    bench.reopen()
    found = replay(bench)
    before = untouched(bench.path.parent)
    with pytest.raises(NotEnabled):
        replay_branch(bench.store, found, "again", bench.by())
    with pytest.raises(NotEnabled):
        replay_directory(bench.store, found, bench.path.parent / "out", bench.by())
    assert untouched(bench.path.parent) == before


def test_a_directory_holds_all_files_of_the_base_and_nothing_beside(bench: Bench) -> None:
    commit = bench.repo.commit({"f": "1\n", "d/kept": "k\n"})
    (bench.path / "d" / "kept").chmod(0o755)
    commit = bench.repo.commit()
    event_id = bench.record(Step("f", file(b"1\n"), program(b"2\n")), Step("l", None, link(b"../../outside")))
    bench.record(Step("l", link(b"../../outside"), link(b"/etc/passwd")))
    place = bench.path.parent / "deep" / "out"
    before = untouched(bench.path.parent, (".git", "work/.git", "deep"))
    made = directory(bench, place, replay(bench, onto=commit))
    assert files_in(place) == {"f": program(b"2\n"), "d/kept": program(b"k\n"), "l": link(b"/etc/passwd")}
    assert untouched(bench.path.parent, (".git", "work/.git", "deep")) == before
    assert (made.files, made.left, len(made.events)) == (3, (), 1)
    assert made.events[0].event.links == ()  # type: ignore[union-attr]
    assert event_id


def test_files_are_smudged_as_git_would_check_them_out(bench: Bench) -> None:
    """RC-65: what git stores is not what a work tree holds."""
    bench.write(".gitattributes", b"*.txt eol=crlf\n*.up filter=up\n")
    bench.repo.git("config", "filter.up.smudge", "tr a-z A-Z")
    bench.repo.git("config", "filter.up.clean", "tr A-Z a-z")
    bench.record(Step("a.txt", None, file(b"1\n2\n")), Step("b.up", None, file(b"word\n")))
    place = bench.path.parent / "out"
    directory(bench, place)
    assert files_in(place) == {"a.txt": file(b"1\r\n2\r\n"), "b.up": file(b"WORD\n")}
    branch(bench)
    assert committed(bench, "again") == as_git_has({"a.txt": file(b"1\n2\n"), "b.up": file(b"word\n")})


def test_places_that_are_refused(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("mine\n")
    (tmp_path / "file").write_text("mine\n")
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to("empty")
    (tmp_path / "dir").symlink_to(bench.path / ".git")
    for name in ("full", "file", "link"):
        with pytest.raises(Conflict, match=r"is not empty|is no directory"):
            check_directory(bench.store, tmp_path / name)
    bench.step({"f": b"1\n"})
    with pytest.raises(WorkTreeFailed):
        directory(bench, tmp_path / "file" / "below")
    assert not replayed.unfinished(bench.store)
    for path in (bench.path / ".git", bench.path / ".git" / "x", tmp_path / "dir" / "x"):
        with pytest.raises(BadInput, match="git directory"):
            check_directory(bench.store, path)
    with pytest.raises(BadInput, match="UTF-8"):
        check_directory(bench.store, tmp_path / os.fsdecode(b"\xff"))
    check_directory(bench.store, tmp_path / "empty")


HOSTILE = ("../out", "/etc/x", ".git/config", ".GIT/hooks/x", "git~1/x", "a/../../x", ".g\u200cit/x", "con", "c:x")


@pytest.mark.parametrize("path", HOSTILE)
def test_a_hostile_name_is_never_written(bench: Bench, path: str) -> None:
    side = Side(mode="100644", blob=blob_id(b"x"), size=1)
    bench.step({"f": b"1\n"})
    bench.record_sides(Change(path=path, after=side))
    bench.record_sides(Change(path=OddPath(outside=True)))
    found = replay(bench)
    assert list(outcomes(found).values()) == ["applied", "skipped", "skipped"]
    before = untouched(bench.path.parent)
    with pytest.raises(UnsafePath):
        replay_directory(bench.store, found, bench.path.parent / "out", bench.by())
    with pytest.raises(UnsafePath):
        replay_branch(bench.store, found, "again", bench.by())
    assert untouched(bench.path.parent) == before


def test_a_name_that_is_only_misspelled_goes_into_git_and_not_into_a_directory(bench: Bench) -> None:
    bench.record(Step("a\\b", None, file(b"1\n")), Step("c", None, file(b"1\n")))
    made = directory(bench, bench.path.parent / "out")
    assert files_in(made.path) == {"c": file(b"1\n")}
    assert [left.path for left in made.left] == ["a\\b"]
    branch(bench)
    assert set(committed(bench, "again")) == {"a\\b", "c"}


def test_names_of_the_base_that_nobody_may_write_are_left_out(bench: Bench) -> None:
    """Git itself has files such as `aux.c`; what an event would write under such a name is refused."""
    commit = bench.repo.commit({"aux.c": "1\n", "kept": "k\n"})
    head = bench.repo.git("rev-parse", "HEAD")
    bench.repo.git("update-index", "--add", "--cacheinfo", f"160000,{head},sub")
    commit = bench.repo.git("commit-tree", "-p", head, "-m", "x", bench.repo.git("write-tree"))
    bench.record(Step("f", None, file(b"1\n")))
    made = directory(bench, bench.path.parent / "out", replay(bench, onto=commit))
    assert files_in(made.path) == {"kept": file(b"k\n"), "f": file(b"1\n")}
    assert [left.path for left in made.left] == ["aux.c", "sub"]


class Killed(BaseException):
    """Stands for a kill."""


KILLS = {
    "before the pack": (replayed_branch._Packs, "write"),
    "before the refs": (replayed, "record"),
    "before the end": (replayed, "end"),
}


@pytest.mark.parametrize("name", KILLS)
def test_a_branch_that_was_cut_off_goes_on_to_the_same(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for number in range(4):
        bench.step({"f": b"%d\n" % number})
    expected = branch(bench, "uninterrupted").tip
    found = replay(bench)
    place, what = KILLS[name]

    def die(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(place, what, die)
        with pytest.raises(Killed):
            replay_branch(bench.store, found, "again", bench.by())
    bench.step({"f": b"later\n"})
    bench.repo.git("config", "user.name", "Somebody Else")
    bench.reopen()
    begun = replayed.find_begun(bench.store, None, None)
    assert begun.target == "branch 'again'"
    again = replayed.plan_again(bench.store, begun, lambda _done, _total: None)
    made = resume_branch(bench.store, again, begun, bench.by())
    assert made.tip == expected == bench.repo.git("rev-parse", "again")
    with pytest.raises(NotFound, match="unfinished"):
        replayed.find_begun(bench.store, None, None)
    told = [
        sealed for sealed in bench.store.events(bench.task)
        if isinstance(sealed.event, Replayed) and sealed.event.source == made.events[0].event.source  # type: ignore[union-attr]
    ]  # fmt: skip
    assert len(told) == 1, "told once, however often"
    assert not list((bench.path / ".git" / "objects" / "pack").glob("*.keep"))


@pytest.mark.parametrize("after", [0, 1, 2, 5])
def test_a_directory_that_was_cut_off_goes_on_to_the_same(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    for number in range(5):
        bench.step({f"d/f{number}": b"%d\n" % number})
    place, whole = bench.path.parent / "out", bench.path.parent / "whole"
    directory(bench, whole)
    found = replay(bench)
    monkeypatch.setattr(replayed_directory, "MOST_AT_ONCE", 1)
    calls: list[int] = []

    def apply(root: Path, writes: Sequence[Write], *, fsync: bool) -> None:
        if len(calls) == after:
            raise Killed
        calls.append(len(writes))
        writer.apply(root, writes, fsync=fsync)

    def die(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(replayed_directory, "apply", apply)
        patch.setattr(replayed, "end", die)
        with pytest.raises(Killed):
            directory(bench, place, found)
    (place / "d").mkdir(exist_ok=True)
    (place / "d" / f"{TEMPORARY}0123").write_text("half")
    begun = replayed.find_begun(bench.store, None, str(place))
    again = replayed.plan_again(bench.store, begun, lambda _done, _total: None)
    times = {path: path.stat().st_mtime_ns for path in place.rglob("f*")}
    made = resume_directory(bench.store, again, begun, bench.by())
    assert files_in(place) == files_in(whole)
    assert {path: path.stat().st_mtime_ns for path in times} == times, "what was there is not written again"
    assert made.files == 5
    assert not replayed.unfinished(bench.store)


def test_what_somebody_else_put_there_is_not_overwritten(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.step({"f": b"1\n"})
    place = bench.path.parent / "out"

    def die(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(replayed_directory, "apply", die)
        with pytest.raises(Killed):
            directory(bench, place)
    (place / "f").write_text("mine\n")
    begun = replayed.find_begun(bench.store, None, None)
    again = replayed.plan_again(bench.store, begun, lambda _done, _total: None)
    with pytest.raises(Conflict, match="not what would be written"):
        resume_directory(bench.store, again, begun, bench.by())
    assert (place / "f").read_text() == "mine\n"


def test_it_does_not_go_on_to_something_else(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.step({"f": b"1\n"})
    bench.step({"f": b"2\n"})

    def die(*_: object, **__: object) -> None:
        raise Killed

    for name in ("one", "two"):
        with monkeypatch.context() as patch:
            patch.setattr(replayed, "record", die)
            with pytest.raises(Killed):
                branch(bench, name)
    with pytest.raises(BadInput, match="'one' and branch 'two'"):
        replayed.find_begun(bench.store, None, None)
    begun = replayed.find_begun(bench.store, "two", None)
    lose(bench, b"2\n")
    with pytest.raises(Conflict, match="would not come to"):
        replayed.plan_again(bench.store, begun, lambda _done, _total: None)


def test_erased_and_rebuilt_indexes_change_nothing(bench: Bench) -> None:
    for number in range(3):
        bench.step({"f": b"%d\n" % number})
    one = branch(bench, "one").tip
    bench.store.close()
    (bench.path / ".git" / "pog" / "index.sqlite3").unlink()
    bench.reopen()
    assert branch(bench, "two").tip == one
    assert bench.repo.git("for-each-ref", "--format=%(refname)", TASKS)


def test_permissions_are_gits_and_the_umasks(bench: Bench) -> None:
    bench.record(Step("p", None, program(b"#!/bin/sh\n")), Step("f", None, file(b"f\n")))
    made = directory(bench, bench.path.parent / "out")
    old = os.umask(0)
    os.umask(old)
    assert stat.S_IMODE((made.path / "p").stat().st_mode) == 0o777 & ~old
    assert stat.S_IMODE((made.path / "f").stat().st_mode) == 0o666 & ~old


def test_large_replays_become_several_packs(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replayed_branch, "AT_ONCE", 400)
    for number in range(6):
        bench.step({f"f{number}": b"%d\n" % number})
    made = branch(bench)
    bench.repo.git("fsck", "--strict")
    assert len(made.commits) == 6
    assert not list((bench.path / ".git" / "objects" / "pack").glob("*.keep"))
