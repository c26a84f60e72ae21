"""One call of a hook, read: never fails, and says of a step what an import would say of it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pogstore.agents import drafts
from pogstore.agents.claude_code import hear
from pogstore.agents.heard import LONGEST_NAME, Heard, Step
from pogstore.interop.claude_code import LONGEST_TEXT
from pogstore.interop.claude_edits import is_told, outcome_of
from pogstore.model import Person
from pogstore.work.spooled_record import Record
from tests.conftest import SECOND, STARTED

ADA = Person(name="Ada", email="ada@example.org")


def record(payload: bytes, event: str = "Stop") -> Record:
    return Record("0" * 32, "claude-code", event, STARTED, 60, b"/g", b"/g", b"/r", payload, True, "", (), {})


def heard(event: str, **members: Any) -> Heard:
    return hear(record(json.dumps({"session_id": "s", "hook_event_name": event, **members}).encode(), event))


def call(event: str, tool: str, given: Any = None, **members: Any) -> Heard:
    return heard(event, tool_name=tool, tool_input=given or {}, tool_use_id="t1", **members)


def step(end: Heard, **fields: Any) -> Any:
    return drafts.stepped(Step(None, end, **fields), drafts.agent(end, "m", ADA))


NAMES = st.sampled_from(["session_id", "tool_name", "tool_input", "tool_use_id", "tool_response", "prompt"])
VALUES = st.recursive(st.none() | st.text(max_size=4) | st.integers(), lambda inner: st.dictionaries(NAMES, inner))
PAYLOADS = st.binary(max_size=60) | VALUES.map(lambda value: json.dumps(value).encode())
EVENTS = st.sampled_from(["PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop", "UserPromptSubmit"])


@given(PAYLOADS, EVENTS)
def test_whatever_an_agent_sends_is_heard_and_told(payload: bytes, event: str) -> None:
    found = hear(record(payload, event))
    actor = drafts.agent(found, None, None)
    said = [drafts.noted(found, actor), drafts.defined(found, actor)]
    if found.begins:
        said.append(drafts.stepped(Step(found, None), actor))
    if found.ends:
        said.append(drafts.stepped(Step(None, found), actor))
    assert all(draft.source is not None and draft.source.key for draft in said)
    assert found.session
    for draft in said:
        for text in draft.texts.values():
            assert len(text.text) < 2 * LONGEST_TEXT


def test_a_payload_that_ends_too_early_still_names_its_session() -> None:
    found = hear(record(b'{"session_id": "s", "agent_id": "a", "tool_name": "Edit", "x', "PreToolUse"))
    assert (found.session, found.agent_id, found.begins) == ("s", "a", False)


@pytest.mark.parametrize(
    ("tool", "class_"),
    [("Edit", "edit"), ("Bash", "shell"), ("Grep", "read"), ("mcp__a__b", "mcp"), ("Agent", "other")],
)
def test_tools_have_the_classes_that_imports_give_them(tool: str, class_: str) -> None:
    draft = step(call("PostToolUse", tool))
    assert draft.fields == {"tool": tool, "class": class_, "call_id": "t1", "ok": True}


def test_a_failed_call_keeps_its_error_and_its_time() -> None:
    draft = step(call("PostToolUseFailure", "Read", error="gone", duration_ms=12))
    assert draft.fields["ok"] is False
    assert draft.fields["duration_ms"] == 12
    assert draft.texts["output"].text == "gone"


@pytest.mark.parametrize("duration", [-1, 1.5, True, "9", 1 << 70, None])
def test_what_is_no_duration_is_none(duration: object) -> None:
    assert "duration_ms" not in step(call("PostToolUse", "Bash", duration_ms=duration)).fields


@pytest.mark.parametrize(
    ("after", "told", "kept"),
    [(2_500_900, None, 2500), (2_500_900, 7, 7), (400, None, 0), (0, None, None), (-SECOND, None, None)],
)
def test_a_call_without_a_duration_lasted_from_one_hook_to_the_other(
    after: int, told: int | None, kept: int | None
) -> None:
    begin, end = call("PreToolUse", "Bash"), call("PostToolUse", "Bash", duration_ms=told)
    end = end._replace(record=end.record._replace(time=begin.record.time + after))
    draft = drafts.stepped(Step(begin, end), drafts.agent(end, "m", ADA))
    assert draft.fields.get("duration_ms") == kept


def test_answers_are_kept_as_text_and_cut() -> None:
    shown = [
        call("PostToolUse", "Bash", tool_response=response).answer
        for response in ("plain", {"stdout": "out", "stderr": "err"}, {"stdout": "", "stderr": ""}, {"a": 1}, None)
    ]
    assert shown == ["plain", "out\nerr", "", '{"a":1}', ""]
    long = step(call("PostToolUse", "Bash", {"command": "x" * 200_000}, tool_response="y\n" * 100_000))
    assert all(len(text.text) < LONGEST_TEXT + 100 for text in long.texts.values())


def test_what_an_edit_wrote_is_told_once() -> None:
    end = call("PostToolUse", "Edit", {"file_path": "/r/a", "old_string": "a", "new_string": "b"}, tool_response="ok")
    assert set(step(end, known=True).texts) == {"input"}
    assert json.loads(step(end, known=True).texts["input"].text) == {"file_path": "/r/a"}
    assert "new_string" in step(end).texts["input"].text
    assert "output" in step(end).texts


def test_edits_tell_what_they_found() -> None:
    given_input = {"file_path": "/r/a", "old_string": "a", "new_string": "b"}
    told = call("PostToolUse", "Edit", given_input, tool_response={"originalFile": "aa\n"}).edit
    untold = call("PostToolUse", "Edit", given_input, tool_response={"success": True}).edit
    new = call("PostToolUse", "Write", {"content": "b"}, tool_response={"type": "create"}).edit
    assert [is_told(each) for each in (told, untold, new, None)] == [True, False, True, False]
    assert new is not None
    assert (new.original, outcome_of(new)) == (None, "b")
    assert call("PostToolUse", "Bash").edit is None
    assert call("PostToolUseFailure", "Edit", given_input).edit is None


def test_actors_say_who_answers_for_them() -> None:
    main, sub = heard("Stop"), heard("Stop", agent_id="a1")
    assert drafts.agent(main, "m", ADA).on_behalf_of == ADA
    assert (drafts.agent(sub, None, ADA).model, drafts.agent(sub, None, ADA).agent_id) == (None, "a1")
    assert drafts.person(main, ADA).name == "Ada"
    assert drafts.person(main, None).type == "human"


def test_names_that_an_agent_chooses_are_cut_and_whole() -> None:
    found = heard("PreToolUse", tool_name="x" * 999, tool_use_id="\ud800", agent_id=7)
    assert len(found.tool) == LONGEST_NAME
    assert (found.call_id, found.agent_id) == ("\ufffd", None)
