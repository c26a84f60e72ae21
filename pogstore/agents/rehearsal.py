"""What each agent would say in a short session in which it writes one file: proves that what it says arrives. Pure."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

SESSION = "9f5c2d04-0000-4000-8000-000000000000"
FILE = "hello.txt"
TEXT = "hi\n"
PROMPT = "Write a greeting."


class Line(NamedTuple):
    """One thing that is said, and whether the file has been written by then."""

    event: str
    members: Mapping[str, Any]
    written: bool = False


def claude_code(cwd: str) -> Iterator[Line]:
    """Yields a session of Claude Code."""
    path = f"{cwd}/{FILE}"
    call = {"tool_name": "Write", "tool_use_id": "toolu_test", "tool_input": {"file_path": path, "content": TEXT}}
    told = [
        Line("SessionStart", {"source": "startup"}),
        Line("UserPromptSubmit", {"prompt": PROMPT}),
        Line("PreToolUse", call),
        Line("PostToolUse", {**call, "tool_response": {"filePath": path, "success": True}}, written=True),
        Line("Stop", {}, written=True),
        Line("SessionEnd", {"reason": "other"}, written=True),
    ]
    for line in told:
        said = {"session_id": SESSION, "cwd": cwd, "permission_mode": "default", "hook_event_name": line.event}
        yield line._replace(members={**said, **line.members})


def codex(cwd: str) -> Iterator[Line]:
    """Yields a session of Codex."""
    patch = f"*** Begin Patch\n*** Add File: {FILE}\n+hi\n*** End Patch\n"
    call = {"turn_id": "1", "tool_name": "apply_patch", "tool_use_id": "call_test", "tool_input": {"command": patch}}
    told = [
        Line("SessionStart", {"source": "startup"}),
        Line("UserPromptSubmit", {"turn_id": "1", "prompt": PROMPT}),
        Line("PreToolUse", call),
        Line("PostToolUse", {**call, "tool_response": "Success."}, written=True),
        Line("Stop", {"turn_id": "1", "stop_hook_active": False, "last_assistant_message": None}, written=True),
    ]
    for line in told:
        said = {"session_id": SESSION, "cwd": cwd, "permission_mode": "default", "hook_event_name": line.event}
        yield line._replace(members={**said, "model": "test", "transcript_path": None, **line.members})


def gemini(cwd: str) -> Iterator[Line]:
    """Yields a session of Gemini CLI."""
    path = f"{cwd}/{FILE}"
    call = {"tool_name": "write_file", "tool_input": {"file_path": path, "content": TEXT}}
    told = [
        Line("SessionStart", {"source": "startup"}),
        Line("BeforeAgent", {"prompt": PROMPT}),
        Line("BeforeTool", call),
        Line("AfterTool", {**call, "tool_response": {"llmContent": "written", "returnDisplay": ""}}, written=True),
        Line("AfterAgent", {"prompt": PROMPT, "prompt_response": "Done.", "stop_hook_active": False}, written=True),
        Line("SessionEnd", {"reason": "exit"}, written=True),
    ]
    for number, line in enumerate(told):
        stamp = f"2026-01-01T00:00:0{number}.000Z"
        said = {"session_id": SESSION, "transcript_path": "", "cwd": cwd, "hook_event_name": line.event}
        yield line._replace(members={**said, "timestamp": stamp, **line.members})


def cursor(cwd: str) -> Iterator[Line]:
    """Yields a session of Cursor."""
    path = f"{cwd}/{FILE}"
    call = {"tool_name": "Write", "tool_use_id": "call_test\nctc_test", "tool_input": {"path": path, "contents": TEXT}}
    edit = {"file_path": path, "edits": [{"old_string": "", "new_string": TEXT}]}
    told = [
        Line("sessionStart", {"session_id": SESSION, "is_background_agent": False}),
        Line("beforeSubmitPrompt", {"prompt": PROMPT, "attachments": []}),
        Line("preToolUse", call),
        Line("afterFileEdit", edit, written=True),
        Line("postToolUse", {**call, "tool_output": '{"success":true}', "duration": 1.5}, written=True),
        Line("stop", {"status": "completed", "loop_count": 0}, written=True),
        Line("sessionEnd", {"session_id": SESSION, "reason": "completed"}, written=True),
    ]
    for line in told:
        said = {"conversation_id": SESSION, "generation_id": "1", "model": "test", "cursor_version": "test"}
        places = {"workspace_roots": [cwd], "transcript_path": None, "hook_event_name": line.event}
        yield line._replace(members={**said, **places, **line.members})


def copilot(cwd: str) -> Iterator[Line]:
    """Yields a session of Copilot CLI, which tells of the prompt first."""
    path = f"{cwd}/{FILE}"
    call = {"toolName": "create", "toolArgs": {"path": path, "file_text": TEXT}}
    done = {"toolResult": {"resultType": "success", "textResultForLlm": "created"}}
    told = [
        Line("userPromptSubmitted", {"prompt": PROMPT}),
        Line("sessionStart", {"source": "new", "initialPrompt": PROMPT}),
        Line("preToolUse", call),
        Line("postToolUse", {**call, **done}, written=True),
        Line("agentStop", {"stopReason": "end_turn"}, written=True),
        Line("sessionEnd", {"reason": "complete"}, written=True),
    ]
    for number, line in enumerate(told):
        said = {"timestamp": 1_767_225_600_000 + number, "cwd": cwd, "sessionId": SESSION}
        yield line._replace(members={**said, **line.members})


def opencode(cwd: str) -> Iterator[Line]:
    """Yields a session of OpenCode, as our plugin tells of it."""
    call = {"tool": "write", "callID": "call_test", "args": {"filePath": f"{cwd}/{FILE}", "content": TEXT}}
    told = [
        Line("session.created", {}),
        Line("chat.message", {"prompt": PROMPT}),
        Line("tool.execute.before", call),
        Line("tool.execute.after", {**call, "result": {"output": "written"}}, written=True),
        Line("session.idle", {}, written=True),
    ]
    for line in told:
        said = {"event": line.event, "directory": cwd, "sessionID": SESSION}
        yield line._replace(members={**said, **line.members})


REHEARSALS: Mapping[str, Callable[[str], Iterator[Line]]] = {
    "claude-code": claude_code,
    "codex": codex,
    "gemini": gemini,
    "cursor": cursor,
    "copilot": copilot,
    "opencode": opencode,
}
"""By the names of the agents."""
