"""A hook as an agent runs it: the installed script, through git's dispatch, and the slow way to the same end."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pogstore.cli.hook import AGENTS, NAMED
from pogstore.work import spool, spooled
from pogstore.work.spooled_record import decode_record
from tests.agents.test_hook import LIGHT
from tests.conftest import Repo, run

HOOK = ("hook", "claude-code")
SCRIPT = str(Path(sys.executable).parent / "git-pog")
DOORS = {"git": ("git", "pog"), "script": (SCRIPT,), "slow": (sys.executable, "-m", "pogstore")}


def said(repo: Repo, event: str = "Stop") -> str:
    return json.dumps({"session_id": "s", "hook_event_name": event, "cwd": str(repo.path)})


def spool_of(repo: Repo) -> Path:
    return repo.path / ".git" / "pog" / "spool"


def events(repo: Repo) -> list[str]:
    """Returns the names of the events that wait in the spool, in their order."""
    parts = [part for path in spooled.take(spool_of(repo)) for part in spooled.read(path)]
    return [decode_record(part.record).event for part in parts if isinstance(part, spooled.Good)]


@pytest.fixture
def enabled(repo: Repo) -> Repo:
    spooled.prepare(spool_of(repo))
    spooled.write_settings(spool_of(repo), max_blob=spool.MAX_BLOB, sync=True, drain=False)
    return repo


@pytest.mark.parametrize("door", DOORS)
def test_each_door_records_and_says_nothing(door: str, enabled: Repo, tmp_path: Path) -> None:
    done = run([*DOORS[door], *HOOK], tmp_path, said(enabled))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert events(enabled) == ["Stop"]


@pytest.mark.parametrize("door", DOORS)
def test_an_event_may_be_named_behind_the_agent(door: str, enabled: Repo) -> None:
    """Copilot does not say which one it is."""
    said = json.dumps({"sessionId": "s", "cwd": str(enabled.path), "prompt": "go"})
    done = run([*DOORS[door], "hook", "copilot", "userPromptSubmitted"], enabled.path, said)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert events(enabled) == ["userPromptSubmitted"]
    assert run([SCRIPT, "hook", "copilot", "-h"], enabled.path).stdout.startswith("Usage: git pog hook copilot")
    assert run([SCRIPT, "hook", "codex", "Stop"], enabled.path).returncode == 129


@pytest.mark.parametrize("door", DOORS)
def test_a_repository_that_is_not_enabled_stays_untouched(door: str, repo: Repo) -> None:
    before = sorted(repo.path.rglob("*"))
    done = run([*DOORS[door], *HOOK], repo.path, said(repo))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert sorted(repo.path.rglob("*")) == before


@pytest.mark.parametrize("payload", ["", "no json", "{", '{"a": "\ud800"}'])
def test_nonsense_is_no_error(enabled: Repo, payload: str) -> None:
    done = run([SCRIPT, *HOOK], enabled.path, payload.encode("utf-8", "surrogatepass"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("door", ["script", "slow"])
def test_disabled_records_nothing(door: str, enabled: Repo) -> None:
    run([*DOORS[door], *HOOK], enabled.path, said(enabled), {"POG_DISABLE": "1"})
    assert events(enabled) == []


def test_an_interrupt_for_the_agent_does_not_end_its_hook(enabled: Repo) -> None:
    """Ctrl-C in a terminal reaches the hook too; the record is kept all the same."""
    with subprocess.Popen([SCRIPT, *HOOK], cwd=enabled.path, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        text = said(enabled).encode()
        process.stdin.write(text[:10])
        process.stdin.flush()
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        process.stdin.write(text[10:])
        process.stdin.flush()
        assert process.wait(timeout=20) == 0
        assert process.stderr.read() == b""
    assert events(enabled) == ["Stop"]


def test_without_a_standard_input_it_ends(enabled: Repo) -> None:
    done = subprocess.run(["sh", "-c", f"'{SCRIPT}' hook claude-code <&- >&- 2>&-"], cwd=enabled.path, check=False)
    assert done.returncode == 0
    assert events(enabled) == []


def test_the_script_loads_what_a_hook_needs_and_nothing_else(enabled: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `python -X importtime` tells it, what Python itself loads at its start aside."""
    for name in [name for name in os.environ if name.startswith("COV")]:
        monkeypatch.delenv(name)  # a child that is measured loads what measures it

    def loaded(*command: str) -> set[str]:
        done = run([sys.executable, "-X", "importtime", *command], enabled.path, said(enabled))
        return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if "|" in line}

    ours = loaded(SCRIPT, *HOOK) - loaded("-c", "pass")
    assert "pogstore.work.spool" in ours
    assert ours <= LIGHT


@pytest.mark.parametrize("agent", [*AGENTS, "generic"])
def test_no_agent_pays_for_what_a_person_s_command_needs(agent: str, enabled: Repo) -> None:
    """Case UC-22. The script of the checkout: that of an installation is a copy of it."""
    words = [agent, *(["preToolUse"] if agent in NAMED else [])]
    script = str(Path(__file__).parents[2] / "pogstore" / "cli" / "git-pog")
    done = run([sys.executable, "-X", "importtime", "-P", script, "hook", *words], enabled.path, said(enabled))
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if "|" in line}
    assert "pogstore.agents.hook" in loaded
    assert not {"click", "json", "msgspec", "pogstore.cli"} & loaded


def test_other_arguments_are_a_person_s(enabled: Repo) -> None:
    """A hook of an agent has no options; help and errors are for those who look."""
    assert run([SCRIPT, *HOOK, "-h"], enabled.path).stdout.startswith("Usage: git pog hook claude-code")
    assert run([SCRIPT, "hook", "unknown"], enabled.path).returncode == 129
    assert run([SCRIPT, "--version"], enabled.path).stdout.startswith("pogstore ")


def test_an_interrupt_while_it_loads_is_said_in_no_traceback(enabled: Repo, tmp_path: Path) -> None:
    """The script of the checkout: that of an installation is a copy of it."""
    place = tmp_path / "pogstore" / "cli"
    place.mkdir(parents=True)
    (place.parent / "__init__.py").touch()
    (place / "__init__.py").touch()
    (place / "main.py").write_text("raise KeyboardInterrupt\n")
    script = Path(__file__).parents[2] / "pogstore" / "cli" / "git-pog"
    shutil.copy(script.parent / "_late.py", place)
    done = run([sys.executable, "-P", str(script), "list"], enabled.path, env={"PYTHONPATH": str(tmp_path)})
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_it_is_an_executable_in_git() -> None:
    root = Path(__file__).parents[2]
    assert os.access(root / "pogstore" / "cli" / "git-pog", os.X_OK)
    assert (root / "pogstore" / "cli" / "git-pog").read_text().startswith("#!python\n"), "installers put theirs there"
