"""`git pog blame`: who wrote each line."""

from collections.abc import Iterator, Sequence

import click

from pogstore.cli._blame import Texts, blamed_value, porcelain
from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import exclusive, json_option, pathspecs, pog_command
from pogstore.cli._render import counted, echo_bytes, echo_json, raw_path_text, tell
from pogstore.errors import BadInput
from pogstore.history.blame import Blame, blame, changed_files


@pog_command("blame", {1: "nothing to blame", 3: "damaged store"})
@click.argument("names", nargs=-1, metavar="[REV] [--] [FILE]...")
@click.option("-L", "ranges", multiple=True, metavar="START,END", help="Only these lines, as in git blame.")
@click.option("--porcelain", "as_porcelain", is_flag=True, help="git's format, with pog- header lines added.")
@json_option
@pass_env
def command(env: Env, names: tuple[str, ...], ranges: tuple[str, ...], as_porcelain: bool, as_json: bool) -> int:
    """Show which event wrote each line of a file, or else which commit.

    Without FILE: every changed file of the work tree. In the text form * marks an event, ~ what was changed outside any
    event, ? what nobody knows.
    """
    exclusive(porcelain=as_porcelain, json=as_json)
    revision, paths = _split(env, names)
    wanted = paths or [path.decode("utf-8", "surrogateescape") for path in changed_files(env.store)]
    env.at_one_moment()
    found = [blame(env.store, path.encode("utf-8", "surrogateescape"), revision, ranges) for path in wanted]
    _warn_absent(found)
    if as_json:
        echo_json([blamed_value(each) for each in found])
    elif as_porcelain:
        for each in found:
            echo_bytes(porcelain(each))
    elif found:
        env.page(_text(env, found, several=not paths or len(paths) > 1))
    else:
        tell("no changed file")
    return 0 if found else 1


def _split(env: Env, names: Sequence[str]) -> tuple[str | None, list[str]]:
    """Tells a revision from files: as in git, a first name is one before `--`, or if no file of that name exists."""
    after = pathspecs(names)
    before = len(names) - (len(names) if after is None else after)
    revisions = before if after is not None else int(len(names) > 1 and not _is_file(env, names[0]))
    if revisions > 1:
        raise click.UsageError("only one revision can be blamed")
    return (names[0] if revisions else None), [env.repository_path(name) for name in names[revisions:]]


def _is_file(env: Env, name: str) -> bool:
    try:
        return (env.work_tree / env.repository_path(name)).is_file()
    except BadInput:
        return False


def _text(env: Env, found: Sequence[Blame], *, several: bool) -> Iterator[str]:
    texts = Texts(env.store, found, env.width, color=env.color)
    for at, each in enumerate(found):
        if several:
            yield from [""] * (at > 0)
            yield raw_path_text(each.path)
        yield from texts.lines(each)


def _warn_absent(found: Sequence[Blame]) -> None:
    for each in found:
        if each.absent:
            tell(
                f"warning: {raw_path_text(each.path)}: "
                f"the contents of {counted(len(each.absent), 'event')} are not here, so their lines go to the commits"
            )
