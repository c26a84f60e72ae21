"""What one commit adds to another, held against git's own counts; with names and contents that look like a patch."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pogstore.errors import GitFailed
from pogstore.model import Oid
from pogstore.store.gitcli import Git
from pogstore.store.gitdiff import FileDiff, differences, find_merge_base
from tests.conftest import Repo

ZERO = Oid("0" * 40)


def diff(repo: Repo, base: str, *pathspecs: str) -> dict[bytes, FileDiff]:
    git = Git(repo.path / ".git", repo.path)
    return {each.path: each for each in differences(git, Oid(base), Oid(repo.git("rev-parse", "HEAD")), pathspecs)}


def numbers(file: FileDiff) -> list[int]:
    return [number for lines in file.added for number in lines]


def test_every_kind_of_file(repo: Repo) -> None:
    (repo.path / "link").symlink_to("README")
    (repo.path / "was-link").symlink_to("README")
    base = repo.commit({"gone": "a\nb\n", "stays": "x\n", "was-file": "1\n2\n3\n", "mode": "m\n", "pic": b"\0a"})
    (repo.path / "gone").unlink()
    for name, target in (("link", "stays"), ("was-file", "stays")):
        (repo.path / name).unlink()
        (repo.path / name).symlink_to(target)
    (repo.path / "was-link").unlink()
    (repo.path / "mode").chmod(0o755)
    repo.git("config", "diff.noprefix", "true")
    repo.git("config", "color.ui", "always")
    repo.commit({"new": "1\n2", "pic": b"\0b", "was-link": "1\n2\n", "stays": "x\ny\n", "zz": ""})
    found = diff(repo, base)
    assert {name: (each.what, numbers(each), each.removed) for name, each in found.items()} == {
        b"gone": ("deleted", [], 2),
        b"link": ("link", [], 0),
        b"mode": ("text", [], 0),
        b"new": ("text", [1, 2], 0),
        b"pic": ("binary", [], 0),
        b"stays": ("text", [2], 0),
        b"was-file": ("link", [], 3),
        b"was-link": ("text", [1, 2], 0),
        b"zz": ("text", [], 0),
    }


def test_what_both_sides_hold_is_named(repo: Repo) -> None:
    base = repo.commit({"gone": "a\n", "stays": "x\n"})
    (repo.path / "gone").unlink()
    repo.commit({"new": "1\n", "stays": "y\n"})
    known = {name: (each.before, each.after) for name, each in diff(repo, base).items()}
    names = {name: tuple(repo.git("rev-parse", f"{at}:{name}") for at in (base, "HEAD")) for name in ("stays",)}
    assert known[b"stays"] == names["stays"]
    assert known[b"gone"] == (repo.git("rev-parse", f"{base}:gone"), None)
    assert known[b"new"] == (None, repo.git("rev-parse", "HEAD:new"))


def test_a_rename_is_no_change(repo: Repo) -> None:
    """Case PC-25: a file of a thousand lines is moved."""
    base = repo.commit({"old.py": "".join(f"line {n}\n" for n in range(1000))})
    (repo.path / "sub").mkdir()
    repo.git("mv", "old.py", "sub/new.py")
    repo.commit()
    for pathspecs in ((), ("sub",), ("sub/*.py",), (":(exclude)old.py",)):
        found = diff(repo, base, *pathspecs)
        assert {name: each[:5] for name, each in found.items()} == {
            b"sub/new.py": (b"sub/new.py", b"old.py", "text", (), 0)
        }
    assert diff(repo, base, "old.py") == {}


def test_what_looks_like_a_patch_is_text(repo: Repo) -> None:
    names = ["a b", 'quo"te', "new\nline", "tab\t", "@@ -1 +1 @@", "ünïcode", "-- x"]
    base = repo.commit(dict.fromkeys(names, "one\n"))
    hostile = "diff --git a/x b/x\n@@ -1,9 +1,9 @@\nBinary files a/x and b/x differ\n+++ b/x\n\\ No newline\n\0:100644"
    repo.commit({name: "one\n" + hostile.replace("\0", "") for name in names})
    found = diff(repo, base)
    assert {name: numbers(each) for name, each in found.items()} == {
        name.encode(): [2, 3, 4, 5, 6, 7] for name in names
    }


def test_a_submodule_is_said(repo: Repo, tmp_path: Path) -> None:
    base = repo.git("rev-parse", "HEAD")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{base},sub")
    repo.git("commit", "-qm", "sub")
    assert {name: each[:5] for name, each in diff(repo, base).items()} == {b"sub": (b"sub", None, "submodule", (), 0)}


def test_merge_bases(repo: Repo) -> None:
    git = Git(repo.path / ".git", repo.path)
    base = Oid(repo.git("rev-parse", "HEAD"))
    one = Oid(repo.commit({"a": "1\n"}))
    repo.git("switch", "-q", "-c", "side", base)
    other = Oid(repo.commit({"b": "1\n"}))
    assert find_merge_base(git, one, other) == base
    repo.git("switch", "-q", "--orphan", "alone")
    alone = Oid(repo.commit({"c": "1\n2\n"}))
    assert find_merge_base(git, one, alone) is None
    assert {each.path: numbers(each) for each in differences(git, None, alone)} == {b"c": [1, 2]}
    with pytest.raises(GitFailed):
        find_merge_base(git, one, ZERO)
    with pytest.raises(GitFailed):
        differences(git, one, ZERO)


FILES = st.dictionaries(
    st.sampled_from(["a", "b", "c d", "e\nf"]),
    st.lists(st.sampled_from([b"", b"x", b"-- a", b"++ b", b"@@ -1 +1 @@", b"diff --git a/a b/a", b"\\ x", b"y\r"]),
             max_size=8).map(b"\n".join),
)  # fmt: skip


@settings(max_examples=25)
@given(FILES, FILES)
def test_counts_are_those_of_git(tmp_path_factory: pytest.TempPathFactory, old: dict[str, bytes],
                                 new: dict[str, bytes]) -> None:  # fmt: skip
    repo = Repo(tmp_path_factory.mktemp("diff"))
    repo.git("init", "-q")
    base = repo.commit(old)
    for name in old:
        (repo.path / name).unlink()
    repo.commit(new)
    command = ["git", "diff-tree", "-r", "-z", "--numstat", "--no-renames", base, "HEAD"]
    records = subprocess.run(command, cwd=repo.path, capture_output=True, check=True).stdout.split(b"\0")[:-1]
    said = {name: (int(added), int(removed)) for added, removed, name in (each.split(b"\t", 2) for each in records)}
    found = diff(repo, base)
    if all(each.former is None for each in found.values()):
        assert {name: (len(numbers(each)), each.removed) for name, each in found.items()} == said
    for path, each in found.items():
        lines = new.get(path.decode(), b"").split(b"\n")
        assert all(0 < number <= len(lines) for number in numbers(each))
