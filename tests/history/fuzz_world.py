"""A repository in which agents and a person do anything at all, and a model that knows who wrote each line.

Every line is a text of its own, so its writer is known by its text alone, whatever git does with it later: the model
knows nothing of versions, diffs or commits. Agents are captured live, through the hook itself; git is real.
"""

import hashlib
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from difflib import SequenceMatcher
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
LEAPS = (30, 90, 600, 3600)
"""Seconds that may pass between two steps."""


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
        (repo.path / name).write_text(_text(lines))
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


def _text(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def bare(line: str) -> str:
    """Returns a line without white space, by which its writer is known: who indents a line does not write it."""
    return "".join(line.split())


class Fuzz:
    """One sequence of steps in a copy of the template."""

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
        self.is_told = True
        pairs = [pair for name in FILES for pair in base(name, boilerplate=boilerplate)]
        self.below = {bare(pair[0]): pair[1] for pair in pairs if len(pair) > 1}
        self.undone: dict[tuple[int, str], tuple[list[str], list[str]]] = {}
        self.numbers = 0
        self.discarded: list[tuple[str, str, list[str]]] = []
        self.renamed = 0
        self.seen: dict[tuple[object, ...], Checked] = {}
        self.prompted: set[tuple[str, int]] = set()

    # -- the model

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

    # -- git, and time

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

    def is_ready(self, step: Step) -> bool:
        """Says whether nothing is uncommitted in a work tree; mostly what is gets committed first."""
        if self.is_clean(step.tree):
            return True
        return step.at % 8 > 0 and self._commit(step.tree)

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

    # -- who does it

    @contextmanager
    def doing(self, step: Step) -> Iterator[str]:
        """Yields who writes what is written meanwhile: the call of a command, or a person between all calls."""
        self.clock[0] += SECOND
        if step.who == PERSON:
            yield PERSON
            return
        live = self.session(step)
        call = live.begin("Bash", {"command": f"{step.do} {step.at}"})
        self.seen_lines |= self._persons(step.tree)
        self.clock[0] += SECOND
        yield str(call["tool_use_id"])
        response = {"stdout": "", "stderr": "", "interrupted": False}
        live.say("PostToolUse", **call, tool_response=response, duration_ms=1500)
        live.agent = {}

    def _persons(self, tree: int) -> set[str]:
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

    # -- steps

    def play(self, step: Step) -> None:
        """Does a step, if it can be done."""
        deed: Callable[[Step], None] = getattr(self, f"do_{step.do}")
        deed(step)

    def do_leap(self, step: Step) -> None:
        self.clock[0] += LEAPS[step.at % len(LEAPS)] * SECOND

    def do_edit(self, step: Step) -> None:
        """By the tool that replaces a text; what a person or a command edits is written as it is."""
        name = self.named(step)
        if name is None:
            return
        old = self.lines(step.tree, name)
        new, fresh = self._edited(old, step)
        if step.who == PERSON:
            self.clock[0] += SECOND
            self._put(step.tree, name, new, fresh, PERSON)
        elif new != old:
            self._replace(step, name, old, new, fresh)

    def _edited(self, old: list[str], step: Step) -> tuple[list[str], list[str]]:
        at = step.at % (len(old) + 1)
        fresh = self.fresh(step.come)
        return [*old[:at], *fresh, *old[at + step.gone :]], fresh

    def _put(self, tree: int, name: str, lines: Sequence[str], fresh: Sequence[str], writer: str) -> None:
        (self.roots[tree] / name).write_text(_text(lines))
        self.wrote(fresh, writer)

    def _replace(self, step: Step, name: str, old: list[str], new: list[str], fresh: list[str]) -> None:
        """Lets an agent replace the smallest text around a change that stands there once."""
        same = _alike(old, new)
        left = _alike(old[same:][::-1], new[same:][::-1])
        first, last = max(same - 1, 0), len(old) - max(left - 1, 0)
        was, now = _text(old[first:last]), _text(new[first : len(new) - (len(old) - last)])
        self.undone[step.tree, name] = (new, old)
        if was and _text(old).count(was) == 1:
            call = self.session(step).edit(name, was, now)
            self.wrote(fresh, call)
        else:
            self._write(step, name, new, fresh)

    def _write(self, step: Step, name: str, new: list[str], fresh: list[str]) -> None:
        self.wrote(fresh, self.session(step).write(name, _text(new)))

    def do_undo(self, step: Step) -> None:
        """An agent takes the last edit of a file back, if nothing came after it: its lines are whose they were."""
        name = self.named(step)
        now, before = self.undone.get((step.tree, name or ""), ([], []))
        if step.who != PERSON and name is not None and now == self.lines(step.tree, name):
            self._replace(step, name, now, before, [])

    def do_write(self, step: Step) -> None:
        """By the tool that writes a file whole; with few lines left it is a new file."""
        name = self.named(step)
        if step.who == PERSON or name is None:
            return self.do_edit(step)
        old = self.lines(step.tree, name)
        new, fresh = self._edited(old, step)
        if step.at % 5 == 0 and len(self.files(step.tree)) < 6:
            name, new = f"new{self.numbers}.txt", self.fresh(8 + step.come)
            fresh = new
        self._write(step, name, new, fresh)
        return None

    def do_shell(self, step: Step) -> None:
        """A command that edits a file, or two; and commits what it did, if that is wanted."""
        if step.who == PERSON:
            return
        with self.doing(step) as writer:
            for name in dict.fromkeys([self.named(step), self.named(step._replace(some=step.some // 4))]):
                if name is not None:
                    new, fresh = self._edited(self.lines(step.tree, name), step)
                    self._put(step.tree, name, new, fresh, writer)
            if step.some % 5 == 0:
                self._commit(step.tree)

    def do_reformat(self, step: Step) -> None:
        """White space alone, of some lines."""
        name = self.named(step)
        if name is None:
            return
        with self.doing(step if step.who != "s2" else step._replace(who=PERSON)):
            lines = self.lines(step.tree, name)
            at, size = step.at % (len(lines) + 1), 2 + step.come
            lines[at : at + size] = [f"    {line}" if line else line for line in lines[at : at + size]]
            (self.roots[step.tree] / name).write_text(_text(lines))

    def _commit(self, tree: int, *options: str) -> bool:
        self.git(tree, "add", "--all")
        return self.git(tree, "commit", "--quiet", "--message", f"at {self.clock[0]}", *options)[0]

    def do_commit(self, step: Step) -> None:
        with self.doing(step):
            self._commit(step.tree)

    def do_commit_files(self, step: Step) -> None:
        name = self.changed(step)
        if name is not None:
            with self.doing(step):
                self.git(step.tree, "add", name)
                self.git(step.tree, "commit", "--quiet", "--message", f"{name} at {self.clock[0]}", "--", name)

    def do_commit_hunks(self, step: Step) -> None:
        """Some of the places that a file was changed at, and not the others."""
        name = self.changed(step)
        known, text = self.git(step.tree, "show", f"HEAD:{name}")
        if name is None or not known:
            return
        with self.doing(step):
            old, new = text.split("\n")[:-1], self.lines(step.tree, name)
            part: list[str] = []
            for at, (_, i, j, k, m) in enumerate(SequenceMatcher(None, old, new, autojunk=False).get_opcodes()):
                part += new[k:m] if (step.at >> (at // 2 % 6)) & 1 else old[i:j]
            blob = self.git(step.tree, "hash-object", "-w", "--stdin", given=_text(part))[1].strip()
            self.git(step.tree, "reset", "--quiet")
            self.git(step.tree, "update-index", "--cacheinfo", f"100644,{blob},{name}")
            self.git(step.tree, "commit", "--quiet", "--message", f"part of {name} at {self.clock[0]}")

    def do_amend(self, step: Step) -> None:
        if self._depth(step.tree) > 1:
            with self.doing(step):
                self._commit(step.tree, "--amend")

    def _depth(self, tree: int) -> int:
        return int(self.git(tree, "rev-list", "--count", "--first-parent", "HEAD")[1])

    def _other(self, step: Step) -> str:
        """Returns a branch that has something new; if there is none, a person commits in the other work tree."""
        names = self.git(step.tree, "branch", "--format=%(refname:short)", "--no-merged", "HEAD")[1].split()
        if names:
            return names[step.some % len(names)]
        other = step._replace(tree=1 - step.tree, who=PERSON, gone=0)
        name = self.named(other)
        if name is not None:
            new, fresh = self._edited(self.lines(other.tree, name), other)
            self._put(other.tree, name, new, fresh, PERSON)
            self._commit(other.tree)
        return self.git(other.tree, "branch", "--show-current")[1].strip()

    def do_switch(self, step: Step) -> None:
        """To another branch, or to a new one; git refuses what is checked out elsewhere, or would lose something."""
        with self.doing(step):
            if step.at % 2 and self._depth(step.tree) > 1:
                self.git(step.tree, "switch", "--quiet", "-c", f"topic{self.clock[0] // SECOND % 100000}", "HEAD~1")
            else:
                names = self.git(step.tree, "branch", "--format=%(refname:short)")[1].split()
                self.git(step.tree, "switch", "--quiet", names[step.some % len(names)])

    def do_merge(self, step: Step) -> None:
        other = self._other(step)
        with self.doing(step):
            if self.is_ready(step) and not self.git(step.tree, "merge", "--quiet", "--no-ff", "-m", "merged", other)[0]:
                self.git(step.tree, "merge", "--abort")

    def do_squash(self, step: Step) -> None:
        """By a person: a command that squashes what he did on another branch is taken for its writer."""
        self.do_squash_as_told(step._replace(who=PERSON))

    def do_squash_as_told(self, step: Step) -> None:
        other = self._other(step)
        with self.doing(step):
            if not self.is_ready(step):
                return
            if self.git(step.tree, "merge", "--quiet", "--squash", other)[0]:
                self.git(step.tree, "commit", "--quiet", "--message", "squashed")
            else:
                self.git(step.tree, "reset", "--quiet", "--hard")

    def do_plumbing(self, step: Step) -> None:
        """The last commits become one with a fresh message, as servers make them."""
        if self._depth(step.tree) > 2:
            with self.doing(step):
                made = self.git(step.tree, "commit-tree", "HEAD^{tree}", "-p", "HEAD~2", "-m", "made by a server")[1]
                self.git(step.tree, "reset", "--quiet", "--soft", made.strip())

    def do_rebase(self, step: Step) -> None:
        other = self._other(step)
        with self.doing(step):
            if self.is_ready(step) and not self.git(step.tree, "rebase", "--quiet", other)[0]:
                self.git(step.tree, "rebase", "--abort")

    def do_cherry_pick(self, step: Step) -> None:
        """Not over a rename: behind the copy nothing tells that a file once had another's name."""
        theirs = set(self.git(step.tree, "ls-tree", "--name-only", self._other(step))[1].split())
        if not any(name.startswith("moved") for name in theirs.symmetric_difference(self.files(step.tree))):
            self.do_cherry_pick_as_told(step)

    def do_cherry_pick_as_told(self, step: Step) -> None:
        other = self._other(step)
        with self.doing(step):
            if self.is_ready(step) and not self.git(step.tree, "cherry-pick", other)[0]:
                self.git(step.tree, "cherry-pick", "--abort")

    def do_revert(self, step: Step) -> None:
        """Of the last commit, or the one before; so what was reverted may be reverted again."""
        if self._depth(step.tree) > 1:
            with self.doing(step):
                back = step.at // 8 % min(self._depth(step.tree) - 1, 2)
                if self.is_ready(step) and not self.git(step.tree, "revert", "--no-edit", f"HEAD~{back}")[0]:
                    self.git(step.tree, "revert", "--abort")

    def do_stash(self, step: Step) -> None:
        with self.doing(step):
            unseen = self._persons(step.tree) - self.seen_lines
            if self.git(step.tree, "stash", "--quiet", *(["--include-untracked"] if step.at % 2 else []))[0]:
                self.is_told = self.is_told and not unseen - self._persons(step.tree)

    def do_pop(self, step: Step) -> None:
        """By a person if it may hold what he wrote and nobody saw: a command would be taken for its writer."""
        if not self.git(step.tree, "stash", "list")[1]:
            return
        with self.doing(step if self.is_told else step._replace(who=PERSON)):
            if self.is_ready(step) and not self.git(step.tree, "stash", "pop", "--quiet")[0]:
                self.git(step.tree, "reset", "--quiet", "--hard")

    def do_rename(self, step: Step) -> None:
        """A file is moved; a person commits that, and may have changed a line on the way."""
        name = self.named(step)
        if name is None:
            return
        with self.doing(step) as writer:
            self.renamed += 1
            new = f"moved{self.renamed}.txt"
            if not self.git(step.tree, "mv", name, new)[0]:
                return
            if step.at % 2 or writer == PERSON:
                lines, fresh = self._edited(self.lines(step.tree, new), step._replace(come=1, gone=step.at % 2))
                if step.at % 2:
                    self._put(step.tree, new, lines, fresh, writer)
                self._commit(step.tree)

    def do_reset_soft(self, step: Step) -> None:
        if self._depth(step.tree) > 1:
            with self.doing(step):
                self.git(step.tree, "reset", "--quiet", "--soft" if step.at % 2 else "--mixed", "HEAD~1")

    def do_reset_hard(self, step: Step) -> None:
        """What was done since HEAD is discarded, or also the last commit."""
        before = {name: self.lines(step.tree, name) for name in self.files(step.tree)}
        back = step.at % 2 if self._depth(step.tree) > 1 else 0
        with self.doing(step):
            self.git(step.tree, "reset", "--quiet", "--hard", f"HEAD~{back}")
        for name, lines in before.items():
            left = set(self.lines(step.tree, name)) if (self.roots[step.tree] / name).exists() else set()
            gone = [line for line in lines if line not in left and self.writer(line) != PERSON]
            if gone and left:
                above = lines[lines.index(gone[0]) - 1] if lines.index(gone[0]) else ""
                run = lines[lines.index(gone[0]) :]
                stop = next((at for at, line in enumerate(run) if line not in gone), len(run))
                self.discarded.append((name, above, run[:stop]))

    def do_redo(self, step: Step) -> None:
        """An agent's edit of what was discarded writes it anew, unless it still stands somewhere."""
        if not self.discarded:
            self.do_reset_hard(step._replace(who=PERSON))
        if not self.discarded:
            return
        name, above, lines = self.discarded.pop()
        if name not in self.files(step.tree) or any(self._stands(line) for line in lines):
            return
        old = self.lines(step.tree, name)
        at = old.index(above) + 1 if above in old else 0
        self._replace(step, name, old, [*old[:at], *lines, *old[at:]], lines)

    def _stands(self, line: str) -> bool:
        in_files = any(line in self.lines(tree, name) for tree in (0, 1) for name in self.files(tree))
        kept = ("log", "--branches", "--glob=refs/stash", "--oneline", "-1", f"-S{line.strip()}")
        return in_files or bool(self.git(0, *kept)[1])

    # -- what blame says

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


def _alike(old: Sequence[str], new: Sequence[str]) -> int:
    """Returns how many lines at the head are the same."""
    return next(
        (at for at, (was, now) in enumerate(zip(old, new, strict=False)) if was != now), min(len(old), len(new))
    )


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
