"""What the store knows already of the tasks to which the records of hooks belong."""

import os
from pathlib import Path

from pogstore import state
from pogstore.agents import drafts
from pogstore.errors import NotFound, PogError
from pogstore.history import names
from pogstore.model import Defined, Opaque, Stepped, TaskId
from pogstore.store.store import Store
from pogstore.work import spool
from pogstore.work.active import active_task


class Told:
    """What the store knows of one task: the calls and records that are stored, its status, the models of sessions."""

    def __init__(self, store: Store, task: TaskId) -> None:
        self.calls: set[tuple[str, str]] = set()
        self.keys: set[str] = set()
        self.models: dict[str, str] = {}
        self.parent: TaskId | None = None
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
            self.parent = next((each.task for each in event.links if each.rel == drafts.GOES_ON), self.parent)
            actor = event.actor
            if actor.session and actor.model and actor.agent_id is None:
                self.models[actor.session] = actor.model
            if isinstance(event, Stepped) and event.call_id and actor.session:
                self.calls.add((actor.session, event.call_id))


def find_task(store: Store, name: str, git_dir: bytes) -> TaskId | None:
    """Returns the task that a record names, or that is active in its work tree if it is of an older hook."""
    layout = store.layout._replace(git_dir=Path(os.fsdecode(git_dir)))
    if name == spool.NO_TASK:
        return None
    if name:
        try:
            return names.resolve_task(store, name, lambda back: active_task(layout, back))
        except PogError:
            return None
    return active_task(layout)
