"""`git pog decide`: a decision, apart from any prompt."""

import click

from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import as_option, json_option, pog_command, text_of
from pogstore.cli._written import show_written
from pogstore.work import tasks


@pog_command("decide")
@click.argument("text", metavar="TEXT|-|@FILE")
@click.option("--task", default="@", help="The task; by default the active one.")
@as_option
@json_option
@pass_env
def command(env: Env, text: str, task: str, as_json: bool) -> None:
    """Keep a decision: the question, the choice, what else was possible, and why."""
    found = env.task(task)
    show_written([tasks.decide(env.store, found, text_of(text, "TEXT") or "", env.by)], as_json)
