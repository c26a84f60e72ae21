"""Which files were moved: those that came with just the bytes of one that vanished. Pure."""

from collections.abc import Iterable, Sequence

import msgspec

from pogstore.draft import DraftChange, FileVersion
from pogstore.store import content

_LINK = "120000"


def with_renames(changes: Sequence[DraftChange]) -> tuple[DraftChange, ...]:
    """Returns changes in which a file that vanished, and one that came with just its bytes, are one that was moved.

    Where several could be meant, those with equal names in other folders belong together, and the rest stays apart.
    """
    gone: dict[tuple[bool, bytes], list[DraftChange]] = {}
    came: dict[tuple[bool, bytes], list[DraftChange]] = {}
    for change in changes:
        if change.before is not None and change.after is None and change.before.data:
            gone.setdefault(_content(change.before), []).append(change)
        if change.after is not None and change.before is None and change.after.data:
            came.setdefault(_content(change.after), []).append(change)
    moved = {id(new): old for key in gone.keys() & came.keys() for old, new in _pairs(gone[key], came[key])}
    left = {id(old) for old in moved.values()}
    return tuple(
        msgspec.structs.replace(change, from_=moved[id(change)].path, before=moved[id(change)].before)
        if id(change) in moved
        else change
        for change in changes
        if id(change) not in left
    )


def _content(version: FileVersion) -> tuple[bool, bytes]:
    return version.mode == _LINK, version.data


def _pairs(gone: Sequence[DraftChange], came: Sequence[DraftChange]) -> list[tuple[DraftChange, DraftChange]]:
    if len(gone) == len(came) == 1:
        return [(gone[0], came[0])]
    old, new = _by_name(gone), _by_name(came)
    return [(old[name][0], new[name][0]) for name in old.keys() & new.keys() if len(old[name]) == len(new[name]) == 1]


def _by_name(changes: Iterable[DraftChange]) -> dict[bytes, list[DraftChange]]:
    found: dict[bytes, list[DraftChange]] = {}
    for change in changes:
        name = (content.path_bytes(change.path) or b"").rpartition(b"/")[2]
        found.setdefault(name, []).append(change)
    return found
