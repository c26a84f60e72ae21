"""How long a hook of an agent takes that records one edit, whole process, beside bare Python and beside other tools.

The other tools are measured if they are on the PATH: `pip install agent-trace-cli gitvow`, in another environment.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks.bench_list import tasks
from benchmarks.material import git, new_repository, new_store
from benchmarks.measure import Options, Peer, Row, compare, in_turn, main, pog, process, python
from pogstore.store.store import open_store
from pogstore.work.intake import take
from pogstore.work.setup import spool_of

SIZES = {"1 KB": 1_000, "10 KB": 10_000}
FEW = 10
TOOLS = {
    "agent-trace-cli": (("agent-trace", "init"), ("agent-trace", "record")),
    "gitvow": (("gitvow", "install", "--agent", "claude"), ("gitvow", "hook", "PostToolUse")),
}
"""How each is set up in a repository, and what it then lets Claude Code run after an edit."""


def rows(options: Options) -> Iterator[Row]:
    """Yields figures for files of some sizes, beside other tools, and for few tasks and many in the store."""
    few, many = options.place / "few", options.place / "many"
    for place, number in ((few, min(FEW, options.events)), (many, options.events)):
        store = new_store(place)
        take(store, [tasks(each) for each in range(number)])
        store.close()
    for words, size in SIZES.items():
        ours, bare = in_turn(options.runs, hook(few, size), process(python("pass"), few))
        yield compare(f"an edit of {words} recorded", ours, Peer("python -c pass", bare), at_most=2.0)
    ours, bare = in_turn(options.runs, any_agent(few, 1_000), process(python("pass"), few))
    yield compare("the same, told by any agent", ours, Peer("python -c pass", bare), at_most=2.0)
    for name, (setup, command) in TOOLS.items():
        if shutil.which(command[0]) is None:
            print(f"{name}: not installed, not measured", file=sys.stderr)
            continue
        theirs = repository_of(options.place / name, setup)
        ours, other = in_turn(options.runs, hook(few, 1_000), telling(command, theirs, 1_000))
        yield compare("an edit of 1 KB recorded", ours, Peer(name, other), at_most=1 / 6)
    ours, peer = in_turn(options.runs, hook(many, 1_000), hook(few, 1_000))
    question = f"an edit of 1 KB recorded, {options.events:,} tasks"
    yield compare(question, ours, Peer(f"{min(FEW, options.events)} tasks", peer), at_most=1.1)
    check(few)
    check(many)


def hook(place: Path, size: int) -> Callable[[], object]:
    """Returns a function that runs our hook as the agent would."""
    return telling(pog("hook", "claude-code"), place, size)


def telling(command: Sequence[str], place: Path, size: int) -> Callable[[], object]:
    """Returns a function that tells a command of an edit and waits for its end."""
    return answered(command, place, edited(place, size))


def edited(place: Path, size: int) -> dict[str, object]:
    """Writes a file of a size; returns what Claude Code says when it has edited it."""
    path = place / f"file_{size}.py"
    path.write_text(("value = index + 1\n" * (size // 18 + 1))[:size], "utf-8")
    return {
        "session_id": "bench", "transcript_path": "/nowhere", "hook_event_name": "PostToolUse", "cwd": str(place),
        "tool_name": "Edit", "tool_use_id": "toolu_1", "tool_response": {"filePath": str(path)},
        "tool_input": {"file_path": str(path), "old_string": "index = 1\n", "new_string": "value = index + 1\n"},
    }  # fmt: skip


def any_agent(place: Path, size: int) -> Callable[[], object]:
    """Returns a function that tells our hook of the same in the words that any agent may use."""
    given = {"old": "index = 1\n", "new": "value = index + 1\n"}
    return answered(pog("hook", "generic"), place, {
        "version": 1, "agent": "bench", "session": "bench", "event": "tool_end", "cwd": str(place), "call_id": "1",
        "tool": "edit", "class": "edit", "paths": [f"file_{size}.py"], "input": given, "output": "done",
    })  # fmt: skip


def answered(command: Sequence[str], place: Path, said: object) -> Callable[[], object]:
    """Returns a function that runs a command with one JSON object on its standard input and waits for its end."""
    payload = json.dumps(said).encode()

    def run() -> None:
        done = subprocess.run(command, cwd=place, input=payload, capture_output=True, check=False)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)}: status {done.returncode}")

    return run


def repository_of(place: Path, setup: Sequence[str]) -> Path:
    """Makes a repository in which another tool records."""
    new_repository(place)
    git(place, "commit", "--quiet", "--allow-empty", "--message", "first")
    subprocess.run(setup, cwd=place, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    return place


def check(place: Path) -> None:
    """Makes sure that what was measured was recorded: a hook that does nothing is fast and says nothing."""
    store = open_store(place)
    if not list(spool_of(store.layout).glob("current")):
        raise SystemExit(f"{place}: nothing was recorded")


if __name__ == "__main__":
    main(rows, events=10_000, quick=20, runs=40)
