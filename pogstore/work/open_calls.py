"""Which calls are open in one work tree right now, so that a change is not put down to one of two that ran at once.

A call is a file that its process holds locked, so that one whose process died counts no more.
"""

import fcntl
import os
from collections.abc import Collection
from pathlib import Path

from pogstore.store.layout import Layout

_FLAGS = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW


class OpenCall:
    """A call that is open until it is closed or its process ends."""

    def __init__(self, layout: Layout) -> None:
        folder = layout.own_here / "calls"
        folder.mkdir(parents=True, exist_ok=True)
        self.name = os.urandom(8).hex()
        self._path = folder / self.name
        staged = folder / f".{self.name}"
        self._file = os.open(staged, _FLAGS | os.O_CREAT | os.O_EXCL, 0o600)
        fcntl.flock(self._file, fcntl.LOCK_EX)
        staged.rename(self._path)  # seen by others only once it is locked: else it would count as left behind

    def others(self, around: Collection[str] = ()) -> bool:
        """Says whether another call is open, those that this one is a part of left out."""
        own = {self.name, *around}
        names = [entry.name for entry in os.scandir(self._path.parent)]
        return any(_is_open(self._path.parent / name) for name in names if name not in own and name[0] != ".")

    def close(self) -> None:
        """Ends the call; a second time does nothing."""
        if self._file >= 0:
            self._path.unlink(missing_ok=True)
            os.close(self._file)
            self._file = -1


def _is_open(path: Path) -> bool:
    """Says whether the process of a call lives; takes away what a dead one left."""
    try:
        file = os.open(path, _FLAGS)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        path.unlink(missing_ok=True)
        return False
    finally:
        os.close(file)
