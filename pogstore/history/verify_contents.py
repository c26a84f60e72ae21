"""The contents of one task and class: the commits, trees and blobs of a content chain, and what events say of them.

Shares nothing with what writes and reads chains but the form of a content commit.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from msgspec.structs import replace

from pogstore import digest
from pogstore.errors import NotFound, ObjectDamaged
from pogstore.history.verify_events import MAX_CARRIER, SHOWN, Use
from pogstore.history.verify_objects import Objects
from pogstore.history.verify_report import Fault
from pogstore.model import BlobId, Oid, TaskId
from pogstore.store.carrier import content_commit
from pogstore.store.refs import BY_CLASS

MAX_TREE = 256 << 20
MAX_CONTENT = 1 << 31
"""Bytes: what this version can read back; what is written is bounded by `pog.maxBlob`."""
SALT = re.compile(rb"[0-9a-f]{32}\n")
SALT_LENGTH = 33

_TREE_LINE = re.compile(rb"100644 ([0-9a-f]{64}(?:-[0-9a-f]{16})?)\x00(.{20})", re.DOTALL)
_COMMIT = re.compile(
    rb"tree ([0-9a-f]{40})\n((?:parent [0-9a-f]{40}\n)*)author [^\n]* ([0-9]{1,10}) \+0000\n", re.DOTALL
)
_LISTED = 5


class Held(NamedTuple):
    """A content as it lies in a chain: its size without a salt, and why it is not a text, if it is none."""

    stored: int
    not_a_text: str | None


class Contents(NamedTuple):
    """What one content chain holds, as far as it could be read; `broken` are contents whose blobs are not sound."""

    held: dict[BlobId, Held]
    broken: set[BlobId]
    faults: list[Fault]
    gaps: list[Fault]
    """Faults of commits and trees: which contents are lost with them is known only by what is missing."""


def check_contents(
    objects: Objects, task: TaskId, class_: str, tip: Oid, uses: dict[BlobId, Use], known: dict[Oid, tuple[str, Held]]
) -> Contents:
    """Returns what a content chain holds and what is wrong with it.

    `known` keeps the name and the nature of each blob that was read, so that none is read twice.
    """
    chain = _Chain(objects, task, BY_CLASS[class_] + task, uses, known)
    chain.read_all(tip)
    return Contents(chain.held, chain.broken, chain.faults, chain.gaps)


def with_losses(gaps: Iterable[Fault], missing: list[Use]) -> Iterator[Fault]:
    """Yields the faults of commits and trees with the contents that are missing, and so may be lost with them."""
    named = ", ".join(map(str, missing[:_LISTED])) + (", …" if len(missing) > _LISTED else "")
    for fault in gaps:
        yield replace(fault, lost=f"up to {len(missing)} contents: {named}") if missing else fault


def use_faults(task: TaskId, ref: str, held: dict[BlobId, Held], uses: Iterable[tuple[BlobId, Use]]) -> Iterator[Fault]:
    """Yields a fault for each content that is not what the events of the task say of it."""
    for blob, use in uses:
        found = held.get(blob)
        if found is None:
            continue
        reason = found.not_a_text if use.is_text else None
        size = found.stored - (SALT_LENGTH if use.is_text else 0)
        if reason is None and use.size is not None and size != use.size:
            reason = f"has {size} bytes where its event says {use.size}"
        if reason is not None:
            yield Fault(object=blob, reason=reason, lost=f"the trust in {use}", ref=ref, task=task)


class _Chain:
    """One content chain while it is read."""

    def __init__(
        self, objects: Objects, task: TaskId, ref: str, uses: dict[BlobId, Use], known: dict[Oid, tuple[str, Held]]
    ) -> None:
        self.objects, self.task, self.ref, self.uses, self.known = objects, task, ref, uses, known
        self.held: dict[BlobId, Held] = {}
        self.broken: set[BlobId] = set()
        self.faults: list[Fault] = []
        self.gaps: list[Fault] = []

    def _fault(self, oid: str, reason: str, lost: str) -> Fault:
        return Fault(object=oid, reason=reason, lost=lost, ref=self.ref, task=self.task)

    def read_all(self, tip: Oid) -> None:
        """Reads every commit that can be reached from the tip, its tree and the contents in that."""
        pending, seen = [tip], {tip}
        while pending:
            oid = pending.pop()
            lost = "the contents that it added, and those to which only it leads"
            data = self._read(oid, "commit", MAX_CARRIER, lost)
            if data is None:
                continue
            match = _COMMIT.match(data)
            tree, parents = (Oid(match[1].decode()), _parents(match[2])) if match else (None, ())
            if tree is None or match is None or data != content_commit(tree, parents, int(match[3]) * 1_000_000):
                self.faults.append(self._fault(oid, "is not a commit of contents", "the trust in what it added"))
            if tree is not None:
                self._read_tree(tree)
            pending += [parent for parent in parents if parent not in seen]
            seen.update(parents)

    def _read(self, oid: Oid, kind: str, limit: int, lost: str) -> bytes | None:
        """Returns the bytes of a commit or a tree, or nothing, having said what is wrong with it."""
        try:
            found, data = self.objects.read(oid, limit, self.task)
        except NotFound:
            reason = "is missing"
        except ObjectDamaged as fault:
            reason = fault.reason
        else:
            if found == kind:
                return data
            reason = f"is a {found} in the place of a {kind}"
        self.gaps.append(self._fault(oid, reason, lost))
        return None

    def _read_tree(self, oid: Oid) -> None:
        data = self._read(oid, "tree", MAX_TREE, "the contents in it")
        at, last = 0, b""
        while data is not None and at < len(data):
            line = _TREE_LINE.match(data, at)
            if line is None or line[1] <= last:
                self.gaps.append(self._fault(oid, "holds something else than contents, in order", "what is not one"))
                return
            self._check_blob(line[1].decode(), Oid(line[2].hex()))
            at, last = line.end(), line[1]

    def _check_blob(self, name: str, oid: Oid) -> None:
        blob = BlobId(name[:64])
        reason = None
        if oid not in self.known:
            reason = self._read_blob(oid)
        if reason is None:
            found, held = self.known[oid]
            if found != blob:
                reason = f"holds the content {found[:SHOWN]} in the place of {blob[:SHOWN]}"
            elif len(name) == 64 and held.not_a_text:
                reason = held.not_a_text
        if reason is None:
            self.held[blob] = held
            return
        self.broken.add(blob)
        use = f", {self.uses[blob]}" if blob in self.uses else ""
        self.faults.append(self._fault(oid, reason, f"content {blob}{use}"))

    def _read_blob(self, oid: Oid) -> str | None:
        """Reads a blob into what is known; says why it cannot be read."""
        try:
            kind, data = self.objects.read(oid, MAX_CONTENT, self.task)
        except NotFound:
            return "is missing"
        except ObjectDamaged as fault:
            return fault.reason
        if kind != "blob":
            return f"is a {kind} in the place of a content"
        self.known[oid] = digest.hexdigest(data), Held(len(data), _not_a_text(data))
        return None


def _parents(lines: bytes) -> tuple[Oid, ...]:
    return tuple(Oid(line[7:].decode()) for line in lines.splitlines())


def _not_a_text(data: bytes) -> str | None:
    if not SALT.match(data):
        return "is a text without its salt"
    try:
        data.decode()
    except UnicodeDecodeError:
        return "is a text that is not UTF-8"
    return None
