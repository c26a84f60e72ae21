"""The highest clock that this clone has accepted: one number in a file of ours.

Read and written under the store's lock. A cache: without it the number is found again from the events themselves.
"""

from collections.abc import Iterable
from pathlib import Path

from pogstore import graph


def read_clock(directory: Path) -> int | None:
    """Returns the kept number; nothing if there is none, or if it cannot be read."""
    try:
        return int((directory / "clock").read_text("ascii"))
    except (FileNotFoundError, ValueError):
        return None


def write_clock(directory: Path, clock: int) -> None:
    """Keeps a number."""
    staged = directory / "clock.new"
    staged.write_text(f"{clock}\n", "ascii")
    staged.replace(directory / "clock")


def highest(clocks: Iterable[int]) -> int:
    """Returns the highest of some ascending clocks that is not ahead of all before it."""
    found = 0
    for clock in clocks:
        if graph.is_ahead(clock, found):
            break
        found = clock
    return found
