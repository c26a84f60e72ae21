"""Going back to a point: what the task's paths held then, and nothing else.

RC-1, RC-2, RC-5, RC-8, RC-11, RC-13, RC-14, RC-16, RC-17, RC-22, RC-23, RC-25, RC-26, RC-32, RC-44.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from pogstore.draft import FileVersion
from pogstore.errors import Conflict, Incomplete, NotFound, UnsafePath
from pogstore.history.plans import Conflicts
from pogstore.model import Change, EventId, OddPath, Restored, Sealed, Side
from pogstore.store import content
from tests.builders_exchange import append_by_hand, handmade, head_of
from tests.builders_points import ELSEWHERE, Points
from tests.builders_rollback import WORKTREE, Benches, Step, changes_of, file, link, program, untouched

EDITED: tuple[Conflicts, ...] = ("refuse", "take")
Wanted = dict[str, FileVersion | bytes | None]


@pytest.fixture(scope="module")
def benches(tmp_path_factory: pytest.TempPathFactory) -> Benches[Points]:
    """Repositories for one test or example each."""
    return Benches(tmp_path_factory.mktemp("benches"), Points)


@pytest.fixture
def bench(benches: Benches[Points]) -> Iterator[Points]:
    """A work tree with a task."""
    with benches.new() as bench:
        yield bench


def strategy(sealed: Sealed) -> str | None:
    assert isinstance(sealed.event, Restored)
    return sealed.event.strategy


CASES: dict[str, Sequence[Wanted]] = {
    "text": [{"f": b"1\n"}, {"f": b"1\n2\n"}],
    "mode": [{"f": file(b"1\n")}, {"f": program(b"1\n")}],
    "binary": [{"f": b"\0\1\2"}, {"f": b"\0\1\3" * 400}],
    "empty": [{"f": b""}, {"f": b"1"}],
    "no final newline": [{"f": b"1\n2"}, {"f": b"1\n2\n"}],
    "CRLF": [{"f": b"1\r\n2\r\n"}, {"f": b"1\n2\r\n"}],
    "symlink": [{"f": link(b"a")}, {"f": link(b"/nowhere")}],
    "symlink and file": [{"f": link(b"a")}, {"f": b"a"}],
    "created since": [{"f": b"1\n"}, {"g": b"1\n", "d/h": b"2\n"}],
    "deleted since": [{"f": b"1\n", "d/g": b"2\n"}, {"f": None, "d/g": None}],
    "recreated since": [{"f": b"1\n"}, {"f": None}, {"f": b"2\n"}],
    "a file for a directory": [{"d/a": b"1\n", "d/b": b"2\n"}, {"d/a": None, "d/b": None, "d": b"3\n"}],
    "a directory for a file": [{"d": b"3\n"}, {"d": None, "d/a": b"1\n"}],
    "odd names": [
        {"é": b"1\n", "e\u0301": b"2\n", " a": b"3\n", "a*?[": b"4\n", "-f": b"5\n"},
        {" a": None, "é": b"6\n"},
    ],
    "not UTF-8": [{os.fsdecode(b"\xff\xfe"): b"1\n"}, {os.fsdecode(b"\xff\xfe"): b"2\n"}],
    "case twins": [{"Makefile": b"1\n", "makefile": b"2\n"}, {"Makefile": None, "makefile": b"3\n"}],
    "many": [{f"d{n % 7}/f{n}": b"%d\n" % n for n in range(60)}, {f"d{n % 7}/f{n}": None for n in range(0, 60, 2)}],
}


@pytest.mark.parametrize("steps", CASES.values(), ids=CASES)
def test_rc5_rc8_rc23_rc44_every_point_gives_what_was_recorded_and_undo_what_was_there(
    bench: Points, steps: Sequence[Wanted]
) -> None:
    bench.write("mine", b"a person's\n")
    points = [(bench.step(files), bench.files()) for files in steps]
    last, state = bench.files(), untouched(bench.path, [".git"])
    for event, files in points:
        assert bench.way_barred(event) == {}
        assert untouched(bench.path, [".git"]) == state, "a plan writes nothing"
        done = bench.back(event)
        assert bench.files() == files
        assert bool(done.events) == (files != last)
        if done.events:
            bench.undo()
        assert bench.files() == last
        state = untouched(bench.path, [".git"])
    before = bench.back(points[0][0], before=True)
    assert bench.files() == {"mine": file(b"a person's\n")}
    assert [strategy(sealed) for sealed in before.events] == ["before"] * (len(last) > 1)
    again = bench.back(points[-1][0])
    assert bench.files() == last
    assert [strategy(sealed) for sealed in again.events] == ["point"] * (len(last) > 1)


def test_a_renamed_file_goes_home(bench: Points) -> None:
    bench.write("old", b"1\n")
    first = bench.step({"old": b"1\n2\n"})
    moved = bench.move("old", "new", b"1\n2\n3\n")
    edited = bench.step({"new": b"4\n"})
    for event, files in ((first, {"old": b"1\n2\n"}), (moved, {"new": b"1\n2\n3\n"}), (edited, {"new": b"4\n"})):
        bench.back(event)
        assert bench.files() == {path: file(data) for path, data in files.items()}
    bench.back(first, before=True)
    assert bench.files() == {"old": file(b"1\n")}


def test_rc14_what_is_as_it_was_is_not_written(bench: Points) -> None:
    bench.step({name: name.encode() for name in "abcdefgh"})
    point = bench.step({"a": b"1\n"})
    bench.step({"a": b"2\n", "i": b"3\n"})
    state = untouched(bench.path, [".git", "a", "i"])
    plan = bench.plan_back(point)
    assert [write.path for write in plan.writes] == ["a", "i"]
    bench.back(point)
    assert untouched(bench.path, [".git", "a"]) == state
    assert bench.back(point).events == ()
    bench.undo()
    assert untouched(bench.path, [".git", "a", "i"]) == state


def test_rc1_rc2_what_no_event_wrote_is_never_touched(bench: Points) -> None:
    bench.write("outputs/large", b"x" * 100_000)
    bench.write("ignored.log", b"a log\n")
    first = bench.step({".gitignore": b"*.log\noutputs/\n", "outputs/made": b"1\n"})
    bench.step({".gitignore": b"\n", "f": b"2\n", "outputs/made": None, "outputs/other": b"3\n"})
    mine = ("outputs/large", "ignored.log")
    states = [untouched(bench.path)[path] for path in mine]
    bench.back(first)
    assert [untouched(bench.path)[path] for path in mine] == states
    bench.back(first, before=True)
    assert [untouched(bench.path)[path] for path in mine] == states
    assert bench.files().keys() == {*mine}


def test_rc11_the_work_of_other_tasks_and_of_people_stays(bench: Points) -> None:
    other = bench.new_task()
    point = bench.step({"own": b"1\n"})
    bench.step({"theirs": b"1\n"}, task=other)
    bench.observe({"persons": b"1\n"})
    bench.write("unseen", b"1\n")
    bench.step({"own": b"2\n"})
    bench.step({"theirs": b"2\n"}, task=other)
    bench.back(point)
    assert {path: version.data for path, version in bench.files().items()} == {
        "own": b"1\n", "theirs": b"2\n", "persons": b"1\n", "unseen": b"1\n",
    }  # fmt: skip


def edited_by_a_person(bench: Points) -> tuple[EventId, ...]:
    return (bench.observe({"f": b"1\n2\nperson\n"}),)


def edited_unseen(bench: Points) -> tuple[EventId, ...]:
    bench.write("f", b"1\n2\nperson\n")
    return ()


def edited_by_another_task(bench: Points) -> tuple[EventId, ...]:
    return (bench.step({"f": b"1\n2\nother\n"}, task=bench.new_task()),)


def edited_in_between(bench: Points) -> tuple[EventId, ...]:
    seen = bench.observe({"f": b"1\n2\nperson\n"})
    bench.step({"f": b"1\n2\nperson\n3\n"})
    return (seen,)


@pytest.mark.parametrize("edit", [edited_by_a_person, edited_unseen, edited_by_another_task, edited_in_between])
def test_rc22_what_others_edited_since_is_in_the_way_until_somebody_decides(bench: Points, edit: object) -> None:
    assert callable(edit)
    point = bench.step({"f": b"1\n", "g": b"1\n"})
    bench.step({"f": b"1\n2\n", "g": b"2\n"})
    later = edit(bench)
    there, state = bench.files(), untouched(bench.path)
    (obstacle,) = bench.plan_back(point).obstacles
    assert (obstacle.path, obstacle.reason, obstacle.event, obstacle.later) == ("f", "edited-since", point, later)
    with pytest.raises(Conflict):
        bench.back(point)
    assert untouched(bench.path)["f"] == state["f"]
    assert untouched(bench.path)["g"] == state["g"]
    kept = bench.back(point, edited="keep")
    assert [(each.path, each.reason, each.later) for each in kept.plan.kept] == [("f", "edited-since", later)]
    assert bench.files() == there | {"g": file(b"1\n")}
    bench.undo()
    assert bench.files() == there
    taken = bench.back(point, edited="take")
    assert [(clash.path, clash.reason) for clash in taken.plan.clashes] == [("f", "edited-since")]
    assert bench.files() == {"f": file(b"1\n"), "g": file(b"1\n")}
    bench.undo()
    assert bench.files() == there, "RC-17: what was overwritten was recorded first"


@pytest.mark.parametrize(
    ("then", "since", "person", "reason"),
    [
        ({}, {"f": b"1\n"}, b"1\nperson\n", "edited-since-create"),
        ({}, {"f": b"1\n"}, link(b"1"), "edited-since-create"),
        ({"f": b"1\n"}, {}, None, "deleted-since"),
        ({"f": b"1\n"}, {"f": b"2\n"}, None, "deleted-since"),
        ({"f": b"1\n"}, {"f": None}, b"person\n", "recreated-since"),
        ({"f": b"1\n"}, {"f": b"2\n"}, program(b"2\n"), "edited-since"),
        ({"f": b"1\n"}, {}, b"person\n", "edited-since"),
        ({"f": b"1\n"}, {"f": b"2\n"}, b"0\n", "edited-since"),
    ],
)
def test_each_conflict_has_its_name(
    bench: Points, then: Wanted, since: Wanted, person: FileVersion | bytes | None, reason: str
) -> None:
    bench.write("f", b"0\n") if then else None
    point = bench.step({"g": b"1\n"} | then)
    bench.step({"g": b"2\n"} | since)
    bench.write("f", person)
    there = bench.files()
    assert bench.way_barred(point) == {"f": reason}
    for is_taken, expected in ((False, there.get("f")), (True, file(b"1\n") if then else None)):
        bench.back(point, edited="take" if is_taken else "keep")
        assert bench.files().get("f") == expected
        bench.undo()
        assert bench.files() == there


def test_what_the_task_itself_left_at_any_time_since_is_not_in_the_way(bench: Points) -> None:
    point = bench.step({"f": b"1\n"})
    bench.step({"f": b"2\n"})
    bench.step({"f": b"3\n"})
    for data in (b"1\n", b"2\n", b"3\n"):
        bench.write("f", data)
        assert bench.way_barred(point) == {}
        bench.back(point)
        assert bench.text("f") == "1\n"
        bench.write("f", b"3\n")


def test_rc17_going_back_and_forth_is_recorded_and_taken_back(bench: Points) -> None:
    first = bench.step({"f": b"1\n"})
    second = bench.step({"f": b"2\n", "g": b"2\n"})
    (there,) = bench.back(first).events
    (forth,) = bench.back(second).events
    assert bench.files() == {"f": file(b"2\n"), "g": file(b"2\n")}
    assert [sealed.event.targets for sealed in (there, forth)] == [(first,), (second,)]  # type: ignore[union-attr]
    assert len(changes_of(there)) == len(changes_of(forth)) == 2
    bench.undo()
    assert bench.files() == {"f": file(b"1\n")}
    bench.undo()
    assert bench.files() == {"f": file(b"2\n"), "g": file(b"2\n")}
    bench.back(there.event_id)
    assert bench.files() == {"f": file(b"1\n")}
    bench.back(there.event_id, before=True)
    assert bench.files() == {"f": file(b"2\n"), "g": file(b"2\n")}


def test_a_rollback_since_is_our_own_doing(bench: Points) -> None:
    other = bench.new_task()
    point = bench.step({"f": b"1\n"})
    bench.step({"f": b"1\n2\n"})
    theirs = bench.step({"f": b"0\n1\n2\n"}, task=other)
    assert bench.way_barred(point) == {"f": "edited-since"}
    bench.rollback(theirs)
    assert bench.way_barred(point) == {}
    bench.undo()
    assert bench.way_barred(point) == {"f": "edited-since"}


def test_only_the_paths_that_are_named_go_back(bench: Points) -> None:
    point = bench.step({"d/a": b"1\n", "d/b": b"1\n", "e": b"1\n"})
    bench.step({"d/a": b"2\n", "d/b": None, "e": b"2\n"})
    bench.write("e", b"person\n")
    assert bench.way_barred(point, "d") == {}
    bench.back(point, "d", ":!d/b")
    assert {path: version.data for path, version in bench.files().items()} == {"d/a": b"1\n", "e": b"person\n"}
    with pytest.raises(NotFound, match="nothing"):
        bench.back(point, "nothing")


def test_rc16_git_housekeeping_takes_nothing_that_a_point_needs(bench: Points) -> None:
    points = [(bench.step({"f": b"%d\n" % n}), bench.files()) for n in range(4)]
    bench.repo.git("gc", "--quiet", "--prune=now")
    bench.reopen()
    for event, files in points:
        bench.back(event)
        assert bench.files() == files


def test_a_content_that_is_not_here_is_in_the_way_of_the_points_that_need_it(bench: Points) -> None:
    first = bench.step({"f": b"1\n", "g": b"1\n"})
    second = bench.step({"f": b"2\n"})
    third = bench.step({"f": b"3\n"})
    bench.lose(b"2\n")
    assert [bench.way_barred(event) for event in (first, second, third)] == [{}, {"f": "content-lost"}, {}]
    bench.back(second, "g")
    for edited in EDITED:
        with pytest.raises(Conflict):
            bench.back(second, edited=edited)
    assert bench.back(second, edited="keep").plan.kept[0].reason == "content-lost"


def test_a_content_that_was_erased_or_too_large_is_said_to_be_so(bench: Points) -> None:
    big, gone, absent = (Side(mode="100644", blob=content.blob_id(data), size=9) for data in (b"b", b"g", b"a"))
    big = Side(mode=big.mode, blob=big.blob, size=9, omitted="large")
    changes = tuple(Change(path=name, after=side) for name, side in (("b", big), ("g", gone), ("a", absent)))
    point = bench.call(None, lambda batch, task: changes)
    redaction = handmade(
        bench.task, [head_of(bench.store, bench.task)], kind="redacted", blobs=[gone.blob], reason="secret"
    )
    append_by_hand(bench.store, redaction)
    expected = {"b": "content-omitted", "g": "content-erased", "a": "content-absent"}
    assert {str(o.path): o.reason for o in bench.plan_back(point, edited="take").obstacles} == expected


def test_what_nobody_recorded_is_in_the_way(bench: Points) -> None:
    bench.write("f", b"0\n")
    blind = bench.record(Step("f", None, file(b"1\n")), reason="no-before")
    bench.write("f", b"1\n")
    assert bench.way_barred(blind) == {}
    assert bench.way_barred(blind, before=True) == {"f": "not-recorded"}
    unknown = bench.call(None, lambda batch, task: (Change(path="f"),), coverage="partial")
    assert bench.way_barred(unknown) == {"f": "not-recorded"}
    assert bench.way_barred(blind) == {}
    bench.write("f", b"2\n")
    assert bench.way_barred(blind) == {"f": "edited-since"}
    with pytest.raises(Conflict):
        bench.back(unknown, edited="take")


def test_rc32_submodules_are_left_with_a_word(bench: Points) -> None:
    module = Side(mode="160000", commit="sha1_" + "1" * 40)
    point = bench.call(None, lambda batch, task: (Change(path="sub", after=module),))
    bench.step({"f": b"1\n"})
    (bench.path / "sub").mkdir()
    plan = bench.plan_back(point)
    assert [(left.path, left.reason) for left in plan.left] == [("sub", "submodule")]
    bench.back(point)
    assert bench.files() == {}
    assert (bench.path / "sub").is_dir()


def test_rc13_a_link_on_the_way_is_never_followed(bench: Points, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a").write_bytes(b"precious\n")
    bench.write("d", link(os.fsencode(outside)))
    point = bench.step({"d": link(os.fsencode(outside))})
    bench.step({"d": None, "d/a": b"1\n"})
    bench.back(point)
    assert (bench.path / "d").is_symlink()
    bench.undo()
    assert bench.text("d/a") == "1\n"
    later = bench.step({"d/a": b"2\n", "e/a": b"2\n"})
    for folder in "de":
        bench.write(f"{folder}/a", None)
        bench.write(folder, link(os.fsencode(outside)))
    with pytest.raises(Conflict):
        bench.back(later, edited="take")
    assert (bench.path / "d").is_symlink()
    kept = bench.plan_back(later, "e", edited="keep")
    assert {each.path: each.reason for each in kept.kept} == {"e/a": "deleted-since"}
    bench.back(later, "d", edited="take")
    assert bench.text("d/a") == "2\n"
    assert (outside / "a").read_bytes() == b"precious\n"


@pytest.mark.parametrize("path", ["../out", "/etc/out", ".git/hooks/out", ".GIT/config", "a/../../out", "con"])
def test_a_path_that_leads_elsewhere_is_refused(bench: Points, path: str) -> None:
    blob = content.blob_id(b"0\n")
    bench.step({"stored": b"0\n"})
    point = bench.record_sides(Change(path=path, after=Side(mode="100644", blob=blob, size=2)))
    state = untouched(bench.path, [".git/pog"])
    for edited in EDITED:
        with pytest.raises(UnsafePath):
            bench.plan_back(point, edited=edited)
    assert untouched(bench.path, [".git/pog"]) == state


def test_a_name_that_others_read_otherwise_is_left(bench: Points) -> None:
    point = bench.step({"a\\b": b"1\n", "f": b"1\n"})
    bench.step({"a\\b": b"2\n", "f": b"2\n"})
    done = bench.back(point)
    assert [left.path for left in done.plan.left] == ["a\\b"]
    assert {path: version.data for path, version in bench.files().items()} == {"a\\b": b"2\n", "f": b"1\n"}


def test_what_is_no_file_is_in_the_way(bench: Points) -> None:
    point = bench.step({"f": b"1\n", "d/a": b"1\n"})
    bench.step({"f": b"2\n", "d/a": None})
    bench.write("f", None)
    os.mkfifo(bench.path / "f")
    bench.write("d", b"a person's\n")
    assert bench.way_barred(point) == {"f": "not-a-file"}
    kept = bench.back(point, edited="keep")
    assert {each.path: each.reason for each in kept.plan.kept} == {"f": "not-a-file", "d/a": "in-the-way"}
    assert kept.events == ()
    assert bench.text("d") == "a person's\n"


def test_a_directory_with_a_persons_file_does_not_make_room(bench: Points) -> None:
    point = bench.step({"d": b"1\n"})
    bench.step({"d": None, "d/a": b"1\n"})
    bench.write("d/mine", b"1\n")
    there = bench.files()
    assert bench.way_barred(point) == {"d": "in-the-way"}
    with pytest.raises(Conflict):
        bench.back(point)
    assert bench.files() == there


def test_rc25_only_what_was_done_in_the_same_work_tree_counts(bench: Points) -> None:
    bench.worktree = ELSEWHERE
    away = bench.record(Step("away", None, file(b"1\n")), Step("f", None, file(b"away\n")))
    bench.worktree = WORKTREE
    point = bench.step({"f": b"1\n"})
    bench.step({"f": b"2\n"})
    bench.worktree = ELSEWHERE
    bench.record(Step("f", file(b"away\n"), file(b"farther away\n")))
    bench.worktree = WORKTREE
    bench.back(point)
    assert bench.files() == {"f": file(b"1\n")}
    assert bench.way_barred(away) == {"away": "deleted-since", "f": "edited-since"}
    assert {write.path for write in bench.plan_back(away, edited="take").writes} == {"away", "f"}
    bench.write("away", b"a person's\n")
    bench.write("f", b"2\n")
    assert bench.way_barred(point) == {}
    assert {write.path for write in bench.plan_back(point).writes} == {"f"}


def test_rc25_what_was_done_here_is_no_part_of_a_point_of_another_work_tree(bench: Points) -> None:
    bench.step({"f": b"1\n"})
    bench.worktree = ELSEWHERE
    away = bench.record(Step("g", None, file(b"1\n")))
    bench.worktree = WORKTREE
    assert bench.way_barred(away) == {"g": "deleted-since"}
    bench.back(away, edited="take")
    assert holding(bench.files()) == {"g": b"1\n"}


def test_what_another_work_tree_did_in_between_is_not_in_the_way(bench: Points) -> None:
    point = bench.step({"f": b"1\n"})
    bench.worktree = ELSEWHERE
    bench.record(Step("f", file(b"1\n"), file(b"away\n")))
    bench.worktree = WORKTREE
    bench.step({"f": b"2\n"})
    assert bench.way_barred(point) == {}


def test_a_task_that_went_on_in_another_clone_goes_back_there(bench: Points) -> None:
    bench.worktree = ELSEWHERE
    point = bench.step({"f": b"1\n"})
    bench.worktree = WORKTREE
    bench.step({"f": b"2\n", "g": b"1\n"})
    bench.back(point)
    assert bench.files() == {"f": file(b"1\n")}


def test_rc26_below_the_first_event_there_is_nothing(bench: Points) -> None:
    bench.write("f", b"0\n")
    defined = bench.store.events(bench.task)[0].event_id
    first = bench.step({"f": b"1\n", "g": b"1\n"})
    for event, before in ((first, True), (defined, False), (defined, True)):
        bench.back(event, before=before)
        assert bench.files() == {"f": file(b"0\n")}
        bench.undo()
    with pytest.raises(NotFound):
        bench.plan_back(EventId("0" * 64))


def test_a_task_that_cannot_be_read_whole_is_not_touched(bench: Points) -> None:
    point = bench.step({"f": b"1\n"})
    append_by_hand(bench.store, handmade(bench.task, [head_of(bench.store, bench.task)], v=2))
    with pytest.raises(Incomplete):
        bench.plan_back(point)


def test_what_was_done_outside_or_not_compared_is_counted(bench: Points) -> None:
    point = bench.step({"f": b"1\n"})
    blind = bench.shell({}, coverage="none")
    bench.call(None, lambda batch, task: (Change(path=OddPath(outside=True)),))
    bench.shell({"f": b"2\n"}, effects="outside")
    plan = bench.plan_back(point)
    assert plan.skipped == 1
    assert len(plan.uncovered) == 2
    assert plan.uncovered[0] == blind


def test_line_endings_and_filters_are_gits(bench: Points) -> None:
    bench.write(".gitattributes", b"*.txt text eol=crlf\n*.up filter=up\n")
    bench.repo.git("config", "filter.up.clean", "tr A-Z a-z")
    bench.repo.git("config", "filter.up.smudge", "tr a-z A-Z")
    first = bench.record(Step("f.txt", None, file(b"1\n")), Step("g.up", None, file(b"one\n")))
    bench.record(Step("f.txt", file(b"1\n"), file(b"1\n2\n")), Step("g.up", file(b"one\n"), file(b"two\n")))
    bench.write("f.txt", b"1\r\n2\r\n")
    bench.write("g.up", b"TWO\n")
    bench.back(first)
    assert (bench.path / "f.txt").read_bytes() == b"1\r\n"
    assert (bench.path / "g.up").read_bytes() == b"ONE\n"
    bench.undo()
    assert (bench.path / "f.txt").read_bytes() == b"1\r\n2\r\n"


def test_git_sees_changed_files_and_nothing_else(bench: Points) -> None:
    """RC-31: the index is the user's; HEAD, branches and reflog as well."""
    bench.repo.commit({"f": "0\n"})
    point = bench.step({"f": b"1\n"})
    bench.step({"f": b"2\n", "g": b"2\n"})
    own = ("index", "HEAD", "logs/HEAD", "refs/heads/main")
    state = {name: untouched(bench.path / ".git").get(name) for name in own}
    bench.back(point)
    assert {name: untouched(bench.path / ".git").get(name) for name in own} == state
    assert bench.repo.git("status", "--porcelain").splitlines() == [" M f"]


def holding(files: Mapping[str, FileVersion]) -> dict[str, bytes]:
    return {path: version.data for path, version in files.items()}


def test_a_path_that_another_task_changed_before_is_what_it_was_then(bench: Points) -> None:
    other = bench.new_task()
    bench.step({"f": b"theirs\n"}, task=other)
    point = bench.step({"g": b"1\n"})
    bench.step({"f": b"theirs\nours\n", "g": b"2\n"})
    bench.back(point)
    assert holding(bench.files()) == {"f": b"theirs\n", "g": b"1\n"}
