"""What the structs promise: every kind named once, nothing that canonical bytes cannot hold, no free text."""

import types
import typing
from collections.abc import Iterator
from typing import Any, get_args, get_origin

import msgspec
import pytest
from msgspec.structs import fields, replace

from pogstore import codec, model
from pogstore.model import KINDS, Actor, AnyEvent, Definition, Event, Noted, TaskId, kind_of
from tests.builders_vectors import TASK

KIND_NAMES = (
    *(
        "defined",
        "claimed",
        "released",
        "moved",
        "checked",
        "prompted",
        "decided",
        "noted",
        "stepped",
        "ran",
        "refused",
    ),
    *("observed", "committed", "reviewed", "rolled_back", "restored", "replayed", "signed", "joined", "redacted"),
)
WORDS = {
    "verdict", "status", "rule", "reason", "strategy", "outcome", "topic", "coverage", "coverage_reason", "effects",
    "class", "tool", "call_id", "during", "mode", "omitted", "rel", "type", "name", "email", "model", "version",
    "session", "agent_id", "format", "key", "needs", "branch", "sig", "worktree", "b64",
}  # fmt: skip
"""Enums, names and keys: what an event may spell out."""
IDS = {
    "task",
    "event",
    "commit",
    "tree",
    "commit_parents",
    "blob",
    "blobs",
    "parents",
    "of",
    "targets",
    "definition_id",
}
PATHS = {"path", "from", "paths", "cwd", "inputs", "outputs"}


def structs_in(annotation: Any) -> Iterator[type]:
    """Yields every struct that an annotation names, however deep."""
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        yield annotation
    for inner in get_args(annotation):
        yield from structs_in(inner)


def all_structs(*roots: type) -> set[type]:
    found: set[type] = set()
    pending = list(roots)
    while pending:
        struct = pending.pop()
        if struct not in found:
            found.add(struct)
            for hint in typing.get_type_hints(struct).values():
                pending += structs_in(hint)
    return found


EVENT_STRUCTS = sorted(all_structs(*KINDS.values()), key=lambda struct: struct.__name__)


def scalars(annotation: Any) -> set[Any]:
    if isinstance(annotation, typing.NewType):
        return {annotation.__supertype__}
    inner = get_args(annotation)
    if not inner:
        return {annotation}
    return set().union(*(scalars(item) for item in inner if item is not Ellipsis))


def test_the_kinds_are_those_of_the_format() -> None:
    assert tuple(KINDS) == KIND_NAMES
    assert set(get_args(AnyEvent)) == set(KINDS.values())
    for name, kind in KINDS.items():
        assert issubclass(kind, Event)
        assert kind.__struct_config__.tag == name
        assert kind.__struct_config__.tag_field == "kind"


@pytest.mark.parametrize("struct", [*EVENT_STRUCTS, Definition])
def test_structs_are_frozen_and_leave_out_what_is_not_said(struct: type[msgspec.Struct]) -> None:
    config = struct.__struct_config__
    assert config.frozen
    assert config.omit_defaults
    assert not config.forbid_unknown_fields
    assert not config.array_like
    for field in fields(struct):
        assert codec._KEY.match(field.encode_name)
        if not field.required:
            assert repr(field.default) in ("None", "()", "0")


@pytest.mark.parametrize("struct", [*EVENT_STRUCTS, Definition])
def test_no_field_can_hold_a_float_or_a_mapping(struct: type) -> None:
    """STYLE T3, V13, RC-62."""
    for hint in typing.get_type_hints(struct).values():
        kinds = scalars(hint)
        assert kinds <= {str, int, bool, type(None)} | all_structs(struct)
        assert get_origin(hint) in (None, tuple, types.UnionType, typing.Union)


def test_an_event_holds_no_free_text() -> None:
    """A record can be shared without the chat: what a string may be is an enum, a name, an id or a path."""
    for struct in EVENT_STRUCTS:
        hints = typing.get_type_hints(struct)
        for field in fields(struct):
            if str in scalars(hints[field.name]):
                assert field.encode_name in WORDS | IDS | PATHS | {"sig", "cwd"}, f"{struct.__name__}.{field.name}"


def test_the_name_of_a_kind() -> None:
    event = Noted(v=1, task=TaskId(TASK), clock=1, time=0, actor=Actor(type="tool"))
    assert kind_of(event) == "noted"
    assert kind_of(replace(event, topic="x")) == "noted"


def test_every_struct_and_every_constant_says_what_it_is() -> None:
    for struct in EVENT_STRUCTS:
        assert struct.__doc__
        assert not struct.__doc__.startswith(f"{struct.__name__}(")
    for name in ("STATUSES", "ACTOR_TYPES", "TOOL_CLASSES", "COVERAGES", "EFFECTS", "RELATIONS", "MODES", "CLASSES"):
        values = getattr(model, name)
        assert len(set(values)) == len(values) > 1
