"""Options and help that several commands share."""

import inspect
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from pogstore.errors import BadInput

_F = TypeVar("_F", bound=Callable[..., Any])

EXITS = {
    0: "done",
    1: "negative answer",
    3: "damaged store",
    4: "refused by policy",
    128: "cannot",
    129: "wrong usage",
    130: "interrupted",
}
COMMON_EXITS = {number: EXITS[number] for number in (0, 128, 129)}
NO_SUCH_MOVE = {1: "the table of transitions has no such edge"}
HELP_NAMES = {"help_option_names": ["-h", "--help"]}
_PATHSPECS = "pogstore.pathspecs"
_FIRST_STOP = re.compile(r"\A([^\n]+(?:\n[^\n]+)*)\.(?=\n\n|\Z)")


class Verb(click.Command):
    """A command whose help ends with its exit statuses."""

    def __init__(self, *args: Any, exits: Mapping[int, str], **attrs: Any) -> None:
        super().__init__(*args, **attrs)
        self.exits = exits
        self.epilog = exit_statuses(exits)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parses as click does; keeps how many arguments stood behind `--`, which click forgets."""
        ctx.meta[_PATHSPECS] = len(args) - args.index("--") - 1 if "--" in args else None
        return super().parse_args(ctx, args)


class Verbs(click.Group):
    """A group of commands whose help ends with their exit statuses."""

    def __init__(self, *args: Any, exits: Mapping[int, str], **attrs: Any) -> None:
        super().__init__(*args, **attrs)
        self.exits = exits
        self.epilog = exit_statuses(exits)
        self.no_args_is_help = False


def exit_statuses(exits: Mapping[int, str]) -> str:
    """Returns what ends every help: a line for each status, which click is told not to fill."""
    return "\b\nExit status:\n" + "\n".join(f"{number:>5}  {meaning}" for number, meaning in sorted(exits.items()))


def pog_command(
    name: str, exits: Mapping[int, str] | None = None, cls: type[Verb] = Verb
) -> Callable[[Callable[..., Any]], Verb]:
    """Makes a function a command: its docstring is the help, and the help ends with the exit statuses."""

    def decorate(function: Callable[..., Any]) -> Verb:
        text = help_text(function)
        made = click.command(
            name, cls=cls, exits=COMMON_EXITS | dict(exits or {}), help=text, context_settings=HELP_NAMES
        )
        return made(function)

    return decorate


def pog_group(name: str) -> Callable[[Callable[..., Any]], Verbs]:
    """Makes a function a group of commands."""

    def decorate(function: Callable[..., Any]) -> Verbs:
        text = help_text(function)
        return click.group(name, cls=Verbs, exits=COMMON_EXITS, help=text, context_settings=HELP_NAMES)(function)

    return decorate


def help_text(function: Callable[..., Any]) -> str:
    """Returns the docstring of a command as help: its first sentence without the full stop."""
    return _FIRST_STOP.sub(r"\1", inspect.cleandoc(function.__doc__ or ""), count=1)


def pathspecs(names: Sequence[str]) -> int | None:
    """Returns how many of a command's names stood behind `--`; nothing if there was none."""
    given: int | None = click.get_current_context().meta.get(_PATHSPECS)
    return None if given is None else min(given, len(names))


def exclusive(**given: object) -> None:
    """Refuses what cannot be combined: options by their long names with underscores, arguments in capitals."""
    named = [name if name.isupper() else f"--{name.replace('_', '-')}" for name, value in given.items() if value]
    if len(named) > 1:
        raise click.UsageError(f"{' and '.join(named)} cannot be combined")


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
    return click.argument("task", default="@", metavar="[TASK]")(function)


def tag_option(function: _F) -> _F:
    """Adds `--tag`, several times."""
    text = "Only tasks with this tag; with each, if given several times."
    return click.option("--tag", multiple=True, metavar="TAG", help=text)(function)


def task_option(function: _F) -> _F:
    """Adds `--task`, by default the active one."""
    return click.option("--task", default="@", metavar="TASK", help="The task; by default the active one.")(function)


def text_of(given: str | None, what: str) -> str | None:
    """Returns a text given on the command line; `-` stands for what standard input holds. Raises `BadInput`."""
    if given != "-":
        return given
    data = sys.stdin.buffer.read()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as fault:
        raise BadInput(what, f"standard input is not UTF-8 (byte {fault.start})") from fault


def said(given: str, what: str) -> str:
    """Returns a text that has to say something; an empty argument is wrong usage, an empty input `BadInput`."""
    text = text_of(given, what) or ""
    if not text.strip() and given != "-":
        raise click.UsageError(f"{what} is empty")
    if not text.strip():
        raise BadInput(what, "is empty")
    return text


def text_in(given: str | None, what: str) -> str | None:
    """Returns the text of a file that exists, of standard input for `-`, else what was given itself."""
    if given is None or given == "-" or "\n" in given or not _is_file(given):
        return text_of(given, what)
    try:
        return Path(given).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise BadInput(what, f"cannot read '{given}': {fault}") from fault


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except (OSError, ValueError):  # a text too long for a name, or one with NUL
        return False
