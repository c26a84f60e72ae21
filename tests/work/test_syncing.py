"""Files that are synced together: each of them, and none stays open."""

import errno
import os
from pathlib import Path

import pytest

from pogstore.errors import WorkTreeFailed
from pogstore.work.syncing import TOGETHER, Syncing
from tests.work.test_rooted import open_files, open_now


def opened(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT)


def test_all_files_are_synced_and_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = open_files()
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(os.fstat(fd).st_ino))
    syncing = Syncing()
    syncing.flush()
    for n in range(2 * TOGETHER + 3):
        syncing.add(opened(tmp_path / str(n)), str(n))
        assert open_now() <= before + TOGETHER
    syncing.flush()
    assert sorted(synced) == sorted(path.stat().st_ino for path in tmp_path.iterdir())
    assert open_files() == before


@pytest.mark.parametrize("nth", [0, 5, TOGETHER - 1])
def test_a_file_that_cannot_be_synced_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nth: int) -> None:
    before = open_files()
    path = tmp_path / str(nth)

    def full(fd: int) -> None:
        if os.fstat(fd).st_ino == path.stat().st_ino:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    syncing = Syncing()
    for n in range(TOGETHER - 1):
        syncing.add(opened(tmp_path / str(n)), str(n))
    last = opened(tmp_path / str(TOGETHER - 1))
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(WorkTreeFailed, match=f"'{nth}': No space left"):
        syncing.add(last, str(TOGETHER - 1))
    assert open_files() == before


def test_what_is_dropped_is_closed(tmp_path: Path) -> None:
    before = open_files()
    syncing = Syncing()
    syncing.add(opened(tmp_path / "a"), "a")
    syncing.drop()
    assert open_files() == before
