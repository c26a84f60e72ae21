"""`git pog note`: something worth keeping."""

import click

from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import as_option, json_option, pog_command, text_of
from pogstore.cli._written import show_written
from pogstore.work import tasks


@pog_command("note")
@click.argument("text", metavar="TEXT|-|@FILE")
@click.option("--task", default="@", help="The task; by default the active one.")
@click.option("--topic", help="What the note is about.")
@as_option
@json_option
@pass_env
def command(env: Env, text: str, task: str, topic: str | None, as_json: bool) -> None:
    """Keep a note about a task. It travels when the task is pushed."""
    found = env.task(task)
    show_written([tasks.note(env.store, found, text_of(text, "TEXT") or "", env.by, topic=topic)], as_json)
