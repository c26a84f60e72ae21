"""From the records of the spool to events: which calls belong together, whose change it was, which task it is of.

A tool call is one step, however many records tell of it. What a path held before a call, and no step has left there, is
`observed`, unless git brought it. A call whose end has not come waits for it: until its session ends, or an hour.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

import msgspec

from pogstore import state
from pogstore.agents import claude_code, drafts, generic
from pogstore.agents.changes import Seen, Trees, seen_changes
from pogstore.agents.heard import END, PROMPT, SESSION_END, SESSION_START, Heard, Step, is_over
from pogstore.agents.transcript import Transcripts
from pogstore.draft import Draft, DraftChange, TaskDrafts
from pogstore.errors import LockHeld, NotEnabled, NotFound, PogError, StaleRef
from pogstore.history import names
from pogstore.model import Actor, Defined, OddPath, Opaque, Stepped, TaskId
from pogstore.store.store import Store
from pogstore.work import drain as spool_drain
from pogstore.work import intake, spool
from pogstore.work.active import active_task
from pogstore.work.drain import Drained, Written
from pogstore.work.spooled_record import Record

__all__ = ["Drained", "drain"]

PATIENCE = 3600 * 1_000_000
"""How long a call waits for its end, in µs."""
TWICE = 1_000_000
"""Within how many µs the same words count as one hook that ran twice."""
_FAULTS = (PogError, ValueError, LookupError, TypeError)
"""What may be wrong with one session: its task is damaged, or a record says what no event can hold."""
_OF_ALL = (LockHeld, NotEnabled, StaleRef)
READERS: dict[str, Callable[[Record], Heard]] = {"claude-code": claude_code.hear, "generic": generic.hear}


def drain(store: Store, *, wait: float = spool.WAIT, now: int | None = None) -> Drained:
    """Brings what the hooks of agents recorded into the store; see `work.drain.drain`.

    `now` is the time in µs by which calls without an end are given up.
    """
    at = time.time_ns() // 1000 if now is None else now

    def write(records: Sequence[Record]) -> Written:
        try:
            return _write(store, records, at)
        except _FAULTS as fault:
            if isinstance(fault, _OF_ALL):
                raise
        return _write_apart(store, records, at)

    return spool_drain.drain(store, write, wait=wait)


def _write(store: Store, records: Sequence[Record], now: int) -> Written:
    wanted = _Wanted(store, records, now)
    taken = intake.take(store, wanted, imported=False)
    return Written(taken.events, wanted.open, 0)


def _write_apart(store: Store, records: Sequence[Record], now: int) -> Written:
    """Writes one session after the other, so that one that cannot be written stops no other; its records are kept."""
    sessions: dict[str, list[Record]] = {}
    for record in records:
        sessions.setdefault(READERS[record.agent](record).session if record.agent in READERS else "", []).append(record)
    found = Written(0, frozenset(), 0)
    for its in sessions.values():
        try:
            done = _write(store, its, now)
        except _FAULTS as fault:
            if isinstance(fault, _OF_ALL):
                raise
            done = Written(0, frozenset(record.id for record in its), len(its))
        found = Written(found.events + done.events, found.open | done.open, found.stuck + done.stuck)
    return found


class _Wanted:
    """The drafts that some records become, found anew each time they are gone through: the store may have changed."""

    def __init__(self, store: Store, records: Sequence[Record], now: int) -> None:
        self._store, self._records, self._now = store, records, now
        self.open: frozenset[str] = frozenset()

    def __iter__(self) -> Iterator[TaskDrafts]:
        fold = _Fold(self._store, self._records, self._now)
        found = fold.found()
        self.open = frozenset(fold.open)
        for task, run in groupby(found, key=lambda each: each[0]):
            yield TaskDrafts(task=task, drafts=tuple(draft for _, draft in run))


class _Told:
    """What the store knows of one task: the calls and records that are stored, its status, the models of sessions."""

    def __init__(self, store: Store, task: TaskId) -> None:
        self.calls: set[tuple[str, str]] = set()
        self.keys: set[str] = set()
        self.models: dict[str, str] = {}
        self.parent: TaskId | None = None
        self.is_defined = False
        self.status: str | None = None
        try:
            events = store.events(task)
        except NotFound:
            return
        self.status = state.fold(events).status
        for sealed in events:
            event = sealed.event
            if isinstance(event, Opaque):
                continue
            self.is_defined = self.is_defined or isinstance(event, Defined)
            if event.source is None or event.source.format != drafts.LIVE:
                continue
            self.keys.add(event.source.key)
            self.parent = next((each.task for each in event.links if each.rel == drafts.GOES_ON), self.parent)
            actor = event.actor
            if actor.session and actor.model and actor.agent_id is None:
                self.models[actor.session] = actor.model
            if isinstance(event, Stepped) and event.call_id and actor.session:
                self.calls.add((actor.session, event.call_id))


class _Fold:
    """Goes through the records in the order of their time."""

    def __init__(self, store: Store, records: Sequence[Record], now: int) -> None:
        self._store, self._now = store, now
        self.open = {record.id for record in records if record.agent not in READERS}
        self._heard = [READERS[record.agent](record) for record in records if record.agent in READERS]
        self._begins: dict[tuple[str, str], Heard] = {}
        for heard in self._heard:
            if heard.begins and heard.call_id:
                self._begins.setdefault(heard.call, heard)
        self._waiting: dict[tuple[str, str], Heard] = {}
        self._trees = Trees(store)
        self._transcripts = Transcripts()
        self._tasks: dict[tuple[str, bytes], TaskId | None] = {}
        self._told: dict[TaskId, _Told] = {}
        self._said: dict[tuple[str, bytes], int] = {}
        self._found: list[tuple[TaskId, Draft]] = []

    def found(self) -> list[tuple[TaskId, Draft]]:
        """Returns what to write, in order, and leaves in `open` what has to wait."""
        self._trees.look_up(heard.record for heard in self._heard)
        for heard in self._heard:
            if heard.begins:
                self._begin(heard)
            elif heard.ends:
                self._end(heard)
            elif not self._was_said(heard):
                self._say(heard)
        for begin in list(self._waiting.values()):
            if self._now - begin.record.time > PATIENCE:
                self._give_up(begin)
            else:
                self.open.add(begin.record.id)
        return self._found

    def _begin(self, heard: Heard) -> None:
        if heard.call_id and (heard.call in self._waiting or heard.call in self._told_of(heard).calls):
            return
        self._waiting[heard.call] = heard
        tree = self._trees.of(heard.record)
        gaps = tree.gaps(heard)
        if gaps:
            self._observe(heard, heard, f"gap/{heard.call_id or heard.record.id}", gaps)

    def _end(self, end: Heard) -> None:
        waiting = self._waiting.pop(end.call, None)
        begin = self._begins.get(end.call) if end.call_id else waiting
        told = self._told_of(begin or end)
        if end.call in told.calls if end.call_id else end.record.id in told.keys:
            return
        tree = self._trees.of(end.record)
        if end.tool_class == "edit":
            seen = seen_changes(tree, begin, end)
            if seen.gaps:
                self._observe(begin or end, end, f"gap/{end.call_id or end.record.id}/asked", seen.gaps)
            step = self._edited(begin, end, seen)
        else:
            compared = end.tool_class not in ("shell", "mcp")
            step = Step(begin, end, coverage=None if compared else "none", reason=None if compared else "not-compared")
        if end.tool_class == "shell":
            tree.ran(begin, end)
        self._put_step(begin or end, step)

    def _edited(self, begin: Heard | None, end: Heard, seen: Seen) -> Step:
        if not seen.paths and end.phase == END:
            outside = (DraftChange(path=OddPath(outside=True)),)
            return Step(begin, end, changes=outside, coverage="partial", reason="outside")
        if not seen.paths:
            return Step(begin, end)
        known = seen.coverage != "partial" and bool(seen.changes) and end.phase == END
        return Step(begin, end, seen.changes, seen.odd, seen.coverage, seen.reason, seen.inferred, known)

    def _give_up(self, begin: Heard) -> None:
        """Writes a call whose end never came: what it did to the files it named is not known."""
        self._waiting.pop(begin.call, None)
        tree = self._trees.of(begin.record)
        changes = tree.unknown(begin)
        if begin.tool_class in ("shell", "mcp"):
            step = Step(begin, None, coverage="none", reason="not-compared")
        elif changes:
            step = Step(begin, None, changes=changes, coverage="partial", reason="no-result")
        else:
            step = Step(begin, None)
        self._put_step(begin, step)

    def _put_step(self, first: Heard, step: Step) -> None:
        task = self._task(first)
        self._open_task(task, first)
        self._told_in(task).calls.add(first.call)
        self._put(task, step.heard, drafts.stepped(step, self._agent(task, step.heard)))

    def _observe(self, first: Heard, at: Heard, key: str, changes: tuple[DraftChange, ...]) -> None:
        task = self._task(first)
        self._open_task(task, first)
        during = self._trees.of(at.record).during(changes, at)
        fields: dict[str, object] = {"coverage": "scoped"} | ({"during": list(during)} if during else {})
        self._put(task, at, drafts.observed(at, key, changes, fields))

    def _was_said(self, heard: Heard) -> bool:
        """Says whether the same hook has just said the same: two installations of it both run."""
        key = (heard.record.event, heard.record.payload)
        before = self._said.get(key)
        self._said[key] = heard.record.time
        return before is not None and heard.record.time - before <= TWICE

    def _say(self, heard: Heard) -> None:
        task = self._task(heard)
        told = self._told_in(task)
        if heard.phase in (SESSION_START, SESSION_END):
            for begin in [each for each in self._waiting.values() if is_over(each, heard)]:
                self._give_up(begin)
        if heard.record.id in told.keys:
            return
        if heard.model and heard.agent_id is None:
            told.models[heard.session] = heard.model
        if heard.phase == PROMPT:
            self._open_task(task, heard)
            self._put(task, heard, drafts.prompted(heard, self._person(heard)))
            return
        parent = self._parent(task, heard) if heard.phase == SESSION_START else None
        self._put(task, heard, drafts.noted(heard, self._agent(task, heard), parent))
        if heard.phase == SESSION_END and task == heard.task and told.status == "in_progress":
            self._move(task, heard, "in_review")

    def _open_task(self, task: TaskId, heard: Heard) -> None:
        """Opens a session's own task at its first prompt or step, and again when the session is resumed."""
        if task != heard.task:
            return
        told = self._told_in(task)
        if not told.is_defined:
            told.is_defined = True
            self._put(task, heard, drafts.defined(heard, self._person(heard), self._parent(task, heard)))
        if told.status in (None, "pending", "in_review"):
            self._move(task, heard, "in_progress")

    def _parent(self, task: TaskId, heard: Heard) -> TaskId | None:
        """Returns the task of the session that this one goes on from, once it was told of a session's own task."""
        told = self._told_in(task)
        if task == heard.task and told.parent is None:
            other = heard.parent_session or self._transcripts.parent_of(heard)
            told.parent = heard._replace(parent_session=other).parent
        return told.parent if task == heard.task else None

    def _move(self, task: TaskId, heard: Heard, status: str) -> None:
        self._told_in(task).status = status
        self._put(task, heard, drafts.moved(heard, status, self._agent(task, heard)))

    def _put(self, task: TaskId, heard: Heard, draft: Draft) -> None:
        worktree = self._trees.of(heard.record).worktree
        fields = draft.fields | ({"worktree": worktree} if worktree else {})
        self._found.append((task, msgspec.structs.replace(draft, fields=fields)))

    def _agent(self, task: TaskId, heard: Heard) -> Actor:
        model = heard.model or self._transcripts.model_of(heard)
        if model is None and heard.agent_id is None:
            model = self._told_in(task).models.get(heard.session)
        return drafts.agent(heard, model, self._trees.of(heard.record).person)

    def _person(self, heard: Heard) -> Actor:
        return drafts.person(heard, self._trees.of(heard.record).person)

    def _told_of(self, heard: Heard) -> _Told:
        return self._told_in(self._task(heard))

    def _told_in(self, task: TaskId) -> _Told:
        if task not in self._told:
            self._told[task] = _Told(self._store, task)
        return self._told[task]

    def _task(self, heard: Heard) -> TaskId:
        """Returns the task that a hook call belongs to: the one named, the active one, or the session's own."""
        record = heard.record
        key = (record.task, record.git_dir)
        if key not in self._tasks:
            self._tasks[key] = self._find_task(*key)
        return self._tasks[key] or heard.task

    def _find_task(self, name: str, git_dir: bytes) -> TaskId | None:
        layout = self._store.layout._replace(git_dir=Path(os.fsdecode(git_dir)))
        if name == spool.NO_TASK:
            return None
        if name:  # else the record of an older hook
            try:
                return names.resolve_task(self._store, name, lambda back: active_task(layout, back))
            except PogError:
                return None
        return active_task(layout)
