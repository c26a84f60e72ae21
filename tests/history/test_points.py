"""Rollback points: which there are, what each lacks, and what is in the way of going back.

RC-4, RC-7, RC-10, RC-25, RC-47.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pogstore.errors import BadInput, NotFound
from pogstore.history import points as points_module
from pogstore.history.pointnames import check_name, name_point, named_points
from pogstore.history.points import Lack, Point, lack_of, newest_event, points
from pogstore.history.restore import find_lack
from pogstore.history.timeline import PointId
from pogstore.history.tree import Tree
from pogstore.model import Change, EventId, Observed, OddPath, Side, Stepped
from pogstore.store import content
from pogstore.store.store import Store, open_store
from tests.builders_exchange import append_by_hand, handmade, head_of
from tests.builders_points import ELSEWHERE, Points
from tests.builders_rollback import WORKTREE, Benches, Step, change_of, file, program, untouched
from tests.history.test_restore_properties import ACTS, EXAMPLES, Acts, lived, versions


@pytest.fixture(scope="module")
def benches(tmp_path_factory: pytest.TempPathFactory) -> Benches[Points]:
    """Repositories for one test or example each."""
    return Benches(tmp_path_factory.mktemp("benches"), Points)


@pytest.fixture
def bench(benches: Benches[Points]) -> Iterator[Points]:
    """A work tree with a task."""
    with benches.new() as bench:
        yield bench


def listed(bench: Points, *, check: bool = True, **options: Any) -> list[Point]:
    tasks = options.pop("tasks", [bench.task])
    return points(bench.store, named_points(bench.store), bench.worktree, tasks, check=check, **options)


def by_event(found: list[Point]) -> Mapping[EventId, Point]:
    return {point.at.event_id: point for point in found if not point.at.before}


def test_there_is_a_point_after_each_call_and_around_each_operation_the_newest_first(bench: Points) -> None:
    first = bench.step({"f": b"1\n"})
    empty = bench.shell({})
    bench.call(tool="Read", class_="read", coverage=None)
    bench.observe({"g": b"1\n"})
    second = bench.step({"f": b"2\n", "h": b"2\n"})
    (back,) = bench.back(first).events
    (undone,) = bench.undo().events
    found = listed(bench)
    assert [(point.at.event_id, point.at.before) for point in found] == [
        (undone.event_id, False),
        (undone.event_id, True),
        (back.event_id, False),
        (back.event_id, True),
        (second, False),
        (empty, False),
        (first, False),
    ]
    assert [point.changes for point in found[4:]] == [("f", "h"), (), ("f",)]
    assert all(point.is_complete and point.in_the_way == 0 for point in found)
    assert listed(bench, limit=2) == found[:2]
    assert listed(bench, limit=0) == []
    assert [point.in_the_way for point in listed(bench, check=False)] == [None] * len(found)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"coverage": "exact"}, None),
        ({"coverage": "scoped"}, None),
        ({"coverage": "scoped", "class_": "shell"}, "scoped"),
        ({"coverage": "shared"}, "shared"),
        ({"coverage": "partial"}, "partial"),
        ({"coverage": "none"}, "none"),
        ({"coverage": None, "class_": "shell"}, "none"),
        ({"coverage": None, "class_": "other"}, None),
        ({"coverage": None, "class_": "read", "ok": None}, None),
        ({"coverage": "thorough"}, "thorough"),
        ({"coverage": "exact", "effects": "outside"}, "outside"),
        ({"coverage": "exact", "effects": "unknown"}, "unknown"),
        ({"coverage": "exact", "effects": "tree"}, None),
        ({"coverage": "exact", "ok": None}, "no-end"),
        ({"coverage": "scoped", "ok": False}, None),
    ],
)
def test_rc4_rc10_what_was_not_captured_makes_no_complete_point(
    bench: Points, fields: dict[str, Any], reason: str | None
) -> None:
    whole = bench.step({"f": b"1\n"})
    lacking = bench.call(**fields)
    later = bench.step({"f": b"2\n"})
    lacks = (Lack(reason, 1),) if reason else ()
    found = by_event(listed(bench))
    assert lack_of(bench.store.event(lacking)) == reason
    assert found[whole].lacks == ()
    assert found[later].lacks == lacks
    assert found[later].is_complete == (reason is None)


def test_what_is_left_anyway_is_not_in_the_way(bench: Points) -> None:
    module = Side(mode="160000", commit="sha1_" + "1" * 40)
    event = bench.call(None, lambda batch, task: (Change(path="sub", after=module),))
    bench.step({"a\\b": b"1\n"})
    bench.write("a\\b", b"a person's\n")
    assert [point.in_the_way for point in listed(bench)] == [0, 0]
    assert bench.plan_back(event).obstacles == ()


def test_what_another_task_lacks_is_its_own_affair(bench: Points) -> None:
    event = bench.step({"f": b"1\n"})
    other = bench.new_task()
    bench.call(
        other, lambda batch, task: (change_of(batch, task, Step("f", file(b"1\n"), file(b"2\n"))),), coverage="shared"
    )
    bench.write("f", b"2\n")
    later = bench.step({"g": b"1\n"})
    found = by_event(listed(bench))
    assert found[event].lacks == found[later].lacks == ()


def test_rc4_what_was_observed_in_part_counts(bench: Points) -> None:
    bench.step({"f": b"1\n"})
    bench.observe({"g": b"1\n"})
    whole = bench.step({"f": b"2\n"})
    bench.call(kind=Observed, coverage="partial")
    part = bench.step({"f": b"3\n"})
    found = by_event(listed(bench))
    assert found[whole].lacks == ()
    assert found[part].lacks == (Lack("observed", 1),)


def test_what_is_not_here_makes_the_points_partial_that_need_it(bench: Points) -> None:
    first = bench.step({"f": b"1\n", "g": b"1\n"})
    second = bench.step({"f": b"2\n"})
    third = bench.step({"f": b"3\n"})
    bench.lose(b"2\n")
    found = by_event(listed(bench))
    assert [found[event].lacks for event in (first, second, third)] == [(), (Lack("content-lost", 1),), ()]
    assert [found[event].in_the_way for event in (first, second, third)] == [0, 1, 0]
    sides = [Side(mode="100644", blob=content.blob_id(data), size=1) for data in (b"x", b"y")]
    changes = tuple(Change(path=name, after=side) for name, side in zip("xy", sides, strict=True))
    fourth = bench.call(None, lambda batch, task: (*changes, Change(path="z")))
    assert by_event(listed(bench))[fourth].lacks == (Lack("content-absent", 2), Lack("not-recorded", 1))


def test_what_is_in_the_way_is_counted_for_each_point(bench: Points) -> None:
    before = bench.step({"f": b"1\n"})
    first = bench.step({"f": b"2\n", "g": b"2\n", "h": b"2\n"})
    bench.step({"f": b"3\n", "g": b"3\n"}, task=bench.new_task())
    second = bench.step({"f": b"4\n"})
    bench.write("h", b"person\n")
    found = by_event(listed(bench))
    assert [found[event].in_the_way for event in (before, first, second)] == [3, 3, 1]
    for event in (before, first, second):
        assert len(bench.plan_back(event).obstacles) == found[event].in_the_way
    assert bench.way_barred(before) == {
        "f": "edited-since", "g": "edited-since-create", "h": "edited-since-create"
    }  # fmt: skip


@settings(max_examples=EXAMPLES)
@given(ACTS, st.data())
def test_a_point_says_what_going_back_would_say(benches: Benches[Points], acts: Acts, data: st.DataObject) -> None:
    """As far as each path alone can tell: what stands in the way of two together, the plan finds."""
    with benches.new() as bench:
        told = lived(bench, acts)
        loses, goes_back = data.draw(st.tuples(st.booleans(), st.booleans()))
        if loses and (written := [*versions(told)]):
            bench.lose(data.draw(st.sampled_from(written)).data)
        if told.points and goes_back:
            plan = bench.plan_back(told.points[0].event, edited="keep")
            if not plan.obstacles:
                bench.back(told.points[0].event, edited="keep")
        state = untouched(bench.path, [".git"])
        found = listed(bench)
        assert untouched(bench.path, [".git"]) == state
        assert {then.event for then in told.points} <= by_event(found).keys()
        for point in found:
            plan = bench.plan_back(point.at.event_id, before=point.at.before)
            barred = [each for each in plan.obstacles if each.reason != "in-the-way"]
            assert len(barred) == point.in_the_way, point


def test_each_path_is_looked_at_once_and_each_content_looked_for_once(
    bench: Points, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        bench.step({"f": b"%d\n" % number, f"g{number % 3}": b"%d\n" % number})
    looks: list[str] = []
    sought: list[Side] = []

    class Counting(Tree):
        def now(self, path: str) -> Any:
            looks.append(path)
            return super().now(path)

    def counting(store: Store, side: Side | None) -> str | None:
        sought.extend([] if side is None else [side])
        return find_lack(store, side)

    monkeypatch.setattr(points_module, "Tree", Counting)
    monkeypatch.setattr(points_module, "find_lack", counting)
    assert len(listed(bench)) == 30
    assert sorted(looks) == ["f", "g0", "g1", "g2"]
    assert len(sought) == 30


def test_rc25_points_are_of_one_work_tree_unless_others_are_asked_for(bench: Points) -> None:
    here = bench.step({"f": b"1\n"})
    bench.worktree = ELSEWHERE
    away = bench.record(Step("f", None, file(b"2\n")))
    bench.worktree = None
    nowhere = bench.record(Step("g", None, file(b"1\n")))
    bench.worktree = WORKTREE
    assert list(by_event(listed(bench))) == [nowhere, here]
    found = by_event(listed(bench, elsewhere=True))
    assert list(found) == [nowhere, away, here]
    assert [found[event].in_the_way for event in (here, away)] == [0, 1]
    bench.step({"h": b"1\n"})
    bench.worktree = ELSEWHERE
    late = bench.record(Step("i", None, file(b"1\n")))
    bench.worktree = WORKTREE
    bench.write("h", None)
    found = by_event(listed(bench, elsewhere=True))
    assert found[late].in_the_way == 3, "h was not there, and is not; f, g and i are not as they were"
    for event in (here, away, late):
        assert len(bench.plan_back(event).obstacles) == found[event].in_the_way


def test_the_points_of_all_tasks_come_in_one_order(bench: Points) -> None:
    other = bench.new_task()
    events = [bench.step({"f": b"1\n"}), bench.step({"g": b"1\n"}, task=other), bench.step({"f": b"2\n"})]
    found = listed(bench, tasks=bench.store.tasks())
    assert [point.at.event_id for point in found] == events[::-1]
    assert [point.at.task for point in found] == [bench.task, other, bench.task]


def test_rc47_a_call_without_an_end_is_said_to_be_one(bench: Points) -> None:
    event = bench.step({"f": b"1\n"})
    open_call = bench.call(ok=None, coverage="none")
    found = by_event(listed(bench))
    assert found[event].is_complete
    assert found[open_call].lacks == (Lack("no-end", 1),)


def test_a_task_that_a_newer_version_wrote_has_no_complete_point(bench: Points) -> None:
    event = bench.step({"f": b"1\n"})
    append_by_hand(bench.store, handmade(bench.task, [head_of(bench.store, bench.task)], v=2))
    assert by_event(listed(bench))[event].lacks == (Lack("incomplete", 1),)


def test_parts_of_one_call_are_one_point(bench: Points) -> None:
    side = {"mode": "100644", "blob": content.blob_id(b"0\n"), "size": 2}
    bench.step({"0": b"0\n"})
    parts = []
    for n in (1, 2):
        part = handmade(
            bench.task, [head_of(bench.store, bench.task)], kind="stepped", tool="Bash", ok=True, coverage="exact",
            part={"n": n, "of": 2}, changes=[{"path": f"p{n}", "after": side}], worktree=WORKTREE, **{"class": "shell"},
        )  # fmt: skip
        append_by_hand(bench.store, part)
        parts.append(part.event_id)
    bench.write("p1", b"0\n")
    bench.write("p2", b"0\n")
    assert [point.at.event_id for point in listed(bench)][:-1] == parts[1:]
    for event in parts:
        assert bench.way_barred(event) == {}
        bench.back(event, before=True)
        assert bench.files() == {"0": file(b"0\n")}
        bench.undo()
    name_point(bench.store, parts[0], "parts", bench.by())
    assert [point.at.event_id for point in listed(bench) if point.names] == parts[1:]


def test_a_bare_repository_lists_points_without_looking_at_files(bench: Points, tmp_path: Path) -> None:
    bench.step({"f": b"1\n"})
    bare = tmp_path / "bare"
    bench.repo.git("clone", "--quiet", "--mirror", str(bench.path), str(bare))
    store = open_store(bare)
    (point,) = points(store, named_points(store), WORKTREE, [bench.task])
    assert point.in_the_way is None
    assert point.is_complete
    store.close()


def test_a_name_marks_a_point_and_the_latest_wins(bench: Points) -> None:
    first, second = bench.step({"f": b"1\n"}), bench.step({"f": b"2\n"})
    marked = name_point(bench.store, first, "before the storm", bench.by())
    assert marked.former is None
    assert marked.written.event.task == bench.task
    assert [(link.rel, link.event) for link in marked.written.event.links] == [("marks", first)]  # type: ignore[union-attr]
    assert b"storm" not in marked.written.canonical
    name_point(bench.store, first, "also", bench.by())
    assert by_event(listed(bench))[first].names == ("also", "before the storm")
    assert name_point(bench.store, second, "also", bench.by()).former == first
    assert named_points(bench.store)["also"] == PointId(bench.task, second)
    assert by_event(listed(bench))[first].names == ("before the storm",)
    defined = bench.store.events(bench.task)[0].event_id
    name_point(bench.store, defined, "start", bench.by())
    assert by_event(listed(bench))[defined].names == ("start",)
    with pytest.raises(NotFound):
        name_point(bench.store, EventId("0" * 64), "none", bench.by())


def test_a_name_whose_text_is_not_here_is_not_known(bench: Points) -> None:
    event = bench.step({"f": b"1\n"})
    name_point(bench.store, event, "gone", bench.by())
    bench.repo.git("update-ref", "-d", f"refs/pog/content/{bench.task}")
    bench.reopen()
    assert named_points(bench.store) == {}
    dangling = handmade(
        bench.task, [head_of(bench.store, bench.task)], kind="noted", topic="point",
        links=[{"rel": "marks", "event": "0" * 64}],
    )  # fmt: skip
    append_by_hand(bench.store, dangling)
    assert named_points(bench.store) == {}


@pytest.mark.parametrize(
    "name",
    ["", " ", " a", "a ", "a\nb", "a\x1b[2Jb", "a\u202eb", "a\u200bb", "abcd", "DEADBEEF", "0198a1b2-c3d4", "@", "@x",
     "-n", "a@{1}", "a^", "x" * 101],
)  # fmt: skip
def test_a_name_that_could_be_something_else_is_refused(name: str) -> None:
    with pytest.raises(BadInput, match="the name of a point"):
        check_name(name)


@pytest.mark.parametrize(
    "name", ["v1", "before lunch", "\u00e9t\u00e9", "abc", "abcg", "a-b", "x" * 100, "TASK@2", "a^b"]
)
def test_a_name_may_be_almost_anything(name: str) -> None:
    check_name(name)


def test_the_newest_event_is_not_the_name_of_one(bench: Points) -> None:
    event = bench.step({"f": b"1\n"})
    name_point(bench.store, event, "one", bench.by())
    assert newest_event(bench.store, bench.task, WORKTREE) == event
    bench.worktree = ELSEWHERE
    bench.record(Step("f", file(b"1\n"), program(b"1\n")))
    assert newest_event(bench.store, bench.task, WORKTREE) == event


def test_a_point_says_which_paths_its_event_changed(bench: Points) -> None:
    bench.call(None, lambda batch, task: (Change(path=OddPath(outside=True)),))
    (point,) = listed(bench)
    assert point.changes == (OddPath(outside=True),)
    assert isinstance(point.sealed.event, Stepped)
