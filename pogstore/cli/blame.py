"""`git pog blame`: who wrote each line."""

from collections.abc import Iterator, Sequence
from itertools import chain

import click

from pogstore.cli._blame import Texts, blamed_value, porcelain
from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import exclusive, json_option, pathspecs, pog_command
from pogstore.cli._range import range_text, range_value, summary_text
from pogstore.cli._render import counted, echo_bytes, echo_json, raw_path_text, tell
from pogstore.errors import BadInput, NoWorkTree
from pogstore.history.blame import Blame, blame, changed_files
from pogstore.history.ranges import Range, blame_range, find_range


@pog_command("blame", {1: "nothing to blame", 3: "damaged store"})
@click.argument("names", nargs=-1, metavar="[REV|RANGE] [--] [FILE]...")
@click.option("-L", "ranges", multiple=True, metavar="START,END", help="Only these lines, as in git blame.")
@click.option("--porcelain", "as_porcelain", is_flag=True, help="git's format, with pog- header lines added.")
@click.option("--summary", is_flag=True, help="Of a range: only the totals, as Markdown for a pull request.")
@json_option
@pass_env
def command(
    env: Env, names: tuple[str, ...], ranges: tuple[str, ...], as_porcelain: bool, summary: bool, as_json: bool
) -> int:
    """Show which event wrote each line of a file, or else which commit.

    Without FILE: every changed file of the work tree. With a range A..B or A...B: the lines that B adds since it left
    A, by file, then how many of them each writer wrote, and for which tasks. In the text form * marks an event, ~ what
    was changed outside any event, ? what nobody knows.
    """
    exclusive(porcelain=as_porcelain, json=as_json)
    asked = _range(env, names)
    if asked is not None:
        if as_porcelain or ranges:
            raise click.UsageError("a range has neither -L nor git's porcelain format; --json is for programs")
        return _blame_range(env, asked, names, summary=summary, as_json=as_json)
    if summary:
        raise click.UsageError("--summary needs a range, such as main..HEAD")
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


def _range(env: Env, names: Sequence[str]) -> Range | None:
    """Tells a range from a file, as `_split` tells a revision."""
    after = pathspecs(names)
    is_first = len(names) > 0 and (after is None or after < len(names))
    if not is_first or (after is None and _is_file(env, names[0])):
        return None
    return find_range(names[0])


def _blame_range(env: Env, asked: Range, names: Sequence[str], *, summary: bool, as_json: bool) -> int:
    """Shows what a range adds, all of it or its totals."""
    after = pathspecs(names)
    if after is not None and len(names) - after > 1:
        raise click.UsageError("only one range can be blamed")
    paths = [name if name.startswith(":") else env.repository_path(name) for name in names[1:]]
    env.at_one_moment()
    found = blame_range(env.store, asked, paths)
    blamed = [file.blame for file in found.files if file.blame]
    _warn_absent(blamed)
    texts = Texts(env.store, blamed, env.width, color=env.color)
    if as_json:
        echo_json(range_value(found, texts, with_lines=not summary))
    elif found.files:
        every = () if summary else range_text(found, texts)
        env.page(chain(every, summary_text(found, env.store, texts, names[0])))
    else:
        tell("no changed file")
    return 0 if found.files else 1


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
    except (BadInput, NoWorkTree):
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
