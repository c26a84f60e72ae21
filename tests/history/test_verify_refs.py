"""What `history/verify_refs.py` promises: no ref of ours is passed over in silence (SC-23, UC-52)."""

import os
from pathlib import Path

import pytest

from pogstore.history.verify import verify
from pogstore.store.refs import CONTENT, PRIVATE, TASKS
from pogstore.store.store import Store
from tests.conftest import Repo
from tests.history.stores import (
    OTHER,
    TASK,
    append,
    enabled,
    holding,
    only,
    tip,
    write,
)


@pytest.fixture
def store(repo: Repo) -> Store:
    """The store of `repo`, in which events may be written."""
    return enabled(repo)


BAD_REFS: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "its file is empty"),
    "zeros": (bytes(41), "does not hold an object's name"),
    "garbage": (b"\xff\xfe garbage", "does not hold an object's name"),
    "cut": (b"0123456789", "does not hold an object's name"),
    "symbolic": (b"ref: refs/heads/main\n", "is a symbolic ref"),
}


@pytest.mark.parametrize("place", [TASKS, CONTENT, PRIVATE])
@pytest.mark.parametrize(("data", "reason"), BAD_REFS.values(), ids=BAD_REFS)
def test_a_damaged_ref_file_is_named(repo: Repo, store: Store, place: str, data: bytes, reason: str) -> None:
    """SC-23, UC-52: a power cut leaves files of length zero."""
    append(store, "stepped")
    path = repo.path / ".git" / (place + TASK)
    with holding(path, data):
        fault = next(fault for fault in verify(store).faults if fault.object == place + TASK)
        assert reason in fault.reason
        assert (fault.ref, fault.task) == (place + TASK, TASK)
        assert verify(store, [TASK]).faults
    assert verify(store).ok


def test_a_packed_ref_stands_in_for_a_damaged_file(repo: Repo, store: Store) -> None:
    append(store, "moved")
    repo.git("pack-refs", "--all")
    assert verify(store).ok
    path = repo.path / ".git" / (TASKS + TASK)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    report = verify(store)
    assert only(report).object == TASKS + TASK
    assert report.checked.events == 1


@pytest.mark.parametrize("name", [TASK.upper(), "note", f"{TASK}-1", "deep/er"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_ref_that_no_task_can_have_is_named(repo: Repo, store: Store, name: str, packed: bool) -> None:
    append(store, "moved")
    repo.git("update-ref", TASKS + name, tip(store))
    if packed:
        repo.git("pack-refs", "--all")
    fault = only(verify(store))
    assert (fault.object, fault.reason) == (TASKS + name, "is not named by a task's id in lower case")


def test_a_damaged_line_of_packed_refs_is_named(repo: Repo, store: Store) -> None:
    append(store, "moved")
    repo.git("tag", "-m", "a tag", "v1")
    repo.git("pack-refs", "--all")
    path = repo.path / ".git" / "packed-refs"
    with holding(path, path.read_bytes().replace(b" " + TASKS.encode(), b"-" + TASKS.encode())):
        fault = only(verify(store))
    assert fault.object == "packed-refs"
    assert TASK in fault.reason
    assert verify(store).ok


def test_locks_and_other_places_are_nobodys_concern(repo: Repo, store: Store) -> None:
    append(store, "moved")
    (repo.path / ".git" / (TASKS + TASK + ".lock")).touch()
    repo.git("update-ref", "refs/pog/shelf/tasks", tip_of(repo))
    write(repo, "blob", b"referenced by nobody")
    assert verify(store).ok


def tip_of(repo: Repo) -> str:
    return repo.git("rev-parse", "HEAD")


def test_what_is_no_file_is_named_and_never_waited_for(repo: Repo, store: Store, tmp_path: Path) -> None:
    """PC-79: a FIFO would make a reader wait for ever, a symbolic link would lead outside."""
    append(store, "moved")
    names = [TASKS + OTHER[:-1] + digit for digit in "012"]
    fifo, link, folder = (repo.path / ".git" / name for name in names)
    os.mkfifo(fifo)
    (tmp_path / "elsewhere").write_text(tip(store) + "\n")
    link.symlink_to(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path)
    report = verify(store)
    assert [(fault.object, fault.reason) for fault in report.faults] == [(name, "is not a file") for name in names]


def test_a_file_in_the_place_of_our_directory_is_named(repo: Repo, store: Store) -> None:
    (repo.path / ".git" / "refs" / "pog").mkdir()
    (repo.path / ".git" / TASKS.rstrip("/")).write_text("")
    assert only(verify(store)).reason == "is a file in the place of a directory"
