"""The drain at the end of a turn: nobody waits for it, nothing of the agent's is held by it, and one is enough."""

import fcntl
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pogstore.agents import behind, hook
from pogstore.work import spool, spooled
from tests.conftest import STARTED, Pog, Repo

SCRIPT = str(Path(sys.executable).parent / "git-pog")


def spool_of(repo: Repo) -> Path:
    return repo.path / ".git" / "pog" / "spool"


def stop(repo: Repo, name: str = "hook_event_name", event: str = "Stop") -> bytes:
    return json.dumps({"session_id": "s", "session": "s", "agent": "a", name: event, "cwd": str(repo.path)}).encode()


def until(condition: Callable[[], bool], seconds: float = 20) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


@pytest.fixture
def enabled(pog: Pog, repo: Repo) -> Repo:
    """A repository whose hooks start drains."""
    repo.git("config", "pog.autoDrain", "true")
    pog.init()
    return repo


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What is started, instead of it."""
    found: list[list[str]] = []

    def spawn(command: list[str], env: object) -> int:
        found.append([*command])
        return os.getpid()

    monkeypatch.setattr(behind, "_spawn", spawn)
    monkeypatch.setattr(os, "setpriority", lambda *_: None)
    return found


def call(payload: bytes, agent: str = "claude-code", environ: dict[str, str] | None = None) -> None:
    reads, writes = os.pipe()
    os.write(writes, payload)
    os.close(writes)
    hook.main((agent,), reads, environ or {}, ("python", "git-pog"))
    os.close(reads)


def test_what_waits_is_stored_while_nobody_waits(enabled: Repo) -> None:
    """The agent reads to the end of what the hook prints, and of what else it left open, while the drain still runs."""
    own = os.open(enabled.path / ".git" / "pog" / "lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(own, fcntl.LOCK_EX)  # somebody writes: the drain waits for a second
    reads, writes = os.pipe()
    os.set_inheritable(writes, True)
    with subprocess.Popen(
        [SCRIPT, "hook", "claude-code"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=[writes],
        env=os.environ | {"POG_NOW": str(STARTED), "GIT_DIR": "/nowhere", "GIT_PREFIX": ""},
        cwd="/",
    ) as process:
        os.close(writes)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(stop(enabled))
        process.stdin.close()
        assert process.stdout.read() == b""
        assert os.read(reads, 1) == b""
    os.close(reads)
    assert process.returncode == 0
    assert until(lambda: behind._runs(os.fsencode(spool_of(enabled))))
    os.close(own)
    assert until(lambda: spooled.pending(spool_of(enabled)) == 0)
    assert until(lambda: not behind._runs(os.fsencode(spool_of(enabled))))


@pytest.mark.parametrize(
    ("agent", "name", "event", "times"),
    [
        ("claude-code", "hook_event_name", "Stop", 1),
        ("claude-code", "hook_event_name", "SessionEnd", 1),
        ("claude-code", "hook_event_name", "SubagentStop", 0),
        ("claude-code", "event", "turn_end", 0),
        ("generic", "event", "turn_end", 1),
        ("generic", "event", "session_end", 1),
        ("generic", "event", "tool_end", 0),
    ],
)
def test_the_end_of_a_turn_starts_one(
    enabled: Repo, started: list[list[str]], agent: str, name: str, event: str, times: int
) -> None:
    call(stop(enabled, name, event), agent)
    assert started == [["python", "git-pog", "drain", "--quiet"]] * times
    assert spooled.pending(spool_of(enabled)) == 1


def test_one_is_started_at_a_time(enabled: Repo, started: list[list[str]]) -> None:
    stamp = spool_of(enabled) / "started"
    for age, times in ((None, 1), (None, 1), (behind.PAUSE + 1, 2), (-3600, 3)):
        if age is not None:
            os.utime(stamp, (time.time() - age,) * 2)
        call(stop(enabled))
        assert len(started) == times
    os.utime(stamp, (0, 0))
    lock = os.open(spool_of(enabled) / "lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(lock, fcntl.LOCK_EX)
    call(stop(enabled))
    os.close(lock)
    assert len(started) == 3, "one runs"
    call(stop(enabled))
    assert len(started) == 4


def test_none_is_started_where_that_is_not_wanted(enabled: Repo, started: list[list[str]]) -> None:
    call(stop(enabled), environ={"POG_DISABLE": "1"})
    spooled.write_settings(spool_of(enabled), max_blob=1, sync=True, drain=False)
    call(stop(enabled))
    spooled.write_settings(spool_of(enabled), max_blob=1, sync=True, drain=True)
    spool_of(enabled).rename(spool_of(enabled).with_name("spool.paused"))
    call(stop(enabled))
    assert started == []


def test_a_spool_that_cannot_be_written_to_is_no_trouble(enabled: Repo, started: list[list[str]]) -> None:
    (spool_of(enabled) / "started").symlink_to("/nowhere/at/all")
    call(stop(enabled))
    assert started == []
    assert spooled.pending(spool_of(enabled)) == 1


def test_a_drain_is_nice_and_alone(enabled: Repo, tmp_path: Path) -> None:
    code = (
        "import os, signal, sys, time; time.sleep(0.3); "
        "print(os.nice(0), os.getsid(0) == os.getpid(), signal.getsignal(signal.SIGINT) is signal.default_int_handler, "
        f"os.environ['GIT_DIR'], sys.argv[1:], file=open({str(tmp_path / 'said')!r}, 'w'))"
    )
    assert behind.start(
        [sys.executable, "-c", code], os.fsencode(spool_of(enabled)), (b"/r", b"/r/.git", b"/r/.git"), os.environ
    )
    os.waitpid(-1, 0)
    nice, rest = (tmp_path / "said").read_text().strip().split(" ", 1)
    assert int(nice) >= 10 or os.nice(0) > 10
    assert rest == "True True /r/.git ['drain', '--quiet']"


def test_settings_say_so_by_default(tmp_path: Path) -> None:
    assert spool.settings(os.fsencode(tmp_path))[3]


def test_a_quiet_drain_says_nothing(enabled: Repo, pog: Pog, tmp_path: Path) -> None:
    call(stop(enabled), environ={"POG_NOW": str(STARTED)})
    answer = pog("drain", "--quiet")
    assert (answer.stdout, answer.stderr) == ("", "")
    assert spooled.pending(spool_of(enabled)) == 0
    for place, env in ((enabled.path, {"POG_DISABLE": "1"}), (tmp_path, {})):
        answer = pog("drain", "--quiet", cwd=place, env=env)
        assert (answer.stdout, answer.stderr) == ("", "")
