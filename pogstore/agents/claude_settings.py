"""The settings of Claude Code: where they are, which events we ask for, and what may switch them off.

Three files can hold hooks: of a project (`.claude/settings.json`, shared by git), of one person in a project
(`.claude/settings.local.json`) and of a person (`settings.json` in the configuration folder).
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from pogstore.agents.wiring import TIMEOUT, JsonHooks, Wiring

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


def _switched_off(settings: Mapping[str, object]) -> str | None:
    return "disableAllHooks" if settings.get("disableAllHooks") is True else None


def _switched_off_by_all(settings: Mapping[str, object]) -> str | None:
    only = "allowManagedHooksOnly" if settings.get("allowManagedHooksOnly") is True else None
    return _switched_off(settings) or only


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
    off=_switched_off,
)
MANAGED_WIRING = WIRING._replace(off=_switched_off_by_all)
"""The same for settings of an administrator, in which one more key counts."""


def managed_files() -> list[Path]:
    """Returns the settings files of the machine's administrator, as far as they are files."""
    parts = MANAGED.with_name("managed-settings.d")
    return [path for path in (MANAGED, *sorted(parts.glob("*.json"))) if os.path.isfile(path)]  # noqa: PTH113 - of a path that is closed to us it says no
