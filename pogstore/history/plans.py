"""What an operation on the work tree would do, and what it did, as values: they can be printed, refused or tested."""

from typing import NamedTuple

import msgspec

from pogstore import digest
from pogstore.draft import FileVersion
from pogstore.model import EventId, Outcome, Path, Sealed, TaskId
from pogstore.work.writer import Write


class Effect(NamedTuple):
    """One path before and after, in git's cleaned form; `older` is the name that its file has now."""

    path: str
    older: str | None
    before: FileVersion | None
    after: FileVersion | None


class TaskPlan(NamedTuple):
    """What an operation does for one task: what that task's own event will say.

    The effects of an operation are divided among its tasks; no path is in two of them.
    """

    task: TaskId
    targets: tuple[EventId, ...]
    outcomes: tuple[Outcome, ...]
    effects: tuple[Effect, ...]


class Obstacle(NamedTuple):
    """A path that stands in the way: the conflict by its name, the event, and the later events on the path."""

    path: Path
    reason: str
    event: EventId
    later: tuple[EventId, ...]


class Left(NamedTuple):
    """A path that is left as it is, because another file system would read its name otherwise, and why."""

    path: Path
    reason: str


class Plan(NamedTuple):
    """What an operation would do. With obstacles nothing is ever written; without writes there is nothing to do.

    `unchanged` are paths that the plan relies on and leaves as they are: if one of them changes, the plan is void.
    `left` are paths that no operation of ours writes, so that they stay as they are. `skipped` counts the recorded
    changes outside the repository, which nobody takes back. `uncovered` are the tool calls that were asked for and may
    have done more than was recorded: nobody compared, or it was not done to files.
    """

    tasks: tuple[TaskPlan, ...]
    writes: tuple[Write, ...]
    obstacles: tuple[Obstacle, ...]
    unchanged: tuple[Write, ...] = ()
    skipped: int = 0
    uncovered: tuple[EventId, ...] = ()
    left: tuple[Left, ...] = ()


class Done(NamedTuple):
    """What was done, and the events that say so, one or more for each task; none if there was nothing to do."""

    plan: Plan
    events: tuple[Sealed, ...]


def digest_of(plan: Plan) -> str:
    """Returns 64 hex digits over everything that a plan would do and what it relies on: the world moved if they differ.

    Contents count by their hashes; each value is told apart from its neighbours by its kind and its length.
    """
    return digest.hexdigest(_canonical(plan))


def _canonical(value: object) -> bytes:
    match value:
        case None:
            return _framed(b"n", b"")
        case FileVersion():
            return _framed(b"f", _canonical((value.mode, digest.hexdigest(value.data))))
        case str():
            return _framed(b"s", value.encode("utf-8", "surrogateescape"))
        case int():
            return _framed(b"i", str(int(value)).encode())
        case tuple():
            return _framed(b"t", b"".join(map(_canonical, value)))
        case _:
            return _framed(b"o", msgspec.json.encode(value, order="sorted"))


def _framed(kind: bytes, data: bytes) -> bytes:
    return b"%b%d:%b" % (kind, len(data), data)
