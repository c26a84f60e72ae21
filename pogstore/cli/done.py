"""`git pog done`: a task is completed."""

import click

from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import NO_SUCH_MOVE, as_option, json_option, pog_command, task_argument, text_of
from pogstore.cli._render import cut, safe, tell
from pogstore.cli._written import move_task
from pogstore.history.lacking import lacking

LONGEST = 200
"""Columns of one warning."""


@pog_command("done", NO_SUCH_MOVE)
@task_argument
@click.option("-m", "outcome", metavar="TEXT|-", help="The outcome.")
@as_option
@json_option
@pass_env
def command(env: Env, task: str, outcome: str | None, as_json: bool) -> None:
    """Complete a task, and say what came of it.

    No task is active in its work tree then. A warning says what it still lacks: open items, checks that did not pass,
    approvals. Who is no person cannot complete what somebody else holds, nor a task whose limits were broken.
    """
    found = env.task(task)
    move_task(env, found, "completed", as_json, outcome=text_of(outcome, "-m"))
    for phrase in () if as_json else lacking(env.store, found):
        tell(f"warning: {cut(safe(phrase), LONGEST)}")
