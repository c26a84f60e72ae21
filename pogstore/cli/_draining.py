"""Storing what hooks left in the spool: before a command that writes, and before one that reads if it takes no time.

A command never fails by it: what cannot be stored waits, and that it waits is said.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import click

from pogstore.agents import drain as draining  # loaded late; imported here alone
from pogstore.cli._render import counted, safe, tell
from pogstore.errors import PogError
from pogstore.store.store import Store
from pogstore.work import setup, spool, spooled

READING = frozenset((
    *("list", "ready", "show", "status", "log", "diff", "blame", "why", "lineage", "trace", "points", "env show"),
    *("env diff", "verify", "gate", "reindex", "local", "agent list", "context"),
))  # fmt: skip
"""Commands that answer with what there is, rather than wait."""
WRITING_WITH: Mapping[str, Sequence[str]] = {"next": ("claim",), "replay": ("branch", "into", "resume", "exec_")}
"""Commands that read as well, unless one of these parameters is given."""
BY_THEMSELVES = frozenset(("init", "pause", "doctor", "drain", "agent add", "agent remove"))
"""Commands that look after the spool themselves, or have nothing to do with it."""
READERS_WAIT = 0.2
"""Seconds that a command that reads waits for others who write."""
READERS_RECORDS = 500
"""How many records a command that reads stores on its way; more would be felt."""


def before_the_command(store: Store, now: Callable[[], int]) -> None:
    """Stores what waits, as the command that runs allows it; else says on standard error how much waits."""
    context = click.get_current_context(silent=True)
    if context is None or not waits(store):
        return
    name = context.command_path.removeprefix("git pog ")
    if name in BY_THEMSELVES:
        return
    reading = is_reading(name, context.params)
    if context.params.get("dry_run") or (reading and pending(store) > READERS_RECORDS):
        left, reason = pending(store), None
    else:
        left, reason = drain(store, now, wait=READERS_WAIT if reading else spool.WAIT)
    if left and name != "status" and not _quiet():
        tell(f"pending: {left}{f' ({safe(reason)})' if reason else ''}")


def is_reading(name: str, given: Mapping[str, object]) -> bool:
    """Whether a command answers with what there is, from its name and its parameters."""
    if name not in WRITING_WITH:
        return name in READING
    return bool(given.get("check")) or not any(given.get(each) for each in WRITING_WITH[name])


def drain(store: Store, now: Callable[[], int], *, wait: float = spool.WAIT) -> tuple[int, str | None]:
    """Stores what waits; returns how many records wait now, and why if something went wrong."""
    try:
        done = draining.drain(store, wait=wait, now=now())
        if done.records:
            setup.leave_settings(store)
    except PogError as fault:
        return pending(store), fault.message
    except Exception as fault:  # whatever an agent has said, people's own commands must work
        if os.environ.get("POG_DEBUG"):
            raise
        return pending(store), f"{type(fault).__name__}: {fault}"
    if done.damaged and not _quiet():
        tell(f"warning: {counted(done.damaged, 'damaged part')} of records set aside; 'git pog status' says where")
    return done.pending, None


def drain_for_good(store: Store, now: Callable[[], int]) -> tuple[int, str | None]:
    """Stores what waits, calls without an end too: nobody will come to tell of it."""
    return drain(store, lambda: now() + draining.PATIENCE + 1)


def waits(store: Store) -> bool:
    """Says whether something new may wait, at the cost of reading one directory; a call without an end is not new."""
    try:
        with os.scandir(_place(store)) as entries:
            return any(_may_wait(entry) for entry in entries)
    except OSError:
        return False


def pending(store: Store) -> int:
    """Returns how many records wait; those that came before a pause wait too."""
    return sum(map(spooled.pending, (_place(store), setup.paused_of(store.layout))))


def _quiet() -> bool:
    """Says whether a program reads the answer: it asks `status` for what waits."""
    context = click.get_current_context(silent=True)
    return context is not None and any(context.params.get(each) for each in ("as_json", "jsonl", "quiet"))


def _may_wait(entry: "os.DirEntry[str]") -> bool:
    if entry.name == os.fsdecode(spool.CURRENT):
        return entry.stat(follow_symlinks=False).st_size > 0
    return entry.name.isdigit()


def _place(store: Store) -> Path:
    return setup.spool_of(store.layout)
