"""Whose change it was: what the paths that a call named held before and after it, against what was recorded last.

A path that another holds by now than any step or commit left there was changed by somebody else, before the call.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec

from pogstore.agents.heard import Heard
from pogstore.draft import DraftChange, FileVersion
from pogstore.interop.claude_code import MOST_DURING
from pogstore.interop.claude_edits import Edit, is_told, outcome_of
from pogstore.model import Change, Person, Side
from pogstore.store import content
from pogstore.store.batch import OMITTED_LARGE
from pogstore.store.store import Store
from pogstore.work.active import worktree_id
from pogstore.work.held import NOTHING, Held, path_of
from pogstore.work.recorded import Recorded
from pogstore.work.spooled_record import Record

_BOM = "\ufeff"


class Seen(NamedTuple):
    """What one call did to the paths that it named; `gaps` is what somebody else did while it was asked for."""

    paths: tuple[bytes, ...]
    changes: tuple[DraftChange, ...] = ()
    odd: tuple[object, ...] = ()
    gaps: tuple[DraftChange, ...] = ()
    coverage: str = "scoped"
    reason: str | None = None
    inferred: bool = False


class _Sides(NamedTuple):
    """What one path held before and after a call, and what it held before that, if that was something else."""

    before: Held
    after: Held
    gap: Held | None = None
    reason: str | None = None
    inferred: bool = False


class _Shell(NamedTuple):
    call_id: str
    begin: int
    end: int
    command: str


class Tree:
    """One work tree whose steps are folded."""

    def __init__(self, recorded: Recorded, person: Person | None) -> None:
        self.recorded, self.person = recorded, person
        self._shells: list[_Shell] = []
        self._since: dict[bytes, int] = {}

    @property
    def worktree(self) -> str | None:
        """The random id of the work tree."""
        return self.recorded.worktree

    def gaps(self, begin: Heard) -> tuple[DraftChange, ...]:
        """Returns what changed on the named paths since they were last recorded, and takes it for recorded."""
        found = []
        for each in begin.record.states:
            if self.recorded.is_ignored(each.path):
                continue
            now = self.recorded.held(each)
            before = self._changed_from(each.path, now, begin.record.time)
            if before is not None:
                found.append(change_of(each.path, before, now))
        return tuple(found)

    def _changed_from(self, path: bytes, now: Held, time: int) -> Held | None:
        """Returns what a path held before somebody changed it; `None` if nobody did, or nobody can say."""
        last = self.recorded.last(path)
        if now.version is None and now != NOTHING:
            return None
        if last is not None and last.time > time:
            return None  # a call that began before others ended: it saw an older state
        self._since[path] = last.time if last else 0
        self.recorded.note(path, now, time)
        if last is None:
            known = self.recorded.is_committed(path, now) or self.recorded.was_recorded(path, now)
            before = None if known else self.recorded.committed(path)
        else:
            known = last.held.same(now) or self.recorded.is_committed(path, now)
            before = None if known else last.held
        return before if before is not None and before.fault is None and before.side is None else None

    def unknown(self, begin: Heard) -> tuple[DraftChange, ...]:
        """Returns the named paths as changes of which no side is known."""
        for each in begin.record.states:
            self.recorded.note(each.path, Held(fault="no-result"), begin.record.time)
        return tuple(DraftChange(path=path_of(each.path)) for each in begin.record.states)

    def ran(self, begin: Heard | None, end: Heard) -> None:
        """Takes note of a shell call: it may have made what is observed later."""
        started = (begin or end).record.time
        self._shells.append(_Shell(end.call_id or "", started, end.record.time, end.command))

    def during(self, changes: Iterable[DraftChange], at: Heard) -> list[str]:
        """Returns the shell calls that name a changed file and ran since it was last recorded."""
        paths = [each.path for each in changes if isinstance(each.path, str)]
        since = min((self._since.get(path.encode(), 0) for path in paths), default=0)
        names = [path.rpartition("/")[2] for path in paths]
        found = [
            shell.call_id
            for shell in self._shells
            if shell.end >= since and shell.begin <= at.record.time and any(name in shell.command for name in names)
        ]
        return found[-MOST_DURING:]


class Trees:
    """The work trees of one repository, by their git dirs."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[bytes, Tree] = {}

    def look_up(self, records: Iterable[Record]) -> None:
        """Asks git once for all paths of a work tree."""
        paths: dict[bytes, list[bytes]] = {}
        for record in records:
            self.of(record)
            paths.setdefault(record.git_dir, []).extend(each.path for each in record.states)
        for git_dir, its in paths.items():
            self._known[git_dir].recorded.look_up(its)

    def of(self, record: Record) -> Tree:
        """Returns the work tree that a record is of."""
        if record.git_dir not in self._known:
            self._known[record.git_dir] = self._opened(record)
        return self._known[record.git_dir]

    def _opened(self, record: Record) -> Tree:
        git_dir, root = Path(os.fsdecode(record.git_dir)), Path(os.fsdecode(record.root))
        here = self._store.layout
        if git_dir == here.git_dir and root == here.work_tree:
            place = self._store
        elif git_dir.is_dir() and root.is_dir():
            place = Store(here._replace(git_dir=git_dir, work_tree=root))
        else:  # a linked work tree that was removed: what it recorded is taken as it is
            place = Store(here._replace(work_tree=None))
            return Tree(Recorded(self._store, place, None), _person(place))
        return Tree(Recorded(self._store, place, worktree_id(place.layout)), _person(place))


def _person(place: Store) -> Person | None:
    name, email = place.config.text("user.name"), place.config.text("user.email")
    return Person(name=name, email=email) if name and email else None


def seen_changes(tree: Tree, begin: Heard | None, end: Heard) -> Seen:
    """Returns what a call that edits did, from what its two hooks saw and what it says itself."""
    recorded = tree.recorded
    before = {each.path: recorded.held(each) for each in begin.record.states} if begin else {}
    after = {each.path: recorded.held(each) for each in end.record.states}
    paths = tuple(dict.fromkeys([*before, *after]))
    edit = end.edit
    found = Seen(paths)
    for path in paths:
        sides = _sides(recorded, path, before.get(path), after.get(path), begin, edit)
        recorded.note(path, sides.after, end.record.time)
        found = _with(found, path, sides)
    return found


def _with(found: Seen, path: bytes, sides: _Sides) -> Seen:
    """Adds what happened to one path."""
    if sides.gap is not None:
        found = found._replace(gaps=(*found.gaps, change_of(path, sides.gap, sides.before)))
    fault = sides.before.fault or sides.after.fault
    if fault:
        change = DraftChange(path=path_of(path))
        return found._replace(changes=(*found.changes, change), coverage="partial", reason=fault)
    if sides.before.same(sides.after):
        return found
    if sides.reason:
        coverage = "partial" if sides.reason == "no-before" else "shared"
        found = found._replace(coverage=coverage, reason=sides.reason, inferred=sides.inferred)
    if sides.before.side or sides.after.side:
        odd = Change(path=path_of(path), before=_omitted(sides.before), after=_omitted(sides.after))
        return found._replace(odd=(*found.odd, msgspec.to_builtins(odd)), coverage="partial", reason=OMITTED_LARGE)
    return found._replace(changes=(*found.changes, change_of(path, sides.before, sides.after)))


def _sides(
    recorded: Recorded, path: bytes, before: Held | None, after: Held | None, begin: Heard | None, edit: Edit | None
) -> _Sides:
    if recorded.is_ignored(path):
        return _Sides(Held(fault="ignored"), Held(fault="ignored"))
    if after is None:
        return _Sides(before or NOTHING, Held(fault="no-result"))
    told = _told(recorded, path, edit, before or after)
    if before is None or begin is None:
        if told is not None:
            return _Sides(told, after)
        return _Sides(NOTHING, after, reason="no-before", inferred=True)
    reason = gap = None
    last = recorded.last(path)
    if last is not None and last.time > begin.record.time and last.held.fault is None and not last.held.same(before):
        before, reason = last.held, "another-call"
    if told is not None and told.version is not None and _comparable(before):
        reason = None
        if not told.same(before):
            gap, before = before, told
    return _Sides(before, after, gap, reason or _changed_meanwhile(edit, before, after))


def _told(recorded: Recorded, path: bytes, edit: Edit | None, like: Held) -> Held | None:
    """Returns what a path held by the call's own account, which does not tell the mode."""
    if edit is None or not is_told(edit):
        return None
    if not isinstance(edit.original, str):
        return NOTHING
    mode = like.version.mode if like.version else "100644"
    return recorded.cleaned(path, mode, edit.original.encode("utf-8", "surrogateescape"))


def _comparable(held: Held) -> bool:
    """Says whether the account of an agent, which is text with its own line ends, can be compared with a version."""
    if held.version is None:
        return False
    try:
        decoded = held.version.data.decode()
    except UnicodeDecodeError:
        return False
    return "\r" not in decoded and not decoded.startswith(_BOM)


def _changed_meanwhile(edit: Edit | None, before: Held, after: Held) -> str | None:
    """Says why a change may not be the call's alone: the file is not what the call says that it wrote."""
    if edit is None or after.version is None:
        return None
    if edit.user_modified:
        return "user-modified"
    if edit.content is None and not isinstance(edit.original, str) and before.version is not None:
        edit = edit._replace(original=before.version.data.decode("utf-8", "replace"))
    expected = outcome_of(edit)
    if expected is None:
        verifiable = bool(edit.replacements) and isinstance(edit.original, str) and _comparable(before)
        return "unverified" if verifiable else None
    written = after.version.data.decode("utf-8", "replace")
    return None if _lines(expected) == _lines(written) else "changed-meanwhile"


def _lines(text: str) -> list[str]:
    """Returns what an editor that tidies line ends would leave alone."""
    return [line.rstrip() for line in text.removeprefix(_BOM).rstrip().split("\n")]


def change_of(path: bytes, before: Held, after: Held) -> DraftChange:
    """Returns the change of a path between two versions that are known."""
    return DraftChange(path=path_of(path), before=before.version, after=after.version)


def _omitted(held: Held) -> Side | None:
    """Returns a side that is known by its hash alone."""
    if held.side is not None or held.version is None:
        return held.side
    return _named(held.version)


def _named(version: FileVersion) -> Side:
    data = version.data
    return Side(mode=version.mode, blob=content.blob_id(data), size=len(data), omitted=OMITTED_LARGE)
