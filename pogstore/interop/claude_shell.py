"""What Claude Code's shell commands did to files whose contents a session knows: nobody looked, but the command tells.

Knows the contents that a session has seen; nothing of lines, events or repositories.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pogstore.interop.claude_edits import Contents
from pogstore.interop.recorded_paths import Parts, Place, holds, place, placed
from pogstore.interop.shell_writes import Copied, Effect, Moved, Wrote, effects


class Told(NamedTuple):
    """One path before and after a command, by what the command says; `from_` is the name that it had.

    With `unsure` an absent `before` is one that nobody has seen.
    """

    where: Place
    before: str | None
    after: str | None
    from_: str | None = None
    unsure: bool = False


def told(command: str, cwd: str, roots: Sequence[Parts], contents: Contents) -> list[Told]:
    """Returns what a command that went well has made of files, each path once, and remembers their contents.

    What continues a file that nobody has read, or moves or copies one, is not told.
    """
    found: dict[Parts, Told] = {}
    for effect in effects(command):
        for each in _made(effect, cwd, roots, contents):
            _add(found, each)
    return [each for each in found.values() if each.where.relative and (each.from_ or each.before != each.after)]


def _add(found: dict[Parts, Told], each: Told) -> None:
    """Adds what happened to a path to what the same command did to it before."""
    earlier = found.pop(each.where.whole, None)
    if earlier is not None:
        each = each._replace(before=earlier.before, from_=earlier.from_, unsure=earlier.unsure)
    found[each.where.whole] = each


def _made(effect: Effect, cwd: str, roots: Sequence[Parts], contents: Contents) -> Iterator[Told]:
    match effect:
        case Wrote(path, text, append):
            yield from _written(place(path, cwd, roots), text, append, contents)
        case Copied(sources, path, append, lines):
            texts = [contents.held(place(source, cwd, roots).whole) for source in sources]
            known = [_first(text, lines) for text in texts if text is not None]
            if len(known) == len(texts):
                yield from _written(place(path, cwd, roots), "".join(known), append, contents)
        case Moved(old, new):
            yield from _moved(old, new, cwd, roots, contents)


def _first(text: str, lines: int | None) -> str:
    every = text.split("\n")
    return text if lines is None or len(every) <= lines else "".join(f"{line}\n" for line in every[:lines])


def _written(where: Place, text: str, append: bool, contents: Contents) -> Iterator[Told]:
    before = contents.held(where.whole)
    if append and before is None:
        return
    contents.wrote(where.whole, f"{before}{text}" if append else text)
    yield Told(where, before, f"{before}{text}" if append else text, unsure=before is None)


def _moved(old: str, new: str, cwd: str, roots: Sequence[Parts], contents: Contents) -> Iterator[Told]:
    """Yields the files that have other names: the one that is named, or all known ones below it."""
    source, target = place(old, cwd, roots).whole, place(new, cwd, roots).whole
    paths = contents.paths()
    if new.endswith("/") or any(holds(target, path) and path != target for path in paths):
        target = (*target, source[-1])
    for path in paths:
        if not holds(source, path):
            continue
        was, now = placed(path, roots), placed((*target, *path[len(source) :]), roots)
        replaced = contents.held(now.whole)
        text = contents.moved(was.whole, now.whole)
        if text is not None and now.relative is not None:
            yield Told(now, text if was.relative else replaced, text, was.relative)
        elif text is not None:
            yield Told(was, text, None)
