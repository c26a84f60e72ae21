"""One content whose lines get owners round by round, each round taking only what is still free.

The rounds know versions and diffs, and nothing of events, time or storage: who may give a line away is a function.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from functools import cache, cached_property

from pogstore.history.claims import Mark, Rule, unmarked
from pogstore.history.lines import bare, is_trivial, normals, score, split
from pogstore.history.vectors import UNKNOWN, Hunks, Key, Owner, Version, fold

__all__ = ["UNKNOWN", "Differ", "Explanation", "Hunks", "Key", "Owner", "Version", "blocks", "fold"]

Differ = Callable[[bytes, bytes], Hunks]
Block = list[tuple[int, int]]
"""Lines that are equal in a row, as (new, old) line numbers."""

MOVE = 30
"""Letters and digits that a block of lines must have to be found where no diff aligns it."""
TELLING = 20
"""Letters and digits that a block of lines must have that parents had elsewhere, all of them."""
SEEDS = 16
"""So many places of one line are tried as the seed of a moved block."""


class Explanation:
    """Owners of a content while they are being found; an absent one is still free.

    `since` tells how the content differs from a version, `hunks` how any two texts do. With `strict` a line that
    differs in white space is another line.
    """

    def __init__(
        self,
        content: bytes,
        since: Callable[[Version], Hunks],
        hunks: Differ,
        may_give: Callable[[Owner], bool],
        *,
        strict: bool = False,
        mark: Mark = unmarked,
    ) -> None:
        self.content = content
        self.lines = split(content)
        self.owners: list[Owner | None] = [None] * len(self.lines)
        self.claimed: dict[Owner, list[int]] = {}
        self._open: list[int] | None = None
        self._bound: set[int] = set()
        self._parents: list[Version] = []
        self._supplies: dict[Key, _Supply] = {}
        self._in_context: set[Owner] = set()
        self._since, self._hunks = since, hunks
        self._may_give: Callable[[Owner], bool] = cache(may_give)
        self._strict, self._mark = strict, mark

    @cached_property
    def normals(self) -> list[bytes]:
        """Its lines without white space."""
        return normals(self.content)

    @cached_property
    def _wanted(self) -> frozenset[bytes]:
        """The lines without white space that are free when all that parents had are bound: the others need no look."""
        return frozenset(self.normals[at] for at in self._free())

    @cached_property
    def _taken(self) -> Counter[tuple[Owner, bytes]]:
        """How often each owner has a wanted line already; asked for when all lines that parents had are bound."""
        wanted = (at for at in self._bound if self.normals[at] in self._wanted)
        return Counter((self.owners[at] or UNKNOWN, self.normals[at]) for at in wanted)

    @cached_property
    def _had(self) -> set[bytes]:
        """The lines that a parent had anywhere, without white space; asked for when all are bound."""
        return {line for parent in self._parents for line in self._supply(parent).normals}

    def _free(self) -> list[int]:
        """Returns the lines that nobody owns yet; they only become fewer while parents and versions give theirs."""
        places = range(len(self.owners)) if self._open is None else self._open
        self._open = [at for at in places if self.owners[at] is None]
        return self._open

    @property
    def free(self) -> list[int]:
        """The lines that nobody owns yet and that say enough to ask who wrote them."""
        return [at for at in self._free() if not self._is_trivial(at)]

    def _is_trivial(self, at: int) -> bool:
        return is_trivial(self.lines[at])

    def bind(self, parent: Version, joined: Callable[[Owner, Owner], Owner]) -> None:
        """Gives each line that a parent had to its owner there; `joined` decides between several parents."""
        old = parent.owners
        is_first = not self._bound
        for new_at, old_at, count in runs(self._since(parent), len(self.lines)):
            theirs = old[old_at : old_at + count]
            mine = self.owners[new_at : new_at + count]
            if not is_first and mine != theirs:
                theirs = [his if my is None else joined(his, my) for his, my in zip(theirs, mine, strict=True)]
            self.owners[new_at : new_at + count] = theirs
            self._bound.update(range(new_at, new_at + count))
        self._parents.append(parent)

    def bind_spaces(self, parent: Version) -> None:
        """Leaves a line that differs from a parent's line in white space alone to its owner, if that may give it.

        The parent's line must have vanished: one that stands where it stood has not become another.
        """
        free = [] if self._strict else self.free
        if not free:
            return
        supply, old = self._supply(parent), parent.owners
        since = self._since(parent)
        gone = {old_at for start, count, _, _ in since for old_at in range(start, start + count)}
        if not any(self._may_give(old[old_at]) for old_at in gone):
            return
        if {self.normals[at] for at in free}.isdisjoint(supply.normals[old_at] for old_at in gone):
            return
        for block in self._free_blocks(self._hunks(supply.bare, self._bare)):
            vanished = [(at, old_at) for at, old_at in block if old_at in gone and self.owners[at] is None]
            if all(self._is_trivial(at) for at, _ in vanished):
                continue
            for at, old_at in vanished:
                if self._may_give(old[old_at]):
                    self.owners[at] = self._mark(old[old_at], "spaces")
                    self._bound.add(at)

    def carry(self, near: Version, rule: Rule) -> None:
        """Takes over lines that a version has in the same order; by `spaces` also such as differ in white space."""
        spaces = rule == "spaces"
        if (spaces and self._strict) or not self._can_take(near):
            return
        supply, owners = self._supply(near), near.owners
        hunks = self._hunks(supply.bare, self._bare) if spaces else self._since(near)
        for block in self._free_blocks(hunks):
            if not self._is_telling(block):
                continue
            taken = [at for at, old_at in block if self._take(at, owners[old_at], supply, rule)]
            if any(at in self._bound and not self._is_trivial(at) for at, _ in block):
                self._in_context.update(self.owners[at] or UNKNOWN for at in taken if not self._is_trivial(at))

    def _is_telling(self, block: Block) -> bool:
        """Says whether the lines of a block may be anybody's in particular.

        That is so beside a line that a parent had in this place, if no parent had one of them, or if they are not few.
        """
        telling = [at for at, _ in block if not self._is_trivial(at)]
        if any(at in self._bound or self._letters(at) for at in telling):
            return True
        return sum(score(self.lines[at]) for at in telling) >= TELLING

    def _can_take(self, near: Version) -> bool:
        """Says whether a version has any free line that its owner there may give away: most have none."""
        free = self._free()
        if not free or not any(map(self._may_give, set(near.owners))):
            return False
        lines = {self.normals[at] for at in free}
        return any(line in lines and self._may_give(owner) for owner, line in self._supply(near).of)

    def _free_blocks(self, hunks: Hunks) -> Iterator[Block]:
        """Yields the runs of lines that a diff leaves unchanged and in which a line is free."""
        free = self._free()
        for new_at, old_at, count in runs(hunks, len(self.lines)):
            first = bisect_left(free, new_at)
            if first < len(free) and free[first] < new_at + count:
                yield [(new_at + n, old_at + n) for n in range(count)]

    def move(self, source: Version) -> None:
        """Takes over blocks of free lines that a version has in another place."""
        done = 0
        for at in self._free():
            if at < done or self.owners[at] is not None:
                continue
            supply = self._supply(source)
            block = self._moved_block(at, supply)
            for new_at, old_at in block:
                self._take(new_at, source.owners[old_at], supply, "moved")
            done = block[-1][0] + 1 if block else at + 1

    def _supply(self, version: Version) -> "_Supply":
        """Returns what a version can give away, which is found out once."""
        if version.key not in self._supplies:
            self._supplies[version.key] = _Supply(version, lambda: self._wanted)
        return self._supplies[version.key]

    @cached_property
    def _bare(self) -> bytes:
        return bare(self.content)

    def _take(self, at: int, owner: Owner, supply: "_Supply", rule: Rule) -> bool:
        """Gives a free line to an owner who wrote it more often than he has it here; says whether he got it."""
        wanted = (owner, self.normals[at])
        if self.owners[at] is not None or not self._may_give(owner) or self._taken[wanted] >= supply.of[wanted]:
            return False
        self.owners[at] = self._mark(owner, rule)
        self._taken[wanted] += 1
        self.claimed.setdefault(owner, []).append(at)
        return True

    def _moved_block(self, at: int, supply: "_Supply") -> Block:
        """Returns the heaviest block of free lines around a line that stands in a version; nothing if it is light."""
        if self._is_trivial(at):
            return []
        old, new = (supply.lines, self.lines) if self._strict else (supply.normals, self.normals)
        seeds = [old_at for old_at in supply.places.get(self.normals[at], ()) if old[old_at] == new[at]]
        found = [self._grown(at, old_at, old, new) for old_at in seeds[:SEEDS]]
        heaviest = max(found, key=self._weight, default=[])
        return heaviest if self._weight(heaviest) >= MOVE else []

    def _grown(self, at: int, old_at: int, old: list[bytes], new: list[bytes]) -> Block:
        """Returns the free lines around a line that equal those around a line of a version."""
        first, last = 0, 1
        while self._is_same(at + first - 1, old_at + first - 1, old, new):
            first -= 1
        while self._is_same(at + last, old_at + last, old, new):
            last += 1
        return [(at + n, old_at + n) for n in range(first, last)]

    def _is_same(self, at: int, old_at: int, old: list[bytes], new: list[bytes]) -> bool:
        inside = 0 <= at < len(self.lines) and 0 <= old_at < len(old)
        return inside and self.owners[at] is None and new[at] == old[old_at]

    def _weight(self, block: Block) -> int:
        return sum(self._letters(new_at) for new_at, _ in block)

    def _letters(self, at: int) -> int:
        """Returns how many letters and digits a line has, if no parent had it anywhere."""
        return 0 if self.normals[at] in self._had else score(self.lines[at])

    def keep_believed(self, believes: Callable[[Owner, int, bool], bool]) -> None:
        """Drops the claims of an owner that are not believed.

        `believes` is told how many letters and digits his lines have that no parent had, and whether one of them lies
        in a block with a line that a parent had.
        """
        for owner, places in self.claimed.items():
            letters = sum(map(self._letters, places))
            if not believes(owner, letters, owner in self._in_context):
                for at in places:
                    self.owners[at] = None
        self._open = None

    def fill_between(self) -> None:
        """Gives free lines that stand in every file (blank ones, brackets) to the owner above, between two claims."""
        claimed = {at for owner, places in self.claimed.items() for at in places if self.owners[at] == owner}
        above: int | None = None
        for at in sorted(claimed):
            between = range(above + 1, at) if above is not None else range(0)
            if above is not None and all(self.owners[n] is None and self._is_trivial(n) for n in between):
                for n in between:
                    self.owners[n] = self._mark(self.owners[above] or UNKNOWN, "between")
            above = at


class _Supply:
    """What a version can give away: each owner each line that is wanted as often as it is his there."""

    def __init__(self, version: Version, wanted: Callable[[], AbstractSet[bytes]]) -> None:
        self._version, self._wanted = version, wanted

    @cached_property
    def lines(self) -> list[bytes]:
        return self._version.lines

    @cached_property
    def normals(self) -> list[bytes]:
        return normals(self._version.content)

    @cached_property
    def bare(self) -> bytes:
        return bare(self._version.content)

    @cached_property
    def of(self) -> Counter[tuple[Owner, bytes]]:
        wanted = self._wanted()
        return Counter(pair for pair in zip(self._version.owners, self.normals, strict=True) if pair[1] in wanted)

    @cached_property
    def places(self) -> dict[bytes, list[int]]:
        wanted = self._wanted()
        found: dict[bytes, list[int]] = {}
        for at, line in enumerate(self.normals):
            if line in wanted:
                found.setdefault(line, []).append(at)
        return found


def runs(hunks: Hunks, new_total: int) -> Iterator[tuple[int, int, int]]:
    """Yields the runs of lines that a diff leaves unchanged: where in the new and in the old content, and how many."""
    new_at = old_at = 0
    for old_start, old_lines, new_start, new_lines in hunks:
        if new_start > new_at:
            yield new_at, old_at, new_start - new_at
        new_at, old_at = new_start + new_lines, old_start + old_lines
    if new_total > new_at:
        yield new_at, old_at, new_total - new_at


def blocks(hunks: Hunks, new_total: int) -> list[Block]:
    """Returns the runs of lines that a diff leaves unchanged, as (new, old) line numbers."""
    return [[(new_at + n, old_at + n) for n in range(count)] for new_at, old_at, count in runs(hunks, new_total)]
