"""From lines of our own contract to events, all of them in one write and at once.

What the hooks' records become is `drain.py`; here whoever speaks waits for the answer, so nothing is left open and the
work tree is not looked at as a whole. A line that was recorded before adds nothing.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import msgspec

from pogstore.agents import drafts
from pogstore.agents.heard import PROMPT, SESSION_END, SESSION_START, Heard, Step
from pogstore.agents.lines import Line, ToldChange
from pogstore.agents.told import Told
from pogstore.draft import Draft, DraftChange, TaskDrafts
from pogstore.errors import BadInput
from pogstore.model import Actor, Change, OddPath, Person, Side, TaskId
from pogstore.store import content
from pogstore.store.batch import OMITTED_LARGE
from pogstore.store.store import Store
from pogstore.work import intake
from pogstore.work.acts import By
from pogstore.work.held import Held, path_of
from pogstore.work.recorded import Recorded

_COMPARED = ("edit", "read")
"""The classes of tools that change no more than the files they name."""


class Done(NamedTuple):
    """What became of one line: its task, and how many events it added."""

    line: int
    task: TaskId
    events: int


def record(store: Store, lines: Sequence[Line], by: By, task: TaskId | None, actor: Actor | None) -> list[Done]:
    """Records lines in one write, all or none; raises `BadInput` for one that belongs to no task.

    `task` is the one that all belong to; without it each belongs to its session's own. `actor` acts in the place of the
    agents that the lines name.
    """
    fold = _Fold(store, by, task, actor)
    fold.look_up(lines)
    for line in lines:
        fold.take(line)
    fold.end()
    intake.take(store, fold.found(), imported=False)
    return fold.done


class _Fold:
    """Goes through the lines in their order."""

    def __init__(self, store: Store, by: By, task: TaskId | None, actor: Actor | None) -> None:
        self._store, self._by, self._all_of, self._actor = store, by, task, actor
        self._person: Person | None = by.actor.on_behalf_of
        self._recorded = Recorded(store, store, by.worktree)
        self._begun: dict[tuple[str, str], Line] = {}
        self._known: dict[TaskId, Told] = {}
        self._drafts: list[tuple[TaskId, Draft]] = []
        self._line = 0
        self.done: list[Done] = []

    def found(self) -> Iterator[TaskDrafts]:
        """Yields what is to be written, in order."""
        for task, run in groupby(self._drafts, key=lambda each: each[0]):
            yield TaskDrafts(task=task, drafts=tuple(draft for _, draft in run))

    def look_up(self, lines: Iterable[Line]) -> None:
        """Asks git once for all paths."""
        self._recorded.look_up(each.path for line in lines for each in (*line.heard.record.states, *(line.told or ())))

    def take(self, line: Line) -> None:
        """Takes the next line."""
        self._line = line.number
        task, heard = self._task(line), line.heard
        known, before = self._of(task), len(self._drafts)
        is_call = heard.begins or heard.ends
        is_known = heard.record.id in known.keys or (is_call and (heard.session, heard.call_id) in known.calls)
        begun = self._begun.pop(heard.call, None) if heard.ends else None
        if heard.begins and not is_known:
            self._begin(task, line)
        elif heard.ends and not is_known:
            self._step(task, begun, line)
        elif not is_known:
            self._say(task, line)
        if not heard.begins:
            known.keys.add(heard.record.id)
        self.done.append(Done(line.number, task, len(self._drafts) - before))

    def end(self) -> None:
        """Takes it that what has begun will not end."""
        for line in list(self._begun.values()):
            task, before = self._task(line), len(self._drafts)
            self._step(task, line, None)
            at = next(n for n, done in enumerate(self.done) if done.line == line.number)
            self.done[at] = self.done[at]._replace(events=self.done[at].events + len(self._drafts) - before)

    def _task(self, line: Line) -> TaskId:
        if self._all_of is not None:
            return self._all_of
        if not line.has_session:
            why = "it names no session, and no task is active"
            raise BadInput(f"line {line.number}", why, "name one with '--task', or begin one with 'git pog start'")
        return line.heard.task

    def _of(self, task: TaskId) -> Told:
        if task not in self._known:
            self._known[task] = Told(self._store, task)
        return self._known[task]

    def _say(self, task: TaskId, line: Line) -> None:
        heard = line.heard
        if heard.phase == PROMPT:
            self._open(task, heard)
            self._put(task, drafts.prompted(heard, self._asks(line)))
            return
        parent = drafts.link_of(heard) if heard.phase == SESSION_START and task == heard.task else None
        self._put(task, drafts.noted(heard, self._acts(line), parent))
        if heard.phase == SESSION_END and task == heard.task and self._of(task).status == "in_progress":
            self._move(task, heard, "in_review")

    def _begin(self, task: TaskId, line: Line) -> None:
        """Notes what the files hold that a call names, and what somebody else has made of them before."""
        if line.heard.call in self._begun:
            return
        self._begun[line.heard.call] = line
        found: list[DraftChange] = []
        for each in line.heard.record.states:
            now = self._recorded.held(each)
            found += self._gap(each.path, now, line.heard)
        self._observe(task, line.heard, found)

    def _gap(self, path: bytes, now: Held, heard: Heard) -> list[DraftChange]:
        """Returns how a path came to hold what it holds, if nobody told; and takes it for recorded."""
        if now.fault is not None or self._recorded.is_ignored(path):
            return []
        last = self._recorded.last(path)
        known = last.held.same(now) if last else self._recorded.was_recorded(path, now)
        known = known or self._recorded.is_committed(path, now)
        before = self._before(path)
        self._recorded.note(path, now, heard.record.time)
        if known or before.fault is not None or before.side is not None or now.side is not None:
            return []
        return [DraftChange(path=path_of(path), before=before.version, after=now.version)]

    def _before(self, path: bytes) -> Held:
        """Returns what was last recorded of a path, or else what HEAD has."""
        last = self._recorded.last(path)
        return last.held if last is not None else self._recorded.committed(path)

    def _step(self, task: TaskId, begin: Line | None, end: Line | None) -> None:
        line = end or begin
        if line is None:
            return
        heard = line.heard
        began = begin.heard._replace(record=begin.heard.record._replace(id=heard.record.id)) if begin else None
        step = Step(began, end and end.heard)
        if end is None:
            changes = tuple(DraftChange(path=path_of(each.path)) for each in heard.record.states)
            step = _partial(step._replace(changes=changes), "no-result") if changes else step
        elif end.told is not None:
            step = self._with_told(task, step, end.told, end)
        elif heard.record.states or end.outside:
            step = self._with_seen(step, end)
        elif heard.tool_class not in _COMPARED:
            step = step._replace(coverage="none", reason="not-compared")
        self._open(task, heard)
        if heard.call_id:
            self._of(task).calls.add((heard.session, heard.call_id))
        self._put(task, drafts.stepped(step, self._acts(line)))

    def _with_seen(self, step: Step, end: Line) -> Step:
        """Adds the changes of the files that were looked at: before the call, or what was recorded last."""
        began = {each.path: self._recorded.held(each) for each in step.begin.record.states} if step.begin else {}
        found = _Sides()
        for each in end.heard.record.states:
            before = began.get(each.path)
            sides = self._before(each.path) if before is None else before, self._recorded.held(each)
            self._add(found, each.path, sides, end.heard, seen=before is not None)
        return found.on(step, end.outside)

    def _with_told(self, task: TaskId, step: Step, told: Iterable[ToldChange], end: Line) -> Step:
        """Adds the changes that a line tells of, behind what somebody else has made of the files before."""
        found = _Sides()
        gaps: list[DraftChange] = []
        for each in told:
            before, after = (
                Held() if side is None else self._recorded.cleaned(each.path, side.mode, side.data)
                for side in (each.before, each.after)
            )
            gaps += self._gap(each.path, before, end.heard)
            self._add(found, each.path, (before, after), end.heard, seen=True)
        self._observe(task, end.heard, gaps)
        return found.on(step, end.outside)

    def _add(self, found: "_Sides", path: bytes, sides: tuple[Held, Held], heard: Heard, *, seen: bool) -> None:
        if self._recorded.is_ignored(path):
            sides = Held(fault="ignored"), Held(fault="ignored")
        self._recorded.note(path, sides[1], heard.record.time)
        found.add(path, *sides, seen=seen)

    def _observe(self, task: TaskId, heard: Heard, changes: Sequence[DraftChange]) -> None:
        if changes:
            self._open(task, heard)
            key = f"gap/{heard.call_id or heard.record.id}"
            self._put(task, drafts.observed(heard, key, tuple(changes), {"coverage": "scoped"}))

    def _open(self, task: TaskId, heard: Heard) -> None:
        """Opens a session's own task, and opens it again when it goes on."""
        if task != heard.task or self._all_of is not None:
            return
        known = self._of(task)
        if not known.is_defined:
            known.is_defined = True
            self._put(task, drafts.defined(heard, drafts.person(heard, self._person), drafts.link_of(heard)))
        if known.status in (None, "pending", "in_review"):
            self._move(task, heard, "in_progress")

    def _move(self, task: TaskId, heard: Heard, status: str) -> None:
        self._of(task).status = status
        self._put(task, drafts.moved(heard, status, drafts.agent(heard, heard.model, self._person)))

    def _put(self, task: TaskId, draft: Draft) -> None:
        fields = draft.fields | ({"worktree": self._by.worktree} if self._by.worktree else {})
        self._drafts.append((task, msgspec.structs.replace(draft, fields=fields)))

    def _acts(self, line: Line) -> Actor:
        """Returns who did what a line tells of."""
        found = drafts.agent(line.heard, line.heard.model, self._person)
        if self._actor is not None and not line.has_agent:
            found = msgspec.structs.replace(found, type=self._actor.type, name=self._actor.name)
        return self._in_session(line, found)

    def _asks(self, line: Line) -> Actor:
        return self._in_session(line, drafts.person(line.heard, self._person))

    def _in_session(self, line: Line, found: Actor) -> Actor:
        return found if line.has_session else msgspec.structs.replace(found, session=self._by.actor.session)


class _Sides:
    """The changes of one step, and how far they can be relied on."""

    def __init__(self) -> None:
        self._changes: list[DraftChange] = []
        self._odd: list[object] = []
        self._reason: str | None = None
        self._inferred = False

    def add(self, path: bytes, before: Held, after: Held, *, seen: bool) -> None:
        """Adds what a path held before and after; `seen` says that somebody saw what it held before."""
        fault = after.fault or before.fault
        if fault is not None:
            self._reason = fault
            self._changes.append(DraftChange(path=path_of(path)))
        elif not before.same(after):
            self._inferred = self._inferred or not seen
            if before.side is not None or after.side is not None:
                self._reason = OMITTED_LARGE
                change = Change(path=path_of(path), before=_named(before), after=_named(after))
                self._odd.append(msgspec.to_builtins(change))
            else:
                self._changes.append(DraftChange(path=path_of(path), before=before.version, after=after.version))

    def on(self, step: Step, outside: int) -> Step:
        """Returns a step with these changes; `outside` of its paths are not of this work tree."""
        if outside:
            self._reason = self._reason or "outside"
            self._changes.append(DraftChange(path=OddPath(outside=True)))
        step = step._replace(inferred=self._inferred)
        if self._reason is not None:
            step = _partial(step, self._reason)
        elif self._inferred:
            step = step._replace(coverage="shared", reason="no-before")
        else:
            step = step._replace(coverage="scoped")
        return step._replace(changes=tuple(self._changes), odd_changes=tuple(self._odd))


def _partial(step: Step, reason: str) -> Step:
    return step._replace(coverage="partial", reason=reason)


def _named(held: Held) -> Side | None:
    """Returns a side by its hash alone."""
    if held.version is None:
        return held.side
    data = held.version.data
    return Side(mode=held.version.mode, blob=content.blob_id(data), size=len(data), omitted=OMITTED_LARGE)
