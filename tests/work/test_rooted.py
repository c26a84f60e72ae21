"""Reading the files of a work tree, and directories that somebody moves meanwhile. PC-79, T7."""

import errno
import gc
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pogstore.draft import FileVersion
from pogstore.errors import Conflict, NotAFile, UnsafePath, WorkTreeFailed
from pogstore.work import rooted
from pogstore.work.rooted import Tree, read_version


@contextmanager
def no_hang() -> Iterator[None]:
    """Fails instead of waiting for ever."""

    def stop(*_: object) -> None:
        raise AssertionError("it hangs")

    former = signal.signal(signal.SIGALRM, stop)
    signal.alarm(10)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, former)


def open_files() -> int:
    """How many files this process has open; what other tests left to the collector does not count."""
    gc.collect()
    return open_now()


def open_now() -> int:
    """How many files this process has open, with those that wait for the collector."""
    return len(list(Path("/dev/fd").iterdir()))


def test_it_reads_files_links_and_absence(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d/a").write_bytes(b"one\r\n\0")
    (tmp_path / "run").write_bytes(b"")
    (tmp_path / "run").chmod(0o744)
    (tmp_path / "link").symlink_to("/nowhere/at all")
    assert read_version(tmp_path, "d/a") == FileVersion(mode="100644", data=b"one\r\n\0")
    assert read_version(str(tmp_path), "run") == FileVersion(mode="100755", data=b"")
    assert read_version(tmp_path, "link") == FileVersion(mode="120000", data=b"/nowhere/at all")
    for absent in ("x", "x/y/z", "d/x", "d/a/x"):
        assert read_version(tmp_path, absent) is None


def test_it_reads_below_a_descriptor_and_leaves_it_open(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1")
    fd = os.open(tmp_path, os.O_RDONLY)
    try:
        assert read_version(fd, "a") == read_version(fd, "a") == FileVersion(mode="100644", data=b"1")
        os.fstat(fd)
    finally:
        os.close(fd)


def test_only_the_owners_bit_makes_a_file_executable(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"")
    (tmp_path / "a").chmod(0o655)
    version = read_version(tmp_path, "a")
    assert version is not None
    assert version.mode == "100644"


@pytest.mark.parametrize(("size", "fits"), [(10, True), (11, False), (5_000_000, False)])
def test_it_reads_no_more_than_asked(tmp_path: Path, size: int, fits: bool) -> None:
    (tmp_path / "a").touch()
    os.truncate(tmp_path / "a", size)
    if fits:
        assert read_version(tmp_path, "a", max_size=10) == FileVersion(mode="100644", data=bytes(10))
    else:
        with pytest.raises(Conflict, match="larger than 10"):
            read_version(tmp_path, "a", max_size=10)


def test_a_large_file_is_read_whole(tmp_path: Path) -> None:
    data = bytes(range(256)) * 12_000
    (tmp_path / "a").write_bytes(data)
    assert read_version(tmp_path, "a") == FileVersion(mode="100644", data=data)


def test_pc79_what_is_no_file_is_named_and_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "d").mkdir()
    (tmp_path / "null").symlink_to("/dev/null")
    for name, found in (("fifo", "FIFO"), ("d", "directory")):
        with no_hang(), pytest.raises(NotAFile) as caught:
            read_version(tmp_path, name)
        assert (caught.value.path, caught.value.found) == (name, found)
    with no_hang():
        assert read_version(tmp_path, "fifo/x") is None
        assert read_version(tmp_path, "null") == FileVersion(mode="120000", data=b"/dev/null")
    with no_hang(), pytest.raises(NotAFile, match="device"):
        read_version("/dev", "null")


def test_pc79_a_file_that_becomes_a_fifo_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(b"1")
    looked = os.stat

    def look_then_swap(*args: object, **options: object) -> os.stat_result:
        found: os.stat_result = looked(*args, **options)  # type: ignore[arg-type]
        (tmp_path / "a").unlink()
        os.mkfifo(tmp_path / "a")
        return found

    monkeypatch.setattr(os, "stat", look_then_swap)
    with no_hang(), pytest.raises(NotAFile):
        read_version(tmp_path, "a")
    monkeypatch.undo()


def test_t7_a_link_on_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret").write_bytes(b"s")
    root = tmp_path / "root"
    (root / "d").mkdir(parents=True)
    (root / "d/link").symlink_to(tmp_path / "outside")
    with pytest.raises(UnsafePath, match="'d/link' is a symbolic link"):
        read_version(root, "d/link/secret")
    for way_out in ("../outside/secret", "/etc/passwd", "d/../../outside/secret"):
        with pytest.raises(UnsafePath):
            read_version(root, way_out)


def test_the_root_may_be_reached_by_a_link(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "root/a").write_bytes(b"1")
    (tmp_path / "alias").symlink_to("root")
    assert read_version(tmp_path / "alias", "a") == FileVersion(mode="100644", data=b"1")


@pytest.mark.parametrize("name", ["absent", "file"])
def test_a_root_that_is_none_is_an_error_of_ours(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(WorkTreeFailed, match=name):
        read_version(tmp_path / name, "a")


def test_a_file_that_may_not_be_read_is_an_error_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(b"1")
    opened = os.open

    def refuse(path: str | bytes, *args: int, **options: int) -> int:
        if path == b"a":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return opened(path, *args, **options)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(WorkTreeFailed, match="'a': Permission denied"):
        read_version(tmp_path, "a")


def test_t7_a_held_directory_is_the_same_one_or_an_error(tmp_path: Path) -> None:
    (tmp_path / "d/e").mkdir(parents=True)
    with Tree(tmp_path) as tree:
        fd = tree.directory((b"d", b"e"))
        tree.compare((b"d", b"e"))
        (tmp_path / "d").rename(tmp_path / "moved")
        assert tree.directory((b"d", b"e")) == fd, "what was opened stays at hand"
        with pytest.raises(Conflict, match="not a directory any more"):
            tree.compare((b"d", b"e"))
        (tmp_path / "d/e").mkdir(parents=True)
        with pytest.raises(Conflict, match="another directory"):
            tree.compare((b"d", b"e"))
        (tmp_path / "d/e").rmdir()
        (tmp_path / "d/e").symlink_to("../moved/e")
        with pytest.raises(UnsafePath, match="'d/e' is a symbolic link"):
            tree.compare((b"d", b"e"))


def test_t7_a_directory_that_had_to_be_closed_is_compared_when_it_is_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rooted, "MAX_OPEN", 2)
    for name in "abc":
        (tmp_path / name).mkdir()
    with Tree(tmp_path) as tree:
        before = open_files()
        for parts in ((b"a",), (b"b",), (b"c",), (b"a",), (b"b",)):
            tree.directory(parts)
        assert open_files() <= before + 2
        (tmp_path / "c").rename(tmp_path / "moved")
        (tmp_path / "c").mkdir()
        with pytest.raises(Conflict, match="another directory"):
            tree.directory((b"c",))
