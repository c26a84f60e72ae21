"""`git pog lineage`: what something comes from, and what rests on it."""

import re

import click

from pogstore.cli import _lineage
from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import exclusive, json_option, pathspecs, pog_command
from pogstore.cli._render import echo, echo_json
from pogstore.errors import AmbiguousName, NotFound, NoWorkTree
from pogstore.history.lineage import FileLine, lineage
from pogstore.history.names import Named
from pogstore.history.tasks import check_whole
from pogstore.model import Oid
from pogstore.store import gitlog

_LINE = re.compile(r"(?P<file>.+):(?P<line>[0-9]{1,9})", re.DOTALL)
_HEX = re.compile(r"[0-9a-fA-F-]+")
DEPTH = 5
"""Edges that the text form follows if it is not told how many."""


@pog_command("lineage", {3: "damaged store; what can be read is shown all the same"})
@click.argument("name", default="@", metavar="[TASK|EVENT|COMMIT|FILE[:LINE]]")
@click.option("--up", is_flag=True, help="Only what it comes from.")
@click.option("--down", is_flag=True, help="Only what rests on it.")
@click.option(
    "--depth", type=click.IntRange(0), metavar="N", help="Follow N edges; by default 5 for a person, else all."
)
@click.option("--dot", "as_dot", is_flag=True, help="Print the language of Graphviz.")
@click.option("--mermaid", "as_mermaid", is_flag=True, help="Print the language of Mermaid, for a Markdown page.")
@json_option
@pass_env
def command(
    env: Env, name: str, up: bool, down: bool, depth: int | None, as_dot: bool, as_mermaid: bool, as_json: bool
) -> None:
    """Show what a task, an event, a commit or a line comes from, and what rests on it.

    It joins parents and sub-tasks, dependencies, forks, commits, and content: who found in a file what another left
    there used its work. Without --up and --down both are shown; of a file or a line, which stand for whoever wrote
    them, only what they come from.
    """
    exclusive(json=as_json, dot=as_dot, mermaid=as_mermaid)
    exclusive(up=up, down=down)
    env.at_one_moment()
    asked = _asked(env, name)
    for_a_person = not (as_json or as_dot or as_mermaid)
    upward, downward = not down, not up and (down or not isinstance(asked, FileLine))
    limit = DEPTH if depth is None and for_a_person else depth
    found = lineage(env.store, asked, up=upward, down=downward, depth=limit)
    if as_json:
        echo_json(_lineage.value(found))
    else:
        labels = _lineage.Labels(found, env.store.tasks())
        if for_a_person:
            env.page(env.fitted(_lineage.lines(found, labels)))
        else:
            for line in _lineage.dot(found, labels) if as_dot else _lineage.mermaid(found, labels):
                echo(line)
    check_whole(found.tasks.values())


def _asked(env: Env, name: str) -> Named | FileLine | Oid:
    """Returns what a name means: behind `--` a file, else a task or an event, a commit, a file, whatever is first."""
    if pathspecs((name,)):
        return _file(env, name)
    named = _named(env, name)
    commit = gitlog.find_commit(env.store.git, name) if named is None or _HEX.fullmatch(name) else None
    if named is not None and commit is not None:
        raise AmbiguousName(name, [named.event_id or named.task, f"commit {commit}"])
    if named is not None or commit is not None:
        return named or commit  # type: ignore[return-value]
    try:
        return _file(env, name)
    except (NotFound, NoWorkTree):
        raise NotFound("task, event, commit or file", name, "try 'git pog list --all' or 'git pog log'") from None


def _named(env: Env, name: str) -> Named | None:
    try:
        return env.named(name)
    except NotFound:
        if name.startswith("@"):
            raise
        return None


def _file(env: Env, name: str) -> FileLine:
    """Returns a file, or a line of it where no file has the whole name."""
    match = _LINE.fullmatch(name)
    if match and not (env.work_tree / env.repository_path(name)).is_file():
        return FileLine(_bytes(env, match["file"]), int(match["line"]))
    return FileLine(_bytes(env, name))


def _bytes(env: Env, name: str) -> bytes:
    path = env.repository_path(name)
    if not (env.work_tree / path).is_file():
        raise NotFound("file", name)
    return path.encode("utf-8", "surrogateescape")
