"""An operation that was killed is taken back or finished by the next one; what another hand changed since stays.

RC-8, RC-20, T8. `tests/cli/test_killed.py` kills the real command at its system calls; here a child process dies at
chosen calls of Python's, so that what happens afterwards can be told apart.
"""

import itertools
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from pogstore.errors import Conflict, LockHeld, ObjectDamaged
from pogstore.history import operations
from pogstore.history.interrupted import Settled, recover, waiting
from pogstore.history.rollback import apply_rollback, plan_rollback
from pogstore.history.verify import verify
from pogstore.store import stale
from pogstore.store.libgit2 import Refs
from pogstore.store.refs import TASKS
from pogstore.store.store import Store, open_store
from pogstore.work import journal
from pogstore.work.unfinished import OPERATION, TEMPORARY
from tests.builders_killed import World, world
from tests.builders_rollback import Bench, Files, file

KILLED = 9
CALLS = ("open", "rename", "link", "unlink", "mkdir", "rmdir", "symlink", "fchmod", "write", "ftruncate", "fsync")


@pytest.fixture
def made(tmp_path: Path) -> World:
    """A work tree in which a rollback makes every kind of change."""
    return world(tmp_path / "work")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A work tree with a task."""
    return Bench(tmp_path / "work")


When = Callable[[str, tuple[Any, ...]], bool]


def killed(bench: Bench, names: Sequence[str], when: When) -> bool:
    """Rolls back in a child process that dies right before a call for which `when` says so; whether it did.

    The calls are those of `CALLS`, and the moves of refs.
    """
    by = bench.by()
    child = os.fork()
    if child == 0:
        try:
            store = open_store(bench.path)
            plan = plan_rollback(store, [bench.named(name) for name in names])
            for name in CALLS:
                setattr(os, name, dying(name, getattr(os, name), when))
            Refs.compare_and_swap = dying("ref", Refs.compare_and_swap, when)  # type: ignore[method-assign]
            apply_rollback(store, plan, by)
        except BaseException:  # noqa: BLE001 - the child must not go on as the test
            os._exit(1)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, KILLED)
    bench.reopen()
    return status == KILLED


def dying(name: str, real: Callable[..., Any], when: When) -> Callable[..., Any]:
    def call(*args: Any, **options: Any) -> Any:
        if when(name, args):
            os._exit(KILLED)
        return real(*args, **options)

    return call


def nth(number: int, names: tuple[str, ...] = CALLS) -> When:
    """Says when the n-th call of some names is reached."""
    left = [number]

    def reached(name: str, _: tuple[Any, ...]) -> bool:
        left[0] -= name in names
        return left[0] == 0

    return reached


def at(name: str, holds: bytes, number: int = 1) -> When:
    """Says when the n-th call of a name with some bytes in its arguments is reached."""
    left = [number]

    def reached(called: str, args: tuple[Any, ...]) -> bool:
        left[0] -= called == name and any(holds in each for each in args if isinstance(each, bytes))
        return left[0] == 0

    return reached


@pytest.fixture(autouse=True)
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody else locks refs here."""
    monkeypatch.setattr(stale, "PATIENCE", 0.001)


def test_rc8_a_kill_before_any_call_is_taken_back_or_finished(made: World) -> None:
    """One after the other in one repository: each begins where the last one left off."""
    bench, outcomes = made.bench, []
    number = 1
    while killed(bench, made.tasks, nth(number)):
        found = waiting(bench.store)
        settled = recover(bench.store)
        assert (found is None) == (settled is None)
        state = made.state()
        assert settled is None or settled == Settled("rollback", state == "new", 10)
        assert recover(bench.store) is None
        outcomes.append("nothing" if settled is None else state)
        if state == "new":
            bench.undo()
            assert made.state() == "old"
        number += 7
    assert {"nothing", "old", "new"} <= set(outcomes), outcomes
    assert made.state() == "new"


@pytest.mark.parametrize("moves", range(1, 5))
def test_a_kill_between_two_refs_leaves_the_events_of_all_tasks_or_of_none(made: World, moves: int) -> None:
    """What one task tells, the other tells too, and undo takes both back; also where somebody wrote meanwhile."""
    bench = made.bench
    before = bench.all_events()
    seen = [0]

    def when(name: str, args: tuple[Any, ...]) -> bool:
        seen[0] += name == "ref" and args[1].startswith(TASKS)
        return name == "ref" and seen[0] == moves

    if not killed(bench, made.tasks, when):
        assert moves > 2
        assert made.state() == "new"
        return
    bench.record(task=made.tasks[0])
    bench.record(task=made.tasks[1])
    settled = recover(bench.store)
    assert settled is not None
    assert settled.finished == (moves == 2)
    assert made.state() == ("new" if settled.finished else "old")
    told = list(bench.store.newest_of(["rolled_back"]))
    assert sorted(sealed.event.task for sealed in told) == (sorted(made.tasks) if settled.finished else [])
    assert verify(bench.store).faults == ()
    if settled.finished:
        bench.undo()
        assert made.state() == "old"
    assert set(before) <= set(bench.all_events())


def test_a_lock_that_was_left_on_a_ref_is_broken_and_one_of_somebody_else_is_not(made: World) -> None:
    bench = made.bench
    lock, foreign = (bench.path / f".git/{TASKS}{task}.lock" for task in made.tasks)
    foreign.touch()
    os.utime(foreign, (1, 1))
    assert killed(bench, made.tasks, lambda name, args: name == "ref" and args[1].startswith(TASKS))
    lock.touch()
    assert recover(bench.store) is not None
    assert not lock.exists()
    assert foreign.exists()


@pytest.mark.parametrize("again", [False, True], ids=["", "and again"])
def test_what_was_changed_since_stays_and_is_said(made: World, again: bool) -> None:
    bench = made.bench
    assert killed(bench, made.tasks, lambda name, args: name == "ref" and args[1].startswith(TASKS))
    files = dict(made.old)
    for name, version in {"edited": file(b"a person's\n"), "away": file(b"a person's too\n")}.items():
        bench.write(name, version)
        files[name] = version
    bench.write("link", made.old["link"])
    if again:
        journal_of(bench).write_bytes(journal_of(bench).read_bytes() + b'{"type":"told","ev')
    settled = recover(bench.store)
    assert settled is not None
    stays = {stays.path: stays.kept for stays in settled.stays}
    (kept,) = (path for path in bench.files() if TEMPORARY in path)
    assert stays == {"edited": kept, "away": None}
    assert bench.files() == files | {kept: made.old["edited"]}
    assert recover(bench.store) is None


def test_a_former_file_that_somebody_removed_is_said_to_be_missing(made: World) -> None:
    """`git clean` takes what lies beside along; then what is there cannot be taken back."""
    bench = made.bench
    assert killed(bench, made.tasks, lambda name, args: name == "ref" and args[1].startswith(TASKS))
    bench.repo.git("clean", "--force", "-d", "--quiet")
    settled = recover(bench.store)
    assert settled is not None
    lost = {name for name in made.old.keys() | made.new.keys() if made.old.get(name) != made.new.get(name)}
    kept = {name for name in lost if bench.files().get(name) == made.old.get(name)}
    assert {stays.path for stays in settled.stays} == lost - kept
    assert lost - kept >= {"edited", "link", "over", "d2/e/new"}


def test_a_kill_while_it_is_taken_back_is_no_third_case(made: World) -> None:
    bench = made.bench
    number = 1
    while True:
        assert killed(bench, made.tasks, lambda name, args: name == "ref" and args[1].startswith(TASKS))
        child = os.fork()
        if child == 0:
            for name in CALLS:
                setattr(os, name, dying(name, getattr(os, name), nth(number)))
            try:
                recover(open_store(bench.path))
            except BaseException:  # noqa: BLE001 - as above
                os._exit(1)
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        bench.reopen()
        assert (recover(bench.store) is None) == (status == 0)
        assert made.state() == "old"
        if status == 0:
            break
        assert status == KILLED
        number += 9
    assert number > 20


def test_the_next_operation_puts_in_order_what_the_last_one_left(made: World) -> None:
    bench = made.bench
    plan = bench.plan(*made.tasks)
    assert killed(bench, made.tasks, at("rename", TEMPORARY.encode(), 3))
    for void in (plan, bench.plan(*made.tasks)):
        with pytest.raises(Conflict, match="an interrupted rollback was taken back, so this plan is void"):
            apply_rollback(bench.store, void, bench.by())
        assert made.state() == "old"
        assert killed(bench, made.tasks, lambda name, args: name == "ref" and args[1].startswith(TASKS))
    assert bench.plan(*made.tasks).writes == (), "all of it seems to be done"
    with pytest.raises(Conflict, match="plan again"):
        bench.rollback(*made.tasks)
    bench.rollback(*made.tasks)
    assert made.state() == "new"


def test_an_interrupt_after_the_events_were_written_takes_nothing_back(
    made: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, transact, calls = made.bench, Store.transact, itertools.count(1)

    def interrupted(store: Store, write: Any, **options: Any) -> Any:
        answer = transact(store, write, **options)
        if next(calls) == 2:
            raise KeyboardInterrupt
        return answer

    plan = bench.plan(*made.tasks)
    with monkeypatch.context() as patch:
        patch.setattr(Store, "transact", interrupted)
        with pytest.raises(KeyboardInterrupt):
            apply_rollback(bench.store, plan, bench.by())
    assert recover(bench.store) == Settled("rollback", True, 10)
    assert made.state() == "new"
    bench.undo()
    assert made.state() == "old"


def journal_of(bench: Bench) -> Path:
    return bench.path / ".git/pog" / OPERATION


@pytest.mark.parametrize(
    "text",
    [
        b"no journal\n",
        b'{"type":"begun","v":2,"verb":"rollback","files":1,"time":1,"refs":[]}\n',
        b'{"type":"begun","v":1,"verb":"rollback","files":1,"time":1,"refs":["refs/heads/main"]}\n',
        b'{"type":"begun","v":1,"verb":"rollback","files":1,"time":1,"refs":["refs/pog/../heads/x"]}\n',
        b'{"type":"begun","v":1,"verb":"rollback","files":1,"time":1,"refs":[]}\n{"type":"beside","places":[[[],"Zg=="]]}\n',
        b'{"type":"begun","v":1,"verb":"rollback","files":1,"time":1,"refs":[]}\n'
        b'{"type":"ready","steps":[{"type":"put","parts":["Li4=","Zg=="],"kept":null,"new":[1,1,1,1]}]}\n',
        b'{"type":"told","events":[]}\n',
    ],
)  # fmt: skip
def test_t6_a_journal_that_is_not_ours_is_not_acted_on(bench: Bench, text: bytes) -> None:
    event = bench.step({"f": b"1\n"})
    journal_of(bench).write_bytes(text)
    for act in (lambda: recover(bench.store), lambda: waiting(bench.store), lambda: bench.rollback(event)):
        with pytest.raises(ObjectDamaged, match="operation"):
            act()
    assert bench.files() == {"f": file(b"1\n")}
    assert journal_of(bench).read_bytes() == text


def test_a_line_that_was_cut_off_was_never_acted_on(bench: Bench) -> None:
    event = bench.step({"f": b"1\n"})
    journal_of(bench).write_bytes(b'{"type":"begun","v":1,')
    assert waiting(bench.store) is None
    bench.rollback(event)
    assert bench.files() == {}


def test_two_operations_in_one_work_tree_wait_for_each_other(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """RC-43: for a short time, and only for one that lives."""
    event = bench.step({"f": b"1\n"})
    plan = bench.plan(event)
    with journal.opened(journal_of(bench).parent, fsync=False) as other:
        other.note(journal.Begun(journal.VERSION, "rollback", 1, 1, ()))
        assert waiting(bench.store) is None, "it goes on"
        assert recover(bench.store) is None
        monkeypatch.setattr(operations, "WAIT", 0.05)
        with pytest.raises(LockHeld, match="operation"):
            apply_rollback(bench.store, plan, bench.by())
        assert bench.files() == {"f": file(b"1\n")}
        other.end()
    apply_rollback(bench.store, plan, bench.by())
    assert bench.files() == {}


def test_two_work_trees_do_not_disturb_each_other(made: World, tmp_path: Path) -> None:
    bench = made.bench
    assert killed(bench, made.tasks, lambda name, args: name == "ref" and args[1].startswith(TASKS))
    half: Files = bench.files()
    bench.repo.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "linked"))
    linked = open_store(tmp_path / "linked")
    assert waiting(linked) is None
    assert recover(linked) is None
    assert bench.files() == half
    assert recover(bench.store) is not None
    assert bench.files() == made.old
