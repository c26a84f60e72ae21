"""`git pog undo`: the last rollback, taken back."""

from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import as_option, json_option, pog_command
from pogstore.cli._plans import EXITS, Advice, dry_run_option, plan_option, refuse_if_moved, show_done, show_plan
from pogstore.cli._progress import LateBar
from pogstore.history.plans import Plan
from pogstore.history.rollback import apply_undo, plan_undo


@pog_command("undo", EXITS)
@dry_run_option
@plan_option
@as_option
@json_option
@pass_env
def command(env: Env, dry_run: bool, digest: str | None, as_json: bool) -> int:
    """Take back the last rollback or restore made in this work tree, exactly; twice makes it again.

    If a file was edited since, nothing is written; to keep such edits, take the operation out by its name instead.
    """
    plan = plan_undo(env.store, env.worktree)
    refuse_if_moved(plan, digest)
    if dry_run or plan.obstacles:
        return show_plan(plan, as_json, _advice(plan))
    return show_done(apply_undo(env.store, plan, env.by, LateBar("files")), as_json)


def _advice(plan: Plan) -> Advice:
    """Returns how the operation goes and what was edited since stays."""
    if not plan.obstacles:
        return Advice()
    events = " ".join(sorted({obstacle.event[:16] for obstacle in plan.obstacles}))
    line = f"git pog rollback {events}"
    return Advice((f"hint: '{line}' takes it back and keeps what was edited since, where lines do not overlap",), line)
