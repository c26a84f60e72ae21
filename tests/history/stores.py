"""Stores with events of every kind, made to be damaged, and what is needed to damage them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pogstore import codec
from pogstore.history.verify import Fault, Report
from pogstore.model import (
    FORMAT,
    KINDS,
    Actor,
    BlobId,
    Change,
    Event,
    EventId,
    Noted,
    OddPath,
    Oid,
    Person,
    Sealed,
    Stepped,
    TaskId,
    Text,
)
from pogstore.store import content
from pogstore.store.batch import Batch
from pogstore.store.carrier import carrier, content_commit
from pogstore.store.loose import find_loose
from pogstore.store.refs import CONTENT, PRIVATE, TASKS
from pogstore.store.store import Store, open_store
from tests.conftest import STARTED, Repo

TASK = TaskId("0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b")
OTHER = TaskId("0198a1b2-c3d4-7e5f-8a9b-ffffffffffff")
ADA = Actor(type="agent", name="codex", on_behalf_of=Person(name="Ada Example", email="ada@example.org"))
COMMIT = "sha1_" + "1" * 40
SALTED = b"0123456789abcdef0123456789abcdef\nspoken"
"""A text as it is stored."""

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


def point(repo: Repo, oid: str, task: str = TASK, place: str = TASKS) -> None:
    """Lets a ref of a task point at any object, with plain git."""
    repo.git("update-ref", place + task, oid)


def write(repo: Repo, kind: str, data: bytes) -> Oid:
    """Writes any object with plain git, whatever is in it."""
    return Oid(repo.git("hash-object", "-w", "-t", kind, "--literally", "--stdin", input=data))


def raw(repo: Repo, oid: str) -> bytes:
    """The bytes of a commit whose message ends with a newline."""
    return (repo.git("cat-file", "commit", oid) + "\n").encode()


def note(*parents: Sealed, clock: int | None = None, task: TaskId = TASK, **fields: Any) -> Sealed:
    """An event over others, made without a store."""
    above = 1 + max((parent.event.clock for parent in parents), default=0)
    named = tuple(sorted(parent.event_id for parent in parents))
    given = common(task) | {"parents": named, "clock": above if clock is None else clock} | fields
    return codec.encode(Noted(**given))


def forge(repo: Repo, sealed: Sealed, *carriers: Oid, change: Callable[[bytes], bytes] = bytes) -> Oid:
    """Writes the carrier of an event, changed in some way, and lets the task's ref point at it."""
    oid = write(repo, "commit", change(carrier(sealed, carriers)))
    point(repo, oid)
    return oid


def objects_of(report: Report) -> list[str]:
    """What the faults of a report name."""
    return [fault.object for fault in report.faults]


def only(report: Report) -> Fault:
    """The one fault of a report."""
    assert len(report.faults) == 1, report.faults
    return report.faults[0]


def content_chain(repo: Repo, names: dict[str, bytes], change: Callable[[bytes], bytes] = bytes) -> Oid:
    """Lets the task's content chain hold exactly some blobs, by name; returns its commit."""
    tree = write(repo, "tree", content.tree({name: write(repo, "blob", data) for name, data in names.items()}))
    oid = write(repo, "commit", change(content_commit(tree, [], STARTED)))
    point(repo, oid, place=CONTENT)
    return oid


def naming(repo: Repo, *texts: Text, **fields: Any) -> None:
    """Lets the task hold one event for each text."""
    last: list[tuple[Sealed, Oid]] = []
    for text in texts:
        sealed = note(*(sealed for sealed, _ in last), text=text, **fields)
        last = [(sealed, forge(repo, sealed, *(oid for _, oid in last)))]


def text_of(data: bytes, class_: str = "content", size: int | None = None, **fields: Any) -> Text:
    """How an event names a stored text."""
    blob = content.blob_id(data)
    return Text(blob=blob, size=len(data) - 33 if size is None else size, class_=class_, **fields)


def add_version(batch: Batch, path: str | OddPath, data: bytes) -> None:
    """Adds a step that made a file."""
    side = batch.add_file(TASK, path, "100644", data)
    batch.append(Stepped(**common(), tool="t", class_="edit", changes=(Change(path=path, after=side),)))
