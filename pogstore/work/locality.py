"""Which tasks are local: they never leave this repository.

Kept in this repository's own git configuration (`pog.local`, one value a task), so that no event has to say it.
"""

from pogstore.model import TaskId
from pogstore.store.store import Store

LOCAL = "pog.local"


def local_tasks(store: Store) -> frozenset[TaskId]:
    """Returns the tasks that are marked local."""
    return frozenset(TaskId(value.lower()) for value in store.git.settings().get(LOCAL, []))


def mark_local(store: Store, task: TaskId) -> bool:
    """Marks a task local; says whether it was not before. What was pushed already is not taken back."""
    if task in local_tasks(store):
        return False
    store.git.run("config", "--local", "--add", LOCAL, task)
    return True


def unmark_local(store: Store, task: TaskId) -> bool:
    """Takes the mark away; says whether there was one."""
    if task not in local_tasks(store):
        return False
    store.git.run("config", "--local", "--fixed-value", "--unset-all", LOCAL, task)
    return True
