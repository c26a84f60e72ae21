"""Writes a plan into a work tree: all of it or nothing, nothing else, and nowhere else.

A plan is a list of `Write` values. `applied` compares the whole tree with what the plan expects, writes every new
version to a temporary file, and only then moves them into place. A journal, if one is given, is told each of this
before it is done, so that a fault in the middle takes all of it back here, and a kill lets the next process do so. No
index, HEAD, branch or hook is known here, and no file is touched that the plan does not name.
"""

import os
import secrets
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from pogstore.draft import FileVersion
from pogstore.errors import Conflict, WorkTreeFailed
from pogstore.work import steps
from pogstore.work.journal import Beside, Journal, Ready
from pogstore.work.rooted import Stamp, Tree, find_stamp, find_stat, naming, read_version, spell
from pogstore.work.steps import Cleared, Made, Place, Put, Step
from pogstore.work.survey import Target, Write, above, check_plan, find_sight, survey
from pogstore.work.syncing import Syncing
from pogstore.work.unfinished import TEMPORARY

__all__ = ["TEMPORARY", "Write", "applied", "apply", "check_plan", "read_version"]

Progress = Callable[[int, int], None]


def untold(_done: int, _total: int) -> None:
    """Progress that nobody waits for."""


def apply(root: str | os.PathLike[str], writes: Sequence[Write], *, fsync: bool = True) -> None:
    """Carries out a plan below `root`, or raises and leaves every file as it was; keeps no journal.

    Raises what `applied` does.
    """
    with applied(root, writes, fsync=fsync):
        pass


@contextmanager
def applied(
    root: str | os.PathLike[str],
    writes: Sequence[Write],
    *,
    fsync: bool = True,
    journal: Journal | None = None,
    progress: Progress = untold,
) -> Iterator["Attempt"]:
    """Carries out a plan below `root` and keeps the former files for a block: an error in it brings them back.

    Raises `UnsafePath` for a path that may not be written or that a link leads away, `Conflict` with the paths that are
    not as the plan expects, `WorkTreeFailed` if the system refuses; then every file is as it was. Files that need no
    change keep inode and time. A directory is removed only if our deletions emptied it. Without `fsync` the new files
    may be lost with the power. The journal ends with the block, unless what was written `stays` in spite of an error.
    """
    check_plan(writes)
    with Tree(root) as tree:
        attempt = Attempt(tree, survey(tree, writes), fsync, journal, progress)
        try:
            attempt.prepare()
            attempt.carry_out()
            yield attempt
        except BaseException as fault:
            if not attempt.stays:
                attempt.take_back(fault)
            raise
        attempt.tidy()


class Attempt:
    """The carrying out of one plan: what was done so far, so that it can be taken back."""

    def __init__(
        self, tree: Tree, targets: Sequence[Target], fsync: bool, journal: Journal | None, progress: Progress
    ) -> None:
        self._tree, self._targets, self._fsync, self._journal = tree, targets, fsync, journal
        self._progress, self._syncing = progress, Syncing()
        self._places = steps.places_for(targets, secrets.token_hex(8))
        self._new: list[Stamp | None] = []
        self._steps: list[tuple[Step, Target]] = []
        self._done: list[Step] = []
        self._placed = 0
        self.stays = False
        """Set if an error must not bring the former files back: somebody relies on the new ones already."""

    def prepare(self) -> None:
        """Writes each new version to a temporary file; no name of the plan changes yet."""
        if self._journal is not None and self._targets:
            everything = tuple(place for pair in self._places for place in pair)
            self._journal.note(Beside(everything))
        for target, (place, _) in zip(self._targets, self._places, strict=True):
            with naming(target.write.path):
                after = target.write.after
                self._new.append(self._write(target, after, place) if after is not None else None)
            self._tell()
        self._syncing.flush()

    def carry_out(self) -> None:
        """Removes, makes room, then moves the new versions into place; each path is compared once more before."""
        places = {target.parts: pair for target, pair in zip(self._targets, self._places, strict=True)}
        self._steps = steps.steps_for(self._tree, self._targets, [kept for _, kept in self._places], self._new)
        if self._journal is not None and self._targets:
            self._journal.note(Ready(tuple(step for step, _ in self._steps)))
        for step, target in self._steps:
            with naming(target.write.path):
                self._do(step, target, places[target.parts])
            if isinstance(step, Put):
                self._placed += 1
                self._tell()
        self._settle()

    def take_back(self, fault: BaseException) -> None:
        """Undoes every step, newest first; raises `WorkTreeFailed` if a former file could not be put back."""
        self._syncing.drop()
        places = [place for pair in self._places for place in pair]
        left = [found.kept for found in steps.take_back(self._tree, self._done, places) if found.kept is not None]
        if self._journal is not None:
            self._journal.end()
        if left:
            paths = [spell((*place.folder, place.name)) for place in left]
            raise WorkTreeFailed(paths[0], f"not everything could be put back after: {fault}", paths) from fault

    def tidy(self) -> None:
        """Lets go of the former files, and of the directories that are empty now that they are gone."""
        places = [place for pair in self._places for place in pair]
        steps.finish(self._tree, [step for step, _ in self._steps], places)
        if self._journal is not None:
            self._journal.end()

    def _tell(self) -> None:
        """Says how many files are done; one that is written beside its place is half done."""
        self._progress((len(self._new) + self._placed) // 2, len(self._targets))

    def _do(self, step: Step, target: Target, places: tuple[Place, Place]) -> None:
        match step:
            case Made():
                self._make(step)
            case Cleared():
                self._clear(step)
            case Put() if step.new is None:
                self._remove(target, step, places[1])
            case Put():
                self._place(target, step, *places)

    def _write(self, target: Target, version: FileVersion, place: Place) -> Stamp:
        fd = self._tree.directory(target.home)
        if version.mode == "120000":
            os.symlink(version.data, place.name, dir_fd=fd)
            return _stamp_of(fd, place)
        # a new file gets its permissions from the umask; one that replaces another is closed until it has its own
        wanted = None if target.permissions is None else _permissions(target.permissions, version.mode)
        initial = (0o777 if version.mode == "100755" else 0o666) if wanted is None else 0o600
        temporary = os.open(place.name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, initial, dir_fd=fd)
        try:
            with os.fdopen(temporary, "wb", closefd=False) as file:
                file.write(version.data)
            if wanted is not None:
                os.fchmod(temporary, wanted)
            stamp = _stamp_of(fd, place)
        except BaseException:
            os.close(temporary)
            raise
        if self._fsync:
            self._syncing.add(temporary, target.write.path)
        else:
            os.close(temporary)
        return stamp

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

    def _remove(self, target: Target, step: Put, kept: Place) -> None:
        fd, old = self._compared(target)
        self._done.append(step)
        os.rename(target.parts[-1], kept.name, src_dir_fd=fd, dst_dir_fd=self._tree.directory(kept.folder))
        self._expect(target, kept, old)

    def _clear(self, step: Cleared) -> None:
        fd = self._tree.directory(step.parts[:-1])
        self._done.append(step)
        self._tree.forget(step.parts)
        os.rmdir(step.parts[-1], dir_fd=fd)

    def _make(self, step: Made) -> None:
        with suppress(FileExistsError):
            os.mkdir(step.parts[-1], dir_fd=self._tree.directory(step.parts[:-1]))
            self._done.append(step)

    def _place(self, target: Target, step: Put, ready: Place, kept: Place) -> None:
        fd, old = self._compared(target)
        source = self._tree.directory(ready.folder)
        self._done.append(step)
        if old is None:
            _move_to_free_name(source, ready.name, fd, target)
            return
        _keep((fd, target.parts[-1]), (self._tree.directory(kept.folder), kept.name))
        os.rename(ready.name, target.parts[-1], src_dir_fd=source, dst_dir_fd=fd)
        self._expect(target, kept, old)

    def _expect(self, target: Target, kept: Place, old: Stamp | None) -> None:
        """Raises unless the file that was moved away is the one that was compared, not written to since."""
        fd = self._tree.directory(kept.folder)
        if find_stamp(fd, kept.name) == old:
            return
        # an overlay file system may give a file another inode when it is first touched: then its bytes decide
        sight = find_sight(fd, target.write, kept.name)
        if sight is None or sight.version != target.write.before:
            raise _changed(target.write.path)

    def _settle(self) -> None:
        """Makes sure that the plan's directories are still where they were, and that their new names are on disk."""
        folders = {target.home for target in self._targets}
        placed = [target.parts for target in self._targets if target.write.after is not None]
        folders |= {folder for parts in placed for folder in above(parts)}
        for folder in folders:
            with naming(spell(folder)):
                self._tree.compare(folder)
                if self._fsync:
                    os.fsync(self._tree.directory(folder))


def _changed(path: str) -> Conflict:
    return Conflict(f"'{path}' changed while the plan was carried out; what was done is taken back", [path])


def _stamp_of(directory: int, place: Place) -> Stamp:
    found = find_stamp(directory, place.name)
    if found is None:
        raise FileNotFoundError(2, "the temporary file vanished")
    return found


def _permissions(old: int, mode: str) -> int:
    """Returns the permissions of a file that replaces another: the old ones, executable or not as the mode says."""
    if (mode == "100755") == bool(old & stat.S_IXUSR):
        return old
    return old & ~0o111 if mode == "100644" else old | (old & 0o444) >> 2 | stat.S_IXUSR


def _keep(file: tuple[int, bytes], kept: tuple[int, bytes]) -> None:
    """Gives a file a second name, so that its first one never vanishes; without hard links, moves it."""
    try:
        os.link(file[1], kept[1], src_dir_fd=file[0], dst_dir_fd=kept[0], follow_symlinks=False)
    except OSError:
        os.rename(file[1], kept[1], src_dir_fd=file[0], dst_dir_fd=kept[0])


def _move_to_free_name(source: int, ready: bytes, directory: int, target: Target) -> None:
    """Moves a file to a name that nobody has; unlike a rename, a link never replaces what was put there meanwhile."""
    try:
        os.link(ready, target.parts[-1], src_dir_fd=source, dst_dir_fd=directory, follow_symlinks=False)
    except FileExistsError as fault:
        raise _changed(target.write.path) from fault
    except OSError:
        os.rename(ready, target.parts[-1], src_dir_fd=source, dst_dir_fd=directory)
