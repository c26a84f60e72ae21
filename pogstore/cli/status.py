"""`git pog status`: where this work tree and this store stand."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import click

from pogstore.cli import _draining, _interrupted, _missing
from pogstore.cli._claims import troubles
from pogstore.cli._context import Env, now, pass_env
from pogstore.cli._installed import Hooks, installed
from pogstore.cli._limits import trouble_with
from pogstore.cli._options import json_option, pog_command
from pogstore.cli._redaction import redaction_value, said_redaction
from pogstore.cli._render import counted, echo, echo_json, safe, tell
from pogstore.cli._values import task_line
from pogstore.errors import NotFound
from pogstore.history.names import shortest
from pogstore.history.tasks import Summary, summaries, summary
from pogstore.model import STATUSES, TaskId
from pogstore.store import gaps, rows
from pogstore.store.gaps import Gap
from pogstore.work import acknowledged, githooks, setup, spooled
from pogstore.work.acknowledged import Seen
from pogstore.work.spooled import Loss

DAMAGED = 3
RECENT = 7 * 86_400_000_000
"""How far back steps that were not wholly captured are told, in µs; of the active task all are."""


class Capture(NamedTuple):
    """What became of what agents' hooks said: what waits, what was lost, what could not be read, who calls us."""

    pending: int
    paused: bool
    losses: Sequence[Loss]
    seen: Seen
    gaps: Sequence[Gap]
    set_aside: Sequence[str]
    hooks: Sequence[Hooks]
    guard_lost: bool
    closed: str | None = None
    """Why the spool cannot be looked into, if it cannot."""


@pog_command("status", {DAMAGED: "damaged store"})
@click.option("--seen", is_flag=True, help="Acknowledge what was not captured so far: it is not told again.")
@json_option
@pass_env
def command(env: Env, seen: bool, as_json: bool) -> int:
    """Show the active task, how many there are, and what is missing or damaged.

    Of what agents did it says what was lost before it could be recorded, and which steps of the last week, or of the
    active task, were recorded in part or without their effects, and why. --seen forgets nothing: counts stay, and the
    steps keep saying it themselves.
    """
    lines = summaries(env.store)
    counts = Counter(line.status for line in lines)
    faults = rows.faults(env.store.index.connection)
    active = _active(env)
    capture = _capture(env, lines, active)
    on = active.task if active else None
    limits = trouble_with(env.store)
    if seen:
        acknowledged.acknowledge(env.store.layout, now())
    if as_json:
        echo_json({
            "enabled": env.store.enabled,
            "active": {"task": active.task, "title": active.title, "status": active.status,
                       "claims": task_line(active, env.time)["claims"]} if active else None,
            "tasks": dict(sorted(counts.items())),
            "redact": redaction_value(env, on),
            "pending": capture.pending,
            "closed": capture.closed,
            "faults": [{"ref": ref, "reason": reason} for ref, reason in faults],
            "paused": capture.paused,
            "limits": limits.text if limits else None,
            "losses": [loss._asdict() for loss in capture.losses],
            "new_losses": {loss.reason: new for loss in capture.losses if (new := capture.seen.new(loss))},
            "gaps": [gap._asdict() for gap in capture.gaps],
            "set_aside": capture.set_aside,
            "interrupted": _interrupted.value_of(env.store),
            "hooks": [{"agent": each.agent, "scope": each.scope, "path": str(each.path), "exact": each.exact}
                      for each in capture.hooks],
        })  # fmt: skip
    else:
        _show(env, active, counts)
        if waiting := _interrupted.waiting(env.store):
            echo(f"interrupted: {waiting}")
        for line in (*_said(capture), *said_redaction(env, on)):
            echo(line)
        if limits is not None:
            echo(f"limits: {safe(limits.text)}")
            tell(f"hint: {safe(limits.hint)}")
        for line, hint in _missing.said_gaps(capture.gaps):
            echo(line)
            if hint:
                tell(f"hint: {hint}")
        for path in _aside(capture):
            echo(path)
        _hint(capture, acknowledged_now=seen)
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
        for line in troubles(active, env.time):
            echo(f"  {line}")
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
    if capture.closed:
        yield f"nothing is recorded: the spool cannot be read ({safe(capture.closed)}); see 'git pog doctor'"
    if capture.pending:
        yield f"pending: {capture.pending}"
    yield from _missing.said_losses(capture.losses, capture.seen)


def _aside(capture: Capture) -> Iterator[str]:
    if capture.set_aside:
        yield f"set aside: {counted(len(capture.set_aside), 'damaged part')} of records, each in a file"
        yield from (f"  {safe(path)}" for path in capture.set_aside)


def _hint(capture: Capture, *, acknowledged_now: bool) -> None:
    if acknowledged_now:
        tell("what was not captured so far is not told again")
    elif capture.gaps or any(map(capture.seen.new, capture.losses)):
        tell("hint: 'git pog status --seen' when you have seen it")
    if capture.guard_lost:
        tell("warning: nothing keeps private refs from a plain 'git push' any more; see 'git pog doctor'")


def _capture(env: Env, lines: Sequence[Summary], active: Summary | None) -> Capture:
    layout = env.store.layout
    seen = acknowledged.seen(layout)
    places = [setup.spool_of(layout), setup.paused_of(layout)]
    pending, aside, closed = 0, [], None
    try:
        pending = _draining.pending(env.store)
        aside = [str(path) for place in places for path in spooled.set_aside_parts(place)]
    except OSError as fault:  # it was made by somebody else, say as root
        closed = fault.strerror or str(fault)
    return Capture(
        pending,
        setup.paused(layout),
        spooled.losses(places[0]) if closed is None else [],
        seen,
        gaps.gaps(env.store.index.connection, _since(lines, active, seen.time)),
        aside,
        [hooks for hooks in installed(env) if hooks.found],
        githooks.wanted(layout) and githooks.look(env.store).lost,
        closed,
    )


def _since(lines: Sequence[Summary], active: Summary | None, seen: int) -> dict[TaskId, int]:
    """Returns since when the steps of each task count: all of the active one, then the recent ones of others."""
    recent = max(now() - RECENT, seen)
    changed = sorted((line for line in lines if line.last_time > recent), key=lambda line: -line.last_time)
    return ({active.task: seen + 1} if active else {}) | {
        line.task: recent + 1 for line in changed if active is None or line.task != active.task
    }


def _active(env: Env) -> Summary | None:
    """Returns the active task; nothing if there is none, or if its refs are gone."""
    task = env.active()
    try:
        return summary(env.store, task) if task else None
    except NotFound:
        return None
