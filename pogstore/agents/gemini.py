"""Gemini CLI: what its hooks say, where it is told to call us, and what its transcripts say of models. Pure.

It gives a call no id, so that calls are paired by what they do and by their order, and does not say which model it is.
A hook must print nothing but JSON, and its time is counted in milliseconds.
"""

from collections.abc import Iterator, Mapping

from pogstore.agents import heard, hearing
from pogstore.agents.dialect import GEMINI_EDITS, GEMINI_SHELLS
from pogstore.agents.heard import Heard, decoded
from pogstore.agents.hearing import Words
from pogstore.agents.wiring import TIMEOUT, JsonHooks, Wiring
from pogstore.interop.claude_lines import microseconds, text
from pogstore.work.spooled_record import Record

AGENT = "gemini"
NAME = "pogstore"
"""What our hook is called in the list that `/hooks` shows."""
EVENTS = ("SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent", "PreCompress", "SessionEnd")
"""What we ask for. The events of the model are not among them: they are told with every piece of an answer."""
CLASSES = {
    **dict.fromkeys(GEMINI_EDITS, "edit"),
    **dict.fromkeys(GEMINI_SHELLS, "shell"),
    **dict.fromkeys(("read_file", "read_many_files", "list_directory", "glob", "grep_search"), "read"),
    **dict.fromkeys(("search_file_content", "google_web_search", "web_fetch"), "read"),
}
WORDS = Words(
    AGENT,
    phases={
        "BeforeTool": heard.BEGIN,
        "AfterTool": heard.END,
        "BeforeAgent": heard.PROMPT,
        "SessionStart": heard.SESSION_START,
        "AfterAgent": heard.TURN_END,
        "SessionEnd": heard.SESSION_END,
    },
    classes=CLASSES,
    mcp="mcp_",
)


def hear(record: Record) -> Heard:
    """Returns what a record says; never fails, whatever the agent sent."""
    return hearing.hear(record, WORDS)


def models(data: bytes) -> list[tuple[int, str]]:
    """Returns when which model spoke, in µs, from a transcript: one JSON object, or a line for each message."""
    found = []
    for message in _messages(data):
        time, model = microseconds(message.get("timestamp")), text(message.get("model"))
        if message.get("type") == "gemini" and time is not None and model:
            found.append((time, model))
    return sorted(found)


def _messages(data: bytes) -> Iterator[Mapping[str, object]]:
    whole = decoded(data)
    told = whole.get("messages")
    if isinstance(told, list):
        yield from (each for each in told if isinstance(each, dict))
        return
    for line in data.split(b"\n"):
        yield decoded(line)


def _hook(_: str, line: str) -> dict[str, object]:
    return {"name": NAME, "type": "command", "command": line, "timeout": TIMEOUT * 1000}


def _switched_off(settings: Mapping[str, object]) -> str | None:
    """Returns the switch that is off; early versions have them in other places."""
    for name, switch in (("hooksConfig", "enabled"), ("hooks", "enabled"), ("tools", "enableHooks")):
        members = settings.get(name)
        if isinstance(members, dict) and members.get(switch) is False:
            return f"{name}.{switch}"
        disabled = members.get("disabled") if isinstance(members, dict) else None
        if isinstance(disabled, list) and NAME in disabled:
            return f"{name}.disabled"
    return None


WIRING = Wiring(
    AGENT,
    {"project": ".gemini/settings.json", "local": ".gemini/settings.json", "user": "settings.json"},
    home=".gemini",
    variable=None,
    events=EVENTS,
    shape=JsonHooks(AGENT, _hook),  # its matchers are regular expressions, and none is for all
    off=_switched_off,
)
