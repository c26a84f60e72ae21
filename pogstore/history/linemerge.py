"""Three-way merge of one text by whole lines.

Two changes conflict only if they touch the same line of the base, or insert different text at the same place. Changes
that merely stand side by side do not: a line that a person typed right below an agent's block stays when the block
goes (`git merge-file` calls that a conflict; see `docs/decisions/0006-adjacent-changes-merge.md`). Pure: the diff comes
in as a function.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from pogstore.history.lines import split

Hunks = Sequence[tuple[int, int, int, int]]
Diff = Callable[[bytes, bytes], Hunks]
SIZE = 7
MARKS = ((b"<", b" ours"), (b"|", b" base"), (b"=", b""), (b">", b" theirs"))
"""The signs of the conflict markers in their order, and what stands behind each."""
_RUN = re.compile(rb"^([<|=>])\1{6,}", re.MULTILINE)
SNIFFED = 8000
"""Bytes in which a NUL makes a content binary, as in git."""


class _Edit(NamedTuple):
    """Lines `start` to `end` of the base (end not included) become `lines`."""

    start: int
    end: int
    lines: tuple[bytes, ...]


class _Region(NamedTuple):
    """Lines of the base with the edits of either side in them; an edit that overlaps with no other is alone."""

    start: int
    end: int
    ours: list[_Edit]
    theirs: list[_Edit]


def is_binary(data: bytes) -> bool:
    """Says whether git would take a content for binary."""
    return b"\0" in data[:SNIFFED]


def merge(base: bytes, ours: bytes, theirs: bytes, hunks: Diff) -> bytes | None:
    """Returns `ours` with what leads from `base` to `theirs`; nothing on a conflict.

    If two of the three are equal, the answer is clear whatever they hold; otherwise a binary one is a conflict.
    """
    if theirs in (base, ours):
        return ours
    if ours == base:
        return theirs
    if any(map(is_binary, (base, ours, theirs))):
        return None
    old = split(base)
    found: list[bytes] = []
    at = 0
    for region in _regions(_edits(split(ours), hunks(base, ours)), _edits(split(theirs), hunks(base, theirs))):
        lines = _settled(old, region)
        if lines is None:
            return None
        found += [*old[at : region.start], *lines]
        at = region.end
    return _joined(found + old[at:])


def marked(base: bytes, ours: bytes, theirs: bytes, hunks: Diff) -> bytes:
    """Returns the merge of three texts with conflict markers as git's style `diff3` has them around what conflicts."""
    old, size = split(base), marker_size(base, ours, theirs)
    end = b"\r\n" if ours.partition(b"\n")[0].endswith(b"\r") else b"\n"
    found: list[bytes] = []
    at = 0
    for region in _regions(_edits(split(ours), hunks(base, ours)), _edits(split(theirs), hunks(base, theirs))):
        lines = _settled(old, region)
        if lines is None:
            mine, other = (_changed(old, region, edits) for edits in (region.ours, region.theirs))
            texts: tuple[list[bytes], ...] = (mine, old[region.start : region.end], other, [])
            marks = [mark * size + label + end for mark, label in MARKS]
            lines = [line for mark, text in zip(marks, texts, strict=True) for line in (mark, *text)]
        found += [*old[at : region.start], *lines]
        at = region.end
    return _joined(found + old[at:])


def marker_size(*texts: bytes) -> int:
    """Returns how long conflict markers must be so that no line of some texts begins like one: seven, as in git."""
    return max(SIZE, *(1 + _longest_run(text) for text in texts))


def has_markers(text: bytes, size: int) -> bool:
    """Says whether a line of a text begins like a conflict marker of a size."""
    marks = tuple(mark * size for mark, _ in MARKS)
    return any(line.startswith(marks) for line in split(text))


def _longest_run(text: bytes) -> int:
    """Returns the length of the longest row of one marker sign at the start of a line, if it is as long as a marker."""
    runs = (len(found[0]) for found in _RUN.finditer(text))
    return max(runs, default=0)


def is_taken_out(before: bytes, after: bytes, now: bytes, hunks: Diff) -> bool:
    """Says whether a change from `before` to `after` is not in a text any more.

    What it touched is there as it was before, untouched by what came since; and the text has more of `before` than of
    `after`, for among lines that are all alike (blank ones, closing brackets) the first alone says little.
    """
    if not is_nearer(now, before, after, hunks):
        return False
    edits = _edits(split(now), hunks(before, now)), _edits(split(after), hunks(before, after))
    return not any(region.ours and region.theirs for region in _regions(*edits))


def is_nearer(text: bytes, one: bytes, other: bytes, hunks: Diff) -> bool:
    """Says whether fewer lines lead from a text to one than to another; of a binary nobody can say."""
    if any(map(is_binary, (text, one, other))):
        return False
    return _distance(one, text, hunks) < _distance(other, text, hunks)


def _distance(one: bytes, other: bytes, hunks: Diff) -> int:
    return sum(old_lines + new_lines for _, old_lines, _, new_lines in hunks(one, other))


def _edits(new: list[bytes], hunks: Hunks) -> list[_Edit]:
    return [
        _Edit(old_start, old_start + old_lines, tuple(new[new_start : new_start + new_lines]))
        for old_start, old_lines, new_start, new_lines in hunks
    ]


def _regions(ours: list[_Edit], theirs: list[_Edit]) -> Iterator[_Region]:
    """Yields the edits of both sides in the order of the base, those that overlap together."""
    marked = [(edit, True) for edit in ours] + [(edit, False) for edit in theirs]
    region = None
    for edit, is_ours in sorted(marked, key=lambda mark: mark[0][:2]):
        if region is None or not _overlaps(region, edit):
            if region is not None:
                yield region
            region = _Region(edit.start, edit.end, [], [])
        region = region._replace(end=max(region.end, edit.end))
        (region.ours if is_ours else region.theirs).append(edit)
    if region is not None:
        yield region


def _overlaps(region: _Region, edit: _Edit) -> bool:
    """Whether an edit that comes next shares a line with a region, inserts inside it, or inserts where it inserts."""
    return edit.start < region.end or edit.start == edit.end == region.start


def _settled(old: list[bytes], region: _Region) -> list[bytes] | None:
    """Returns the lines that a region becomes; nothing if both sides changed it, and not alike."""
    sides = [_changed(old, region, edits) for edits in (region.ours, region.theirs) if edits]
    return sides[0] if all(side == sides[0] for side in sides) else None


def _changed(old: list[bytes], region: _Region, edits: list[_Edit]) -> list[bytes]:
    found: list[bytes] = []
    at = region.start
    for edit in edits:
        found += [*old[at : edit.start], *edit.lines]
        at = edit.end
    return found + old[at : region.end]


def _joined(lines: list[bytes]) -> bytes:
    """Puts lines together; one without a newline that is not the last any more gets one."""
    ended = [line if line.endswith(b"\n") else line + b"\n" for line in lines[:-1]]
    return b"".join([*ended, *lines[-1:]])
