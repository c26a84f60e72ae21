"""What an agent says that follows our own contract, `docs/reference/hook-contract.md`. Pure.

Nothing is guessed but what the contract says: a tool's class is what `class` says. What a newer version says, and what
is no event of the contract, is kept as a note with all its words.
"""

from collections.abc import Mapping
from typing import NamedTuple

from pogstore.agents import heard
from pogstore.agents.drafts import as_json
from pogstore.agents.heard import Heard, decoded, name
from pogstore.agents.peek import peek
from pogstore.interop.claude_code import bounded
from pogstore.interop.claude_lines import text, whole
from pogstore.model import Usage
from pogstore.work.spooled_record import Record

AGENT = "generic"
"""The name of an agent that does not tell its own."""
VERSION = 1
EVENTS = {
    "session_start": heard.SESSION_START,
    "prompt": heard.PROMPT,
    "tool_start": heard.BEGIN,
    "tool_end": heard.END,
    "tool_failed": heard.FAILED,
    "note": heard.NOTE,
    "decision": heard.DECISION,
    "turn_end": heard.TURN_END,
    "session_end": heard.SESSION_END,
}
"""The events of the contract, and what they are to us."""
CLASSES = ("edit", "shell", "read", "mcp", "other")
MOST_PATHS = 1000
"""So many paths of one object are looked at."""
MEMBERS = frozenset(
    (
        *("version", "agent", "session", "event", "cwd", "agent_id", "model", "call_id", "tool", "class", "paths"),
        *("path", "text", "topic", "input", "output", "error", "duration_ms", "usage"),
        *("parent_session", "source", "reason"),
    )
)
"""The members of the contract. Others are kept with the event as they came."""
_STEPS = (heard.BEGIN, heard.END, heard.FAILED)
_SAID = (heard.PROMPT, heard.NOTE, heard.DECISION)
_STRINGS = frozenset(("agent", "session", "agent_id", "call_id", "event"))


class Said(NamedTuple):
    """An object of the contract: its members, what it is to us, its event, and whether we know what all of it means."""

    members: Mapping[str, object]
    phase: str
    event: str
    is_known: bool


def understood(payload: bytes) -> Said:
    """Returns what a payload says; of what is no whole object the few strings that tell whose it is, as a note."""
    members: Mapping[str, object] = decoded(payload)
    version = members.get("version", VERSION)
    is_known = bool(members) and version in (VERSION, str(VERSION)) and not isinstance(version, bool)
    members = members or peek(payload, _STRINGS, {})
    event = name(members.get("event")) or "unknown"
    phase = EVENTS.get(event, heard.NOTE) if is_known else heard.NOTE
    if phase in _SAID and not _words(members):
        phase, is_known = heard.NOTE, False
    return Said(members, phase, event, is_known and event in EVENTS)


def _words(members: Mapping[str, object]) -> str:
    words = text(members.get("text")) or ""
    return words if words.strip() else ""


def hear(record: Record) -> Heard:
    """Returns what a record says; never fails, whatever the agent sent."""
    members, phase, event, is_known = understood(record.payload)
    agent = name(members.get("agent")) or AGENT
    basic = Heard(
        record,
        phase,
        agent,
        session=name(members.get("session")) or "unknown",
        agent_id=name(members.get("agent_id")),
        call_id=name(members.get("call_id")),
        topic=f"{agent}:{event}",
        model=name(members.get("model")),
        parent_session=name(members.get("parent_session")),
        started=name(members.get("source")),
    )
    if phase not in (*_SAID, *_STEPS) or not is_known:
        return basic  # its text is all that was said
    basic = basic._replace(unnamed=_unnamed(record, members))
    if phase in _STEPS:
        return _of_tool(basic, members)
    topic = name(members.get("topic")) if phase == heard.NOTE else None
    return basic._replace(text=_words(members), topic=topic or basic.topic)


def _unnamed(record: Record, members: Mapping[str, object]) -> str:
    """Returns all that was said where the contract has no place for a part of it."""
    return "" if members.keys() <= MEMBERS else record.payload.decode("utf-8", "replace")


def _of_tool(basic: Heard, members: Mapping[str, object]) -> Heard:
    told = members.get("class")
    class_ = told if isinstance(told, str) and told in CLASSES else "other"
    given = members.get("input")
    return basic._replace(
        tool=name(members.get("tool")) or class_,
        tool_class=class_,
        given=given,
        answer=_answer(members),
        duration_ms=whole(members.get("duration_ms")),
        usage=_usage(members.get("usage")),
        command=_command(given),
    )


def _answer(members: Mapping[str, object]) -> str:
    """Returns what a tool answered, and what went wrong, as text."""
    output = members.get("output")
    shown = output if isinstance(output, str) else "" if output is None else as_json(output)
    return "\n".join(bounded(each) for each in (shown, text(members.get("error")) or "") if each)


def _usage(told: object) -> Usage | None:
    if not isinstance(told, dict):
        return None
    counts = [whole(told.get(each)) for each in ("tokens_in", "tokens_out", "cost_micro_usd")]
    if counts == [None, None, None]:
        return None
    return Usage(tokens_in=counts[0], tokens_out=counts[1], cost_micro_usd=counts[2])


def _command(given: object) -> str:
    """Returns what a shell was told to do."""
    return text(given.get("command") if isinstance(given, dict) else given) or ""


def paths_of(members: Mapping[str, object]) -> list[str]:
    """Returns the paths that an object names, as it spells them; `path` is `paths` of one."""
    several = members.get("paths")
    named = several if isinstance(several, list) else [members.get("path"), several]
    found = [each for each in named if isinstance(each, str) and each]
    return list(dict.fromkeys(found))[:MOST_PATHS]
