"""The work tree as a plan sees it: what each path holds, what it would hold, and what the writer would say of that.

Reads; writes nothing. Knows no events beyond the one that is the cause of a change.
"""

from collections.abc import Iterable, Sequence
from copy import copy
from typing import NamedTuple

from pogstore.draft import FileVersion
from pogstore.errors import Conflict, NotAFile, NoWorkTree, UnsafePath
from pogstore.history.plans import Effect
from pogstore.model import Sealed
from pogstore.store.store import Store
from pogstore.work import rooted
from pogstore.work.conversion import Conversion
from pogstore.work.paths import check_path
from pogstore.work.survey import survey
from pogstore.work.writer import Write, check_plan, read_version

REGULAR = ("100644", "100755")


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

    def anew(self) -> "Tree":
        """Returns the tree with nothing planned; what was read of it is not read again."""
        tree = copy(self)
        tree._planned, tree._origin, tree._cause = {}, {}, {}
        return tree

    def now(self, path: str) -> FileVersion | None:
        """Returns what a path holds in the plan so far; raises `Obstructed` if that is not to be read."""
        return self._planned[path] if path in self._planned else self._look(path).clean

    def found(self, path: str) -> FileVersion | None:
        """Returns what lies there, under the name that the file has now, whatever is planned."""
        return self._look(self._origin.get(path, path)).clean

    def put(self, path: str, version: FileVersion | None, cause: Sealed) -> None:
        """Plans what a path shall hold."""
        self._look(path)
        self._planned[path] = version
        self._cause[path] = cause

    def move(self, path: str, to: str, version: FileVersion | None, cause: Sealed) -> None:
        """Plans that a file goes to another name, with what it shall hold there."""
        self.put(path, None, cause)
        self.put(to, version, cause)
        origin = path if self._found[path].raw is not None else self._origin.get(path)
        if origin is not None:
            self._origin[to] = origin
        else:  # what moves is not there: the plan itself brings it back
            self._origin.pop(to, None)

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

    def unchanged(self) -> tuple[Write, ...]:
        """Returns what the plan relies on and leaves as it is, for the writer to compare once more."""
        return tuple(
            Write(path, found.raw, found.raw)
            for path, found in sorted(self._found.items())
            if self._planned.get(path, found.clean) == found.clean and _may_be_compared(path)
        )

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


def _may_be_compared(path: str) -> bool:
    try:
        check_path(path)
    except UnsafePath:
        return False
    return True
