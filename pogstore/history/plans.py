"""What an operation on the work tree would do, and what it did, as values: they can be printed, refused or tested."""

from typing import Literal, NamedTuple

import msgspec

from pogstore import digest
from pogstore.draft import FileVersion
from pogstore.model import EventId, Outcome, Path, Sealed, TaskId
from pogstore.work.writer import Write

Widen = Literal["say", "take", "no"]
Found = Literal["smallest", "clean", "none", "unknown"]
Conflicts = Literal["refuse", "keep", "take"]


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


class Clash(NamedTuple):
    """A path on which the older side was taken in spite of a conflict, and what stood against each other there.

    `base` is what the event left, `ours` what is there now, `theirs` what would be there without the targets. A base
    whose content is not here counts as none.
    """

    path: str
    reason: str
    event: EventId
    base: FileVersion | None
    ours: FileVersion | None
    theirs: FileVersion | None


class Cascade(NamedTuple):
    """Further events that go as well, so that nothing stands in the way.

    `found` says how sure it is: the `smallest` there is; a `clean` one, of which none can be left out, or so it seems,
    since the search was given up; `none` if no event helps; `unknown` if it was given up before one was found.
    """

    events: tuple[EventId, ...]
    found: Found


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
    kept: tuple[Obstacle, ...] = ()
    clashes: tuple[Clash, ...] = ()
    cascade: Cascade | None = None


class Terms(NamedTuple):
    """How far a rollback goes, and what it does about conflicts.

    `widen`: look for further events that stand in the way and name them (`say`), take them as well, or do not look.
    `conflicts`: nothing is written (`refuse`), those paths stay as they are (`keep`), or they get the older side whole.
    `paths`, if given, are the only ones that count; a file that moved counts under either name.
    """

    widen: Widen = "say"
    conflicts: Conflicts = "refuse"
    paths: frozenset[bytes] | None = None
    subtasks: bool = False


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
