"""How fast steps with two file versions and two texts are taken in, beside `git fast-import` of the same objects."""

from collections.abc import Iterator

from benchmarks.bench_import_events import beside_fast_import
from benchmarks.material import PER_TASK, agent, change, edited, source_lines, step, task_of
from benchmarks.measure import Options, Peer, Row, compare, main
from pogstore.draft import Draft, DraftText, TaskDrafts

LINES = 60
"""Of each file version: about 3 KB."""


def rows(options: Options) -> Iterator[Row]:
    """Yields one figure."""
    ours, theirs = beside_fast_import(options, edits(options.events), fsync=True)
    yield compare(
        f"import of {options.events:,} steps, each with 2 versions and 2 texts",
        ours,
        Peer("git fast-import", theirs),
        at_most=1.0,
        count=options.events,
    )


def edits(events: int) -> list[TaskDrafts]:
    """Returns so many edits of files, with what the tool was given and what it answered."""
    return [
        TaskDrafts(
            task=task_of(first),
            drafts=tuple(_edit(first, at) for at in range(first, first + PER_TASK)[: events - first]),
        )
        for first in range(0, events, PER_TASK)
    ]


def _edit(task: int, at: int) -> Draft:
    before = source_lines(at, LINES)
    after = edited(before, at)
    given = b"".join(after[:20]).decode()
    answered = b"".join(after[20:]).decode()
    return step(
        task,
        at,
        agent(task),
        [change(f"src/file{at % 97}.py", b"".join(before), b"".join(after))],
        input=DraftText(text=given, class_="private"),
        output=DraftText(text=answered, class_="private"),
    )


if __name__ == "__main__":
    main(rows, events=3_000, quick=100, runs=3)
