"""`git pog help`: what there is."""

from collections.abc import Iterator, Mapping, Sequence

import click

from pogstore.cli._options import COMMON_EXITS, json_option, pog_command
from pogstore.cli._render import echo, echo_json
from pogstore.cli._table import PLUMBING, PORCELAIN, Section, unknown_command, write_sections


@pog_command("help")
@click.argument("names", nargs=-1, metavar="[COMMAND]")
@click.option("--all", "-a", "everything", is_flag=True, help="The plumbing as well.")
@json_option
@click.pass_context
def command(ctx: click.Context, names: tuple[str, ...], everything: bool, as_json: bool) -> None:
    """Show the commands, or the help of one.

    With --json: a list of the commands, or everything about one.
    """
    root = ctx.find_root()
    sections = {**PORCELAIN, **PLUMBING} if everything else PORCELAIN
    if names:
        found = _find(root, names)
        echo_json(command_value(found)) if as_json else echo(found.get_help())
    elif as_json:
        echo_json(list(_lines(sections)))
    else:
        echo(_overview(root, sections))


def _find(root: click.Context, names: Sequence[str]) -> click.Context:
    """Returns the context of a command, or of a command of a group."""
    found = root
    for name in names:
        group = found.command
        if not isinstance(group, click.Group):
            raise click.UsageError(f"'{group.name}' has no commands of its own: unexpected argument '{name}'")
        sub = group.get_command(found, name)
        if sub is None:
            raise unknown_command(found, name, group.list_commands(found))
        found = click.Context(sub, parent=found, info_name=name)
    return found


def _overview(root: click.Context, sections: Mapping[str, Section]) -> str:
    if sections is PORCELAIN:
        return root.get_help()
    formatter = root.make_formatter()
    root.command.format_usage(root, formatter)
    write_sections(formatter, sections)
    return formatter.getvalue().rstrip("\n")


def _lines(sections: Mapping[str, Section]) -> Iterator[dict[str, str]]:
    for title, section in sections.items():
        for name, line in section.items():
            yield {"command": name, "section": title, "help": line}


def command_value(ctx: click.Context) -> dict[str, object]:
    """Returns everything that a program may want to know about a command."""
    command = ctx.command
    exits: Mapping[int, str] = getattr(command, "exits", COMMON_EXITS)
    options = [param for param in command.params if isinstance(param, click.Option)]
    value: dict[str, object] = {
        "command": ctx.command_path,
        "usage": " ".join([ctx.command_path, *command.collect_usage_pieces(ctx)]),
        "help": command.help or "",
        "options": [
            {"names": [*param.opts, *param.secondary_opts], "value": not param.is_flag, "help": param.help or ""}
            for param in options
        ],
        "exits": {str(number): meaning for number, meaning in exits.items()},
    }
    if isinstance(command, click.Group):
        value["commands"] = command.list_commands(ctx)
    return value
