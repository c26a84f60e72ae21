"""Sessions from beginning to end: their tasks, what they go on from, who acted in them, what is imported later."""

import json
from pathlib import Path

import pytest

from pogstore.agents.heard import LONGEST_CALL
from pogstore.digest import hexdigest
from pogstore.history.tasks import summaries
from pogstore.model import Actor, Definition, Link, Noted, TaskId
from pogstore.store.store import Store, open_store
from pogstore.work import active, claims, tasks, toolversions
from pogstore.work.acts import By, read_state
from pogstore.work.drain import spool_of
from tests.agents.live import Live, drained, events, recording, steps, told
from tests.agents.test_transcript import said, written
from tests.conftest import SECOND, STARTED, Repo

ADA = By(actor=Actor(type="human", name="Ada"), time=STARTED)
OTHER = TaskId("0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b")


@pytest.fixture
def store(repo: Repo) -> Store:
    return recording(repo)


def made(store: Store, task: TaskId = OTHER) -> TaskId:
    tasks.define(store, task, Definition(title="a task"), ADA)
    return task


def links(store: Store, task: TaskId) -> list[tuple[str, tuple[Link, ...]]]:
    return [(type(each).__name__, each.links) for each in events(store, task) if each.links]


def test_each_step_carries_the_model_that_made_it(repo: Repo, store: Store, tmp_path: Path) -> None:
    path = tmp_path / "s1.jsonl"
    live = Live(repo.path)
    live.say("SessionStart", source="startup", model="told-at-first", transcript_path=str(path))
    live.agent = {"transcript_path": str(path)}
    live.shell("ls")
    drained(store, live)
    written(path, said(1, "m-1", "toolu_s1_2"), said(2, "m-2", "toolu_s1_3"))
    written(tmp_path / "s1" / "subagents" / "agent-a1.jsonl", said(1, "m-3", "toolu_s1_4"))
    live.shell("ls")
    live.shell("ls")
    live.agent |= {"agent_id": "a1"}
    live.shell("ls")
    drained(store, live)
    assert [(step.actor.model, step.actor.agent_id) for step in steps(store, live.task)] == [
        ("told-at-first", None), ("m-1", None), ("m-2", None), ("m-3", "a1")
    ]  # fmt: skip


def test_a_transcript_that_is_none_costs_the_model_alone(repo: Repo, store: Store, tmp_path: Path) -> None:
    """Case PC-127."""
    live = Live(repo.path)
    live.agent = {"transcript_path": "/etc/shadow"}
    live.shell("ls")
    drained(store, live)
    assert [step.actor.model for step in steps(store, live.task)] == [None]


def test_a_fork_is_linked_to_what_it_was_forked_from(repo: Repo, store: Store, tmp_path: Path) -> None:
    parent = Live(repo.path, "old")
    parent.prompt("go")
    path = written(tmp_path / "s1.jsonl", said(1, "m", session="old"), said(2, "m", session="s1"))
    fork = Live(repo.path, "s1", parent.clock)
    fork.say("SessionStart", source="fork", transcript_path=path)
    drained(store, fork)
    (first,) = events(store, fork.task)
    assert isinstance(first, Noted)
    assert first.links == (Link(rel="derived_from", task=parent.task),)
    fork.prompt("go another way")
    drained(store, fork)
    assert read_state(store, fork.task).links == (Link(rel="derived_from", task=parent.task),)
    assert links(store, parent.task) == []


def test_a_fork_that_never_said_that_it_began_is_linked_too(repo: Repo, store: Store, tmp_path: Path) -> None:
    path = written(tmp_path / "s1.jsonl", said(1, "m", session="old"))
    fork = Live(repo.path, "s1")
    fork.agent = {"transcript_path": path}
    fork.prompt("go")
    drained(store, fork)
    assert links(store, fork.task) == [("Defined", (Link(rel="derived_from", task=Live(repo.path, "old").task),))]


def test_a_session_that_is_resumed_opens_its_task_again(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    live.prompt("go")
    live.say("SessionEnd", reason="other")
    drained(store, live)
    assert read_state(store, live.task).status == "in_review"
    live.say("SessionStart", source="resume")
    live.prompt("more")
    drained(store, live)
    assert read_state(store, live.task).status == "in_progress"
    assert told(store, live.task).count("defined") == 1


def test_a_call_that_was_interrupted_ends_when_its_session_begins_again(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    live.begin_edit("README", "a project", "one")
    live.say("SessionStart", source="resume")
    drained(store, live)
    (step,) = steps(store, live.task)
    assert (step.ok, step.coverage, step.coverage_reason) == (None, "partial", "no-result")
    assert not list(spool_of(store).glob("open/*"))


def test_a_conversation_that_is_made_shorter_ends_no_call(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    live.begin_edit("README", "a project", "one")
    live.say("SessionStart", source="compact")
    drained(store, live)
    assert not steps(store, live.task)


def test_a_session_that_begins_ends_the_old_calls_of_its_work_tree_alone(
    repo: Repo, store: Store, tmp_path: Path
) -> None:
    repo.git("worktree", "add", "--quiet", str(tmp_path / "linked"))
    lost = Live(repo.path, "lost")
    far = Live(tmp_path / "linked", "far", lost.clock)
    for live in (lost, far):
        live.begin_edit("README", "a project", "one")
    lost.clock[0] += LONGEST_CALL
    busy = Live(repo.path, "busy", lost.clock)
    busy.begin_edit("README", "a project", "one")
    new = Live(repo.path, "new", lost.clock)
    new.say("SessionStart", source="startup")
    drained(store, new)
    assert [len(steps(store, live.task)) if live.task in store.tasks() else 0 for live in (lost, far, busy)] == [
        1,
        0,
        0,
    ]


def test_a_sub_agents_events_stay_in_the_sessions_task(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    live.prompt("go")
    live.agent = {"agent_id": "a1", "agent_type": "general"}
    live.say("SubagentStart")
    live.write("new", "x\n")
    live.fail(live.begin_edit("README", "nowhere", "x"))
    live.say("SubagentStop")
    drained(store, live)
    assert store.tasks() == [live.task]
    assert {each.actor.agent_id for each in events(store, live.task) if each.actor.type == "agent"} == {None, "a1"}
    assert [(step.actor.agent_id, step.ok) for step in steps(store, live.task)] == [("a1", True), ("a1", False)]


def test_a_session_that_ends_twice_is_reviewed_once(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    live.prompt("go")
    live.say("SessionEnd", reason="other")
    live.clock[0] += 10 * SECOND
    live.say("SessionEnd", reason="other")
    drained(store, live)
    assert [line for line in told(store, live.task) if line.startswith("moved")] == [
        "moved in_progress", "moved in_review"
    ]  # fmt: skip


def test_a_sessions_task_is_private_until_it_is_shared(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    live.prompt("Pay the salaries\nof June")
    drained(store, live)
    (line,) = summaries(store)
    assert (line.private, line.title) == (True, "Pay the salaries")
    now = read_state(store, live.task)
    assert now.definition is not None
    assert (now.definition.class_, tasks.definition_of(store, now.definition).intent) == (
        "private", "Pay the salaries\nof June"
    )  # fmt: skip
    tasks.share(store, live.task, ADA)
    assert not summaries(store)[0].private
    live.prompt("and of July")
    live.say("SessionEnd", reason="other")
    drained(store, live)
    (line,) = summaries(store)
    assert (line.private, line.title, line.status) == (False, "Pay the salaries", "in_review")


def test_a_task_that_was_active_when_the_hook_ran_keeps_the_step(repo: Repo, store: Store) -> None:
    task = made(store)
    live = Live(repo.path)
    active.set_active(store.layout, task)
    live.prompt("for the task")
    (store.layout.own_here / "task").unlink()
    live.prompt("for the session")
    drained(store, live)
    assert told(store, task)[-1] == "prompted"
    assert told(store, live.task) == ["defined", "moved in_progress", "prompted"]


def test_a_task_that_ended_gets_no_more_than_the_end_of_the_turn_that_ended_it(repo: Repo, store: Store) -> None:
    task = made(store)
    live = Live(repo.path)
    claims.start(store, task, ADA)
    active.set_active(store.layout, task)
    live.prompt("finish it")
    drained(store, live)
    tasks.move(store, task, "completed", ADA)
    assert (active.active_task(store.layout), active.active_task(store.layout, 1)) == (None, task)
    live.say("Stop")
    drained(store, live)
    assert (told(store, task)[-1], live.task in store.tasks()) == ("noted claude-code:Stop", False)
    live.prompt("another thing")
    live.say("Stop")
    drained(store, live)
    assert told(store, task)[-1] == "noted claude-code:Stop"
    assert told(store, live.task) == ["defined", "moved in_progress", "prompted", "noted claude-code:Stop"]
    later = Live(repo.path, "later", live.clock)
    later.say("SessionEnd", reason="other")
    drained(store, later)
    assert told(store, later.task) == ["noted claude-code:SessionEnd"], "it knows nothing of the task that ended"


def test_a_task_that_ended_elsewhere_is_left_when_records_are_drained(repo: Repo, store: Store, tmp_path: Path) -> None:
    task = made(store)
    repo.git("worktree", "add", "--quiet", str(tmp_path / "linked"))
    linked = open_store(tmp_path / "linked").layout
    claims.start(store, task, ADA)
    active.set_active(linked, task)
    live = Live(tmp_path / "linked", "there")
    live.prompt("before")
    end = live.clock[0]
    live.prompt("after")
    tasks.move(store, task, "completed", ADA._replace(time=end))
    assert active.active_task(linked) == task
    drained(store, live)
    assert active.active_task(linked) is None
    assert told(store, task)[-1] == "prompted"
    assert told(store, live.task) == ["defined", "moved in_progress", "prompted"]


def test_a_task_that_is_active_only_when_it_is_drained_gets_nothing(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    live.prompt("for the session")
    active.set_active(store.layout, made(store))
    drained(store, live)
    assert told(store, live.task) == ["defined", "moved in_progress", "prompted"]
    assert told(store, OTHER) == ["defined"]


def test_each_work_tree_has_its_own_active_task(repo: Repo, store: Store, tmp_path: Path) -> None:
    repo.git("worktree", "add", "--quiet", str(tmp_path / "linked"))
    active.set_active(store.layout, made(store))
    there = Live(tmp_path / "linked", "there")
    there.prompt("go")
    here = Live(repo.path, "here", there.clock)
    here.prompt("go")
    drained(store, here)
    assert told(store, there.task)[-1] == "prompted"
    assert told(store, OTHER)[-1] == "prompted"
    assert here.task not in store.tasks()


def test_the_named_task_wins_over_the_active_one(repo: Repo, store: Store) -> None:
    second = TaskId(OTHER.replace("0198", "0199"))
    active.set_active(store.layout, made(store))
    live = Live(repo.path, task=made(store, second))
    live.prompt("go")
    drained(store, live)
    assert told(store, second)[-1] == "prompted"
    assert told(store, OTHER) == ["defined"]


def test_the_first_step_of_a_session_names_its_environment(repo: Repo, store: Store) -> None:
    """Looked at by the drain and not by the hook: so it says that it came later, and names no variables."""
    repo.commit({"uv.lock": "x"})
    clock = [STARTED]
    live, other = Live(repo.path, "s1", clock), Live(repo.path, "s2", clock)
    for session in (live, other):
        session.prompt("go")
    live.shell("ls")
    live.shell("ls")
    drained(store, live)
    live.shell("ls")
    other.shell("ls")
    drained(store, live)
    found = steps(store, live.task)
    assert [step.env is not None for step in found] == [True, False, False]
    assert found[0].env is not None
    value = json.loads(store.find_text(found[0].env) or "")
    assert value["later"] is True
    assert value["locks"] == {"uv.lock": hexdigest(b"x")}
    assert "variables" not in value
    assert found[0].env.class_ == "private"
    assert steps(store, other.task)[0].env is not None


def test_an_environment_that_cannot_be_had_keeps_no_step_back(
    repo: Repo, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> dict[str, str]:
        raise OSError

    monkeypatch.setattr(toolversions, "versions", refused)
    live = Live(repo.path)
    live.shell("ls")
    drained(store, live)
    assert len(steps(store, live.task)) == 1
