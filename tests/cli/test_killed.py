"""A rollback that is killed before any of its system calls leaves the old files or the new ones, and the next command
says which and goes on. RC-8, RC-20, T8, T24.

Each run of the installed script is stopped by `strace` before its n-th call, in a copy of the same repository, so that
the n-th call is the same one in all of them. The suite takes a sample of the calls from where it opens the journal;
with `POG_TEST_EVERY_CALL=1` in the environment it takes every one, and some before.
"""

import os
import shutil
import signal
import sys
from pathlib import Path

import pytest

from pogstore.work.unfinished import OPERATION
from tests.builders_killed import World, others, world
from tests.cli.conftest import Here
from tests.conftest import SECOND, run

SCRIPT = str(Path(sys.executable).parent / "git-pog")
EVERY = os.environ.get("POG_TEST_EVERY_CALL", "") not in ("", "0")  # read before the environment of tests is sealed
SAMPLE = 20
"""How many of the calls are taken at equal distances; those right after a ref of a task has moved are taken as well."""
STRIDE = 50
"""Of the calls before the journal is opened, how many are passed over: they are Python's own start, and reading."""

pytestmark = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")


class Again:
    """One repository in which a rollback makes every kind of change, as often as it is asked for."""

    def __init__(self, folder: Path) -> None:
        self._work, self._kept = folder / "work", folder / "kept"
        self._made = world(self._work, fsync=True)
        self._made.bench.store.close()
        self._work.rename(self._kept)

    def fresh(self) -> World:
        """Makes it again, at the same place."""
        if self._work.exists():
            shutil.rmtree(self._work)
        shutil.copytree(self._kept, self._work, symlinks=True)
        return self._made._replace(others=others(self._made.bench))


@pytest.fixture
def again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Again:
    """The repository, for processes whose coverage nobody measures."""
    for name in [name for name in os.environ if name.startswith("COV")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_OPTIONAL_LOCKS", "0")
    return Again(tmp_path)


def traced(made: World, *options: str) -> int:
    command = ["strace", "-o", str(made.bench.path.parent / "trace"), *options, SCRIPT, "rollback", *made.tasks]
    return run(command, made.bench.path, env={"POG_NOW": str(made.bench.now + SECOND)}).returncode


def calls(again: Again) -> list[str]:
    """Returns the calls of a run that nobody stops; skips where this machine lets nobody trace.

    It is the second one: the first may compile what the others find compiled.
    """
    for _ in range(2):
        made = again.fresh()
        if traced(made) != 0 or made.state() != "new":
            pytest.skip("strace cannot trace here")
    lines = (made.bench.path.parent / "trace").read_text(errors="replace").splitlines()
    return [line for line in lines if not line.startswith(("---", "+++"))]


def injection(listed: list[str], nth: int) -> str:
    """Returns how `strace` is told to kill at the n-th call: it counts the calls of each name by themselves."""
    names = [line.partition("(")[0] for line in listed[:nth]]
    return f"inject={names[-1]}:signal=KILL:when={names.count(names[-1])}"


def chosen(listed: list[str]) -> list[int]:
    opens = next(at for at, line in enumerate(listed, 1) if f'/{OPERATION}"' in line and "O_CREAT" in line)
    if EVERY:
        return [*range(1, opens, STRIDE), *range(opens, len(listed) + 1)]
    moved = [at for at, line in enumerate(listed, 1) if line.startswith("rename") and "/refs/pog/tasks/" in line]
    assert len(moved) == 2, "one ref for each task"
    spread = {opens + at * (len(listed) - opens) // SAMPLE for at in range(SAMPLE)}
    return sorted(spread | {at + 1 for at in moved})


def test_killed_before_any_call_all_files_are_old_or_new(
    again: Again, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = calls(again)
    here = Here(again.fresh().bench.path, capsys, monkeypatch)
    count = {"old": 0, "new": 0, "taken back": 0, "finished": 0, "ended": 0}
    for nth in chosen(listed):
        made = again.fresh()
        status = traced(made, "-e", injection(listed, nth))
        assert status in (0, -signal.SIGKILL), "the number of calls varies a little, and a run may come to its end"
        read = here("status")
        done = here("drain")
        state = made.state()
        said = [line for line in done.stderr.splitlines() if "interrupted" in line]
        assert bool(said) == ("interrupted: rollback of 10 files" in read.stdout)
        wanted = {"old": "taken back: 10 files as before", "new": "finished: 10 files as it wrote them, and its events"}
        assert said in ([], [f"an interrupted rollback was {wanted[state]}"]), nth
        assert status != 0 or (state, said) == ("new", [])
        count[state] += 1
        count["taken back" if state == "old" else "finished"] += bool(said)
        count["ended"] += status == 0
        assert here("drain").stderr == ""
        if EVERY or nth % 3 == 0:
            made.bench.repo.git("fsck", "--strict", "--no-dangling")
            here("verify")
        if state == "new":
            here("undo")
            assert made.state() == "old"
    print(len(listed), len(chosen(listed)), count)  # noqa: T201 - what `pytest -s` is asked for
    assert min(count[each] for each in ("old", "new", "taken back", "finished")) > 0, count
