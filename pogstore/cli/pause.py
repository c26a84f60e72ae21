"""`git pog pause`: no record of what agents do, until it is resumed."""

import click

from pogstore.cli import _draining
from pogstore.cli._context import Env, disabled, now, pass_env
from pogstore.cli._options import json_option, pog_command
from pogstore.cli._render import echo, echo_json
from pogstore.work import setup


@pog_command("pause")
@click.option("--resume", is_flag=True, help="Record again.")
@json_option
@pass_env
def command(env: Env, resume: bool, as_json: bool) -> None:
    """Stop recording what agents do here, at once, until it is resumed.

    Holds for all work trees of the repository. What was recorded stays, and commands that a person gives still write.
    What happens meanwhile is not recorded later.
    """
    if not resume and _draining.waits(env.store) and not disabled():
        _draining.drain(env.store, now)
    changed = setup.resume(env.store) if resume else setup.pause(env.store)
    if as_json:
        echo_json({"paused": not resume, "changed": changed})
    elif resume:
        echo("recording again" if changed else "recording was not paused")
    else:
        echo("recording is paused" if changed else "recording was paused before")
