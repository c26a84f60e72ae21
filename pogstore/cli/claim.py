"""`git pog claim`: an actor takes a task."""

import click

from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import as_option, json_option, pog_command, task_argument
from pogstore.cli._written import show_written
from pogstore.work import tasks

MINUTE = 60_000_000


@pog_command("claim", {1: "somebody holds it, or it has ended"})
@task_argument
@click.option("--lease", type=click.IntRange(1), metavar="MINUTES", help="Hold it for so long only.")
@as_option
@json_option
@pass_env
def command(env: Env, task: str, lease: int | None, as_json: bool) -> None:
    """Claim a task as it is defined now.

    Of several claims at once in one repository exactly one wins.
    """
    found = env.task(task)
    until = env.by.time + lease * MINUTE if lease else None
    show_written(tasks.claim(env.store, found, env.by, lease_until=until), as_json)
