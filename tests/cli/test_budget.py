"""A budget is never exceeded, and what finds no room is counted."""

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pogstore.cli._budget import SHARES, Fitted, Piece, fitted, tokens, weight

words = st.text(alphabet="ab\n`漢é", max_size=900)
listed = st.lists(
    st.builds(
        lambda section, text, can_be_cut: Piece(section, {"text": text}, "text" if can_be_cut else None),
        st.sampled_from(list(SHARES)),
        words,
        st.booleans(),
    ),
    max_size=25,
)


def size(piece: Piece) -> str:
    return f"{piece.value['text']}{piece.value.get('cut_from', '')}\n"


def render(answer: Fitted) -> str:
    """A page of sections, with what was left out at the end."""
    page = "HEAD\n"
    for section in SHARES:
        own = [size(piece) for piece in answer.pieces if piece.section == section]
        page += f"\n## {section}\n" + "".join(own) if own else ""
    return page + "".join(f"{name}: {number}\n" for name, number in answer.left_out.items())


@given(listed, st.integers(100, 1500))
def test_the_budget_is_never_exceeded(pieces: Sequence[Piece], budget: int) -> None:
    answer = fitted(pieces, budget, render, size)
    assert tokens(render(answer)) <= budget
    whole = Counter(piece.section for piece in pieces)
    assert Counter(piece.section for piece in answer.pieces) + Counter(answer.left_out) == whole
    for piece in answer.pieces:
        assert piece in pieces or (
            piece.text and any(str(other.value["text"]).startswith(str(piece.value["text"])) for other in pieces)
        )


@pytest.mark.parametrize("budget", [100, 300, 1500])
def test_a_wrong_guess_of_a_size_exceeds_no_budget(budget: int) -> None:
    """The answer itself is measured in the end, whatever its pieces were thought to add to it."""
    pieces = [Piece(section, {"text": f"{number} {'x' * 400}"}) for number in range(3) for section in SHARES]
    answer = fitted(pieces, budget, render, lambda _: "")
    assert tokens(render(answer)) <= budget
    assert len(answer.pieces) + sum(answer.left_out.values()) == len(pieces)


@given(listed)
def test_what_fits_is_there_as_it_was(pieces: Sequence[Piece]) -> None:
    answer = fitted(pieces, 100_000, render, size)
    assert answer == Fitted(tuple(pieces), {})


@given(listed, st.integers(100, 1500))
def test_a_budget_is_used(pieces: Sequence[Piece], budget: int) -> None:
    """What is left out would not have fitted, but for the room that headings might have taken."""
    answer = fitted(pieces, budget, render, size)
    room = budget * 4 - weight(render(answer))
    for piece in pieces:
        if piece.text is None and answer.left_out.get(piece.section) and piece not in answer.pieces:
            assert weight(size(piece)) > room - 200


def test_a_long_text_leaves_room_for_the_others() -> None:
    pieces = [Piece("definition", {"text": "x" * 90_000}, "text"), Piece("decisions", {"text": "ISO dates"}, "text")]
    answer = fitted(pieces, 1000, render, size)
    first, second = answer.pieces
    assert (first.value["cut_from"], len(str(first.value["text"])) > 3000) == (90_000, True)
    assert second is pieces[1]


def test_a_text_of_which_too_little_would_be_left_is_left_out() -> None:
    pieces = [Piece("notes", {"text": "y" * 350}), Piece("notes", {"text": "x" * 900}, "text")]
    assert fitted(pieces, 130, render, size).left_out == {"notes": 1}


@given(st.text())
def test_the_estimate_is_never_below_a_quarter_of_the_bytes(text: str) -> None:
    assert tokens(text) * 4 >= len(text.encode("utf-8", "surrogatepass"))


def test_the_estimate() -> None:
    assert [tokens(text) for text in ("", "a", "abcd", "abcde", "漢", "漢字ab", "é")] == [0, 1, 1, 2, 1, 3, 1]
