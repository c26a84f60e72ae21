"""The journal of the operation that writes into a work tree: what it is about to do, so that no kill leaves half of it.

One file in the work tree's own git dir. While it is empty there is no operation; an operation holds its lock, so that
two of them wait for each other, and a journal that nobody holds is that of a process that died. Each line is one JSON
value with a line feed at its end, and is on disk before what it tells of is done: a line that was cut off was never
acted on.
"""

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from pogstore.errors import ObjectDamaged, UnsafePath, WorkTreeFailed
from pogstore.store.lock import WAIT, acquire
from pogstore.work.paths import check_path
from pogstore.work.rooted import Parts, spell
from pogstore.work.steps import Place, Step
from pogstore.work.unfinished import OPERATION, TEMPORARY

VERSION = 1
OURS = "refs/pog/"
_FLAGS = os.O_CLOEXEC | os.O_NOFOLLOW


class Begun(msgspec.Struct, frozen=True, tag="begun"):
    """The first line: what people call the operation, how many files it changes, when it began, in ns; its refs.

    Of these refs it may have left locks.
    """

    v: int
    verb: str
    files: int
    time: int
    refs: tuple[str, ...]


class Beside(msgspec.Struct, frozen=True, tag="beside"):
    """The second: what is about to be overwritten is in the store; all temporary files that may come to be."""

    places: tuple[Place, ...]


class Ready(msgspec.Struct, frozen=True, tag="ready"):
    """The third: every new version is written beside its place; the steps that are about to be done."""

    steps: tuple[Step, ...]


class Told(msgspec.Struct, frozen=True, tag="told"):
    """The fourth: the files are in place; the events that are about to be written, the first of them before all others.

    There may be several such lines; the last one counts.
    """

    events: tuple[bytes, ...]


Line = Begun | Beside | Ready | Told


class Found(NamedTuple):
    """What a journal holds."""

    begun: Begun
    places: tuple[Place, ...] = ()
    steps: tuple[Step, ...] = ()
    events: tuple[bytes, ...] = ()


class Journal:
    """An open journal whose lock is held."""

    def __init__(self, descriptor: int, path: Path, *, fsync: bool) -> None:
        self._descriptor, self._path, self._fsync = descriptor, path, fsync
        self._last: Line | None = None

    @property
    def only_begun(self) -> bool:
        """Whether this process has begun an operation, and not come near a file."""
        return isinstance(self._last, Begun)

    def found(self) -> Found | None:
        """Returns what a process that died has left; nothing if it had not begun. Raises `ObjectDamaged`."""
        return _parse(_read(self._descriptor), self._path)

    def note(self, line: Line) -> None:
        """Adds a line and waits until it is on disk; raises `WorkTreeFailed` if the system refuses.

        The first is not waited for: with the power go the locks too, or they are found as soon as anybody writes.
        """
        try:
            data = msgspec.json.encode(line) + b"\n"
            self._last = line
            while data:
                data = data[os.write(self._descriptor, data) :]
            if self._fsync and not isinstance(line, Begun):
                os.fsync(self._descriptor)
        except OSError as fault:
            raise WorkTreeFailed(str(self._path), fault.strerror or str(fault)) from fault

    def end(self) -> None:
        """Says that there is no operation any more."""
        with suppress(OSError):
            os.ftruncate(self._descriptor, 0)


@contextmanager
def opened(folder: Path, *, fsync: bool, wait: float = WAIT) -> Iterator[Journal]:
    """Gives the journal of a work tree, made where there is none; raises `LockHeld` after `wait` seconds.

    If the block fails before it has come near a file, the journal ends.
    """
    path = folder / OPERATION
    try:
        folder.mkdir(parents=True, exist_ok=True)
        is_new = not path.exists()
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | _FLAGS, 0o600)
    except OSError as fault:
        raise WorkTreeFailed(str(path), fault.strerror or str(fault)) from fault
    try:
        acquire(descriptor, path, wait)
        if is_new and fsync:
            _sync(folder)
        log = Journal(descriptor, path, fsync=fsync)
        try:
            yield log
        finally:
            if log.only_begun:
                log.end()
    finally:
        os.close(descriptor)


def interrupted(folder: Path) -> bool:
    """Whether a process died in the middle of an operation; costs one look at a file, and writes nothing."""
    try:
        descriptor = os.open(folder / OPERATION, os.O_RDONLY | _FLAGS)
    except OSError:
        return False
    try:
        return os.fstat(descriptor).st_size > 0 and _is_free(descriptor)
    finally:
        os.close(descriptor)


def read(folder: Path) -> Found | None:
    """Returns what a process that died has left, and changes nothing; raises `ObjectDamaged`."""
    path = folder / OPERATION
    if not interrupted(folder):
        return None
    try:
        descriptor = os.open(path, os.O_RDONLY | _FLAGS)
    except OSError:
        return None
    try:
        return _parse(_read(descriptor), path)
    finally:
        os.close(descriptor)


def _is_free(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _read(descriptor: int) -> bytes:
    with os.fdopen(os.dup(descriptor), "rb") as file:
        file.seek(0)
        return file.read()


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _parse(data: bytes, path: Path) -> Found | None:
    """Takes a journal apart; what follows the last line feed was cut off."""
    found: Found | None = None
    for line in data.split(b"\n")[:-1]:
        try:
            found = _with(found, msgspec.json.decode(line, type=Line))
        except (msgspec.MsgspecError, UnsafePath, ValueError) as fault:
            raise ObjectDamaged(str(path), f"{fault}") from fault
    return found


def _with(found: Found | None, line: Line) -> Found:
    """Adds a line to what was found; raises `ValueError` for what no journal of ours holds, lest it be acted on."""
    match line:
        case Begun() if found is None and line.v == VERSION:
            _check_refs(line.refs)
            return Found(line)
        case Beside() if found is not None:
            _check_places(line.places)
            return found._replace(places=line.places)
        case Ready() if found is not None:
            _check_places(place for step in line.steps if (place := getattr(step, "kept", None)))
            for step in line.steps:
                check_path(spell(step.parts))
            return found._replace(steps=line.steps)
        case Told() if found is not None:
            return found._replace(events=line.events)
    raise ValueError("another version of git pog may have written it")


def _check_places(places: Sequence[Place] | Iterator[Place]) -> None:
    for folder, name in places:
        _check_folder(folder)
        if not name.startswith(TEMPORARY.encode()) or b"/" in name:
            raise ValueError("it names a file that is not temporary")


def _check_refs(refs: Sequence[str]) -> None:
    if not all(ref.startswith(OURS) and ".." not in ref for ref in refs):
        raise ValueError("it names a ref that is not ours")


def _check_folder(folder: Parts) -> None:
    if folder:
        check_path(spell(folder))
