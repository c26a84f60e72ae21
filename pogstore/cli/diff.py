"""`git pog diff`: recorded changes as a patch."""

import click

from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import json_option, pog_command
from pogstore.cli._render import echo_bytes, echo_json
from pogstore.cli._values import event_value
from pogstore.history.patch import patch
from pogstore.model import Sealed


@pog_command("diff", {3: "damaged store"})
@click.argument("name", default="@", metavar="[NAME]")
@json_option
@pass_env
def command(env: Env, name: str, as_json: bool) -> None:
    """Print what an event or a task changed, as a git patch.

    On a terminal what could move it is escaped; into a pipe or a file the bytes go as they are.
    """
    named = env.named(name)
    events = [env.store.event(named.event_id)] if named.event_id else env.store.events(named.task)
    changing = [sealed for sealed in events if getattr(sealed.event, "changes", ())]
    if as_json:
        echo_json([_value(env, sealed) for sealed in changing])
        return
    for sealed in changing:
        echo_bytes(patch(env.store, sealed))


def _value(env: Env, sealed: Sealed) -> dict[str, object]:
    value = event_value(sealed)
    text = patch(env.store, sealed).decode("utf-8", "replace")
    return {"event": sealed.event_id, "changes": value.get("changes", []), "patch": text}
