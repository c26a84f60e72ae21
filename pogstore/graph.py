"""Replay order, heads, ancestry, cycles and clocks, from ids and a `parents` function.

Knows ids, clocks and edges; nothing of what an event says or where it is kept. Every walk is iterative and ends even
where edges form a cycle, since links between tasks can. A `parents` function answers with nothing for an id that it
does not know. Whatever is a set comes back sorted, so that no answer depends on the order of arrival.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from pogstore.errors import OutsideDomain
from pogstore.model import EventId, Sealed

Id = TypeVar("Id", bound=str)
Edges = Callable[[Id], Iterable[Id]]

CLOCK_LIMIT = 1 << 52
"""Every clock is below it."""
LEAP = 1 << 40
"""How far a clock may stand above the highest of its parents."""
AHEAD = 1 << 20
"""How far above all accepted clocks a fetched event may stand and still raise ours."""


class Raised(NamedTuple):
    """The highest clock that counts as accepted, and the events that do not count because they are ahead."""

    highest: int
    ahead: frozenset[EventId]


def replay_order(events: Iterable[Sealed]) -> list[Sealed]:
    """Returns the events, each once, in the one order every reader derives: ascending clock, then event id."""
    once = {sealed.event_id: sealed for sealed in events}
    return sorted(once.values(), key=lambda sealed: (sealed.event.clock, sealed.event_id))


def order(nodes: Iterable[tuple[int, Id]]) -> list[Id]:
    """Returns the ids of (clock, event id) pairs, each once, in replay order."""
    return [event_id for _, event_id in sorted(set(nodes))]


def heads(ids: Iterable[Id], parents: Edges[Id]) -> tuple[Id, ...]:
    """Returns those that are no parent of any other of them, sorted."""
    present = set(ids)
    return tuple(sorted(present.difference(*map(parents, present))))


def children(ids: Iterable[Id], parents: Edges[Id]) -> dict[Id, list[Id]]:
    """Returns for each parent its children among the ids, sorted: `parents` the other way round."""
    found: dict[Id, list[Id]] = {}
    for child in sorted(set(ids)):
        for parent in parents(child):
            found.setdefault(parent, []).append(child)
    return found


def missing_parents(ids: Iterable[Id], parents: Edges[Id]) -> tuple[Id, ...]:
    """Returns the parents that are named but are not among the ids, sorted."""
    present = set(ids)
    return tuple(sorted({parent for child in present for parent in parents(child)} - present))


def reach(starts: Iterable[Id], edges: Edges[Id]) -> Iterator[Id]:
    """Yields once whatever one or more edges lead to; a start only if an edge leads back to it."""
    seen: set[Id] = set()
    pending = list(starts)
    while pending:
        for found in edges(pending.pop()):
            if found not in seen:
                seen.add(found)
                pending.append(found)
                yield found


def ancestors(starts: Iterable[Id], parents: Edges[Id]) -> set[Id]:
    """Returns all ancestors; a start is among them only if it is an ancestor of another."""
    return set(reach(starts, parents))


def descendants(starts: Iterable[Id], by_parent: dict[Id, list[Id]]) -> set[Id]:
    """Returns all descendants, from what `children` returned; a start only if it descends from another."""
    return set(reach(starts, lambda event_id: by_parent.get(event_id, ())))


def is_ancestor(ancestor: Id, event_id: Id, parents: Edges[Id], clock: Callable[[Id], int] | None = None) -> bool:
    """Says whether one event is an ancestor of another; never of itself.

    With clocks the walk stays among the events above the ancestor, instead of going down to the root.
    """
    if clock is None:
        return ancestor in reach((event_id,), parents)
    lowest = clock(ancestor)

    def above(child: Id) -> Iterator[Id]:
        return (parent for parent in parents(child) if parent == ancestor or clock(parent) > lowest)

    return ancestor in reach((event_id,), above)


def concurrent(one: Id, other: Id, parents: Edges[Id]) -> bool:
    """Says whether neither of two events saw the other."""
    return one != other and not is_ancestor(one, other, parents) and not is_ancestor(other, one, parents)


def merge_bases(one: Id, other: Id, parents: Edges[Id]) -> tuple[Id, ...]:
    """Returns the best common ancestors, sorted; of an event and its ancestor it is the ancestor."""
    common = ({one} | ancestors((one,), parents)) & ({other} | ancestors((other,), parents))
    return heads(common, parents)


def find_cycle(nodes: Iterable[Id], edges: Edges[Id]) -> list[Id] | None:
    """Returns the members of one cycle in the direction of its edges, beginning with the least; `None` without any.

    Which one of several does not depend on the order of `nodes` or of edges.
    """
    done: set[Id] = set()
    for start in sorted(set(nodes)):
        if start not in done and (cycle := _cycle_from(start, edges, done)):
            least = cycle.index(min(cycle))
            return cycle[least:] + cycle[:least]
    return None


def closes_cycle(source: Id, target: Id, edges: Edges[Id]) -> bool:
    """Says whether an edge from `source` to `target` would close a cycle."""
    return source == target or source in reach((target,), edges)


def clock_fault(clock: int, parent_clocks: Iterable[int]) -> str | None:
    """Returns why the clock of an event is not valid, `None` if it is: a pure function of the event and its parents."""
    highest = max(parent_clocks, default=0)
    if clock <= highest:
        return f"clock {clock} is not above {highest}"
    if clock > highest + LEAP:
        return f"clock {clock} is more than 2^40 above {highest}"
    if clock >= CLOCK_LIMIT:
        return f"clock {clock} is not below 2^52"
    return None


def next_clock(parent_clocks: Sequence[int], highest_accepted: int) -> int:
    """Returns the clock of a new event: one above its parents and above all that this clone accepted.

    It is never so far above the parents that the event would not be valid. Raises `OutsideDomain` where the parents
    leave no clock at all.
    """
    highest_parent = max(parent_clocks, default=0)
    clock = min(1 + max(highest_parent, highest_accepted), highest_parent + LEAP, CLOCK_LIMIT - 1)
    if clock <= highest_parent:
        raise OutsideDomain(f"no clock is left above {highest_parent}")
    return clock


def is_ahead(clock: int, highest_accepted: int) -> bool:
    """Says whether a fetched event stands so far above all accepted ones that it must not raise our clock."""
    return clock > highest_accepted + AHEAD


def highest_raised(events: Iterable[Sealed], highest_accepted: int, ahead: Collection[EventId] = frozenset()) -> Raised:
    """Returns the highest accepted clock after these events, and all events that are ahead.

    Neither an event that is ahead nor what rests on it counts; `ahead` names those known from before. The events are
    taken in replay order, so a long row of ordinary steps is accepted however long it is.
    """
    held = set(ahead)
    for sealed in replay_order(events):
        event = sealed.event
        if is_ahead(event.clock, highest_accepted) or not held.isdisjoint(event.parents):
            held.add(sealed.event_id)
        elif sealed.event_id not in held:
            highest_accepted = max(highest_accepted, event.clock)
    return Raised(highest_accepted, frozenset(held))


def _cycle_from(start: Id, edges: Edges[Id], done: set[Id]) -> list[Id] | None:
    path, place = [start], {start: 0}
    pending = [iter(sorted(edges(start)))]
    while pending:
        found = next(pending[-1], None)
        if found is None:
            pending.pop()
            finished = path.pop()
            del place[finished]
            done.add(finished)
        elif found in place:
            return path[place[found] :]
        elif found not in done:
            place[found] = len(path)
            path.append(found)
            pending.append(iter(sorted(edges(found))))
    return None
