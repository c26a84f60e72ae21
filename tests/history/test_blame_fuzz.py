"""Blame against a model, over random histories in real git: what must hold always, and what once did not.

A failure prints a sequence that can be put into `RECORDED`. More of it: `python -m benchmarks.fuzz_blame`.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.history.fuzz import drawn, played, script, shrunk
from tests.history.fuzz_steps import Fuzz
from tests.history.fuzz_world import Step, template

SEED = 20_260_105
SEQUENCES = int(os.environ.get("POGSTORE_FUZZ", "60"))
"""How many sequences are played; the variable asks for more, or fewer."""
LENGTH = 30
GROUPS = 6
EVERY = 10
"""Steps between two looks at every line: what went wrong stays so mostly, and looking is what takes time."""
TOLERANCE = 0.01
"""The share of lines that stand everywhere which may have another owner than the line above, which came with them."""

RECORDED = {
    "a rename that is staged": [Step("shell", who="s1", some=45), Step("rename"), Step("reset_soft", at=61)],
    "a rename of a command, staged": [Step("rename", who="s1", at=61), Step("reset_soft", at=27)],
    "a rename after a rename": [Step("rename", who="s1", at=57), Step("rename", who="s1", some=56)],
    "a staged rename that is stashed, and popped by a command": [
        Step("rename", at=62),
        Step("reset_soft", at=1),
        Step("stash"),
        Step("pop", who="s1"),
    ],
    "what was done again comes back over other changes": [
        Step("squash"),
        Step("shell", who="s1", tree=1, gone=2, some=1),
        Step("redo", who="s1", tree=1),
        Step("revert", tree=1, at=4),
        Step("write", who="s1", tree=1, at=31, some=7),
        Step("revert", tree=1, at=44),
    ],
    "what was done again in another work tree, indented": [
        Step("reformat", who="s1", at=19),
        Step("write", who="s1", tree=1, at=27),
        Step("reset_hard", who="s1", tree=1),
        Step("redo", who="s1"),
        Step("reformat"),
    ],
    "a command moves and edits a file, then rebases what a person had committed": [
        Step("edit"),
        Step("squash", at=34),
        Step("rename", who="s1", at=1),
        Step("rebase", who="s1"),
    ],
    "a person's white space, committed in part before the drain": [
        Step("reformat", some=25),
        Step("write", who="s1", at=3, some=52),
        Step("commit_hunks", who="s1", at=1),
    ],
    "a branch has what was drained, and a command edits it": [
        Step("write", who="s1"),
        Step("shell", who="s1"),
        Step("cherry_pick", some=31),
        Step("revert"),
        Step("reset_soft", who="s1", tree=1),
        Step("shell", who="s1", tree=1, some=46),
    ],
    "a person's edit is drained, and a command commits what git had brought": [
        Step("merge", who="s1"),
        Step("reset_soft", who="s1"),
        Step("write", who="s1", tree=1),
        Step("shell", who="s1", tree=1),
        Step("edit", some=7),
        Step("commit_hunks", who="s1", some=5),
        Step("shell", who="s1"),
    ],
    "a command that tells no duration indents what a person has just committed": [
        Step("shell", who="s1", some=7),
        Step("rebase", tree=1, at=58, some=58),
        Step("reformat", who="s1", at=5, some=19),
    ],
    "a command indents what a person has typed": [
        Step("cherry_pick", who="s1", some=31),
        Step("edit", at=36, some=10),
        Step("cherry_pick", at=58),
        Step("reformat", who="s1", at=8, some=16),
        Step("amend"),
    ],
    "a command indents what a reset has left": [
        Step("squash", at=26, come=2, some=62),
        Step("reset_soft", tree=1),
        Step("reformat", who="s1", tree=1, some=47),
    ],
    "the name in between is in no commit any more": [
        Step("rename", at=59),
        Step("rename", who="s1", at=57, some=29),
        Step("plumbing"),
    ],
    "a stash popped where the file has its older name": [
        Step("rename", who="s1", at=1),
        Step("write", who="s1", at=19, some=2),
        Step("stash"),
        Step("pop", tree=1),
    ],
    "a cherry-pick to where the file has its older name": [
        Step("rename"),
        Step("edit", who="s1", some=2),
        Step("commit", who="s1"),
        Step("cherry_pick", tree=1),
    ],
}

UNSOLVED = {
    "a command squashes what a person committed on another branch": [Step("squash_as_told", who="s1")],
    "a pick to where the file has its older name, which it lost in a commit that changed it too": [
        Step("rename", at=57),
        Step("shell", who="s1"),
        Step("rebase", who="s1", at=10, come=3),
        Step("edit", who="s1", some=59),
        Step("squash", at=35),
        Step("cherry_pick", tree=1),
    ],
}
"""What is not right yet: the steps that are drawn go around it."""


@pytest.fixture(autouse=True)
def uncovered() -> Iterator[None]:
    """Leaves out what measures coverage: it doubles the time, and other tests go the same ways."""
    tracer = sys.gettrace()
    sys.settrace(None)
    yield
    sys.settrace(tracer)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Path]:
    """The repositories in which sequences begin, once they were made."""
    return {}


def begun(made: dict[bool, Path], folder: Path, *, boilerplate: bool = False) -> Path:
    if boilerplate not in made:
        made[boilerplate] = template(folder / "made", boilerplate=boilerplate)
    return made[boilerplate]


@pytest.mark.parametrize("group", range(GROUPS))
def test_every_line_has_the_owner_who_wrote_it(made: dict[bool, Path], tmp_path: Path, group: int) -> None:
    begin = begun(made, tmp_path)
    for number in range(group, SEQUENCES, GROUPS):
        sequence = drawn(SEED + number, LENGTH)
        done = played(begin, sequence, every=EVERY)
        if done.fault is not None:
            least = shrunk(sequence[: done.steps], lambda steps: played(begin, steps, every=EVERY).fault is not None)
            pytest.fail(
                f"seed {SEED + number}: {done.fault}\n{script(least)}\n{played(begin, least, every=EVERY).fault}"
            )


@pytest.mark.parametrize(
    "every", [1, 6, 1000], ids=["drained after each step", "drained now and then", "drained at the end"]
)
@pytest.mark.parametrize("name", RECORDED)
def test_what_went_wrong_once(made: dict[bool, Path], tmp_path: Path, name: str, every: int) -> None:
    assert played(begun(made, tmp_path), RECORDED[name], every=every).fault is None


@pytest.mark.xfail(reason="nothing that is looked at tells where it came from", strict=True)
@pytest.mark.parametrize("name", UNSOLVED)
def test_what_goes_wrong_still(made: dict[bool, Path], tmp_path: Path, name: str) -> None:
    assert played(begun(made, tmp_path), UNSOLVED[name]).fault is None


def test_lines_that_stand_everywhere_mostly_go_with_the_line_above(made: dict[bool, Path], tmp_path: Path) -> None:
    """Blank lines, brackets and the like between unique ones, which must be right all the same."""
    begin = begun(made, tmp_path, boilerplate=True)
    done = [
        played(begin, drawn(SEED + number, LENGTH), every=EVERY, boilerplate=True) for number in range(SEQUENCES // 6)
    ]
    assert [each.fault for each in done if each.fault] == []
    wrong, asked = sum(each.checked.common_wrong for each in done), sum(each.checked.common for each in done)
    assert asked > 50 * len(done)
    assert wrong <= TOLERANCE * asked


def test_steps_do_something(made: dict[bool, Path], tmp_path: Path) -> None:
    """The sequences are worth playing: what agents write is captured, and most of what git is told happens."""
    fuzz = Fuzz(begun(made, tmp_path), tmp_path / "copy")
    for step in drawn(SEED, 3 * LENGTH):
        fuzz.play(step)
    assert fuzz.check().lines > 100
    owners = set(fuzz.writers.values())
    assert len(owners) > LENGTH // 2
    assert fuzz.git(0, "log", "--branches", "--format=%s")[1].count("\n") > 10
