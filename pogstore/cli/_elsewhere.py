"""What a name is that no task and no event has: a commit or an actor, which other commands take."""

import shlex
from itertools import islice

from pogstore.errors import NotFound
from pogstore.history.names import NOUN
from pogstore.model import KINDS
from pogstore.store import gitlog
from pogstore.store.store import Store

NEWEST = 2000
"""Events, from the last one on, whose actors are looked through."""


def with_way_on(store: Store, fault: NotFound) -> NotFound:
    """Returns an error that names the command for what the name is, if it is a commit or an actor of late."""
    name, word = fault.name, shlex.quote(fault.name)
    if fault.noun not in ("task", NOUN) or name.startswith("@"):
        return fault
    if gitlog.find_commit(store.git, name):
        hint = f"it names a commit; 'git pog lineage {word}' shows what that comes from"
    elif name in {
        actor.name for sealed in islice(store.newest_of(tuple(KINDS)), NEWEST) if (actor := sealed.event.actor)
    }:
        hint = f"it names an actor; 'git pog trace {word}' shows what stands of its work"
    else:
        return fault
    return NotFound(fault.noun, name, hint)
