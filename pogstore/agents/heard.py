"""What one call of a hook says, whichever agent made it. Pure.

Every agent has a reader that makes these of its payloads; everything behind the readers knows no agent.
"""

import json
from collections.abc import Mapping
from typing import NamedTuple

from pogstore import codec, redact
from pogstore.draft import DraftChange, session_task_id
from pogstore.interop.claude_code import DEEPEST, TOO_DEEP
from pogstore.interop.claude_edits import Edit
from pogstore.model import TaskId, Usage
from pogstore.work.spooled_record import Record

LONGEST_NAME = 200
"""Characters of an id or a name that an agent may choose."""
LONGEST_CALL = 15 * 60 * 1_000_000
"""µs: no agent lets a tool that holds it up run as long."""
BEGIN, END, FAILED = "begin", "end", "failed"
PROMPT, DECISION, NOTE = "prompt", "decision", "note"
SESSION_START, TURN_END, SESSION_END = "session-start", "turn-end", "session-end"

PHASES = {
    "PreToolUse": BEGIN,
    "PostToolUse": END,
    "PostToolUseFailure": FAILED,
    "UserPromptSubmit": PROMPT,
    "SessionStart": SESSION_START,
    "Stop": TURN_END,
    "SessionEnd": SESSION_END,
}
"""What the events are that mean more than a note, by the names that Claude Code has for them and others took over."""


class Heard(NamedTuple):
    """One call of a hook: the record, and what could be read of its payload.

    `phase` is one of the words above; a tool that is about to be called or was called has a `tool`. `text` is what was
    said, `answer` what a tool answered, `edit` what a successful edit tells of itself, `given` the input of a tool.
    `started` says why a session began (`startup`, `resume`, `fork`, `clear`, `compact`), and `unnamed` is all that was
    said where a part of it has no other place. `stamp` is when the agent itself says that it spoke, and `nth` tells
    calls apart that have no id and are otherwise equal. `moves` are the files that a call moved, below the root, the
    old path first. `is_part` says that the session is a part of its `parent_session`, as that of a sub-agent is, and
    `settles` that what of it has not ended by now will not end. `edits` are those of a call that edits several files,
    by their paths below the root. `is_shadow` says that a call may tell of the same
    as well.
    """

    record: Record
    phase: str
    agent: str
    session: str
    agent_id: str | None = None
    call_id: str | None = None
    tool: str = ""
    tool_class: str = "other"
    given: object = None
    text: str = ""
    topic: str | None = None
    answer: str = ""
    edit: Edit | None = None
    model: str | None = None
    duration_ms: int | None = None
    usage: Usage | None = None
    command: str = ""
    transcript: str | None = None
    parent_session: str | None = None
    in_background: bool = False
    started: str | None = None
    unnamed: str = ""
    stamp: str = ""
    nth: int = 0
    moves: tuple[tuple[bytes, bytes], ...] = ()
    is_part: bool = False
    settles: bool = False
    is_shadow: bool = False
    edits: Mapping[bytes, Edit] = {}

    @property
    def refused(self) -> tuple[str, list[str]] | None:
        """By which rule a contract denied it, and for which paths; nothing if none did."""
        raw = self.record.extra.get("refused")
        if raw is None:
            return None
        rule, *paths = raw.decode("utf-8", "surrogateescape").split("\0")
        return rule, paths

    @property
    def begins(self) -> bool:
        """Whether a tool is about to be called."""
        return self.phase == BEGIN

    @property
    def ends(self) -> bool:
        """Whether a tool was called, in vain or not."""
        return self.phase in (END, FAILED)

    @property
    def call(self) -> tuple[str, str]:
        """What tells a call from all others: its id, or what it does where an agent sends none."""
        if self.call_id is not None:
            return self.session, self.call_id
        return self.session, json.dumps(["", self.agent_id, self.tool, self.given, self.nth], sort_keys=True)

    @property
    def task(self) -> TaskId:
        """The session's own task."""
        return session_task_id(self.agent, self.session)

    @property
    def parent(self) -> TaskId | None:
        """The task of the session that this one goes on from, if it is another."""
        other = self.parent_session
        return session_task_id(self.agent, other) if other and other != self.session else None


class Step(NamedTuple):
    """One tool call: its two calls of a hook, of which one may be missing, and what is known of its changes."""

    begin: Heard | None
    end: Heard | None
    changes: tuple[DraftChange, ...] = ()
    odd_changes: tuple[object, ...] = ()
    """Further changes, as plain values, of which a side is not stored."""
    coverage: str | None = None
    reason: str | None = None
    inferred: bool = False
    known: bool = False
    """Whether what was written is told by the changes, so that the input need not repeat it."""
    later: tuple[DraftChange, ...] = ()
    """What somebody else made of its outcome before its end was told."""
    base: Mapping[str, object] | None = None
    """The commit and the branch that the work tree was on, as plain values."""

    @property
    def heard(self) -> Heard:
        """The call of a hook that the step stands at: there it took effect."""
        heard = self.end or self.begin
        if heard is None:
            raise ValueError("a step without a record")
        return heard


def is_over(begin: Heard, at: Heard) -> bool:
    """Says whether a call will not end any more, now that a session begins or ends: nobody told of its interruption.

    Of agents that tell of no failure also any call of the turn that has ended. Of its own session any call, but where a
    conversation is made shorter while sub-agents work. Of other sessions in the same work tree one that has run longer
    than agents let a tool run: they may work beside each other.
    """
    if begin.session == at.session and begin.agent == at.agent:
        if at.settles:
            return begin.agent_id == at.agent_id and not begin.in_background
        return at.started != "compact"
    return begin.record.git_dir == at.record.git_dir and at.record.time - begin.record.time > LONGEST_CALL


def decoded(payload: bytes) -> dict[str, object]:
    """Returns a payload, in which some agents leave control characters as they are (case PC-135); empty for no JSON.

    What is nested deeper than anything that means something is left out: nobody behind here is to stumble over it.
    """
    try:
        said = json.loads(payload.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        return {}
    if payload.count(b"[") + payload.count(b"{") > DEEPEST:
        said = _shallow(said, DEEPEST)
    return said if isinstance(said, dict) else {}


def _shallow(value: object, left: int) -> object:
    if not isinstance(value, dict | list):
        return value
    if not left:
        return TOO_DEEP
    if isinstance(value, dict):
        return {name: _shallow(each, left - 1) for name, each in value.items()}
    return [_shallow(each, left - 1) for each in value]


def name(value: object) -> str | None:
    """Returns a name in one piece; what is longer than a name is cut, and no secret in it shows a part."""
    if not isinstance(value, str) or not value:
        return None
    whole = codec.scrub(value)
    return whole if len(whole) <= LONGEST_NAME else redact.excerpt(whole, 0, LONGEST_NAME)
