"""`git pog hook pre-push`: what the git hook asks that keeps private refs at home."""

import os
import select
import time
from collections.abc import Iterator
from pathlib import Path

import click

from pogstore.cli._options import pog_command
from pogstore.cli._render import counted, safe, tell
from pogstore.errors import PogError
from pogstore.store import layout
from pogstore.store.gitcli import Git
from pogstore.work.leaving import Leaving, Rules, leaving
from pogstore.work.locality import LOCAL

REFUSED = 4
"""The one exit status that stops a push: the hook takes every other one for a fault of ours, and lets it go."""
PATIENCE = 10.0
"""Seconds that git may be silent; it writes at once all that it has to say."""
MOST = 128 << 20
"""Bytes that are read: a million refs. What comes behind them goes unseen."""
SHOWN = 5
_YES = ("true", "yes", "on", "1")
_WHY = {"private": "private", "tracking": "what was fetched from a remote", "local": "of a local task"}


@pog_command("pre-push", {REFUSED: "something private would leave"})
@click.argument("remote", default="")
@click.argument("url", default="", expose_value=False)
def command(remote: str) -> int:
    """Keep what is private at home when git pushes by itself; git's pre-push hook asks it.

    Reads on standard input what git is about to push to REMOTE at URL. Refuses refs/pog/private, unless
    remote.REMOTE.pogPrivate says that it goes there, refs/pog-remotes, and every ref of a local task. Deleting them at
    the remote is no leaving. `git pog push` does not ask. `git pog init --pre-push` installs the hook.
    """
    found = list(leaving(_lines(0), lambda: _rules(remote)))
    if not found:
        return 0
    _tell(found)
    return REFUSED


def _tell(found: list[Leaving]) -> None:
    tell(f"error: {counted(len(found), 'ref')} of pogstore must not leave by 'git push'; nothing was pushed")
    for each in found[:SHOWN]:
        tell(f"  {safe(each.ref)} ({_WHY[each.reason]})")
    if len(found) > SHOWN:
        tell(f"  and {len(found) - SHOWN} more")
    tell("hint: 'git pog push' sends tasks, and what is private only by choice; for branches and tags:")
    tell("hint: git push REMOTE 'refs/heads/*' 'refs/tags/*'; 'git push --no-verify' sends all the same")


def _rules(remote: str) -> Rules:
    """Returns what git's configuration says; where it cannot be had, that nothing private leaves."""
    try:
        place = layout.discover(Path.cwd(), dict(os.environ))
        settings = Git(place.git_dir, place.work_tree).settings()
    except PogError:
        return Rules()
    chosen = settings.get(f"remote.{remote}.pogprivate", ["false"])[-1].lower() in _YES
    return Rules(chosen, frozenset(value.lower() for value in settings.get(LOCAL, [])))


def _lines(source: int) -> Iterator[bytes]:
    """Yields the lines of a descriptor until it ends, is silent for too long, or has said too much."""
    rest, read, deadline = b"", 0, time.monotonic() + PATIENCE
    while read < MOST and select.select([source], [], [], max(deadline - time.monotonic(), 0))[0]:
        chunk = os.read(source, 1 << 16)
        if not chunk:
            break
        read, deadline = read + len(chunk), time.monotonic() + PATIENCE
        *lines, rest = (rest + chunk).split(b"\n")
        yield from lines
    if rest:
        yield rest
