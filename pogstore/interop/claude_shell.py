"""What Claude Code's shell commands did to files whose contents a session knows: nobody looked, but the command tells.

Knows the contents that a session has seen; nothing of lines, events or repositories.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
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


class View(NamedTuple):
    """What a session knows when it runs a command; `older` yields what a path held in commits, the newest first."""

    cwd: str
    roots: Sequence[Parts]
    contents: Contents
    older: Callable[[Place], Iterable[str]]

    def place(self, path: str) -> Place:
        """Returns where a path of the command lies."""
        return place(path, self.cwd, self.roots)


def told(command: str, view: View) -> list[Told]:
    """Returns what a command that went well has made of files, each path once, and remembers their contents.

    What moves or copies a file that nobody has read is not told, nor what continues one that was not committed either.
    """
    found: dict[Parts, Told] = {}
    for effect in effects(command):
        for each in _made(effect, view):
            _add(found, each)
    return [each for each in found.values() if each.where.relative and (each.from_ or each.before != each.after)]


def _add(found: dict[Parts, Told], each: Told) -> None:
    """Adds what happened to a path to what the same command did to it before."""
    earlier = found.pop(each.where.whole, None)
    if earlier is not None:
        each = each._replace(before=earlier.before, from_=earlier.from_, unsure=earlier.unsure)
    found[each.where.whole] = each


def _made(effect: Effect, view: View) -> Iterator[Told]:
    match effect:
        case Wrote(path, text, append):
            yield from _written(view.place(path), text, append, view)
        case Copied(sources, path, append, lines):
            texts = [view.contents.held(view.place(source).whole) for source in sources]
            known = [_first(text, lines) for text in texts if text is not None]
            if len(known) == len(texts):
                yield from _written(view.place(path), "".join(known), append, view)
        case Moved(old, new):
            yield from _moved(old, new, view)


def _first(text: str, lines: int | None) -> str:
    every = text.split("\n")
    return text if lines is None or len(every) <= lines else "".join(f"{line}\n" for line in every[:lines])


def _written(where: Place, text: str, append: bool, view: View) -> Iterator[Told]:
    before = view.contents.held(where.whole)
    if append:
        before = before if before is not None else next(iter(view.older(where)), None)
        if before is None:
            return
        text = before + text
    view.contents.wrote(where.whole, text)
    yield Told(where, before, text, unsure=before is None)


def _moved(old: str, new: str, view: View) -> Iterator[Told]:
    """Yields the files that have other names: the one that is named, or all known ones below it."""
    source, target = view.place(old).whole, view.place(new).whole
    paths = view.contents.paths()
    if new.endswith("/") or any(holds(target, path) and path != target for path in paths):
        target = (*target, source[-1])
    for path in paths:
        if not holds(source, path):
            continue
        was, now = placed(path, view.roots), placed((*target, *path[len(source) :]), view.roots)
        replaced = view.contents.held(now.whole)
        text = view.contents.moved(was.whole, now.whole)
        if text is not None and now.relative is not None:
            yield Told(now, text if was.relative else replaced, text, was.relative)
        elif text is not None:
            yield Told(was, text, None)
