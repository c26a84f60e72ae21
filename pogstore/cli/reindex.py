"""`git pog reindex`: the index, made anew."""

import click

from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import json_option, pog_command
from pogstore.cli._progress import LateBar
from pogstore.cli._render import counted, echo, echo_json
from pogstore.history.beforehand import prepare


@pog_command("reindex")
@click.option("--blame", "with_blame", is_flag=True, help="Find out beforehand who wrote each line of HEAD.")
@json_option
@pass_env
def command(env: Env, with_blame: bool, as_json: bool) -> None:
    """Delete the index and make it anew from the refs.

    Never needed: nothing depends on it but speed. A file is blamed without --blame as well, the first time it is asked
    about.
    """
    env.store.index.discard()
    tasks = len(env.store.tasks())
    show = LateBar("blaming")
    for done, total in prepare(env.store) if with_blame else ():
        show(done, total)
    if as_json:
        echo_json({"tasks": tasks})
        return
    echo(f"indexed {counted(tasks, 'task')}")
