"""Runs one command of a person's, shows what it prints at once, and keeps the beginning and the end of it.

The one place that starts a program that is not ours and not git. Never a shell: the arguments reach the program as they
were given. A stream that leads to a terminal leads to one for the program too, so that it behaves as it always does.
"""

import errno
import fcntl
import os
import select
import selectors
import signal
import subprocess
import termios
import threading
import time
import tty
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from pogstore import redact
from pogstore.errors import CannotRun, NoSuchProgram

KEPT = 1 << 20
"""Bytes that are kept of each stream; of a longer one the first and the last half of that."""
GRACE = 1.0
"""Seconds for which a stream is read on that somebody keeps open when the command has ended."""
_TALKING = 5.0
"""The same while there is more to read."""
FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_GLANCE = 0.1
_CHUNK = 1 << 16
_EDGE = 1000
_BEYOND = 1 << 17
"""Bytes that are held beside what is kept, more than a secret is long: one that is cut is found by its other half."""


class Finished(NamedTuple):
    """How a command ended: `status` is negative for a signal. `left` says that somebody still held its streams open,
    `late` that it was ended because its time was over, `unshown` why not all that it printed could be shown.
    """

    status: int
    stdout: str
    stderr: str
    microseconds: int
    left: bool
    late: bool = False
    unshown: str | None = None


class Capture:
    """The beginning and the end of a stream, in bounded memory."""

    def __init__(self, limit: int = KEPT) -> None:
        self._half, self._held = limit // 2, limit // 2 + _BEYOND
        self._first, self._last = bytearray(), bytearray()
        self.size = 0

    def add(self, data: bytes) -> None:
        """Takes note of what came next."""
        self.size += len(data)
        room = self._held - len(self._first)
        self._first += data[:room]
        self._last += data[room:]
        if len(self._last) > 2 * self._held:
            del self._last[: -self._held]

    @property
    def text(self) -> str:
        """What came, as text; says how many bytes were left out in the middle.

        It is cut at a line or a word if one ends near, and then without secrets: half of one would pass the rules that
        find whole ones.
        """
        if self.size <= 2 * self._half:
            return bytes(self._first + self._last).decode("utf-8", "replace")
        first, last = bytes(self._first), bytes(self._first + self._last)[-self._held :]
        end, start = self._half, len(last) - self._half
        ends = [at + 1 for mark in (b"\n", b" ") if (at := first.rfind(mark, max(0, end - _EDGE), end)) >= 0]
        starts = [at + 1 for mark in (b"\n", b" ") if (at := last.find(mark, start, start + _EDGE)) >= 0]
        end, start = max(ends, default=end), min(starts, default=start)
        cut = self.size - end - (len(last) - start)
        return f"{_without_secrets(first, 0, end)}\n[{cut} bytes omitted]\n{_without_secrets(last, start, len(last))}"


def _without_secrets(data: bytes, start: int, end: int) -> str:
    before, kept, after = (part.decode("utf-8", "replace") for part in (data[:start], data[start:end], data[end:]))
    return redact.excerpt(before + kept + after, len(before), len(before) + len(kept))


class Signals:
    """Where the signals go that a process gets while it runs a command: to the command."""

    def __init__(self, *, apart: bool = False) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []
        self._apart = apart

    def handle(self, number: int, _: FrameType | None) -> None:
        """Passes one on; of Ctrl-C the terminal has told the command itself."""
        if number in (signal.SIGINT, signal.SIGQUIT) and self._process is not None and self._is_told():
            return
        if self._process is None:
            self._early.append(number)
        else:
            self._process.send_signal(number)

    def _is_told(self) -> bool:
        """Says whether the terminal tells the command itself: not one that has a session of its own."""
        return not self._apart and _in_foreground()

    def follow(self, process: "subprocess.Popen[bytes]") -> None:
        """Sends signals to this process from now on, with those that came before it was there."""
        self._process = process
        for number in self._early:
            process.send_signal(number)


def _in_foreground() -> bool:
    """Says whether the terminal sends its Ctrl-C to us, and so to the command, which is of our process group."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


@contextmanager
def signals_passed_on(*, apart: bool = False) -> Iterator[Signals]:
    """Lets no signal end this process in a block: what was done must still be recorded.

    Signals that are ignored stay so. Outside of the main thread nothing is changed. `apart` says that the command gets
    a session of its own.
    """
    signals, before = Signals(apart=apart), {}
    if threading.current_thread() is threading.main_thread():
        for number in FORWARDED:
            if signal.getsignal(number) is not signal.SIG_IGN:
                # a function, since a program would inherit it if they were ignored
                before[number] = signal.signal(number, signals.handle)
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def execute(
    argv: Sequence[bytes],
    signals: Signals,
    *,
    cwd: Path,
    environ: Mapping[bytes, bytes],
    stdout: int,
    stderr: int,
    limit: int = KEPT,
    apart: float | None = None,
) -> Finished:
    """Runs a command to its end; `stdout` and `stderr` are the descriptors on which it is shown meanwhile.

    With `apart` it reads nothing and has a session of its own; after so many seconds it is ended, and when it has ended
    so is all that it started. Raises `CannotRun` if there is no such program, or it cannot be started.
    """
    channels = [_Channel(stdout, limit), _Channel(stderr, limit)]
    begun = time.monotonic_ns()
    until = None if apart is None else time.monotonic() + apart
    process = None
    try:
        process = _start(argv, cwd, environ, channels, apart=apart is not None)
        signals.follow(process)
        left, late = _pump(process, channels, until)
        status = process.wait()
    finally:
        if process is not None and apart is not None:
            end_group(process)
        for channel in channels:
            channel.close()
    out, err = (channel.capture.text for channel in channels)
    unshown = next((channel.unshown for channel in channels if channel.unshown), None)
    return Finished(status, out, err, (time.monotonic_ns() - begun) // 1000, left, late, unshown)


def said(argv: Sequence[bytes], *, environ: Mapping[bytes, bytes], seconds: float, limit: int = _CHUNK) -> bytes | None:
    """Returns what a program of another's prints, errors included, if it ends well and soon; else it is ended.

    It reads nothing, runs in the root directory, and is ended with all that it started; so is one that says too much.
    """
    deadline = time.monotonic() + seconds
    try:
        process = subprocess.Popen(
            list(argv), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            cwd="/", env=dict(environ), start_new_session=True,
        )  # fmt: skip
    except (OSError, ValueError):
        return None
    out, data = process.stdout, b""
    try:
        while out is not None and len(data) <= limit and _readable(out.fileno(), deadline):
            chunk = os.read(out.fileno(), _CHUNK)
            if not chunk:
                break
            data += chunk
        with suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, deadline - time.monotonic()) if len(data) <= limit else 0)
        return data if process.returncode == 0 else None
    finally:
        end_group(process)
        if out is not None:
            out.close()


def _readable(descriptor: int, deadline: float) -> bool:
    left = deadline - time.monotonic()
    return left > 0 and bool(select.select([descriptor], [], [], left)[0])


def end_group(process: "subprocess.Popen[bytes]") -> None:
    """Ends at once a process that began a session of its own, and what it started there; waits for it alone."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _start(
    argv: Sequence[bytes], cwd: Path, environ: Mapping[bytes, bytes], channels: "Sequence[_Channel]", *, apart: bool
) -> "subprocess.Popen[bytes]":
    out, err = channels
    try:
        return subprocess.Popen(
            list(argv), stdin=subprocess.DEVNULL if apart else None, stdout=out.inner, stderr=err.inner,
            cwd=cwd, env=dict(environ), start_new_session=apart,
        )  # fmt: skip
    except OSError as fault:
        program = os.fsdecode(argv[0])
        if fault.errno == errno.ENOENT and not _exists(argv[0], cwd):
            raise NoSuchProgram(program) from fault
        raise CannotRun(program, fault.strerror or "no reason given") from fault
    except ValueError as fault:  # a NUL, which no system call could pass
        raise CannotRun(os.fsdecode(argv[0]), str(fault)) from fault
    finally:
        for channel in channels:
            channel.started()


def _exists(program: bytes, cwd: Path) -> bool:
    """Says whether a program is there, so that it is its interpreter which is missing."""
    return b"/" in program and os.path.lexists(cwd / os.fsdecode(program))


class _Channel:
    """One stream of a command: `inner` is the command's end, `outer` ours, `shown` where it is shown."""

    def __init__(self, shown: int, limit: int) -> None:
        self.shown, self.capture = shown, Capture(limit)
        self.unshown: str | None = None
        self.outer, self.inner = _terminal(shown) if os.isatty(shown) else os.pipe()

    def started(self) -> None:
        """Closes the end that the command has by now."""
        os.close(self.inner)
        self.inner = -1

    def close(self) -> None:
        """Closes what is open."""
        for end in (self.inner, self.outer):
            if end >= 0:
                os.close(end)
        self.inner = self.outer = -1

    def pass_on(self) -> bool:
        """Reads what has come, keeps and shows it; says whether more may come.

        A reader who has gone is gone for the command too: it gets the signal that it would have got without us.
        """
        try:
            data = os.read(self.outer, _CHUNK)
        except OSError as fault:
            if fault.errno != errno.EIO:
                raise
            data = b""  # of a terminal whose other end is closed
        if not data:
            return False
        self.capture.add(data)
        try:
            _write(self.shown, data)
        except BrokenPipeError:
            return False
        except OSError as fault:
            self.unshown = fault.strerror or "no reason given"
            return False
        return True


def _terminal(like: int) -> tuple[int, int]:
    """Returns both ends of a terminal of the same size, which leaves the bytes as they are: the outer turns them."""
    outer, inner = os.openpty()
    tty.setraw(inner)
    with suppress(OSError):
        fcntl.ioctl(inner, termios.TIOCSWINSZ, fcntl.ioctl(like, termios.TIOCGWINSZ, bytes(8)))
    return outer, inner


def _pump(process: "subprocess.Popen[bytes]", channels: "Sequence[_Channel]", until: float | None) -> tuple[bool, bool]:
    """Passes on what comes until the streams end; says whether they outlived the command, and whether it its time."""
    ended: float | None = None
    late = False
    with selectors.DefaultSelector() as selector:
        for channel in channels:
            selector.register(channel.outer, selectors.EVENT_READ, channel)
        while selector.get_map():
            ready = selector.select(_GLANCE)
            for key, _ in ready:
                if not key.data.pass_on():
                    selector.unregister(key.fd)
                    key.data.close()
            if process.poll() is None:
                if until is not None and time.monotonic() > until:
                    late = True
                    end_group(process)
                continue
            ended = ended or time.monotonic()
            if time.monotonic() - ended > (_TALKING if ready else GRACE):
                return True, late
    return False, late or _outlives(process, until)


def _outlives(process: "subprocess.Popen[bytes]", until: float | None) -> bool:
    """Waits for a command that has closed its streams; ends it, and says so, when its time is over."""
    if until is None:
        return False
    try:
        process.wait(max(0.0, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        end_group(process)
        return True
    return False


def _write(descriptor: int, data: bytes) -> None:
    """Writes all; a descriptor that somebody made non-blocking is waited for."""
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:
            select.select([], [descriptor], [])
