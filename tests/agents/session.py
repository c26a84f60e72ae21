"""One session of Claude Code through the installed command: real hooks, real shells, a clock that goes on by itself."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.conftest import SECOND, STARTED

GIT_POG = Path(sys.executable).parent / "git-pog"


class Session:
    """An agent at work in a directory: each tool call is a hook before it, the deed, and a hook after it."""

    def __init__(self, root: Path, session: str = "s1") -> None:
        self.root, self.session = root, session
        self.now = STARTED + 60 * SECOND
        self.calls = 0
        self.agent: Mapping[str, str] = {}

    def hook(self, event: str, *, cwd: Path | None = None, **members: Any) -> None:
        """Runs the installed hook with one event; it must say nothing and succeed."""
        told = {"session_id": self.session, "hook_event_name": event, "cwd": str(cwd or self.root)}
        told |= dict(self.agent) | members
        self.now += SECOND
        done = subprocess.run(
            [GIT_POG, "hook", "claude-code"],
            input=json.dumps(told).encode(),
            env={**os.environ, "POG_NOW": str(self.now)},
            cwd=cwd or self.root,
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")

    def prompt(self, text: str) -> None:
        self.hook("UserPromptSubmit", prompt=text)

    def edit(self, name: str, old: str, new: str) -> str:
        """An edit that works; returns the id of the call."""
        path = self.root / name
        call = self._begin("Edit", {"file_path": str(path), "old_string": old, "new_string": new})
        path.write_text(path.read_text().replace(old, new))
        self.hook("PostToolUse", **call, tool_response={"filePath": str(path), "success": True})
        return str(call["tool_use_id"])

    def write(self, name: str, content: str) -> str:
        """A file that is written whole; returns the id of the call."""
        path = self.root / name
        call = self._begin("Write", {"file_path": str(path), "content": content})
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        self.hook("PostToolUse", **call, tool_response={"filePath": str(path), "success": True})
        return str(call["tool_use_id"])

    def bash(self, command: str, *, cwd: Path | None = None, status: int = 0) -> str:
        """A shell command that is really run; returns the id of the call."""
        call = self._begin("Bash", {"command": command}, cwd=cwd)
        done = subprocess.run(
            ["bash", "-c", command], cwd=cwd or self.root, capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == status, done.stderr
        told = {"stdout": done.stdout, "stderr": done.stderr, "interrupted": False}
        self.hook("PostToolUse", **call, tool_response=told, cwd=cwd)
        return str(call["tool_use_id"])

    def fail(self, name: str) -> str:
        """An edit that fails; returns the id of the call."""
        given = {"file_path": str(self.root / name), "old_string": "nowhere", "new_string": "x"}
        call = self._begin("Edit", given)
        self.hook("PostToolUseFailure", **call, error="String to replace not found in file.")
        return str(call["tool_use_id"])

    def _begin(self, tool: str, given: dict[str, Any], *, cwd: Path | None = None) -> dict[str, Any]:
        self.calls += 1
        call = {"tool_name": tool, "tool_input": given, "tool_use_id": f"toolu_{self.session}_{self.calls}"}
        self.hook("PreToolUse", cwd=cwd, **call)
        return call
