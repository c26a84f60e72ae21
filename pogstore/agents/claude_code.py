"""What the hooks of Claude Code say, as drafts. Pure: what the files held is given by the caller.

A step that a hook told and the same step in a transcript that is imported later are echoes of each other: they have the
same session and call id. So texts, classes and coverage follow `interop/claude_code.py` wherever both can know a thing.
"""

import json
from collections.abc import Mapping
from typing import NamedTuple

import msgspec
from msgspec import UNSET

from pogstore import codec
from pogstore.agents.peek import peek
from pogstore.draft import Draft, DraftChange, DraftText, session_task_id
from pogstore.interop.claude_code import LONGEST_TITLE, UNTITLED, bounded
from pogstore.interop.claude_edits import BODIES, TOOLS, Edit, edit_of, rewritten
from pogstore.interop.claude_lines import Outcome, text, whole
from pogstore.interop.claude_session import AGENT, CLASSES
from pogstore.interop.claude_speech import line_of
from pogstore.model import Actor, Definition, Person, Source, TaskId
from pogstore.work.spooled_record import Record

LIVE = "spool"
"""The format of the sources of events that hooks told."""
BEGINS = "PreToolUse"
ENDS = ("PostToolUse", "PostToolUseFailure")
LONGEST_NAME = 200
"""Characters of an id or a name that an agent may choose."""

_STRINGS = frozenset(("session_id", "agent_id", "tool_use_id", "tool_name"))


class Heard(NamedTuple):
    """One call of a hook: the record, and what can be read of its payload.

    `said` is empty if that is no whole JSON; `tool` is empty too then, and where none is named.
    """

    record: Record
    said: Mapping[str, object]
    session: str
    agent_id: str | None
    call_id: str | None
    tool: str

    @property
    def event(self) -> str:
        """The name of the event."""
        return self.record.event

    @property
    def begins(self) -> bool:
        """Whether a tool is about to be called."""
        return self.event == BEGINS and bool(self.tool)

    @property
    def ends(self) -> bool:
        """Whether a tool was called, in vain or not."""
        return self.event in ENDS and bool(self.tool)

    @property
    def prompt(self) -> str | None:
        """What a person told the agent to do."""
        return text(self.said.get("prompt")) if self.event == "UserPromptSubmit" else None

    @property
    def model(self) -> str | None:
        """The model, where a session begins."""
        return _name(self.said.get("model")) if self.event == "SessionStart" else None

    @property
    def call(self) -> tuple[str, str]:
        """What tells a call from all others: its id, or what it does where an older agent sends none."""
        if self.call_id is not None:
            return self.session, self.call_id
        return self.session, json.dumps(["", self.agent_id, self.tool, self.given], sort_keys=True)

    @property
    def task(self) -> TaskId:
        """The session's own task."""
        return session_task_id(AGENT, self.session)

    @property
    def tool_class(self) -> str:
        """The class of the tool."""
        return CLASSES.get(self.tool, "mcp" if self.tool.startswith("mcp__") else "other")

    @property
    def given(self) -> dict[str, object]:
        """The tool's input."""
        given = self.said.get("tool_input")
        return given if isinstance(given, dict) else {}


class Step(NamedTuple):
    """One tool call: its two calls of a hook, of which one may be missing, and what is known of its changes."""

    begin: Heard | None
    end: Heard | None
    changes: tuple[DraftChange, ...] = ()
    odd_changes: tuple[object, ...] = ()
    """Changes as plain values, of which a side is not stored; then these are all there are."""
    coverage: str | None = None
    reason: str | None = None
    inferred: bool = False
    known: bool = False
    """Whether what was written is told by the changes, so that the input need not repeat it."""

    @property
    def heard(self) -> Heard:
        """The call of a hook that the step stands at: there it took effect."""
        heard = self.end or self.begin
        if heard is None:
            raise ValueError("a step without a record")
        return heard


def hear(record: Record) -> Heard:
    """Returns what a record says; never fails, whatever the agent sent."""
    said = _decoded(record.payload)
    found: Mapping[str, object] = said if said else peek(record.payload, _STRINGS, {})
    return Heard(
        record,
        said,
        session=_name(found.get("session_id")) or "unknown",
        agent_id=_name(found.get("agent_id")),
        call_id=_name(found.get("tool_use_id")),
        tool=(_name(found.get("tool_name")) or "") if said else "",
    )


def _decoded(payload: bytes) -> dict[str, object]:
    """Returns a payload, of which some agents leave control characters as they are (case PC-135)."""
    try:
        said = json.loads(payload.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def _name(value: object) -> str | None:
    """Returns a name in one piece; what is longer than a name is cut."""
    return codec.scrub(value)[:LONGEST_NAME] if isinstance(value, str) and value else None


def person(heard: Heard, behind: Person | None) -> Actor:
    """Returns the person at the keyboard."""
    return Actor(type="human", name=behind.name if behind else None, session=heard.session, on_behalf_of=behind)


def agent(heard: Heard, model: str | None, behind: Person | None) -> Actor:
    """Returns the agent, or the sub-agent, that made a hook call."""
    own_model = model if heard.agent_id is None else None
    return Actor(
        type="agent", name=AGENT, model=own_model, session=heard.session, agent_id=heard.agent_id, on_behalf_of=behind
    )


def defined(heard: Heard, actor: Actor) -> Draft:
    """Returns the definition of the session's own task, from its first prompt; the same source as an import's."""
    prompt = heard.prompt
    title = line_of(prompt or "", LONGEST_TITLE) or UNTITLED
    return Draft(
        kind="defined",
        time=heard.record.time,
        offset=heard.record.offset,
        actor=actor,
        definition=Definition(title=title, intent=prompt, aliases=(heard.session,)),
        definition_class="private",
        source=Source(format=AGENT, key=f"session/{heard.session}/defined"),
    )


def moved(heard: Heard, status: str, actor: Actor) -> Draft:
    """Returns the move of the session's own task that a hook call brings about."""
    return _draft("moved", heard, actor, fields={"status": status}, key=f"{heard.record.id}/moved")


def prompted(heard: Heard, prompt: str, actor: Actor) -> Draft:
    """Returns the instruction that a person gave."""
    return _draft("prompted", heard, actor, texts={"text": _private(bounded(prompt))})


def noted(heard: Heard, actor: Actor) -> Draft:
    """Returns any other call of a hook: the name as topic, and all it said as text."""
    said = heard.record.payload.decode("utf-8", "replace")
    topic = f"{AGENT}:{codec.scrub(heard.event)[:LONGEST_NAME] or 'unknown'}"
    return _draft("noted", heard, actor, fields={"topic": topic}, texts={"text": _private(bounded(said))})


def observed(heard: Heard, key: str, changes: tuple[DraftChange, ...], fields: Mapping[str, object]) -> Draft:
    """Returns what changed outside of every step before this call; the same source as an import's."""
    return Draft(
        kind="observed",
        time=heard.record.time,
        offset=heard.record.offset,
        actor=Actor(type="unknown"),
        fields=dict(fields),
        changes=changes,
        source=Source(format=AGENT, key=key),
    )


def stepped(step: Step, actor: Actor) -> Draft:
    """Returns the step that one tool call is, from its end, or from its beginning where no end came."""
    heard = step.heard
    fields: dict[str, object] = {"tool": heard.tool, "class": heard.tool_class}
    if heard.call_id is not None:
        fields["call_id"] = heard.call_id
    if step.end is not None:
        fields["ok"] = ok = step.end.event == "PostToolUse"
        duration = whole(step.end.said.get("duration_ms"))
        fields |= {"duration_ms": duration} if duration is not None else {}
    else:
        ok = False
    if step.coverage:
        fields["coverage"] = step.coverage
    if step.reason:
        fields["coverage_reason"] = step.reason
    if step.odd_changes:
        fields["changes"] = list(step.odd_changes)
    draft = _draft("stepped", heard, actor, fields=fields, texts=_texts(step, ok))
    record = (step.begin or heard).record if heard.call_id else heard.record
    return msgspec.structs.replace(
        draft,
        changes=() if step.odd_changes else step.changes,
        source=Source(format=LIVE, key=record.id),
        inferred=step.inferred or None,
    )


def _texts(step: Step, ok: bool) -> dict[str, DraftText]:
    heard = step.heard
    if step.reason == "ignored":  # they would quote a file whose contents are not kept
        return {}
    given = {name: value for name, value in heard.given.items() if not (step.known and name in BODIES)}
    texts = {"input": _private(_json(given))} if given else {}
    answer = answer_of(step.end) if step.end else ""
    if answer and not step.known and not (ok and heard.tool_class == "read"):
        texts["output"] = _private(bounded(answer))
    return texts


def answer_of(end: Heard) -> str:
    """Returns what a tool answered, as text."""
    if end.event == "PostToolUseFailure":
        return text(end.said.get("error")) or ""
    response = end.said.get("tool_response")
    if isinstance(response, str):
        return response
    if isinstance(response, dict) and isinstance(response.get("stdout"), str):
        printed = [response.get("stdout"), response.get("stderr")]
        return "\n".join(each for each in printed if isinstance(each, str) and each)
    return _json(response) if response is not None else ""


def edit_told(end: Heard) -> Edit | None:
    """Returns the edit that a successful call tells of; `None` where it is none."""
    if end.event != "PostToolUse" or end.tool not in TOOLS:
        return None
    response = end.said.get("tool_response")
    outcome = None
    if isinstance(response, dict):
        try:
            outcome = msgspec.convert(response, Outcome)
        except msgspec.ValidationError:
            outcome = None
    return edit_of(end.tool, end.given, outcome, response if isinstance(response, str) else "")


def outcome_of(edit: Edit) -> str | None:
    """Returns what an edit, by its own account, left of the file."""
    if edit.content is not None:
        return edit.content
    return rewritten(edit.original, edit.replacements) if isinstance(edit.original, str) else None


def is_told(edit: Edit | None) -> bool:
    """Says whether an edit tells what the file held before it."""
    return edit is not None and edit.original is not UNSET


def _draft(
    kind: str,
    heard: Heard,
    actor: Actor,
    *,
    fields: dict[str, object] | None = None,
    texts: dict[str, DraftText] | None = None,
    key: str | None = None,
) -> Draft:
    return Draft(
        kind=kind,
        time=heard.record.time,
        offset=heard.record.offset,
        actor=actor,
        fields=fields or {},
        texts=texts or {},
        source=Source(format=LIVE, key=key or heard.record.id),
    )


def _private(value: str) -> DraftText:
    return DraftText(text=value, class_="private")


def _json(value: object) -> str:
    return json.dumps(_bounded(value), ensure_ascii=False, separators=(",", ":"))


def _bounded(value: object) -> object:
    if isinstance(value, str):
        return bounded(value)
    if isinstance(value, dict):
        return {name: _bounded(each) for name, each in value.items()}
    return [_bounded(each) for each in value] if isinstance(value, list) else value
