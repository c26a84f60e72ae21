"""An operation that was killed: put in order before a command that writes, and said by one that reads."""

import click

from pogstore.cli import _draining
from pogstore.cli._render import counted, path_text, safe, tell
from pogstore.errors import ObjectDamaged, PogError
from pogstore.history import interrupted  # loaded late; imported here alone
from pogstore.store.store import Store
from pogstore.work.unfinished import OPERATION

BY_THEMSELVES = _draining.BY_THEMSELVES - {"drain"}
"""Commands that look, or have nothing to do with files."""


def before_the_command(store: Store, *, may_write: bool) -> None:
    """Takes back, or finishes, what an operation in this work tree has left, if the command that runs may; says which.

    Never fails: what could not be done is said, and waits. A command that is about to write files finds it out again.
    """
    context = click.get_current_context(silent=True)
    if context is None or not _may_wait(store):
        return
    name = context.command_path.removeprefix("git pog ")
    reads = _draining.is_reading(name, context.params) or bool(context.params.get("dry_run"))
    is_looking = reads or name in BY_THEMSELVES
    try:
        if is_looking or not may_write:
            if name != "status" and (line := waiting(store)):
                tell(f"warning: {line}")
        elif found := interrupted.recover(store):
            _say(found)
    except PogError as fault:
        tell(f"warning: an interrupted operation waits: {safe(fault.message)}")


def waiting(store: Store) -> str | None:
    """Returns what waits to be put in order, in words."""
    try:
        found = interrupted.waiting(store) if _may_wait(store) else None
    except ObjectDamaged as fault:
        return f"an operation was interrupted, and {safe(fault.message)}"
    if found is None:
        return None
    verb, files = found.begun.verb, counted(found.begun.files, "file")
    return f"{safe(verb)} of {files} was interrupted; the next command that writes, or 'git pog drain', settles it"


def value_of(store: Store) -> dict[str, str | int | None] | None:
    """Returns the same as plain values."""
    try:
        found = interrupted.waiting(store) if _may_wait(store) else None
    except ObjectDamaged:
        return {"verb": None, "files": None}
    return None if found is None else {"verb": found.begun.verb, "files": found.begun.files}


def _may_wait(store: Store) -> bool:
    """Whether there may be something, at the cost of one look at a file."""
    if store.layout.work_tree is None:
        return False
    try:
        return (store.layout.own_here / OPERATION).stat(follow_symlinks=False).st_size > 0
    except OSError:
        return False


def _say(found: "interrupted.Settled") -> None:
    files = counted(found.files, "file")
    if found.finished:
        tell(f"an interrupted {safe(found.verb)} was finished: {files} as it wrote them, and its events")
    else:
        kept = found.files - len(found.stays)
        tell(f"an interrupted {safe(found.verb)} was taken back: {counted(kept, 'file')} as before")
    for stays in found.stays:
        former = f"; what it held before is in {path_text(stays.kept)}" if stays.kept is not None else ""
        tell(f"warning: {path_text(stays.path)} was changed since, and stays{former}")
