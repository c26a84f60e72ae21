"""How fast events without new content are taken in, beside `git fast-import` of the same objects."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path

from benchmarks.material import exported, git, new_repository, new_store, readings, refs_of
from benchmarks.measure import Options, Peer, Row, compare, in_turn, main
from pogstore.draft import TaskDrafts
from pogstore.store.store import Store
from pogstore.work.intake import take


def rows(options: Options) -> Iterator[Row]:
    """Yields one figure."""
    drafts = readings(options.events)
    ours, theirs = beside_fast_import(options, drafts)
    yield compare(
        f"import of {options.events:,} events without content",
        ours,
        Peer("git fast-import", theirs),
        at_most=1.0,
        count=options.events,
        at_least=10_000,
    )


def beside_fast_import(options: Options, drafts: list[TaskDrafts]) -> tuple[list[float], list[float]]:
    """Returns the seconds in which we take drafts into a new store, and git the same objects into a new repository."""
    sample = new_store(options.place / "sample")
    take(sample, drafts)
    stream = exported(sample)
    places = (options.place / f"run-{number}" for number in count())
    stores: list[Store] = []
    peers: list[Path] = []
    ours, theirs = [], []
    for _ in range(options.runs):
        store, peer = new_store(next(places)), new_repository(next(places))
        one, other = in_turn(1, partial(take, store, drafts), fast_import(peer, stream))
        ours += one
        theirs += other
        stores.append(store)
        peers.append(peer)
    if refs_of(sample.layout.git_dir) != refs_of(peers[0]):
        raise SystemExit("git fast-import has made other objects")
    return ours, theirs


def fast_import(place: Path, stream: bytes) -> Callable[[], object]:
    """Returns a function that gives git a stream."""
    return lambda: git(place, "fast-import", "--quiet", stdin=stream)


if __name__ == "__main__":
    main(rows, events=20_000, quick=200, runs=3)
