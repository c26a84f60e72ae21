"""The limits of the repository, where they cannot hold: nobody can read them, or hooks do not know of them."""

from typing import NamedTuple

from pogstore.errors import BadInput
from pogstore.store.store import Store
from pogstore.work import contracts, policies, setup


class Trouble(NamedTuple):
    """What is wrong with the limits, and what helps."""

    text: str
    hint: str


def trouble_with(store: Store) -> Trouble | None:
    """Returns why the limits of the repository do not hold as they are written; nothing if they do."""
    try:
        policies.policy_of(store)
    except BadInput as fault:
        return Trouble(fault.message, "mend the file; until then agents are denied what changes something")
    if store.enabled and not setup.paused(store.layout) and not contracts.is_policy_known(store):
        return Trouble("hooks do not know of changed limits", "'git pog init' tells them")
    return None
