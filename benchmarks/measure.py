"""How every benchmark measures and says what it found: medians of alternating runs, and a ratio to a peer.

A figure is believed for its ratio only: both sides run on the same machine and, since they take turns, in the same
moments.
"""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
SLOWER = ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "PYTHONDEVMODE", "COVERAGE_PROCESS_START")
"""What would make our processes slower than an installed package is."""
HEADINGS = ("question", "ours", "beside", "", "ratio", "aim", "")


class Options(NamedTuple):
    """How much to measure. `place` is an empty directory that is removed afterwards."""

    events: int
    runs: int
    quick: bool
    place: Path


class Peer(NamedTuple):
    """What stands beside us, and the seconds of each of its runs."""

    name: str
    seconds: Sequence[float]


class Row(NamedTuple):
    """One figure. The ratio is ours to the peer's, so less is better; `reached` is absent where no aim is set."""

    question: str
    ours: str
    peer: str
    theirs: str
    ratio: float
    aim: str = ""
    reached: bool | None = None


Rows = Callable[[Options], Iterable[Row]]


def clock(function: Callable[[], object], by: Callable[[], float] = time.perf_counter) -> float:
    """Returns the seconds that one call takes."""
    begun = by()
    function()
    return by() - begun


def in_turn(
    runs: int, *functions: Callable[[], object], by: Callable[[], float] = time.perf_counter
) -> tuple[list[float], ...]:
    """Returns the seconds of each run of each function; they take turns, so that whatever else runs meets them all.

    `by` is the clock: that of the wall, or `time.process_time` where all of it is computing in this process.
    """
    taken: tuple[list[float], ...] = tuple([] for _ in functions)
    for _ in range(runs):
        for seconds, function in zip(taken, functions, strict=True):
            seconds.append(clock(function, by))
    return taken


def process(command: Sequence[str], cwd: Path) -> Callable[[], object]:
    """Returns a function that runs a command to its end; its output is read and dropped, a failure is an error."""

    def run() -> None:
        done = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace")
            raise SystemExit(f"{' '.join(command)}: status {done.returncode}\n{said}")

    return run


def python(code: str) -> list[str]:
    """Returns the command that runs a line of Python with this interpreter."""
    return [sys.executable, "-c", code]


def pog(*arguments: str) -> list[str]:
    """Returns a `git pog` command as git's own dispatch would run it, without that dispatch."""
    return [str(Path(sys.executable).parent / "git-pog"), *arguments]


def percentile_95(seconds: Sequence[float]) -> float:
    """Returns the figure that 95 of 100 runs do not exceed."""
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, len(ordered) * 95 // 100)]


def compare(
    question: str,
    ours: Sequence[float],
    peer: Peer,
    *,
    at_most: float | None = None,
    count: int | None = None,
    at_least: int | None = None,
    of: Callable[[Sequence[float]], float] = median,
) -> Row:
    """Returns the row of a question: at most so many times the peer's time, at least so many a second of `count`."""
    mine, theirs = of(ours), of(peer.seconds)
    ratio = mine / theirs
    aims, reached = [], []
    if at_most is not None:
        aims.append(f"≤ {at_most:.2f} ×")
        reached.append(round(ratio, 2) <= round(at_most, 2))
    if at_least is not None and count is not None:
        aims.append(f"≥ {at_least:,}/s")
        reached.append(count / mine >= at_least)
    verdict = all(reached) if reached else None
    return Row(question, spelled(mine, count), peer.name, spelled(theirs, count), ratio, ", ".join(aims), verdict)


def spelled(seconds: float, count: int | None = None) -> str:
    """Returns a time as people read it, with the rate if it is the time of several."""
    if seconds >= 1:
        text = f"{seconds:.2f} s"
    elif seconds >= 0.001:
        text = f"{seconds * 1000:.1f} ms"
    else:
        text = f"{seconds * 1_000_000:.0f} µs"
    return text if count is None else f"{text} ({count / seconds:,.0f}/s)"


def machine() -> str:
    """Returns what was measured, and on what."""
    commit = _said("git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=10") or "unknown"
    git = _said("git", "version").removeprefix("git version ")
    python_version = f"{platform.python_implementation()} {platform.python_version()}"
    system = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    return f"pogstore {commit}, {python_version}, git {git}, {system}"


def table(rows: Sequence[Row]) -> str:
    """Returns the rows in columns."""
    cells = [HEADINGS, *(_cells(row) for row in rows)]
    widths = [max(len(line[at]) for line in cells) for at in range(len(HEADINGS))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells
    )


def main(rows: Rows, *, events: int, quick: int, runs: int = 5, plot: Callable[[Path], None] | None = None) -> None:
    """Runs one benchmark as a process: `events` by default, `quick` of them (and one run) to see that it works.

    One that can draw what it measured is told where to.
    """
    parser = argparse.ArgumentParser(description=sys.modules[rows.__module__].__doc__)
    parser.add_argument("--events", type=int, metavar="N", help=f"how many to measure with (default: {events})")
    parser.add_argument("--runs", type=int, metavar="N", help=f"runs of each side, of which the median counts ({runs})")
    parser.add_argument("--quick", action="store_true", help=f"{quick} events and one run: only to see that it works")
    if plot is not None:
        parser.add_argument("--plot", type=Path, metavar="FILE", help="draw what was measured, as SVG")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pog-bench-") as place:
        seal(Path(place))
        chosen = Options(
            given.events or (quick if given.quick else events),
            given.runs or (1 if given.quick else runs),
            given.quick,
            Path(place),
        )
        print(machine())
        print(table(list(rows(chosen))))
        if plot is not None and given.plot is not None:
            plot(given.plot)


def seal(home: Path) -> None:
    """Hides the person's own configuration and hooks from every git and every store of this process."""
    for name in [name for name in os.environ if name.startswith(("GIT_", "POG_")) or name in SLOWER]:
        del os.environ[name]
    config = home / "gitconfig"
    config.write_text(
        "[user]\n\tname = Ada Example\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n"
    )
    os.environ |= {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home),
        "GIT_CONFIG_GLOBAL": str(config),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_PAGER": "cat",
        "LC_ALL": "C.UTF-8",
    }


def _cells(row: Row) -> tuple[str, ...]:
    verdict = {True: "reached", False: "missed", None: ""}[row.reached]
    return row.question, row.ours, row.peer, row.theirs, f"{row.ratio:.2f}", row.aim, verdict


def _said(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip()
