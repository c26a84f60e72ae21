"""A repository in which agents and a person do anything at all, and a model that knows who wrote each line.

Every line is a text of its own, so its writer is known by its text alone, whatever git does with it later: the model
knows nothing of versions, diffs or commits. Agents are captured live, through the hook itself; git is real.
"""

import hashlib
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from pogstore.agents.drain import drain
from pogstore.history.blame import Blame, BlamedLine, blame
from pogstore.store.store import Store, open_store
from pogstore.work import spooled
from pogstore.work.drain import spool_of
from tests.agents.live import Live
from tests.conftest import SECOND, STARTED, Repo

PERSON = "person"
"""The writer of a line that no agent wrote; an agent's line is told by the id of the call that wrote it."""
ROOTS = ("one", "two")
"""The work trees: the main one is on the branch `main`, the linked one on `side`."""
FILES = ("alpha.txt", "beta.txt", "gamma.txt")
BASE_LINES = 24
WORDS = (
    "amber",
    "basalt",
    "cobalt",
    "dune",
    "ember",
    "fjord",
    "garnet",
    "harbor",
    "indigo",
    "juniper",
    "krill",
    "lagoon",
)
BOILERPLATE = ("", "}", "    }", "return", "    return None", "else:", "pass", "end")
COMMON = frozenset("".join(line.split()) for line in BOILERPLATE)


class Step(NamedTuple):
    """What is done and by whom, in which work tree; what the numbers mean is the doer's, and any numbers will do."""

    do: str
    who: str = PERSON
    tree: int = 0
    at: int = 0
    come: int = 1
    gone: int = 0
    some: int = 0


class Wrong(NamedTuple):
    """A line whose owner is not the one that wrote it."""

    tree: int
    path: str
    revision: str | None
    line: int
    text: str
    wanted: str
    found: str

    def __str__(self) -> str:
        place = f"{ROOTS[self.tree]}/{self.path}:{self.line} at {self.revision or 'work tree'}"
        return f"{place}: {self.found}, not {self.wanted}: {self.text!r}"


class Checked(NamedTuple):
    """What a check found: the wrong lines, and how many lines were asked for, those that say nothing apart."""

    wrong: tuple[Wrong, ...]
    lines: int
    common: int
    common_wrong: int


def template(folder: Path, *, boilerplate: bool = False) -> Path:
    """Makes the repository in which every sequence begins; it is copied for each."""
    repo = Repo(folder / ROOTS[0])
    repo.path.mkdir(parents=True)
    repo.git("init", "--quiet")
    repo.git("config", "pog.enabled", "true")
    repo.git("config", "pog.fsync", "false")
    for name in FILES:
        lines = [line for pair in base(name, boilerplate=boilerplate) for line in pair]
        (repo.path / name).write_text(text_of(lines))
    repo.git("add", "--all")
    repo.git("commit", "--quiet", "--message", "base")
    repo.git("worktree", "add", "--quiet", "-b", "side", str(folder / ROOTS[1]))
    spool = spool_of(open_store(repo.path))
    spooled.prepare(spool)
    spooled.write_settings(spool, max_blob=1 << 20, sync=False, look=60_000, drain=False)
    return folder


def base(name: str, *, boilerplate: bool) -> list[list[str]]:
    """Returns the lines that a file has at first, each with the one that stands everywhere below it, if any."""
    lines = [f"base line {n} of {name}, {_words(n * 7)}" for n in range(BASE_LINES)]
    return [[line, BOILERPLATE[n % 8]] if boilerplate and n % 3 else [line] for n, line in enumerate(lines)]


def _words(number: int) -> str:
    return " ".join(WORDS[(number * k + k) % len(WORDS)] for k in (1, 5, 7))


def text_of(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def bare(line: str) -> str:
    """Returns a line without white space, by which its writer is known: who indents a line does not write it."""
    return "".join(line.split())


class World:
    """A copy of the template, who works there, and what is known of its lines."""

    def __init__(self, made: Path, folder: Path, *, boilerplate: bool = False) -> None:
        shutil.copytree(made, folder, symlinks=True)
        self.roots = [folder / name for name in ROOTS]
        _relink(*self.roots)
        self.clock = [STARTED + 3600 * SECOND]
        self.boilerplate = boilerplate
        self.sessions = {
            (who, tree): Live(root, f"{who}-{tree}", self.clock)
            for tree, root in enumerate(self.roots)
            for who in ("s1", "s2")
        }
        self.stores: list[Store] = [open_store(root) for root in self.roots]
        self.writers: dict[str, str] = {}
        self.seen_lines: set[str] = set()
        pairs = [pair for name in FILES for pair in base(name, boilerplate=boilerplate)]
        self.below = {bare(pair[0]): pair[1] for pair in pairs if len(pair) > 1}
        self.numbers = 0
        self.seen: dict[tuple[object, ...], Checked] = {}
        self.prompted: set[tuple[str, int]] = set()

    def fresh(self, count: int) -> list[str]:
        """Returns lines that are nowhere else; between them such as stand everywhere, where those are wanted."""
        found = []
        for _ in range(count):
            self.numbers += 1
            found.append(f"line {self.numbers} written here, {_words(self.numbers)} {self.numbers}")
            if self.boilerplate and self.numbers % 2:
                self.below[bare(found[-1])] = BOILERPLATE[self.numbers // 2 % len(BOILERPLATE)]
                found.append(self.below[bare(found[-1])])
        return found

    def wrote(self, lines: Sequence[str], writer: str) -> None:
        """Remembers who wrote some lines."""
        self.writers |= {bare(line): writer for line in lines if bare(line) not in COMMON}

    def writer(self, line: str) -> str:
        """Returns who wrote a line."""
        return self.writers.get(bare(line), PERSON)

    def env(self) -> dict[str, str]:
        """Returns the environment of a git command that is run now."""
        now = f"{self.clock[0] // SECOND} +0000"
        return {**os.environ, "GIT_AUTHOR_DATE": now, "GIT_COMMITTER_DATE": now, "GIT_EDITOR": "true"}

    def git(self, tree: int, *arguments: str, given: str = "") -> tuple[bool, str]:
        """Runs git in a work tree; returns whether it succeeded, and what it printed."""
        done = subprocess.run(
            ["git", *arguments], cwd=self.roots[tree], env=self.env(), input=given, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        return done.returncode == 0, done.stdout

    def is_clean(self, tree: int) -> bool:
        return not self.git(tree, "status", "--porcelain", "--untracked-files=no")[1]

    def files(self, tree: int) -> list[str]:
        """Returns the names of a work tree's files, sorted."""
        return sorted(path.name for path in self.roots[tree].iterdir() if path.suffix == ".txt")

    def named(self, step: Step) -> str | None:
        names = self.files(step.tree)
        return names[step.some % len(names)] if names else None

    def changed(self, step: Step) -> str | None:
        """Returns the name of a file of which something is not committed, as it is there."""
        names = self.git(step.tree, "diff", "--name-only", "--diff-filter=M", "HEAD")[1].split()
        return names[step.some % len(names)] if names else None

    def lines(self, tree: int, name: str) -> list[str]:
        return (self.roots[tree] / name).read_text().split("\n")[:-1]

    @contextmanager
    def doing(self, step: Step) -> Iterator[str]:
        """Yields who writes what is written meanwhile: the call of a command, or a person between all calls."""
        self.clock[0] += SECOND
        if step.who == PERSON:
            yield PERSON
            return
        live = self.session(step)
        call = live.begin("Bash", {"command": f"{step.do} {step.at}"})
        self.seen_lines |= self.persons(step.tree)
        self.clock[0] += SECOND
        yield str(call["tool_use_id"])
        response = {"stdout": "", "stderr": "", "interrupted": False}
        # not every agent tells how long a call lasted
        took = {"duration_ms": 1500} if live.calls % 2 else {}
        live.say("PostToolUse", **call, tool_response=response, **took)
        live.agent = {}

    def persons(self, tree: int) -> set[str]:
        """Returns what a person wrote of a work tree."""
        texts = {line for name in self.files(tree) for line in self.lines(tree, name)}
        return {bare(line) for line in texts if self.writer(line) == PERSON}

    def session(self, step: Step) -> Live:
        """Returns the session that takes a step; the sub-agent is of the first one."""
        who = "s1" if step.who == "sub" else step.who
        live = self.sessions[who, step.tree]
        if (who, step.tree) not in self.prompted:
            self.prompted.add((who, step.tree))
            live.prompt("do what is wanted")
        live.agent = {"agent_id": f"sub{step.tree}", "agent_type": "writer"} if step.who == "sub" else {}
        return live

    def check(self) -> Checked:
        """Compares the owner of every line of every file, in both work trees and at their HEADs."""
        drain(self.stores[0], now=self.clock[0])
        found = [each for tree in (0, 1) for each in self._checked(tree)]
        return Checked(
            tuple(wrong for each in found for wrong in each.wrong),
            sum(each.lines for each in found),
            sum(each.common for each in found),
            sum(each.common_wrong for each in found),
        )

    def _checked(self, tree: int) -> Iterator[Checked]:
        listed = self.git(tree, "ls-tree", "HEAD")[1].splitlines()
        blobs = {name: head.split()[2] for head, _, name in (line.partition("\t") for line in listed)}
        tip = self.git(tree, "rev-parse", "HEAD")[1].strip()
        tracked = self.git(tree, "ls-files")[1].splitlines()
        untold = [name for name in self.files(tree) if name.startswith("moved") and name not in tracked]
        for name in dict.fromkeys([*blobs, *self.files(tree)]):
            path = self.roots[tree] / name
            here = _blob(path.read_bytes()) if path.exists() else None
            for revision, blob in ((tip, blobs.get(name)), (None, here)):
                # what is as in HEAD has the same answer, and so has what did not change meanwhile
                if blob is None or (revision is None and (blob == blobs.get(name) or name in untold)):
                    continue
                key = (tip, name, revision, blob, self.numbers, len(self.stores[tree].events_on(name.encode())))
                if key not in self.seen:
                    self.seen[key] = self._compared(tree, name, revision)
                    yield self.seen[key]

    def _compared(self, tree: int, name: str, revision: str | None) -> Checked:
        found = blame(self.stores[tree], name.encode(), revision)
        texts = [line.text.decode() for line in found.lines]
        times = Counter(map(bare, texts))
        wrong, lines, common, common_wrong = [], 0, 0, 0
        for above, text, line in zip(["", *texts], texts, found.lines, strict=False):
            owner = _owner(found, line)
            if bare(text) in COMMON:
                if bare(text) == bare(self.below.get(bare(above), "none")):
                    common += 1
                    common_wrong += owner not in self._may_own(above, revision)
            elif times[bare(text)] == 1:
                lines += 1
                if owner not in self._may_own(text, revision):
                    wrong.append(Wrong(tree, name, revision, line.number, text, self.writer(text), owner))
        return Checked(tuple(wrong), lines, common, common_wrong)

    def _may_own(self, line: str, revision: str | None) -> tuple[str, ...]:
        """Returns the owners that are right: what a person wrote is of nobody where nobody saw it, until a commit."""
        if self.writer(line) != PERSON:
            return (self.writer(line),)
        return ("commit",) if revision else ("commit", "observed", "unknown")


def _relink(main: Path, linked: Path) -> None:
    """Lets a copied work tree and its repository know each other where they are now."""
    folder = main / ".git" / "worktrees" / linked.name
    (folder / "gitdir").write_text(f"{linked / '.git'}\n")
    (linked / ".git").write_text(f"gitdir: {folder}\n")


def _blob(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _owner(found: Blame, line: BlamedLine) -> str:
    if line.owner != "event" or line.event is None:
        return line.owner
    return str(getattr(found.events[line.event].event, "call_id", None))
