"""Git is asked in bounded time, in the repository that is meant, and leaves no process behind."""

import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pogstore.store import spawn
from tests.conftest import Repo

LIMIT = 100_000


def run(cwd: Path, *arguments: str, seconds: float = 10.0, limit: int = LIMIT) -> bytes | None:
    deadline = time.monotonic() + seconds
    given = [os.fsencode(argument) for argument in arguments]
    return spawn.run(given, cwd=os.fsencode(cwd), environ={b"GIT_OPTIONAL_LOCKS": b"0"}, deadline=deadline, limit=limit)


def open_files() -> set[str]:
    return {path.name for path in Path("/dev/fd").iterdir()}


@pytest.fixture(autouse=True)
def nothing_left() -> object:
    """No test leaves a descriptor open or a child that nobody has waited for."""
    gc.collect()  # what tests before this left open is closed when it is found
    before = len(open_files())
    yield
    gc.collect()
    assert len(open_files()) == before
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


@pytest.fixture
def instead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Puts a script in the place of git; returns a file that the script may write to, as `$OUT`."""

    def put(script: str) -> Path:
        program = tmp_path / "bin" / "git"
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\nOUT={tmp_path}/out\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
        return tmp_path / "out"

    return put


def test_what_git_prints_is_returned_and_its_failure_is_none(repo: Repo) -> None:
    assert run(repo.path, "rev-parse", "HEAD") == repo.git("rev-parse", "HEAD").encode() + b"\n"
    assert run(repo.path, "status", "--no-such-option") is None
    assert run(repo.path / "nowhere", "status") is None


def test_it_asks_the_repository_that_is_meant(repo: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Case PC-71: hooks of git export a repository, a work tree and an index, which would win over a directory."""
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_TRACE"):
        monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
    assert run(repo.path, "ls-files") == b"README\n"
    assert not (tmp_path / "elsewhere").exists()


def test_a_person_s_configuration_counts_and_no_repository_does() -> None:
    kept = {b"GIT_CONFIG_GLOBAL": b"g", b"GIT_CONFIG_COUNT": b"1", b"GIT_EXEC_PATH": b"e", b"HOME": b"h"}
    lost = {b"GIT_DIR": b"d", b"GIT_CONFIG": b"c", b"GIT_TRACE": b"1", b"GIT_CEILING_DIRECTORIES": b"/"}
    found = spawn.environment({**kept, **lost, b"LC_ALL": b"de_DE"}, {b"GIT_INDEX_FILE": b"i"})
    assert found == {
        **kept,
        b"GIT_INDEX_FILE": b"i",
        b"LC_ALL": b"C",
        b"LANGUAGE": b"",
        b"GIT_TERMINAL_PROMPT": b"0",
        b"GIT_NO_LAZY_FETCH": b"1",
    }


def test_a_git_that_takes_too_long_is_killed_with_all_that_it_started(
    repo: Repo, instead: Callable[[str], Path]
) -> None:
    out = instead("sleep 60 & echo $! > $OUT; echo $$ >> $OUT; echo begun; sleep 60")
    begun = time.monotonic()
    with pytest.raises(TimeoutError):
        run(repo.path, "status", seconds=0.3)
    assert 0.3 <= time.monotonic() - begun < 5
    for pid in map(int, out.read_text().split()):
        assert not alive(pid)


def test_a_git_that_closes_its_output_and_does_not_end_is_killed(repo: Repo, instead: Callable[[str], Path]) -> None:
    instead("exec >&-; sleep 60")
    with pytest.raises(TimeoutError):
        run(repo.path, "status", seconds=0.2)


def test_more_than_the_limit_is_refused_at_once(repo: Repo, instead: Callable[[str], Path]) -> None:
    instead("yes; sleep 60")
    begun = time.monotonic()
    with pytest.raises(OverflowError):
        run(repo.path, "status", limit=5_000_000)
    assert time.monotonic() - begun < 5


def test_without_git_it_says_so(repo: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "git").mkdir()
    (tmp_path / "no").mkdir()
    (tmp_path / "no" / "git").write_text("not executable")
    monkeypatch.setenv("PATH", f"{tmp_path}:{tmp_path / 'no'}:/nowhere")
    with pytest.raises(FileNotFoundError):
        run(repo.path, "status")


def test_a_git_of_the_current_directory_is_never_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Threat: a repository that brings a program named git."""
    (tmp_path / "git").write_text("#!/bin/sh\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    for path in (b"", b".", b":", b"bin:."):
        with pytest.raises(FileNotFoundError):
            spawn.find_git(path)
    assert spawn.find_git(b".:" + os.fsencode(tmp_path)) == os.fsencode(tmp_path / "git")


def test_it_waits_for_no_input_and_its_complaints_are_not_ours(
    repo: Repo, instead: Callable[[str], Path], capfd: pytest.CaptureFixture[str]
) -> None:
    instead("cat; echo noise >&2; echo done")
    assert run(repo.path, "status") == b"done\n"
    assert capfd.readouterr() == ("", "")


def test_signals_that_an_agent_ignores_are_not_ignored_by_git(repo: Repo, instead: Callable[[str], Path]) -> None:
    instead("kill -PIPE $$; kill -INT $$; echo survived")
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert run(repo.path, "status") is None
    finally:
        signal.signal(signal.SIGINT, before)


def test_where_children_are_not_waited_for_its_output_counts(repo: Repo) -> None:
    """An agent may start its hooks with SIGCHLD ignored: then nobody learns how a child ended."""
    script = (
        "import os, signal, sys, time\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "from pogstore.store import spawn\n"
        "said = spawn.run([b'ls-files'], cwd=os.fsencode(sys.argv[1]), environ={}, limit=100,"
        " deadline=time.monotonic() + 10)\nprint(said)"
    )
    done = subprocess.run([sys.executable, "-c", script, str(repo.path)], capture_output=True, text=True, check=True)
    assert done.stdout == "b'README\\n'\n"


def alive(pid: int) -> bool:
    """Says whether a process still runs; one that is dead and that init has not taken yet does not."""
    for _ in range(100):
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX":
                return False
        except (ProcessLookupError, FileNotFoundError):
            return False
        time.sleep(0.02)
    return True
