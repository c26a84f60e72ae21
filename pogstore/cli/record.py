"""`git pog record`: what any program did, told in lines, becomes events at once."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from pogstore.agents.lines import Where, read_lines
from pogstore.agents.recording import Done, record
from pogstore.cli._context import Env, now, pass_env
from pogstore.cli._options import as_option, exclusive, json_option, pog_command
from pogstore.cli._render import counted, echo, echo_json, echo_json_lines, tell
from pogstore.errors import BadInput
from pogstore.model import TaskId


@pog_command("record")
@click.argument("file", default="-", metavar="[FILE|-]")
@click.option("--task", metavar="TASK", help="The task; by default the active one, or else the session's own.")
@as_option
@click.option("--jsonl", is_flag=True, help="Print one JSON value a line: what became of each line of the input.")
@json_option
@pass_env
def command(env: Env, file: str, task: str | None, jsonl: bool, as_json: bool) -> None:
    """Record what any program did, from lines of JSON as the contract of hooks has them.

    The lines are recorded together or not at all; a line that was recorded before, by its key or its call, adds
    nothing. The files that a line names are looked at when the line is read. '--as' says who acts where a line names
    no agent.
    """
    exclusive(jsonl=jsonl, json=as_json)
    by = env.by
    found = env.task(task) if task is not None else env.active()
    actor = by.actor if env.actor_name is not None or by.actor.type != "human" else None
    with _lines(file) as lines:
        read = list(read_lines(lines, _where(env)))
    done = record(env.store, read, by, found, actor) if read else []
    if jsonl:
        echo_json_lines(each._asdict() for each in done)
    elif as_json:
        echo_json(_value(done))
    else:
        _say(done)


def _where(env: Env) -> Where:
    layout = env.store.layout
    return Where(layout.git_dir, layout.work_tree, Path.cwd(), env.store.max_blob, now(), env.by.offset)


@contextmanager
def _lines(file: str) -> Iterator[Iterable[bytes]]:
    if file == "-":
        yield sys.stdin.buffer
        return
    try:
        with Path(file).open("rb") as opened:
            yield opened
    except OSError as fault:
        raise BadInput(f"cannot read '{file}'", fault.strerror or "no reason given") from fault


def _tasks(done: Sequence[Done]) -> list[TaskId]:
    return list(dict.fromkeys(each.task for each in done))


def _value(done: Sequence[Done]) -> dict[str, object]:
    tasks = _tasks(done)
    events = sum(each.events for each in done)
    return {"lines": len(done), "events": events, "task": tasks[0] if len(tasks) == 1 else None, "tasks": tasks}


def _say(done: Sequence[Done]) -> None:
    if not done:
        tell("nothing to record: the input is empty")
        return
    events = sum(each.events for each in done)
    echo(f"{counted(events, 'new event')} from {counted(len(done), 'line')}")
