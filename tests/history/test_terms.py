"""What a rollback does about conflicts if it is told to: keep those paths, or take the older side.

RC-8, RC-17, RC-22, RC-34, RC-44, RC-55.
"""

from pathlib import Path

import pytest

from pogstore.history.plans import Plan, Terms
from pogstore.history.rollback import apply_rollback, plan_rollback
from pogstore.model import BlobId, Change, EventId, RolledBack, Side
from tests.builders_rollback import Bench, changes_of, file, link, program, untouched

KEEP, TAKE = Terms(conflicts="keep"), Terms(conflicts="take")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A work tree with a task."""
    return Bench(tmp_path / "work")


def plan(bench: Bench, terms: Terms, *names: EventId) -> Plan:
    return plan_rollback(bench.store, [bench.named(name) for name in names], terms=terms)


def outcomes(found: Plan) -> dict[EventId, str]:
    return {each.event: each.outcome for own in found.tasks for each in own.outcomes}


def test_what_conflicts_is_kept_whole_and_told_and_the_rest_goes(bench: Bench) -> None:
    bench.write("f", b"1\n2\n3\n")
    bench.write("g", b"1\n")
    older = bench.step({"f": b"1\n2\n3 older\n", "g": b"2\n"})
    newer = bench.step({"f": b"1 newer\n2\n3 older\n", "h": b"1\n"})
    bench.write("f", b"a person's\n2\n3 older\n")
    state = untouched(bench.path, [".git", "g", "h"])
    found = plan(bench, KEEP, older, newer)
    assert [(each.path, each.reason, each.event) for each in found.kept] == [("f", "overlap", newer)]
    assert not found.obstacles
    # the older event is not taken out of a file that keeps the newer one
    assert outcomes(found) == {older: "conflicted", newer: "conflicted"}
    (event,) = apply_rollback(bench.store, found, bench.by()).events
    assert isinstance(event.event, RolledBack)
    assert {each.outcome for each in event.event.outcomes} == {"conflicted"}
    assert [change.path for change in changes_of(event)] == ["g", "h"]
    assert bench.text("g") == "1\n"
    assert not (bench.path / "h").exists()
    assert untouched(bench.path, [".git", "g", "h"]) == state
    bench.undo()
    assert bench.text("g") == "2\n"


def test_what_moves_to_or_from_a_kept_path_is_kept_too(bench: Bench) -> None:
    bench.write("a", b"1\n2\n3\n4\n")
    first = bench.step({"a": b"agent\n2\n3\n4\n"})
    moved = bench.move("a", "b")
    last = bench.step({"b": b"agent\n2\n3\nlast\n"})
    bench.write("b", b"agent\n2\n3\na person's\n")
    found = plan(bench, KEEP, first, moved, last)
    assert [each.path for each in found.kept] == ["b"]
    assert found.writes == ()
    assert set(outcomes(found).values()) == {"conflicted"}


def test_all_kept_is_nothing_to_do(bench: Bench) -> None:
    event = bench.step({"f": b"1\n"})
    bench.write("f", b"2\n")
    found = plan(bench, KEEP, event)
    assert apply_rollback(bench.store, found, bench.by()).events == ()
    assert bench.text("f") == "2\n"


BEFORE = {"text": file(b"1\n2\n"), "none": None, "link": link(b"x"), "binary": file(b"\0\1"), "bit": program(b"1\n")}
AFTER = {"text": file(b"agent\n2\n"), "none": None, "link": link(b"y"), "binary": file(b"\0\2")}
NOW = {"text": file(b"mine\n2\n"), "none": None, "link": link(b"z"), "binary": file(b"\0\3"), "bit": program(b"p\n")}


@pytest.mark.parametrize("now", NOW)
@pytest.mark.parametrize("after", AFTER)
@pytest.mark.parametrize("before", BEFORE)
def test_rc55_the_older_side_is_taken_whatever_stands_there_and_undo_is_exact(
    bench: Bench, before: str, after: str, now: str
) -> None:
    if before == after:
        return
    there = {"f": BEFORE[before], "still": file(b"still\n")}
    for path, version in there.items():
        bench.write(path, version)
    event = bench.step({"f": AFTER[after], "other": b"other\n"})
    bench.write("f", NOW[now])
    typed, state = bench.files(), untouched(bench.path, [".git", "f", "other"])
    conflicts = bench.plan_just(event).obstacles
    found = plan(bench, TAKE, event)
    assert not found.obstacles
    assert [clash.reason for clash in found.clashes] == [each.reason for each in conflicts]
    assert set(outcomes(found).values()) == {"applied"}
    apply_rollback(bench.store, found, bench.by())
    if conflicts:
        assert bench.files() == {path: version for path, version in there.items() if version is not None}
    assert untouched(bench.path, [".git", "f", "other"]) == state
    assert bench.undo().events
    assert bench.files() == typed


def test_the_older_side_goes_down_to_the_oldest_target(bench: Bench) -> None:
    bench.write("f", b"1\n2\n3\n")
    first = bench.step({"f": b"1\n2\n3 first\n"})
    second = bench.step({"f": b"1 second\n2\n3 first\n"})
    bench.write("f", b"1 person\n2 person\n3 first\n")
    found = plan(bench, TAKE, first, second)
    (clash,) = found.clashes
    assert (clash.event, clash.reason) == (second, "overlap")
    assert (clash.base, clash.ours) == (file(b"1 second\n2\n3 first\n"), bench.holds("f"))
    assert clash.theirs == file(b"1\n2\n3\n")
    apply_rollback(bench.store, found, bench.by())
    assert bench.text("f") == "1\n2\n3\n"


@pytest.mark.parametrize("twice", [False, True])
def test_a_moved_file_goes_home_with_the_older_side(bench: Bench, twice: bool) -> None:
    bench.write("a", b"1\n")
    moved = bench.move("a", "b", b"2\n")
    if twice:
        bench.move("b", "c")
    now = "c" if twice else "b"
    bench.write(now, b"person\n")
    typed = bench.files()
    found = plan(bench, TAKE, moved)
    assert [(clash.path, clash.ours) for clash in found.clashes] == [("a", file(b"person\n"))]
    apply_rollback(bench.store, found, bench.by())
    assert bench.files() == {"a": file(b"1\n")}
    bench.undo()
    assert bench.files() == typed


def test_a_taken_name_is_taken_back(bench: Bench) -> None:
    bench.write("a", b"1\n")
    moved = bench.move("a", "b")
    bench.write("a", b"a person's\n")
    typed = bench.files()
    found = plan(bench, TAKE, moved)
    assert [clash.reason for clash in found.clashes] == ["recreated-since"]
    apply_rollback(bench.store, found, bench.by())
    assert bench.files() == {"a": file(b"1\n")}
    bench.undo()
    assert bench.files() == typed


def test_where_there_is_no_older_side_nothing_is_written(bench: Bench) -> None:
    """RC-22: it is not promised first and refused then."""
    (change,) = changes_of(bench.store.event(bench.step({"f": b"1\n"})))
    absent = Side(mode="100644", blob=BlobId("f" * 64), size=1)
    event = bench.record_sides(Change(path="f", before=absent, after=change.after))
    state = untouched(bench.path, [".git/pog"])
    found = plan(bench, TAKE, event)
    assert [each.reason for each in found.obstacles] == ["content-absent"]
    assert found.clashes == ()
    assert untouched(bench.path, [".git/pog"]) == state


def test_rc44_only_recorded_creations_are_deleted(bench: Bench) -> None:
    bench.write("mine", b"person\n")
    event = bench.step({"made": b"1\n"})
    bench.write("made", b"edited\n")
    bench.write("made.orig", b"person\n")
    apply_rollback(bench.store, plan(bench, TAKE, event), bench.by())
    assert bench.files() == {"mine": file(b"person\n"), "made.orig": file(b"person\n")}
