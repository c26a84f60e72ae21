"""Copilot CLI: what its hooks say, and where it is told to call us. Pure.

It does not say which event it is, so the line that calls us does; it gives calls no ids; it tells of the prompt before
it tells that the session begins. VS Code reads the same files and says the same with names of its own.
"""

from pogstore.agents import heard, hearing
from pogstore.agents.dialect import COPILOT_EDITS, COPILOT_SHELLS
from pogstore.agents.heard import Heard
from pogstore.agents.hearing import Words
from pogstore.agents.wiring import TIMEOUT, JsonHooks, Wiring
from pogstore.work.spooled_record import Record

AGENT = "copilot"
EVENTS = (
    "sessionStart",
    "userPromptSubmitted",
    "preToolUse",
    "postToolUse",
    "postToolUseFailure",
    "subagentStop",
    "errorOccurred",
    "agentStop",
    "sessionEnd",
)
"""What we ask for; versions that know one of them not pass it over."""
FILE = "hooks/pogstore.json"
"""A file of our own beside those of others: all in the folder are read."""
CLASSES = {
    **dict.fromkeys(COPILOT_EDITS, "edit"),
    **dict.fromkeys(COPILOT_SHELLS, "shell"),
    **dict.fromkeys(("view", "grep", "glob", "rg", "read_file", "list_dir", "file_search", "grep_search"), "read"),
    **dict.fromkeys(("web_fetch", "web_search", "read_bash"), "read"),
}
WORDS = Words(
    AGENT,
    phases={
        "preToolUse": heard.BEGIN,
        "postToolUse": heard.END,
        "postToolUseFailure": heard.FAILED,
        "userPromptSubmitted": heard.PROMPT,
        "sessionStart": heard.SESSION_START,
        "agentStop": heard.TURN_END,
        "sessionEnd": heard.SESSION_END,
    },
    classes=CLASSES,
    session=("sessionId", "session_id"),
    call_id=("toolCallId", "tool_use_id"),
    tool=("toolName", "tool_name"),
    given=("toolArgs", "tool_input"),
    answer=("toolResult", "tool_result", "tool_response"),
    transcript=("transcriptPath", "transcript_path"),
)


def hear(record: Record) -> Heard:
    """Returns what a record says; never fails, whatever the agent sent."""
    return hearing.hear(record, WORDS)


def _hook(event: str, line: str) -> dict[str, object]:
    """Returns a hook for both shells; each version of PowerShell has no other way to be quiet and to succeed."""
    windows = f"git -c help.autocorrect=0 pog hook {AGENT} {event} 2>$null; exit 0"
    return {"type": "command", "bash": line, "powershell": windows, "timeoutSec": TIMEOUT}


WIRING = Wiring(
    AGENT,
    {"project": f".github/{FILE}", "local": f".github/{FILE}", "user": FILE},
    home=".copilot",
    variable="COPILOT_HOME",
    events=EVENTS,
    shape=JsonHooks(AGENT, _hook, key="bash", grouped=False, head=("version", "1")),
    names_event=True,
)
