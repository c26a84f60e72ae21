"""A file that is an agent's or a person's, read and replaced whole; knows nothing of what it holds.

Three scopes can have one: a project (shared by git), one person in a project, and a person. `Plan` says what a file
becomes, `apply` writes that, if the file is still as it was read.
"""

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal, NamedTuple

from pogstore.errors import BadInput, Conflict, NotAFile, RefusedByPolicy, WorkTreeFailed
from pogstore.work.writer import TEMPORARY

LARGEST = 4 << 20
"""Bytes of a settings file that is edited; no person has one of that size."""

Scope = Literal["project", "local", "user"]
Verb = Literal["add", "remove"]


class Place(NamedTuple):
    """Where settings are looked for: a work tree's top, a home, and the folder that the agent's own variable names."""

    work_tree: Path
    home: Path
    config_dir: Path | None = None


class Plan(NamedTuple):
    """What a settings file is (`None`: not there) and what it becomes; `target` is what `path` links to, or `path`."""

    path: Path
    target: Path
    before: bytes | None
    after: bytes | None


def read(path: Path, work_tree: Path | None) -> Plan:
    """Returns a file as it is, with a plan that changes nothing.

    Raises `NotAFile`, `BadInput` if it is too large, `WorkTreeFailed` if it cannot be read, and `RefusedByPolicy` if it
    is in a work tree and leads out of it: a repository that one has cloned may hold links into one's home.
    """
    with naming(path):
        target = _target(path)
        if work_tree is not None:
            _refuse_outside(path, work_tree)
        before = _read(target)
    return Plan(path, target, before, before)


def content(path: Path) -> bytes | None:
    """Returns what a file holds, wherever it leads; nothing if it is not there. Raises as `read` does."""
    with naming(path):
        return _read(_target(path))


def apply(plan: Plan, *, fsync: bool = True) -> None:
    """Writes what was planned, whole or not at all, with the permissions of the file that it replaces.

    A link stays a link: its target is written. Folders on the way are made, and not removed again. Raises `Conflict`
    if the file is no longer as it was when the plan was made, `WorkTreeFailed` if the system refuses.
    """
    if plan.after == plan.before:
        return
    with naming(plan.path):
        if plan.after is None:
            _compare(plan)
            plan.target.unlink()
        else:
            _replace(plan, plan.after, fsync)
        if fsync:
            _sync(plan.target.parent)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Turns what the system says of a file into `WorkTreeFailed` that names it."""
    try:
        yield
    except OSError as fault:
        raise WorkTreeFailed(str(path), fault.strerror or str(fault)) from fault


def _target(path: Path) -> Path:
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def _read(target: Path) -> bytes | None:
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):
        raise NotAFile(str(target), "directory" if stat.S_ISDIR(mode) else "special file")
    with target.open("rb") as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise BadInput(str(target), f"larger than {LARGEST >> 20} MiB; these are no settings")
    return data


def _refuse_outside(path: Path, work_tree: Path) -> None:
    found = Path(os.path.realpath(path))
    if not found.is_relative_to(os.path.realpath(work_tree)):
        raise RefusedByPolicy(
            f"'{path}' leads out of the work tree, to '{found}'", "edit that file yourself; '--print' shows what to add"
        )


def _compare(plan: Plan) -> None:
    if _target(plan.path) != plan.target or _read(plan.target) != plan.before:
        path = str(plan.path)
        raise Conflict(f"'{path}' changed since it was read; nothing was written", [path], "run the command again")


def _replace(plan: Plan, after: bytes, fsync: bool) -> None:
    if plan.target == plan.path:
        plan.path.parent.mkdir(parents=True, exist_ok=True)
    _compare(plan)
    temporary = plan.target.parent / f"{TEMPORARY}{secrets.token_hex(16)}"
    try:
        _write(temporary, after, None if plan.before is None else plan.target, fsync)
        _compare(plan)
        temporary.replace(plan.target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def _write(temporary: Path, after: bytes, former: Path | None, fsync: bool) -> None:
    """Writes a new file; if it is to replace another, with the permissions of that one, which must be writable."""
    if former is not None:
        # a rename would replace a file that its owner has write-protected; opening it asks the system
        os.close(os.open(former, os.O_WRONLY | os.O_CLOEXEC))
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(temporary, flags, 0o666 if former is None else 0o600), "wb") as file:
        file.write(after)
        file.flush()
        if former is not None:
            os.fchmod(file.fileno(), stat.S_IMODE(former.stat().st_mode))
        if fsync:
            os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
