"""Which limits hold for a task, by its events: who amended its definition, and which one was claimed since.

The first definition holds at once. What a person amends holds beside it, and in its place once the task is claimed
again; what an agent amends only ever holds beside it: an amendment widens nothing unless a person made it, and after a
new `start`. What an agent has defined itself is bound by the task that it is a part of, too.
"""

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from pogstore import codec, state
from pogstore.errors import NotCanonical, NotFound
from pogstore.model import Claimed, Defined, Definition, Globs, Opaque, Sealed, TaskId, Text
from pogstore.policy import Limits
from pogstore.store.store import Store

SOURCE, ABOVE = "the task", "the task above"
UNKNOWN = Definition(title="", scope=Globs(allow=()), commands=Globs(allow=()))
"""What holds where the definition that was claimed cannot be read: nothing may be done."""
DEEPEST = 8
"""Tasks inside of tasks that are looked at."""


class Bounds(NamedTuple):
    """The definitions that hold together, the one in force first; and those that bind the task it is a part of."""

    definitions: tuple[Definition, ...]
    above: tuple[Definition, ...] = ()

    @property
    def limits(self) -> tuple[Limits, ...]:
        """The limits of all of them."""
        found = [limits_of(each, SOURCE) for each in self.definitions]
        found += [limits_of(each, ABOVE) for each in self.above]
        return tuple(limits for limits in found if limits is not None)

    @property
    def budget(self) -> Mapping[str, int]:
        """The least of what each allows."""
        amounts: dict[str, int] = {}
        for each in (*self.definitions, *self.above):
            for name, amount in (msgspec.structs.asdict(each.budget) if each.budget else {}).items():
                if amount is not None:
                    amounts[name] = min(amount, amounts.get(name, amount))
        return amounts

    @property
    def approvals(self) -> int:
        """The most that any of them asks for."""
        return max((each.approvals or 0 for each in (*self.definitions, *self.above)), default=0)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is limited."""
        return not self.limits and not self.budget


def limits_of(definition: Definition, source: str) -> Limits | None:
    """Returns the limits on paths and commands that a definition names; nothing if it names none."""
    scope, commands = definition.scope or Globs(), definition.commands or Globs()
    if scope == commands == Globs():
        return None
    return Limits(source, allow=scope.allow, deny=scope.deny, command_allow=commands.allow, command_deny=commands.deny)


class Folding:
    """The bounds of one task while its events are gone through in replay order."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._accepted: Definition | None = None
        self._beside: list[tuple[str, Definition, bool]] = []
        self._above: tuple[Definition, ...] = ()

    def add(self, sealed: Sealed, depth: int = 0) -> None:
        """Takes the next event."""
        event = sealed.event
        if isinstance(event, Defined):
            self._define(event, depth)
        elif isinstance(event, Claimed):
            self._claim(event)

    def _define(self, event: Defined, depth: int) -> None:
        definition = self._read(event.definition)
        by_person = event.actor.type == "human" and event.source is None  # an import says what others say
        if self._accepted is not None:
            self._beside.append((event.definition.blob, definition, by_person))
            return
        self._accepted = definition
        parents = [link.task for link in event.links if link.rel == "parent" and link.task]
        if not by_person and depth < DEEPEST:
            self._above = tuple(
                each for task in parents for found in (_bounds(self._store, task, depth + 1),)
                for each in (*found.definitions, *found.above)
            )  # fmt: skip

    def _claim(self, event: Claimed) -> None:
        """Accepts what a person has amended, with all that was said before; later words of agents stay beside it."""
        for at, (blob, definition, by_person) in enumerate(self._beside):
            if by_person and blob == event.definition_id:
                self._accepted, self._beside = definition, self._beside[at + 1 :]
                return

    def _read(self, text: Text) -> Definition:
        try:
            return codec.decode_definition(self._store.read_text(text).encode())
        except (NotFound, NotCanonical):
            return UNKNOWN

    @property
    def bounds(self) -> Bounds:
        """What holds after the events so far."""
        first = () if self._accepted is None else (self._accepted,)
        return Bounds((*first, *(definition for _, definition, _ in self._beside)), self._above)


def bounds_of(store: Store, task: TaskId) -> Bounds:
    """Returns what holds for a task now; nothing if it has no events."""
    return _bounds(store, task, 0)


def _bounds(store: Store, task: TaskId, depth: int) -> Bounds:
    try:
        events = store.events(task)
    except NotFound:
        return Bounds(())
    folding = Folding(store)
    for sealed in state.distinct(state.whole(events).events).used:
        if not isinstance(sealed.event, Opaque):
            folding.add(sealed, depth)
    return folding.bounds
