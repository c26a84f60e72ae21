"""`git pog move`: another status."""

import click

from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import as_option, json_option, pog_command, text_of
from pogstore.cli._written import show_written
from pogstore.model import STATUSES
from pogstore.work import tasks


@pog_command("move", {1: "the table of transitions has no such edge"})
@click.argument("status", type=click.Choice(STATUSES))
@click.argument("task", default="@")
@click.option("--reason", metavar="TEXT|-|@FILE", help="Why.")
@click.option("--outcome", metavar="TEXT|-|@FILE", help="What came of it.")
@as_option
@json_option
@pass_env
def command(env: Env, status: str, task: str, reason: str | None, outcome: str | None, as_json: bool) -> None:
    """Move a task to any status that the table of transitions allows."""
    found = env.task(task)
    texts = {"reason": text_of(reason, "--reason"), "outcome": text_of(outcome, "--outcome")}
    show_written([tasks.move(env.store, found, status, env.by, **texts)], as_json)
