"""What `push`, `fetch` and `pull` share: their arguments, and how reports are shown."""

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import click

from pogstore import sync
from pogstore.cli._context import Env
from pogstore.cli._render import echo, path_text, safe, table
from pogstore.cli._values import Value
from pogstore.errors import AmbiguousName, NotFound
from pogstore.history.names import shortest
from pogstore.history.tasks import summaries
from pogstore.model import TaskId
from pogstore.store import transport
from pogstore.store.store import Store
from pogstore.store.transport import Remote
from pogstore.sync import RefOutcome
from pogstore.work.scan import Place

_F = TypeVar("_F", bound=Callable[..., Any])

EXITS = {1: "some refs failed, or the remote lost something"}
WORDS = {"created": "new", "forwarded": "updated"}
_SHOWN = 20
_UUID_PREFIX = re.compile(r"[0-9a-f]{4,8}(?:-[0-9a-f-]*)?")


def exchange_arguments(function: _F) -> _F:
    """Adds `--private` and `[REMOTE] [TASK]...`."""
    option = click.option("--private", is_flag=True, help="Private contents as well: prompts, replies, command lines.")
    return option(click.argument("names", nargs=-1, metavar="[REMOTE] [TASK]...")(function))


def chosen(env: Env, names: Sequence[str], *, push: bool = False) -> tuple[Remote, list[TaskId] | None]:
    """Returns the remote and the tasks that a command line means; no tasks means all of them.

    What is to be fetched may be unknown here, so the remote is asked for it.
    """
    remote, rest = transport.choose_remote(env.store.git, names, push=push)
    if not rest:
        return remote, None
    try:
        return remote, [_task(env, name, None if push else remote) for name in rest]
    except NotFound as fault:
        if len(rest) == len(names) and fault.name == names[0]:
            raise NotFound("remote or task", names[0], "'git remote -v' and 'git pog list --all' list them") from fault
        raise


def shows_progress(as_json: bool) -> bool:
    """Says whether a person is watching."""
    return not as_json and sys.stderr.isatty()


def ref_values(refs: Iterable[RefOutcome]) -> list[Value]:
    """Returns the JSON of what became of some refs."""
    return [_present({"ref": ref.ref, "task": ref.task} | ref._asdict()) for ref in refs]


def place_values(refused: Mapping[TaskId, Sequence[Place]]) -> list[Value]:
    """Returns the JSON of the tasks that were held back."""
    return [
        {"task": task, "places": [place._asdict() | {"where": path_text(place.where)} for place in places]}
        for task, places in refused.items()
    ]


def show_refs(store: Store, refs: Sequence[RefOutcome]) -> None:
    """Prints a line for each task whose refs moved, and one on standard error for each ref that failed."""
    moved: dict[TaskId, str] = {}
    for ref in refs:
        if not ref.failed and ref.outcome not in ("wiped", "skipped"):
            word = WORDS.get(ref.outcome, ref.outcome)
            moved[ref.task] = word if ref.ref.startswith("refs/pog/tasks/") else moved.get(ref.task, "updated")
    titles = {line.task: line.title for line in summaries(store, set(moved) & set(store.tasks()))}
    rows = [[f"  {word}", *_named(store, task, titles.get(task))] for task, word in moved.items()]
    for line in table(rows):
        echo(line)
    for ref in refs:
        _complain(ref)


def show_ahead(ahead: Iterable[TaskId]) -> None:
    """Warns of tasks whose clocks are far ahead of all others."""
    for task in ahead:
        click.echo(
            f"warning: task {task} has events whose clock is far ahead; they do not move the clock here", err=True
        )


def show_refused(refused: Mapping[TaskId, Sequence[Place]]) -> None:
    """Says on standard error which tasks were held back, and where to look; never what stands there."""
    for task, places in refused.items():
        click.echo(f"error: task {task} was not pushed: it holds what looks like a secret", err=True)
        for place in places[:_SHOWN]:
            where = safe(path_text(place.where))
            click.echo(f"  {where}, line {place.line}: {place.kind} in content {place.blob}", err=True)
        if len(places) > _SHOWN:
            click.echo(f"  and {len(places) - _SHOWN} more; --json names all of them", err=True)
    if refused:
        click.echo("hint: if it is none, let that content pass: git pog push --allow-secret ID,", err=True)
        click.echo("hint: or for good: git config --add pog.allowSecret ID", err=True)


def _task(env: Env, name: str, remote: Remote | None) -> TaskId:
    try:
        return env.task(name)
    except NotFound:
        if remote is None or not _UUID_PREFIX.fullmatch(name.lower()):
            raise
    found = [task for task in sync.remote_tasks(env.store, remote) if task.startswith(name.lower())]
    if not found:
        raise NotFound("task", name, f"'{remote.name}' has none of that id either")
    if len(found) > 1:
        raise AmbiguousName(name, found)
    return found[0]


def _present(value: Mapping[str, object]) -> Value:
    return {name: item for name, item in value.items() if item is not None}


def _named(store: Store, task: TaskId, title: str | None) -> list[str]:
    return [shortest(list(store.tasks()), task), safe(title or "")]


def _complain(ref: RefOutcome) -> None:
    name = safe(ref.ref.removeprefix("refs/pog/"))
    match ref.outcome:
        case "wiped":
            text = f"warning: {name} is gone from the remote; yours is kept, and the next push puts it back"
        case "truncated":
            text = f"error: {name}: {ref.reason}; yours is kept, and the next push puts it back"
        case "skipped":
            text = f"warning: {name} was skipped: this is not the name of a task"
        case _ if ref.failed:
            text = f"error: {name}: {ref.outcome}: {safe(ref.reason or 'for no given reason')}"
        case _:
            return
    click.echo(text, err=True)
