"""Elements go into a JSON text and come out again, and no other byte changes: in any spelling, style and spacing."""

import json
from collections.abc import Callable
from itertools import permutations
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pogstore.agents.settings import append, decode, drop, is_blank, members, read
from pogstore.errors import BadInput

NAME = "settings.json"
ELEMENT = '{"ours": 1}'
OURS = {"ours": 1}
STOP, START = ("hooks", "Stop"), ("hooks", "Start")


def texts_of(value: Any) -> st.SearchStrategy[str]:
    """JSON texts of a value in every style that people and programs write, and in some that nobody does."""
    return st.builds(spell, st.just(value), STYLES)


class Style(NamedTuple):
    """How a text is written: `gap` gives the white space at a place of some depth, `spell` a string."""

    gap: Callable[[int, str], str]
    spell: Callable[[str], str]


def lines(newline: str, unit: str) -> Callable[[int, str], str]:
    def gap(depth: int, where: str) -> str:
        return " " if where == ":" else newline + unit * depth if where == "in" else ""

    return gap


def spaced(pieces: list[str]) -> Callable[[int, str], str]:
    turn = iter(range(10**6))
    return lambda depth, where: pieces[next(turn) % len(pieces)]


def escaped(text: str) -> str:
    return '"' + "".join(f"\\u{ord(c):04X}" if ord(c) < 0x10000 else c for c in text) + '"'


GAPS = st.one_of(
    st.sampled_from([lines(newline, unit) for newline in ("\n", "\r\n") for unit in ("  ", "    ", "\t", "", " ")]),
    st.sampled_from([lambda depth, where: "", lambda depth, where: " " if where in (":", ",in") else ""]),
    st.lists(st.text(" \t\r\n", max_size=3), min_size=1, max_size=9).map(spaced),
)
SPELLERS = [json.dumps, lambda text: json.dumps(text, ensure_ascii=False), escaped]
STYLES = st.builds(Style, GAPS, st.sampled_from(SPELLERS))


def spell(value: Any, style: Style, depth: int = 0) -> str:
    match value:
        case str():
            return style.spell(value)
        case dict() | list():
            opening, closing = "{}" if isinstance(value, dict) else "[]"
            pieces = [
                spell(piece, style, depth + 1) for piece in (value.values() if isinstance(value, dict) else value)
            ]
            if isinstance(value, dict):
                colon = style.gap(depth, "") + ":" + style.gap(depth, ":")
                pieces = [style.spell(key) + colon + piece for key, piece in zip(value, pieces, strict=True)]
            inside = [style.gap(depth + 1, "in") + piece + style.gap(depth + 1, "") for piece in pieces]
            return opening + ",".join(inside) + style.gap(depth, "in" if inside else "") + closing
        case _:
            return json.dumps(value)


words = st.one_of(st.sampled_from(["a", "hooks", "Stop", "", '"\\', "é", "𝄞", " ", "//", ","]), st.text(max_size=3))
scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), words)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3))
arrays = st.lists(st.dictionaries(words, values, max_size=2), max_size=3)
hooks = st.dictionaries(st.sampled_from(["Start", "Stop", "Other"]), arrays, max_size=3)
others = st.dictionaries(words.filter(lambda word: word != "hooks"), values, max_size=3)


@st.composite
def settings_values(draw: st.DrawFn) -> dict[str, Any]:
    """Settings with and without hooks, and with hooks at any place among the other members."""
    pairs = list(draw(others).items())
    if draw(st.booleans()):
        pairs.insert(draw(st.integers(0, len(pairs))), ("hooks", draw(hooks)))
    return dict(pairs)


@st.composite
def settings_texts(draw: st.DrawFn) -> str | None:
    """Texts of settings files, files that are not there or hold nothing among them."""
    kind = draw(st.sampled_from(["none", "blank", *["text"] * 8]))
    if kind == "none":
        return None
    bom, around = draw(st.sampled_from(["", "", "\ufeff"])), st.text(" \t\r\n", max_size=2)
    if kind == "blank":
        return bom + draw(around)
    return bom + draw(around) + draw(settings_values().flatmap(texts_of)) + draw(around)


def parsed(text: str | None) -> Any:
    return {} if text is None or is_blank(text) else json.loads(text.removeprefix("\ufeff"))


def with_ours(value: dict[str, Any], event: str) -> dict[str, Any]:
    before = value.get("hooks", {})
    return {**value, "hooks": {**before, event: [*before.get(event, []), OURS]}}


@given(settings_texts(), st.sampled_from(["Stop", "Start", "New"]))
def test_an_element_goes_in_where_a_parser_expects_it_and_comes_out_without_a_trace(
    text: str | None, event: str
) -> None:
    added = append(text, ("hooks", event), ELEMENT, NAME)
    assert parsed(added) == with_ours(parsed(text), event)
    assert list(parsed(added)) == list(with_ours(parsed(text), event)), "members keep their order"
    last = len(parsed(added)["hooks"][event]) - 1
    assert drop(added, ("hooks", event, last), NAME) == text


@given(settings_texts(), st.sampled_from(list(permutations(["Stop", "Start", "New"]))))
def test_elements_come_out_in_any_order(text: str | None, order: tuple[str, ...]) -> None:
    added = text
    for event in ("Start", "Stop", "New"):
        added = append(added, ("hooks", event), ELEMENT, NAME)
    for event in order:
        assert added is not None
        added = drop(added, ("hooks", event, len(parsed(added)["hooks"][event]) - 1), NAME)
    assert added == text


@given(settings_texts(), st.integers(0, 2))
def test_all_that_was_written_before_is_still_there_in_the_same_order(text: str | None, times: int) -> None:
    added = append(text, STOP, ELEMENT, NAME)
    for _ in range(times):
        added = append(added, STOP, ELEMENT, NAME)
    rest = iter(added)
    assert all(character in rest for character in text or ""), "the former text is a subsequence of the new one"


@given(settings_values().flatmap(texts_of))
def test_members_are_where_a_parser_finds_them(text: str) -> None:
    found = members(text, 0)
    assert {member.key: json.loads(text[member.value : member.end]) for member in found} == json.loads(text)
    assert [json.JSONDecoder().raw_decode(text, member.start)[0] for member in found] == list(json.loads(text))


LAID_OUT = {
    "no file": (None, '{\n  "hooks": {\n    "Stop": [{"ours": 1}]\n  }\n}\n'),
    "empty file": ("", '{\n  "hooks": {\n    "Stop": [{"ours": 1}]\n  }\n}'),
    "only a line end": ("\r\n", '\r\n{\r\n  "hooks": {\r\n    "Stop": [{"ours": 1}]\r\n  }\r\n}'),
    "only a byte order mark": ("\ufeff", '\ufeff{\n  "hooks": {\n    "Stop": [{"ours": 1}]\n  }\n}'),
    "empty object": ("{}\n", '{\n  "hooks": {\n    "Stop": [{"ours": 1}]\n  } }\n'),
    "tabs": ('{\n\t"a": 1\n}\n', '{\n\t"a": 1,\n\t"hooks": {\n\t\t"Stop": [{"ours": 1}]\n\t}\n}\n'),
    "four spaces, no final line end": (
        '{\n    "a": 1\n}',
        '{\n    "a": 1,\n    "hooks": {\n        "Stop": [{"ours": 1}]\n    }\n}',
    ),
    "CRLF": ('{\r\n  "a": 1\r\n}\r\n', '{\r\n  "a": 1,\r\n  "hooks": {\r\n    "Stop": [{"ours": 1}]\r\n  }\r\n}\r\n'),
    "one line": ('{"a":1}', '{"a":1, "hooks": {"Stop": [{"ours": 1}]}}'),
    "hooks of others": (
        '{\n  "hooks": {\n    "Start": []\n  }\n}\n',
        '{\n  "hooks": {\n    "Start": [],\n    "Stop": [{"ours": 1}]\n  }\n}\n',
    ),
    "the same event": (
        '{\n  "hooks": {\n    "Stop": [\n      {"b": 2}\n    ]\n  }\n}\n',
        '{\n  "hooks": {\n    "Stop": [\n      {"b": 2},\n      {"ours": 1}\n    ]\n  }\n}\n',
    ),
    "the same event on one line": ('{"hooks":{"Stop":[2]}}', '{"hooks":{"Stop":[2, {"ours": 1}]}}'),
    "empty hooks": ('{\n  "hooks": {}\n}', '{\n  "hooks": {\n    "Stop": [{"ours": 1}] }\n}'),
    "empty hooks on one line": ('{"hooks": { }}', '{"hooks": {"Stop": [{"ours": 1}]  }}'),
    "empty event": ('{"hooks": {"Stop": []}}', '{"hooks": {"Stop": [{"ours": 1} ]}}'),
    "escapes in a key": ('{"\\u0068ooks": {"Sto\\u0070": [1]}}', '{"\\u0068ooks": {"Sto\\u0070": [1, {"ours": 1}]}}'),
    "equal keys": (
        '{"hooks": {"Stop": [1]}, "hooks": {"Stop": [2]}}',
        '{"hooks": {"Stop": [1]}, "hooks": {"Stop": [2, {"ours": 1}]}}',
    ),
}


@pytest.mark.parametrize("case", LAID_OUT)
def test_what_is_added_is_laid_out_as_the_rest_is(case: str) -> None:
    before, after = LAID_OUT[case]
    assert append(before, STOP, ELEMENT, NAME) == after
    assert drop(after, ("hooks", "Stop", len(parsed(after)["hooks"]["Stop"]) - 1), NAME) == before


NOT_JSON = {
    "trailing comma of an object": ('{\n  "a": 1,\n}', "line 2, column 9|line 3, column 1", "trailing comma"),
    "trailing comma of an array": ('{"a": [1, ]}', "line 1, column 9|line 1, column 11", "trailing comma"),
    "comment at the top": ("// mine\n{}", "line 1, column 1", "comment"),
    "comment behind a value": ('{\n  "a": 1 /* one */\n}', "line 2, column 10", "comment"),
    "comment at the end": ("{}\n# end", "line 2, column 1", "comment"),
    "cut off": ('{"a": 1', "line 1, column 8", "ends too early"),
    "single quotes": ("{'a': 1}", "line 1, column 2", "not JSON"),
    "raw control character": ('{"a": "\t"}', "line 1, column 8|line 1, column 7", "not JSON"),
    "leading zero": ('{"a": 01}', "line 1, column 8|line 1, column 7", "not JSON"),
    "two values": ("{} {}", "line 1, column 4", "not JSON"),
}


@pytest.mark.parametrize("case", NOT_JSON)
def test_what_is_not_strict_json_is_refused_with_its_place(case: str) -> None:
    text, places, reason = NOT_JSON[case]
    with pytest.raises(BadInput) as caught:
        append(text, STOP, ELEMENT, NAME)
    assert caught.value.where in [f"{NAME}, {place}" for place in places.split("|")]
    assert reason in caught.value.reason
    assert caught.value.hint == "comments and trailing commas are not allowed here"
    with pytest.raises(BadInput, match=reason):
        drop(text, ("a", 0), NAME)


@pytest.mark.parametrize("text", ['{"a": NaN}', '{"a": -Infinity}', "[" * 100_000])
def test_what_only_python_reads_and_what_it_cannot_hold_are_refused(text: str) -> None:
    with pytest.raises(BadInput, match=f"^{NAME}: "):
        read(text, NAME)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[]", "line 1, column 1: the outermost value is not an object"),
        ("null", "line 1, column 1: the outermost value is not an object"),
        ('{"hooks": null}', "line 1, column 11: 'hooks' is not an object"),
        ('{"hooks": []}', "line 1, column 11: 'hooks' is not an object"),
        ('{\n"hooks": {"Stop": {}}}', "line 2, column 19: 'hooks.Stop' is not an array"),
    ],
)
def test_what_stands_in_the_place_of_a_container_is_not_replaced(text: str, fault: str) -> None:
    with pytest.raises(BadInput) as caught:
        append(text, STOP, ELEMENT, NAME)
    assert str(caught.value) == f"{NAME}, {fault}"


@pytest.mark.parametrize(
    "path", [("hooks", "Start", 0), ("hooks", "Stop", 1), ("hooks", 0), ("none",), ("hooks", "Stop", 0, 0)]
)
def test_what_is_not_there_cannot_be_dropped(path: tuple[str | int, ...]) -> None:
    with pytest.raises(BadInput, match="there is no"):
        drop('{"hooks": {"Stop": [{}]}}', path, NAME)


def test_what_others_put_beside_an_element_stays_when_it_goes() -> None:
    text = append(append('{"hooks": {}}', STOP, ELEMENT, NAME), STOP, '"theirs"', NAME)
    assert drop(text, (*STOP, 0), NAME) == '{"hooks": {"Stop": ["theirs"] }}'


def test_a_container_that_was_written_anew_goes_with_what_it_held() -> None:
    text = json.dumps(parsed(append('{"a": 1, "hooks": {}}', STOP, ELEMENT, NAME)), indent=2)
    assert drop(text, (*STOP, 0), NAME) == '{\n  "a": 1\n}'


def test_an_object_that_we_did_not_write_is_never_taken_for_a_file_that_was_not_there() -> None:
    text = json.dumps(parsed(append(None, STOP, ELEMENT, NAME)), indent=2) + "\n"
    assert parsed(drop(text, (*STOP, 0), NAME)) == {}
    assert drop(text, (*STOP, 0), NAME) is not None


def test_numbers_beyond_what_python_reads_are_no_obstacle() -> None:
    text = '{"n": ' + "9" * 5000 + ', "f": 1e99999}'
    assert drop(append(text, STOP, ELEMENT, NAME), (*STOP, 0), NAME) == text


def test_bytes_become_text_and_back_unchanged() -> None:
    data = b'\xef\xbb\xbf{\r\n"a": "\xc3\xa9\\ud800"}'
    assert decode(data, NAME).encode() == data
    with pytest.raises(BadInput, match="byte 2 is not UTF-8"):
        decode(b'{"\xff": 1}', NAME)
