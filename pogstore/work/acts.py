"""What every verb about a task begins with: who acts, the state it is judged by, the fields that all events have."""

from collections.abc import Callable
from typing import NamedTuple, TypedDict

from pogstore import state
from pogstore.errors import IllegalTransition, Incomplete
from pogstore.model import FORMAT, STATUSES, Actor, Event, Link, Sealed, TaskId
from pogstore.state import TaskState
from pogstore.store.batch import Batch
from pogstore.store.store import Store


class By(NamedTuple):
    """Who acts, when, and in which work tree."""

    actor: Actor
    time: int
    offset: int = 0
    worktree: str | None = None


class Common(TypedDict):
    """What every event has; the batch sets parents and clock."""

    v: int
    task: TaskId
    clock: int
    time: int
    offset: int
    actor: Actor
    worktree: str | None
    links: tuple[Link, ...]


def common(task: TaskId, by: By, links: tuple[Link, ...] = ()) -> Common:
    """Returns the fields that every event has."""
    return Common(
        v=FORMAT,
        task=task,
        clock=1,
        time=by.time,
        offset=by.offset,
        actor=by.actor,
        worktree=by.worktree,
        links=links,
    )


def read_state(store: Store, task: TaskId) -> TaskState:
    """Returns the state of a task; raises `NotFound` if it has no events."""
    return state.fold(store.events(task))


def judged(store: Store, batch: Batch, task: TaskId) -> TaskState:
    """Returns the state that a write is judged by; the batch then notices if it moved meanwhile.

    Raises `Incomplete` where a newer pogstore is needed to know it.
    """
    batch.head(task)
    now = read_state(store, task)
    if now.incomplete:
        raise Incomplete(f"task '{task}'", now.incomplete)
    return now


def write_event(store: Store, task: TaskId, make: Callable[[TaskState], Event]) -> Sealed:
    """Writes one event that is made from the state of its task."""
    return store.transact(lambda batch: batch.append(make(judged(store, batch, task))))


def check_move(task: TaskId, now: TaskState, status: str) -> None:
    """Raises `IllegalTransition` if the table of transitions has no such edge."""
    old = now.status or "pending"
    if old in STATUSES and not state.legal(old, status):  # from what only others know, any way out will do
        legal = state.TRANSITIONS.get(old, frozenset())
        start_first = old != status and "in_progress" in legal and state.legal("in_progress", status)
        raise IllegalTransition(task, old, status, sorted(legal), start_first=start_first)
