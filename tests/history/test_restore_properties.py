"""Going back to a point, whatever was done: properties over invented work of two tasks and of people.

RC-1, RC-8, RC-11, RC-14, RC-17, RC-22.
"""

import os
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pogstore.draft import FileVersion
from pogstore.history.plans import Plan
from pogstore.model import EventId
from tests.builders_points import Points
from tests.builders_rollback import Benches, Files, file, link, program, untouched

EXAMPLES = int(os.environ.get("POGSTORE_FUZZ_POINTS", "12"))
"""Of each property here; more find more."""
PATHS = ("a", "b", "d", "d/a", "d/e/\u00e9")
LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"\xff\n", b"\r\n", b"c"]), max_size=4).map(b"".join)
VERSIONS = st.one_of(
    st.none(),
    LINES.map(file),
    LINES.map(program),
    st.sampled_from([link(b"a"), link(b"/x"), file(b"\0"), file(b"a\0")]),
)
WHO = st.sampled_from(["task", "task", "task", "other", "person", "unseen"])
ACTS = st.lists(
    st.tuples(WHO, st.dictionaries(st.sampled_from(PATHS), VERSIONS, min_size=1, max_size=3)), min_size=1, max_size=7
)
Acts = list[tuple[str, dict[str, FileVersion | None]]]


class Then(NamedTuple):
    """A point, and what was recorded of every path until then."""

    event: EventId
    recorded: Mapping[str, FileVersion | None]


class Told(NamedTuple):
    """What happened: the points of the task, its paths, and what was there before the first record of each path."""

    points: list[Then]
    paths: set[str]
    first: dict[str, FileVersion | None]

    def expected(self, then: Then) -> Files:
        """What the task's paths held at a point, as far as anybody recorded it."""
        held = {path: then.recorded.get(path, self.first[path]) for path in self.paths}
        return {path: version for path, version in held.items() if version is not None}


@pytest.fixture(scope="module")
def benches(tmp_path_factory: pytest.TempPathFactory) -> Benches[Points]:
    """Repositories for one example each."""
    return Benches(tmp_path_factory.mktemp("benches"), Points)


def possible(bench: Points, wanted: dict[str, FileVersion | None]) -> dict[str, FileVersion | None]:
    """Returns what can be done of it: a file and a directory of one name exclude each other, and what is there goes."""
    there = bench.files()
    new = {path: version for path, version in wanted.items() if version and version != there.get(path)}
    new = {path: version for path, version in new.items() if not any(is_above(folder, path) for folder in new)}
    gone = {path for path in there if wanted.get(path, 0) is None}
    gone |= {path for path in there if any(is_above(path, other) or is_above(other, path) for other in new)}
    return dict.fromkeys(sorted(gone)) | new


def is_above(folder: str, path: str) -> bool:
    return path.startswith(f"{folder}/")


def lived(bench: Points, acts: Acts) -> Told:
    """Lets all of them work; keeps what each point is."""
    other = bench.new_task()
    recorded: dict[str, FileVersion | None] = {}
    told = Told([], set(), {})
    for who, wanted in acts:
        files = possible(bench, wanted)
        if not files:
            continue
        if who == "unseen":
            for path, version in files.items():
                bench.write(path, version)
            continue
        for path in files:
            told.first.setdefault(path, bench.files().get(path))
        recorded |= files
        event = bench.observe(files) if who == "person" else bench.step(files, task=other if who == "other" else None)
        if who == "task":
            told.paths.update(files)
            told.points.append(Then(event, {**recorded}))
    return told


def own(files: Files, told: Told) -> Files:
    return {path: version for path, version in files.items() if path in told.paths}


def apart(bench: Points, plan: Plan) -> dict[str, tuple[object, ...]]:
    """All files but those that a plan writes, with bytes, modes, inodes and times."""
    written = {write.path for write in plan.writes}
    return {
        path: state for path, state in untouched(bench.path, [".git"]).items() if path not in written and len(state) > 1
    }


@settings(max_examples=EXAMPLES)
@given(ACTS, st.data())
def test_going_back_gives_the_point_or_changes_nothing_and_undo_gives_back_what_was_there(
    benches: Benches[Points], acts: Acts, data: st.DataObject
) -> None:
    with benches.new() as bench:
        bench.write("mine/ignored", b"a person's\n")
        told = lived(bench, acts)
        if not told.points:
            return
        then = data.draw(st.sampled_from(told.points))
        there, state = bench.files(), untouched(bench.path)
        plan = bench.plan_back(then.event)
        assert untouched(bench.path).keys() == state.keys()
        assert {path: untouched(bench.path)[path] for path in there} == {path: state[path] for path in there}
        if plan.obstacles:
            assert plan.writes == ()
            plan = bench.plan_back(then.event, edited="take")
        reasons = {obstacle.reason for obstacle in plan.obstacles}
        assert reasons <= {"in-the-way"}
        if reasons:
            return
        rest = apart(bench, plan)
        done = bench.back(then.event, edited="take")
        assert own(bench.files(), told) == told.expected(then)
        assert apart(bench, plan) == rest
        assert bool(done.events) == (own(there, told) != told.expected(then))
        if done.events:
            bench.undo()
        assert bench.files() == there
        assert apart(bench, plan) == rest


@settings(max_examples=EXAMPLES)
@given(ACTS, st.data())
def test_nobodys_edits_go_without_a_decision(benches: Benches[Points], acts: Acts, data: st.DataObject) -> None:
    """Whatever others left since a point, and is there, stays there or is in the way."""
    with benches.new() as bench:
        told = lived(bench, acts)
        if not told.points:
            return
        then = data.draw(st.sampled_from(told.points))
        mark = data.draw(st.sampled_from([b"person 1\n", b"person 2\n"]))
        there = bench.files()
        typed = [path for path, version in there.items() if version.mode != "120000" and data.draw(st.booleans())]
        for path in typed:
            bench.write(path, FileVersion(mode=there[path].mode, data=there[path].data + mark))
        there = bench.files()
        plan = bench.plan_back(then.event)
        assert not {write.path for write in plan.writes}.intersection(typed)
        kept = bench.plan_back(then.event, edited="keep")
        assert kept.obstacles == ()
        bench.back(then.event, edited="keep")
        assert {path: bench.files().get(path) for path in typed} == {path: there[path] for path in typed}


def versions(told: Told) -> Iterator[FileVersion]:
    for then in told.points:
        yield from told.expected(then).values()


@settings(max_examples=EXAMPLES)
@given(ACTS, st.data())
def test_a_lost_object_is_in_the_way_of_exactly_the_points_that_need_it(
    benches: Benches[Points], acts: Acts, data: st.DataObject
) -> None:
    with benches.new() as bench:
        told = lived(bench, acts)
        gone = data.draw(st.sampled_from([*versions(told)])) if any(versions(told)) else None
        if gone is None:
            return
        bench.lose(gone.data)
        there = bench.files()
        for then in told.points:
            needing = {
                path
                for path, version in told.expected(then).items()
                if version.data == gone.data and version != there.get(path)
            }
            plan = bench.plan_back(then.event, edited="take")
            lost = {os.fspath(str(each.path)) for each in plan.obstacles if each.reason == "content-lost"}
            assert lost == needing
