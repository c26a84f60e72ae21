"""The highest clock that this clone has accepted: one number in a file of ours.

Read and written under the store's lock. A cache: without it the number is found again from the events themselves.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from pogstore import graph

_NAME = "clock"
_DIGITS = 16  # as many as the largest clock has, so that one write replaces all of it
_LONGEST = 64


def read_clock(directory: Path) -> int | None:
    """Returns the kept number; nothing if there is none, or if it cannot be one."""
    try:
        with (directory / _NAME).open("rb") as file:
            clock = int(file.read(_LONGEST))
    except (FileNotFoundError, ValueError):
        return None
    return clock if 0 <= clock < graph.CLOCK_LIMIT else None


def write_clock(directory: Path, clock: int) -> None:
    """Keeps a number, in place: renaming a file over another makes the file system wait for the disk."""
    text = b"%0*d\n" % (_DIGITS, clock)
    descriptor = os.open(directory / _NAME, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    try:
        os.pwrite(descriptor, text, 0)
        os.ftruncate(descriptor, len(text))
    finally:
        os.close(descriptor)


def highest(clocks: Iterable[int]) -> int:
    """Returns the highest of some ascending clocks that is not ahead of all before it."""
    found = 0
    for clock in clocks:
        if graph.is_ahead(clock, found):
            break
        found = clock
    return found
