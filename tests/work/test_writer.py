"""The safe writer: all or nothing, nothing else, nowhere else. RC-1, RC-8, RC-13, RC-14, PC-79, PC-90, T6, T7, T8."""

import errno
import itertools
import os
import random
import resource
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pogstore.draft import FileVersion
from pogstore.errors import Conflict, PogError, UnsafePath, WorkTreeFailed
from pogstore.work import rooted
from pogstore.work.writer import TEMPORARY, Write, apply, read_version
from tests.work.test_rooted import no_hang, open_files

Files = dict[str, FileVersion]


def file(data: bytes) -> FileVersion:
    return FileVersion(mode="100644", data=data)


def program(data: bytes) -> FileVersion:
    return FileVersion(mode="100755", data=data)


def link(target: bytes) -> FileVersion:
    return FileVersion(mode="120000", data=target)


ONE, TWO = file(b"one"), file(b"two")


class Seen(NamedTuple):
    """What stands at a path; of a directory only its permissions, for its time moves with what is in it."""

    permissions: int
    data: bytes | None
    inode: int
    mtime_ns: int


def seen(path: Path) -> Seen:
    found = path.lstat()
    permissions = stat.S_IMODE(found.st_mode)
    if stat.S_ISDIR(found.st_mode):
        return Seen(permissions, None, 0, 0)
    data = b"FIFO"
    if stat.S_ISLNK(found.st_mode):
        data = os.fsencode(path.readlink())
    elif stat.S_ISREG(found.st_mode):
        data = path.read_bytes()
    return Seen(permissions, data, found.st_ino, found.st_mtime_ns)


def everything(root: Path) -> dict[str, Seen]:
    """All that is below a directory, to be compared byte for byte and time for time."""
    return {path.relative_to(root).as_posix(): seen(path) for path in root.rglob("*")}


def untouched(root: Path) -> dict[str, tuple[Seen, int]]:
    """All that is below a directory, and the time of each directory too: it shows a file that came and went."""
    return {str(path): (seen(path), path.lstat().st_mtime_ns) for path in [root, *root.rglob("*")]}


def files_of(root: Path) -> Files:
    """The versions of all files below a directory."""
    found: Files = {}
    for path in root.rglob("*"):
        if not stat.S_ISDIR(path.lstat().st_mode):
            version = read_version(root, name := path.relative_to(root).as_posix())
            assert version is not None
            found[name] = version
    return found


def lay(root: Path, files: Mapping[str, FileVersion]) -> None:
    """Makes files without the writer, with a time that shows if they are written again."""
    root.mkdir(exist_ok=True)
    for name, version in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if version.mode == "120000":
            path.symlink_to(os.fsdecode(version.data))
        else:
            path.write_bytes(version.data)
            path.chmod(0o755 if version.mode == "100755" else 0o644)
        os.utime(path, (1, 1), follow_symlinks=False)


def plan(old: Files, new: Files) -> list[Write]:
    """The writes that lead from some files to others."""
    return [Write(name, old.get(name), new.get(name)) for name in sorted({*old, *new})]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An empty work tree; what lies beside it is outside."""
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


CHANGES: dict[str, tuple[Files, Files]] = {
    "create": ({}, {"a": ONE}),
    "create below new directories": ({"d/a": ONE}, {"d/a": ONE, "d/e/f/g": ONE, "d/e/h": TWO, "x/y/z": ONE}),
    "an empty file": ({}, {"a": file(b"")}),
    "edit": ({"a": ONE, "d/b": ONE}, {"a": TWO, "d/b": file(b"\0\xff\r\n" * 100_000)}),
    "delete": ({"a": ONE, "b": ONE}, {"b": ONE}),
    "mode": ({"a": ONE, "b": program(b"b")}, {"a": program(b"one"), "b": file(b"b")}),
    "create a program": ({}, {"a": program(b"#!")}),
    "create a link": ({}, {"a": link(b"/etc/passwd"), "d/b": link(b"../a")}),
    "replace a link": ({"a": link(b"b"), "b": ONE}, {"a": link(b"c"), "b": ONE}),
    "delete a link": ({"a": link(b"b"), "b": ONE}, {"b": ONE}),
    "file to link": ({"a": ONE, "b": TWO}, {"a": link(b"b"), "b": TWO}),
    "link to file": ({"a": link(b"b"), "b": TWO}, {"a": ONE, "b": TWO}),
    "link to program": ({"a": link(b"b"), "b": TWO}, {"a": program(b"x"), "b": TWO}),
    "file to directory": ({"a": ONE}, {"a/b": ONE, "a/c/d": TWO}),
    "directory to file": ({"a/b": ONE, "a/c/d": TWO, "a/c/e": TWO}, {"a": ONE}),
    "RC-13 link to directory": ({"a": link(b"b"), "b/c": ONE}, {"a/c": TWO, "b/c": ONE}),
    "RC-13 directory to link": ({"a/c": TWO, "b/c": ONE}, {"a": link(b"b"), "b/c": ONE}),
    "move": ({"a/b": ONE}, {"c/d": ONE}),
    "swap": ({"a": ONE, "b": TWO}, {"a": TWO, "b": ONE}),
    "names": ({}, {"日本/語.txt": ONE, "全：角": ONE, "a b/#&": ONE, "...foo": ONE, ".gitignore": ONE, "-rf": ONE}),
    "everything": (
        {"a": ONE, "b/c/d": ONE, "b/c/e": ONE, "f": link(b"a"), "g/h": ONE, "i": program(b"i"), "same": ONE},
        {"a": TWO, "b": TWO, "f/x": ONE, "g/new/y/z": TWO, "i": file(b"i"), "j": link(b"a"), "same": ONE},
    ),
}
change = pytest.mark.parametrize(("old", "new"), CHANGES.values(), ids=CHANGES)


@change
def test_a_plan_is_carried_out_and_back(root: Path, old: Files, new: Files) -> None:
    lay(root, old)
    for before, after in ((old, new), (new, old)):
        apply(root, plan(before, after))
        assert files_of(root) == after
        folders = {path for path, found in everything(root).items() if found.data is None}
        assert folders == {Path(name).parents[n].as_posix() for name in after for n in range(name.count("/"))}


@change
def test_rc14_what_needs_no_change_keeps_inode_and_time(root: Path, old: Files, new: Files) -> None:
    lay(root, old)
    before = everything(root)
    apply(root, plan(old, old))
    assert everything(root) == before
    apply(root, plan(old, new))
    after = everything(root)
    assert {name: after[name] for name in old if old[name] == new.get(name)} == {
        name: before[name] for name in old if old[name] == new.get(name)
    }


@pytest.mark.skipif(sys.platform == "darwin", reason="the file systems of macOS take UTF-8 names alone")
def test_a_name_that_is_not_utf8_is_written_byte_for_byte(root: Path) -> None:
    apply(root, [Write("d-\udce9/caf\udce9", None, ONE)])
    assert os.listdir(os.fsencode(root)) == [b"d-\xe9"]  # noqa: PTH208 (pathlib knows no bytes)
    apply(root, [Write("d-\udce9/caf\udce9", ONE, None)])
    assert everything(root) == {}


def test_an_empty_plan_is_done_at_once(root: Path) -> None:
    apply(root, [])
    assert everything(root) == {}


@pytest.mark.parametrize(("umask", "plain", "executable"), [(0o022, 0o644, 0o755), (0o077, 0o600, 0o700)])
def test_a_new_file_gets_its_permissions_from_the_umask(root: Path, umask: int, plain: int, executable: int) -> None:
    lay(root, {"link": link(b"a")})
    former = os.umask(umask)
    try:
        apply(root, [Write("a", None, ONE), Write("d/b", None, program(b"b")), Write("link", link(b"a"), TWO)])
    finally:
        os.umask(former)
    assert [seen(root / name).permissions for name in ("a", "d/b", "link", "d")] == [
        *(plain, executable, plain, executable)
    ]


@pytest.mark.parametrize(
    ("permissions", "executable"), [(0o640, 0o750), (0o600, 0o700), (0o444, 0o555), (0o664, 0o775), (0o604, 0o705)]
)
def test_a_file_keeps_its_permissions_but_for_the_executable_bits(
    root: Path, permissions: int, executable: int
) -> None:
    lay(root, {"a": ONE})
    (root / "a").chmod(permissions)
    for before, after, wanted in (
        (ONE, TWO, permissions),
        (TWO, program(b"two"), executable),
        (program(b"two"), program(b"one"), executable),
        (program(b"one"), ONE, permissions),
    ):
        apply(root, [Write("a", before, after)])
        assert seen(root / "a").permissions == wanted


def test_what_is_not_for_others_is_never_open_to_them(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay(root, {"a": ONE})
    (root / "a").chmod(0o640)
    found: list[int] = []

    def look() -> None:
        found.extend(seen(path).permissions for path in root.glob(f"{TEMPORARY}*"))

    with just_before(monkeypatch, "fchmod", look):
        apply(root, [Write("a", ONE, TWO)])
    assert found == [0o600]


@pytest.mark.parametrize("fsync", [True, False])
def test_files_and_the_directories_that_name_them_are_on_disk(
    root: Path, monkeypatch: pytest.MonkeyPatch, fsync: bool
) -> None:
    lay(root, {"d/a": ONE, "e/f/g": ONE, "e/h": ONE})
    real = os.fsync
    synced: set[int] = set()

    def note(fd: int) -> None:
        synced.add(os.fstat(fd).st_ino)
        real(fd)

    monkeypatch.setattr(os, "fsync", note)
    apply(root, [Write("d/a", ONE, TWO), Write("e/f/g", ONE, None), Write("new/x/y", None, ONE)], fsync=fsync)
    wanted = ("d/a", "d", "new/x/y", "new/x", "new", "")
    assert {name for name in wanted if (root / name).stat().st_ino in synced} == (set(wanted) if fsync else set())


def test_a_set_user_bit_does_not_pass_to_new_bytes(root: Path) -> None:
    lay(root, {"a": program(b"1")})
    (root / "a").chmod(0o4755)
    apply(root, [Write("a", program(b"1"), program(b"2"))])
    assert seen(root / "a").permissions == 0o755


def test_t7_a_link_is_replaced_and_what_it_points_to_is_not_touched(root: Path, tmp_path: Path) -> None:
    lay(tmp_path / "outside", {"a": ONE})
    (root / "a").symlink_to("../outside/a")
    (root / "d").symlink_to("../outside")
    outside = untouched(tmp_path / "outside")
    writes = [Write("a", link(b"../outside/a"), program(b"x")), Write("d", link(b"../outside"), None)]
    apply(root, [*writes, Write("d/a", None, TWO)])
    assert untouched(tmp_path / "outside") == outside
    assert files_of(root) == {"a": program(b"x"), "d/a": TWO}


@pytest.mark.parametrize("before", [None, ONE])
@pytest.mark.parametrize("path", ["d/a", "d/e/a", "x/d/a"])
def test_rc13_t7_nothing_is_written_or_removed_beyond_a_link(
    root: Path, tmp_path: Path, before: FileVersion | None, path: str
) -> None:
    lay(tmp_path / "outside", {"a": ONE, "e/a": ONE})
    lay(root, {"d": link(b"../outside"), "x/d": link(b"../../outside")})
    state = everything(tmp_path)
    for after in (TWO, None) if before else (TWO,):
        with pytest.raises(UnsafePath):
            apply(root, [Write("fine", None, ONE), Write(path, before, after)])
        assert everything(tmp_path) == state


def test_t6_one_unsafe_path_stops_the_plan(root: Path, tmp_path: Path) -> None:
    state = everything(tmp_path)
    for path in ("../x", ".git/hooks/x", "a/.GIT/x", "con", "/x"):
        with pytest.raises(UnsafePath):
            apply(root, [Write("fine", None, ONE), Write(path, None, ONE)])
    assert everything(tmp_path) == state


def test_t8_rc8_a_conflict_leaves_every_byte_time_and_inode(root: Path) -> None:
    lay(root, {"a": ONE, "edited": TWO, "d/b": ONE, "untracked": ONE, "e/f": link(b"x")})
    state = everything(root)
    writes = [
        *(Write("a", ONE, TWO), Write("d/b", ONE, None), Write("new/x/y", None, ONE), Write("e/f", link(b"x"), ONE)),
        *(Write("edited", ONE, file(b"3")), Write("untracked", None, TWO), Write("gone", ONE, None)),
    ]
    with pytest.raises(Conflict) as caught:
        apply(root, writes)
    assert caught.value.paths == ("edited", "untracked", "gone")
    assert everything(root) == state


def test_rc1_pc90_what_no_write_names_survives(root: Path) -> None:
    lay(root, {"d/a": ONE, "d/untracked.bin": TWO, "d/e/b": ONE, "build/out": TWO, ".gitignore": file(b"build\n")})
    (root / "empty").mkdir()
    (root / "d/empty").mkdir()
    state = everything(root)
    apply(root, [Write("d/a", ONE, None), Write("d/e/b", ONE, None), Write(".gitignore", file(b"build\n"), None)])
    gone = {"d/a", "d/e/b", "d/e", ".gitignore"}
    assert everything(root) == {name: found for name, found in state.items() if name not in gone}


def test_directories_go_upwards_but_never_the_root(root: Path) -> None:
    lay(root, {"a/b/c/d": ONE, "a/b/e": ONE, "f/g": ONE})
    apply(root, [Write("a/b/c/d", ONE, None)])
    assert set(everything(root)) == {"a", "a/b", "a/b/e", "f", "f/g"}
    apply(root, [Write("a/b/e", ONE, None), Write("f/g", ONE, None)])
    assert root.is_dir()
    assert everything(root) == {}


def test_a_directory_that_gets_a_new_file_is_the_same_directory(root: Path) -> None:
    lay(root, {"d/a": ONE})
    (root / "d").chmod(0o700)
    inode = (root / "d").stat().st_ino
    apply(root, [Write("d/a", ONE, None), Write("d/b", None, ONE)])
    assert ((root / "d").stat().st_ino, seen(root / "d").permissions) == (inode, 0o700)


def test_t8_a_directory_in_the_way_is_kept_with_what_nobody_named(root: Path) -> None:
    lay(root, {"d/a": ONE, "d/untracked": TWO})
    state = everything(root)
    with pytest.raises(Conflict) as caught:
        apply(root, [Write("d/a", ONE, None), Write("d", None, ONE)])
    assert caught.value.paths == ("d",)
    assert everything(root) == state


@pytest.mark.parametrize("path", ["fifo", "fifo/x"])
@pytest.mark.parametrize("before", [None, ONE])
def test_pc79_a_fifo_in_the_way_does_not_hang(root: Path, path: str, before: FileVersion | None) -> None:
    os.mkfifo(root / "fifo")
    state = everything(root)
    for after in (TWO, None) if before else (TWO,):
        with no_hang(), pytest.raises(Conflict):
            apply(root, [Write("a", None, ONE), Write(path, before, after)])
        assert everything(root) == state


def test_no_file_stays_open(root: Path) -> None:
    lay(root, {"a": ONE, "d/e/f": ONE})
    before = open_files()
    apply(root, [Write("a", ONE, TWO), Write("d/e/f", ONE, None), Write("x/y", None, ONE)])
    for write in (Write("x/y", None, ONE), Write("a/b", ONE, TWO), Write("../x", None, ONE)):
        with pytest.raises(PogError):
            apply(root, [write])
    assert open_files() == before


def test_more_directories_than_may_be_open(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooted, "MAX_OPEN", 2)
    old: Files = {f"{a}/{b}/x": ONE for a in range(5) for b in range(5)}
    new: Files = {f"{a}/{b}": TWO for a in range(3) for b in range(5)} | {f"{a}/new/{a}/y": TWO for a in range(3, 7)}
    lay(root, old)
    apply(root, plan(old, new), fsync=False)
    assert files_of(root) == new
    apply(root, plan(new, old), fsync=False)
    assert files_of(root) == old


# Faults in the middle

CALLS = (
    *("open", "stat", "fstat", "readlink", "link", "rename", "mkdir", "rmdir", "symlink", "unlink", "fsync"),
    *("fchmod", "scandir", "dup"),
)


class Fault:
    """Lets the system refuse its n-th call, and answer all others."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, n: int, fault: BaseException, names: tuple[str, ...]) -> None:
        self.calls, self.n, self.fault = 0, n, fault
        self.name = ""
        for name in names:
            monkeypatch.setattr(os, name, self._failing(name, getattr(os, name)))

    def _failing(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            self.calls += 1
            if self.calls == self.n:
                self.name = name
                raise self.fault
            return real(*args, **options)

        return call


def without_links(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that has no hard links."""

    def refuse(*args: object, **options: object) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", refuse)


@pytest.mark.parametrize(
    ("links", "fault"),
    [(True, OSError(errno.EIO, "broken")), (False, KeyboardInterrupt())],
    ids=["refused", "interrupted, and no hard links"],
)
@pytest.mark.parametrize("name", ["everything", "directory to file", "RC-13 link to directory"])
def test_rc8_a_fault_anywhere_restores_the_old_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, links: bool, fault: BaseException
) -> None:
    old, new = CHANGES[name]
    refused: set[str] = set()
    monkeypatch.setattr(os, "fsync", lambda _: None)
    for n in itertools.count(1):
        root = tmp_path / str(n)
        lay(root, old)
        state = everything(root)
        with monkeypatch.context() as patch:
            if not links:
                without_links(patch)
            made = Fault(patch, n, fault, CALLS)
            with suppress(PogError, KeyboardInterrupt):
                apply(root, plan(old, new))
        if made.calls < n:
            break
        found = {path: version for path, version in files_of(root).items() if TEMPORARY not in path}
        if found != new:
            refused.add(made.name)
            assert everything(root) == state, f"call {n}, {made.name}"
    assert n > 30, "the calls were not met"
    assert {"open", "stat", "rename", "mkdir" if "link" in name else "rmdir"} <= refused


def test_one_refused_rename_is_reported_as_such(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay(root, {"a": ONE, "b": ONE})
    state = everything(root)
    Fault(monkeypatch, 2, OSError(errno.ENOSPC, "No space left on device"), ("rename",))
    with pytest.raises(WorkTreeFailed, match="cannot read or write 'b': No space left on device") as caught:
        apply(root, [Write("a", ONE, TWO), Write("b", ONE, TWO)])
    assert caught.value.left == ()
    assert everything(root) == state


def test_a_full_disk_leaves_nothing(root: Path) -> None:
    lay(root, {"a": ONE})
    state = everything(root)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(WorkTreeFailed, match="'b'"):
            apply(root, [Write("a", ONE, TWO), Write("b", None, file(b"x" * 1_000_000))])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert everything(root) == state


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_that_may_not_be_written_leaves_all_as_it_was(root: Path) -> None:
    lay(root, {"a": ONE, "d/b": ONE})
    (root / "d").chmod(0o555)
    state = everything(root)
    with pytest.raises(WorkTreeFailed, match="Permission denied"):
        apply(root, [Write("a", ONE, TWO), Write("d/b", ONE, None), Write("c", None, ONE)])
    assert everything(root) == state
    (root / "d").chmod(0o755)


def test_what_cannot_be_put_back_is_kept_and_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay(root, {"d/a": ONE, "b": ONE, "c": ONE})
    real, calls = os.rename, itertools.count(1)

    def broken(*args: Any, **options: Any) -> None:
        if next(calls) > 1:
            raise OSError(errno.EIO, "broken")
        real(*args, **options)

    monkeypatch.setattr(os, "rename", broken)
    with pytest.raises(WorkTreeFailed, match="not everything could be put back") as caught:
        apply(root, [Write("d/a", ONE, TWO), Write("b", ONE, TWO)])
    monkeypatch.undo()
    (left,) = caught.value.left
    assert left.startswith(f"d/{TEMPORARY}")
    assert caught.value.hint is not None
    assert left in caught.value.hint
    assert files_of(root) == {"d/a": TWO, "b": ONE, "c": ONE, left: ONE}


# Somebody else at work at the same time


@contextmanager
def just_before(monkeypatch: pytest.MonkeyPatch, name: str, act: Callable[[], object]) -> Iterator[None]:
    """Lets somebody act once, right before the first call of a function of the system."""
    real, calls = getattr(os, name), itertools.count()

    def call(*args: Any, **options: Any) -> Any:
        if next(calls) == 0:
            act()
        return real(*args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(os, name, call)
        yield
    assert next(calls) > 0, f"{name} was not called"


def replaced(path: Path, data: bytes) -> None:
    """Saves a file as an editor does."""
    other = path.with_name("editor")
    other.write_bytes(data)
    other.rename(path)


@pytest.mark.parametrize("save", [Path.write_bytes, replaced], ids=["in place", "by renaming"])
@pytest.mark.parametrize("moment", ["fsync", "link"])
def test_t8_an_edit_during_the_plan_is_never_lost(
    root: Path, monkeypatch: pytest.MonkeyPatch, moment: str, save: Callable[[Path, bytes], object]
) -> None:
    lay(root, {"a": ONE, "b": ONE})
    with (
        just_before(monkeypatch, moment, lambda: save(root / "a", b"own")),
        pytest.raises(Conflict) as caught,
    ):
        apply(root, [Write("a", ONE, TWO), Write("b", ONE, TWO)])
    assert caught.value.paths == ("a",)
    assert files_of(root) == {"a": file(b"own"), "b": ONE}


@pytest.mark.parametrize("save", [Path.write_bytes, replaced], ids=["in place", "by renaming"])
def test_t8_an_edit_is_not_deleted(
    root: Path, monkeypatch: pytest.MonkeyPatch, save: Callable[[Path, bytes], object]
) -> None:
    lay(root, {"a": ONE})
    edit = just_before(monkeypatch, "rename", lambda: save(root / "a", b"two"))
    with edit, pytest.raises(Conflict):
        apply(root, [Write("a", ONE, None)])
    assert files_of(root) == {"a": TWO}


def test_t8_a_file_made_meanwhile_is_not_replaced(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay(root, {"z": ONE})
    made = just_before(monkeypatch, "link", lambda: (root / "d/a").write_bytes(b"by hand"))
    with made, pytest.raises(Conflict):
        apply(root, [Write("d/a", None, ONE), Write("z", ONE, TWO)])
    assert files_of(root) == {"d/a": file(b"by hand"), "z": ONE}


def test_t8_a_file_made_meanwhile_is_not_replaced_where_there_are_no_hard_links(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_links(monkeypatch)
    made = just_before(monkeypatch, "fsync", lambda: (root / "a").write_bytes(b"by hand"))
    with made, pytest.raises(Conflict):
        apply(root, [Write("a", None, ONE)])
    assert files_of(root) == {"a": file(b"by hand")}


@pytest.mark.parametrize(
    ("write", "moment"),
    [
        *((Write("d/a", ONE, TWO), moment) for moment in ("fsync", "link", "rename")),
        *((Write("d/c", None, TWO), moment) for moment in ("fsync", "link")),
        (Write("d/b", ONE, None), "rename"),
    ],
)
def test_t7_a_directory_moved_away_keeps_its_files(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Write, moment: str
) -> None:
    def move() -> None:
        os.replace(root / "d", tmp_path / "moved")  # noqa: PTH105 (Path.rename calls what is replaced here)
        lay(root, {"d/a": ONE, "d/b": ONE})

    lay(root, {"d/a": ONE, "d/b": ONE})
    with just_before(monkeypatch, moment, move), pytest.raises(Conflict):
        apply(root, [write])
    assert files_of(root) == {"d/a": ONE, "d/b": ONE}
    assert files_of(tmp_path / "moved") == {"a": ONE, "b": ONE}


def test_t7_nothing_moves_once_a_directory_was_moved_away(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_more(*args: object, **options: object) -> None:
        raise AssertionError("a file was moved")

    def move() -> None:
        (root / "d").rename(tmp_path / "moved")
        for name in ("link", "rename", "mkdir"):
            monkeypatch.setattr(os, name, no_more)

    lay(root, {"d/a": ONE})
    with just_before(monkeypatch, "fsync", move), pytest.raises(Conflict):
        apply(root, [Write("d/a", ONE, TWO)])
    assert files_of(tmp_path / "moved") == {"a": ONE}


def test_t8_a_file_put_into_a_directory_that_must_go_stays(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay(root, {"d/a": ONE, "d/e/b": ONE})
    (root / "d").chmod(0o750)
    state = everything(root)
    made = just_before(monkeypatch, "rmdir", lambda: (root / "d/new").write_bytes(b"by hand"))
    with made, pytest.raises(Conflict):
        apply(root, [Write("d/a", ONE, None), Write("d/e/b", ONE, None), Write("d", None, TWO)])
    found = everything(root)
    assert found.pop("d/new").data == b"by hand"
    assert found == state


def test_t8_a_new_file_that_was_edited_at_once_is_not_taken_back(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def edit_and_fail() -> None:
        assert (root / "a").read_bytes() == b"one"
        replaced(root / "a", b"by hand")
        raise OSError(errno.EIO, "broken")

    lay(root, {"b": ONE})
    with just_before(monkeypatch, "rename", edit_and_fail), pytest.raises(WorkTreeFailed):
        apply(root, [Write("a", None, ONE), Write("b", ONE, TWO)])
    assert files_of(root) == {"a": file(b"by hand"), "b": ONE}


def test_t8_an_edit_of_a_replaced_file_stays_and_the_former_file_beside_it(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def edit_and_fail() -> None:
        replaced(root / "a", b"by hand")
        raise OSError(errno.EIO, "broken")

    lay(root, {"a": ONE})
    with just_before(monkeypatch, "mkdir", edit_and_fail), pytest.raises(WorkTreeFailed) as caught:
        apply(root, [Write("a", ONE, TWO), Write("d/b", None, ONE)])
    (left,) = caught.value.left
    assert files_of(root) == {"a": file(b"by hand"), left: ONE}


def test_other_bytes_in_another_inode_are_found_and_the_same_bytes_pass(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An overlay file system gives a file a new inode when it is first linked or moved."""
    lay(root, {"a": ONE, "b": ONE})
    with just_before(monkeypatch, "link", lambda: replaced(root / "a", b"one")):
        apply(root, [Write("a", ONE, TWO), Write("b", ONE, None)])
    assert files_of(root) == {"a": TWO}


class Swapper(threading.Thread):
    """Puts a link to the outside in the place of a directory and takes it away again, at moments nobody foresees."""

    def __init__(self, folder: Path, outside: Path) -> None:
        super().__init__()
        self.folder, self.outside = folder, outside
        self.aside = folder.with_name("aside")
        self.stopped = threading.Event()
        self.swaps = 0
        self.chance = random.Random(7)

    def run(self) -> None:
        while not self.stopped.is_set() or self.aside.exists():
            with suppress(OSError):
                self.folder.rename(self.aside)
                self.folder.symlink_to(self.outside)
                time.sleep(self.chance.uniform(0, 0.0005))
            with suppress(OSError):
                self.folder.unlink()
            with suppress(OSError):
                self.aside.rename(self.folder)
                self.swaps += 1
            # a plan takes about a millisecond: some must get through
            time.sleep(self.chance.uniform(0, 0.003))

    def __enter__(self) -> "Swapper":
        self.interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-5)
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopped.set()
        self.join(30)
        sys.setswitchinterval(self.interval)


def test_t7_a_directory_swapped_for_a_link_never_leads_outside(tmp_path: Path, root: Path) -> None:
    one: Files = {"d/a": ONE, "d/b": ONE, "d/e/f": ONE}
    two: Files = {"d/a": TWO, "d/n/m/o": ONE, "d/e/f": TWO}
    lay(tmp_path / "outside", {**one, "a": ONE, "b": ONE, "e/f": ONE})
    lay(root, one)
    outside = untouched(tmp_path / "outside")
    done = refused = 0
    with Swapper(root / "d", tmp_path / "outside") as swapper:
        while done + refused < 1000 or done < 10 or refused < 100:
            assert done + refused < 20_000, f"{done} done, {refused} refused: the race was not met"
            try:
                apply(root, plan(one, two), fsync=False)
            except (Conflict, UnsafePath):
                refused += 1
            else:
                done += 1
                one, two = two, one
    assert swapper.swaps
    assert untouched(tmp_path / "outside") == outside
    assert files_of(root) == one, "each plan was carried out wholly or not at all, and left no temporary file"


# A file system without case


@pytest.fixture
def caseless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets names below an open directory differ in case alone and yet be one, as on macOS."""

    def lower(value: Any) -> Any:
        return value.lower() if isinstance(value, bytes) else value

    def folding(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            below = any(name.endswith("dir_fd") for name in options)
            return real(*map(lower, args), **options) if below else real(*args, **options)

        return call

    for name in CALLS:
        monkeypatch.setattr(os, name, folding(getattr(os, name)))


@pytest.mark.usefixtures("caseless")
def test_t8_names_that_differ_in_case_alone_are_not_merged(root: Path) -> None:
    lay(root, {"z": ONE})
    state = everything(root)
    with pytest.raises(Conflict):
        apply(root, [Write("z", ONE, TWO), Write("readme", None, ONE), Write("README", None, TWO)])
    assert everything(root) == state


@pytest.mark.usefixtures("caseless")
def test_t7_a_link_in_another_case_is_not_followed(root: Path, tmp_path: Path) -> None:
    lay(tmp_path / "outside", {"a": ONE})
    state = everything(tmp_path)
    with pytest.raises(UnsafePath):
        apply(root, [Write("D", None, link(b"../outside")), Write("d/post-checkout", None, program(b"x"))])
    assert everything(tmp_path) == state


@pytest.mark.usefixtures("caseless")
@pytest.mark.parametrize("after", [ONE, TWO])
def test_a_name_may_change_its_case(root: Path, after: FileVersion) -> None:
    lay(root, {"d/readme": ONE})
    apply(root, [Write("d/README", None, after), Write("d/readme", ONE, None)])
    assert files_of(root) == {"d/readme": after}


def test_t8_two_names_of_one_file_are_two_files(root: Path) -> None:
    lay(root, {"readme": ONE})
    (root / "README").hardlink_to(root / "readme")
    state = everything(root)
    with pytest.raises(Conflict):
        apply(root, [Write("README", None, TWO), Write("readme", ONE, None)])
    assert everything(root) == state


# Properties

NAMES = st.sampled_from("abc")
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
VERSIONS = st.one_of(
    st.builds(file, st.binary(max_size=3)),
    st.builds(program, st.binary(max_size=3)),
    st.builds(link, st.sampled_from([b"a", b"..", b"/", b"b/c", b"\xff"])),
)


def is_above(one: str, other: str) -> bool:
    return other.startswith(f"{one}/")


def without_collisions(files: Files) -> Files:
    """Keeps of some files those that can stand in one tree."""
    kept: Files = {}
    for name, version in files.items():
        if not any(is_above(name, other) or is_above(other, name) for other in kept):
            kept[name] = version
    return kept


TREES = st.dictionaries(PATHS, VERSIONS, max_size=7).map(without_collisions)


@given(TREES, TREES, st.sets(PATHS.map(lambda path: f"{path}/untracked"), max_size=2))
def test_a_plan_and_its_reverse_give_the_same_bytes_and_modes(old: Files, new: Files, others: set[str]) -> None:
    untracked: Files = {name: TWO for name in others if not any(is_above(path, name) for path in old)}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        lay(root, {**old, **untracked})
        state = everything(root)
        if any(is_above(path, name) for path in new for name in untracked):
            with pytest.raises(Conflict):
                apply(root, plan(old, new), fsync=False)
            assert everything(root) == state
            return
        apply(root, plan(old, new), fsync=False)
        assert files_of(root) == {**new, **untracked}
        apply(root, plan(new, old), fsync=False)
        found = everything(root)
        assert {name: (one.permissions, one.data) for name, one in found.items()} == {
            name: (one.permissions, one.data) for name, one in state.items()
        }
        assert {name: found[name] for name in untracked} == {name: state[name] for name in untracked}


@given(TREES, TREES, st.data())
def test_a_plan_that_expects_one_thing_wrong_changes_nothing(old: Files, new: Files, data: st.DataObject) -> None:
    writes = plan(old, new)
    changed = [n for n, write in enumerate(writes) if write.before is not None]
    if not changed:
        return
    n = data.draw(st.sampled_from(changed))
    version = writes[n].before
    assert version is not None
    writes[n] = writes[n]._replace(before=FileVersion(mode=version.mode, data=version.data + b"!"))
    with tempfile.TemporaryDirectory() as folder:
        lay(Path(folder), old)
        state = everything(Path(folder))
        with pytest.raises(Conflict):
            apply(folder, writes, fsync=False)
        assert everything(Path(folder)) == state
