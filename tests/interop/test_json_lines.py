import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pogstore.interop import json_lines
from pogstore.interop.json_lines import MAX_TOLD, Oddities, Transcript, read_records, repaired, sound

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def read(*lines: bytes) -> tuple[list[object], list[tuple[str, str]]]:
    oddities = Oddities()
    records = list(read_records(Transcript("f", lines), lambda line, _: msgspec.json.decode(line), oddities))
    return records, [(oddity.code, oddity.where) for oddity in oddities.told()]


def test_sound_lines_are_read_as_they_are() -> None:
    assert read(b'\xef\xbb\xbf{"a":1}\n', b"\n", b' {"b":2} \r\n') == ([{"a": 1}, {"b": 2}], [])


@pytest.mark.parametrize(
    ("line", "records"),
    [
        (b'{"a":"x\x01\ty"}', [{"a": "x\x01\ty"}]),  # PC-135
        (b'{"a":"\\ud83d"}', [{"a": "\ufffd"}]),
        (b'{"a":"\\ude00\\ud83d"}', [{"a": "\ufffd\ufffd"}]),
        (b'{"\\ud83d":"\\ud83d\\ude00"}', [{"\ufffd": "\U0001f600"}]),
        (b'{"a":"\xff"}', [{"a": "\ufffd"}]),
        (b'{"a":NaN,"b":-Infinity}', [{"a": None, "b": None}]),
        (b'{"a":1e999}', [{"a": None}]),
        (b'{"a":1}{"b":2} {"c":3}', [{"a": 1}, {"b": 2}, {"c": 3}]),
        (b'{"a":1}{"b":', [{"a": 1}]),
        (b'\0\0\0{"a":1}', [{"a": 1}]),
        (b'{"a":[1,2,}', []),
        (b"[" * 200_000, []),
        (b"{" + b'"a":{' * 200_000, []),
        (b"\0" * 100, []),
    ],
    ids=lambda value: repr(value)[:24],
)
def test_a_line_that_is_not_quite_json_is_repaired_or_reported(line: bytes, records: list[object]) -> None:
    found, told = read(line, b'{"last":0}')
    assert found == [*records, {"last": 0}]
    assert told == [("repaired" if records else "bad-line", "f:1")]


def test_a_number_beyond_all_bounds_becomes_its_text() -> None:
    digits = "9" * 5000
    assert read(f'{{"a":"\\ud800","n":{digits}}}'.encode())[0] == [{"a": "\ufffd", "n": digits}]


def test_what_stays_unreadable_goes_on_with_its_number() -> None:
    assert read(b'{"a":1}', b"nonsense", b'{"b":2}', b'{"c":') == (
        [{"a": 1}, {"b": 2}],
        [("bad-line", "f:2"), ("truncated", "f:4")],
    )


def test_a_file_of_another_kind_is_one_oddity() -> None:
    assert read(*[b"nonsense"] * 50) == ([], [("unreadable", "f")])
    assert read() == ([], [])


def test_the_same_fault_is_told_a_few_times_and_then_counted() -> None:
    records, told = read(b'{"a":1}', *[b"nonsense"] * 50, b'{"b":2}')
    assert len(records) == 2
    assert told == [*(("bad-line", f"f:{number}") for number in range(2, 2 + MAX_TOLD)), ("bad-line", "f")]
    oddities = Oddities()
    for number in range(MAX_TOLD + 3):
        oddities.add("code", "f", number, "detail")
    assert oddities.told()[-1].detail == "and 3 more"


def test_a_huge_line_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, "LONGEST_LINE", 20)
    assert read(b'{"a":1}', b'{"a":"%s"}' % (b"x" * 20), b'{"b":2}') == ([{"a": 1}, {"b": 2}], [("bad-line", "f:2")])


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=4))
def test_repairing_sound_json_changes_nothing(value: dict[str, object]) -> None:
    records, fault = repaired(json.dumps(value).encode())
    assert fault is None
    expected = json.loads(
        json.dumps(sound(value)), parse_int=lambda digits: int(digits) if len(digits) < 19 else digits
    )
    assert [json.loads(record) for record in records] == [expected]
