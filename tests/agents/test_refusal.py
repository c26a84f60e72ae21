"""What each agent is told when a tool must not run: its own words, whatever the reason says."""

import json
import subprocess
import sys
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pogstore.agents import refusal
from pogstore.agents.dialect import DIALECTS
from pogstore.agents.refusal import REFUSALS

REASON = 'path "a\\b" is outside the scope\n\x1b[31mé 😀'
CODEX: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "continue": {"type": "boolean"},
        "stopReason": {"type": "string"},
        "suppressOutput": {"type": "boolean"},
        "systemMessage": {"type": "string"},
        "hookSpecificOutput": {
            "type": "object",
            "additionalProperties": False,
            "required": ["hookEventName"],
            "properties": {
                "hookEventName": {"const": "PreToolUse"},
                "permissionDecision": {"enum": ["allow", "deny", "ask"]},
                "permissionDecisionReason": {"type": "string"},
                "additionalContext": {"type": "string"},
                "updatedInput": {},
            },
        },
    },
}
"""What Codex accepts from a hook before a tool: it takes no field that it does not know."""


def answered(agent: str, reason: str = REASON) -> dict[str, Any]:
    printed, complained, status = REFUSALS[agent](reason)
    assert (complained, status) == (b"", 0), "the line in the settings hides the one and replaces the other"
    assert printed.count(b"\n") == 1
    assert printed.endswith(b"\n")
    found = json.loads(printed)
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_a_permission_is_denied_with_the_reason(agent: str) -> None:
    assert answered(agent) == {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": REASON,
        }
    }


def test_codex_is_told_nothing_that_its_schema_does_not_know() -> None:
    jsonschema.validate(answered("codex"), CODEX)


def test_each_other_agent_has_words_of_its_own() -> None:
    assert answered("gemini") == {"decision": "deny", "reason": REASON}
    assert answered("copilot") == {"permissionDecision": "deny", "permissionDecisionReason": REASON}
    assert answered("opencode") == {"refused": REASON}
    told = answered("cursor")
    assert told.pop("permission") == "deny"
    assert set(told) == {"user_message", "agent_message", "userMessage", "agentMessage"}
    assert set(told.values()) == {REASON}


def test_who_can_be_refused_is_heard() -> None:
    assert set(DIALECTS) - {"generic"} <= set(REFUSALS)


@given(st.text(st.characters()))
def test_whatever_the_reason_is_the_answer_is_json_in_ascii(reason: str) -> None:
    """Case T1: nothing of it reaches a terminal as it is."""
    whole = reason.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    spelled = refusal.quoted(reason)
    assert spelled.isascii()
    assert spelled.isprintable()
    assert json.loads(spelled) in (whole, "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in reason))


def test_it_loads_nothing() -> None:
    code = "import sys; before = set(sys.modules); import pogstore.agents.refusal; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == {"pogstore", "pogstore.agents", "pogstore.agents.refusal"}
