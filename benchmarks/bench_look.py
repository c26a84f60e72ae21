"""How long a hook takes that looks at a whole work tree, whole process, beside `git status` of the same tree.

The hook is told of the beginning of a shell call, which names no paths. `--events` is the number of files.
"""

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.material import git, new_repository
from benchmarks.measure import Options, Peer, Row, clock, compare, in_turn, main, pog, process
from pogstore.store.store import open_store
from pogstore.work import spooled
from pogstore.work.setup import enable, spool_of
from pogstore.work.spooled_record import decode_record

CHANGED = 5
SIZES = (1_000, 10_000, 50_000)
FEW = 3
"""Runs of each side after a switch, which itself takes longer than all else."""
AIM = 1.5
"""For the largest tree: in a small one nearly all of the time is Python's own start."""
STATUS = ("git", "status", "--porcelain=v2", "--untracked-files=all")


def rows(options: Options) -> Iterator[Row]:
    """Yields figures for work trees of some sizes, and for the first look after a switch between branches."""
    sizes = [size for size in SIZES if size < options.events]
    for size in [*sizes, options.events]:
        place = work_tree(options.place / f"tree-{size}", size)
        look = hook(place)
        look()  # git status, too, has an index that is warm
        ours, status = in_turn(options.runs, look, process(STATUS, place))
        aim = AIM if size == options.events and not options.quick else None
        yield compare(f"{size:,} files, {CHANGED} changed", ours, Peer("git status", status), at_most=aim)
        check(place, CHANGED)
    differing = options.events * 3 // 5
    ours, status = switching(options, place, differing)
    yield compare(f"the same, after a switch of {differing:,} files", ours, Peer("git status", status))
    check(place, CHANGED)


def work_tree(place: Path, size: int) -> Path:
    """Makes a repository of so many files in which recording is wanted, and changes a few of them."""
    new_repository(place)
    for number in range(size):
        path = file(place, number)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"value = index + {number}\n" * 20)
    git(place, "add", "--all")
    git(place, "commit", "--quiet", "--message", "first")
    enable(open_store(place))
    for number in range(CHANGED):
        file(place, number).write_text("changed\n")
    return place


def file(place: Path, number: int) -> Path:
    """Returns the path of one of many files: a thousand in a folder with twenty below it."""
    return place / f"d{number // 1000}" / f"e{number // 50 % 20}" / f"f{number}.py"


def hook(place: Path) -> Callable[[], object]:
    """Returns a function that tells our hook of a shell call, as the agent would."""
    payload = json.dumps({
        "session_id": "bench", "hook_event_name": "PreToolUse", "cwd": str(place), "tool_name": "Bash",
        "tool_use_id": "toolu_1", "tool_input": {"command": "make"},
    }).encode()  # fmt: skip

    def run() -> None:
        subprocess.run(pog("hook", "claude-code"), cwd=place, input=payload, capture_output=True, check=True)

    return run


def switching(options: Options, place: Path, differing: int) -> tuple[list[float], list[float]]:
    """Returns the seconds of our hook and of `git status`, each just after a switch between two branches.

    Between the branches so many files differ, and none that is changed in the work tree.
    """
    git(place, "stash", "--quiet")
    git(place, "switch", "--quiet", "--create", "other")
    for number in range(CHANGED, CHANGED + differing):
        file(place, number).write_text(f"other {number}\n")
    git(place, "commit", "--quiet", "--all", "--message", "other")
    git(place, "stash", "pop", "--quiet")
    ours: list[float] = []
    status: list[float] = []
    for _ in range(min(options.runs, FEW)):
        for seconds, run in ((ours, hook(place)), (status, process(STATUS, place))):
            git(place, "switch", "--quiet", "-")
            seconds.append(clock(run))
    return ours, status


def check(place: Path, paths: int) -> None:
    """Makes sure that every record tells of the whole tree: a look that gives up is fast."""
    for waiting in spooled.take(spool_of(open_store(place).layout)):
        for part in spooled.read(waiting):
            record = decode_record(part.record) if isinstance(part, spooled.Good) else None
            if record is None or record.look != "whole" or len(record.states) != paths:
                raise SystemExit(f"{place}: {record.look if record else 'damaged'}, not a look at {paths} paths")
        waiting.unlink()


if __name__ == "__main__":
    main(rows, events=50_000, quick=1_000, runs=15)
