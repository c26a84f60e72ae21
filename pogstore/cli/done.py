"""`git pog done`: a task is completed."""

import click

from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import NO_SUCH_MOVE, as_option, json_option, pog_command, task_argument, text_of
from pogstore.cli._written import move_task


@pog_command("done", NO_SUCH_MOVE)
@task_argument
@click.option("-m", "outcome", metavar="TEXT|-", help="The outcome.")
@as_option
@json_option
@pass_env
def command(env: Env, task: str, outcome: str | None, as_json: bool) -> None:
    """Complete a task, and say what came of it.

    No task is active in its work tree then.
    """
    move_task(env, env.task(task), "completed", as_json, outcome=text_of(outcome, "-m"))
