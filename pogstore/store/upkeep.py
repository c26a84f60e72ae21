"""Few packs of ours and few loose objects, so that the user's own gc stays idle and every reader fast (PC-51, SC-59).

Only what `footprint.py` names is touched, under the store's lock, after the refs have moved. What goes is first packed
again by git, with every object hashed anew, and on disk under its final name; so whoever is killed at any step leaves
every object readable, and what is left over goes with the next run. Nobody's command fails over it: what cannot be done
now is tried again later.
"""

import os
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple, Protocol

from pogstore.errors import GitFailed, NotFound, ObjectDamaged, PogError
from pogstore.model import Oid
from pogstore.store import content
from pogstore.store.footprint import Footprint, release
from pogstore.store.gitcli import Git
from pogstore.store.layout import Layout
from pogstore.store.loose import create_file, find_loose, read_loose, sync
from pogstore.store.midx import packs_in
from pogstore.store.pack import TEMPORARY, PackIndex, clear_unfinished

MOST_PACKS = 10
"""So many packs of ours may lie beside each other."""
FEWEST = 2
MOST_LOOSE = 300
"""So many loose objects of ours may lie about."""
LET_GO = 16 << 20
"""Bytes from which a pack is no longer merged with others; nobody has to wait for more than twice as many."""
LARGEST = 1 << 31
RETRY_SECONDS = 600
"""How long nothing is tried again after a failure."""
TIMEOUT = 15
"""Seconds for one call of git, so that whoever waits for the lock gets it."""

_FAILED = "upkeep-failed"
_GOES_WITH = (".idx", ".rev", ".bitmap", ".mtimes", ".pack")
"""A pack's files in the order in which they go: without its index, nobody opens it any more."""


class Objects(Protocol):
    """What upkeep needs of the object database."""

    def read(self, oid: Oid, limit: int) -> tuple[str, bytes]:
        """Returns kind and content of an object."""

    def kind(self, oid: Oid) -> str:
        """Returns the kind of an object."""


class Named(NamedTuple):
    """An object and, for git's deltas, the name of the file that it is in some tree."""

    oid: Oid
    name: str


def is_due(place: Layout) -> bool:
    """Says whether there is anything to do: two sizes of files, for every write asks."""
    loose, packs = Footprint(place.own).counts()
    return loose > MOST_LOOSE or packs > MOST_PACKS


def keep_up(place: Layout, git: Git, objects: Objects) -> None:
    """Packs our loose objects and merges our packs where there are too many; raises nothing that git or the disk says.

    The store's lock is held.
    """
    failed = place.own / _FAILED
    if not is_due(place) or _is_fresh(failed):
        return
    try:
        upkeep = Upkeep(place, git, objects)
        upkeep.clear()
        upkeep.pack_loose()
        upkeep.merge_packs()
        failed.unlink(missing_ok=True)
    except (PogError, OSError, ValueError, LookupError):
        with suppress(OSError):
            failed.touch()


def _is_fresh(path: Path) -> bool:
    try:
        return abs(time.time() - path.stat().st_mtime) < RETRY_SECONDS
    except OSError:
        return False


class Upkeep:
    """The work itself, each part of it only where it is due."""

    def __init__(self, place: Layout, git: Git, objects: Objects) -> None:
        self._loose_dir, self._pack_dir = place.objects, place.objects / "pack"
        self._footprint = Footprint(place.own)
        self._git = git
        self._objects = objects

    def clear(self) -> None:
        """Takes away what somebody who was killed had begun; nobody else is at it, since we hold the lock."""
        clear_unfinished(self._pack_dir)
        for name in self._footprint.packs():
            release(self._pack_dir / f"{name}.pack")

    def pack_loose(self) -> None:
        """Brings our loose objects into one pack; a damaged one stays as it is, for `verify` to name."""
        if self._footprint.counts()[0] <= MOST_LOOSE:
            return
        found = [oid for oid in self._footprint.loose() if find_loose(self._loose_dir, oid) is not None]
        if len(found) <= MOST_LOOSE // 2:  # git's own housekeeping has been here
            self._footprint.keep_loose(found)
            return
        kinds = dict(self._healthy(found))
        self._write(self._named(kinds), kinds)
        for oid in kinds:
            (self._loose_dir / oid[:2] / oid[2:]).unlink(missing_ok=True)
        self._footprint.keep_loose(())

    def merge_packs(self) -> None:
        """Merges the smallest of our packs into one, so many that few are left and large ones are rarely rewritten."""
        if self._footprint.counts()[1] <= MOST_PACKS:
            return
        for name in self._footprint.packs():
            self._index_again(name)
        present = {name: size for name in self._footprint.packs() if (size := self._mergeable(name))}
        by_size = sorted(present, key=present.__getitem__)
        if len(present) > MOST_PACKS:
            merged = set(by_size[: how_many([present[name] for name in by_size])])
            self._merge([name for name in present if name in merged])
        standing = [name for name in self._footprint.packs() if self._mergeable(name)]
        self._footprint.keep_packs(standing)

    def _index_again(self, name: str) -> None:
        """Makes the index of a pack that has lost it to whoever was killed, or to somebody else's housekeeping."""
        pack = self._pack_dir / f"{name}.pack"
        if pack.is_file() and not pack.with_suffix(".idx").exists():
            index = self._pack_dir / TEMPORARY.format("idx", name)
            with suppress(GitFailed):
                self._index(pack, index)
                index.replace(pack.with_suffix(".idx"))

    def _merge(self, names: Sequence[str]) -> None:
        kinds = {oid: self._objects.kind(oid) for name in names for oid in self._oids(name)}
        made = self._write(self._named(kinds), kinds)
        for name in names:
            for suffix in _GOES_WITH if name != made else ():
                (self._pack_dir / name).with_suffix(suffix).unlink(missing_ok=True)

    def _mergeable(self, name: str) -> int:
        """Returns the size of a pack of ours; 0 for one that is gone, large, or which somebody else relies on."""
        path = self._pack_dir / f"{name}.pack"
        with suppress(OSError, ValueError):
            size = path.stat().st_size
            needed = path.with_suffix(".idx").is_file() and not path.with_suffix(".keep").exists()
            if size < LET_GO and needed and f"{name}.idx" not in self._relied_on:
                return size
        return 0

    @cached_property
    def _relied_on(self) -> frozenset[str]:
        return packs_in(self._pack_dir)

    def _oids(self, name: str) -> list[Oid]:
        """Returns what a pack holds, in its order."""
        with PackIndex.open(self._pack_dir / f"{name}.idx") as index:
            return sorted(index.oids(), key=index.offset)

    def _healthy(self, oids: Iterable[Oid]) -> Iterator[tuple[Oid, str]]:
        for oid in oids:
            with suppress(NotFound, ObjectDamaged):
                yield oid, read_loose(self._loose_dir, oid, limit=LARGEST)[0]

    def _named(self, kinds: dict[Oid, str]) -> list[Named]:
        """Returns objects with the names that the trees among them give them, in the same order."""
        names: dict[Oid, str] = {}
        for oid, kind in kinds.items():
            if kind == "tree":
                with suppress(ObjectDamaged):
                    _, data = self._objects.read(oid, LARGEST)
                    names.update((entry.oid, entry.name) for entry in content.entries_of(oid, data))
        return [Named(oid, names.get(oid, "")) for oid in kinds]

    def _write(self, found: Iterable[Named], wanted: Collection[Oid]) -> str:
        """Writes one pack of some objects and returns its name, once it is on disk and known to hold all of them."""
        suffix = os.urandom(8).hex()
        pack, index = (self._pack_dir / TEMPORARY.format(part, suffix) for part in ("pack", "idx"))
        try:
            self._pack(pack, found)
            name = f"pack-{self._index(pack, index)}"
            self._check(index, wanted)
            sync(pack)
            sync(index)
            self._footprint.note_pack(name)
            final = self._pack_dir / f"{name}.pack"
            pack.replace(final)
            index.replace(final.with_suffix(".idx"))
            sync(self._pack_dir)
        finally:
            pack.unlink(missing_ok=True)
            index.unlink(missing_ok=True)
        return name

    def _pack(self, pack: Path, found: Iterable[Named]) -> None:
        listed = "".join(f"{oid} {name}\n" for oid, name in found)
        arguments = ("pack-objects", "--stdout", "--delta-base-offset", "--quiet")
        self._pack_dir.mkdir(exist_ok=True)
        with create_file(pack) as file:
            self._git.run(*arguments, stdin=listed.encode(), output=file, timeout=TIMEOUT)

    def _index(self, pack: Path, index: Path) -> str:
        """Lets git hash every object and write the index; returns the checksum of the pack."""
        arguments = ("-c", "pack.writeReverseIndex=false", "index-pack", "-o", str(index), str(pack))
        # No object store to compare with: every object is in one already, and would be read from there once more.
        nowhere = {"GIT_OBJECT_DIRECTORY": os.devnull}
        return self._git.run(*arguments, timeout=TIMEOUT, env=nowhere).stdout.decode().split()[-1]

    @staticmethod
    def _check(index: Path, wanted: Collection[Oid]) -> None:
        with PackIndex.open(index) as made:
            for oid in wanted:
                if oid not in made:
                    raise NotFound("object", oid)


def how_many(sizes: Sequence[int]) -> int:
    """Returns how many of some packs, the smallest first, must become one so that at most half of `MOST_PACKS` stay.

    The others stand in a row, each twice as large as the one before, or four times, eight times where they are too many
    for that; so an object is written again only when what it lies with doubles: O(n log n) for n objects. Fewer, but
    two at least, where they would be too large to wait for.
    """
    factor = 2
    while len(sizes) - (count := _below_the_row(sizes, factor)) >= MOST_PACKS // 2:
        factor *= 2
    totals = list(accumulate(sizes))
    while count > FEWEST and totals[count - 1] > 2 * LET_GO:
        count -= 1
    return count


def _below_the_row(sizes: Sequence[int], factor: int) -> int:
    """Returns how many packs lie below the row, the larger ones included that what they become would crowd."""
    first = len(sizes) - 1
    while first and sizes[first] >= factor * sizes[first - 1]:
        first -= 1
    count = first + 1 if first else 0
    totals = list(accumulate(sizes))
    while 0 < count < len(sizes) and sizes[count] < factor * totals[count - 1]:
        count += 1
    return count
