"""`git pog new`: a task, defined."""

import click

from pogstore.cli._context import Env, pass_env
from pogstore.cli._contract import contract_options, defined
from pogstore.cli._options import as_option, json_option, pog_command
from pogstore.cli._render import echo, echo_json, safe
from pogstore.cli._values import task_value
from pogstore.history.tasks import read_state
from pogstore.model import Definition
from pogstore.work import tasks


@pog_command("new", {1: "a link would close a cycle"})
@click.argument("title")
@contract_options
@click.option("--start", is_flag=True, help="Claim it at once and make it the active task.")
@as_option
@json_option
@pass_env
def command(env: Env, title: str, start: bool, as_json: bool, **contract: object) -> None:
    """Make a task with a title, an intent and limits.

    Prints its id.
    """
    definition, links = defined(env, Definition(title=title), (), contract)
    task = env.new_task_id()
    tasks.define(env.store, task, definition, env.by, links=links)
    if start:
        env.start(task)
    if as_json:
        echo_json(task_value(env.store, task, read_state(env.store, task)))
        return
    echo(f"{task} {safe(definition.title)}")
