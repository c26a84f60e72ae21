"""Where a repository's parts lie, as git itself sees it; what cannot be opened is refused before any write."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from pogstore.errors import NotARepository, UnsupportedRepository
from pogstore.store import gitcli
from pogstore.store.layout import discover
from pogstore.store.store import open_store
from tests.builders_store import append, open_to_all, opened, topics
from tests.conftest import Repo


def everything(path: Path) -> set[str]:
    return {str(found.relative_to(path)) for found in path.rglob("*")}


def test_an_ordinary_repository(repo: Repo) -> None:
    place = discover(repo.path)
    assert place.git_dir == place.common_dir == repo.path / ".git"
    assert place.work_tree == repo.path
    assert place.object_format == "sha1"
    assert place.objects == repo.path / ".git" / "objects"
    assert place.own == place.own_here == repo.path / ".git" / "pog"


def test_a_sub_directory(repo: Repo) -> None:
    (repo.path / "a" / "b").mkdir(parents=True)
    assert discover(repo.path / "a" / "b") == discover(repo.path)


def test_a_bare_repository(make_repo: Callable[..., Repo]) -> None:
    bare = make_repo("server.git", "--bare", commit=False)
    place = discover(bare.path)
    assert place.git_dir == place.common_dir == bare.path
    assert place.work_tree is None
    store = opened(bare)
    append(store, "bare")
    assert topics(store) == ["bare"]


def test_a_linked_work_tree_shares_what_all_share(repo: Repo, tmp_path: Path) -> None:
    """PC-69, SC-54: one store for all work trees, and a place of its own for each."""
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"))
    place = discover(tmp_path / "linked")
    assert place.common_dir == repo.path / ".git"
    assert place.git_dir == repo.path / ".git" / "worktrees" / "linked"
    assert place.work_tree == tmp_path / "linked"
    assert place.own == discover(repo.path).own
    assert place.own_here != place.own
    append(opened(repo), "main")
    store = open_store(tmp_path / "linked")
    append(store, "linked")
    assert topics(store) == topics(open_store(repo.path)) == ["main", "linked"]


def test_a_bare_repository_with_work_trees(make_repo: Callable[..., Repo], repo: Repo, tmp_path: Path) -> None:
    """PC-70, SC-53."""
    repo.git("clone", "-q", "--bare", str(repo.path), str(tmp_path / "hub.git"))
    hub = Repo(tmp_path / "hub.git")
    hub.git("worktree", "add", "-q", str(tmp_path / "tree"), "main")
    place = discover(tmp_path / "tree")
    assert place.common_dir == hub.path
    assert place.work_tree == tmp_path / "tree"
    append(opened(hub), "hub")
    assert topics(open_store(tmp_path / "tree")) == ["hub"]


def test_git_dir_is_honoured_where_the_caller_says_so(repo: Repo, make_repo: Callable[..., Repo]) -> None:
    other = make_repo("other")
    named = gitcli.environment() | {"GIT_DIR": str(other.path / ".git"), "GIT_WORK_TREE": str(other.path)}
    for place in (repo.path, repo.path.parent):
        assert discover(place, named).common_dir == other.path / ".git"
        assert discover(place, named).work_tree == other.path


def test_what_a_hook_exports_is_not_inherited(
    repo: Repo, make_repo: Callable[..., Repo], monkeypatch: pytest.MonkeyPatch
) -> None:
    """PC-81: called from a hook of one repository, in another."""
    other = make_repo("other")
    monkeypatch.setenv("GIT_DIR", str(other.path / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.path / ".git" / "index"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.path))
    assert discover(repo.path).common_dir == repo.path / ".git"


def test_a_repository_without_any_commit(make_repo: Callable[..., Repo]) -> None:
    """PC-102."""
    empty = make_repo("empty", commit=False)
    store = opened(empty)
    append(store, "first")
    assert topics(store) == ["first"]


def test_a_place_without_a_repository(tmp_path: Path) -> None:
    with pytest.raises(NotARepository) as caught:
        discover(tmp_path)
    assert caught.value.message == f"not a git repository: '{tmp_path}'"


@pytest.mark.parametrize("inside", [".git", ".git/objects"])
def test_inside_a_git_directory_there_is_no_work_tree(repo: Repo, inside: str) -> None:
    with pytest.raises(NotARepository, match="inside a git directory"):
        discover(repo.path / inside)


def test_an_unsafe_owner_is_named_as_git_does(repo: Repo) -> None:
    """UC-50: not "not found", but git's own words with the way out."""
    if os.geteuid() != 0:
        pytest.skip("only root can give a repository another owner")
    with open_to_all() as place:
        subprocess.run(["git", "init", "-q", str(place / "repo")], check=True)
        os.chown(place / "repo", 12345, 12345)
        os.chown(place / "repo" / ".git", 12345, 12345)
        with pytest.raises(NotARepository) as caught:
            discover(place / "repo")
        assert "dubious ownership" in caught.value.message
        assert "safe.directory" in caught.value.message


def test_sha256_is_refused_before_any_write(make_repo: Callable[..., Repo]) -> None:
    repo = make_repo("new", "--object-format=sha256")
    before = everything(repo.path)
    with pytest.raises(UnsupportedRepository, match="sha256"):
        open_store(repo.path)
    assert everything(repo.path) == before


def test_reftable_is_refused_before_any_write(repo: Repo) -> None:
    """PC-45, SC-51, UC-49: the files of such a repository, whether git here knows them or not."""
    (repo.path / ".git" / "reftable").mkdir()
    before = everything(repo.path)
    with pytest.raises(UnsupportedRepository, match="reftable"):
        open_store(repo.path)
    assert everything(repo.path) == before


def test_an_extension_that_git_does_not_know_is_refused_in_gits_words(repo: Repo) -> None:
    repo.git("config", "core.repositoryFormatVersion", "1")
    repo.git("config", "extensions.moonPhase", "full")
    before = everything(repo.path)
    with pytest.raises(NotARepository, match=r"(?i)moonphase"):
        open_store(repo.path)
    assert everything(repo.path) == before


@pytest.mark.parametrize("where", ["common", "work tree"])
def test_a_symbolic_link_in_the_place_of_our_directory_is_refused(repo: Repo, tmp_path: Path, where: str) -> None:
    """PC-79."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"))
    git_dir = repo.path / ".git" if where == "common" else repo.path / ".git" / "worktrees" / "linked"
    (git_dir / "pog").symlink_to(elsewhere)
    with pytest.raises(UnsupportedRepository, match="symbolic link"):
        open_store(tmp_path / "linked")
    assert list(elsewhere.iterdir()) == []


def test_a_repository_reached_by_a_symbolic_link_is_one(repo: Repo, tmp_path: Path) -> None:
    """PC-48: no path is a key, and two ways to one place lead to one store."""
    (tmp_path / "way").symlink_to(repo.path)
    assert discover(tmp_path / "way") == discover(repo.path)
    append(opened(repo), "here")
    repo.path.rename(tmp_path / "moved")
    assert topics(open_store(tmp_path / "moved")) == ["here"]


@pytest.mark.parametrize("name", ["with space", "naïve 😀", "-dash", "trailing "])
def test_odd_names(make_repo: Callable[..., Repo], name: str) -> None:
    repo = make_repo(name)
    assert discover(repo.path).work_tree == repo.path


def test_a_line_feed_in_the_name_is_refused_and_not_misread(make_repo: Callable[..., Repo], tmp_path: Path) -> None:
    repo = make_repo("a\nb")
    linked = tmp_path / "linked"
    repo.git("worktree", "add", "-q", str(linked))
    with pytest.raises(UnsupportedRepository, match="line feed"):
        discover(linked)
