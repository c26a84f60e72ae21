"""Any agent, live: our own contract from the hook to the events."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from pogstore.agents import hook
from pogstore.agents.drain import drain
from pogstore.draft import session_task_id
from pogstore.model import Decided, Link, Observed, TaskId
from pogstore.state import fold
from pogstore.store.store import Store
from tests.agents.live import events, recording, sides, steps, told
from tests.conftest import SECOND, STARTED, Repo


class Fixer:
    """One session of an agent that nobody knows."""

    def __init__(self, root: Path, session: str = "s1") -> None:
        self.root, self.session, self.now = root, session, STARTED

    @property
    def task(self) -> TaskId:
        return session_task_id("fixer", self.session)

    def say(self, event: str, **members: Any) -> None:
        self.now += SECOND
        said = {"agent": "fixer", "session": self.session, "event": event, "cwd": str(self.root), **members}
        reads, writes = os.pipe()
        os.write(writes, json.dumps(said).encode())
        os.close(writes)
        assert hook.main(("generic",), reads, {"POG_NOW": str(self.now)}) == 0
        os.close(reads)

    def call(self, name: str, text: str, *, how: str = "tool_end", **members: Any) -> None:
        self.say("tool_start", **members)
        (self.root / name).write_text(text)
        self.say(how, **members)


@pytest.fixture
def store(repo: Repo) -> Store:
    return recording(repo)


@pytest.fixture
def fixer(repo: Repo) -> Fixer:
    return Fixer(repo.path)


def drained(store: Store, fixer: Fixer) -> None:
    assert drain(store, now=fixer.now + SECOND).pending == 0


def test_a_whole_session(store: Store, fixer: Fixer) -> None:
    fixer.say("session_start", source="startup", model="m-1")
    fixer.say("prompt", text="Greet")
    edit: dict[str, Any] = {"tool": "sed", "class": "edit", "paths": ["README"], "call_id": "c1"}
    fixer.call("README", "hello\n", **edit, output="1 line", usage={"tokens_out": 5})
    fixer.say("decision", text="hello")
    fixer.say("zoom", level=3)
    fixer.say("turn_end")
    fixer.say("session_end", reason="done")
    drained(store, fixer)
    assert told(store, fixer.task) == [
        "noted fixer:session_start", "defined", "moved in_progress", "prompted", "stepped sed", "decided",
        "noted fixer:zoom", "noted fixer:turn_end", "noted fixer:session_end", "moved in_review",
    ]  # fmt: skip
    (step,) = steps(store, fixer.task)
    assert sides(store, step) == [("README", b"a project\n", b"hello\n")]
    assert (step.coverage, step.coverage_reason, step.actor.name, step.actor.model) == ("scoped", None, "fixer", "m-1")
    assert step.output is not None
    assert store.read_text(step.output) == "1 line"
    assert step.usage is not None
    assert step.usage.tokens_out == 5
    (decided,) = [event for event in events(store, fixer.task) if isinstance(event, Decided)]
    assert decided.text.class_ == "content"


@pytest.mark.parametrize("class_", [{}, {"class": "other"}, {"class": "edit"}])
def test_whatever_names_its_paths_is_told_by_them(store: Store, fixer: Fixer, class_: dict[str, str]) -> None:
    (fixer.root / "other").write_text("by hand\n")
    fixer.call("README", "hello\n", call_id="c1", path="README", **class_)
    drained(store, fixer)
    (step,) = steps(store, fixer.task)
    assert sides(store, step) == [("README", b"a project\n", b"hello\n")]


def test_several_paths_and_their_gaps(store: Store, fixer: Fixer) -> None:
    names = ["a", str(fixer.root / "b"), "README"]
    (fixer.root / "a").write_text("by hand\n")
    fixer.say("tool_start", call_id="c1", paths=names)
    for name in names:
        (fixer.root / name).write_text("new\n")
    fixer.say("tool_end", call_id="c1", paths=names)
    drained(store, fixer)
    (gap,) = [event for event in events(store, fixer.task) if isinstance(event, Observed)]
    assert sides(store, gap) == [("a", None, b"by hand\n")]
    (step,) = steps(store, fixer.task)
    assert sorted(map(str, sides(store, step))) == sorted(
        map(str, [("a", b"by hand\n", b"new\n"), ("b", None, b"new\n"), ("README", b"a project\n", b"new\n")])
    )


@pytest.mark.parametrize("class_", ["shell", "mcp", "other"])
def test_what_names_no_paths_is_told_by_the_whole_tree(store: Store, fixer: Fixer, class_: str) -> None:
    fixer.call("new", "made\n", call_id="c1", tool="make", **{"class": class_})
    drained(store, fixer)
    (step,) = steps(store, fixer.task)
    assert sides(store, step) == [("new", None, b"made\n")]


def test_what_failed_may_have_written(store: Store, fixer: Fixer) -> None:
    fixer.call("README", "half\n", how="tool_failed", call_id="c1", paths=["README"], error="disk full")
    drained(store, fixer)
    (step,) = steps(store, fixer.task)
    assert step.ok is False
    assert sides(store, step) == [("README", b"a project\n", b"half\n")]
    assert store.find_text(step.output) == "disk full" if step.output else False


def test_a_call_that_is_told_twice_is_one_step(store: Store, fixer: Fixer) -> None:
    for _ in range(2):
        fixer.say("tool_end", call_id="c1", tool="x", **{"class": "read"})
    drained(store, fixer)
    fixer.say("tool_end", call_id="c1", tool="x", **{"class": "read"})
    drained(store, fixer)
    assert len(steps(store, fixer.task)) == 1


def test_a_model_on_each_object_is_the_model_of_that_step(store: Store, fixer: Fixer) -> None:
    fixer.say("session_start", model="m-1")
    fixer.say("tool_end", call_id="c1", **{"class": "read"})
    fixer.say("tool_end", call_id="c2", model="m-2", **{"class": "read"})
    fixer.say("tool_end", call_id="c3", agent_id="a1", **{"class": "read"})
    drained(store, fixer)
    assert [(step.actor.model, step.actor.agent_id) for step in steps(store, fixer.task)] == [
        ("m-1", None), ("m-2", None), (None, "a1")
    ]  # fmt: skip


def test_a_fork_names_its_parent_once(store: Store, fixer: Fixer, repo: Repo) -> None:
    parent = Fixer(repo.path, "old")
    fixer.say("session_start", source="fork", parent_session="old")
    drained(store, fixer)
    fixer.say("prompt", text="go")
    drained(store, fixer)
    links = (Link(rel="derived_from", task=parent.task),)
    assert fold(store.events(fixer.task)).links == links
    assert [type(each).__name__ for each in events(store, fixer.task) if each.links] == ["Noted", "Defined"]


def test_a_newer_version_is_kept_as_it_came(store: Store, fixer: Fixer) -> None:
    fixer.say("tool_end", version=2, call_id="c1", paths=["README"])
    drained(store, fixer)
    assert told(store, fixer.task) == ["noted fixer:tool_end"]
