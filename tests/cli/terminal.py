"""A pseudo-terminal: what a person would see, byte for byte."""

import fcntl
import os
import pty
import struct
import subprocess
import termios
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def terminal(columns: int) -> Iterator[tuple[int, list[bytes]]]:
    """Yields the file descriptor of a terminal so many columns wide, and the list that will hold what it was sent."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    settings = termios.tcgetattr(slave)
    settings[1] &= ~termios.OPOST  # newlines stay newlines
    termios.tcsetattr(slave, termios.TCSANOW, settings)
    seen: list[bytes] = []
    reader = threading.Thread(target=_read, args=(master, seen))
    reader.start()
    try:
        yield slave, seen
    finally:
        os.close(slave)
        reader.join(timeout=20)
        os.close(master)


def _read(master: int, seen: list[bytes]) -> None:
    while True:
        try:
            data = os.read(master, 1 << 16)
        except OSError:  # the last one has closed the terminal
            return
        if not data:
            return
        seen.append(data)


def on_terminal(command: Sequence[str], cwd: Path, env: Mapping[str, str] = {}, columns: int = 100) -> str:
    """Runs a command on a terminal; returns what it showed there, standard error included."""
    variables = {name: value for name, value in {**os.environ, **env}.items() if name != "COLUMNS"}
    with terminal(columns) as (slave, seen):
        subprocess.run(
            command, cwd=cwd, env=variables, stdin=slave, stdout=slave, stderr=slave, timeout=60, check=False
        )
    return b"".join(seen).decode("utf-8", "surrogateescape")
