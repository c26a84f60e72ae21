"""`git pog start`: work on a task begins here."""

from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import as_option, json_option, pog_command, task_argument
from pogstore.cli._render import echo, safe
from pogstore.cli._written import show_written
from pogstore.history.tasks import summary


@pog_command("start", {1: "somebody else holds it, or it cannot be started"})
@task_argument
@as_option
@json_option
@pass_env
def command(env: Env, task: str, as_json: bool) -> None:
    """Claim a task, move it to in_progress and make it the active task of this work tree."""
    found = env.task(task)
    written = env.start(found)
    if as_json or written:
        show_written(written, as_json)
    if not as_json:
        echo(f"now on {found} {safe(summary(env.store, found).title)}")
