"""How fast the index is built again from git, beside `git log` of the same commits."""

from collections.abc import Iterator

from benchmarks.material import filled_store, git
from benchmarks.measure import Options, Peer, Row, compare, in_turn, main, process
from pogstore.store.store import Store

LOG = ["git", "log", "--format=%H %P%n%B", "--glob=refs/pog/tasks/*"]


def rows(options: Options) -> Iterator[Row]:
    """Yields a figure for the pack that an import has written, and one for what git's housekeeping makes of it."""
    store = filled_store(options.place / "store", options.events)
    yield _row(options, store, "as imported")
    git(store.layout.git_dir, "gc", "--quiet")
    yield _row(options, store, "after git gc")


def _row(options: Options, store: Store, how: str) -> Row:
    def ours() -> None:
        store.index.discard()
        store.refresh()

    mine, theirs = in_turn(options.runs, ours, process(LOG, store.layout.git_dir))
    question = f"index of {options.events:,} events built again, {how}"
    return compare(question, mine, Peer("git log", theirs), count=options.events, at_least=25_000)


if __name__ == "__main__":
    main(rows, events=20_000, quick=200)
