"""How large the record is after git's housekeeping, beside the same file versions as plain commits."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.material import (
    Committed,
    agent,
    change,
    commits,
    git,
    new_repository,
    new_store,
    packed_bytes,
    step,
    task_of,
    versions,
)
from benchmarks.measure import Options, Row, main
from pogstore.draft import Draft, TaskDrafts
from pogstore.work.intake import take

LINES = 200
"""Of each file: about 10 KB."""
FILES, EDITS = 60, 60
LOOSE = ("-c", "fastimport.unpackLimit=1000000")
"""Commits made by hand are loose, and no delta of theirs was chosen by somebody else."""
AT_MOST = 1.5
AT_MOST_BYTES = 2 << 20


def rows(options: Options) -> Iterator[Row]:
    """Yields figures for one file and for many, written at once and ten steps at a time, as the end of a turn does."""
    one = edits(1, options.events)
    many = edits(FILES, EDITS) if not options.quick else edits(3, 4)
    yield _row(options.place / "one", f"{options.events:,} edits of 10 KB", one, len(one), AT_MOST_BYTES)
    yield _row(options.place / "one-by-ten", "the same, ten a write", one, 10, AT_MOST_BYTES)
    yield _row(options.place / "many", f"{FILES} files x {EDITS} edits", many, len(many))
    yield _row(options.place / "many-by-ten", "the same, ten a write", many, 10)


def edits(files: int, each: int) -> list[Committed]:
    """Returns the versions of some files in the order of their making: every file in turn."""
    rounds = zip(*(versions(number, each, LINES) for number in range(files)), strict=True)
    found = [(number, data) for row in rounds for number, data in enumerate(row)]
    return [Committed(at, f"src/file{number}.py", data) for at, (number, data) in enumerate(found)]


def _row(place: Path, question: str, found: Sequence[Committed], at_once: int, at_most_bytes: int | None = None) -> Row:
    ours, theirs = _recorded(place / "ours", found, at_once), _committed(place / "theirs", found)
    ratio = ours / theirs
    reached = round(ratio, 2) <= AT_MOST and (at_most_bytes is None or ours <= at_most_bytes)
    aim = f"≤ {AT_MOST:.2f} ×" + (f", ≤ {at_most_bytes >> 20} MiB" if at_most_bytes else "")
    return Row(question, _spelled(ours), "plain commits", _spelled(theirs), ratio, aim, reached)


def _recorded(place: Path, found: Sequence[Committed], at_once: int) -> int:
    store = new_store(place)
    drafts = _drafts(found)
    for first in range(0, len(found), at_once):
        take(store, [TaskDrafts(task=task_of(0), drafts=drafts[first : first + at_once])])
    store.close()
    return packed_bytes(place)


def _drafts(found: Sequence[Committed]) -> tuple[Draft, ...]:
    before: dict[str, bytes] = {}
    drafts = []
    for version in found:
        edit = change(version.path, before.get(version.path), version.data)
        drafts.append(step(0, version.at, agent(0), [edit]))
        before[version.path] = version.data
    return tuple(drafts)


def _committed(place: Path, found: Sequence[Committed]) -> int:
    new_repository(place)
    git(place, *LOOSE, "fast-import", "--quiet", stdin=commits("refs/heads/main", found))
    return packed_bytes(place)


def _spelled(size: int) -> str:
    return f"{size / (1 << 20):.2f} MiB" if size >= 1 << 20 else f"{size / 1024:.1f} KiB"


if __name__ == "__main__":
    main(rows, events=1_000, quick=20)
