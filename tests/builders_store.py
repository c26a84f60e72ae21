"""Stores in real repositories, and the smallest events to write into them."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pogstore.model import FORMAT, Actor, Change, Noted, Observed, Oid, Sealed, TaskId
from pogstore.store import chain
from pogstore.store.refs import task_ref
from pogstore.store.store import Store, open_store
from tests.conftest import SECOND, STARTED, Repo

TASK = TaskId("0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b")
OTHER = TaskId("0198a1b2-c3d4-7e5f-8a9b-ffffffffffff")
ADA = Actor(type="human", name="ada")


def opened(repo: Repo, *, fsync: bool = False) -> Store:
    """Enables a repository and opens its store."""
    repo.git("config", "pog.enabled", "true")
    repo.git("config", "pog.fsync", "true" if fsync else "false")
    return open_store(repo.path)


def noted(task: TaskId = TASK, topic: str | None = None, **fields: Any) -> Noted:
    """An event without contents; a batch sets its parents and its clock."""
    common: dict[str, Any] = {"v": FORMAT, "task": task, "clock": 1, "time": STARTED, "actor": ADA, "topic": topic}
    return Noted(**(common | fields))


def append(store: Store, topic: str | None = None, task: TaskId = TASK, **fields: Any) -> Sealed:
    """Appends one event without contents."""
    return store.transact(lambda batch: batch.append(noted(task, topic, **fields)))


def edit(store: Store, path: str, data: bytes, task: TaskId = TASK) -> Sealed:
    """Appends an event that saw a file version."""

    def write(batch: Any) -> Sealed:
        change = Change(path=path, after=batch.add_file(task, path, "100644", data))
        event = Observed(v=FORMAT, task=task, clock=1, time=STARTED + SECOND, actor=ADA, changes=(change,))
        sealed: Sealed = batch.append(event)
        return sealed

    return store.transact(write)


def topics(store: Store, task: TaskId = TASK) -> list[str | None]:
    """The topics of a task's events, in replay order."""
    return [getattr(sealed.event, "topic", None) for sealed in store.events(task)]


def oids(store: Store, task: TaskId = TASK) -> set[Oid]:
    """The carriers that git itself reaches from a task's ref."""
    listed = store.git.text("rev-list", task_ref(task)).split()
    return {Oid(oid) for oid in listed}


def links(store: Store, task: TaskId = TASK) -> list[chain.Link]:
    """The carriers of a task, as the chain gives them."""
    tip = store.refs.read(task_ref(task))
    return list(chain.events(store.objects, tip)) if tip else []


def python(script: str, *arguments: str, cwd: Path) -> "subprocess.Popen[str]":
    """Starts another Python with our package."""
    return subprocess.Popen(
        [sys.executable, "-c", script, *arguments], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finished(process: "subprocess.Popen[str]", timeout: float = 60) -> tuple[int, str]:
    """Waits for a process; returns its status and what it printed, errors included."""
    output, errors = process.communicate(timeout=timeout)
    return process.returncode, output + errors


@contextmanager
def open_to_all() -> Iterator[Path]:
    """A directory that a user without rights can reach, unlike pytest's own."""
    made = Path(tempfile.mkdtemp())
    made.chmod(0o755)
    try:
        yield made
    finally:
        for folder, _, _ in os.walk(made):
            Path(folder).chmod(0o755)
        shutil.rmtree(made)


def read_only(path: Path) -> None:
    """Takes the right to write from everything below a directory."""
    for folder, _, files in os.walk(path, topdown=False):
        for file in files:
            (Path(folder) / file).chmod(0o444)
        Path(folder).chmod(0o555)
