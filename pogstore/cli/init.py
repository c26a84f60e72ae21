"""`git pog init`: the consent to record."""

import click

from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import json_option, pog_command
from pogstore.cli._render import echo, echo_json, tell
from pogstore.work import setup


@pog_command("init")
@click.option("--remove", is_flag=True, help="Take the settings out again. Tasks and events stay.")
@json_option
@pass_env
def command(env: Env, remove: bool, as_json: bool) -> None:
    """Enable pogstore in this repository; nothing is recorded before.

    Sets pog.enabled and adds our refs to log.excludeDecoration, in this repository's own configuration. Running it
    again changes nothing.
    """
    changed = setup.disable(env.store) if remove else setup.enable(env.store)
    if as_json:
        echo_json({"enabled": not remove, "changed": changed})
    elif remove:
        echo("pogstore is disabled here; tasks and events are kept under refs/pog")
    elif not changed:
        echo("pogstore was enabled here before")
    else:
        echo("pogstore is enabled here")
        tell("hint: to keep 'git log --all' quiet: git log --exclude='refs/pog*' --all")
