"""From what hooks said to drafts: which calls belong together, and whose change it was.

A tool call is one step, however many records tell of it. What a work tree held before a call, and no step has left
there, is `observed`, unless git brought it. What changed during a call that may write anywhere is its own only if the
whole tree was looked at before it and after it, and if no other such call was open there meanwhile.
"""

import json
from collections.abc import Iterable, Sequence

from pogstore.agents.changes import Seen, seen_changes, with_moves
from pogstore.agents.heard import END, NOTE, PROMPT, SESSION_END, SESSION_START, TURN_END, Heard, Step, is_over
from pogstore.agents.makers import git_hooks_of
from pogstore.agents.pairing import paired
from pogstore.agents.telling import Telling
from pogstore.agents.trees import Call, Tree, Trees
from pogstore.draft import Draft, DraftChange
from pogstore.model import Actor, OddPath, TaskId
from pogstore.store.store import Store
from pogstore.work import githooks
from pogstore.work.compared import NO_BEFORE, Compared, Look, base_of, look_of

PATIENCE = 3600 * 1_000_000
"""How long a call waits for its end, in µs."""
TWICE = 1_000_000
"""Within how many µs the same words count as one hook that ran twice."""
ANOTHER_CALL = "another-call"

Key = tuple[str, str]


class Fold:
    """Goes through what hooks said in the order of its time, and leaves in `open` the records that have to wait."""

    def __init__(self, store: Store, said: Sequence[Heard], now: int) -> None:
        self._now = now
        self.open: set[str] = set()
        said = list(paired(said))
        self._heard = said
        self._begins: dict[Key, Heard] = {}
        self._asides: dict[Key, list[Heard]] = {}
        for heard in said:
            if heard.refused is not None:
                continue
            if heard.begins and _is_aside(heard):
                self._asides.setdefault(heard.call, []).append(heard)
            elif heard.begins and heard.call_id:
                self._begins.setdefault(heard.call, heard)
        self._waiting: dict[Key, Heard] = {}
        self._trees = Trees(store, min((heard.record.time for heard in said), default=0))
        self._telling = Telling(store, self._trees)
        self._said: dict[tuple[str, bytes], tuple[int, str]] = {}

    def found(self) -> list[tuple[TaskId, Draft]]:
        """Returns what to write, in order."""
        self._trees.look_up([heard.record for heard in self._heard])
        for heard in self._heard:
            if heard.refused is not None:
                self._telling.refused(heard, *heard.refused)
            elif _is_aside(heard):
                self._aside(heard)
            elif heard.begins:
                self._begin(heard)
            elif heard.ends:
                self._end(heard)
            elif not self._was_said(heard):
                self._say(heard)
        for begin in list(self._waiting.values()):
            if self._now - begin.record.time > PATIENCE:
                self._give_up(begin)
            else:
                self.open.update(each.record.id for each in (begin, *self._asides.get(begin.call, ())))
        self._telling.check_contracts()
        return self._telling.found

    def _begin(self, heard: Heard) -> None:
        if heard.call_id and (heard.call in self._waiting or heard.call in self._telling.told(heard).calls):
            return
        self._waiting[heard.call] = heard
        tree = self._trees.of(heard.record)
        key = f"gap/{heard.call_id or heard.record.id}"
        self._observe(heard, heard, key, self._until(tree, heard))
        tree.opened(heard)

    def _until(self, tree: Tree, heard: Heard) -> Compared:
        """Returns what changed until a call in the whole work tree, or at the paths that were named."""
        found = tree.observe(heard.record)
        return Compared(tree.gaps(heard), coverage="scoped") if found is None else found

    def _end(self, end: Heard) -> None:
        if end.is_shadow and self._trees.of(end.record).knows(end):
            return
        waiting = self._waiting.pop(end.call, None)
        begin = self._begins.get(end.call) if end.call_id else waiting
        tree = self._trees.of(end.record)
        call = tree.closed(end.call)
        if begin is not None:
            self._trees.of(begin.record).closed(end.call)
        told = self._telling.told(begin or end)
        if end.call in told.calls if end.call_id else end.record.id in told.keys:
            return
        step = self._step(tree, begin, end, call)
        if end.tool_class == "shell":
            tree.ran(begin, end)
        self._telling.step(begin or end, step)
        later = Compared(step.later, coverage="scoped")
        self._observe(begin or end, end, f"gap/{end.call_id or end.record.id}/after", later, [end.call_id])

    def _step(self, tree: Tree, begin: Heard | None, end: Heard, call: Call | None) -> Step:
        if end.record.look is not None:
            return self._looked(tree, begin, end, call)
        if end.tool_class == "edit" or end.record.states:
            seen = seen_changes(tree, begin, end)
            asked = Compared(seen.gaps, coverage="scoped")
            self._observe(begin or end, end, f"gap/{end.call_id or end.record.id}/asked", asked)
            return self._edited(begin, end, seen)
        if end.tool_class in ("shell", "mcp"):
            return Step(begin, end, coverage="none", reason="not-compared")
        return Step(begin, end)

    def _edited(self, begin: Heard | None, end: Heard, seen: Seen) -> Step:
        if not seen.paths and end.phase == END:
            outside = (DraftChange(path=OddPath(outside=True)),)
            return Step(begin, end, changes=outside, coverage="partial", reason="outside")
        if not seen.paths:
            return Step(begin, end)
        known = seen.coverage != "partial" and bool(seen.changes) and end.phase == END
        changes = with_moves(seen.changes, end.moves)
        return Step(begin, end, changes, seen.odd, seen.coverage, seen.reason, seen.inferred, known, seen.later)

    def _looked(self, tree: Tree, begin: Heard | None, end: Heard, call: Call | None) -> Step:
        """Returns a call at whose end the whole work tree was looked at, and tells what was not its own doing."""
        key, first = f"gap/{end.call_id or end.record.id}", begin or end
        start, now = _look_before(begin, end), look_of(end.record)
        if now is None or now.reason is not None:
            return Step(begin, end, coverage="partial", reason=now.reason if now else NO_BEFORE)
        if begin is None or start is None or start.reason is not None:
            self._observe(first, end, f"{key}/end", tree.observe(end.record), [end.call_id])
            return Step(begin, end, coverage="partial", reason=(start and start.reason) or NO_BEFORE)
        found = tree.compare(start, now)
        self._observe(first, end, f"{key}/edited", found.apart, [end.call_id])
        beside = [*(call.beside.values() if call else ()), *self._trees.stored_beside(begin, end)]
        if beside:
            self._observe(first, end, f"{key}/end", found, [end.call_id, *beside])
            return Step(begin, end, coverage="shared", reason=ANOTHER_CALL)
        maker = self._hook_of(tree, end) if found.changes or found.odd else None
        if maker is not None:
            self._observe(first, end, f"{key}/end", found, [end.call_id], maker)
            lacks = found.reason if found.coverage == "partial" else None
            return Step(begin, end, coverage="partial" if lacks else "exact", reason=lacks)
        if not tree.shell_owns:
            self._observe(first, end, f"{key}/end", found, [end.call_id])
            return Step(begin, end, coverage=found.coverage, reason=found.reason)
        return Step(begin, end, found.changes, found.odd, found.coverage, found.reason)

    def _hook_of(self, tree: Tree, end: Heard) -> Actor | None:
        """Returns the hook of git that has changed files, where a shell did nothing that could but let git run it."""
        names = git_hooks_of(end.command) if end.tool_class == "shell" else ()
        found = githooks.maker(tree.recorded.place, names) if names else None
        return Actor(type="tool", name=found) if found else None

    def _aside(self, heard: Heard) -> None:
        """Tells what a call did to another work tree than the one that it is of: nobody knows that it was the call."""
        tree = self._trees.of(heard.record)
        first = self._begins.get(heard.call, heard)
        key = f"gap/{heard.record.id}"
        if heard.begins:
            self._observe(first, heard, key, self._until(tree, heard))
            tree.opened(heard)
            return
        call = tree.closed(heard.call)
        beside = [heard.call_id, *(call.beside.values() if call else ())] if heard.ends else []
        start, now = _look_before(call.begin if call else None, heard), look_of(heard.record)
        if start is None or now is None or start.reason is not None or not heard.ends:
            found = self._until(tree, heard)
        else:
            found = tree.compare(start, now)
        self._observe(first, heard, f"{key}/edited", found.apart, beside)
        self._observe(first, heard, key, found, beside)

    def _give_up(self, begin: Heard) -> None:
        """Writes a call whose end never came: what it did to the files it named is not known."""
        self._waiting.pop(begin.call, None)
        self._trees.closed(begin.call)
        changes = self._trees.of(begin.record).unknown(begin)
        if begin.record.look is not None or begin.tool_class in ("shell", "mcp"):
            step = Step(begin, None, coverage="none", reason="not-compared")
        elif changes:
            step = Step(begin, None, changes=changes, coverage="partial", reason="no-result")
        else:
            step = Step(begin, None)
        self._telling.step(begin, step)

    def _observe(
        self,
        first: Heard,
        at: Heard,
        key: str,
        found: Compared | None,
        calls: Iterable[str | None] = (),
        maker: Actor | None = None,
    ) -> None:
        """Tells of changes that are no step's, and of who made them if that is known.

        Nothing is told of those of which no side is known.
        """
        if found is None:
            return
        changes = tuple(each for each in found.changes if each.before is not None or each.after is not None)
        if not changes and not found.odd:
            return
        if first.begins or first.ends or first.phase == PROMPT:
            self._telling.open_task(first)
        fields: dict[str, object] = {"coverage": "scoped" if found.coverage == "scoped" else "exact"}
        base = found.base or base_of(at.record.head)
        during = self._trees.of(at.record).during(changes, at, calls)
        told = {"base_from": found.base_from, "base": base, "during": during, "changes": list(found.odd)}
        fields |= {name: value for name, value in told.items() if value}
        self._telling.observed(first, at, key, changes, fields, maker)

    def _was_said(self, heard: Heard) -> bool:
        """Says whether the same was just said: by two installations of a hook, or by two hooks that one agent runs."""
        record = heard.record
        of_hook = self._said.get((record.event, record.payload))
        thing = record.event.lower() if heard.phase == NOTE else heard.phase
        key = (thing, json.dumps([heard.agent, heard.session, heard.agent_id, heard.text]).encode())
        of_agent = self._said.get(key)
        self._said[record.event, record.payload] = self._said[key] = (record.time, record.agent)
        if of_hook is not None and record.time - of_hook[0] <= TWICE:
            return True
        return of_agent is not None and of_agent[1] != record.agent and record.time - of_agent[0] <= TWICE

    def _say(self, heard: Heard) -> None:
        if heard.phase in (SESSION_START, SESSION_END) or heard.settles:
            for begin in [each for each in self._waiting.values() if is_over(each, heard)]:
                self._give_up(begin)
        if heard.phase in (PROMPT, TURN_END):
            self._trees.left(heard)
        until = self._trees.of(heard.record).observe(heard.record)
        self._observe(heard, heard, f"gap/{heard.record.id}", until)
        told = self._telling.told(heard)
        if heard.record.id in told.keys:
            return
        if heard.model and heard.agent_id is None:
            told.models[heard.session] = heard.model
        if heard.phase == PROMPT:
            self._telling.prompt(heard)
            return
        self._telling.note(heard, begins_session=heard.phase == SESSION_START)
        if heard.phase == SESSION_END:
            self._telling.close_task(heard)


def _is_aside(heard: Heard) -> bool:
    """Says whether a record is of another work tree than the one in which the call was made."""
    return heard.record.extra.get("aside") == b"1"


def _look_before(begin: Heard | None, end: Heard) -> Look | None:
    return look_of(begin.record) if begin is not None and begin.record.git_dir == end.record.git_dir else None
