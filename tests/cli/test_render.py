"""Tests of what reaches a terminal: nothing hidden, nothing that moves it, everything in its column."""

import json
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pogstore.cli._render import (
    columns,
    counted,
    cut,
    path_text,
    raw_path_text,
    safe,
    short_who,
    table,
    to_json,
    when,
    who,
)
from pogstore.model import Actor, OddPath, Person

VISIBLE = {
    *range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD, *range(0x13430, 0x13440),
}  # fmt: skip
"""Format characters that stand for something a reader sees."""


def hides(character: str) -> bool:
    """Says whether a character is one that a person cannot see, tab apart."""
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") and ord(character) not in VISIBLE


def test_every_character_that_hides_or_moves_is_shown() -> None:
    """Threats T1 and T2, over all of Unicode."""
    hidden = [character for character in map(chr, range(sys.maxunicode + 1)) if hides(character) and character != "\t"]
    assert len(hidden) > 2200
    for character in hidden:
        assert safe(character) == f"<U+{ord(character):04X}>"
        assert character == "\n" or safe(character, lines=True) == safe(character)
        assert json.loads(to_json(character)) == character
        assert to_json(character).isascii()


@pytest.mark.parametrize("text", ["Grüße", "日本語", "a\tb", "שלום", "👍", "⚠️ careful", "❤️", "e\u0301"])
def test_what_people_write_stays(text: str) -> None:
    assert safe(text) == text
    assert to_json(text) == json.dumps(text, ensure_ascii=False)


@pytest.mark.parametrize("text", ["a\ufe0f", "\ufe0f", "⚠\ufe0f\ufe0f"])
def test_a_selector_without_a_symbol_is_shown(text: str) -> None:
    assert "<U+FE0F>" in safe(text)


@given(st.text())
def test_nothing_hidden_is_left(text: str) -> None:
    assert not [each for each in safe(text) if hides(each) and each != "\t"]
    assert json.loads(to_json({text: [text]})) == {text: [text]}
    assert not [each for each in to_json(text) if hides(each)]


def test_columns_count_what_a_terminal_shows() -> None:
    assert [columns(text) for text in ("", "abc", "日本", "é", "e\u0301")] == [0, 3, 4, 1, 1]


@given(st.text(alphabet="ab日\u0301", max_size=12), st.integers(1, 12))
def test_a_cut_text_fits(text: str, width: int) -> None:
    shown = cut(text, width)
    assert columns(shown) <= width
    assert shown == text or (shown.endswith("…") and text.startswith(shown[:-1]))


def test_a_table_is_aligned() -> None:
    rows = [["日本", "x", "first"], ["a", "long", "second"]]
    assert table(rows) == ["日本  x     first", "a     long  second"]
    assert table(rows, right=[1]) == ["日本     x  first", "a     long  second"]
    assert table(rows, width=14) == ["日本  x     f…", "a     long  s…"]
    assert table([]) == []


def test_a_number_has_its_noun() -> None:
    assert [counted(number, "task") for number in (0, 1, 2)] == ["0 tasks", "1 task", "2 tasks"]


def test_a_time_is_shown_in_the_zone_of_the_actor() -> None:
    assert when(0) == "1970-01-01 00:00:00 +0000"
    assert when(1_767_603_600_000_000, 330) == "2026-01-05 14:30:00 +0530"
    assert when(1 << 52) == "2112-09-17 23:53:47 +0000"
    assert when(-(1 << 60)) == f"({-(1 << 60)} µs)"


def test_an_actor_has_a_short_and_a_long_name() -> None:
    ada = Person(name="Ada", email="ada@example.org")
    agent = Actor(type="agent", name="claude\x1b[31m", model="opus", on_behalf_of=ada)
    assert short_who(agent) == "claude<U+001B>[31m"
    assert who(agent) == "claude<U+001B>[31m (opus) for Ada"
    assert who(Actor(type="human", name="Ada", on_behalf_of=ada)) == "Ada"
    assert who(Actor(type="human", on_behalf_of=ada)) == "Ada"
    assert who(Actor(type="unknown", on_behalf_of=ada)) == "Ada", "a commit is nobody's for himself"
    assert who(Actor(type="tool")) == "tool"
    assert who(None) == short_who(None) == "unknown"


def test_odd_paths_are_shown() -> None:
    assert path_text(OddPath(outside=True)) == "(outside the repository)"
    assert path_text(OddPath(b64="/w==")) == "b64:/w=="
    assert path_text("a\nb") == "a<U+000A>b"
    assert raw_path_text(b"a\xff\x1b") == "a\\xff<U+001B>"
