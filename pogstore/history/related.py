"""Which tasks have to do with a task: by links, by the files that both changed, by tags that both have."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from pogstore.errors import NotFound, ObjectDamaged
from pogstore.history.tasks import Summary, read_state, summaries
from pogstore.model import TaskId
from pogstore.store import relations
from pogstore.store.store import Store

MOST = 20
"""So many tasks are returned."""
MOST_PATHS = 100
"""So many paths are looked up."""
_BACK = {
    "parent": "sub-task",
    "depends_on": "depends on this",
    "blocks": "blocks this",
    "derived_from": "derived from this",
}
_THERE = {"parent": "parent", "depends_on": "this depends on it", "blocks": "this blocks it", "derived_from": "origin"}


class Related(NamedTuple):
    """A task, how it hangs together with the one asked about, and what came of it."""

    line: Summary
    links: tuple[str, ...]
    files: int
    tags: tuple[str, ...]
    outcome: str | None


def related(store: Store, task: TaskId, paths: Iterable[bytes]) -> list[Related]:
    """Returns the tasks that have to do with a task: linked ones first, then those that changed most of some paths,
    then those with most of its tags, the last changed first.
    """
    by_task = {line.task: line for line in summaries(store)}
    here = by_task.pop(task, None)
    shared = _sharing(store, list(paths)[:MOST_PATHS])
    found = [
        Related(line, _links(here, line), shared.get(line.task, 0), _tags(here, line), None)
        for line in by_task.values()
        if line.titled and line.damaged is None
    ]
    found = [each for each in found if each.links or each.files or each.tags]
    found.sort(key=lambda each: (not each.links, -each.files, -len(each.tags), -each.line.last_time, each.line.task))
    return [each._replace(outcome=_outcome(store, each.line.task)) for each in found[:MOST]]


def _links(here: Summary | None, there: Summary) -> tuple[str, ...]:
    words = [_THERE.get(link.rel, link.rel) for link in (here.links if here else ()) if link.task == there.task]
    back = [_BACK.get(link.rel, link.rel) for link in there.links if here and link.task == here.task]
    return tuple(dict.fromkeys([*words, *back]))


def _tags(here: Summary | None, there: Summary) -> tuple[str, ...]:
    return tuple(tag for tag in (here.tags if here else ()) if tag in there.tags)


def _sharing(store: Store, paths: Iterable[bytes]) -> Mapping[TaskId, int]:
    """Returns how many of some paths each task changed."""
    store.refresh()
    counts: dict[TaskId, int] = {}
    for path in paths:
        for task in relations.tasks_on_path(store.index.connection, path):
            counts[task] = counts.get(task, 0) + 1
    return counts


def _outcome(store: Store, task: TaskId) -> str | None:
    try:
        return store.find_text(read_state(store, task).outcome)
    except (NotFound, ObjectDamaged):
        return None
