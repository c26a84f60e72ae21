"""`git pog diff`: recorded changes as a patch."""

import sys

import click

from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import json_option, pog_command
from pogstore.cli._render import echo_json, safe
from pogstore.cli._values import event_value
from pogstore.history.patch import patch
from pogstore.model import Sealed


@pog_command("diff", {3: "damaged store"})
@click.argument("name", default="@")
@json_option
@pass_env
def command(env: Env, name: str, as_json: bool) -> None:
    """Print what an event, or every event of a task, changed, as a git patch.

    On a terminal what could move it is escaped; into a pipe or a file the bytes go as they are.
    """
    named = env.named(name)
    events = [env.store.event(named.event_id)] if named.event_id else env.store.events(named.task)
    changing = [sealed for sealed in events if getattr(sealed.event, "changes", ())]
    if as_json:
        echo_json([_value(env, sealed) for sealed in changing])
        return
    for sealed in changing:
        _write(patch(env.store, sealed))


def _value(env: Env, sealed: Sealed) -> dict[str, object]:
    value = event_value(sealed)
    text = patch(env.store, sealed).decode("utf-8", "replace")
    return {"event": sealed.event_id, "changes": value.get("changes", []), "patch": text}


def _write(data: bytes) -> None:
    if sys.stdout.isatty():
        click.echo(safe(data.decode("utf-8", "replace"), lines=True), nl=False)
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
