"""How long a push of one task takes among 1,000 live ones, beside `git push` of one branch."""

from collections.abc import Iterator

from benchmarks.material import PERSON, STARTED, agent, defined, git, new_repository, new_store, step, task_of
from benchmarks.measure import Options, Peer, Row, clock, compare, main, pog, process
from pogstore.draft import TaskDrafts
from pogstore.work.acts import By
from pogstore.work.intake import take
from pogstore.work.tasks import note


def rows(options: Options) -> Iterator[Row]:
    """Yields one figure, of whole processes."""
    place, remote = options.place / "store", new_repository(options.place / "remote.git", "--bare")
    store = new_store(place)
    git(place, "remote", "add", "origin", str(remote))
    git(place, "push", "--quiet", "origin", "main")
    take(
        store,
        [
            TaskDrafts(task=task_of(number), drafts=(defined(number), step(number, 1, agent(number))))
            for number in range(options.events)
        ],
    )
    process(pog("push"), place)()
    ours, theirs = [], []
    for _ in range(options.runs):
        note(store, task_of(0), "one thing more", By(actor=PERSON, time=STARTED))
        git(place, "commit", "--quiet", "--allow-empty", "--message", "one thing more")
        ours.append(clock(process(pog("push", "origin", task_of(0)), place)))
        theirs.append(clock(process(["git", "push", "origin", "main"], place)))
    yield compare(f"push of one task of {options.events:,}", ours, Peer("git push", theirs), at_most=2.0)


if __name__ == "__main__":
    main(rows, events=1_000, quick=10, runs=9)
