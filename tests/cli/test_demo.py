"""Tests of `git pog demo`: it shows what it says, in the place it was given, whatever the user has configured."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from pogstore.cli._shapes import SHAPES
from tests.cli.conftest import Here
from tests.cli.shapes import fits
from tests.cli.test_quiet import snapshot
from tests.conftest import Pog, Repo

HOSTILE_CONFIG = """\
[user]
\tname = Somebody Else
[core]
\tautocrlf = true
\thooksPath = /nowhere
[commit]
\tgpgSign = true
[init]
\tdefaultBranch = trunk
[blame]
\tshowEmail = true
[diff]
\tnoprefix = true
[color]
\tpog = always
\tui = always
[pog]
\tmaxBlob = 1
[rebase]
\tautoSquash = true
"""


def test_the_whole_demo(pog: Pog, tmp_path: Path) -> None:
    """Run as a person runs it, with a configuration that would change all it shows."""
    (Path(os.environ["HOME"]) / ".gitconfig").write_text(HOSTILE_CONFIG)
    home = snapshot(Path(os.environ["HOME"]), ())
    beside = tmp_path / "elsewhere"
    beside.mkdir()
    others = snapshot(pog.cwd, ())
    place = tmp_path / "tea"
    env = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "color.ui",
        "GIT_CONFIG_VALUE_0": "always",
        "POG_ACTOR": "x",
        "POG_TASK": "y",
    }
    said = pog("demo", str(place), env=env)
    assert said.stderr == ""
    assert "\x1b" not in said.stdout
    assert "<U+" not in said.stdout, "a step was coloured"
    assert "Somebody" not in said.stdout
    lines = said.stdout.splitlines()
    headings = [line for line in lines if line.startswith("# ")]
    assert len(headings) == 9
    shown = [line[2:] for line in lines if line.startswith("$ ")]
    for verb in ("init", "import", "list", "log", "diff", "blame", "why", "rollback", "undo", "verify"):
        assert [line for line in shown if line.startswith(f"git pog {verb}")], verb
    assert re.search(
        r"^\*[0-9a-f]{8} \(claude-code +Steeping takes time +2026-03-02 +\d+\) def strength", said.stdout, re.M
    )
    assert re.search(r"^ [0-9a-f]{8} \(Ada +Steep for some minutes .*FAVOURITE", said.stdout, re.M)
    assert "prompt    Tell me how strong a tea is, too. With a test." in lines
    assert "updated brew.py" in lines
    assert ": no fault" in said.stdout
    assert f"The repository is in {place}: look around, then delete it." in lines
    tea = Repo(place)
    assert tea.git("status", "--short") == ""
    assert tea.git("log", "-1", "--format=%an %cd", "--date=short") == "Ada 2026-03-02"
    assert snapshot(pog.cwd, ()) == others
    assert snapshot(Path(os.environ["HOME"]), ()) == home
    assert list(beside.iterdir()) == []
    again = pog("blame", "brew.py", cwd=place).stdout.splitlines()
    assert [line.rstrip() for line in again if "def strength" in line], "what it made can be looked at"


def test_json_shows_the_same_steps(pog: Pog, tmp_path: Path) -> None:
    (tmp_path / "tea").mkdir()
    value = pog("demo", "--json", "tea", cwd=tmp_path).json
    assert fits(value, SHAPES["demo"])
    assert value["directory"] == str(tmp_path / "tea")
    assert len(value["steps"]) == 23
    outputs = {step["command"]: step["output"] for step in value["steps"]}
    assert outputs["git status --short"] == ""
    assert "1 new task, 10 new events\n" in outputs.values()


def test_a_place_of_its_own(here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a directory, a new one for temporary files; the steps themselves are tested above."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr("pogstore.cli.demo.Demo.run", lambda self: None)
    value = here("demo", "--json").json
    assert Path(value["directory"]).parent == tmp_path
    assert re.fullmatch(r"pog-demo-\w+", Path(value["directory"]).name)


@pytest.mark.parametrize("name", ["full", "file", "full/../full"])
def test_only_an_empty_place_will_do(here: Here, tmp_path: Path, name: str) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("x")
    (tmp_path / "file").write_text("x")
    before = snapshot(tmp_path, ())
    said = here("demo", name, cwd=tmp_path, status=128)
    assert said.stderr.startswith(f"error: '{name}': ")
    assert snapshot(tmp_path, ()) == before


def test_a_step_that_fails_is_named(here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> subprocess.CompletedProcess[bytes]:
        return subprocess.CompletedProcess([], 3, b"", b"fatal: no\n")

    monkeypatch.setattr("pogstore.cli.demo.subprocess.run", fail)
    said = here("demo", str(tmp_path / "x"), status=128)
    assert said.stderr == "error: git init -q -b main . failed with status 3: fatal: no\n"
