"""`git pog edit`: the definition of a task, amended."""

import click
from msgspec.structs import replace

from pogstore.cli._context import Env, pass_env
from pogstore.cli._contract import contract_options, defined
from pogstore.cli._options import as_option, json_option, pog_command, said, task_argument
from pogstore.cli._redaction import tell_redacted
from pogstore.cli._render import echo, echo_json, safe, short_who, tell
from pogstore.cli._values import task_value
from pogstore.errors import NotFound
from pogstore.history.tasks import UNTITLED, find_definition, read_state, summary
from pogstore.model import Definition, TaskId
from pogstore.state import TaskState, is_outdated
from pogstore.work import tasks


@pog_command("edit", {1: "a link would close a cycle"})
@task_argument
@click.option("--title", metavar="TITLE", help="Give it another title.")
@contract_options
@as_option
@json_option
@pass_env
def command(env: Env, task: str, title: str | None, as_json: bool, **contract: object) -> None:
    """Amend the definition of a task; what is not named stays as it is.

    A list that is named is replaced, and an empty value takes a field away: --tag ''. Whoever has claimed the old
    definition has to claim it again; so have you, if you hold it and its limits change.
    """
    if title is None and all(value is None or value == () for value in contract.values()):
        raise click.UsageError("nothing to amend; say what is to change")
    found = env.task(task)
    _amend(env, found, title, contract)
    now = read_state(env.store, found)
    for claim in now.claims:
        if is_outdated(claim, now.definition_id):
            tell(f"warning: {short_who(claim.actor)} has claimed it as it was before, and has to claim it again")
    if as_json:
        echo_json(task_value(env.store, found, now, env.time))
        return
    echo(f"{found} {safe(summary(env.store, found).title)}")


def _amend(env: Env, task: TaskId, title: str | None, contract: dict[str, object]) -> None:
    """Writes the amended definition; nothing if it says what the old one said."""
    now = read_state(env.store, task)
    old = _definition(env, now)
    ticked = tuple(
        replace(item, done=now.checked[at]) if at in now.checked else item for at, item in enumerate(old.checklist)
    )
    start = replace(old, checklist=ticked, title=old.title if title is None else said(title, "--title"))
    definition, links = defined(env, start, now.links, contract)
    if now.definition is not None and links == now.links and definition == replace(old, checklist=ticked):
        return
    class_ = now.definition.class_ if now.definition and title is None else "content"
    tell_redacted(env.store, tasks.define(env.store, task, definition, env.by, links=links, class_=class_))


def _definition(env: Env, now: TaskState) -> Definition:
    """Returns the definition to amend; raises `NotFound` if there is one that is not here: it must not be lost."""
    found = find_definition(env.store, now)
    if found is None and now.definition is not None:
        raise NotFound("definition", now.definition.blob, "it is private, was erased or was not fetched")
    return found or Definition(title=UNTITLED)
