"""Runs every `$` block of the README, the tutorial and the how-to pages, and compares what is printed.

A page begins in an empty home directory and keeps it, the shell and the variables until it ends. In a block marked
`console`, a line that starts with `$ ` is a command (`> ` continues it) and the lines below it are what it prints,
standard output and errors together. Each command must exit with 0; in a block marked `console fails` with anything
else, in one marked `console fails=3` with 3. A line `…` stands for any lines, `…` at the end of a line for its rest.

Ids and times differ from run to run, so they are equal to each other; an id that a page has shown may be used in a
later command, shortened or whole. `python -m tests.test_transcripts --update PAGE…` pastes what is printed today.
"""

import argparse
import os
import re
import selectors
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from difflib import ndiff
from pathlib import Path
from typing import IO, NamedTuple, Self

import pytest

from tests.conftest import SECOND, STARTED, run, sealed

ROOT = Path(__file__).parents[1]
PAGES = [
    page for pattern in ("README.md", "docs/tutorial.md", "docs/how-to/*.md") for page in sorted(ROOT.glob(pattern))
]
HOME = "/home/ada"
"""What pages call the directory they began in."""
ANYTHING = "…"
PATIENCE = 120

ID = re.compile(
    r"(?<![0-9A-Za-z])(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{7,64})(?![0-9A-Za-z])", re.ASCII
)
TYPED_ID = re.compile(r"(?<![0-9A-Za-z])[0-9a-f][0-9a-f-]{3,63}(?![0-9A-Za-z])", re.ASCII)
CUT_ID = re.compile(r"(?<![0-9A-Za-z])(?=[0-9a-f-]*\d)[0-9a-f-]{4,}$", re.ASCII)
CHANGING = [
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?( ?(Z\b|[+-]\d\d:?\d\d))?"), "<time>"),
    (re.compile(r"[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d \d{4}( [+-]\d{4})?"), "<time>"),
    (re.compile(r"\d{4}-\d\d-\d\d"), "<date>"),
    (re.compile(r"\b\d+ (second|minute|hour|day|week|month|year)s? ago"), "<time> ago"),
    (re.compile(r"\b\d+(\.\d+)? ?(µs|ms|s)\b"), "<duration>"),
    (ID, "<id>"),
]


class BadPage(Exception):
    """A page that cannot be run as it is written."""


class Step(NamedTuple):
    """One command of a page: the line it stands on, what it should print and how it should exit (-1: not with 0)."""

    line: int
    command: str
    output: tuple[str, ...]
    status: int
    indent: str


def blocks(text: str) -> Iterator[tuple[int, str, str, list[str]]]:
    """Yields every fenced block as the number of its first line, its info string, its indentation and its lines."""
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        opening = re.fullmatch(r"( *)(`{3,}|~{3,})([^`]*)", lines[number])
        number += 1
        if not opening:
            continue
        indent, fence, info = opening.groups()
        start = number
        while number < len(lines) and not re.fullmatch(rf" *{fence}+ *", lines[number]):
            number += 1
        yield start + 1, info.strip(), indent, [line.removeprefix(indent) for line in lines[start:number]]
        number += 1


def expected_status(line: int, words: Sequence[str]) -> int:
    """Returns the exit status that the words behind `console` ask for."""
    if not words:
        return 0
    if len(words) == 1 and (fails := re.fullmatch(r"fails(?:=(\d+))?", words[0])):
        return int(fails[1] or -1)
    raise BadPage(f"line {line}: a console block is run; '{' '.join(words)}' means nothing")


def steps(text: str) -> list[Step]:
    """Returns the commands of a page in their order."""
    found: list[Step] = []
    for start, info, indent, lines in blocks(text):
        language, *words = info.split() or [""]
        if language != "console":
            if any(line.startswith("$ ") for line in lines):
                raise BadPage(f"line {start}: a block with `$` lines must be marked console")
            continue
        status = expected_status(start, words)
        if not lines or not lines[0].startswith("$ "):
            raise BadPage(f"line {start}: a console block must begin with a command")
        typing = False
        for number, line in enumerate(lines, start):
            if line.startswith("$ "):
                found.append(Step(number, line[2:], (), status, indent))
                typing = True
            elif typing and line.startswith("> "):
                found[-1] = found[-1]._replace(command=f"{found[-1].command}\n{line[2:]}")
            else:
                found[-1] = found[-1]._replace(output=(*found[-1].output, line.rstrip()))
                typing = False
    return [step._replace(output=trimmed(step.output)) for step in found]


def trimmed(lines: Sequence[str]) -> tuple[str, ...]:
    """Returns lines without trailing white space and without the empty ones at their end."""
    kept = [line.rstrip() for line in lines]
    while kept and not kept[-1]:
        kept.pop()
    return tuple(kept)


def steadied(line: str) -> str:
    """Returns a line with what differs from run to run replaced by what it is."""
    for pattern, name in CHANGING:
        line = pattern.sub(name, line)
    return line


def line_fits(expected: str, printed: str) -> bool:
    """Says whether one printed line is what a page shows."""
    if expected.endswith(ANYTHING):
        return steadied(printed).startswith(steadied(CUT_ID.sub("", expected.removesuffix(ANYTHING))))
    return steadied(expected) == steadied(printed)


def pairs(expected: Sequence[str], printed: Sequence[str]) -> list[tuple[str, str]] | None:
    """Returns the shown lines beside the printed ones they stand for, or `None` if the output does not fit."""
    if ANYTHING not in expected:
        fits = len(expected) == len(printed) and all(map(line_fits, expected, printed))
        return list(zip(expected, printed, strict=True)) if fits else None
    cut = list(expected).index(ANYTHING)
    head = pairs(expected[:cut], printed[:cut])
    if head is None:
        return None
    for start in range(cut, len(printed) + 1):
        tail = pairs(expected[cut + 1 :], printed[start:])
        if tail is not None:
            return head + tail
    return None


class Ids:
    """Which id of this run each id of a page stands for."""

    def __init__(self) -> None:
        self.shown: dict[str, str] = {}

    def learn(self, shown: str, printed: str) -> None:
        """Takes the ids of a line of the page to be those of the printed line."""
        for old, new in zip(ID.findall(shown), ID.findall(printed), strict=False):
            if len(old) == len(new):
                self.shown.setdefault(old, new)

    def typed(self, command: str) -> str:
        """Returns a command of the page with this run's ids in place of the page's."""
        return TYPED_ID.sub(lambda found: _translated(found[0], self.shown), command)

    def pasted(self, line: str) -> str:
        """Returns a printed line with the page's ids in place of this run's, as far as the page has them."""
        return ID.sub(lambda found: _translated(found[0], {new: old for old, new in self.shown.items()}), line)


def _translated(word: str, names: Mapping[str, str]) -> str:
    for name, other in names.items():
        if name.startswith(word):
            return other[: len(word)]
    return word


class Shell:
    """One bash for a page: it keeps directory and variables, and finds the clock a second further at each command."""

    def __init__(self, home: Path, environ: Mapping[str, str]) -> None:
        self.home = home
        self.now = STARTED
        self.script = home.parent / f"{home.name}.command"
        self.output: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (closed by __exit__)
        self.status, answering = os.pipe()
        self.bash = subprocess.Popen(
            ["bash", "--noprofile", "--norc", "-s"],
            cwd=home,
            env={**environ, "PWD": str(home)},
            stdin=subprocess.PIPE,
            stdout=self.output,
            stderr=subprocess.STDOUT,
            pass_fds=(answering,),
            start_new_session=True,
        )
        self.answering = answering

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bash.stdin:
            self.bash.stdin.close()
        self.bash.kill()
        self.bash.wait()
        os.close(self.status)
        os.close(self.answering)
        self.output.close()

    def run(self, command: str) -> tuple[tuple[str, ...], int]:
        """Runs a command; returns the lines it printed and its exit status."""
        self.now += SECOND
        self.script.write_text(command + "\n")
        start = self.output.seek(0, os.SEEK_END)
        told = (
            f"export POG_NOW={self.now}; . '{self.script}' </dev/null {self.answering}>&-; echo $? >&{self.answering}\n"
        )
        if self.bash.stdin is None:
            raise BadPage("no shell")
        self.bash.stdin.write(told.encode())
        self.bash.stdin.flush()
        status = self._answer(command)
        self.output.seek(start)
        text = self.output.read().decode(errors="replace").replace(str(self.home), HOME)
        return trimmed(text.split("\n")), status

    def _answer(self, command: str) -> int:
        with selectors.DefaultSelector() as waiting:
            waiting.register(self.status, selectors.EVENT_READ)
            for _ in range(PATIENCE):
                if waiting.select(1):
                    return int(os.read(self.status, 16))
                if self.bash.poll() is not None:
                    raise BadPage(f"'{command}' ended the shell")
        raise BadPage(f"'{command}' took more than {PATIENCE} s")


def difference(expected: Sequence[str], printed: Sequence[str]) -> Iterator[str]:
    """Yields the lines that differ; ids and times, which may, are not shown."""
    return ndiff([steadied(line) for line in expected], [steadied(line) for line in printed])


def faults(text: str, shell: Shell) -> Iterator[str]:
    """Runs a page; yields, for each command that printed or answered something else, what differs."""
    ids = Ids()
    for step in steps(text):
        printed, status = shell.run(ids.typed(step.command))
        if status != step.status and not (step.status < 0 < status):
            wanted = "a failure" if step.status < 0 else step.status
            yield f"line {step.line}: $ {step.command}\nexit status {status}, not {wanted}\n" + "\n".join(printed)
        fitting = pairs(step.output, printed)
        if fitting is None:
            yield f"line {step.line}: $ {step.command}\n" + "\n".join(difference(step.output, printed))
        for shown, line in fitting or ():
            ids.learn(shown, line)


def updated(text: str, shell: Shell) -> str:
    """Runs a page; returns it with the output of today wherever what it shows does not fit."""
    ids = Ids()
    lines = text.split("\n")
    grown = 0
    for step in steps(text):
        printed, _ = shell.run(ids.typed(step.command))
        fitting = pairs(step.output, printed)
        if fitting is None:
            fitting = [(ids.pasted(line), line) for line in printed]
            start = step.line - 1 + grown + len(step.command.split("\n"))
            lines[start : start + len(step.output)] = [(step.indent + shown).rstrip() for shown, _ in fitting]
            grown += len(printed) - len(step.output)
        for shown, line in fitting:
            ids.learn(shown, line)
    return "\n".join(lines)


def marked_command(text: str, name: str) -> str:
    """Returns the command below `<!-- command: NAME -->`, which a reader is told to paste."""
    found = re.findall(rf"^<!-- command: {name} -->\n```sh\n(.*?)\n```$", text, re.MULTILINE | re.DOTALL)
    if len(found) != 1:
        raise BadPage(f"{len(found)} commands are marked '{name}'")
    return str(found[0])


@pytest.fixture
def shell() -> Iterator[Shell]:
    """A shell in the sealed, empty home of the test."""
    with Shell(Path(os.environ["HOME"]), os.environ) as shell:
        yield shell


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_prints_what_it_says(page: Path, shell: Shell) -> None:
    assert "\n\n".join(faults(page.read_text(), shell)) == ""


@pytest.mark.skipif(not (ROOT / "README.md").exists(), reason="README.md is not written yet")
@pytest.mark.parametrize("name", ["demo", "test"])
def test_a_marked_command_is_one_line_in_an_environment_of_its_own(name: str) -> None:
    command = marked_command((ROOT / "README.md").read_text(), name)
    assert command.startswith("python3 -m venv .venv && .venv/bin/python -m pip install ")
    assert "\n" not in command


def run_ci(directory: Path, readme: str) -> subprocess.CompletedProcess[str]:
    """Runs `.ci/run` of a project whose README is given."""
    (directory / ".ci").mkdir()
    (directory / "README.md").write_text(readme)
    script = shutil.copy(ROOT / ".ci" / "run", directory / ".ci" / "run")
    return run([str(script)], Path("/"))


def test_ci_runs_the_marked_test_command(tmp_path: Path) -> None:
    marked = "<!-- command: {} -->\n```sh\n{}\n```\n"
    done = run_ci(tmp_path, marked.format("demo", "false") + marked.format("test", "echo in ${PWD##*/} && exit 7"))
    assert done.stdout.splitlines()[-1] == f"in {tmp_path.name}"
    assert done.returncode == 7


def test_ci_fails_without_a_marked_command(tmp_path: Path) -> None:
    done = run_ci(tmp_path, "```sh\ntrue\n```\n")
    assert done.stderr.startswith("error: README.md marks no test command\n")
    assert done.returncode == 1


def page(*lines: str, info: str = "console") -> str:
    """Returns a page with one block."""
    return "\n".join(["# A page", "", f"```{info}", *lines, "```", ""])


GOOD = {
    "output and errors are one": page("$ echo out; echo err >&2", "out", "err"),
    "a command goes on": page("$ cat <<END", "> a", "> END", "a"),
    "directory and variables stay": page("$ cd /; X=1", "$ pwd; echo $X", "/", "1"),
    "a failure": page("$ false", info="console fails"),
    "a failure of one kind": page("$ (exit 3)", info="console fails=3"),
    "the rest of a line": page("$ echo one two", "one …"),
    "the rest of an id": page("$ echo task 01930a4b-5c6d-7e8f-9012-34567890abcd is new", "task 0193ffff-5…"),
    "any lines": page("$ seq 9", "1", "…", "5", "…", "9"),
    "no lines at all": page("$ true", "…"),
    "empty lines inside": page("$ printf 'a\\n\\nb\\n\\n'", "a", "", "b", "", "$ true"),
    "another id": page("$ echo 0123456789ab", "fedcba987654"),
    "another time": page(
        "$ echo 2026-01-05T09:00:01Z, 3 days ago, in 1.25 s", "2025-12-31T23:59:59Z, 1 day ago, in 2 s"
    ),
    "home has a name": page("$ pwd", "/home/ada"),
    "commands read nothing": page("$ cat", "$ echo still here", "still here"),
    "the clock": page(*["$ echo $(((POG_NOW - 1767603600000000) / 1000))", "1000"], "$ echo ${POG_NOW: -7}", "2000000"),
    "git is sealed": page("$ git config user.name", "Ada Example"),
    "inside a list": "- item\n\n  ```console\n  $ echo a\n  a\n  ```\n",
    "other blocks": page("x = 1", info="python") + page("$ true"),
    "an id of the page in a later command": page(
        "$ id=$(head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \\n'); echo $id",
        "00112233445566778899aabbccddeeff",
        "$ [ 00112233 = ${id:0:8} ] && echo $id | grep -c ^00112233445566778899",
        "1",
    ),
}
BAD = {
    "other output": (page("$ echo a", "b"), "- b\n+ a"),
    "less output": (page("$ echo a", "a", "b"), "- b"),
    "more output": (page("$ seq 2", "1"), "+ 2"),
    "a failure": (page("$ false"), "exit status 1, not 0"),
    "no failure": (page("$ true", info="console fails"), "exit status 0, not a failure"),
    "another failure": (page("$ false", info="console fails=3"), "exit status 1, not 3"),
    "only one of two": (page("$ echo a", "a", "$ echo b", "a"), "line 6: $ echo b"),
    "lines after any lines": (page("$ seq 3", "…", "2"), "+ 3"),
}
UNREADABLE = {
    "not run": page("$ true", info="console no-run"),
    "not marked": page("$ true", info="sh"),
    "no command": page("output"),
}


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD.keys())
def test_a_good_page_passes(text: str, shell: Shell) -> None:
    assert list(faults(text, shell)) == []


@pytest.mark.parametrize(("text", "fault"), BAD.values(), ids=BAD.keys())
def test_a_bad_page_fails(text: str, fault: str, shell: Shell) -> None:
    (found,) = faults(text, shell)
    assert fault in found


@pytest.mark.parametrize("text", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_a_page_that_cannot_be_run_is_refused(text: str) -> None:
    with pytest.raises(BadPage):
        steps(text)


def test_a_command_that_ends_the_shell_is_named(shell: Shell) -> None:
    with pytest.raises(BadPage, match="'exit 4' ended the shell"):
        list(faults(page("$ exit 4"), shell))


def test_an_update_pastes_what_does_not_fit_and_keeps_the_rest(shell: Shell) -> None:
    first = "$ echo 00112233445566aa >id; cat id"
    old = page(
        "$ seq 3", "1", "…", first, "ffeeddccbbaa9988", "$ cat id id", "", "prose?", "", "$ echo b", "$ echo c", "d"
    )
    new = page(
        "$ seq 3",
        "1",
        "…",
        first,
        "ffeeddccbbaa9988",
        "$ cat id id",
        *["ffeeddccbbaa9988"] * 2,
        "",
        "$ echo b",
        "b",
        "$ echo c",
        "c",
    )
    assert updated(old, shell) == new


def main() -> None:
    """Pastes what is printed today into the pages that are named."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--update", nargs="+", type=Path, required=True, metavar="PAGE")
    for page in parser.parse_args().update:
        with tempfile.TemporaryDirectory() as scratch:
            home = Path(scratch).resolve() / "home"
            home.mkdir()
            with Shell(home, sealed(os.environ, home)) as shell:
                text = updated(page.read_text(), shell)
        page.write_text(text)


if __name__ == "__main__":
    main()
