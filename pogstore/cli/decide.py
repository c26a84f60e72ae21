"""`git pog decide`: a decision, apart from any prompt."""

import click

from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import as_option, json_option, pog_command, said, task_option
from pogstore.cli._redaction import tell_redacted
from pogstore.cli._written import show_written
from pogstore.work import tasks


@pog_command("decide")
@click.argument("text", metavar="TEXT|-")
@task_option
@as_option
@json_option
@pass_env
def command(env: Env, text: str, task: str, as_json: bool) -> None:
    """Keep a decision: the question, the choice, and why.

    What else was possible belongs to it. It travels when the task is pushed.
    """
    found = env.task(task)
    written = tasks.decide(env.store, found, said(text, "TEXT"), env.by)
    show_written(written, as_json)
    tell_redacted(env.store, written)
