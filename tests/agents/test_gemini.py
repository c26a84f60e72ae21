"""Gemini: calls without ids that run beside each other, what is told twice, and the model from the transcript."""

import json
from pathlib import Path
from typing import Any

import pytest

from pogstore.agents import gemini
from pogstore.store.store import Store
from tests.agents.live import Live, drained, recording, sides, steps
from tests.conftest import Repo


@pytest.fixture
def store(repo: Repo) -> Store:
    return recording(repo)


def live_in(repo: Repo) -> Live:
    live = Live(repo.path, by="gemini")
    live.say("BeforeAgent", prompt="go")
    return live


def call(name: str) -> dict[str, Any]:
    return {"tool_name": "write_file", "tool_input": {"file_path": name, "content": "x"}}


def message(minute: int, kind: str, model: str | None = None) -> dict[str, Any]:
    said = {"id": str(minute), "timestamp": f"2026-01-05T09:{minute:02}:00.000Z", "type": kind, "content": "…"}
    return said | ({"model": model} if model else {})


def test_equal_calls_that_run_beside_each_other_are_two_steps(store: Store, repo: Repo) -> None:
    live = live_in(repo)
    told: dict[str, Any] = {"tool_name": "replace", "tool_input": {"file_path": "a", "instruction": "more"}}
    live.say("BeforeTool", **told, timestamp="1")
    live.say("BeforeTool", **told, timestamp="2")
    (repo.path / "a").write_text("first\n")
    live.say("AfterTool", **told, timestamp="3", tool_response={"llmContent": "one"})
    (repo.path / "a").write_text("second\n")
    live.say("AfterTool", **told, timestamp="4", tool_response={"llmContent": "two"})
    drained(store, live)
    found = steps(store, live.task)
    assert [step.ok for step in found] == [True, True]
    assert [(before, after) for step in found for _, before, after in sides(store, step)] == [
        (None, b"first\n"),
        (b"first\n", b"second\n"),
    ]


def test_what_two_installations_tell_is_one_step(store: Store, repo: Repo) -> None:
    """A hook in the settings of the project and of the person runs twice, with the same words and the same time."""
    live = live_in(repo)
    for _ in range(2):
        live.say("BeforeTool", **call("a"), timestamp="1")
    (repo.path / "a").write_text("x")
    for _ in range(2):
        live.say("AfterTool", **call("a"), timestamp="2", tool_response={"llmContent": "ok"})
    drained(store, live)
    assert [step.ok for step in steps(store, live.task)] == [True]


@pytest.mark.parametrize("form", ["object", "lines"])
def test_the_model_is_that_of_the_transcript(store: Store, repo: Repo, tmp_path: Path, form: str) -> None:
    messages = [message(0, "user"), message(0, "gemini", "gemini-test-pro")]
    later = message(30, "gemini", "gemini-other")
    if form == "object":
        path = tmp_path / "session-1.json"
        path.write_text(json.dumps({"sessionId": "s1", "messages": [*messages, later]}, indent=2))
    else:
        path = tmp_path / "session-1.jsonl"
        path.write_text("\n".join(json.dumps(each) for each in [{"sessionId": "s1"}, *messages, later]))
    live = live_in(repo)
    live.agent = {"transcript_path": str(path)}
    live.say("BeforeTool", **call("a"), timestamp="1")
    (repo.path / "a").write_text("x")
    live.say("AfterTool", **call("a"), timestamp="2", tool_response={"llmContent": "ok"})
    drained(store, live)
    (step,) = steps(store, live.task)
    assert step.actor.model == "gemini-test-pro"


@pytest.mark.parametrize("data", [b"", b"{", b'{"messages": 1}', b'{"messages": [1, {"type": "gemini", "model": 1}]}'])
def test_what_is_no_transcript_tells_nothing(data: bytes) -> None:
    assert gemini.models(data) == []
