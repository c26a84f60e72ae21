import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pogstore import codec
from pogstore.interop.pog_fields import (
    MAX_DEPTH,
    OURS,
    Value,
    definition_of,
    minutes,
    nesting,
    sound,
    source_fields,
    text_of,
    to_item,
)
from pogstore.model import ChecklistItem, Definition
from tests.interop.pog import clean

NAMES = ["title", "description", "tags", "checklist", "related_files", "issue", "original_prompt", "estimated_hours"]
VALUES = st.recursive(
    st.none() | st.text() | st.sampled_from(["", "true", "false", "yes", "null", "1.50"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text() | st.sampled_from(["text", "completed", "task", "done", OURS]), inner, max_size=4)
    ),
    max_leaves=12,
)
MAPPINGS = st.dictionaries(st.sampled_from([*NAMES, OURS, "untitled", "name"]) | st.text(), VALUES, max_size=8)


def definition(fields: dict[str, Value]) -> Definition:
    return definition_of(fields, title="fallback", aliases=("A",), ours={"path": "list/a/b/c.yaml"})


def deep(levels: int) -> Value:
    value: Value = "core"
    for _ in range(levels):
        value = [value]
    return value


@given(MAPPINGS)
def test_every_mapping_comes_back(fields: dict[str, Value]) -> None:
    assert source_fields(definition(fields)) == fields


@given(MAPPINGS)
def test_every_mapping_comes_back_through_canonical_bytes(fields: dict[str, Value]) -> None:
    stored = codec.encode_definition(definition(fields))
    assert source_fields(codec.decode_definition(stored)) == fields


@pytest.mark.parametrize("name", [*NAMES, "context_files", "notes", "completed_at"])
def test_absent_null_and_empty_stay_apart(name: str) -> None:
    values: list[Value] = [None, "", [], {}]
    for value in values:
        assert source_fields(definition({name: value})) == {name: value}
    assert source_fields(definition({})) == {}


def test_named_fields_are_where_readers_look() -> None:
    made = definition(clean(issue="PROJ-1", original_prompt="Please tidy", tags=["a", "b"], context_files=["doc.md"]))
    assert (made.title, made.intent, made.issue, made.priority) == ("Tidy", "Please tidy", "PROJ-1", "low")
    assert (made.tags, made.context_files, made.related_files) == (("a", "b"), ("doc.md",), ("src/a.py",))
    assert made.estimate_minutes == 30
    assert made.checklist == (ChecklistItem(text="one", done=True),)


def test_a_text_where_a_list_belongs_is_a_list_of_one_and_stays_a_text() -> None:
    made = definition({"tags": "solo", "related_files": ["a", None]})
    assert (made.tags, made.related_files) == (("solo",), ("a",))
    assert source_fields(made) == {"tags": "solo", "related_files": ["a", None]}


@pytest.mark.parametrize(
    ("shape", "text", "done"),
    [
        ({"text": "a", "completed": "false"}, "a", False),
        ({"text": "a", "completed": "YES"}, "a", True),
        ({"task": "a", "done": "true"}, "a", True),
        ({"text": "a", "completed": "true", "by": "ada"}, "a", True),
        ({"text": "a"}, "a", None),
        ({"text": "a", "completed": None}, "a", None),
        ("a", "a", None),
        (None, "", None),
        (["a"], '["a"]', None),
    ],
)
def test_checklist_items_of_all_shapes(shape: Value, text: str, done: bool | None) -> None:
    item = to_item(shape)
    assert (item.text, item.done) == (text, done)
    assert source_fields(definition({"checklist": [shape]})) == {"checklist": [shape]}


@pytest.mark.parametrize("name", ["notes", "checklist", "tags"])
def test_what_lies_too_deep_is_json_text_and_still_canonical(name: str) -> None:
    shallow, buried = {name: deep(MAX_DEPTH - 3)}, {name: deep(MAX_DEPTH + 90)}
    assert source_fields(definition(shallow)) == shallow
    stored = codec.decode_definition(codec.encode_definition(definition(buried)))
    kept: Value = source_fields(stored)[name]
    while isinstance(kept, list):
        (kept,) = kept
    assert isinstance(kept, str)
    value: Value = msgspec.json.decode(kept)
    assert nesting(value) > 60


@pytest.mark.parametrize(
    ("hours", "expected"),
    [
        ("0.2", 12),
        ("1", 60),
        ("1.0", 60),
        ("0", 0),
        ("0.33", None),
        ("1e9", None),
        ("-1", None),
        ("", None),
        ([], None),
    ],
)
def test_hours_in_minutes_only_where_that_is_exact(hours: Value, expected: int | None) -> None:
    assert minutes(hours) == expected
    assert source_fields(definition({"estimated_hours": hours})) == {"estimated_hours": hours}


def test_surrogates() -> None:
    assert sound("\ud83d\ude00 \ud83d!") == "\U0001f600 \ufffd!"
    assert sound("plain") == "plain"


def test_values_as_text() -> None:
    values: list[Value] = [None, "é", ["é", None], {"a": "b"}]
    assert [text_of(value) for value in values] == ["", "é", '["é", null]', '{"a": "b"}']
