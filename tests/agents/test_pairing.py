"""Calls without ids: which begin and which end belong together."""

from typing import Any

import pytest

from pogstore.agents import heard
from pogstore.agents.heard import Heard
from pogstore.agents.pairing import paired
from pogstore.work.spooled_record import Record
from tests.conftest import SECOND, STARTED


def said(phase: str, given: Any = None, at: int = 0, stamp: str = "", **more: Any) -> Heard:
    payload = f"{phase} {given} {stamp}".encode()
    record = Record("0" * 32, "a", phase, STARTED + at * SECOND, 0, b"/g", b"/g", b"/r", payload, True, "", (), {})
    tool = "write" if phase in (heard.BEGIN, heard.END, heard.FAILED) else ""
    return Heard(record, phase, "a", "s", tool=tool, given=given, stamp=stamp, **more)


def numbers(*told: Heard) -> list[int]:
    return [each.nth for each in paired(told)]


def test_equal_calls_end_in_the_order_in_which_they_began() -> None:
    begin, end = said(heard.BEGIN, 1), said(heard.END, 1)
    assert numbers(begin, end, begin, end) == [0, 0, 1, 1]
    assert numbers(begin, begin, end, end) == [0, 1, 0, 1]
    assert numbers(begin, said(heard.BEGIN, 2), said(heard.END, 2), end) == [0, 0, 0, 0]
    assert numbers(begin, said(heard.FAILED, 1), begin, end) == [0, 0, 1, 1]


def test_an_end_without_a_beginning_takes_none_away() -> None:
    begin, end = said(heard.BEGIN, 1), said(heard.END, 1)
    assert numbers(end, begin, end) == [0, 1, 1]


@pytest.mark.parametrize("over", [said(heard.SESSION_START), said(heard.TURN_END, settles=True)])
def test_what_was_begun_before_a_turn_was_over_has_no_end_after_it(over: Heard) -> None:
    begin, end = said(heard.BEGIN, 1), said(heard.END, 1)
    assert numbers(begin, over, begin, end) == [0, 0, 1, 1]


def test_what_was_told_twice_counts_once() -> None:
    begin, end = said(heard.BEGIN, 1, stamp="t1"), said(heard.END, 1, stamp="t2")
    assert numbers(begin, begin, end, end) == [0, 0]
    assert len(list(paired([said(heard.BEGIN, 1), said(heard.BEGIN, 1)]))) == 2, "without a time nobody can tell"


def test_a_failure_behind_an_end_is_no_second_call() -> None:
    """Some versions tell of one and the same call by both."""
    begin, end, failed = said(heard.BEGIN, 1), said(heard.END, 1), said(heard.FAILED, 1)
    assert [each.phase for each in paired([begin, end, failed, begin, failed])] == [
        heard.BEGIN, heard.END, heard.BEGIN, heard.FAILED,
    ]  # fmt: skip
    assert [each.phase for each in paired([failed])] == [heard.FAILED]


def test_calls_with_ids_are_left_alone() -> None:
    call = said(heard.BEGIN, 1, call_id="c", stamp="t")
    assert list(paired([call, call])) == [call, call]
