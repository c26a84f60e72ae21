"""`git pog status`: where this work tree and this store stand."""

from collections import Counter

from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import json_option, pog_command
from pogstore.cli._render import echo, echo_json, safe
from pogstore.errors import NotFound
from pogstore.history.tasks import Summary, summaries, summary
from pogstore.store import rows


@pog_command("status", {3: "damaged store"})
@json_option
@pass_env
def command(env: Env, as_json: bool) -> int:
    """Show whether pogstore is enabled here, the active task, how many tasks there are, and what is damaged."""
    lines = summaries(env.store)
    faults = rows.faults(env.store.index.connection)
    active = _active(env)
    counts = Counter(line.status for line in lines)
    if as_json:
        echo_json({
            "enabled": env.store.enabled,
            "active": {"task": active.task, "title": active.title, "status": active.status} if active else None,
            "tasks": dict(sorted(counts.items())),
            "pending": 0,
            "faults": [{"ref": ref, "reason": reason} for ref, reason in faults],
        })  # fmt: skip
        return 3 if faults else 0
    echo("pogstore is enabled here" if env.store.enabled else "pogstore is not enabled here (run 'git pog init')")
    echo(f"on {active.task[:8]} {safe(active.title)} [{safe(active.status)}]" if active else "no active task")
    echo(", ".join(f"{number} {safe(status)}" for status, number in sorted(counts.items())) or "no tasks")
    for ref, reason in faults:
        echo(f"damaged: {safe(ref)}: {safe(reason)}")
    return 3 if faults else 0


def _active(env: Env) -> Summary | None:
    task = env.active()
    try:
        return summary(env.store, task) if task else None
    except NotFound:
        return None
