"""`git pog check`: a checklist item is done."""

import click

from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import as_option, json_option, pog_command, task_option
from pogstore.cli._written import show_written
from pogstore.work import tasks


@pog_command("check")
@click.argument("item", type=click.IntRange(1), metavar="ITEM")
@task_option
@click.option("--undo", is_flag=True, help="It is not done after all.")
@as_option
@json_option
@pass_env
def command(env: Env, item: int, task: str, undo: bool, as_json: bool) -> None:
    """Tick a checklist item of a task; items count from 1."""
    found = env.task(task)
    show_written(tasks.check(env.store, found, item - 1, env.by, done=not undo), as_json)
