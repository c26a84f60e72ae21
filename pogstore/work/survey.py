"""What a plan of writes means for a work tree as it is: what has to change, and what stands in the way.

Looks and compares; changes nothing.
"""

import os
import stat
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pogstore.draft import FileVersion
from pogstore.errors import BadInput, Conflict, UnsafePath
from pogstore.work.paths import check_path, fold
from pogstore.work.rooted import (
    Parts,
    Sight,
    Tree,
    find_stamp,
    find_stat,
    naming,
    refuse_link,
    see,
    spell,
    split,
    stamp,
)

MODES = ("100644", "100755", "120000")
"""The modes that a file version may have here; a submodule's content is not ours to write."""


class Write(NamedTuple):
    """One path of a plan: what must be there now, and what shall be there; `None` is no file.

    With both alike it only asks for something to be so: the file is compared and left as it is.
    """

    path: str
    before: FileVersion | None
    after: FileVersion | None


class Target(NamedTuple):
    """A write that changes something, and what was found about its place.

    `home` is the deepest directory on its way that stays: its temporary files lie there. `permissions` are those of
    the regular file it replaces. `cleared` are the directories, deepest first, that must go to make room.
    """

    write: Write
    parts: Parts
    home: Parts
    permissions: int | None = None
    cleared: tuple[Parts, ...] = ()


class _Leaving(NamedTuple):
    """The files that a plan removes, and all the directories above them."""

    files: set[Parts]
    folders: set[Parts]


def check_plan(writes: Sequence[Write]) -> None:
    """Raises unless a plan makes sense by itself, whatever the tree holds."""
    for write in writes:
        check_path(write.path)
        for version in (write.before, write.after):
            if version is not None:
                _check_version(write.path, version)
    if twice := [path for path, count in Counter(write.path for write in writes).items() if count > 1]:
        raise Conflict(f"the plan names '{twice[0]}' more than once", twice)
    files = {split(write.path) for write in writes if write.after is not None}
    if under := [spell(parts) for parts in files if any(folder in files for folder in above(parts))]:
        raise Conflict(f"the plan wants a file above '{min(under)}'", sorted(under))


def _check_version(path: str, version: FileVersion) -> None:
    if version.mode not in MODES:
        raise BadInput(path, f"a file of mode '{version.mode}' cannot be written")
    if version.mode == "120000" and (not version.data or b"\0" in version.data):
        raise UnsafePath(path, "its link target is empty or holds a NUL")


def above(parts: Parts) -> Iterable[Parts]:
    """Yields the directories above a path, from the one below the root."""
    return (parts[:depth] for depth in range(1, len(parts)))


def survey(tree: Tree, writes: Sequence[Write]) -> list[Target]:
    """Returns what has to change; raises `Conflict` with all the paths that are not as the plan expects."""
    gone = {split(write.path) for write in writes if write.before is not None and write.after is None}
    leaving = _Leaving(gone, {folder for parts in gone for folder in above(parts)})
    targets: list[Target] = []
    wrong: list[str] = []
    for write in writes:
        with naming(write.path):
            target = _look(tree, write, leaving)
        if target is None:
            wrong.append(write.path)
        elif write.before != write.after:
            targets.append(target)
    if wrong:
        more = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        raise Conflict(f"'{wrong[0]}'{more} is not what the plan expects; nothing was written", wrong)
    return _with_lasting_homes(targets)


def _with_lasting_homes(targets: list[Target]) -> list[Target]:
    """Moves the home of each target out of the directories that must go."""
    going = {parts for target in targets for parts in target.cleared}
    return [target._replace(home=_outside(target.home, going)) for target in targets]


def _outside(home: Parts, going: set[Parts]) -> Parts:
    while home in going:
        home = home[:-1]
    return home


def _look(tree: Tree, write: Write, leaving: _Leaving) -> Target | None:
    """Compares one path with what the plan expects there; `None` says that it is something else."""
    parts = split(write.path)
    folder = parts[:-1]
    with tree.reached(folder) as (fd, depth):
        if depth < len(folder):
            free = _is_free(fd, write, folder[: depth + 1], leaving)
            return Target(write, parts, folder[:depth]) if free else None
        target = Target(write, parts, folder)
        if write.before is None:
            return _room(tree, fd, target, leaving)
        sight = find_sight(fd, write, parts[-1])
    if sight is None or sight.version != write.before:
        return None
    return target if write.before.mode == "120000" else target._replace(permissions=sight.permissions)


def _is_free(directory: int, write: Write, prefix: Parts, leaving: _Leaving) -> bool:
    """Whether a file that must not exist does not, where the way to it ends at `prefix`."""
    absent = find_stat(directory, prefix[-1]) is None
    if write.before is None and (absent or write.after is None or prefix in leaving.files):
        return True
    refuse_link(directory, prefix, write.path)
    return False


def _room(tree: Tree, directory: int, target: Target, leaving: _Leaving) -> Target | None:
    """Returns the target of a file that must not exist, with the directory in its place that the plan empties."""
    found = find_stat(directory, target.parts[-1])
    if found is None:
        return target
    if not stat.S_ISDIR(found.st_mode):
        return target if _leaves_in_other_case(directory, found, target.parts, leaving) else None
    if target.write.after is None:
        return target
    cleared = _emptied(tree, target.parts, leaving)
    return target._replace(cleared=tuple(cleared)) if cleared else None


def _leaves_in_other_case(directory: int, found: os.stat_result, parts: Parts, leaving: _Leaving) -> bool:
    """Whether the file found is one that the plan removes under a name that differs in case alone.

    A file system that knows no case shows it under both names; the later comparison finds out two files.
    """
    others = (one for one in leaving.files if one[:-1] == parts[:-1] and fold(spell(one)) == fold(spell(parts)))
    return any(find_stamp(directory, one[-1]) == stamp(found) for one in others)


def _emptied(tree: Tree, parts: Parts, leaving: _Leaving) -> list[Parts]:
    """Returns a directory and those in it, deepest first, if the plan empties all of them; else none."""
    if parts not in leaving.folders:
        return []
    with tree.reached(parts) as (fd, depth):
        if depth < len(parts):
            return []
        with os.scandir(fd) as found:
            inside = [(*parts, os.fsencode(entry.name)) for entry in found]
    deeper: list[Parts] = []
    for one in inside:
        if one not in leaving.files:
            below = _emptied(tree, one, leaving)
            if not below:
                return []
            deeper += below
    return [*deeper, parts]


def find_sight(directory: int, write: Write, name: bytes) -> Sight | None:
    """Reads no more of a file than its write expects; `None` if there is none, or one that is larger."""
    try:
        return see(directory, name, write.path, len(write.before.data) if write.before else 0)
    except Conflict:
        return None
