"""Starts a drain that outlives the hook, at the end of a turn, so that what was recorded is stored while nobody waits.

The agent waits for all who hold its pipes, so the drain gets none of them; it has a session of its own and little claim
to the processor. Lies on the path of every hook: see `work/spool.py`.
"""
# `pathlib` would cost a hook more than all it does
# ruff: noqa: PTH116, PTH208

import fcntl
import os
import time

from pogstore.work import sighting

TYPE_CHECKING = False  # what type checkers take it for; see `pogstore/__init__.py`

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

PAUSE = 2.0
"""Seconds after a drain was started in which no other is: the end of a turn and of a session often come together."""
ARGUMENTS = ("drain", "--quiet")
STARTED = b"/started"
"""In the spool: the file whose time is that of the last start."""
_LOCK = b"/lock"
_NICE = 10
_INTERRUPT = 2
_LOST = (
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_QUARANTINE_PATH"),
    *("GIT_CEILING_DIRECTORIES", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE"),
)
"""What a git that runs the agent may have left in the environment, which would lead a drain elsewhere."""


def start(command: "Sequence[str]", spool: bytes, place: sighting.Place, environ: "Mapping[str, str]") -> bool:
    """Starts a drain of one spool, unless one runs or was started just now; says whether it did. Raises `OSError`.

    `command` is how `git pog` is called from here.
    """
    if _just_started(spool) or _runs(spool):
        return False
    _stamp(spool)
    kept = {name: value for name, value in environ.items() if name not in _LOST}
    env = {os.fsencode(name): os.fsencode(value) for name, value in kept.items()}
    env |= {b"GIT_WORK_TREE": place[0], b"GIT_DIR": place[1]}
    pid = _spawn([*command, *ARGUMENTS], env)
    try:  # noqa: SIM105 - `contextlib` costs what `pathlib` does
        os.setpriority(os.PRIO_PROCESS, pid, _NICE)
    except OSError:
        pass  # it may be at its end, or be nicer already
    return True


def _just_started(spool: bytes) -> bool:
    try:
        last = os.stat(spool + STARTED).st_mtime
    except FileNotFoundError:
        return False
    return 0 <= time.time() - last < PAUSE


def _stamp(spool: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    file = os.open(spool + STARTED, flags, 0o600)
    try:
        os.utime(file)
    finally:
        os.close(file)


def _runs(spool: bytes) -> bool:
    """Says whether a drain holds the lock of a spool; none waits for us, since we let go at once."""
    try:
        file = os.open(spool + _LOCK, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False


def _spawn(command: list[str], env: "Mapping[bytes, bytes]") -> int:
    files = [
        (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
        (os.POSIX_SPAWN_DUP2, 1, 2),
        *((os.POSIX_SPAWN_CLOSE, descriptor) for descriptor in _inherited()),
    ]
    # an interrupt that the hook ignores is none that the drain must ignore
    try:
        return os.posix_spawn(command[0], command, env, file_actions=files, setsigdef=[_INTERRUPT], setsid=True)
    except NotImplementedError:
        return os.posix_spawn(command[0], command, env, file_actions=files, setsigdef=[_INTERRUPT], setpgroup=0)


def _inherited() -> "Iterator[int]":
    """Yields what else a child of ours would get: an agent may have left open what it waits for."""
    try:
        known = [int(name) for name in os.listdir("/dev/fd") if name.isdigit()]
    except OSError:
        known = list(range(256))
    for descriptor in known:
        try:
            if descriptor > 2 and os.get_inheritable(descriptor):
                yield descriptor
        except OSError:
            continue
