"""What is done in the fuzz of blame: each step by an agent's tool, by a command, or by a person."""

from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from pathlib import Path

from tests.conftest import SECOND
from tests.history.fuzz_world import PERSON, Step, World, text_of

LEAPS = (30, 90, 600, 3600)
"""Seconds that may pass between two steps."""


class Fuzz(World):
    """One sequence of steps in a copy of the template."""

    def __init__(self, made: Path, folder: Path, *, boilerplate: bool = False) -> None:
        super().__init__(made, folder, boilerplate=boilerplate)
        self.discarded: list[tuple[str, str, list[str]]] = []
        self.taken_back: dict[tuple[int, str], list[str]] = {}
        self.undone: dict[tuple[int, str], tuple[list[str], list[str]]] = {}
        self.renamed = 0
        self.is_told = True

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
        (self.roots[tree] / name).write_text(text_of(lines))
        self.wrote(fresh, writer)

    def _replace(self, step: Step, name: str, old: list[str], new: list[str], fresh: list[str]) -> None:
        """Lets an agent replace the smallest text around a change that stands there once."""
        same = _alike(old, new)
        left = _alike(old[same:][::-1], new[same:][::-1])
        first, last = max(same - 1, 0), len(old) - max(left - 1, 0)
        was, now = text_of(old[first:last]), text_of(new[first : len(new) - (len(old) - last)])
        self.undone[step.tree, name] = (new, old)
        if was and text_of(old).count(was) == 1:
            call = self.session(step).edit(name, was, now)
            self.wrote(fresh, call)
        else:
            self._write(step, name, new, fresh)

    def _write(self, step: Step, name: str, new: list[str], fresh: list[str]) -> None:
        self.wrote(fresh, self.session(step).write(name, text_of(new)))

    def do_undo(self, step: Step) -> None:
        """An agent takes the last edit of a file back, if nothing came after it: its lines are whose they were.

        Who takes that back in turn writes anew what was discarded, unless it still stands somewhere.
        """
        key = (step.tree, self.named(step) or "")
        now, before = self.undone.get(key, ([], []))
        if step.who == PERSON or not key[1] or now != self.lines(*key):
            return
        was_undo = self.taken_back.get(key) == now
        anew = [line for line in before if line not in now and self.writer(line) != PERSON] if was_undo else []
        if any(self._stands(line) for line in anew):
            return
        self._replace(step, key[1], now, before, anew)
        self.taken_back[key] = [] if was_undo else before

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
            (self.roots[step.tree] / name).write_text(text_of(lines))

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
            blob = self.git(step.tree, "hash-object", "-w", "--stdin", given=text_of(part))[1].strip()
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
            self.clock[0] += SECOND  # in the second in which a call ends it might be the call's own commit
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
            unseen = self.persons(step.tree) - self.seen_lines
            if self.git(step.tree, "stash", "--quiet", *(["--include-untracked"] if step.at % 2 else []))[0]:
                self.is_told = self.is_told and not unseen - self.persons(step.tree)

    def do_pop(self, step: Step) -> None:
        """By a person if it may hold what he wrote and nobody saw: a command would be taken for its writer."""
        if self.git(step.tree, "stash", "list")[1]:
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

    def is_ready(self, step: Step) -> bool:
        """Says whether nothing is uncommitted in a work tree; mostly what is gets committed first."""
        if self.is_clean(step.tree):
            return True
        return step.at % 8 > 0 and self._commit(step.tree)


def _alike(old: Sequence[str], new: Sequence[str]) -> int:
    """Returns how many lines at the head are the same."""
    return next(
        (at for at, (was, now) in enumerate(zip(old, new, strict=False)) if was != now), min(len(old), len(new))
    )
