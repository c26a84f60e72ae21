"""`git pog new`: a task, defined."""

import click

from pogstore.cli._context import Env, pass_env
from pogstore.cli._contract import contract_options, defined
from pogstore.cli._options import as_option, json_option, pog_command, said
from pogstore.cli._redaction import tell_redacted
from pogstore.cli._render import echo, echo_json, safe
from pogstore.cli._values import task_value
from pogstore.draft import derived_task_id
from pogstore.history.tasks import read_state, summary
from pogstore.model import Definition, Link, TaskId
from pogstore.work import tasks

KEYED = "pog-new"
"""What the ids of tasks with a key are derived from, beside the key."""


@pog_command("new", {1: "a link would close a cycle, or with --start somebody holds the task"})
@click.argument("title", metavar="TITLE")
@contract_options
@click.option("--key", metavar="KEY", help="Make it once only: the same KEY again gives the same task, unchanged.")
@click.option("--start", is_flag=True, help="Claim it at once and make it the active task.")
@as_option
@json_option
@pass_env
def command(env: Env, title: str, key: str | None, start: bool, as_json: bool, **contract: object) -> None:
    """Make a task with a title, an intent and limits, and print its id.

    What may be named more than once, such as --tag, --item and --allow, is given once for each value.

    A program that may not see the answer gives a --key, such as a random id, and calls again.
    """
    definition, links = defined(env, Definition(title=said(title, "TITLE")), (), contract)
    task = derived_task_id(KEYED, "", key) if key else env.new_task_id()
    if start:
        env.refuse_to_leave(task)
    above = env.bounding()
    if above is not None and Link(rel="parent", task=above) not in links:
        links = (*links, Link(rel="parent", task=above))  # what an agent defines is bound by what binds the agent
    if not _exists(env, key, task):
        tell_redacted(env.store, tasks.define(env.store, task, definition, env.by, links=links))
    if start:
        env.start(task)
    if as_json:
        echo_json(task_value(env.store, task, read_state(env.store, task), env.time))
        return
    echo(f"{task} {safe(summary(env.store, task).title)}")


def _exists(env: Env, key: str | None, task: TaskId) -> bool:
    return key is not None and task in env.store.tasks()
