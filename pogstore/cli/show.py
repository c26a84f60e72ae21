"""`git pog show`: one task, or one event with its texts."""

import click

from pogstore.cli._context import Env, pass_env
from pogstore.cli._events import SHORT, event_line, render_event
from pogstore.cli._options import json_option, pog_command
from pogstore.cli._render import echo_json, safe, tell
from pogstore.cli._task import render_task
from pogstore.cli._values import event_value, task_value, texts_of
from pogstore.history.names import Named
from pogstore.history.redactions import counts, redactions
from pogstore.history.tasks import read_state, summaries
from pogstore.model import EventId, TaskId

LAST = 5
"""So many events are shown of a task, unless all are asked for."""


@pog_command("show", {3: "damaged store"})
@click.argument("name", default="@", metavar="[NAME]")
@click.option("--events", is_flag=True, help="All events of the task, not only the last.")
@click.option("--redacted", is_flag=True, help="Only where secrets were taken out of texts, and of what kinds.")
@json_option
@pass_env
def command(env: Env, name: str, events: bool, redacted: bool, as_json: bool) -> None:
    """Show a task, or an event with its texts.

    Of a task: its contract, its state and its last events.

    NAME is a prefix of an id, an alias, @ for the active task, @{-1} for the one before, TASK@{3} for its third last
    event, or TASK@{2026-11-30} for its last one of that day.
    """
    env.at_one_moment()
    named = env.named(name)
    if redacted:
        _show_redacted(env, named, as_json)
    elif named.event_id is not None:
        _show_event(env, named.event_id, as_json)
    else:
        _show_task(env, named.task, events, as_json)


def _show_redacted(env: Env, named: Named, as_json: bool) -> None:
    """Prints kinds and places, and never what stood there: nobody here knows it any more."""
    events = env.store.events(named.task) if named.event_id is None else [env.store.event(named.event_id)]
    found = list(redactions(env.store, events))
    if as_json:
        echo_json({"counts": counts(found), "places": [each._asdict() for each in found]})
        return
    if not found:
        tell("nothing was redacted in the texts that are here")
    env.page(f"{each.event[:SHORT]} {safe(each.field)}, line {each.line}: {each.kind}" for each in found)


def _show_event(env: Env, event_id: EventId, as_json: bool) -> None:
    sealed = env.store.event(event_id)
    texts = texts_of(env.store, sealed)
    if as_json:
        echo_json(event_value(sealed) | {"texts": texts})
        return
    env.page(render_event(sealed, texts, env.store))


def _show_task(env: Env, task: TaskId, every: bool, as_json: bool) -> None:
    now = read_state(env.store, task)
    value = task_value(env.store, task, now, env.time)
    events = env.store.events(task)
    if as_json:
        echo_json(value | ({"events": [event_value(sealed) for sealed in events]} if every else {}))
        return
    linked = {link.task for link in now.links if link.task}
    others = {line.task: line for line in summaries(env.store, linked & set(env.store.tasks()))}
    shown = events if every else events[-LAST:]
    env.page(render_task(value, now, others, env.time, [event_line(sealed, env.store) for sealed in shown]))
