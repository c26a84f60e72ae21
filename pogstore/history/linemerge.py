"""Three-way merge of one text by whole lines.

Two changes conflict only if they touch the same line of the base, or insert different text at the same place. Changes
that merely stand side by side do not: a line that a person typed right below an agent's block stays when the block
goes (`git merge-file` calls that a conflict; see `docs/decisions/0006-adjacent-changes-merge.md`). Pure: the diff comes
in as a function.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pogstore.history.lines import split

Hunks = Sequence[tuple[int, int, int, int]]
SNIFFED = 8000
"""Bytes in which a NUL makes a content binary, as in git."""


class _Edit(NamedTuple):
    """Lines `start` to `end` of the base (end not included) become `lines`."""

    start: int
    end: int
    lines: tuple[bytes, ...]


def is_binary(data: bytes) -> bool:
    """Says whether git would take a content for binary."""
    return b"\0" in data[:SNIFFED]


def merge(base: bytes, ours: bytes, theirs: bytes, hunks: Callable[[bytes, bytes], Hunks]) -> bytes | None:
    """Returns `ours` with what leads from `base` to `theirs`; nothing on a conflict, or if one of them is binary."""
    if any(map(is_binary, (base, ours, theirs))):
        return None
    edits = _edits(split(ours), hunks(base, ours))
    for edit in _edits(split(theirs), hunks(base, theirs)):
        if edit in edits:
            continue
        if any(_clash(edit, other) for other in edits):
            return None
        edits.append(edit)
    lines = split(base)
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end), reverse=True):
        lines[edit.start : edit.end] = edit.lines
    return _joined(lines)


def _edits(new: list[bytes], hunks: Hunks) -> list[_Edit]:
    return [
        _Edit(old_start, old_start + old_lines, tuple(new[new_start : new_start + new_lines]))
        for old_start, old_lines, new_start, new_lines in hunks
    ]


def _clash(one: _Edit, other: _Edit) -> bool:
    """Whether two edits share a line, or insert at the same place, or one inserts inside what the other replaces."""
    if one.start == one.end and other.start == other.end:
        return one.start == other.start
    return one.start < other.end and other.start < one.end


def _joined(lines: list[bytes]) -> bytes:
    """Puts lines together; one without a newline that is not the last any more gets one."""
    ended = [line if line.endswith(b"\n") else line + b"\n" for line in lines[:-1]]
    return b"".join([*ended, *lines[-1:]])
