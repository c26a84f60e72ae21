"""How fast everything is verified, bytes and graph, beside `git fsck` of the same objects."""

from collections.abc import Iterator

from benchmarks.material import filled_store, git
from benchmarks.measure import Options, Peer, Row, compare, in_turn, main, process
from pogstore.history.verify import verify
from pogstore.store.store import Store

FSCK = ["git", "fsck", "--no-dangling", "--no-progress"]


def rows(options: Options) -> Iterator[Row]:
    """Yields a figure for the pack that an import has written, and one for what git's housekeeping makes of it."""
    store = filled_store(options.place / "store", options.events)
    yield _row(options, store, "as imported")
    git(store.layout.git_dir, "gc", "--quiet")
    yield _row(options, store, "after git gc")


def _row(options: Options, store: Store, how: str) -> Row:
    def ours() -> None:
        report = verify(store)
        if not report.ok or report.checked.events != options.events:
            raise SystemExit(f"verify: {report}")

    mine, theirs = in_turn(options.runs, ours, process(FSCK, store.layout.git_dir))
    question = f"verify of {options.events:,} events, {how}"
    return compare(question, mine, Peer("git fsck", theirs), at_most=1 / 3, count=options.events, at_least=50_000)


if __name__ == "__main__":
    main(rows, events=20_000, quick=200)
