"""`git pog point`: a name for a rollback point."""

import click

from pogstore.cli._context import Env, pass_env
from pogstore.cli._events import SHORT, event_line
from pogstore.cli._options import as_option, json_option, pog_command
from pogstore.cli._render import echo, echo_json, safe, tell
from pogstore.errors import NotFound
from pogstore.history.pointnames import check_name, name_point
from pogstore.history.points import newest_event
from pogstore.model import EventId
from pogstore.work.actors import unsecret


@pog_command("point")
@click.argument("name", metavar="NAME")
@click.argument("event", default="@", metavar="[EVENT]")
@as_option
@json_option
@pass_env
def command(env: Env, name: str, event: str, as_json: bool) -> None:
    """Name a rollback point, so that it can be found again.

    Without EVENT it is the last one of the active task in this work tree; of a task that is named, its last one here. A
    name that is used again moves to the new point. It travels with the task.
    """
    check_name(unsecret(name, "NAME"))
    event_id = _event(env, event)
    marked = name_point(env.store, event_id, name, env.by)
    if as_json:
        own = {"name": name, "event": event_id, "task": marked.written.event.task}
        echo_json(own | {"former": marked.former, "noted": marked.written.event_id})
        return
    echo(f"point {safe(name)}: {event_line(env.store.event(event_id), env.store)}")
    if marked.former is not None and marked.former != event_id:
        tell(f"it was on {marked.former[:SHORT]} before")


def _event(env: Env, name: str) -> EventId:
    named = env.named(name)
    found = named.event_id or newest_event(env.store, named.task, env.worktree)
    if found is None:
        raise NotFound("event of this work tree", name, "name an event; 'git pog log' shows them")
    return found
