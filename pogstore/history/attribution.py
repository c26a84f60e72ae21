"""Who wrote each line of each version of one file, computed from content.

One stream of events and commits, in time; every version is a node named by its git blob. An event adds its lines to
what its `before` held; a commit keeps what its parents held and explains only what it adds. The algorithm is that of
`docs/explanation/blame.md`. Knows no storage: contents and diffs come in as functions.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from pogstore.history.lines import is_trivial, normal, score, split

Owner = str
"""An event id (64 digits), a commit (40 digits), or UNKNOWN."""
UNKNOWN: Owner = ""
Key = str
"""Names the content of a version; equal contents have equal keys."""
Hunks = Sequence[tuple[int, int, int, int]]
"""(old start, old lines, new start, new lines), counted from 0."""

SLACK = 60_000_000
"""µs by which an event may be later than the commit that holds its lines: two clocks are never the same."""
WINDOW = 3 * 86_400_000_000
"""µs for which an event's version counts as near to a commit."""
NEAREST = 4
SUPPORT = 20
"""Letters and digits that an event's claims must have before they are believed."""


class EventStep(NamedTuple):
    """An event that made `after` of `before`; `chain` tells the places apart in which versions follow each other.

    With `unsure` an absent `before` is one that nobody saw, not a file that did not exist.
    """

    event: Owner
    time: int
    before: Key | None
    after: Key | None
    chain: str
    unsure: bool = False


class CommitStep(NamedTuple):
    """A commit that holds a version, over what its parents held.

    `authored` is when its work was done, which a rebase leaves as it is.
    """

    commit: Owner
    time: int
    authored: int
    after: Key | None
    parents: tuple[Key, ...]


class Version:
    """A content with the owner of each of its lines."""

    __slots__ = ("committed", "content", "owners", "parent", "time")

    def __init__(self, content: bytes, owners: list[Owner], parent: Key | None, time: int) -> None:
        self.content, self.owners, self.parent, self.time = content, owners, parent, time
        self.committed = False

    @property
    def lines(self) -> list[bytes]:
        """Its lines, split anew each time: of a thousand versions few are asked for them."""
        return split(self.content)


class Attribution:
    """The versions of one file, built step by step."""

    def __init__(self, read: Callable[[Key], bytes | None], hunks: Callable[[bytes, bytes], Hunks]) -> None:
        self._read, self._hunks = read, hunks
        self._bytes: dict[Key, bytes] = {}
        self._versions: dict[Key, Version] = {}
        self._event_times: dict[Owner, int] = {}
        self._commit_times: dict[Owner, int] = {}
        self._leaves: dict[str, Key] = {}
        self._recent: list[Key] = []
        self._landed: set[Owner] = set()
        self.absent: list[Owner] = []

    def replay(self, steps: Iterable[EventStep | CommitStep]) -> None:
        """Takes all steps, which are in their order already."""
        for step in steps:
            if isinstance(step, EventStep):
                self._take_event(step)
            else:
                self._take_commit(step)

    def knows(self, key: Key) -> bool:
        """Says whether a content was a version of the file."""
        return key in self._versions

    def owners(self, key: Key, content: bytes, parents: Sequence[Key], now: int) -> list[Owner]:
        """Returns the owner of each line of a content; what nothing explains is UNKNOWN.

        Nobody owns what a parent had before he ran, also where an event wrote the whole content anew.
        """
        self._bytes.setdefault(key, content)
        known = [parent for parent in parents if parent in self._versions]
        found = self._versions.get(key)
        if found is not None:
            return self._kept(key, found.owners, [parent for parent in known if not self._is_ancestor(parent, key)])
        return self._explain(key, now, known, UNKNOWN)

    def _content(self, key: Key) -> bytes | None:
        if key not in self._bytes:
            data = self._read(key)
            if data is None:
                return None
            self._bytes[key] = data
        return self._bytes[key]

    def _take_event(self, step: EventStep) -> None:
        self._event_times[step.event] = step.time
        if step.unsure and step.before is None and self._recent:
            step = step._replace(before=self._leaves.get(step.chain, self._recent[-1]))
        if step.after is None:
            self._leaves.pop(step.chain, None)
            return
        after = self._content(step.after)
        if after is None or (step.before is not None and self._content(step.before) is None):
            self.absent.append(step.event)
            return
        owners = self._folded(step, after)
        known = self._versions.get(step.after)
        if known is None:
            self._versions[step.after] = Version(after, owners, step.before, step.time)
        elif not self._is_ancestor(step.after, step.before):
            self._made_again(known, owners, step)
        self._leaves[step.chain] = step.after
        self._remember(step.after)

    def _folded(self, step: EventStep, after: bytes) -> list[Owner]:
        if step.before is None:
            return [step.event] * len(split(after))
        if step.before not in self._versions:
            self._take_gap(step.before, step)
        before = self._versions[step.before]
        return fold(before.owners, self._hunks(self._bytes[step.before], after), step.event)

    def _made_again(self, known: Version, owners: list[Owner], step: EventStep) -> None:
        """A content that was there before: what was committed keeps its owners, what was discarded has new ones."""
        if known.committed:
            known.owners = [self._joined(old, new) for old, new in zip(known.owners, owners, strict=True)]
        else:
            known.owners, known.parent, known.time = owners, step.before, step.time

    def _take_gap(self, key: Key, step: EventStep) -> None:
        """A version that nothing has led to: what it shares with the most similar version near it is known."""
        candidates = [self._leaves[step.chain]] if step.chain in self._leaves else []
        candidates += [recent for recent in self._recent[-3:] if recent not in candidates]
        lines = Counter(split(self._bytes[key]))
        best = max(candidates, key=lambda near: (lines & Counter(self._versions[near].lines)).total(), default=None)
        owners = self._explain(key, step.time, [best] if best else [], UNKNOWN)
        self._versions[key] = Version(self._bytes[key], owners, best, step.time)

    def _take_commit(self, step: CommitStep) -> None:
        self._commit_times[step.commit] = step.time
        if step.after is None:
            return
        content = self._content(step.after)
        if content is None:
            return
        parents = [parent for parent in step.parents if parent in self._versions]
        known = self._versions.get(step.after)
        if known is None:
            owners = self._explain(step.after, step.time, parents, step.commit, step.authored)
            known = self._versions[step.after] = Version(content, owners, parents[0] if parents else None, step.time)
        else:
            known.owners = self._committed(step, known.owners, parents)
        known.committed = True
        self._landed.update(owner for owner in known.owners if owner in self._event_times)
        self._remember(step.after)

    def _committed(self, step: CommitStep, owners: list[Owner], parents: list[Key]) -> list[Owner]:
        found = [UNKNOWN if owner in self._commit_times else owner for owner in owners]
        found = [UNKNOWN if self._is_later(owner, step.time) else owner for owner in found]
        found = self._kept(step.after or "", found, parents)
        kept = [owner or before for owner, before in zip(found, owners, strict=True)]
        return [step.commit if owner == UNKNOWN or self._is_later(owner, step.time) else owner for owner in kept]

    def _kept(self, key: Key, owners: Sequence[Owner], parents: Sequence[Key]) -> list[Owner]:
        """Returns owners joined with those of the lines that are unchanged since some parents."""
        found = list(owners)
        for parent in parents:
            old = self._versions[parent].owners
            for new_at, old_at in matches(self._hunks(self._bytes[parent], self._bytes[key]), len(found)):
                found[new_at] = self._joined(old[old_at], found[new_at])
        return found

    def _is_later(self, owner: Owner, time: int) -> bool:
        return self._event_times.get(owner, self._commit_times.get(owner, 0)) > time + SLACK

    def _joined(self, old: Owner, new: Owner) -> Owner:
        """Two histories of one line: unknown gives way to a commit, a commit to an event that is not later than it."""
        if old in (UNKNOWN, new):
            return new
        if old in self._commit_times and new in self._event_times:
            return new if self._event_times[new] <= self._commit_times[old] + SLACK else old
        return old

    def _is_ancestor(self, key: Key, of: Key | None) -> bool:
        """Whether a version led to another: then the event that makes it again is an undo, and its owners stand."""
        seen = set()
        while of is not None and of not in seen:
            if of == key:
                return True
            seen.add(of)
            of = self._versions[of].parent if of in self._versions else None
        return False

    def _remember(self, key: Key) -> None:
        if key in self._recent:
            self._recent.remove(key)
        self._recent = [*self._recent, key][-6:]

    def _explain(
        self, key: Key, time: int, parents: Sequence[Key], rest: Owner, authored: int | None = None
    ) -> list[Owner]:
        """Returns owners for a content: bound to its parents, then to the versions near it, then `rest`."""
        work = _Explanation(split(self._bytes[key]))
        for parent in parents:
            self._bind(work, parent, key)
        for parent in parents:
            self._bind_spaces(work, parent)
        for near in self._near(time, time if authored is None else min(authored, time), parents):
            self._carry(work, near, key, time)
        self._keep_supported(work, time if authored is None else min(authored, time), parents)
        self._fill_between(work)
        return [owner if owner is not None else rest for owner in work.owners]

    def _bind(self, work: "_Explanation", parent: Key, key: Key) -> None:
        old = self._versions[parent].owners
        for new_at, old_at in matches(self._hunks(self._bytes[parent], self._bytes[key]), len(work.lines)):
            owner = work.owners[new_at]
            work.owners[new_at] = old[old_at] if owner is None else self._joined(old[old_at], owner)
            work.bound.add(new_at)

    def _bind_spaces(self, work: "_Explanation", parent: Key) -> None:
        """A line that differs from an event's line in white space alone keeps the event."""
        old = self._versions[parent]
        one = b"".join(normal(line) + b"\n" for line in old.lines)
        other = b"".join(normal(line) + b"\n" for line in work.lines)
        for new_at, old_at in matches(self._hunks(one, other), len(work.lines)):
            owner = old.owners[old_at]
            if work.owners[new_at] is None and owner in self._event_times:
                work.owners[new_at] = owner
                work.bound.add(new_at)

    def _near(self, time: int, authored: int, parents: Sequence[Key]) -> list[Key]:
        """Returns the newest versions that are not later than a moment and not much older than the work in question."""
        leaves = [key for key in set(self._leaves.values()) if key not in parents]
        recent = [key for key in leaves if authored - WINDOW <= self._versions[key].time <= time + SLACK]
        return sorted(recent, key=lambda key: (-self._versions[key].time, key))[:NEAREST]

    def _carry(self, work: "_Explanation", near: Key, key: Key, time: int) -> None:
        """Takes over event lines from a version near in time, each as often as the event wrote it and not more."""
        version = self._versions[near]
        supply = Counter((owner, normal(line)) for owner, line in zip(version.owners, version.lines, strict=True))
        for block in blocks(self._hunks(self._bytes[near], self._bytes[key]), len(work.lines)):
            if all(is_trivial(work.lines[new_at]) for new_at, _ in block):
                continue
            for new_at, old_at in block:
                owner = version.owners[old_at]
                wanted = (owner, normal(work.lines[new_at]))
                if (
                    work.owners[new_at] is None
                    and owner in self._event_times
                    and self._event_times[owner] <= time + SLACK
                    and work.taken[wanted] < supply[wanted]
                ):
                    work.owners[new_at] = owner
                    work.taken[wanted] += 1
                    work.claimed.setdefault(owner, []).append(new_at)

    def _keep_supported(self, work: "_Explanation", time: int, parents: Sequence[Key]) -> None:
        """Drops an event's claims that rest on few letters that no parent had, if the event has landed before."""
        had = {normal(line) for parent in parents for line in self._versions[parent].lines}
        for owner, places in work.claimed.items():
            fresh = sum(score(work.lines[at]) for at in places if normal(work.lines[at]) not in had)
            pending = owner not in self._landed and time - self._event_times[owner] <= WINDOW
            if fresh < SUPPORT and not pending:
                for at in places:
                    work.owners[at] = None

    def _fill_between(self, work: "_Explanation") -> None:
        """Gives free lines that stand in every file (blank ones, brackets) to the event above, between two claims."""
        claimed = {at for owner, places in work.claimed.items() for at in places if work.owners[at] == owner}
        above: int | None = None
        for at in sorted(claimed):
            between = range(above + 1, at) if above is not None else range(0)
            if above is not None and all(work.owners[n] is None and is_trivial(work.lines[n]) for n in between):
                for n in between:
                    work.owners[n] = work.owners[above]
            above = at


class _Explanation:
    """Owners of a content while they are being found; an absent one is still free."""

    def __init__(self, lines: list[bytes]) -> None:
        self.lines = lines
        self.owners: list[Owner | None] = [None] * len(lines)
        self.bound: set[int] = set()
        self.taken: Counter[tuple[Owner, bytes]] = Counter()
        self.claimed: dict[Owner, list[int]] = {}


def fold(owners: Sequence[Owner], hunks: Hunks, owner: Owner) -> list[Owner]:
    """Returns the owners after a change: kept lines keep theirs, added lines are `owner`'s."""
    folded: list[Owner] = []
    at = 0
    for old_start, old_lines, _, new_lines in hunks:
        folded += owners[at:old_start]
        folded += [owner] * new_lines
        at = old_start + old_lines
    return folded + list(owners[at:])


def blocks(hunks: Hunks, new_total: int) -> list[list[tuple[int, int]]]:
    """Returns the runs of lines that a diff leaves unchanged, as (new, old) line numbers."""
    found = []
    new_at = old_at = 0
    for old_start, old_lines, new_start, new_lines in hunks:
        found.append([(new_at + n, old_at + n) for n in range(new_start - new_at)])
        new_at, old_at = new_start + new_lines, old_start + old_lines
    found.append([(new_at + n, old_at + n) for n in range(new_total - new_at)])
    return [block for block in found if block]


def matches(hunks: Hunks, new_total: int) -> list[tuple[int, int]]:
    """Returns the lines that a diff leaves unchanged, as (new, old) line numbers."""
    return [pair for block in blocks(hunks, new_total) for pair in block]
