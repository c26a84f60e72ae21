"""Taking one recorded change out of a work tree: what its paths hold, what they would hold, or what stands in the way.

The rules are those of `docs/explanation/rollback.md`. Reads; writes nothing.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from pogstore.draft import FileVersion
from pogstore.errors import Conflict, NotAFile, NotFound, NoWorkTree, UnsafePath
from pogstore.history.blame import BEFORE_UNSEEN
from pogstore.history.linemerge import is_binary, merge
from pogstore.history.plans import Effect
from pogstore.model import BlobId, Change, Path, Redacted, Sealed, Side
from pogstore.store.content import blob_id, path_bytes
from pogstore.store.libgit2 import line_hunks
from pogstore.store.store import Store
from pogstore.work import rooted
from pogstore.work.conversion import Conversion
from pogstore.work.survey import survey
from pogstore.work.writer import Write, check_plan, read_version

REGULAR = ("100644", "100755")
SYMLINK, SUBMODULE = "120000", "160000"
APPLIED, IDENTICAL, SKIPPED = "applied", "identical", "skipped"
INEXACT = (BEFORE_UNSEEN, "encoding")
"""Why the recorded `before` of an event is not what the file held: nobody saw it, or its bytes were lost on the way."""


class Obstructed(Exception):
    """A change that cannot be taken out: the path, and the name of the conflict."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path, self.reason = path, reason


class _Found(NamedTuple):
    """A file as it lies in the work tree, and as git would store it."""

    raw: FileVersion | None
    clean: FileVersion | None


class Tree:
    """The work tree as a plan sees it: what each path holds, as git would store it, and what it would hold."""

    def __init__(self, store: Store) -> None:
        if store.layout.work_tree is None:
            raise NoWorkTree
        self._root, self._limit = store.layout.work_tree, store.max_blob
        self.conversion = Conversion(store)
        self._found: dict[str, _Found] = {}
        self._planned: dict[str, FileVersion | None] = {}
        self._origin: dict[str, str] = {}
        self._cause: dict[str, Sealed] = {}

    def now(self, path: str) -> FileVersion | None:
        """Returns what a path holds in the plan so far; raises `Obstructed` if that is not to be read."""
        return self._planned[path] if path in self._planned else self._look(path).clean

    def put(self, path: str, version: FileVersion | None, cause: Sealed) -> None:
        """Plans what a path shall hold."""
        self._look(path)
        self._planned[path] = version
        self._cause[path] = cause

    def move(self, path: str, to: str, version: FileVersion | None, cause: Sealed) -> None:
        """Plans that a file goes to another name, with what it shall hold there."""
        self.put(path, None, cause)
        self.put(to, version, cause)
        self._origin[to] = path if self._found[path].raw is not None else self._origin.get(path, path)

    def cause(self, path: str) -> Sealed:
        """Returns the event for which a path was last planned."""
        return self._cause[path]

    def effects(self) -> list[Effect]:
        """Returns the paths that change, each once, by name; a file that moves is one effect, under its new name."""
        changed = [path for path in sorted(self._planned) if self._planned[path] != self._found[path].clean]
        origins = {path: origin for path in changed if (origin := self._moved_from(path))}
        gone = set(origins.values())
        return [self._effect(path, origins.get(path)) for path in changed if path not in gone]

    def writes(self, effects: Iterable[Effect]) -> tuple[tuple[Write, ...], list[Obstructed]]:
        """Returns the writes for some effects, in the form that the work tree holds, and the paths in the way."""
        writes, blocked = [], []
        for path in sorted({name for effect in effects for name in (effect.path, effect.older) if name is not None}):
            try:
                writes.append(self._write(path))
            except Obstructed as fault:
                blocked.append(fault)
        return tuple(writes), blocked or self._surveyed(writes)

    def _effect(self, path: str, older: str | None) -> Effect:
        return Effect(path, older, self._found[older or path].clean, self._planned[path])

    def _moved_from(self, path: str) -> str | None:
        """Returns the name from which a plan moves a file to a free one."""
        origin = self._origin.get(path)
        if origin is None or self._planned[path] is None or self._found[path].raw is not None:
            return None
        return origin if self._planned.get(origin) is None else None

    def _write(self, path: str) -> Write:
        found, planned = self._found[path], self._planned[path]
        if found.raw is not None and self._smudged(path, found.clean) != found.raw:
            raise Obstructed(path, "filtered")
        after = self._smudged(path, planned)
        if self._cleaned(path, after) != planned:
            raise Obstructed(path, "filtered")
        return Write(path, found.raw, after)

    def _surveyed(self, writes: Sequence[Write]) -> list[Obstructed]:
        """Returns where the writer would find a conflict; raises `UnsafePath` as the writer would."""
        try:
            check_plan(writes)
            with rooted.Tree(self._root) as tree:
                survey(tree, writes)
        except Conflict as fault:
            blocked = [Obstructed(path, "in-the-way") for path in fault.paths if path in self._cause]
            if not blocked:
                raise
            return blocked
        return []

    def _look(self, path: str) -> _Found:
        if path not in self._found:
            raw = self._read(path)
            clean = self._cleaned(path, raw)
            if raw is not None and clean is None:
                raise Obstructed(path, "filtered")
            self._found[path] = _Found(raw, clean)
        return self._found[path]

    def _read(self, path: str) -> FileVersion | None:
        """Reads a file; a directory is none, nor is there any behind a symbolic link: so git sees it too."""
        try:
            return read_version(self._root, path, max_size=self._limit)
        except NotAFile as fault:
            if fault.found == "directory":
                return None
            raise Obstructed(path, "not-a-file") from fault
        except UnsafePath:
            return None
        except Conflict as fault:
            raise Obstructed(path, "too-large") from fault

    def _cleaned(self, path: str, version: FileVersion | None) -> FileVersion | None:
        if version is None or version.mode not in REGULAR:
            return version
        data = self.conversion.clean(path, version.data)
        return None if data is None else FileVersion(mode=version.mode, data=data)

    def _smudged(self, path: str, version: FileVersion | None) -> FileVersion | None:
        if version is None or version.mode not in REGULAR:
            return version
        data = self.conversion.smudge(path, version.data)
        return None if data is None else FileVersion(mode=version.mode, data=data)


def spelled(path: Path | None) -> str | None:
    """Returns a path as the work tree spells it, bytes that are not UTF-8 escaped; nothing for one outside."""
    name = path_bytes(path) if path is not None else None
    return None if name is None else name.decode("utf-8", "surrogateescape")


def take_out(store: Store, tree: Tree, cause: Sealed, change: Change, names: Sequence[str]) -> str:
    """Plans the inverse of a change in what its path holds now, and returns what came of it.

    `names` are those to which later events have moved the file, in order. Raises `Obstructed` for a conflict.
    """
    path = spelled(change.path)
    if path is None:
        return SKIPPED
    if _is_unseen(cause, change):
        raise Obstructed(path, "not-recorded")
    here = next((name for name in (*reversed(names), path) if tree.now(name) is not None), path)
    older = spelled(change.from_)
    if older is None or change.before is None or change.after is None:
        return _take_out(store, tree, cause, change, here)
    if here != path:
        raise Obstructed(here, "renamed-since")
    if tree.now(path) is None:
        return _take_out(store, tree, cause, change, older)
    if tree.now(older) is not None:
        raise Obstructed(older, "recreated-since")
    tree.move(path, older, _inverse(store, tree, change, path), cause)
    return APPLIED


def put_back(store: Store, tree: Tree, cause: Sealed, change: Change) -> None:
    """Plans what a path held before a change of ours; raises `Obstructed` if it is not as that change left it."""
    path, older = spelled(change.path), spelled(change.from_)
    if path is None:
        return
    if not _is(tree.now(path), change.after):
        raise Obstructed(path, "edited-since")
    before = _version(store, path, change.before)
    if older is None:
        tree.put(path, before, cause)
        return
    if tree.now(older) is not None:
        raise Obstructed(older, "recreated-since")
    tree.move(path, older, before, cause)


def _is_unseen(cause: Sealed, change: Change) -> bool:
    """Whether what was before a change is not known, so that it cannot be brought back."""
    reason = getattr(cause.event, "coverage_reason", None)
    if change.before is None and change.after is None:
        return True
    return reason == "encoding" or (reason == BEFORE_UNSEEN and change.before is None)


def _take_out(store: Store, tree: Tree, cause: Sealed, change: Change, path: str) -> str:
    now = tree.now(path)
    wanted = _inverse(store, tree, change, path)
    if wanted == now:
        return IDENTICAL
    tree.put(path, wanted, cause)
    return APPLIED


def _inverse(store: Store, tree: Tree, change: Change, path: str) -> FileVersion | None:
    """Returns what a path would hold without a change: three-way, from what it left to what was before."""
    now = tree.now(path)
    if _is(now, change.before):
        return now
    if _is(now, change.after):
        return _version(store, path, change.before)
    if change.after is None:
        raise Obstructed(path, "recreated-since")
    if change.before is None:
        raise Obstructed(path, "edited-since-create")
    if now is None:
        raise Obstructed(path, "deleted-since")
    _check_mergeable(path, (change.before.mode, change.after.mode, now.mode))
    before, after = _regular(store, path, change.before), _regular(store, path, change.after)
    data = _merged(tree, path, (after.data, now.data, before.data))
    return FileVersion(mode=before.mode if now.mode == after.mode else now.mode, data=data)


def _check_mergeable(path: str, modes: Sequence[str]) -> None:
    if SUBMODULE in modes:
        raise Obstructed(path, "submodule")
    if set(modes) == {SYMLINK}:
        raise Obstructed(path, "link-changed")
    if SYMLINK in modes:
        raise Obstructed(path, "type-changed")


def _merged(tree: Tree, path: str, texts: tuple[bytes, bytes, bytes]) -> bytes:
    """Merges three texts, base first; contents that are no text only where the answer is clear."""
    if len(set(texts)) == 3 and not tree.conversion.merges_lines(path):
        raise Obstructed(path, "binary")
    data = merge(*texts, partial(line_hunks, slide=False))
    if data is None:
        raise Obstructed(path, "binary" if any(map(is_binary, texts)) else "overlap")
    return data


def _is(version: FileVersion | None, side: Side | None) -> bool:
    """Whether a file is what a side names, which takes no content."""
    if version is None or side is None:
        return version is None and side is None
    return version.mode == side.mode and blob_id(version.data) == side.blob


def _version(store: Store, path: str, side: Side | None) -> FileVersion | None:
    return None if side is None else _regular(store, path, side)


def _regular(store: Store, path: str, side: Side) -> FileVersion:
    if side.mode == SUBMODULE or side.blob is None:
        raise Obstructed(path, "submodule")
    try:
        return FileVersion(mode=side.mode, data=store.read_content(BlobId(side.blob)))
    except NotFound:
        raise Obstructed(path, _why_absent(store, side)) from None


def _why_absent(store: Store, side: Side) -> str:
    if side.omitted:
        return "content-omitted"
    erased: Iterator[Sealed] = store.newest_of(("redacted",))
    is_erased = any(isinstance(sealed.event, Redacted) and side.blob in sealed.event.blobs for sealed in erased)
    return "content-erased" if is_erased else "content-absent"
