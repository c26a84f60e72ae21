"""What the store knows already of the tasks to which the records of hooks belong."""

import os
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from pogstore import state
from pogstore.agents import drafts
from pogstore.errors import NotFound, PogError
from pogstore.history import names
from pogstore.model import Defined, Link, Moved, Opaque, Stepped, TaskId
from pogstore.store.layout import Layout
from pogstore.store.store import Store
from pogstore.work import spool
from pogstore.work.active import active_task, leave
from pogstore.work.bounds import Bounds, bounds_of


class Told:
    """What the store knows of one task: the calls and records that are stored, its status, sessions and models."""

    def __init__(self, store: Store, task: TaskId) -> None:
        self.calls: set[tuple[str, str]] = set()
        self.keys: set[str] = set()
        self.models: dict[str, str] = {}
        self.sessions: set[str] = set()
        self.placed: set[str] = set()
        """The sessions whose environment was told."""
        self._store, self._task = store, task
        self.parent: Link | None = None
        self.is_defined = False
        self.status: str | None = None
        try:
            events = store.events(task)
        except NotFound:
            return
        self.status = state.fold(events).status
        for sealed in events:
            event = sealed.event
            if isinstance(event, Opaque):
                continue
            self.is_defined = self.is_defined or isinstance(event, Defined)
            if event.source is None or event.source.format != drafts.LIVE:
                continue
            self.keys.add(event.source.key)
            self.parent = next((each for each in event.links if each.rel in drafts.PARENTS), self.parent)
            actor = event.actor
            if actor.session:
                self.sessions.add(actor.session)
            if actor.session and actor.model and actor.agent_id is None:
                self.models[actor.session] = actor.model
            if isinstance(event, Stepped) and event.env is not None and actor.session:
                self.placed.add(actor.session)
            if isinstance(event, Stepped) and event.call_id and actor.session:
                self.calls.add((actor.session, event.call_id))

    @cached_property
    def bounds(self) -> Bounds:
        """What limits it by its definition."""
        return bounds_of(self._store, self._task)


class Named(NamedTuple):
    """The task of some records; none means each session's own. From `until` on, in µs, it is each session's own."""

    task: TaskId | None
    until: int | None = None


def find_task(store: Store, name: str, git_dir: bytes) -> Named:
    """Returns the task that a record names, or that is active in its work tree if it is of an older hook.

    A task that has ended, say in another work tree, is not the active one any more, and what was told since its end
    is not of it.
    """
    layout = store.layout._replace(git_dir=Path(os.fsdecode(git_dir)))
    found = _find_task(store, name, layout)
    ended = _ended(store, found) if found is not None and found == active_task(layout) else None
    if ended is not None and found is not None:
        leave(layout, found)
    return Named(found, ended)


def left_task(store: Store, git_dir: bytes) -> TaskId | None:
    """Returns the task that was the last to be active in a work tree, where none is."""
    layout = store.layout._replace(git_dir=Path(os.fsdecode(git_dir)))
    return active_task(layout, 1) if active_task(layout) is None else None


def _find_task(store: Store, name: str, layout: Layout) -> TaskId | None:
    if name == spool.NO_TASK:
        return None
    if name:
        try:
            return names.resolve_task(store, name, lambda back: active_task(layout, back))
        except PogError:
            return None
    return active_task(layout)


def _ended(store: Store, task: TaskId) -> int | None:
    """Returns when a task ended, if it has."""
    try:
        events = store.events(task)
    except PogError:
        return None
    if not state.fold(events).ended:
        return None
    moves = [sealed.event for sealed in events if isinstance(sealed.event, Moved)]
    return max(event.time for event in moves if state.is_end(event.status))
