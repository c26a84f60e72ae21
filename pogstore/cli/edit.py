"""`git pog edit`: the definition of a task, amended."""

import click
from msgspec.structs import replace

from pogstore.cli._context import Env, pass_env
from pogstore.cli._contract import contract_options, defined
from pogstore.cli._options import as_option, json_option, pog_command, task_argument
from pogstore.cli._render import echo, echo_json, safe
from pogstore.cli._values import task_value
from pogstore.history.tasks import UNTITLED, find_definition, read_state
from pogstore.model import Definition
from pogstore.work import tasks


@pog_command("edit", {1: "a link would close a cycle"})
@task_argument
@click.option("--title", help="Give it another title.")
@contract_options
@as_option
@json_option
@pass_env
def command(env: Env, task: str, title: str | None, as_json: bool, **contract: object) -> None:
    """Amend the definition of a task; what is not named stays as it is.

    Whoever has claimed the old definition has to claim again.
    """
    found = env.task(task)
    now = read_state(env.store, found)
    old = find_definition(env.store, now) or Definition(title=UNTITLED)
    if title is not None:
        old = replace(old, title=title)
    definition, links = defined(env, old, now.links, contract)
    class_ = now.definition.class_ if now.definition and title is None else "content"
    tasks.define(env.store, found, definition, env.by, links=links, class_=class_)
    if as_json:
        echo_json(task_value(env.store, found, read_state(env.store, found)))
        return
    echo(f"{found} {safe(definition.title)}")
