"""How long `git pog list` of 1,000 tasks takes, beside `git for-each-ref` with subjects and bare Python."""

from collections.abc import Iterator
from pathlib import Path

from benchmarks.material import agent, defined, git, new_store, step, task_of
from benchmarks.measure import Options, Peer, Row, compare, in_turn, main, pog, process, python
from pogstore.draft import TaskDrafts
from pogstore.work.intake import take

EVENTS_PER_TASK = 5
FOR_EACH_REF = ["git", "for-each-ref", "--format=%(objectname) %(refname) %(subject)", "refs/pog/tasks"]


def rows(options: Options) -> Iterator[Row]:
    """Yields figures for loose refs, as an import leaves them, and for packed ones, as git's housekeeping does."""
    place = options.place / "store"
    store = new_store(place)
    take(store, [tasks(number) for number in range(options.events)])
    store.close()
    process(pog("list"), place)()
    yield from _rows(options, place, "loose refs")
    git(place, "pack-refs", "--all")
    yield from _rows(options, place, "packed refs")


def tasks(number: int) -> TaskDrafts:
    """Returns one of many tasks: its definition and some steps."""
    steps = (step(number, at, agent(number)) for at in range(1, EVENTS_PER_TASK))
    return TaskDrafts(task=task_of(number), drafts=(defined(number), *steps))


def _rows(options: Options, place: Path, how: str) -> Iterator[Row]:
    ours, git_lists, bare = in_turn(
        options.runs, process(pog("list"), place), process(FOR_EACH_REF, place), process(python("pass"), place)
    )
    question = f"list of {options.events:,} tasks, {how}"
    yield compare(question, ours, Peer("git for-each-ref", git_lists), at_most=1.0)
    yield compare(question, ours, Peer("python -c pass", bare), at_most=8.0)


if __name__ == "__main__":
    main(rows, events=1_000, quick=20, runs=15)
