"""The kept clock: a cache that may be lost or hold anything (T23)."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pogstore import graph
from pogstore.model import TaskId
from pogstore.store.clock import highest, read_clock, write_clock
from pogstore.store.store import Store
from tests.builders_store import OTHER, TASK, append, noted

THIRD = TaskId("0198a1b2-c3d4-7e5f-8a9b-000000000002")


@pytest.mark.parametrize("clock", [0, 1, 2**40, 2**52 - 1])
def test_a_clock_comes_back(tmp_path: Path, clock: int) -> None:
    write_clock(tmp_path, clock)
    assert read_clock(tmp_path) == clock
    write_clock(tmp_path, 7)
    assert read_clock(tmp_path) == 7
    assert [path.name for path in tmp_path.iterdir()] == ["clock"]


def test_a_longer_file_is_cut(tmp_path: Path) -> None:
    (tmp_path / "clock").write_text("9" * 60 + "\n")
    write_clock(tmp_path, 5)
    assert (tmp_path / "clock").read_text() == f"{5:016}\n"


GARBAGE = [b"", b"\n", b"\0" * 17, b"x", b"\xff\xfe", b"-5\n", b"1.5", b"9" * 60, b"%d" % 2**52, b"0x10"]


@pytest.mark.parametrize("garbage", GARBAGE)
def test_garbage_counts_as_no_clock(tmp_path: Path, garbage: bytes) -> None:
    assert read_clock(tmp_path) is None
    (tmp_path / "clock").write_bytes(garbage)
    assert read_clock(tmp_path) is None


@pytest.mark.parametrize("garbage", [None, *GARBAGE])
def test_a_lost_clock_is_found_again_from_the_events(store: Store, garbage: bytes | None) -> None:
    for number in range(3):
        append(store, str(number))
    path = store.layout.own / "clock"
    path.unlink() if garbage is None else path.write_bytes(garbage)
    assert store.highest_clock() == 3
    assert append(store, "next").event.clock == 4


def test_a_new_task_counts_from_all_that_this_clone_accepted(store: Store) -> None:
    for _ in range(3):
        append(store)
    other = store.transact(lambda batch: batch.append(noted(task=OTHER)))
    assert other.event.clock == 4
    assert append(store).event.clock == 5
    imported = noted(task=THIRD)
    assert store.transact(lambda batch: batch.append(imported, imported=True)).event.clock == 1
    assert append(store, task=TASK).event.clock == 6


@given(st.lists(st.integers(1, 2**52 - 1), max_size=8))
def test_one_future_clock_does_not_count(clocks: list[int]) -> None:
    """UC-67, SC-38: what is far ahead of all before it raises nothing."""
    found = highest(sorted(clocks))
    assert found == 0 or found in clocks
    above = [clock for clock in clocks if clock > found]
    assert all(graph.is_ahead(clock, found) for clock in above)


def test_a_long_row_of_clocks_counts() -> None:
    assert highest(range(1, 5000)) == 4999
    assert highest([1, 2, graph.AHEAD + 2]) == graph.AHEAD + 2
    assert highest([1, 2, graph.AHEAD + 3]) == 2
    assert highest([]) == 0
