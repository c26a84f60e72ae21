"""The refs of a store as their files say, and what is wrong with those files and names.

Reads the files itself, so that a ref which git or the store would pass over in silence is seen. Order matters: all task
refs are read before the contents they rest on, so that a write in between cannot make a content look lost.
"""

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pogstore.history.verify_report import Fault
from pogstore.model import Oid, TaskId
from pogstore.store.refs import CONTENT, PRIVATE, TASKS

PLACES = (TASKS, CONTENT, PRIVATE)

_TASK = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_OID = re.compile(rb"[0-9a-f]{40}")
_PACKED = re.compile(rb"([0-9a-f]{40}) ([^\n]+)")
_LONGEST = 4096


class Refs(NamedTuple):
    """The tips of well-formed refs, by place and task, and the faults of all others."""

    tips: dict[str, dict[TaskId, Oid]]
    faults: tuple[Fault, ...]
    checked: int


class _Named(NamedTuple):
    """One ref as it was found: what it points at, or what is wrong with its file."""

    name: str
    oid: Oid | None
    reason: str = ""


def read_refs(common_dir: Path) -> Refs:
    """Returns our refs of a repository; a loose ref wins over a packed one, unless its file is damaged."""
    tips: dict[str, dict[TaskId, Oid]] = {place: {} for place in PLACES}
    faults: list[Fault] = []
    checked = 0
    for place in PLACES:
        found = list(_loose(common_dir, place.rstrip("/")))
        loose = {ref.name for ref in found if ref.oid}
        packed, broken = _packed(common_dir / "packed-refs", place)
        found += [ref for ref in packed if ref.name not in loose]
        faults += broken if place == TASKS else []
        for ref in found:
            task = ref.name.removeprefix(place)
            checked += 1
            if ref.oid is None or not _TASK.fullmatch(task):
                faults.append(_fault(ref, place))
            if ref.oid is not None and _TASK.fullmatch(task):
                tips[place][TaskId(task)] = ref.oid
    return Refs(tips, tuple(faults), checked)


def _fault(ref: _Named, place: str) -> Fault:
    task = ref.name.removeprefix(place)
    reason = ref.reason or "is not named by a task's id in lower case"
    what = "events" if place == TASKS else "contents"
    lost = f"which {what} the task has; the objects may still be there" if ref.reason else f"the {what} it leads to"
    return Fault(
        object=ref.name, ref=ref.name, task=TaskId(task) if _TASK.fullmatch(task) else None, reason=reason, lost=lost
    )


def _loose(common_dir: Path, name: str) -> Iterator[_Named]:
    pending = [name]
    while pending:
        folder = pending.pop()
        try:
            found = sorted(os.scandir(common_dir / folder), key=lambda file: file.name)
        except FileNotFoundError:
            continue
        except NotADirectoryError:
            yield _Named(folder, None, "is a file in the place of a directory")
            continue
        for file in found:
            below = f"{folder}/{file.name}"
            if file.is_dir(follow_symlinks=False):
                pending.append(below)
            elif not file.name.endswith(".lock") and (ref := _read_loose(common_dir, below)):
                yield ref


def _read_loose(common_dir: Path, name: str) -> _Named | None:
    shown = os.fsencode(name).decode("utf-8", "replace")
    path = common_dir / name
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return _Named(shown, None, "is not a file")
        with path.open("rb") as file:
            text = file.read(_LONGEST).rstrip()
    except FileNotFoundError:  # packed or deleted meanwhile
        return None
    except OSError as fault:
        return _Named(shown, None, f"cannot be read: {fault.strerror}")
    if _OID.fullmatch(text):
        return _Named(shown, Oid(text.decode()))
    if text.startswith(b"ref:"):
        return _Named(shown, None, "is a symbolic ref")
    return _Named(shown, None, "its file does not hold an object's name" if text else "its file is empty")


def _packed(path: Path, place: str) -> tuple[list[_Named], list[Fault]]:
    """Returns the packed refs of one place, and a fault for each line that is none."""
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return [], []
    except OSError as fault:
        return [], [_packed_fault(f"cannot be read: {fault.strerror}")]
    refs, faults = [], []
    for number, line in enumerate(lines, 1):
        if not line or line.startswith((b"#", b"^")):
            continue
        match = _PACKED.fullmatch(line)
        if match is None:
            faults.append(_packed_fault(f"line {number} is no ref: {line[:100]!r}"))
        elif match[2].startswith(place.encode()):
            refs.append(_Named(match[2].decode("utf-8", "replace"), Oid(match[1].decode())))
    return refs, faults


def _packed_fault(reason: str) -> Fault:
    return Fault(object="packed-refs", reason=reason, lost="the refs on that line; git itself may refuse the file")
