"""Which lines of HEAD's log were written between two looks: never one that may have been written before or after."""

from hypothesis import given
from hypothesis import strategies as st

from pogstore.work.movements import Movement, Span, between

SECOND = 1_000_000


def oid(number: int) -> str:
    return f"{number:040x}"


@st.composite
def logs(draw: st.DrawFn) -> tuple[list[Movement], int, int, Span]:
    """A log in which HEAD goes to and fro between a few commits, and between which of its lines a call ran."""
    heads = draw(st.lists(st.integers(0, 2), min_size=1, max_size=7))
    begin = draw(st.integers(0, len(heads) - 1))
    end = draw(st.integers(begin, len(heads) - 1))
    times = sorted(draw(st.lists(st.integers(10, 12), min_size=len(heads) - 1, max_size=len(heads) - 1)))
    lines = [
        Movement(oid(old), oid(new), time, b"commit: x", (at + 1) * 100)
        for at, (old, new, time) in enumerate(zip(heads, heads[1:], times, strict=False))
    ]
    first = draw(st.integers(times[begin - 1] if begin else 10, times[begin] if begin < len(times) else 12))
    last = draw(st.integers(max(first, times[end - 1] if end else 10), times[end] if end < len(times) else 12))
    span = Span(oid(heads[begin]) if heads[begin] else "", oid(heads[end]) if heads[end] else "",
                first * SECOND + 1, last * SECOND + 2)  # fmt: skip
    return lines, begin, end, span


@given(logs())
def test_without_lengths_only_what_is_certain_is_a_calls_own(case: tuple[list[Movement], int, int, Span]) -> None:
    lines, begin, end, span = case
    found, is_all = between(lines, span, is_settled=False)
    assert all(line in lines[begin:end] for line in found)
    assert not is_all or found == lines[begin:end]


@given(logs())
def test_with_lengths_all_of_a_calls_own_is_told(case: tuple[list[Movement], int, int, Span]) -> None:
    lines, begin, end, span = case
    sizes = (begin * 100, end * 100)
    assert between(lines, span._replace(sizes=sizes), is_settled=False) == (lines[begin:end], True)


@given(logs(), st.integers(0, 700), st.integers(0, 700))
def test_lengths_of_another_log_are_not_believed(
    case: tuple[list[Movement], int, int, Span], one: int, other: int
) -> None:
    lines, _, _, span = case
    odd = (one // 100 * 100 + 50, other // 100 * 100 + 50)
    assert between(lines, span._replace(sizes=odd), is_settled=False) == between(lines, span, is_settled=False)


def test_a_log_that_was_not_written_to_since_is_all_the_calls() -> None:
    lines = [Movement(oid(1), oid(2), 10, b"commit: x", 100), Movement(oid(2), oid(1), 10, b"reset: x", 200)]
    span = Span(oid(1), oid(1), 9 * SECOND, 10 * SECOND)
    assert between(lines, span, is_settled=True) == (lines, True)
    assert between(lines, span, is_settled=False) == ([], False)
