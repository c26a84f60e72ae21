"""`git pog move`: another status."""

import click

from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import NO_SUCH_MOVE, as_option, json_option, pog_command, task_argument, text_of
from pogstore.cli._written import move_task
from pogstore.errors import BadInput
from pogstore.model import STATUSES
from pogstore.state import is_end


@pog_command("move", NO_SUCH_MOVE)
@click.argument("status", type=click.Choice(STATUSES), metavar="STATUS")
@task_argument
@click.option("--reason", metavar="TEXT|-", help="Why.")
@click.option("--outcome", metavar="TEXT|-", help="What came of it, at an end.")
@as_option
@json_option
@pass_env
def command(env: Env, status: str, task: str, reason: str | None, outcome: str | None, as_json: bool) -> None:
    """Move a task to any status that the table of transitions allows.

    STATUS is one of pending, in_design, in_planning, in_progress, in_review, blocked, completed and cancelled.
    """
    if outcome is not None and not is_end(status):
        raise click.UsageError("--outcome belongs to an end: completed or cancelled")
    if reason == outcome == "-":
        raise BadInput("standard input", "can be the reason or the outcome, not both")
    found = env.task(task)
    texts = {"reason": text_of(reason, "--reason"), "outcome": text_of(outcome, "--outcome")}
    move_task(env, found, status, as_json, **texts)
