"""How long blame over many recorded versions of one file takes, beside `git blame` on the same chain as commits."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from benchmarks.material import (
    Committed,
    agent,
    change,
    commits,
    git,
    new_repository,
    new_store,
    step,
    task_of,
    versions,
)
from benchmarks.measure import Options, Peer, Row, compare, in_turn, main, process
from pogstore.draft import TaskDrafts
from pogstore.history.blame import blame
from pogstore.store.store import Store
from pogstore.work.intake import take

PATH = "src/file.py"
COMMAND = ["git", "blame", "--porcelain", PATH]


def rows(options: Options) -> Iterator[Row]:
    """Yields a figure for a file of 1,100 lines, and one for a longer one."""
    for lines in (1_100, 3_600):
        place = options.place / str(lines)
        found = list(versions(lines, options.events, lines))
        store = recorded(place / "ours", found)
        theirs = process(COMMAND, chain(place / "theirs", found))
        ours, git_blames = in_turn(options.runs, partial(forget_and_blame, store), theirs)
        question = f"blame over {options.events:,} versions of {lines:,} lines"
        yield compare(question, ours, Peer("git blame of commits", git_blames), at_most=1.0)


def recorded(place: Path, found: Sequence[bytes]) -> Store:
    """Returns a store that has recorded every version, of which the last one is committed."""
    store = new_store(place)
    sides = zip([None, *found], found, strict=False)
    drafts = tuple(step(0, at, agent(0), [change(PATH, before, after)]) for at, (before, after) in enumerate(sides))
    take(store, [TaskDrafts(task=task_of(0), drafts=drafts)])
    store.refresh()
    commit(place, [Committed(len(found), PATH, found[-1])])
    return store


def chain(place: Path, found: Sequence[bytes]) -> Path:
    """Returns a repository that has a commit for each version."""
    return commit(new_repository(place), [Committed(at, PATH, data) for at, data in enumerate(found)])


def commit(place: Path, found: Sequence[Committed]) -> Path:
    """Commits some versions in a row and checks out the last one."""
    git(place, "fast-import", "--quiet", "--force", stdin=commits("refs/heads/main", found))
    git(place, "reset", "--quiet", "--hard")
    return place


def forget_and_blame(store: Store) -> None:
    """Blames the file with no answer remembered; the index knows how versions differ once it has been asked."""
    store.index.connection.execute("DELETE FROM memos")
    found = blame(store, PATH.encode())
    if any(line.owner != "event" for line in found.lines):
        raise SystemExit("blame has not found the events")


if __name__ == "__main__":
    main(rows, events=1_000, quick=10, runs=3)
