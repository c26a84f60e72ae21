"""How each agent tells one and the same session: an edit, a person's line, a shell step, a failed tool, an end.

The members are those that the agents document; no session of anybody's is copied. `play` runs the installed command for
every event, as the agent would, and really does what is told.
"""

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests.conftest import SECOND, STARTED, Pog, Repo

GIT_POG = Path(sys.executable).parent / "git-pog"
SESSION = "9d3c5b1e-0000-4000-8000-0000000000a1"
PROMPT = "Make it greet"
OLD, NEW = "line 3 of the base\n", "greet = 'hello, said the agent'\nline 3 of the base\n"
ADDED = "# a person added this remark\n"
SHELL = "sed -i 's/^line 5 .*/line 5 rewritten by the shell/' app.py"
MADE = "made by the agent, whole\n"
BASE = "".join(f"line {n} of the base\n" for n in range(1, 9))

TICKS = itertools.count()
Said = Mapping[str, Any]


class Voice(NamedTuple):
    """One agent: what it says around each thing that happens. `None` is what it does not tell."""

    agent: str
    common: Callable[[Path], Said]
    start: tuple[str, Said]
    prompt: tuple[str, Said]
    edit: Callable[[Path], Said]
    write: Callable[[Path], Said]
    shell: Said
    failing: Callable[[Path], Said]
    before: tuple[str, Said]
    after: tuple[str, Said]
    failed: tuple[str, Said] | None
    stop: tuple[str, Said]
    end: tuple[str, Said] | None
    call: str | None = "tool_use_id"
    names_event: bool = False
    event: str | None = "hook_event_name"


class Player:
    """An agent at work in a directory."""

    def __init__(self, root: Path, voice: Voice) -> None:
        self.root, self.voice = root, voice
        self.now = STARTED + 60 * SECOND
        self.calls = 0

    def tell(self, told: tuple[str, Said], *more: Said) -> None:
        """Runs the installed hook; it must say nothing and succeed."""
        event, members = told
        said = dict(self.voice.common(self.root)) | ({self.voice.event: event} if self.voice.event else {})
        for each in (members, *more):
            said |= each
        self.now += SECOND
        done = subprocess.run(
            [GIT_POG, "hook", self.voice.agent, *([event] if self.voice.names_event else [])],
            input=json.dumps(said).encode(),
            env={**os.environ, "POG_NOW": str(self.now)},
            cwd=self.root,
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")

    def call(self, told: Said, deed: Callable[[], object], after: tuple[str, Said] | None) -> None:
        """One tool call: a hook before it, the deed, and a hook after it, if the agent has one for that."""
        self.calls += 1
        named = {self.voice.call: f"call_{self.calls}"} if self.voice.call else {}
        self.tell(self.voice.before, told, named)
        deed()
        if after is not None:
            self.tell(after, told, named)


def play(repo: Repo, voice: Voice) -> Player:
    """Plays the session in a new repository and stores it."""
    repo.path.mkdir()
    repo.git("init", "--quiet")
    repo.commit({"app.py": BASE}, "base")
    Pog(repo.path)("init")
    repo.git("config", "pog.autoDrain", "false")
    player, app = Player(repo.path, voice), repo.path / "app.py"
    made = repo.path / "made.txt"
    player.tell(voice.start)
    player.tell(voice.prompt)
    player.call(voice.edit(repo.path), lambda: app.write_text(app.read_text().replace(OLD, NEW)), voice.after)
    app.write_text(app.read_text() + ADDED)
    player.call(voice.write(repo.path), lambda: made.write_text(MADE), voice.after)
    player.call(voice.shell, lambda: subprocess.run(["sh", "-c", SHELL], cwd=repo.path, check=True), voice.after)
    player.call(voice.failing(repo.path), lambda: None, voice.failed)
    player.tell(voice.stop)
    if voice.end is not None:
        player.tell(voice.end)
    Pog(repo.path)("drain")
    return player


def _patch(*files: str) -> str:
    return "\n".join(("*** Begin Patch", *files, "*** End Patch")) + "\n"


CODEX = Voice(
    "codex",
    common=lambda root: {
        "session_id": SESSION,
        "transcript_path": None,
        "cwd": str(root),
        "model": "gpt-test",
        "permission_mode": "default",
    },
    start=("SessionStart", {"source": "startup"}),
    prompt=("UserPromptSubmit", {"turn_id": "1", "prompt": PROMPT}),
    edit=lambda root: {
        "tool_name": "apply_patch",
        "tool_input": {
            "command": _patch(
                "*** Update File: app.py", "@@", "+greet = 'hello, said the agent'", " line 3 of the base"
            )
        },
    },
    write=lambda root: {
        "tool_name": "apply_patch",
        "tool_input": {"command": _patch("*** Add File: made.txt", "+made by the agent, whole")},
    },
    shell={"tool_name": "Bash", "tool_input": {"command": SHELL}},
    failing=lambda root: {
        "tool_name": "apply_patch",
        "tool_input": {"command": _patch("*** Update File: app.py", "@@", "-nowhere", "+x")},
    },
    before=("PreToolUse", {"turn_id": "1"}),
    after=("PostToolUse", {"turn_id": "1", "tool_response": "Success."}),
    failed=None,
    stop=("Stop", {"turn_id": "1", "stop_hook_active": False, "last_assistant_message": "Done."}),
    end=("SessionEnd", {"reason": "exit"}),
)
GEMINI = Voice(
    "gemini",
    common=lambda root: {
        "session_id": SESSION,
        "transcript_path": str(root.parent / "session-test.json"),
        "cwd": str(root),
        "timestamp": f"2026-03-02T09:00:{next(TICKS):02}.000Z",
    },
    start=("SessionStart", {"source": "startup"}),
    prompt=("BeforeAgent", {"prompt": PROMPT}),
    edit=lambda root: {
        "tool_name": "replace",
        "tool_input": {"file_path": str(root / "app.py"), "old_string": OLD, "new_string": NEW},
    },
    write=lambda root: {"tool_name": "write_file", "tool_input": {"file_path": "made.txt", "content": MADE}},
    shell={"tool_name": "run_shell_command", "tool_input": {"command": SHELL, "description": "edit"}},
    failing=lambda root: {
        "tool_name": "replace",
        "tool_input": {"file_path": str(root / "app.py"), "old_string": "nowhere", "new_string": "x"},
    },
    before=("BeforeTool", {}),
    after=("AfterTool", {"tool_response": {"llmContent": "Done.", "returnDisplay": "Done."}}),
    failed=("AfterTool", {"tool_response": {"llmContent": "", "error": {"message": "0 occurrences", "type": "edit"}}}),
    stop=("AfterAgent", {"prompt": PROMPT, "prompt_response": "Done.", "stop_hook_active": False}),
    end=("SessionEnd", {"reason": "exit"}),
    call=None,
)
CURSOR = Voice(
    "cursor",
    common=lambda root: {
        "conversation_id": SESSION,
        "generation_id": "g1",
        "model": "model-test",
        "cursor_version": "2026.02",
        "workspace_roots": [str(root.parent / "elsewhere"), str(root)],
        "user_email": "ada@example.org",
        "transcript_path": None,
    },
    start=("sessionStart", {"session_id": SESSION, "is_background_agent": False, "composer_mode": "agent"}),
    prompt=("beforeSubmitPrompt", {"prompt": PROMPT, "attachments": []}),
    edit=lambda root: {
        "tool_name": "StrReplace",
        "tool_input": {"path": str(root / "app.py"), "old_string": OLD, "new_string": NEW},
    },
    write=lambda root: {"tool_name": "Write", "tool_input": {"file_path": "made.txt", "content": MADE}},
    shell={"tool_name": "Shell", "tool_input": {"command": SHELL, "description": "edit"}},
    failing=lambda root: {
        "tool_name": "StrReplace",
        "tool_input": {"path": str(root / "app.py"), "old_string": "nowhere", "new_string": "x"},
    },
    before=("preToolUse", {}),
    after=("postToolUse", {"tool_output": '{"success":true}', "duration": 36.841}),
    failed=("postToolUseFailure", {"error_message": "not found", "failure_type": "error", "duration": 2}),
    stop=("stop", {"status": "completed", "loop_count": 0}),
    end=("sessionEnd", {"session_id": SESSION, "reason": "completed", "final_status": "completed"}),
)
COPILOT = Voice(
    "copilot",
    common=lambda root: {"sessionId": SESSION, "timestamp": 1_772_442_000_000 + next(TICKS), "cwd": str(root)},
    start=("sessionStart", {"source": "new", "initialPrompt": PROMPT}),
    prompt=("userPromptSubmitted", {"prompt": PROMPT}),
    edit=lambda root: {
        "toolName": "edit",
        "toolArgs": json.dumps({"path": str(root / "app.py"), "old_str": OLD, "new_str": NEW}),
    },
    write=lambda root: {"toolName": "create", "toolArgs": {"path": str(root / "made.txt"), "file_text": MADE}},
    shell={"toolName": "bash", "toolArgs": {"command": SHELL, "description": "edit"}},
    failing=lambda root: {
        "toolName": "edit",
        "toolArgs": {"path": str(root / "app.py"), "old_str": "nowhere", "new_str": "x"},
    },
    before=("preToolUse", {}),
    after=("postToolUse", {"toolResult": {"resultType": "success", "textResultForLlm": "Done."}}),
    failed=("postToolUse", {"toolResult": {"resultType": "failure", "textResultForLlm": "No match found."}}),
    stop=("agentStop", {"transcriptPath": "/nowhere/events.jsonl", "stopReason": "end_turn"}),
    end=("sessionEnd", {"reason": "complete"}),
    call=None,
    names_event=True,
    event=None,
)
OPENCODE = Voice(
    "opencode",
    common=lambda root: {"directory": str(root), "sessionID": SESSION},
    start=("session.created", {"title": "New session"}),
    prompt=("chat.message", {"prompt": PROMPT, "model": "test/model", "agent": "build", "messageID": "msg_1"}),
    edit=lambda root: {
        "tool": "edit",
        "args": {"filePath": str(root / "app.py"), "oldString": OLD, "newString": NEW},
    },
    write=lambda root: {"tool": "write", "args": {"filePath": "made.txt", "content": MADE}},
    shell={"tool": "bash", "args": {"command": SHELL, "description": "edit"}},
    failing=lambda root: {
        "tool": "edit",
        "args": {"filePath": str(root / "app.py"), "oldString": "nowhere", "newString": "x"},
    },
    before=("tool.execute.before", {}),
    after=("tool.execute.after", {"result": {"output": "Done."}}),
    failed=("tool.failed", {"error": "oldString not found"}),
    stop=("session.idle", {}),
    end=None,
    call="callID",
    event="event",
)
VOICES = {each.agent: each for each in (CODEX, GEMINI, CURSOR, COPILOT, OPENCODE)}
