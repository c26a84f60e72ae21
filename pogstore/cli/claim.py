"""`git pog claim`: an actor takes a task, or hands it on."""

import click

from pogstore.cli._claims import lease_option
from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import as_option, exclusive, json_option, pog_command, task_argument
from pogstore.cli._written import show_written
from pogstore.work import claims
from pogstore.work.actors import named_actor


@pog_command("claim", {1: "somebody holds it, or it has ended"})
@task_argument
@lease_option
@click.option("--renew", is_flag=True, help="Claim again what you hold: as it is now, with a new lease.")
@click.option("--for", "holder", metavar="NAME", help="Hand it on to an agent of that name, or to human:NAME.")
@as_option
@json_option
@pass_env
def command(env: Env, task: str, lease: int | None, renew: bool, holder: str | None, as_json: bool) -> None:
    """Claim a task as it is defined now.

    Of several claims at once in one repository exactly one wins. A claim whose lease is over can be taken over by
    anybody. After an amendment the task has to be claimed again: until then you cannot tick its items nor complete it.

    With --for the task goes to somebody else, from you or while nobody holds it; that one takes it up by a claim or a
    start of its own.
    """
    exclusive(**{"renew": renew, "for": holder is not None})
    found = env.task(task)
    until = env.by.time + lease if lease else None
    given = named_actor(holder) if holder is not None else None
    written = claims.claim(env.store, found, env.by, lease_until=until, holder=given, renew=renew)
    show_written(written, as_json, env.store)
