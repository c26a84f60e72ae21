"""`git pog log`: the events of a task, of a path, or all, the newest first."""

import os
from collections.abc import Iterable, Sequence

import click

from pogstore.cli._context import Env, pass_env
from pogstore.cli._events import event_line, render_event
from pogstore.cli._options import exclusive, json_option, pathspecs, pog_command
from pogstore.cli._render import echo_json, echo_json_lines
from pogstore.cli._values import event_value, kind_name, texts_of
from pogstore.errors import NotFound, PogError
from pogstore.graph import replay_order
from pogstore.model import KINDS, Sealed, TaskId
from pogstore.store import rows


@pog_command("log", {3: "damaged store"})
@click.argument("names", nargs=-1, metavar="[TASK]... [--] [PATH]...")
@click.option("-n", "limit", type=click.IntRange(0), metavar="N", help="Only the last N events.")
@click.option("--kind", multiple=True, metavar="KIND", help="Only events of this kind; may be given several times.")
@click.option("--reverse", is_flag=True, help="In replay order, the oldest first.")
@click.option("--oneline", is_flag=True, help="One line for each event.")
@click.option("--jsonl", is_flag=True, help="Print one JSON value a line.")
@json_option
@pass_env
def command(
    env: Env,
    names: tuple[str, ...],
    limit: int | None,
    kind: tuple[str, ...],
    reverse: bool,
    oneline: bool,
    jsonl: bool,
    as_json: bool,
) -> None:
    """Show the events of the named tasks, or of all, the newest first; with PATH, those that changed it.

    The order is the replay order, which depends on no clock. PATH is a file, or a folder with all below it, that is
    there or was changed by an event; a name that could be a task is one, unless it stands behind --.
    """
    exclusive(oneline=oneline, jsonl=jsonl, json=as_json)
    env.at_one_moment()
    every = replay_order(_asked_for(env, *_named(env, names)))
    _check(kind, every)
    events = [sealed for sealed in every if not kind or kind_name(sealed) in kind]
    events = events[max(0, len(events) - limit) :] if limit is not None else events
    events = events if reverse else events[::-1]
    if jsonl:
        echo_json_lines(event_value(sealed) for sealed in events)
    elif as_json:
        echo_json([event_value(sealed) for sealed in events])
    elif oneline:
        several = len({sealed.event.task for sealed in events}) > 1
        env.page(env.fitted(event_line(sealed, env.store, with_task=several) for sealed in events))
    else:
        env.page(line for sealed in events for line in _paragraph(env, sealed))


def _named(env: Env, names: Sequence[str]) -> tuple[list[TaskId], list[bytes]]:
    """Tells tasks from paths: as in git, a first name that is none begins the paths if there is such a path."""
    behind = pathspecs(names)
    if behind is not None:
        at = len(names) - behind
        return [env.task(name) for name in names[:at]], [_path(env, name) for name in names[at:]]
    tasks: list[TaskId] = []
    for at, name in enumerate(names):
        try:
            tasks.append(env.task(name))
        except NotFound:
            if not all(_is_path(env, each) for each in names[at:]):
                raise
            return tasks, [_path(env, each) for each in names[at:]]
    return tasks, []


def _is_path(env: Env, name: str) -> bool:
    """Whether something stands at a path, or an event changed it."""
    try:
        path = _path(env, name)
    except PogError:
        return False
    return os.path.lexists(name) or bool(rows.ids_below(env.store.index.connection, path))


def _path(env: Env, name: str) -> bytes:
    path = os.fsencode(env.repository_path(name))
    return b"" if path == b"." else path


def _asked_for(env: Env, tasks: Sequence[TaskId], paths: Sequence[bytes]) -> Iterable[Sealed]:
    if paths:
        found = env.store.events_below(paths)
        return [sealed for sealed in found if not tasks or sealed.event.task in tasks]
    every = dict.fromkeys(tasks) if tasks else [*env.store.tasks(), *env.store.damaged_tasks()]
    return [sealed for task in every for sealed in env.store.events(task)]


def _paragraph(env: Env, sealed: Sealed) -> list[str]:
    return [*render_event(sealed, texts_of(env.store, sealed), env.store), ""]


def _check(wanted: Sequence[str], events: Sequence[Sealed]) -> None:
    """Refuses a kind that neither this version knows nor any event has: a slip would look like an empty log."""
    for kind in wanted:
        if kind not in KINDS and all(kind_name(sealed) != kind for sealed in events):
            raise click.UsageError(f"no such kind: '{kind}'; there are {', '.join(KINDS)}")
