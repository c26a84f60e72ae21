"""Plans that write files, and what came of them."""

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import click
import msgspec

from pogstore.cli._events import SHORT
from pogstore.cli._render import counted, echo, echo_json, path_text, raw_path_text, safe, tell
from pogstore.cli._values import Value
from pogstore.errors import PlanMoved
from pogstore.history.plans import Done, Obstacle, Plan, digest_of
from pogstore.model import EventId, Path
from pogstore.store.content import path_of
from pogstore.work.writer import Write

_F = TypeVar("_F", bound=Callable[..., Any])

EXITS = {
    1: "a conflict, or another plan than the one named; nothing was written",
    3: "damaged store",
    4: "a path that may not be written",
}
REASONS = {
    "overlap": "its lines were edited since",
    "edited-since": "it was edited since",
    "edited-since-create": "it was created then and edited since",
    "deleted-since": "it was deleted since",
    "recreated-since": "something else stands there now",
    "renamed-since": "it was renamed again since",
    "binary": "it is not a text, and was changed since",
    "link-changed": "it is a symbolic link, and was changed since",
    "type-changed": "it is a file on one side and a symbolic link on the other",
    "submodule": "it is a submodule",
    "not-a-file": "it is neither a file nor a symbolic link",
    "in-the-way": "a file or a directory that must stay is in its way",
    "too-large": "it is larger than pog.maxBlob, so it could not be brought back",
    "filtered": "git's conversion of it (line endings, a filter) cannot be reversed exactly",
    "not-recorded": "nobody recorded what it held before",
    "content-omitted": "it was too large to be recorded",
    "content-absent": "its recorded content is not here; 'git pog fetch' may bring it",
    "content-erased": "its recorded content was erased",
    "content-lost": "its recorded content is lost or damaged; 'git pog verify' says more",
}
"""What each named conflict means."""
Shared = Sequence[tuple[Path, EventId]]
FEW_SHARED = 3
"""Files that are named of those that perhaps hold somebody else's changes."""
ANEW = "; made anew there: if it was moved, the file under its new name stays as it is"
NOTHING = "nothing to do: the work tree holds none of these effects"


def dry_run_option(function: _F) -> _F:
    """Adds `--dry-run`."""
    return click.option("--dry-run", "-n", is_flag=True, help="Show the plan and its digest; write nothing.")(function)


def plan_option(function: _F) -> _F:
    """Adds `--plan`."""
    help_text = "Go on only if this is still the plan that '--dry-run' showed."
    return click.option("--plan", "digest", metavar="DIGEST", callback=_digest, help=help_text)(function)


def refuse_if_moved(plan: Plan, digest: str | None) -> None:
    """Raises `PlanMoved` unless a plan is the one whose digest, or the beginning of it, was named."""
    found = digest_of(plan) if digest is not None else ""
    if digest is not None and not found.startswith(digest):
        raise PlanMoved(digest, found)


def _digest(_context: click.Context, _option: click.Parameter, given: str | None) -> str | None:
    if given is None or re.fullmatch(r"[0-9a-f]{12,64}", given):
        return given
    raise click.BadParameter("not a digest that '--dry-run' printed (at least twelve of its hex digits)")


class Advice(NamedTuple):
    """What to do about a plan that cannot be carried out: for people, and as a command that is ready to run."""

    lines: tuple[str, ...] = ()
    command: str | None = None


NO_ADVICE = Advice()


def show_plan(
    plan: Plan, as_json: bool, advice: Advice = NO_ADVICE, nothing: str = NOTHING, shared: Shared = ()
) -> int:
    """Prints a plan, or what stands in its way; returns the exit status. `nothing` says that there is nothing to do.

    `shared` are the files, each with the step, that perhaps hold somebody else's changes.
    """
    status = 1 if plan.obstacles else 0
    warn_shared(shared)
    if as_json:
        echo_json(_value(plan, advice.command) | {"shared": _shared_value(shared), "events": []})
        return status
    for write in plan.writes:
        echo(f"would {verb(write)} {raw_path_text(_raw(write))}")
    for obstacle in plan.obstacles:
        echo(_obstacle_line(obstacle))
    _say_conflicts(plan, "would take")
    for line in advice.lines:
        tell(line)
    _say_rest(plan, nothing)
    if plan.obstacles:
        tell("nothing was written")
    elif plan.writes:
        echo(f"plan {digest_of(plan)}")
    return status


def show_done(done: Done, as_json: bool, nothing: str = NOTHING, shared: Shared = ()) -> int:
    """Prints what was written; returns the exit status. `shared` is that of `show_plan`."""
    warn_shared(shared)
    if as_json:
        told = {"shared": _shared_value(shared), "events": [sealed.event_id for sealed in done.events]}
        echo_json(_value(done.plan) | told)
        return 0
    for write in done.plan.writes:
        echo(f"{verb(write)}d {raw_path_text(_raw(write))}")
    _say_conflicts(done.plan, "took")
    _say_rest(done.plan, nothing)
    for sealed in done.events:
        echo(f"event {sealed.event_id[:SHORT]} of task {sealed.event.task}")
    if done.events:
        tell("hint: 'git pog undo' takes this back")
    return 0


def warn_shared(shared: Shared) -> None:
    """Says which files of which steps perhaps hold somebody else's changes, if any do."""
    if not shared:
        return
    named = ", ".join(f"{path_text(path)} of {event[:SHORT]}" for path, event in shared[:FEW_SHARED])
    more = f" and {len(shared) - FEW_SHARED} more" if len(shared) > FEW_SHARED else ""
    tell(
        f"warning: {counted(len({str(path) for path, _ in shared}), 'file')} perhaps with somebody else's changes, "
        f"saved while the call ran: {named}{more}; 'git pog diff EVENT' shows them"
    )


def verb(write: Write) -> str:
    """Returns what a write does to its path: create, delete or update."""
    if write.before is None:
        return "create"
    return "delete" if write.after is None else "update"


def _say_conflicts(plan: Plan, took: str) -> None:
    for kept in plan.kept:
        echo(f"kept as it is: {_obstacle_line(kept)}")
    for clash in plan.clashes:
        path = raw_path_text(clash.path.encode("utf-8", "surrogateescape"))
        why = REASONS.get(clash.reason, "it is in the way")
        echo(f"{took} the older side: {path}: {why} (event {clash.event[:SHORT]}){ANEW if clash.ours is None else ''}")


def _say_rest(plan: Plan, nothing: str) -> None:
    for left in plan.left:
        why = REASONS.get(left.reason) or f"{safe(left.reason)}; remove or restore it by hand"
        tell(f"left as it is: {path_text(left.path)}: {why}")
    if plan.skipped:
        tell(f"skipped {counted(plan.skipped, 'change')} outside the repository")
    if plan.uncovered:
        tell(f"not covered: {counted(len(plan.uncovered), 'tool call')} that may have done more than was recorded")
    if not plan.writes and not plan.obstacles and not plan.left:
        tell("nothing was written: all of it is kept" if plan.kept else nothing)


def _obstacle_line(obstacle: Obstacle) -> str:
    later = ", ".join(event[:SHORT] for event in obstacle.later)
    event = f"event {obstacle.event[:SHORT]}" + (f"; changed later by {later}" if later else "")
    meaning = REASONS.get(obstacle.reason, "it is in the way")
    return f"conflict {obstacle.reason}: {path_text(obstacle.path)}: {meaning} ({event})"


def _raw(write: Write) -> bytes:
    return write.path.encode("utf-8", "surrogateescape")


def _value(plan: Plan, command: str | None = None) -> Value:
    return {
        "ok": not plan.obstacles,
        "plan": digest_of(plan),
        "tasks": [own.task for own in plan.tasks],
        "targets": [target for own in plan.tasks for target in own.targets],
        "writes": [{"path": _plain(path_of(_raw(write))), "action": verb(write)} for write in plan.writes],
        "outcomes": [_plain(outcome) for own in plan.tasks for outcome in own.outcomes],
        "conflicts": [_obstacle_value(obstacle) for obstacle in plan.obstacles],
        "cascade": None if plan.cascade is None else plan.cascade._asdict() | {"command": command},
        "kept": [_obstacle_value(obstacle) for obstacle in plan.kept],
        "older_side": [
            {"path": _plain(path_of(clash.path.encode("utf-8", "surrogateescape"))), "reason": clash.reason}
            | {"event": clash.event}
            for clash in plan.clashes
        ],
        "skipped": plan.skipped,
        "left": [{"path": _plain(left.path), "reason": left.reason} for left in plan.left],
        "uncovered": list(plan.uncovered),
    }


def _shared_value(shared: Shared) -> list[object]:
    return [{"path": _plain(path), "event": event} for path, event in shared]


def _obstacle_value(obstacle: Obstacle) -> Value:
    return obstacle._asdict() | {"path": _plain(obstacle.path)}


def _plain(value: object) -> object:
    return msgspec.to_builtins(value)
