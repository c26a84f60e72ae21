"""Starts git where `subprocess` would cost more than all else: on the path of a hook, see `work/spool.py`.

The second door to the `git` command beside `gitcli.py`, for one question asked in bounded time: what it prints is read
until a deadline, and whatever it has started by then is killed. It inherits no `GIT_*` but a person's configuration.
"""
# `pathlib` would cost a hook more than all it does
# ruff: noqa: PTH113

import fcntl
import os
import select
import time

TYPE_CHECKING = False  # what type checkers take it for; see `pogstore/__init__.py`

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_KEPT = (b"GIT_CONFIG_", b"GIT_ATTR_", b"GIT_EXEC_PATH", b"GIT_DISCOVERY_ACROSS_FILESYSTEM")
"""How the variables begin that choose a configuration or an installation; all others choose a repository, or trace."""
_FIXED = {
    b"GIT_TERMINAL_PROMPT": b"0",
    b"GIT_NO_LAZY_FETCH": b"1",  # a partial clone must not go to the network while an agent waits
    b"LC_ALL": b"C",
    b"LANGUAGE": b"",
}
_QUIET = (b"-c", b"core.fsmonitor=false", b"-c", b"core.hooksPath=/dev/null")
_NULL = b"/dev/null"
_CHUNK = 1 << 20
_KILL = 9
_DEFAULT = (2, 3, 13, 15, 17, 20)
"""Signals that an agent, or Python itself, may have set to be ignored, which a child would inherit: interrupt, quit,
pipe, terminate, and child by its numbers on both systems. The module `signal` would load `enum`."""


def run(
    arguments: "Sequence[bytes]", *, cwd: bytes, environ: "Mapping[bytes, bytes]", deadline: float, limit: int
) -> bytes | None:
    """Returns what a git command prints; `None` if it fails. `environ` is added to what is inherited.

    `deadline` is a time of `time.monotonic`. Raises `TimeoutError` when it is reached, `OverflowError` if more than
    `limit` bytes are printed, and `FileNotFoundError` if there is no git; no process is left behind in any case.
    """
    inherited = os.environb
    program = find_git(inherited.get(b"PATH", os.defpath.encode()))
    child = begin([program, *_QUIET, b"-C", cwd, *arguments], environment(inherited, environ))
    return finish(child, deadline, limit)


def begin(command: list[bytes], environ: "Mapping[bytes, bytes]") -> "tuple[int, int]":
    """Starts a command and returns at once: its process and where its output can be read, which `finish` takes."""
    reads, writes = os.pipe()
    try:
        return _start(command, environ, writes), reads
    except BaseException:
        os.close(reads)
        raise
    finally:
        os.close(writes)


def converse(command: list[bytes], environ: "Mapping[bytes, bytes]") -> "tuple[int, int, int]":
    """Starts a command that is told things: its process, where it is told them, and where its output can be read."""
    told, telling = os.pipe()
    try:
        reads, writes = os.pipe()
        try:
            return _start(command, environ, writes, told), telling, reads
        except BaseException:
            os.close(reads)
            raise
        finally:
            os.close(writes)
    except BaseException:
        os.close(telling)
        raise
    finally:
        os.close(told)


def finish(begun: "tuple[int, int]", deadline: float, limit: int) -> bytes | None:
    """Returns what a command that was begun has printed when it ends; raises as `run` does."""
    child, reads = begun
    ended = False
    try:
        output = _read(reads, deadline, limit)
        status = _wait(child, deadline)
        ended = True
    finally:
        os.close(reads)
        if not ended:
            _kill(child)
    return output if status == 0 else None


def widen(reads: int, room: int) -> None:
    """Lets a command print so many bytes before somebody reads them, where the system can: it need not wait then."""
    try:
        fcntl.fcntl(reads, fcntl.F_SETPIPE_SZ, room)
    except (AttributeError, OSError):
        return


def abandon(child: int, *open_: int) -> None:
    """Kills a command that was begun, and what it has started, and closes what leads to it."""
    for descriptor in open_:
        os.close(descriptor)
    _kill(child)


def find_git(path: bytes) -> bytes:
    """Returns the first git on a search path, never one of the current directory; raises `FileNotFoundError`."""
    for place in path.split(b":"):
        program = place + b"/git"
        if place.startswith(b"/") and os.path.isfile(program) and os.access(program, os.X_OK):
            return program
    raise FileNotFoundError("git")


def environment(inherited: "Mapping[bytes, bytes]", extra: "Mapping[bytes, bytes]") -> dict[bytes, bytes]:
    """Returns the environment of a child: without what names another repository, with output that does not vary."""
    kept = {name: value for name, value in inherited.items() if not name.startswith(b"GIT_") or name.startswith(_KEPT)}
    return {**kept, **_FIXED, **extra}


def _start(command: list[bytes], environ: "Mapping[bytes, bytes]", writes: int, told: int | None = None) -> int:
    """Starts a process in a group of its own, so that all of it can be killed; it hears what it is told, or nothing."""
    heard = (os.POSIX_SPAWN_OPEN, 0, _NULL, os.O_RDONLY, 0) if told is None else (os.POSIX_SPAWN_DUP2, told, 0)
    return os.posix_spawn(
        command[0],
        command,
        environ,
        file_actions=[
            (os.POSIX_SPAWN_DUP2, writes, 1),
            heard,
            (os.POSIX_SPAWN_OPEN, 2, _NULL, os.O_WRONLY, 0),
        ],
        setpgroup=0,
        setsigmask=(),
        setsigdef=_DEFAULT,
    )


def _read(reads: int, deadline: float, limit: int) -> bytes:
    ready = select.poll()
    ready.register(reads, select.POLLIN)
    chunks: list[bytes] = []
    size = 0
    while ready.poll(max(0.0, deadline - time.monotonic()) * 1000):
        chunk = os.read(reads, _CHUNK)
        if not chunk:
            return b"".join(chunks)
        chunks.append(chunk)
        size += len(chunk)
        if size > limit:
            raise OverflowError(limit)
    raise TimeoutError("git takes too long")


def _wait(child: int, deadline: float) -> int:
    """Returns the status of a process that has said all; 0 if somebody else has taken it, as ignored signals do."""
    while True:
        try:
            ended, status = os.waitpid(child, os.WNOHANG)
        except ChildProcessError:
            return 0
        if ended:
            return status
        if time.monotonic() > deadline:
            raise TimeoutError("git does not end")
        time.sleep(0.0002)


def _kill(child: int) -> None:
    for kill in (os.killpg, os.kill):  # by its own id too: of a child that has not come to its group yet
        try:
            kill(child, _KILL)
        except OSError:
            continue
    try:
        os.waitpid(child, 0)
    except ChildProcessError:
        return
