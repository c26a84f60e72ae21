"""Shared ends are whole lines, never overlap, and leave a diff as it was."""

import random

from hypothesis import given
from hypothesis import strategies as st

from pogstore.store.ends import shared_ends
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


def test_a_hunk_that_slides_to_the_edge_is_looked_for_in_the_whole() -> None:
    same = b"same line\n" * 2000
    assert line_hunks(b"first\n" + same, b"first\n" + same + b"same line\n") == [LineHunk(2001, 0, 2001, 1)]
    long = b"".join(b"%d\n" % at for at in range(3000))
    assert line_hunks(long + same, long + same + b"same line\n" * MARGIN)[0].new_lines == MARGIN
