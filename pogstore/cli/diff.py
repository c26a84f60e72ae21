"""`git pog diff`: recorded changes as a patch."""

import click

from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import json_option, pog_command
from pogstore.cli._render import echo_bytes, echo_json
from pogstore.cli._values import event_value
from pogstore.history.patch import changing_events, patch
from pogstore.model import Sealed


@pog_command("diff", {3: "damaged store"})
@click.argument("name", default="@", metavar="[NAME]")
@json_option
@pass_env
def command(env: Env, name: str, as_json: bool) -> None:
    """Print what an event or a task changed, as a git patch.

    'git apply' takes the patch of an event, and those of a task one by one; in one input it takes several edits of a
    file, but neither a rename nor a deletion after them.

    On a terminal what could move it is escaped; into a pipe or a file the bytes go as they are.
    """
    events = changing_events(env.store, env.named(name))
    if as_json:
        echo_json([_value(sealed, patch(env.store, sealed)) for sealed in events])
        return
    for sealed in events:
        echo_bytes(patch(env.store, sealed))


def _value(sealed: Sealed, text: bytes) -> dict[str, object]:
    changes = event_value(sealed).get("changes", [])
    return {"event": sealed.event_id, "changes": changes, "patch": text.decode("utf-8", "surrogateescape")}
