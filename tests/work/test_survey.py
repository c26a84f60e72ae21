"""A plan by itself, and beside a work tree that is not as it expects. T6, T7, T8."""

from pathlib import Path

import pytest

from pogstore.draft import FileVersion
from pogstore.errors import BadInput, Conflict, UnsafePath
from pogstore.work.rooted import Tree
from pogstore.work.survey import Target, Write, check_plan, survey

ONE = FileVersion(mode="100644", data=b"one")
TWO = FileVersion(mode="100644", data=b"two")
LINK = FileVersion(mode="120000", data=b"elsewhere")


@pytest.mark.parametrize("path", [".git/config", "../x", "a/CON", "a\\b"])
@pytest.mark.parametrize("versions", [(None, ONE), (ONE, None), (ONE, TWO), (ONE, ONE), (None, None)])
def test_t6_every_write_of_a_plan_is_checked(
    path: str, versions: tuple[FileVersion | None, FileVersion | None]
) -> None:
    with pytest.raises(UnsafePath):
        check_plan([Write("fine", None, ONE), Write(path, *versions)])


def test_a_path_stands_once_in_a_plan() -> None:
    with pytest.raises(Conflict, match="more than once") as caught:
        check_plan([Write("a", ONE, None), Write("b", None, ONE), Write("a", None, ONE)])
    assert caught.value.paths == ("a",)


@pytest.mark.parametrize("above", [Write("a", None, LINK), Write("a", None, ONE), Write("a", ONE, ONE)])
@pytest.mark.parametrize("below", ["a/b", "a/b/c"])
def test_t7_no_file_stands_below_another_file_of_the_plan(above: Write, below: str) -> None:
    with pytest.raises(Conflict, match="above") as caught:
        check_plan([Write("a-b", None, ONE), Write(below, None, ONE), above])
    assert caught.value.paths == (below,)
    check_plan([Write(below, None, ONE), Write("a", ONE, None)])
    check_plan([Write(below, ONE, None), above])


def test_only_modes_of_files_are_written() -> None:
    for mode in ("160000", "040000", "100664", ""):
        with pytest.raises(BadInput, match="mode"):
            check_plan([Write("a", None, FileVersion(mode=mode, data=b""))])


@pytest.mark.parametrize("target", [b"", b"a\0b"])
def test_a_link_needs_a_target(target: bytes) -> None:
    with pytest.raises(UnsafePath, match="link target"):
        check_plan([Write("a", None, FileVersion(mode="120000", data=target))])


def surveyed(root: Path, *writes: Write) -> list[Target]:
    with Tree(root) as tree:
        return survey(tree, writes)


def test_only_what_has_to_change_is_a_target(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one")
    (tmp_path / "d").mkdir()
    (tmp_path / "d/b").write_bytes(b"one")
    (tmp_path / "d/b").chmod(0o640)
    same, absent = Write("a", ONE, ONE), Write("x/y", None, None)
    edit, create = Write("d/b", ONE, TWO), Write("d/e/f", None, ONE)
    assert surveyed(tmp_path, same, edit, absent, create) == [
        Target(edit, (b"d", b"b"), (b"d",), 0o640),
        Target(create, (b"d", b"e", b"f"), (b"d",)),
    ]


def test_t8_a_survey_names_every_path_that_differs(tmp_path: Path) -> None:
    (tmp_path / "same").write_bytes(b"one")
    (tmp_path / "other").write_bytes(b"two")
    (tmp_path / "longer").write_bytes(b"one and more")
    (tmp_path / "mode").write_bytes(b"one")
    (tmp_path / "mode").chmod(0o755)
    (tmp_path / "link").symlink_to("one")
    (tmp_path / "made").write_bytes(b"one")
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "d").mkdir()
    (tmp_path / "file").write_bytes(b"one")
    edits = [Write(name, ONE, TWO) for name in ("same", "other", "longer", "mode", "link", "gone", "d", "file/x")]
    wanted = [Write(name, None, ONE) for name in ("made", "empty", "file/y")]
    kept = [Write("made", None, None)._replace(path="empty/x"), Write("d/x", None, None), Write("d", None, None)]
    with pytest.raises(Conflict) as caught:
        surveyed(tmp_path, *edits, *wanted, *kept)
    assert caught.value.paths == (
        *("other", "longer", "mode", "link", "gone", "d", "file/x"),
        *("made", "empty", "file/y"),
    )


def test_t8_a_directory_in_the_way_goes_only_if_the_plan_empties_it(tmp_path: Path) -> None:
    (tmp_path / "d/e").mkdir(parents=True)
    (tmp_path / "d/a").write_bytes(b"one")
    (tmp_path / "d/e/b").write_bytes(b"one")
    plan = [Write("d", None, TWO), Write("d/a", ONE, None), Write("d/e/b", ONE, None)]
    targets = {target.write.path: target for target in surveyed(tmp_path, *plan)}
    assert targets["d"].cleared == ((b"d", b"e"), (b"d",))
    assert targets["d/e/b"].home == (), "what is kept of it lies outside of what goes"
    for some in (plan[:1], plan[:2]):
        with pytest.raises(Conflict) as caught:
            surveyed(tmp_path, *some)
        assert caught.value.paths == ("d",)
    for extra in ("d/untracked", "d/e/untracked"):
        (tmp_path / extra).touch()
        with pytest.raises(Conflict):
            surveyed(tmp_path, *plan)
        (tmp_path / extra).unlink()
    (tmp_path / "d/e/empty").mkdir()
    with pytest.raises(Conflict):
        surveyed(tmp_path, *plan)


def test_a_file_in_the_place_of_a_directory_that_the_plan_empties_is_no_such_directory(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d/x").write_bytes(b"one")
    with pytest.raises(Conflict) as caught:
        surveyed(tmp_path, Write("d", None, TWO), Write("d/x/x", ONE, None))
    assert caught.value.paths == ("d", "d/x/x")


def test_t7_a_link_on_the_way_stops_the_plan_unless_it_goes(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/a").write_bytes(b"one")
    root = tmp_path / "root"
    root.mkdir()
    (root / "d").symlink_to("../outside")
    link = FileVersion(mode="120000", data=b"../outside")
    for write in (
        Write("d/a", ONE, TWO),
        Write("d/a", ONE, None),
        Write("d/new", None, ONE),
        Write("d/e/f", None, ONE),
    ):
        with pytest.raises(UnsafePath, match="'d' is a symbolic link"):
            surveyed(root, write)
    assert surveyed(root, Write("d/a", None, None)) == []
    assert [target.home for target in surveyed(root, Write("d", link, None), Write("d/e/f", None, ONE))] == [(), ()]
