"""The lines of Claude Code transcripts as typed entries, whatever state the lines are in.

Knows how a transcript is written, nothing of tasks, events or files. Every field may be missing or of another type than
expected; that costs the field, never the line. A line that is not quite JSON (raw control characters, halves of
surrogate pairs, two records glued together, bytes that are not UTF-8) is repaired, and said to be.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import NamedTuple, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, field
from msgspec.structs import replace

from pogstore.interop.json_lines import Oddities, Transcript, read_records

QUIET = (
    *("agent-name", "attachment", "file-history-snapshot", "last-prompt", "mode", "permission-mode", "pr-link"),
    *("progress", "queue-operation", "system", "worktree-state"),
)
"""The types of lines that hold nothing we keep, but for the prompts and sub-agents inside some of them."""
TITLES = {"summary": "summary", "ai-title": "ai_title", "custom-title": "custom_title"}
"""The types of lines that name a session, the weakest first, and their fields."""

KNOWN = frozenset(("user", "assistant", *TITLES, *QUIET))

LARGEST = 2**53
"""What the numbers of an event stay below."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SESSION = re.compile(rb'"sessionId"\s*:\s*"([^"\\]+)"')


class Said(NamedTuple):
    """Text that somebody wrote."""

    text: str


class Thought(NamedTuple):
    """Text that a model thought."""

    text: str


class Use(NamedTuple):
    """A tool is called."""

    call_id: str
    tool: str
    input: dict[str, object]


class Answer(NamedTuple):
    """A tool call ended."""

    call_id: str
    ok: bool
    text: str


Part: TypeAlias = Said | Thought | Use | Answer


class Outcome(Struct, frozen=True, rename="camel"):
    """What Claude Code itself keeps of a tool's result, beside what the model is told. `UNSET` is not told at all."""

    type: object = None
    file_path: object = None
    old_string: object = None
    new_string: object = None
    replace_all: object = None
    edits: object = None
    content: object = None
    original_file: object = UNSET
    original_file_contents: object = UNSET
    notebook_before: object = field(default=UNSET, name="original_file")
    notebook_after: object = field(default=UNSET, name="updated_file")
    user_modified: object = None
    interrupted: object = None
    duration_ms: object = None
    total_duration_ms: object = None
    file: object = None


class Entry(Struct, frozen=True, kw_only=True):
    """One line that says something. `time` is µs since the epoch; `leaf` is the entry that a summary is about."""

    name: str
    line: int
    type: str
    uuid: str | None = None
    session: str | None = None
    time: int | None = None
    cwd: str | None = None
    version: str | None = None
    agent_id: str | None = None
    sidechain: bool = False
    meta: bool = False
    compact: bool = False
    message_id: str | None = None
    model: str | None = None
    tokens: tuple[int, int] | None = None
    parts: tuple[Part, ...] = ()
    outcome: Outcome | None = None
    title: str | None = None
    leaf: str | None = None

    @property
    def where(self) -> str:
        """The file and the line, as reports name them."""
        return f"{self.name}:{self.line}"


class _Line(Struct, frozen=True, rename="camel"):
    type: object = None
    uuid: object = None
    session_id: object = None
    timestamp: object = None
    cwd: object = None
    version: object = None
    agent_id: object = None
    is_sidechain: object = None
    is_meta: object = None
    is_compact_summary: object = None
    message: Raw = Raw()
    tool_use_result: Raw = Raw()
    data: Raw = Raw()
    attachment: Raw = Raw()
    summary: object = None
    ai_title: object = None
    custom_title: object = None
    leaf_uuid: object = None


class _Message(Struct, frozen=True):
    id: object = None
    model: object = None
    usage: object = None
    content: object = None


class _Progress(Struct, frozen=True, rename="camel"):
    type: object = None
    agent_id: object = None
    message: Raw = Raw()


class _Attachment(Struct, frozen=True, rename="camel"):
    type: object = None
    prompt: object = None
    command_mode: object = None


_LINE = msgspec.json.Decoder(_Line)
_MESSAGE = msgspec.json.Decoder(_Message)
_OUTCOME = msgspec.json.Decoder(Outcome)
_PROGRESS = msgspec.json.Decoder(_Progress)
_ATTACHMENT = msgspec.json.Decoder(_Attachment)


def sessions_in(lines: Iterable[bytes]) -> tuple[str, ...]:
    """Returns the ids of the sessions that a file's lines may belong to, the first seen first, without parsing them."""
    found: dict[str, None] = {}
    for line in lines:
        if match := _SESSION.search(line):
            found.setdefault(match[1].decode("utf-8", "replace"))
    return tuple(found)


def read_entries(transcript: Transcript, oddities: Oddities) -> Iterator[Entry]:
    """Yields the entries of a file in its own order; what is odd about its lines is reported."""
    for entry in read_records(transcript, partial(_entry, transcript.name), oddities):
        if entry.type not in KNOWN:
            oddities.count("unknown-type", transcript.name, f"lines of the type {entry.type!r}")
        yield entry


def _entry(name: str, record: bytes, number: int) -> Entry:
    line = _LINE.decode(record)
    kind = text(line.type) or ""
    if kind == "progress":
        return _progress(line, name, number)
    if kind == "attachment":
        return _queued(line, name, number)
    if kind in TITLES:
        title = text(getattr(line, TITLES[kind]))
        return Entry(
            name=name, line=number, type=kind, session=text(line.session_id), title=title, leaf=text(line.leaf_uuid)
        )
    return _spoken(line, line, name, number, kind=kind, agent_id=text(line.agent_id))


def _progress(outer: _Line, name: str, number: int) -> Entry:
    """Returns what a sub-agent said, which the main transcript wraps; other progress says nothing."""
    progress = _PROGRESS.decode(outer.data) if _is_object(outer.data) else _Progress()
    if progress.type == "agent_progress" and _is_object(progress.message):
        inner = _LINE.decode(progress.message)
        if inner.type in ("user", "assistant"):
            agent_id = text(progress.agent_id)
            return _spoken(outer, inner, name, number, kind=str(inner.type), agent_id=agent_id, sidechain=True)
    return Entry(name=name, line=number, type="progress", session=text(outer.session_id), cwd=text(outer.cwd))


def _queued(line: _Line, name: str, number: int) -> Entry:
    """Returns a prompt that was typed while the agent was working, as the user entry that it is."""
    attachment = _ATTACHMENT.decode(line.attachment) if _is_object(line.attachment) else _Attachment()
    if attachment.type != "queued_command" or attachment.command_mode not in (None, "prompt"):
        return _spoken(line, line, name, number, kind="attachment", agent_id=None)
    said = _parts(attachment.prompt)
    return replace(_spoken(line, line, name, number, kind="user", agent_id=text(line.agent_id)), parts=said)


def _spoken(
    outer: _Line, inner: _Line, name: str, number: int, *, kind: str, agent_id: str | None, sidechain: bool = False
) -> Entry:
    message = _MESSAGE.decode(inner.message) if _is_object(inner.message) else _Message()
    return Entry(
        name=name,
        line=number,
        type=kind,
        uuid=text(inner.uuid),
        session=text(outer.session_id),
        time=microseconds(inner.timestamp) or microseconds(outer.timestamp),
        cwd=text(outer.cwd),
        version=text(outer.version),
        agent_id=agent_id,
        sidechain=sidechain or outer.is_sidechain is True,
        meta=inner.is_meta is True,
        compact=inner.is_compact_summary is True,
        message_id=text(message.id),
        model=text(message.model),
        tokens=_tokens(message.usage),
        parts=_parts(message.content),
        outcome=_OUTCOME.decode(inner.tool_use_result) if _is_object(inner.tool_use_result) else None,
    )


def _is_object(raw: Raw) -> bool:
    return bytes(memoryview(raw)[:1]) == b"{"


def _parts(content: object) -> tuple[Part, ...]:
    if isinstance(content, str):
        return (Said(content),)
    found = [_part(block) for block in content] if isinstance(content, list) else []
    return tuple(part for part in found if part is not None)


def _part(block: object) -> Part | None:
    match block:
        case str():
            return Said(block)
        case {"type": "text", "text": str(said)}:
            return Said(said)
        case {"type": "thinking", "thinking": str(thought)}:
            return Thought(thought)
        case {"type": "tool_use", "id": str(call_id), "name": str(tool), **rest}:
            given = rest.get("input")
            return Use(call_id, tool, given if isinstance(given, dict) else {})
        case {"type": "tool_result", "tool_use_id": str(call_id), **rest}:
            return Answer(call_id, rest.get("is_error") is not True, _joined(rest.get("content")))
    return None


def _joined(content: object) -> str:
    return "\n".join(part.text for part in _parts(content) if isinstance(part, Said))


def _tokens(usage: object) -> tuple[int, int] | None:
    """Returns the tokens in and out of one message. What was read from a cache or put into one was sent too."""
    if not isinstance(usage, dict):
        return None
    sent = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    tokens = sum(whole(usage.get(name)) or 0 for name in sent)
    return min(tokens, LARGEST - 1), whole(usage.get("output_tokens")) or 0


def text(value: object) -> str | None:
    """Returns a text that says something, or `None`."""
    return value if isinstance(value, str) and value else None


def whole(value: object) -> int | None:
    """Returns a number that an event can hold as a count, or `None`."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < LARGEST else None


def microseconds(stamp: object) -> int | None:
    """Returns a time stamp in µs since the epoch, or `None` if it is none. Without a zone it counts as UTC."""
    try:
        moment = datetime.fromisoformat(stamp) if isinstance(stamp, str) else None
    except ValueError:
        return None
    if moment is None:
        return None
    since = ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH) // timedelta(microseconds=1)
    return since if abs(since) < LARGEST else None
