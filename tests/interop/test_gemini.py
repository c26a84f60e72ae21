"""Sessions of Gemini CLI: both forms of the file, edits by what was shown of them, and other people's projects."""

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pogstore.draft import Draft
from pogstore.interop.claude_code import Reading
from pogstore.interop.gemini import read_sessions
from pogstore.interop.json_lines import Transcript
from tests.interop.claude import of_kind, sides

ROOT = "/home/ada/shop"


def message(number: int, kind: str, **members: Any) -> dict[str, Any]:
    stamp = f"2026-03-02T09:00:{number:02}.000Z"
    return {"id": f"m{number}", "timestamp": stamp, "type": kind, "content": "", **members}


def call(
    number: int, name: str, args: Any, shown: Any = None, status: str = "success", output: str = "ok"
) -> dict[str, Any]:
    response = {"functionResponse": {"id": "x", "name": name, "response": {"output": output}}}
    return {"id": f"{name}-{number}", "name": name, "args": args, "status": status, "result": [response],
            "timestamp": f"2026-03-02T09:00:{number:02}.500Z", "resultDisplay": shown}  # fmt: skip


def transcript(*messages: dict[str, Any], form: str = "object", project: str = ROOT) -> Transcript:
    head = {"sessionId": "g-1", "projectHash": hashlib.sha256(project.encode()).hexdigest(), "startTime": "x"}
    if form == "object":
        lines = json.dumps({**head, "messages": messages}, indent=2).encode().splitlines(keepends=True)
    else:
        lines = [json.dumps(each).encode() + b"\n" for each in (head, *messages)]
    return Transcript("session-1.json", lines)


def reading(*messages: dict[str, Any], here: str | None = ROOT, **options: Any) -> Reading:
    (found,) = read_sessions([transcript(*messages, **options)], here=here)
    return found


def drafts(*messages: dict[str, Any], **options: Any) -> tuple[Draft, ...]:
    (task,) = reading(*messages, **options).tasks
    return task.drafts


def edits(*calls: dict[str, Any]) -> list[Any]:
    found = of_kind(drafts(message(1, "gemini", toolCalls=list(calls))), "stepped")
    return [
        (change.path, *sides(change), step.fields.get("coverage_reason")) for step in found for change in step.changes
    ]


@pytest.mark.parametrize("form", ["object", "lines"])
def test_a_session_is_told_in_its_order(form: str) -> None:
    written = call(4, "write_file", {"file_path": f"{ROOT}/a.py", "content": "hi\n"}, {"isNewFile": True})
    found = drafts(
        message(1, "user", content=[{"text": "Add a greeting"}]),
        message(2, "info", content="Update available"),
        message(3, "gemini", content="I will.", model="gemini-test", toolCalls=[written],
                thoughts=[{"subject": "Plan", "description": "Hm"}]),
        message(5, "gemini", content="Done.", model="gemini-test"),
        form=form,
    )  # fmt: skip
    assert [(draft.kind, draft.fields.get("topic")) for draft in found] == [
        ("defined", None), ("prompted", None), ("noted", "gemini:thinking"), ("noted", "gemini:reply"),
        ("stepped", None), ("noted", "gemini:reply"),
    ]  # fmt: skip
    (step,) = of_kind(found, "stepped")
    assert (step.fields["ok"], step.fields["coverage"], step.actor.model) == (True, "scoped", "gemini-test")
    assert [(change.path, *sides(change)) for change in step.changes] == [("a.py", None, b"hi\n")]


def test_a_message_that_grew_counts_once() -> None:
    first = message(1, "gemini", content="I")
    found = drafts(first, message(1, "gemini", content="I will."), form="lines")
    assert [draft.texts["text"].text for draft in of_kind(found, "noted")] == ["I will."]


def test_what_was_shown_of_an_edit_tells_both_sides() -> None:
    replaced = {"file_path": f"{ROOT}/a", "old_string": "x", "new_string": "y"}
    shown = {"fileDiff": "…", "originalContent": "x\n", "newContent": "y\n"}
    assert edits(call(1, "replace", replaced, shown)) == [("a", b"x\n", b"y\n", None)]
    written = {"file_path": f"{ROOT}/a", "content": "x\n"}
    assert edits(call(1, "write_file", written), call(2, "replace", replaced)) == [
        ("a", None, b"x\n", "no-before"),
        ("a", b"x\n", b"y\n", None),
    ]
    assert edits(call(1, "replace", replaced)) == [("a", None, None, "no-original")]
    assert edits(call(1, "replace", replaced, shown, status="error")) == []
    assert edits(call(1, "replace", {"file_path": f"{ROOT}/a", "old_string": "", "new_string": "new"})) == [
        ("a", None, b"new", None)
    ]


def test_what_changed_between_two_edits_is_observed() -> None:
    shown = {"originalContent": "x\n", "newContent": "y\n"}
    again = {"originalContent": "z\n", "newContent": "w\n"}
    args = {"file_path": f"{ROOT}/a", "old_string": "x", "new_string": "y"}
    found = drafts(message(1, "gemini", toolCalls=[call(1, "replace", args, shown), call(2, "replace", args, again)]))
    (observed,) = of_kind(found, "observed")
    assert [(change.path, *sides(change)) for change in observed.changes] == [("a", b"y\n", b"z\n")]


def test_shells_and_others_have_their_classes() -> None:
    calls = [
        call(1, "run_shell_command", {"command": "echo x > b", "dir_path": "sub"}),
        call(2, "read_file", {"file_path": "a"}, output="secret contents"),
        call(3, "mcp_files_write", {}),
        call(4, "save_memory", {"fact": "x"}),
    ]
    found = of_kind(drafts(message(1, "gemini", toolCalls=calls)), "stepped")
    assert [step.fields["class"] for step in found] == ["shell", "read", "mcp", "other"]
    assert [change.path for change in found[0].changes] == ["sub/b"]
    assert "output" not in found[1].texts


def test_the_session_of_another_project_is_not_taken() -> None:
    said = message(1, "user", content="hello")
    elsewhere = message(2, "gemini", toolCalls=[call(1, "write_file", {"file_path": "/elsewhere/a", "content": "x"})])
    found = reading(said, elsewhere, project="/elsewhere")
    assert found.tasks == ()
    assert [oddity.code for oddity in found.oddities if oddity.code == "other-project"] == ["other-project"]
    inside = message(3, "gemini", toolCalls=[call(2, "write_file", {"file_path": f"{ROOT}/a", "content": "x"})])
    assert reading(said, inside, project="/moved/since").tasks
    assert reading(said).tasks


@pytest.mark.parametrize("lines", [[], [b"{"], [b"[1]"], [b'{"messages": []}'], [b'{"sessionId": 1}']])
def test_what_is_no_session_is_told(lines: list[bytes]) -> None:
    (found,) = read_sessions([Transcript("x", lines)])
    assert found.tasks == ()
    assert "no-session" in {oddity.code for oddity in found.oddities}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 9) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["text", "file_path", "content"]), inner)
    ),
    max_leaves=6,
)
NAMES = st.sampled_from(["id", "name", "args", "status", "result", "resultDisplay", "timestamp", "content", "type"])


@given(st.dictionaries(NAMES, VALUES), st.dictionaries(NAMES, VALUES))
def test_whatever_a_message_holds_is_no_error(said: dict[str, Any], called: dict[str, Any]) -> None:
    reading(message(1, "gemini", toolCalls=[{"id": "c", "name": "replace", **called}]), message(2, "user") | said)
