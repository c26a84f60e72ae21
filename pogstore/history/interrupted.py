"""What an operation has left that was killed: taken back, or brought to its end if its events say that it was done.

Reads the journal of this work tree; knows nothing of plans. A second kill, in the middle of this, leaves the journal as
it is, and the next process begins again.
"""

from collections.abc import Sequence
from pathlib import Path as FilePath
from typing import NamedTuple

import msgspec

from pogstore import codec
from pogstore.errors import Incomplete, NotFound, NoWorkTree
from pogstore.model import Opaque, Path, Sealed
from pogstore.state import NEEDS_NEWER
from pogstore.store.batch import Batch
from pogstore.store.content import path_of
from pogstore.store.stale import break_locks
from pogstore.store.store import Store
from pogstore.work import journal, steps
from pogstore.work.journal import Found, Journal
from pogstore.work.rooted import Tree
from pogstore.work.steps import Left


class Stays(NamedTuple):
    """A path that another hand has changed since, so that it stays; where its former file lies, if it had one."""

    path: Path
    kept: Path | None


class Settled(NamedTuple):
    """What became of an interrupted operation: taken back, or finished; of how many files; and what stays."""

    verb: str
    finished: bool
    files: int
    stays: tuple[Stays, ...] = ()


def waiting(store: Store) -> Found | None:
    """Returns what an interrupted operation in this work tree has left; writes nothing. Raises `ObjectDamaged`."""
    return None if store.layout.work_tree is None else journal.read(store.layout.own_here)


def recover(store: Store) -> Settled | None:
    """Puts in order what an interrupted operation has left; nothing if there is none.

    Raises `ObjectDamaged` for a journal that this version cannot read, `LockHeld` if another process is at it.
    """
    root = store.layout.work_tree
    if root is None:
        raise NoWorkTree
    if not journal.interrupted(store.layout.own_here):
        return None
    with journal.opened(store.layout.own_here, fsync=store.fsync) as log:
        return settle(store, root, log)


def settle(store: Store, root: FilePath, log: Journal) -> Settled | None:
    """Does what `recover` promises, by one whose journal is open and locked."""
    found = log.found()
    answer = None
    if found is not None:
        events = [codec.decode(body) for body in found.events]
        break_locks(store.layout.own, store.layout.common_dir, found.begun.refs, found.begun.time)
        with Tree(root) as tree:
            answer = (_finish if is_recorded(store, events[:1]) else _take_back)(store, tree, found)
            if store.fsync:
                steps.sync_folders(tree, found.steps)
    log.end()
    return answer


def is_recorded(store: Store, events: Sequence[Sealed]) -> bool:
    """Whether some events are in the store, all of them; of none the answer is no."""
    try:
        return all(store.event(sealed.event_id) for sealed in events) and bool(events)
    except NotFound:
        return False


def _take_back(_: Store, tree: Tree, found: Found) -> Settled:
    left = steps.take_back(tree, found.steps, found.places)
    return Settled(found.begun.verb, False, found.begun.files, tuple(map(_stays, left)))


def _finish(store: Store, tree: Tree, found: Found) -> Settled:
    """Lets the events that tell of the other tasks follow, if the kill came between two of them."""
    events = [codec.decode(body) for body in found.events]
    missing = [sealed for sealed in events if not is_recorded(store, [sealed])]
    if missing:
        store.transact(lambda batch: _append(batch, missing))
    steps.finish(tree, found.steps, found.places)
    return Settled(found.begun.verb, True, found.begun.files)


def _append(batch: Batch, missing: Sequence[Sealed]) -> None:
    for sealed in missing:
        if isinstance(sealed.event, Opaque):
            raise Incomplete(f"event '{sealed.event_id}'", NEEDS_NEWER)
        batch.append(msgspec.structs.replace(sealed.event, parents=(), clock=1))


def _stays(left: Left) -> Stays:
    kept = None if left.kept is None else path_of(b"/".join((*left.kept.folder, left.kept.name)))
    return Stays(path_of(b"/".join(left.parts)), kept)
