"""The peek finds what `json` finds, in whatever an agent sends, and no text makes it fail or dawdle."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pogstore.agents import peek as peeking
from pogstore.agents.peek import peek, unescape

NAMES = ("cwd", "session_id", "a b", "é")
INNER = ("file_path", "path", "cwd")
TEXTS = st.text(max_size=8) | st.sampled_from(("\\", '"', '\\"', "\\\\", "\U0001f600", "\ud83d", "{", "}", '":', "\0"))
ARRAYS = ("paths", "cwd")
KEYS = st.sampled_from((*NAMES, *INNER, *ARRAYS, "tool_input", "tool_input.path", "paths.0", "other")) | TEXTS
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.lists(
    st.tuples(
        KEYS,
        VALUES
        | st.dictionaries(st.sampled_from((*INNER, "tool_input", "paths")), VALUES, max_size=3)
        | st.lists(TEXTS | VALUES, max_size=4),
    ),
    max_size=6,
)


def peeked(data: bytes) -> dict[str, str]:
    return peek(data, NAMES, {"tool_input": INNER}, ARRAYS)


def expected(value: dict[str, Any]) -> dict[str, str]:
    """What should be found in an object as `json` read it."""
    inner = value.get("tool_input")
    within = inner if isinstance(inner, dict) else {}
    pairs = [(name, value.get(name)) for name in NAMES]
    pairs += [(f"tool_input.{name}", within.get(name)) for name in INNER]
    for name in ARRAYS:
        elements = value.get(name)
        strings = [each for each in elements if isinstance(each, str)] if isinstance(elements, list) else []
        pairs += [(f"{name}.{at}", each) for at, each in enumerate(strings)]
    return {name: found for name, found in pairs if isinstance(found, str)}


def spelled(pairs: list[tuple[str, Any]], ascii_only: bool, gaps: str) -> bytes:
    """Writes an object that may hold a name twice; a lone half of a pair can be written as an escape only."""
    dumped = [[json.dumps(part, ensure_ascii=ascii_only) for part in pair] for pair in pairs]
    text = gaps + "{" + ",".join(f"{gaps}{key}{gaps}:{gaps}{value}{gaps}" for key, value in dumped) + "}" + gaps
    return "".join(f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in text).encode()


@given(OBJECTS, st.booleans(), st.sampled_from(("", " ", "\t\r\n ")))
def test_it_finds_what_json_finds(pairs: list[tuple[str, Any]], ascii_only: bool, gaps: str) -> None:
    data = spelled(pairs, ascii_only, gaps)
    assert peeked(data) == expected(json.loads(data))


@given(st.dictionaries(KEYS, VALUES, max_size=6), st.data())
def test_of_a_text_that_ends_early_it_finds_what_was_whole(value: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(value).encode()
    cut = data.draw(st.integers(0, len(text)))
    assert peeked(text[:cut]).items() <= expected(value).items()


def test_of_an_array_no_more_is_kept_than_a_hook_can_look_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peeking, "MOST", 2)
    data = b'{"paths": [1, "a", {"b": "]"}, "c", "d", ["e", "]"]], "cwd": "/r"}'
    assert peeked(data) == {"paths.0": "a", "paths.1": "c", "cwd": "/r"}


@pytest.mark.parametrize("rest", [b'"a" "b"]', b'"a", x]', b'"a",]', b'"a", "b'])
def test_an_array_that_is_none_is_kept_as_far_as_it_is_one(rest: bytes) -> None:
    assert peeked(b'{"cwd": "/r", "paths": [' + rest + b', "session_id": "s"}')["paths.0"] == "a"


@given(st.binary(max_size=60) | st.text('{}[]:,"\\ua0 \n', max_size=40).map(str.encode))
def test_no_bytes_make_it_fail(data: bytes) -> None:
    peeked(data)
    peeked(b'{"cwd":' + data)
    peeked(b'{"cwd":"' + data + b'"}')


@given(st.text(st.characters(exclude_characters='"\\', exclude_categories=["Cs"]), max_size=20))
def test_raw_control_characters_are_taken_as_they_are(text: str) -> None:
    """Case PC-135."""
    data = b'{"other": "\n\0\x1b", "cwd": "%s"}' % text.encode()
    assert peeked(data) == {"cwd": text} == expected(json.loads(data, strict=False))


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (rb"", ""),
        (rb"\"\\\/\b\f\n\r\t", '"\\/\b\f\n\r\t'),
        (rb"\u00e9\u00E9", "éé"),
        (rb"\ud83d\ude00", "\U0001f600"),
        (rb"\ud83d\ud83d\ude00!", "\ud83d\U0001f600!"),
        (rb"\ud83d \ude00", "\ud83d \ude00"),
        (rb"\ude00\ud83d", "\ude00\ud83d"),
        (rb"\\ud83d\\\ude00", "\\ud83d\\\ude00"),
        (b"\xff\xc3", "\udcff\udcc3"),
        (rb"\x41", None),
        (rb"\u12", None),
        (rb"\u+123", None),
        (rb"\u1_23", None),
        (b"\\", None),
        (rb"\\\\\\n", "\\\\\\n"),
    ],
)
def test_escapes(raw: bytes, text: str | None) -> None:
    assert unescape(raw) == text


def test_a_string_with_an_escape_that_is_none_is_passed_over() -> None:
    assert peeked(rb'{"cwd": "C:\Users", "session_id": "s"}') == {"session_id": "s"}


@pytest.mark.parametrize(
    "rest",
    [b'"session_id" "x"}', b'session_id: "x"}', b'"a": , "session_id": "x"}', b'"a": x:1, "session_id": "x"}', b"]"],
)
def test_it_stops_where_the_text_is_no_json(rest: bytes) -> None:
    assert peeked(b'{"cwd": "/r", ' + rest) == {"cwd": "/r"}


def test_a_byte_order_mark_is_passed_over() -> None:
    assert peeked(b'\xef\xbb\xbf{"cwd": "/r"}') == {"cwd": "/r"}


SIZE = 10_000_000
LONG = {
    "one string": b'{"tool_input": {"content": "' + b"x" * SIZE + b'"}, "cwd": "/r"}',
    "quotes": b'{"tool_input": {"content": "' + b'\\"' * (SIZE // 2) + b'"}, "cwd": "/r"}',
    "backslashes": b'{"tool_input": {"content": "' + b"\\\\" * (SIZE // 2) + b'"}, "cwd": "/r"}',
    "many strings": b'{"tool_response": [' + b'"x",' * (SIZE // 40) + b'""], "cwd": "/r"}',
    "paths": b'{"paths": [' + b'"x",' * (SIZE // 40) + b'""], "cwd": "/r"}',
    "deep": b'{"tool_response": ' + b"[" * (SIZE // 20) + b"]" * (SIZE // 20) + b', "cwd": "/r"}',
}


@pytest.mark.parametrize("kind", LONG)
def test_a_long_text_takes_linear_time(kind: str) -> None:
    """Ten megabytes of text, and a tenth of that in many small pieces: one second is far more than a pass takes."""
    started = time.process_time()
    found = peeked(LONG[kind])
    assert found.pop("cwd") == "/r"
    assert len(found) == (peeking.MOST if kind == "paths" else 0)
    assert time.process_time() - started < 1
