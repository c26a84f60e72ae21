"""Tests of `git pog run`: what stands behind it, what it answers, and what a person sees."""

import fcntl
import os
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Here
from tests.cli.terminal import on_terminal, terminal
from tests.conftest import SECOND, STARTED, Pog, Repo


@pytest.fixture
def ready(pog: Pog) -> Pog:
    """A repository with an active task."""
    pog.init()
    task = pog("new", "a task", "--json").json["task"]
    pog("start", task)
    return pog


def last(pog: Pog) -> dict[str, object]:
    found: dict[str, object] = pog("show", "@@{1}", "--json").json
    return found


@pytest.mark.parametrize("status", [0, 1, 2, 3, 126, 128, 255])
def test_the_status_of_the_command_is_passed_on(ready: Pog, status: int) -> None:
    """2 included: see docs/decisions. The command itself has the number from the shell that it is."""
    said = ready("run", "--", "sh", "-c", f"echo out; echo err >&2; exit {status}", status=status)
    assert (said.stdout, said.stderr) == ("out\n", "err\n"), "nothing but what the command says"
    event = last(ready)
    assert (event["kind"], event["exit_code"], event["ok"]) == ("ran", status, status == 0)


@pytest.mark.parametrize(
    ("script", "said"),
    [("exit 3", "ran sh failed: exit status 3"), ("kill -KILL $$", "ran sh failed: ended by signal 9 (SIGKILL)")],
)
def test_show_says_with_what_a_command_failed(here: Here, script: str, said: str) -> None:
    here.task("a task", "--start")
    here("run", "--", "sh", "-c", script, status=None)
    assert f"    {said}\n" in here("show", "@@{1}").stdout
    here("run", "--", "sh", "-c", "exit 0")
    assert "    ran sh\n" in here("show", "@@{1}").stdout


def test_a_two_of_ours_is_still_none(here: Here) -> None:
    here("run", "true", status=128)
    here("run", status=129)
    here("run", "--nonsense", "true", status=129)


def test_all_options(ready: Pog, repo: Repo) -> None:
    repo.commit({"in.csv": "1\n"})
    words = ("run", "--input", "in.csv", "--output", "out*", "--output", "none", "--env", "LANGUAGE", "--as", "robot")
    said = ready(*words, "--json", "--", "sh", "-c", "echo shown; cat in.csv > out.csv", env={"LANGUAGE": "eo"})
    event = said.json
    assert said.stderr == "shown\nwarning: no file matches the output 'none'\n"
    assert (event["inputs"], event["outputs"], event["actor"]["name"]) == (["in.csv"], ["out.csv"], "robot")
    assert [change["path"] for change in event["changes"]] == ["out.csv"]
    assert '"LANGUAGE":"eo"' in ready("show", event["id"], "--json").json["texts"]["env"]


def test_rc40_a_command_that_commits_itself_is_recorded_with_where_head_is_then(
    here: Here, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_AUTHOR_DATE", f"{STARTED // SECOND + 60} +0000")
    here("start", here.task("Commit it"))
    before = repo.git("rev-parse", "HEAD")
    here("run", "--", "sh", "-c", "echo 1 > made; git add made; git commit -q -m made; git checkout -q -b other")
    event = here("show", "@@{1}", "--json").json
    assert [change["path"] for change in event["changes"]] == ["made"]
    head = repo.git("rev-parse", "HEAD")
    assert head != before
    assert event["base"] == {"branch": "other", "commit": f"sha1_{head}"}
    rests = {(edge["to"], edge["rel"]) for edge in here("lineage", "--up", "--json", "HEAD").json["edges"]}
    assert (event["id"], "carries") in rests


def test_which_task_it_is_of(ready: Pog) -> None:
    other = ready("new", "other", "--json").json["task"]
    assert ready("run", "--task", other, "--json", "true").json["task"] == other
    assert ready("run", "--json", "true", env={"POG_TASK": other}).json["task"] == other
    assert ready("run", "--json", "true").json["task"] != other


def test_without_a_task_nothing_runs(pog: Pog, repo: Repo) -> None:
    pog.init()
    said = pog("run", "touch", "ran", status=128)
    assert said.stderr == "error: no active task\nhint: start one with 'git pog start TASK'\n"
    assert not (repo.path / "ran").exists()


def test_where_pogstore_is_not_enabled_that_is_said_first(pog: Pog, repo: Repo) -> None:
    """And not that there is no active task, of which nobody there has heard."""
    assert "not enabled" in pog("run", "touch", "ran", status=128).stderr
    assert not (repo.path / "ran").exists()


def test_where_recording_is_off_nothing_runs(ready: Pog, repo: Repo) -> None:
    task = last(ready)["task"]
    assert "POG_DISABLE" in ready("run", "touch", "ran", env={"POG_DISABLE": "1"}, status=4).stderr
    ready("pause")
    assert "resumes it; nothing ran" in ready("run", "touch", "ran", status=4).stderr
    ready("pause", "--resume")
    repo.git("config", "pog.enabled", "false")
    assert "not enabled" in ready("run", "--task", str(task), "touch", "ran", status=128).stderr
    assert not (repo.path / "ran").exists()


def test_a_command_that_does_not_exist(ready: Pog) -> None:
    events = len(ready("log", "--json").json)
    said = ready("run", "--", "no-such", status=127)
    assert said.stderr.startswith("error: cannot run 'no-such': there is no such program\n")
    Path(ready.cwd, "plain").write_text("x")
    ready("run", "./plain", status=126)
    kinds = [event["kind"] for event in ready("log", "--json").json]
    assert "ran" not in kinds
    assert len(kinds) <= events + 1, "what changed before may be told"


def test_what_stands_behind_the_command_is_its_own(ready: Pog) -> None:
    for words in (
        ["printf", "%s.", "--json", "-h", "--", "--as"],
        ["--", "printf", "%s.", "--json", "-h", "--", "--as"],
    ):
        assert ready("run", *words).stdout == "--json.-h.--.--as."
    assert ready("run", "--", "--odd", status=127).stderr.startswith("error: cannot run '--odd'")


def test_standard_input_is_the_commands(ready: Pog) -> None:
    assert ready("run", "cat", stdin="some\x00bytes").stdout == "some\x00bytes"


def test_the_file_is_blamed_on_the_command(ready: Pog, repo: Repo) -> None:
    repo.commit({"a.txt": "one\n"})
    (repo.path / "sub").mkdir()
    ready("run", "sh", "-c", "echo two >> ../a.txt", cwd=repo.path / "sub")
    assert [line["owner"] for line in ready("blame", "a.txt", "--json").json[0]["lines"]] == ["commit", "event"]
    assert last(ready)["cwd"] == "sub"
    event = str(last(ready)["id"])
    ready("rollback", event)
    assert (repo.path / "a.txt").read_text() == "one\n"
    ready("verify")


def test_an_agent_inside_keeps_what_is_its_own(ready: Pog, repo: Repo) -> None:
    """Its hook writes to the spool while the command runs; what it told is stored before, and is not told twice."""
    script = """
say() { printf '{"version": 1, "agent": "robot", "session": "s", "event": "%s", "cwd": "%s", "tool": "sed",
 "class": "edit", "call_id": "c", "paths": ["a.txt"]}' "$1" "$PWD" | POG_NOW= git pog hook generic; }
unset POG_NOW
say tool_start; echo agent > a.txt; say tool_end; echo command > b.txt
"""
    said = ready("run", "sh", "-c", script, env={"POG_NOW": str(time.time_ns() // 1000)})
    assert said.stderr == ""
    events = ready("log", "--json").json
    told = {event["kind"]: [change["path"] for change in event.get("changes", [])] for event in events}
    if "stepped" not in told:
        pytest.skip("this version does not hear of agents in general")
    assert told["stepped"] == ["a.txt"]
    assert told["ran"] == ["b.txt"]


def test_on_a_terminal_the_command_has_one(ready: Pog, repo: Repo) -> None:
    code = (
        "import os, sys; print([os.isatty(n) for n in (0, 1, 2)], os.get_terminal_size(1).columns);"
        "os.write(1, b'a\\nb\\n')"
    )
    env = {"POG_NOW": str(STARTED + 60_000_000)}
    shown = on_terminal(["git", "pog", "run", sys.executable, "-c", code], repo.path, env, columns=77)
    assert shown == "[True, True, True] 77\na\nb\n"
    texts = last(ready)["texts"]
    assert isinstance(texts, dict)
    assert texts["stdout"] == shown, "the bytes are kept as the command wrote them"
    piped = ready("run", sys.executable, "-c", "import os; print(os.isatty(1))")
    assert piped.stdout == "False\n"


def test_ctrl_c_goes_to_the_command_once(ready: Pog, repo: Repo) -> None:
    code = (
        "import signal, sys, time\n"
        "def on(n, _): print('interrupted', flush=True); time.sleep(0.5); sys.exit(7)\n"
        "signal.signal(signal.SIGINT, on); print('ready', flush=True); time.sleep(60)"
    )
    env = {**os.environ, "POG_NOW": str(STARTED + 60_000_000)}
    with terminal(80) as (slave, seen):
        begun = subprocess.Popen(
            ["git", "pog", "run", sys.executable, "-c", code], cwd=repo.path, env=env,
            stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - one thread, and only a call
        )  # fmt: skip
        deadline = time.monotonic() + 60
        while b"ready" not in b"".join(seen) and time.monotonic() < deadline:
            time.sleep(0.05)
        os.killpg(begun.pid, signal.SIGINT)  # as a terminal does
        assert begun.wait(timeout=60) in (7, -signal.SIGINT), "git itself may die of it once all is written"
    assert b"".join(seen).count(b"interrupted") == 1
    event = last(ready)
    assert (event["kind"], event["exit_code"]) == ("ran", 7)


def test_what_ran_and_is_not_recorded_is_said(ready: Pog) -> None:
    said = ready("run", "sh", "-c", "git config pog.enabled false; exit 5", status=128)
    assert said.stderr.startswith("warning: the command ended with status 5, and is not recorded\nerror: ")
