"""The names of refs, and a listing that agrees with git's whatever lies where (SC-10, SC-13, SC-15)."""

import os
import random
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pogstore.errors import ObjectDamaged
from pogstore.model import Oid
from pogstore.store.refs import (
    class_of,
    content_ref,
    list_refs,
    read_ref,
    task_of,
    task_ref,
    tracking_prefix,
    tracking_ref,
)
from tests.builders_store import TASK
from tests.conftest import Repo


def listed_by_git(repo: Repo, prefix: str) -> dict[str, str]:
    lines = repo.git("for-each-ref", "--format=%(refname) %(objectname)", prefix).splitlines()
    return dict(line.split(" ") for line in lines)


@pytest.fixture
def commits(repo: Repo) -> list[str]:
    tree = repo.git("write-tree")
    return [repo.git("commit-tree", tree, "-m", str(number)) for number in range(4)]


def test_names_have_one_depth_and_are_lower_case() -> None:
    """PC-43, UC-55: no name is a directory of another, none differs from another in case alone."""
    names = [task_ref(TASK), content_ref(TASK, "content"), content_ref(TASK, "private")]
    for name in names:
        assert name.count("/") == 3
        assert name == name.lower()
        assert len(name) <= 120
        assert task_of(name) == TASK
    assert [class_of(name) for name in names] == ["tasks", "content", "private"]


@given(st.text(min_size=1, max_size=30))
def test_every_remote_has_a_place_of_its_own(remote: str) -> None:
    """T12: whatever a remote is called, its tracking refs lie below our prefix."""
    prefix = tracking_prefix(remote)
    assert prefix.startswith("refs/pog-remotes/")
    assert prefix.count("/") == 3
    assert all(part and not part.startswith(".") and not part.endswith(".lock") for part in prefix[:-1].split("/"))
    assert not set(prefix) & set(" ~^:?*[\\\x7f")
    assert not any(word in prefix for word in ("..", "@{"))


def test_git_accepts_tracking_names(repo: Repo) -> None:
    for remote in ("origin", "../../heads", "a.lock", "https://x/y?z", "-x", "ü", "@{", ".", "a..b", "a b"):
        repo.git("check-ref-format", tracking_ref(remote, task_ref(TASK)))
    prefixes = {tracking_prefix(remote) for remote in ("a/b", "a%2Fb", "A/b", "a%2fb")}
    assert len(prefixes) == 4


def test_the_listing_is_gits(repo: Repo, commits: list[str]) -> None:
    """Loose, packed, both, moved after packing, deleted after packing."""
    chance = random.Random(7)
    names = [f"refs/pog/tasks/{chance.randbytes(4).hex()}" for _ in range(30)] + ["refs/pog/content/x", "refs/heads/y"]
    names += ["refs/pogs/near", "refs/pog-remotes/o/tasks/z"]
    for _ in range(6):
        for name in chance.sample(names, 12):
            if chance.random() < 0.3:
                repo.git("update-ref", "-d", name)
            else:
                repo.git("update-ref", name, chance.choice(commits))
        if chance.random() < 0.6:
            repo.git("pack-refs", "--all")
        for prefix in ("refs/pog/", "refs/pog/tasks/", "refs/pog-remotes/", "refs/none/"):
            assert list_refs(repo.path / ".git", prefix) == listed_by_git(repo, prefix)
        there = listed_by_git(repo, "refs/")
        assert {name: read_ref(repo.path / ".git", name) for name in names} == {name: there.get(name) for name in names}
    assert list(list_refs(repo.path / ".git", "refs/pog/")) == sorted(list_refs(repo.path / ".git", "refs/pog/"))


def test_annotated_tags_and_comments_in_the_packed_file_are_no_refs(repo: Repo, commits: list[str]) -> None:
    repo.git("tag", "--annotate", "--message", "m", "v1")
    repo.git("update-ref", "refs/pog/tasks/a", commits[0])
    repo.git("pack-refs", "--all")
    assert "^" in (repo.path / ".git" / "packed-refs").read_text()
    assert list_refs(repo.path / ".git", "refs/pog/") == {"refs/pog/tasks/a": commits[0]}
    assert list_refs(repo.path / ".git", "refs/tags/") == listed_by_git(repo, "refs/tags/")


@pytest.mark.parametrize("text", [b"", b"\n", b"ref: refs/heads/main\n", b"z" * 40, b"0" * 39, b"A" * 40, b"\0" * 40])
def test_what_is_no_oid_is_passed_over_for_the_packed_one(repo: Repo, commits: list[str], text: bytes) -> None:
    """A file that a power cut left empty is no ref; `verify` names it, a listing goes on (UC-52)."""
    repo.git("update-ref", "refs/pog/tasks/a", commits[0])
    repo.git("pack-refs", "--all")
    tasks = repo.path / ".git" / "refs" / "pog" / "tasks"
    tasks.mkdir(parents=True, exist_ok=True)
    (tasks / "a").write_bytes(text)
    (tasks / "b").write_bytes(text)
    (tasks / "c.lock").write_text(commits[1])
    assert list_refs(repo.path / ".git", "refs/pog/") == {"refs/pog/tasks/a": commits[0]}


def test_what_is_no_file_is_passed_over_and_never_waited_for(repo: Repo, commits: list[str], tmp_path: Path) -> None:
    """PC-79: a FIFO would make a reader wait for ever, a symbolic link would lead outside."""
    tasks = repo.path / ".git" / "refs" / "pog" / "tasks"
    tasks.mkdir(parents=True)
    os.mkfifo(tasks / "fifo")
    (tmp_path / "elsewhere").write_text(commits[0])
    (tasks / "link").symlink_to(tmp_path / "elsewhere")
    (tasks / "folder").symlink_to(tmp_path)
    (tasks / "real").write_text(commits[1] + "\n")
    assert list_refs(repo.path / ".git", "refs/pog/") == {"refs/pog/tasks/real": commits[1]}
    assert read_ref(repo.path / ".git", "refs/pog/tasks/real") == commits[1]
    assert read_ref(repo.path / ".git", "refs/pog/tasks") is None
    assert read_ref(repo.path / ".git", "refs/pog/tasks/real/below") is None
    for name in ("fifo", "link"):
        with pytest.raises(ObjectDamaged):
            read_ref(repo.path / ".git", f"refs/pog/tasks/{name}")


def test_no_ref_is_missed_while_refs_are_packed(repo: Repo, commits: list[str], make_repo: Callable[..., Repo]) -> None:
    """A ref may stand in two places for a moment, never in none."""
    names = {f"refs/pog/tasks/{number:04}" for number in range(60)}
    done = threading.Event()

    def pack() -> None:
        for turn in range(25):
            text = "".join(f"update {name} {commits[turn % 4]}\n" for name in sorted(names))
            repo.git("update-ref", "--stdin", input=text)
            repo.git("pack-refs", "--all")
        done.set()

    repo.git("config", "core.fsync", "none")
    repo.git("update-ref", "--stdin", input="".join(f"create {name} {commits[0]}\n" for name in names))
    packing = threading.Thread(target=pack)
    packing.start()
    listings = 0
    while not done.is_set():
        found = list_refs(repo.path / ".git", "refs/pog/")
        assert set(found) == names
        assert set(found.values()) <= set(map(Oid, commits))
        listings += 1
    packing.join()
    assert listings > 20
