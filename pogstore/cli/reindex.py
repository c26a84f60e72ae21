"""`git pog reindex`: the index, made anew."""

from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import json_option, pog_command
from pogstore.cli._render import counted, echo, echo_json


@pog_command("reindex")
@json_option
@pass_env
def command(env: Env, as_json: bool) -> None:
    """Delete the index and make it anew from the refs.

    Never needed: nothing depends on it but speed.
    """
    env.store.index.discard()
    tasks = len(env.store.tasks())
    if as_json:
        echo_json({"tasks": tasks})
        return
    echo(f"indexed {counted(tasks, 'task')}")
