"""How long `git pog blame FILE` takes, for the first time and again, beside `git blame` and what it costs to start."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks.material import Committed, agent, change, commits, edited, git, new_store, source_lines, step, task_of
from benchmarks.measure import Options, Peer, Row, clock, compare, main, percentile_95, pog, process, python
from pogstore.draft import Draft, TaskDrafts
from pogstore.history.attributed import Question, attributed
from pogstore.history.beforehand import prepare
from pogstore.history.past import Past
from pogstore.store.gitlog import find_head
from pogstore.store.store import open_store
from pogstore.work.intake import take

LINES = 300
EDITS = 40
COMMIT_EVERY = 5
START_UP = "import click, sqlite3"


class History(NamedTuple):
    """How files came to be: what was recorded of it, and what was committed."""

    tasks: list[TaskDrafts]
    committed: list[Committed]


def rows(options: Options) -> Iterator[Row]:
    """Yields figures for files blamed again and for the first time, for a look-up, and for all files beforehand."""
    place = options.place / "store"
    paths = made(place, max(2, options.events // EDITS))
    cold, warm, git_cold, git_warm = [], [], [], []
    for path in paths:
        ours, theirs = process(pog("blame", path), place), process(["git", "blame", "--porcelain", path], place)
        start = process(python(START_UP), place)
        cold.append(clock(ours))
        git_cold.append(clock(theirs) + clock(start))
        warm.append(clock(ours))
        git_warm.append(clock(theirs) + clock(start))
    peer = "git blame + start-up"
    yield compare(f"blame of {len(paths)} files again", warm, Peer(peer, git_warm), at_most=1.2)
    yield compare("the same for the first time, p95", cold, Peer(peer, git_cold), at_most=3.0, of=percentile_95)
    alone = [clock(process(["git", "blame", "--porcelain", path], place)) for path in paths]
    yield compare("an answer that is kept, in process", looked_up(place, paths), Peer("git blame", alone), at_most=0.01)
    beforehand = clock(partial(prepare_anew, place))
    git_all = Peer("git blame of each", [sum(alone)])
    yield compare(f"all {len(paths)} files beforehand", [beforehand], git_all, at_most=4.0)


def looked_up(place: Path, paths: Sequence[str]) -> list[float]:
    """Returns the seconds that it takes to look up who wrote the lines of each file."""
    store = open_store(place)
    taken = []
    with store.one_moment():
        past = Past(store, find_head(store.git))
        for path in paths:
            content = (place / path).read_bytes()
            question = Question(path.encode(), past.tip, content)
            attributed(store, question, past)
            taken.append(clock(partial(attributed, store, question, past)))
    store.close()
    return taken


def prepare_anew(place: Path) -> None:
    """Finds out who wrote each line of every file, with nothing remembered but the index."""
    store = open_store(place)
    store.refresh()
    for table in ("memos", "hunks", "outputs"):
        store.index.connection.execute(f"DELETE FROM {table}")
    for _ in prepare(store):
        pass
    store.close()


def made(place: Path, files: int) -> list[str]:
    """Makes a repository with files that agents and a person have edited in turns; returns their paths."""
    histories = [history(number) for number in range(files)]
    store = new_store(place)
    stream = commits("refs/heads/main", [version for found in histories for version in found.committed])
    git(place, "fast-import", "--quiet", "--force", stdin=stream)
    git(place, "reset", "--quiet", "--hard")
    take(store, [task for found in histories for task in found.tasks])
    store.refresh()
    store.close()
    return [found.committed[0].path for found in histories]


def history(number: int) -> History:
    """Returns the history of one file: every few steps of the agent a person changes it too, and commits."""
    path = f"src/file{number}.py"
    current: list[bytes] | None = None
    drafts: list[Draft] = []
    committed: list[Committed] = []
    for at in range(EDITS):
        seed = number * 1_000 + at
        after = source_lines(seed, LINES) if current is None else edited(current, seed)
        before = None if current is None else b"".join(current)
        drafts.append(step(number, number * EDITS + at, agent(number), [change(path, before, b"".join(after))]))
        current = after
        if at % COMMIT_EVERY == COMMIT_EVERY - 1:
            current = edited(current, seed + 500, 1)
            committed.append(Committed(number * EDITS + at, path, b"".join(current)))
    return History([TaskDrafts(task=task_of(number), drafts=tuple(drafts))], committed)


if __name__ == "__main__":
    main(rows, events=800, quick=80)
