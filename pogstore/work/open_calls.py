"""Which calls are open in one work tree right now, so that a change is not put down to one of two that ran at once.

A call is a file that its process holds locked, so that one whose process died counts no more. Whoever begins beside it
writes a byte into the file.
"""

import fcntl
import os
from collections.abc import Collection
from pathlib import Path

from pogstore.store.layout import Layout

_FLAGS = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW


class OpenCall:
    """A call that is open until it is closed or its process ends. `around` are the calls that it is a part of."""

    def __init__(self, layout: Layout, around: Collection[str] = ()) -> None:
        folder = layout.own_here / "calls"
        folder.mkdir(parents=True, exist_ok=True)
        self.name = os.urandom(8).hex()
        self._path = folder / self.name
        staged = folder / f".{self.name}"
        self._file = os.open(staged, _FLAGS | os.O_CREAT | os.O_EXCL, 0o600)
        fcntl.flock(self._file, fcntl.LOCK_EX)
        staged.rename(self._path)  # seen by others only once it is locked: else it would count as left behind
        # of two that begin at once the one that looks later sees the other
        names = {entry.name for entry in os.scandir(folder)} - {self.name, *around}
        self._began_beside = sum(_is_told(folder / name) for name in names if name[0] != ".") > 0

    @property
    def is_beside(self) -> bool:
        """Whether another call was open at any time since this one began."""
        return self._began_beside or (self._file >= 0 and os.fstat(self._file).st_size > 0)

    def close(self) -> None:
        """Ends the call; a second time does nothing."""
        if self._file >= 0:
            self._path.unlink(missing_ok=True)
            os.close(self._file)
            self._file = -1


def _is_told(path: Path) -> bool:
    """Tells a call that another began; `False` if its process is dead, and then what it left is taken away."""
    try:
        file = os.open(path, _FLAGS)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.write(file, b".")
        return True
    else:
        path.unlink(missing_ok=True)
        return False
    finally:
        os.close(file)
