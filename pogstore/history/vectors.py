"""The owners of the lines of thousands of versions, in little memory.

A version that an event made is kept as what the event changed; all lines of it are made again when somebody asks, from
the next version before it that is kept whole. Knows nothing of time or storage.
"""

from array import array
from collections import deque
from collections.abc import Callable, Sequence
from itertools import chain, compress, islice, repeat
from operator import is_not, sub

from pogstore.history.lines import split

Owner = str
"""An event id (64 digits), a commit (40 digits), or UNKNOWN."""
UNKNOWN: Owner = ""
Key = str
"""Names the content of a version; equal contents have equal keys."""
Hunks = Sequence[tuple[int, int, int, int]]
"""(old start, old lines, new start, new lines), counted from 0."""

WHOLE_EVERY = 32
"""After so many versions in a row that are kept as changes, one is kept whole."""
AT_HAND = 64
"""So many versions that were asked for last have all their lines in a list."""


class Vector:
    """The owners of the lines of one version; never changed."""

    __slots__ = ("_base", "_counts", "_hunks", "_listed", "_owners", "depth")

    def __init__(self, listed: list[Owner], base: "Vector | None", hunks: Hunks, owner: Owner) -> None:
        self.depth: int = 0 if base is None else base.depth + 1
        self._listed: list[Owner] | None = listed
        self._base = base if self.depth % WHOLE_EVERY else None
        self._hunks: Hunks = tuple(hunks)
        self._owners: Sequence[Owner] = (owner,)
        self._counts: array[int] | None = None

    def forget(self) -> None:
        """Gives up the list of all lines."""
        if self._base is None and self._listed is not None:
            starts = _starts(self._listed)
            self._owners = [self._listed[at] for at in starts]
            self._counts = array("L", map(sub, [*starts[1:], len(self._listed)], starts))
        self._listed = None

    def listed(self) -> tuple[list[Owner], bool]:
        """Returns the owner of each line, and whether the list was at hand."""
        if self._listed is not None:
            return self._listed, True
        changed: list[Vector] = []
        whole = self
        while whole._listed is None and whole._base is not None:
            changed.append(whole)
            whole = whole._base
        owners = whole._listed or whole._unpacked()
        for each in reversed(changed):
            owners = fold(owners, each._hunks, each._owners[0])
        self._listed = owners
        return owners, False

    @property
    def added(self) -> list[int] | None:
        """The lines that the change added; nothing of a version that was made whole."""
        return [at for *_, start, count in self._hunks for at in range(start, start + count)] if self.depth else None

    def _unpacked(self) -> list[Owner]:
        return list(chain.from_iterable(map(repeat, self._owners, self._counts or ())))


def _starts(owners: list[Owner]) -> list[int]:
    """Returns where runs of one owner begin; those of equal owners that are not the same object may be apart."""
    if not owners:
        return []
    return [0, *compress(range(1, len(owners)), map(is_not, owners, islice(owners, 1, None)))]


class Vectors:
    """Makes vectors, and holds the lists of those that were asked for last."""

    def __init__(self, at_hand: int | None = AT_HAND) -> None:
        """Holds so many lists, or all of them: then two owners that are equal stay two."""
        self._at_hand: deque[Vector] = deque()
        self._most = at_hand

    def whole(self, owners: list[Owner]) -> Vector:
        """Returns the vector of a version that is kept whole."""
        return self._held(Vector(owners, None, (), UNKNOWN))

    def changed(self, base: Vector, hunks: Hunks, owner: Owner) -> Vector:
        """Returns the vector after a change: kept lines keep their owners, added lines are `owner`'s."""
        return self._held(Vector(fold(self.listed(base), hunks, owner), base, hunks, owner))

    def listed(self, vector: Vector) -> list[Owner]:
        """Returns the owner of each line, in a list that is not to be changed."""
        owners, was_at_hand = vector.listed()
        if not was_at_hand:
            self._held(vector)
        return owners

    def _held(self, vector: Vector) -> Vector:
        if self._most is None:
            return vector
        self._at_hand.append(vector)
        if len(self._at_hand) > self._most:
            self._at_hand.popleft().forget()
        return vector


class Version:
    """A content with the owner of each of its lines; `read` knows the content.

    With one owner in the place of a vector all lines are his; how many they are is looked up when somebody asks.
    """

    __slots__ = ("_of_one", "_read", "_vector", "_vectors", "committed", "key", "parent", "time")

    def __init__(
        self,
        key: Key,
        read: Callable[[Key], bytes],
        vectors: Vectors,
        vector: Vector | Owner,
        parent: Key | None,
        time: int,
    ) -> None:
        self.key, self.parent, self.time = key, parent, time
        self.committed = False
        self._read, self._vectors = read, vectors
        self._vector: Vector | None = vector if isinstance(vector, Vector) else None
        self._of_one: Owner = vector if isinstance(vector, Owner) else UNKNOWN

    @property
    def vector(self) -> Vector:
        """The owners of its lines."""
        if self._vector is None:
            self._vector = self._vectors.whole([self._of_one] * len(self.lines))
        return self._vector

    @vector.setter
    def vector(self, vector: Vector) -> None:
        self._vector = vector

    @property
    def content(self) -> bytes:
        """Its bytes, read anew if they have not been asked for lately."""
        return self._read(self.key)

    @property
    def lines(self) -> list[bytes]:
        """Its lines, split anew each time: of a thousand versions few are asked for them."""
        return split(self.content)

    @property
    def owners(self) -> list[Owner]:
        """The owner of each line, in a list that is not to be changed."""
        return self._vectors.listed(self.vector)

    @owners.setter
    def owners(self, owners: list[Owner]) -> None:
        self.vector = self._vectors.whole(owners)


def fold(owners: Sequence[Owner], hunks: Hunks, owner: Owner) -> list[Owner]:
    """Returns the owners after a change: kept lines keep theirs, added lines are `owner`'s."""
    folded: list[Owner] = []
    at = 0
    for old_start, old_lines, _, new_lines in hunks:
        folded += owners[at:old_start]
        folded += [owner] * new_lines
        at = old_start + old_lines
    folded += owners[at:]
    return folded
