"""`git pog gate --exec`: the checks of definitions that were written here, and of git's own configuration, are run.

What was fetched is never run, whatever it says of itself; nor is what an agent wrote. Without a shell, and not without
a yes.
"""

import os
import shlex
from collections.abc import Iterable

from pogstore.cli._context import Env
from pogstore.cli._execution import ask
from pogstore.cli._render import safe, tell
from pogstore.errors import BadInput, CannotRun, RefusedByPolicy
from pogstore.history.tasks import find_definition, read_state
from pogstore.model import TaskId
from pogstore.work import defined_here, policies
from pogstore.work.process import execute, signals_passed_on

PATIENCE = 600.0
"""Seconds that a check may take."""


def run_checks(env: Env, tasks: Iterable[TaskId], *, yes: bool) -> dict[str, bool]:
    """Runs the checks of some tasks in the work tree, once each; returns which of them passed.

    Raises `RefusedByPolicy` for a definition that was not written here, and where nobody says yes.
    """
    wanted: dict[str, list[str]] = {}
    for task in tasks:
        now = read_state(env.store, task)
        definition = find_definition(env.store, now)
        named = definition.checks if definition else ()
        if named and not (now.definition and defined_here.is_here(env.store, now.definition.blob)):
            why = "checks of a definition that no person wrote in this repository are not run"
            raise RefusedByPolicy(f"task '{task}': {why}", "put them into git's configuration, as pog.check")
        wanted |= {command: _words(command) for command in named}
    wanted |= {command: _words(command) for command in policies.configured(env.store).checks}
    for command in wanted:
        tell(f"check: {safe(command)}")
    if wanted:
        ask(yes)
    return {command: _passes(env, words) for command, words in wanted.items()}


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as fault:
        raise BadInput(f"check '{command}'", f"cannot be read: {fault}") from fault
    if not words:
        raise BadInput("a check", "is empty")
    return words


def _passes(env: Env, words: list[str]) -> bool:
    """Runs one command; what it prints goes to standard error, since the answer of the gate goes to standard output."""
    try:
        with signals_passed_on(apart=True) as signals:
            done = execute(
                [word.encode() for word in words],
                signals,
                cwd=env.work_tree,
                environ=dict(os.environb),
                stdout=2,
                stderr=2,
                apart=PATIENCE,
            )
    except CannotRun as fault:
        tell(f"error: {safe(fault.message)}")
        return False
    return done.status == 0 and not done.late
