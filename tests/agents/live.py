"""Sessions of Claude Code as its hooks tell of them: every call goes through the hook, and edits really happen."""

import json
import os
import threading
from pathlib import Path
from typing import Any

from pogstore.agents import hook
from pogstore.agents.drain import Drained, drain
from pogstore.draft import session_task_id
from pogstore.model import Event, Stepped, TaskId
from pogstore.state import distinct
from pogstore.store.store import Store
from pogstore.work import spooled
from pogstore.work.drain import spool_of
from tests.builders_store import opened
from tests.conftest import SECOND, STARTED, Repo


class Live:
    """One session in one work tree. `now` is shared by sessions that run beside each other."""

    def __init__(
        self, root: Path, session: str = "s1", clock: list[int] | None = None, task: str = "", by: str = "claude-code"
    ) -> None:
        self.root, self.session, self.task_name, self.by = root, session, task, by
        self.clock = [STARTED] if clock is None else clock
        self.calls = 0
        self.agent: dict[str, str] = {}

    @property
    def task(self) -> TaskId:
        return session_task_id(self.by, self.session)

    def say(self, event: str, **members: Any) -> bytes:
        """Calls the hook with one event; returns what it was told."""
        told = {"session_id": self.session, "hook_event_name": event, "cwd": str(self.root)} | self.agent | members
        payload = json.dumps(told).encode()
        self.say_bytes(payload)
        return payload

    def say_bytes(self, payload: bytes, *, close: bool = False) -> None:
        """Calls the hook with some bytes, one second after the last call."""
        self.clock[0] += SECOND
        reads, writes = os.pipe()

        def write() -> None:
            os.write(writes, payload)
            if close:
                os.close(writes)

        writer = threading.Thread(target=write)
        writer.start()
        hook.main((self.by,), reads, {"POG_NOW": str(self.clock[0]), "POG_TASK": self.task_name})
        writer.join()
        os.close(reads)
        if not close:
            os.close(writes)

    def prompt(self, text: str) -> bytes:
        return self.say("UserPromptSubmit", prompt=text)

    def begin(self, tool: str, given: dict[str, Any]) -> dict[str, Any]:
        """The hook before a call; returns what both hooks are told."""
        self.calls += 1
        call = {"tool_name": tool, "tool_input": given, "tool_use_id": f"toolu_{self.session}_{self.calls}"}
        self.say("PreToolUse", **call)
        return call

    def end(self, call: dict[str, Any], response: Any = None) -> bytes:
        return self.say("PostToolUse", **call, tool_response={"success": True} if response is None else response)

    def fail(self, call: dict[str, Any], error: str = "no such string") -> bytes:
        return self.say("PostToolUseFailure", **call, error=error)

    def begin_edit(self, name: str, old: str, new: str) -> dict[str, Any]:
        return self.begin("Edit", {"file_path": str(self.root / name), "old_string": old, "new_string": new})

    def edit(self, name: str, old: str, new: str) -> str:
        """An edit that works; returns the id of the call."""
        call = self.begin_edit(name, old, new)
        path = self.root / name
        path.write_text(path.read_text().replace(old, new))
        self.end(call)
        return str(call["tool_use_id"])

    def write(self, name: str, content: str) -> str:
        """A file that is written whole; returns the id of the call."""
        call = self.begin("Write", {"file_path": str(self.root / name), "content": content})
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        self.end(call)
        return str(call["tool_use_id"])

    def shell(self, command: str, stdout: str = "") -> str:
        call = self.begin("Bash", {"command": command})
        self.end(call, {"stdout": stdout, "stderr": "", "interrupted": False})
        return str(call["tool_use_id"])


def recording(repo: Repo) -> Store:
    """Opens a store in which hooks record."""
    store = opened(repo)
    spooled.prepare(spool_of(store))
    return store


def drained(store: Store, live: Live, **options: Any) -> Drained:
    return drain(store, now=live.clock[0] + SECOND, **options)


def events(store: Store, task: TaskId) -> list[Event]:
    """The events of a task as a reader uses them: in order, without echoes."""
    return [sealed.event for sealed in distinct(store.events(task)).used if isinstance(sealed.event, Event)]


def told(store: Store, task: TaskId) -> list[str]:
    """The kinds of a task's events, with what tells most about each."""
    return [" ".join(filter(None, (type(each).__name__.lower(), _detail(each)))) for each in events(store, task)]


def _detail(event: Event) -> str:
    for name in ("topic", "status", "tool"):
        if value := getattr(event, name, None):
            return str(value)
    return ""


def steps(store: Store, task: TaskId) -> list[Stepped]:
    return [event for event in events(store, task) if isinstance(event, Stepped)]


def sides(store: Store, event: Event) -> list[tuple[object, bytes | None, bytes | None]]:
    """The changes of an event, with what each side held."""
    return [
        (
            change.path,
            store.read_content(change.before.blob) if change.before and change.before.blob else None,
            store.read_content(change.after.blob) if change.after and change.after.blob else None,
        )
        for change in getattr(event, "changes", ())
    ]
