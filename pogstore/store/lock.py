"""The store's lock: one writer at a time in one repository, over all its work trees.

An advisory lock of the operating system, so a process that dies leaves nothing behind (threat T24).
"""

import fcntl
import os
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pogstore.errors import LockHeld

WAIT = 30.0
"""Seconds to wait for another writer."""


@contextmanager
def locked(directory: Path, wait: float = WAIT) -> Iterator[None]:
    """Holds the lock of a store for the time of a block; raises `LockHeld` after `wait` seconds."""
    path = directory / "lock"
    descriptor = _open(path)
    try:
        acquire(descriptor, path, wait)
        yield
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        return os.open(path, flags, 0o644)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, flags, 0o644)


def acquire(descriptor: int, path: Path, wait: float, *, shared: bool = False) -> None:
    """Takes a lock on an open file; polls with jitter, since a blocking `flock` cannot be given a time."""
    mode = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    deadline = time.monotonic() + wait
    pause = 0.0005
    while True:
        try:
            fcntl.flock(descriptor, mode | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise LockHeld(str(path), wait) from None
            time.sleep(pause * (0.5 + random.random()))  # noqa: S311 - jitter, no secret
            pause = min(pause * 1.5, 0.02)
        else:
            return


def release(descriptor: int) -> None:
    """Gives a lock back; closing the file does the same."""
    fcntl.flock(descriptor, fcntl.LOCK_UN)
