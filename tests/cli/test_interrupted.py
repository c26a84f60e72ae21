"""What commands say of an operation that was killed, and which of them settle it. RC-8, RC-28, T8."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from pogstore.store.refs import TASKS
from pogstore.work.unfinished import OPERATION, TEMPORARY
from tests.builders_killed import World, world
from tests.builders_rollback import untouched
from tests.cli.conftest import Here
from tests.history.test_interrupted import killed

APART = [".git/pog/index", ".git/pog/worktree", ".git/pog/tools.json"]
LINE = "rollback of 10 files was interrupted; the next command that writes, or 'git pog drain', settles it"
TAKEN_BACK = "an interrupted rollback was taken back: 10 files as before"


@pytest.fixture
def half_done(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A work tree in which a rollback was killed when all its files were in place, and no event."""
    made = world(tmp_path / "work")
    assert killed(made.bench, made.tasks, lambda name, args: name == "ref" and args[1].startswith(TASKS))
    yield made
    made.bench.store.close()


@pytest.fixture
def here(half_done: World, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Here:
    """Runs commands in it."""
    return Here(half_done.bench.path, capsys, monkeypatch)


def test_what_only_looks_says_it_and_changes_nothing(half_done: World, here: Here) -> None:
    before = untouched(half_done.bench.path, APART)
    task = half_done.tasks[0]
    commands = ("list", f"show {task}", f"log {task}", "doctor", f"rollback -n {task}", "undo -n", "agent list", "next")
    more = (f"points {task}", f"lineage {task}", f"trace {task}", "env show now", "env diff now", f"replay {task}")
    for command in (*commands, *more):
        answer = here(*command.split(), status=None)
        assert f"warning: {LINE}" in answer.stderr.splitlines(), command
        assert untouched(half_done.bench.path, APART) == before, command
    assert f"interrupted: {LINE}" in here("status").stdout.splitlines()
    assert here("status", "--json").json["interrupted"] == {"verb": "rollback", "files": 10}
    assert f"warning: {LINE}" in here("claim", task, status=4, env={"POG_DISABLE": "1"}).stderr
    assert untouched(half_done.bench.path, APART) == before


@pytest.mark.parametrize("command", ["drain", "new Title", "claim {}", "undo", "rollback {}", "start {} --json"])
def test_what_writes_settles_it_first_and_says_so(half_done: World, here: Here, command: str) -> None:
    answer = here(*command.format(half_done.tasks[0]).split(), status=None)
    assert answer.stderr.splitlines()[0] == TAKEN_BACK
    if "--json" in command:
        json.loads(answer.stdout)
    assert here("status", "--json").json["interrupted"] is None
    if not command.startswith("rollback"):
        assert half_done.state() == "old"


def test_what_was_changed_since_is_named_and_kept(half_done: World, here: Here) -> None:
    half_done.bench.write("edited", b"a person\n")
    (half_done.bench.path / "away").write_bytes(b"a person\x1b[31m\n")
    lines = here("drain").stderr.splitlines()
    (kept,) = (path.name for path in half_done.bench.path.glob(f"{TEMPORARY}*"))
    assert sorted(lines) == [
        "an interrupted rollback was taken back: 8 files as before",
        "warning: away was changed since, and stays",
        f"warning: edited was changed since, and stays; what it held before is in {kept}",
    ]


def test_a_journal_of_another_version_stops_what_writes_files_and_nothing_else(half_done: World, here: Here) -> None:
    journal = half_done.bench.path / ".git/pog" / OPERATION
    journal.write_bytes(b'{"type":"later"}\n')
    assert "warning: an interrupted operation waits: object" in here("new", "Title").stderr
    assert "interrupted: an operation was interrupted, and object" in here("status").stdout
    assert here("status", "--json").json["interrupted"] == {"verb": None, "files": None}
    refused = here("rollback", half_done.tasks[0], "--take", status=None)
    assert refused.status in (1, 3)
    assert journal.read_bytes() == b'{"type":"later"}\n'
