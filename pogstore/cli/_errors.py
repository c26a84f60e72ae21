"""How an error becomes words on standard error and an exit status."""

import os
import re
import sys
import traceback
from collections.abc import Sequence

import click

from pogstore.cli._render import DONE_ALL_THE_SAME, safe, to_json
from pogstore.errors import PogError

CANNOT = 128
USAGE = 129
INTERRUPTED = 130
_OF_NUMBERS = (
    (re.compile(r"is not a valid integer(?: range)?\Z"), "is not a whole number"),
    (re.compile(r"is not in the range x>=(-?\d+)\Z"), r"is less than \1"),
)
"""How click says what is wrong with a number, and how we do."""


def report(fault: BaseException, arguments: Sequence[str]) -> int:
    """Says what went wrong, in git's style or as JSON if that was asked for; returns the exit status."""
    as_json = _wants_json(arguments)
    match fault:
        case click.UsageError():
            return _usage(fault, as_json)
        case PogError():
            _say(as_json, fault.message, fault.hint, fault.code, retryable=fault.retryable)
            return fault.exit_status
        case BrokenPipeError():
            return 0
        case click.exceptions.Exit():
            return fault.exit_code
        case KeyboardInterrupt() | click.Abort():
            return INTERRUPTED
        case _:
            return INTERRUPTED if _was_interrupted(fault) else _unexpected(fault, as_json)


def _was_interrupted(fault: BaseException) -> bool:
    """Says whether an error came of a Ctrl-C: a module that is interrupted while it loads may raise another."""
    seen: list[BaseException] = []
    rest: list[BaseException | None] = [fault]
    while rest:
        each = rest.pop()
        if each is None or each in seen:
            continue
        if isinstance(each, KeyboardInterrupt):
            return True
        seen.append(each)
        rest += [each.__cause__, each.__context__]
    return False


def abandon_output() -> None:
    """Lets nothing that is still to be written fail once more while Python ends."""
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            stream.flush()
        except (OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)


def _usage(fault: click.UsageError, as_json: bool) -> int:
    hint = f"try '{fault.ctx.command_path} -h'" if fault.ctx is not None else None
    _say(as_json, _in_our_style(_argument_not_option(fault) or fault.format_message()), hint, "usage", retryable=False)
    return USAGE


def _argument_not_option(fault: click.UsageError) -> str | None:
    """Returns what to say of `--task` where a command takes the task as an argument; nothing for any other fault."""
    if not isinstance(fault, click.NoSuchOption) or fault.option_name != "--task" or fault.ctx is None:
        return None
    command = fault.ctx.command
    places = [each.make_metavar(fault.ctx) for each in command.params if isinstance(each, click.Argument)]
    place = next((each for each in places if "TASK" in each), None)
    path = fault.ctx.command_path
    return place and f"no such option '--task': the task is an argument here, as in '{path} {place}'"


def _in_our_style(message: str) -> str:
    """Turns click's sentences into git's style: lower case, no full stop; and what it says of numbers into words."""
    message = " ".join(message.split()).rstrip(".")
    for pattern, words in _OF_NUMBERS:
        message = pattern.sub(words, message)
    return re.sub(r"\A[A-Z](?=[a-z])", lambda match: match.group().lower(), message)


def _unexpected(fault: BaseException, as_json: bool) -> int:
    if isinstance(fault, OSError):
        hint = DONE_ALL_THE_SAME if DONE_ALL_THE_SAME in getattr(fault, "__notes__", ()) else None
        _say(as_json, _os_reason(fault), hint, "io", retryable=False)
    else:
        reason = f"{type(fault).__name__}: {fault}" if str(fault) else type(fault).__name__
        _say(as_json, reason, "this is a fault of git pog; POG_DEBUG=1 shows where", "internal", retryable=False)
    if os.environ.get("POG_DEBUG"):
        traceback.print_exception(fault)
    return CANNOT


def _os_reason(fault: OSError) -> str:
    place = f"'{os.fsdecode(fault.filename)}'" if isinstance(fault.filename, str | bytes) else "input or output"
    return f"{place}: {fault.strerror or type(fault).__name__}"


def _say(as_json: bool, message: str, hint: str | None, code: str, *, retryable: bool) -> None:
    if as_json:
        fields = {"code": code, "message": message, "hint": hint, "retryable": retryable}
        text = to_json({"error": fields}, indent=None)
    else:
        text = f"error: {safe(message)}" + (f"\nhint: {safe(hint)}" if hint else "")
    try:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
    except OSError:  # nobody can be told
        return


def _wants_json(arguments: Sequence[str]) -> bool:
    """Says whether JSON was asked for; the arguments may be such that no parser gets that far."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in options or "--jsonl" in options
