"""Our own contract, read: never fails, guesses nothing, and keeps what it does not know."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from pogstore.agents import drafts
from pogstore.agents.drain import READERS
from pogstore.agents.generic import CLASSES, EVENTS, MEMBERS, hear, paths_of
from pogstore.agents.heard import LONGEST_NAME, Heard, Step
from pogstore.interop.claude_code import LONGEST_TEXT
from pogstore.model import Usage
from pogstore.work.spooled_record import Record
from tests.conftest import STARTED

DOCS = Path(__file__).parents[2] / "docs"
SCHEMA = json.loads((DOCS / "schemas" / "hook.json").read_text("utf-8"))
CONTRACT = (DOCS / "reference" / "hook-contract.md").read_text("utf-8")
RECORD_ALONE = {"key", "time", "changes"}


def record(payload: bytes) -> Record:
    return Record("0" * 32, "generic", "x", STARTED, 60, b"/g", b"/g", b"/r", payload, True, "", (), {})


def heard(event: str, **members: Any) -> Heard:
    return hear(record(json.dumps({"version": 1, "session": "s", "event": event, **members}).encode()))


def draft(found: Heard) -> Any:
    actor = drafts.agent(found, None, None)
    if found.begins or found.ends:
        return drafts.stepped(Step(found if found.begins else None, found if found.ends else None), actor)
    return drafts.prompted(found, actor) if found.phase == "prompt" else drafts.noted(found, actor)


JSON = st.recursive(
    st.none() | st.booleans() | st.text(max_size=4) | st.integers() | st.floats(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.sampled_from([*MEMBERS, "zz"]), JSON, max_size=8)
EVENT = st.sampled_from([*EVENTS, "else", ""]) | JSON
PAYLOADS = st.binary(max_size=60) | st.builds(
    lambda found, event: json.dumps(found | {"event": event}).encode(), OBJECTS, EVENT
)


@given(PAYLOADS)
def test_whatever_is_sent_is_heard_and_told(payload: bytes) -> None:
    found = hear(record(payload))
    said = draft(found)
    assert found.session
    assert said.source.key
    assert all(len(text.text) < 2 * LONGEST_TEXT for text in said.texts.values())
    drafts.defined(found, said.actor)


FITTING = st.fixed_dictionaries(
    {"event": st.sampled_from([*EVENTS])},
    optional={
        "version": st.just(1),
        "class": st.sampled_from(CLASSES),
        "tool": st.text(min_size=1, max_size=9),
        "text": st.text(max_size=9),
        "paths": st.lists(st.text(min_size=1, max_size=5), max_size=3),
        "usage": st.fixed_dictionaries({}, optional={"tokens_in": st.integers(0, 2**53 - 1)}),
        "duration_ms": st.integers(0, 2**53 - 1),
        "input": JSON,
    },
)


@given(FITTING)
def test_what_fits_the_schema_is_understood(said: dict[str, Any]) -> None:
    assert Draft202012Validator(SCHEMA).is_valid(json.loads(json.dumps(said)))
    found = hear(record(json.dumps(said).encode()))
    if said["event"] in ("prompt", "note", "decision") and not said.get("text", "").strip():
        assert found.phase == "note"
    else:
        assert found.phase == EVENTS[said["event"]]
    if found.ends:
        assert found.tool_class == said.get("class", "other")
        assert found.duration_ms == said.get("duration_ms")


def test_the_schema_and_the_page_have_the_members_that_are_read() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert set(SCHEMA["properties"]) == MEMBERS | RECORD_ALONE
    assert SCHEMA["properties"]["class"]["enum"] == list(CLASSES)
    assert SCHEMA["properties"]["event"]["anyOf"][0]["enum"] == list(EVENTS)
    for name in (*MEMBERS, *RECORD_ALONE, *CLASSES, *EVENTS):
        assert f"`{name}`" in CONTRACT


def test_the_example_of_the_page_fits() -> None:
    lines = CONTRACT.split("```json\n")[1].split("```")[0].splitlines()
    for line in lines:
        Draft202012Validator(SCHEMA).validate(json.loads(line))
    found = [hear(record(line.encode())) for line in lines]
    assert [each.phase for each in found] == ["prompt", "begin", "end", "session-end"]
    assert not any(each.unnamed for each in found)


@pytest.mark.parametrize(
    "wrong",
    [{}, {"event": 5}, {"class": "psychic"}, {"version": 2}, {"paths": "a"}, {"cwd": "relative"}, {"duration_ms": -1},
     {"usage": {"tokens_in": 1.5}}, {"session": ""}, {"changes": [{"path": "a", "after": "", "after_b64": ""}]},
     {"changes": [{"after": ""}]}, {"changes": [{"path": "a", "mode": "160000"}]}],
)  # fmt: skip
def test_the_schema_says_what_does_not_fit(wrong: dict[str, Any]) -> None:
    assert not Draft202012Validator(SCHEMA).is_valid({"event": "tool_end", **wrong} if wrong else wrong)
    assert Draft202012Validator(SCHEMA).is_valid({"event": "zoom", "unknown": [1]})


def test_the_drain_hears_it() -> None:
    assert READERS["generic"] is hear


def test_a_call_says_what_it_was() -> None:
    end = heard(
        "tool_end", agent="fixer", agent_id="a1", model="m-1", call_id="c", tool="sed", **{"class": "edit"},
        input={"command": "s/a/b/"}, output={"ok": True}, duration_ms=3, usage={"tokens_in": 1, "cost_micro_usd": 2},
    )  # fmt: skip
    said = draft(end)
    assert said.fields == {
        "tool": "sed", "class": "edit", "call_id": "c", "ok": True, "duration_ms": 3,
        "usage": {"tokens_in": 1, "cost_micro_usd": 2},
    }  # fmt: skip
    assert {name: text.text for name, text in said.texts.items()} == {
        "input": '{"command":"s/a/b/"}',
        "output": '{"ok":true}',
    }
    assert (said.actor.name, said.actor.agent_id, said.raw) == ("fixer", "a1", None)
    assert (end.model, end.command, end.usage) == ("m-1", "s/a/b/", Usage(tokens_in=1, cost_micro_usd=2))
    failed = draft(heard("tool_failed", tool="sed", error="gone", output="some"))
    assert (failed.fields["ok"], failed.texts["output"].text) == (False, "some\ngone")


@pytest.mark.parametrize(("said", "class_"), [({}, "other"), ({"class": "psychic"}, "other"), ({"class": 5}, "other")])
def test_a_class_is_not_guessed(said: dict[str, Any], class_: str) -> None:
    found = heard("tool_end", tool="Edit", paths=["a"], **said)
    assert (found.tool, found.tool_class) == ("Edit", class_)
    assert heard("tool_end", **{"class": "shell"}).tool == "shell"


def test_what_was_said_becomes_what_it_is() -> None:
    kinds = [draft(heard(event, text="words")) for event in ("prompt", "note", "decision")]
    assert [(each.kind, each.texts["text"].text) for each in kinds] == [
        ("prompted", "words"),
        ("noted", "words"),
        ("decided", "words"),
    ]
    assert [each.texts["text"].class_ for each in kinds] == ["private", "private", "content"]
    assert kinds[1].fields == {"topic": "generic:note"}
    assert draft(heard("note", text="x", topic="deploy")).fields == {"topic": "deploy"}


@pytest.mark.parametrize(
    "members",
    [{"event": "zoom"}, {"event": "note"}, {"event": "prompt", "text": " "}, {"event": "tool_end", "version": 2},
     {"event": "prompt", "text": "x", "version": True}, {"event": "session_end", "reason": "done"}, {"event": 5}],
)  # fmt: skip
def test_what_is_no_event_of_version_1_is_a_note_with_all_it_said(members: dict[str, Any]) -> None:
    said = json.dumps({"agent": "fixer", "session": "s", "zz": 1, **members})
    found = hear(record(said.encode()))
    event = members["event"] if isinstance(members["event"], str) else "unknown"
    assert draft(found).kind == "noted"
    assert draft(found).fields == {"topic": f"fixer:{event}"}
    assert draft(found).texts["text"].text == said
    assert found.session == "s"


def test_what_the_contract_does_not_name_is_kept() -> None:
    for event, members in (
        ("prompt", {"text": "x"}),
        ("tool_end", {}),
        ("note", {"text": "x"}),
        ("decision", {"text": "x"}),
    ):
        raw = draft(heard(event, mood="good", **members)).raw
        assert raw.class_ == "private"
        assert json.loads(raw.text)["mood"] == "good"
        assert draft(heard(event, **members)).raw is None


def test_an_object_that_ends_too_early_still_names_its_session() -> None:
    found = hear(record(b'{"session": "s", "event": "tool_end", "agent": "a", "call_id": "c", "x'))
    assert (found.session, found.agent, found.call_id, found.phase) == ("s", "a", "c", "note")


def test_names_are_cut_and_whole() -> None:
    found = heard("tool_start", tool="x" * 999, call_id="\ud800", agent_id=7)
    assert (len(found.tool), found.call_id, found.agent_id) == (LONGEST_NAME, "\ufffd", None)


def test_paths_are_those_that_are_named() -> None:
    assert paths_of({"paths": ["a", 5, "", "b", "a"], "path": "z"}) == ["a", "b"]
    assert paths_of({"path": "z"}) == ["z"]
    assert paths_of({"paths": "a"}) == ["a"]
    assert paths_of({}) == []


def test_a_session_goes_on_from_another() -> None:
    assert heard("session_start", parent_session="p").parent == heard("note", session="p").task
    assert heard("session_start", parent_session="s").parent is None
    assert heard("session_start").parent is None
