"""One call of a hook: a record where recording is wanted, nothing anywhere else, and never a word to the agent."""

import errno
import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pogstore.agents import hook
from pogstore.digest import hexdigest
from pogstore.work import spool, spooled
from pogstore.work.spooled_record import Absent, Record, Seen, Unseen, decode_record
from tests.conftest import STARTED, Repo

PROCESS: Final = (
    "import os, sys\nfrom pogstore.agents.hook import main\n"
    "status = main(sys.argv[1:], 0, os.environ)\n{}\nos._exit(status)"
)
"""What the installed command does for a hook."""
LIGHT = {
    *("pogstore", "pogstore.digest", "pogstore.work", "pogstore.work.spool", "pogstore.work.sighting"),
    *("pogstore.work.look", "pogstore.work.looked", "pogstore.work.listed", "pogstore.store", "pogstore.store.spawn"),
    *("pogstore.agents", "pogstore.agents.hook", "pogstore.agents.peek", "pogstore.agents.reached"),
    *("pogstore.agents.behind", "pogstore.agents.dialect", "pogstore.work.unfinished"),
    *("pogstore.interop", "pogstore.interop.patched_paths"),  # which import nothing
    *("blake3", "blake3.blake3", "errno", "fcntl", "select"),
}
"""All that a hook may load beyond what Python itself loads at its start."""


@pytest.fixture
def enabled(repo: Repo) -> Repo:
    """A repository in which recording is wanted."""
    spooled.prepare(directory(repo))
    return repo


def directory(repo: Repo) -> Path:
    return repo.path / ".git" / "pog" / "spool"


def records(repo: Repo) -> list[Record]:
    """Takes all records of a repository."""
    found = []
    for path in spooled.take(directory(repo)):
        for part in spooled.read(path):
            assert isinstance(part, spooled.Good)
            found.append(decode_record(part.record))
        path.unlink()
    return found


def losses(repo: Repo) -> dict[str, int]:
    return {loss.reason: loss.times for loss in spooled.losses(directory(repo))}


def said(event: str, cwd: Path, **members: Any) -> bytes:
    return json.dumps({"session_id": "s", "hook_event_name": event, "cwd": str(cwd), **members}).encode()


def edit(event: str, path: Path | str, cwd: Path, tool: str = "Edit", name: str = "file_path") -> bytes:
    given_input = {name: str(path), "old_string": "a", "new_string": "b"}
    return said(event, cwd, tool_name=tool, tool_input=given_input, tool_use_id="t1")


@contextmanager
def pipe(*pieces: bytes, close: bool = False, gap: float = 0) -> Iterator[int]:
    """A descriptor on which an agent writes; it is closed only if that is asked for (case UC-41)."""
    reads, writes = os.pipe()

    def write() -> None:
        for at, piece in enumerate(pieces):
            time.sleep(gap if at else 0)
            rest = memoryview(piece)
            while rest:
                rest = rest[os.write(writes, rest) :]
        if close:
            os.close(writes)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield reads
    finally:
        writer.join()
        os.close(reads)
        if not close:
            os.close(writes)


def call(payload: bytes, environ: dict[str, str] | None = None, arguments: tuple[str, ...] = ("claude-code",)) -> None:
    with pipe(payload) as stdin:
        assert hook.main(arguments, stdin, environ or {}) == 0


def everything(repo: Repo) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in repo.path.rglob("*") if path.is_file()}


def test_a_prompt_is_recorded_as_it_was_said(enabled: Repo) -> None:
    payload = said("UserPromptSubmit", enabled.path, prompt="fix it é")
    call(payload, {"POG_NOW": str(STARTED), "POG_TASK": "@"})
    (record,) = records(enabled)
    git_dir = os.fsencode(enabled.path / ".git")
    assert len(record.id) == 32
    assert record == Record(
        id=record.id,
        agent="claude-code",
        event="UserPromptSubmit",
        time=STARTED,
        offset=0,
        git_dir=git_dir,
        common_dir=git_dir,
        root=os.fsencode(enabled.path),
        payload=payload,
        whole=True,
        task="@",
        states=(),
        extra={},
    )


def test_each_call_has_an_id_of_its_own_and_the_time_of_the_clock(enabled: Repo) -> None:
    before = time.time_ns() // 1000
    for _ in range(2):
        call(said("Stop", enabled.path), {"POG_NOW": "soon"})
    first, second = records(enabled)
    assert first.id != second.id
    assert before <= first.time <= second.time <= time.time_ns() // 1000


def test_the_offset_is_that_of_the_place(enabled: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "XXX-5:45")
    time.tzset()
    call(said("Stop", enabled.path))
    assert records(enabled)[0].offset == 345


@pytest.mark.parametrize(
    ("tool", "name"), [("Write", "file_path"), ("MultiEdit", "file_path"), ("NotebookEdit", "notebook_path")]
)
def test_an_edit_is_recorded_with_the_file_before_and_after(enabled: Repo, tool: str, name: str) -> None:
    path = enabled.path / "new dir" / "naïve 😀.py"
    call(edit("PreToolUse", path, enabled.path, tool, name))
    path.parent.mkdir()
    path.write_bytes(b"after\n")
    call(edit("PostToolUse", path, enabled.path, tool, name))
    relative = "new dir/naïve 😀.py".encode()
    before, after = records(enabled)
    assert before.states == (Absent(relative),)
    assert after.states == (Seen(relative, "100644", 6, hexdigest(b"after\n"), b"after\n"),)


def test_a_path_may_be_relative_to_where_the_session_is(enabled: Repo) -> None:
    """Case PC-66: the session is in one directory and the file in its sibling."""
    (enabled.path / "frontend").mkdir()
    call(edit("PreToolUse", "../README", enabled.path / "frontend"))
    (record,) = records(enabled)
    assert [state.path for state in record.states] == [b"README"]


@pytest.mark.parametrize(
    "payload",
    [
        lambda path: edit("PreToolUse", path / "README", path, tool="Read"),
        lambda path: edit("PreToolUse", path / "README", path, name="pattern"),
        lambda path: edit("UserPromptSubmit", path / "README", path),
        lambda path: edit("PreToolUse", path / "READ\0ME", path),
        lambda path: edit("PreToolUse", f"{path}/\ud800", path),
    ],
)
def test_a_step_that_edits_no_file_has_no_states(enabled: Repo, payload: Callable[[Path], bytes]) -> None:
    call(payload(enabled.path))
    assert [record.states for record in records(enabled)] == [()]


def test_the_step_goes_to_the_repository_of_the_file(enabled: Repo, make_repo: Callable[..., Repo]) -> None:
    """Case PC-67: the session is in one repository and edits another."""
    other = make_repo("other")
    spooled.prepare(directory(other))
    call(edit("PreToolUse", other.path / "README", enabled.path))
    assert records(enabled) == []
    (record,) = records(other)
    assert record.root == os.fsencode(other.path)
    assert [state.path for state in record.states] == [b"README"]


def test_an_edit_of_a_repository_that_is_not_enabled_is_counted_and_not_told(
    enabled: Repo, make_repo: Callable[..., Repo]
) -> None:
    other = make_repo("other")
    before = everything(other)
    call(edit("PreToolUse", other.path / "README", enabled.path))
    assert everything(other) == before
    assert records(enabled) == []
    assert losses(enabled) == {"elsewhere": 1}


def test_an_edit_outside_of_all_repositories_belongs_to_the_session(enabled: Repo, tmp_path: Path) -> None:
    (tmp_path / "plan.md").write_text("a plan\n")
    (enabled.path / "link").symlink_to(tmp_path)
    for path in (tmp_path / "plan.md", enabled.path / "link" / "plan.md", enabled.path / ".git" / "config"):
        call(edit("PreToolUse", path, enabled.path))
        assert [record.states for record in records(enabled)] == [()]
    assert losses(enabled) == {}


def test_a_linked_work_tree_shares_the_spool(enabled: Repo) -> None:
    enabled.git("worktree", "add", "--quiet", "../linked")
    linked = enabled.path.parent / "linked"
    call(edit("PreToolUse", linked / "README", linked))
    (record,) = records(enabled)
    assert record.root == os.fsencode(linked)
    assert record.git_dir == os.fsencode(enabled.path / ".git" / "worktrees" / "linked")
    assert record.common_dir == os.fsencode(enabled.path / ".git")


def test_the_environment_of_git_leads_nobody_astray(
    enabled: Repo, make_repo: Callable[..., Repo], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case PC-81."""
    other = make_repo("other")
    spooled.prepare(directory(other))
    monkeypatch.setenv("GIT_DIR", str(other.path / ".git"))
    call(said("Stop", enabled.path), dict(os.environ))
    assert len(records(enabled)) == 1
    assert records(other) == []


def test_an_agent_that_does_not_say_where_it_is_is_where_we_are(enabled: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(enabled.path)
    call(b'{"hook_event_name": "Stop", "cwd": "relative"}')
    call(b"no json at all")
    stop, rubbish = records(enabled)
    assert (stop.event, stop.whole) == ("Stop", True)
    assert (rubbish.event, rubbish.whole, rubbish.payload) == ("", False, b"no json at all")


def test_without_consent_nothing_is_written(repo: Repo, tmp_path: Path) -> None:
    before = everything(repo)
    call(edit("PreToolUse", repo.path / "README", repo.path))
    call(said("Stop", tmp_path))
    assert everything(repo) == before
    assert list(tmp_path.iterdir()) == [repo.path]


@pytest.mark.parametrize("value", ["1", "true", "anything"])
def test_the_switch_is_honoured_at_once(enabled: Repo, value: str) -> None:
    """Case PC-124."""
    before = everything(enabled)
    reads, writes = os.pipe()
    started = time.monotonic()
    assert hook.main(("claude-code",), reads, {"POG_DISABLE": value}) == 0
    assert time.monotonic() - started < hook.SILENCE
    os.close(writes)
    os.close(reads)
    assert everything(enabled) == before


@pytest.mark.parametrize("value", ["", "0", "False", "no"])
def test_a_switch_that_is_off_does_not_disable(enabled: Repo, value: str) -> None:
    call(said("Stop", enabled.path), {"POG_DISABLE": value})
    assert len(records(enabled)) == 1


@pytest.mark.parametrize("arguments", [(), ("unknown",), ("-h",)])
def test_an_agent_that_is_unknown_is_not_recorded(enabled: Repo, arguments: tuple[str, ...]) -> None:
    call(said("Stop", enabled.path), arguments=arguments)
    assert records(enabled) == []


def test_the_settings_beside_the_spool_are_used(enabled: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(spool, "_sync", synced.append)
    call(said("Stop", enabled.path))
    assert len(synced) == 1
    spooled.write_settings(directory(enabled), max_blob=4, sync=False)
    call(edit("PreToolUse", enabled.path / "README", enabled.path))
    assert len(synced) == 1
    assert records(enabled)[1].states == (Seen(b"README", "100644", 10, hexdigest(b"a project\n"), None),)


TEXTS = st.text(max_size=9) | st.sampled_from(("\\", '"', "\\\\\\", '\\"', "}", "{", "é", "\U0001f600"))
VALUES = st.recursive(
    TEXTS | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner), max_leaves=9
)


@given(st.dictionaries(TEXTS, VALUES), st.booleans(), st.integers(1, 40))
def test_the_end_of_an_object_is_found_and_nothing_before_it(
    value: dict[str, Any], ascii_only: bool, size: int
) -> None:
    text = b" \n" + json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    end = hook._End()
    reached = [end.reached(text[at : at + size]) for at in range(0, len(text), size)]
    assert reached == [False] * (len(reached) - 1) + [True]


def test_it_does_not_wait_for_the_end_of_the_input() -> None:
    """Case UC-41."""
    started = time.monotonic()
    with pipe(b'{"a": "}', b'"', b"}\n", gap=0.05) as stdin:
        assert hook.read_object(stdin) == (b'{"a": "}"}\n', True)
    assert time.monotonic() - started < hook.SILENCE


@pytest.mark.parametrize("close", [True, False])
def test_a_payload_that_does_not_end_is_kept_as_far_as_it_came(enabled: Repo, close: bool) -> None:
    payload = said("Stop", enabled.path)[:-1]
    started = time.monotonic()
    with pipe(payload, close=close) as stdin:
        hook.main(("claude-code",), stdin, {})
    waited = time.monotonic() - started
    assert waited < hook.SILENCE if close else hook.SILENCE <= waited < hook.SILENCE + 1
    (record,) = records(enabled)
    assert (record.event, record.payload, record.whole) == ("Stop", payload, False)


def test_an_agent_that_says_nothing_is_waited_for_and_no_more(enabled: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook, "PATIENCE", 0.1)
    monkeypatch.chdir(enabled.path)
    call(b"")
    call(b" \n")
    assert records(enabled) == []


def test_an_agent_that_never_ends_is_left_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook, "LONGEST", 0.2)
    with pipe(*[b'{"a":1,'] * 9, gap=0.05) as stdin:
        data, whole = hook.read_object(stdin)
    assert not whole
    assert 2 <= data.count(b"{") <= 8


def test_too_much_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook, "LARGEST", 10)
    with pipe(b'{"a":"' + b"x" * 30, b"") as stdin:
        assert hook.read_object(stdin) == (b'{"a":"' + b"x" * 30, False)


def test_a_payload_of_ten_megabytes_is_recorded(enabled: Repo) -> None:
    content = 'say "hello" \\ \n' * 700_000
    payload = said(
        "PreToolUse", enabled.path, tool_name="Write", tool_input={"content": content, "file_path": "README"}
    )
    assert len(payload) > 10_000_000
    started = time.monotonic()
    call(payload)
    assert time.monotonic() - started < 5
    (record,) = records(enabled)
    assert record.payload == payload
    assert len(record.states) == 1


@contextmanager
def locked(path: Path) -> Iterator[None]:
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(file)


def test_held_locks_cost_a_second_and_are_counted(enabled: Repo) -> None:
    """Threat T24."""
    with locked(directory(enabled) / "current"), locked(directory(enabled).parent / "lost"):
        started = time.monotonic()
        call(said("Stop", enabled.path))
        assert time.monotonic() - started < 2
    assert losses(enabled) == {"locked": 1}
    assert records(enabled) == []


@pytest.mark.parametrize(
    ("fault", "reason"),
    [(OSError(errno.ENOSPC, ""), "full"), (OSError(errno.EROFS, ""), "denied"), (MemoryError(), "failed")],
)
def test_what_cannot_be_recorded_is_counted(
    enabled: Repo, monkeypatch: pytest.MonkeyPatch, fault: BaseException, reason: str
) -> None:
    def failing(*_: object) -> int:
        raise fault

    monkeypatch.setattr(os, "write", failing)
    with (enabled.path.parent / "payload").open("w+b") as file:
        file.write(said("Stop", enabled.path))
        file.seek(0)
        assert hook.main(("claude-code",), file.fileno(), {}) == 0
    assert losses(enabled) == {reason: 1}
    assert records(enabled) == []


def test_a_state_that_cannot_be_had_does_not_cost_the_record(enabled: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object, **__: object) -> int:
        raise OSError(errno.EIO, "")

    (enabled.path / "link").symlink_to("README")
    with monkeypatch.context() as patched:
        patched.setattr(os, "readlink", failing)
        call(edit("PreToolUse", enabled.path / "link", enabled.path))
    assert [record.states for record in records(enabled)] == [(Unseen(b"link", str(errno.EIO)),)]


def test_a_directory_that_is_gone_is_no_trouble(enabled: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = enabled.path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    call(json.dumps({"hook_event_name": "Stop"}).encode())
    call(edit("PreToolUse", enabled.path / "README", gone))
    assert [len(record.states) for record in records(enabled)] == [1]


def test_a_descriptor_that_is_closed_is_no_trouble(enabled: Repo) -> None:
    reads, writes = os.pipe()
    os.close(reads)
    os.close(writes)
    assert hook.main(("claude-code",), reads, {}) == 0
    assert records(enabled) == []


def in_a_process(payload: bytes, script: str = "", agent: str = "claude-code") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", PROCESS.format(script), agent]
    return subprocess.run(command, input=payload, capture_output=True, check=False, timeout=60)


def test_a_process_says_nothing_whatever_it_is_told(enabled: Repo) -> None:
    for payload in (said("Stop", enabled.path), b"", b"\xff", b'{"cwd": 1, "hook_event_name": [}'):
        done = in_a_process(payload)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert len(records(enabled)) == 1


@pytest.mark.parametrize(
    ("agent", "told"),
    [
        ("claude-code", {"hook_event_name": "PostToolUse", "tool_name": "Edit", "tool_input": {"file_path": "README"}}),
        ("claude-code", {"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "true"}}),
        ("generic", {"event": "tool_end", "class": "shell", "input": {"command": "true"}}),
        ("generic", {"event": "tool_end", "class": "edit", "paths": ["README", "other"]}),
    ],
)
def test_a_hook_loads_only_what_is_light(enabled: Repo, agent: str, told: dict[str, Any]) -> None:
    """Case UC-22: what a hook loads is what it costs."""
    listing = "print(*sys.modules, sep='\\n', flush=True)"
    payload = json.dumps({"cwd": str(enabled.path), **told}).encode()
    bare = subprocess.run([sys.executable, "-c", f"import sys; {listing}"], capture_output=True, check=True, timeout=60)
    loaded = set(in_a_process(payload, listing, agent).stdout.decode().split()) - set(bare.stdout.decode().split())
    assert loaded <= LIGHT
    assert "pogstore.agents.hook" in loaded
    assert len(records(enabled)) == 1


def test_killed_while_it_waits_it_leaves_nothing(enabled: Repo) -> None:
    before = everything(enabled)
    command = [sys.executable, "-c", PROCESS.format(""), "claude-code"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(said("Stop", enabled.path)[:20])
        process.stdin.flush()
        time.sleep(0.2)
        process.kill()
    assert process.returncode == -signal.SIGKILL
    assert everything(enabled) == before


def test_the_repository_of_the_user_is_not_touched(enabled: Repo) -> None:
    def own(repo: Repo) -> dict[str, bytes]:
        return {path: data for path, data in everything(repo).items() if "/.git/pog/" not in path}

    before = own(enabled)
    call(edit("PreToolUse", enabled.path / "README", enabled.path))
    assert own(enabled) == before
    assert enabled.git("status", "--porcelain") == ""
