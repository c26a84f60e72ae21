"""Bringing one recorded change to a file that is another one than the change found: what the file becomes.

Three-way, from what the change found, between what stands there now and what the change left. Modes are merged apart
from contents, and contents that are no text only where the answer is clear.
"""

from collections.abc import Callable

from pogstore.history.linemerge import is_binary, merge
from pogstore.history.replay_world import SUBMODULE, SYMLINK, Contents, Held
from pogstore.history.takeout import DIFF

Sides = tuple[Held | None, Held | None, Held | None]
"""What a change found, what stands there now, what the change left."""


class Conflicted(Exception):
    """A change that cannot be brought to a file; `reason` is the name of the conflict."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Unverifiable(Exception):
    """Two contents cannot be merged, because one of the three is not here."""


def merged(contents: Contents, sides: Sides, merges_lines: Callable[[], bool]) -> Held | None:
    """Returns what a file becomes; raises `Conflicted` or `Unverifiable`. The file is none of the other two sides.

    `merges_lines` is asked whether lines mean anything to git in this file.
    """
    before, now, after = sides
    if after is None:
        if now is None:
            return None
        raise Conflicted("edited-since")
    if before is None:
        raise Conflicted("recreated-since")
    if now is None:
        raise Conflicted("deleted-since")
    _check_types(before.mode, now.mode, after.mode)
    mode = after.mode if now.mode == before.mode else now.mode
    return Held(mode, _content(contents, (before, now, after), merges_lines))


def _check_types(*modes: str) -> None:
    if SUBMODULE in modes:
        raise Conflicted("submodule")
    if set(modes) == {SYMLINK}:
        raise Conflicted("link-changed")
    if SYMLINK in modes:
        raise Conflicted("type-changed")


def _content(contents: Contents, sides: tuple[Held, Held, Held], merges_lines: Callable[[], bool]) -> str:
    before, now, after = sides
    if after.name in (before.name, now.name) and now.seen:
        return now.name
    if now.name == before.name and after.seen:
        return after.name
    if not all(side.seen for side in sides):
        raise Unverifiable
    if not merges_lines():
        raise Conflicted("binary")
    texts = contents.read(before), contents.read(now), contents.read(after)
    data = merge(*texts, DIFF)
    if data is None:
        raise Conflicted("binary" if any(map(is_binary, texts)) else "overlap")
    return contents.add(data)
