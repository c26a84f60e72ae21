"""`git pog share`: a task may travel."""

from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import as_option, json_option, pog_command, task_argument
from pogstore.cli._render import echo, echo_json, safe, tell
from pogstore.history.tasks import summary
from pogstore.work import tasks
from pogstore.work.locality import unmark_local


@pog_command("share")
@task_argument
@as_option
@json_option
@pass_env
def command(env: Env, task: str, as_json: bool) -> None:
    """Let a task leave this repository, with its title and intent.

    The definition of an agent's session is private until this is done; prompts and outputs stay private.
    """
    found = env.task(task)
    written = tasks.share(env.store, found, env.by)
    unmark_local(env.store, found)
    line = summary(env.store, found)
    if as_json:
        echo_json({"task": found, "title": line.title, "event": written.event_id if written else None})
        return
    echo(f"{found} {safe(line.title)}")
    tell("hint: 'git pog push' takes it along")
