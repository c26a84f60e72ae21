"""Foreign text in Markdown: nothing gets out of a fence or a code span."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pogstore.cli._markdown import fence, span
from pogstore.cli._render import safe
from tests.cli.markdown import fences, outside

PARTS = (
    "EVIL",
    "`",
    "``",
    "```",
    "```\n",
    "`````",
    "\n",
    " ",
    "\t",
    "~~~",
    "# ",
    "- ",
    "    ",
    "<b>",
    "\\",
    "\x1b[2J",
    "漢",
)
hostile = st.lists(st.sampled_from(PARTS), max_size=12).map("".join) | st.text(max_size=40)


@given(hostile)
def test_a_fence_holds_all_of_a_text(text: str) -> None:
    page = f"before\n{fence(text)}\nafter"
    assert fences(page) == [safe(text, lines=True).strip("\n")]
    assert outside(page) == "before\nafter"


@given(hostile, hostile)
def test_a_span_holds_all_of_a_text(one: str, other: str) -> None:
    page = f"- {span(one)} and {span(other)}: {span('x')}"
    assert outside(page) == "-  and : "
    assert "\n" not in page
    assert "\x1b" not in page


@given(hostile)
def test_a_fence_after_a_fence(text: str) -> None:
    assert len(fences(f"{fence(text)}\n{fence(text)}")) == 2


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "`plain`"),
        ("a `b` c", "``a `b` c``"),
        ("`", "`` ` ``"),
        ("``x", "``` ``x ```"),
        ("", "`(empty)`"),
        (" \t ", "`(empty)`"),
        ("a\nb", "`a<U+000A>b`"),
    ],
)
def test_spans(text: str, shown: str) -> None:
    assert span(text) == shown


def test_the_reader_of_these_tests_sees_what_breaks_out() -> None:
    assert outside("```text\n```\nEVIL\n```\n```") == "EVIL"
    assert outside("`a` EVIL `b`") == " EVIL "
    with pytest.raises(AssertionError):
        fences("```\nx")
