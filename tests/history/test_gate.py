"""What the gate finds: lines outside of the scope of their task, lines that nobody recorded, approvals, checks."""

import os
import subprocess
from collections.abc import Iterator

import pytest

from pogstore.history.gate import Gate, gate_range, gate_staged
from pogstore.history.ranges import Range
from pogstore.history.required import approvals_of
from pogstore.model import Actor, Budget, Definition, Globs, Person, TaskId
from pogstore.store.store import open_store
from pogstore.work import claims, runner, tasks
from tests.builders_contracts import AGENT, PERSON, TASK, Asking, asking, scope
from tests.conftest import SECOND, STARTED, Repo

EVE = Actor(type="human", name="Eve", on_behalf_of=Person(name="Eve", email="eve@example.com"))
ALL = Range("base", "HEAD")


@pytest.fixture
def agent(repo: Repo, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Asking]:
    """An agent in a repository whose further commits are made when its work is done."""
    repo.git("tag", "base")
    for name in ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"):
        monkeypatch.setenv(name, f"{STARTED // SECOND + 86_400} +0000")
    found = asking(repo, capfd)
    yield found
    found.store.close()


def problems(gate: Gate) -> list[tuple[str, str | None, list[tuple[int, int]]]]:
    return [
        (each.rule, each.path.decode() if each.path else None, [(part.start, part.stop - 1) for part in each.lines])
        for each in gate.problems
    ]


def test_lines_inside_the_scope_pass_and_others_do_not(agent: Asking, repo: Repo) -> None:
    """An agent whose hook was not asked, or did not listen, is found out at the commit."""
    agent.bind(scope=scope("src/**"))
    assert agent.write("src/a.py", "value = first(1)\nvalue = second(2)\n") is None
    assert agent.write("other.py", "other = third(3)\nother = fourth(4)\n") is not None
    agent.drained()
    repo.git("add", "--all")
    staged = gate_staged(agent.store)
    repo.commit(message="work")
    for found in (staged, gate_range(agent.store, ALL)):
        lines = [each for each in problems(found) if each[1]]
        assert lines == [("path", "other.py", [(1, 2)])]
        assert (found.files, found.covered, found.uncovered) == (2, 4, 0)
        assert [(gated.task, gated.lines) for gated in found.tasks] == [(TASK, 4)]
        assert not found.ok


def test_what_is_staged_is_judged_and_not_what_lies_there(agent: Asking, repo: Repo) -> None:
    agent.bind(scope=scope("src/**"))
    agent.write("src/a.py", "value = first(1)\n")
    agent.drained()
    repo.git("add", "--all")
    agent.write("other.py", "other = third(3)\n")
    agent.drained()
    assert [each for each in problems(gate_staged(agent.store)) if each[1]] == []
    assert repo.git("status", "--porcelain") == "A  src/a.py\n?? other.py"


def test_lines_that_nobody_recorded_are_counted_and_a_fault_where_all_must_be(agent: Asking, repo: Repo) -> None:
    agent.bind()
    agent.write("a.py", "value = first(1)\n")
    agent.drained()
    (repo.path / "a.py").write_text("value = first(1)\nwritten_by = hand(1)\n")
    (repo.path / "b.py").write_text("written_by = hand(2)\n")
    repo.commit(message="work")
    found = gate_range(agent.store, ALL)
    assert (found.ok, found.covered, found.uncovered) == (True, 1, 2)
    strict = gate_range(agent.store, ALL, strict=True)
    assert problems(strict) == [("uncovered", "a.py", [(2, 2)]), ("uncovered", "b.py", [(1, 1)])]
    repo.git("config", "pog.requireTask", "true")
    assert [each.rule for each in gate_range(open_store(agent.root), ALL).problems] == ["uncovered", "uncovered"]


def test_a_file_that_a_task_took_away_is_judged_too(agent: Asking, repo: Repo) -> None:
    agent.bind(scope=scope("src/**"))
    call = agent.shell("git rm README")
    assert call is not None
    (repo.path / "README").unlink()
    agent.say("PostToolUse", tool_name="Bash", tool_input={"command": "git rm README"}, tool_use_id="late")
    agent.say("PreToolUse", tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="again")
    agent.drained()
    repo.commit(message="work")
    assert gate_range(agent.store, ALL, strict=True).ok is False


def checked_out(agent: Asking, revision: str) -> None:
    """An agent's command brings a file back to an older version."""
    call: dict[str, object] = {
        "tool_name": "Bash",
        "tool_input": {"command": "make older"},
        "tool_use_id": f"older-{revision}",
    }
    agent.say("PreToolUse", also=call)
    subprocess.run(["git", "checkout", "-q", revision, "--", "a.key"], cwd=agent.root, check=True)
    agent.say("PostToolUse", also=call)
    agent.drained()


@pytest.fixture
def older(agent: Asking, repo: Repo) -> Asking:
    """A file that is denied is brought back to what an older commit has: no line of it is the task's."""
    with pytest.MonkeyPatch.context() as early:
        for name in ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"):
            early.setenv(name, f"{STARTED // SECOND} +0000")
        first = repo.commit({"a.key": "K\n"}, "one")
        repo.commit({"a.key": "K2\n"}, "two")
    repo.git("tag", "--force", "base")
    agent.bind(scope=scope(deny=("*.key",)))
    checked_out(agent, first)
    return agent


def test_a_file_that_was_brought_back_is_of_who_brought_it_back(older: Asking, repo: Repo) -> None:
    """The older version's lines are other people's; the change of the file is not."""
    repo.git("add", "--all")
    staged = gate_staged(older.store)
    repo.commit(message="work")
    for found in (staged, gate_range(older.store, ALL)):
        assert problems(found) == [("path", "a.key", []), ("step", None, [])]
        assert [(gated.task, gated.lines) for gated in found.tasks] == [(TASK, 0)]
        assert (found.covered, found.uncovered) == (0, 1)


def test_a_step_on_the_way_to_what_a_range_brings_is_judged(older: Asking, repo: Repo) -> None:
    other = TaskId("0198a1b2-c3d4-7e5f-8a9b-aaaaaaaaaaaa")
    older.bind(other)
    older.write("a.key", "K\nmore = words(1)\n")
    older.drained()
    repo.commit(message="work")
    found = gate_range(older.store, ALL)
    assert [(each.rule, each.task) for each in found.problems] == [("step", TASK)]
    assert [gated.task for gated in found.tasks] == [other]


def test_what_came_before_a_range_is_not_judged_again(older: Asking, repo: Repo) -> None:
    """What was let through once is no fault of whoever changes the file next."""
    repo.commit(message="let through")
    repo.git("tag", "--force", "base")
    repo.commit({"a.key": "K3\n"}, "by hand")
    assert gate_range(older.store, ALL).ok
    repo.git("reset", "--quiet", "--hard", "base")
    other = older.bind(TaskId("0198a1b2-c3d4-7e5f-8a9b-aaaaaaaaaaaa"))
    older.write("a.key", "more = words(1)\n")
    older.drained()
    repo.commit(message="by another task")
    found = gate_range(older.store, ALL)
    assert found.ok
    assert [gated.task for gated in found.tasks] == [other]


def test_approvals_are_those_of_people_who_did_not_work_on_it(agent: Asking, repo: Repo) -> None:
    agent.bind(approvals=1, actor=AGENT)
    agent.write("a.py", "value = first(1)\n")
    agent.drained()
    repo.commit(message="work")

    def rules() -> list[str]:
        return [each.rule for each in gate_range(agent.store, ALL).problems]

    assert rules() == ["approvals"]
    tasks.review(agent.store, TASK, "approve", agent.by(AGENT))
    tasks.review(agent.store, TASK, "approve", agent.by(Actor(type="agent", name="another", session="s2")))
    tasks.review(agent.store, TASK, "approve", agent.by(Actor(type="human", name="Ada", session="s1")))
    assert rules() == ["approvals"]
    tasks.review(agent.store, TASK, "approve", agent.by(EVE))
    assert rules() == []
    tasks.review(agent.store, TASK, "reject", agent.by(EVE))
    assert rules() == ["approvals"]
    tasks.review(agent.store, TASK, "approve", agent.by(EVE))
    agent.amend(approvals=1, checks=())
    tasks.define(agent.store, TASK, Definition(title="another", approvals=1), agent.by())
    assert approvals_of(agent.store, TASK, 1).have == 0, "of a definition that is not in force any more"


def test_nobody_approves_what_was_made_in_their_own_session(agent: Asking) -> None:
    agent.bind(approvals=1)
    given = {"file_path": "a.py", "content": "x"}
    agent.say("PostToolUse", session_id="s2", tool_name="Write", tool_input=given, tool_use_id="late")
    agent.drained()
    tasks.review(agent.store, TASK, "approve", agent.by(Actor(type="human", name="Eve", session="s2")))
    assert approvals_of(agent.store, TASK, 1).have == 0
    tasks.review(agent.store, TASK, "approve", agent.by(Actor(type="human", name="Eve", session="s3")))
    assert approvals_of(agent.store, TASK, 1).have == 1


def test_two_approvals_of_one_person_are_one(agent: Asking) -> None:
    agent.bind(approvals=2, actor=AGENT)
    for _ in range(2):
        tasks.review(agent.store, TASK, "approve", agent.by(EVE))
    assert approvals_of(agent.store, TASK, 2).have == 1
    tasks.review(agent.store, TASK, "approve", agent.by(PERSON))
    assert approvals_of(agent.store, TASK, 2).have == 2


def test_steps_that_broke_a_limit_are_named(agent: Asking, repo: Repo) -> None:
    agent.bind(commands=Globs(allow=("pytest",)))
    assert agent.shell("git push") is not None
    agent.say("PostToolUse", tool_name="Bash", tool_input={"command": "git push"}, tool_use_id="unasked")
    agent.write("a.py", "value = first(1)\n")
    agent.drained()
    repo.commit(message="work")
    found = gate_range(agent.store, ALL).problems
    assert [(each.rule, each.task) for each in found] == [("step", TASK)]
    assert "git push" in found[0].reason


def test_a_denied_command_that_was_recorded_is_named(agent: Asking, repo: Repo) -> None:
    """Whoever recorded it: an agent that wrote to the store itself, or an older version of this program."""
    agent.bind(commands=Globs(deny=("cp",)))
    by = agent.by(AGENT)
    given = runner.Command(argv=(b"cp", b"README", b"new"), cwd=agent.root, environ=dict(os.environb))
    runner.run(agent.store, TASK, given, by, now=lambda: by.time)
    agent.write("a.py", "value = first(1)\n")
    agent.drained()
    repo.commit(message="work")
    assert ("command", None, []) in problems(gate_range(agent.store, ALL))


def test_a_tracked_file_narrows_and_taking_it_away_does_not_widen(agent: Asking, repo: Repo) -> None:
    repo.commit({".pog.toml": 'deny = ["secret/**"]\n'}, "limits")
    repo.git("tag", "--force", "base")
    agent.bind()
    agent.write("secret/a.py", "value = first(1)\n")
    agent.drained()
    (repo.path / ".pog.toml").unlink()
    repo.commit(message="work")
    found = [each for each in problems(gate_range(agent.store, ALL)) if each[0] == "path"]
    assert found == [("path", "secret/a.py", [(1, 1)])]
    claims.release(agent.store, TASK, agent.by())


def test_a_budget_alone_has_no_paths(agent: Asking, repo: Repo) -> None:
    agent.bind(budget=Budget(minutes=5))
    agent.write("a.py", "value = first(1)\n")
    agent.drained()
    repo.commit(message="work")
    assert gate_range(agent.store, ALL).ok
