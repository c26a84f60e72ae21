"""git's incremental blame, group by group as git found them, with the owners of the lines in each group."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pogstore.history.blame import Blame, BlamedLine
from pogstore.store import gitlog
from pogstore.store.store import Store


class Group(NamedTuple):
    """Lines in a row that git gives to one commit: what it printed for them, and the lines, the first one first."""

    head: tuple[bytes, ...]
    lines: tuple[BlamedLine, ...]


def groups(
    store: Store,
    found: Blame,
    revision: str | None = None,
    ranges: Sequence[str] = (),
    options: Sequence[str] = (),
    contents: bytes | None = None,
) -> Iterator[Group]:
    """Yields what `git blame --incremental` prints for a file that was blamed in the same way.

    Raises `GitFailed` where git does: for a file that is in no commit.
    """
    tip = gitlog.commit_of(store.git, revision) if revision else None
    limits = [option for text in ranges for option in ("-L", text)]
    output = gitlog.blame(store.git, found.path, tip, [*options, *limits, "--incremental"], contents)
    by_number = {line.number: line for line in found.lines}
    for first, count, head in gitlog.parse_incremental(output):
        yield Group(head, tuple(by_number[number] for number in range(first, first + count)))
