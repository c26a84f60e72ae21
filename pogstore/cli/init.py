"""`git pog init`: the consent to record."""

import sys
from collections.abc import Callable, Sequence

import click

from pogstore.cli import _draining
from pogstore.cli._context import Env, disabled, now, pass_env
from pogstore.cli._options import exclusive, json_option, pog_command
from pogstore.cli._render import echo, echo_json, safe, tell
from pogstore.work import githooks, setup

IN_THE_WAY = {1: "records would be lost by it"}


@pog_command("init", IN_THE_WAY)
@click.option("--remove", is_flag=True, help="Take it back: the settings, the spool, the hook. Tasks and events stay.")
@click.option("--pre-push", is_flag=True, help="Also install a git hook: 'git push' takes nothing private along.")
@click.option("--dry-run", "-n", is_flag=True, help="Only say what would be done.")
@click.option("--force", is_flag=True, help="With --remove: also delete records that could not be stored.")
@json_option
@pass_env
def command(env: Env, remove: bool, pre_push: bool, dry_run: bool, force: bool, as_json: bool) -> None:
    """Enable pogstore in this repository; nothing is recorded before.

    Sets pog.enabled and adds our refs to log.excludeDecoration, in this repository's own configuration, and makes a
    spool for the records of agents' hooks. Running it again changes nothing. --remove stores what waits in the spool
    first and gives the configuration its former bytes.

    The hook of --pre-push lies where git looks for hooks. Where another stands already, or a program manages hooks,
    nothing is written, and what to give that program is printed instead.
    """
    exclusive(remove=remove, pre_push=pre_push)
    enabling, guarding = _steps(env, remove, pre_push, dry_run, force)
    steps = enabling + guarding
    guard = githooks.look(env.store)
    to_place = githooks.snippets(env.store, guard) if pre_push and not guard.calls else []
    if as_json:
        more = {"snippets": [each._asdict() for each in to_place]} if to_place else {}
        echo_json({"enabled": env.store.enabled if dry_run else not remove, "changed": bool(steps) and not dry_run,
                   "steps": steps} | more)  # fmt: skip
    elif dry_run:
        for step in steps:
            echo(f"would {safe(step)}")
        if not steps:
            tell("nothing would be done")
    else:
        _say(env, remove, bool(enabling), tell if to_place else echo)
        _say_of_guard(env, guard, remove=remove, asked=pre_push)
    if to_place and not as_json:
        _say_snippets(guard, to_place)


def _steps(env: Env, remove: bool, pre_push: bool, dry_run: bool, force: bool) -> tuple[list[str], list[str]]:
    """Does what is asked, unless it is only to be told; returns the steps for the consent, and those for the hook."""
    store, python = env.store, sys.executable
    if dry_run:
        steps = setup.plan_disable(store) if remove else setup.plan_enable(store)
        return steps, githooks.plan_guard(store, python) if pre_push else []
    if remove:
        if setup.plan_disable(store) and not disabled():
            _draining.drain_for_good(store, now)
        return setup.disable(store, force=force), []
    return setup.enable(store), githooks.guard(store, python) if pre_push else []


def _say(env: Env, remove: bool, changed: bool, say: Callable[[str], None]) -> None:
    """Says what became of it; on standard error if a snippet is to stand alone on standard output."""
    if remove:
        say("pogstore is disabled here; tasks and events are kept under refs/pog")
    elif not changed:
        say("pogstore was enabled here before")
    else:
        say("pogstore is enabled here")
        tell("hint: to keep 'git log --all' quiet: git log --exclude='refs/pog*' --all")
    if not remove and setup.paused(env.store.layout):
        tell("hint: recording is paused; 'git pog pause --resume' goes on with it")


def _say_of_guard(env: Env, guard: githooks.Guard, *, remove: bool, asked: bool) -> None:
    if remove and guard.calls:
        tell(f"warning: {safe(guard.manager or str(guard.hook))} still calls 'git pog hook pre-push'")
    elif asked and guard.calls:
        echo("'git push' takes nothing private along")
    elif not remove and not asked and not guard.calls and _has_remote(env):
        tell("hint: 'git pog init --pre-push' keeps what is private from leaving by 'git push --mirror'")


def _say_snippets(guard: githooks.Guard, to_place: Sequence[githooks.Snippet]) -> None:
    stands = "a pre-push hook stands here already" if guard.manager == "a hook" else f"{guard.manager} rules hooks here"
    tell(f"{safe(stands)}; nothing was written to them")
    for each in to_place:
        tell(f"put this {safe(each.where)}:")
        echo(each.text.rstrip("\n"))


def _has_remote(env: Env) -> bool:
    return any(name.startswith("remote.") and name.endswith(".url") for name in env.store.git.settings())
