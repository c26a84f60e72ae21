"""The steps by which a plan is carried out in a work tree, as plain values, and how each of them is taken back.

A step says what it does before it is done, so that whoever holds the list can take all of it back, done or not: the
process itself after a fault, or the next one if it was killed. A file is known again by its stamp; what another hand
has put in its place stays.
"""

import os
import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

import msgspec

from pogstore.errors import PogError
from pogstore.work.rooted import MAX_SIZE, Parts, Stamp, Tree, find_stamp, find_stat, naming, see, spell
from pogstore.work.survey import Target, above
from pogstore.work.unfinished import TEMPORARY


class Place(NamedTuple):
    """A temporary file."""

    folder: Parts
    name: bytes


class Put(msgspec.Struct, frozen=True, tag="put"):
    """A path gets the file with the stamp `new`, or none; what was there is kept in `kept`."""

    parts: Parts
    kept: Place | None
    new: Stamp | None


class Made(msgspec.Struct, frozen=True, tag="made"):
    """A directory is made."""

    parts: Parts


class Cleared(msgspec.Struct, frozen=True, tag="cleared"):
    """An empty directory of these permissions is removed."""

    parts: Parts
    permissions: int


Step = Put | Made | Cleared


class Left(NamedTuple):
    """A path that was not taken back, since another hand has changed it; where its former file lies, if it had one."""

    parts: Parts
    kept: Place | None


def places_for(targets: Sequence[Target], token: str) -> list[tuple[Place, Place]]:
    """Returns for each target the names of its temporary files: the new version, and what was there before."""
    return [
        (
            Place(target.home, f"{TEMPORARY}{token}-{n}n".encode()),
            Place(target.home, f"{TEMPORARY}{token}-{n}k".encode()),
        )
        for n, target in enumerate(targets)
    ]


def steps_for(
    tree: Tree, targets: Sequence[Target], kept: Sequence[Place], new: Sequence[Stamp | None]
) -> list[tuple[Step, Target]]:
    """Returns the steps in their order, each with its target: what goes, what makes room, then what comes."""
    listed = list(zip(targets, kept, new, strict=True))
    found: list[tuple[Step, Target]] = [
        (Put(target.parts, place, None), target) for target, place, _ in listed if target.write.after is None
    ]
    for target in targets:
        with naming(target.write.path):
            found += [(Cleared(folder, _permissions(tree, folder)), target) for folder in target.cleared]
    made: set[Parts] = set()
    for target, place, stamp in listed:
        if target.write.after is not None:
            new_folders = [each for each in above(target.parts) if len(each) > len(target.home) and each not in made]
            made.update(new_folders)
            found += [(Made(folder), target) for folder in new_folders]
            found.append((Put(target.parts, place if target.write.before is not None else None, stamp), target))
    return found


def take_back(tree: Tree, steps: Sequence[Step], places: Iterable[Place]) -> list[Left]:
    """Undoes every step, newest first, and lets go of the temporary files; returns what could not be taken back."""
    left = [found for step in reversed(steps) if (found := _undo(tree, step))]
    kept = [each.kept for each in left]
    discard(tree, (place for place in places if place not in kept))
    return left


def finish(tree: Tree, steps: Iterable[Step], places: Iterable[Place]) -> None:
    """Lets go of the former files, and of the directories that are empty now that they are gone."""
    discard(tree, places)
    for step in steps:
        if isinstance(step, Put) and step.new is None:
            with suppress(OSError, PogError):
                for folder in reversed(list(above(step.parts))):
                    os.rmdir(folder[-1], dir_fd=tree.directory(folder[:-1]))
                    tree.forget(folder)


def discard(tree: Tree, places: Iterable[Place]) -> None:
    """Removes temporary files."""
    for place in places:
        with suppress(OSError, PogError):
            os.unlink(place.name, dir_fd=tree.directory(place.folder))


def sync_folders(tree: Tree, steps: Iterable[Step]) -> None:
    """Lets the names that were moved back be on disk, as far as their directories are there."""
    for folder in {step.parts[:-1] for step in steps}:
        with suppress(OSError, PogError):
            os.fsync(tree.directory(folder))


def _undo(tree: Tree, step: Step) -> Left | None:
    """Takes one step back, or finds that it was not done."""
    try:
        fd = tree.directory(step.parts[:-1])
        match step:
            case Put():
                return _undo_put(fd, step, tree)
            case Made():
                os.rmdir(step.parts[-1], dir_fd=fd)
            case Cleared():
                os.mkdir(step.parts[-1], 0o700, dir_fd=fd)
                os.fchmod(tree.directory(step.parts), step.permissions)
    except (OSError, PogError):
        return _lost(tree, step) if isinstance(step, Put) else None
    return None


def _lost(tree: Tree, step: Put) -> Left | None:
    """Returns what is left of a path that cannot be reached any more: its former file, if that can be."""
    if step.kept is None:
        return None
    try:
        if find_stamp(tree.directory(step.kept.folder), step.kept.name) is None:
            return Left(step.parts, None)
    except (OSError, PogError):
        pass  # it may lie there all the same, beyond reach
    return Left(step.parts, step.kept)


def _undo_put(directory: int, step: Put, tree: Tree) -> Left | None:
    """Puts the former file back; what another hand has put there meanwhile stays, and the former file beside it."""
    now = find_stamp(directory, step.parts[-1])
    if step.kept is None:
        if now == step.new:
            os.unlink(step.parts[-1], dir_fd=directory)
            return None
        return Left(step.parts, None) if _is_file(directory, step.parts[-1]) else None
    folder = tree.directory(step.kept.folder)
    old = find_stamp(folder, step.kept.name)
    if old is None:  # it was not moved yet; or it was, and somebody has removed it since (`git clean`, for one)
        return Left(step.parts, None) if now == step.new else None
    if now == old:
        return None
    if now not in (None, step.new):
        is_same = _hold_the_same((directory, step.parts[-1]), (folder, step.kept.name), spell(step.parts))
        return None if is_same else Left(step.parts, step.kept)
    os.rename(step.kept.name, step.parts[-1], src_dir_fd=folder, dst_dir_fd=directory)
    return None


def _is_file(directory: int, name: bytes) -> bool:
    """Whether something else than a directory, which may not have been cleared yet, stands under a name."""
    found = find_stat(directory, name)
    return found is not None and not stat.S_ISDIR(found.st_mode)


def _hold_the_same(one: tuple[int, bytes], other: tuple[int, bytes], path: str) -> bool:
    first, second = (see(fd, name, path, MAX_SIZE) for fd, name in (one, other))
    return first is not None and second is not None and first.version == second.version


def _permissions(tree: Tree, folder: Parts) -> int:
    found = os.stat(folder[-1], dir_fd=tree.directory(folder[:-1]), follow_symlinks=False)
    return stat.S_IMODE(found.st_mode)
