"""The long fuzz of blame: many random sequences in real git, each line's owner compared with a model.

    python -m benchmarks.fuzz_blame --sequences 1000 --steps 30 --seed 1 [--resume FILE]

Sequence n is drawn from the seed and n alone. With `--resume` every sequence played is a line in a file, and those that
are there already are not played again. The exit status is 1 if a line was wrong.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.conftest import sealed
from tests.history.fuzz import Outcome, drawn, played, script, shrunk
from tests.history.fuzz_world import Step, template


def main() -> int:
    """Plays what is asked for and tells of it; returns 1 if a line was wrong."""
    asked = _asked()
    kept = Path(asked.resume) if asked.resume else None
    rows = [json.loads(line) for line in kept.read_text().splitlines()] if kept and kept.exists() else []
    known = {(row["seed"], row["steps_asked"], row["boilerplate"]) for row in rows}
    print(f"seed {asked.seed}: {asked.sequences} sequences of {asked.steps} steps")
    begun, faults, steps = time.monotonic(), 0, 0
    lines, common, common_wrong = 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "home").mkdir()
        kept_out = sealed(os.environ, Path(folder) / "home")
        os.environ.clear()
        os.environ.update(kept_out)
        made = template(Path(folder) / "made", boilerplate=asked.boilerplate)
        for number in range(asked.sequences):
            seed = asked.seed * 1_000_003 + number
            if (seed, asked.steps, asked.boilerplate) in known:
                continue
            sequence = drawn(seed, asked.steps)
            done = played(made, sequence, every=asked.every, boilerplate=asked.boilerplate)
            steps += done.steps
            lines += done.checked.lines
            common += done.checked.common
            common_wrong += done.checked.common_wrong
            if done.fault:
                faults += 1
                print(f"\nsequence {number} (seed {seed}), step {done.steps}\n{done.fault}", flush=True)
                if not asked.no_shrink:
                    _tell(made, sequence[: done.steps], asked)
            if kept:
                row = {"seed": seed, "steps_asked": asked.steps, "boilerplate": asked.boilerplate, "steps": done.steps}
                with kept.open("a") as file:
                    file.write(json.dumps(row | {"lines": done.checked.lines, "fault": done.fault}) + "\n")
            if number % 10 == 9:
                print(f"{number + 1} sequences, {steps / (time.monotonic() - begun):.1f} steps/s", flush=True)
    spent = time.monotonic() - begun
    print(f"{steps} steps in {spent:.0f} s ({steps / spent:.1f}/s), {lines} lines looked at, {faults} sequences failed")
    if common:
        print(f"lines that stand everywhere: {common_wrong} of {common} with another owner than the line above")
    return bool(faults)


def _tell(made: Path, sequence: Sequence[Step], asked: argparse.Namespace) -> None:
    """Prints a sequence that fails as small as it can be made."""

    def fails(steps: Sequence[Step]) -> bool:
        return again(steps).fault is not None

    def again(steps: Sequence[Step]) -> Outcome:
        return played(made, steps, every=asked.every, boilerplate=asked.boilerplate)

    least = shrunk(sequence, fails)
    print(script(least))
    print(again(least).fault, flush=True)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Fuzzes blame.")
    parser.add_argument("--sequences", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=int, default=3, help="steps between two looks at all lines")
    parser.add_argument("--boilerplate", action="store_true", help="with lines that stand everywhere")
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--resume", help="a file of what was played")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
