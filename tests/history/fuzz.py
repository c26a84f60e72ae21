"""Random sequences of steps for the fuzz of blame: drawn from a seed, played, and made small where they fail.

A failure is a list of `Step`s that can be put into a test as it is printed.
"""

import random
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.history.fuzz_steps import Fuzz
from tests.history.fuzz_world import PERSON, Checked, Step, Wrong

AGENTS = ("s1", "s2", "sub")
WEIGHTS = {
    "edit": 30, "write": 8, "shell": 14, "reformat": 5, "commit": 10, "commit_files": 5, "commit_hunks": 6, "amend": 4,
    "switch": 5, "merge": 4, "squash": 4, "plumbing": 2, "rebase": 5, "cherry_pick": 4, "revert": 5, "stash": 4,
    "pop": 6, "rename": 3, "reset_soft": 3, "reset_hard": 4, "redo": 4, "undo": 3, "leap": 3,
}  # fmt: skip
BY_AGENT = {"edit": 0.7, "write": 1.0, "shell": 1.0, "redo": 1.0, "undo": 1.0}
"""How often an agent does it; what git is told is told by a command now and then."""


class Outcome(NamedTuple):
    """What came of a sequence: how many of its steps were played until a line was wrong, and what was checked."""

    steps: int
    checked: Checked
    fault: str | None


def drawn(seed: int, length: int) -> list[Step]:
    """Returns the sequence of a seed."""
    dice = random.Random(seed)
    deeds = dice.choices(list(WEIGHTS), list(WEIGHTS.values()), k=length)
    return [_step(dice, deed) for deed in deeds]


def _step(dice: random.Random, deed: str) -> Step:
    by_agent = dice.random() < BY_AGENT.get(deed, 0.3)
    return Step(
        deed,
        dice.choice(AGENTS) if by_agent else PERSON,
        int(dice.random() < 0.3),
        dice.randrange(64),
        dice.choice((1, 1, 2, 3)),
        dice.choice((0, 0, 0, 1, 2)),
        dice.randrange(64),
    )


def played(made: Path, steps: Sequence[Step], *, every: int = 1, boilerplate: bool = False) -> Outcome:
    """Plays a sequence in a copy of a template; looks at all lines after every so many steps, and at the end."""
    total = Checked((), 0, 0, 0)
    with tempfile.TemporaryDirectory() as folder:
        fuzz = Fuzz(made, Path(folder) / "copy", boilerplate=boilerplate)
        for number, step in enumerate(steps, 1):
            fuzz.play(step)
            if number % every and number != len(steps):
                continue
            checked = fuzz.check()
            total = Checked(checked.wrong, *(a + b for a, b in zip(total[1:], checked[1:], strict=True)))
            if checked.wrong:
                return Outcome(number, total, _told(checked.wrong))
    return Outcome(len(steps), total, None)


def _told(wrong: Sequence[Wrong]) -> str:
    more = [f"and {len(wrong) - 4} more"] if len(wrong) > 4 else []
    return "\n".join([*map(str, wrong[:4]), *more])


def shrunk(steps: Sequence[Step], fails: Callable[[Sequence[Step]], bool]) -> list[Step]:
    """Returns a sequence that still fails and from which no step can be left out; the simplest numbers that will do."""
    found = list(steps)
    size = max(len(found) // 2, 1)
    while True:
        at = len(found) - size
        while at > -size:
            shorter = found[: max(at, 0)] + found[max(at, 0) + size :]
            if len(shorter) < len(found) and fails(shorter):
                found = shorter
            at -= size
        if size == 1:
            break
        size //= 2
    return _simpler(found, fails)


def _simpler(steps: list[Step], fails: Callable[[Sequence[Step]], bool]) -> list[Step]:
    for at in range(len(steps)):
        for field, value in (("who", "s1"), ("tree", 0), ("come", 1), ("gone", 0), ("some", 0), ("at", 0)):
            simpler = Step(**(steps[at]._asdict() | {field: value}))
            if simpler != steps[at] and (field != "who" or steps[at].who in AGENTS):
                tried = [*steps[:at], simpler, *steps[at + 1 :]]
                steps = tried if fails(tried) else steps
    return steps


def script(steps: Sequence[Step]) -> str:
    """Returns a sequence as Python."""
    return "[\n" + "".join(f"    {_brief(step)},\n" for step in steps) + "]"


def _brief(step: Step) -> str:
    default = Step("")
    given = [
        f"{name}={value!r}"
        for name, value, usual in zip(Step._fields[1:], step[1:], default[1:], strict=True)
        if value != usual
    ]
    return f"Step({', '.join([repr(step.do), *given])})"
