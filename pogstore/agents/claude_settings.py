"""The settings of Claude Code: where they are, which events we ask for, and what may switch them off.

Three files can hold hooks: of a project (`.claude/settings.json`, shared by git), of one person in a project
(`.claude/settings.local.json`) and of a person (`settings.json` in the configuration folder).
"""

import os
import sys
from pathlib import Path

from pogstore.agents import settings_file
from pogstore.agents.settings import decode, read
from pogstore.agents.wiring import TIMEOUT, JsonHooks, Wiring
from pogstore.errors import PogError

AGENT = "claude-code"
EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "PreCompact",
    "SessionEnd",
)
"""What we ask for. Before 2.1.101 (April 2026) Claude Code ignored a whole settings file, permissions and all, for one
event it did not know: so these are only those that every version since January 2026 has."""
MANAGED = (
    Path("/Library/Application Support/ClaudeCode/managed-settings.json")
    if sys.platform == "darwin"
    else Path("/etc/claude-code/managed-settings.json")
)
"""What an administrator of the machine says to Claude Code; beside it may lie `managed-settings.d`."""
LATER_EVENTS = ("PostCompact", "TaskCreated", "TaskCompleted", "CwdChanged")
"""What newer versions also tell. `WorktreeCreate` and `WorktreeRemove` are in neither list, and must not be: a hook of
theirs replaces what Claude Code would do, so that one without an answer breaks it."""
_TOOL_EVENTS = frozenset({"PreToolUse", "PostToolUse", "PostToolUseFailure"})


def _hook(_: str, line: str) -> dict[str, object]:
    return {"type": "command", "command": line, "timeout": TIMEOUT}


WIRING = Wiring(
    AGENT,
    {
        "project": ".claude/settings.json",
        "local": ".claude/settings.local.json",
        "user": "settings.json",
    },
    home=".claude",
    variable="CLAUDE_CONFIG_DIR",
    events=EVENTS,
    shape=JsonHooks(AGENT, _hook, matched=_TOOL_EVENTS),
)


def switched_off(path: Path, *, managed: bool = False) -> str | None:
    """Returns the key by which a settings file keeps our hooks from running; some have a meaning only if `managed`.

    Nothing if there is none, or if the file cannot be read: that is told elsewhere.
    """
    try:
        settings = read(decode(settings_file.content(path) or b"{}", str(path)), str(path))
    except PogError:
        return None
    keys = ("disableAllHooks", "allowManagedHooksOnly") if managed else ("disableAllHooks",)
    return next((key for key in keys if isinstance(settings, dict) and settings.get(key) is True), None)


def managed_files() -> list[Path]:
    """Returns the settings files of the machine's administrator, as far as they are files."""
    parts = MANAGED.with_name("managed-settings.d")
    return [path for path in (MANAGED, *sorted(parts.glob("*.json"))) if os.path.isfile(path)]  # noqa: PTH113 - of a path that is closed to us it says no
