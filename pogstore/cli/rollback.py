"""`git pog rollback`: take one piece of work out again."""

import click

from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import as_option, json_option, pog_command
from pogstore.cli._plans import EXITS, dry_run_option, plan_option, refuse_if_moved, show_done, show_plan
from pogstore.cli._progress import LateBar
from pogstore.history.rollback import apply_rollback, plan_rollback


@pog_command("rollback", EXITS)
@click.argument("names", nargs=-1, required=True, metavar="TASK|EVENT...")
@dry_run_option
@plan_option
@as_option
@json_option
@pass_env
def command(env: Env, names: tuple[str, ...], dry_run: bool, digest: str | None, as_json: bool) -> int:
    """Take the effects of events, or of a task's tool calls, out of the work tree, and keep the rest.

    Later edits stay where they do not overlap. All or nothing: with a conflict no file changes. Index, HEAD and
    branches are not touched. What the work tree does not hold any more is left alone; if that is everything, nothing
    is recorded. 'git pog undo' takes it back.
    """
    plan = plan_rollback(env.store, [env.named(name) for name in names], LateBar("changes"))
    refuse_if_moved(plan, digest)
    if dry_run or plan.obstacles:
        return show_plan(plan, as_json)
    return show_done(apply_rollback(env.store, plan, env.by), as_json)
