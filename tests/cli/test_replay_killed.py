"""A replay that is killed before any of its system calls leaves nothing, or what `--resume` ends to the same (RC-20).

Each run of the installed script is stopped by `strace` before its n-th call, from where it notes what it is about to
do. The suite takes a sample; with `POG_TEST_EVERY_CALL=1` in the environment it takes every call.
"""

import os
import shutil
import signal
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Here
from tests.conftest import Repo, run

SCRIPT = str(Path(sys.executable).parent / "git-pog")
EVERY = os.environ.get("POG_TEST_EVERY_CALL", "") not in ("", "0")  # read before the environment of tests is sealed
SAMPLE = 6
NOTES = ".git/pog/replay"

pytestmark = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")


class Place:
    """Where one replay writes, and whether it has."""

    def __init__(self, repo: Repo, folder: Path, *, into: bool) -> None:
        self.repo, self.folder, self.into = repo, folder, into

    def options(self, name: str) -> list[str]:
        return ["--into", str(self.folder / name)] if self.into else ["--branch", name]

    def is_done(self, name: str) -> bool:
        """Says whether all of it is there."""
        if not self.into:
            wanted = self.repo.git("rev-parse", "whole")
            return self.repo.git("rev-parse", "--verify", "--quiet", f"refs/heads/{name}", check=False) == wanted
        place = self.folder / name
        files = {path.relative_to(place).as_posix(): path for path in place.rglob("*") if path.is_file()}
        texts = {path: each.read_text() for path, each in files.items()}
        return texts == {"README": "a project\n", "f": "2\n", "d/g": "3\n"}

    def traced(self, name: str, *options: str) -> int:
        log = str(self.folder / "trace")
        command = ["strace", "-o", log, *options, SCRIPT, "replay", *self.options(name)]
        return run(command, self.repo.path).returncode

    def calls(self) -> list[str]:
        """Returns the calls of a run that nobody stops; skips where this machine lets nobody trace."""
        if self.traced("first") != 0:
            pytest.skip("strace cannot trace here")
        assert self.is_done("first")
        lines = (self.folder / "trace").read_text(errors="replace").splitlines()
        return [line for line in lines if not line.startswith(("---", "+++"))]


def chosen(listed: list[str]) -> list[int]:
    notes = next(at for at, line in enumerate(listed, 1) if f"/{NOTES}" in line and "O_CREAT" in line)
    if EVERY:
        return list(range(notes, len(listed) + 1))
    return [notes + at * (len(listed) - notes) // SAMPLE for at in range(SAMPLE)]


def injection(listed: list[str], nth: int) -> str:
    """Returns how `strace` is told to kill at the n-th call: it counts the calls of each name by themselves."""
    names = [line.partition("(")[0] for line in listed[:nth]]
    return f"inject={names[-1]}:signal=KILL:when={names.count(names[-1])}"


@pytest.mark.parametrize("into", [False, True], ids=["a branch", "a directory"])
def test_whatever_is_cut_off_goes_on_to_the_same(
    here: Here, repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, into: bool
) -> None:
    for name in [name for name in os.environ if name.startswith("COV")]:
        monkeypatch.delenv(name)
    here("start", here.task("Mend it"))
    for command in ("echo 1 > f", "echo 2 > f", "mkdir d && echo 3 > d/g"):
        here("run", "--", "sh", "-c", command)
    here("replay", "--branch", "whole")
    place = Place(repo, tmp_path, into=into)
    listed = place.calls()
    count = {"noted": 0, "nothing": 0, "done": 0}
    for nth in chosen(listed):
        name = f"again-{nth}"
        status = place.traced(name, "-e", injection(listed, nth))
        assert status in (0, -signal.SIGKILL, 128 + signal.SIGKILL), nth
        is_noted = bool(list((repo.path / NOTES).glob("*.json")))
        state = "noted" if is_noted else "done" if place.is_done(name) else "nothing"
        count[state] += 1
        for lock in (repo.path / ".git" / "refs").rglob("*.lock"):
            lock.unlink()  # git's own locks outlive whoever is killed; the hint of the error says so
        if state != "done":
            here("replay", *(["--resume"] if is_noted else place.options(name)))
        assert place.is_done(name), (nth, state)
        assert not list((repo.path / NOTES).glob("*.json"))
    assert count["noted"] > 0, count
    told = [event for event in here("log", "@", "--json").json if event["kind"] == "replayed"]
    assert len(told) == len(chosen(listed)) + 2, "each is told once"
    repo.git("fsck", "--strict")
    assert here("verify", "--json").json["ok"]
