"""What hooks do not say and a transcript of the agent does: which model made a call, where a session came from.

The path of a transcript is what an agent says, so it may lead anywhere. Only a regular file of our own that is named
like a transcript is opened; a bounded part of it is read; and nothing of it is taken but names of models and the id of
a session. A transcript is written behind the session's back: it may lag, and it may be gone.
"""

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from pogstore.agents import codex, gemini
from pogstore.agents.heard import Heard, name
from pogstore.interop.claude_lines import microseconds

TAIL = 1 << 20
"""So many bytes of the end are read: the calls of the last turns."""
HEAD = 1 << 16
"""So many bytes of the beginning: a session that goes on from another begins with lines of that one."""
WHOLE = 16 << 20
"""So many bytes of one that is a single object; of a longer one nothing is known."""
_SUFFIX = ".jsonl"
_OBJECT = ".json"
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_MODEL = re.compile(r"[A-Za-z0-9][\w.:/@+\[\]-]{0,199}", re.ASCII)
_AGENT_ID = re.compile(r"[A-Za-z0-9][\w-]{0,99}", re.ASCII)


class _Message(Struct):
    model: object = None
    content: object = None


class _Line(Struct, rename="camel"):
    type: object = None
    timestamp: object = None
    session_id: object = None
    is_sidechain: object = None
    message: msgspec.Raw = msgspec.Raw(b"")


class _Known(NamedTuple):
    """What one transcript says of models: by the id of the call, and since when, and whether of a sub-agent."""

    of_calls: dict[str, str]
    since: list[tuple[int, str, bool]]


_LINE = msgspec.json.Decoder(_Line)
_MESSAGE = msgspec.json.Decoder(_Message)


class Transcripts:
    """The transcripts that hooks name, each read once."""

    def __init__(self) -> None:
        self._known: dict[str, _Known] = {}
        self._parents: dict[tuple[str, str], tuple[str | None, bool]] = {}

    def model_of(self, heard: Heard) -> str | None:
        """Returns the model that made a call or said something, or else the last one before; `None` if none is told."""
        if heard.transcript is None:
            return None
        files = [heard.transcript] if heard.agent == gemini.AGENT else _files(heard.transcript, heard.agent_id)
        known = [self._read(path, heard.agent) for path in files]
        for each in known:
            if heard.call_id is not None and heard.call_id in each.of_calls:
                return each.of_calls[heard.call_id]
        is_sub = heard.agent_id is not None
        before = [model for time, model, aside in known[-1].since if time <= heard.record.time and aside <= is_sub]
        return before[-1] if before else None

    def parent_of(self, heard: Heard) -> tuple[str | None, bool]:
        """Returns the id of the session that this one goes on from, if its transcript tells, and if it is a part of it.

        A transcript of Claude Code begins with lines of the other session; a rollout of Codex says so.
        """
        if heard.transcript is None or heard.agent_id is not None:
            return None, False
        key = (heard.transcript, heard.session)
        if key not in self._parents:
            self._parents[key] = _parent(heard)
        return self._parents[key]

    def _read(self, path: str, agent: str) -> _Known:
        if path not in self._known:
            is_whole = agent == gemini.AGENT and path.endswith(_OBJECT)
            data = _read(path, WHOLE, at_end=False, suffix=_OBJECT) if is_whole else _read(path, TAIL, at_end=True)
            self._known[path] = _spoken(data) if agent == gemini.AGENT else _models(data)
        return self._known[path]


def _spoken(data: bytes) -> _Known:
    found = [(time, model, False) for time, model in gemini.models(data) if _MODEL.fullmatch(model)]
    return _Known({}, found)


def _parent(heard: Heard) -> tuple[str | None, bool]:
    if heard.transcript is None:
        return None, False
    head = _read(heard.transcript, HEAD, at_end=False)
    if heard.agent == codex.AGENT:
        found = codex.origin(head.split(b"\n"))
        return (found.session, found.is_part) if found is not None else (None, False)
    others = [other for line in _lines(head) if (other := name(line.session_id)) and other != heard.session]
    return (others[-1] if others else None), False


def _files(transcript: str, agent_id: str | None) -> list[str]:
    """Returns the files that may tell of a call: the one that was named, and last the sub-agent's own.

    Some versions name the main transcript in a sub-agent's hooks (claude-code#76333).
    """
    if agent_id is None or Path(transcript).name == f"agent-{agent_id}{_SUFFIX}":
        return [transcript]
    if not _AGENT_ID.fullmatch(agent_id):
        return [transcript, ""]
    return [transcript, str(Path(transcript.removesuffix(_SUFFIX)) / "subagents" / f"agent-{agent_id}{_SUFFIX}")]


def _read(path: str, limit: int, *, at_end: bool, suffix: str = _SUFFIX) -> bytes:
    """Returns the beginning or the end of a transcript in whole lines; nothing of what is none."""
    if not (path.startswith("/") and path.endswith(suffix)):
        return b""
    try:
        file = os.open(path, _FLAGS)
    except (OSError, ValueError):
        return b""
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            return b""
        start = max(0, found.st_size - limit) if at_end else 0
        data = os.pread(file, limit, start)
    except OSError:
        return b""
    finally:
        os.close(file)
    if start:
        return data.partition(b"\n")[2]
    return data if len(data) < limit else data.rpartition(b"\n")[0]


def _lines(data: bytes) -> Iterator[_Line]:
    for line in data.split(b"\n"):
        try:
            yield _LINE.decode(line)
        except (msgspec.MsgspecError, RecursionError):
            continue


def _models(data: bytes) -> _Known:
    of_calls: dict[str, str] = {}
    since: list[tuple[int, str, bool]] = []
    for line in _lines(data):
        if line.type != "assistant":
            continue
        try:
            message = _MESSAGE.decode(line.message)
        except (msgspec.MsgspecError, RecursionError):
            continue
        if not isinstance(message.model, str) or not _MODEL.fullmatch(message.model):
            continue  # `<synthetic>` is what no model said
        of_calls |= dict.fromkeys(_calls(message.content), message.model)
        time = microseconds(line.timestamp)
        if time is not None:
            since.append((time, message.model, line.is_sidechain is True))
    return _Known(of_calls, since)


def _calls(content: object) -> Iterator[str]:
    for block in content if isinstance(content, list) else ():
        match block:
            case {"type": "tool_use", "id": str(call_id)}:
                yield call_id
