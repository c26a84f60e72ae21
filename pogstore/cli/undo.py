"""`git pog undo`: the last rollback, taken back."""

from collections.abc import Sequence

from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import as_option, json_option, pog_command
from pogstore.cli._plans import EXITS, Advice, dry_run_option, plan_option, refuse_if_moved, show_done, show_plan
from pogstore.cli._progress import LateBar
from pogstore.cli._render import tell, when
from pogstore.cli._values import kind_name
from pogstore.history.operations import operation_of, standing_operations
from pogstore.history.plans import Plan
from pogstore.history.rollback import apply_undo, plan_undo
from pogstore.model import EventId

NOUNS = {"rolled_back": "rollback", "restored": "restore", "replayed": "replay"}
"""By the kind of its event, what an operation is called."""


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
    before = standing_operations(env.store, env.worktree)
    status = show_done(apply_undo(env.store, plan, env.by, LateBar("files")), as_json)
    if not as_json:
        _say_what_is_next(env, before[-1:])
    return status


def _say_what_is_next(env: Env, last: Sequence[EventId]) -> None:
    """Names the operation before the last one, if that was taken back: another undo would only make it again."""
    stands = standing_operations(env.store, env.worktree)
    if not stands or not set(last).difference(stands):
        return
    following = operation_of(env.store, env.store.event(stands[-1]))
    events = " ".join(sealed.event_id[:16] for sealed in following)
    what = f"the {NOUNS.get(kind_name(following[0]), 'operation')} of {when(following[0].event.time)}"
    tell(f"hint: 'git pog rollback {events}' takes back what was done before it: {what}")


def _advice(plan: Plan) -> Advice:
    """Returns how the operation goes and what was edited since stays."""
    if not plan.obstacles:
        return Advice()
    events = " ".join(sorted({obstacle.event[:16] for obstacle in plan.obstacles}))
    line = f"git pog rollback {events}"
    return Advice((f"hint: '{line}' takes it back and keeps what was edited since, where lines do not overlap",), line)
