"""Whose change it was: what the paths that a call named held before and after it, against what was recorded last.

A path that another holds by now than any step or commit left there was changed by somebody else, before the call.
"""

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from pogstore.agents.heard import Heard
from pogstore.agents.trees import Tree
from pogstore.draft import DraftChange
from pogstore.interop.claude_edits import Edit, is_told, outcome_of, undone
from pogstore.model import Change
from pogstore.store.batch import OMITTED_LARGE
from pogstore.work.compared import NO_BEFORE, side_of
from pogstore.work.held import NOTHING, Held, path_of
from pogstore.work.recorded import Recorded

_BOM = "\ufeff"
MEANWHILE = "changed-meanwhile"


class Seen(NamedTuple):
    """What one call did to the paths that it named.

    `gaps` is what somebody else did while it was asked for, and `later` what somebody else made of its outcome before
    its end was told: a formatter, say, that an editor or another hook runs.
    """

    paths: tuple[bytes, ...]
    changes: tuple[DraftChange, ...] = ()
    odd: tuple[object, ...] = ()
    gaps: tuple[DraftChange, ...] = ()
    later: tuple[DraftChange, ...] = ()
    coverage: str = "scoped"
    reason: str | None = None
    inferred: bool = False


class _Sides(NamedTuple):
    """What one path held before and after a call; `gap` before that, and `later` by now, if that was something else."""

    before: Held
    after: Held
    gap: Held | None = None
    reason: str | None = None
    inferred: bool = False
    later: Held | None = None


def seen_changes(tree: Tree, begin: Heard | None, end: Heard) -> Seen:
    """Returns what a call that edits did, from what its two hooks saw and what it says itself."""
    recorded = tree.recorded
    before = {each.path: recorded.held(each) for each in begin.record.states} if begin else {}
    after = {each.path: recorded.held(each) for each in end.record.states}
    paths = tuple(dict.fromkeys([*before, *after]))
    found = Seen(paths)
    for path in paths:
        edit = end.edits.get(path, end.edit)
        sides = _sides(recorded, path, before.get(path), after.get(path), begin, edit)
        if end.is_shadow and sides.reason == NO_BEFORE:
            sides = _undone(recorded, path, edit, sides)
        recorded.note(path, sides.later or sides.after, end.record.time, by_edit=sides.later is None)
        found = _with(found, path, sides)
    return found


def _with(found: Seen, path: bytes, sides: _Sides) -> Seen:
    """Adds what happened to one path."""
    if sides.gap is not None:
        found = found._replace(gaps=(*found.gaps, change_of(path, sides.gap, sides.before)))
    if sides.later is not None:
        found = found._replace(later=(*found.later, change_of(path, sides.after, sides.later)))
    fault = sides.before.fault or sides.after.fault
    if fault:
        change = DraftChange(path=path_of(path))
        return found._replace(changes=(*found.changes, change), coverage="partial", reason=fault)
    if sides.before.same(sides.after):
        return found
    if sides.reason:
        coverage = "partial" if sides.reason == NO_BEFORE else "shared"
        found = found._replace(coverage=coverage, reason=sides.reason, inferred=sides.inferred)
    if sides.before.side or sides.after.side:
        odd = Change(path=path_of(path), before=side_of(sides.before), after=side_of(sides.after))
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
        return _Sides(NOTHING, after, reason=NO_BEFORE, inferred=True)
    reason = gap = None
    last = recorded.last(path)
    if last is not None and last.time > begin.record.time and last.held.fault is None and not last.held.same(before):
        before, reason = last.held, "another-call"
    if told is not None and told.version is not None and _comparable(before):
        reason = None
        if not told.same(before):
            gap, before = before, told
    reason = reason or _changed_meanwhile(edit, before, after)
    made = _made(recorded, path, edit, before, after) if reason == MEANWHILE else None
    if made is not None:
        return _Sides(before, made, gap, later=after)
    return _Sides(before, after, gap, reason)


def _told(recorded: Recorded, path: bytes, edit: Edit | None, like: Held) -> Held | None:
    """Returns what a path held by the call's own account, which does not tell the mode."""
    if edit is None or not is_told(edit):
        return None
    if not isinstance(edit.original, str):
        return NOTHING
    mode = like.version.mode if like.version else "100644"
    return recorded.cleaned(path, mode, edit.original.encode("utf-8", "surrogateescape"))


def _undone(recorded: Recorded, path: bytes, edit: Edit | None, sides: _Sides) -> _Sides:
    """Returns the sides of an edit that is told alone with what the path held before, if that is certain."""
    after = sides.after
    if edit is None or after.version is None or not _comparable(after):
        return sides
    before = undone(after.version.data.decode(), edit.replacements)
    return sides if before is None else _Sides(recorded.cleaned(path, after.version.mode, before.encode()), after)


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
    edit = _from(edit, before)
    expected = outcome_of(edit)
    if expected is None:
        verifiable = bool(edit.replacements) and isinstance(edit.original, str) and _comparable(before)
        return "unverified" if verifiable and edit.exact else None
    written = after.version.data.decode("utf-8", "replace")
    return None if _lines(expected) == _lines(written) else MEANWHILE


def _from(edit: Edit, before: Held) -> Edit:
    """Returns an edit with what it began from, where it does not tell that itself."""
    if edit.content is None and not isinstance(edit.original, str) and before.version is not None:
        return edit._replace(original=before.version.data.decode("utf-8", "replace"))
    return edit


def _made(recorded: Recorded, path: bytes, edit: Edit | None, before: Held, after: Held) -> Held | None:
    """Returns what a call has made of a path, by its own account, where the path holds something else by its end."""
    expected = outcome_of(_from(edit, before)) if edit is not None else None
    if (
        expected is None
        or after.version is None
        or not (_comparable(after) and (before == NOTHING or _comparable(before)))
    ):
        return None
    return recorded.cleaned(path, after.version.mode, expected.encode("utf-8", "surrogateescape"))


def _lines(text: str) -> list[str]:
    """Returns what an editor that tidies line ends would leave alone."""
    return [line.rstrip() for line in text.removeprefix(_BOM).rstrip().split("\n")]


def change_of(path: bytes, before: Held, after: Held) -> DraftChange:
    """Returns the change of a path between two versions that are known."""
    return DraftChange(path=path_of(path), before=before.version, after=after.version)


def with_moves(changes: tuple[DraftChange, ...], moves: Iterable[tuple[bytes, bytes]]) -> tuple[DraftChange, ...]:
    """Returns changes in which a file that a call says it moved is one that was moved, if the files agree with that."""
    for old, new in moves:
        gone = next((each for each in changes if each.path == path_of(old) and each.before and not each.after), None)
        came = next((each for each in changes if each.path == path_of(new) and each.after and not each.before), None)
        if gone is not None and came is not None:
            moved = msgspec.structs.replace(came, from_=gone.path, before=gone.before)
            changes = tuple(moved if each is came else each for each in changes if each is not gone)
    return changes
