"""How HEAD moved in a work tree between two looks, as its log tells. Knows no agents."""

import os
import re
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from pogstore.store.layout import Layout

ADDED = 8
"""Work trees that one call may have added."""
TICK = 10_000
"""By how many µs the times of files may lag behind the clock: they are those of the kernel's last tick."""
_TAIL = 256 * 1024
_NOBODY = re.compile(rb"[0 ]+")


class Span(NamedTuple):
    """The commits at which HEAD was at both ends of a call ("" if there was none), and when that was, in µs.

    `sizes` are how many bytes HEAD's log had then; -1 where that is not known.
    """

    old: str
    new: str
    begin: int
    end: int
    sizes: tuple[int, int] = (-1, -1)

    @property
    def since(self) -> int:
        """The second in which it began: git's own times tell no more."""
        return self.begin // 1_000_000

    @property
    def until(self) -> int:
        """The second in which it ended."""
        return self.end // 1_000_000


class Movement(NamedTuple):
    """One movement of HEAD, and where its line in the log ends."""

    old: str
    new: str
    time: int
    why: bytes
    end: int = 0


def movements(layout: Layout, span: Span) -> tuple[list[Movement], bool]:
    """Returns how HEAD moved in a span, here and in the work trees that were added in it, and whether that is all."""
    found, is_all = between(_log(layout.git_dir), span, is_settled=_is_settled(layout.git_dir, span))
    try:
        others = sorted((layout.common_dir / "worktrees").iterdir(), key=_changed, reverse=True)[:ADDED]
    except OSError:
        return found, is_all
    for other in others:
        if other != layout.git_dir and _changed(other) >= span.since:
            lines = _log(other)
            if lines and _NOBODY.fullmatch(lines[0].old.encode()) and span.since <= lines[0].time <= span.until:
                until = span.until if _is_settled(other, span) else span.until - 1
                is_all = is_all and not any(until < line.time <= span.until for line in lines[1:])
                found += [line for line in lines[1:] if line.time <= until]
    return found, is_all


def between(log: list[Movement], span: Span, *, is_settled: bool) -> tuple[list[Movement], bool]:
    """Returns the lines that were surely written between both ends of a call, and whether no others may have been.

    A log has whole seconds: what somebody committed in that second before the call or after it is told from the call's
    own by how long the log was at both ends, or else by where HEAD was. `is_settled` says that nothing was added since.
    """
    lines = [line for line in log if span.since <= line.time <= span.until]
    count = len(lines)
    if not lines:
        return [], True
    heads = [_oid(each) for each in (lines[0].old, *(line.new for line in lines))]
    known = _by_sizes(log, lines, heads, span)
    if known is not None:
        return lines[known[0] : known[1]], True
    first = max((at + 1 for at in range(count) if lines[at].time == span.since), default=0)
    last = count if is_settled else min((at for at in range(count) if lines[at].time == span.until), default=count)
    begins = [at for at in range(first + 1) if heads[at] == span.old]
    ends = [at for at in range(last, count + 1) if heads[at] == span.new]
    pairs = [(begin, end) for begin in begins for end in ends if begin <= end]
    if not pairs:  # HEAD was elsewhere than its log says: what was in the middle is left
        return lines[first:last], first == 0 and last == count
    begin, end = max(begin for begin, _ in pairs), min(end for _, end in pairs)
    return lines[begin:end], len(pairs) == 1


def _by_sizes(log: list[Movement], lines: list[Movement], heads: list[str], span: Span) -> tuple[int, int] | None:
    """Returns which lines were written between two lengths of a log; `None` if it never was as long, or is another."""
    begin, end = (sum(line.end <= size for line in lines) for size in span.sizes)
    if begin > end or not {0, *(line.end for line in log)}.issuperset(span.sizes):
        return None
    is_orphan = begin < end and not _oid(lines[begin].old)  # of that nothing is logged until the first commit
    return (begin, end) if heads[end] == span.new and (heads[begin] == span.old or is_orphan) else None


def _oid(text: str) -> str:
    return "" if _NOBODY.fullmatch(text.encode()) else text


def _is_settled(git_dir: Path, span: Span) -> bool:
    """Says whether HEAD's log was not written to any more when a call had ended."""
    try:
        changed = (git_dir / "logs" / "HEAD").stat().st_mtime_ns // 1000
    except OSError:
        return True
    return changed < span.end - TICK


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0


def _log(git_dir: Path) -> list[Movement]:
    """Returns what the end of HEAD's log says."""
    try:
        with (git_dir / "logs" / "HEAD").open("rb") as file:
            at = file.seek(max(0, os.fstat(file.fileno()).st_size - _TAIL))
            texts = file.read(_TAIL).split(b"\n")
    except OSError:
        return []
    ends = (at + length for length in accumulate(len(text) + 1 for text in texts))
    return [line for text, end in zip(texts, ends, strict=True) if (line := _line(text, end)) is not None]


def _line(text: bytes, end: int) -> Movement | None:
    begin, _, why = text.partition(b"\t")
    words = begin.split(b" ")
    if len(words) < 4 or not words[-2].isdigit() or len(words[0]) not in (40, 64):
        return None
    return Movement(words[0].decode("ascii", "replace"), words[1].decode("ascii", "replace"), int(words[-2]), why, end)
