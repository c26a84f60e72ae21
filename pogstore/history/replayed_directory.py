"""A replay as files in a directory of its own: what the work tree would hold after it, and nothing outside of it.

The files go through the same writer as a rollback's, rooted in that directory: no link is followed, and no name is
written that any file system could read as another. Whoever goes on after a kill writes what is not there yet.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pogstore.draft import FileVersion
from pogstore.errors import BadInput, Conflict, ObjectDamaged, UnsafePath, WorkTreeFailed
from pogstore.history import replayed
from pogstore.history.replay import Place, Progress, Replay, tree_at
from pogstore.history.replay_world import SUBMODULE, SYMLINK
from pogstore.history.replayed import Begun
from pogstore.history.replayed_branch import fill
from pogstore.model import Oid, Sealed
from pogstore.store.content import path_of
from pogstore.store.newtree import Entry, GitTree
from pogstore.store.store import MAX_CONTENT, Store
from pogstore.work.acts import By
from pogstore.work.conversion import Conversion
from pogstore.work.paths import check_path
from pogstore.work.writer import TEMPORARY, Write, apply, read_version

AT_ONCE = 16 << 20
"""Bytes of files that are written in one go."""
MOST_AT_ONCE = 500


class ReplayedDirectory(NamedTuple):
    """A directory that was filled: where, how many files, what was left out and why, the events that tell of it."""

    path: Path
    files: int
    left: tuple[Place, ...]
    events: tuple[Sealed, ...]


class _Files(NamedTuple):
    """What is to be written: each path with its entry, and the contents that no object holds yet."""

    entries: Sequence[tuple[str, Entry]]
    left: tuple[Place, ...]
    new: dict[Oid, bytes]


def place_of(path: Path) -> Path:
    """Returns the one spelling of where a directory is to be; a link in its place is not followed."""
    spelled = Path(os.path.normpath(path))
    return Path(os.path.realpath(spelled.parent)) / spelled.name


def check_directory(store: Store, path: Path, *, is_new: bool = True) -> Path:
    """Returns where a replay may write; raises `BadInput` for a place inside the git dir, `Conflict` for a full one."""
    place = place_of(path)
    for own in (store.layout.git_dir, store.layout.common_dir):
        if Path(os.path.realpath(place)).is_relative_to(own):
            raise BadInput(f"'{path}'", "is inside the git directory")
    try:
        str(place).encode()
    except UnicodeEncodeError:
        raise BadInput(f"'{path}'", "its name is not UTF-8") from None
    try:
        is_there = place.is_symlink() or place.exists()
        if is_there and (place.is_symlink() or not place.is_dir()):
            raise Conflict(f"'{path}' is there and is no directory", [])
        if is_there and is_new and any(place.iterdir()):
            raise Conflict(
                f"'{path}' is not empty", [], "name another directory; '--resume' goes on with a replay that was killed"
            )
    except OSError as fault:
        raise WorkTreeFailed(str(path), fault.strerror or str(fault)) from fault
    return place


def replay_directory(
    store: Store, replay: Replay, path: Path, by: By, *, partial: bool = False, progress: Progress | None = None
) -> ReplayedDirectory:
    """Fills a new or empty directory with what a replay comes to, and writes the `replayed` events that tell of it.

    Raises `Conflict`, with nothing written, if an event would be left out and `partial` is off, or if the directory is
    not empty; `BadInput` for a place inside the git dir; `UnsafePath` for a path that nobody may write.
    """
    place = check_directory(store, path)
    replayed.check_writable(store, replay, partial=partial)
    files = _files(store, replay)
    _make(place)
    begun = replayed.begin(store, replay, directory=str(place))
    return _write(store, replay, files, begun, by, progress)


def resume_directory(
    store: Store, replay: Replay, begun: Begun, by: By, progress: Progress | None = None
) -> ReplayedDirectory:
    """Goes on with a directory that was begun: what is there already has to be what would be written."""
    place = check_directory(store, Path(begun.directory or ""), is_new=False)
    _make(place)
    _clear_unfinished(place)
    return _write(store, replay, _files(store, replay), begun, by, progress)


def _write(
    store: Store, replay: Replay, files: _Files, begun: Begun, by: By, progress: Progress | None
) -> ReplayedDirectory:
    place = Path(begun.directory or "")
    done = 0
    for writes in _in_turn(store, place, files):
        apply(place, [write for write in writes if write.before is None], fsync=store.fsync)
        done += len(writes)
        if progress is not None:
            progress(done, len(files.entries))
    events = store.transact(lambda batch: replayed.record(store, batch, replay, by, begun.key))
    replayed.end(store, begun)
    return ReplayedDirectory(place, len(files.entries), files.left, tuple(events))


def _make(place: Path) -> None:
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise WorkTreeFailed(str(place), fault.strerror or str(fault)) from fault


def _files(store: Store, replay: Replay) -> _Files:
    """Returns what a replay comes to; names of the base that nobody may write are left out, with the reason."""
    tree = tree_at(store, replay.base) if replay.base else GitTree(lambda _: b"")
    for puts in (replay.before, *(puts for step in replay.steps for puts in (step.arrived, step.puts))):
        fill(tree, replay.contents, puts)
    entries: list[tuple[str, Entry]] = []
    left: list[Place] = []
    for path, entry in tree.files():
        name = path.decode("utf-8", "surrogateescape")
        reason = "submodule" if entry.mode == SUBMODULE else _unsafe(name)
        if reason is None:
            entries.append((name, entry))
        else:
            left.append(Place(path_of(path), reason))
    return _Files(entries, tuple(left), dict(replay.contents.new()))


def _unsafe(name: str) -> str | None:
    try:
        check_path(name)
    except UnsafePath as fault:
        return fault.reason
    return None


def _in_turn(store: Store, place: Path, files: _Files) -> Iterator[list[Write]]:
    """Yields the writes, as many at once as memory may well hold; what is there already has both sides alike."""
    conversion = Conversion(store)
    conversion.look_up(path for path, _ in files.entries)
    writes: list[Write] = []
    size = 0
    for path, entry in files.entries:
        version = _version(store, conversion, files, path, entry)
        there = _there(place, path, version)
        writes.append(Write(path, there, version))
        size += len(version.data)
        if size > AT_ONCE or len(writes) == MOST_AT_ONCE:
            yield writes
            writes, size = [], 0
    if writes:
        yield writes


def _there(place: Path, path: str, wanted: FileVersion) -> FileVersion | None:
    """Returns what a path holds already, which may only be what is wanted there."""
    try:
        there = read_version(place, path, max_size=len(wanted.data))
    except Conflict:
        there = FileVersion(mode="", data=b"")
    if there not in (None, wanted):
        raise Conflict(f"'{path}' is there and is not what would be written", [path])
    return there


def _version(store: Store, conversion: Conversion, files: _Files, path: str, entry: Entry) -> FileVersion:
    """Returns a file in the form in which a work tree holds it."""
    data = files.new.get(entry.oid)
    if data is None:
        kind, data = store.objects.read(entry.oid, MAX_CONTENT)
        if kind != "blob":
            raise ObjectDamaged(entry.oid, f"a {kind} in the place of a file")
    if entry.mode == SYMLINK:
        return FileVersion(mode=SYMLINK, data=data)
    shown = conversion.smudge(path, data)
    if shown is None:
        raise Conflict(f"git's conversion of '{path}' (a filter, an encoding) failed", [path])
    mode = "100755" if int(entry.mode, 8) & 0o100 else "100644"
    return FileVersion(mode=mode, data=shown)


def _clear_unfinished(place: Path) -> None:
    """Takes away what the writer that was killed had begun: its files alone have such names."""
    for folder, _, names in os.walk(place):
        for name in names:
            if name.startswith(TEMPORARY):
                Path(folder, name).unlink(missing_ok=True)
