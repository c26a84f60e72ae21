"""`git pog run`: a command, and what it did, on the record."""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import click

from pogstore.agents.judging import Resolving
from pogstore.cli import _draining
from pogstore.cli._context import Env, now, pass_env
from pogstore.cli._options import HELP_NAMES, as_option, json_option, pog_command, task_option
from pogstore.cli._passed_on import PassedOn
from pogstore.cli._render import echo_json, safe, tell
from pogstore.cli._values import event_value
from pogstore.errors import NotEnabled, RefusedByPolicy
from pogstore.model import TaskId
from pogstore.work import refusals, runner, setup
from pogstore.work.runner import Command, Recorded

UNSHOWN = 1
EXITS = {
    UNSHOWN: "the command ended with 0, but what it printed could not be shown",
    4: "recording is off, or the limits of the task deny it; nothing ran",
    126: "the command cannot be started; nothing ran",
    127: "there is no such command; nothing ran",
    128: "it could not be recorded, or nothing ran",
}


@pog_command("run", EXITS)
@click.argument("words", metavar="[--] COMMAND [ARG]...", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--input", "inputs", metavar="GLOB", multiple=True, help="Files that the command reads.")
@click.option("--output", "outputs", metavar="GLOB", multiple=True, help="Files that the command writes.")
@click.option("--env", "variables", metavar="NAME", multiple=True, help="Keep the value of a variable.")
@task_option
@as_option
@json_option
@pass_env
def command(
    env: Env,
    words: tuple[str, ...],
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    variables: tuple[str, ...],
    task: str,
    as_json: bool,
) -> int:
    """Run a command and record it: what it was given, what it printed and changed.

    The command is started as it stands, without a shell, and what it prints is shown as it comes. The task keeps its
    arguments, the first and last half MiB of what it printed, its exit status, and the whole work tree before and
    after, compared. Arguments, output and environment stay at home when the task is pushed.

    Who is no person runs nothing that the limits of the task deny.

    Otherwise the exit status is that of the command, or 128 and the number of the signal that ended it; it is 1 where
    what a command printed that ended with 0 could not be shown. With --json the event is printed on standard output,
    and what the command prints there goes to standard error.
    """
    if not env.store.enabled:
        raise NotEnabled
    found = env.task(task)
    by = env.by
    if setup.paused(env.store.layout):
        raise RefusedByPolicy("recording is paused here", "'git pog pause --resume' resumes it; nothing ran")
    _check(env, found, words)
    given = Command(
        argv=tuple(map(os.fsencode, words)),
        cwd=Path.cwd(),
        environ=dict(os.environb),
        inputs=inputs,
        outputs=outputs,
        variables=variables,
    )
    done = runner.run(
        env.store,
        found,
        given,
        by,
        now=_clock(by.time),
        shown=(2, 2) if as_json else (1, 2),
        before_writing=lambda: _store_what_waits(env),
    )
    return _answer(done, as_json)


command.context_settings = {**HELP_NAMES, "allow_interspersed_args": False}  # what follows the command is its own


def _check(env: Env, task: TaskId, words: tuple[str, ...]) -> None:
    """Refuses what the limits of a task deny to who is no person, as the hook of an agent does."""
    layout = env.store.layout
    root = layout.work_tree if layout.work_tree is not None else layout.git_dir
    place = (os.fsencode(root), os.fsencode(layout.git_dir), os.fsencode(layout.common_dir))
    refusal = refusals.judge_run(env.store, task, words, env.by, Resolving(place, os.fsencode(Path.cwd())))
    if refusal is not None:
        refusals.tell_refused(env.store, task, refusal, env.by, "run")
        raise RefusedByPolicy(f"{refusal.rule}: {refusal.reason}", "nothing ran; a person is bound by no contract")


def _clock(begun: int) -> Callable[[], int]:
    """Returns a clock in µs that goes on from a time, also where `POG_NOW` stands in for it."""
    at = time.monotonic_ns()
    return lambda: begun + (time.monotonic_ns() - at) // 1000


def _store_what_waits(env: Env) -> None:
    """Lets the steps of an agent that the command was come before it: what they changed is theirs."""
    if _draining.waits(env.store):
        _draining.drain(env.store, now)


def _answer(done: Recorded, as_json: bool) -> int:
    status = runner.exit_status(done.finished)
    if done.finished.unshown is not None:
        with suppress(OSError):  # standard error may be what is full
            tell(f"warning: not all that the command printed could be shown: {done.finished.unshown}")
        status = status or UNSHOWN
    for pattern in done.outputs.unmatched:
        tell(f"warning: no file matches the output '{safe(pattern)}'")
    if done.outputs.cut:
        tell("warning: too many outputs to be named in one event; the rest is left out")
    if done.fault is not None:
        tell(f"warning: the command ended with status {status}, and is not recorded")
        raise done.fault
    if as_json and done.event is not None:
        echo_json(event_value(done.event))
    return PassedOn(status)
