"""What of ours a plain `git push` would take along, and what of that must stay at home.

`git push --mirror` and globs know nothing of `git pog push`, of the choice whether prompts go to a remote, or of tasks
that are marked local. Judges the lines that git gives a `pre-push` hook; asks nobody, and nothing over the network.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from typing import NamedTuple

from pogstore.store.refs import PRIVATE, TRACKING

SHELF = "refs/pog/shelf/private"
_LINE = re.compile(rb"(\S+) ([0-9a-f]+) (\S+) ([0-9a-f]+)")
_OURS = b"refs/pog"
_TASK = re.compile(r"refs/pog/(?:tasks|content|private)/(\S+)")


class Leaving(NamedTuple):
    """A ref that must not leave, and why: it is `private`, `tracking`, or of a task that is `local`."""

    ref: str
    reason: str


class Rules(NamedTuple):
    """What a person has said about a remote: whether private contents go there, and which tasks go nowhere."""

    private: bool = False
    local: Collection[str] = ()


def leaving(lines: Iterable[bytes], rules: Callable[[], Rules]) -> Iterator[Leaving]:
    """Yields the refs that must stay at home; `rules` is asked only if something of ours is pushed at all.

    A line says local name, local oid, remote name, remote oid. To delete a ref at a remote takes nothing there. What is
    private stays private under another name.
    """
    known = cache(rules)
    for line in lines:
        found = _LINE.fullmatch(line.rstrip(b"\r\n")) if _OURS in line else None
        if found is None or not found[2].strip(b"0"):
            continue
        for name in dict.fromkeys((found[1], found[3])):
            ref = name.decode("utf-8", "backslashreplace")
            reason = _reason(ref, known) if name.startswith(_OURS) else None
            if reason:
                yield Leaving(ref, reason)
                break


def _reason(ref: str, rules: Callable[[], Rules]) -> str | None:
    if ref.startswith(TRACKING):
        return "tracking"
    task = _TASK.fullmatch(ref)
    if task and task[1] in rules().local:
        return "local"
    return "private" if ref.startswith((PRIVATE, SHELF)) and not rules().private else None
