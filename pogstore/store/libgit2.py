"""The only door to pygit2: objects, refs and line diffs of one repository.

Translates every fault of libgit2 into ours, compares ids itself and never matches on messages. A loose object is read
by our own bounded reader, since libgit2 can spin for ever on a damaged one. Touches nothing of pygit2 before it is
needed: to load it takes longer than most questions.
"""

import random
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, MutableSequence
from contextlib import suppress
from functools import cache, cached_property
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from typing import Any, NamedTuple

import pygit2

from pogstore.errors import LockHeld, NotARepository, NotFound, ObjectDamaged, StaleRef
from pogstore.model import Oid
from pogstore.store.contract import NewObject
from pogstore.store.ends import shared_ends, sole_change
from pogstore.store.footprint import Footprint, hold
from pogstore.store.layout import Layout
from pogstore.store.loose import find_loose, oid_of, read_loose, write_loose
from pogstore.store.pack import Base, clear_unfinished, write_pack
from pogstore.store.refs import list_refs, read_ref

PACK_FROM = 64
"""So many objects in one write become a pack; fewer stay loose."""
PACK_FEW_FROM = 3
"""The same where a pack is wanted: it costs as much to sync as two loose objects do."""
RETRY_SECONDS = 5.0
MARGIN = 100
"""Lines around a change that a diff looks at: hunks slide no further than that to where a block begins."""
WORTH_TRIMMING = 4096
"""Bytes at both ends from which it is worth to leave them out of a diff."""

_KINDS = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}


class LineHunk(NamedTuple):
    """`old_lines` lines from `old_start` became `new_lines` lines from `new_start`; both count from 0."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int


def open_repository(layout: Layout) -> "pygit2.Repository":
    """Opens a repository by its git dir."""
    pygit2.settings.owner_validation = False  # git itself has judged the owner, in `layout.discover`
    try:
        return pygit2.Repository(str(layout.git_dir))
    except pygit2.GitError as fault:
        raise NotARepository(str(layout.git_dir), str(fault)) from fault


class Repository:
    """One repository, which libgit2 opens when it is first needed."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout

    @cached_property
    def opened(self) -> "pygit2.Repository":
        """The open repository; raises `NotARepository`."""
        return open_repository(self.layout)


class Objects:
    """The object database of one repository."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._directory = repository.layout.objects
        self._kept: set[tuple[Oid, bool]] = set()
        self._footprint = Footprint(repository.layout.own)

    def read(self, oid: Oid, limit: int) -> tuple[str, bytes]:
        """Returns kind and content of an object; see `contract.Objects`."""
        if find_loose(self._directory, oid) is not None:
            with suppress(NotFound):  # packed meanwhile
                return read_loose(self._directory, oid, limit=limit)
        try:
            _, size = self._odb.read_header(oid)  # the size before the bytes: one delta can stand for gigabytes
            if size > limit:
                raise ObjectDamaged(oid, f"{size} bytes are over the limit of {limit}")
            kind, data = self._odb.read(oid)
        except KeyError:
            raise NotFound("object", oid) from None
        except (pygit2.GitError, ValueError) as fault:
            raise ObjectDamaged(oid, str(fault)) from fault
        return _KINDS[int(kind)], data

    @cached_property
    def _odb(self) -> "pygit2.Odb":
        return self._repository.opened.odb

    def exists(self, oid: Oid) -> bool:
        """Says whether the object is there."""
        return oid in self._odb

    def name(self, kind: str, data: bytes) -> Oid:
        """Returns the oid that an object will have."""
        return oid_of(kind, data)

    def kind(self, oid: Oid) -> str:
        """Returns the kind of an object, without its bytes; raises `NotFound` or `ObjectDamaged`."""
        try:
            kind, _ = self._odb.read_header(oid)
        except KeyError:
            raise NotFound("object", oid) from None
        except (pygit2.GitError, ValueError) as fault:
            raise ObjectDamaged(oid, str(fault)) from fault
        return _KINDS[int(kind)]

    def write(self, objects: Iterable[NewObject], *, fsync: bool, packed: bool = False) -> Path | None:
        """Writes what is not there yet: loose files for few objects, one pack for many, and notes what it writes.

        A pack is held: git's housekeeping leaves it alone until `footprint.release`.
        """
        wanted = list(objects)
        pygit2.settings.enable_fsync_gitdir(fsync)  # for the refs that follow
        if len(wanted) >= (PACK_FEW_FROM if packed else PACK_FROM):
            clear_unfinished(self._directory / "pack")
            return write_pack(self._directory / "pack", _with_bases(wanted), fsync=fsync, announce=self._note_pack)
        # The empty tree is wanted loose by every other process again; what is loose already may be the user's.
        self._footprint.note_loose(
            item.oid for item in wanted if item.data and find_loose(self._directory, item.oid) is None
        )
        for item in wanted:
            self._write_loose(item, fsync=fsync)
        return None

    def _note_pack(self, name: str) -> None:
        self._footprint.note_pack(name)
        hold(self._directory / "pack" / f"{name}.pack")

    def _write_loose(self, item: NewObject, *, fsync: bool) -> None:
        """Writes one loose object; what every event needs anew (the empty tree) is looked at once."""
        if item.data:
            write_loose(self._directory, item.kind, item.data, fsync=fsync)
        elif (item.oid, fsync) not in self._kept:
            write_loose(self._directory, item.kind, item.data, fsync=fsync)
            self._kept.add((item.oid, fsync))


def _with_bases(objects: Iterable[NewObject]) -> Iterator[tuple[Oid, str, bytes, Base | None]]:
    """Yields objects as a pack takes them, each with what it is like if that is one of them."""
    known: dict[Oid, bytes] = {}
    for item in objects:
        base = Base(item.like, known[item.like]) if item.like in known else None
        known[item.oid] = item.data
        yield item.oid, item.kind, item.data, base


class Refs:
    """The refs of one repository."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._common_dir = repository.layout.common_dir

    def read(self, name: str) -> Oid | None:
        """Returns what a ref points at, or nothing."""
        return read_ref(self._common_dir, name)

    def list(self, prefix: str, damaged: MutableSequence[str] | None = None) -> Mapping[str, Oid]:
        """Returns every ref below a prefix, sorted by name, and adds to `damaged` those that cannot be read."""
        return list_refs(self._common_dir, prefix, damaged)

    def compare_and_swap(self, name: str, old: Oid | None, new: Oid | None) -> None:
        """Moves a ref under git's own lock; retries while somebody else holds that lock (`git pack-refs`, for one).

        An attempt may fail once the ref has moved: libgit2 then syncs the ref's directory, which `git pack-refs` has
        removed if it packed the ref meanwhile. To take that for somebody else's move would be to write an event twice,
        and to report it as not done would be to have the user do so.
        """
        deadline = time.monotonic() + RETRY_SECONDS
        pause = 0.002
        failed = False
        while True:
            try:
                return self._swap(name, old, new)
            except StaleRef as fault:
                if failed and fault.found == new:
                    return None
                raise
            except (pygit2.GitError, OSError, KeyError, ValueError) as fault:
                if time.monotonic() > deadline:
                    if self.read(name) == new:
                        return None
                    raise LockHeld(name, RETRY_SECONDS) from fault
                failed = True
            time.sleep(pause * (0.5 + random.random()))  # noqa: S311 - jitter, no secret
            pause = min(pause * 2, 0.1)

    def _swap(self, name: str, old: Oid | None, new: Oid | None) -> None:
        with self._repository.opened.transaction() as transaction:
            transaction.lock_ref(name)
            found = self.read(name)
            if found != old:
                raise StaleRef(name, old, found)
            if new is None:
                transaction.remove(name)
            else:
                transaction.set_target(name, pygit2.Oid(hex=new))


def is_loaded() -> bool:
    """Says whether pygit2 has been loaded, so that to use it costs nothing but its use."""
    return "pygit2.enums" in sys.modules


@cache
def _in_c() -> Any:
    """Returns the half of pygit2 that is written in C, without loading the other one, which takes three times as long.

    What differs between two texts needs no more. Where that half cannot be had by itself it is all of pygit2.
    """
    if is_loaded():
        return pygit2
    package = PathFinder.find_spec("pygit2")
    found = PathFinder.find_spec("_pygit2", package.submodule_search_locations) if package is not None else None
    if found is None or found.loader is None:
        return pygit2
    try:
        module = module_from_spec(found)
        found.loader.exec_module(module)
        needed = (module.Patch.create_from, module.LIBGIT2_VERSION, module.GIT_DIFF_INDENT_HEURISTIC)
    except (ImportError, AttributeError):
        return pygit2
    return module if all(needed) else pygit2


def differ() -> str:
    """Names what finds differences, for whoever keeps them: another version of it may find others."""
    return f"libgit2 {_in_c().LIBGIT2_VERSION}"


def line_hunks(old: bytes, new: bytes, *, slide: bool = True) -> list[LineHunk]:
    """Returns the differences of two byte strings by lines, as git's own diff finds them.

    Lines end with a newline and nothing else; a last line without one counts. Without `slide`, hunks lie where git's
    merge sees them, which knows nothing of indentation.
    """
    if old == new:
        return []
    sole = sole_change(old, new)
    if sole is not None:
        return [LineHunk(*sole)]
    found = _hunks_between_ends(old, new) if slide else None
    return _hunks(old, new, slide) if found is None else found


def _hunks_between_ends(old: bytes, new: bytes) -> list[LineHunk] | None:
    """Returns the hunks without looking at what both sides share at their ends; nothing where that could miss one.

    A hunk that lies at the edge of what was looked at might have slid further. git's own blame leaves out a shared end
    as well.
    """
    ends = shared_ends(old, new, MARGIN)
    if ends.head + ends.tail < WORTH_TRIMMING:
        return None
    between = old[ends.head : len(old) - ends.tail], new[ends.head : len(new) - ends.tail]
    found = _hunks(*between, slide=True)
    last = found[-1].new_start + found[-1].new_lines
    if (ends.head and not found[0].new_start) or (ends.tail and last == between[1].count(b"\n")):
        return None
    above = old.count(b"\n", 0, ends.head)
    return [hunk._replace(old_start=hunk.old_start + above, new_start=hunk.new_start + above) for hunk in found]


def _hunks(old: bytes, new: bytes, slide: bool) -> list[LineHunk]:
    patch = _in_c().Patch.create_from(old, new, context_lines=0, flag=_diff_flags(slide))
    return [
        LineHunk(
            hunk.old_start - (1 if hunk.old_lines else 0),
            hunk.old_lines,
            hunk.new_start - (1 if hunk.new_lines else 0),
            hunk.new_lines,
        )
        for hunk in patch.hunks
    ]


@cache
def _diff_flags(slide: bool) -> int:
    """As git's own diff and blame: every content by lines, hunks slid to where indentation says a block begins."""
    in_c = _in_c()
    flags: int = in_c.GIT_DIFF_FORCE_TEXT
    return flags | in_c.GIT_DIFF_INDENT_HEURISTIC if slide else flags


def patch_body(old: bytes, new: bytes) -> bytes:
    """Returns the hunks of a unified diff, three lines of context; nothing if a side is binary or both are equal."""
    patch = pygit2.Patch.create_from(old, new)
    data: bytes = patch.data
    at = data.find(b"\n@@ ")
    return b"" if at < 0 else data[at + 1 :]


class Config:
    """Git's configuration as this repository sees it."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    @cached_property
    def _config(self) -> "pygit2.Config":
        return self._repository.opened.config

    def text(self, name: str) -> str | None:
        """Returns one setting as it was written, or nothing."""
        try:
            return str(self._config[name])
        except KeyError:
            return None

    def flag(self, name: str, *, default: bool) -> bool:
        """Returns a setting that is true or false; what is neither counts as not set."""
        try:
            return bool(self._config.get_bool(name)) if name in self._config else default
        except (ValueError, pygit2.GitError):
            return default

    def number(self, name: str, default: int) -> int:
        """Returns a whole number, with git's suffixes k, m and g; what is none counts as not set."""
        try:
            return int(self._config.get_int(name)) if name in self._config else default
        except (ValueError, pygit2.GitError):
            return default

    def all(self, name: str) -> list[str]:
        """Returns every value of a setting that may stand several times.

        One without a value is empty, and one that is not UTF-8 a lone surrogate, so that none is lost.
        """
        found: list[str] = []
        values = iter(self._config.get_multivar(name))
        while True:
            try:
                value = next(values)
            except StopIteration:
                return found
            except UnicodeDecodeError:
                value = "\udcff"
            found.append(value or "")
