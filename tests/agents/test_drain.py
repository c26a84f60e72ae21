"""From hooks to events: each call once, each change its owner's, whatever is lost, late, twice or damaged."""

import json
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from pogstore.agents.drain import PATIENCE, drain
from pogstore.agents.heard import LONGEST_NAME
from pogstore.history.blame import blame
from pogstore.interop.claude_code import read_session
from pogstore.interop.json_lines import Transcript
from pogstore.model import Noted, Observed, OddPath, Prompted, Stepped
from pogstore.store import batch, libgit2
from pogstore.store.lock import locked
from pogstore.store.store import Store, open_store
from pogstore.work import drain as work_drain
from pogstore.work import intake, spool, spooled
from pogstore.work.drain import spool_of
from tests.agents.live import Live, drained, events, recording, sides, steps, told
from tests.builders_store import opened
from tests.conftest import SECOND, Repo


@pytest.fixture
def store(repo: Repo) -> Store:
    return recording(repo)


def test_a_prompt_opens_the_sessions_task_and_an_edit_is_one_step(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    live.say("SessionStart", source="startup", model="claude-opus-4-5")
    live.prompt("Greet the world\nin README")
    call_id = live.edit("README", "a project", "hello")
    assert drained(store, live) == (4, 5, 0, 0)
    assert told(store, live.task) == [
        "noted claude-code:SessionStart", "defined", "moved in_progress", "prompted", "stepped Edit"
    ]  # fmt: skip
    *_, prompted, step = events(store, live.task)
    assert isinstance(prompted, Prompted)
    assert isinstance(step, Stepped)
    assert (prompted.actor.type, store.read_text(prompted.text)) == ("human", "Greet the world\nin README")
    assert prompted.text.class_ == "private"
    assert (step.call_id, step.ok, step.class_, step.coverage) == (call_id, True, "edit", "scoped")
    assert sides(store, step) == [("README", b"a project\n", b"hello\n")]
    assert step.actor.model == "claude-opus-4-5"
    assert step.worktree is not None
    assert step.input is not None
    assert json.loads(store.read_text(step.input)) == {"file_path": str(repo.path / "README")}


def test_what_a_person_changes_between_two_calls_is_never_the_agents(repo: Repo, store: Store) -> None:
    """Case PC-19."""
    live = Live(repo.path)
    live.prompt("go")
    live.edit("README", "a project", "one")
    (repo.path / "README").write_text("one\nby hand\n")
    call_id = live.edit("README", "one", "two")
    drained(store, live)
    first, gap, second = events(store, live.task)[-3:]
    assert isinstance(gap, Observed)
    assert gap.actor.type == "unknown"
    assert gap.source is not None
    assert gap.source.key == f"gap/{call_id}"
    assert sides(store, first) == [("README", b"a project\n", b"one\n")]
    assert sides(store, gap) == [("README", b"one\n", b"one\nby hand\n")]
    assert sides(store, second) == [("README", b"one\nby hand\n", b"two\nby hand\n")]


def test_what_a_person_changed_before_the_first_call_is_not_the_agents_either(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    (repo.path / "README").write_text("a project\nby hand\n")
    (repo.path / "new").write_text("by hand\n")
    live.edit("README", "a project", "one")
    live.edit("new", "by hand", "by hand\nmore")
    drained(store, live)
    found = [sides(store, event) for event in events(store, live.task) if isinstance(event, Observed)]
    assert found == [[("README", b"a project\n", b"a project\nby hand\n")], [("new", None, b"by hand\n")]]


def test_what_git_brings_is_no_change(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    repo.git("branch", "old")
    live.edit("README", "a project", "one")
    repo.commit(message="agent's")
    repo.git("checkout", "--quiet", "old")
    live.edit("README", "a project", "other")
    repo.git("checkout", "--quiet", "--", "README")
    repo.git("checkout", "--quiet", "-")
    live.edit("README", "one", "two")
    drained(store, live)
    assert not [event for event in events(store, live.task) if isinstance(event, Observed)]
    assert [sides(store, step) for step in steps(store, live.task)] == [
        [("README", b"a project\n", b"one\n")],
        [("README", b"a project\n", b"other\n")],
        [("README", b"one\n", b"two\n")],
    ]


def test_what_a_person_changes_while_the_agent_asks_for_leave_is_not_the_agents(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    call = live.begin_edit("README", "a project", "one")
    (repo.path / "README").write_text("one\nby hand\n")
    live.end(
        call,
        {"filePath": "README", "oldString": "a project", "newString": "one", "originalFile": "a project\nby hand\n"},
    )
    drained(store, live)
    gap, step = events(store, live.task)[-2:]
    assert sides(store, gap) == [("README", b"a project\n", b"a project\nby hand\n")]
    assert sides(store, step) == [("README", b"a project\nby hand\n", b"one\nby hand\n")]
    assert (getattr(step, "coverage", None), getattr(step, "coverage_reason", None)) == ("scoped", None)


def test_what_somebody_made_of_what_a_call_wrote_is_not_the_call_s(repo: Repo, store: Store) -> None:
    """A person, or a formatter that an editor runs, before the end of the call is told."""
    live = Live(repo.path)
    call = live.begin_edit("README", "a project", "one")
    (repo.path / "README").write_text("one\nby hand\n")
    live.end(call)
    drained(store, live)
    step, later = events(store, live.task)[-2:]
    assert isinstance(step, Stepped)
    assert (step.coverage, step.coverage_reason) == ("scoped", None)
    assert sides(store, step) == [("README", b"a project\n", b"one\n")]
    assert isinstance(later, Observed)
    assert sides(store, later) == [("README", b"one\n", b"one\nby hand\n")]
    assert (later.during, later.actor.type) == ((call["tool_use_id"],), "unknown")


@pytest.mark.parametrize("text", ["one\r\nby hand\r\n", "\ufeffone\nby hand\n"])
def test_a_file_that_is_not_what_the_call_wrote_is_shared_if_it_cannot_be_told_apart(
    repo: Repo, store: Store, text: str
) -> None:
    """An account of an edit has line ends of its own."""
    live = Live(repo.path)
    call = live.begin_edit("README", "a project", "one")
    (repo.path / "README").write_text(text, newline="")
    live.end(call)
    drained(store, live)
    (step,) = steps(store, live.task)
    assert (step.coverage, step.coverage_reason) == ("shared", "changed-meanwhile")


def test_an_edit_that_cannot_have_been_made_in_what_was_seen_is_shared(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    call = live.begin_edit("README", "by hand", "one")
    (repo.path / "README").write_text("one\n")
    live.end(call)
    drained(store, live)
    (step,) = steps(store, live.task)
    assert (step.coverage, step.coverage_reason) == ("shared", "unverified")


def test_two_calls_at_once_on_one_file_form_a_chain(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    first = live.begin_edit("README", "a project", "one")
    second = live.begin_edit("README", "one", "two")
    (repo.path / "README").write_text("one\n")
    live.end(first)
    drained(store, live)
    (repo.path / "README").write_text("two\n")
    live.end(second)
    drained(store, live)
    one, two = steps(store, live.task)
    assert sides(store, one) == [("README", b"a project\n", b"one\n")]
    assert sides(store, two) == [("README", b"one\n", b"two\n")]
    assert two.coverage_reason == "another-call"
    assert not [event for event in events(store, live.task) if isinstance(event, Observed)]


def test_a_call_without_an_end_waits_for_it(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    call = live.begin_edit("README", "a project", "one")
    assert drained(store, live) == (0, 0, 0, 0)
    assert drained(store, live) == (0, 0, 0, 0)
    assert not store.tasks()
    (repo.path / "README").write_text("one\n")
    live.end(call)
    assert drained(store, live).records == 2
    (step,) = steps(store, live.task)
    assert sides(store, step) == [("README", b"a project\n", b"one\n")]
    assert not list((spool_of(store) / "open").iterdir())


@pytest.mark.parametrize("ended", [True, False])
def test_a_call_whose_end_never_comes_is_given_up_in_the_end(repo: Repo, store: Store, ended: bool) -> None:
    live = Live(repo.path)
    live.begin_edit("README", "a project", "one")
    drained(store, live)
    if ended:
        live.say("SessionEnd", reason="other")
        drained(store, live)
    else:
        drain(store, now=live.clock[0] + PATIENCE + 1)
    (step,) = steps(store, live.task)
    assert (step.ok, step.coverage, step.coverage_reason) == (None, "partial", "no-result")
    assert sides(store, step) == [("README", None, None)]
    assert not list((spool_of(store) / "open").iterdir())


def test_a_failed_tool_is_a_step_that_changed_nothing(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    live.fail(live.begin_edit("README", "nowhere", "one"))
    drained(store, live)
    (step,) = steps(store, live.task)
    assert (step.ok, step.changes) == (False, ())
    assert step.output is not None
    assert store.read_text(step.output) == "no such string"


def test_an_edit_that_changed_nothing_has_no_changes(repo: Repo, store: Store) -> None:
    """Case PC-17."""
    live = Live(repo.path)
    live.write("README", "a project\n")
    drained(store, live)
    (step,) = steps(store, live.task)
    assert (step.ok, step.changes) == (True, ())


def test_shell_and_reading_steps_keep_what_importers_keep(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    live.shell("make", "done")
    live.end(live.begin("Read", {"file_path": str(repo.path / "README")}), {"file": {"content": "secret text"}})
    drained(store, live)
    shell, read = steps(store, live.task)
    assert (shell.class_, shell.coverage, shell.coverage_reason) == ("shell", "exact", None)
    assert shell.output is not None
    assert store.read_text(shell.output) == "done"
    assert (read.class_, read.output) == ("read", None)


def test_texts_are_redacted(repo: Repo, store: Store) -> None:
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    live = Live(repo.path)
    live.prompt(f"use {secret}")
    live.shell(f"curl -H 'Authorization: {secret}'", secret)
    live.say("Notification", message=secret)
    drained(store, live)
    for event in events(store, live.task):
        for name in ("text", "input", "output", "definition"):
            if (text := getattr(event, name, None)) is not None:
                assert secret not in store.read_text(text)


def test_rules_of_one_s_own_hold_where_a_name_is_cut(repo: Repo, store: Store) -> None:
    repo.git("config", "--add", "pog.redact", "regex:KW-[0-9]{7}")
    live = Live(repo.path)
    live.prompt("a" * 74 + " KW-" + "7351928")
    live.end(live.begin("t" * (LONGEST_NAME - 5) + "KW-" + "7351928", {"a": 1}), {})
    drained(store, live)
    for event in events(store, live.task):
        assert "KW-" not in str(getattr(event, "tool", None))
        for name in ("text", "definition"):
            if (text := getattr(event, name, None)) is not None:
                assert "KW-" not in store.read_text(text)


def test_each_call_is_one_step_however_often_it_is_told(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    call = live.begin_edit("README", "a project", "one")
    live.say("PreToolUse", **call)
    (repo.path / "README").write_text("one\n")
    live.end(call)
    live.end(call)
    drained(store, live)
    live.end(call)
    live.say("PreToolUse", **call)
    drained(store, live)
    assert len(steps(store, live.task)) == 1
    assert len(store.events(live.task)) == 3
    assert sorted(path.name for path in spool_of(store).iterdir()) == ["lock"]


@pytest.mark.parametrize("between", [False, True])
def test_an_end_without_a_beginning_is_one_step_however_often_it_is_told(
    repo: Repo, store: Store, between: bool
) -> None:
    live = Live(repo.path)
    call = {"tool_name": "Read", "tool_input": {"file_path": "README"}, "tool_use_id": "t1"}
    for _ in range(3):
        live.end(call)
        if between:
            drained(store, live)
    drained(store, live)
    stored = [sealed for sealed in store.events(live.task) if isinstance(sealed.event, Stepped)]
    assert len(stored) == 1, "stored once, and not only shown once"


def test_a_hook_that_is_installed_twice_says_a_thing_once(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    payload = live.prompt("go")
    live.say_bytes(payload)
    live.clock[0] += 10 * SECOND
    live.say_bytes(payload)
    drained(store, live)
    assert told(store, live.task).count("prompted") == 2


def test_every_other_event_is_noted_with_all_it_said(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    names = ["SubagentStart", "SubagentStop", "PreCompact", "Notification", "Stop", "SomethingNew"]
    said = [live.say(name, detail=name).decode() for name in names]
    drained(store, live)
    found = [event for event in events(store, live.task) if isinstance(event, Noted)]
    assert [event.topic for event in found] == [f"claude-code:{name}" for name in names]
    assert [store.find_text(event.text) for event in found] == said


def test_the_end_of_a_session_brings_its_task_into_review_and_a_prompt_takes_it_back(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    for _ in range(2):
        live.prompt("go")
        live.say("SessionEnd", reason="other")
    drained(store, live)
    moves = [line for line in told(store, live.task) if line.startswith("moved")]
    assert moves == ["moved in_progress", "moved in_review"] * 2


def test_a_payload_that_is_cut_short_is_noted_with_what_is_there(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    live.say_bytes(
        b'{"session_id": "s1", "hook_event_name": "Stop", "cwd": "%b", "x' % os.fsencode(repo.path), close=True
    )
    drained(store, live)
    assert told(store, live.task) == ["noted claude-code:Stop"]


def test_control_characters_in_strings_do_no_harm(repo: Repo, store: Store) -> None:
    """Cases PC-132 and PC-135."""
    live = Live(repo.path)
    payload = json.dumps(
        {"session_id": "s1", "hook_event_name": "UserPromptSubmit", "cwd": str(repo.path), "prompt": "a|b"}
    )
    live.say_bytes(payload.replace("|", "\x01\n").encode())
    call = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "a\nb\ud800"}
    live.end(call)
    drained(store, live)
    (step,) = steps(store, live.task)
    assert step.call_id == "a\nb\ufffd"
    assert "prompted" in told(store, live.task)


def test_a_session_id_names_no_ref_and_no_file(repo: Repo, store: Store) -> None:
    """Case PC-127."""
    live = Live(repo.path, "../../x; rm -rf")
    live.prompt("go")
    drained(store, live)
    assert store.tasks() == [live.task]


def test_steps_go_to_the_task_that_is_named_or_active(repo: Repo, store: Store) -> None:
    other = Live(repo.path, "other")
    other.prompt("the task")
    drained(store, other)
    live = Live(repo.path, "s2", other.clock, task=other.task)
    live.prompt("go")
    live.say("SessionEnd", reason="other")
    drained(store, live)
    assert store.tasks() == [other.task]
    assert told(store, other.task)[-2:] == ["prompted", "noted claude-code:SessionEnd"]


def test_two_sessions_in_one_work_tree_keep_their_own(repo: Repo, store: Store) -> None:
    one = Live(repo.path, "one")
    two = Live(repo.path, "two", one.clock)
    one.edit("README", "a project", "one")
    two.edit("README", "one", "two")
    one.edit("README", "two", "three")
    drained(store, one)
    assert [sides(store, step) for step in steps(store, one.task)] == [
        [("README", b"a project\n", b"one\n")],
        [("README", b"two\n", b"three\n")],
    ]
    assert [sides(store, step) for step in steps(store, two.task)] == [[("README", b"one\n", b"two\n")]]
    assert not [event for task in store.tasks() for event in events(store, task) if isinstance(event, Observed)]
    two.edit("README", "three", "four")
    drained(store, two)
    assert not [event for task in store.tasks() for event in events(store, task) if isinstance(event, Observed)]


def test_each_linked_work_tree_has_its_own_state(repo: Repo, store: Store, tmp_path: Path) -> None:
    """Case PC-69."""
    repo.git("worktree", "add", "--quiet", str(tmp_path / "linked"))
    here = Live(repo.path, "here")
    there = Live(tmp_path / "linked", "there", here.clock)
    here.edit("README", "a project", "one")
    there.edit("README", "a project", "two")
    here.edit("README", "one", "three")
    drained(store, here)
    assert not [event for task in store.tasks() for event in events(store, task) if isinstance(event, Observed)]
    assert sides(store, steps(store, there.task)[0]) == [("README", b"a project\n", b"two\n")]
    trees = {step.worktree for live in (here, there) for step in steps(store, live.task)}
    assert len(trees) == 2
    there.edit("README", "two", "four")
    drained(store, here)
    assert not [event for task in store.tasks() for event in events(store, task) if isinstance(event, Observed)]


def test_what_was_recorded_elsewhere_and_brought_here_is_no_persons(repo: Repo, store: Store, tmp_path: Path) -> None:
    repo.git("worktree", "add", "--quiet", str(tmp_path / "linked"))
    here = Live(repo.path, "here")
    there = Live(tmp_path / "linked", "there", here.clock)
    here.edit("README", "a project", "one")
    drained(store, here)
    repo.git("stash")
    Repo(there.root).git("stash", "pop")
    there.edit("README", "one", "two")
    drained(store, here)
    assert told(store, there.task) == ["defined", "moved in_progress", "stepped Edit"]
    assert sides(store, steps(store, there.task)[0]) == [("README", b"one\n", b"two\n")]


def test_a_linked_work_tree_that_is_gone_is_drained_all_the_same(repo: Repo, store: Store, tmp_path: Path) -> None:
    repo.git("worktree", "add", "--quiet", str(tmp_path / "linked"))
    there = Live(tmp_path / "linked", "there")
    there.edit("README", "a project", "two")
    repo.git("worktree", "remove", "--force", str(tmp_path / "linked"))
    drained(store, there)
    assert sides(store, steps(store, there.task)[0]) == [("README", b"a project\n", b"two\n")]


def test_ignored_files_and_filtered_ones_are_said_and_not_kept(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    repo.commit({".gitignore": "*.log\n", ".gitattributes": "*.bin filter=gone\n", "a.bin": "a\n"})
    repo.git("config", "filter.gone.clean", "false")
    repo.git("config", "filter.gone.required", "true")
    live.write("x.log", "text of vermilion\n")
    live.write("a.bin", "b\n")
    drained(store, live)
    ignored, filtered = steps(store, live.task)
    assert "vermilion" not in repo.git("cat-file", "--batch", "--batch-all-objects")
    assert [(step.coverage, step.coverage_reason) for step in (ignored, filtered)] == [
        ("partial", "ignored"),
        ("partial", "filtered"),
    ]
    assert [sides(store, step) for step in (ignored, filtered)] == [[("x.log", None, None)], [("a.bin", None, None)]]


def test_versions_are_in_gits_form(repo: Repo, store: Store) -> None:
    repo.commit({".gitattributes": "*.txt text eol=crlf\n"})
    (repo.path / "a.txt").write_bytes(b"one\r\n")
    repo.commit(message="crlf")
    live = Live(repo.path)
    call = live.begin_edit("a.txt", "one", "two")
    (repo.path / "a.txt").write_bytes(b"two\r\n")
    live.end(call)
    drained(store, live)
    (step,) = steps(store, live.task)
    assert sides(store, step) == [("a.txt", b"one\n", b"two\n")]
    assert len(store.events(live.task)) == 3


def test_a_large_file_is_known_by_its_hash(repo: Repo, store: Store) -> None:
    spooled.write_settings(spool_of(store), max_blob=64, sync=False)
    live = Live(repo.path)
    live.write("README", "x" * 100)
    drained(store, live)
    (step,) = steps(store, live.task)
    (change,) = step.changes
    assert change.after is not None
    assert (change.after.size, change.after.omitted) == (100, "too-large")
    assert (step.coverage, step.coverage_reason) == ("partial", "too-large")


def test_a_step_without_a_beginning_says_what_it_can(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    call = {"tool_name": "Edit", "tool_use_id": "t9"}
    given = {"file_path": str(repo.path / "README"), "old_string": "a project", "new_string": "one"}
    (repo.path / "README").write_text("one\n")
    live.end({**call, "tool_input": given}, {"originalFile": "a project\n"})
    live.end({**call, "tool_use_id": "t10", "tool_input": given})
    drained(store, live)
    known, unknown = steps(store, live.task)
    assert sides(store, known) == [("README", b"a project\n", b"one\n")]
    assert (known.coverage, unknown.coverage, unknown.coverage_reason) == ("scoped", "partial", "no-before")


def transcript(live: Live, prompt: str, calls: list[tuple[dict[str, Any], str, str]]) -> Transcript:
    """What Claude Code itself keeps of a session that edited README."""
    common = {
        "sessionId": live.session,
        "cwd": str(live.root),
        "timestamp": "2026-02-05T11:30:00Z",
        "version": "2.1.31",
    }
    lines: list[dict[str, Any]] = [{"type": "user", "uuid": "u0", "message": {"role": "user", "content": prompt}}]
    for number, (call, before, after) in enumerate(calls):
        use = {"type": "tool_use", "id": call["tool_use_id"], "name": call["tool_name"], "input": call["tool_input"]}
        message = {"id": f"m{number}", "role": "assistant", "model": "claude-opus-4-5", "content": [use]}
        lines.append({"type": "assistant", "uuid": f"a{number}", "message": message})
        answer = {"type": "tool_result", "tool_use_id": call["tool_use_id"], "content": "done"}
        given = call["tool_input"]
        outcome = {
            "filePath": given["file_path"],
            "oldString": before,
            "newString": after,
            "originalFile": f"{before}\n",
        }
        lines.append(
            {
                "type": "user",
                "uuid": f"r{number}",
                "toolUseResult": outcome,
                "message": {"role": "user", "content": [answer]},
            }
        )
    return Transcript("s.jsonl", [json.dumps({**common, **line}).encode() + b"\n" for line in lines])


def test_a_later_import_of_the_same_session_only_echoes_its_steps(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    live.prompt("go")
    calls = []
    for old, new in (("a project", "one"), ("one", "two")):
        call = live.begin_edit("README", old, new)
        (repo.path / "README").write_text(f"{new}\n")
        live.end(call)
        calls.append((call, old, new))
    drained(store, live)
    before = steps(store, live.task)
    reading = read_session(live.session, [transcript(live, "go", calls)])
    assert [task.task for task in reading.tasks] == [live.task]
    intake.take(store, reading.tasks)
    assert steps(store, live.task) == before
    assert told(store, live.task).count("defined") == 1
    assert intake.take(store, reading.tasks).events == 0


def users(repo: Repo) -> dict[str, bytes]:
    """Everything in a repository that is not ours."""
    found = (path for path in repo.path.rglob("*") if path.is_file() and not {"pog", "objects"} & set(path.parts))
    return {str(path): path.read_bytes() for path in found}


def test_the_story(repo: Repo, store: Store) -> None:
    """A prompt, an edit, a person's edit, a sub-agent's file, a failed tool, the end; then who wrote what."""
    repo.commit({"shop.py": "one = 1\ntwo = 2\nthree = 3\n"})
    live = Live(repo.path)
    live.say("SessionStart", source="startup")
    live.prompt("Tidy the shop")
    live.edit("shop.py", "one = 1", "one = 1  # agent")
    path = repo.path / "shop.py"
    path.write_text(path.read_text() + "four = 4  # by hand\n")
    live.edit("shop.py", "two = 2", "two = 2  # agent")
    live.agent = {"agent_id": "sub1", "agent_type": "general"}
    live.write("lib/new.py", "new = True\n")
    live.agent = {}
    live.fail(live.begin_edit("shop.py", "nowhere", "x"))
    live.say("Stop")
    before = users(repo)
    drained(store, live)
    assert users(repo) == before
    repo.commit(message="agent and person")
    assert [(line.text, line.owner) for line in blame(store, b"shop.py").lines] == [
        (b"one = 1  # agent", "event"),
        (b"two = 2  # agent", "event"),
        (b"three = 3", "commit"),
        (b"four = 4  # by hand", "commit"),
    ]
    (line,) = blame(store, b"lib/new.py").lines
    assert line.event is not None
    event = store.event(line.event).event
    assert event.actor is not None
    assert event.actor.agent_id == "sub1"


class Died(BaseException):
    """What ends a process at once, as far as our code can tell."""


def crash(monkeypatch: pytest.MonkeyPatch, place: Any, name: str, at: int, after: bool) -> None:
    """Lets the process die before or after the `at`th call of a function."""
    real, count = getattr(place, name), [0]

    def dying(*arguments: Any, **options: Any) -> Any:
        count[0] += 1
        if count[0] == at and not after:
            raise Died
        answer = real(*arguments, **options)
        if count[0] == at:
            raise Died
        return answer

    monkeypatch.setattr(place, name, dying)


PLACES = [
    (spooled, "take"), (spooled, "set_aside"), (spooled, "write_synced"), (intake, "take"), (Path, "unlink"),
    (work_drain, "_keep"), (libgit2.Objects, "write"), (libgit2.Refs, "compare_and_swap"), (batch, "write_clock"),
]  # fmt: skip


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", [1, 2])
@pytest.mark.parametrize(("place", "name"), PLACES, ids=[name for _, name in PLACES])
def test_a_drain_that_is_killed_anywhere_loses_nothing_and_tells_nothing_twice(
    repo: Repo, store: Store, place: Any, name: str, at: int, after: bool
) -> None:
    live = Live(repo.path)
    live.prompt("go")
    live.edit("README", "a project", "one")
    (repo.path / "README").write_text("one\nby hand\n")
    current = spool_of(store) / "current"
    current.write_bytes(current.read_bytes() + b"\n\0pog 9 torn")
    live.edit("README", "one", "two")
    other = Live(repo.path, "other", live.clock)
    pending = other.begin_edit("README", "two", "three")
    with pytest.MonkeyPatch.context() as patch:
        crash(patch, place, name, at, after)
        with pytest.raises(Died) if at == 1 else suppress(Died):
            drained(store, live)
    store.close()
    again = open_store(repo.path)
    drained(again, live)
    (repo.path / "README").write_text("three\nby hand\n")
    other.end(pending)
    drained(again, live)
    assert told(again, live.task) == [
        "defined",
        "moved in_progress",
        "prompted",
        "stepped Edit",
        "observed",
        "stepped Edit",
    ]
    assert told(again, other.task) == ["defined", "moved in_progress", "stepped Edit"]
    assert sides(again, steps(again, other.task)[0]) == [("README", b"two\nby hand\n", b"three\nby hand\n")]
    assert len(again.events(live.task)) == 6
    assert len(spooled.set_aside_parts(spool_of(store))) == 1
    assert sorted(path.name for path in spool_of(store).iterdir()) == ["damaged", "lock", "open"]
    assert not list((spool_of(store) / "open").iterdir())
    again.close()


def test_a_drain_waits_only_so_long_and_says_what_waits(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    live.prompt("go")
    with locked(store.layout.own):
        assert drained(store, live, wait=0.05) == (0, 0, 0, 1)
    with locked(spool_of(store)):
        assert drained(store, live, wait=0.05) == (0, 0, 0, 1)
    repo.git("config", "pog.enabled", "false")
    assert drained(open_store(repo.path), live) == (0, 0, 0, 1)


def test_without_a_spool_there_is_nothing_to_drain(repo: Repo) -> None:
    store = opened(repo)
    assert drain(store) == (0, 0, 0, 0)
    assert not spool_of(store).exists()


def test_a_record_of_an_agent_that_is_not_known_yet_waits(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    place = os.fsencode(repo.path)
    record = spool.encode_record(
        record_id="0" * 32, agent="newer", event="x", time=live.clock[0], offset=0, git_dir=place + b"/.git",
        common_dir=place + b"/.git", root=place, payload=b"{}", whole=True,
    )  # fmt: skip
    spool.append(os.fsencode(spool_of(store)), record)
    assert drained(store, live) == (0, 0, 0, 0)
    assert len(list((spool_of(store) / "open").iterdir())) == 1


def test_calls_without_an_id_are_told_apart_by_their_order(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    call = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
    for stdout in ("one", "two"):
        live.say("PreToolUse", **call)
        live.end(call, {"stdout": stdout, "stderr": ""})
    with pytest.MonkeyPatch.context() as patch:
        crash(patch, work_drain, "_keep", 1, after=False)
        with pytest.raises(Died):
            drained(store, live)
    drained(store, live)
    assert [store.find_text(step.output) for step in steps(store, live.task)] == ["one", "two"]
    assert len(store.events(live.task)) == 4


def test_a_session_whose_task_is_damaged_stops_no_other(repo: Repo, store: Store) -> None:
    one = Live(repo.path, "one")
    two = Live(repo.path, "two", one.clock)
    one.prompt("go")
    drained(store, one)
    tip = repo.git("rev-parse", f"refs/pog/tasks/{one.task}")
    damage(repo, tip)
    one.prompt("more")
    two.prompt("go")
    assert drained(open_store(repo.path), one) == (1, 3, 1, 0)
    assert "prompted" in told(store, two.task)
    assert drained(store, one) == (0, 0, 1, 0)


def damage(repo: Repo, oid: str) -> None:
    path = repo.path / ".git" / "objects" / oid[:2] / oid[2:]
    if not path.exists():
        for pack in (repo.path / ".git" / "objects" / "pack").iterdir():
            pack.unlink()
    path.unlink(missing_ok=True)


def test_links_odd_paths_and_files_in_sub_directories(repo: Repo, store: Store) -> None:
    """Case PC-66."""
    (repo.path / "web").mkdir()
    (repo.path / "link").symlink_to("README")
    repo.commit(message="link")
    live = Live(repo.path)
    live.edit("link", "a project", "one")
    name = os.fsdecode(b"caf\xe9")
    live.say("SessionStart", cwd=str(repo.path / "web"))
    call = live.begin("Write", {"file_path": f"{repo.path}/web/../{name}", "content": "x\n"})
    (repo.path / name).write_text("x\n")
    live.end(call)
    drained(store, live)
    linked, odd = steps(store, live.task)
    assert sides(store, linked) == [("README", b"a project\n", b"one\n")]
    assert sides(store, odd) == [(OddPath(b64="Y2Fm6Q=="), None, b"x\n")]


def test_a_repository_without_commits(make_repo: Callable[..., Repo]) -> None:
    repo = make_repo("empty", commit=False)
    store = recording(repo)
    live = Live(repo.path)
    live.write("a", "one\n")
    (repo.path / "b").write_text("by hand\n")
    live.edit("b", "by hand", "two")
    drained(store, live)
    found = [sides(store, event) for event in events(store, live.task) if getattr(event, "changes", ())]
    assert found == [[("a", None, b"one\n")], [("b", None, b"by hand\n")], [("b", b"by hand\n", b"two\n")]]


def test_a_bare_repository_with_linked_work_trees(repo: Repo, tmp_path: Path) -> None:
    """Case PC-70."""
    repo.git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare.git"))
    Repo(tmp_path / "bare.git").git("worktree", "add", "--quiet", str(tmp_path / "tree"))
    store = recording(Repo(tmp_path / "tree"))
    live = Live(tmp_path / "tree")
    live.edit("README", "a project", "one")
    drained(store, live)
    assert sides(store, steps(store, live.task)[0]) == [("README", b"a project\n", b"one\n")]


def test_a_shell_call_that_names_a_file_is_named_by_what_is_observed(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    live.edit("README", "a project", "one")
    call_id = live.shell("sleep 1 && sed -i s/one/sorted/ README &")
    live.shell("ls")
    (repo.path / "README").write_text("sorted\n")
    live.edit("README", "sorted", "two")
    drained(store, live)
    (gap,) = [event for event in events(store, live.task) if isinstance(event, Observed)]
    assert gap.during == (call_id,)


def test_the_model_is_known_in_later_drains_and_not_claimed_for_sub_agents(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    live.say("SessionStart", model="claude-opus-4-5")
    drained(store, live)
    live.shell("ls")
    live.agent = {"agent_id": "sub1"}
    live.shell("ls")
    drained(store, live)
    assert [step.actor.model for step in steps(store, live.task)] == ["claude-opus-4-5", None]


def test_files_outside_of_the_repository_are_never_spelled(repo: Repo, store: Store, tmp_path: Path) -> None:
    live = Live(repo.path)
    call = live.begin("Write", {"file_path": str(tmp_path / "elsewhere"), "content": "x\n"})
    live.end(call)
    drained(store, live)
    (step,) = steps(store, live.task)
    assert (step.coverage, step.coverage_reason) == ("partial", "outside")
    assert [change.path for change in step.changes] == [OddPath(outside=True)]


def test_drains_beside_hooks_lose_nothing(repo: Repo, store: Store) -> None:
    """Eight sessions are recorded while two drainers run."""
    sessions = [Live(repo.path, f"s{number}") for number in range(8)]

    def run(live: Live) -> None:
        for _ in range(8):
            live.shell("ls")

    def drain_on() -> None:
        own = open_store(repo.path)
        while not done.is_set():
            drained(own, sessions[0])
        own.close()

    done = threading.Event()
    workers = [threading.Thread(target=run, args=(live,)) for live in sessions]
    drainers = [threading.Thread(target=drain_on) for _ in range(2)]
    for thread in (*drainers, *workers):
        thread.start()
    for thread in workers:
        thread.join()
    done.set()
    for thread in drainers:
        thread.join()
    drained(store, sessions[0])
    assert [len(steps(store, live.task)) for live in sessions] == [8] * 8
    assert [len(store.events(live.task)) for live in sessions] == [10] * 8
