"""Commands that were begun before somebody needed them: whoever comes takes what they print, once."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pogstore.store import begun, gitargs, gitcli
from pogstore.store.gitcli import Git
from tests.conftest import Repo


@pytest.fixture
def git(repo: Repo) -> Iterator[Git]:
    yield Git(repo.path / ".git", repo.path)
    begun.end_all()


def begin(git: Git, *arguments: str, env: dict[str, str] | None = None) -> begun.Begun:
    return begun.begin(gitcli.command(git.git_dir, git.work_tree, arguments), env)


def test_what_was_begun_is_taken_once(repo: Repo, git: Git) -> None:
    begin(git, "rev-parse", "HEAD")
    first = repo.git("rev-parse", "HEAD")
    assert git.run("rev-parse", "--is-bare-repository").stdout == b"false\n", "another question"
    repo.commit({"a": "a\n"})
    assert git.text("rev-parse", "HEAD") == first
    assert git.text("rev-parse", "HEAD") == repo.git("rev-parse", "HEAD") != first


def test_the_environment_is_a_part_of_the_question(repo: Repo, git: Git) -> None:
    repo.commit({"*": "star\n", "b": "b\n"})
    words = ("ls-files", "--", "*")
    begin(git, *words, env=gitargs.LITERAL)
    assert git.text(*words) == "*\nREADME\nb"
    assert git.text(*words) == "*\nREADME\nb"
    assert git.run(*words, env=gitargs.LITERAL).stdout == b"*\n"


def test_one_that_fails_is_run_again_to_hear_why(git: Git) -> None:
    begin(git, "rev-parse", "--verify", "nowhere")
    done = git.run("rev-parse", "--verify", "nowhere", check=False)
    assert done.returncode
    assert b"fatal" in done.stderr


def test_far_more_than_the_system_holds_is_read_whole(repo: Repo, git: Git) -> None:
    content = os.urandom(2_000_000).hex()
    repo.commit({"a": content})
    begin(git, "cat-file", "blob", "HEAD:a")
    assert git.run("cat-file", "blob", "HEAD:a").stdout == content.encode()


def test_what_nobody_takes_is_ended(tmp_path: Path, git: Git) -> None:
    waiting = begun.begin(["/bin/sh", "-c", f"touch {tmp_path}/begun; sleep 60; touch {tmp_path}/ended"])
    child = waiting._running
    assert child is not None
    begun.end_all()
    with pytest.raises(ProcessLookupError):
        os.kill(child[0], 0)
    with pytest.raises(OSError, match="descriptor"):
        os.fstat(child[1])
    assert waiting.output() is None
    assert begun.take(["/bin/sh"]) is None
