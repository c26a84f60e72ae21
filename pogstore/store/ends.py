"""The whole lines that two contents share at their beginning and at their end. Knows bytes and nothing else.

Two versions of a file differ in a few places, so a diff that looks only between their ends has far less to read.
"""

from typing import NamedTuple


class Ends(NamedTuple):
    """How many bytes, all of them whole lines, two contents share at either end; the two never overlap."""

    head: int
    tail: int


def shared_ends(old: bytes, new: bytes, margin: int) -> Ends:
    """Returns what two contents share at their ends, less so many lines on either side."""
    head = _shared_head(old, new)
    tail = _shared_tail(old, new, min(len(old), len(new)) - head)
    return Ends(_after_line(old, head, margin), len(old) - _before_line(old, len(old) - tail, margin))


def _shared_head(old: bytes, new: bytes) -> int:
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _shared_tail(old: bytes, new: bytes, longest: int) -> int:
    low, high = 0, longest
    while low < high:
        middle = (low + high + 1) // 2
        if old[len(old) - middle : len(old) - low] == new[len(new) - middle : len(new) - low]:
            low = middle
        else:
            high = middle - 1
    return low


def _after_line(data: bytes, at: int, margin: int) -> int:
    """Returns where a line begins that lies so many whole lines before a place."""
    for _ in range(margin + 1):
        at = data.rfind(b"\n", 0, at)
        if at < 0:
            return 0
    return at + 1


def _before_line(data: bytes, at: int, margin: int) -> int:
    """Returns where a line ends that lies so many whole lines behind a place."""
    for _ in range(margin + 1):
        at = data.find(b"\n", at) + 1
        if at == 0:
            return len(data)
    return at
