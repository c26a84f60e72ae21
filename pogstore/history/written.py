"""Which owners wrote a line, wherever it stood: an index over the added lines of a file, made when first asked."""

from array import array
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from pogstore.history.explanation import Explanation, Key, Owner
from pogstore.history.lines import is_trivial, normal, score


class Place(NamedTuple):
    """Where an owner wrote: the version that he made, and the chain of versions that it belongs to, if any."""

    key: Key
    chain: str | None


class _Added(NamedTuple):
    """The lines that an owner added with a version."""

    owner: Owner
    key: Key
    lines: "array[int]"


class Written:
    """The lines that each owner added, by their text without white space; lines that say nothing are left out."""

    def __init__(self) -> None:
        self._places: dict[Owner, Place] = {}
        self._order: dict[Owner, int] = {}
        self._waiting: dict[bool, list[_Added]] = {False: [], True: []}
        self._owners: dict[bytes, list[Owner]] = {}

    def add(self, owner: Owner, place: Place, lines: Sequence[int]) -> None:
        """Remembers that an owner made a version, and which of its lines are his; they are read when somebody asks."""
        self._places[owner] = place
        self._order.setdefault(owner, len(self._order))
        self._waiting[place.chain is None].append(_Added(owner, place.key, array("L", lines)))

    def is_new(self, owner: Owner) -> bool:
        """Says whether an owner has made no version yet."""
        return owner not in self._places

    def place(self, owner: Owner) -> Place:
        """Returns where an owner wrote last."""
        return self._places[owner]

    def heaviest(
        self,
        found: Explanation,
        read: Callable[[Key], bytes],
        may_give: Callable[[Owner], bool],
        most: int,
        *,
        of_commits: bool,
    ) -> Iterator[Owner]:
        """Yields those who wrote most of the lines that are still free, one after the other and each once.

        Of equal ones it is the last that wrote: what was discarded and done again is his who did it again. Lines of
        commits count if they are asked for.
        """
        free = found.free
        if not free:
            return
        self._read(read, of_commits=of_commits)
        asked = cache(may_give)
        wrote: dict[Owner, list[int]] = {}
        for at in free:
            for owner in self._owners.get(found.normals[at], ()):
                if asked(owner):
                    wrote.setdefault(owner, []).append(at)
        scores = {at: score(found.lines[at]) for at in free}
        for _ in range(most):
            weights = {
                owner: sum(scores[at] for at in places if found.owners[at] is None) for owner, places in wrote.items()
            }
            best = max(weights, key=lambda owner: (weights[owner], self._order[owner]), default=None)
            if best is None or not weights[best]:
                return
            yield best
            del wrote[best]

    def _read(self, read: Callable[[Key], bytes], *, of_commits: bool) -> None:
        """Enters the lines of all versions that were made since the last time."""
        for waiting in (self._waiting[each] for each in {False, of_commits}):
            for owner, key, places in waiting:
                lines = read(key).split(b"\n") if places else []
                for line in {normal(lines[at]) for at in places}:
                    if not is_trivial(line):
                        self._owners.setdefault(line, []).append(owner)
            waiting.clear()
