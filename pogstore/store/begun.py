"""Git commands that this process has begun before it came to need them, so that they run while it loads its modules.

Who would run such a command takes its output instead; who never comes costs nothing but the command. Stands on the path
of commands that cannot afford `subprocess`.
"""

import os
import time
from contextlib import suppress

from pogstore.store import gitenv, spawn

TYPE_CHECKING = False  # what type checkers take it for; see `pogstore/__init__.py`

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PATIENCE = 3600.0
"""Seconds that git may take."""
LARGEST = 1 << 28
"""Bytes of an output that is looked at; of a longer one whoever asks for it runs the command."""
ROOM = 1 << 20
"""Bytes that a command may print before somebody reads them, where the system allows it."""

_Key = tuple[str, ...]


class Begun:
    """One command that runs; its output is read when it is first asked for."""

    def __init__(self, command: "Sequence[str]", extra: "Mapping[str, str] | None") -> None:
        environ = {os.fsencode(name): os.fsencode(value) for name, value in gitenv.environment(extra).items()}
        self._running: tuple[int, int] | None = spawn.begin([os.fsencode(part) for part in command], environ)
        spawn.widen(self._running[1], ROOM)
        self._output: bytes | None = None

    def output(self) -> bytes | None:
        """Returns what the command has printed, when it has ended; nothing if it failed."""
        running, self._running = self._running, None
        if running is not None:
            with suppress(OSError, OverflowError):
                self._output = spawn.finish(running, time.monotonic() + PATIENCE, LARGEST)
        return self._output

    def end(self) -> None:
        """Ends a command whose output nobody has asked for."""
        running, self._running = self._running, None
        if running is not None:
            spawn.abandon(*running)


class Known:
    """The answer of a command that need not be run: what it would print has been seen already."""

    def __init__(self, output: bytes) -> None:
        self._output = output

    def output(self) -> bytes:
        """Returns the answer."""
        return self._output

    def end(self) -> None:
        """Ends nothing."""


_begun: dict[_Key, Begun | Known] = {}


def begin(command: "Sequence[str]", extra: "Mapping[str, str] | None" = None) -> Begun:
    """Begins a command in the environment that `gitenv` makes for it."""
    found = Begun(command, extra)
    _begun[_key(command, extra)] = found
    return found


def know(command: "Sequence[str]", output: bytes) -> None:
    """Says what a command would print, so that it need not be run."""
    _begun[_key(command, None)] = Known(output)


def take(command: "Sequence[str]", extra: "Mapping[str, str] | None" = None) -> bytes | None:
    """Returns what a command has printed that was begun and went well; it is taken once."""
    found = _begun.pop(_key(command, extra), None) if _begun else None
    return found.output() if found is not None else None


def end_all() -> None:
    """Ends what nobody has taken."""
    while _begun:
        _begun.popitem()[1].end()


def _key(command: "Sequence[str]", extra: "Mapping[str, str] | None") -> _Key:
    return (*command, "", *(f"{name}={value}" for name, value in sorted((extra or {}).items())))
