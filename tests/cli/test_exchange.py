"""Tests of what `push`, `fetch`, `pull` and `local` say and take; `tests/test_sync.py` tests the exchange itself."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.conftest import Here
from tests.cli.test_json import SAMPLE
from tests.conftest import Repo

SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"


class Two(NamedTuple):
    """Two clones of one bare remote, and the command in the first."""

    here: Here
    remote: Repo
    other: Path


@pytest.fixture
def two(here: Here, make_repo: Callable[..., Repo]) -> Two:
    remote = make_repo("remote.git", "--bare", commit=False)
    Repo(here.cwd).git("remote", "add", "origin", str(remote.path))
    other = make_repo("other")
    other.git("remote", "add", "origin", str(remote.path))
    here("init", cwd=other.path)
    return Two(here, remote, other.path)


def objects(repo: Repo) -> str:
    """Returns the messages and texts that a repository holds."""
    listed = repo.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
    return repo.git("cat-file", "--batch", input=listed)


def test_there_and_back(two: Two) -> None:
    here, remote, other = two
    task = here.task("a task")
    dry = here("push", "--dry-run")
    assert dry.stdout.splitlines()[0] == "would push to origin:"
    assert here("push", "-n").stdout == dry.stdout
    assert remote.git("for-each-ref", "refs/pog") == ""
    assert re.fullmatch(rf"pushed to origin:\n +new +{task[:8]} +a task\n", here("push").stdout)
    assert "up to date" in "".join(here("push")[:2])
    assert "fetched from origin:" in "".join(here("fetch", cwd=other)[:2])
    assert here("list", "--json", cwd=other).json == []
    assert "pulled from origin:" in "".join(here("pull", cwd=other)[:2])
    assert here("list", "--json", cwd=other).json[0]["task"] == task
    here("note", "x", "--task", task, cwd=other)
    here("push", "origin", task, cwd=other)
    assert here("pull", "origin", "--json").json["joined"][0]["task"] == task
    assert here("log", "--json").json == here("log", "--json", cwd=other).json


def test_private_contents_travel_by_choice_only(two: Two) -> None:
    here, remote, other = two
    here("import", "claude-code", str(SAMPLE), "--root", "/home/ada/tea")
    marker = "Tell me how strong a tea is"
    assert here("ready", status=1).stderr == "no task is ready\n", "a session is the record of work, no offer"
    for pushed in (here("push", "-n", "origin"), here("push", "origin")):
        assert pushed.stdout.endswith("(its title stays here)\n")
        assert "Steeping takes time" not in pushed.stdout + pushed.stderr
    assert marker not in objects(remote)
    here("pull", cwd=other)
    assert here("list", "--json", cwd=other).json == []
    assert here("ready", cwd=other, status=1).stdout == ""
    assert here("list", "--all", "--json", cwd=other).json[0]["title"] == "untitled session"
    assert "Steeping takes time" in here("push", "--private", "origin").stdout
    assert marker in objects(remote)
    here("fetch", cwd=other)
    assert marker not in objects(Repo(other))
    here("fetch", "--private", cwd=other)
    assert marker in objects(Repo(other))
    here("pull", "--private", cwd=other)
    assert here("list", "--all", "--json", cwd=other).json[0]["title"] == "Steeping takes time"


def test_a_secret_is_held_back(two: Two, tmp_path: Path) -> None:
    """Files are not redacted: they must be what they are. So they are looked through when they leave."""
    here, remote, _ = two
    leaky = tmp_path / "leaky.jsonl"
    leaky.write_text(SAMPLE.read_text().replace("tea needs time", SECRET))
    here("import", "claude-code", str(leaky), "--root", "/home/ada/tea")
    said = here("push", status=4)
    assert SECRET not in said.stdout + said.stderr
    assert "brew.py, line " in said.stderr
    assert SECRET not in objects(remote)
    blobs = {
        place["blob"] for refused in here("push", "--json", status=4).json["refused"] for place in refused["places"]
    }
    allowed = [word for blob in sorted(blobs) for word in ("--allow-secret", blob)]
    here("push", *allowed)
    assert SECRET in objects(remote)


def test_a_local_task_stays(two: Two) -> None:
    here, remote, _ = two
    task = here.task("a task")
    assert here("local", task).stdout == f"task {task} is local: no push takes it along\n"
    assert here("local", task, "--json").json["changed"] is False
    assert here("local", "--list").stdout == f"{task}\n"
    assert here("local", "--list", "--json").json == [task]
    assert here("push", "--json").json["refs"] == []
    assert remote.git("for-each-ref", "refs/pog") == ""
    assert here("local", "--remove", task, "--json").json == {
        "task": task, "local": False, "changed": True, "seen_at": [],
    }  # fmt: skip
    here("push")
    assert remote.git("for-each-ref", "refs/pog") != ""
    assert "it was pushed to origin before" in here("local", task).stderr


def test_a_shared_task_is_local_no_more(two: Two) -> None:
    here, _, _ = two
    task = here.task("a task")
    here("local", task)
    here("share", task)
    assert here("local", "--list", "--json").json == []
