"""The union of two chains: what was fetched and judged joins what is ours. Nothing that either side holds is lost.

A chain that is only behind moves forward. Diverged events get a `joined` event, which every clone makes alike; of
diverged contents, those that only we hold are appended again to the fetched chain.
"""

from collections.abc import Mapping

from pogstore.errors import Incomplete
from pogstore.model import FORMAT, Oid, Sealed
from pogstore.store import chain, quarantine, rows
from pogstore.store.batch import Batch
from pogstore.store.quarantine import Judged
from pogstore.store.refs import TASKS, class_of, task_of
from pogstore.store.store import Store


def holds(store: Store, ref: str, oid: Oid) -> bool:
    """Says whether our own chain of a ref holds a commit; the index must be up to date."""
    if ref.startswith(TASKS):
        return rows.carried(store.index.connection, task_of(ref), oid) is not None
    return rows.holds_commit(store.index.connection, ref, oid)


def judge(store: Store, ref: str, tip: Oid) -> Judged:
    """Returns the new part of a fetched chain; raises a `PogError` for one that is not as it should be."""
    if ref.startswith(TASKS):
        return quarantine.judge_events(store, task_of(ref), tip)
    return quarantine.judge_contents(store, task_of(ref), class_of(ref), tip)


def settle(store: Store, batch: Batch, ref: str, fetched: Judged) -> str:
    """Moves our ref to the union with a fetched chain that it does not hold yet.

    Returns what it took: `created`, `forwarded` or `joined`. Raises `Incomplete` where only a newer version can join.
    """
    ours = batch.tip(ref)
    if ours is None or ours in fetched.commits:
        batch.move(ref, ours, fetched.tip)
        return "created" if ours is None else "forwarded"
    head = batch.head(task_of(ref)) if ref.startswith(TASKS) else None
    if head is not None:
        _join(batch, {ours: head, fetched.tip: chain.read_link(store.objects, fetched.tip).sealed})
    else:
        _append_again(store, batch, ref, ours, fetched)
    return "joined"


def _join(batch: Batch, heads: Mapping[Oid, Sealed]) -> None:
    for head in heads.values():
        if head.event.v != FORMAT:  # its id may be made by another hash, and `joined` has to name it
            raise Incomplete(
                f"task '{head.event.task}'", f"event '{head.event_id}' needs a newer pogstore to be joined"
            )
    batch.join(heads)


def _append_again(store: Store, batch: Batch, ref: str, ours: Oid, fetched: Judged) -> None:
    theirs = {entry.name for entry in fetched.entries}
    own = [entry for _, entry in chain.contents(store.objects, ours, fetched.commits.__contains__)]
    batch.move(ref, ours, fetched.tip)
    for entry in own:
        if entry.name not in theirs:
            batch.add_stored(task_of(ref), class_of(ref), entry.name, entry.oid)
