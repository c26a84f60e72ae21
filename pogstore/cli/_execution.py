"""`git pog replay --exec`: a recorded command run again, once a person has seen it and said yes."""

import os
import sys
from collections.abc import Callable, Sequence
from functools import update_wrapper
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import click
import msgspec

from pogstore.cli._context import Env
from pogstore.cli._events import SHORT
from pogstore.cli._options import exclusive
from pogstore.cli._render import counted, echo, echo_json, raw_path_text, safe, table, tell, to_json
from pogstore.cli._values import Value
from pogstore.cli.env import difference_lines
from pogstore.errors import BadInput, NotEnabled, RefusedByPolicy
from pogstore.history import reexecution
from pogstore.history.environments import Difference
from pogstore.history.reexecution import SAME, Ready, Result, Verdict
from pogstore.model import Sealed
from pogstore.store.content import path_of
from pogstore.work.runner import exit_status

_F = TypeVar("_F", bound=Callable[..., Any])
_YES = ("y", "yes")
_OPTIONS = (
    click.option("--exec", "exec_", is_flag=True, help="Run the command of one event again, and compare."),
    click.option("--yes", is_flag=True, help="With --exec: run it without asking."),
    click.option(
        "--timeout",
        metavar="SECONDS",
        type=click.FloatRange(min=0, min_open=True),
        help="With --exec: how long it may take; by default ten minutes.",
    ),
    click.option("--keep", metavar="DIR", help="With --exec: keep both versions of every output in a new directory."),
)


class Execution(NamedTuple):
    """How a command is to be run again: who said yes beforehand, how long it may take, where both versions are kept."""

    yes: bool
    seconds: float
    keep: Path | None


def execution_options(function: _F) -> _F:
    """Adds `--exec` and the options that go with it: a function gets `execution`, or nothing without `--exec`."""

    def wrapped(*args: Any, exec_: bool, yes: bool, timeout: float | None, keep: str | None, **kwargs: Any) -> Any:
        if not exec_ and (yes or keep is not None or timeout is not None):
            raise click.UsageError("--yes, --timeout and --keep go with --exec")
        seconds = reexecution.PATIENCE if timeout is None else timeout
        execution = Execution(yes, seconds, None if keep is None else Path.cwd() / keep) if exec_ else None
        return function(*args, execution=execution, **kwargs)

    made = cast("_F", update_wrapper(wrapped, function))
    for option in reversed(_OPTIONS):
        made = option(made)
    return made


def execute(env: Env, names: Sequence[str], how: Execution, *, as_json: bool, dry_run: bool) -> int:
    """Runs a recorded command again and prints what became of each output; returns the exit status.

    With `dry_run` it is shown, and not run. Raises `RefusedByPolicy` where nobody says yes.
    """
    exclusive(check=dry_run, yes=how.yes)
    if len(names) != 1:
        raise click.UsageError("--exec takes one event")
    named = env.named(names[0])
    if named.event_id is None:
        raise BadInput(f"'{names[0]}'", "is a task", "name one event that says 'ran'; 'git pog log' shows them")
    if not dry_run and not env.store.enabled:
        raise NotEnabled
    by = None if dry_run else env.by
    if how.keep is not None:
        reexecution.check_place(env.store, how.keep)
    with reexecution.ready(env.store, named.event_id, dict(os.environb)) as ready:
        if not (as_json and (dry_run or how.yes)):
            _show(ready)
        if by is None:
            return _answer(ready, None, None, None, as_json)
        ask(how.yes)
        result = reexecution.run(env.store, ready, seconds=how.seconds)
        place = reexecution.keep(env.store, result, how.keep) if _is_kept(result, how.keep) else None
        sealed = None if result.stopped else reexecution.record(env.store, ready, result, by)
        return _answer(ready, result, sealed, place, as_json)


def _is_kept(result: Result, keep: Path | None) -> bool:
    """Says whether both versions are kept: where a person wants them, or wants to see in what they differ."""
    return not result.stopped and (keep is not None or any(each.verdict != SAME for each in result.verdicts))


def _show(ready: Ready) -> None:
    """Shows what is about to run: its words, each as it is, where, and what is not as it was then."""
    inside = ready.cwd.relative_to(ready.tree.root)
    place = "a fresh work tree" + ("" if inside == Path() else f", in {raw_path_text(os.fsencode(inside))}")
    tell(f"event {ready.sealed.event_id[:SHORT]} runs in {place}:")
    tell(f"  {to_json([_word(word) for word in ready.argv], indent=None)}")
    for path in ready.lacking:
        tell(f"not there as it was: {raw_path_text(path)}; nobody kept what it held")
    if not ready.is_told:
        tell("the environment that it had is not known")
    elif ready.differences:
        tell("the environment is another one:")
        for line in difference_lines(list(ready.differences)):
            tell(f"  {line}")


def _word(word: bytes) -> object:
    try:
        return word.decode()
    except UnicodeDecodeError:
        return msgspec.to_builtins(path_of(word))


def ask(yes: bool) -> None:
    """Lets a person decide; raises `RefusedByPolicy` without a yes."""
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise RefusedByPolicy("nobody is here to say yes", "'--yes' says it beforehand; nothing ran")
    sys.stderr.write("run it? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in _YES:
        raise RefusedByPolicy("nobody said yes", "nothing ran")


def _answer(ready: Ready, result: Result | None, sealed: Sealed | None, place: Path | None, as_json: bool) -> int:
    status = 0 if result is None or result.outcome == "identical" else 1
    if as_json:
        echo_json(_value(ready, result, sealed, place))
        return status
    if result is None:
        tell("nothing ran")
        return status
    if result.stopped:
        tell(_why_stopped(ready, result))
        return status
    rows = [(each.verdict, raw_path_text(each.path)) for each in result.verdicts]
    rows += [("unknown", f"{raw_path_text(path)}: nobody kept what it held") for path in result.uncompared]
    rows += [("changed", f"{raw_path_text(path)}: it did not change this then") for path in result.others]
    for line in table(rows):
        echo(line)
    if not rows:
        tell("it changes nothing, as then")
    if place is not None:
        echo(f"both versions are in {safe(str(place))}")
    if sealed is not None:
        echo(f"event {sealed.event_id[:SHORT]} of task {sealed.event.task}")
    return status


def _why_stopped(ready: Ready, result: Result) -> str:
    then = ready.event.exit_code
    if result.finished.late:
        return f"stopped: it took longer than {counted(result.finished.microseconds // 1_000_000, 'second')}"
    now = exit_status(result.finished)
    return f"stopped: it ended with {now}, and with {then} when it was recorded; nothing is compared or recorded"


def _value(ready: Ready, result: Result | None, sealed: Sealed | None, place: Path | None) -> Value:
    inside = ready.cwd.relative_to(ready.tree.root)
    value: Value = {
        "event": ready.sealed.event_id,
        "argv": [_word(word) for word in ready.argv],
        "cwd": _path(os.fsencode(inside)),
        "environment": [_difference(each) for each in ready.differences] if ready.is_told else None,
        "lacking": [_path(path) for path in ready.lacking],
        "ran": result is not None,
    }
    if result is None:
        return value
    return value | {
        "exit_code": {"recorded": ready.event.exit_code, "now": result.finished.status},
        "late": result.finished.late,
        "outcome": result.outcome,
        "outputs": [_verdict(each) for each in result.verdicts],
        "uncompared": [_path(path) for path in result.uncompared],
        "others": [_path(path) for path in result.others],
        "kept": None if place is None else str(place),
        "replayed": None if sealed is None else sealed.event_id,
    }


def _verdict(each: Verdict) -> Value:
    return {"path": _path(each.path), "verdict": each.verdict}


def _difference(each: Difference) -> Value:
    return dict(each._asdict())


def _path(path: bytes) -> object:
    return msgspec.to_builtins(path_of(path))
