"""Replay in memory: what comes of each event, in which order, from which base.

RC-41, RC-46, RC-47, RC-49, RC-50, RC-52, RC-53, RC-55.
"""

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pogstore.draft import FileVersion
from pogstore.errors import Incomplete, NotFound
from pogstore.history.names import Named
from pogstore.history.replay import plan_replay
from pogstore.history.targets import resolve_target
from pogstore.model import Base, Change, EventId, OddPath, Sealed, Side, Slice, Stepped
from pogstore.store.batch import Batch
from pogstore.store.content import blob_id
from tests.builders_rollback import AGENT, Bench, Benches, Step, change_of, file, link, program, untouched
from tests.history.replays import (
    Action,
    damage,
    held,
    histories,
    lose,
    named,
    observe,
    outcomes,
    prefixes,
    reasons,
    record,
    replay,
)


def raw_step(bench: Bench, *steps: Step, **fields: Any) -> EventId:
    """Records a call with fields of its own."""

    def write(batch: Batch) -> Sealed:
        bench.store.refresh()
        common: dict[str, Any] = {"v": 1, "task": bench.task, "clock": 1, "time": bench.by().time, "actor": AGENT}
        common |= {"tool": "Bash", "class_": "shell", "ok": True}
        changes = tuple(change_of(batch, bench.task, step) for step in steps)
        return batch.append(Stepped(**{**common, "changes": changes, **fields}))

    return bench.store.transact(write).event_id


@settings(max_examples=20)
@given(done=histories)
def test_every_prefix_is_what_was_recorded(benches: Benches[Bench], done: list[Action]) -> None:
    """All tasks together: contents and modes after each event, by its id (RC-46, RC-55)."""
    with benches.new() as bench:
        known = record(bench, done)
        if not known:
            return
        found = replay(bench)
        assert found.ok
        assert outcomes(found) == dict.fromkeys((each.event_id for each in known), "applied")
        assert [step.results[0].event.event_id for step in found.steps] == [each.event_id for each in known]
        assert prefixes(found) == [held(each.files) for each in known]


@settings(max_examples=12)
@given(done=histories, data=st.data())
def test_a_lost_object_is_unverifiable_for_exactly_the_events_that_need_it(
    benches: Benches[Bench], done: list[Action], data: st.DataObject
) -> None:
    with benches.new() as bench:
        known = record(bench, done)
        events = {each.event_id: bench.store.event(each.event_id).event for each in known}
        needed = {event_id: _blobs(event.changes) for event_id, event in events.items()}  # type: ignore[union-attr]
        every = sorted({version.data for each in known for version in each.files.values()})
        if not every:
            return
        gone = data.draw(st.sampled_from(every))
        lose(bench, gone)
        expected = {
            event_id: "unverifiable" if blob_id(gone) in blobs else "applied" for event_id, blobs in needed.items()
        }
        assert outcomes(replay(bench)) == expected


def _blobs(changes: tuple[Change, ...]) -> set[str | None]:
    return {side.blob for change in changes for side in (change.before, change.after) if side is not None}


def test_the_order_is_a_function_of_the_set(bench: Bench) -> None:
    """RC-50: neither the order of names nor naming twice matters; with and without an index."""
    chance = Random(7)
    actions: list[Action] = [
        (chance.randrange(3), False, chance.choice("abcd"), "-", file(b"%d\n" % n)) for n in range(20)
    ]
    known = record(bench, actions)
    expected = replay(bench).steps
    for _ in range(3):
        names = [each.event_id for each in known] + [known[0].event_id]
        chance.shuffle(names)
        assert replay(bench, *names).steps == expected
    bench.store.close()
    (bench.path / ".git" / "pog" / "index.sqlite3").unlink()
    bench.reopen()
    assert replay(bench).steps == expected


def test_it_writes_nothing_at_all(bench: Bench) -> None:
    bench.step({"f": b"1\n"})
    bench.step({"f": b"2\n"})
    commit = bench.repo.commit({"f": "1\n"})
    replay(bench)  # the index may be brought up to date
    before = untouched(bench.path)
    assert replay(bench).ok
    assert replay(bench, onto=commit).is_whole
    assert untouched(bench.path) == before


def test_another_tasks_work_between_is_merged_and_said(bench: Bench) -> None:
    """RC-11, RC-49: a task alone, without what others did between its events; never 'the latest state'."""
    first = bench.step({"f": b"1\n2\n3\n"})
    other = bench.step({"f": b"1\n2\n3\n4\n"}, task=bench.new_task())
    last = bench.step({"f": b"0\n1\n2\n3\n4\n"})
    alone = replay(bench, first, last)
    assert outcomes(alone) == {first: "applied", last: "diverged"}
    assert (alone.ok, alone.is_whole, reasons(alone)) == (False, True, {"f": "merged"})
    (content,) = {each for path, each in alone.steps[-1].puts if path == b"f"}
    assert content is not None
    assert alone.contents.read(content) == b"0\n1\n2\n3\n"
    assert outcomes(replay(bench, first, other, last)) == dict.fromkeys((first, other, last), "applied")


def test_a_gap_that_overlaps_is_a_conflict_and_blocks_what_rests_on_it(bench: Bench) -> None:
    bench.write("f", b"1\n")
    first = bench.step({"f": b"2\n", "g": b"g\n"})
    bench.write("f", b"3\n")
    second = bench.step({"f": b"4\n", "g": b"gg\n"})
    third = bench.step({"g": b"ggg\n"})
    fourth = bench.step({"h": b"h\n"})
    found = replay(bench)
    assert outcomes(found) == {first: "applied", second: "conflicted", third: "blocked", fourth: "applied"}
    assert reasons(found) == {"f": "overlap"}
    assert [result.on for result in found.results] == [None, None, second, None]
    assert prefixes(found)[-1] == held({"f": file(b"2\n"), "g": file(b"g\n"), "h": file(b"h\n")})


def test_what_is_there_already_is_identical(bench: Bench) -> None:
    event_id = bench.step({"f": b"1\n"})
    commit = bench.repo.commit()
    assert outcomes(replay(bench, event_id, onto=commit)) == {event_id: "identical"}


def test_a_call_whose_end_was_never_seen_is_open_not_diverged(bench: Bench) -> None:
    """RC-47."""
    bench.step({"f": b"1\n2\n3\n"})
    reading = raw_step(bench, ok=None, class_="read")
    quiet = raw_step(bench, ok=None)
    after_a_gap = raw_step(bench, Step("f", file(b"1\n2\n3\n4\n"), file(b"0\n2\n3\n4\n")), ok=None)
    exact = raw_step(bench, Step("f", file(b"0\n2\n3\n"), file(b"0\n2\n")), ok=None)
    found = replay(bench)
    assert {outcomes(found).get(each) for each in (quiet, after_a_gap)} == {"open"}
    assert outcomes(found)[exact] == "applied", "what is recorded of it is checked all the same"
    assert reading not in outcomes(found)
    assert found.ok, "an open tail is incomplete and no mismatch"
    with pytest.raises(NotFound, match="recorded change"):
        replay(bench, quiet)


def test_the_base_is_what_the_first_event_was_on_with_what_the_events_found(bench: Bench) -> None:
    first = bench.repo.commit({"f": "1\n", "kept": "k\n"})
    base = Base(commit=f"sha1_{first}", branch="main")
    begin = raw_step(bench, Step("f", file(b"1 and mine\n"), file(b"2\n")), base=base)
    raw_step(bench, Step("new", None, program(b"#!/bin/sh\n")), base=base)
    found = replay(bench)
    assert found.ok
    assert (found.base, found.onto) == (first, False)
    assert dict(found.before) == held({"f": file(b"1 and mine\n")}), "the work tree was not clean"
    later = replay(bench, *[event for event in outcomes(found) if event != begin])
    assert (later.base, later.before) == (first, ())


def test_what_a_pull_brought_is_no_gap(bench: Bench) -> None:
    """What an event found, and its own base has where the one before had another, git has brought."""
    one = bench.repo.commit({"f": "1\n"})
    two = bench.repo.commit({"f": "3\n"})
    raw_step(bench, Step("f", file(b"1\n"), file(b"2\n")), base=Base(commit=f"sha1_{one}"))
    raw_step(bench, Step("f", file(b"3\n"), file(b"4\n")), base=Base(commit=f"sha1_{two}"))
    raw_step(bench, Step("f", file(b"4\n"), file(b"5\n")), base=Base(commit=f"sha1_{two}"))
    found = replay(bench)
    assert found.ok
    assert [dict(step.arrived) for step in found.steps] == [{}, held({"f": file(b"3\n")}), {}]
    raw_step(bench, Step("f", file(b"3\n"), file(b"6\n")), base=Base(commit=f"sha1_{two}"))
    assert not replay(bench).ok, "on the same base it is one"


def test_a_base_that_is_not_here_is_said(bench: Bench) -> None:
    """RC-41: a record of another clone is no reason to guess."""
    gone = f"sha1_{'1' * 40}"
    raw_step(bench, Step("f", file(b"1\n"), file(b"2\n")), base=Base(commit=gone))
    found = replay(bench)
    assert (found.ok, found.base, found.absent_base) == (True, None, gone)
    assert dict(found.before) == held({"f": file(b"1\n")})


def test_none_of_ours_is_skipped_with_a_word(bench: Bench) -> None:
    module = Side(mode="160000", commit="sha1_" + "1" * 40)
    changes = {
        "outside": Change(path=OddPath(outside=True)),
        "submodule": Change(path="sub", after=module),
        "name": Change(path=".git/hooks/post-checkout", after=Side(mode="100644", blob=blob_id(b"x"), size=1)),
        "device": Change(path="d/../../x", after=Side(mode="100644", blob=blob_id(b"x"), size=1)),
    }
    found = {what: bench.record_sides(change) for what, change in changes.items()}
    came = replay(bench)
    assert outcomes(came) == dict.fromkeys(found.values(), "skipped")
    assert [place.reason for result in came.results for place in result.places] == [
        "outside", "submodule", "name", "name",
    ]  # fmt: skip
    assert [place.path for place in came.refused] == [".git/hooks/post-checkout", "d/../../x"]
    assert all(not step.puts for step in came.steps)


def test_what_nobody_saw_is_unverifiable(bench: Bench) -> None:
    unseen = bench.record(Step("f", None, file(b"1\n")), reason="no-before")
    nothing = bench.record_sides(Change(path="g"))
    large = bench.record_sides(Change(path="h", after=Side(mode="100644", blob=blob_id(b"?"), size=9, omitted="large")))
    known = bench.record(Step("f", file(b"1\n"), file(b"2\n")), Step("g", file(b"?\n"), file(b"!\n")))
    found = replay(bench)
    assert outcomes(found) == {
        unseen: "unverifiable", nothing: "unverifiable", large: "unverifiable", known: "applied",
    }  # fmt: skip
    assert reasons(found) == {"f": "not-recorded", "g": "not-recorded", "h": "content-omitted"}


def test_parts_apply_together_or_not_at_all(bench: Bench) -> None:
    first = raw_step(bench, Step("a", None, file(b"a\n")), part=Slice(n=1, of=2))
    alone = Bench.named(bench, first)
    with pytest.raises(Incomplete):
        replay(bench, first)
    second = raw_step(bench, Step("b", None, file(b"b\n")), part=Slice(n=2, of=2))
    found = replay(bench, second)
    assert outcomes(found) == {first: "applied", second: "applied"}
    assert len(found.steps) == 1
    commit = bench.repo.commit({"b": "another\n"})
    onto = plan_replay(bench.store, [alone], commit)
    assert outcomes(onto) == {first: "blocked", second: "conflicted"}
    assert onto.steps[0].puts == ()


def test_an_echo_is_replayed_once(bench: Bench) -> None:
    session = {"call_id": "c1"}
    first = raw_step(bench, Step("a", None, file(b"a\n")), **session)
    again = raw_step(bench, Step("a", None, file(b"a\n")), **session)
    assert outcomes(replay(bench)) == {first: "applied"}
    assert outcomes(replay(bench, again)) == {first: "applied"}


def test_names_that_swap_in_one_event(bench: Bench) -> None:
    one, two = file(b"1\n"), file(b"2\n")
    bench.record(Step("a", None, one), Step("b", None, two))
    bench.record(Step("a", two, two, "b"), Step("b", one, one, "a"))
    bench.record(Step("a", two, None), Step("a/x", one, one, "b"))
    found = replay(bench)
    assert found.ok
    assert prefixes(found)[1:] == [held({"a": two, "b": one}), held({"a/x": one})]


def test_rollbacks_and_undos_are_replayed_too(bench: Bench) -> None:
    bench.step({"f": b"1\n2\n3\n"})
    middle = bench.step({"f": b"1\n2b\n3\n"})
    bench.step({"f": b"1\n2b\n3c\n"})
    bench.rollback(middle)
    bench.undo()
    bench.rollback(middle)
    found = replay(bench)
    assert found.ok
    assert len(found.steps) == 6
    assert prefixes(found)[-1] == held(bench.files()) == held({"f": file(b"1\n2\n3c\n")})


BASE = b"1\n2\n3\n4\n5\n"
OURS = BASE.replace(b"2", b"two")
ONTO: dict[str, tuple[FileVersion | None, FileVersion | None, FileVersion | bytes | None, str, str]] = {
    # what the event found, what it left, what the other base has; outcome, reason
    "another line": (file(BASE), file(OURS), BASE + b"6\n", "diverged", "merged"),
    "the line beside": (file(BASE), file(OURS), BASE.replace(b"3", b"three"), "diverged", "merged"),
    "the same line": (file(BASE), file(OURS), BASE.replace(b"2", b"deux"), "conflicted", "overlap"),
    "the same edit and more": (file(BASE), file(OURS), OURS + b"6\n", "identical", ""),
    "no final newline": (file(BASE), file(OURS), b"1\n2\n3\n4\n5", "diverged", "merged"),
    "all CRLF": (file(BASE), file(OURS), BASE.replace(b"\n", b"\r\n"), "conflicted", "overlap"),
    "a mode": (file(BASE), file(OURS), program(BASE), "diverged", "merged"),
    "only our mode": (file(BASE), program(BASE), OURS, "diverged", "merged"),
    "the mode we give": (file(BASE), program(BASE), program(BASE), "identical", ""),
    "a file made there": (None, file(OURS), BASE, "conflicted", "recreated-since"),
    "the same file made there": (None, file(OURS), OURS, "identical", ""),
    "deleted there": (file(BASE), file(OURS), None, "conflicted", "deleted-since"),
    "deleted here": (file(BASE), None, OURS, "conflicted", "edited-since"),
    "deleted in both": (file(BASE), None, None, "identical", ""),
    "binary": (file(b"\0a"), file(b"\0b"), b"\0c", "conflicted", "binary"),
    "binary mode": (file(b"\0a"), program(b"\0a"), b"\0c", "diverged", "merged"),
    "a link elsewhere": (link(b"a"), link(b"b"), link(b"c"), "conflicted", "link-changed"),
    "a link in the place": (file(BASE), file(OURS), link(b"c"), "conflicted", "type-changed"),
    "to a link": (file(BASE), link(b"x"), BASE + b"6\n", "conflicted", "type-changed"),
    "an LFS pointer": (file(b"version 1\na\n"), file(b"version 1\nb\n"), b"version 1\na\nc\n", "conflicted", "binary"),
}


@pytest.mark.parametrize("name", ONTO)
def test_onto_another_base(bench: Bench, name: str) -> None:
    """Every case by path; RC-65 for the pointer."""
    before, after, there, outcome, reason = ONTO[name]
    if "LFS" in name:
        bench.write(".gitattributes", b"f filter=lfs -text\n")
        bench.repo.git("config", "filter.lfs.clean", "cat")
    event_id = bench.record(Step("f", before, after))
    bench.write("f", there)
    bench.write("other", b"other\n")
    commit = bench.repo.commit()
    found = replay(bench, event_id, onto=commit)
    assert outcomes(found) == {event_id: outcome}
    assert reasons(found) == ({"f": reason} if reason else {})
    assert found.ok == (outcome != "conflicted")
    assert found.steps[0].puts or outcome != "diverged"


MOVED = {
    "edited there": ({"old": BASE + b"6\n"}, "diverged", "merged"),
    "untouched": ({"old": BASE}, "applied", ""),
    "the new name taken": ({"old": BASE, "new": b"x\n"}, "conflicted", "recreated-since"),
    "gone": ({}, "conflicted", "deleted-since"),
    "moved there too": ({"new": OURS}, "identical", ""),
    "a folder in the way": ({"old": BASE, "new/x": b"x\n"}, "conflicted", "in-the-way"),
}


@pytest.mark.parametrize("name", MOVED)
def test_a_rename_onto_another_base(bench: Bench, name: str) -> None:
    there, outcome, reason = MOVED[name]
    event_id = bench.record(Step("new", file(BASE), file(OURS), "old"))
    for path, data in {"other": b"", **there}.items():
        bench.write(path, data)
    found = replay(bench, event_id, onto=bench.repo.commit())
    assert outcomes(found) == {event_id: outcome}
    assert reasons(found) == ({"new": reason} if reason else {})
    if outcome in ("applied", "diverged"):
        assert dict(found.steps[0].puts)[b"old"] is None


def test_a_file_in_the_place_of_a_folder(bench: Bench) -> None:
    made = bench.record(Step("d/f", None, file(b"1\n")))
    again = bench.record(Step("d/f", file(b"1\n"), file(b"2\n")))
    commit = bench.repo.commit({"d": "a file\n"})
    found = replay(bench, made, again, onto=commit)
    assert outcomes(found) == {made: "conflicted", again: "blocked"}
    assert reasons(found) == {"d/f": "in-the-way"}


def test_a_content_that_is_needed_to_merge_may_be_lost(bench: Bench) -> None:
    event_id = bench.record(Step("f", file(BASE), file(OURS)))
    after = bench.record(Step("f", file(OURS), file(OURS + b"x\n")))
    commit = bench.repo.commit({"f": BASE + b"6\n", "g": "g\n"})
    lose(bench, BASE)
    found = replay(bench, event_id, after, onto=commit)
    assert outcomes(found) == {event_id: "unverifiable", after: "blocked"}
    assert not found.ok


def test_a_content_that_is_damaged_is_said(bench: Bench) -> None:
    """RC-52: what is read is hashed, whatever its name says."""
    first, second = bench.step({"f": b"1\n"}), bench.step({"f": b"2\n"})
    damage(bench, b"2\n")
    found = replay(bench)
    assert outcomes(found) == {first: "applied", second: "unverifiable"}
    assert reasons(found) == {"f": "content-damaged"}


def test_it_goes_on_the_same_with_what_git_itself_has(bench: Bench) -> None:
    """The bytes of the base are the file's, wherever they come from."""
    commit = bench.repo.commit({"f": BASE})
    event_id = bench.record(Step("f", file(BASE), file(OURS)))
    assert outcomes(replay(bench, event_id, onto=commit)) == {event_id: "applied"}


def nobody(_: int) -> None:
    """No task is active."""


def test_ranges_are_as_in_git(bench: Bench) -> None:
    ids = [bench.step({"f": b"%d\n" % number}) for number in range(5)]
    task = bench.task

    def found(written: str) -> list[EventId]:
        return list(outcomes(plan_replay(bench.store, [resolve_target(bench.store, written, nobody)])))

    assert found(task) == ids
    assert found(ids[2]) == [ids[2]]
    assert found(f"{ids[1]}..{ids[3]}") == ids[2:4]
    assert found(f"..{ids[1]}") == ids[:2]
    assert found(f"{ids[3]}..") == ids[4:]
    assert found(f"{task}@{{3}}..") == ids[3:]
    other = bench.new_task()
    theirs = bench.step({"g": b"g\n"}, task=other)
    with pytest.raises(Exception, match="one task"):
        found(f"{ids[0]}..{theirs}")
    for empty in (f"{ids[4]}..", f"{ids[1]}..{ids[1]}", f"{ids[3]}..{ids[1]}"):
        with pytest.raises(NotFound):
            found(empty)


def test_observed_work_belongs_to_the_range(bench: Bench) -> None:
    first = bench.step({"f": b"1\n"})
    seen = observe(bench, Step("f", file(b"1\n"), file(b"2\n")), bench.task)
    last = bench.record(Step("f", file(b"2\n"), file(b"3\n")))
    assert outcomes(plan_replay(bench.store, [Named(bench.task)])) == dict.fromkeys((first, seen, last), "applied")
    assert not plan_replay(bench.store, named(bench, first, last)).ok


def test_progress_is_told_after_each_event(bench: Bench) -> None:
    for number in range(3):
        bench.step({"f": b"%d\n" % number})
    told: list[tuple[int, int]] = []
    plan_replay(bench.store, [Named(bench.task)], progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_calls_that_may_have_done_more_are_named(bench: Bench) -> None:
    deployed = raw_step(bench, Step("f", None, file(b"1\n")), effects="outside")
    bench.step({"g": b"1\n"})
    assert replay(bench).uncovered == (deployed,)
