"""The door to the git command: which one, with which environment, and how it fails."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from pogstore.errors import GitFailed, NotFound
from pogstore.store import gitcli
from pogstore.store.gitcli import Git
from tests.conftest import Repo


@pytest.fixture
def git(repo: Repo) -> Git:
    return Git(repo.path / ".git", repo.path)


def test_git_is_never_taken_from_the_current_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """T10: a repository may hold a file called git."""
    fake = tmp_path / "git"
    fake.write_text("#!/bin/sh\necho pwned\n")
    fake.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    for path in (".", "", f"{os.pathsep}/usr/bin", "relative/bin"):
        monkeypatch.setenv("PATH", f"{path}{os.pathsep}{os.environ['PATH']}")
        gitcli.executable.cache_clear()
        assert Path(gitcli.executable()).is_absolute()
        assert Path(gitcli.executable()) != fake
    monkeypatch.setenv("PATH", ".")
    gitcli.executable.cache_clear()
    with pytest.raises(NotFound, match="no program matches 'git'"):
        gitcli.executable()
    monkeypatch.undo()
    gitcli.executable.cache_clear()


def test_what_a_hook_exports_stays_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """PC-81: every variable that git itself calls local to a repository, but for configuration by `git -c`."""
    local = subprocess.run(["git", "rev-parse", "--local-env-vars"], capture_output=True, text=True, check=True)
    names = [*local.stdout.split(), "GIT_QUARANTINE_PATH", "GIT_NAMESPACE"]
    for name in names:
        monkeypatch.setenv(name, "x")
    left = gitcli.environment().keys() & set(names)
    assert left <= {"GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT"}
    assert gitcli.environment({"GIT_DIR": "y"})["GIT_DIR"] == "y"


def test_output_is_stable_and_transports_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    monkeypatch.setenv("LANGUAGE", "de")
    kept = gitcli.environment()
    assert kept["LC_ALL"] == "C.UTF-8"
    assert kept["LANGUAGE"] == ""
    assert kept["GIT_OPTIONAL_LOCKS"] == "0"
    assert "ext" not in kept["GIT_ALLOW_PROTOCOL"].split(":")


def test_a_failure_keeps_gits_words(git: Git) -> None:
    with pytest.raises(GitFailed) as caught:
        git.run("rev-parse", "--verify", "nothing")
    assert caught.value.status == 128
    assert "Needed a single revision" in caught.value.message
    assert git.run("rev-parse", "--verify", "-q", "nothing", check=False).returncode == 1


def test_hooks_run_only_where_they_are_asked_for(repo: Repo, git: Git) -> None:
    hook = repo.path / ".git" / "hooks" / "reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\necho ran >>'{repo.path}/ran'\n")
    hook.chmod(0o755)
    git.run("update-ref", "refs/pog/tasks/a", "HEAD")
    assert not (repo.path / "ran").exists()
    git.run("update-ref", "refs/pog/tasks/b", "HEAD", hooks=True)
    assert (repo.path / "ran").exists()


def test_bytes_go_in_and_text_comes_out(git: Git) -> None:
    oid = git.run("hash-object", "-w", "--stdin", stdin=b"\xff\n\n").stdout.decode().strip()
    assert git.run("cat-file", "blob", oid).stdout == b"\xff\n\n"
    assert git.text("cat-file", "blob", oid) == "\udcff"


def test_settings_are_what_git_sees(repo: Repo, git: Git) -> None:
    repo.git("config", "pog.word", "a\nb=c")
    repo.git("config", "--add", "pog.word", "second")
    config = repo.path / ".git" / "config"
    config.write_text(config.read_text() + "[pog]\n\tflag\n\tempty =\n")
    found = git.settings()
    assert found["pog.word"] == ["a\nb=c", "second"]
    assert found["pog.flag"] == ["true"]
    assert found["pog.empty"] == [""]
    assert found["user.name"] == ["Ada Example"]


def test_a_stream_is_read_while_git_runs(git: Git) -> None:
    with git.stream("log", "--format=%s") as output:
        assert output.read() == b"first\n"
    with pytest.raises(GitFailed), git.stream("log", "no-such-revision") as output:
        output.read()


def test_the_version() -> None:
    assert gitcli.version() >= (2, 20)


def test_an_argument_that_looks_like_an_option_is_one_only_where_we_say_so(
    make_repo: Callable[..., Repo], git: Git
) -> None:
    """T11: the repository is named outright, so that nothing in an argument changes it."""
    other = make_repo("other")
    words = gitcli.command(git.git_dir, git.work_tree, ["log"])
    assert words[0] == gitcli.executable()
    assert f"--git-dir={git.git_dir}" in words
    assert words[-1] == "log"
    assert "core.hooksPath=/dev/null" in words
    assert str(other.path) not in " ".join(words)


def test_a_command_that_takes_too_long_has_failed(git: Git) -> None:
    with pytest.raises(GitFailed, match="it was stopped after"):
        git.run("-c", "alias.wait=!sleep 1", "wait", timeout=0.2)


def test_what_a_command_prints_may_go_to_a_file(git: Git, tmp_path: Path) -> None:
    with (tmp_path / "output").open("wb") as file:
        git.run("rev-parse", "--is-bare-repository", output=file)
    assert (tmp_path / "output").read_text() == "false\n"
