"""What reaches a terminal (threats T1 and T2, case UC-61): no byte of anybody else's text may move it or hide in it."""

import io
import json
import os
import re
import sys
import unicodedata
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import pytest

from pogstore.cli._render import columns as width_of
from pogstore.cli.main import run
from tests.cli.conftest import Here
from tests.cli.terminal import on_terminal, terminal
from tests.cli.test_json import SAMPLE, event_on
from tests.conftest import Pog, Repo

FAKE = "error: fake"
PARTS = {
    "csi": "\x1b[31m\x1b[2J\x1b[H",
    "osc 8": "\x1b]8;;http:evil\x07x\x1b]8;;\x1b\\",
    "osc 52": "\x1b]52;c;ZXZpbA==\x07",
    "window title": "\x1b]0;t\x07",
    "c1": "\x9b31m\x9d0;t\x9c\x85",
    "overwrite": "\rEVIL\b\b\x0b\x0c",
    "delete": "\x7f",
    "bidi": "\u202e\u2066\u200f",
    "zero-width": "\u200b\u2060\ufeff\u00ad",
    "tags": "\U000e0041\U000e007f",
    "newline": f"\n{FAKE}",
}
HOSTILE = "a" + "".join(PARTS.values())
HIDDEN = ("Cc", "Cf", "Zl", "Zp", "Cs")
PROGRESS = re.compile(r"\r(?!EVIL)|\x1b\[\?25[lh]|\x1b\[K")
"""What a progress bar of ours may do: go back to the beginning of its line, and hide the cursor."""
SGR = re.compile(r"\x1b\[[0-9;]*m")


def moving(text: str) -> list[str]:
    """Returns the characters that a terminal or a person would not take for what they are, newline and tab apart."""
    return sorted({repr(each) for each in text if unicodedata.category(each) in HIDDEN and each not in "\n\t"})


class Scene(NamedTuple):
    """A repository in which every text is hostile."""

    here: Here
    session: str
    step: str
    task: str
    note: str

    def seen(self, *args: str, columns: int = 100) -> str:
        """Runs a command of ours on a terminal, in this process."""
        with terminal(columns) as (slave, seen), pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.here.cwd)
            patch.setenv("POG_NOW", str(self.here.now))
            patch.setenv("COLUMNS", str(columns))
            with os.fdopen(os.dup(slave), "w") as out, os.fdopen(os.dup(slave), "w") as err:
                patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
                patch.setattr(sys, "stdout", out)
                patch.setattr(sys, "stderr", err)
                run(args)
        return b"".join(seen).decode("utf-8", "surrogateescape")


def hostile_session(path: Path) -> None:
    """Writes the sample session with another file name, another tool and other words."""
    lines = []
    for line in SAMPLE.read_text().splitlines():
        record = json.loads(line.replace("brew.py", json.dumps(HOSTILE)[1:-1]))
        content = record.get("message", {}).get("content")
        for part in content if isinstance(content, list) else []:
            if part.get("name") == "Bash":
                part["name"] = HOSTILE
        if isinstance(content, str):
            record["message"]["content"] = HOSTILE + content
        lines.append(json.dumps(record))
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture
def scene(here: Here, tmp_path: Path) -> Scene:
    """A repository with a hostile session, a hostile task, and a hostile file whose text is hostile as well."""
    hostile_session(tmp_path / "session.jsonl")
    here("import", "claude-code", str(tmp_path / "session.jsonl"), "--root", "/home/ada/tea")
    session = str(here("list", "--all", "--json").json[0]["task"])
    repo = Repo(here.cwd)
    repo.commit({HOSTILE: SAMPLE.with_name("brew.py.txt").read_bytes()}, HOSTILE.replace("\n", " "))
    repo.git("apply", input=here("diff", session).stdout)
    with (repo.path / HOSTILE).open("a") as file:
        file.write(HOSTILE + "\n")
    fields = ("--intent", "--tag", "--category", "--alias", "--item", "--allow", "--check", "--as")
    task = here.task(HOSTILE, "--start", *(part for field in fields for part in (field, HOSTILE)))
    note = here("note", HOSTILE, "--as", HOSTILE, "--json").json["id"]
    here("decide", HOSTILE)
    here("review", "--approve", "-m", HOSTILE, "--as", HOSTILE)
    here("block", "-m", HOSTILE)
    return Scene(here, session, event_on(here, session, HOSTILE), task, note)


@pytest.mark.parametrize("words", [("log", "--oneline"), ("points",), ("list", "--all"), ("lineage",)], ids=" ".join)
def test_long_lines_of_each_list_are_cut(scene: Scene, words: tuple[str, ...]) -> None:
    scene.here("run", "--", "sh", "-c", "echo 1 > " + "a" * 90)
    seen = scene.seen(*words, columns=60).replace("\r", "").splitlines()
    assert any(line.endswith("…") for line in seen), seen
    assert max(map(width_of, seen)) <= 60


def commands(scene: Scene) -> list[tuple[str, ...]]:
    """Returns commands that show what others wrote, or what was typed, in all their forms."""
    return [
        ("list", "--all"), ("list", "--tag", HOSTILE), ("ready",), ("next",), ("context",),
        ("show",), ("show", "--events"),
        ("show", scene.session), ("show", scene.note), ("show", scene.step), ("log",), ("log", "--oneline"),
        ("diff", scene.session), ("status",), ("blame", HOSTILE), ("blame",), ("blame", "--porcelain", HOSTILE),
        ("why", f"{HOSTILE}:4"), ("why", f"{HOSTILE}:23"), ("rollback", "--dry-run", scene.step),
        ("rollback", scene.session), ("undo", "--dry-run"), ("undo",), ("start", scene.task),
        ("edit", "--title", HOSTILE + "2"), ("share",), ("note", HOSTILE), ("claim", "--as", HOSTILE),
        ("local",), ("local", "--list"), ("verify",), ("release", "--as", HOSTILE + "x"), ("show", HOSTILE),
        ("show", scene.task[:4]), ("show", f"@@{{{HOSTILE}}}"), (HOSTILE,), ("help", HOSTILE),
        ("list", f"--{HOSTILE}"), ("list", HOSTILE), ("list", "--status", HOSTILE), ("log", "--kind", HOSTILE),
        ("move", HOSTILE), ("-C", HOSTILE, "list"), ("why", HOSTILE), ("blame", "../../" + HOSTILE),
        ("blame", f"{HOSTILE}2"), ("blame", HOSTILE, "--", "x"), ("import", "claude-code", HOSTILE),
        ("import", "pog-task", HOSTILE), ("push", HOSTILE), ("fetch", HOSTILE), ("new", "x", "--parent", HOSTILE),
        ("new", "x", "--estimate", HOSTILE), ("demo", "."),
        ("point", HOSTILE), ("points", scene.session), ("points", "--all"), ("restore", HOSTILE),
        ("restore", scene.step, "--", HOSTILE), ("restore", f"{scene.step}^"),
    ]  # fmt: skip


def test_nothing_hostile_reaches_a_terminal(scene: Scene) -> None:
    shown = ""
    for command in commands(scene):
        seen = scene.seen(*command)
        assert seen, command
        assert moving(PROGRESS.sub("", seen) if command[0] == "import" else seen) == [], command
        assert FAKE not in seen.splitlines(), command
        shown += seen
    for text in (
        "<U+001B>[31m",
        "<U+009B>",
        "<U+000D>EVIL",
        "<U+007F>",
        "<U+202E>",
        "<U+200B>",
        "<U+E0041>",
        "<U+000A>",
    ):
        assert text in shown, "what was hidden is shown instead"


def test_nothing_hostile_reaches_json(scene: Scene) -> None:
    for command in commands(scene):
        if command[0] == "demo" or "--porcelain" in command or "--oneline" in command or command[0] == HOSTILE:
            continue
        at = next((n for n, word in enumerate(command) if word == "--"), len(command))
        said = scene.here(*command[:at], "--json", *command[at:], status=None)
        assert moving(said.stdout + said.stderr) == [], command
        json.loads(said.stdout or said.stderr)


def test_a_pipe_gets_the_bytes_as_they_are(scene: Scene) -> None:
    """Escapes are for terminals: a patch must apply, and git's porcelain is git's."""
    assert HOSTILE.split("\n")[0] in scene.here("blame", "--porcelain", HOSTILE).stdout
    assert '"b/a\\033[31m' in scene.here("diff", scene.session).stdout


def test_the_real_command_on_a_real_terminal(pog: Pog, repo: Repo) -> None:
    pog.init()
    pog("new", HOSTILE, "--start")
    for words in (["list"], ["show"], ["show", HOSTILE]):
        seen = on_terminal(["git", "pog", *words], repo.path)
        assert moving(seen) == [], words
        assert "<U+001B>" in seen


def test_lines_are_cut_where_the_terminal_ends(scene: Scene) -> None:
    for width in (50, 80):
        lines = scene.seen("list", "--all", columns=width).splitlines()
        assert [line for line in lines if len(line) > width] == []
        assert [line for line in lines if line.endswith("…")]
        heads = [line.split(") ")[0] for line in scene.seen("blame", HOSTILE, columns=width).splitlines()]
        assert max(map(len, heads)) < width


def test_colours_as_git_has_them(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = Repo(scene.here.cwd)
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "xterm")
    plain = scene.seen("blame", "-L", "1,6", HOSTILE)
    assert moving(SGR.sub("", plain)) == []
    assert "\x1b[36m*" in plain
    assert "\x1b" not in scene.here("blame", "-L", "1,6", HOSTILE).stdout
    repo.git("config", "color.ui", "always")
    assert "\x1b[36m*" in scene.here("blame", "-L", "1,6", HOSTILE).stdout
    repo.git("config", "color.pog", "never")
    assert "\x1b" not in scene.seen("blame", "-L", "1,6", HOSTILE)
    repo.git("config", "color.pog", "auto")
    assert "\x1b[36m*" in scene.here("blame", "-L", "1,6", HOSTILE, GIT_PAGER_IN_USE="true").stdout
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b" not in scene.seen("blame", "-L", "1,6", HOSTILE)
    repo.git("config", "color.pog", "always")
    assert "\x1b[36m*" in scene.seen("blame", "-L", "1,6", HOSTILE)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in scene.seen("blame", "-L", "1,6", HOSTILE)


@pytest.mark.skipif(version("click").startswith("8.1."), reason="click 8.1 cannot run a pager with arguments")
def test_the_pager_is_the_one_of_git(pog: Pog, repo: Repo) -> None:
    pog.init()
    pog("new", "a task", "--start")
    paged = {"GIT_PAGER": "sed s/^/paged:/"}
    command = ["git", "pog", "list"]
    assert on_terminal(command, repo.path, paged).startswith("paged:")
    assert "paged" not in on_terminal(command, repo.path, paged | {"GIT_PAGER_IN_USE": "true"})
    assert "paged" not in pog("list", env=paged).stdout
    assert "paged" not in on_terminal(["git", "pog", "--version"], repo.path, paged)
    repo.git("config", "pager.pog", "false")
    assert "paged" not in on_terminal(command, repo.path, paged)


def test_a_progress_bar_is_for_people(pog: Pog, repo: Repo) -> None:
    pog.init()
    command = ["git", "pog", "import", "claude-code", str(SAMPLE)]
    assert "transcripts" in on_terminal(command, repo.path)
    assert pog("import", "claude-code", str(SAMPLE)).stderr == ""
