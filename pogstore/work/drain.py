"""Brings the spool into the store, so that nothing is lost and nothing is stored twice, wherever it is killed.

What the records mean is told by a function that the caller gives; it must write the same events, under the same source
keys, however often it is given the same records. The order is fixed: objects and refs first, then the records whose
call is still open are kept apart, then the files go. Whoever comes after a killed drain finds a record in the spool,
among the open ones, in the store, or in several of them, and never in none. Knows no agents.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from pogstore.digest import hexdigest
from pogstore.errors import BadInput, LockHeld
from pogstore.store.lock import locked
from pogstore.store.store import Store
from pogstore.work import spool, spooled
from pogstore.work.spooled import Damaged, Good
from pogstore.work.spooled_record import Record, decode_record

OPEN = "open"
"""Beside the waiting files: records of calls whose end has not come, each in a file of its own."""


class Drained(NamedTuple):
    """What one drain did: the records it stored, the events they became, and what still waits.

    `damaged` counts what was set aside because it is no record, and records that cannot be stored; those are kept.
    """

    records: int
    events: int
    damaged: int
    pending: int


class Written(NamedTuple):
    """What became of some records: how many events, and the ids of the records that must be given again.

    `stuck` says how many of these could not be written.
    """

    events: int
    open: frozenset[str]
    stuck: int = 0


class _Raw(NamedTuple):
    """A record, its bytes, and the file it lies in."""

    record: Record
    data: bytes
    path: Path


def spool_of(store: Store) -> Path:
    """Returns the spool of a repository; it is there only where recording is wanted."""
    return store.layout.own / "spool"


def drain(store: Store, write: Callable[[Sequence[Record]], Written], *, wait: float = spool.WAIT) -> Drained:
    """Stores what waits in the spool, oldest record first, and takes it out of there.

    Says `pending` and changes nothing where recording is off, where others write for longer than `wait` seconds, and
    where the repository cannot be written to. What `write` raises is raised, and every record stays.
    """
    directory = spool_of(store)
    if not directory.is_dir():
        return Drained(0, 0, 0, 0)
    if not store.enabled or not os.access(directory, os.W_OK) or not os.access(store.layout.own, os.W_OK):
        return Drained(0, 0, 0, spooled.pending(directory))
    try:
        with locked(directory, wait):
            with locked(store.layout.own, wait):
                pass  # whoever writes now may take longer than our caller has time
            files = [*_open_files(directory), *spooled.take(directory, wait)]
            done = _drain(directory, files, write)
    except LockHeld:
        return Drained(0, 0, 0, spooled.pending(directory))
    return done._replace(pending=spooled.pending(directory))


def _drain(directory: Path, files: Sequence[Path], write: Callable[[Sequence[Record]], Written]) -> Drained:
    raws, damaged = _read(directory, files)
    written = write([raw.record for raw in raws]) if raws else Written(0, frozenset())
    still_open = {_place(directory, raw): raw for raw in raws if raw.record.id in written.open}
    _keep(directory, still_open.values())
    for path in files:
        if path not in still_open:
            path.unlink(missing_ok=True)
    return Drained(len(raws) - len(still_open), written.events, damaged + written.stuck, 0)


def _read(directory: Path, files: Iterable[Path]) -> tuple[list[_Raw], int]:
    """Returns the records of some files by time, each once, and how many parts were set aside."""
    found: dict[str, _Raw] = {}
    damaged = 0
    for path in files:
        for part in spooled.read(path):
            raw = _decoded(path, part)
            if raw is None:
                spooled.set_aside(directory, path, part)
                damaged += 1
            else:
                found.setdefault(raw.record.id, raw)
    return sorted(found.values(), key=lambda raw: raw.record.time), damaged


def _decoded(path: Path, part: Good | Damaged) -> _Raw | None:
    if isinstance(part, Damaged):
        return None
    try:
        return _Raw(decode_record(part.record), part.record, path)
    except BadInput:
        return None


def _open_files(directory: Path) -> list[Path]:
    folder = directory / OPEN
    return sorted(path for path in folder.iterdir() if not path.name.startswith(".")) if folder.is_dir() else []


def _place(directory: Path, raw: _Raw) -> Path:
    return directory / OPEN / hexdigest(raw.data)


def _keep(directory: Path, raws: Iterable[_Raw]) -> None:
    """Brings the records of open calls to disk, apart from the files that go."""
    for raw in raws:
        place = _place(directory, raw)
        if place != raw.path and not place.exists():
            place.parent.mkdir(mode=0o700, exist_ok=True)
            spooled.write_synced(place.parent, place, spool.frame(raw.data))
