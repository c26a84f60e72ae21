"""Merging by lines: against a model that knows no diff, and against git itself."""

import subprocess
from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import assume, event, example, given, settings
from hypothesis import strategies as st

from pogstore.history.linemerge import SNIFFED, is_binary, is_taken_out, merge
from pogstore.store.libgit2 import line_hunks

OURS, THEIRS, NOBODY = "ours", "theirs", "nobody"
Lines = list[bytes]


def merged(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    return merge(base, ours, theirs, partial(line_hunks, slide=False))


class Piece(NamedTuple):
    """Some lines of the base in a row, and what a side makes of them; `NOBODY` leaves them."""

    side: str
    old: int
    new: int


PIECES = st.lists(
    st.one_of(
        st.builds(Piece, st.just(NOBODY), st.integers(1, 3), st.just(0)),
        st.builds(Piece, st.sampled_from([OURS, THEIRS]), st.integers(0, 2), st.integers(0, 2)).filter(
            lambda piece: piece.old or piece.new
        ),
    ),
    max_size=9,
)


def laid_out(pieces: Sequence[Piece]) -> tuple[Lines, Lines, Lines, Lines]:
    """Returns base, ours, theirs and both; no line stands twice, so that there is one way to see what changed."""
    numbers = count()
    base, ours, theirs, both = Lines(), Lines(), Lines(), Lines()
    for piece in pieces:
        old = [b"old %d\n" % next(numbers) for _ in range(piece.old)]
        new = old if piece.side == NOBODY else [b"new %d\n" % next(numbers) for _ in range(piece.new)]
        base += old
        ours += new if piece.side == OURS else old
        theirs += new if piece.side == THEIRS else old
        both += new
    return base, ours, theirs, both


class Run(NamedTuple):
    """Where a side changed the base, pieces that touch each other as one; `first` and `last` count the pieces."""

    start: int
    end: int
    first: int
    last: int


def runs(pieces: Sequence[Piece], side: str) -> list[Run]:
    found: list[Run] = []
    at = 0
    for number, piece in enumerate(pieces):
        if piece.side == side:
            touches = bool(found) and found[-1].end == at
            begun = found.pop() if touches else Run(at, at, number, number)
            found.append(begun._replace(end=at + piece.old, last=number))
        at += piece.old
    return found


def pairs(pieces: Sequence[Piece]) -> list[tuple[Run, Run]]:
    return [(ours, theirs) for ours in runs(pieces, OURS) for theirs in runs(pieces, THEIRS)]


def overlap(ours: Run, theirs: Run) -> bool:
    """Whether the sides touch one line, or insert at one place, or one inserts inside of what the other rewrote."""
    if ours.start == ours.end == theirs.start == theirs.end:
        return True
    return ours.start < theirs.end and theirs.start < ours.end


def interleaved(ours: Run, theirs: Run) -> bool:
    """Whether the pieces alternate in one place: the texts do not tell in which order."""
    return ours.first < theirs.last and theirs.first < ours.last and not overlap(ours, theirs)


@settings(max_examples=400)
@given(PIECES)
@example([Piece(OURS, 1, 1), Piece(THEIRS, 1, 1)])
@example([Piece(OURS, 1, 0), Piece(THEIRS, 0, 1), Piece(OURS, 1, 0)])
@example([Piece(OURS, 0, 1), Piece(THEIRS, 0, 1)])
@example([Piece(OURS, 0, 1), Piece(THEIRS, 1, 0), Piece(OURS, 0, 1)])
def test_edits_that_do_not_overlap_are_all_made(pieces: list[Piece]) -> None:
    base, ours, theirs, both = (b"".join(lines) for lines in laid_out(pieces))
    assume(not any(interleaved(*pair) for pair in pairs(pieces)))
    is_conflict = any(overlap(*pair) for pair in pairs(pieces))
    event("overlap" if is_conflict else "clean")
    assert merged(base, ours, theirs) == (None if is_conflict else both)
    assert merged(base, theirs, ours) == (None if is_conflict else both)


LINE = st.sampled_from([b"a\n", b"b\n", b"\n", b"  b\n", b"}\n", b"a\r\n"])


@st.composite
def versions(draw: st.DrawFn) -> tuple[bytes, bytes, bytes]:
    """Three texts that have lines in common, many of them alike; the last line may lack its end."""
    base = draw(st.lists(LINE, max_size=8))

    def edited() -> Lines:
        lines = list(base)
        for _ in range(draw(st.integers(0, 3))):
            at = draw(st.integers(0, len(lines)))
            lines[at : at + draw(st.integers(0, 2))] = draw(st.lists(LINE, max_size=2))
        return lines

    def joined(lines: Lines) -> bytes:
        text = b"".join(lines)
        return text[:-1] if text.endswith(b"\n") and draw(st.integers(0, 3)) == 0 else text

    return joined(base), joined(edited()), joined(edited())


def counted(text: bytes) -> Counter[bytes]:
    """How often each line stands in a text, whether it ends or not: a last one gets its end when others follow."""
    return Counter(text.removesuffix(b"\n").split(b"\n") if text else [])


def edited_alike(base: bytes, ours: bytes, theirs: bytes) -> bool:
    """Whether both sides touch one place, which a merge accepts only if they made the same of it."""
    changes = [
        [Run(at, at + old, 0, 0) for at, old, *_ in line_hunks(base, side, slide=False)] for side in (ours, theirs)
    ]
    return any(overlap(one, other) for one in changes[0] for other in changes[1])


@settings(max_examples=400)
@given(versions())
def test_no_line_is_lost_that_nobody_deleted_and_none_comes_from_nowhere(texts: tuple[bytes, bytes, bytes]) -> None:
    found = merged(*texts)
    if found is None or edited_alike(*texts):
        return
    base, ours, theirs = map(counted, texts)
    ours.update(theirs)
    ours.subtract(base)
    assert counted(found) == +ours
    assert min(ours.values(), default=0) >= 0


@settings(max_examples=300)
@given(versions())
def test_it_is_even_handed_and_knows_the_clear_cases(texts: tuple[bytes, bytes, bytes]) -> None:
    base, ours, theirs = texts
    assert merged(base, ours, theirs) == merged(base, theirs, ours)
    assert merged(base, ours, base) == ours
    assert merged(base, base, theirs) == theirs
    assert merged(base, ours, ours) == ours


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where git finds the three files."""
    return tmp_path_factory.mktemp("merge")


def git_merged(folder: Path, base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    for name, text in (("base", base), ("ours", ours), ("theirs", theirs)):
        (folder / name).write_bytes(text)
    done = subprocess.run(
        ["git", "merge-file", "-p", "ours", "base", "theirs"], cwd=folder, capture_output=True, check=False
    )
    return done.stdout if done.returncode == 0 else None


@settings(max_examples=250)
@given(texts=versions())
def test_what_git_merges_is_merged_alike(folder: Path, texts: tuple[bytes, bytes, bytes]) -> None:
    expected = git_merged(folder, *texts)
    found = merged(*texts)
    event(
        "git: " + ("conflict" if expected is None else "clean") + ", we: " + ("conflict" if found is None else "clean")
    )
    if expected is not None:
        assert found == expected


MORE = {
    "insert below an insert's line": (b"a\nb\n", b"a\nb\nmine\n", b"a\n", b"a\nmine\n"),
    "edit beside an edit": (b"a\nb\n", b"A\nb\n", b"a\nB\n", b"A\nB\n"),
    "insert above what goes": (b"a\nb\nc\n", b"a\nmine\nb\nc\n", b"a\nc\n", b"a\nmine\nc\n"),
}


@pytest.mark.parametrize(("base", "ours", "theirs", "expected"), MORE.values(), ids=MORE)
def test_decision_6_adjacent_changes_merge_where_git_stops(
    folder: Path, base: bytes, ours: bytes, theirs: bytes, expected: bytes
) -> None:
    assert git_merged(folder, base, ours, theirs) is None
    assert merged(base, ours, theirs) == expected


ENDS = {
    "a line comes after the last": (b"a\nb", b"a\nb\nmine", b"A\nb", b"A\nb\nmine"),
    "theirs has no end, ours goes on": (b"a\n", b"a\nmine\n", b"a", b"a\nmine\n"),
    "theirs takes the end": (b"x\na\n", b"X\na\n", b"x\na", b"X\na"),
    "the last line goes": (b"a\nb", b"A\nb", b"a\n", b"A\n"),
}


@pytest.mark.parametrize(("base", "ours", "theirs", "expected"), ENDS.values(), ids=ENDS)
def test_a_missing_newline_stays_missing_at_the_end_alone(
    base: bytes, ours: bytes, theirs: bytes, expected: bytes
) -> None:
    assert merged(base, ours, theirs) == expected


def test_a_binary_is_merged_only_where_it_is_clear() -> None:
    zero, one, two = b"\0", b"\0\x01", b"\0\x02"
    assert merged(zero, one, two) is None
    assert merged(b"a\n", b"b\n", zero) is None
    assert merged(zero, zero, one) == one
    assert merged(zero, one, one) == one
    assert is_binary(b"x" * (SNIFFED - 1) + b"\0")
    assert not is_binary(b"x" * SNIFFED + b"\0")


def test_equal_edits_that_the_diffs_cut_otherwise_are_one() -> None:
    """What counts is what both made of the lines, not where each diff says that it began."""

    def hunks(_: bytes, new: bytes) -> list[tuple[int, int, int, int]]:
        return [(0, 3, 0, 3)] if new.endswith(b"d\n") else [(0, 1, 0, 1), (2, 1, 2, 1), (3, 1, 3, 1)]

    assert merge(b"a\nb\nc\nd\n", b"A\nb\nC\nd\n", b"A\nb\nC\ne\n", hunks) == b"A\nb\nC\ne\n"


BEFORE = b"def one():\n    return 1\n\n\ndef two():\n    return 2\n"
AFTER = b"def one():\n    return 1\n\n\ndef agent():\n    return 0\n\n\ndef two():\n    return 2\n"
GONE = {
    "it is there": (AFTER, False),
    "it is there, and more": (AFTER.replace(b"2", b"22") + b"\n\nMINE = 1\n", False),
    "it is not": (BEFORE, True),
    "it is not, and more is": (BEFORE.replace(b"2", b"22").replace(b"1", b"11") + b"\n\nMINE = 1\n", True),
    "something else is in its place": (BEFORE.replace(b"def two", b"def mine():\n    return 3\n\n\ndef two"), False),
    "half of it": (AFTER.replace(b"    return 0\n", b""), False),
}


@pytest.mark.parametrize(("now", "expected"), GONE.values(), ids=GONE)
def test_a_change_is_taken_out_where_its_lines_are_as_before(now: bytes, expected: bool) -> None:
    assert is_taken_out(BEFORE, AFTER, now, partial(line_hunks, slide=False)) is expected


def test_a_blank_line_among_others_does_not_count_as_gone() -> None:
    """It lies in the one place or the other, and git's diff chooses; what the whole text is nearer to decides."""
    before, after = b"a\n\nb\n\nc\n", b"a\n\n\nb\n\nc\n"
    now = b"A\n\n\nb\n\nc\n"
    assert not is_taken_out(before, after, now, partial(line_hunks, slide=False))
    assert merged(after, now, before) == b"A\n\nb\n\nc\n"


def test_many_edits_take_little_time() -> None:
    base = [b"line %d\n" % number for number in range(40_000)]
    ours, theirs = list(base), list(base)
    ours[::4] = [b"ours\n"] * len(ours[::4])
    theirs[2::4] = [b"theirs\n"] * len(theirs[2::4])
    found = merged(b"".join(base), b"".join(ours), b"".join(theirs))
    assert found is not None
    assert Counter(found.split(b"\n"))[b"ours"] == Counter(found.split(b"\n"))[b"theirs"] == 10_000
