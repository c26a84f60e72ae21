"""Shared ends are whole lines, never overlap, and leave a diff as it was."""

import random

from hypothesis import given
from hypothesis import strategies as st

from pogstore.store.ends import shared_ends, sole_change
from pogstore.store.libgit2 import MARGIN, LineHunk, _hunks, line_hunks

LINES = st.lists(st.sampled_from([b"\n", b"a\n", b"ab\n", b"a\r\n"]), max_size=40)


@given(LINES, LINES, LINES, LINES, st.sampled_from([b"", b"end"]), st.integers(0, 3))
def test_what_is_left_out_is_equal_and_ends_with_lines(
    head: list[bytes], one: list[bytes], other: list[bytes], tail: list[bytes], last: bytes, margin: int
) -> None:
    old, new = (b"".join([*head, *middle, *tail]) + last for middle in (one, other))
    ends = shared_ends(old, new, margin)
    assert old[: ends.head] == new[: ends.head]
    assert old[len(old) - ends.tail :] == new[len(new) - ends.tail :]
    assert ends.head + ends.tail <= min(len(old), len(new))
    assert ends.head == 0 or old[ends.head - 1 : ends.head] == b"\n"
    assert ends.tail == 0 or old[: len(old) - ends.tail].endswith(b"\n")
    assert ends.tail == 0 or new[: len(new) - ends.tail].endswith(b"\n")


def test_the_margin_is_left_in() -> None:
    lines = [b"%d\n" % at for at in range(1000)]
    old, new = b"".join(lines), b"".join([*lines[:500], b"x\n", *lines[501:]])
    ends = shared_ends(old, new, 10)
    assert old[: ends.head] == b"".join(lines[:490])
    assert old[len(old) - ends.tail :] == b"".join(lines[511:])


def test_a_diff_is_the_same_as_that_of_the_whole() -> None:
    """Lines that come again, blank ones and brackets among them, in files far longer than the margin."""
    chance = random.Random(5)
    for _ in range(60):
        lines = [chance.choice([b"\n", b"    }\n", b"def f():\n", b"    x%d = 1\n" % at]) for at in range(1500)]
        edited = list(lines)
        for _ in range(chance.randrange(1, 4)):
            at = chance.randrange(len(edited))
            edited[at : at + chance.randrange(3)] = [
                chance.choice([b"\n", b"    }\n", b"new %d\n" % at]) for _ in range(chance.randrange(1, 4))
            ]
        old, new = b"".join(lines), b"".join(edited)
        assert line_hunks(old, new) == ([] if old == new else _hunks(old, new, slide=True))


@given(LINES, LINES, LINES, LINES, st.sampled_from([b"", b"a"]), st.sampled_from([b"", b"a"]), st.booleans())
def test_a_sole_change_is_where_every_diff_finds_it(
    head: list[bytes],
    one: list[bytes],
    other: list[bytes],
    tail: list[bytes],
    last: bytes,
    other_last: bytes,
    slide: bool,
) -> None:
    old, new = b"".join([*head, *one, *tail, last]), b"".join([*head, *other, *tail, other_last])
    found = None if old == new else sole_change(old, new)
    assert found is None or _hunks(old, new, slide) == [found]


def test_one_place_that_cannot_slide_is_a_sole_change() -> None:
    assert sole_change(b"a\nb\nc\n", b"a\nx\ny\nc\n") == (1, 1, 1, 2)
    assert sole_change(b"a\nc\n", b"a\nb\nc\n") == (1, 0, 1, 1)
    assert sole_change(b"a\nb\nc\n", b"a\nc\n") == (1, 1, 1, 0)
    assert sole_change(b"", b"a") == (0, 0, 0, 1)
    assert sole_change(b"a", b"a\n") == (0, 1, 0, 1), "the end of the last line is a part of it"
    assert sole_change(b"a\nc\n", b"a\na\nc\n") is None, "which of the two came, nobody can see"
    assert sole_change(b"a\n\nc\n", b"a\n\nb\n\nc\n") is None, "the block may begin with the blank line"
    assert sole_change(b"a\nb\nc\n", b"x\nb\ny\n") is None, "these are two places"


def test_a_hunk_that_slides_to_the_edge_is_looked_for_in_the_whole() -> None:
    same = b"same line\n" * 2000
    assert line_hunks(b"first\n" + same, b"first\n" + same + b"same line\n") == [LineHunk(2001, 0, 2001, 1)]
    long = b"".join(b"%d\n" % at for at in range(3000))
    assert line_hunks(long + same, long + same + b"same line\n" * MARGIN)[0].new_lines == MARGIN
