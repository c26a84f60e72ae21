"""`git pog undo`: the last rollback, taken back."""

from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import as_option, json_option, pog_command
from pogstore.cli._plans import EXITS, dry_run_option, plan_option, refuse_if_moved, show_done, show_plan
from pogstore.history.rollback import apply_undo, plan_undo


@pog_command("undo", EXITS)
@dry_run_option
@plan_option
@as_option
@json_option
@pass_env
def command(env: Env, dry_run: bool, digest: str | None, as_json: bool) -> int:
    """Take back the last rollback made in this work tree, exactly; twice makes it again.

    If a file was edited since, nothing is written.
    """
    plan = plan_undo(env.store, env.worktree)
    refuse_if_moved(plan, digest)
    if dry_run or plan.obstacles:
        return show_plan(plan, as_json)
    return show_done(apply_undo(env.store, plan, env.by), as_json)
