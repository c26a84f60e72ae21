"""The names of our refs, and how to list them without opening the repository.

Names have a fixed depth and are lower case, so that none can be a directory of another. Reads git's `files` ref format
alone (`layout.discover` has refused any other).
"""

import os
import re
from collections.abc import MutableSequence
from pathlib import Path
from urllib.parse import quote

from pogstore.errors import ObjectDamaged
from pogstore.model import Oid, TaskId

TASKS = "refs/pog/tasks/"
CONTENT = "refs/pog/content/"
PRIVATE = "refs/pog/private/"
TRACKING = "refs/pog-remotes/"
BY_CLASS = {"content": CONTENT, "private": PRIVATE}

_OID = re.compile(rb"[0-9a-f]{40}")
_LONGEST = 1024
_SAFELY = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_OF_TASK = re.compile(r"refs/pog/(?:tasks|content|private)/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def task_ref(task: TaskId) -> str:
    """Returns the name of the ref that holds the events of a task."""
    return TASKS + task


def content_ref(task: TaskId, class_: str) -> str:
    """Returns the name of the ref that holds one class of a task's contents."""
    return BY_CLASS[class_] + task


def task_of(ref: str) -> TaskId:
    """Returns the task that one of our refs is about."""
    return TaskId(ref.rpartition("/")[2])


def class_of(ref: str) -> str:
    """Returns the class of contents that one of our refs holds; of the events of a task it is `tasks`."""
    return ref.split("/")[2]


def is_task_ref(ref: str) -> bool:
    """Says whether a ref of some other repository is the events or contents of one task, under a name such as ours."""
    return _OF_TASK.fullmatch(ref) is not None


def tracking_prefix(remote: str) -> str:
    """Returns where the refs last fetched from a remote are kept; the remote's name is percent-encoded."""
    return f"{TRACKING}{quote(remote, safe='').replace('.', '%2E').replace('~', '%7E')}/"


def tracking_ref(remote: str, ref: str) -> str:
    """Returns the tracking ref of one of our refs."""
    return tracking_prefix(remote) + ref.removeprefix("refs/pog/")


def list_refs(common_dir: Path, prefix: str, damaged: MutableSequence[str] | None = None) -> dict[str, Oid]:
    """Returns every ref below a prefix that ends in `/`, sorted by name; adds to `damaged` whose files hold no oid.

    Loose refs are read before the packed ones and win over them: `git pack-refs` writes the packed file before it
    unlinks a loose one, so in this order a ref that is packed meanwhile is not missed.
    """
    loose = dict(_loose_refs(common_dir, prefix.rstrip("/"), [] if damaged is None else damaged))
    return dict(sorted((_packed_refs(common_dir / "packed-refs", prefix) | loose).items()))


def _loose_refs(common_dir: Path, name: str, damaged: MutableSequence[str]) -> list[tuple[str, Oid]]:
    found: list[tuple[str, Oid]] = []
    pending = [name]
    while pending:
        folder = pending.pop()
        try:
            entries = list(os.scandir(common_dir / folder))
        except (FileNotFoundError, NotADirectoryError):
            continue
        for entry in entries:
            below = f"{folder}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                pending.append(below)
            elif entry.is_file(follow_symlinks=False) and (oid := _oid_in(entry.path)):
                found.append((below, oid))
            elif not entry.name.endswith(".lock") and os.path.lexists(entry.path):
                damaged.append(below)
    return found


def read_ref(common_dir: Path, name: str) -> Oid | None:
    """Returns what a ref points at, or nothing; raises `ObjectDamaged` if its file holds no oid.

    Looks for a file first, as `list_refs` does.
    """
    try:
        text = _text_of(str(common_dir / name))
    except OSError as fault:
        raise ObjectDamaged(name, f"the ref cannot be read: {fault.strerror}") from fault
    if text is None:
        return _packed_refs(common_dir / "packed-refs", name).get(name)
    if not _OID.fullmatch(text):
        raise ObjectDamaged(name, "the ref cannot be read: its file holds no oid")
    return Oid(text.decode())


def _oid_in(path: str) -> Oid | None:
    """Returns the oid in a loose ref; nothing for a lock, a symbolic ref or an empty file."""
    text = None if path.endswith(".lock") else _text_of(path)
    return Oid(text.decode()) if text is not None and _OID.fullmatch(text) else None


def _text_of(path: str) -> bytes | None:
    """Returns what a small file holds, without following a link or waiting for a pipe; nothing if there is none."""
    try:
        descriptor = os.open(path, _SAFELY)  # for thousands of them, file objects would be felt
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        return os.read(descriptor, _LONGEST).strip()
    except IsADirectoryError:
        return None
    finally:
        os.close(descriptor)


def _packed_refs(path: Path, prefix: str) -> dict[str, Oid]:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return {}
    wanted = b" " + prefix.encode()
    found = {}
    at = data.find(wanted)
    while at >= 0:
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        name = data[at + 1 : end].decode("utf-8", "surrogateescape")
        found[name] = Oid(data[at - 40 : at].decode("ascii", "replace"))
        at = data.find(wanted, end)
    return found
