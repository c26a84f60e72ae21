"""Stores with events of every kind, made to be damaged, and what is needed to damage them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pogstore.model import (
    FORMAT,
    KINDS,
    Actor,
    BlobId,
    Change,
    Event,
    EventId,
    Oid,
    Person,
    Sealed,
    TaskId,
    Text,
)
from pogstore.store.batch import Batch
from pogstore.store.loose import find_loose
from pogstore.store.refs import CONTENT, PRIVATE, TASKS
from pogstore.store.store import Store, open_store
from tests.conftest import STARTED, Repo

TASK = TaskId("0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b")
OTHER = TaskId("0198a1b2-c3d4-7e5f-8a9b-ffffffffffff")
ADA = Actor(type="agent", name="codex", on_behalf_of=Person(name="Ada Example", email="ada@example.org"))
COMMIT = "sha1_" + "1" * 40

_Fields = dict[str, Any]


def common(task: TaskId = TASK) -> _Fields:
    """The fields that every event has; a batch sets parents and clock."""
    return {"v": FORMAT, "task": task, "clock": 1, "time": STARTED, "offset": 60, "actor": ADA}


def event_of(kind: str, batch: Batch, task: TaskId = TASK) -> Event:
    """One event of a kind, its contents added to the batch."""

    def text(class_: str) -> Text:
        return batch.add_text(task, f"what a {kind} event says, é", class_)

    def changes() -> tuple[Change, ...]:
        before = batch.add_file(task, "src/main.py", "100644", b"one\n")
        after = batch.add_file(task, "src/main.py", "100644", b"one\ntwo\n")
        return (Change(path="src/main.py", before=before, after=after),)

    event_id, blob = EventId("e" * 64), BlobId("b" * 64)
    step: Callable[[], _Fields] = lambda: {  # noqa: E731 - the contents of other kinds are not to be added
        "class_": "shell",
        "tool": "Bash",
        "call_id": "c1",
        "changes": changes(),
        "env": text("private"),
    }
    own: dict[str, Callable[[], _Fields]] = {
        "defined": lambda: {"definition": text("content")},
        "claimed": lambda: {"definition_id": blob, "lease_until": STARTED},
        "released": lambda: {"definition_id": blob},
        "moved": lambda: {"status": "completed", "reason": text("content"), "outcome": text("content")},
        "checked": lambda: {"item": 1, "done": True, "definition_id": blob},
        "prompted": lambda: {"text": text("private")},
        "decided": lambda: {"text": text("content")},
        "noted": lambda: {"topic": "odd", "text": text("content")},
        "stepped": lambda: step() | {"input": text("private"), "output": text("private")},
        "ran": lambda: step() | {"argv": text("private"), "stdout": text("private"), "exit_code": 1, "cwd": "src"},
        "refused": lambda: {"rule": "scope", "tool": "Edit", "paths": ("secret.txt",)},
        "observed": lambda: {"changes": changes(), "coverage": "exact", "during": ("c1",)},
        "committed": lambda: {"commit": COMMIT, "tree": COMMIT, "commit_parents": (COMMIT,)},
        "reviewed": lambda: {"verdict": "approved", "of": (event_id,), "text": text("content")},
        "rolled_back": lambda: {"targets": (event_id,), "strategy": "merge", "changes": changes()},
        "restored": lambda: {"targets": (event_id,), "strategy": "undo", "changes": changes()},
        "replayed": lambda: {"targets": (event_id,), "changes": changes()},
        "signed": lambda: {"of": (event_id,), "key": "SHA256:k", "sig": "c2ln"},
        "joined": dict,
        "redacted": lambda: {"blobs": (blob,), "reason": "secret"},
    }
    return KINDS[kind](**common(task), **own[kind]())


def append(store: Store, *kinds: str, task: TaskId = TASK) -> list[Sealed]:
    """Writes one event of each of the kinds, in one batch."""
    return store.transact(lambda batch: [batch.append(event_of(kind, batch, task)) for kind in kinds])


def enabled(repo: Repo) -> Store:
    """Opens the store of a repository in which events may be written."""
    repo.git("config", "pog.enabled", "true")
    repo.git("config", "pog.fsync", "false")
    return open_store(repo.path)


def tip(store: Store, task: TaskId = TASK, place: str = TASKS) -> Oid:
    """What a ref of a task points at."""
    oid = store.refs.read(place + task)
    assert oid is not None
    return oid


def content_oids(repo: Repo, class_: str, task: TaskId = TASK) -> list[Oid]:
    """The commit, the tree and the blobs at the tip of a content chain, as plain git names them."""
    ref = {"content": CONTENT, "private": PRIVATE}[class_] + task
    blobs = [line.split()[2] for line in repo.git("ls-tree", ref).splitlines()]
    return [Oid(oid) for oid in (repo.git("rev-parse", ref), repo.git("rev-parse", f"{ref}^{{tree}}"), *blobs)]


def loose_file(repo: Repo, oid: Oid) -> Path:
    """The file of a loose object, made writable."""
    path = find_loose(repo.path / ".git" / "objects", oid)
    assert path is not None, f"{oid} is not loose"
    path.chmod(0o644)
    return path


@contextmanager
def holding(path: Path, data: bytes) -> Iterator[None]:
    """Lets a file hold other bytes for a while."""
    whole = path.read_bytes()
    _overwrite(path, data)
    try:
        yield
    finally:
        _overwrite(path, whole)


def _overwrite(path: Path, data: bytes) -> None:
    """Writes in place: a file that was emptied first would be written to the disk when it is closed (ext4)."""
    with path.open("r+b") as file:
        file.write(data)
        file.truncate()


def flipped(data: bytes, at: int) -> bytes:
    """The bytes with one of them turned round."""
    return data[:at] + bytes((data[at] ^ 0xFF,)) + data[at + 1 :]
