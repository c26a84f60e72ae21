"""Conflicts laid out in a directory, settled there and carried out from there. RC-8, RC-13, RC-65."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pogstore.errors import BadInput, Conflict, PlanMoved, PogError, UnsafePath
from pogstore.history.materialized import LaidOut, apply_resolved, lay_out, plan_resolved
from pogstore.history.plans import Terms
from pogstore.history.rollback import plan_rollback
from pogstore.model import EventId, RolledBack
from tests.builders_rollback import Bench, file, link, program, untouched

TERMS = Terms(widen="no", conflicts="take")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A work tree with a task."""
    return Bench(tmp_path / "work")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Where conflicts are laid out."""
    return tmp_path / "out"


def laid_out(bench: Bench, out: Path, *names: EventId) -> LaidOut:
    plan = plan_rollback(bench.store, [bench.named(name) for name in names], terms=TERMS)
    return lay_out(bench.store, plan, TERMS, out)


def goes_on(bench: Bench, out: Path) -> RolledBack:
    (sealed,) = apply_resolved(bench.store, plan_resolved(bench.store, out), bench.by()).events
    assert isinstance(sealed.event, RolledBack)
    return sealed.event


@pytest.fixture
def torn(bench: Bench) -> EventId:
    """An event whose file was edited in the same line; one beside it is untouched."""
    bench.write("src/f.py", b"1\n2\n3\n")
    event = bench.step({"src/f.py": b"1\nagent\n3\n", "made": b"made\n"})
    bench.write("src/f.py", b"0\n1\nagent, edited\n3\n")
    return event


def below(out: Path) -> dict[str, bytes]:
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*") if path.is_file()}


def test_all_sides_are_laid_out_and_nothing_else_is_written(bench: Bench, out: Path, torn: EventId) -> None:
    state, events = untouched(bench.path, [".git/pog"]), bench.all_events()
    laid_out(bench, out, torn)
    assert (untouched(bench.path, [".git/pog"]), bench.all_events()) == (state, events)
    found = below(out)
    manifest = json.loads(found.pop("manifest.json"))
    assert found == {
        "1/base.py": b"1\nagent\n3\n",
        "1/ours.py": b"0\n1\nagent, edited\n3\n",
        "1/theirs.py": b"1\n2\n3\n",
        "1/merged.py": b"0\n1\n<<<<<<< ours\nagent, edited\n||||||| base\nagent\n=======\n2\n>>>>>>> theirs\n3\n",
    }
    assert manifest["targets"] == [torn]
    (entry,) = manifest["conflicts"]
    assert (entry["path"], entry["reason"], entry["number"]) == ("src/f.py", "overlap", 1)


def test_what_was_settled_is_carried_out_with_the_rest_and_undo_is_exact(
    bench: Bench, out: Path, torn: EventId
) -> None:
    typed = bench.files()
    laid_out(bench, out, torn)
    (out / "1/merged.py").write_bytes(b"0\n1\nboth\n3\n")
    event = goes_on(bench, out)
    assert (event.strategy, event.targets) == ("resolved", (torn,))
    assert [outcome.outcome for outcome in event.outcomes] == ["applied"]
    assert bench.files() == {"src/f.py": file(b"0\n1\nboth\n3\n")}
    bench.undo()
    assert bench.files() == typed
    goes_on(bench, out)
    assert bench.files() == {"src/f.py": file(b"0\n1\nboth\n3\n")}, "an equal world: it goes again"
    with pytest.raises(PlanMoved):
        plan_resolved(bench.store, out)


LEFT = {
    "untouched": lambda text: text,
    "one marker": lambda text: b"0\n1\n2\n>>>>>>> theirs\n3\n",
    "the middle": lambda text: b"0\n1\n=======\n2\n3\n",
    "CRLF": lambda text: text.replace(b"\n", b"\r\n"),
}


@pytest.mark.parametrize("left", LEFT.values(), ids=LEFT)
def test_markers_that_are_left_are_refused(
    bench: Bench, out: Path, torn: EventId, left: Callable[[bytes], bytes]
) -> None:
    laid_out(bench, out, torn)
    merged = out / "1/merged.py"
    merged.write_bytes(left(merged.read_bytes()))
    state = untouched(bench.path, [".git/pog"])
    with pytest.raises(Conflict, match=r"conflict markers in '1/merged\.py'") as fault:
        plan_resolved(bench.store, out)
    assert fault.value.paths == ("src/f.py",)
    assert untouched(bench.path, [".git/pog"]) == state


def test_a_text_about_markers_gets_longer_ones(bench: Bench, out: Path) -> None:
    head = b"Title\n=======\n<<<<<<<<< nine\n"
    bench.write("f", head + b"1\n")
    event = bench.step({"f": head + b"2\n"})
    bench.write("f", head + b"3\n")
    laid_out(bench, out, event)
    merged = (out / "1/merged").read_bytes()
    assert b"\n<<<<<<<<<< ours\n3\n|||||||||| base\n2\n==========\n1\n>>>>>>>>>> theirs\n" in merged
    (out / "1/merged").write_bytes(head + b"4\n")
    goes_on(bench, out)
    assert bench.holds("f") == file(head + b"4\n")


def test_lines_without_a_newline_at_the_end_keep_their_markers_apart(bench: Bench, out: Path) -> None:
    bench.write("f", b"1")
    event = bench.step({"f": b"2"})
    bench.write("f", b"3")
    laid_out(bench, out, event)
    assert (out / "1/merged").read_bytes() == b"<<<<<<< ours\n3\n||||||| base\n2\n=======\n1\n>>>>>>> theirs\n"


@pytest.mark.parametrize("moved", ["the file", "another file", "an event", "a sibling that stays"])
def test_a_world_that_moved_is_refused(bench: Bench, out: Path, torn: EventId, moved: str) -> None:
    laid_out(bench, out, torn)
    (out / "1/merged.py").write_bytes(b"settled\n")
    if moved == "the file":
        bench.write("src/f.py", b"0\n1\nagent, edited again\n3\n")
    elif moved == "another file":
        bench.write("made", b"made, edited\n")
    elif moved == "an event":
        bench.rollback(bench.step({"src/f.py": b"0\n1\nagent, edited\n3\n4\n"}))
        bench.step({"src/f.py": b"0\n1\nagent, edited\n3\n4\n"})
    else:
        bench.write("elsewhere", b"of no matter\n")
        assert plan_resolved(bench.store, out).writes
        return
    state = untouched(bench.path, [".git/pog"])
    with pytest.raises(PlanMoved):
        plan_resolved(bench.store, out)
    assert untouched(bench.path, [".git/pog"]) == state


def test_an_edit_between_plan_and_writing_stops_all_of_it(bench: Bench, out: Path, torn: EventId) -> None:
    laid_out(bench, out, torn)
    (out / "1/merged.py").write_bytes(b"settled\n")
    plan = plan_resolved(bench.store, out)
    bench.write("made", b"edited\n")
    with pytest.raises(Conflict):
        apply_resolved(bench.store, plan, bench.by())
    assert bench.text("src/f.py") == "0\n1\nagent, edited\n3\n"


def test_two_files_under_one_name_stand_against_each_other_as_git_has_it(bench: Bench, out: Path) -> None:
    bench.write("f", b"1\n")
    event = bench.step({"f": None})
    bench.write("f", b"2\n")
    laid_out(bench, out, event)
    assert (out / "1/merged").read_bytes() == b"<<<<<<< ours\n2\n||||||| base\n=======\n1\n>>>>>>> theirs\n"


POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:%b\nsize 3\n"
WHOLE = {
    "binary": (file(b"\0\1"), file(b"\0\2"), file(b"\0\3")),
    "link": (link(b"one"), link(b"two"), link(b"/etc/passwd")),
    "type": (file(b"1\n"), file(b"2\n"), link(b"/etc/passwd")),
    "created": (None, file(b"1\n"), file(b"2\n")),
    "deleted": (file(b"1\n"), file(b"2\n"), None),
}


@pytest.mark.parametrize("settled", ["base", "ours", "theirs", "delete", "text"])
@pytest.mark.parametrize("case", WHOLE)
def test_rc65_what_is_no_text_gets_no_markers_and_is_settled_whole(
    bench: Bench, out: Path, case: str, settled: str
) -> None:
    before, after, now = WHOLE[case]
    bench.write("f", before)
    event = bench.step({"f": after})
    bench.write("f", now)
    laid_out(bench, out, event)
    assert not (out / "1/merged").exists()
    assert not any(path.is_symlink() for path in out.rglob("*"))
    with pytest.raises(Conflict, match="is not settled: no '1/merged', nor '1/delete'"):
        plan_resolved(bench.store, out)
    sides = dict(zip(("theirs", "base", "ours"), (before, after, now), strict=True))
    if settled == "delete":
        (out / "1/delete").touch()
        expected = None
    elif settled == "text":
        (out / "1/merged").write_bytes(b"something else\n")
        expected = link(b"something else\n") if case == "link" else file(b"something else\n")
    elif sides[settled] is None:
        assert not (out / "1" / settled).exists()
        return
    else:
        (out / "1" / settled).rename(out / "1/merged")
        expected = sides[settled]
        if settled == "base" and case == "link":
            expected = link(b"two")
    if expected == now:
        assert apply_resolved(bench.store, plan_resolved(bench.store, out), bench.by()).events == ()
    else:
        goes_on(bench, out)
    assert bench.holds("f") == expected


def test_rc65_a_pointer_of_lfs_never_gets_marker_text(bench: Bench, out: Path) -> None:
    bench.write(".gitattributes", b"*.bin filter=lfs diff=lfs merge=lfs -text\n")
    bench.repo.git("config", "filter.lfs.clean", "cat")
    bench.repo.git("config", "filter.lfs.smudge", "cat")
    first, second, third = (file(POINTER % (name * 64)) for name in (b"a", b"b", b"c"))
    bench.write("f.bin", first)
    event = bench.step({"f.bin": second})
    bench.write("f.bin", third)
    laid_out(bench, out, event)
    assert sorted(below(out)) == ["1/base.bin", "1/ours.bin", "1/theirs.bin", "manifest.json"]
    (out / "1/theirs.bin").rename(out / "1/merged.bin")
    goes_on(bench, out)
    assert bench.holds("f.bin") == first


def test_both_a_file_and_none_is_not_settled(bench: Bench, out: Path, torn: EventId) -> None:
    laid_out(bench, out, torn)
    (out / "1/delete").touch()
    with pytest.raises(Conflict, match=r"'1/merged\.py' and '1/delete'"):
        plan_resolved(bench.store, out)
    (out / "1/merged.py").unlink()
    goes_on(bench, out)
    assert bench.files() == {}


def test_the_executable_bit_is_merged_apart(bench: Bench, out: Path) -> None:
    bench.write("f", file(b"1\n"))
    event = bench.step({"f": program(b"2\n")})
    bench.write("f", program(b"3\n"))
    laid_out(bench, out, event)
    (out / "1/merged").write_bytes(b"4\n")
    goes_on(bench, out)
    assert bench.holds("f") == file(b"4\n")


ODD = ["a\nb", "-rf", "$(touch x)", "<b>", "\udcff\udcfe", "con", ".GIT", "x" * 200 + "." + "y" * 20, "\u202egnp.exe"]


def test_rc13_no_recorded_name_is_a_name_there(bench: Bench, out: Path) -> None:
    names = [name for name in ODD if name not in ("con", ".GIT", "a\nb")]
    for name in names:
        bench.write(name, b"1\n")
    event = bench.step(dict.fromkeys(names, b"2\n"))
    for name in names:
        bench.write(name, b"3\n")
    laid_out(bench, out, event)
    found = below(out)
    assert {name.split("/")[0] for name in found} == {*map(str, range(1, len(names) + 1)), "manifest.json"}
    # a suffix is kept only where it can mean nothing but a suffix
    assert {name.split("/")[1] for name in found if name.endswith("merged") or ".exe" in name} == {
        "merged", "base.exe", "ours.exe", "theirs.exe", "merged.exe"
    }  # fmt: skip
    for path in out.glob("*/merged*"):
        path.write_bytes(b"4\n")
    goes_on(bench, out)
    assert {version.data for version in bench.files().values()} == {b"4\n"}


def _refused(bench: Bench, out: Path, torn: EventId, fault: type[PogError]) -> None:
    state = untouched(out.parent, ["work/.git/pog"])
    with pytest.raises(fault):
        laid_out(bench, out, torn)
    assert untouched(out.parent, ["work/.git/pog"]) == state


def test_where_nothing_is_laid_out(bench: Bench, tmp_path: Path, torn: EventId) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full/x").touch()
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("elsewhere")
    for name in ("full", "file", "missing/out", "work/src"):
        _refused(bench, tmp_path / name, torn, BadInput)
    for name in ("link", "work/.git/out", "work/.git/pog/out", ".git", ".GIT", "git~1", "work/sub.git/../.git/x"):
        _refused(bench, tmp_path / name, torn, UnsafePath)
    (tmp_path / "empty").mkdir()
    laid_out(bench, tmp_path / "empty", torn)
    (tmp_path / "in").symlink_to("work/.git", target_is_directory=True)
    _refused(bench, tmp_path / "in/out", torn, UnsafePath)


def test_without_a_conflict_there_is_nothing_to_lay_out(bench: Bench, out: Path) -> None:
    event = bench.step({"f": b"1\n"})
    with pytest.raises(BadInput, match="nothing conflicts"):
        laid_out(bench, out, event)
    assert not out.exists()


def test_what_cannot_be_written_leaves_no_directory(
    bench: Bench, out: Path, torn: EventId, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pogstore.history.materialized.apply", fail)
    with pytest.raises(BadInput, match="No space left"):
        laid_out(bench, out, torn)
    assert not out.exists()


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[]", "{", '{"kind": "pogstore-rollback"}', "\udc80", '{"kind": "other", "version": 1}', None],
)
def test_a_directory_that_is_not_ours_is_refused(bench: Bench, out: Path, text: str | None) -> None:
    out.mkdir()
    if text is not None:
        (out / "manifest.json").write_bytes(os.fsencode(text))
    with pytest.raises(BadInput):
        plan_resolved(bench.store, out)
    with pytest.raises(BadInput):
        plan_resolved(bench.store, out / "missing")


def test_a_manifest_that_was_changed_is_another_plan(bench: Bench, out: Path, torn: EventId) -> None:
    laid_out(bench, out, torn)
    (out / "1/merged.py").write_bytes(b"settled\n")
    other = bench.step({"other": b"1\n"})
    manifest = json.loads((out / "manifest.json").read_text())
    (out / "manifest.json").write_text(json.dumps(manifest | {"targets": [torn, other]}))
    with pytest.raises(PlanMoved):
        plan_resolved(bench.store, out)
    (out / "manifest.json").write_text(json.dumps(manifest | {"version": 2}))
    with pytest.raises(BadInput, match="another version"):
        plan_resolved(bench.store, out)


def test_a_link_is_not_followed_when_it_is_read(bench: Bench, out: Path, torn: EventId, tmp_path: Path) -> None:
    laid_out(bench, out, torn)
    (tmp_path / "secret").write_bytes(b"secret\n")
    (out / "1/merged.py").unlink()
    (out / "1/merged.py").symlink_to(tmp_path / "secret")
    with pytest.raises(BadInput, match="is a symbolic link"):
        plan_resolved(bench.store, out)
    (out / "1").rename(out / "2")
    (out / "1").symlink_to("2", target_is_directory=True)
    with pytest.raises(UnsafePath):
        plan_resolved(bench.store, out)


def test_a_rename_is_settled_under_the_name_it_goes_home_to(bench: Bench, out: Path) -> None:
    bench.write("a", b"1\n")
    event = bench.move("a", "b", b"2\n")
    bench.write("b", b"3\n")
    laid_out(bench, out, event)
    (out / "1/merged").write_bytes(b"4\n")
    found = goes_on(bench, out)
    assert bench.files() == {"a": file(b"4\n")}
    assert [(change.from_, change.path) for change in found.changes] == [("b", "a")]
    bench.undo()
    assert bench.files() == {"b": file(b"3\n")}


def test_only_some_paths_are_remembered(bench: Bench, out: Path, torn: EventId) -> None:
    terms = TERMS._replace(paths=frozenset([b"src/f.py"]))
    plan = plan_rollback(bench.store, [bench.named(torn)], terms=terms)
    lay_out(bench.store, plan, terms, out)
    (out / "1/merged.py").write_bytes(b"settled\n")
    goes_on(bench, out)
    assert bench.files() == {"src/f.py": file(b"settled\n"), "made": file(b"made\n")}
