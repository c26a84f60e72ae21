"""A work tree on which tool calls are recorded and people type, to be rolled back."""

import hashlib
import os
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from copy import copy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Generic, NamedTuple, TypeVar

from pogstore.draft import FileVersion
from pogstore.history.names import Named
from pogstore.history.plans import Done, Plan, Terms
from pogstore.history.rollback import apply_rollback, apply_undo, plan_rollback, plan_undo
from pogstore.model import Actor, Change, Definition, EventId, Sealed, Side, Stepped, TaskId
from pogstore.store.batch import Batch
from pogstore.store.content import path_of
from pogstore.store.store import Store, open_store
from pogstore.work import setup, tasks
from pogstore.work.acts import By
from pogstore.work.tasks import new_task_id
from pogstore.work.writer import read_version
from tests.builders_templates import put
from tests.conftest import SECOND, STARTED, Repo

ADA = Actor(type="human", name="Ada")
AGENT = Actor(type="agent", name="builder", session="s1")
WORKTREE = "00112233445566aa"
Files = dict[str, FileVersion]


def file(data: bytes) -> FileVersion:
    return FileVersion(mode="100644", data=data)


def program(data: bytes) -> FileVersion:
    return FileVersion(mode="100755", data=data)


def link(target: bytes) -> FileVersion:
    return FileVersion(mode="120000", data=target)


class Step(NamedTuple):
    """One path as a tool call changed it; `older` is the name that it had before."""

    path: str
    before: FileVersion | None
    after: FileVersion | None
    older: str | None = None


def _begin(path: Path) -> None:
    repo = Repo(path)
    repo.git("init", "--quiet", "--template=")
    repo.git("config", "pog.fsync", "false")
    with closing(open_store(path)) as store:
        setup.enable(store)


class Bench:
    """A repository with a store and one task; a clock that moves a second at each look."""

    def __init__(self, path: Path) -> None:
        self.path = path
        put("bench", path, _begin)
        self.repo = Repo(path)
        self.store: Store = open_store(path)
        self.now = STARTED
        self.task = self.new_task()

    def reopen(self) -> None:
        """Opens the store anew, with the configuration as it is now."""
        self.store.close()
        self.store = open_store(self.path)

    def by(self, worktree: str = WORKTREE) -> By:
        """Who acts here, now."""
        self.now += SECOND
        return By(actor=ADA, time=self.now, worktree=worktree)

    def new_task(self) -> TaskId:
        """Makes a task."""
        task = new_task_id(self.now, self.now)
        tasks.define(self.store, task, Definition(title="Mend the parser"), self.by())
        return task

    def record(self, *steps: Step, task: TaskId | None = None, reason: str | None = None) -> EventId:
        """Records a tool call that did something, whatever the work tree holds."""
        return self.append(
            task or self.task, lambda batch, task: tuple(change_of(batch, task, step) for step in steps), reason
        )

    def record_sides(self, change: Change, task: TaskId | None = None) -> EventId:
        """Records a tool call with one change whose contents are not stored."""
        return self.append(task or self.task, lambda batch, task: (change,), None)

    def append(
        self, task: TaskId, changes: Callable[[Batch, TaskId], tuple[Change, ...]], reason: str | None
    ) -> EventId:
        """Records a tool call."""
        self.now += SECOND

        def write(batch: Batch) -> Sealed:
            self.store.refresh()
            return batch.append(
                Stepped(
                    v=1, task=task, clock=1, time=self.now, actor=AGENT, tool="Edit", class_="edit", ok=True,
                    changes=changes(batch, task), coverage="partial" if reason else "scoped", coverage_reason=reason,
                )
            )  # fmt: skip

        return self.store.transact(write).event_id

    def step(self, files: Mapping[str, FileVersion | bytes | None], task: TaskId | None = None) -> EventId:
        """Does and records a tool call that gives some files other contents; `None` deletes one."""
        there = self.files()
        steps = [Step(path, there.get(path), version_of(after)) for path, after in files.items()]
        for path, after in files.items():
            self.write(path, after)
        return self.record(*steps, task=task)

    def move(self, older: str, path: str, after: FileVersion | bytes | None = None) -> EventId:
        """Does and records a tool call that renames a file, and may edit it."""
        before = self.holds(older)
        self.write(older, None)
        self.write(path, version_of(after) or before)
        return self.record(Step(path, before, self.holds(path), older))

    def write(self, path: str, version: FileVersion | bytes | None) -> None:
        """Writes a file as a person would: nothing is recorded."""
        wanted = version_of(version)
        place = self.path / path
        if place.is_symlink() or place.exists():
            place.unlink()
        if wanted is None:
            for folder in place.relative_to(self.path).parents[:-1]:
                with suppress(OSError):
                    (self.path / folder).rmdir()
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        if wanted.mode == "120000":
            place.symlink_to(os.fsdecode(wanted.data))
            return
        place.write_bytes(wanted.data)
        place.chmod(0o755 if wanted.mode == "100755" else 0o644)

    def holds(self, path: str) -> FileVersion | None:
        """What a path holds."""
        return read_version(self.path, path)

    def text(self, path: str) -> str:
        """The text of a file."""
        return (self.path / path).read_text()

    def files(self) -> Files:
        """The versions of all files of the work tree."""
        found = {}
        for folder, folders, names in os.walk(self.path):
            folders[:] = [name for name in folders if name != ".git"]
            links = [name for name in folders if Path(folder, name).is_symlink()]
            for name in (*names, *links):
                path = Path(folder, name).relative_to(self.path).as_posix()
                version = self.holds(path)
                assert version is not None
                found[path] = version
        return found

    def plan(self, *names: EventId | TaskId) -> Plan:
        """Plans a rollback of some events or tasks."""
        return plan_rollback(self.store, [self.named(name) for name in names])

    def plan_just(self, *names: EventId | TaskId) -> Plan:
        """Plans a rollback without looking for further events."""
        return plan_rollback(self.store, [self.named(name) for name in names], terms=Terms(widen="no"))

    def named(self, name: str) -> Named:
        return Named(TaskId(name)) if "-" in name else Named(self.store.event(EventId(name)).event.task, EventId(name))

    def rollback(self, *names: EventId | TaskId) -> Done:
        """Rolls some events or tasks back."""
        return apply_rollback(self.store, self.plan(*names), self.by())

    def undo(self, worktree: str = WORKTREE) -> Done:
        """Takes the last operation back."""
        return apply_undo(self.store, plan_undo(self.store, worktree), self.by(worktree))

    def conflicts(self, *names: EventId | TaskId) -> dict[str, str]:
        """What stands in the way of a rollback: the name of the conflict for each path."""
        plan = self.plan(*names)
        assert plan.writes == () or not plan.obstacles
        return {str(obstacle.path): obstacle.reason for obstacle in plan.obstacles}

    def all_events(self) -> list[EventId]:
        """All events of all tasks."""
        return [sealed.event_id for task in self.store.tasks() for sealed in self.store.events(task)]


def changes_of(sealed: Sealed) -> tuple[Change, ...]:
    changes: tuple[Change, ...] = getattr(sealed.event, "changes", ())
    return changes


def version_of(version: FileVersion | bytes | None) -> FileVersion | None:
    return file(version) if isinstance(version, bytes) else version


def change_of(batch: Batch, task: TaskId, step: Step) -> Change:
    path, older = (None if name is None else path_of(os.fsencode(name)) for name in (step.path, step.older))
    assert path is not None

    def side(version: FileVersion | None) -> Side | None:
        return None if version is None else batch.add_file(task, path, version.mode, version.data)

    return Change(path=path, from_=older, before=side(step.before), after=side(step.after))


def untouched(root: Path, apart: Iterable[str] = ()) -> dict[str, tuple[object, ...]]:
    """All that is below a directory, byte for byte, with modes, inodes and times; some paths left out.

    Of directories only the modes: their time moves with what is in them.
    """
    found: dict[str, tuple[object, ...]] = {}
    skipped = tuple(apart)
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if name.startswith(skipped):
            continue
        state = path.lstat()
        if stat.S_ISDIR(state.st_mode):
            found[name] = (state.st_mode,)
            continue
        data = str(path.readlink()) if path.is_symlink() else hashlib.sha256(path.read_bytes()).hexdigest()
        found[name] = (state.st_mode, state.st_ino, state.st_mtime_ns, data)
    return found


_B = TypeVar("_B", bound=Bench)


class Benches(Generic[_B]):
    """Makes many repositories of one kind quickly: each is a copy of the first."""

    def __init__(self, directory: Path, kind: type[_B]) -> None:
        self.directory = directory
        self.first = kind(directory / "first")
        self.first.store.close()

    @contextmanager
    def new(self) -> Iterator[_B]:
        """Gives a repository with one task."""
        with TemporaryDirectory(dir=self.directory) as scratch:
            bench = copy(self.first)
            bench.path = Path(scratch) / "work"
            shutil.copytree(self.first.path, bench.path)
            bench.repo, bench.store = Repo(bench.path), open_store(bench.path)
            yield bench
            bench.store.close()
