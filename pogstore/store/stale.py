"""Lock files that a process of ours has left on refs of ours when it was killed: nobody else would ever remove them.

Git's own locks have no owner to be asked (threat T24), so a lock is taken for one that was left only if much comes
together: a journal says that the process which died was moving this very ref, the lock is not older than that, no
writer of ours is at work, and after a while it is the same one still.
"""

import os
import time
from collections.abc import Iterable
from pathlib import Path

from pogstore.store.lock import locked

PATIENCE = 0.5
"""Seconds for which a lock must stay the same: git holds one for a millisecond."""
_COARSE = 1_000_000_000
"""Nanoseconds by which the clock of a file system may be behind."""


def break_locks(own: Path, common_dir: Path, refs: Iterable[str], since_ns: int) -> list[str]:
    """Removes the locks on some refs that a process left which died after a time; returns the refs.

    `own` is where our writers' lock is. Raises `LockHeld` while one of them is at work.
    """
    paths = {ref: common_dir / f"{ref}.lock" for ref in refs}
    if not any(map(os.path.lexists, paths.values())):
        return []
    with locked(own):
        found = {ref: _identity(path) for ref, path in paths.items()}
        seen = {ref: each for ref, each in found.items() if each is not None and each[1] > since_ns - _COARSE}
        if seen:
            time.sleep(PATIENCE)
        broken = [ref for ref, each in seen.items() if _identity(paths[ref]) == each]
        for ref in broken:
            paths[ref].unlink(missing_ok=True)
    return broken


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns
