"""What the tests of Claude Code's transcripts share: short ways from a script to drafts, and what drafts amount to."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from pogstore.draft import Draft, DraftChange
from pogstore.interop.claude_code import Reading, read_session
from pogstore.interop.json_lines import Transcript
from tests.builders_claude import Script

DATA = Path(__file__).parents[2] / ".." / "shared" / "data" / "claude-code"


def real() -> list[Path]:
    """Returns the real transcripts, or skips the test where they are not at hand."""
    files = sorted(DATA.glob("*.jsonl")) if DATA.is_dir() else []
    if not files:
        pytest.skip("the folder 'shared' with real transcripts does not lie beside the checkout")
    return files


def reading(*scripts: Script, roots: Sequence[str] = ()) -> Reading:
    files = [Transcript(f"{number}.jsonl", script.lines()) for number, script in enumerate(scripts)]
    return read_session(scripts[0].session, files, roots=roots)


def drafts(*scripts: Script, roots: Sequence[str] = ()) -> tuple[Draft, ...]:
    (task,) = reading(*scripts, roots=roots).tasks
    return task.drafts


def of_kind(found: Sequence[Draft], kind: str) -> list[Draft]:
    return [draft for draft in found if draft.kind == kind]


def steps(*scripts: Script, roots: Sequence[str] = ()) -> list[Draft]:
    return of_kind(drafts(*scripts, roots=roots), "stepped")


def sides(change: DraftChange) -> tuple[bytes | None, bytes | None]:
    before, after = change.before, change.after
    return before.data if before else None, after.data if after else None


def codes(*scripts: Script) -> set[str]:
    return {oddity.code for oddity in reading(*scripts).oddities}


def fold(found: Sequence[Draft], files: dict[str, bytes]) -> dict[str, bytes]:
    """Plays changes as a reader of the record would: each must find what it says was there."""
    for draft in found:
        for change in draft.changes:
            path = change.path
            if not isinstance(path, str):
                continue
            before, after = sides(change)
            assert files.get(path) == before, f"{draft.source} does not start from what {path} holds"
            files |= {path: after} if after is not None else {}
            if after is None:
                del files[path]
    return files


def start(found: Sequence[Draft]) -> dict[str, bytes]:
    """Returns what the first change of each path says that was there before."""
    first: dict[str, bytes | None] = {}
    for change in (change for draft in found for change in draft.changes):
        if isinstance(change.path, str):
            first.setdefault(change.path, sides(change)[0])
    return {path: data for path, data in first.items() if data is not None}
