"""Which recorded events led a file from what one side of a range has to what the other has, whoever's its lines are.

A file that was brought back to an older version has lines of that version's writers alone: who brought it back is told
by contents, not by lines.
"""

from collections.abc import Iterator

from pogstore.errors import NotFound, ObjectDamaged
from pogstore.model import BlobId, Change, Oid, Opaque, Ran, Sealed, Side, Stepped
from pogstore.store.content import blob_id, path_bytes
from pogstore.store.gitdiff import FileDiff
from pogstore.store.store import MAX_CONTENT, Store

_Content = BlobId | str | None
"""What a path holds: the name of its content, nothing, or a word where nobody knows."""
_UNKNOWN = "unknown"


def led_by(store: Store, diff: FileDiff) -> Iterator[Sealed]:
    """Yields the steps and commands that left what a range brings, and what that was made from, the last one first.

    It goes back through the events on the file until one began with what the base has, or the record has a gap. What
    was changed unseen is passed over.
    """
    events = [sealed for sealed in store.events_on(diff.path) if not isinstance(sealed.event, Opaque)]
    if not events:
        return
    wanted, base = _held(store, diff.after), _held(store, diff.before)
    for sealed in reversed(events):
        change = _change(sealed, diff.path)
        if change is None or _after(change, diff.path) != wanted:
            continue
        if isinstance(sealed.event, Stepped | Ran):
            yield sealed
        wanted = _content(change.before)
        if wanted in (base, _UNKNOWN):
            return


def _change(sealed: Sealed, path: bytes) -> Change | None:
    """Returns the last change of an event that is of a path, or moves it away."""
    named: list[Change] = [
        change
        for change in getattr(sealed.event, "changes", ())
        if path in (path_bytes(change.path), path_bytes(change.from_) if change.from_ is not None else None)
    ]
    return named[-1] if named else None


def _after(change: Change, path: bytes) -> _Content:
    return _content(change.after) if path_bytes(change.path) == path else None


def _content(side: Side | None) -> _Content:
    return None if side is None else side.blob or side.commit or _UNKNOWN


def _held(store: Store, oid: Oid | None) -> _Content:
    """Returns what a blob of git holds; a submodule's commit is known as events spell it."""
    if oid is None:
        return None
    try:
        kind, data = store.objects.read(oid, MAX_CONTENT)
    except (NotFound, ObjectDamaged):
        return _UNKNOWN + oid
    return blob_id(data) if kind == "blob" else _UNKNOWN + oid
