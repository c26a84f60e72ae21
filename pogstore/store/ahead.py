"""Many blobs of one repository, read by git beside us, which is told early which will be wanted.

To load a library that reads them takes longer than git takes for a few hundred, and meanwhile we can work. Whatever git
does not say as it should is asked of the object database, whose errors are those that count.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Protocol

from pogstore.model import Oid
from pogstore.store import libgit2
from pogstore.store.contract import Objects
from pogstore.store.gitcli import Git

AT_ONCE = 256
"""So many names can be told to git before it is listened to: the system holds them between two processes."""
AHEAD = 24
"""So many blobs are asked for before they are wanted."""
ROOM = 32 << 20
"""Bytes of blobs that came before they were wanted; of more, those that came first are read again."""
_BARE = {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_NO_LAZY_FETCH": "1"}
"""An object is what its name says, and what is not here is not fetched."""


class Blobs(Protocol):
    """The blobs of a repository."""

    def has(self, oid: Oid) -> bool:
        """Says whether a blob is there, damaged or not."""

    def read(self, oid: Oid) -> bytes:
        """Returns the bytes of a blob; raises `NotFound` and `ObjectDamaged`."""


@contextmanager
def blobs(git: Git, objects: Objects, wanted: Iterable[Oid], limit: int) -> Iterator[Blobs]:
    """Yields the blobs of a repository; `wanted` are those that will be asked for, about in this order."""
    if libgit2.is_loaded():
        yield AtHand(objects, limit)
        return
    found = Ahead(git, AtHand(objects, limit), list(dict.fromkeys(wanted)), limit)
    try:
        yield found
    finally:
        found.close()


class AtHand:
    """Blobs from the object database, one by one."""

    def __init__(self, objects: Objects, limit: int) -> None:
        self._objects, self._limit = objects, limit

    def has(self, oid: Oid) -> bool:
        """Says whether a blob is there."""
        return self._objects.exists(oid)

    def read(self, oid: Oid) -> bytes:
        """Returns the bytes of a blob."""
        return self._objects.read(oid, self._limit)[1]

    def is_whole(self, oid: Oid, data: bytes) -> bool:
        """Says whether bytes are a blob."""
        return self._objects.name("blob", data) == oid


class Ahead:
    """Blobs from git: which of those that are wanted are there, and the bytes of each before it is read."""

    def __init__(self, git: Git, otherwise: AtHand, wanted: Sequence[Oid], limit: int) -> None:
        self._otherwise, self._limit = otherwise, limit
        self._wanted = wanted
        self._places = {oid: at for at, oid in enumerate(wanted)}
        self._next = 0
        self._asked: deque[Oid] = deque()
        self._early: dict[Oid, bytes] = {}
        self._size = 0
        self._answers = True
        self._check = git.converse("cat-file", "--batch-check=%(objectname)", env=_BARE)
        self._check.tell(_lines(wanted[:AT_ONCE]))
        self._reader = git.converse("cat-file", "--batch", env=_BARE)

    def has(self, oid: Oid) -> bool:
        """Says whether a blob is there."""
        return oid in self._there or self._otherwise.has(oid)

    def read(self, oid: Oid) -> bytes:
        """Returns the bytes of a blob, and asks for what will be wanted next."""
        if oid not in self._early and self._answers:
            self._ask(oid)
        while oid not in self._early and self._asked:
            self._receive(self._asked.popleft())
        data = self._early.pop(oid, None)
        if data is None:
            return self._otherwise.read(oid)
        self._size -= len(data)
        return data

    def close(self) -> None:
        """Ends git."""
        self._check.end()
        self._reader.end()

    @cached_property
    def _there(self) -> set[Oid]:
        found: set[Oid] = set()
        for first in range(0, len(self._wanted), AT_ONCE):
            several = self._wanted[first : first + AT_ONCE]
            if first:
                self._check.tell(_lines(several))
            found.update(oid for oid in several if self._check.line() == oid.encode())
        return found

    def _ask(self, oid: Oid) -> None:
        """Asks for a blob, and for those behind it; what is passed over will not be wanted."""
        fresh = [] if oid in self._asked else [oid]
        first = max(self._next, self._places.get(oid, -1) + 1)
        last = first + max(0, AHEAD - len(self._asked))
        fresh += [each for each in self._wanted[first:last] if each not in self._early]
        self._next = min(last, len(self._wanted))
        self._asked += fresh
        self._reader.tell(_lines(fresh))

    def _receive(self, oid: Oid) -> None:
        """Takes in what git says of a blob."""
        data = self._said(oid)
        if data is None:
            return
        self._size += len(data) - len(self._early.pop(oid, b""))
        self._early[oid] = data
        while self._size > ROOM and len(self._early) > 1:
            self._size -= len(self._early.pop(next(iter(self._early))))

    def _said(self, oid: Oid) -> bytes | None:
        """Returns a blob; if git says anything but that, or that it is missing, nothing more is asked of it."""
        told = self._reader.line().split()
        if told[1:] == [b"missing"]:
            return None
        if told[:2] == [oid.encode(), b"blob"] and int(told[2]) <= self._limit:
            data = self._reader.read(int(told[2]) + 1)[:-1]
            if self._otherwise.is_whole(oid, data):
                return data
        self._answers = False
        self._asked.clear()
        return None


def _lines(oids: Iterable[Oid]) -> bytes:
    return "".join(f"{oid}\n" for oid in oids).encode()
