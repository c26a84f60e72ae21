"""What a contract denied outside of an agent's hook: whether it does, and the event that says so."""

import os
import shlex
from collections.abc import Callable, Iterable, Sequence

from pogstore import policy
from pogstore.model import OddPath, Refused, Sealed, TaskId
from pogstore.policy import Contract, Refusal
from pogstore.store.content import path_of
from pogstore.store.store import Store
from pogstore.work import bounds, policies
from pogstore.work.acts import By, common, write_event

_OUTSIDE = OddPath(outside=True)


def judge_run(
    store: Store, task: TaskId, words: Sequence[str], by: By, resolve: Callable[[Sequence[str]], Iterable[str]]
) -> Refusal | None:
    """Returns why who is no person may not run a command in a task; nothing if it may.

    It is judged by the definitions and by the policy of the repository, whatever was compiled; raises `BadInput` for a
    file of limits that cannot be read. `resolve` is that of `policy.judge_command`.
    """
    if by.actor.type == "human":
        return None
    limits = (*bounds.bounds_of(store, task).limits, *policies.policy_of(store).limits)
    return policy.judge_command(Contract(task, "", limits), shlex.join(words), resolve) if limits else None


def tell_refused(store: Store, task: TaskId, refusal: Refusal, by: By, tool: str) -> Sealed:
    """Records a refusal; a path outside of the repository is not spelled."""
    paths = [_OUTSIDE if path.startswith("/") else path_of(os.fsencode(path.rstrip("/"))) for path in refusal.paths]
    event = Refused(**common(task, by), rule=refusal.rule, tool=tool, paths=tuple(dict.fromkeys(paths)))
    return write_event(store, task, lambda _: event)
