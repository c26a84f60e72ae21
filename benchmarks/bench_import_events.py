"""How fast events without new content are taken in, beside `git fast-import` of the same objects."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from benchmarks.material import exported, git, new_repository, new_store, readings, refs_of
from benchmarks.measure import Options, Peer, Row, compare, in_turn, main
from pogstore.draft import TaskDrafts
from pogstore.store.store import Store
from pogstore.work.intake import take

SYNC = {
    True: ("-c", "core.fsync=committed,reference"),  # by itself git syncs packs, and leaves refs to luck
    False: ("-c", "core.fsync=none"),
}


def rows(options: Options) -> Iterator[Row]:
    """Yields a figure with everything synced to disk, and one without."""
    drafts = readings(options.events)
    for fsync in (True, False):
        ours, theirs = beside_fast_import(options, drafts, fsync=fsync)
        question = f"import of {options.events:,} events without content, fsync {'on' if fsync else 'off'}"
        peer = Peer("git fast-import", theirs)
        yield compare(question, ours, peer, at_most=1.0, count=options.events, at_least=10_000)


def beside_fast_import(
    options: Options, drafts: Sequence[TaskDrafts], *, fsync: bool
) -> tuple[list[float], list[float]]:
    """Returns the seconds in which we take drafts into a new store, and git the same objects into a new repository."""
    place = options.place / f"fsync-{fsync}"
    sample = store_at(place / "sample", fsync=fsync)
    take(sample, drafts)
    stream = exported(sample)
    ours, theirs = [], []
    for number in range(options.runs):
        store, peer = store_at(place / f"ours-{number}", fsync=fsync), new_repository(place / f"theirs-{number}")
        one, other = in_turn(1, partial(take, store, drafts), fast_import(peer, stream, fsync=fsync))
        ours += one
        theirs += other
        store.close()
        if refs_of(sample.layout.git_dir) != refs_of(peer):
            raise SystemExit("git fast-import has made other objects")
    return ours, theirs


def store_at(place: Path, *, fsync: bool) -> Store:
    """Makes a new store."""
    store = new_store(place)
    store.git.run("config", "pog.fsync", str(fsync).lower())
    return store


def fast_import(place: Path, stream: bytes, *, fsync: bool) -> Callable[[], object]:
    """Returns a function that gives git a stream."""
    return lambda: git(place, *SYNC[fsync], "fast-import", "--quiet", stdin=stream)


if __name__ == "__main__":
    main(rows, events=20_000, quick=200, runs=3)
