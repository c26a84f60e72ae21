"""What it costs a hook to decide by a contract: the same call of an agent, with a compiled contract and without one.

The difference of both, taken in turns, stands beside a bare Python of the same run; an allowed edit and an allowed
command. Where no contract was compiled nothing that decides is loaded: that is the hook of `bench_hook.py`.
"""

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.material import agent, new_store, task_of
from benchmarks.measure import Options, Peer, Row, compare, in_turn, main, pog, process, python
from pogstore.model import Definition, Globs
from pogstore.work import active, claims, contracts, tasks
from pogstore.work.acts import By

GLOBS = 20
CALLS: dict[str, dict[str, object]] = {
    "an edit": {"tool_name": "Edit", "tool_input": {"file_path": "src/a.py", "old_string": "a", "new_string": "b"}},
    "a command": {"tool_name": "Bash", "tool_input": {"command": "cd src && pytest -q | tee log.txt 2>&1; git status"}},
}  # fmt: skip


def rows(options: Options) -> Iterator[Row]:
    """Yields what deciding adds, for each kind of call, and what a hook with a contract takes in all."""
    bound, free = repository(options.place / "bound", limited=True), repository(options.place / "free", limited=False)
    for words, call in CALLS.items():
        with_limits, without, bare = in_turn(
            options.runs, asking(bound, call), asking(free, call), process(python("pass"), free)
        )
        peer = Peer("python -c pass", bare)
        added = [one - other for one, other in zip(with_limits, without, strict=True)]
        yield compare(f"deciding on {words} adds", added, peer, at_most=0.5)
        yield compare(f"a hook that decides on {words}, in all", with_limits, peer)


def repository(place: Path, *, limited: bool) -> Path:
    """Makes a repository in which a task was started; its limits are those of a large contract."""
    store = new_store(place)
    (place / "src").mkdir()
    (place / "src" / "a.py").write_text("a = 1\n", "utf-8")
    store.git.run("config", "pog.lookTimeout", "0")
    scope = Globs(
        allow=("src/**", *(f"packages/part{n}/**/*.py" for n in range(GLOBS))), deny=("*.key", "src/vendor/**")
    )
    commands = Globs(
        allow=("pytest", "tee", "git status", *(f"make target{n}" for n in range(GLOBS))), deny=("git push",)
    )
    definition = Definition(title="a task", scope=scope, commands=commands) if limited else Definition(title="a task")
    by = By(actor=agent(0), time=1, worktree=active.worktree_id(store.layout))
    tasks.define(store, task_of(0), definition, by)
    claims.start(store, task_of(0), by)
    active.set_active(store.layout, task_of(0))
    if contracts.path_of(store, task_of(0)).exists() != limited:
        raise SystemExit(f"{place}: the contract is not what was meant")
    store.close()
    return place


def asking(place: Path, call: dict[str, object]) -> Callable[[], object]:
    """Returns a function that asks the hook of Claude Code before a call; it must be allowed."""
    told = {"session_id": "bench", "hook_event_name": "PreToolUse", "cwd": str(place), "tool_use_id": "t", **call}
    payload = json.dumps(told).encode()

    def run() -> None:
        done = subprocess.run(pog("hook", "claude-code"), cwd=place, input=payload, capture_output=True, check=False)
        if done.returncode or done.stdout:
            raise SystemExit(f"{place}: it was denied: {done.stdout.decode()}")

    return run


if __name__ == "__main__":
    main(rows, events=1, quick=1, runs=60)
