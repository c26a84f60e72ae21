"""`git pog init --pre-push`: asked for, offered, taken back, and what is printed where it is not ours to write."""

import os
from pathlib import Path

import pytest

from pogstore.cli import hook_pre_push
from tests.cli.conftest import Here
from tests.conftest import Pog, Repo, run

PRIVATE = "refs/pog/private/0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"


def hook_of(repo: Repo) -> Path:
    return repo.path / ".git" / "hooks" / "pre-push"


def test_init_alone_offers_it_where_there_is_somewhere_to_push_to(anywhere: Here, repo: Repo) -> None:
    assert "pre-push" not in anywhere("init", cwd=repo.path).stderr
    repo.git("remote", "add", "origin", "../elsewhere")
    assert anywhere("init", cwd=repo.path).stderr.count("git pog init --pre-push") == 1
    assert not hook_of(repo).exists()


def test_it_is_written_on_request_and_taken_back(here: Here, repo: Repo) -> None:
    assert here("init", "--pre-push", "-n").stdout == "would write .git/hooks/pre-push\n"
    assert not hook_of(repo).exists()
    answer = here("init", "--pre-push", "--json").json
    assert (answer["steps"], answer["changed"]) == (["write .git/hooks/pre-push"], True)
    assert here("init", "--pre-push", "--json").json["changed"] is False
    hook_of(repo).unlink()
    assert here("init", "--pre-push").stdout.splitlines() == [
        "pogstore was enabled here before", "'git push' takes nothing private along",
    ]  # fmt: skip
    assert here("init", "--pre-push").stdout.splitlines()[-1] == "'git push' takes nothing private along"
    assert "would remove .git/hooks/pre-push" in here("init", "--remove", "-n").stdout
    here("init", "--remove")
    assert not hook_of(repo).exists()
    assert "cannot be combined" in here("init", "--remove", "--pre-push", status=129).stderr


def test_beside_another_hook_the_lines_stand_alone_on_standard_output(here: Here, repo: Repo) -> None:
    """UC-4: so they can be put where they belong by a redirection."""
    hook_of(repo).write_text("#!/bin/sh\nexit 0\n")
    before = hook_of(repo).read_bytes()
    answer = here("init", "--pre-push")
    assert hook_of(repo).read_bytes() == before
    assert "put this at the top of .git/hooks/pre-push, below its first line:" in answer.stderr
    hook_of(repo).write_text("#!/bin/sh\n" + answer.stdout)
    hook_of(repo).chmod(0o755)
    assert here("init", "--pre-push").stdout.splitlines()[-1] == "'git push' takes nothing private along"
    assert "snippets" not in here("init", "--pre-push", "--json").json
    assert "still calls" in here("init", "--remove").stderr


def test_lefthook_gets_two_files(here: Here, repo: Repo) -> None:
    (repo.path / "lefthook.yml").write_text("pre-commit: {}\n")
    answer = here("init", "--pre-push", "--json").json
    assert [each["where"] for each in answer["snippets"]] == [
        "into .lefthook/pre-push/pogstore.sh", "into lefthook.yml",
    ]  # fmt: skip
    assert answer["steps"] == []
    assert "pre-push" not in here("init").stderr


@pytest.mark.parametrize("words", [(), ("origin",), ("origin", "../elsewhere")])
def test_the_check_by_hand(here: Here, repo: Repo, words: tuple[str, ...]) -> None:
    oid = repo.git("rev-parse", "HEAD")

    def ask(*refs: str, status: int) -> str:
        lines = "".join(f"{ref} {oid} {ref} {'0' * 40}\n" for ref in refs)
        done = run(["git", "pog", "hook", "pre-push", *words], repo.path, lines.removesuffix("\n"))
        assert done.returncode == status
        return done.stderr

    assert ask("refs/heads/main", status=0) == ""
    assert ask(status=0) == ""
    said = ask(*(f"{PRIVATE[:-1]}{at}" for at in range(9)), status=4).splitlines()
    assert said[0] == "error: 9 refs of pogstore must not leave by 'git push'; nothing was pushed"
    assert said[6] == "  and 4 more"


def test_git_that_never_ends_is_not_waited_for(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """PC-49: one bounded time for all."""
    reads, writes = os.pipe()
    os.write(writes, b"one\ntwo\nhalf")
    monkeypatch.setattr(hook_pre_push, "PATIENCE", 0.05)
    assert list(hook_pre_push._lines(reads)) == [b"one", b"two", b"half"]
    os.close(writes)
    assert list(hook_pre_push._lines(reads)) == []
    os.close(reads)


def test_outside_of_a_repository_nothing_private_leaves(tmp_path: Path) -> None:
    line = f"{PRIVATE} {'1' * 40} {PRIVATE} {'0' * 40}\n"
    assert run(["git", "pog", "hook", "pre-push"], tmp_path, line).returncode == 4


def test_a_mirror_push_after_a_session_takes_no_prompt_along(pog: Pog, repo: Repo, tmp_path: Path) -> None:
    """The whole way: a task with a private text, a real mirror, and `git pog push`, which asks nobody."""
    bare = Repo(tmp_path / "mirror.git")
    bare.path.mkdir()
    bare.git("init", "--quiet", "--bare")
    repo.git("remote", "add", "origin", str(bare.path))
    pog("init", "--pre-push")
    pog("new", "a task", "--start")
    repo.git("update-ref", PRIVATE, "HEAD")
    done = run(["git", "push", "--mirror", "origin"], repo.path)
    assert done.returncode != 0
    assert "error: 1 ref of pogstore must not leave by 'git push'" in done.stderr
    assert bare.git("for-each-ref") == ""
    pog("push", "origin")
    assert "refs/pog/tasks/" in bare.git("for-each-ref")
    assert "refs/pog/private/" not in bare.git("for-each-ref")
