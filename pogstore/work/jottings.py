"""Small files of ours in the git directory that hold one JSON value each and that nobody misses if they are lost."""

import contextlib
import json
import os
from pathlib import Path


def read(path: Path) -> object:
    """Returns what was jotted down; `None` where nothing was, or where it cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            return json.loads(file.read())
    except (OSError, ValueError, RecursionError):
        return None


def jot(path: Path, value: object) -> bool:
    """Keeps a value, for its owner alone, in the place of the one before; says whether that went well.

    Its folder must be there: where nobody enabled pogstore there is none, and nothing is kept.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(beside, flags, 0o600), "w", encoding="utf-8") as file:
            json.dump(value, file, separators=(",", ":"))
        beside.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            beside.unlink()
        return False
    return True
