"""What a command says that wrote one event."""

from pogstore.cli._context import Env
from pogstore.cli._events import event_line
from pogstore.cli._redaction import tell_redacted
from pogstore.cli._render import echo, echo_json, tell
from pogstore.cli._values import event_value
from pogstore.model import Sealed, TaskId
from pogstore.store.store import Store
from pogstore.work import active, tasks


def show_written(written: Sealed, as_json: bool, store: Store | None = None) -> None:
    """Prints the event that was written: in one line, with a store with what it says, or as `log --json` shows it."""
    if as_json:
        echo_json(event_value(written))
    else:
        echo(event_line(written, store))


def move_task(
    env: Env, task: TaskId, status: str, as_json: bool, *, reason: str | None = None, outcome: str | None = None
) -> None:
    """Moves a task and prints the event; says so if this work tree is on no task any more."""
    was_on = active.active_task(env.store.layout) == task
    written = tasks.move(env.store, task, status, env.by, reason=reason, outcome=outcome)
    show_written(written, as_json)
    tell_redacted(env.store, written)
    if was_on and not as_json and active.active_task(env.store.layout) is None:
        tell("no active task now; '@{-1}' is the one that ended")
