"""`git pog review`: a verdict."""

import click

from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import as_option, json_option, pog_command, task_argument, text_of
from pogstore.cli._written import show_written
from pogstore.work import tasks


@pog_command("review")
@task_argument
@click.option("--approve", "verdict", flag_value="approve", help="It is right.")
@click.option("--reject", "verdict", flag_value="reject", help="It is not.")
@click.option("--of", multiple=True, metavar="EVENT", help="The events meant; by default the definition.")
@click.option("-m", "text", metavar="TEXT|-|@FILE", help="Why.")
@as_option
@json_option
@pass_env
def command(env: Env, task: str, verdict: str | None, of: tuple[str, ...], text: str | None, as_json: bool) -> None:
    """Approve or reject the definition of a task, or some of its events."""
    if verdict is None:
        raise click.UsageError("one of --approve and --reject is needed")
    found = env.task(task)
    events = tuple(env.store.resolve_event(name) for name in of)
    show_written([tasks.review(env.store, found, verdict, env.by, of=events, text=text_of(text, "-m"))], as_json)
