"""Tests of the sealed environment: if it leaks, every other test may lie."""

import gc
import os
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pygit2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import EMAIL, MEASURED, NAME, SECOND, STARTED, Pog, Repo, sealed


def test_the_machine_does_not_show(tmp_path: Path) -> None:
    given = {"GIT_DIR": "elsewhere", "POG_TASK": "x", "XDG_CACHE_HOME": "y", "LANG": "tlh", "PATH": "/bin"}
    given |= {"CI": "1", "ANY": "1"}
    found = sealed(given, tmp_path)
    assert not {"GIT_DIR", "POG_TASK", "LANG", "CI"} & found.keys()
    assert found["XDG_CACHE_HOME"].startswith(str(tmp_path))
    assert found["PATH"].endswith(f"{os.pathsep}/bin")
    assert found["ANY"] == "1"


def test_git_knows_one_identity_and_one_configuration(repo: Repo) -> None:
    origins = {line.split("\t")[0] for line in repo.git("config", "--list", "--show-origin").splitlines()}
    assert origins == {f"file:{os.environ['HOME']}/.gitconfig", "file:.git/config"}
    assert repo.git("log", "--format=%an <%ae> %ct") == f"{NAME} <{EMAIL}> {STARTED // SECOND}"
    assert repo.git("branch", "--show-current") == "main"


def test_libgit2_knows_no_identity_of_the_machine(repo: Repo) -> None:
    assert "user.name" not in pygit2.Repository(str(repo.path)).config


def test_local_time_is_utc() -> None:
    assert time.localtime(STARTED // SECOND).tm_hour == 9


def test_git_that_fails_is_noticed(repo: Repo) -> None:
    with pytest.raises(AssertionError, match="no-such-command"):
        repo.git("no-such-command")
    assert repo.git("rev-parse", "--verify", "-q", "nothing", check=False) == ""


def test_bytes_go_in_and_come_out(make_repo: Callable[..., Repo]) -> None:
    bare = make_repo("server.git", "--bare", commit=False)
    oid = bare.git("hash-object", "-w", "--stdin", input=b"\xff\n\n")
    assert bare.git("cat-file", "blob", oid) == "\udcff\n"


def test_each_command_is_one_second_later(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def run(command: list[str], **options: dict[str, str]) -> subprocess.CompletedProcess[bytes]:
        seen.append(options["env"]["POG_NOW"])
        return subprocess.CompletedProcess(command, 3, b"out", b"err")

    pog = Pog(repo.path)
    monkeypatch.setattr(subprocess, "run", run)
    assert pog("list", status=3) == ("out", "err", 3)
    assert pog("list", status=None).status == 3
    with pytest.raises(AssertionError, match="status 3, not 0"):
        pog("list")
    assert [int(now) - STARTED for now in seen] == [SECOND, 2 * SECOND, 3 * SECOND]


def test_what_was_collected_is_hidden_from_the_collector_and_nothing_else() -> None:
    assert gc.isenabled()
    assert gc.get_freeze_count() > 10_000


is_measured = sys.gettrace() is not None
examples = count()


@given(st.integers())
def test_coverage_is_measured_of_the_first_examples_of_a_property(number: int) -> None:
    assert (sys.gettrace() is not None) == (is_measured and next(examples) < MEASURED)


def test_coverage_is_measured_of_what_comes_after_a_property() -> None:
    assert next(examples) in (0, settings().max_examples)  # none in the process that has not got it
    assert (sys.gettrace() is not None) == is_measured
