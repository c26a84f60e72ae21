"""A repository that holds nothing of ours gets no index of ours; one that does, or is enabled, keeps it."""

import gc
from pathlib import Path

import pytest

from pogstore.store.store import open_store
from tests.builders_store import append, opened
from tests.conftest import Repo


def own(repo: Repo) -> Path:
    return repo.path / ".git" / "pog"


def test_to_ask_leaves_no_trace(repo: Repo) -> None:
    store = open_store(repo.path)
    assert store.tasks() == []
    assert not own(repo).exists()


@pytest.mark.parametrize("packed", [False, True], ids=["loose", "packed"])
def test_where_there_are_tasks_the_index_is_kept(repo: Repo, packed: bool) -> None:
    append(opened(repo))
    for path in own(repo).iterdir():
        path.unlink()
    own(repo).rmdir()
    if packed:
        repo.git("pack-refs", "--all", "--prune")
        assert not (repo.path / ".git" / "refs" / "pog" / "tasks").is_dir() or not any(
            (repo.path / ".git" / "refs" / "pog").rglob("*-*")
        )
    assert len(open_store(repo.path).tasks()) == 1
    assert (own(repo) / "index.sqlite3").exists()


def open_files() -> int:
    return len(list(Path("/dev/fd").iterdir()))


def test_a_store_that_nobody_closes_leaves_nothing_open(repo: Repo) -> None:
    """A program that opens stores for days and forgets them must not run out of descriptors."""
    append(opened(repo))
    gc.collect()
    before = open_files()
    for _ in range(20):
        assert len(open_store(repo.path).tasks()) == 1
    gc.collect()
    assert open_files() <= before
