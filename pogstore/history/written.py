"""Which owners wrote a line, wherever it stood: an index over the added lines of a file, made when first asked."""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from pogstore.history.explanation import Explanation, Key, Owner, Version
from pogstore.history.lines import is_trivial, normal, score


class Place(NamedTuple):
    """Where an owner wrote: the version that he made, and the chain of versions that it belongs to, if any."""

    key: Key
    chain: str | None


class Written:
    """The lines that each owner added, by their text without white space; lines that say nothing are left out."""

    def __init__(self) -> None:
        self._places: dict[Owner, Place] = {}
        self._order: dict[Owner, int] = {}
        self._waiting: list[tuple[Owner, Key]] = []
        self._owners: dict[bytes, list[Owner]] = {}

    def add(self, owner: Owner, place: Place) -> None:
        """Remembers that an owner made a version; which of its lines are his is looked up when somebody asks."""
        self._places[owner] = place
        self._order.setdefault(owner, len(self._order))
        self._waiting.append((owner, place.key))

    def place(self, owner: Owner) -> Place:
        """Returns where an owner wrote last."""
        return self._places[owner]

    def heaviest(
        self,
        found: Explanation,
        versions: Mapping[Key, Version],
        may_give: Callable[[Owner], bool],
        most: int,
    ) -> Iterator[Owner]:
        """Yields those who wrote most of the lines that are still free, one after the other and each once.

        Of equal ones it is the last that wrote: what was discarded and done again is his who did it again.
        """
        self._read(versions)
        wrote: dict[Owner, list[int]] = {}
        for at in found.free if self._owners else ():
            for owner in self._owners.get(found.normals[at], ()):
                wrote.setdefault(owner, []).append(at)
        scores = {at: score(found.lines[at]) for at in found.free}
        wrote = {owner: places for owner, places in wrote.items() if may_give(owner)}
        for _ in range(most):
            weights = {
                owner: sum(scores[at] for at in places if found.owners[at] is None) for owner, places in wrote.items()
            }
            best = max(weights, key=lambda owner: (weights[owner], self._order[owner]), default=None)
            if best is None or not weights[best]:
                return
            yield best
            del wrote[best]

    def _read(self, versions: Mapping[Key, Version]) -> None:
        """Enters the lines of all versions that were made since the last time."""
        for owner, key in self._waiting:
            version = versions[key]
            lines = version.content.split(b"\n")
            for line in {normal(lines[at]): at for at, his in enumerate(version.owners) if his == owner}:
                if not is_trivial(line):
                    self._owners.setdefault(line, []).append(owner)
        self._waiting.clear()
