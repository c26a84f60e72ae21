"""`git pog drain`: what hooks left, into the store."""

from pogstore.cli import _draining
from pogstore.cli._context import Env, now, pass_env
from pogstore.cli._options import json_option, pog_command
from pogstore.cli._render import echo, echo_json, safe, tell

WAITING = {1: "something still waits"}


@pog_command("drain", WAITING)
@json_option
@pass_env
def command(env: Env, as_json: bool) -> int:
    """Store what agents' hooks recorded; every command that writes does so by itself.

    What cannot be stored waits.
    """
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
