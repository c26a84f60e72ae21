"""The objects of a store, read from the files themselves: neither git nor libgit2 stands between.

Every read is bounded in time and memory whatever a file holds, and checked against the object's name. A pack is checked
as a whole before the first object is read from it.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from pogstore.errors import NotFound, ObjectDamaged
from pogstore.history.verify_report import Fault
from pogstore.model import Oid, TaskId
from pogstore.store.loose import read_loose
from pogstore.store.pack import check_pack, object_dirs, packs
from pogstore.store.packed import Pack

_SHOWN = 8


class Objects:
    """The object database of one repository, borrowed objects included; to be closed.

    `spoiled` names the damaged copies of objects of which another copy is whole.
    """

    def __init__(self, objects_dir: Path) -> None:
        self._objects_dir = objects_dir
        self._directories = object_dirs(objects_dir)
        self._open: dict[Path, Pack] = {}
        self._order: list[Pack] = []
        self._loose: dict[str, dict[str, Path]] = {}
        self._unchecked: set[Pack] = set()
        self._checked = 0
        self._reasons: dict[Path, str] = {}
        self._unread: dict[Path, dict[TaskId, int]] = {}
        self.spoiled: dict[Oid, str] = {}
        self._find_packs()

    @property
    def checked_packs(self) -> int:
        """How many packs hold something of ours, and were checked."""
        return self._checked

    def close(self) -> None:
        """Unmaps all packs."""
        for pack in self._open.values():
            pack.close()
        self._open.clear()
        self._order.clear()

    def read(self, oid: Oid, limit: int, task: TaskId) -> tuple[str, bytes]:
        """Returns kind and bytes of an object; the task is for the answer to what a damaged pack has cost.

        Raises `NotFound`, and `ObjectDamaged` where no copy is whole.
        """
        bad: list[Path] = []
        found = self._read_packed(oid, limit, bad)
        loose = self._loose_in(oid[:2]).get(oid[2:])
        if loose is not None:
            found = self._read_loose(loose, oid, limit, found)
        if isinstance(found, tuple):
            if not self._reasons.keys() >= {*bad}:  # a pack that has a fault of its own says this for all its objects
                self.spoiled[oid] = f"is not sound in {bad[0].name}"
            return found
        for path in bad:
            unread = self._unread.setdefault(path, {})
            unread[task] = unread.get(task, 0) + 1
        if found is not None:
            raise found
        if self._looks_otherwise(oid):
            return self.read(oid, limit, task)
        raise NotFound("object", oid)

    def faults(self) -> Iterator[Fault]:
        """Yields a fault for every damaged pack that holds, or may hold, something of ours."""
        for path, reason in sorted(self._reasons.items()):
            yield Fault(object=path.name, reason=reason, lost=self._lost(path))

    def _lost(self, path: Path) -> str:
        if path not in self._open:
            return "whatever is in it and nowhere else"
        unread = self._unread.get(path, {})
        if not unread:
            return "nothing of the tasks that were checked: each object that they have in it is whole"
        tasks = sorted(unread)
        shown = ", ".join(tasks[:_SHOWN]) + (" and others" if len(tasks) > _SHOWN else "")
        return f"{sum(unread.values())} objects in it, of {len(tasks)} tasks: {shown}"

    def _find_packs(self) -> None:
        for path in packs(self._objects_dir):
            if path in self._open or path in self._reasons:
                continue
            try:
                self._open[path] = pack = Pack(path)
                self._order.append(pack)
                self._unchecked.add(pack)
            except FileNotFoundError:  # somebody repacks
                continue
            except OSError as fault:
                self._reasons[path] = f"cannot be read: {fault.strerror}"
            except ObjectDamaged as fault:
                self._reasons[path] = fault.reason

    def _read_packed(self, oid: Oid, limit: int, bad: list[Path]) -> tuple[str, bytes] | ObjectDamaged | None:
        """Returns the first whole copy in a pack; where there are only damaged ones, why the last one is.

        Adds to `bad` in which packs the copy is damaged.
        """
        damaged = None
        for pack in self._order:
            if pack in self._unchecked and oid in pack:
                self._check(pack)
            try:
                found = pack.read(oid, limit)
            except NotFound:
                continue
            except ObjectDamaged as fault:
                damaged = ObjectDamaged(oid, f"{fault.reason} (in {pack.path.name})")
                bad.append(pack.path)
                continue
            if pack is not self._order[0]:  # the next object is probably in the same pack
                self._order.remove(pack)
                self._order.insert(0, pack)
            return found
        return damaged

    def _check(self, pack: Pack) -> None:
        self._unchecked.remove(pack)
        self._checked += 1
        reason = check_pack(pack.path)
        if reason and pack.path.exists():  # packs are merged meanwhile, by us and by git, and then they go
            self._reasons[pack.path] = reason

    def _read_loose(
        self, directory: Path, oid: Oid, limit: int, packed: tuple[str, bytes] | ObjectDamaged | None
    ) -> tuple[str, bytes] | ObjectDamaged | None:
        """Returns a whole copy if there is one, having looked at the loose one in any case."""
        try:
            loose = read_loose(directory, oid, limit=limit)
        except NotFound:
            return packed
        except ObjectDamaged as fault:
            if isinstance(packed, tuple):
                self.spoiled[oid] = fault.reason
                return packed
            return fault
        return packed if isinstance(packed, tuple) else loose

    def _loose_in(self, prefix: str) -> dict[str, Path]:
        """Returns the loose objects whose names begin with two digits, with the directory that holds each."""
        found = self._loose.get(prefix)
        if found is None:
            found = {}
            for directory in reversed(self._directories):
                try:
                    names = os.listdir(directory / prefix)  # noqa: PTH208 - names, not paths
                except (FileNotFoundError, NotADirectoryError):
                    continue
                found.update(dict.fromkeys(names, directory))
            self._loose[prefix] = found
        return found

    def _looks_otherwise(self, oid: Oid) -> bool:
        """Says whether an object that was not there may be there now: somebody has packed or written meanwhile."""
        known = len(self._order)
        self._find_packs()
        before = self._loose.pop(oid[:2], {})
        return len(self._order) > known or (oid[2:] in self._loose_in(oid[:2]) and oid[2:] not in before)
