"""`git pog list`: the tasks."""

import click

from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import json_option, pog_command
from pogstore.cli._render import day, echo, echo_json, page, safe, table
from pogstore.cli._values import task_line
from pogstore.history.names import shortest
from pogstore.history.tasks import Summary, summaries
from pogstore.state import is_end


@pog_command("list")
@click.option("--all", "-a", "everything", is_flag=True, help="Also ended tasks and untitled sessions.")
@click.option("--status", multiple=True, help="Only tasks of this status; may be given several times.")
@click.option("--tag", multiple=True, help="Only tasks with this tag.")
@json_option
@pass_env
def command(env: Env, everything: bool, status: tuple[str, ...], tag: tuple[str, ...], as_json: bool) -> None:
    """List the tasks that are open, the last changed first."""
    lines = [line for line in summaries(env.store) if _wanted(line, everything, status, tag)]
    lines.sort(key=lambda line: (-line.last_time, line.task))
    if as_json:
        echo_json([task_line(line) for line in lines])
        return
    if not lines:
        echo("no open tasks" if not everything else "no tasks")
        return
    page(table(rows_of(lines)), env.pager)


def rows_of(lines: list[Summary]) -> list[list[str]]:
    """Returns a row for each task: short id, status, day of the last event, holder, title."""
    ids: list[str] = [line.task for line in lines]
    return [
        [
            shortest(ids, line.task),
            safe(line.status),
            day(line.last_time),
            safe(", ".join(line.claimed_by)) or "-",
            safe(line.title),
        ]
        for line in lines
    ]


def _wanted(line: Summary, everything: bool, status: tuple[str, ...], tag: tuple[str, ...]) -> bool:
    if status:
        shown = line.status in status
    else:
        shown = everything or not (is_end(line.status) or (line.private and line.status == "in_review"))
    return shown and all(name in line.tags for name in tag)
