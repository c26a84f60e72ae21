"""`git pog release`: a claim ends."""

import click

from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import as_option, json_option, pog_command, task_argument
from pogstore.cli._written import show_written
from pogstore.work import claims


@pog_command("release")
@task_argument
@click.option("--claim", metavar="EVENT", help="End this claim, whoever made it.")
@as_option
@json_option
@pass_env
def command(env: Env, task: str, claim: str | None, as_json: bool) -> None:
    """Give a claimed task back.

    A task that was begun is offered to others again, by 'git pog ready' and 'git pog next'.
    """
    found = env.task(task)
    of = env.store.resolve_event(claim) if claim else None
    show_written(claims.release(env.store, found, env.by, of=of), as_json, env.store)
