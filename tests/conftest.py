"""The sealed environment of every test, and the fixtures `repo`, `make_repo` and `pog`.

A test sees no configuration, no identity, no clock and no language but those given here. `make_repo` and `pog` use the
real `git` and, through its dispatch, the real `git-pog` of the interpreter that runs the tests.
"""

import gc
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pygit2
import pytest
from hypothesis import HealthCheck, settings

from pogstore.work import environment as pog_environment
from tests.builders_templates import enable, put

STARTED = 1_767_603_600_000_000
"""When every test begins: 2026-01-05 09:00 UTC, in µs since the epoch."""
SECOND = 1_000_000
NAME, EMAIL = "Ada Example", "ada@example.org"
GITCONFIG = f"""\
[user]
\tname = {NAME}
\temail = {EMAIL}
[init]
\tdefaultBranch = main
[gc]
\tauto = 0
[core]
\tfsync = none
[pog]
\tautoDrain = false
\tenvTools = git
"""
MEASURED = 10
"""Examples of a property of which coverage is measured."""
REMOVED = ("GIT_", "POG_", "XDG_", "LC_", "CLAUDE", "CODEX_", "CURSOR_", "GEMINI_", "OPENCODE")
FORGOTTEN = (
    "CI",
    "LANG",
    "LANGUAGE",
    "EDITOR",
    "VISUAL",
    "EMAIL",
    "FORCE_COLOR",
    "CLICOLOR_FORCE",
    "BASH_ENV",
    "ENV",
    "LESS",
)

settings.register_profile(
    "ci",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("deep", database=None, deadline=None, max_examples=5000)
settings.load_profile("ci")


def sealed(environ: Mapping[str, str], home: Path) -> dict[str, str]:
    """Returns an environment in which nothing of the machine shows; writes git's global configuration into `home`."""
    (home / ".gitconfig").write_text(GITCONFIG)
    date = "2026-01-05T09:00:00+00:00"
    kept = {name: value for name, value in environ.items() if not name.startswith(REMOVED) and name not in FORGOTTEN}
    return kept | {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_DATA_HOME": str(home / ".local" / "share"),
        "XDG_STATE_HOME": str(home / ".local" / "state"),
        # libgit2 looks for $HOME/.gitconfig and git for the variable: one file serves both
        "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_DATE": date,
        "GIT_COMMITTER_DATE": date,
        "GIT_EDITOR": "false",
        "GIT_TERMINAL_PROMPT": "0",
        "TZ": "UTC",
        "LC_ALL": "C.UTF-8",
        "NO_COLOR": "1",
        "COLUMNS": "100",
        "PAGER": "cat",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{environ.get('PATH', os.defpath)}",
    }


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Hides what pytest knows of all tests from the collector of garbage, which would go over it again and again.

    It is a quarter of a million objects, and stays to the end.
    """
    gc.disable()
    yield
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Measures coverage of the first examples of a property alone: it doubles the time of each."""
    tracer, found = sys.gettrace(), getattr(getattr(item, "obj", None), "hypothesis", None)
    if tracer is None or found is None:
        yield
        return
    inner, number = found.inner_test, count()

    @wraps(inner)
    def example(*given: Any, **named: Any) -> Any:
        if next(number) == MEASURED:
            sys.settrace(None)
        return inner(*given, **named)

    found.inner_test = example
    yield
    found.inner_test = inner
    sys.settrace(tracer)


@pytest.fixture(scope="session", autouse=True)
def libgit2_sealed() -> None:
    """Lets libgit2, which settled its search paths when it was loaded, find no configuration of the machine."""
    levels = pygit2.enums.ConfigLevel
    for level in (levels.SYSTEM, levels.XDG, levels.GLOBAL):
        pygit2.settings.search_path[level] = ""


@pytest.fixture(scope="session", autouse=True)
def files_enough() -> None:
    """Lets this process have many files open: a store that a test leaves open is closed when it is collected."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 16384 if hard == resource.RLIM_INFINITY else min(hard, 16384)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))


@pytest.fixture(scope="session", autouse=True)
def signals_heard() -> None:
    """Lets children hear signals from a terminal, also where a shell runs the tests in its background, deaf to them."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)


@pytest.fixture(scope="session", autouse=True)
def environment_of_all(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Seals the environment for fixtures that serve many tests: they are made before that of a test is."""
    with pytest.MonkeyPatch.context() as patch:
        seal(patch, tmp_path_factory.mktemp("home"))
        yield


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Directories that are not there yet, apart from those of tests: pytest looks through all of these for each."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in count())


@pytest.fixture(autouse=True)
def environment(homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Seals the environment of one test, with a home of its own."""
    home = next(homes)
    home.mkdir()
    seal(monkeypatch, home)
    time.tzset()


def seal(patch: pytest.MonkeyPatch, home: Path) -> None:
    """Seals the environment as long as a patch holds."""
    wanted = sealed(os.environ, home)
    for name in os.environ.keys() - wanted.keys():
        patch.delenv(name)
    for name, value in wanted.items():
        patch.setenv(name, value)


@pytest.fixture(autouse=True)
def few_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets this process ask one tool for its version, as the configuration of those it starts says: each costs 10 ms.

    libgit2 reads no configuration of ours here.
    """
    monkeypatch.setattr(pog_environment, "TOOLS", ("git",))


def run(
    command: Sequence[str], cwd: Path, stdin: str | bytes | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs a command; what it prints is decoded so that every byte can be had back (surrogateescape)."""
    given = stdin.encode() if isinstance(stdin, str) else stdin or b""
    variables = {**os.environ, **(env or {})}
    done = subprocess.run(command, cwd=cwd, input=given, env=variables, capture_output=True, timeout=120, check=False)
    stdout, stderr = (output.decode(errors="surrogateescape") for output in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(done.args, done.returncode, stdout, stderr)


class Repo(NamedTuple):
    """A real git repository: `path` is its work tree, or itself if it is bare."""

    path: Path

    def git(
        self,
        *args: str,
        check: bool = True,
        input: str | bytes | None = None,  # noqa: A002 (the word of subprocess.run)
        env: Mapping[str, str] | None = None,
    ) -> str:
        """Runs git in the repository; returns its standard output without the last newline."""
        done = run(["git", *args], self.path, input, env)
        if check and done.returncode:
            raise AssertionError(f"git {' '.join(args)}: status {done.returncode}\n{done.stderr}")
        return done.stdout.removesuffix("\n")

    def commit(self, files: Mapping[str, str | bytes] = {}, message: str = "change") -> str:
        """Writes some files, commits the whole work tree and returns the commit's oid."""
        for name, text in files.items():
            path = self.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode() if isinstance(text, str) else text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def make_repo(tmp_path: Path) -> Callable[..., Repo]:
    """Makes repositories beside each other; takes git init's options: `make_repo("s.git", "--bare", commit=False)`."""

    def make(name: str = "repo", *options: str, commit: bool = True) -> Repo:
        def begin(path: Path) -> None:
            Repo(path).git("init", "--quiet", *options)
            if commit:
                Repo(path).commit({"README": "a project\n"}, "first")

        put((options, commit), tmp_path / name, begin)
        return Repo(tmp_path / name)

    return make


@pytest.fixture
def repo(make_repo: Callable[..., Repo]) -> Repo:
    """A repository with one commit that holds one file, README."""
    return make_repo()


class Answer(NamedTuple):
    """What one command said, and its exit status."""

    stdout: str
    stderr: str
    status: int

    @property
    def json(self) -> Any:
        """The one JSON value that a command with `--json` printed."""
        return json.loads(self.stdout)


class Pog:
    """Runs `git pog …` as a person does; each command finds the clock one second further on."""

    def __init__(self, cwd: Path) -> None:
        self.cwd = cwd
        self.now = STARTED

    def __call__(
        self,
        *args: str,
        cwd: Path | None = None,
        stdin: str | bytes | None = None,
        status: int | None = 0,
        env: Mapping[str, str] | None = None,
    ) -> Answer:
        """Runs one command and expects an exit status; with `status=None` any will do."""
        self.now += SECOND
        done = run(["git", "pog", *args], cwd or self.cwd, stdin, {"POG_NOW": str(self.now), **(env or {})})
        answer = Answer(done.stdout, done.stderr, done.returncode)
        if status is not None and answer.status != status:
            said = answer.stdout + answer.stderr
            raise AssertionError(f"git pog {' '.join(args)}: status {answer.status}, not {status}\n{said}")
        return answer

    def init(self) -> None:
        """Leaves what `git pog init` leaves, for tests that need no process to do so."""
        enable(self.cwd, "a process", lambda path: Pog(path)("init"))
        self.now += SECOND


@pytest.fixture
def pog(repo: Repo) -> Pog:
    """Runs `git pog …`, in `repo` unless `cwd` says otherwise."""
    if not (Path(sys.executable).parent / "git-pog").exists():
        pytest.fail("git-pog is not installed beside this Python: run pip install -e '.[dev]'")
    return Pog(repo.path)
