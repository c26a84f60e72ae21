"""`git pog review`: a verdict."""

import click

from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import as_option, exclusive, json_option, pog_command, task_argument, text_of
from pogstore.cli._redaction import tell_redacted
from pogstore.cli._written import show_written
from pogstore.work import tasks


@pog_command("review")
@task_argument
@click.option("--approve", is_flag=True, help="It is right.")
@click.option("--reject", is_flag=True, help="It is not.")
@click.option("--of", multiple=True, metavar="EVENT", help="An event that is meant; by default the definition is.")
@click.option("-m", "text", metavar="TEXT|-", help="Why.")
@as_option
@json_option
@pass_env
def command(
    env: Env, task: str, approve: bool, reject: bool, of: tuple[str, ...], text: str | None, as_json: bool
) -> None:
    """Approve or reject the definition of a task, or some of its events."""
    exclusive(approve=approve, reject=reject)
    if not approve and not reject:
        raise click.UsageError("one of --approve and --reject is needed")
    found = env.task(task)
    events = tuple(env.store.resolve_event(name) for name in of)
    verdict = "approve" if approve else "reject"
    written = tasks.review(env.store, found, verdict, env.by, of=events, text=text_of(text, "-m"))
    show_written(written, as_json)
    tell_redacted(env.store, written)
