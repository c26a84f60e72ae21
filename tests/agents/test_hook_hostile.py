"""The installed hook with everything against it: it ends in time, with 0, without a word, and what is lost is told."""

import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from pogstore.work import spool, spooled
from pogstore.work.spooled_record import Record, decode_record
from tests.conftest import Pog, Repo

SCRIPT = str(Path(sys.executable).parent / "git-pog")
BOUND = 8.0
"""Seconds in which a hook ends whatever there is; on a machine that does other things at the same time."""
NOBODY = 54321
AS_NOBODY = f"""
import os
from pogstore.agents.hook import main
os.setgroups([])
os.setgid({NOBODY})
os.setuid({NOBODY})
main(["claude-code"], 0, {{"HOME": "/"}})
os._exit(0)
"""
ROOT = os.geteuid() == 0


@pytest.fixture
def enabled(pog: Pog, repo: Repo) -> Repo:
    pog.init()
    return repo


def spool_of(repo: Repo) -> Path:
    return repo.path / ".git" / "pog" / "spool"


def records(repo: Repo) -> list[Record]:
    parts = [part for path in spooled.take(spool_of(repo)) for part in spooled.read(path)]
    return [decode_record(part.record) for part in parts if isinstance(part, spooled.Good)]


def losses(repo: Repo) -> dict[str, int]:
    return {loss.reason: loss.times for loss in spooled.losses(spool_of(repo))}


def said(repo: Repo, tool: str = "Edit", **given: Any) -> bytes:
    call = {"tool_name": tool, "tool_use_id": "t", "tool_input": {"file_path": "README", "command": "make", **given}}
    return json.dumps({"session_id": "s", "hook_event_name": "PostToolUse", "cwd": str(repo.path), **call}).encode()


def hooked(
    payload: bytes, env: Mapping[str, str] | None = None, *, close: bool = True, command: tuple[str, ...] = (SCRIPT,)
) -> float:
    """Calls the installed hook; returns the seconds until it and all that it started have let go of its output."""
    begun = time.monotonic()
    with subprocess.Popen(
        [*command, *(("hook", "claude-code") if command == (SCRIPT,) else ())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=env,
        cwd="/",
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(payload)
        process.stdin.flush()
        if close:
            process.stdin.close()
        printed = process.stdout.read()
        status = process.wait(timeout=60)
        taken = time.monotonic() - begun
    assert (status, printed) == (0, b"")
    assert taken < BOUND
    return taken


@contextmanager
def held(*paths: Path) -> Iterator[None]:
    files = [os.open(path, os.O_RDWR | os.O_CREAT, 0o600) for path in paths]
    for file in files:
        fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        for file in files:
            os.close(file)


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of two megabytes."""
    place = tmp_path / "small"
    place.mkdir()
    mounted = (
        ROOT
        and not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=2m,mode=700", "none", place], capture_output=True, check=False
        ).returncode
        if shutil.which("mount")
        else False
    )
    if not mounted:
        pytest.skip("only root can mount a file system, and not everywhere")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", place], check=True)


def fill(path: Path, size: int) -> None:
    """Writes to a file until there is no room."""
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(bytes(size)):
            pass


@pytest.mark.parametrize("tool", ["Edit", "Bash"])
def test_a_full_disk(small: Path, pog: Pog, tool: str) -> None:
    repo = Repo(small / "repo")
    repo.path.mkdir()
    repo.git("init", "--quiet")
    repo.commit({"README": "a project\n"}, "first")
    pog("init", cwd=repo.path)
    hooked(said(repo, tool))
    fill(small / "filler", 4096)
    fill(small / "filler-2", 1)
    hooked(said(repo, tool, content="x" * 9000))
    assert losses(repo) == {"full": 1}
    (small / "filler").unlink()
    (small / "filler-2").unlink()
    assert "not recorded: 1 hook call," in pog("status", cwd=repo.path).stdout
    assert "the disk was full\n" in pog("status", cwd=repo.path).stdout


@pytest.mark.parametrize("path", ["", "/nowhere", "relative"])
def test_no_git_on_the_path(enabled: Repo, path: str) -> None:
    env = {**os.environ, "PATH": path}
    hooked(said(enabled), env)
    hooked(said(enabled, "Bash"), env)
    edit, shell = records(enabled)
    assert [state.path for state in edit.states] == [b"README"]
    assert (shell.look, shell.states) == ("partial no-git", ())
    assert shell.head is not None
    assert losses(enabled) == {}


def test_no_environment_at_all(enabled: Repo) -> None:
    hooked(said(enabled), {})
    hooked(said(enabled, "Bash"), {})
    assert [len(record.states) for record in records(enabled)] == [1, 0]


def test_a_git_that_never_answers(enabled: Repo, pog: Pog, tmp_path: Path) -> None:
    """What it started is killed too: it would hold what the agent waits for, or run for ever."""
    enabled.git("config", "pog.lookTimeout", "400")
    pog("init")
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nsleep 1001 &\necho $! > {tmp_path}/child\nsleep 1001\n")
    program.chmod(0o755)
    env = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"}
    assert hooked(said(enabled, "Bash"), env) < 4
    (record,) = records(enabled)
    assert (record.look, record.states) == ("partial timeout", ())
    child = int((tmp_path / "child").read_text())
    end = time.monotonic() + 5
    while _lives(child) and time.monotonic() < end:
        time.sleep(0.02)
    assert not _lives(child)


def _lives(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


@pytest.mark.parametrize("says", ["echo nonsense", "exit 1", "head -c 30000000 /dev/zero", "echo no >&2; kill -9 $$"])
def test_a_git_that_is_none(enabled: Repo, tmp_path: Path, says: str) -> None:
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{says}\n")
    program.chmod(0o755)
    hooked(said(enabled, "Bash"), {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"})
    (record,) = records(enabled)
    assert record.look in ("partial failed", "partial too-many")


@pytest.fixture
def foreign(pog: Pog) -> Iterator[Repo]:
    """A repository of a user without rights, at a place that this user can reach."""
    if not ROOT:
        pytest.skip("only root can become somebody else")
    place = Path(tempfile.mkdtemp(prefix="pog-hostile-"))
    try:
        place.chmod(0o755)
        repo = Repo(place / "repo")
        repo.path.mkdir()
        repo.git("init", "--quiet")
        repo.commit({"README": "a project\n"}, "first")
        pog("init", cwd=repo.path)
        owned(repo, NOBODY)
        yield repo
    finally:
        shutil.rmtree(place)


def owned(repo: Repo, user: int) -> None:
    for path in (repo.path, *repo.path.rglob("*")):
        os.chown(path, user, user, follow_symlinks=False)


def as_nobody(payload: bytes) -> None:
    hooked(payload, command=(sys.executable, "-c", AS_NOBODY))


@pytest.mark.parametrize("tool", ["Edit", "Bash"])
def test_a_repository_that_can_only_be_read(foreign: Repo, tool: str) -> None:
    """Nothing can be written down, not even that; nothing changes and nobody is disturbed."""
    as_nobody(said(foreign, tool))
    assert len(list(spool_of(foreign).glob("current"))) == 1, "it can be recorded as this user"
    (spool_of(foreign) / "current").unlink()
    for path in (foreign.path, *foreign.path.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = {path: path.stat().st_mtime_ns for path in foreign.path.rglob("*")}
    as_nobody(said(foreign, tool))
    assert {path: path.stat().st_mtime_ns for path in foreign.path.rglob("*")} == before


def test_a_spool_that_cannot_be_written_to_is_told(foreign: Repo, pog: Pog) -> None:
    spool_of(foreign).chmod(0o500)
    as_nobody(said(foreign))
    assert losses(foreign) == {"denied": 1}
    owned(foreign, 0)
    assert "the system did not let the hook write" in pog("status", cwd=foreign.path).stdout


def test_a_repository_of_somebody_else(foreign: Repo) -> None:
    owned(foreign, 0)
    before = {path: path.read_bytes() for path in foreign.path.rglob("*") if path.is_file()}
    as_nobody(said(foreign))
    as_nobody(said(foreign, "Bash"))
    assert {path: path.read_bytes() for path in foreign.path.rglob("*") if path.is_file()} == before


def test_an_agent_that_never_closes_its_end(enabled: Repo) -> None:
    """Case UC-41: the object is over, or will never be, or never begins."""
    hooked(said(enabled), close=False)
    hooked(said(enabled)[:-1], close=False)
    hooked(b"", close=False)
    assert [record.whole for record in records(enabled)] == [True, False]


def test_ten_megabytes(enabled: Repo) -> None:
    payload = said(enabled, "Write", content='say "hello" \\ \n' * 700_000)
    assert len(payload) > 10_000_000
    hooked(payload)
    (record,) = records(enabled)
    assert (record.payload, record.whole) == (payload, True)


def test_a_spool_that_somebody_holds(enabled: Repo, pog: Pog) -> None:
    """Threat T24."""
    with held(spool_of(enabled) / "current"):
        hooked(said(enabled))
    assert losses(enabled) == {"locked": 1}
    with held(spool_of(enabled) / "current", spool_of(enabled).parent / "lost"):
        hooked(said(enabled))
    assert losses(enabled) == {"locked": 2}
    assert records(enabled) == []
    said_so = pog("status").stdout
    assert "not recorded: 2 hook calls," in said_so
    assert "the spool was locked for too long" in said_so


def test_a_look_that_somebody_holds(enabled: Repo) -> None:
    """Another hook looks, or git keeps the user's own index: both are read, and neither is waited for for long."""
    (enabled.path / "README").write_bytes(b"changed\n")
    hooked(said(enabled, "Bash"))
    own = spool_of(enabled).parent
    (enabled.path / ".git" / "index.lock").touch()
    (own / "index.lock").touch()
    with held(own / "look.lock"):
        hooked(said(enabled, "Bash"))
    assert [(record.look, len(record.states)) for record in records(enabled)] == [("whole", 1)] * 2
    assert losses(enabled) == {}


def test_a_store_that_somebody_holds(enabled: Repo) -> None:
    """A hook asks for neither lock of the store; a drain may hold both for as long as it takes."""
    with held(spool_of(enabled) / "lock", spool_of(enabled).parent / "lock"):
        assert hooked(said(enabled)) < spool.WAIT + 1
    assert len(records(enabled)) == 1


AGENT = """
import json, os, sys
from pogstore.agents.hook import main
root, name = sys.argv[1:]
for number in range(100):
    said = {"hook_event_name": "UserPromptSubmit", "cwd": root, "session_id": name, "prompt": str(number)}
    reads, writes = os.pipe()
    os.write(writes, json.dumps(said).encode())
    os.close(writes)
    main(["claude-code"], reads, {})
    os.close(reads)
"""


def test_eight_agents_beside_a_drain(enabled: Repo) -> None:
    """What 800 hooks were told is there; a lock that was held for too long, as on a loaded machine, is counted."""
    spooled.write_settings(spool_of(enabled), max_blob=1000, sync=False, drain=False)
    command = [sys.executable, "-c", AGENT, str(enabled.path)]
    agents = [subprocess.Popen([*command, str(name)]) for name in range(8)]
    found: list[Record] = []
    while any(agent.poll() is None for agent in agents):
        found += taken(enabled)
    found += taken(enabled)
    assert [agent.returncode for agent in agents] == [0] * 8
    told = [json.loads(record.payload) for record in found]
    assert len({(each["session_id"], each["prompt"]) for each in told}) == len(told)
    assert len(told) + losses(enabled).get("locked", 0) == 800
    for name in range(8):
        numbers = [int(each["prompt"]) for each in told if each["session_id"] == str(name)]
        assert numbers == sorted(numbers)


def taken(repo: Repo) -> list[Record]:
    """Takes what waits, as a drain does."""
    found = records(repo)
    for path in spooled.waiting(spool_of(repo)):
        path.unlink()
    return found
