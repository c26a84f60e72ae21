"""How an error becomes words on standard error and an exit status."""

import json
import os
import sys
import traceback

import click

from pogstore.cli._render import safe
from pogstore.errors import PogError

CANNOT = 128
USAGE = 129
INTERRUPTED = 130


def report(fault: BaseException) -> int:
    """Says what went wrong, in git's style, and returns the exit status."""
    match fault:
        case click.UsageError():
            return _usage(fault)
        case PogError():
            _say(fault.message, fault.hint, fault.code, retryable=fault.retryable)
            return fault.exit_status
        case SystemExit() | click.exceptions.Exit() | KeyboardInterrupt() | click.Abort() | BrokenPipeError():
            return _ended(fault)
        case _:
            return _unexpected(fault)


def abandon_output() -> None:
    """Flushes what can be flushed; a reader that is gone is no error."""
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)


def _ended(fault: BaseException) -> int:
    """The status of a command that ended early without a fault: on purpose, by Ctrl-C, or because nobody reads on."""
    match fault:
        case SystemExit():
            return fault.code if isinstance(fault.code, int) else 0
        case click.exceptions.Exit():
            return fault.exit_code
        case BrokenPipeError():
            return 0
        case _:
            return INTERRUPTED


def _usage(fault: click.UsageError) -> int:
    hint = None
    if fault.ctx is not None:
        hint = f"try '{fault.ctx.command_path} -h'"
    _say(fault.format_message(), hint, "usage", retryable=False)
    return USAGE


def _unexpected(fault: BaseException) -> int:
    reason = f"{type(fault).__name__}: {fault}" if str(fault) else type(fault).__name__
    hint = None if isinstance(fault, OSError) else "this is a fault of git pog; POG_DEBUG=1 shows where"
    _say(reason, hint, "io" if isinstance(fault, OSError) else "internal", retryable=False)
    if os.environ.get("POG_DEBUG"):
        traceback.print_exception(fault)
    return CANNOT


def _say(message: str, hint: str | None, code: str, *, retryable: bool) -> None:
    if _wants_json():
        fields = {"code": code, "message": message, "hint": hint, "retryable": retryable}
        text = json.dumps({"error": {name: value for name, value in fields.items() if value is not None}})
    else:
        text = f"error: {safe(message)}" + (f"\nhint: {safe(hint)}" if hint else "")
    click.echo(text, err=True)


def _wants_json() -> bool:
    return any(argument in ("--json", "--jsonl") for argument in sys.argv[1:])
