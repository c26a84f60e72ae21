"""`git pog restore`: back to a rollback point."""

from pathlib import Path

import click

from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import as_option, exclusive, json_option, pathspecs, pog_command
from pogstore.cli._plans import (
    EXITS,
    NO_ADVICE,
    Advice,
    dry_run_option,
    plan_option,
    refuse_if_moved,
    show_done,
    show_plan,
)
from pogstore.cli._points import point_named
from pogstore.cli._progress import LateBar
from pogstore.history.plans import Conflicts
from pogstore.history.restore import Asked, apply_restore, plan_restore

NOTHING = "nothing to do: the paths of the task are as they were at that point"
CHOICE = (
    "hint: '--keep' leaves what is in the way as it is; '--take' takes the point's version where others edited since,",
    "      and 'git pog undo' brings their edits back",
)


@pog_command("restore", EXITS)
@click.argument("names", nargs=-1, metavar="POINT [--] [PATHSPEC]...")
@click.option("--before", is_flag=True, help="The state right before the event; POINT^ is short for it.")
@click.option("--path", "paths", multiple=True, metavar="PATHSPEC", help="Only these paths; as what stands behind --.")
@click.option("--keep", is_flag=True, help="Leave what is in the way as it is, and say so.")
@click.option("--take", is_flag=True, help="Take the point's version also where others edited since.")
@dry_run_option
@plan_option
@as_option
@json_option
@pass_env
def command(
    env: Env,
    names: tuple[str, ...],
    before: bool,
    paths: tuple[str, ...],
    keep: bool,
    take: bool,
    dry_run: bool,
    digest: str | None,
    as_json: bool,
) -> int:
    """Make a task's paths what they were at a rollback point.

    POINT is a name that 'git pog point' gave, or an event. Only paths that the task itself changed go back: those of
    other tasks and of people stay. What it created since goes. What anybody else edited since is in the way: then
    nothing is written at all. Index, HEAD and branches are not touched. 'git pog undo' takes it back.
    """
    exclusive(keep=keep, take=take)
    at = len(names) - (pathspecs(names) or 0)
    if at != 1:
        raise click.UsageError(
            "missing argument 'POINT'" if at < 1 else "only one point can be named; paths go behind --"
        )
    point = point_named(env, names[0])
    point = point._replace(before=point.before or before)
    conflicts: Conflicts = "keep" if keep else "take" if take else "refuse"
    asked = Asked((*names[1:], *paths), conflicts, Path.cwd())
    plan = plan_restore(env.store, point, env.worktree, asked, LateBar("paths"))
    refuse_if_moved(plan, digest)
    if dry_run or plan.obstacles:
        return show_plan(plan, as_json, Advice(CHOICE) if plan.obstacles else NO_ADVICE, NOTHING)
    bar = LateBar("files")
    return show_done(apply_restore(env.store, plan, env.by, before=point.before, progress=bar), as_json, NOTHING)
