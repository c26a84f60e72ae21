"""How long blame takes on a real project with a long history, for the first time and again, beside `git blame`.

    python benchmarks/blame_history.py REPOSITORY [--events N] [--files N] [--runs N]

The last edits that commits brought are recorded as those of agents, hunk by hunk and a minute before the commit; every
fourth commit stays a person's. Works on a clone in a temporary directory; REPOSITORY itself is only read.
"""

import argparse
import os
import tempfile
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from statistics import median

from msgspec import structs

from benchmarks.agreement import check_out
from benchmarks.bench_blame import START_UP, looked_up
from benchmarks.material import agent, change, git, step, task_of
from benchmarks.measure import Peer, Row, clock, compare, machine, percentile_95, pog, process, python, seal, table
from pogstore.draft import Draft, TaskDrafts
from pogstore.errors import NotFound
from pogstore.history.lines import split
from pogstore.model import Oid
from pogstore.store.gitlog import PathCommit, find_head, path_commits
from pogstore.store.libgit2 import line_hunks
from pogstore.store.store import MAX_CONTENT, Store, open_store
from pogstore.work.intake import take
from pogstore.work.setup import enable

PERSONS = 4
"""Every so-manieth commit is a person's."""
BEFORE_COMMIT = 60_000_000
"""µs."""
TABLES = ("memos", "hunks", "outputs")
"""What the index remembers of blame."""


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("repository", type=Path, metavar="REPOSITORY")
    parser.add_argument("--events", type=int, default=4_000, metavar="N", help="edits that are recorded")
    parser.add_argument("--files", type=int, default=60, metavar="N", help="about so many are blamed one by one")
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="of each side; the median counts")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pog-history-") as scratch:
        seal(Path(scratch))
        place = Path(scratch) / "clone"
        git(Path(scratch), "clone", "--quiet", "--shared", "--no-checkout", str(given.repository.resolve()), str(place))
        paths = [os.fsdecode(path) for path in check_out(place)]
        events = recorded(place, given.events)
        count = git(place, "rev-list", "--count", "HEAD").decode().strip()
        print(machine())
        print(f"{given.repository.resolve().name}: {count} commits, {len(paths)} files, {events} events", flush=True)
        chosen = paths[:: max(1, len(paths) // given.files)]
        print(table(list(rows(place, paths, chosen, given.runs))))


def rows(place: Path, paths: Sequence[str], chosen: Sequence[str], runs: int) -> Iterator[Row]:
    """Yields figures for files one by one, for a look-up, and for all files beforehand."""
    cold, warm, theirs, alone = [], [], [], []
    for path in chosen:
        each = one(place, path, runs)
        cold.append(each[0])
        warm.append(each[1])
        theirs.append(each[2])
        alone.append(each[3])
    peer = Peer("git blame + start-up", theirs)
    yield compare(f"blame of {len(chosen)} files again", warm, peer, at_most=1.2)
    yield compare("the same for the first time", cold, peer)
    yield compare("the same, p95", cold, peer, at_most=3.0, of=percentile_95)
    ratios = [ours / other for ours, other in zip(cold, theirs, strict=True)]
    yield Row("the same, file by file, p95", "", "", "", percentile_95(ratios), "≤ 3.00 ×", percentile_95(ratios) <= 3)
    kept = looked_up(place, chosen)
    yield compare("an answer that is kept, in process", kept, Peer("git blame", alone), at_most=0.01)
    ratios = [ours / other for ours, other in zip(kept, alone, strict=True)]
    yield Row("the same, file by file, median and worst", f"{median(ratios):.4f}", "", "", max(ratios), "≤ 0.01 ×")
    ours, git_all = [], []
    for _ in range(runs):
        ours.append(clock(process(pog("reindex", "--blame"), place)))
        git_all.append(sum(clock(process(["git", "blame", "--porcelain", "--", path], place)) for path in paths))
    yield compare(f"first use: all {len(paths)} files", ours, Peer("git blame of each", git_all), at_most=4.0)


def one(place: Path, path: str, runs: int) -> tuple[float, float, float, float]:
    """Returns the seconds of a file for the first time, of it again, of git with its start-up, and of git alone."""
    taken: list[tuple[float, float, float, float]] = []
    ours, theirs = process(pog("blame", path), place), process(["git", "blame", "--porcelain", "--", path], place)
    start = process(python(START_UP), place)
    for _ in range(runs):
        forget(place)
        first, alone = clock(ours), clock(theirs)
        again, started = clock(ours), clock(start)
        taken.append((first, again, alone + started, alone))
    cold, warm, both, alone = (median(side) for side in zip(*taken, strict=True))
    return cold, warm, both, alone


def forget(place: Path) -> None:
    """Lets the index know nothing of blame."""
    store = open_store(place)
    store.refresh()
    for name in TABLES:
        store.index.connection.execute(f"DELETE FROM {name}")
    store.close()


def recorded(place: Path, most: int) -> int:
    """Records the last edits of the history; returns how many they are."""
    enable(open_store(place))
    store = open_store(place)
    tip = find_head(store.git)
    changes = path_commits(store.git, tip, ()) if tip is not None else []
    commits = [list(several) for _, several in groupby(changes, key=lambda each: each.commit)]
    tasks: list[TaskDrafts] = []
    count = 0
    for number in range(len(commits) - 1, -1, -1):
        if number % PERSONS and count < most and all(each.against == 1 for each in commits[number]):
            drafts = tuple(edits(store, number, commits[number]))[: most - count]
            count += len(drafts)
            tasks += [TaskDrafts(task=task_of(number), drafts=drafts)] if drafts else []
    take(store, tasks[::-1])
    store.refresh()
    store.close()
    return count


def edits(store: Store, number: int, changes: Sequence[PathCommit]) -> Iterator[Draft]:
    """Yields a commit's changes as an agent's, a step for each hunk of each file."""
    at = 0
    for each in changes:
        before, after = content(store, each.before), content(store, each.after)
        if each.after is None or after is None or (each.before is not None and before is None):
            continue
        for old, new in versions(before, after):
            made = step(number, at, agent(number), [change(each.path.decode("utf-8"), old, new)])
            yield structs.replace(made, time=each.authored - BEFORE_COMMIT + at, source=None)
            at += 1


def versions(before: bytes | None, after: bytes) -> Iterator[tuple[bytes | None, bytes]]:
    """Yields the sides of each step from one content to another, hunk by hunk from the end."""
    if before is None:
        yield None, after
        return
    old, new = split(before), split(after)
    current = list(old)
    for hunk in reversed(line_hunks(before, after)):
        was = b"".join(current)
        current[hunk.old_start : hunk.old_start + hunk.old_lines] = new[
            hunk.new_start : hunk.new_start + hunk.new_lines
        ]
        yield was, b"".join(current)


def content(store: Store, oid: Oid | None) -> bytes | None:
    """Returns a text; nothing if there is none, or it is not here."""
    if oid is None:
        return None
    try:
        kind, data = store.objects.read(oid, MAX_CONTENT)
    except NotFound:
        return None
    return data if kind == "blob" and b"\0" not in data else None


if __name__ == "__main__":
    main()
