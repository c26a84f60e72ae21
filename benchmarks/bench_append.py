"""What one event costs, appended in process, beside a bare pygit2 commit in a loop with the same settings."""

from collections.abc import Callable, Iterator

import pygit2

from benchmarks.material import PERSON, STARTED, new_repository, new_store, readings, task_of
from benchmarks.measure import Options, Peer, Row, compare, in_turn, main
from pogstore.model import FORMAT, Moved
from pogstore.store.store import Store
from pogstore.work.intake import take

REF = "refs/heads/loop"


def rows(options: Options) -> Iterator[Row]:
    """Yields a figure with every write synced to disk, and one without."""
    for fsync in (True, False):
        place = options.place / f"fsync-{fsync}"
        store = new_store(place / "ours")
        store.git.run("config", "pog.fsync", str(fsync).lower())
        take(store, readings(10))
        repository = pygit2.Repository(str(new_repository(place / "theirs", "--bare")))
        ours, theirs = in_turn(options.events, append(store), commit(repository, fsync=fsync))
        yield compare(
            f"append of one event, fsync {'on' if fsync else 'off'}", ours, Peer("pygit2 commit", theirs), at_most=2.0
        )


def append(store: Store) -> Callable[[], object]:
    """Returns a function that appends an event without content to one task."""
    event = Moved(v=FORMAT, task=task_of(0), clock=1, time=STARTED, actor=PERSON, status="in_progress")
    return lambda: store.transact(lambda batch: batch.append(event))


def commit(repository: pygit2.Repository, *, fsync: bool) -> Callable[[], object]:
    """Returns a function that commits an empty tree onto one branch."""
    person = pygit2.Signature("Ada Example", "ada@example.org", STARTED // 1_000_000, 0)
    tree = repository.TreeBuilder().write()
    message = "moved in_progress\n\n" + "x" * 400 + "\n"

    def make() -> None:
        pygit2.settings.enable_fsync_gitdir(fsync)  # one setting for the process, and ours sets it too
        parents = [repository.references[REF].target] if REF in repository.references else []
        repository.create_commit(REF, person, person, message, tree, parents)

    return make


if __name__ == "__main__":
    main(rows, events=300, quick=5)
