"""The rules per path: what one recorded change becomes when it is taken out of what the path holds now.

PC-61, PC-63, PC-78, PC-93, PC-96, RC-1, RC-5, RC-11, RC-13, RC-23, RC-44, RC-55, RC-65, T8.
"""

import os
import re
from copy import copy
from pathlib import Path

import pytest

from pogstore.cli._plans import REASONS
from pogstore.draft import FileVersion
from pogstore.errors import UnsafePath
from pogstore.history import takeout, tree
from pogstore.model import Change, OddPath, Side
from pogstore.store.content import blob_id
from pogstore.store.store import open_store
from tests.builders_exchange import append_by_hand, handmade, head_of
from tests.builders_rollback import Bench, Step, changes_of, file, link, program, untouched
from tests.conftest import Repo

NONE = None
ONE, TWO, THREE = file(b"one\n"), file(b"two\n"), file(b"three\n")
BINARY, OTHER_BINARY, THIRD_BINARY = file(b"\0\xff"), file(b"\0\xfe"), file(b"\0\xfd")
Version = FileVersion | None


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A work tree with a task."""
    return Bench(tmp_path / "work")


PLAIN: dict[str, tuple[Version, Version]] = {
    "edit, PC-93": (ONE, TWO),
    "creation, RC-5": (NONE, ONE),
    "deletion, RC-23": (ONE, NONE),
    "binary": (BINARY, OTHER_BINARY),
    "binary created": (NONE, BINARY),
    "mode": (file(b"x\n"), program(b"x\n")),
    "mode of a binary": (BINARY, program(BINARY.data)),
    "mode and text": (file(b"x\n"), program(b"y\n")),
    "link created": (NONE, link(b"../outside")),
    "link changed, RC-55": (link(b"a"), link(b"b")),
    "link deleted": (link(b"a"), NONE),
    "file becomes link, PC-78": (ONE, link(b"one\n")),
    "link becomes file": (link(b"a"), ONE),
    "no final newline": (file(b"a\nb"), file(b"a\nb\n")),
    "final newline lost": (file(b"a\nb\n"), file(b"a\nb")),
    "CRLF": (file(b"a\r\nb\r\n"), file(b"a\r\nc\r\n")),
    "line endings changed": (file(b"a\nb\n"), file(b"a\r\nb\r\n")),
    "not UTF-8, PC-61": (file("naïve\n".encode("latin-1")), file("日本\n".encode("shift-jis"))),
    "empty file created": (NONE, file(b"")),
    "empty file filled": (file(b""), ONE),
    "file emptied": (ONE, file(b"")),
    "one line": (file(b"a"), file(b"b")),
    "one line without an end": (file(b"a"), file(b"a\nb")),
}


@pytest.mark.parametrize(("before", "after"), PLAIN.values(), ids=PLAIN)
def test_what_nobody_touched_since_is_as_it_was_before(bench: Bench, before: Version, after: Version) -> None:
    bench.write("d/f", before)
    bench.write("keep", b"kept")
    event = bench.step({"d/f": after})
    bench.rollback(event)
    assert bench.holds("d/f") == before
    bench.undo()
    assert bench.holds("d/f") == after
    bench.undo()
    assert bench.holds("d/f") == before
    assert bench.holds("keep") == file(b"kept")


@pytest.mark.parametrize(("before", "after"), PLAIN.values(), ids=PLAIN)
def test_what_was_taken_out_already_is_left_alone(bench: Bench, before: Version, after: Version) -> None:
    bench.write("d/f", before)
    bench.write("keep", b"kept")
    event = bench.step({"d/f": after})
    bench.write("d/f", before)
    state, events = untouched(bench.path, [".git"]), bench.all_events()
    done = bench.rollback(event)
    assert [outcome.outcome for own in done.plan.tasks for outcome in own.outcomes] == ["identical"]
    assert (done.plan.writes, done.events) == ((), ())
    assert untouched(bench.path, [".git"]) == state
    assert bench.all_events() == events


TEXT = b"1\n2\n3\n4\n5\n"
EDITED, ADDED = file(b"1\nx\n3\n4\n5\n"), file(b"1\n2\nx\n3\n4\n5\n")
MERGED: dict[str, tuple[Version, Version, Version, Version]] = {
    # before, after, now, what it becomes
    "a line elsewhere": (file(TEXT), EDITED, file(b"1\nx\n3\n4\n5!\n"), file(b"1\n2\n3\n4\n5!\n")),
    "right below": (
        file(TEXT),
        file(b"1\n2\nx\n3\n4\n5\n"),
        file(b"1\n2\nx\np\n3\n4\n5\n"),
        file(b"1\n2\np\n3\n4\n5\n"),
    ),
    "right above": (
        file(TEXT),
        file(b"1\n2\nx\n3\n4\n5\n"),
        file(b"1\n2\np\nx\n3\n4\n5\n"),
        file(b"1\n2\np\n3\n4\n5\n"),
    ),
    "next line edited": (file(TEXT), EDITED, file(b"1\nx\n3!\n4\n5\n"), file(b"1\n2\n3!\n4\n5\n")),
    "the same edit on both sides, RC-29": (file(TEXT), file(b"x\n2\n3\n4\ny\n"), file(b"1\n2\n3\n4\ny\n"), file(TEXT)),
    "CRLF": (file(b"a\r\nb\r\n"), file(b"A\r\nb\r\n"), file(b"A\r\nb\r\nc\r\n"), file(b"a\r\nb\r\nc\r\n")),
    "not UTF-8": (file(b"\xe9\nb\n"), file(b"\xe8\nb\n"), file(b"\xe8\nb\n\xff\n"), file(b"\xe9\nb\n\xff\n")),
    "no final newline": (file(b"a\nb"), file(b"A\nb"), file(b"A\nb\nc"), file(b"a\nb\nc")),
    "a person made it executable": (ONE, TWO, program(b"two\n"), program(b"one\n")),
    "the agent made it executable": (ONE, program(b"one\n"), program(b"one\nmore\n"), file(b"one\nmore\n")),
    "both, and a text": (file(TEXT), program(b"x\n" + TEXT), file(b"x\n" + TEXT + b"y\n"), file(TEXT + b"y\n")),
    "mode of a binary edited since": (BINARY, program(BINARY.data), program(OTHER_BINARY.data), OTHER_BINARY),
}


@pytest.mark.parametrize(("before", "after", "now", "expected"), MERGED.values(), ids=MERGED)
def test_later_edits_stay(bench: Bench, before: Version, after: Version, now: Version, expected: Version) -> None:
    bench.write("f", before)
    event = bench.step({"f": after})
    bench.write("f", now)
    bench.rollback(event)
    assert bench.holds("f") == expected
    bench.undo()
    assert bench.holds("f") == now


CONFLICTS: dict[str, tuple[Version, Version, Version, str]] = {
    # before, after, now, the conflict
    "the same line": (file(TEXT), EDITED, file(b"1\ny\n3\n4\n5\n"), "overlap"),
    "inside of what was added": (file(b"1\n"), file(b"1\na\nb\n"), file(b"1\na\np\nb\n"), "overlap"),
    "in the place of what was deleted": (file(b"1\n2\n3\n"), file(b"1\n3\n"), file(b"1\np\n3\n"), "overlap"),
    "created, then edited": (NONE, ONE, TWO, "edited-since-create"),
    "created, then made executable": (NONE, ONE, program(b"one\n"), "edited-since-create"),
    "edited, then deleted by a person, PC-96": (ONE, TWO, NONE, "deleted-since"),
    "deleted, then made again by a person": (ONE, NONE, TWO, "recreated-since"),
    "deleted, then a link": (ONE, NONE, link(b"one\n"), "recreated-since"),
    "binary": (BINARY, OTHER_BINARY, THIRD_BINARY, "binary"),
    "a text that became binary": (ONE, TWO, BINARY, "binary"),
    "a link elsewhere": (link(b"a"), link(b"b"), link(b"c"), "link-changed"),
    "a file that became a link": (ONE, TWO, link(b"a"), "type-changed"),
    "a link that became a file": (link(b"a"), link(b"b"), ONE, "type-changed"),
}


@pytest.mark.parametrize(("before", "after", "now", "reason"), CONFLICTS.values(), ids=CONFLICTS)
def test_a_conflict_has_a_name(bench: Bench, before: Version, after: Version, now: Version, reason: str) -> None:
    bench.write("f", before)
    bench.write("keep", b"kept")
    event = bench.step({"f": after})
    bench.write("f", now)
    assert bench.conflicts(event) == {"f": reason}
    assert bench.holds("f") == now


def test_pc96_a_created_file_that_a_person_deleted_is_not_made_again(bench: Bench) -> None:
    bench.write("keep", b"kept")
    event = bench.step({"f": b"agent\n"})
    bench.write("f", None)
    assert bench.rollback(event).events == ()
    assert bench.holds("f") is None


def test_a_file_and_a_directory_change_places(bench: Bench) -> None:
    bench.write("a", b"file\n")
    bench.write("b/c", b"inside\n")
    before = bench.files()
    gone = bench.step({"a": None, "b/c": None})
    there = bench.step({"a/x/y": b"now a directory\n", "b": b"now a file\n"})
    after = bench.files()
    bench.rollback(gone, there)
    assert bench.files() == before
    bench.undo()
    assert bench.files() == after


def test_rc13_a_directory_that_became_a_link_comes_back_and_nothing_beyond_the_link_changes(
    bench: Bench, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "f").write_bytes(b"outside\n")
    state = untouched(outside)
    bench.write("d/f", b"inside\n")
    before, was = bench.files(), bench.holds("d/f")
    bench.write("d/f", None)
    bench.write("d", link(bytes(outside)))
    event = bench.record(Step("d/f", was, None), Step("d", None, bench.holds("d")))
    bench.rollback(event)
    assert bench.files() == before
    bench.undo()
    assert bench.holds("d") == link(bytes(outside))
    assert untouched(outside) == state


def test_pc78_a_path_behind_a_link_is_gone_as_git_sees_it(bench: Bench, tmp_path: Path) -> None:
    bench.write("d/f", b"1\n")
    event = bench.step({"d/f": b"2\n"})
    bench.write("d/f", None)
    bench.write("d", link(bytes(tmp_path)))
    (tmp_path / "f").write_bytes(b"2\n")
    assert bench.conflicts(event) == {"d/f": "deleted-since"}


def test_t7_what_was_deleted_is_not_brought_back_through_a_link(bench: Bench, tmp_path: Path) -> None:
    bench.write("d/f", b"1\n")
    event = bench.step({"d/f": None})
    bench.write("d", link(bytes(tmp_path)))
    with pytest.raises(UnsafePath):
        bench.plan(event)
    assert not (tmp_path / "f").exists()


def test_t8_a_directory_of_a_person_in_the_way_stays(bench: Bench) -> None:
    bench.write("d", b"file\n")
    event = bench.step({"d": None})
    bench.write("d/mine", b"mine\n")
    assert bench.conflicts(event) == {"d": "in-the-way"}
    assert bench.text("d/mine") == "mine\n"


def test_a_fifo_is_no_file(bench: Bench) -> None:
    event = bench.step({"f": b"1\n"})
    bench.write("f", None)
    os.mkfifo(bench.path / "f")
    assert bench.conflicts(event) == {"f": "not-a-file"}


NAMES = {
    "PC-63 Chinese": ["测试.txt"],
    "PC-63 composed and decomposed are two names": ["caf\u00e9.txt", "cafe\u0301.txt"],
    "emoji, blank, quotes": ['a b/"😀".txt'],
    "a dash": ["-rf"],
    "not UTF-8": ["\udcff\udcfe.txt"],
}


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_pc63_any_name_comes_back(bench: Bench, names: list[str]) -> None:
    for number, name in enumerate(names):
        bench.write(name, b"%d\n" % number)
    before = bench.files()
    event = bench.step(dict.fromkeys(names, b"agent\n"))
    gone = bench.step(dict.fromkeys(names))
    bench.rollback(event, gone)
    assert bench.files() == before
    bench.undo()
    assert bench.files() == {}


@pytest.mark.parametrize("path", ["../x", "/etc/x", ".git/hooks/post-commit", "a/.GIT/config", "con"])
def test_t6_a_path_that_may_not_be_written_is_refused_when_planning(bench: Bench, path: str) -> None:
    event = bench.record(Step(path, ONE, None))
    with pytest.raises(UnsafePath):
        bench.plan(event)


@pytest.mark.parametrize("name", ["b\\s", "d/ends with a dot.", "one\x01two", "ab:$c"])
def test_t6_a_name_that_is_read_otherwise_elsewhere_is_left_and_said(bench: Bench, name: str) -> None:
    event = bench.step({name: b"x\n", "ok.txt": b"y\n"})
    plan = bench.plan(event)
    assert ([left.path for left in plan.left], plan.skipped, plan.obstacles) == ([name], 0, ())
    assert plan.tasks[0].outcomes[0].outcome == "applied"
    done = bench.rollback(event)
    assert done.events
    assert bench.files() == {name: file(b"x\n")}
    bench.undo()
    assert bench.files() == {name: file(b"x\n"), "ok.txt": file(b"y\n")}
    gone = bench.step({name: None, "ok.txt": None})
    bench.rollback(gone)
    assert bench.files() == {"ok.txt": file(b"y\n")}, "and it is not made"


@pytest.mark.parametrize("name", ["..\\x", "a\\.git\\config", "c:\\x", "a/con\\"])
def test_t6_a_disguise_is_no_slip_of_spelling(bench: Bench, name: str) -> None:
    event = bench.record(Step(name, None, ONE))
    bench.write(name, ONE)
    with pytest.raises(UnsafePath):
        bench.plan(event)


def test_a_path_outside_is_skipped_and_said(bench: Bench) -> None:
    outside = bench.record_sides(Change(path=OddPath(outside=True)))
    plan = bench.plan(outside)
    assert (plan.writes, plan.obstacles, plan.skipped) == ((), (), 1)
    assert plan.tasks[0].outcomes[0].outcome == "skipped"
    assert bench.plan(outside, bench.step({"f": b"1\n"})).skipped == 1


def test_what_nobody_saw_before_is_not_guessed(bench: Bench) -> None:
    bench.write("f", b"agent\n")
    unseen = bench.record(Step("f", None, file(b"agent\n")), reason="no-before")
    neither = bench.record(Step("g", None, None))
    lost = bench.record(Step("h", file("\ufffd\n".encode()), file("\ufffd!\n".encode())), reason="encoding")
    assert bench.conflicts(unseen, neither, lost) == dict.fromkeys("fgh", "not-recorded")


def side(data: bytes, **fields: str) -> Side:
    return Side(mode="100644", blob=blob_id(data), size=len(data), **fields)


def test_content_that_is_not_here_is_named(bench: Bench) -> None:
    bench.write("f", b"after\n")
    absent = bench.record_sides(Change(path="f", before=side(b"before\n"), after=side(b"after\n")))
    assert bench.conflicts(absent) == {"f": "content-absent"}


def test_a_clone_without_the_contents_says_so_until_they_are_fetched(bench: Bench, tmp_path: Path) -> None:
    bench.write("f", b"1\n2\n")
    event = bench.step({"f": b"1\nagent\n2\n"})
    bench.repo.commit({}, "all")
    bench.repo.git("clone", "--quiet", ".", str(tmp_path / "clone"))
    clone = copy(bench)
    clone.path, clone.repo = tmp_path / "clone", Repo(tmp_path / "clone")
    clone.repo.git("fetch", "--quiet", "origin", "refs/pog/tasks/*:refs/pog/tasks/*")
    clone.repo.git("config", "pog.enabled", "true")
    clone.store = open_store(clone.path)
    assert clone.conflicts(event) == {"f": "content-absent"}
    clone.repo.git("fetch", "--quiet", "origin", "refs/pog/content/*:refs/pog/content/*")
    clone.rollback(event)
    assert clone.text("f") == "1\n2\n"
    clone.store.close()


def test_what_an_operation_saw_may_be_absent(bench: Bench) -> None:
    """Then the change and the file alone say whether it is there."""
    bench.write("f", b"1\n2\n3\n")
    event = bench.step({"f": b"1\nagent\n2\n3\n"})
    above = head_of(bench.store, bench.task)
    gone = {name: {"mode": "100644", "blob": blob_id(name.encode()), "size": 6} for name in ("before", "after")}
    rolled = handmade(
        bench.task, [above], kind="rolled_back", targets=[event], strategy="three-way", changes=[{"path": "f", **gone}]
    )
    append_by_hand(bench.store, rolled)
    bench.write("f", b"1\nagent\n2\n3\nperson\n")
    bench.rollback(event)
    assert bench.text("f") == "1\n2\n3\nperson\n"


def test_content_that_is_not_needed_may_be_absent(bench: Bench) -> None:
    bench.write("f", b"before\n")
    bench.write("g", b"after\n")
    undone = bench.record_sides(Change(path="f", before=side(b"before\n"), after=side(b"after\n")))
    created = bench.record_sides(Change(path="g", after=side(b"after\n")))
    bench.rollback(undone, created)
    assert bench.files() == {"f": file(b"before\n")}
    bench.undo()
    assert bench.text("g") == "after\n"


def test_content_that_was_too_large_to_be_stored_is_named(bench: Bench) -> None:
    bench.write("f", b"after\n")
    omitted = bench.record_sides(Change(path="f", before=side(b"x" * 9, omitted="too-large"), after=side(b"after\n")))
    assert bench.conflicts(omitted) == {"f": "content-omitted"}


def test_content_that_was_erased_is_named(bench: Bench) -> None:
    bench.write("f", b"after\n")
    event = bench.record_sides(Change(path="f", before=side(b"secret\n"), after=side(b"after\n")))
    erased = handmade(
        bench.task, [head_of(bench.store, bench.task)], kind="redacted", blobs=[blob_id(b"secret\n")], reason="secret"
    )
    append_by_hand(bench.store, erased)
    assert bench.conflicts(event) == {"f": "content-erased"}


def test_a_file_that_undo_could_not_bring_back_is_not_touched(bench: Bench) -> None:
    bench.repo.git("config", "pog.maxBlob", "10")
    bench.reopen()
    event = bench.step({"f": b"more than ten bytes\n"})
    assert bench.conflicts(event) == {"f": "too-large"}


def test_pc73_rc32_a_submodule_is_a_conflict(bench: Bench) -> None:
    before, after = (Side(mode="160000", commit=f"sha1_{digit * 40}") for digit in "12")
    moved = bench.record_sides(Change(path="lib", before=before, after=after))
    (bench.path / "lib").mkdir()
    (bench.path / "lib" / ".git").write_text("gitdir: ../.git/modules/lib\n")
    assert bench.conflicts(moved) == {"lib": "submodule"}
    (bench.path / "lib" / ".git").unlink()
    (bench.path / "lib").rmdir()
    bench.write("lib", b"a file now\n")
    assert bench.conflicts(moved) == {"lib": "submodule"}
    added = bench.record_sides(Change(path="new", before=before))
    assert bench.conflicts(added) == {"new": "submodule"}


def test_rc11_only_the_own_effects_go(bench: Bench) -> None:
    other = bench.new_task()
    bench.write("shared", b"1\n2\n3\n")
    bench.step({"shared": b"1a\n2\n3\n", "mine": b"1\n"})
    bench.step({"shared": b"1a\n2\n3b\n", "theirs": b"2\n"}, task=other)
    bench.write("untracked", b"a person's\n")
    bench.rollback(bench.task)
    assert bench.files() == {
        "shared": file(b"1\n2\n3b\n"), "theirs": file(b"2\n"), "untracked": file(b"a person's\n"),
    }  # fmt: skip


def test_a_moved_file_goes_back_to_its_name(bench: Bench) -> None:
    bench.write("a/old", TEXT)
    event = bench.move("a/old", "b/new", b"agent\n" + TEXT)
    bench.write("b/new", b"agent\n" + TEXT + b"person\n")
    done = bench.rollback(event)
    assert bench.files() == {"a/old": file(TEXT + b"person\n")}
    (change,) = changes_of(done.events[0])
    assert (change.path, change.from_) == ("a/old", "b/new"), "so that blame follows the file home"
    bench.undo()
    assert bench.files() == {"b/new": file(b"agent\n" + TEXT + b"person\n")}
    bench.undo()
    assert bench.files() == {"a/old": file(TEXT + b"person\n")}


def test_an_earlier_edit_is_taken_out_under_the_later_name(bench: Bench) -> None:
    bench.write("x", TEXT)
    edit = bench.step({"x": b"agent\n" + TEXT})
    bench.move("x", "y")
    bench.move("y", "z")
    bench.write("z", b"agent\n" + TEXT + b"person\n")
    bench.write("x", b"something new of that name\n")
    bench.rollback(edit)
    assert bench.text("z") == TEXT.decode() + "person\n"
    assert bench.text("x") == "something new of that name\n"


def test_a_rename_that_was_rolled_back_is_followed_home(bench: Bench) -> None:
    bench.write("x", TEXT)
    edit = bench.step({"x": b"agent\n" + TEXT})
    rename = bench.move("x", "y")
    bench.rollback(rename)
    bench.rollback(edit)
    assert bench.files() == {"x": file(TEXT)}


def test_an_edit_and_renames_go_together(bench: Bench) -> None:
    bench.write("x", TEXT)
    events = [bench.step({"x": b"agent\n" + TEXT}), bench.move("x", "y"), bench.move("y", "z", b"2\n" + TEXT)]
    bench.write("z", b"2\n" + TEXT + b"person\n")
    done = bench.rollback(*events)
    assert bench.files() == {"x": file(TEXT + b"person\n")}
    (change,) = changes_of(done.events[0])
    assert (change.path, change.from_) == ("x", "z")
    bench.undo()
    assert bench.files() == {"z": file(b"2\n" + TEXT + b"person\n")}


def test_a_file_that_moves_around_ends_where_it_was(bench: Bench) -> None:
    bench.write("x", TEXT)
    events = [bench.move("x", "y"), bench.move("y", "x"), bench.move("x", "z"), bench.move("z", "y")]
    bench.rollback(*events)
    assert bench.files() == {"x": file(TEXT)}


def test_a_rename_has_its_conflicts(bench: Bench) -> None:
    bench.write("a", b"a\n")
    bench.write("c", b"c\n")
    bench.write("e", b"e\n")
    again = bench.move("a", "b")
    bench.move("b", "b2")
    taken = bench.move("c", "d")
    bench.write("c", b"a person's\n")
    gone = bench.move("e", "f")
    bench.write("f", None)
    assert bench.conflicts(again) == {"b2": "renamed-since"}
    assert bench.conflicts(taken) == {"c": "recreated-since"}
    assert bench.conflicts(gone) == {"e": "deleted-since"}


def test_a_rename_that_a_person_took_back_is_not_one_any_more(bench: Bench) -> None:
    bench.write("a", TEXT)
    event = bench.move("a", "b", b"agent\n" + TEXT)
    bench.write("b", None)
    bench.write("a", b"agent\n" + TEXT)
    bench.rollback(event)
    assert bench.files() == {"a": file(TEXT)}


CONVERTED = {
    "eol=crlf": "*.txt text eol=crlf\n",
    "autocrlf": "",
    "UTF-16": "*.txt text working-tree-encoding=UTF-16LE eol=crlf\n",
}


@pytest.mark.parametrize("attributes", CONVERTED.values(), ids=CONVERTED)
def test_what_git_converts_is_compared_and_written_as_git_does(bench: Bench, attributes: str) -> None:
    encoding = "utf-16-le" if "UTF-16" in attributes else "utf-8"
    bench.write(".gitattributes", attributes.encode())
    if not attributes:
        bench.repo.git("config", "core.autocrlf", "true")
    event = bench.record(Step("f.txt", file(b"1\n2\n"), file(b"1\nagent\n2\n")))
    gone = bench.record(Step("g.txt", file(b"g\n"), None))
    bench.write("f.txt", "1\r\nagent\r\n2\r\nperson\r\n".encode(encoding))
    done = bench.rollback(event, gone)
    assert bench.holds("f.txt") == file("1\r\n2\r\nperson\r\n".encode(encoding))
    assert bench.holds("g.txt") == file("g\r\n".encode(encoding))
    recorded = {change.path: change.after.blob for change in changes_of(done.events[0]) if change.after}
    assert recorded == {"f.txt": blob_id(b"1\n2\nperson\n"), "g.txt": blob_id(b"g\n")}, "in the form that git stores"
    bench.undo()
    assert bench.holds("f.txt") == file("1\r\nagent\r\n2\r\nperson\r\n".encode(encoding))


def test_a_conversion_that_would_touch_other_lines_is_refused(bench: Bench) -> None:
    bench.write(".gitattributes", b"*.txt text eol=crlf\n")
    event = bench.record(Step("f.txt", file(b"1\n"), file(b"1\nagent\n")))
    bench.write("f.txt", b"1\r\nagent\nmixed\n")
    assert bench.conflicts(event) == {"f.txt": "filtered"}


def test_a_filter_that_fails_is_refused(bench: Bench) -> None:
    bench.write(".gitattributes", b"*.bin filter=odd\n")
    bench.repo.git("config", "filter.odd.clean", "false")
    bench.repo.git("config", "filter.odd.required", "true")
    event = bench.step({"f.bin": b"1\n"})
    assert bench.conflicts(event) == {"f.bin": "filtered"}


def test_rc65_lines_behind_a_filter_are_never_merged(bench: Bench) -> None:
    bench.write(".gitattributes", b"*.bin filter=lfs\n")
    bench.repo.git("config", "filter.lfs.clean", "tr a-z A-Z")
    bench.repo.git("config", "filter.lfs.smudge", "tr A-Z a-z")
    event = bench.record(Step("f.bin", file(b"ONE\nTWO\n"), file(b"ONE\nTWO\nTHREE\n")))
    bench.write("f.bin", b"one\ntwo\nthree\n")
    bench.rollback(event)
    assert bench.text("f.bin") == "one\ntwo\n"
    bench.undo()
    bench.write("f.bin", b"zero\none\ntwo\nthree\n")
    assert bench.conflicts(event) == {"f.bin": "binary"}


def test_a_file_that_git_merges_as_a_whole_is_not_merged_by_lines(bench: Bench) -> None:
    bench.write(".gitattributes", b"*.lock -merge\n")
    event = bench.step({"f.lock": b"agent\n"})
    bench.step({"f.lock": b"agent\nmore\n"})
    assert bench.conflicts(event) == {"f.lock": "edited-since-create"}
    edit = bench.step({"f.lock": b"2\nagent\nmore\n"})
    bench.write("f.lock", b"2\nagent\nmore\nperson\n")
    assert bench.conflicts(edit) == {"f.lock": "binary"}


def test_every_conflict_is_explained() -> None:
    said = set(
        re.findall(
            r'Obstructed\(\w+, "([a-z-]+)"', Path(takeout.__file__).read_text() + Path(tree.__file__).read_text()
        )
    )
    assert said
    assert said <= REASONS.keys()
