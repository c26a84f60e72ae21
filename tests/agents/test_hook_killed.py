"""A hook that is killed at any of its system calls: what it acknowledged is there, what it did not is never half there.

Each run of the installed script is stopped by `strace` before its n-th call. The suite takes a sample, and all calls
from where the hook begins to write; with `POG_TEST_EVERY_CALL=1` in the environment it takes every one.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pogstore.work import spool, spooled
from pogstore.work.spooled_record import decode_record
from tests.conftest import Repo

SCRIPT = str(Path(sys.executable).parent / "git-pog")
EVERY = os.environ.get("POG_TEST_EVERY_CALL", "") not in ("", "0")  # read before the environment of tests is sealed
STRIDES = {"Edit": 7, "Bash": 97}
"""Of the calls before the first that writes, how many are passed over: they are those of Python's own start."""
BEGINS = 'current"'

pytestmark = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")


@pytest.fixture
def enabled(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A repository in which recording is wanted, and processes of which nobody measures the coverage."""
    for name in [name for name in os.environ if name.startswith("COV")]:
        monkeypatch.delenv(name)
    spooled.prepare(spool_of(repo))
    spooled.write_settings(spool_of(repo), max_blob=spool.MAX_BLOB, sync=True, drain=False)
    return repo


def spool_of(repo: Repo) -> Path:
    return repo.path / ".git" / "pog" / "spool"


def said(repo: Repo, tool: str, number: int) -> bytes:
    given = {"file_path": "README", "command": "make"}
    members = {"session_id": "s", "tool_name": tool, "tool_input": given, "tool_use_id": str(number)}
    return json.dumps({"hook_event_name": "PostToolUse", "cwd": str(repo.path), **members}).encode()


def traced(repo: Repo, payload: bytes, *options: str) -> int:
    command = ["strace", "-o", str(repo.path.parent / "trace"), *options, SCRIPT, "hook", "claude-code"]
    done = subprocess.run(command, input=payload, capture_output=True, check=False, timeout=60)
    assert (done.stdout, done.stderr) == (b"", b"")
    return done.returncode


def calls(repo: Repo, tool: str) -> list[str]:
    """Returns the calls of a run that nobody stops; skips where this machine lets nobody trace."""
    if traced(repo, said(repo, tool, 0)) != 0 or taken(repo) != [said(repo, tool, 0)]:
        pytest.skip("strace cannot trace here")
    lines = (repo.path.parent / "trace").read_text(errors="replace").splitlines()
    return [line for line in lines if not line.startswith(("---", "+++"))]


def taken(repo: Repo) -> list[bytes]:
    """Takes what is whole in the spool and returns the payloads."""
    found = []
    for path in spooled.take(spool_of(repo)):
        parts = list(spooled.read(path))
        found += [decode_record(part.record).payload for part in parts if isinstance(part, spooled.Good)]
        assert sum(isinstance(part, spooled.Damaged) for part in parts) <= 1
        path.unlink()
    return found


def injection(listed: list[str], nth: int) -> str:
    """Returns how `strace` is told to kill at the n-th call: it counts the calls of each name by themselves."""
    names = [line.partition("(")[0] for line in listed[:nth]]
    return f"inject={names[-1]}:signal=KILL:when={names.count(names[-1])}"


def chosen(listed: list[str], tool: str) -> list[int]:
    writes = next(at for at, line in enumerate(listed, 1) if BEGINS in line and "O_APPEND" in line)
    if EVERY:
        return list(range(1, len(listed) + 1))
    return [*range(1, writes, STRIDES[tool]), *range(writes, len(listed) + 1)]


@pytest.mark.parametrize("tool", STRIDES)
def test_killed_before_any_call_a_record_is_wholly_there_or_not_at_all(enabled: Repo, tool: str) -> None:
    (enabled.path / "README").write_bytes(b"changed\n")
    listed = calls(enabled, tool)
    kept = acknowledged = 0
    for nth in chosen(listed, tool):
        payload = said(enabled, tool, nth)
        # somebody has written before, and somebody will after
        spool.append(os.fsencode(spool_of(enabled)), before(enabled, b"before"), sync=False)
        status = traced(enabled, payload, "-e", injection(listed, nth))
        assert status in (0, -signal.SIGKILL), "the number of calls varies a little, and a run may come to its end"
        spool.append(os.fsencode(spool_of(enabled)), before(enabled, b"after"), sync=False)
        found = taken(enabled)
        assert found in ([b"before", b"after"], [b"before", payload, b"after"])
        assert status != 0 or payload in found
        kept += payload in found
        acknowledged += status == 0
    figures = f"{len(listed)} calls, {len(chosen(listed, tool))} kills, {kept} records, {acknowledged} ends"
    print(tool, figures)  # noqa: T201 - what `pytest -s` is asked for
    assert kept > acknowledged, "some were killed between the write and their end"


def before(repo: Repo, payload: bytes) -> bytes:
    git_dir = os.fsencode(repo.path / ".git")
    return spool.encode_record(
        record_id=payload.hex(),
        agent="claude-code",
        event="Stop",
        time=0,
        offset=0,
        git_dir=git_dir,
        common_dir=git_dir,
        root=os.fsencode(repo.path),
        payload=payload,
        whole=True,
    )
