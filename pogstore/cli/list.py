"""`git pog list`: the tasks."""

from collections.abc import Sequence

import click

from pogstore.cli._claims import holders
from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import json_option, pog_command, tag_option
from pogstore.cli._render import day, echo_json, safe, table, tell
from pogstore.cli._values import task_line
from pogstore.history.names import shortest
from pogstore.history.tasks import Summary, check_whole, summaries
from pogstore.model import STATUSES
from pogstore.state import is_end

HOLDERS = 24
"""Columns that the holders of a task may take."""


@pog_command("list", {3: "damaged store; what can be read is listed all the same"})
@click.option("--all", "-a", "everything", is_flag=True, help="Also ended tasks and untitled sessions.")
@click.option(
    "--status", multiple=True, metavar="STATUS", help="Only tasks of this status; may be given several times."
)
@tag_option
@json_option
@pass_env
def command(env: Env, everything: bool, status: tuple[str, ...], tag: tuple[str, ...], as_json: bool) -> None:
    """List the tasks that are open, the last changed first.

    In the text form: id, status, day of the last event, who holds it, title. Behind the holder stands whether the task
    was amended since, whether the lease is over, and whether several claims stand.
    """
    every = summaries(env.store)
    _check(status, {line.status for line in every})
    lines = [line for line in every if _wanted(line, everything, status, tag)]
    lines.sort(key=lambda line: (-line.last_time, line.task))
    if as_json:
        echo_json([task_line(line, env.time) for line in lines])
    elif lines:
        env.page(table(rows_of(lines, [line.task for line in every], env.time), width=env.width))
    else:
        tell("no task matches" if status or tag else "no tasks" if everything else "no open tasks")
    check_whole(every)


def rows_of(lines: Sequence[Summary], ids: Sequence[str], at: int) -> list[list[str]]:
    """Returns a row for each task at a time: an id short among `ids`, status, day of the last event, holder, title."""
    return [
        [
            shortest(ids, line.task),
            safe(line.status),
            day(line.last_time) if line.last_time else "-",
            holders(line, at, HOLDERS),
            safe(line.title),
        ]
        for line in lines
    ]


def _check(wanted: Sequence[str], present: set[str]) -> None:
    """Refuses a status that neither this version knows nor any task has: a slip would look like an empty list."""
    for status in wanted:
        if status not in STATUSES and status not in present:
            raise click.UsageError(f"no such status: '{status}'; there are {', '.join(STATUSES)}")


def _wanted(line: Summary, everything: bool, status: Sequence[str], tag: Sequence[str]) -> bool:
    hidden = is_end(line.status) or _is_past_session(line)
    shown = line.status in status if status else everything or not hidden
    return shown and has_tags(line, tag)


def has_tags(line: Summary, wanted: Sequence[str]) -> bool:
    """Says whether a task has all of some tags."""
    return all(name in line.tags for name in wanted)


def _is_past_session(line: Summary) -> bool:
    """Says whether a task is a session that is over, or one of which nothing but its events is here."""
    untitled = not line.titled and line.damaged is None
    return untitled or (line.private and line.status == "in_review")
