"""`git pog verify`: whether everything that was recorded is still as it was written."""

import click
import msgspec

from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import json_option, pog_command
from pogstore.cli._render import counted, echo, echo_json, safe
from pogstore.errors import AmbiguousName
from pogstore.history.verify import Fault, Report, verify
from pogstore.model import TaskId
from pogstore.store.refs import TASKS

DAMAGED = 3


@pog_command("verify", {DAMAGED: "damaged store"})
@click.argument("names", nargs=-1, metavar="[TASK]...")
@json_option
@pass_env
def command(env: Env, names: tuple[str, ...], as_json: bool) -> int:
    """Check every byte of the named tasks, or of all: events, contents, refs and packs, and how events rest on events.

    Each fault names the object, the task and what is lost.
    """
    report = verify(env.store, [_task(env, name) for name in names] or None)
    if as_json:
        echo_json(_value(report))
    else:
        for fault in report.faults:
            echo(_line(fault))
        echo(_summary(report))
    return 0 if report.ok else DAMAGED


def _task(env: Env, name: str) -> TaskId:
    """Returns the task that a name means; a damaged one is not in the index, so refs are asked first."""
    tasks = [ref.removeprefix(TASKS) for ref in env.store.refs.list(TASKS)]
    found = [task for task in tasks if len(name) >= 4 and task.startswith(name.lower())]
    if len(found) > 1:
        raise AmbiguousName(name, found)
    return TaskId(found[0]) if found else env.task(name)


def _value(report: Report) -> dict[str, object]:
    return {"ok": report.ok, "checked": msgspec.to_builtins(report.checked), "faults": [*map(_fault, report.faults)]}


def _fault(fault: Fault) -> dict[str, str]:
    return {name: value for name, value in msgspec.structs.asdict(fault).items() if value is not None}


def _line(fault: Fault) -> str:
    place = f" ({fault.ref or fault.task})" if fault.object != fault.ref and (fault.ref or fault.task) else ""
    return f"{safe(fault.object)}{safe(place)}: {safe(fault.reason)}; lost: {safe(fault.lost)}"


def _summary(report: Report) -> str:
    checked = report.checked
    numbers = {"event": checked.events, "content": checked.contents, "ref": checked.refs, "pack": checked.packs}
    counts = ", ".join(counted(number, noun) for noun, number in numbers.items())
    absent = f"; {checked.absent} contents are not here" if checked.absent else ""
    verdict = counted(len(report.faults), "fault") if report.faults else "no fault"
    return f"checked {counts}: {verdict}{absent}"
