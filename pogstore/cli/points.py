"""`git pog points`: where the work of a task can go back to."""

from collections.abc import Sequence

import click
import msgspec

from pogstore.cli._context import Env, pass_env
from pogstore.cli._events import SHORT, headline
from pogstore.cli._missing import lacks_shortly
from pogstore.cli._options import json_option, pog_command
from pogstore.cli._points import BEFORE, lack_text
from pogstore.cli._render import counted, echo_json, safe, short_who, table, tell, when
from pogstore.cli._values import Value, kind_name
from pogstore.history.names import shortest
from pogstore.history.pointnames import named_points
from pogstore.history.points import Point, points
from pogstore.history.snapshot import worktree_of

NONE = "no points of this work tree; '--elsewhere' shows those of others"


@pog_command("points", {3: "damaged store"})
@click.argument("task", default="@", metavar="[TASK]")
@click.option("--all", "every", is_flag=True, help="The points of all tasks.")
@click.option("--elsewhere", is_flag=True, help="Also the points that were made in other work trees and clones.")
@click.option("-n", "limit", type=click.IntRange(0), metavar="N", help="Only the last N points.")
@click.option("--no-check", is_flag=True, help="Do not look whether anything is in the way of going back.")
@json_option
@pass_env
def command(
    env: Env, task: str, every: bool, elsewhere: bool, limit: int | None, no_check: bool, as_json: bool
) -> None:
    """List the rollback points of a task, the newest first: what each lacks, and what is in the way.

    A point is the state of the task's files after one of its steps, or before and after an operation of ours; a name
    can mark any event. ID^ is the state right before. It is complete if all that the task did was seen and can be had.
    'git pog restore' goes back to one.
    """
    if every and task != "@":
        raise click.UsageError("--all and TASK cannot be combined")
    env.at_one_moment()
    tasks = env.store.tasks() if every else [env.task(task)]
    named = named_points(env.store)
    found = points(env.store, named, env.worktree, tasks, elsewhere=elsewhere, check=not no_check, limit=limit)
    if as_json:
        echo_json([_value(point) for point in found])
        return
    if not found:
        tell(NONE if not elsewhere else "no points")
    env.page(table([_row(env, point, several=every) for point in found], width=env.width))


def _row(env: Env, point: Point, *, several: bool) -> Sequence[str]:
    event = point.sealed.event
    names = ", ".join(safe(name) for name in point.names)
    empty = "" if point.changes else f" ({lacks_shortly(event) or 'changed nothing'})"
    says = f"before {safe(headline(point.sealed))}" if point.at.before else f"{safe(headline(point.sealed))}{empty}"
    return [
        f"{point.at.event_id[:SHORT]}{BEFORE if point.at.before else ' '}",
        *([shortest(env.store.tasks(), event.task)] if several else []),
        when(event.time, event.offset)[:19],
        _clean(point),
        f"{f'[{names}] ' if names else ''}{says}  ({short_who(event.actor)}){_partial(point)}",
    ]


def _clean(point: Point) -> str:
    if point.in_the_way is None:
        return ""
    return "clean" if point.in_the_way == 0 else f"{counted(point.in_the_way, 'path')} in the way"


def _partial(point: Point) -> str:
    return "" if point.is_complete else f" [partial: {', '.join(map(lack_text, point.lacks))}]"


def _value(point: Point) -> Value:
    event = point.sealed.event
    value: Value = {
        "event": point.at.event_id,
        "before": point.at.before,
        "task": event.task,
        "names": list(point.names),
        "time": event.time,
        "actor": msgspec.to_builtins(event.actor),
        "kind": kind_name(point.sealed),
        "changes": [msgspec.to_builtins(path) for path in point.changes],
        "worktree": worktree_of(point.sealed),
        "complete": point.is_complete,
        "lacks": [lack._asdict() for lack in point.lacks],
        "in_the_way": point.in_the_way,
        "clean": None if point.in_the_way is None else point.in_the_way == 0,
    }
    tool = getattr(event, "tool", None)
    return value if tool is None else value | {"tool": tool}
