"""Canonical bytes: one encoding for one event, and refusal of everything else (RC-62, UC-68, UC-70, T13)."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import inspect
from msgspec.structs import replace

from pogstore import codec, digest
from pogstore.errors import NotCanonical, OutsideDomain
from pogstore.model import FORMAT, KINDS, Actor, Event, EventId, Noted, Opaque, Sealed, TaskId, kind_of
from tests import strategies
from tests.builders_vectors import DEFINITION, OF_VALUES, STARTED, TASK, build, build_contents

VECTORS = Path(__file__).parent / "vectors" / "1"
MANIFEST: dict[str, dict[str, Any]] = json.loads((VECTORS / "manifest.json").read_text("utf-8"))
NAMES = sorted(MANIFEST["events"])
BUILT = build()
SAMPLE = Noted(v=FORMAT, task=TASK, clock=1, time=STARTED, actor=Actor(type="human"), topic="X")
CANONICAL = codec.encode(SAMPLE).canonical

JsonValue = st.recursive(
    st.booleans() | st.integers(-codec.MAX_INTEGER, codec.MAX_INTEGER) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.from_regex(r"[a-z][a-z0-9_]{0,4}", fullmatch=True), inner, max_size=3)
    ),
    max_leaves=6,
)


def vector(name: str) -> bytes:
    return (VECTORS / f"{name}.json").read_bytes()


def with_fields(**fields: object) -> bytes:
    """Returns the sample with other fields, sorted as JSON but free of every other rule; `None` takes one away."""
    value: dict[str, object] = json.loads(CANONICAL) | fields
    kept = {key: item for key, item in value.items() if item is not None}
    return json.dumps(kept, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def refused(canonical: bytes, match: str = "not canonical") -> None:
    with pytest.raises(NotCanonical, match=match):
        codec.decode(canonical)


# The frozen vectors


@pytest.mark.parametrize("name", NAMES)
def test_frozen_bytes_ids_and_carriers_are_what_structs_give(name: str) -> None:
    built, entry = BUILT[name], MANIFEST["events"][name]
    assert built.sealed.canonical == vector(name)
    assert built.sealed.event_id == entry["id"] == digest.hexdigest(vector(name))
    assert list(built.parents) == entry["parents"]
    assert built.oid == entry["carrier"]
    oids = {BUILT[parent].sealed.event_id: BUILT[parent].oid for parent in built.parents}
    assert entry["parent_carriers"] == [oids[parent] for parent in built.sealed.event.parents]


@pytest.mark.parametrize("name", NAMES)
def test_frozen_bytes_are_read_back_whole(name: str) -> None:
    sealed = codec.decode(vector(name))
    assert sealed == BUILT[name].sealed
    assert codec.fields_of(sealed) == json.loads(vector(name))
    if isinstance(sealed.event, Event) and name != "unknown_field":
        assert codec.encode(sealed.event).canonical == vector(name)


def test_every_vector_is_built_and_every_kind_has_one() -> None:
    files = {path.stem for path in VECTORS.glob("*.json")} - {"manifest", "content.definition"}
    assert files == set(NAMES) == set(BUILT)
    assert {json.loads(vector(name))["kind"] for name in NAMES} == set(KINDS) | {"teleported"}


def test_frozen_contents_are_what_structs_give() -> None:
    stored = build_contents()
    assert stored.derived == MANIFEST["contents"]
    assert {path.name for path in VECTORS.glob("content.*")} == {f"content.{name}" for name in stored.files}
    for name, data in stored.files.items():
        assert (VECTORS / f"content.{name}").read_bytes() == data
    assert codec.decode_definition(stored.files["definition.json"]) == DEFINITION


@pytest.mark.parametrize("name", ["stepped", "unicode", "unknown_kind", "odd_paths", "joined", "largest"])
def test_any_changed_byte_is_refused_or_gives_another_id(name: str) -> None:
    """A26: no two byte strings share an id, and what is still read is exactly what was given."""
    canonical, event_id = vector(name), BUILT[name].sealed.event_id
    for at in range(len(canonical)):
        for changed in (canonical[at] ^ 1, canonical[at] ^ 0x20, canonical[at] ^ 0x80, 0x20, 0x30, 0x5C):
            data = canonical[:at] + bytes((changed,)) + canonical[at + 1 :]
            if data == canonical:
                continue
            try:
                sealed = codec.decode(data)
            except NotCanonical:
                continue
            assert sealed.event_id != event_id
            assert sealed.canonical == data
            assert sealed.event.v != FORMAT or codec.encode_value(codec.fields_of(sealed)) == data


@pytest.mark.parametrize("name", ["stepped", "unknown_kind"])
def test_any_missing_or_doubled_byte_is_refused_or_gives_another_id(name: str) -> None:
    canonical, event_id = vector(name), BUILT[name].sealed.event_id
    for at in range(len(canonical)):
        for data in (canonical[:at] + canonical[at + 1 :], canonical[:at] + canonical[at : at + 1] + canonical[at:]):
            try:
                assert codec.decode(data).event_id != event_id
            except NotCanonical:
                continue


# Properties


@given(strategies.events())
def test_decode_is_the_inverse_of_encode(event: Event) -> None:
    sealed = codec.encode(event)
    assert codec.decode(sealed.canonical) == sealed
    assert sealed.event == event
    assert sealed.event_id == digest.hexdigest(sealed.canonical)


@given(strategies.events(), st.dictionaries(st.from_regex(r"zz[a-z0-9_]{0,4}", fullmatch=True), JsonValue, max_size=3))
def test_encode_is_the_inverse_of_decode_on_bytes_with_unknown_fields(event: Event, extra: dict[str, object]) -> None:
    value = codec.fields_of(codec.encode(event)) | extra
    canonical = codec.encode_value(value)
    sealed = codec.decode(canonical)
    assert sealed.event == event
    assert sealed.canonical == canonical
    assert codec.encode_value(codec.fields_of(sealed)) == canonical


@given(strategies.events())
def test_canonical_bytes_are_those_of_rfc_8785(event: Event) -> None:
    """RC-62: the rule does not rest on one library: Python's own writer comes to the same bytes."""
    sealed = codec.encode(event)
    written = json.dumps(json.loads(sealed.canonical), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert written.encode() == sealed.canonical


@given(strategies.definitions())
def test_definitions_come_back(definition: Any) -> None:
    data = codec.encode_definition(definition)
    assert codec.decode_definition(data) == definition
    assert codec.encode_value(json.loads(data)) == data


@given(strategies.opaques())
def test_what_is_newer_is_carried_with_its_bytes(opaque: Opaque) -> None:
    canonical = msgspec.json.encode(
        {key: value for key, value in msgspec.to_builtins(opaque).items() if value not in (None, [])}, order="sorted"
    )
    sealed = codec.decode(canonical)
    assert isinstance(sealed.event, Opaque)
    assert sealed.canonical == canonical
    assert (sealed.event.kind, sealed.event.needs) == (opaque.kind, opaque.needs)


@given(st.lists(strategies.events(), min_size=2, max_size=4))
def test_two_heads_join_alike_in_every_clone(events: list[Event]) -> None:
    heads = list({sealed.event_id: sealed for sealed in (codec.encode(replace(e, clock=7, task=TASK)) for e in events)})
    by_id = {codec.encode(replace(e, clock=7, task=TASK)).event_id: replace(e, clock=7, task=TASK) for e in events}
    sealed = [codec.encode(by_id[head]) for head in heads]
    joined = codec.join(sealed)
    assert joined == codec.join(list(reversed(sealed)))
    assert joined.event.parents == tuple(sorted(heads))
    assert (joined.event.clock, joined.event.offset) == (8, 0)
    assert joined.event.time == max(event.time for event in by_id.values())
    assert set(codec.fields_of(joined)) == {"v", "kind", "task", "parents", "clock", "time", "actor"}


# What a strict reader refuses


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data + b"\n",
        lambda data: b" " + data,
        lambda data: data.replace(b",", b", "),
        lambda data: data.replace(b":", b": ", 1),
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data.decode().encode("utf-16"),
        lambda data: data.replace(b'"topic":"X"', b'"topic":"\\u0058"'),
        lambda data: data.replace(b'"topic":"X"', b'"topic":"\\/"'),
        lambda data: data.replace(b'"topic":"X"', b'"topic":"\\u001B"'),
        lambda data: data.replace(b'"topic":"X"', b'"topic":"\\u000a"'),
        lambda data: data.replace(b'"topic":"X"', b'"topic":"\\u007f"'),
        lambda data: data.replace(b'"topic":"X"', b'"topic":"\x01"'),
        lambda data: data.replace(b'"topic":"X"', b'"topic":"X","topic":"X"'),
        lambda data: data.replace(b'"topic":"X"', b'"topic":"Y","topic":"X"'),
        lambda data: data.replace(b'"topic":"X","v":1', b'"v":1,"topic":"X"'),
        lambda data: data.replace(b'"actor":{"type":"human"}', b'"actor":{"type":"human","name":"a"}'),
        lambda data: data[:-1] + b",}",
        lambda data: data[:-1],
        lambda data: data + data,
        lambda data: b"[" + data + b"]",
        lambda _: b"",
        lambda _: b"null",
        lambda _: b"{}",
    ],
)
def test_another_spelling_is_refused(change: Callable[[bytes], bytes]) -> None:
    data = change(CANONICAL)
    assert data != CANONICAL
    refused(data)


@pytest.mark.parametrize(
    "number", ["1.0", "1e3", "1E3", "-0", "01", "+1", "NaN", "Infinity", "-Infinity", "0x1", "1_0"]
)
@pytest.mark.parametrize("field", ["time", "zz"])
def test_only_plain_integers_are_numbers(number: str, field: str) -> None:
    data = with_fields(**{field: 4711}).replace(b"4711", number.encode())
    refused(data)


@pytest.mark.parametrize("field", ["time", "zz"])
@pytest.mark.parametrize("sign", [1, -1])
def test_integers_end_at_2_to_the_53(field: str, sign: int) -> None:
    largest = sign * (2**53 - 1)
    assert codec.fields_of(codec.decode(with_fields(**{field: largest})))[field] == largest
    for number in (largest + sign, sign * 2**63, sign * 2**64, sign * 10**400):
        refused(with_fields(**{field: number}))
    refused(with_fields(**{field: "HERE"}).replace(b'"HERE"', b"9" * 5000))


def test_a_large_number_inside_a_string_is_no_number() -> None:
    assert codec.decode(with_fields(topic=":99999999999999999999")).event.v == FORMAT


@pytest.mark.parametrize("value", [True, "1", None, [1], {"a": 1}])
@pytest.mark.parametrize("field", ["v", "clock", "time"])
def test_a_number_is_nothing_else(field: str, value: object) -> None:
    refused(with_fields(**{field: value}))


def test_a_flag_is_nothing_else() -> None:
    for value in (0, 1, "true"):
        refused(with_fields(inferred=value))


@pytest.mark.parametrize("where", ["topic", "zz", "links", "actor"])
def test_null_is_refused(where: str) -> None:
    refused(with_fields(**{where: "NULL"}).replace(b'"NULL"', b"null"))


@pytest.mark.parametrize("key", ["Zz", "zé", "z-z", "_z", "1z", "", "z z", "z.z", "\u202ez"])
def test_keys_are_lower_case_words(key: str) -> None:
    refused(with_fields(**{key: 1}), "outside the domain|white space")
    refused(with_fields(zz={key: 1}), "outside the domain|white space")


@pytest.mark.parametrize("text", [b"\xff", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf4\x90\x80\x80", b"\xe4\xbd"])
@pytest.mark.parametrize("field", ["topic", "zz"])
@pytest.mark.parametrize("version", [1, 2])
def test_strings_are_utf_8(text: bytes, field: str, version: int) -> None:
    refused(with_fields(**{field: "HERE", "v": version}).replace(b"HERE", text))


@pytest.mark.parametrize("text", [b"\\ud800", b"\\udc00", b"\\ud800x", b"\\udc00\\ud800"])
def test_lone_surrogates_are_refused(text: bytes) -> None:
    refused(with_fields(topic="HERE").replace(b"HERE", text))


@pytest.mark.parametrize(
    "task", [TASK.upper(), TASK[:-1], TASK + "0", TASK.replace("-", ""), f"{{{TASK}}}", f"{TASK}\n", ""]
)
@pytest.mark.parametrize("version", [1, 2])
def test_a_task_is_a_uuid_in_lower_case(task: str, version: int) -> None:
    """UC-55: two names must never differ in case alone."""
    refused(with_fields(task=task, v=version), "not a UUID")


@pytest.mark.parametrize(
    "parents",
    [["b" * 64, "a" * 64], ["a" * 64, "a" * 64], ["A" * 64], ["a" * 63], ["a" * 64 + "\n"], ["../" + "a" * 61], [""]],
)
@pytest.mark.parametrize("version", [1, 2])
def test_parents_are_event_ids_sorted_and_each_once(parents: list[str], version: int) -> None:
    refused(with_fields(parents=parents, v=version), "'parents'")


def test_a_parent_may_be_named_by_another_hash() -> None:
    parent = "blake4_" + "a" * 128
    assert codec.decode(with_fields(parents=[parent])).event.parents == (parent,)


@pytest.mark.parametrize("version", [1, 2])
def test_clocks_lie_between_0_and_2_to_the_52(version: int) -> None:
    """SC-38: a clock is bounded before anything adds to it."""
    for clock in (0, -1, 2**52, 2**53 - 1, 2**62):
        refused(with_fields(clock=clock, v=version))
    for clock in (1, 2**52 - 1):
        assert codec.decode(with_fields(clock=clock, v=version)).event.clock == clock


@pytest.mark.parametrize("field", ["v", "kind", "task", "clock", "time", "actor"])
def test_a_common_field_that_is_missing_is_refused(field: str) -> None:
    refused(with_fields(**{field: None}))


def test_depth_ends_at_64_levels() -> None:
    """UC-70, T13."""

    def nested(levels: int) -> object:
        value: object = 1
        for _ in range(levels):
            value = [value]
        return value

    assert codec.decode(with_fields(zz=nested(63))).event.v == FORMAT
    refused(with_fields(zz=nested(64)), "deeper than 64")
    refused(with_fields(kind="teleported", zz=nested(64)), "deeper than 64")


@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
@pytest.mark.parametrize("version", [b"1", b"2"])
def test_a_bomb_of_brackets_is_refused_and_not_a_crash(opening: bytes, version: bytes) -> None:
    """UC-70, T13."""
    count = 1_000_000
    closing = b"]" if opening == b"[" else b"}"
    bomb = CANONICAL[:-2] + version + b',"zz":' + opening * count + b"1" + closing * count + b"}"
    refused(bomb)


def test_size_ends_at_1_mib_and_at_8_mib_with_changes() -> None:
    """T13."""
    room = codec.MAX_BYTES - len(with_fields(zz=""))
    assert len(codec.decode(with_fields(zz="x" * room)).canonical) == 1 << 20
    refused(with_fields(zz="x" * (room + 1)), "without changes")
    refused(with_fields(zz="x" * room, zzz='"changes":'), "without changes")
    refused(with_fields(zz={"changes": []}, zzz="x" * room), "without changes")
    refused(with_fields(kind="teleported", zz="x" * room * 2), "without changes")
    room = codec.MAX_BYTES_WITH_CHANGES - len(with_fields(zz="", changes=[]))
    assert len(codec.decode(with_fields(zz="x" * room, changes=[])).canonical) == 8 << 20
    refused(with_fields(zz="x" * (room + 1), changes=[]), "over the limit")
    refused(with_fields(zz="x" * (room + 20), v=2), "over the limit")


@pytest.mark.parametrize("name", OF_VALUES)
def test_what_is_newer_is_kept_as_far_as_it_is_understood(name: str) -> None:
    """UC-68: an older reader carries what it cannot read, and never takes it for something it knows."""
    sealed = codec.decode(vector(name))
    if name == "unknown_field":
        assert kind_of(sealed.event) == "moved" if isinstance(sealed.event, Event) else False
    else:
        assert isinstance(sealed.event, Opaque)
    assert codec.fields_of(sealed) == json.loads(vector(name))


def test_an_unknown_need_makes_a_known_kind_opaque() -> None:
    assert isinstance(codec.decode(with_fields(needs=["zz"])).event, Opaque)
    assert isinstance(codec.decode(with_fields()).event, Noted)
    refused(with_fields(needs=[]).replace(b"[]", b"null"))


@pytest.mark.parametrize("kind", ["Noted", "no-ted", "", "x" * 3 + "\n", "\u202e"])
def test_a_kind_is_a_lower_case_word(kind: str) -> None:
    refused(with_fields(kind=kind))


def test_an_explicit_default_is_another_event() -> None:
    """What a writer leaves out and what it spells are two byte strings, so two ids; both are read."""
    spelled = codec.decode(with_fields(parents=[]))
    assert spelled.event == codec.decode(CANONICAL).event
    assert spelled.event_id != codec.decode(CANONICAL).event_id


# What cannot be written


@pytest.mark.parametrize(
    "fields",
    [
        {"topic": "\ud800"},
        {"time": 2**53},
        {"time": -(2**53)},
        {"clock": 0},
        {"clock": 2**52},
        {"task": TaskId(TASK.upper())},
        {"parents": (EventId("b" * 64), EventId("a" * 64))},
        {"parents": (EventId("a" * 64), EventId("a" * 64))},
        {"topic": 5},
        {"topic": 1.5},
        {"actor": None},
        {"topic": "x" * (1 << 20)},
    ],
)
def test_a_struct_that_canonical_bytes_cannot_hold_is_refused(fields: dict[str, Any]) -> None:
    """STYLE T4: msgspec does not look at a struct when it is made, so `encode` reads back what it wrote."""
    with pytest.raises(OutsideDomain):
        codec.encode(replace(SAMPLE, **fields))


@pytest.mark.parametrize(
    "value", [1.0, math.nan, math.inf, -0.0, None, {"a": None}, {"A": 1}, 2**53, ["\udfff"], {2: 3}]
)
def test_a_value_outside_the_domain_is_refused(value: object) -> None:
    """STYLE T3: msgspec itself would write NaN as null."""
    with pytest.raises(OutsideDomain):
        codec.encode_value({"zz": value})


def test_lone_surrogates_become_a_replacement_character_before_hashing() -> None:
    """STYLE T5."""
    assert codec.scrub("a\ud800b\udc00") == "a\ufffdb\ufffd"
    assert codec.scrub("\ud83d\ude00") == "😀"
    assert codec.scrub("e\u0301 é 😀") == "e\u0301 é 😀"


@given(st.text(st.characters(), max_size=12))
def test_scrubbed_text_can_be_written_and_scrubbing_again_changes_nothing(text: str) -> None:
    clean = codec.scrub(text)
    assert clean.encode().decode() == clean == codec.scrub(clean)


def test_composed_and_decomposed_letters_stay_as_they_were_given() -> None:
    """STYLE T5: bytes are kept, so the two are two events."""
    composed, decomposed = (codec.encode(replace(SAMPLE, topic=topic)) for topic in ("é", "e\u0301"))
    assert composed.event_id != decomposed.event_id
    assert codec.decode(decomposed.canonical).event == replace(SAMPLE, topic="e\u0301")


# The traps of msgspec that the codec is built around (STYLE T1 to T5)


class _Ordered(msgspec.Struct):
    b: int = 1
    a: int = 2


def test_t1_only_sorted_encoding_sorts_the_fields_of_a_struct() -> None:
    assert msgspec.json.encode(_Ordered(), order="sorted") == b'{"a":2,"b":1}'
    assert msgspec.json.encode(_Ordered(), order="deterministic") == b'{"b":1,"a":2}'


def test_t2_msgspec_alone_reads_leniently() -> None:
    for lenient in (b'{"a": 1}', b'{"\\u0061":1}', b'{"a":0,"a":1}', b'{"a":1,"b":0,"zz":0}'):
        assert msgspec.json.decode(lenient, type=_Ordered).a == 1


def test_t3_msgspec_alone_writes_nan_as_null() -> None:
    assert msgspec.json.encode(math.nan) == b"null"


def test_t4_msgspec_alone_does_not_check_what_is_made() -> None:
    assert msgspec.json.encode(replace(SAMPLE, clock="x"))


def test_sealed_events_are_values() -> None:
    assert Sealed(EventId("a"), b"x", SAMPLE) == Sealed(EventId("a"), b"x", SAMPLE)


def test_no_field_of_an_event_holds_a_list_of_integers() -> None:
    """`decode` looks for integers that are too large after colons alone."""
    seen: set[type] = set()
    pending: list[Any] = list(inspect.multi_type_info(list(KINDS.values())))
    while pending:
        match pending.pop():
            case inspect.StructType(cls=cls, fields=fields) if cls not in seen:
                seen.add(cls)
                pending += [field.type for field in fields]
            case inspect.UnionType(types=types):
                pending += types
            case inspect.VarTupleType(item_type=item):
                members = item.types if isinstance(item, inspect.UnionType) else (item,)
                assert not any(isinstance(member, inspect.IntType) for member in members)
                pending += members
            case inspect.ListType() | inspect.DictType() | inspect.TupleType() | inspect.AnyType() as other:
                pytest.fail(f"a field of another shape: {other}")
    assert len(seen) > len(KINDS)
