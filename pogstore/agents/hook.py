"""What runs at every step of an agent: takes what the agent says, looks at the files it names, and appends one record.

It never fails, prints nothing, and ends in bounded time; what it could not record it counts. It has no opinion on what
happened: `drain` has. Lies on the path of every hook: see `work/spool.py` for what may be imported.
"""
# `pathlib` would cost a hook more than all it does
# ruff: noqa: PTH109, PTH112, PTH118

import os
import select
import time

from pogstore.agents.peek import peek
from pogstore.work import sighting, spool

TYPE_CHECKING = False  # what type checkers take it for; see `pogstore/__init__.py`

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

AGENTS = ("claude-code",)
"""The agents whose hooks end here."""
DISABLED = "POG_DISABLE"
NO = ("", "0", "false", "no", "off", "never")
"""What does not disable, as everywhere on the command line."""

SILENCE = 0.5
"""Seconds without a byte after which an agent has said all it will: some never close their end (case UC-41)."""
PATIENCE = 2.0
"""Seconds until the first byte: an agent under load starts us long before it writes."""
LONGEST = 10.0
"""Seconds that a payload may take in all."""
LARGEST = 64 * 1024 * 1024
"""Bytes of a payload that are read."""
_CHUNK = 1 << 20
_SPOOL = b"/pog/spool"

_MEMBERS = frozenset(("hook_event_name", "cwd", "tool_name"))
_PATHS = ("file_path", "notebook_path", "path")
_EDITS = ("Edit", "Write", "MultiEdit", "NotebookEdit")
_STEPS = ("PreToolUse", "PostToolUse", "PostToolUseFailure")


def main(arguments: "Sequence[str]", stdin: int, environ: "Mapping[str, str]") -> int:
    """Records what the named agent says on a descriptor; always returns 0, since anything else disturbs the agent."""
    try:
        if arguments and arguments[0] in AGENTS and environ.get(DISABLED, "").lower() in NO:
            _hear(arguments[0], stdin, environ)
    except BaseException:  # noqa: BLE001, S110 - there is nobody to tell; what can be counted is counted below
        pass
    return 0


def _hear(agent: str, stdin: int, environ: "Mapping[str, str]") -> None:
    payload, whole = read_object(stdin)
    if not whole and not payload.strip():
        return
    said = peek(payload, _MEMBERS, {"tool_input": _PATHS})
    place, path, elsewhere = _whose(said)
    if place is None:
        return
    now = _now(environ)
    directory = place[2] + _SPOOL
    try:
        if elsewhere:
            spool.count_loss(directory, b"elsewhere", now)
            return
        max_blob, sync, *_ = spool.settings(directory)
        states = sighting.states(place[0], path, max_blob) if path else []
        record = _record(agent, said, place, now, payload, whole, environ.get("POG_TASK", ""), states)
        spool.append(directory, record, sync=sync)
    except BaseException as fault:  # noqa: BLE001 - whatever it was, the record is lost
        spool.count_loss(directory, spool.loss_of(fault), now)


def _whose(said: dict[str, str]) -> tuple[sighting.Place | None, bytes, bool]:
    """Returns the enabled repository whose step this is, the file that was named in it, and whether it is not its step.

    A step is of the repository of the file that it edits, else of the one that the session is in. What is done to a
    repository that is not enabled is not told to another one: that one counts it only.
    """
    cwd = _directory(said.get("cwd", ""))
    path = _edited(said, cwd)
    located, place = sighting.locate(path) if path else (b"", None)
    if place is not None and _enabled(place):
        return place, located, False
    home = sighting.find_place(sighting.resolve(cwd))
    if home is None or not _enabled(home):
        return None, b"", False
    return home, b"", place is not None


def _enabled(place: sighting.Place) -> bool:
    """Says whether `git pog init` was run: a spool is there only where recording is wanted."""
    return os.path.isdir(place[2] + _SPOOL)


def _directory(cwd: str) -> bytes:
    """Returns where the session is, or else where we are: the same for an agent that does not say."""
    raw = _bytes(cwd)
    if raw.startswith(b"/"):
        return raw
    try:
        return os.getcwdb()
    except FileNotFoundError:
        return b"/"


def _edited(said: dict[str, str], cwd: bytes) -> bytes:
    """Returns the absolute path of the file that a step names to edit it, or nothing."""
    if said.get("hook_event_name") not in _STEPS or said.get("tool_name") not in _EDITS:
        return b""
    for name in _PATHS:
        raw = _bytes(said.get("tool_input." + name, ""))
        if raw:
            return os.path.join(cwd, raw)
    return b""


def _bytes(path: str) -> bytes:
    """Returns a path as the system takes it, whatever the locale; nothing for one that it cannot take."""
    try:
        raw = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return b""
    return b"" if b"\0" in raw else raw


def _record(
    agent: str,
    said: dict[str, str],
    place: sighting.Place,
    now: int,
    payload: bytes,
    whole: bool,
    task: str,
    states: list[bytes],
) -> bytes:
    root, git_dir, common_dir = place
    return spool.encode_record(
        record_id=os.urandom(16).hex(),
        agent=agent,
        event=said.get("hook_event_name", ""),
        time=now,
        offset=time.localtime(now // 1_000_000).tm_gmtoff // 60,
        git_dir=git_dir,
        common_dir=common_dir,
        root=root,
        payload=payload,
        whole=whole,
        task=task,
        states=states,
    )


def _now(environ: "Mapping[str, str]") -> int:
    """Returns the time in µs; `POG_NOW` stands in for the clock, as everywhere on the command line."""
    fixed = environ.get("POG_NOW", "")
    return int(fixed) if fixed.isascii() and fixed.isdigit() and len(fixed) <= 16 else time.time_ns() // 1000


def read_object(stdin: int) -> tuple[bytes, bool]:
    """Reads one JSON object from a descriptor, and not a byte more waited for; says whether it came to its end.

    What came is returned in any case: at the end of the input, after a silence, or when it is too much.
    """
    chunks: list[bytes] = []
    size, end = 0, _End()
    deadline = time.monotonic() + LONGEST
    patience = PATIENCE
    while size < LARGEST and time.monotonic() < deadline and select.select([stdin], [], [], patience)[0]:
        chunk = os.read(stdin, _CHUNK)
        if not chunk:
            break
        chunks.append(chunk)
        size += len(chunk)
        if end.reached(chunk):
            return b"".join(chunks), True
        patience = SILENCE
    return b"".join(chunks), False


class _End:
    """Finds the end of a JSON object in a text that comes in pieces, by counting braces outside of strings."""

    __slots__ = ("begun", "depth", "held", "in_string")

    def __init__(self) -> None:
        self.begun = False
        self.depth = 0
        self.held = b""
        self.in_string = 0

    def reached(self, chunk: bytes) -> bool:
        """Takes the next piece; says whether the object has ended in it. The cost is linear."""
        chunk = self.held + chunk
        # a backslash whose other half comes with the next piece
        odd = (len(chunk) - len(chunk.rstrip(b"\\"))) % 2
        self.held = b"\\" * odd
        parts = chunk[: len(chunk) - odd].replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')
        outside = b"".join(parts[self.in_string :: 2])
        self.in_string = (self.in_string + len(parts) - 1) % 2
        self.begun = self.begun or b"{" in outside
        self.depth += outside.count(b"{") - outside.count(b"}")
        return self.begun and self.depth <= 0 and not self.in_string
