"""Cursor: what its hooks say, and where it is told to call us. Pure.

It also runs the hooks that are there for Claude Code, with the same ids: then a thing is told twice, and is one. Its
ids may hold a newline; without a person at it (`-p`) it tells of no prompt and no end of a turn (case PC-132). Older
versions know no hooks around a tool and tell only of the edit itself, as all do where the editor completes a line.
"""

from collections.abc import Mapping

from msgspec import UNSET

from pogstore.agents import heard, hearing
from pogstore.agents.dialect import CURSOR_EDITS, CURSOR_SHELLS
from pogstore.agents.heard import Heard, decoded
from pogstore.agents.hearing import Words, in_json
from pogstore.agents.wiring import TIMEOUT, JsonHooks, Wiring
from pogstore.interop.claude_edits import Edit, replacements_of
from pogstore.interop.claude_lines import text
from pogstore.work.spooled_record import Record

AGENT = "cursor"
SIGN = "cursor_version"
"""The member by which a payload is Cursor's, whichever hook it was given to."""
EVENTS = (
    "sessionStart",
    "beforeSubmitPrompt",
    "preToolUse",
    "postToolUse",
    "postToolUseFailure",
    "afterFileEdit",
    "afterTabFileEdit",
    "subagentStart",
    "subagentStop",
    "preCompact",
    "stop",
    "sessionEnd",
)
"""What we ask for."""
EDITED = {"afterFileEdit": "Edit", "afterTabFileEdit": "Tab"}
"""The events that tell of an edit alone, and what we call the tool."""
CLASSES = {
    **dict.fromkeys(CURSOR_EDITS, "edit"),
    **dict.fromkeys(CURSOR_SHELLS, "shell"),
    **dict.fromkeys(("Read", "Grep", "Glob", "LS", "SemanticSearch", "WebSearch", "WebFetch"), "read"),
}
WORDS = Words(
    AGENT,
    phases={
        "preToolUse": heard.BEGIN,
        "postToolUse": heard.END,
        "postToolUseFailure": heard.FAILED,
        "beforeSubmitPrompt": heard.PROMPT,
        "sessionStart": heard.SESSION_START,
        "stop": heard.TURN_END,
        "sessionEnd": heard.SESSION_END,
        **heard.PHASES,
    },
    classes=CLASSES,
    session=("conversation_id", "session_id"),
    agent_id=("subagent_id", "agent_id"),
    answer=("tool_output", "tool_response", "result_json"),
    parent=("parent_conversation_id",),
    mcp="MCP:",
)


def hear(record: Record) -> Heard:
    """Returns what a record says; never fails, whatever the agent sent."""
    said = decoded(record.payload)
    answers = {each: in_json(said[each]) for each in WORDS.answer if each in said}
    found = hearing.hear(record, WORDS, {**said, **answers})
    if record.event in EDITED:
        return _edited(found, said, EDITED[record.event])
    return found._replace(is_part=found.parent_session is not None)


def _edited(found: Heard, said: Mapping[str, object], tool: str) -> Heard:
    """Returns an edit that is told of without a call."""
    path = text(said.get("file_path")) or ""
    edits = said.get("edits")
    return found._replace(
        phase=heard.END if path else heard.NOTE,
        tool=tool,
        tool_class="edit",
        given={"file_path": path},
        edit=Edit(path, UNSET, None, replacements_of(edits)) if path else None,
        is_shadow=True,
    )


def _hook(_: str, line: str) -> dict[str, object]:
    return {"command": line, "timeout": TIMEOUT}


WIRING = Wiring(
    AGENT,
    {"project": ".cursor/hooks.json", "local": ".cursor/hooks.json", "user": "hooks.json"},
    home=".cursor",
    variable=None,
    events=EVENTS,
    shape=JsonHooks(AGENT, _hook, grouped=False, head=("version", "1")),
)
