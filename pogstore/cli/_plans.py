"""Plans that write files, and what came of them."""

import msgspec

from pogstore.cli._render import echo, echo_json, safe
from pogstore.cli._values import Value
from pogstore.history.rollback import Done, Obstacle, Plan
from pogstore.work.writer import Write


def show_plan(plan: Plan, as_json: bool) -> int:
    """Prints a plan, or what stands in its way; returns the exit status."""
    status = 1 if plan.obstacles else 0
    if as_json:
        echo_json(_value(plan) | {"event": None})
        return status
    for write in plan.writes if not plan.obstacles else ():
        echo(f"would {verb(write)} {safe(write.path)}")
    for obstacle in plan.obstacles:
        echo(_obstacle_line(obstacle))
    if not plan.writes and not plan.obstacles:
        echo("nothing to do: the work tree holds none of these effects")
    return status


def show_done(done: Done, as_json: bool) -> int:
    """Prints what was written; returns the exit status."""
    if as_json:
        echo_json(_value(done.plan) | {"event": done.event.event_id})
        return 0
    for write in done.plan.writes:
        echo(f"{verb(write)}d {safe(write.path)}")
    if not done.plan.writes:
        echo("nothing to do: the work tree holds none of these effects")
    echo(f"event {done.event.event_id[:10]}; 'git pog undo' takes this back")
    return 0


def verb(write: Write) -> str:
    """Returns what a write does to its path: create, delete or update."""
    if write.before is None:
        return "create"
    return "delete" if write.after is None else "update"


def _obstacle_line(obstacle: Obstacle) -> str:
    later = ", ".join(event[:10] for event in obstacle.later)
    event = f"event {obstacle.event[:10]}" + (f"; changed later by {later}" if later else "")
    return f"conflict {obstacle.reason}: {safe(obstacle.path)} ({event})"


def _value(plan: Plan) -> Value:
    return {
        "ok": not plan.obstacles,
        "task": plan.task,
        "targets": list(plan.targets),
        "writes": [{"path": write.path, "action": verb(write)} for write in plan.writes],
        "outcomes": [msgspec.to_builtins(outcome) for outcome in plan.outcomes],
        "conflicts": [obstacle._asdict() for obstacle in plan.obstacles],
    }
