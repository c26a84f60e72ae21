"""Which packs and which loose objects of a repository are ours: noted before they are there, so that none is missed.

Two lists of lines beside the store's lock, which is held by whoever writes to them. A line too many does no harm, since
what it names is looked for first; a line too few leaves a file to git's own housekeeping. So nothing here is synced to
disk, lines that are torn are passed over, and a list that cannot be written stops nobody.
"""

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from pogstore.model import Oid

HELD = b"pogstore\n"
"""What we write into the `.keep` of a pack that no ref reaches yet."""
PACKS, LOOSE = "packs", "loose"
LOOSE_LINE, PACK_LINE = 41, 46
"""Bytes of a line of either list."""

_LOOSE_LINE = re.compile(rb"^[0-9a-f]{40}$", re.MULTILINE)
_PACK_LINE = re.compile(rb"^pack-[0-9a-f]{40}$", re.MULTILINE)


class Footprint:
    """The two lists of one repository."""

    def __init__(self, own: Path) -> None:
        self._loose, self._packs = own / LOOSE, own / PACKS

    def note_loose(self, oids: Iterable[Oid]) -> None:
        """Adds objects that are about to be written loose."""
        _append(self._loose, oids)

    def note_pack(self, name: str) -> None:
        """Adds a pack, without suffix, that is about to be put in its place."""
        _append(self._packs, [name])

    def counts(self) -> tuple[int, int]:
        """Returns how many lines there are: loose objects, packs. Reads neither list."""
        return _size(self._loose) // LOOSE_LINE, _size(self._packs) // PACK_LINE

    def loose(self) -> list[Oid]:
        """Returns the loose objects in the order in which they were noted, each once."""
        return [Oid(oid) for oid in _lines(self._loose, _LOOSE_LINE)]

    def packs(self) -> list[str]:
        """Returns the packs in the order in which they were noted, each once."""
        return _lines(self._packs, _PACK_LINE)

    def keep_loose(self, oids: Iterable[Oid]) -> None:
        """Keeps these loose objects in the place of those that were noted."""
        _replace(self._loose, oids)

    def keep_packs(self, names: Iterable[str]) -> None:
        """Keeps these packs in the place of those that were noted."""
        _replace(self._packs, names)


def hold(pack: Path) -> None:
    """Lets git's housekeeping leave a pack alone until its refs have moved, as `git fetch` does; see `release`.

    `git gc --prune=now` drops at once what no ref reaches (SC-58).
    """
    with suppress(OSError), pack.with_suffix(".keep").open("xb") as file:
        file.write(HELD)


def release(pack: Path) -> None:
    """Takes away what `hold` has put there, and nothing of the user's."""
    keep = pack.with_suffix(".keep")
    with suppress(OSError):
        if keep.read_bytes() == HELD:
            keep.unlink()


def _append(path: Path, lines: Iterable[str]) -> None:
    text = "".join(f"{line}\n" for line in lines)
    if not text:
        return
    with suppress(OSError):
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        try:
            os.write(descriptor, text.encode())
        finally:
            os.close(descriptor)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _lines(path: Path, line: re.Pattern[bytes]) -> list[str]:
    try:
        found = line.findall(path.read_bytes())
    except OSError:
        return []
    return [text.decode() for text in dict.fromkeys(found)]


def _replace(path: Path, lines: Iterable[str]) -> None:
    made = path.with_name(f"{path.name}.new")
    made.write_text("".join(f"{line}\n" for line in lines))
    made.replace(path)
