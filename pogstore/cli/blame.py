"""`git pog blame`: who wrote each line."""

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click

from pogstore.cli._blame import COLOR_BY, Look, Texts, blamed_value, explained, incremental, porcelain, warn_absent
from pogstore.cli._context import Env, now, pass_env
from pogstore.cli._options import Verb, exclusive, json_option, pathspecs, pog_command
from pogstore.cli._range import range_text, range_value, summary_text
from pogstore.cli._render import echo_bytes, echo_json, raw_path_text, safe, tell
from pogstore.errors import BadInput, NotFound, NoWorkTree
from pogstore.history.blame import Blame, blame, changed_files
from pogstore.history.incremental import groups
from pogstore.history.ranges import Range, blame_range, find_range
from pogstore.store import gitlog

_F = TypeVar("_F", bound=Callable[..., Any])
_SCORED = re.compile(r"-[MC][0-9]{1,9}")
_SCORES = "pogstore.blame.scores"
_OF_GIT = (
    click.option("-w", "spaces", is_flag=True, help="Passed on: git ignores white space to find a line's commit."),
    click.option("-M", "moved", is_flag=True, help="Passed on, also as -M20: git looks for lines moved in a file."),
    click.option(
        "-C", "copied", count=True, help="Passed on, also as -C40, up to three times: for lines of other files."
    ),
    click.option("--since", metavar="DATE", help="Passed on: git looks no further back."),
    click.option(
        "--ignore-rev", "ignored", multiple=True, metavar="REV", help="Passed on: git passes over this commit."
    ),
    click.option(
        "--ignore-revs-file", "ignored_in", multiple=True, metavar="FILE", help="Passed on; '' forgets others."
    ),
)
_FORMS = (
    click.option("--porcelain", "as_porcelain", is_flag=True, help="git's format, with pog- header lines added."),
    click.option("--line-porcelain", is_flag=True, help="The same, with all of git's headers for every line."),
    click.option("--incremental", "as_incremental", is_flag=True, help="git's format for programs that do not wait."),
)


class _Asked(NamedTuple):
    """What to blame, and in which form to print it."""

    revision: str | None
    ranges: tuple[str, ...]
    options: tuple[str, ...]
    contents: bytes | None

    def blame(self, env: Env, path: str, *, strict: bool, explain: bool) -> Blame:
        """Returns the blamed file."""
        return blame(env.store, path.encode("utf-8", "surrogateescape"), *self, strict=strict, explained=explain)


class _Verb(Verb):
    """A command whose -M and -C may be followed at once by a number, as git has it and click does not."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parses as every command does; keeps what has a number for git."""
        end = args.index("--") if "--" in args else len(args)
        ctx.meta[_SCORES] = [word for word in args[:end] if _SCORED.fullmatch(word)]
        return super().parse_args(ctx, [word for word in args[:end] if not _SCORED.fullmatch(word)] + args[end:])


def _all(options: Sequence[Callable[[_F], _F]]) -> Callable[[_F], _F]:
    def decorate(function: _F) -> _F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


@pog_command("blame", {1: "nothing to blame", 3: "damaged store"}, _Verb)
@click.argument("names", nargs=-1, metavar="[REV|RANGE] [--] [FILE]...")
@click.option("-L", "ranges", multiple=True, metavar="START,END", help="Only these lines, as in git blame.")
@click.option("-s", "short", is_flag=True, help="Without author, task and date.")
@click.option("-e", "email", is_flag=True, help="With the addresses of people instead of their names.")
@click.option("--color-by", type=click.Choice(COLOR_BY), help="What the colours of the text form stand for.")
@click.option("--contents", metavar="FILE|-", help="Blame what this file holds in the place of the work tree's.")
@click.option("--strict", is_flag=True, help="A line whose white space was changed is of whoever changed that.")
@click.option("--explain", is_flag=True, help="By which rule each event has its lines, and how sure that is.")
@_all(_OF_GIT)
@_all(_FORMS)
@click.option("--summary", is_flag=True, help="Of a range: only the totals, as Markdown for a pull request.")
@json_option
@pass_env
def command(
    env: Env,
    names: tuple[str, ...],
    ranges: tuple[str, ...],
    short: bool,
    email: bool,
    color_by: str | None,
    contents: str | None,
    strict: bool,
    explain: bool,
    summary: bool,
    as_json: bool,
    as_porcelain: bool,
    line_porcelain: bool,
    as_incremental: bool,
    **of_git: Any,
) -> int:
    """Show which event wrote each line of a file, or else which commit.

    Without FILE: every changed file of the work tree. With a range A..B or A...B: the lines that B adds since it left
    A, by file, then how many of them each writer wrote, and for which tasks. In the text form * marks an event, ~ what
    was changed outside any event, ? what nobody knows. What is passed on to git changes the commits, never the events.
    """
    forms = {"porcelain": as_porcelain, "line_porcelain": line_porcelain, "incremental": as_incremental}
    exclusive(**forms, json=as_json)
    look = Look(env.color, short, email, color_by, now(), explain)
    options = _git_options(**of_git)
    asked = _range(env, names)
    if asked is not None:
        if ranges or contents or explain or any(forms.values()):
            raise click.UsageError("a range has no -L, --contents, --explain and none of git's formats; use --json")
        return _blame_range(env, asked, names, options, look, strict=strict, summary=summary, as_json=as_json)
    if summary:
        raise click.UsageError("--summary needs a range, such as main..HEAD")
    revision, paths = _split(env, names)
    if contents is not None and len(paths) != 1:
        raise click.UsageError("--contents needs one FILE")
    options += ["--line-porcelain"] * line_porcelain
    one = _Asked(revision, ranges, tuple(options), None if contents is None else _contents(contents))
    wanted = paths or [path.decode("utf-8", "surrogateescape") for path in changed_files(env.store)]
    env.at_one_moment()
    with _hinting(env, names):
        found = [one.blame(env, path, strict=strict, explain=explain) for path in wanted]
    warn_absent(found)
    if as_json:
        echo_json([blamed_value(each) for each in found])
    elif as_porcelain or line_porcelain:
        for each in found:
            echo_bytes(porcelain(each))
    elif as_incremental:
        for each in found:
            for group in incremental(each, groups(env.store, each, *one)):
                echo_bytes(group)
    elif found:
        env.page(_text(env, found, look, several=not paths or len(paths) > 1))
    else:
        tell("no changed file")
    return 0 if found else 1


def _git_options(
    spaces: bool, moved: bool, copied: int, since: str | None, ignored: Sequence[str], ignored_in: Sequence[str]
) -> list[str]:
    """Returns what is passed on to git; a file is named from where the command runs."""
    scores: list[str] = click.get_current_context().meta[_SCORES]
    options = ["-w"] * spaces + ["-M"] * moved + ["-C"] * copied + scores
    options += [f"--since={since}"] if since is not None else []
    options += [f"--ignore-rev={revision}" for revision in ignored]
    return options + [f"--ignore-revs-file={Path(name).absolute() if name else ''}" for name in ignored_in]


def _contents(name: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as fault:
        raise BadInput("--contents", f"cannot read '{name}': {fault.strerror}") from fault


def _range(env: Env, names: Sequence[str]) -> Range | None:
    """Tells a range from a file, as `_split` tells a revision."""
    after = pathspecs(names)
    is_first = len(names) > 0 and (after is None or after < len(names))
    if not is_first or (after is None and _is_file(env, names[0])):
        return None
    return find_range(names[0])


def _blame_range(
    env: Env,
    asked: Range,
    names: Sequence[str],
    options: Sequence[str],
    look: Look,
    *,
    strict: bool,
    summary: bool,
    as_json: bool,
) -> int:
    """Shows what a range adds, all of it or its totals."""
    after = pathspecs(names)
    if after is not None and len(names) - after > 1:
        raise click.UsageError("only one range can be blamed")
    paths = [name if name.startswith(":") else env.repository_path(name) for name in names[1:]]
    env.at_one_moment()
    found = blame_range(env.store, asked, paths, options, strict=strict)
    if found.base is None:
        tell(f"warning: the sides of {safe(names[0])} have no common ancestor here, so every file counts as added")
    blamed = [file.blame for file in found.files if file.blame]
    warn_absent(blamed)
    texts = Texts(env.store, blamed, env.width, look)
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


@contextmanager
def _hinting(env: Env, names: Sequence[str]) -> Iterator[None]:
    """Names the order that works where a revision stands in the place of a file."""
    try:
        yield
    except NotFound as fault:
        hint = None if fault.hint or pathspecs(names) is not None else _order(env, names)
        raise NotFound(fault.noun, fault.name, hint or fault.hint) from fault


def _order(env: Env, names: Sequence[str]) -> str | None:
    revision = next(
        (name for name in names if not _stands(env, name) and gitlog.find_commit(env.store.git, name)), None
    )
    if revision is None or (len(names) > 1 and revision == names[0]):
        return None
    file = next((name for name in names if name != revision), "FILE")
    return f"'{revision}' is a revision, and comes first: 'git pog blame {revision} {file}'"


def _stands(env: Env, name: str) -> bool:
    try:
        return os.path.lexists(env.work_tree / env.repository_path(name))
    except (BadInput, NoWorkTree):
        return False


def _is_file(env: Env, name: str) -> bool:
    try:
        return (env.work_tree / env.repository_path(name)).is_file()
    except (BadInput, NoWorkTree):
        return False


def _text(env: Env, found: Sequence[Blame], look: Look, *, several: bool) -> Iterator[str]:
    texts = Texts(env.store, found, env.width, look)
    for at, each in enumerate(found):
        if several:
            yield from [""] * (at > 0)
            yield raw_path_text(each.path)
        yield from texts.lines(each)
    if look.explain:
        yield from explained(found)
