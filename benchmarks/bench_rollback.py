"""What it takes to plan the rollback of a tool call that made many files, beside git's own look at as many.

The files were committed and then deleted by another call, so each has two events with all of the others in them.
"""

from collections.abc import Iterator
from pathlib import Path

from benchmarks.material import agent, defined, git, new_store, step, task_of
from benchmarks.measure import Options, Peer, Row, compare, in_turn, main, pog, process
from pogstore.draft import DraftChange, FileVersion, TaskDrafts
from pogstore.model import Stepped
from pogstore.work.intake import take


def rows(options: Options) -> Iterator[Row]:
    """Yields a figure for the plan that brings the files back, and one for the plan that takes them out."""
    place = options.place / "many"
    gone, made = _recorded(place, options.events)
    status = process(("git", "status", "--short"), place)
    for question, event in (("brings back", gone), ("takes out", made)):
        if event is made:
            git(place, "checkout", "--quiet", "--", ".")
        ours, theirs = in_turn(options.runs, process(pog("rollback", "--dry-run", event), place), status)
        yield compare(f"plan that {question} {options.events:,} files", ours, Peer("git status", theirs), at_most=100.0)


def _recorded(place: Path, count: int) -> tuple[str, str]:
    """Makes files, commits and deletes them, as two recorded calls; returns the ids, of the deletion first."""
    store = new_store(place)
    files = {f"gen/f{number}": FileVersion(mode="100644", data=b"file %d\n" % number) for number in range(count)}
    (place / "gen").mkdir()
    for path, version in files.items():
        (place / path).write_bytes(version.data)
    git(place, "add", "--all")
    git(place, "commit", "--quiet", "--message", "files")
    made = [DraftChange(path=path, before=None, after=version) for path, version in files.items()]
    gone = [DraftChange(path=path, before=version, after=None) for path, version in files.items()]
    drafts = (defined(1), step(1, 1, agent(1), made), step(1, 2, agent(1), gone))
    take(store, [TaskDrafts(task=task_of(1), drafts=drafts)])
    for path in files:
        (place / path).unlink()
    events = [sealed.event_id for sealed in store.events(task_of(1)) if isinstance(sealed.event, Stepped)]
    store.close()
    return events[-1], events[0]


if __name__ == "__main__":
    main(rows, events=3_000, quick=20, runs=5)
