"""`git pog demo`: the main job on a small sample, every command shown with what it printed."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import click

from pogstore.cli._options import json_option, pog_command
from pogstore.cli._render import echo, echo_json, safe
from pogstore.errors import BadInput, GitFailed
from pogstore.store import gitcli

RECORDED_ROOT = "/home/ada/tea"
SESSION = "session.jsonl"
FILE = "brew.py"
PERSON = {"GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org"}
STARTED = 1_772_442_000  # 2026-03-02 09:00 UTC: the sample session begins an hour later


class Step(NamedTuple):
    """One command of the demo and what it printed."""

    command: str
    output: str


@pog_command("demo", {1: "a step failed"})
@click.argument("directory", required=False, type=click.Path(path_type=Path))
@json_option
def command(directory: Path | None, as_json: bool) -> None:
    """Show the main job in a scratch repository: a session, a person's edit, a rebase; then blame and rollback.

    Works in DIRECTORY, which must be empty or absent, by default in a new one for temporary files. Nothing else is
    touched.
    """
    demo = Demo(_place(directory), quiet=as_json)
    demo.run()
    if as_json:
        echo_json({"directory": str(demo.place), "steps": [step._asdict() for step in demo.steps]})
        return
    echo(f"\nThe repository is in {safe(str(demo.place))}; delete it when you have looked around.")


class Demo:
    """The demo in one directory: a clock that advances, and the commands run so far."""

    def __init__(self, place: Path, *, quiet: bool) -> None:
        self.place, self.quiet = place, quiet
        self.steps: list[Step] = []
        self.seconds = STARTED

    def run(self) -> None:
        """Runs everything."""
        self._begin()
        self._record()
        self._rewrite_history()
        self._ask()
        self._take_out()

    def _begin(self) -> None:
        self.say("A person's project, with pogstore enabled:")
        self.git("init", "-q", "-b", "main", ".")
        self._write(FILE, files("pogstore.cli").joinpath("sample", "brew.py.txt").read_text("utf-8"))
        self.git("add", ".")
        self.git("commit", "-q", "-m", "Brew tea")
        self.pog("init")
        self.git("switch", "-q", "-c", "steeping")

    def _record(self) -> None:
        self.seconds = STARTED + 2 * 3600
        self.say("An agent has worked for an hour; its transcript becomes a task with events:")
        self._write(f".git/{SESSION}", files("pogstore.cli").joinpath("sample", SESSION).read_text("utf-8"))
        self.pog("import", "claude-code", f".git/{SESSION}", "--root", RECORDED_ROOT)
        self.pog("list")
        task = self.quietly("list", "--json").split('"task": "')[1][:8]
        self.shell_apply(task)
        self.pog("log", "--oneline", "-n", "5", task)
        self.task = task

    def _rewrite_history(self) -> None:
        self.say("A person edits the same file and commits everything; then the branch is rebased:")
        text = (self.place / FILE).read_text("utf-8")
        self._write(FILE, text + '\n\nFAVOURITE = "oolong"  # a person\'s line\n')
        self.git("add", ".")
        self.git("commit", "-q", "-m", "Steep for some minutes")
        self.git("switch", "-q", "main")
        text = (self.place / FILE).read_text("utf-8")
        self._write(FILE, text.replace("How to brew tea.", "How to brew tea, and nothing else."))
        self.git("commit", "-q", "-a", "-m", "Say what this is not")
        self.git("switch", "-q", "steeping")
        self.git("rebase", "-q", "main")

    def _ask(self) -> None:
        self.say("Who wrote each line? `*` marks an event; the others are git's own answer:")
        self.pog("blame", FILE)
        self.say("Why does this line exist?")
        number = 1 + (self.place / FILE).read_text("utf-8").splitlines().index("def strength(minutes):")
        self.pog("why", f"{FILE}:{number}")

    def _take_out(self) -> None:
        self.say("Take that one piece of work out again and keep everything else:")
        event = self.quietly("log", "--json", "--kind", "stepped", self.task).split('"id": "')[4][:10]
        self.pog("rollback", "--dry-run", event)
        self.pog("rollback", event)
        self.git("diff", "--stat")
        self.say("And back again, exactly:")
        self.pog("undo")
        self.git("status", "--short")
        self.pog("verify")

    def say(self, text: str) -> None:
        """Prints what comes next."""
        if not self.quiet:
            echo(f"\n# {text}")

    def git(self, *arguments: str) -> None:
        """Runs a git command and shows it."""
        self._run("git " + _quoted(arguments), [gitcli.executable(), *arguments])

    def pog(self, *arguments: str) -> None:
        """Runs one of our commands and shows it."""
        self._run("git pog " + _quoted(arguments), [sys.executable, "-m", "pogstore", *arguments])

    def quietly(self, *arguments: str) -> str:
        """Runs one of our commands and returns what it printed."""
        return self._output([sys.executable, "-m", "pogstore", *arguments], b"").decode()

    def shell_apply(self, task: str) -> None:
        """Puts the recorded changes into the work tree, as the agent's own tools had."""
        patch = self._output([sys.executable, "-m", "pogstore", "diff", task], b"")
        self._show(f"git pog diff {task} | git apply", self._output([gitcli.executable(), "apply"], patch))

    def _run(self, shown: str, argv: Sequence[str]) -> None:
        self._show(shown, self._output(argv, b""))

    def _show(self, shown: str, output: bytes) -> None:
        text = output.decode("utf-8", "replace")
        self.steps.append(Step(shown, text))
        if not self.quiet:
            echo(f"$ {shown}")
            if text:
                echo(text.rstrip("\n"))

    def _output(self, argv: Sequence[str], stdin: bytes) -> bytes:
        self.seconds += 60
        done = subprocess.run(
            argv, input=stdin, capture_output=True, cwd=self.place, env=self._environment(), check=False
        )
        if done.returncode:
            raise GitFailed(" ".join(argv[1:4]), done.returncode, done.stderr.decode("utf-8", "replace"))
        return done.stdout

    def _environment(self) -> dict[str, str]:
        """The user's environment without a configuration that could change what is shown, and with the demo's clock."""
        person = PERSON | {"GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.org"}
        moment = f"@{self.seconds} +0000"
        dates = {"GIT_AUTHOR_DATE": moment, "GIT_COMMITTER_DATE": moment, "POG_NOW": str(self.seconds * 1_000_000)}
        sealed = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "TZ": "UTC", "NO_COLOR": "1"}
        kept = {name: value for name, value in gitcli.environment().items() if not name.startswith("POG_")}
        return kept | person | dates | sealed

    def _write(self, name: str, text: str) -> None:
        (self.place / name).write_text(text, "utf-8")


def _place(directory: Path | None) -> Path:
    if directory is None:
        return Path(tempfile.mkdtemp(prefix="pog-demo-"))
    if directory.exists() and any(directory.iterdir()):
        raise BadInput(f"'{directory}'", "is not empty")
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def _quoted(arguments: Sequence[str]) -> str:
    return " ".join(f"'{argument}'" if " " in argument else argument for argument in arguments)
