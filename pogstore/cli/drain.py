"""`git pog drain`: what hooks left, into the store."""

from contextlib import suppress

import click

from pogstore.cli import _draining
from pogstore.cli._context import Env, now, pass_env
from pogstore.cli._options import json_option, pog_command
from pogstore.cli._render import echo, echo_json, safe, tell
from pogstore.errors import PogError

WAITING = {1: "something still waits"}
AGAIN = 3
"""How often a quiet drain looks once more: an agent says more while it stores."""


@pog_command("drain", WAITING)
@click.option("--quiet", is_flag=True, help="Print nothing and exit with 0, as the end of an agent's turn needs it.")
@json_option
@pass_env
def command(env: Env, quiet: bool, as_json: bool) -> int:
    """Store what agents' hooks recorded; every command that writes does so by itself.

    What cannot be stored waits.
    """
    return _quietly(env) if quiet else _drain(env, as_json)


def _quietly(env: Env) -> int:
    """Stores what waits, for nobody who could be told; 'git pog status' tells it."""
    with suppress(PogError, OSError):
        env.refuse_if_disabled()
        for _ in range(AGAIN):
            _draining.drain(env.store, now)
            if not _draining.waits(env.store):
                break
    return 0


def _drain(env: Env, as_json: bool) -> int:
    env.refuse_if_disabled()
    before = _draining.pending(env.store)
    left, reason = _draining.drain(env.store, now)
    stored = max(before - left, 0)
    if as_json:
        echo_json({"stored": stored, "pending": left, "reason": reason})
    else:
        echo(f"stored: {stored}, pending: {left}")
        if reason:
            tell(f"warning: {safe(reason)}")
    return 1 if left else 0
