"""`git pog status`: where this work tree and this store stand."""

from collections import Counter
from collections.abc import Mapping

from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import json_option, pog_command
from pogstore.cli._render import counted, echo, echo_json, safe, tell
from pogstore.errors import NotFound
from pogstore.history.names import shortest
from pogstore.history.tasks import Summary, summaries, summary
from pogstore.model import STATUSES
from pogstore.store import rows

DAMAGED = 3


@pog_command("status", {DAMAGED: "damaged store"})
@json_option
@pass_env
def command(env: Env, as_json: bool) -> int:
    """Show the active task, how many there are, and what is damaged."""
    counts = Counter(line.status for line in summaries(env.store))
    faults = rows.faults(env.store.index.connection)
    active = _active(env)
    if as_json:
        echo_json({
            "enabled": env.store.enabled,
            "active": {"task": active.task, "title": active.title, "status": active.status} if active else None,
            "tasks": dict(sorted(counts.items())),
            "pending": 0,
            "faults": [{"ref": ref, "reason": reason} for ref, reason in faults],
        })  # fmt: skip
    else:
        _show(env, active, counts)
        for ref, reason in faults:
            echo(f"damaged: {safe(ref)}: {safe(reason)}")
    return DAMAGED if faults else 0


def _show(env: Env, active: Summary | None, counts: Mapping[str, int]) -> None:
    if not env.store.enabled:
        echo("pogstore is not enabled in this repository")
        tell("hint: 'git pog init' enables it")
    if active is None:
        echo("no active task")
    else:
        short = shortest(list(env.store.tasks()), active.task)
        echo(f"on {short} {safe(active.title)} [{safe(active.status)}]")
    order = [*STATUSES, *sorted(counts.keys() - set(STATUSES))]
    parts = ", ".join(f"{counts[status]} {safe(status)}" for status in order if status in counts)
    total = sum(counts.values())
    echo(f"{counted(total, 'task')}{': ' if parts else ''}{parts}")


def _active(env: Env) -> Summary | None:
    """Returns the active task; nothing if there is none, or if its refs are gone."""
    task = env.active()
    try:
        return summary(env.store, task) if task else None
    except NotFound:
        return None
