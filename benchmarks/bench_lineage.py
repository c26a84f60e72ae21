"""Whether `lineage` of one task takes longer among many events of other tasks than among few."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.material import agent, change, defined, filled_store, step, task_of
from benchmarks.measure import Options, Peer, Row, compare, in_turn, main, pog, process
from pogstore.draft import Draft, TaskDrafts
from pogstore.history.lineage import lineage
from pogstore.history.names import Named
from pogstore.store.store import Store, open_store
from pogstore.work.intake import take

SMALL = 1_000
OTHERS = 1_000
"""Events of each of the other tasks."""
CHAIN = 10
"""Tasks of which each goes on with the file of the one before."""
STEPS = 20
FIRST = 1_000_000_000
"""The number of the first of these tasks."""


def rows(options: Options) -> Iterator[Row]:
    """Yields a figure for the question in process, and one for the whole command."""
    few = min(SMALL, options.events)
    small, large = made(options.place / "small", few), made(options.place / "large", options.events)
    asked = task_of(FIRST + CHAIN // 2)
    question = f"lineage of one of {CHAIN} tasks, {options.events:,} other events"
    ours, theirs = in_turn(options.runs, *(partial(ask, open_store(place)) for place in (large, small)))
    yield compare(f"{question}, in process", ours, Peer(f"the same at {few:,}", theirs), at_most=1.5)
    ours, theirs = in_turn(options.runs, *(process(pog("lineage", asked), place) for place in (large, small)))
    yield compare(f"{question}, whole process", ours, Peer(f"the same at {few:,}", theirs), at_most=1.5)


def ask(store: Store) -> None:
    """Asks for all that is above and below one task."""
    found = lineage(store, Named(task_of(FIRST + CHAIN // 2)))
    if len(found.nodes) != CHAIN:
        raise SystemExit(f"lineage: {len(found.nodes)} nodes")


def made(place: Path, events: int) -> Path:
    """Returns a repository with so many events that have no part in it; its index is up to date."""
    store = filled_store(place, events, OTHERS)
    take(store, [TaskDrafts(task=task_of(FIRST + n), drafts=(defined(FIRST + n), *_steps(n))) for n in range(CHAIN)])
    store.refresh()
    store.close()
    return place


def _steps(number: int) -> Iterator[Draft]:
    for at in range(number * STEPS, (number + 1) * STEPS):
        before = f"{at}\n".encode() if at else None
        yield step(FIRST + number, FIRST + at, agent(number), [change("src/file.py", before, f"{at + 1}\n".encode())])


if __name__ == "__main__":
    main(rows, events=100_000, quick=300, runs=7)
