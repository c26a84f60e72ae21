"""`git pog cancel`: a task is given up."""

import click

from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import NO_SUCH_MOVE, as_option, json_option, pog_command, task_argument, text_of
from pogstore.cli._written import move_task


@pog_command("cancel", NO_SUCH_MOVE)
@task_argument
@click.option("-m", "reason", metavar="TEXT|-", help="The reason.")
@as_option
@json_option
@pass_env
def command(env: Env, task: str, reason: str | None, as_json: bool) -> None:
    """Give a task up, and say why.

    No task is active in its work tree then.
    """
    move_task(env, env.task(task), "cancelled", as_json, reason=text_of(reason, "-m"))
