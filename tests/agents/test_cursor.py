"""Cursor: two sorts of hooks for one thing, edits that are told alone, several roots, and no prompt at all."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pogstore.agents import hook
from pogstore.interop.claude_edits import Replacement, rewritten, undone
from pogstore.store.store import Store
from tests.agents.live import Live, drained, events, recording, sides, steps, told
from tests.agents.test_hook import directory, pipe, records
from tests.conftest import SECOND, Repo

CLAUDE = {
    "beforeSubmitPrompt": "UserPromptSubmit",
    "preToolUse": "PreToolUse",
    "postToolUse": "PostToolUse",
    "stop": "Stop",
    "subagentStop": "SubagentStop",
    "sessionStart": "SessionStart",
    "sessionEnd": "SessionEnd",
}


class Both(Live):
    """Cursor, in which a hook of its own and one for Claude Code are both installed."""

    def __init__(self, root: Path, roots: list[Path] | None = None, both: bool = True) -> None:
        super().__init__(root, "c1", by="cursor")
        self.roots, self.both = roots or [root], both

    def say(self, event: str, **members: Any) -> bytes:
        said = {"conversation_id": "c1", "cursor_version": "2", "workspace_roots": [str(each) for each in self.roots]}
        self.by = "cursor"
        payload = json.dumps(said | self.agent | {"hook_event_name": event} | members).encode()
        self.say_bytes(payload)
        if self.both and event in CLAUDE:
            self.by = "claude-code"
            self.clock[0] -= SECOND // 2
            renamed = {"hook_event_name": CLAUDE[event]} | ({"tool_name": "Edit"} if "tool_name" in members else {})
            self.say_bytes(json.dumps(said | self.agent | members | renamed).encode())
            self.by = "cursor"
        return payload

    def call(self, name: str, text: str, *, before: Callable[[], None] = lambda: None) -> None:
        self.calls += 1
        given = {
            "tool_name": "Write",
            "tool_input": {"path": name, "contents": text},
            "tool_use_id": f"c{self.calls}\nx",
        }
        self.say("preToolUse", **given)
        (self.root / name).write_text(text)
        before()
        self.say("postToolUse", **given, tool_output='{"success":true}')


@pytest.fixture
def store(repo: Repo) -> Store:
    return recording(repo)


def test_what_both_hooks_tell_is_told_once(store: Store, repo: Repo) -> None:
    live = Both(repo.path)
    live.say("sessionStart", session_id="c1")
    live.say("beforeSubmitPrompt", prompt="go")
    live.call("a", "x\n")
    live.say("subagentStop", subagent_id="s")
    live.say("stop", status="completed")
    live.say("sessionEnd", reason="completed")
    drained(store, live)
    assert list(store.tasks()) == [live.task], "one session, of Cursor"
    assert told(store, live.task) == [
        "noted cursor:sessionStart", "defined", "moved in_progress", "prompted", "stepped Write",
        "noted cursor:subagentStop", "noted cursor:stop", "noted cursor:sessionEnd", "moved in_review",
    ]  # fmt: skip
    assert sides(store, steps(store, live.task)[0]) == [("a", None, b"x\n")]


def test_the_same_words_later_are_said_again(store: Store, repo: Repo) -> None:
    live = Both(repo.path)
    for _ in range(2):
        live.say("beforeSubmitPrompt", prompt="go on")
        live.clock[0] += 5 * SECOND
    drained(store, live)
    assert told(store, live.task).count("prompted") == 2


@pytest.mark.parametrize("when", ["between", "after"])
def test_an_edit_that_a_call_tells_of_is_no_second_step(store: Store, repo: Repo, when: str) -> None:
    live = Both(repo.path, both=False)
    edit = {"file_path": str(repo.path / "a"), "edits": [{"old_string": "", "new_string": "x\n"}]}

    def tell() -> None:
        live.say("afterFileEdit", **edit)

    live.call("a", "x\n", before=tell if when == "between" else lambda: None)
    if when == "after":
        tell()
    drained(store, live)
    assert [(step.tool, step.coverage) for step in steps(store, live.task)] == [("Write", "scoped")]


def test_an_edit_that_is_told_alone_is_a_step_with_what_was_before(store: Store, repo: Repo) -> None:
    """Older versions, and lines that the editor completes: no hook saw the file before."""
    live = Both(repo.path, both=False)
    path = repo.path / "README"
    before = path.read_text()
    path.write_text(before + "completed\n")
    live.say("afterTabFileEdit", file_path="README", edits=[{"old_string": "", "new_string": "completed\n"}])
    path.write_text(before + "completed twice\n")
    live.say(
        "afterTabFileEdit", file_path=str(path), edits=[{"old_string": "completed", "new_string": "completed twice"}]
    )
    drained(store, live)
    assert [(step.tool, step.ok, step.coverage) for step in steps(store, live.task)] == [("Tab", True, "scoped")] * 2
    found = [side for step in steps(store, live.task) for side in sides(store, step)]
    assert found == [
        ("README", before.encode(), f"{before}completed\n".encode()),
        ("README", f"{before}completed\n".encode(), f"{before}completed twice\n".encode()),
    ]


@pytest.mark.parametrize(
    ("content", "replacements", "before"),
    [
        ("a b c", [("x", "b", False)], "a x c"),
        ("a b b", [("x", "b", False)], None),
        ("a", [("x", "", False)], None),
        ("ab", [("x", "a", True)], None),
        ("ab", [], None),
        ("2", [("0", "1", False), ("1", "2", False)], "0"),
    ],
)
def test_an_edit_is_undone_only_where_it_is_certain(
    content: str, replacements: list[tuple[str, str, bool]], before: str | None
) -> None:
    made = tuple(Replacement(*each) for each in replacements)
    assert undone(content, made) == before
    assert before is None or rewritten(before, made) == content


def test_without_a_prompt_the_session_is_opened_by_its_first_step(store: Store, repo: Repo) -> None:
    """Case PC-132: `-p` fires neither beforeSubmitPrompt nor stop; the id of a call has a newline."""
    live = Both(repo.path, both=False)
    live.say("sessionStart", session_id="c1")
    live.call("a", "x\n")
    live.say("sessionEnd", reason="completed")
    drained(store, live)
    assert told(store, live.task) == [
        "noted cursor:sessionStart", "defined", "moved in_progress", "stepped Write", "noted cursor:sessionEnd",
        "moved in_review",
    ]  # fmt: skip
    (step,) = steps(store, live.task)
    assert step.call_id == "c1\nx"


def test_a_thread_of_its_own_is_part_of_its_parent(store: Store, repo: Repo) -> None:
    live = Both(repo.path, both=False)
    live.agent = {"conversation_id": "c2", "parent_conversation_id": "c1"}
    live.say("sessionStart")
    drained(store, live)
    (task,) = store.tasks()
    (noted,) = events(store, task)
    assert [(link.rel, link.task) for link in noted.links] == [("parent", live.task)]


def test_of_several_roots_it_is_the_one_that_holds_the_file(
    store: Store, repo: Repo, make_repo: Callable[..., Repo], tmp_path: Path
) -> None:
    """The first root is none that records, and a file is told below no root."""
    other = make_repo("other")
    (tmp_path / "plain").mkdir()
    (repo.path / "only here").write_text("x")
    live = Both(repo.path, roots=[tmp_path / "plain", other.path, repo.path], both=False)
    live.say("sessionStart")
    live.say("preToolUse", tool_name="Write", tool_input={"path": "only here"}, tool_use_id="c")
    start, begin = records(repo)
    assert start.event == "sessionStart"
    assert [state.path for state in begin.states] == [b"only here"]
    assert not directory(other).exists()


def test_a_payload_of_cursor_is_cursor_s_whichever_hook_had_it(store: Store, repo: Repo) -> None:
    payload = {"conversation_id": "c1", "cursor_version": "2", "workspace_roots": [str(repo.path)], "cwd": "",
               "hook_event_name": "UserPromptSubmit", "prompt": "go"}  # fmt: skip
    with pipe(json.dumps(payload).encode()) as stdin:
        hook.main(("claude-code",), stdin, {})
    live = Both(repo.path)
    drained(store, live)
    assert [event.actor.session for event in events(store, live.task)] == ["c1"] * 3
