"""`git pog demo`: the main job on a small sample, every command shown with what it printed."""

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import click

from pogstore.cli._options import json_option, pog_command
from pogstore.cli._render import echo, echo_json, safe
from pogstore.errors import BadInput, GitFailed
from pogstore.store import gitcli

RECORDED_ROOT = "/home/ada/tea"
SESSION = "session.jsonl"
FILE = "brew.py"
NAME, EMAIL = "Ada", "ada@example.org"
STARTED = 1_772_442_000  # 2026-03-02 09:00 UTC: the sample session begins an hour later
HOUR = 3600
ASKED = "def strength(minutes):"
"""The first line of what the demo takes out again."""


class Step(NamedTuple):
    """One command of the demo and what it printed."""

    command: str
    output: str


@pog_command("demo")
@click.argument("directory", required=False, type=click.Path(path_type=Path), metavar="[DIRECTORY]")
@json_option
def command(directory: Path | None, as_json: bool) -> None:
    """Show the main job on a small sample, in a scratch repository.

    An agent's session, a person's edit, a rebase; then log, blame, why, rollback and undo, each with the command that
    was run. Works in DIRECTORY, which must be empty or absent, by default in a new one for temporary files. Nothing
    else is touched.
    """
    demo = Demo(_place(directory), quiet=as_json)
    demo.run()
    if as_json:
        echo_json({"directory": str(demo.place), "steps": [step._asdict() for step in demo.steps]})
        return
    echo(f"\nThe repository is in {safe(str(demo.place))}: look around, then delete it.")


class Demo:
    """The demo in one directory: a clock that advances, and the commands run so far."""

    def __init__(self, place: Path, *, quiet: bool) -> None:
        self.place, self.quiet = place, quiet
        self.steps: list[Step] = []
        self.seconds = STARTED

    def run(self) -> None:
        """Runs everything."""
        self._begin()
        task = self._record()
        self._rewrite_history()
        event = self._ask()
        self._take_out(event)
        self.say("Is everything as it was written?")
        self.pog("verify", task)

    def _begin(self) -> None:
        self.say("A person's project, with pogstore enabled:")
        self.git("init", "-q", "-b", "main", ".")
        self._write(FILE, _sample("brew.py.txt"))
        self.git("add", ".")
        self.git("commit", "-q", "-m", "Brew tea")
        self.pog("init")
        self.git("switch", "-q", "-c", "steeping")

    def _record(self) -> str:
        self.seconds = STARTED + 2 * HOUR
        self._write(f".git/{SESSION}", _sample(SESSION))
        self.say("An agent has worked for a while; its transcript becomes a task with events:")
        self.pog("import", "claude-code", f".git/{SESSION}", "--root", RECORDED_ROOT)
        self.pog("list")
        task: str = self._asked("list")[0]["task"][:8]
        self.pog("log", "--oneline", task)
        self.say("Its edits are in the record, byte for byte; here they go into the work tree:")
        patch = self._output(_pog("diff", task), b"")
        self._show(f"git pog diff {task} | git apply", self._output([gitcli.executable(), "apply"], patch))
        return task

    def _rewrite_history(self) -> None:
        self.say("A person edits the same file and commits everything; then the branch is rebased:")
        self._write(FILE, self._read(FILE) + '\n\nFAVOURITE = "oolong"  # a person\'s line\n')
        self.git("add", ".")
        self.git("commit", "-q", "-m", "Steep for some minutes")
        self.git("switch", "-q", "main")
        self._write(FILE, self._read(FILE).replace("How to brew tea.", "How to brew tea, and nothing else."))
        self.git("commit", "-q", "-a", "-m", "Say what this is not")
        self.git("switch", "-q", "steeping")
        self.git("rebase", "-q", "main")

    def _ask(self) -> str:
        self.say("Who wrote each line? A star marks an event of the agent; the others are git's own answer:")
        self.pog("blame", FILE)
        self.say("Why does this line exist?")
        number = 1 + self._read(FILE).splitlines().index(ASKED)
        self.pog("why", f"{FILE}:{number}")
        event: str = self._asked("why", f"{FILE}:{number}")["event"]["id"][:10]
        return event

    def _take_out(self, event: str) -> None:
        self.say("Take that one piece of work out again and keep everything else:")
        self.pog("rollback", "--dry-run", event)
        self.pog("rollback", event)
        self.git("diff", "--stat")
        self.say("And back again, exactly:")
        self.pog("undo")
        self.git("status", "--short")

    def say(self, text: str) -> None:
        """Prints what comes next."""
        if not self.quiet:
            echo(f"\n# {text}")

    def git(self, *arguments: str) -> None:
        """Runs a git command and shows it."""
        self._show(shlex.join(["git", *arguments]), self._output([gitcli.executable(), *arguments], b""))

    def pog(self, *arguments: str) -> None:
        """Runs one of our commands and shows it."""
        self._show(shlex.join(["git", "pog", *arguments]), self._output(_pog(*arguments), b""))

    def _asked(self, *arguments: str) -> Any:
        return json.loads(self._output(_pog(*arguments, "--json"), b""))

    def _show(self, shown: str, output: bytes) -> None:
        text = output.decode("utf-8", "replace")
        self.steps.append(Step(shown, text))
        if not self.quiet:
            echo(f"$ {shown}")
            if text:
                echo(safe(text.rstrip("\n"), lines=True))

    def _output(self, argv: Sequence[str], stdin: bytes) -> bytes:
        self.seconds += 60
        done = subprocess.run(
            argv, input=stdin, capture_output=True, cwd=self.place, env=self._environment(), check=False
        )
        if done.returncode:
            raise GitFailed(shlex.join(argv[1:]), done.returncode, done.stderr.decode("utf-8", "replace"))
        return done.stdout

    def _environment(self) -> Mapping[str, str]:
        """The user's environment without a configuration that could change what is shown, and with the demo's clock."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "POG_"))}
        home = str(self.place / ".git" / "home")  # it does not exist: libgit2 looks there, and not at the variables
        moment = f"@{self.seconds} +0000"
        return kept | {
            "HOME": home, "XDG_CONFIG_HOME": home, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": NAME, "GIT_AUTHOR_EMAIL": EMAIL, "GIT_AUTHOR_DATE": moment,
            "GIT_COMMITTER_NAME": NAME, "GIT_COMMITTER_EMAIL": EMAIL, "GIT_COMMITTER_DATE": moment,
            "POG_NOW": str(self.seconds * 1_000_000), "TZ": "UTC", "LC_ALL": "C.UTF-8", "NO_COLOR": "1",
        }  # fmt: skip

    def _write(self, name: str, text: str) -> None:
        (self.place / name).write_text(text, "utf-8")

    def _read(self, name: str) -> str:
        return (self.place / name).read_text("utf-8")


def _pog(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "pogstore", *arguments]


def _sample(name: str) -> str:
    return files("pogstore.cli").joinpath("sample", name).read_text("utf-8")


def _place(directory: Path | None) -> Path:
    """Returns the directory to work in, made if need be; raises `BadInput` if something is in it."""
    if directory is None:
        return Path(tempfile.mkdtemp(prefix="pog-demo-"))
    if directory.is_dir() and any(directory.iterdir()):
        raise BadInput(f"'{directory}'", "is not empty")
    directory.mkdir(parents=True, exist_ok=True)
    return directory.resolve()
