"""`git pog local`: tasks that never leave this repository."""

import click

from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import json_option, pog_command, task_argument
from pogstore.cli._render import echo, echo_json, safe, tell
from pogstore.store import transport
from pogstore.store.refs import task_ref
from pogstore.work import locality


@pog_command("local")
@click.option("--remove", is_flag=True, help="Let the task leave again with the next push.")
@click.option("--list", "listing", is_flag=True, help="Print the tasks that are local.")
@task_argument
@json_option
@pass_env
def command(env: Env, task: str, remove: bool, listing: bool, as_json: bool) -> None:
    """Keep a task in this repository: no push takes it along.

    The mark is kept in this repository's git configuration. It does not take back what was pushed before.
    """
    if listing:
        _list(env, as_json)
        return
    found = env.task(task)
    mark = locality.unmark_local if remove else locality.mark_local
    changed = mark(env.store, found)
    seen = [] if remove else transport.seen_at(env.store.refs, task_ref(found))
    if as_json:
        echo_json({"task": found, "local": not remove, "changed": changed, "seen_at": seen})
        return
    echo(f"task {found} {'may be pushed' if remove else 'is local: no push takes it along'}")
    for name in seen:
        tell(f"warning: it was pushed to {safe(name)} before, and is still there")


def _list(env: Env, as_json: bool) -> None:
    tasks = sorted(locality.local_tasks(env.store))
    if as_json:
        echo_json(tasks)
        return
    for task in tasks:
        echo(safe(task))
    if not tasks:
        tell("no local tasks")
