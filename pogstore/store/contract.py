"""The small contract that every way to a repository keeps: objects that never change, and refs that move.

Which one is used is decided by the repository's format before it is opened. No answer holds an object of a foreign
library.
"""

from collections.abc import Iterable, Mapping, MutableSequence
from pathlib import Path
from typing import NamedTuple, Protocol

from pogstore.model import Oid


class NewObject(NamedTuple):
    """An object that is to be written, with the oid it will have; `like` names one before it that it resembles."""

    oid: Oid
    kind: str
    data: bytes
    like: Oid | None = None


class Objects(Protocol):
    """What is written once: an object is named by its content."""

    def read(self, oid: Oid, limit: int) -> tuple[str, bytes]:
        """Returns kind and content of an object.

        Raises `NotFound`, and `ObjectDamaged` for an object that cannot be read, lies about itself or is over `limit`
        bytes.
        """

    def exists(self, oid: Oid) -> bool:
        """Says whether the object is there, damaged or not."""

    def name(self, kind: str, data: bytes) -> Oid:
        """Returns the oid that an object will have."""

    def write(self, objects: Iterable[NewObject], *, fsync: bool, packed: bool = False) -> Path | None:
        """Writes objects, one pack for many (with `packed`: for more than very few), else loose; returns the pack.

        The pack is held until the caller, who has moved the refs, releases it.
        """


class Refs(Protocol):
    """What moves: a name and the oid it points at."""

    def read(self, name: str) -> Oid | None:
        """Returns what a ref points at, or nothing."""

    def list(self, prefix: str, damaged: MutableSequence[str] | None = None) -> Mapping[str, Oid]:
        """Returns every ref below a prefix that ends in `/`, and adds to `damaged` those that cannot be read."""

    def compare_and_swap(self, name: str, old: Oid | None, new: Oid | None) -> None:
        """Moves a ref from `old` (absent: it must not exist) to `new` (absent: it is deleted), or raises `StaleRef`."""
