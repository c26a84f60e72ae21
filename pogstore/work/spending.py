"""What the steps of a task have used of its budget, as far as events tell."""

from collections.abc import Collection, Iterable

from pogstore.errors import NotFound, ObjectDamaged
from pogstore.model import Change, Opaque, Ran, Sealed, Side, Stepped
from pogstore.store.libgit2 import line_hunks
from pogstore.store.store import Store


def spent(store: Store, events: Iterable[Sealed], wanted: Collection[str]) -> dict[str, int]:
    """Returns what some events, without echoes, have used, by those names of a budget that are wanted."""
    amounts = dict.fromkeys(("tokens", "cost_micro_usd", "changed_lines"), 0)
    for sealed in events:
        event = sealed.event
        if isinstance(event, Opaque) or not isinstance(event, Stepped | Ran):
            continue
        if event.usage is not None:
            amounts["tokens"] += (event.usage.tokens_in or 0) + (event.usage.tokens_out or 0)
            amounts["cost_micro_usd"] += event.usage.cost_micro_usd or 0
        if "changed_lines" in wanted:
            amounts["changed_lines"] += sum(_lines(store, change) for change in event.changes)
    return {name: amount for name, amount in amounts.items() if name in wanted}


def _lines(store: Store, change: Change) -> int:
    """Returns how many lines a change adds or takes away, the greater number of each hunk; none of what is not here."""
    before, after = _content(store, change.before), _content(store, change.after)
    if before is None or after is None or b"\0" in before or b"\0" in after:
        return 0
    return sum(max(hunk.old_lines, hunk.new_lines) for hunk in line_hunks(before, after))


def _content(store: Store, side: Side | None) -> bytes | None:
    if side is None:
        return b""
    try:
        return None if side.blob is None or side.omitted else store.read_content(side.blob)
    except (NotFound, ObjectDamaged):
        return None
