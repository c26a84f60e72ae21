"""Writes a plan into a work tree: all of it or nothing, nothing else, and nowhere else.

A plan is a list of `Write` values. `apply` compares the whole tree with what the plan expects, writes every new version
to a temporary file, and only then moves them into place; each step is noted as a plain value before it is done, so
that a fault in the middle takes all of them back (and so that a journal could be kept of them). No index, HEAD, branch
or hook is known here, and no file is touched that the plan does not name.
"""

import os
import secrets
import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

from pogstore.draft import FileVersion
from pogstore.errors import Conflict, PogError, WorkTreeFailed
from pogstore.work.rooted import Parts, Stamp, Tree, find_stamp, find_stat, naming, read_version, spell
from pogstore.work.survey import Target, Write, above, check_plan, find_sight, survey

__all__ = ["TEMPORARY", "Write", "apply", "check_plan", "read_version"]

TEMPORARY = ".pog-tmp-"
"""What the names of temporary files begin with; whoever lists the work tree may leave such files out."""


class _Place(NamedTuple):
    """A temporary file."""

    folder: Parts
    name: bytes


class _Put(NamedTuple):
    """A step: a path gets the file with the stamp `new`, or none; what was there is kept in `kept`."""

    parts: Parts
    kept: _Place | None
    new: Stamp | None


class _Made(NamedTuple):
    """A step: a directory was made."""

    parts: Parts


class _Cleared(NamedTuple):
    """A step: an empty directory of these permissions is removed."""

    parts: Parts
    permissions: int


def apply(root: str | os.PathLike[str], writes: Sequence[Write], *, fsync: bool = True) -> None:
    """Carries out a plan below `root`, or raises and leaves every file as it was.

    Raises `UnsafePath` for a path that may not be written or that a link leads away, `Conflict` with the paths that are
    not as the plan expects, `WorkTreeFailed` if the system refuses. Files that need no change keep inode and time. A
    directory is removed only if our deletions emptied it. Without `fsync` the new files may be lost with the power.
    """
    check_plan(writes)
    with Tree(root) as tree:
        targets = survey(tree, writes)
        attempt = _Attempt(tree, fsync)
        try:
            attempt.prepare(targets)
            attempt.carry_out(targets)
        except BaseException as fault:
            attempt.take_back(fault)
            raise
        attempt.tidy(targets)


class _Attempt:
    """The carrying out of one plan: what was done so far, so that it can be taken back."""

    def __init__(self, tree: Tree, fsync: bool) -> None:
        self._tree = tree
        self._fsync = fsync
        self._steps: list[_Put | _Made | _Cleared] = []
        self._temporary: list[_Place] = []
        self._ready: dict[Parts, tuple[_Place, Stamp]] = {}

    def prepare(self, targets: Sequence[Target]) -> None:
        """Writes each new version to a temporary file; no name of the plan changes yet."""
        for target in targets:
            if target.write.after is not None:
                with naming(target.write.path):
                    self._ready[target.parts] = self._write(target, target.write.after)

    def carry_out(self, targets: Sequence[Target]) -> None:
        """Removes, makes room, then moves the new versions into place; each path is compared once more before."""
        for target in targets:
            if target.write.after is None:
                with naming(target.write.path):
                    self._remove(target)
        for target in targets:
            with naming(target.write.path):
                for folder in target.cleared:
                    self._clear(folder)
        for target in targets:
            if target.write.after is not None:
                with naming(target.write.path):
                    self._place(target)
        self._settle(targets)

    def take_back(self, fault: BaseException) -> None:
        """Undoes every step, newest first; raises `WorkTreeFailed` if a former file could not be put back."""
        left = [place for step in reversed(self._steps) if (place := self._undo(step))]
        self._discard(place for place in self._temporary if place not in left)
        if left:
            paths = [spell((*place.folder, place.name)) for place in left]
            raise WorkTreeFailed(paths[0], f"not everything could be put back after: {fault}", paths) from fault

    def tidy(self, targets: Sequence[Target]) -> None:
        """Lets go of the former files, and of the directories that are empty now that they are gone."""
        self._discard(self._temporary)
        for target in targets:
            if target.write.after is None:
                with suppress(OSError, PogError):
                    for folder in reversed(list(above(target.parts))):
                        os.rmdir(folder[-1], dir_fd=self._tree.directory(folder[:-1]))
                        self._tree.forget(folder)

    def _new_place(self, folder: Parts) -> _Place:
        place = _Place(folder, f"{TEMPORARY}{secrets.token_hex(16)}".encode())
        self._temporary.append(place)
        return place

    def _write(self, target: Target, version: FileVersion) -> tuple[_Place, Stamp]:
        fd = self._tree.directory(target.home)
        place = self._new_place(target.home)
        if version.mode == "120000":
            os.symlink(version.data, place.name, dir_fd=fd)
            return place, _stamp_of(fd, place)
        # a new file gets its permissions from the umask; one that replaces another is closed until it has its own
        wanted = None if target.permissions is None else _permissions(target.permissions, version.mode)
        initial = (0o777 if version.mode == "100755" else 0o666) if wanted is None else 0o600
        temporary = os.open(place.name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, initial, dir_fd=fd)
        with os.fdopen(temporary, "wb") as file:
            file.write(version.data)
            file.flush()
            if wanted is not None:
                os.fchmod(temporary, wanted)
            if self._fsync:
                os.fsync(temporary)
        return place, _stamp_of(fd, place)

    def _compared(self, target: Target) -> tuple[int, Stamp | None]:
        """Returns the directory of a path, and the stamp of the file there, if both are still as the plan expects."""
        folder, write = target.parts[:-1], target.write
        fd = self._tree.directory(folder)
        self._tree.compare(folder)
        sight = find_sight(fd, write, target.parts[-1]) if write.before else None
        if (sight.version if sight else None) != write.before:
            raise _changed(write.path)
        if write.before is None and find_stat(fd, target.parts[-1]):
            raise _changed(write.path)
        return fd, sight.stamp if sight else None

    def _remove(self, target: Target) -> None:
        fd, old = self._compared(target)
        kept = self._new_place(target.home)
        self._steps.append(_Put(target.parts, kept, None))
        os.rename(target.parts[-1], kept.name, src_dir_fd=fd, dst_dir_fd=self._tree.directory(kept.folder))
        self._expect(target, kept, old)

    def _clear(self, folder: Parts) -> None:
        fd = self._tree.directory(folder[:-1])
        found = os.stat(folder[-1], dir_fd=fd, follow_symlinks=False)
        self._steps.append(_Cleared(folder, stat.S_IMODE(found.st_mode)))
        self._tree.forget(folder)
        os.rmdir(folder[-1], dir_fd=fd)

    def _place(self, target: Target) -> None:
        self._make_folders(target)
        fd, old = self._compared(target)
        place, new = self._ready[target.parts]
        source = self._tree.directory(place.folder)
        if old is None:
            self._steps.append(_Put(target.parts, None, new))
            _move_to_free_name(source, place.name, fd, target)
            return
        kept = self._new_place(target.home)
        self._steps.append(_Put(target.parts, kept, new))
        _keep(fd, target.parts[-1], kept.name)
        os.rename(place.name, target.parts[-1], src_dir_fd=source, dst_dir_fd=fd)
        self._expect(target, kept, old)

    def _make_folders(self, target: Target) -> None:
        for folder in above(target.parts):
            if len(folder) > len(target.home):
                with suppress(FileExistsError):
                    os.mkdir(folder[-1], dir_fd=self._tree.directory(folder[:-1]))
                    self._steps.append(_Made(folder))

    def _expect(self, target: Target, kept: _Place, old: Stamp | None) -> None:
        """Raises unless the file that was moved away is the one that was compared, not written to since."""
        fd = self._tree.directory(kept.folder)
        if find_stamp(fd, kept.name) == old:
            return
        # an overlay file system may give a file another inode when it is first touched: then its bytes decide
        sight = find_sight(fd, target.write, kept.name)
        if sight is None or sight.version != target.write.before:
            raise _changed(target.write.path)

    def _settle(self, targets: Sequence[Target]) -> None:
        """Makes sure that the plan's directories are still where they were, and that their new names are on disk."""
        folders = {target.home for target in targets}
        folders |= {parts for target in targets if target.write.after is not None for parts in above(target.parts)}
        for folder in folders:
            with naming(spell(folder)):
                self._tree.compare(folder)
                if self._fsync:
                    os.fsync(self._tree.directory(folder))

    def _undo(self, step: _Put | _Made | _Cleared) -> _Place | None:
        """Takes one step back; returns where the former file still lies if it could not be put back."""
        try:
            fd = self._tree.directory(step.parts[:-1])
            match step:
                case _Put():
                    return _undo_put(fd, step, self._tree)
                case _Made():
                    os.rmdir(step.parts[-1], dir_fd=fd)
                case _Cleared():
                    os.mkdir(step.parts[-1], 0o700, dir_fd=fd)
                    os.fchmod(self._tree.directory(step.parts), step.permissions)
        except (OSError, PogError):
            return step.kept if isinstance(step, _Put) else None
        return None

    def _discard(self, places: Iterable[_Place]) -> None:
        for place in places:
            with suppress(OSError, PogError):
                os.unlink(place.name, dir_fd=self._tree.directory(place.folder))


def _undo_put(directory: int, step: _Put, tree: Tree) -> _Place | None:
    """Puts the former file back; what another hand has put there meanwhile stays, and the former file beside it."""
    now = find_stamp(directory, step.parts[-1])
    if step.kept is None:
        if now == step.new:
            os.unlink(step.parts[-1], dir_fd=directory)
        return None
    folder = tree.directory(step.kept.folder)
    old = find_stamp(folder, step.kept.name)
    if old is None or now == old:
        return None
    if now not in (None, step.new):
        return step.kept
    os.rename(step.kept.name, step.parts[-1], src_dir_fd=folder, dst_dir_fd=directory)
    return None


def _changed(path: str) -> Conflict:
    return Conflict(f"'{path}' changed while the plan was carried out; what was done is taken back", [path])


def _stamp_of(directory: int, place: _Place) -> Stamp:
    found = find_stamp(directory, place.name)
    if found is None:
        raise FileNotFoundError(2, "the temporary file vanished")
    return found


def _permissions(old: int, mode: str) -> int:
    """Returns the permissions of a file that replaces another: the old ones, executable or not as the mode says."""
    if (mode == "100755") == bool(old & stat.S_IXUSR):
        return old
    return old & ~0o111 if mode == "100644" else old | (old & 0o444) >> 2 | stat.S_IXUSR


def _keep(directory: int, name: bytes, kept: bytes) -> None:
    """Gives a file a second name, so that its first one never vanishes; without hard links, moves it."""
    try:
        os.link(name, kept, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)
    except OSError:
        os.rename(name, kept, src_dir_fd=directory, dst_dir_fd=directory)


def _move_to_free_name(source: int, ready: bytes, directory: int, target: Target) -> None:
    """Moves a file to a name that nobody has; unlike a rename, a link never replaces what was put there meanwhile."""
    try:
        os.link(ready, target.parts[-1], src_dir_fd=source, dst_dir_fd=directory, follow_symlinks=False)
    except FileExistsError as fault:
        raise _changed(target.write.path) from fault
    except OSError:
        os.rename(ready, target.parts[-1], src_dir_fd=source, dst_dir_fd=directory)
