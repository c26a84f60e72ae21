"""Who wrote each line of each version of one file, computed from content.

One stream of events and commits, in time; every version is a node named by its git blob. An event adds its lines to
what its `before` held; a commit keeps what its parents held and explains only what it adds. The algorithm is that of
`docs/explanation/blame.md`. Knows no storage: contents and diffs come in as functions.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, MutableMapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import NamedTuple

from pogstore.errors import NotFound
from pogstore.history.claims import marked, unmarked
from pogstore.history.explanation import Differ, Explanation, runs
from pogstore.history.lines import is_trivial, normal, split
from pogstore.history.stream import SECOND, SLACK, CommitStep, EventStep
from pogstore.history.vectors import AT_HAND as LISTS_AT_HAND
from pogstore.history.vectors import UNKNOWN, Hunks, Key, Owner, Vector, Vectors, Version
from pogstore.history.written import Place, Written

WINDOW = 3 * 86_400_000_000
"""µs for which an event's version counts as near to a commit."""
NEAREST = 4
SUPPORT = 20
"""Letters and digits that no parent had which an owner's claims must have before they are believed."""
OLD_SUPPORT = 100
"""The same for an event before the window, whose work a command brings back: much of a kind comes back by chance."""
BUDGET = 16
"""So many owners are asked for the lines that no version near in time explains."""
AT_HAND = 8 << 20
"""Bytes of the contents that are at hand; others are read again."""
FEW_AT_HAND = 8
"""So many contents are at hand however large they are."""
COPIED = 0.5
"""The share of lines that a new file must have in common with another to be made of it."""
COPIED_LINES = 8
"""So many lines that say something a new file must have to be looked at in that way."""


class _Work(NamedTuple):
    """What is to be explained for whom: a commit's or a person's text until `time`, or what an event left behind."""

    time: int
    authored: int
    rest: Owner
    event: EventStep | None = None


class Attribution:
    """The versions of one file, built step by step."""

    def __init__(
        self,
        read: Callable[[Key], bytes | None],
        hunks: Differ,
        *,
        has: Callable[[Key], bool] | None = None,
        known: MutableMapping[tuple[Key, Key], Hunks] | None = None,
        strict: bool = False,
        explained: bool = False,
    ) -> None:
        """`has` says what `read` would find; `known` keeps how versions differ, so that few contents need be read.

        With `explained`, owners tell by which rule they have a line (`claims.rule_of`).
        """
        self._mark = marked if explained else unmarked
        self._look_up, self._hunks, self._strict = read, hunks, strict
        self._has = has if has is not None else self._is_there
        self._known: MutableMapping[tuple[Key, Key], Hunks] = {} if known is None else known
        self._bytes: dict[Key, bytes] = {}
        self._size = 0
        self._asked: tuple[Key, bytes] | None = None
        self._vectors = Vectors(None if explained else LISTS_AT_HAND)
        self._versions: dict[Key, Version] = {}
        self._event_times: dict[Owner, int] = {}
        self._latest = 0
        self._commands: dict[Owner, EventStep] = {}
        self._commit_times: dict[Owner, int] = {}
        self._authored: dict[Owner, int] = {}
        self._written = Written()
        self._leaves: dict[str, Key] = {}
        self._recent: list[Key] = []
        self._landed: set[Owner] = set()
        self._left_by_steps: set[Key] = set()
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

    def is_recorded(self, key: Key) -> bool:
        """Says whether a step left a content."""
        return key in self._left_by_steps

    def owners(self, key: Key, content: bytes, parents: Sequence[Key], now: int) -> list[Owner]:
        """Returns the owner of each line of a content; what nothing explains is UNKNOWN.

        Nobody owns what a parent had before he ran, also where an event wrote the whole content anew.
        """
        self._asked = key, content
        known = [parent for parent in parents if parent in self._versions]
        found = self._versions.get(key)
        if found is not None:
            return self._kept(key, found.owners, [parent for parent in known if not self._is_ancestor(parent, key)])
        return self._explain(key, known, _Work(now, now, UNKNOWN))

    def _is_there(self, key: Key) -> bool:
        return self._look_up(key) is not None

    def _read(self, key: Key) -> bytes:
        """Returns a content that is there; those asked for last are at hand."""
        if self._asked is not None and self._asked[0] == key:
            return self._asked[1]
        content = self._bytes.pop(key, None)
        if content is None:
            content = self._look_up(key)
            if content is None:
                raise NotFound("content", key, "it has gone while its lines were looked at")
            self._size += len(content)
        self._bytes[key] = content
        while self._size > AT_HAND and len(self._bytes) > FEW_AT_HAND:
            self._size -= len(self._bytes.pop(next(iter(self._bytes))))
        return content

    def _since(self, old: Key, new: Key) -> Hunks:
        """Returns how two versions differ; what was asked about may be no version that anybody will meet again."""
        found = self._known.get((old, new))
        if found is None:
            found = self._hunks(self._read(old), self._read(new))
            if self._asked is None or new != self._asked[0]:
                self._known[old, new] = found
        return found

    def _version(self, key: Key, owners: list[Owner], parent: Key | None, time: int) -> Version:
        found = Version(key, self._read, self._vectors, self._vectors.whole(owners), parent, time)
        self._versions[key] = found
        return found

    def _take_event(self, step: EventStep) -> None:
        self._event_times[step.event] = step.time
        self._latest = max(self._latest, step.time)
        if step.kind == "shell":
            self._commands[step.event] = step
        if step.unsure and step.before is None and self._recent:
            step = step._replace(before=self._leaves.get(step.chain, self._recent[-1]))
        if step.after is None:
            self._leaves.pop(step.chain, None)
            return
        if not all(key in self._versions or self._has(key) for key in (step.after, step.before) if key is not None):
            self.absent.append(step.event)
            return
        self._make(step, step.after)
        self._leaves[step.chain] = step.after
        self._remember(step.after)

    def _make(self, step: EventStep, key: Key) -> None:
        """Gives the version that an event made its owners; what was there before may keep those that it has."""
        self._left_by_steps.add(key)
        if step.before is not None and step.before not in self._versions:
            self._take_gap(step.before, step)
        known = self._versions.get(key)
        if known is not None and step.kind != "edit":
            self._brought_back(known, key, step)
            return
        made = self._folded(step, key) if step.kind == "edit" else self._vectors.whole(self._left_behind(step, key))
        if known is None:
            self._versions[key] = Version(key, self._read, self._vectors, made, step.before, step.time)
        elif not self._is_ancestor(key, step.before):
            self._made_again(known, made, step)
        else:
            return
        self._wrote(step.event, Place(key, step.chain))

    def _wrote(self, owner: Owner, place: Place) -> None:
        """Remembers which lines of a version are an owner's."""
        version = self._versions[place.key]
        lines = version.vector.added if self._written.is_new(owner) else None
        if lines is None:
            lines = [at for at, his in enumerate(version.owners) if his == owner]
        self._written.add(owner, place, lines)

    def _folded(self, step: EventStep, key: Key) -> Vector:
        before = self._copied_from(self._read(key)) if step.before is None else self._versions[step.before]
        if before is None:
            return self._vectors.whole([step.event] * len(split(self._read(key))))
        return self._vectors.changed(before.vector, self._since(before.key, key), step.event)

    def _copied_from(self, after: bytes) -> Version | None:
        """Returns the newest version that a new file is made of, if it has much of it: a file moved by writing it."""
        lines = {normal(line) for line in split(after) if not is_trivial(line)}
        if len(lines) < COPIED_LINES:
            return None
        for key in reversed(self._recent):
            other = {normal(line) for line in self._versions[key].lines if not is_trivial(line)}
            if len(lines & other) >= COPIED * len(lines | other):
                return self._versions[key]
        return None

    def _left_behind(self, step: EventStep, key: Key) -> list[Owner]:
        """Returns owners for what a command left behind or what was observed: it may be what others wrote before."""
        parents = [step.before] if step.before is not None else []
        return self._explain(key, parents, _Work(step.time, step.time, step.event, step))

    def _brought_back(self, known: Version, key: Key, step: EventStep) -> None:
        """A content that was there before keeps its owners, unless the command that made it has committed it too."""
        if not any(owner in self._commit_times and self._is_own(owner, step) for owner in set(known.owners)):
            return
        made = self._left_behind(step, key)
        known.owners = [
            new if new == step.event and old in self._commit_times and self._is_own(old, step) else old
            for old, new in zip(known.owners, made, strict=True)
        ]
        self._landed.add(step.event)
        self._wrote(step.event, Place(key, step.chain))

    def _made_again(self, known: Version, made: Vector, step: EventStep) -> None:
        """A content that was there before: what was committed keeps its owners, what was discarded has new ones."""
        if known.committed:
            owners = self._vectors.listed(made)
            known.owners = [self._joined(old, new) for old, new in zip(known.owners, owners, strict=True)]
        else:
            known.vector, known.parent, known.time = made, step.before, step.time

    def _take_gap(self, key: Key, step: EventStep) -> None:
        """A version that nothing has led to: what it shares with the most similar version near it is known."""
        candidates = [self._leaves[step.chain]] if step.chain in self._leaves else []
        candidates += [recent for recent in self._recent[-3:] if recent not in candidates]
        lines = Counter(split(self._read(key)))
        best = max(candidates, key=lambda near: (lines & Counter(self._versions[near].lines)).total(), default=None)
        owners = self._explain(key, [best] if best else [], _Work(step.time, step.time, UNKNOWN))
        self._version(key, owners, best, step.time)

    def _take_commit(self, step: CommitStep) -> None:
        self._commit_times[step.commit] = step.time
        self._latest = max(self._latest, step.time)
        self._authored[step.commit] = step.authored
        if step.after is None:
            return
        if step.after not in self._versions and not self._has(step.after):
            return
        parents = [parent for parent in step.parents if parent in self._versions]
        known = self._versions.get(step.after)
        if step.is_old:
            self._take_old(step, step.after, parents)
            return
        if known is None:
            work = _Work(step.time, min(step.authored, step.time), step.commit)
            owners = self._explain(step.after, parents, work)
            known = self._version(step.after, owners, parents[0] if parents else None, step.time)
        else:
            known.owners = self._committed(step, known.owners, parents)
        known.committed = True
        self._wrote(step.commit, Place(step.after, None))
        self._landed.update(owner for owner in set(known.owners) if owner in self._event_times)
        self._remember(step.after)

    def _take_old(self, step: CommitStep, key: Key, parents: list[Key]) -> None:
        """Leaves each line of a version to the commit; the content is read only if something is made of it."""
        if key not in self._versions:
            parent = parents[0] if parents else None
            self._versions[key] = Version(key, self._read, self._vectors, step.commit, parent, step.time)
        self._versions[key].committed = True
        self._remember(key)

    def _committed(self, step: CommitStep, owners: list[Owner], parents: list[Key]) -> list[Owner]:
        doubted = self._withheld(set(owners), step) | {owner for owner in set(owners) if owner in self._commit_times}
        kept = self._kept(step.after or "", owners, parents, doubted)
        nobody = self._withheld(set(kept), step) | {UNKNOWN}.intersection(kept)
        return [step.commit if owner in nobody else owner for owner in kept] if nobody else kept

    def _kept(
        self, key: Key, owners: Sequence[Owner], parents: Sequence[Key], doubted: AbstractSet[Owner] = frozenset()
    ) -> list[Owner]:
        """Returns owners joined with those of the lines that are unchanged since some parents.

        Who is doubted counts as unknown where a parent has the line. Most runs of lines have the same owners on both
        sides, which is seen without looking at each line.
        """
        several = len(parents) > 1
        found = _without(doubted, owners) if several else list(owners)
        for parent in parents:
            old = self._versions[parent].owners
            for new_at, old_at, count in runs(self._since(parent, key), len(found)):
                theirs, mine = old[old_at : old_at + count], found[new_at : new_at + count]
                if theirs != mine:
                    mine = mine if several else _without(doubted, mine)
                    found[new_at : new_at + count] = self._joined_each(theirs, mine)
        return [owner or before for owner, before in zip(found, owners, strict=True)] if UNKNOWN in found else found

    def _joined_each(self, old: Sequence[Owner], new: Sequence[Owner]) -> list[Owner]:
        """Returns two histories of some lines joined; few pairs of owners share them all."""
        pairs = list(zip(old, new, strict=True))
        joined = {pair: self._joined(*pair) for pair in set(pairs)}
        return [joined[pair] for pair in pairs]

    def _withheld(self, owners: set[Owner], step: CommitStep) -> set[Owner]:
        """Returns the owners that a commit cannot have lines of; where all came before it, only commands may be."""
        asked = owners if self._latest > step.time + SLACK else owners.intersection(self._commands)
        return {owner for owner in asked if self._is_withheld(owner, step)}

    def _is_withheld(self, owner: Owner, step: CommitStep) -> bool:
        """Whether an owner came after a commit, or may have made that commit himself of work that others had done."""
        command = self._commands.get(owner)
        if command is not None and command.time >= step.time - SECOND and step.authored + SECOND < command.begun:
            return True
        return self._event_times.get(owner, self._commit_times.get(owner, 0)) > step.time + SLACK

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

    def _explain(self, key: Key, parents: Sequence[Key], work: _Work) -> list[Owner]:
        """Returns owners for a content: bound to its parents, then to what was written before; what is left is the
        rest's.
        """
        found = Explanation(
            self._read(key),
            lambda version: self._since(version.key, key),
            self._hunks,
            partial(self._may_give, work),
            strict=self._strict,
            mark=self._mark,
        )
        for parent in parents:
            found.bind(self._versions[parent], self._joined)
        if work.event is not None or self._event_times:  # else nobody has anything to give
            for parent in parents:
                found.bind_spaces(self._versions[parent])
            if None in found.owners:
                for near in self._near(work, parents):
                    found.carry(self._versions[near], "near")
                self._search(found, work)
                found.keep_believed(partial(self._believes, work))
                found.fill_between()
        return [owner if owner is not None else work.rest for owner in found.owners]

    def _may_give(self, work: _Work, owner: Owner) -> bool:
        """Whether lines may be taken over from an owner: from no event that is later, from a commit only by an event.

        So, too, may those be that nobody is known to have written. What a command committed itself is its own.
        """
        if owner == UNKNOWN:
            return work.event is not None
        if owner in self._event_times:
            return self._event_times[owner] <= work.time + SLACK
        return work.event is not None and owner in self._commit_times and not self._is_own(owner, work.event)

    def _is_own(self, commit: Owner, step: EventStep) -> bool:
        """Whether a commit may have been made by a command, of what that command wrote."""
        return min(self._commit_times[commit], self._authored[commit] + SECOND) >= step.begun

    def _near(self, work: _Work, parents: Sequence[Key]) -> list[Key]:
        """Returns the newest versions that are not later than a moment and not much older than the work in question."""
        leaves = [key for key in set(self._leaves.values()) if key not in parents]
        recent = [key for key in leaves if work.authored - WINDOW <= self._versions[key].time <= work.time + SLACK]
        return sorted(recent, key=lambda key: (-self._versions[key].time, key))[:NEAREST]

    def _search(self, found: Explanation, work: _Work) -> None:
        """Takes lines over from those who wrote most of them, first in the order in which they stood, then moved."""
        heaviest = partial(self._written.heaviest, found, self._read, of_commits=work.event is not None)
        for owner in heaviest(partial(self._may_come_back, work), BUDGET):
            for version in self._sources(owner):
                found.carry(version, "index")
                found.carry(version, "spaces")
        for owner in heaviest(partial(self._may_move, work), BUDGET):
            for version in self._sources(owner):
                found.move(version)

    def _sources(self, owner: Owner) -> Iterator[Version]:
        """Yields the newest version of the place where an owner wrote, and the one that he made."""
        place = self._written.place(owner)
        keys = [self._leaves[place.chain]] if place.chain in self._leaves else []
        for key in dict.fromkeys([*keys, place.key]):
            yield self._versions[key]

    def _is_old(self, work: _Work, owner: Owner) -> bool:
        return work.authored - self._event_times.get(owner, self._commit_times.get(owner, 0)) > WINDOW

    def _may_move(self, work: _Work, owner: Owner) -> bool:
        """Whether an owner may have written a block that stands elsewhere now.

        Equal blocks are weak evidence: nobody who came after the work was done, or of whose work a commit has some.
        """
        time = self._event_times.get(owner, self._commit_times.get(owner, 0))
        early = time <= work.authored + SLACK and not self._is_old(work, owner)
        return early and self._may_give(work, owner) and owner not in self._landed

    def _may_come_back(self, work: _Work, owner: Owner) -> bool:
        return self._may_give(work, owner) and (work.event is not None or not self._is_old(work, owner))

    def _believes(self, work: _Work, owner: Owner, letters: int, in_context: bool) -> bool:
        """Whether an owner's claims are believed: few letters are enough among lines that a parent had.

        The work of an event waits for a commit, so a commit may hold even less of it; what is old is no commit's.
        """
        is_old = self._is_old(work, owner)
        if work.event is None:
            return not is_old and (in_context or letters >= SUPPORT or owner not in self._landed)
        if is_old and owner in self._event_times:
            return letters >= OLD_SUPPORT
        return in_context or letters >= SUPPORT


def _without(doubted: AbstractSet[Owner], owners: Sequence[Owner]) -> list[Owner]:
    """Returns owners with UNKNOWN in the place of some."""
    return [UNKNOWN if owner in doubted else owner for owner in owners]
