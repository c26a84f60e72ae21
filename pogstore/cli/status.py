"""`git pog status`: where this work tree and this store stand."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pogstore.cli import _draining
from pogstore.cli._context import Env, pass_env
from pogstore.cli._installed import Hooks, installed
from pogstore.cli._options import json_option, pog_command
from pogstore.cli._render import counted, echo, echo_json, safe, tell, when
from pogstore.errors import NotFound
from pogstore.history.names import shortest
from pogstore.history.tasks import Summary, summaries, summary
from pogstore.model import STATUSES
from pogstore.store import rows
from pogstore.work import setup, spooled
from pogstore.work.spooled import Loss

DAMAGED = 3
WHY_LOST = {
    "full": "the disk was full",
    "locked": "the spool was locked for too long",
    "denied": "the system did not let the hook write",
    "elsewhere": "the file is in a repository that is not enabled",
    "failed": "the hook failed",
}


class Capture(NamedTuple):
    """What became of what agents' hooks said: what waits, what was lost, what could not be read, who calls us."""

    pending: int
    paused: bool
    losses: Sequence[Loss]
    set_aside: Sequence[str]
    hooks: Sequence[Hooks]


@pog_command("status", {DAMAGED: "damaged store"})
@json_option
@pass_env
def command(env: Env, as_json: bool) -> int:
    """Show the active task, how many there are, and what is missing or damaged."""
    counts = Counter(line.status for line in summaries(env.store))
    faults = rows.faults(env.store.index.connection)
    active, capture = _active(env), _capture(env)
    if as_json:
        echo_json({
            "enabled": env.store.enabled,
            "active": {"task": active.task, "title": active.title, "status": active.status} if active else None,
            "tasks": dict(sorted(counts.items())),
            "pending": capture.pending,
            "faults": [{"ref": ref, "reason": reason} for ref, reason in faults],
            "paused": capture.paused,
            "losses": [loss._asdict() for loss in capture.losses],
            "set_aside": capture.set_aside,
            "hooks": [{"agent": each.agent, "scope": each.scope, "path": str(each.path), "exact": each.exact}
                      for each in capture.hooks],
        })  # fmt: skip
    else:
        _show(env, active, counts)
        for line in _said(capture):
            echo(line)
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


def _said(capture: Capture) -> Iterator[str]:
    """Yields a line for each thing that there is to say; nothing while all is well and no agent calls us."""
    for hooks in capture.hooks:
        yield f"recording {hooks.agent}: {hooks.scope} settings" + ("" if hooks.exact else f", {hooks.said}")
    if capture.paused:
        yield "paused: nothing that agents do is recorded"
    if capture.pending:
        yield f"pending: {capture.pending}"
    for loss in capture.losses:
        reason = WHY_LOST.get(loss.reason, loss.reason)
        yield f"not recorded: {counted(loss.times, 'step')}, last on {when(loss.last)}: {reason}"
    if capture.set_aside:
        yield f"set aside: {counted(len(capture.set_aside), 'damaged part')} of records, each in a file"
        yield from (f"  {safe(path)}" for path in capture.set_aside)


def _capture(env: Env) -> Capture:
    layout = env.store.layout
    places = [setup.spool_of(layout), setup.paused_of(layout)]
    return Capture(
        _draining.pending(env.store),
        setup.paused(layout),
        spooled.losses(places[0]),
        [str(path) for place in places for path in spooled.set_aside_parts(place)],
        [hooks for hooks in installed(env) if hooks.found],
    )


def _active(env: Env) -> Summary | None:
    """Returns the active task; nothing if there is none, or if its refs are gone."""
    task = env.active()
    try:
        return summary(env.store, task) if task else None
    except NotFound:
        return None
