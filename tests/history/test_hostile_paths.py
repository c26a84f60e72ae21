"""Hostile names in events, through every verb that writes: refused or left alone, and nothing is written. T6.

The table is that of the one validator; here it is shown that no verb has a way round it. An event that was fetched says
whatever its author wished, also that an operation of ours was made in this very work tree.
"""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from pogstore.errors import Conflict, UnsafePath, WorkTreeFailed
from pogstore.history.names import Named
from pogstore.history.plans import Plan
from pogstore.history.replay import replay_of
from pogstore.history.replayed_directory import replay_directory
from pogstore.history.restore import apply_restore, plan_restore
from pogstore.history.rollback import apply_rollback, apply_undo, plan_undo
from pogstore.history.timeline import PointId
from pogstore.model import FORMAT, Change, EventId, RolledBack, TaskId
from pogstore.store.batch import Batch
from pogstore.store.content import path_of
from pogstore.work.paths import check_path
from pogstore.work.survey import Write
from pogstore.work.tasks import new_task_id
from pogstore.work.writer import apply
from tests.builders_rollback import ADA, WORKTREE, Bench, file, untouched
from tests.work.test_paths import BAD
from tests.work.test_writer import files_of

AGENT = file(b"agent\n")
APART = ("into", *(f"work/.git/{ours}" for ours in ("pog", "objects", "refs/pog")))
NOTHING = Plan((), (), ())


class Recorded:
    """What was recorded of one name: a task of its own, with a creation, a deletion, or an operation of ours."""

    def __init__(self, bench: Bench, name: bytes) -> None:
        self.bench, self.name = bench, name
        self.task = new_task_id(bench.by().time, 1)

    def step(self, *, creates: bool) -> EventId:
        """Records a tool call that created the file, or deleted it."""
        return self.bench.append(self.task, lambda batch, task: (self._change(batch, task, creates),), None)

    def operation(self, *, creates: bool) -> EventId:
        """Records an operation."""

        def write(batch: Batch) -> EventId:
            self.bench.store.refresh()
            event = RolledBack(
                v=FORMAT, task=self.task, clock=1, time=self.bench.by().time, actor=ADA, worktree=WORKTREE,
                strategy="three-way", changes=(self._change(batch, self.task, creates),),
            )  # fmt: skip
            return batch.append(event).event_id

        return self.bench.store.transact(write)

    def _change(self, batch: Batch, task: TaskId, creates: bool) -> Change:
        path = path_of(self.name)
        side = batch.add_file(task, path, AGENT.mode, AGENT.data)
        return Change(path=path, after=side) if creates else Change(path=path, before=side)


def rollback(recorded: Recorded, *, creates: bool) -> Plan:
    """To bring a file, the recorded step must have deleted it."""
    bench = recorded.bench
    plan = bench.plan(recorded.step(creates=not creates))
    apply_rollback(bench.store, plan, bench.by())
    return plan


def undo(recorded: Recorded, *, creates: bool) -> Plan:
    bench = recorded.bench
    recorded.operation(creates=not creates)
    plan = plan_undo(bench.store, WORKTREE)
    apply_undo(bench.store, plan, bench.by())
    return plan


def restore(recorded: Recorded, *, creates: bool) -> Plan:
    """To bring a file, go back to where it was made, from where it was deleted; else to where it was not yet made."""
    bench = recorded.bench
    event = recorded.step(creates=True)
    if creates:
        recorded.step(creates=False)
    plan = plan_restore(bench.store, PointId(recorded.task, event, before=not creates), WORKTREE)
    apply_restore(bench.store, plan, bench.by())
    return plan


def replay(recorded: Recorded, *, creates: bool) -> Plan:
    """Into a directory of its own, beside the work tree."""
    bench = recorded.bench
    event = recorded.step(creates=creates)
    found = replay_of(bench.store, [Named(recorded.task, event)])
    place = bench.path.parent / "into" / str(event)
    replay_directory(bench.store, found, place, bench.by(), partial=True)
    assert (files_of(place) != {}) == (creates and recorded.name == b"good")
    return NOTHING


def write(recorded: Recorded, *, creates: bool) -> Plan:
    """The writer itself, without any plan of ours."""
    path = recorded.name.decode("utf-8", "surrogateescape")
    apply(recorded.bench.path, [Write(path, *((None, AGENT) if creates else (AGENT, None)))])
    return NOTHING


VERBS: dict[str, Callable[..., Plan]] = {
    "rollback": rollback,
    "undo": undo,
    "restore": restore,
    "replay": replay,
    "writer": write,
}
"""One line for each verb that writes; what is added here meets every name."""


def hostile() -> list[bytes]:
    """The names of the table, as far as bytes can spell them: half of a surrogate pair cannot even be recorded."""
    found = []
    for path in BAD:
        with suppress(UnicodeEncodeError):
            name = path.encode("utf-8", "surrogateescape")
            with suppress(UnsafePath):
                check_path(name.decode("utf-8", "surrogateescape"))
                continue  # the bytes of another, which is none
            found.append(name)
    return found


@pytest.mark.parametrize("creates", [True, False], ids=["creates", "deletes"])
@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
def test_t6_no_verb_writes_a_hostile_name(tmp_path: Path, verb: Callable[..., Plan], creates: bool) -> None:
    (tmp_path / "outside").write_bytes(AGENT.data)
    bench = Bench(tmp_path / "work")
    bench.write("x", AGENT)
    bench.write("a/b", AGENT)
    before = untouched(tmp_path, APART)
    names = hostile()[:: 1 if creates else 3]
    assert len(hostile()) >= 60
    for name in names:
        with suppress(UnsafePath, Conflict, WorkTreeFailed):
            plan = verb(Recorded(bench, name), creates=creates)
            assert plan.writes == (), name
    assert untouched(tmp_path, APART) == before
    if not creates:
        bench.write("good", AGENT)
    verb(Recorded(bench, b"good"), creates=creates)
    if verb is not replay:  # which says so itself
        assert bench.holds("good") == (AGENT if creates else None), "it would have been done"
