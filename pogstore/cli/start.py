"""`git pog start`: work on a task begins here."""

from pogstore.cli._claims import lease_option
from pogstore.cli._context import Env, pass_env
from pogstore.cli._events import event_line
from pogstore.cli._options import as_option, json_option, pog_command, task_argument
from pogstore.cli._render import echo, echo_json, safe
from pogstore.cli._values import event_value
from pogstore.history.tasks import summary


@pog_command("start", {1: "somebody else holds it, or it cannot be started"})
@task_argument
@lease_option
@as_option
@json_option
@pass_env
def command(env: Env, task: str, lease: int | None, as_json: bool) -> None:
    """Claim a task, begin it and make it the active one of this work tree.

    To begin a task is to move it to in_progress. What is done already is not done again. A task that was amended after
    you claimed it is claimed as it is now; with --lease it is always claimed anew.
    """
    found = env.task(task)
    written = env.start(found, env.by.time + lease if lease else None)
    line = summary(env.store, found)
    if as_json:
        events = [event_value(sealed) for sealed in written]
        echo_json({"task": found, "title": line.title, "status": line.status, "events": events})
        return
    for sealed in written:
        echo(event_line(sealed))
    echo(f"now on {found} {safe(line.title)}")
