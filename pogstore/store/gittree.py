"""Which file a commit holds at a path, read from git's own trees in this process: no git is started for it."""

import re

from pogstore.errors import NotFound, ObjectDamaged
from pogstore.model import Oid
from pogstore.store import chain
from pogstore.store.carrier import parents_of, tree_of
from pogstore.store.contract import Objects

MAX_TREE = 256 << 20
_OID = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
"""What an event names as a commit came from anybody: nothing else is looked for in the object database."""
_TREE = b"40000"
_COMMIT = b"160000"

Entries = dict[bytes, tuple[bytes, Oid]]


class Trees:
    """The trees of some commits; each is read once."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._commits: dict[Oid, tuple[Oid, tuple[Oid, ...]] | None] = {}
        self._trees: dict[Oid, Entries] = {}

    def commit(self, oid: Oid) -> bytes | None:
        """Returns a raw commit; nothing if it is not here, or the name is none."""
        if not _OID.fullmatch(oid):
            return None
        try:
            return chain.read_commit(self._objects, oid)
        except (NotFound, ObjectDamaged):
            return None

    def has(self, commit: Oid) -> bool:
        """Says whether a commit is here."""
        return self._commit(commit) is not None

    def blob_at(self, commit: Oid, path: bytes) -> Oid | None:
        """Returns the file that a commit holds at a path; nothing if it holds none, or is not here."""
        found = self._commit(commit)
        if found is None:
            return None
        *folders, name = path.split(b"/")
        tree = found[0]
        for folder in folders:
            mode, tree = self._tree(tree).get(folder, (b"", tree))
            if mode != _TREE:
                return None
        mode, oid = self._tree(tree).get(name, (_TREE, tree))
        return None if mode in (_TREE, _COMMIT) else oid

    def brings(self, commit: Oid, path: bytes) -> bool:
        """Says whether a path is another in a commit than in its first parent."""
        parent = self._first_parent(commit)
        return self.blob_at(commit, path) != (self.blob_at(parent, path) if parent else None)

    def brought(self, commit: Oid) -> dict[bytes, Oid]:
        """Returns the files that a commit holds and its first parent does not hold so, by path."""
        found = self._commit(commit)
        parent = self._first_parent(commit)
        before = self._commit(parent) if parent else None
        if found is None:
            return {}
        files: dict[bytes, Oid] = {}
        pending: list[tuple[bytes, Oid, Oid | None]] = [(b"", found[0], before[0] if before else None)]
        while pending:
            folder, new, old = pending.pop()
            known = self._tree(old) if old else {}
            for name, (mode, oid) in self._tree(new).items():
                if known.get(name) == (mode, oid) or mode == _COMMIT:
                    continue
                if mode != _TREE:
                    files[folder + name] = oid
                    continue
                was, other = known.get(name, (b"", oid))
                pending.append((folder + name + b"/", oid, other if was == _TREE else None))
        return files

    def _first_parent(self, commit: Oid) -> Oid | None:
        found = self._commit(commit)
        return found[1][0] if found and found[1] else None

    def _commit(self, oid: Oid) -> tuple[Oid, tuple[Oid, ...]] | None:
        if oid not in self._commits:
            data = self.commit(oid)
            try:
                self._commits[oid] = (tree_of(oid, data), parents_of(data)) if data is not None else None
            except ObjectDamaged:
                self._commits[oid] = None
        return self._commits[oid]

    def _tree(self, oid: Oid) -> Entries:
        """Returns what a tree holds; nothing if it is not here, as in a partial clone."""
        if oid not in self._trees:
            try:
                kind, data = self._objects.read(oid, MAX_TREE)
            except (NotFound, ObjectDamaged):
                kind, data = "tree", b""
            self._trees[oid] = _entries(data, len(oid) // 2) if kind == "tree" else {}
        return self._trees[oid]


def _entries(data: bytes, width: int) -> Entries:
    found: Entries = {}
    at = 0
    while at < len(data):
        end = data.find(b"\0", at)
        if end < 0 or len(data) < end + 1 + width:
            break  # damaged: git itself says so
        mode, _, name = data[at:end].partition(b" ")
        found[name] = mode, Oid(data[end + 1 : end + 1 + width].hex())
        at = end + 1 + width
    return found
