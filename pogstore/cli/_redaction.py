"""What is said of secrets: which were taken out of texts, and which rules of one's own hold; never what they are."""

from collections.abc import Iterator

from pogstore.cli._context import Env
from pogstore.cli._render import safe, tell
from pogstore.cli._values import Value
from pogstore.history.redactions import counts, redactions
from pogstore.model import Sealed, TaskId
from pogstore.store import rows
from pogstore.store.store import Store

LAST = 500
"""So many events of the active task, its last, are looked through for `status`; `show --redacted` takes all."""


def tell_redacted(store: Store, written: Sealed) -> None:
    """Says of what kinds the secrets were that were taken out of what was typed."""
    if found := counts(redactions(store, [written])):
        tell(f"redacted: {spelled(found)}")


def spelled(found: dict[str, int]) -> str:
    """Returns how many there were of each kind, in words."""
    return ", ".join(f"{number} {kind}" for kind, number in found.items())


def redaction_value(env: Env, active: TaskId | None) -> Value:
    """Returns what `status` says of it: the rules of one's own, and what was taken out of the active task lately."""
    rules = env.store.own_rules
    return {
        "rules": rules.number,
        "faults": [fault._asdict() for fault in rules.faults],
        "active": _lately(env.store, active),
    }


def said_redaction(env: Env, active: TaskId | None) -> Iterator[str]:
    """Yields the same in lines; nothing if there is nothing to say."""
    for fault in env.store.own_rules.faults:
        yield f"rule {fault.rule} of pog.redact {safe(fault.reason)}; it is not used"
    if found := _lately(env.store, active):
        yield f"redacted lately in this task: {spelled(found)}; 'git pog show --redacted' says where"


def _lately(store: Store, task: TaskId | None) -> dict[str, int]:
    if task is None:
        return {}
    ids = rows.ids_of(store.index.connection, task)[-LAST:]
    return counts(redactions(store, store.standing(ids).values()))
