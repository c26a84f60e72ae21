"""`git pog env`: in which environment something was done, and in what two of them differ."""

import os
from pathlib import Path

import click

from pogstore.cli._context import Env, pass_env
from pogstore.cli._events import SHORT
from pogstore.cli._options import json_option, pog_command, pog_group
from pogstore.cli._render import echo_json, safe, table, tell
from pogstore.history import environments
from pogstore.history.environments import Difference, Told

NOW = "now"
NOT_TOLD = "-"
LATER = "looked at when the step was stored, so its variables are not known"


@pog_group("env")
def command() -> None:
    """Show in which environment something was done: system, tools, lock files, variables."""


@pog_command("show")
@click.argument("name", default="@", metavar="[NAME]")
@json_option
@pass_env
def show(env: Env, name: str, as_json: bool) -> None:
    """Show the environment of an event, the last one of a task, or with now the present one.

    An agent's session tells its environment once, at its first step; its later steps have that one.
    """
    env.at_one_moment()
    found = told(env, name)
    if as_json:
        echo_json({"event": found.event_id, "members": found.members})
        return
    _say_of(name, found)
    shown = {member: value for member, value in found.members.items() if member != environments.LATER}
    env.page(table([(safe(member), _value(value)) for member, value in shown.items()]))


@pog_command("diff", {1: "they differ"})
@click.argument("before", metavar="A")
@click.argument("after", default=NOW, metavar="[B]")
@json_option
@pass_env
def diff(env: Env, before: str, after: str, as_json: bool) -> int:
    """Show in what two environments differ, each of an event, a task or now.

    Of each member the value in A and that in B; by default B is the present environment. What only one of them tells
    differs too.
    """
    env.at_one_moment()
    first = None if before == NOW else told(env, before)
    new = told(env, after, first)
    old = first or told(env, before, new)
    found = environments.differences(old, new)
    if as_json:
        sides = [{"name": before, "event": old.event_id}, {"name": after, "event": new.event_id}]
        echo_json({"same": not found, "sides": sides, "differences": [each._asdict() for each in found]})
        return 1 if found else 0
    for name, side in ((before, old), (after, new)):
        _say_of(name, side)
    env.page(difference_lines(found))
    return 1 if found else 0


def told(env: Env, name: str, like: Told | None = None) -> Told:
    """Returns the environment that a name means; raises `NotFound`. The present one tells at least what `like` does."""
    if name == NOW:
        return environments.present(env.store, Path.cwd(), dict(os.environb), like)
    return environments.told(env.store, env.named(name))


def difference_lines(found: list[Difference]) -> list[str]:
    """Returns differences as lines: the member, what it was, what it is."""
    rows = [(safe(each.name), _value(each.before), "->", _value(each.after)) for each in found]
    return table(rows)


def _value(value: str | None) -> str:
    return NOT_TOLD if value is None else safe(value)


def _say_of(name: str, found: Told) -> None:
    if found.event_id is not None and not found.event_id.startswith(name):
        tell(f"{safe(name)}: told by event {found.event_id[:SHORT]}")
    if found.is_later:
        tell(f"{safe(name)}: {LATER}")


command.add_command(show)
command.add_command(diff)
