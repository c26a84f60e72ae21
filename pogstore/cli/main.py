"""The entry point of `git pog`: the commands, loaded on use, and how what they raise becomes an exit status.

Exit statuses: 0 done, 1 a negative answer, 3 a damaged store, 4 refused by policy, 128 cannot, 129 wrong usage, 130
interrupted. Never 2, which agents read as "block", but where it is the status of a command that `git pog run` ran.
"""

import gc
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper
from types import FrameType

import click

from pogstore.cli import _errors, _late
from pogstore.cli._options import EXITS, HELP_NAMES, exit_statuses
from pogstore.cli._passed_on import PassedOn
from pogstore.cli._render import echo
from pogstore.cli._table import COMMANDS, PORCELAIN, module_of, unknown_command, write_sections
from pogstore.errors import BadInput

WIDEST = 100
FORBIDDEN = 2
"""An exit status that agents take for "block"; nothing of ours may end with it."""
COLLECTED_AFTER = 100_000
"""Objects that a process may make before cycles among them are looked for: most commands end sooner."""
EPILOG = f"""\
'git pog help COMMAND' tells more of one; 'git pog help -a' lists the plumbing as well.

{exit_statuses(EXITS)}"""


class Table(click.Group):
    """The group of all commands; a command's module is imported when it is called for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Returns the names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Returns one command; nothing if there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(module_of(cmd_name)).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Finds the command that is called for; says what may be meant if there is none."""
        name, *rest = args
        command = self.get_command(ctx, name)
        if command is None:
            raise unknown_command(ctx, name, COMMANDS)
        return name, command, rest

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the daily commands with their first lines of help, by what they are for."""
        write_sections(formatter, PORCELAIN)


@click.group(
    cls=Table,
    invoke_without_command=True,
    epilog=EPILOG,
    subcommand_metavar="COMMAND [ARGS]...",
    context_settings={**HELP_NAMES, "max_content_width": WIDEST},
)
@click.option("-C", "directory", metavar="DIR", help="Run as if started in DIR.")
@click.option("--version", "wants_version", is_flag=True, help="Print the version.")
@click.pass_context
def cli(ctx: click.Context, directory: str | None, wants_version: bool) -> None:
    """Record, blame, roll back and share the work of AI agents, in your own git repository"""  # noqa: D400
    if directory is not None:
        _change_directory(directory)
    if wants_version:
        metadata = import_module("importlib.metadata")  # takes as long as all of ours
        echo(f"pogstore {metadata.version('pogstore')}")
        ctx.exit()
    if ctx.invoked_subcommand is None:
        echo(ctx.get_help())


def _change_directory(directory: str) -> None:
    try:
        os.chdir(directory)
    except OSError as fault:
        raise BadInput(f"cannot change to '{directory}'", fault.strerror or "no reason given") from fault


def run(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        status = _invoke(given)
        sys.stdout.flush()
    except BaseException as fault:  # noqa: BLE001 - this is where every error ends
        status = _errors.report(fault, given)
    return _errors.CANNOT if status == FORBIDDEN and not isinstance(status, PassedOn) else status


def _invoke(arguments: Sequence[str]) -> int:
    """Runs one command; click's own `main` would end the process, and with 1 where a reader has gone."""
    with cli.make_context("git pog", list(arguments)) as ctx:
        answer = cli.invoke(ctx)
    return answer if isinstance(answer, int) else 0


def main() -> None:
    """Runs `git pog` as a process."""
    _late.install()
    _open_standard_streams()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt_once)
    gc.set_threshold(COLLECTED_AFTER)
    status = run()
    _errors.abandon_output()
    gc.freeze()  # the system takes memory back faster than the collector can look through it at the end
    sys.exit(status)


def _interrupt_once(number: int, _: FrameType | None) -> None:
    """Ends the command at the first Ctrl-C and ignores more: git passes its own on, and what is put back must end."""
    signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def _open_standard_streams() -> None:
    """Puts the null device in the place of a closed standard stream, and lets all of them speak UTF-8, as git does.

    Otherwise a file of ours would get the number of a closed one.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = getattr(sys, name)
        if stream is None:
            _open_null(number)
            stream = open(number, "w" if number else "r", encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _open_null(number: int) -> None:
    try:
        os.fstat(number)
    except OSError:
        os.open(os.devnull, os.O_RDWR)
