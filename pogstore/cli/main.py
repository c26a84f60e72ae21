"""The entry point of `git pog`: the table of commands, loaded on use, and how errors become exit statuses.

Exit statuses: 0 done, 1 a negative answer, 3 a damaged store, 4 refused by policy, 128 cannot, 129 wrong usage, 130
interrupted. Never 2, which agents read as "block".
"""

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from pogstore.cli import _errors

TABLE = {
    "Tasks": ("init", "new", "edit", "list", "ready", "show", "claim", "release", "start", "note", "decide", "check",
              "move", "block", "done", "cancel", "review", "share", "local"),
    "Work": ("status", "diff"),
    "History": ("log", "blame", "why"),
    "Taking out": ("rollback", "undo"),
    "Sharing": ("push", "fetch", "pull"),
    "Store": ("verify", "reindex", "import"),
    "More": ("demo", "version"),
}  # fmt: skip
"""Every command, by what it is for."""
COMMANDS = tuple(name for names in TABLE.values() for name in names)


class Table(click.Group):
    """The group of all commands; a command's module is imported when it is called for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Returns the names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Returns one command; nothing if there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"pogstore.cli.{module_of(cmd_name)}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the commands with their first help lines, by what they are for."""
        for title, names in TABLE.items():
            rows = [(name, self._help(ctx, name)) for name in names]
            with formatter.section(title):
                formatter.write_dl(rows)

    def _help(self, ctx: click.Context, name: str) -> str:
        command = self.get_command(ctx, name)
        return command.get_short_help_str(limit=90) if command else ""


def module_of(name: str) -> str:
    """Returns the module of a command: a word that Python keeps for itself gets an underscore."""
    return "import_" if name == "import" else name


@click.command(cls=Table, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("-C", "directory", metavar="DIR", type=click.Path(), help="Run as if started in DIR.")
@click.pass_context
def cli(ctx: click.Context, directory: str | None) -> None:
    """Record, blame, roll back and share the work of AI agents, in your own git repository."""
    if directory is not None:
        try:
            os.chdir(directory)
        except OSError as fault:
            raise click.UsageError(f"cannot change to '{directory}': {fault.strerror}") from fault
    ctx.obj = None


def run(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit status."""
    try:
        answer = cli.main(
            args=None if arguments is None else list(arguments), prog_name="git pog", standalone_mode=False
        )
        sys.stdout.flush()
    except BaseException as fault:  # noqa: BLE001 - this is where every error ends
        return _errors.report(fault)
    return answer if isinstance(answer, int) else 0


def main() -> None:
    """Runs `git pog` as a process."""
    _open_standard_streams()
    status = run()
    _errors.abandon_output()
    sys.exit(status)


def _open_standard_streams() -> None:
    """Puts the null device in the place of a closed standard stream, so that no file of ours gets its number."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
