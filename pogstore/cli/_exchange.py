"""What `push`, `fetch` and `pull` share: their arguments, and how reports are shown."""

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import click
import msgspec

from pogstore import sync
from pogstore.cli._context import Env
from pogstore.cli._render import echo, path_text, safe, table, tell
from pogstore.cli._values import Value
from pogstore.errors import AmbiguousName, NotFound
from pogstore.history.names import shortest
from pogstore.history.tasks import summaries
from pogstore.model import TaskId
from pogstore.store import transport
from pogstore.store.transport import Remote
from pogstore.sync import RefOutcome
from pogstore.work.scan import Place

_F = TypeVar("_F", bound=Callable[..., Any])

EXITS = {1: "some refs failed, or the remote lost something"}
WORDS = {"created": "new", "forwarded": "updated"}
STAYS = "(its title stays here)"
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
        {"task": task, "places": [place._asdict() | {"where": msgspec.to_builtins(place.where)} for place in places]}
        for task, places in refused.items()
    ]


def show_refs(env: Env, refs: Sequence[RefOutcome], *, kept: bool = False) -> None:
    """Prints a line for each task whose refs moved, and one on standard error for each ref that failed.

    `kept` says that private contents did not move: a private title among them is not shown as if it had.
    """
    moved: dict[TaskId, str] = {}
    for ref in refs:
        if not ref.failed and ref.outcome not in ("wiped", "skipped"):
            word = WORDS.get(ref.outcome, ref.outcome)
            moved[ref.task] = word if ref.ref.startswith("refs/pog/tasks/") else moved.get(ref.task, "updated")
    with env.store.one_moment():
        known = env.store.tasks()
        lines = summaries(env.store, set(moved) & set(known))
    titles = {line.task: STAYS if kept and line.private and line.titled else line.title for line in lines}
    ids: list[str] = sorted({*known, *moved})
    rows = [[f"  {word}", shortest(ids, task), safe(titles.get(task, ""))] for task, word in moved.items()]
    for line in table(rows, width=env.width):
        echo(line)
    for text in dict.fromkeys(_complaint(ref) for ref in refs):
        if text:
            tell(text)


def show_ahead(ahead: Iterable[TaskId]) -> None:
    """Warns of tasks whose clocks are far ahead of all others."""
    for task in ahead:
        tell(f"warning: task {task} has events whose clock is far ahead; they do not move the clock here")


def show_refused(refused: Mapping[TaskId, Sequence[Place]]) -> None:
    """Says on standard error which tasks were held back, and where to look; never what stands there."""
    for task, places in refused.items():
        tell(f"error: task {task} was not pushed: it holds what looks like a secret")
        for place in places[:_SHOWN]:
            where = path_text(place.where)
            tell(f"  {where}, line {place.line}: {place.kind} in content {place.blob}")
        if len(places) > _SHOWN:
            tell(f"  and {len(places) - _SHOWN} more; --json names all of them")
    if refused:
        tell("hint: if it is none, let that content pass: git pog push --allow-secret ID,")
        tell("hint: or for good: git config --add pog.allowSecret ID")


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


def _complaint(ref: RefOutcome) -> str | None:
    """Returns what is to be said of a ref that is not as it should be; the same for all refs that lost the same."""
    name = safe(ref.ref.removeprefix("refs/pog/"))
    match ref.outcome:
        case "wiped":
            return f"warning: task {ref.task} is gone from the remote; it is kept here, and the next push puts it back"
        case "truncated":
            return f"error: task {ref.task}: {ref.reason}; it is kept here, and the next push puts it back"
        case "skipped":
            return f"warning: {name} was skipped: this is not the name of a task"
        case _ if ref.failed:
            return f"error: {name}: {ref.outcome}: {safe(ref.reason or 'for no given reason')}"
        case _:
            return None
