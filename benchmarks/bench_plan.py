"""What it takes to plan the rollback of a tool call on a few files, in a small work tree and in a large one.

Beside `git status` of the same tree, and flat: what the tree holds beyond the plan must not count. In process with a
store that is opened anew each time, and as a whole process. `--events` is the number of files of the large tree.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.bench_look import STATUS, file, work_tree
from benchmarks.material import agent, defined, step, task_of
from benchmarks.measure import Options, Peer, Row, compare, in_turn, main, pog, process
from pogstore.draft import DraftChange, FileVersion, TaskDrafts
from pogstore.history.names import Named
from pogstore.history.rollback import plan_rollback
from pogstore.model import EventId, Stepped
from pogstore.store.store import open_store
from pogstore.work.intake import take

CHANGED = 5
SMALL = 1_000
AT_MOST, FLAT = 1 / 3, 1.1


def rows(options: Options) -> Iterator[Row]:
    """Yields the plan in the large tree beside git's look at it, beside the small tree, and as a whole process."""
    large, small = (tree(options.place / name, size) for name, size in (("large", options.events), ("small", SMALL)))
    ours, theirs, status = in_turn(options.runs, plan(*large), plan(*small), process(STATUS, large[0]))
    aims = (None, None) if options.quick else (AT_MOST, FLAT)
    question = f"plan of {CHANGED} files among {options.events:,}"
    yield compare(f"{question}, in process", ours, Peer("git status", status), at_most=aims[0])
    yield compare("the same", ours, Peer(f"among {SMALL:,}", theirs), at_most=aims[1])
    whole, other, status = in_turn(options.runs, dry_run(*large), dry_run(*small), process(STATUS, large[0]))
    yield compare(f"{question}, whole process", whole, Peer("git status", status))
    yield compare("the same", whole, Peer(f"among {SMALL:,}", other), at_most=aims[1])


def tree(place: Path, size: int) -> tuple[Path, EventId]:
    """Makes a work tree of so many files, a few of which a recorded tool call has changed."""
    work_tree(place, size)
    store = open_store(place)
    changes = [change(place, file(place, number)) for number in range(CHANGED)]
    take(store, [TaskDrafts(task=task_of(1), drafts=(defined(1), step(1, 1, agent(1), changes)))])
    event = next(each.event_id for each in store.events(task_of(1)) if isinstance(each.event, Stepped))
    store.close()
    return place, event


def change(place: Path, path: Path) -> DraftChange:
    """Returns the edit that made a file what it is."""
    data = path.read_bytes()
    before, after = (FileVersion(mode="100644", data=text) for text in (b"before\n" + data, data))
    return DraftChange(path=os.fspath(path.relative_to(place)), before=before, after=after)


def plan(place: Path, event: EventId) -> Callable[[], object]:
    """Returns a function that plans in this process, from opening the store on."""

    def run() -> None:
        store = open_store(place)
        found = plan_rollback(store, [Named(task_of(1), event)])
        store.close()
        if len(found.writes) != CHANGED:
            raise SystemExit(f"{len(found.writes)} writes, not {CHANGED}")

    return run


def dry_run(place: Path, event: EventId) -> Callable[[], object]:
    """Returns a function that plans as a person does."""
    return process(pog("rollback", "--dry-run", event), place)


if __name__ == "__main__":
    main(rows, events=50_000, quick=200, runs=15)
