"""`git pog blame`: who wrote each line."""

import sys
from collections.abc import Iterator

import click

from pogstore.cli._blame import Titles, blamed_value, porcelain, text_lines
from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import json_option, pog_command
from pogstore.cli._render import echo_json, page, safe
from pogstore.errors import BadInput, NotFound
from pogstore.history.blame import Blame, blame, changed_files


@pog_command("blame", {1: "nothing to blame", 3: "damaged store"})
@click.argument("names", nargs=-1, metavar="[REV] [--] [FILE]...")
@click.option("-L", "ranges", multiple=True, metavar="START,END", help="Only these lines, as in git blame.")
@click.option("--porcelain", "as_porcelain", is_flag=True, help="git's format, with pog- header lines added.")
@json_option
@pass_env
def command(env: Env, names: tuple[str, ...], ranges: tuple[str, ...], as_porcelain: bool, as_json: bool) -> int:
    """Show for each line of a file the event that wrote it, or else its commit.

    Without FILE: every changed file of the work tree. In the text form `*` marks an event, `~` what was changed outside
    any event, `?` what nobody knows.
    """
    revision, paths = _split(env, names)
    wanted = paths or [path.decode("utf-8", "surrogateescape") for path in changed_files(env.store)]
    if not wanted:
        click.echo("no changed file", err=True)
        if as_json:
            echo_json([])
        return 1
    found = [_one(env, path, revision, ranges) for path in wanted]
    _warn_absent(found)
    if as_json:
        echo_json([blamed_value(each) for each in found])
    elif as_porcelain:
        for each in found:
            sys.stdout.buffer.write(porcelain(each))
    else:
        page(_text(env, found, several=not paths or len(paths) > 1), env.pager)
    return 0


def _one(env: Env, path: str, revision: str | None, ranges: tuple[str, ...]) -> Blame:
    return blame(env.store, path.encode("utf-8", "surrogateescape"), revision, ranges)


def _split(env: Env, names: tuple[str, ...]) -> tuple[str | None, list[str]]:
    """Tells a revision from files: as in git, the first name is one if no file of that name stands in its way."""
    if len(names) > 1 and not _is_file(env, names[0]):
        return names[0], [env.repository_path(name) for name in names[1:]]
    return None, [env.repository_path(name) for name in names]


def _is_file(env: Env, name: str) -> bool:
    try:
        return (env.work_tree / env.repository_path(name)).is_file()
    except (BadInput, NotFound):
        return False


def _text(env: Env, found: list[Blame], *, several: bool) -> Iterator[str]:
    titles = Titles(env.store)
    for each in found:
        if several:
            yield safe(each.path.decode("utf-8", "surrogateescape"))
        yield from text_lines(each, titles, color=env.color)


def _warn_absent(found: list[Blame]) -> None:
    for each in found:
        if each.absent:
            name = safe(each.path.decode("utf-8", "surrogateescape"))
            click.echo(f"warning: {name}: the contents of {len(each.absent)} events are not here", err=True)
