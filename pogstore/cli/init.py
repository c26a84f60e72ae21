"""`git pog init`: the consent to record."""

import click

from pogstore.cli import _draining
from pogstore.cli._context import Env, disabled, now, pass_env
from pogstore.cli._options import json_option, pog_command
from pogstore.cli._render import echo, echo_json, safe, tell
from pogstore.work import setup

IN_THE_WAY = {1: "records would be lost by it"}


@pog_command("init", IN_THE_WAY)
@click.option("--remove", is_flag=True, help="Take it back: the settings, the spool. Tasks and events stay.")
@click.option("--dry-run", "-n", is_flag=True, help="Only say what would be done.")
@click.option("--force", is_flag=True, help="With --remove: also delete records that could not be stored.")
@json_option
@pass_env
def command(env: Env, remove: bool, dry_run: bool, force: bool, as_json: bool) -> None:
    """Enable pogstore in this repository; nothing is recorded before.

    Sets pog.enabled and adds our refs to log.excludeDecoration, in this repository's own configuration, and makes a
    spool for the records of agents' hooks. Running it again changes nothing. --remove stores what waits in the spool
    first and gives the configuration its former bytes.
    """
    steps = _steps(env, remove, dry_run, force)
    if as_json:
        echo_json({"enabled": env.store.enabled if dry_run else not remove, "changed": bool(steps) and not dry_run,
                   "steps": steps})  # fmt: skip
    elif dry_run:
        for step in steps:
            echo(f"would {safe(step)}")
        if not steps:
            tell("nothing would be done")
    else:
        _say(env, remove, bool(steps))


def _steps(env: Env, remove: bool, dry_run: bool, force: bool) -> list[str]:
    store = env.store
    if dry_run:
        return setup.plan_disable(store) if remove else setup.plan_enable(store)
    if remove and setup.plan_disable(store) and not disabled():
        _draining.drain_for_good(store, now)
    return setup.disable(store, force=force) if remove else setup.enable(store)


def _say(env: Env, remove: bool, changed: bool) -> None:
    if remove:
        echo("pogstore is disabled here; tasks and events are kept under refs/pog")
    elif not changed:
        echo("pogstore was enabled here before")
    else:
        echo("pogstore is enabled here")
        tell("hint: to keep 'git log --all' quiet: git log --exclude='refs/pog*' --all")
    if not remove and setup.paused(env.store.layout):
        tell("hint: recording is paused; 'git pog pause --resume' goes on with it")
