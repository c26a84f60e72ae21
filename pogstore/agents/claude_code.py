"""What the hooks of Claude Code say. Pure."""

from collections.abc import Mapping

import msgspec

from pogstore.agents import cursor, heard
from pogstore.agents.drafts import as_json
from pogstore.agents.heard import Heard, decoded, name
from pogstore.agents.peek import peek
from pogstore.interop.claude_edits import TOOLS, Edit, edit_of
from pogstore.interop.claude_lines import Outcome, text, whole
from pogstore.interop.claude_session import AGENT, CLASSES
from pogstore.work.spooled_record import Record

_STEPS = (heard.BEGIN, heard.END, heard.FAILED)
_STRINGS = frozenset(("session_id", "agent_id", "tool_use_id", "tool_name"))


def hear(record: Record) -> Heard:
    """Returns what a record says; never fails, whatever the agent sent.

    Cursor runs these hooks too, and is not Claude Code.
    """
    said = decoded(record.payload)
    if cursor.SIGN in said:
        return cursor.hear(record)
    found: Mapping[str, object] = said if said else peek(record.payload, _STRINGS, {})
    phase = heard.PHASES.get(record.event, heard.NOTE)
    tool = (name(found.get("tool_name")) or "") if said else ""
    prompt = text(said.get("prompt"))
    if (phase in _STEPS and not tool) or (phase == heard.PROMPT and prompt is None):
        phase = heard.NOTE
    basic = Heard(
        record,
        phase,
        AGENT,
        session=name(found.get("session_id")) or "unknown",
        agent_id=name(found.get("agent_id")),
        call_id=name(found.get("tool_use_id")),
        transcript=text(said.get("agent_transcript_path")) or text(said.get("transcript_path")),
    )
    if phase in _STEPS:
        return _of_tool(basic, said, tool)
    if phase == heard.SESSION_START:
        return basic._replace(model=name(said.get("model")), started=name(said.get("source")))
    return basic._replace(text=(prompt or "") if phase == heard.PROMPT else "")


def _of_tool(basic: Heard, said: Mapping[str, object], tool: str) -> Heard:
    given = said.get("tool_input")
    given = given if isinstance(given, dict) else {}
    return basic._replace(
        tool=tool,
        tool_class=CLASSES.get(tool, "mcp" if tool.startswith("mcp__") else "other"),
        given=given,
        answer=_answer(basic.phase, said),
        edit=_edit(tool, given, said) if basic.phase == heard.END else None,
        duration_ms=whole(said.get("duration_ms")),
        command=text(given.get("command")) or "",
        in_background=given.get("run_in_background") is True,
    )


def _answer(phase: str, said: Mapping[str, object]) -> str:
    """Returns what a tool answered, as text."""
    if phase == heard.FAILED:
        return text(said.get("error")) or ""
    response = said.get("tool_response")
    if isinstance(response, str):
        return response
    if isinstance(response, dict) and isinstance(response.get("stdout"), str):
        printed = [response.get("stdout"), response.get("stderr")]
        return "\n".join(each for each in printed if isinstance(each, str) and each)
    return as_json(response) if response is not None else ""


def _edit(tool: str, given: Mapping[str, object], said: Mapping[str, object]) -> Edit | None:
    """Returns the edit that a successful call tells of; `None` where it is none."""
    if tool not in TOOLS:
        return None
    response = said.get("tool_response")
    outcome = None
    if isinstance(response, dict):
        try:
            outcome = msgspec.convert(response, Outcome)
        except msgspec.ValidationError:
            outcome = None
    return edit_of(tool, given, outcome, response if isinstance(response, str) else "")
