"""Builds transcripts of Claude Code line by line, in the shapes that the program itself writes.

Ids and times follow from the order of the calls, so the same calls give the same bytes.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

ROOT = "/home/ada/src/shop"
SESSION = "5d1f0c9e-3b8a-4a47-9f57-0f2f6a0c1d2e"
MODEL = "claude-opus-4-5"
VERSION = "2.1.31"
STARTED = datetime(2026, 2, 5, 11, 30, tzinfo=UTC)

Json = dict[str, Any]


def numbered(content: str) -> str:
    """Returns a file as the tool that reads shows it."""
    return "\n".join(f"{number:>6}→{line}" for number, line in enumerate(content.split("\n"), 1))


class Script:
    """One transcript. Every method adds entries; those that call a tool return the id of the call."""

    def __init__(
        self, session: str = SESSION, *, cwd: str = ROOT, agent_id: str | None = None, minute: int = 0, name: str = "m"
    ) -> None:
        self.entries: list[Json] = []
        self.session, self.cwd, self.agent_id, self.name = session, cwd, agent_id, name
        self.moment = STARTED + timedelta(minutes=minute)
        self._count = 0

    def text(self) -> str:
        """Returns the transcript as text, a line an entry."""
        return "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in self.entries)

    def lines(self) -> list[bytes]:
        """Returns the transcript as a file's lines."""
        return self.text().encode("utf-8", "surrogatepass").splitlines(keepends=True)

    def add(self, type: str, **fields: object) -> Json:  # noqa: A002 - the name of the field
        """Adds an entry with the fields that all have."""
        self._count += 1
        self.moment += timedelta(seconds=1)
        entry: Json = {
            "parentUuid": self.entries[-1].get("uuid") if self.entries else None,
            "isSidechain": self.agent_id is not None,
            "userType": "external",
            "cwd": self.cwd,
            "sessionId": self.session,
            "version": VERSION,
            "gitBranch": "main",
            "type": type,
            "uuid": f"{self.agent_id or self.name}-{self._count:04}",
            "timestamp": self.moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        }
        if self.agent_id is not None:
            entry["agentId"] = self.agent_id
        self.entries.append(entry | fields)
        return self.entries[-1]

    def prompt(self, text: str = "Please tidy the shop", **fields: object) -> Json:
        """A person asks for something."""
        return self.add("user", message={"role": "user", "content": text}, **fields)

    def blocks(self, *blocks: Json, message_id: str | None = None, tokens: tuple[int, int] = (7, 3)) -> Json:
        """The model says something in one entry."""
        message = {
            "id": message_id or f"msg_{self.agent_id or self.name}{self._count:04}",
            "type": "message",
            "role": "assistant",
            "model": MODEL,
            "content": list(blocks),
            "usage": {"input_tokens": tokens[0], "cache_read_input_tokens": 100, "output_tokens": tokens[1]},
        }
        return self.add("assistant", message=message, requestId="req_1")

    def reply(self, text: str = "Done.") -> Json:
        """The model answers in words."""
        return self.blocks({"type": "text", "text": text})

    def think(self, text: str) -> Json:
        """The model thinks."""
        return self.blocks({"type": "thinking", "thinking": text, "signature": "c2ln"})

    def use(self, tool: str, given: Mapping[str, object], *, call_id: str = "", message_id: str | None = None) -> str:
        """The model calls a tool."""
        call_id = call_id or f"toolu_{self.agent_id or self.name}{self._count:04}"
        block: Json = {"type": "tool_use", "id": call_id, "name": tool, "input": dict(given)}
        self.blocks(block, message_id=message_id)
        return call_id

    def answer(self, call_id: str, text: object = "ok", outcome: object = None, *, error: bool = False) -> Json:
        """A call ends."""
        block: Json = {"type": "tool_result", "tool_use_id": call_id, "content": text}
        fields = {} if outcome is None else {"toolUseResult": outcome}
        return self.add(
            "user",
            message={"role": "user", "content": [block | ({"is_error": True} if error else {})]},
            **fields,
        )

    def path(self, path: str) -> str:
        """Returns a path of the work tree as tools are given it."""
        return path if path.startswith(("/", "\\")) or path[1:2] == ":" else f"{self.cwd}/{path}"

    def edit(
        self, path: str, original: str | None, old: str, new: str, *, everywhere: bool = False, **told: object
    ) -> str:
        """A successful `Edit`, told whole."""
        given = {"file_path": self.path(path), "old_string": old, "new_string": new, "replace_all": everywhere}
        call_id = self.use("Edit", given)
        self.answer(
            call_id,
            f"The file {self.path(path)} has been updated.",
            {
                "filePath": self.path(path),
                "oldString": old,
                "newString": new,
                "originalFile": original,
                "structuredPatch": [{"lines": ["-never", "+believed"]}],
                "userModified": False,
                "replaceAll": everywhere,
            }
            | told,
        )
        return call_id

    def write(self, path: str, content: str, original: str | None = None) -> str:
        """A successful `Write`; without `original` the file is new."""
        call_id = self.use("Write", {"file_path": self.path(path), "content": content})
        outcome: Json = {
            "type": "create" if original is None else "update",
            "filePath": self.path(path),
            "content": content,
            "structuredPatch": [],
            "originalFile": original,
        }
        self.answer(call_id, f"File created successfully at: {self.path(path)}", outcome)
        return call_id

    def bash(self, command: str = "make", output: str = "", *, error: bool = False) -> str:
        """A shell call."""
        call_id = self.use("Bash", {"command": command, "description": "Run it"})
        outcome: object = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
        self.answer(call_id, output, f"Error: {output}" if error else outcome, error=error)
        return call_id

    def read(self, path: str, content: str) -> str:
        """A file is read whole."""
        count = content.count("\n") + 1
        file = {"filePath": self.path(path), "content": content, "numLines": count, "startLine": 1, "totalLines": count}
        call_id = self.use("Read", {"file_path": self.path(path)})
        self.answer(call_id, numbered(content), {"type": "text", "file": file})
        return call_id

    def progress(self, entries: Sequence[Json], agent_id: str) -> None:
        """Entries of a sub-agent as the main transcript wraps them, without what the program keeps of results."""
        for entry in entries:
            kept = ("type", "message", "uuid", "timestamp", "requestId")
            message = {name: value for name, value in entry.items() if name in kept}
            data = {"type": "agent_progress", "agentId": agent_id, "message": message, "normalizedMessages": [message]}
            self.add("progress", data=data, toolUseID="agent_msg_1", parentToolUseID="toolu_task")
