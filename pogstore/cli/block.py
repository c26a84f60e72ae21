"""`git pog block`: a task waits for something."""

import click

from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import NO_SUCH_MOVE, as_option, json_option, pog_command, task_argument, text_of
from pogstore.cli._redaction import tell_redacted
from pogstore.cli._written import show_written
from pogstore.work import tasks


@pog_command("block", NO_SUCH_MOVE)
@task_argument
@click.option("-m", "reason", metavar="TEXT|-", help="The reason.")
@as_option
@json_option
@pass_env
def command(env: Env, task: str, reason: str | None, as_json: bool) -> None:
    """Say that a task cannot go on, and why."""
    found = env.task(task)
    written = tasks.move(env.store, found, "blocked", env.by, reason=text_of(reason, "-m"))
    show_written(written, as_json)
    tell_redacted(env.store, written)
