"""Patches in the form of `apply_patch`, taken apart and applied to texts as the tool itself does. Pure.

Where a hunk does not match a text to the letter it is not applied: the tool would be more lenient, but nobody could say
what it made of the file.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pogstore.interop.patched_paths import ADD, BEGIN, DELETE, END, MOVE, UPDATE

_END_OF_FILE = "*** End of File"
_CONTEXT = "@@"


class Hunk(NamedTuple):
    """Some lines of a file and what they become; `context` is a line above them, if one is named."""

    context: str | None
    old: tuple[str, ...]
    new: tuple[str, ...]
    at_end: bool = False


class Patched(NamedTuple):
    """What a patch does to one file: `content` of a new one, `gone`, or `hunks`, perhaps under another name, `to`."""

    path: str
    content: str | None = None
    hunks: tuple[Hunk, ...] = ()
    to: str | None = None
    gone: bool = False

    def applied(self, text: str) -> str | None:
        """Returns what the hunks make of a text; `None` if one of them does not match it."""
        return applied(text, self.hunks)


def parse(patch: str) -> list[Patched]:
    """Returns what a patch does, file by file; text around it, as of a shell's here-document, is passed over."""
    lines = patch.replace("\r\n", "\n").split("\n")
    begin = next((at for at, line in enumerate(lines) if line.strip().endswith(BEGIN)), None)
    if begin is None:
        return []
    end = next((at for at, line in enumerate(lines) if at > begin and line.strip() == END), len(lines))
    return list(_files(lines[begin + 1 : end]))


def _files(lines: Sequence[str]) -> Iterator[Patched]:
    at = 0
    while at < len(lines):
        head, at = lines[at].strip(), at + 1
        if head.startswith(ADD):
            size = _run(lines, at, "+")
            yield Patched(head[len(ADD) :].strip(), content="".join(f"{line[1:]}\n" for line in lines[at : at + size]))
            at += size
        elif head.startswith(DELETE):
            yield Patched(head[len(DELETE) :].strip(), gone=True)
        elif head.startswith(UPDATE):
            to = None
            if at < len(lines) and lines[at].startswith(MOVE):
                to, at = lines[at][len(MOVE) :].strip(), at + 1
            size = next((n for n, line in enumerate(lines[at:]) if _is_next(line)), len(lines) - at)
            yield Patched(head[len(UPDATE) :].strip(), hunks=tuple(_hunks(lines[at : at + size])), to=to)
            at += size


def _run(lines: Sequence[str], at: int, mark: str) -> int:
    return next((n for n, line in enumerate(lines[at:]) if not line.startswith(mark)), len(lines) - at)


def _is_next(line: str) -> bool:
    return line.startswith("*** ") and line.rstrip() != _END_OF_FILE


def _hunks(lines: Sequence[str]) -> Iterator[Hunk]:
    context: str | None = None
    old: list[str] = []
    new: list[str] = []
    for line in lines:
        if line.startswith(_CONTEXT) or line.rstrip() == _END_OF_FILE:
            if old or new:
                yield Hunk(context, tuple(old), tuple(new), at_end=not line.startswith(_CONTEXT))
            old, new, context = [], [], None
            if line.startswith(_CONTEXT):
                context = line[len(_CONTEXT) :].removeprefix(" ") or None
        else:
            mark, rest = line[:1], line[1:]
            old += [rest] if mark != "+" else []
            new += [rest] if mark != "-" else []
    if old or new:
        yield Hunk(context, tuple(old), tuple(new))


def applied(text: str, hunks: Sequence[Hunk]) -> str | None:
    """Returns what hunks make of a text, each behind the one before; `None` if one of them does not match it.

    The cost is linear. `at` and `place` are where the line end before a line stands.
    """
    lines = "\n" + (text if not text or text.endswith("\n") else f"{text}\n")
    made: list[str] = []
    at = 0
    for hunk in hunks:
        begin = at
        if hunk.context is not None:
            begin = lines.find(f"\n{hunk.context}\n", at)
            if begin < 0:
                return None
            begin += len(hunk.context) + 1
        wanted = "".join(f"\n{line}" for line in hunk.old)
        place = _place(lines, hunk, wanted, begin)
        if place < begin:
            return None
        made += [lines[at:place], *(f"\n{line}" for line in hunk.new)]
        at = place + len(wanted)
    return "".join([*made, lines[at:]])[1:] if hunks else None


def _place(lines: str, hunk: Hunk, wanted: str, begin: int) -> int:
    """Returns where a hunk matches; something before `begin` if it does not."""
    if not hunk.old:  # only new lines: they go to the end, or behind the context
        return begin if hunk.context is not None else len(lines) - 1
    if hunk.at_end:
        return len(lines) - len(wanted) - 1 if lines.endswith(f"{wanted}\n") else -1
    return lines.find(f"{wanted}\n", begin)
