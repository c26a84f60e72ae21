"""What a person may write for a task or an event: a unique prefix of its id, an alias, `@`, `TASK@{3}`, `TASK@{DATE}`.

Knows the syntax of names and where to look them up; the active task arrives as an argument.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from pogstore.errors import AmbiguousName, BadInput, NotFound
from pogstore.history.tasks import summaries
from pogstore.model import EventId, Sealed, TaskId
from pogstore.store import rows
from pogstore.store.store import Store

NOUN = "task or event"
"""What is not there if nothing has a name."""

Active = Callable[[int], TaskId | None]
"""Returns the active task, or the one that was active so many changes ago."""

_HEX = re.compile(r"[0-9a-f]{4,64}\Z")
_UUID_PREFIX = re.compile(r"[0-9a-f]{4,8}(?:-[0-9a-f-]*)?\Z")
_TOO_SHORT = re.compile(r"[0-9a-f]{1,3}\Z")
_SUFFIXED = re.compile(r"(?P<task>.*)@\{(?P<point>[^{}]+)\}\Z", re.DOTALL)


class Named(NamedTuple):
    """What a name means: a task, or one of its events."""

    task: TaskId
    event_id: EventId | None = None


def resolve(store: Store, name: str, active: Active) -> Named:
    """Returns the task or event that a name means; raises `NotFound`, `AmbiguousName` or `BadInput`."""
    match = _SUFFIXED.match(name)
    if match and not name.startswith("@{-"):
        task = resolve_task(store, match["task"] or "@", active)
        return Named(task, _event_at(store, task, match["point"]).event_id)
    tasks, events = _candidates(store, name, active)
    if len(tasks) + len(events) > 1:
        raise AmbiguousName(name, [*tasks, *(event_id[:16] for event_id in events)])
    if tasks:
        return Named(tasks[0])
    if events:
        return Named(store.event(events[0]).event.task, events[0])
    raise NotFound(NOUN, name, _hint(name))


def resolve_task(store: Store, name: str, active: Active) -> TaskId:
    """Returns the task that a name means; raises `NotFound` or `AmbiguousName`."""
    found = find_tasks(store, name, active)
    if not found:
        raise NotFound("task", name, _hint(name))
    if len(found) > 1:
        raise AmbiguousName(name, found)
    return found[0]


def find_tasks(store: Store, name: str, active: Active) -> list[TaskId]:
    """Returns every task that a name may mean."""
    if name == "@" or re.fullmatch(r"@\{-\d{1,4}\}", name):
        back = 0 if name == "@" else int(name[3:-1])
        found = active(back)
        if found is None:
            raise NotFound("active task", name, "start one with 'git pog start TASK'")
        return [found]
    tasks = sorted({*store.tasks(), *store.damaged_tasks()})
    lowered = name.lower()
    if lowered in tasks:
        return [TaskId(lowered)]
    if _UUID_PREFIX.match(lowered):
        matching = [task for task in tasks if task.startswith(lowered)]
        if matching:
            return matching
    return [line.task for line in summaries(store) if any(alias.lower() == lowered for alias in line.aliases)]


def _hint(name: str) -> str:
    """Returns what helps somebody whose name means nothing; a beginning of an id may just be too short."""
    if _TOO_SHORT.match(name.lower()):
        return "a prefix of an id needs at least four digits; 'git pog list --all' shows the ids"
    return "try 'git pog list --all'"


def _candidates(store: Store, name: str, active: Active) -> tuple[list[TaskId], list[EventId]]:
    tasks = find_tasks(store, name, active)
    events = store.event_ids(name) if _HEX.match(name) else []
    return tasks, events


def _event_at(store: Store, task: TaskId, point: str) -> Sealed:
    """Returns the `n`th last event of a task (1 is the last), or the newest one that is not later than a date."""
    events = store.events(task)
    if re.fullmatch(r"[0-9]{1,8}", point):
        if not 0 < int(point) <= len(events):
            raise NotFound("event", f"{task}@{{{point}}}", _how_many(len(events)))
        return events[-int(point)]
    limit = _moment(point)
    earlier = [sealed for sealed in events if sealed.event.time <= limit]
    if not earlier:
        raise NotFound("event", f"{task}@{{{point}}}", "the task has none that old")
    return earlier[-1]


def _how_many(events: int) -> str:
    return "the task has 1 event" if events == 1 else f"the task has {events} events, of which 1 is the last"


def _moment(text: str) -> int:
    """Returns a date or time in ISO 8601 as µs since the epoch; a date alone means its end, no zone means UTC."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise BadInput(f"'{text}'", "neither a number nor a date such as 2026-11-30") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    whole_day = len(text) <= len("2026-11-30")
    return int(moment.timestamp()) * 1_000_000 + (86_400_000_000 - 1 if whole_day else 999_999)


def shortest(ids: Sequence[str], name: str, at_least: int = 8) -> str:
    """Returns the shortest prefix of an id that no other id of a sorted list begins with.

    Costs the same for one of thousands: who shares most of it stands beside it.
    """
    at = bisect_left(ids, name)
    beside = [other for other in ids[max(0, at - 1) : at + 2] if other != name]
    length = at_least
    while any(other.startswith(name[:length]) for other in beside) and length < len(name):
        length += 1
    return name[:length]


def carrier_of(store: Store, event_id: EventId) -> str | None:
    """Returns the git commit that carries an event, for `git cat-file` and friends."""
    store.refresh()
    return rows.carrier_oid(store.index.connection, event_id)
