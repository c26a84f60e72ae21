"""The fewest further events that have to go so that nothing stands in the way. Pure: planning comes in as a function.

A conflict can only end if a later event that touched its path goes as well. So a clean set is looked for by adding all
that is in the way, without those that bring conflicts of their own; what can be left out of it is; and whether fewer
would do is tried by branching on the events of one conflict after the other, which leaves no set out.
"""

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from pogstore.history.plans import Cascade, Found
from pogstore.model import EventId


class Blocked(NamedTuple):
    """A conflict: the event that cannot be taken out, and the events of which one has to go to end it."""

    event: EventId
    ends: frozenset[EventId]


Obstacles = Callable[[Collection[EventId]], Sequence[Blocked]]
"""Plans with further events, and returns what is in the way then; nothing for a clean plan."""


class _GaveUp(Exception):
    """More plans would be needed than may be made."""


class _Counted:
    """Plans, each made once, as many as may be."""

    def __init__(self, obstacles: Obstacles, most: int) -> None:
        self._obstacles, self._left = obstacles, most
        self._known: dict[frozenset[EventId], Sequence[Blocked]] = {}

    def __call__(self, added: frozenset[EventId]) -> Sequence[Blocked]:
        if added not in self._known:
            if not self._left:
                raise _GaveUp
            self._left -= 1
            self._known[added] = self._obstacles(sorted(added))
        return self._known[added]


def find(obstacles: Obstacles, most: int) -> Cascade:
    """Returns the smallest set of events with which nothing is in the way, or the smallest found with `most` plans.

    Of several that are equally small it is always the same one.
    """
    plans = _Counted(obstacles, most)
    clean: frozenset[EventId] | None = None
    try:
        clean, candidates = _grown(plans)
        clean = _without_needless(plans, clean) if clean is not None else None
        for size in range(1, len(candidates) + 1 if clean is None else len(clean)):
            smaller = _branch(plans, frozenset(), size, set())
            if smaller is not None:
                return _found(smaller, "smallest")
    except _GaveUp:
        return Cascade((), "unknown") if clean is None else _found(clean, "clean")
    return Cascade((), "none") if clean is None else _found(clean, "smallest")


def _grown(plans: _Counted) -> tuple[frozenset[EventId] | None, frozenset[EventId]]:
    """Adds all that is in the way, but what conflicts itself, until nothing is; returns also all that was tried."""
    added: frozenset[EventId] = frozenset()
    tried, refused = added, added
    while blocked := plans(added):
        grown = added.union(*(each.ends for each in blocked)) - refused
        tried |= grown
        if grown == added:
            culprits = added & {each.event for each in blocked}
            if not culprits:
                return None, tried
            refused |= culprits
            grown -= culprits
        added = grown
    return added, tried


def _without_needless(plans: _Counted, clean: frozenset[EventId]) -> frozenset[EventId]:
    for event_id in sorted(clean):
        if not plans(clean - {event_id}):
            clean -= {event_id}
    return clean


def _branch(
    plans: _Counted, added: frozenset[EventId], more: int, seen: set[frozenset[EventId]]
) -> frozenset[EventId] | None:
    """Returns a clean set of at most so many more events; each conflict needs one of its own."""
    if added in seen:
        return None
    seen.add(added)
    blocked = plans(added)
    if not blocked:
        return added
    if not more:
        return None
    ends = min((each.ends - added for each in blocked), key=lambda each: (len(each), sorted(each)))
    for event_id in sorted(ends):
        found = _branch(plans, added | {event_id}, more - 1, seen)
        if found is not None:
            return found
    return None


def _found(events: frozenset[EventId], found: Found) -> Cascade:
    return Cascade(tuple(sorted(events)), found)
