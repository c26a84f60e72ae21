"""Local tasks: a mark in the repository's own configuration."""

from pathlib import Path

from pogstore.model import TaskId
from pogstore.store.store import open_store
from pogstore.work import locality
from tests.conftest import Repo

ONE, OTHER = (TaskId(f"01946f5a-0000-7000-8000-00000000000{digit}") for digit in "12")


def test_a_mark_is_set_and_taken_away(repo: Repo) -> None:
    store = open_store(repo.path)
    assert locality.local_tasks(store) == frozenset()
    assert locality.mark_local(store, ONE)
    assert not locality.mark_local(store, ONE)
    assert locality.mark_local(store, OTHER)
    assert locality.local_tasks(store) == {ONE, OTHER}
    assert repo.git("config", "--local", "--get-all", "pog.local").split() == [ONE, OTHER]
    assert locality.unmark_local(store, ONE)
    assert not locality.unmark_local(store, ONE)
    assert locality.local_tasks(store) == {OTHER}
    store.close()


def test_the_mark_counts_in_every_work_tree_and_in_capitals(repo: Repo, tmp_path: Path) -> None:
    repo.git("worktree", "add", "--quiet", str(tmp_path / "linked"))
    repo.git("config", "--add", "pog.local", ONE.upper())
    store = open_store(tmp_path / "linked")
    assert locality.local_tasks(store) == {ONE}
    store.close()
