"""Options and help that several commands share."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from pogstore.errors import BadInput

_F = TypeVar("_F", bound=Callable[..., Any])

COMMON_EXITS = {128: "cannot", 129: "wrong usage"}


def pog_command(name: str, exits: Mapping[int, str] | None = None) -> Callable[[Callable[..., Any]], click.Command]:
    """Makes a function a command; its help ends with the exit statuses."""
    statuses = {0: "done"} | dict(exits or {}) | COMMON_EXITS
    epilog = "Exit status: " + ", ".join(f"{number} {meaning}" for number, meaning in sorted(statuses.items())) + "."
    return click.command(name, epilog=epilog, context_settings={"help_option_names": ["-h", "--help"]})


def json_option(function: _F) -> _F:
    """Adds `--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON value.")(function)


def as_option(function: _F) -> _F:
    """Adds `--as`."""
    return click.option(
        "--as", "actor", metavar="NAME", help="Act as an agent of that name, or as human:NAME or tool:NAME."
    )(function)


def task_argument(function: _F) -> _F:
    """Adds TASK, by default the active one."""
    return click.argument("task", default="@")(function)


def text_of(given: str | None, what: str) -> str | None:
    """Returns a text given on the command line: `-` reads standard input, `@FILE` reads a file."""
    if given == "-":
        return sys.stdin.read()
    if given is not None and given.startswith("@") and len(given) > 1:
        return read_file(Path(given[1:]), what)
    return given


def read_file(path: Path, what: str) -> str:
    """Returns the text of a file that a person named; raises `BadInput`."""
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise BadInput(what, f"cannot read '{path}': {fault}") from fault
