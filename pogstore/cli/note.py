"""`git pog note`: something worth keeping."""

import re

import click

from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import as_option, json_option, pog_command, said, task_option
from pogstore.cli._redaction import tell_redacted
from pogstore.cli._written import show_written
from pogstore.work import tasks
from pogstore.work.actors import unsecret

_TOPIC = re.compile(r"[\w.:/-]{1,60}")


@pog_command("note")
@click.argument("text", metavar="TEXT|-")
@task_option
@click.option("--topic", metavar="WORD", help="What the note is about.")
@as_option
@json_option
@pass_env
def command(env: Env, text: str, task: str, topic: str | None, as_json: bool) -> None:
    """Keep a note about a task.

    It travels when the task is pushed.
    """
    if topic is not None and not _TOPIC.fullmatch(unsecret(topic, "--topic")):
        raise click.UsageError("--topic is one word of at most 60 letters, digits and . : / _ -")
    found = env.task(task)
    written = tasks.note(env.store, found, said(text, "TEXT"), env.by, topic=topic)
    show_written(written, as_json)
    tell_redacted(env.store, written)
