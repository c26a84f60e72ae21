"""Tests of the entry point through git's own dispatch: help, usage, exit statuses, and standard streams that fail."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from pogstore.cli import main
from pogstore.cli._manual import Page, pages
from pogstore.cli._table import COMMANDS, PLUMBING, PORCELAIN
from pogstore.cli.hook import AGENTS
from tests.cli.conftest import Here
from tests.conftest import Answer, Pog, Repo

PAGES = list(pages(COMMANDS))
SELDOM_OUTSIDE = (
    "demo",
    "help",
    "version",
    "hook",
    *(f"hook {name}" for name in AGENTS),
    "hook generic",
    "hook pre-push",
    "agent",
    "agent test",
    "env",
)
"""What needs no repository."""
ARGUMENTS = {
    "new": ["a title"], "note": ["x"], "decide": ["x"], "check": ["1"], "move": ["pending"], "why": ["a:1"],
    "rollback": ["@"], "review": ["--approve"], "import pog-task": ["."], "import claude-code": ["."],
    "import codex": ["."], "import gemini": ["."],
    "edit": ["--tag", "x"], "run": ["true"], "agent add": ["claude-code"],
    "agent remove": ["claude-code"], "agent test": ["claude-code"],
    "point": ["v1"], "restore": ["v1"], "env diff": ["@"],
}  # fmt: skip
"""What a command must be given so that it is used rightly."""


def words(path: str) -> list[str]:
    """Returns the words of a command with the arguments that it needs."""
    return [*path.split(), *ARGUMENTS.get(path, [])]


@pytest.mark.parametrize("arguments", [(), ("-h",), ("help",)], ids=" ".join)
def test_the_overview_lists_the_daily_commands(pog: Pog, arguments: tuple[str, ...]) -> None:
    said = pog(*arguments)
    assert said.stderr == ""
    for title, section in PORCELAIN.items():
        assert f"\n{title}:\n" in said.stdout
        for name, line in section.items():
            assert re.search(rf"^  {name} +{re.escape(line[:40])}", said.stdout, re.MULTILINE)
    assert "Plumbing" not in said.stdout
    assert "Exit status: 0 done" in " ".join(said.stdout.split())


def test_help_a_lists_the_plumbing_too(anywhere: Here) -> None:
    shown = anywhere("help", "-a").stdout
    assert shown == anywhere("help", "--all").stdout
    assert all(re.search(rf"^  {name} ", shown, re.MULTILINE) for name in COMMANDS)
    listed = anywhere("help", "-a", "--json").json
    assert [entry["command"] for entry in listed] == list(COMMANDS)
    assert {entry["section"] for entry in anywhere("help", "--json").json} == set(PORCELAIN)
    assert set(PLUMBING) == {"Plumbing"}


def test_the_overview_imports_no_command() -> None:
    code = "import sys; from pogstore.cli.main import run; run([]); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert "click" in loaded
    assert not {"pygit2", "pogstore.store", "pogstore.cli.list"} & loaded


def test_a_line_of_the_overview_is_that_of_the_command(anywhere: Here) -> None:
    for sections in (PORCELAIN, PLUMBING):
        for section in sections.values():
            for name, line in section.items():
                first = anywhere("help", name, "--json").json["help"].split("\n\n")[0]
                rest = " ".join(first.split()).removeprefix(line)
                assert rest == "" or rest[0] in ",:;", f"{name}: {line!r} does not begin {first!r}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.path)
def test_every_command_explains_itself(page: Page, anywhere: Here) -> None:
    """Style A16 and A20: an imperative first line without a full stop; exit statuses at the end."""
    said = anywhere(*page.path.split(), "-h")
    assert said.stdout == anywhere(*page.path.split(), "--help").stdout == anywhere("help", *page.path.split()).stdout
    assert said.stdout.startswith(f"Usage: git pog {page.path} ")
    assert said.stderr == ""
    first = page.paragraphs[0]
    assert first[0].isupper()
    assert not first.endswith(".")
    assert ". " not in first
    assert not first.split()[0].endswith(("s", "ing")), f"not an imperative: {first}"
    last = said.stdout.strip().split("\n\n")[-1]
    assert last.split()[:4] == ["Exit", "status:", "0", "done"]
    assert all(f"{number} {meaning}" in " ".join(last.split()) for number, meaning in page.exits.items())
    assert 2 not in page.exits
    assert {0, 128, 129} <= page.exits.keys()
    assert all(text.endswith(".") for text in page.options.values()), page.options


@pytest.mark.parametrize("name", ["show", "list"])
def test_help_comes_through_the_dispatch_of_git(pog: Pog, name: str) -> None:
    assert pog(name, "--help").stdout == pog(name, "-h").stdout != ""


def test_help_for_programs(anywhere: Here) -> None:
    found = anywhere("help", "claim", "--json").json
    assert found["usage"] == "git pog claim [OPTIONS] [TASK]"
    said = "Claim again what you hold: as it is now, with a new lease."
    assert {"names": ["--renew"], "value": False, "help": said} in found["options"]
    assert found["exits"]["1"] == "somebody holds it, or it has ended"
    assert anywhere("help", "import", "--json").json["commands"] == ["claude-code", "codex", "gemini", "pog-task"]


def test_the_version(pog: Pog, anywhere: Here) -> None:
    """Case UC-46: never through a pager."""
    said = pog("--version", env={"GIT_PAGER": "false", "PAGER": "false"}).stdout
    assert re.fullmatch(r"pogstore \d+\.\d+\.\d+\n", said)
    assert anywhere("version").stdout == said.replace("\n", " (format 1)\n")
    assert anywhere("version", "--json").json == {"pogstore": said.split()[1], "format": 1}
    assert anywhere("--version", "list").stdout == said


def test_option_c_changes_the_directory(anywhere: Here, repo: Repo) -> None:
    assert anywhere("-C", str(repo.path), "list", "--json").json == []
    said = anywhere("-C", "nowhere", "list", status=128)
    assert said.stderr == "error: cannot change to 'nowhere': No such file or directory\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lst"], "no such command: 'lst'; did you mean 'list'?"),
        (["help", "shwo"], "no such command: 'shwo'; did you mean 'show'?"),
        (["help", "list", "x"], "'list' has no commands of its own: unexpected argument 'x'"),
        (["help", "agent", "x"], "no such command: 'x'"),
        (["new", ""], "TITLE is empty"),
        (["import"], "missing command"),
        (["import", "gitlab"], "no such command 'gitlab'"),
        (["move", "finished"], "'finished' is not one of"),
        (["new", "x", "--estimate", "soon"], "'soon' is not a whole number\n"),
        (["context", "--budget", "abc"], "invalid value for '--budget': 'abc' is not a whole number\n"),
        (["check", "0"], "0 is less than 1\n"),
        (["new", "x", "--priority", "wrong"], "'wrong' is not one of critical, urgent, high, medium, low\n"),
        (["edit", "x", "--priority", "wrong"], "'wrong' is not one of critical, urgent, high, medium, low\n"),
        (["done", "--task", "x"], "'--task': the task is an argument here, as in 'git pog done [TASK]'\n"),
        (["log", "--task", "x"], "the task is an argument here, as in 'git pog log [TASK]... [--] [PATH]...'\n"),
        (["list", "--task", "x"], "no such option '--task'"),
        (["claim", "--lease", "0"], "is no time such as 90s, 30m, 2h or 1d"),
        (["log", "-n", "-1"], "-1 is less than 0\n"),
        (["log", "--json", "--oneline"], "--oneline and --json cannot be combined"),
        (["log", "--jsonl", "--json"], "--jsonl and --json cannot be combined"),
        (["blame", "--json", "--porcelain"], "--porcelain and --json cannot be combined"),
        (["why", "README"], "'README' is not FILE:LINE"),
        (["why", "README:²"], "is not FILE:LINE"),
        (["why", "README:" + "9" * 5000], "is not FILE:LINE"),
        (["list", "--status", "finished"], "no such status: 'finished'; there are pending,"),
        (["log", "--kind", "notes"], "no such kind: 'notes'; there are defined,"),
        (["review", "--approve", "--reject"], "--approve and --reject cannot be combined"),
        (["review"], "one of --approve and --reject is needed"),
        (["edit"], "nothing to amend"),
        (["note", "x", "--topic", "two words"], "--topic is one word"),
        (["blame", "HEAD", "HEAD", "--", "README"], "only one revision can be blamed"),
        (["rollback"], "missing argument"),
        (["note"], "missing argument 'TEXT|-'"),
    ],
    ids=lambda value: " ".join(value)[:30] if isinstance(value, list) else None,
)  # fmt: skip
def test_wrong_usage_is_129(here: Here, arguments: list[str], message: str) -> None:
    said = here(*arguments, status=129)
    assert said.stdout == ""
    assert message.lower() in said.stderr.lower()
    if "--json" in arguments or "--jsonl" in arguments:
        error = json.loads(said.stderr)["error"]
        assert (error["code"], error["retryable"]) == ("usage", False)
    else:
        assert said.stderr.startswith("error: ")
        assert re.search(r"^hint: try 'git pog.* -h'$", said.stderr, re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.path)
def test_an_unknown_option_is_129(page: Page, anywhere: Here) -> None:
    said = anywhere(*page.path.split(), "--no-such-option", *ARGUMENTS.get(page.path, []), status=129)
    assert "no such option" in said.stderr.lower()


@pytest.mark.parametrize(
    "path", [page.path for page in PAGES if page.path not in (*SELDOM_OUTSIDE, "import")], ids=lambda path: path
)
def test_outside_a_repository_is_128(path: str, anywhere: Here) -> None:
    """Case PC-102."""
    (anywhere.cwd / "list").mkdir()  # what an import of task files looks for first
    said = anywhere(*words(path), status=128)
    assert said.stdout == ""
    assert said.stderr == f"error: not a git repository: '{anywhere.cwd}'\n"


def test_dispatch_keeps_the_exit_status(pog: Pog, tmp_path: Path) -> None:
    assert pog("list", cwd=tmp_path, status=None).status == 128
    assert pog("list", "--what", status=None).status == 129
    assert pog("ready", status=None).status == 1


def test_every_documented_status_is_one_of_ours() -> None:
    ours = {0, 1, 3, 4, 128, 129}
    assert {number for page in PAGES if page.path != "run" for number in page.exits} <= ours
    (run,) = [page for page in PAGES if page.path == "run"]
    assert set(run.exits) <= ours | {126, 127}, "what a shell says of a command that it cannot start"


class Broken(Exception):
    """Something that nobody foresaw."""


def caused(fault: BaseException, before: BaseException) -> BaseException:
    """Returns an error that was raised while another was handled."""
    fault.__context__ = before
    return fault


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (Broken("\x1b[31m"), 128),
        (Broken(), 128),
        (SystemExit(2), 128),
        (OSError(28, "No space left on device"), 128),
        (KeyboardInterrupt(), 130),
        (click.Abort(), 130),
        (caused(ImportError("half loaded"), KeyboardInterrupt()), 130),
        (caused(Broken(), caused(ImportError(), KeyboardInterrupt())), 130),
        (caused(Broken(), ValueError()), 128),
        (click.exceptions.Exit(2), 128),
        (BrokenPipeError(), 0),
        (RecursionError("deep"), 128),
    ],
    ids=repr,
)
def test_whatever_happens_never_ends_with_2(
    fault: BaseException, status: int, anywhere: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> int:
        raise fault

    monkeypatch.setattr(main, "_invoke", fail)
    said = anywhere("list", status=status)
    assert "\x1b" not in said.stderr
    assert said.stdout == ""
    assert status != 130 or said.stderr == ""


def test_a_fault_of_ours_can_be_looked_into(anywhere: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> int:
        raise Broken("what?")

    monkeypatch.setattr(main, "_invoke", fail)
    assert anywhere("list", status=128).stderr == (
        "error: Broken: what?\nhint: this is a fault of git pog; POG_DEBUG=1 shows where\n"
    )
    assert "Traceback" in anywhere("list", status=128, POG_DEBUG="1").stderr


def test_python_m_is_the_same(repo: Repo) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pogstore", "list", "--json"], cwd=repo.path, capture_output=True, check=True
    )
    assert done.stdout == b"[]\n"


# Standard streams. A shell is what closes and redirects them, and what people do it with.


def shell(repo: Repo, script: str, **env: str) -> Answer:
    """Runs a script in a repository."""
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", script],
        cwd=repo.path, env={**os.environ, **env}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    return Answer(done.stdout, done.stderr, done.returncode)


@pytest.fixture
def busy(pog: Pog, repo: Repo) -> Repo:
    """A repository whose log is longer than a pipe is."""
    pog("init")
    pog("new", "a task", "--start")
    pog("note", "-", stdin="a long line of a long note\n" * 10_000)
    return repo


def test_streams_that_are_closed_are_no_fault(busy: Repo) -> None:
    """As for git: what cannot be written goes nowhere, and no file of ours gets the number of a closed stream."""
    assert shell(busy, "git pog list >&-") == ("", "", 0)
    assert shell(busy, "git pog list --json >&- 2>&-") == ("", "", 0)
    assert shell(busy, "git pog list <&- | grep -c 'a task'") == ("1\n", "", 0)
    assert shell(busy, "git pog note - <&-").status == 128
    assert shell(busy, "git pog show nothing 2>&-") == ("", "", 128)
    assert shell(busy, "git pog note closed >&- 2>&- <&-") == ("", "", 0)
    assert busy.git("status", "--porcelain") == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk_is_reported(busy: Repo) -> None:
    for command in ("list", "log", "-h"):
        said = shell(busy, f"git pog {command} > /dev/full")
        assert (said.status, said.stderr) == (128, "error: input or output: No space left on device\n"), command
    said = shell(busy, "git pog list --json > /dev/full")
    assert (said.status, json.loads(said.stderr)["error"]["code"]) == (128, "io")
    assert shell(busy, "git pog show nothing 2> /dev/full").status == 128


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_what_is_done_and_cannot_be_told_is_said_to_be_done(pog: Pog, busy: Repo) -> None:
    """Only of what was done: a dry run, and a command that reads, do nothing."""
    lost = "error: input or output: No space left on device\n"
    done = "hint: it is done and recorded all the same; only what it prints is lost\n"
    assert shell(busy, "git pog note x > /dev/full") == ("", lost + done, 128)
    assert shell(busy, "git pog log > /dev/full") == ("", lost, 128)
    assert shell(busy, "git pog run -- sh -c 'echo a > f'").status == 0
    event = pog("show", "@@{1}", "--json").json["id"]
    said = shell(busy, f"git pog rollback -n {event} > /dev/full")
    assert (said.status, said.stderr.splitlines(keepends=True)[1:]) == (128, [lost])
    assert (busy.path / "f").exists()
    said = shell(busy, f"git pog rollback {event} > /dev/full")
    assert (said.status, said.stderr.splitlines(keepends=True)[1:]) == (128, [lost, done])
    assert not (busy.path / "f").exists()
    said = shell(busy, "git pog undo --json > /dev/full")
    assert (said.status, json.loads(said.stderr)["error"]["hint"]) == (128, done.removeprefix("hint: ").rstrip("\n"))
    assert (busy.path / "f").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_what_a_command_prints_that_cannot_be_shown_is_no_success(busy: Repo) -> None:
    said = shell(busy, "git pog run -- echo hi > /dev/full")
    assert said == ("", "warning: not all that the command printed could be shown: No space left on device\n", 1)
    assert "hi" in shell(busy, "git pog show '@@{1}'").stdout
    assert shell(busy, "git pog run -- sh -c 'echo hi; exit 3' > /dev/full").status == 3
    assert shell(busy, "git pog run -- sh -c 'echo hi >&2' 2> /dev/full").status == 1
    assert shell(busy, "git pog run -- seq 100000 | true").status in (0, 141)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("form", ["", "--porcelain", "--json"])
def test_a_blame_that_cannot_be_printed_says_so_on_each_of_its_ways(busy: Repo, form: str) -> None:
    """Worked out, at once and by the long way, and known from before."""
    busy.commit({"a.txt": "one line\n"})
    command = f"{sys.executable} {Path(main.__file__).with_name('git-pog')} blame {form} a.txt"
    for script in ("{} > /dev/full", "{} > /dev/null; {} > /dev/full", "POG_NOW=1 {} > /dev/full"):
        said = shell(busy, script.replace("{}", command))
        assert said.status == 128, script
        assert "input or output: No space left on device" in said.stderr
        assert said.stderr.count("\n") == 1
        assert said.stderr.startswith('{"error"' if form == "--json" else "error: ")
    assert shell(busy, f"{command} | true").stderr == ""


def test_a_reader_that_goes_away_is_no_fault(busy: Repo) -> None:
    assert shell(busy, "git pog log | head -n 1").stderr == ""
    assert shell(busy, "git pog log | head -n 1").status == 0
    assert shell(busy, "git pog log --json | true").status == 0
    assert shell(busy, "git pog --version | true").status == 0


@pytest.mark.parametrize("locale", ["C", "POSIX", "de_DE.ISO-8859-1"])
def test_output_is_utf_8_whatever_the_locale(pog: Pog, locale: str) -> None:
    """As git's: what it keeps is UTF-8, and what it prints too."""
    env = {"LC_ALL": locale, "PYTHONIOENCODING": "latin-1"}
    pog("init")
    pog("new", "Grüße, 日本", "--start", env=env)
    assert pog("list", "--json", env=env).json[0]["title"] == "Grüße, 日本"
    assert "Grüße, 日本" in pog("list", env=env).stdout
    assert pog("note", "-", stdin=b"\xe9", status=128, env=env).stderr == (
        "error: TEXT: standard input is not UTF-8 (byte 0)\n"
    )
    assert pog("show", "nö", status=128, env=env).stderr.startswith("error: no task or event matches 'nö'\n")


@pytest.mark.parametrize("whole_group", [True, False], ids=["terminal", "kill"])
def test_an_interrupt_is_130(busy: Repo, whole_group: bool) -> None:
    """Ctrl-C reaches git and us, and git passes its own on; `kill` reaches us alone."""
    command = ["git", "pog", "note", "-"] if whole_group else [sys.executable, "-m", "pogstore", "note", "-"]
    with subprocess.Popen(
        command, cwd=busy.path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        process.stdin.write(b"x" * (1 << 20))  # more than a pipe holds: once it is written, it is being read
        process.stdin.flush()
        time.sleep(0.3)  # and then the reader waits for more
        (os.killpg if whole_group else os.kill)(process.pid, signal.SIGINT)
        process.wait(timeout=30)
        assert process.stdout is not None
        assert process.stderr is not None
        assert (process.stdout.read(), process.stderr.read()) == (b"", b"")
    assert process.returncode in (130, -signal.SIGINT)
    assert "x" * 50 not in busy.git("log", "--all", "--format=%B")
