"""What paths hold after a set of events, and which events are in the cut of one (RC-49)."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pogstore.draft import Draft, DraftChange, TaskDrafts
from pogstore.errors import Incomplete, NotFound
from pogstore.history.snapshot import UNSEEN, cut, held_after, put, same, sides_on
from pogstore.model import Change, EventId, OddPath, Side, Source
from pogstore.work.intake import take
from tests.builders_exchange import append_by_hand, handmade, head_of
from tests.builders_points import ELSEWHERE, Points
from tests.builders_rollback import AGENT, WORKTREE, Benches, Step, changes_of, file
from tests.conftest import SECOND, STARTED

ONE, TWO = (Side(mode="100644", blob=letter * 64, size=1) for letter in "ab")  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def benches(tmp_path_factory: pytest.TempPathFactory) -> Benches[Points]:
    """Repositories for one test or example each."""
    return Benches(tmp_path_factory.mktemp("benches"), Points)


@pytest.fixture
def bench(benches: Benches[Points]) -> Iterator[Points]:
    """A work tree with a task."""
    with benches.new() as bench:
        yield bench


def ids(bench: Points, event_id: EventId) -> list[EventId]:
    """The events of a cut that changed something."""
    return [sealed.event_id for sealed in cut(bench.store, event_id) if changes_of(sealed)]


def test_a_change_list_is_one_moment_whatever_its_order() -> None:
    swapped = [Change(path="a", from_="b", after=TWO), Change(path="b", from_="a", after=ONE)]
    for changes in (swapped, swapped[::-1]):
        held: dict[bytes, Side | None] = {b"a": ONE, b"b": TWO}
        put(held, changes)
        assert held == {b"a": TWO, b"b": ONE}


def test_what_a_path_held_is_known_by_its_bytes() -> None:
    held: dict[bytes, Side | None] = {}
    put(held, [Change(path=OddPath(b64="/w=="), after=ONE), Change(path=OddPath(outside=True)), Change(path="g")])
    assert held == {b"\xff": ONE, b"g": UNSEEN}
    assert not same(UNSEEN, UNSEEN)
    assert not same(UNSEEN, None)
    assert not same(ONE, TWO)
    assert same(ONE, ONE)
    assert same(None, None)


def test_a_rename_says_of_two_paths_what_they_held(bench: Points) -> None:
    bench.write("old", b"1\n")
    moved = bench.store.event(bench.move("old", "new", b"2\n"))
    held = {path: (before and before.size, after and after.size) for path, before, after in sides_on(moved)}
    assert held == {b"old": (2, None), b"new": (None, 2)}


@pytest.mark.parametrize("reason", ["no-before", "encoding"])
def test_what_nobody_saw_is_not_said_to_be_no_file(bench: Points, reason: str) -> None:
    event = bench.store.event(bench.record(Step("f", None, file(b"1\n")), reason=reason))
    ((_, before, after),) = sides_on(event)
    assert before == UNSEEN
    assert (after == UNSEEN) == (reason == "encoding")


def test_rc49_a_cut_holds_what_stands_before_its_event_and_nothing_later(bench: Points) -> None:
    other = bench.new_task()
    first = bench.step({"a": b"1\n"})
    beside = bench.step({"b": b"1\n"}, task=other)
    second = bench.step({"a": b"2\n"})
    later = bench.step({"b": b"2\n"}, task=other)
    assert ids(bench, first) == [first]
    assert ids(bench, second) == [first, beside, second]
    assert ids(bench, later) == [first, beside, second, later]


def test_rc25_what_others_did_in_another_work_tree_is_not_in_a_cut(bench: Points) -> None:
    other = bench.new_task()
    bench.worktree = ELSEWHERE
    away = bench.step({"a": b"1\n"}, task=other)
    own = bench.step({"b": b"1\n"})
    bench.worktree = WORKTREE
    here = bench.step({"a": b"2\n"}, task=other)
    last = bench.step({"b": b"2\n"})
    assert ids(bench, own) == [away, own]
    assert ids(bench, last) == [own, here, last], "of its own task it is all that led to it"
    assert ids(bench, here) == [away, here]


def test_what_was_told_twice_stands_in_a_cut_once_and_parts_stand_together(bench: Points) -> None:
    drafts = tuple(
        Draft(
            kind="stepped", time=STARTED, actor=AGENT, fields={"tool": "Edit", "class": "edit", "call_id": "1"},
            changes=(DraftChange(path="f", before=None, after=file(b"1\n")),), source=Source(format=format_, key="k"),
        )
        for format_ in ("spool", "claude-code")
    )  # fmt: skip
    take(bench.store, [TaskDrafts(task=bench.task, drafts=drafts)])
    told = [sealed.event_id for sealed in bench.store.events(bench.task) if changes_of(sealed)]
    assert len(told) == 2
    assert [ids(bench, event_id) for event_id in told] == [told[:1], told[:1]]
    parts = []
    for n in (1, 2):
        above = [head_of(bench.store, bench.task)]
        part = handmade(
            bench.task, above, kind="stepped", tool="Bash", part={"n": n, "of": 2}, changes=[{"path": f"g{n}"}],
            **{"class": "shell"},
        )  # fmt: skip
        append_by_hand(bench.store, part)
        parts.append(part.event_id)
        if n == 1:
            with pytest.raises(Incomplete, match="parts"):
                cut(bench.store, part.event_id)
    assert [ids(bench, event_id) for event_id in parts] == [[told[0], *parts]] * 2
    with pytest.raises(NotFound):
        cut(bench.store, EventId("0" * 64))


def test_imported_work_of_another_task_is_placed_by_its_time(bench: Points) -> None:
    """The clocks of an import say nothing about other tasks (decision 5)."""
    tasks = [bench.task, bench.new_task()]
    for task, minutes in zip(tasks, ([1, 2, 5], [3, 4]), strict=True):
        drafts = tuple(
            Draft(
                kind="stepped", time=STARTED + 60 * minute * SECOND, actor=AGENT,
                fields={"tool": "Edit", "class": "edit"},
                changes=(DraftChange(path="f", before=None, after=file(b"%d\n" % minute)),),
                source=Source(format="claude-code", key=f"{minute}"),
            )
            for minute in minutes
        )  # fmt: skip
        take(bench.store, [TaskDrafts(task=task, drafts=drafts)])
    last = bench.store.events(tasks[0])[-1]
    assert [sealed.event.time // SECOND % 3600 // 60 for sealed in cut(bench.store, last.event_id)][-5:] == [
        1,
        2,
        3,
        4,
        5,
    ]
    assert len(ids(bench, bench.store.events(tasks[1])[-1].event_id)) == 4


SIDES = st.one_of(st.none(), st.sampled_from([b"1\n", b"2\n"]))


@settings(max_examples=10)
@given(steps=st.lists(st.dictionaries(st.sampled_from(["a", "b", "d/c"]), SIDES, min_size=1), min_size=1, max_size=5))
def test_the_events_of_a_cut_give_what_the_files_held(
    benches: Benches[Points], steps: list[dict[str, bytes | None]]
) -> None:
    with benches.new() as bench:
        held = []
        for number, wanted in enumerate(steps):
            files = {path: data for path, data in wanted.items() if data is not None or path in bench.files()}
            event = bench.step(files, task=bench.new_task() if number % 2 else bench.task)
            held.append((event, bench.files()))
        for event, there in held:
            after = held_after(cut(bench.store, event))
            recorded = {path.decode(): side.size for path, side in after.items() if side is not None}
            assert recorded == {path: len(version.data) for path, version in there.items()}
            for path, side in after.items():
                if side is not None and side.blob:
                    assert bench.store.read_content(side.blob) == there[path.decode()].data
