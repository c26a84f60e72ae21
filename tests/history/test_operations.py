"""Operations: all or nothing, nothing else, told in events, taken back exactly.

PC-90, PC-91, PC-94, PC-105, RC-1, RC-2, RC-8, RC-14, RC-17, RC-22, RC-25, RC-35, RC-53, T7, T8.
"""

import os
import random
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from pogstore.errors import Conflict, LockHeld, NotEnabled, NotFound, UnsafePath, WorkTreeFailed
from pogstore.history import operations
from pogstore.history.plans import digest_of
from pogstore.history.rollback import apply_rollback, plan_undo
from pogstore.model import Link, Restored, RolledBack, Sealed, Slice
from pogstore.store.content import blob_id
from pogstore.store.store import Store
from pogstore.work import writer
from pogstore.work.writer import TEMPORARY, Write
from tests.builders_rollback import ADA, WORKTREE, Bench, Files, Step, changes_of, file, link, program, untouched

TREE_ONLY = [".git"]
OURS = (".git/pog", ".git/objects", ".git/refs/pog")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A work tree with a task."""
    return Bench(tmp_path / "work")


def without_temporary(files: Files) -> Files:
    """Files without the former ones, which lie beside for as long as their events are not written."""
    return {name: version for name, version in files.items() if TEMPORARY not in name}


def age(path: Path) -> None:
    """Gives every file a time that shows if it is written again."""
    for found in path.rglob("*"):
        if ".git" not in found.parts and not found.is_dir():
            os.utime(found, (1, 1), follow_symlinks=False)


def test_rc14_undo_gives_bytes_and_modes_and_what_is_untouched_keeps_inode_and_time(bench: Bench) -> None:
    for name in ("same", "d/same"):
        bench.write(name, b"same\n")
    bench.write("d/link", link(b"same"))
    bench.write("gone", b"gone\n")
    event = bench.step({"f": program(b"1\n"), "d/same2": b"2\n", "gone": None, "same": b"same\n", "d/link": link(b"x")})
    (bench.path / "f").chmod(0o700)
    age(bench.path)
    kept = untouched(bench.path, [*TREE_ONLY, "f", "gone", "d/same2", "d/link"])
    files = bench.files()
    bench.rollback(event)
    assert bench.files() == {
        "same": file(b"same\n"),
        "d/same": file(b"same\n"),
        "gone": file(b"gone\n"),
        "d/link": link(b"same"),
    }
    assert untouched(bench.path, [*TREE_ONLY, "f", "gone", "d/same2", "d/link"]) == kept
    bench.undo()
    assert bench.files() == files
    assert untouched(bench.path, [*TREE_ONLY, "f", "gone", "d/same2", "d/link"]) == kept


def test_pc105_rc17_undo_of_undo_makes_it_again_and_each_is_an_event(bench: Bench) -> None:
    bench.write("f", b"1\n2\n3\n")
    event = bench.step({"f": b"1\nagent\n3\n", "new": b"new\n"})
    bench.write("f", b"1\nagent\n3\nperson\n")
    with_it = bench.files()
    first = bench.rollback(event)
    without = bench.files()
    assert without == {"f": file(b"1\n2\n3\nperson\n")}
    events = [first.events[0]]
    for expected in (with_it, without, with_it, without):
        done = bench.undo()
        assert bench.files() == expected
        event_of = done.events[0].event
        assert isinstance(event_of, Restored)
        assert (event_of.strategy, event_of.targets) == ("undo", (events[-1].event_id,))
        events.append(done.events[0])
    assert bench.all_events()[-5:] == [sealed.event_id for sealed in events]


def test_the_event_says_what_was_done(bench: Bench) -> None:
    event = bench.step({"f": b"1\n"})
    other = bench.step({"g": b"2\n"})
    bench.write("g", None)
    (sealed,) = bench.rollback(event, other).events
    told = sealed.event
    assert isinstance(told, RolledBack)
    assert (told.actor, told.worktree, told.strategy) == (ADA, WORKTREE, "three-way")
    assert told.targets == (event, other)
    assert {outcome.event: outcome.outcome for outcome in told.outcomes} == {event: "applied", other: "identical"}
    (change,) = told.changes
    assert (change.path, change.after) == ("f", None)


def test_what_is_overwritten_is_in_the_store_before(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    event = bench.step({"f": b"1\n2\n"})
    edit = bench.step({"f": b"0\n1\n2\n"})
    bench.write("f", b"0\n1\n2\nnever seen by us\n")
    seen: list[bytes] = []

    def look(root: Path, writes: Sequence[Write], **options: Any) -> AbstractContextManager[writer.Attempt]:
        seen.append(bench.store.read_content(blob_id(b"0\n1\n2\nnever seen by us\n")))
        return writer.applied(root, writes, **options)

    monkeypatch.setattr(operations, "applied", look)
    bench.rollback(edit)
    assert len(seen) == 1
    assert bench.conflicts(event) == {"f": "edited-since-create"}


def test_rc8_with_one_conflict_nothing_is_written(bench: Bench) -> None:
    bench.write("a", b"1\n")
    event = bench.step({"a": b"agent\n", "b": b"agent\n", "c": b"agent\n"})
    bench.write("a", b"person\n")
    age(bench.path)
    state, events, refs = untouched(bench.path, TREE_ONLY), bench.all_events(), bench.repo.git("for-each-ref")
    plan = bench.plan(event)
    assert (plan.writes, [outcome.outcome for outcome in plan.tasks[0].outcomes]) == ((), ["conflicted"])
    with pytest.raises(Conflict) as caught:
        apply_rollback(bench.store, plan, bench.by())
    assert caught.value.paths == ("a",)
    assert untouched(bench.path, TREE_ONLY) == state
    assert (bench.all_events(), bench.repo.git("for-each-ref")) == (events, refs)


def test_rc8_t8_an_edit_after_the_plan_stops_all_of_it(bench: Bench) -> None:
    event = bench.step({"a": b"agent\n", "b": b"agent\n"})
    plan = bench.plan(event)
    bench.write("b", b"saved meanwhile\n")
    events = bench.all_events()
    with pytest.raises(Conflict):
        apply_rollback(bench.store, plan, bench.by())
    assert bench.files() == {"a": file(b"agent\n"), "b": file(b"saved meanwhile\n")}
    assert bench.all_events() == events


def test_rc8_a_plan_is_void_if_what_it_left_alone_changed(bench: Bench) -> None:
    """A created file that was not there is taken for deleted; if it comes back, the rollback would be half of one."""
    event = bench.step({"a": b"agent\n", "b": b"agent\n"})
    bench.write("b", None)
    plan = bench.plan(event)
    assert [write.path for write in plan.writes] == ["a"]
    bench.write("b", b"agent\n")
    with pytest.raises(Conflict, match="'b'"):
        apply_rollback(bench.store, plan, bench.by())
    assert bench.text("a") == "agent\n"


def test_rc53_bytes_and_modes_count_and_no_time_does(bench: Bench) -> None:
    """Neither is a file that was touched another one, nor one the same that has its old time and size."""
    event = bench.step({"a": b"agent\n"})
    digest = digest_of(bench.plan(event))
    age(bench.path)
    assert digest_of(bench.plan(event)) == digest
    kept = (bench.path / "a").stat()
    (bench.path / "a").write_bytes(b"Agent\n")
    os.utime(bench.path / "a", ns=(kept.st_atime_ns, kept.st_mtime_ns))
    assert bench.conflicts(event) == {"a": "edited-since-create"}


def test_a_path_that_is_not_written_need_not_be_writable(bench: Bench) -> None:
    event = bench.record(
        Step("con", None, file(b"1\n")), Step("a", None, file(b"1\n")), Step("../b", None, file(b"1\n"))
    )
    bench.write("a", b"1\n")
    bench.rollback(event)
    assert bench.files() == {}


def test_an_undo_of_what_was_edited_since_writes_nothing(bench: Bench) -> None:
    event = bench.step({"a": b"1\n", "b": b"2\n"})
    bench.rollback(event)
    bench.write("b", b"a person's\n")
    plan = plan_undo(bench.store, WORKTREE)
    assert [(obstacle.path, obstacle.reason) for obstacle in plan.obstacles] == [("b", "edited-since")]
    with pytest.raises(Conflict):
        bench.undo()
    assert bench.files() == {"b": file(b"a person's\n")}


def test_an_undo_of_a_rename_does_not_replace_what_took_the_name(bench: Bench) -> None:
    bench.write("a", b"1\n")
    bench.rollback(bench.move("a", "b"))
    bench.write("b", b"a person's\n")
    plan = plan_undo(bench.store, WORKTREE)
    assert [(obstacle.path, obstacle.reason) for obstacle in plan.obstacles] == [("b", "recreated-since")]


def test_rc1_pc90_untracked_and_ignored_files_survive(bench: Bench) -> None:
    bench.write(".gitignore", b"*.log\n")
    bench.write("tracked", b"1\n")
    bench.repo.commit({}, "all")
    event = bench.step({"tracked": b"2\n", "out/made": b"agent\n"})
    bench.write("out/untracked", b"a person's\n")
    bench.write("build.log", b"ignored\n")
    age(bench.path)
    others = untouched(bench.path, [*TREE_ONLY, "tracked", "out/made"])
    bench.rollback(event)
    assert untouched(bench.path, [*TREE_ONLY, "tracked", "out/made"]) == others
    assert bench.holds("out/made") is None


def test_rc2_pc91_rc35_a_rule_that_goes_takes_no_file_with_it(bench: Bench) -> None:
    bench.write(".gitignore", b"*.log\n")
    bench.repo.commit({}, "all")
    event = bench.step({".gitignore": b"*.log\n.env\n", ".gitattributes": b"*.x -text\n"})
    bench.write(".env", b"SECRET=1\n")
    bench.rollback(event)
    assert bench.files() == {".gitignore": file(b"*.log\n"), ".env": file(b"SECRET=1\n")}
    bench.undo()
    assert bench.text(".gitignore") == "*.log\n.env\n"


def test_pc94_nothing_of_git_changes(bench: Bench) -> None:
    bench.repo.commit({"f": "1\n2\n3\n", "other": "1\n"}, "first")
    event = bench.step({"f": b"1\nagent\n3\n"})
    bench.repo.git("add", "f")
    bench.write("f", b"1\nagent\n3\nnot staged\n")
    bench.write("other", b"staged\n")
    bench.repo.git("add", "other")
    bench.repo.git("branch", "side")
    hooks = bench.path / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("pre-commit", "post-checkout", "reference-transaction", "post-index-change"):
        (hooks / name).write_text("#!/bin/sh\ntouch ran-a-hook\n")
        (hooks / name).chmod(0o755)
    staged = bench.repo.git("diff", "--cached")
    state = untouched(bench.path, [*OURS, "f"])
    assert {".git/index", ".git/HEAD", ".git/config", ".git/logs/HEAD", ".git/refs/heads/side"} <= state.keys()
    bench.rollback(event)
    bench.undo()
    bench.rollback(event)
    assert untouched(bench.path, [*OURS, "f"]) == state
    assert bench.repo.git("diff", "--cached") == staged
    assert bench.text("f") == "1\n2\n3\nnot staged\n"


def test_pc103_git_status_sees_what_was_written(bench: Bench) -> None:
    bench.repo.commit({"f": "1\n"}, "first")
    event = bench.step({"f": b"2\n"})
    assert bench.repo.git("status", "--short") == " M f"
    bench.rollback(event)
    assert bench.repo.git("status", "--short") == ""


def test_a_rollback_of_several_tasks_is_told_in_each_of_them(bench: Bench) -> None:
    """An auditor of one task finds in it what was taken out of it; each path is told once."""
    other, idle = bench.new_task(), bench.new_task()
    bench.write("both", b"1\n2\n3\n")
    mine = bench.step({"mine": b"1\n", "both": b"1a\n2\n3\n"})
    theirs = bench.step({"theirs": b"1\n", "both": b"1a\n2\n3b\n"}, task=other)
    undone = bench.step({"undone": b"1\n"}, task=idle)
    bench.write("undone", None)
    files = bench.files()
    done = bench.rollback(idle, other, bench.task)
    assert bench.files() == {"both": file(b"1\n2\n3\n")}
    told = {sealed.event.task: sealed for sealed in done.events}
    assert {task: getattr(sealed.event, "targets", ()) for task, sealed in told.items()} == {
        bench.task: (mine,), other: (theirs,), idle: (undone,),
    }  # fmt: skip
    paths = {task: [change.path for change in changes_of(sealed)] for task, sealed in told.items()}
    assert paths == {bench.task: ["both", "mine"], other: ["theirs"], idle: []}
    first, *rest = done.events
    assert [_links(sealed) for sealed in rest] == [(Link(rel="follows", event=first.event_id),)] * 2
    undone_all = bench.undo()
    assert bench.files() == files
    assert {getattr(sealed.event, "targets", ()) for sealed in undone_all.events} == {
        (sealed.event_id,) for sealed in done.events
    }
    bench.undo()
    assert bench.files() == {"both": file(b"1\n2\n3\n")}


def _links(sealed: Sealed) -> tuple[Link, ...]:
    links: tuple[Link, ...] = getattr(sealed.event, "links", ())
    return links


def test_a_long_list_of_changes_is_parted_and_taken_back_whole(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "PART_CHANGES", 2)
    event = bench.step({f"f{n}": b"%d\n" % n for n in range(5)})
    files = bench.files()
    done = bench.rollback(event)
    assert [getattr(sealed.event, "part", None) for sealed in done.events] == [Slice(n=n, of=3) for n in (1, 2, 3)]
    assert [len(changes_of(sealed)) for sealed in done.events] == [2, 2, 1]
    bench.undo()
    assert bench.files() == files
    # an event that is a part brings the others along
    again = bench.rollback(done.events[1].event_id)
    assert again.events == ()
    bench.undo()
    assert bench.files() == {}
    bench.rollback(done.events[1].event_id)
    assert bench.files() == files


class Fault:
    """Lets the second transaction of an operation, the one that records it, fail."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, fault: BaseException, then: Callable[[], None]) -> None:
        transact, self.calls = Store.transact, 0

        def failing(store: Store, write: Any, *, consent: bool = True) -> Any:
            self.calls += 1
            if self.calls == 2:
                then()
                raise fault
            return transact(store, write, consent=consent)

        monkeypatch.setattr(Store, "transact", failing)


@pytest.mark.parametrize(
    "fault", [LockHeld("lock", 5), KeyboardInterrupt(), MemoryError()], ids=lambda f: type(f).__name__
)
def test_what_no_event_tells_of_is_put_back(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, fault: BaseException
) -> None:
    bench.write("a", b"1\n")
    event = bench.step({"a": b"2\n", "d/b": program(b"new\n")})
    plan, files, events = bench.plan(event), bench.files(), bench.all_events()
    written: list[object] = []
    Fault(monkeypatch, fault, lambda: written.append(without_temporary(bench.files())))
    state = untouched(bench.path, TREE_ONLY)
    with pytest.raises(type(fault)):
        apply_rollback(bench.store, plan, bench.by())
    assert written == [{"a": file(b"1\n")}], "the files were written when the fault came"
    assert untouched(bench.path, TREE_ONLY) == state, "inodes and times too"
    assert bench.files() == files
    assert bench.all_events() == events
    monkeypatch.undo()
    bench.rollback(event)
    assert bench.files() == {"a": file(b"1\n")}


def test_what_cannot_be_put_back_is_said(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    event = bench.step({"a": b"1\n"})
    plan = bench.plan(event)
    Fault(monkeypatch, LockHeld("lock", 5), lambda: bench.write("a", b"saved meanwhile\n"))
    with pytest.raises(WorkTreeFailed, match="not everything could be put back after: could not lock") as caught:
        apply_rollback(bench.store, plan, bench.by())
    (left,) = caught.value.left
    assert bench.files() == {"a": file(b"saved meanwhile\n"), left: file(b"1\n")}


def test_nothing_is_written_where_nothing_may_be_recorded(bench: Bench) -> None:
    event = bench.step({"a": b"1\n"})
    plan = bench.plan(event)
    bench.repo.git("config", "pog.enabled", "false")
    bench.reopen()
    with pytest.raises(NotEnabled):
        apply_rollback(bench.store, plan, bench.by())
    assert bench.text("a") == "1\n"


def test_rc25_undo_is_of_this_work_tree(bench: Bench) -> None:
    event = bench.step({"a": b"1\n"})
    bench.rollback(event)
    with pytest.raises(NotFound):
        plan_undo(bench.store, "ffffffffffffffff")
    with pytest.raises(NotFound):
        plan_undo(bench.store, None)


def test_rc26_nothing_to_undo_is_said(bench: Bench) -> None:
    bench.step({"a": b"1\n"})
    with pytest.raises(NotFound, match="operation"):
        bench.undo()


class Swapper(threading.Thread):
    """Puts a link to the outside in the place of a directory and takes it away, until there were enough swaps."""

    def __init__(self, folder: Path, outside: Path) -> None:
        super().__init__()
        self.folder, self.outside, self.swaps = folder, outside, 0
        self.stopped = threading.Event()
        self.chance = random.Random(11)

    def run(self) -> None:
        aside = self.folder.with_name("aside")
        while not self.stopped.is_set():
            try:
                self.folder.rename(aside)
                self.folder.symlink_to(self.outside)
                time.sleep(self.chance.uniform(0, 0.002))
                self.folder.unlink()
                aside.rename(self.folder)
                self.swaps += 1
            except OSError:  # the rollback has just made or removed it
                time.sleep(0.0005)
            # the rollback that has begun must meet it as it is, at times
            time.sleep(self.chance.uniform(0, 0.01))


def test_t7_200_swaps_of_a_directory_for_a_link_write_nothing_outside(bench: Bench, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    for name in ("f", "g", "e/h"):
        (outside / name).parent.mkdir(parents=True, exist_ok=True)
        (outside / name).write_bytes(b"agent\n")
    state = untouched(outside)
    bench.write("d/f", b"1\n")
    bench.write("d/stays", b"1\n")
    event = bench.step({"d/f": b"agent\n", "d/g": b"agent\n", "d/e/h": b"agent\n"})
    with_it = bench.files()
    without = {"d/f": file(b"1\n"), "d/stays": file(b"1\n")}
    swapper = Swapper(bench.path / "d", outside)
    swapper.start()
    done = refused = 0
    try:
        while swapper.swaps < 200 or not done or not refused:
            assert done + refused < 5000, f"{done} done, {refused} refused, {swapper.swaps} swaps"
            try:
                done += bool((bench.undo if done % 2 else lambda: bench.rollback(event))().events)
            except (Conflict, UnsafePath):
                refused += 1
    finally:
        swapper.stopped.set()
        swapper.join(30)
    assert untouched(outside) == state
    assert bench.files() == (without if done % 2 else with_it)


def test_rc16_what_undo_needs_survives_a_collection(bench: Bench) -> None:
    bench.write("f", b"1\n")
    event = bench.step({"f": b"1\nagent\n", "bin": b"\0\xff"})
    bench.write("f", b"1\nagent\nperson\n")
    files = bench.files()
    bench.rollback(event)
    bench.repo.git("reflog", "expire", "--expire=now", "--all")
    bench.repo.git("gc", "--quiet", "--prune=now")
    bench.reopen()
    bench.undo()
    assert bench.files() == files


def test_progress_is_told_of_each_file(bench: Bench) -> None:
    told: list[tuple[int, int]] = []
    event = bench.step({"a": b"1\n", "b/c": b"2\n", "b/d/e": b"3\n"})
    apply_rollback(bench.store, bench.plan(event), bench.by(), lambda done, total: told.append((done, total)))
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told.count((3, 3)) == 1
    assert told[-1] == (3, 3)
