"""Codex: what patches move, calls that have no end, sub-agents and forks that have sessions of their own."""

import json
from pathlib import Path
from typing import Any

import pytest

from pogstore.agents.codex import Origin, origin
from pogstore.draft import session_task_id
from pogstore.model import Defined, Noted
from pogstore.store.store import Store
from tests.agents.live import Live, drained, events, recording, steps
from tests.conftest import Repo


@pytest.fixture
def store(repo: Repo) -> Store:
    return recording(repo)


def begin(live: Live, *patch: str) -> dict[str, Any]:
    return live.begin("apply_patch", {"command": "\n".join(("*** Begin Patch", *patch, "*** End Patch"))})


def rollout(path: Path, **meta: Any) -> str:
    path.write_text(json.dumps({"timestamp": "2026-03-02T09:00:00Z", "type": "session_meta", "payload": meta}) + "\n")
    return str(path)


def test_a_patch_that_moves_a_file_is_one_change(store: Store, repo: Repo) -> None:
    """Case PC-130."""
    live = Live(repo.path, by="codex")
    (repo.path / "a.py").write_text("one\ntwo\n")
    live.prompt("move it")
    call = begin(live, "*** Update File: a.py", "*** Move to: b/a.py", "@@", "-one", "+eins")
    (repo.path / "a.py").unlink()
    (repo.path / "b").mkdir()
    (repo.path / "b" / "a.py").write_text("eins\ntwo\n")
    live.end(call)
    drained(store, live)
    (step,) = steps(store, live.task)
    (change,) = step.changes
    assert (change.path, change.from_) == ("b/a.py", "a.py")
    assert change.before is not None
    assert change.after is not None
    assert (step.class_, step.coverage) == ("edit", "scoped")


def test_a_patch_that_left_the_file_is_no_move(store: Store, repo: Repo) -> None:
    live = Live(repo.path, by="codex")
    (repo.path / "a.py").write_text("one\n")
    live.prompt("move it")
    call = begin(live, "*** Update File: a.py", "*** Move to: c.py")
    (repo.path / "c.py").write_text("one\n")
    live.end(call)
    drained(store, live)
    (step,) = steps(store, live.task)
    assert [(change.path, change.from_) for change in step.changes] == [("c.py", None)]


def test_a_call_without_an_end_is_told_when_its_turn_is_over(store: Store, repo: Repo) -> None:
    """Codex tells of no failure: nothing may wait for the end of such a call for an hour."""
    live = Live(repo.path, by="codex")
    live.prompt("try")
    begin(live, "*** Update File: README", "@@", "-nowhere", "+x")
    drained(store, live)
    assert steps(store, live.task) == []
    live.say("Stop")
    drained(store, live)
    (step,) = steps(store, live.task)
    assert (step.ok, step.coverage) == (None, "partial")


def test_a_call_of_a_sub_agent_outlives_the_turn_of_another(store: Store, repo: Repo) -> None:
    live = Live(repo.path, by="codex")
    live.prompt("try")
    live.agent = {"agent_id": "a1"}
    call = begin(live, "*** Add File: new", "+x")
    live.agent = {}
    live.say("Stop")
    drained(store, live)
    assert steps(store, live.task) == []
    live.agent = {"agent_id": "a1"}
    (repo.path / "new").write_text("x\n")
    live.end(call)
    drained(store, live)
    (step,) = steps(store, live.task)
    assert (step.ok, step.actor.agent_id) == (True, "a1")


@pytest.mark.parametrize(
    ("meta", "rel"),
    [
        ({"id": "s2", "forked_from_id": "s1"}, "derived_from"),
        ({"id": "s2", "source": {"subagent": {"thread_spawn": {"parent_thread_id": "s1", "depth": 1}}}}, "parent"),
    ],
)
def test_a_session_of_another_is_linked_to_it(
    store: Store, repo: Repo, tmp_path: Path, meta: dict[str, Any], rel: str
) -> None:
    """Case PC-136: a thread of its own is no session of its own."""
    live = Live(repo.path, "s2", by="codex")
    path = rollout(tmp_path / "rollout-2.jsonl", **meta)
    live.agent = {"transcript_path": path}
    live.say("SessionStart", source="startup")
    live.prompt("go on")
    drained(store, live)
    found = [event for event in events(store, live.task) if isinstance(event, Defined | Noted)]
    wanted = [(rel, session_task_id("codex", "s1"))]
    assert [[(link.rel, link.task) for link in event.links] for event in found] == [wanted, wanted]


def test_where_a_session_comes_from() -> None:
    def of(meta: Any) -> Origin | None:
        return origin([b"no json", json.dumps({"type": "session_meta", "payload": meta}).encode()])

    assert of({"id": "a"}) is None
    assert of({"forked_from_id": "b", "source": "cli"}) == Origin("b", is_part=False)
    assert of({"source": {"subagent": "review"}}) is None
    assert of([1]) is None
    assert origin([]) is None
