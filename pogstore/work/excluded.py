"""Keeps a file that we write into a work tree out of git, by a line in `info/exclude`, and takes that line out again.

It is for what is one person's own: the file is no change of the project's, and `git add -A` would commit it. What git
tracks or ignores already is left as it is.
"""

import os
from contextlib import suppress
from pathlib import Path

from pogstore.digest import hexdigest
from pogstore.errors import WorkTreeFailed
from pogstore.store.layout import Layout
from pogstore.store.store import Store
from pogstore.work.ignored import ignored

_KEPT = "exclude-before"
"""Beside the spool: the hash of the file as we left it, a newline, `+` or, if there was none, `-`, its former bytes."""
_WHY = b"# by 'git pog agent add': settings of your own\n"


def exclude(store: Store, name: str) -> bool:
    """Lets git ignore a file, named from the root of the work tree; says whether a line was needed.

    Raises `WorkTreeFailed` if the system refuses.
    """
    if ignored(store.git, [name.encode()]) or store.git.text("ls-files", "--", f":(top,literal){name}"):
        return False
    path = file_of(store.layout)
    try:
        before = _bytes(path)
        joined = b"\n" if before and not before.endswith(b"\n") else b""
        after = (before or b"") + joined + _WHY + b"/" + name.encode() + b"\n"
        kept = store.layout.own / _KEPT
        left, _, first = (_bytes(kept) or b"").partition(b"\n")
        if not first:
            store.layout.own.mkdir(exist_ok=True)
            kept.write_bytes(_remembered(after, b"-" if before is None else b"+" + before))
        elif before is not None and hexdigest(before).encode() == left:
            kept.write_bytes(
                _remembered(after, first)
            )  # a second file of ours: the former bytes are those of the first
        _replace(path, after)
    except OSError as fault:
        raise WorkTreeFailed(str(path), fault.strerror or str(fault)) from fault
    return True


def include(store: Store, name: str) -> bool:
    """Takes our line out again, so that the file has its former bytes or, if it was not there, is gone.

    Where somebody changed it since, only the line goes. Says whether one of ours was there. Raises `WorkTreeFailed`.
    """
    path, kept = file_of(store.layout), store.layout.own / _KEPT
    line = _WHY + b"/" + name.encode() + b"\n"
    try:
        now, remembered = _bytes(path), _bytes(kept)
        left, _, before = (remembered or b"").partition(b"\n")
        rest = (now or b"").replace(line, b"")
        is_last = _WHY not in rest
        if now is not None and line in now:
            is_ours = bool(before) and hexdigest(now).encode() == left
            if is_ours and is_last:
                _put_back(path, before)
            else:
                _replace(path, rest)
            if is_ours and not is_last:
                kept.write_bytes(_remembered(rest, before))
        if is_last:
            kept.unlink(missing_ok=True)
            with suppress(OSError):
                store.layout.own.rmdir()  # if nothing else of ours is there
    except OSError as fault:
        raise WorkTreeFailed(str(path), fault.strerror or str(fault)) from fault
    return now is not None and line in now


def file_of(layout: Layout) -> Path:
    """Returns the file of patterns that holds for all work trees of a repository, and is nobody else's."""
    return Path(os.path.realpath(layout.common_dir / "info" / "exclude"))


def _remembered(after: bytes, first: bytes) -> bytes:
    return hexdigest(after).encode() + b"\n" + first


def _put_back(path: Path, before: bytes) -> None:
    if before[:1] == b"-":
        path.unlink()
    else:
        _replace(path, before[1:])


def _bytes(path: Path) -> bytes | None:
    with suppress(FileNotFoundError):
        return path.read_bytes()
    return None


def _replace(path: Path, data: bytes) -> None:
    """Writes a file whole or not at all, with the permissions of the one that it replaces."""
    path.parent.mkdir(exist_ok=True)
    aside = path.with_name(f"{path.name}.pog-lock")
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            if path.exists():
                os.fchmod(file.fileno(), path.stat().st_mode & 0o7777)
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
