"""The whole lines that two contents share at their beginning and at their end. Knows bytes and nothing else.

Two versions of a file differ in a few places, so a diff that looks only between their ends has far less to read.
"""

from typing import NamedTuple

SMALL = 1 << 13
"""Bytes that may have changed for the change to be looked for as a single one: of more there are mostly several."""


class Ends(NamedTuple):
    """How many bytes, all of them whole lines, two contents share at either end; the two never overlap."""

    head: int
    tail: int


def shared_ends(old: bytes, new: bytes, margin: int) -> Ends:
    """Returns what two contents share at their ends, less so many lines on either side."""
    head = _shared_head(old, new)
    tail = _shared_tail(old, new, min(len(old), len(new)) - head)
    return Ends(_after_line(old, head, margin), len(old) - _before_line(old, len(old) - tail, margin))


def sole_change(old: bytes, new: bytes) -> tuple[int, int, int, int] | None:
    """Returns where two contents differ, if by lines that is one place and nobody could see it elsewhere.

    As (old start, old lines, new start, new lines), counted from 0. So it is if no line that went is among those that
    came, or, where lines only came or only went, if the block cannot slide: below it stands another line than its
    first, since the shared head is as long as it can be, and above it another than its last.
    """
    head = _shared_head(old, new)
    tail = _shared_tail(old, new, min(len(old), len(new)) - head)
    head = old.rfind(b"\n", 0, head) + 1
    if not (_begins_line(old, len(old) - tail) and _begins_line(new, len(new) - tail)):
        newline = old.find(b"\n", len(old) - tail)
        tail = len(old) - newline - 1 if newline >= 0 else 0
    if len(old) + len(new) - 2 * (head + tail) > SMALL:
        return None
    went, came = (_lines(data[head : len(data) - tail]) for data in (old, new))
    if went and came:
        is_sole = set(went).isdisjoint(came)
    else:
        above = old[old.rfind(b"\n", 0, max(0, head - 1)) + 1 : head]
        is_sole = above not in (went or came)[-1:]
    start = old.count(b"\n", 0, head)
    return (start, len(went), start, len(came)) if is_sole else None


def _lines(data: bytes) -> list[bytes]:
    """Returns lines with their ends; a last line without one is another line than with it."""
    *whole, last = data.split(b"\n")
    return [*(line + b"\n" for line in whole), *([last] if last else [])]


def _begins_line(data: bytes, at: int) -> bool:
    return at == 0 or data[at - 1 : at] == b"\n"


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
    old_end, new_end = len(old), len(new)
    while low < high:
        middle = (low + high + 1) // 2
        if old[old_end - middle : old_end - low] == new[new_end - middle : new_end - low]:
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
