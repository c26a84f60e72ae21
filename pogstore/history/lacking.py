"""What a task lacks that is about to be completed: open items, checks that did not pass, approvals. Runs nothing."""

from collections.abc import Iterator

from pogstore.errors import BadInput
from pogstore.history.required import PASSED, Approvals, approvals_of, checks_of
from pogstore.history.tasks import find_definition, read_state
from pogstore.model import TaskId
from pogstore.store.store import Store
from pogstore.work import bounds, policies


def lacking(store: Store, task: TaskId) -> Iterator[str]:
    """Yields a phrase for each kind of thing that a task lacks; raises `NotFound` if it has no events."""
    now = read_state(store, task)
    definition = find_definition(store, now)
    items = enumerate(definition.checklist if definition else ())
    left = [item.text for at, item in items if not now.checked.get(at, bool(item.done))]
    if left:
        yield f"{len(left)} item{' is' if len(left) == 1 else 's are'} open: " + ", ".join(f"'{text}'" for text in left)
    found = bounds.bounds_of(store, task)
    try:
        asked = policies.policy_of(store)
    except BadInput:
        asked = policies.configured(store)
    for check in checks_of(store, task, found, asked.checks, {}):
        if check.state != PASSED:
            yield f"check '{check.command}' {check.said}"
    needed = max(found.approvals, asked.approvals)
    if needed:
        yield from said_approvals(approvals_of(store, task, needed))


def said_approvals(found: Approvals) -> Iterator[str]:
    """Yields what approvals lack, if anything."""
    if found.rejected:
        yield f"rejected by {found.rejected}"
    elif found.have < found.needed:
        yield f"{found.have} of {found.needed} approvals by people who did not work on it"
