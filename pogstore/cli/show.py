"""`git pog show`: one task, or one event with its texts."""

import click
import msgspec

from pogstore.cli._context import Env, pass_env
from pogstore.cli._events import event_line, render_event
from pogstore.cli._options import json_option, pog_command
from pogstore.cli._render import day, echo_json, page, safe
from pogstore.cli._values import Value, event_value, task_value, texts_of
from pogstore.history.names import Named
from pogstore.history.tasks import read_state, summaries
from pogstore.model import EventId, Link, TaskId
from pogstore.state import TaskState


@pog_command("show", {3: "damaged store"})
@click.argument("name", default="@")
@click.option("--events", is_flag=True, help="With --json: the events of the task as well.")
@json_option
@pass_env
def command(env: Env, name: str, events: bool, as_json: bool) -> None:
    """Show a task (its contract, state and last events), or an event with its texts.

    NAME is a prefix of an id, an alias, @ for the active task, TASK@{3} or TASK@{2026-11-30}.
    """
    named = env.named(name)
    if named.event_id is not None:
        _show_event(env, named.event_id, as_json)
    else:
        _show_task(env, named, events, as_json)


def _show_event(env: Env, event_id: EventId, as_json: bool) -> None:
    sealed = env.store.event(event_id)
    texts = texts_of(env.store, sealed)
    if as_json:
        echo_json(event_value(sealed) | {"texts": texts})
        return
    page(render_event(sealed, texts), env.pager)


def _show_task(env: Env, named: Named, events: bool, as_json: bool) -> None:
    now = read_state(env.store, named.task)
    value = task_value(env.store, named.task, now)
    if as_json:
        if events:
            value["events"] = [event_value(sealed) for sealed in env.store.events(named.task)]
        echo_json(value)
        return
    page(_render_task(env, value, now), env.pager)


def _render_task(env: Env, value: Value, now: TaskState) -> list[str]:
    lines = [
        f"task {value['task']}",
        f"Title:    {safe(str(value['title']))}",
        f"Status:   {safe(str(value['status']))}",
    ]
    lines += [
        f"{name.capitalize() + ':':9} {safe(str(value[name]))}"
        for name in ("category", "priority", "issue")
        if value.get(name)
    ]
    lines += [
        f"{name.replace('_', ' ').capitalize()}: {safe(', '.join(map(str, _list(value[name]))))}"
        for name in ("tags", "aliases", "related_files", "context_files")
        if value.get(name)
    ]
    titles = {line.task: line.title for line in summaries(env.store)} if now.links else {}
    lines += [_link_line(link, titles) for link in now.links]
    lines += [f"Claimed:  {safe(claim.actor.name or claim.actor.type)}" for claim in now.claims]
    if now.conflicted:
        lines.append("Conflict: several claims stand; one has to be released")
    if now.incomplete:
        lines.append(f"Incomplete: {safe(now.incomplete)}")
    lines += _contract_lines(value)
    for name in ("intent", "description", "outcome"):
        if text := value.get(name):
            lines += ["", *(f"    {line}" for line in safe(str(text), lines=True).splitlines())]
    for item in _list(value.get("checklist")):
        mark = "x" if isinstance(item, dict) and item["done"] else " "
        lines.append(f"    [{mark}] {safe(str(item['text'] if isinstance(item, dict) else item))}")
    events = env.store.events(now.task)
    lines += ["", f"{now.events} events, the last of {day(now.last_time or 0)}"]
    return lines + [event_line(sealed) for sealed in events[-5:]]


def _link_line(link: Link, titles: dict[TaskId, str]) -> str:
    target = link.task or link.event or link.commit or ""
    title = titles.get(link.task) if link.task else None
    return f"{link.rel}: {target}{' ' + safe(title) if title else ''}"


def _contract_lines(value: Value) -> list[str]:
    return [
        f"{name.capitalize() + ':':9} {safe(msgspec.json.encode(value[name]).decode())}"
        for name in ("scope", "commands", "budget", "checks", "approvals")
        if value.get(name)
    ]


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else []
