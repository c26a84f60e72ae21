"""Where git has what looks told of one work tree and no event stores: by the BLAKE3 of a file, git's blob of it.

A look tells the bytes of a file once, later ones its hash alone, and what git brought is no step's: without this nobody
could tell any more what stood there. May vanish at any time; then a look has to read everything again.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from pogstore.digest import hexdigest
from pogstore.model import Oid
from pogstore.work import looked

NAME = "brought"
MOST = 1000
"""Contents that are remembered, the newest; more only if one look tells of more."""
_BEGIN = b"pog brought 1"
_LIMIT = 4 * 1024 * 1024
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC


class Brought:
    """What is remembered in our folder of one work tree's git dir, read when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[str, Oid] | None = None

    @property
    def _known(self) -> dict[str, Oid]:
        if self._read is None:
            self._read = _parsed(_contents(self._folder / NAME))
        return self._read

    def oid(self, blake3: str) -> Oid | None:
        """Returns the blob, in git's form, of a file that had this hash in the work tree."""
        return self._known.get(blake3)

    def add(self, found: dict[str, Oid], seen: Iterable[str] = ()) -> None:
        """Remembers blobs, and longest those of the hashes in `seen`; what cannot be written is let go."""
        if all(self._known.get(blake3) == oid for blake3, oid in found.items()):
            return
        again = {blake3: self._known.pop(blake3) for blake3 in dict.fromkeys(seen) if blake3 in self._known}
        self._known.update(again | found)
        for blake3 in list(self._known)[: -max(MOST, len(again | found))]:
            del self._known[blake3]
        with suppress(OSError):
            self._write()

    def _write(self) -> None:
        body = "".join(f"{blake3} {oid}\n" for blake3, oid in self._known.items()).encode("ascii")
        path = self._folder / NAME
        beside = path.with_name(f"{NAME}.{os.getpid()}.new")
        try:
            with os.fdopen(os.open(beside, _NEW, 0o600), "wb") as file:
                file.write(b"\n".join((_BEGIN, hexdigest(body).encode("ascii"), body)))
            beside.replace(path)
        except OSError:
            beside.unlink(missing_ok=True)
            raise

    def look_anew(self) -> None:
        """Lets the next look tell the bytes of every file: somewhere they were lost."""
        with suppress(OSError):
            (self._folder / os.fsdecode(looked.LOOKED)).unlink(missing_ok=True)


def _contents(path: Path) -> bytes:
    try:
        with os.fdopen(os.open(path, _READ), "rb") as file:
            return file.read(_LIMIT)
    except OSError:
        return b""


def _parsed(data: bytes) -> dict[str, Oid]:
    """Returns what a file says; nothing if it is damaged."""
    begin, _, rest = data.partition(b"\n")
    digest, _, body = rest.partition(b"\n")
    if begin != _BEGIN or digest != hexdigest(body).encode("ascii"):
        return {}
    rows = (line.partition(" ") for line in body.decode("ascii", "replace").splitlines())
    return {blake3: Oid(oid) for blake3, _, oid in rows}
