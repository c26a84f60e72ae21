"""What commits hold and bring, read in this process, held against what git itself says."""

import os

from pogstore.model import Oid
from pogstore.store.gittree import Trees
from pogstore.store.store import Store
from tests.conftest import Repo


def listed(repo: Repo, commit: str) -> dict[bytes, str]:
    """The files of a commit by git."""
    lines = repo.git("ls-tree", "-rz", "--full-tree", commit).split("\0")
    rows = [line.partition("\t") for line in lines if line]
    return {os.fsencode(path): head.split()[2] for head, _, path in rows if head.split()[1] == "blob"}


def brought(repo: Repo, commit: str) -> dict[bytes, str]:
    """The files that a commit adds or changes against its first parent, by git."""
    parent = repo.git("rev-parse", "--verify", "--quiet", f"{commit}^1", check=False)
    before = listed(repo, parent) if parent else {}
    return {path: oid for path, oid in listed(repo, commit).items() if before.get(path) != oid}


def test_it_says_what_git_says(repo: Repo, store: Store) -> None:
    odd = os.fsdecode(b"dir/\xff odd")
    commits = [
        repo.commit({"dir/sub/a": "1\n", "dir/b": "2\n", "c": "3\n", odd: "4\n"}),
        repo.commit({"dir/sub/a": "5\n", "d/e/f": "6\n"}),
    ]
    repo.git("rm", "-rq", "dir/sub")
    (repo.path / "dir" / "sub").write_text("a file in the place of a folder\n")
    (repo.path / "link").symlink_to("c")
    commits.append(repo.commit())
    repo.git("checkout", "-q", "-b", "side", commits[0])
    commits.append(repo.commit({"c": "side\n"}))
    repo.git("merge", "-q", "--no-edit", commits[2])
    commits.append(repo.git("rev-parse", "HEAD"))
    repo.git("checkout", "-q", "--orphan", "root")
    commits.append(repo.commit({"c": "root\n"}))
    trees = Trees(store.objects)
    every = {path for commit in commits for path in listed(repo, commit)} | {b"dir", b"dir/sub/a/x", b"", b"no"}
    for commit in commits:
        held = listed(repo, commit)
        assert {path: oid for path in every if (oid := trees.blob_at(Oid(commit), path))} == held
        assert trees.brought(Oid(commit)) == brought(repo, commit)
        assert {path for path in held if trees.brings(Oid(commit), path)} == trees.brought(Oid(commit)).keys()


def test_what_is_not_here_holds_nothing(repo: Repo, store: Store) -> None:
    trees = Trees(store.objects)
    blob = repo.git("hash-object", "-w", "--stdin", input="x")
    head = repo.git("rev-parse", "HEAD")
    beside = f"..objects/{head[:2]}/{head[2:]}"  # a way to the commit that is no name of it
    for name in ("1" * 40, blob, "nonsense", "", "../../README", beside, head.upper(), "\0" * 40, "é" * 40):
        assert not trees.has(Oid(name))
        assert trees.blob_at(Oid(name), b"README") is None
        assert trees.brought(Oid(name)) == {}
        assert not trees.brings(Oid(name), b"README")


def test_a_submodule_is_no_file(repo: Repo, store: Store) -> None:
    head = repo.git("rev-parse", "HEAD")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{head},sub")
    repo.git("commit", "-qm", "a submodule")
    trees = Trees(store.objects)
    commit = Oid(repo.git("rev-parse", "HEAD"))
    assert trees.blob_at(commit, b"sub") is None
    assert trees.brought(commit) == {}
