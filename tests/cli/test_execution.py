"""Tests of `git pog replay --exec`: who says yes, what is shown before, and what is answered."""

import os
import pty
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Here
from tests.cli.terminal import terminal
from tests.conftest import STARTED, Pog, Repo


@pytest.fixture
def ready(here: Here) -> Here:
    here("start", here.task("a task"))
    return here


def ran(here: Here, *words: str) -> str:
    return str(here("run", "--json", "--", *words).json["id"])


def replayed(here: Here) -> list[object]:
    return [event for event in here("log", "--json").json if event["kind"] == "replayed"]


def test_it_is_run_again_and_recorded(ready: Here) -> None:
    event = ran(ready, "sh", "-c", "echo x > out")
    (ready.cwd / "out").write_text("edited since\n")
    said = ready("replay", "--exec", "--yes", event)
    task = ready("status", "--json").json["active"]["task"]
    told = ready("log", "--json").json[0]
    assert said.stdout == f"same  out\nevent {told['id'][:10]} of task {task}\n"
    assert (told["kind"], told["strategy"], told["targets"]) == ("replayed", "exec", [event])
    assert told["outcomes"] == [{"event": event, "outcome": "identical"}]
    assert (ready.cwd / "out").read_text() == "edited since\n"
    assert ready("undo", status=128).stderr.startswith("error: no operation"), "it wrote no file of the user's"


def test_nothing_runs_without_a_yes(ready: Here, tmp_path: Path) -> None:
    """Threat T9: a script, an agent and a pipe cannot say it by standing there."""
    mark = tmp_path / "mark"
    event = ran(ready, "touch", str(mark))
    mark.unlink()
    for stdin in ("", "y\n", "yes\n"):
        said = ready("replay", "--exec", event, stdin=stdin, status=4)
        assert "nobody is here to say yes" in said.stderr
    assert not mark.exists()
    assert replayed(ready) == []
    assert "nothing ran" in ready("replay", "--exec", "--check", event).stderr
    ready("replay", "--exec", "--check", "--yes", event, status=129)
    assert not mark.exists()


@pytest.mark.parametrize(("typed", "status"), [("y\n", 0), ("yes please\n", 4)])
def test_a_person_is_asked(pog: Pog, repo: Repo, typed: str, status: int) -> None:
    pog("init")
    pog("start", pog("new", "a task", "--json").json["task"])
    event = pog("run", "--json", "--", "sh", "-c", "echo x > out; : '\x1b[31m\u202e'").json["id"]
    env = {"POG_NOW": str(STARTED + 60_000_000)}
    with terminal(100) as (slave, seen):
        reads, writes = pty.openpty()
        os.write(reads, typed.encode())
        command = ["git", "pog", "replay", "--exec", event]
        variables = {**os.environ, **env}
        done = subprocess.run(
            command, cwd=repo.path, env=variables, stdin=writes, stdout=slave, stderr=slave, timeout=60, check=False
        )
        os.close(writes)
        os.close(reads)
    text = b"".join(seen).decode()
    assert "\\u001b[31m\\u202e" in text
    assert not {"\x1b", "\u202e"} & set(text)
    assert "run it? [y/N]" in text
    assert done.returncode == status
    assert ("same  out" in text) == (status == 0)


def test_what_differs_is_kept(ready: Here, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    event = ran(
        ready, "sh", "-c", f"if test -e '{mark}'; then echo 2 > v; echo 1 > new; else echo 1 > v; echo 1 > g; fi"
    )
    mark.touch()
    said = ready("replay", "--exec", "--yes", event, status=1)
    assert said.stdout.startswith(
        "missing  g\ndiffers  v\nchanged  new: it did not change this then\nboth versions are in "
    )
    place = Path(said.stdout.splitlines()[3].removeprefix("both versions are in "))
    assert ((place / "recorded" / "v").read_text(), (place / "now" / "v").read_text()) == ("1\n", "2\n")
    value = ready("replay", "--exec", "--yes", "--json", "--keep", str(tmp_path / "kept"), event, status=1).json
    assert value["outputs"] == [{"path": "g", "verdict": "missing"}, {"path": "v", "verdict": "differs"}]
    assert (value["outcome"], value["others"], value["kept"]) == ("diverged", ["new"], str(tmp_path / "kept"))
    assert [each["outcomes"][0]["outcome"] for each in replayed(ready)] == ["diverged", "diverged"]  # type: ignore[index]
    ready("replay", "--exec", "--yes", "--keep", str(tmp_path / "kept"), event, status=128)
    ready("replay", "--exec", "--yes", "--keep", "inside", event, status=128)
    assert len(replayed(ready)) == 2


def test_another_exit_status_records_nothing(ready: Here, tmp_path: Path) -> None:
    """Case RC-38."""
    mark = tmp_path / "mark"
    event = ran(ready, "sh", "-c", f"echo x > out; test ! -e '{mark}' || exit 3")
    mark.touch()
    said = ready("replay", "--exec", "--yes", event, status=1)
    assert "stopped: it ended with 3, and with 0 when it was recorded; nothing is compared or recorded" in said.stderr
    assert said.stdout == ""
    value = ready("replay", "--exec", "--yes", "--json", event, status=1).json
    assert (value["exit_code"], value["replayed"]) == ({"recorded": 0, "now": 3}, None)
    assert replayed(ready) == []


def test_the_time_limit(ready: Here, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    event = ran(ready, "sh", "-c", f"test ! -e '{mark}' || sleep 60")
    mark.touch()
    said = ready("replay", "--exec", "--yes", "--timeout", "0.3", event, status=1)
    assert "stopped: it took longer than" in said.stderr
    ready("replay", "--exec", "--yes", "--timeout", "0", event, status=129)


def test_the_environment_is_compared_before(ready: Here) -> None:
    event = ran(ready, "true")
    said = ready("replay", "--exec", "--check", event, TZ="Asia/Tokyo", LANG="eo")
    assert "the environment is another one:" in said.stderr
    lines = [line.split() for line in said.stderr.splitlines() if "->" in line]
    assert lines == [["variables.LANG", "-", "->", "eo"], ["variables.TZ", "UTC", "->", "Asia/Tokyo"]]
    value = ready("replay", "--exec", "--check", "--json", event, LANG="eo").json
    assert value["environment"] == [{"name": "variables.LANG", "before": None, "after": "eo"}]
    assert (value["ran"], value["argv"]) == (False, ["true"])


def test_only_one_event_that_was_recorded_here(ready: Here) -> None:
    event = ran(ready, "true")
    (ready.cwd / ".git" / "pog" / "ran" / event).unlink()
    said = ready("replay", "--exec", "--yes", event, status=4)
    assert said.stderr.startswith(f"error: event '{event}' was not recorded in this repository\nhint: what was fetched")
    ready("replay", "--exec", "--yes", status=129)
    ready("replay", "--exec", "--yes", event, event, status=129)
    assert "is a task" in ready("replay", "--exec", "--yes", "@", status=128).stderr
    for option in ("--yes", "--keep=x", "--timeout=1"):
        ready("replay", option, status=129)
    ready("replay", "--exec", "--branch", "x", event, status=129)
    assert os.listdir(ready.cwd) == [".git", "README"]  # noqa: PTH208


def test_where_nothing_is_recorded_nothing_runs(ready: Here, tmp_path: Path) -> None:
    """What cannot be recorded is not run; to look is allowed."""
    mark = tmp_path / "mark"
    event = ran(ready, "touch", str(mark))
    mark.unlink()
    assert "POG_DISABLE" in ready("replay", "--exec", "--yes", event, POG_DISABLE="1", status=4).stderr
    ready("replay", "--exec", "--check", event, POG_DISABLE="1")
    Repo(ready.cwd).git("config", "pog.enabled", "false")
    assert "not enabled" in ready("replay", "--exec", "--yes", event, status=128).stderr
    assert not mark.exists()
