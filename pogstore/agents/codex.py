"""Codex CLI: what its hooks say, and where it is told to call us. Pure.

It tells of no failed tool, and older versions of no session's end; `codex exec` calls no hooks (case PC-133), and
`git pog import codex` takes its rollouts. A hook runs only after a person has agreed to its exact definition, so ours
has to stay what it is (case UC-44).
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from pogstore.agents import heard, hearing
from pogstore.agents.dialect import CODEX_EDITS, CODEX_SHELLS
from pogstore.agents.heard import Heard, decoded, name
from pogstore.agents.hearing import Words
from pogstore.agents.wiring import TIMEOUT, JsonHooks, Wiring
from pogstore.work.spooled_record import Record

AGENT = "codex"
EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "Interrupt",
    "Stop",
    "SessionEnd",
)
"""What we ask for. A version passes over the events that it does not know, but not over a member beside `hooks`."""
_MATCHED = frozenset({"PreToolUse", "PostToolUse"})
CLASSES = {
    **dict.fromkeys(CODEX_EDITS, "edit"),
    **dict.fromkeys(CODEX_SHELLS, "shell"),
    **dict.fromkeys(("read_file", "list_dir", "grep_files", "view_image", "web_search"), "read"),
}
WORDS = Words(
    AGENT,
    phases={**heard.PHASES, "StopFailure": heard.TURN_END, "Interrupt": heard.TURN_END},
    classes=CLASSES,
    session=("session_id", "thread_id", "thread-id"),
)


def hear(record: Record) -> Heard:
    """Returns what a record says; never fails, whatever the agent sent."""
    return hearing.hear(record, WORDS)


class Origin(NamedTuple):
    """The session that another goes on from, and whether that one is a part of it: the work of a sub-agent."""

    session: str
    is_part: bool


def origin(lines: Iterable[bytes]) -> Origin | None:
    """Returns where the session of a rollout comes from, from its first lines; `None` for one of its own."""
    for line in lines:
        said = decoded(line)
        meta = said.get("payload")
        if said.get("type") == "session_meta" and isinstance(meta, dict):
            return _origin(meta)
    return None


def _origin(meta: Mapping[str, object]) -> Origin | None:
    match meta.get("source"):
        case {"subagent": {"thread_spawn": {"parent_thread_id": str(parent)}}} if parent:
            return Origin(name(parent) or parent, is_part=True)
    forked = name(meta.get("forked_from_id"))
    return Origin(forked, is_part=False) if forked else None


def _hook(_: str, line: str) -> dict[str, object]:
    return {"type": "command", "command": line, "timeout": TIMEOUT}


WIRING = Wiring(
    AGENT,
    {"project": ".codex/hooks.json", "local": ".codex/hooks.json", "user": "hooks.json"},
    home=".codex",
    variable="CODEX_HOME",
    events=EVENTS,
    shape=JsonHooks(AGENT, _hook, matched=_MATCHED),
    hint="codex runs a hook once you have agreed to it: start codex, and see '/hooks'",
)
