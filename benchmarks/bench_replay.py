"""How long it takes to replay many recorded steps onto another base, beside `git rebase` of the same changes.

Each step edits one of twenty files of a hundred lines; the other base has one commit more, to a file that no step
touches. Both sides are whole processes and make a commit for each step.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path

from benchmarks.material import Committed, agent, change, commits, git, new_store, step, task_of, versions
from benchmarks.measure import Options, Peer, Row, compare, in_turn, main, pog, process
from pogstore.draft import TaskDrafts
from pogstore.model import Stepped
from pogstore.work.intake import take

FILES, LINES = 20, 100
OTHER = "other/base"
Edit = tuple[str, bytes, bytes]
"""A path, what it held before, what it holds after."""


def rows(options: Options) -> Iterator[Row]:
    """Yields a figure for a branch on another base, and one for a check in memory."""
    place = options.place / "repository"
    found = _steps(options.events)
    _recorded(place, found)
    base, tip, other = (git(place, "rev-parse", name).decode().strip() for name in ("base", "work", "other"))
    rebase = process(("git", "rebase", "--quiet", "--onto", other, base, tip), place)
    check = process(pog("replay", str(task_of(1)), "--onto", "other", "--check"), place)
    branches, rebased, checked = in_turn(options.runs, _branch(place), rebase, check)
    _compare_trees(place)
    peer = Peer("git rebase", rebased)
    steps = f"{len(found):,} steps"
    yield compare(f"a branch of {steps} on another base", branches, peer, at_most=1.0, count=len(found))
    yield compare(f"a check of {steps}", checked, peer, at_most=1.0, count=len(found))


def _branch(place: Path) -> Callable[[], object]:
    """Returns a function that makes a new branch each time."""
    numbers = count()
    task = str(task_of(1))

    def run() -> None:
        process(pog("replay", task, "--onto", "other", "--branch", f"again-{next(numbers)}"), place)()

    return run


def _steps(number: int) -> list[Edit]:
    """Returns the edits, those of different files in turn."""
    each = number // FILES + 2
    files = [list(versions(seed, each, LINES)) for seed in range(FILES)]
    places = [(seed, at) for at in range(1, each) for seed in range(FILES)]
    return [(f"src/file{seed}.py", files[seed][at - 1], files[seed][at]) for seed, at in places][:number]


def _recorded(place: Path, found: Sequence[Edit]) -> None:
    """Makes a repository with the files before all steps, `other` with a commit more, and `work` with the steps."""
    store = new_store(place)
    before = {path: data for path, data, _ in reversed(found)}
    begun = [Committed(at, path, data) for at, (path, data) in enumerate(before.items())]
    git(place, "fast-import", "--quiet", "--force", stdin=commits("refs/heads/base", begun))
    later = len(begun)
    for name, made in (
        ("other", [Committed(later, OTHER, b"other\n")]),
        ("work", [Committed(later + at, path, data) for at, (path, _, data) in enumerate(found)]),
    ):
        git(place, "branch", name, "base")
        stream = commits(f"refs/heads/{name}", made).replace(
            b"\ndata 6\nchange", b"\ndata 6\nchangefrom refs/heads/base\n", 1
        )
        git(place, "fast-import", "--quiet", "--force", stdin=stream)
    git(place, "checkout", "--quiet", "--detach", "base")
    drafts = tuple(
        step(1, at, agent(1), [change(path, before, after)]) for at, (path, before, after) in enumerate(found)
    )
    take(store, [TaskDrafts(task=task_of(1), drafts=drafts)])
    if sum(isinstance(sealed.event, Stepped) for sealed in store.events(task_of(1))) != len(found):
        raise SystemExit("not every step was recorded")
    store.close()


def _compare_trees(place: Path) -> None:
    """Sees that both sides came to the same files."""
    if git(place, "rev-parse", "again-0^{tree}") != git(place, "rev-parse", "HEAD^{tree}"):
        raise SystemExit("replay and rebase came to different files")


if __name__ == "__main__":
    main(rows, events=1_000, quick=10, runs=5)
