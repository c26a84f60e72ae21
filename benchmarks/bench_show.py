"""Whether `show` and `log` of one task take longer in a large store than in a small one.

The small store has 1,000 events, the large one as many as you say: 1,000,000 take some minutes to make.
"""

from collections.abc import Iterator
from pathlib import Path

from benchmarks.material import defined, filled_store, task_of
from benchmarks.measure import Options, Peer, Row, compare, in_turn, main, pog, process
from pogstore.draft import TaskDrafts
from pogstore.work.intake import take

SMALL = 1_000
OTHERS = 1_000
"""Events of each of the other tasks."""
ASKED = 1_000_000_000
"""The number of the task that is asked for."""


def rows(options: Options) -> Iterator[Row]:
    """Yields a figure for each of the two verbs."""
    small = made(options.place / "small", min(SMALL, options.events))
    large = made(options.place / "large", options.events)
    for verb in ("show", "log"):
        command = pog(verb, task_of(ASKED))
        ours, theirs = in_turn(options.runs, process(command, large), process(command, small))
        question = f"{verb} of one task, {options.events:,} events in the store"
        yield compare(question, ours, Peer(f"the same at {min(SMALL, options.events):,}", theirs), at_most=1.5)


def made(place: Path, events: int) -> Path:
    """Returns a repository with so many events, one small task among them; its index is up to date."""
    store = filled_store(place, events, OTHERS)
    take(store, [TaskDrafts(task=task_of(ASKED), drafts=(defined(ASKED),))])
    store.refresh()
    store.close()
    return place


if __name__ == "__main__":
    main(rows, events=100_000, quick=300, runs=11)
