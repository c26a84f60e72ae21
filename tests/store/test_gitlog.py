"""The commits of the user that are new, and the blobs they bring."""

import pytest

from pogstore.model import Oid
from pogstore.store import rows
from pogstore.store.gitcli import Git
from pogstore.store.gitlog import CommitBlobs, new_commits
from pogstore.store.store import Store
from tests.builders_store import OTHER, TASK, edit
from tests.conftest import Repo

MISSING = "1" * 40


@pytest.fixture
def git(repo: Repo) -> Git:
    return Git(repo.path / ".git", repo.path)


def blob(repo: Repo, text: str) -> Oid:
    """The git blob of a text."""
    return Oid(repo.git("hash-object", "--stdin", input=text))


def contents(found: list[CommitBlobs]) -> list[set[Oid]]:
    return [set(commit.blobs) for commit in found]


def test_new_commits_come_oldest_first_with_what_they_added_or_changed(repo: Repo, git: Git) -> None:
    first = repo.git("rev-parse", "HEAD")
    second = repo.commit({"a": "one", "b/c": "two", "same": "two"})
    repo.git("rm", "--quiet", "a")
    third = repo.commit({"b/c": "three"})
    repo.git("mv", "b/c", "moved")
    fourth = repo.commit({})
    found = new_commits(git, [fourth], [first], 10)
    assert [commit.commit for commit in found] == [second, third, fourth]
    assert [commit.parents for commit in found] == [(first,), (second,), (third,)]
    assert [commit.tree for commit in found] == [repo.git("rev-parse", f"{commit.commit}^{{tree}}") for commit in found]
    one, two, three = (blob(repo, text) for text in ("one", "two", "three"))
    assert contents(found) == [{one, two}, {three}, {three}]
    assert [len(commit.blobs) for commit in found] == [2, 1, 1]


def test_a_first_commit_brings_all_its_files_whatever_is_configured(repo: Repo, git: Git) -> None:
    repo.git("config", "log.showRoot", "false")
    repo.git("config", "diff.renames", "copies")
    (found,) = new_commits(git, ["HEAD"], [], 10)
    assert found.parents == ()
    assert found.blobs == (blob(repo, "a project\n"),)


def test_a_merge_is_compared_with_its_first_parent_and_both_sides_are_walked(repo: Repo, git: Git) -> None:
    base = repo.git("rev-parse", "HEAD")
    repo.git("checkout", "--quiet", "-b", "side")
    side = repo.commit({"side": "of the side"})
    repo.git("checkout", "--quiet", "main")
    main = repo.commit({"main": "of main"})
    repo.git("merge", "--quiet", "--no-ff", "--no-edit", "side")
    found = {commit.commit: commit for commit in new_commits(git, ["HEAD"], [base], 10)}
    merge = Oid(repo.git("rev-parse", "HEAD"))
    assert found.keys() == {merge, side, main}
    assert found[merge].parents == (main, side)
    assert found[merge].blobs == found[Oid(side)].blobs == (blob(repo, "of the side"),)


def test_the_newest_are_taken_where_there_are_more_than_asked_for(repo: Repo, git: Git) -> None:
    made = [repo.commit({"a": str(number)}) for number in range(4)]
    assert [commit.commit for commit in new_commits(git, ["HEAD"], [], 2)] == made[2:]
    assert new_commits(git, ["HEAD"], [], 0) == []
    assert new_commits(git, [], [], 2) == []


def test_a_known_commit_that_is_gone_hides_nothing(repo: Repo, git: Git) -> None:
    tip = repo.git("rev-parse", "HEAD")
    assert [commit.commit for commit in new_commits(git, [tip, MISSING], [MISSING], 10)] == [tip]
    assert new_commits(git, [tip], [tip, MISSING], 10) == []
    assert new_commits(git, [MISSING], [], 10) == []


def test_a_commit_without_files_and_a_submodule_bring_no_blobs(repo: Repo, git: Git) -> None:
    tip = repo.git("rev-parse", "HEAD")
    repo.commit({})
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{tip},module")
    repo.git("commit", "--quiet", "--message", "a submodule")
    assert contents(new_commits(git, ["HEAD"], [tip], 10)) == [set(), set()]


def test_a_path_may_look_like_what_git_prints(repo: Repo, git: Git) -> None:
    tip = repo.git("rev-parse", "HEAD")
    repo.commit({":100644 100644 a b M": "odd", "line\nfeed": "odder", "z" * 40: "long"})
    assert contents(new_commits(git, ["HEAD"], [tip], 10)) == [{blob(repo, text) for text in ("odd", "odder", "long")}]


def test_the_tasks_that_hold_what_a_commit_brings_are_found(store: Store, repo: Repo) -> None:
    edit(store, "a", b"shared")
    edit(store, "b", b"shared", OTHER)
    edit(store, "c", b"of one", OTHER)
    tip = repo.git("rev-parse", "HEAD")
    repo.commit({"x": "shared", "y": "of one", "z": "of none"})
    (found,) = new_commits(store.git, ["HEAD"], [tip], 10)
    store.refresh()
    held = rows.tasks_holding(store.index.connection, found.blobs)
    assert held == {blob(repo, "shared"): {TASK, OTHER}, blob(repo, "of one"): {OTHER}}


def test_private_contents_are_not_among_those_that_tasks_hold(store: Store) -> None:
    store.transact(lambda batch: [batch.add_text(TASK, "a prompt", class_) for class_ in ("private", "content")])
    store.refresh()
    held = {class_: oid for _, class_, oid in rows.contents_of(store.index.connection, TASK)}
    assert rows.tasks_holding(store.index.connection, held.values()) == {held["content"]: {TASK}}


def test_blobs_are_looked_up_in_an_index(store: Store) -> None:
    store.refresh()
    query = "EXPLAIN QUERY PLAN SELECT task FROM contents WHERE class = 'content' AND oid = 'x'"
    plan = " ".join(row[3] for row in store.index.connection.execute(query))
    assert "contents_oid" in plan
