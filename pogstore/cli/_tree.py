"""A graph drawn as a tree: what was shown once is then only marked, and a cycle ends where it closes."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeVar

Key = TypeVar("Key")
MOST_INDENTED = 40
"""Levels that are indented; deeper ones say how deep they are."""


class Branch(NamedTuple):
    """One line of a tree and what lies below it; `key` is absent where nothing can."""

    text: str
    key: object = None


class _Frame(NamedTuple):
    """A node whose branches are being drawn."""

    key: object
    prefix: str
    rest: deque[Branch]


def tree(root: Key, below: Callable[[Key], Iterable[Branch]], level: Mapping[Key, int]) -> Iterator[str]:
    """Yields the lines below a root. A node is drawn whole once, at its level; elsewhere it is marked."""
    drawn: set[object] = {root}
    way: set[object] = {root}
    frames = [_Frame(root, "", deque(below(root)))]
    while frames:
        frame = frames[-1]
        if not frame.rest:
            way.discard(frames.pop().key)
            continue
        branch = frame.rest.popleft()
        corner, bar = ("├─ ", "│  ") if frame.rest else ("└─ ", "   ")
        deep = f"({len(frames)}) " if len(frames) > MOST_INDENTED else ""
        key: Key = branch.key  # type: ignore[assignment]
        whole = branch.key is not None and branch.key not in drawn and level[key] == len(frames)
        mark = "" if whole or branch.key is None else _mark(branch.key, drawn, way)
        yield f"{frame.prefix}{corner}{deep}{branch.text}{mark}"
        if whole:
            drawn.add(branch.key)
            way.add(branch.key)
            prefix = frame.prefix if deep else frame.prefix + bar
            frames.append(_Frame(branch.key, prefix, deque(below(key))))


def _mark(key: object, drawn: set[object], way: set[object]) -> str:
    if key in way:
        return " (a cycle: above)"
    return " (above)" if key in drawn else " (below)"
