"""A call that is told twice, by hooks in two settings or by one that tries again, is one step: whoever drains when."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pogstore.agents.drain import drain
from pogstore.model import Event, Stepped
from pogstore.state import distinct
from pogstore.store.store import Store
from tests.agents.live import recording
from tests.agents.test_hook import call
from tests.conftest import SECOND, STARTED, Repo

WHEN = {
    "never before the end": (),
    "after each": range(12),
    "between the two": range(0, 12, 2),
    "after both": range(1, 12, 2),
}
"""After which deliveries somebody drains."""


@pytest.fixture
def store(repo: Repo) -> Iterator[Store]:
    opened = recording(repo)
    yield opened
    opened.close()


def claude(root: Path, phase: str, tool: str, number: int) -> bytes:
    event = {"start": "PreToolUse", "end": "PostToolUse"}[phase]
    given = {"file_path": str(root / f"{number}.txt"), "command": "make", "content": f"{number}\n"}
    said = {
        "session_id": "s",
        "hook_event_name": event,
        "cwd": str(root),
        "tool_name": tool,
        "tool_use_id": str(number),
    }
    answer: dict[str, Any] = {"tool_response": {"success": True}} if phase == "end" else {}
    return json.dumps({**said, "tool_input": given, **answer}).encode()


def generic(root: Path, phase: str, tool: str, number: int) -> bytes:
    class_ = {"Write": "edit", "Bash": "shell"}[tool]
    said = {"agent": "own", "session": "s", "event": f"tool_{phase}", "cwd": str(root), "call_id": str(number)}
    named = {"paths": [f"{number}.txt"]} if class_ == "edit" else {}
    return json.dumps({**said, "tool": tool, "class": class_, **named}).encode()


AGENTS = {"claude-code": claude, "generic": generic}


@pytest.mark.parametrize("when", WHEN)
@pytest.mark.parametrize("agent", AGENTS)
def test_each_call_is_one_step_however_often_it_is_told_and_drained(
    repo: Repo, store: Store, agent: str, when: str
) -> None:
    now, told = STARTED, 0
    for number, tool in enumerate(("Write", "Bash", "Write")):
        for phase in ("start", "end"):
            if phase == "end":
                (repo.path / f"{number}.txt").write_text(f"{number}\n")
            for _ in range(2):
                now += SECOND
                call(AGENTS[agent](repo.path, phase, tool, number), {"POG_NOW": str(now)}, (agent,))
                if told in WHEN[when]:
                    drain(store, now=now)
                told += 1
    for _ in range(2):
        drain(store, now=now + SECOND)
    steps = [event for event in events(store) if isinstance(event, Stepped)]
    assert [event.tool for event in steps] == ["Write", "Bash", "Write"]
    changed = [[str(change.path) for change in event.changes] for event in steps]
    assert changed == [["0.txt"], ["1.txt"], ["2.txt"]]


def events(store: Store) -> list[Event]:
    found = [sealed.event for task in store.tasks() for sealed in distinct(store.events(task)).used]
    return [event for event in found if isinstance(event, Event)]
