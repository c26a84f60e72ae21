"""A work tree in which a rollback of two tasks makes every kind of change, to be killed in the middle of it."""

from pathlib import Path
from typing import NamedTuple

from pogstore.model import TaskId
from pogstore.work import journal
from pogstore.work.unfinished import TEMPORARY
from tests.builders_rollback import Bench, Files, file, link, program, untouched

OURS = (".git/pog", ".git/objects", ".git/refs/pog")
CHANGED = ("edited", "d", "link", "a", "over", "back")


class World(NamedTuple):
    """A repository before a rollback: the tasks to be rolled back, the files with and without what they did."""

    bench: Bench
    tasks: tuple[TaskId, ...]
    old: Files
    new: Files
    others: dict[str, tuple[object, ...]]

    def state(self) -> str:
        """Which of the two states all files are in; fails if it is neither, or anything else of the user's changed."""
        files = self.bench.files()
        assert files in (self.old, self.new)
        assert others(self.bench) == self.others, "index, HEAD, untracked and ignored files"
        assert not list(self.bench.path.rglob(f"{TEMPORARY}*"))
        assert not journal.interrupted(self.bench.path / ".git/pog")
        return "old" if files == self.old else "new"


def world(path: Path, *, fsync: bool = False) -> World:
    """Makes it; what is staged, untracked and ignored lies beside."""
    bench = Bench(path)
    bench.repo.git("config", "pog.fsync", str(fsync).lower())
    before = {"edited": file(b"1\n2\n"), "d/gone": program(b"gone\n"), "link": link(b"edited"), "a": file(b"file\n")}
    for name, version in {**before, "over/x": file(b"below\n"), "away": file(b"moved\n")}.items():
        bench.write(name, version)
    bench.write(".gitignore", b"*.log\n")
    bench.repo.commit({"same": "same\n"}, "first")
    second = bench.new_task()
    bench.step({"edited": b"1\n2\nagent\n", "d/gone": None, "link": link(b"same"), "d2/e/new": b"new\n"})
    bench.move("away", "back")
    bench.step({"a": None, "a/b/c": program(b"in a directory\n")}, task=second)
    bench.step({"over/x": None, "over": b"a file\n"}, task=second)
    bench.write("edited", b"0\n1\n2\nagent\n")
    for name in ("staged", "untracked", "build.log", "d2/untracked"):
        bench.write(name, f"{name}\n".encode())
    bench.repo.git("add", "staged")
    old = bench.files()
    gone = ("d2/e/new", "a/b/c", "over", "back")
    kept = {name: version for name, version in old.items() if name not in gone}
    new = kept | before | {"edited": file(b"0\n1\n2\n"), "over/x": file(b"below\n"), "away": file(b"moved\n")}
    return World(bench, (bench.task, second), old, new, others(bench))


def others(bench: Bench) -> dict[str, tuple[object, ...]]:
    """All that a rollback must leave as it is, with inodes and times."""
    found = untouched(bench.path, OURS)
    return {name: state for name, state in found.items() if not name.startswith(CHANGED) or name == "d2/untracked"}
