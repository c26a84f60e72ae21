import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pogstore.interop.claude_lines import (
    LARGEST,
    Answer,
    Entry,
    Said,
    Thought,
    Use,
    microseconds,
    read_entries,
    sessions_in,
)
from pogstore.interop.json_lines import Oddities, Transcript
from tests.builders_claude import MODEL, ROOT, SESSION, VERSION, Json, Script


def read(*entries: object) -> list[Entry]:
    lines = [json.dumps(entry).encode() for entry in entries]
    return list(read_entries(Transcript("f", lines), Oddities()))


def test_an_entry_has_its_fields() -> None:
    script = Script(agent_id="a1")
    script.think("Hm")
    call = script.use("Bash", {"command": "ls"})
    script.answer(call, [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}], error=True)
    thought, use, answer = read(*script.entries)
    assert (thought.uuid, thought.session, thought.cwd, thought.version) == ("a1-0001", SESSION, ROOT, VERSION)
    assert (thought.agent_id, thought.sidechain, thought.model, thought.tokens) == ("a1", True, MODEL, (107, 3))
    assert thought.time == 1_770_291_001_000_000
    assert thought.parts == (Thought("Hm"),)
    assert use.parts == (Use(call, "Bash", {"command": "ls"}),)
    assert answer.parts == (Answer(call, False, "a\nb"),)
    assert answer.where == "f:3"


def test_what_a_sub_agent_says_is_unwrapped() -> None:
    main, agent = Script(), Script(agent_id="a1", minute=5)
    agent.reply("Found it")
    main.progress(agent.entries, "a1")
    (entry,) = read(*main.entries)
    assert (entry.type, entry.parts, entry.sidechain, entry.agent_id) == ("assistant", (Said("Found it"),), True, "a1")
    assert (entry.uuid, entry.session, entry.cwd) == ("a1-0001", SESSION, ROOT)
    assert entry.time == 1_770_291_301_000_000


def test_a_prompt_that_waited_is_a_prompt() -> None:
    script = Script()
    script.add("attachment", attachment={"type": "queued_command", "prompt": "And this", "commandMode": "prompt"})
    script.add("attachment", attachment={"type": "queued_command", "prompt": [{"type": "text", "text": "And that"}]})
    script.add("attachment", attachment={"type": "queued_command", "prompt": "ls", "commandMode": "bash"})
    script.add("attachment", attachment={"type": "diagnostics", "files": []})
    found = read(*script.entries)
    assert [(entry.type, entry.parts) for entry in found] == [
        ("user", (Said("And this"),)),
        ("user", (Said("And that"),)),
        ("attachment", ()),
        ("attachment", ()),
    ]


@pytest.mark.parametrize("value", [None, 7, -1.5, True, "text", [], [1, "x"], {}, {"type": 1}, [{"type": "tool_use"}]])
@pytest.mark.parametrize("field", ["uuid", "sessionId", "timestamp", "cwd", "message", "toolUseResult", "type", "data"])
def test_a_field_of_another_type_costs_the_field_alone(field: str, value: object) -> None:
    script = Script()
    script.write("a.py", "1\n")
    script.progress([dict(script.entries[0])], "a1")
    for entry in script.entries:
        (found,) = read(entry | {field: value})
        if field != "type":
            assert found.type
        if field not in ("message", "type", "data"):
            assert found.parts == read(entry)[0].parts


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["type", "text", "content", "usage", "id", "input", "file"]), inner, max_size=4
            )
        ),
        max_leaves=8,
    ),
    st.sampled_from(["message", "toolUseResult", "data", "attachment"]),
    st.sampled_from(["user", "assistant", "progress", "attachment", "summary"]),
)
def test_any_shape_is_read(value: object, field: str, kind: str) -> None:
    assert len(read({"type": kind, field: value})) == 1


def test_numbers_beyond_what_an_event_holds_are_no_counts() -> None:
    script = Script()
    script.blocks({"type": "text", "text": "x"}, tokens=(2**60, -1))
    (entry,) = read(*script.entries)
    assert entry.tokens == (100, 0)
    script.blocks({"type": "text", "text": "x"}, tokens=(True, True))
    assert read(script.entries[-1])[0].tokens == (100, 0)
    script.blocks({"type": "text", "text": "x"}, tokens=(LARGEST - 1, 2))
    assert read(script.entries[-1])[0].tokens == (LARGEST - 1, 2)


@pytest.mark.parametrize(
    ("stamp", "time"),
    [
        ("1970-01-01T00:00:00.001Z", 1000),
        ("1970-01-01T02:00:00+02:00", 0),
        ("1970-01-01T00:00:01", 1_000_000),
        ("1969-12-31T23:59:59.999999Z", -1),
        ("9999-12-31T00:00:00Z", None),
        ("yesterday", None),
        ("", None),
        (5, None),
    ],
)
def test_times_are_microseconds(stamp: object, time: int | None) -> None:
    assert microseconds(stamp) == time


def test_sessions_are_found_without_parsing() -> None:
    said: Json = {"type": "user", "message": {"content": 'I say "sessionId":"not this"'}, "sessionId": "s-1"}
    lines = [
        json.dumps(said).encode(),
        b"nonsense",
        b'{"sessionId" : "s-2"',
        b'{"sessionId":"s-1"}',
        b'{"sessionId":""}',
    ]
    assert sessions_in(lines) == ("s-1", "s-2")


def test_types_that_are_not_known_are_counted() -> None:
    oddities = Oddities()
    lines = [b'{"type":"system"}', b'{"type":"novel"}', b'{"type":"novel"}', b'{"kind":1}']
    list(read_entries(Transcript("f", lines), oddities))
    assert [(oddity.code, oddity.detail) for oddity in oddities.told()] == [
        ("unknown-type", "lines of the type 'novel' (2 times)"),
        ("unknown-type", "lines of the type ''"),
    ]
