"""A repository in which a contract holds, and an agent that asks its hook before it acts."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from pogstore.agents import hook
from pogstore.agents.drain import drain
from pogstore.model import Actor, Definition, Event, Globs, Person, Refused, TaskId
from pogstore.store.store import Store
from pogstore.work import active, claims, setup, tasks
from pogstore.work.acts import By
from tests.builders_store import opened
from tests.conftest import SECOND, STARTED, Repo

ADA = Person(name="Ada", email="ada@example.com")
PERSON = Actor(type="human", name="Ada", on_behalf_of=ADA)
AGENT = Actor(type="agent", name="claude-code", session="s1", on_behalf_of=ADA)
TASK = TaskId("0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b")


class Denied(NamedTuple):
    """What an agent was told when it asked: by which rule it was denied, and why."""

    rule: str
    reason: str


class Asking:
    """An agent that asks before each call, in one work tree; the clock goes on by itself."""

    def __init__(self, store: Store, root: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.store, self.root, self.capfd = store, root, capfd
        self.now, self.calls = STARTED + 60 * SECOND, 0
        self.environ: dict[str, str] = {}

    def by(self, actor: Actor = PERSON) -> By:
        self.now += SECOND
        return By(actor=actor, time=self.now, worktree=active.worktree_id(self.store.layout))

    def say(
        self,
        event: str,
        *,
        agent: str = "claude-code",
        cwd: Path | None = None,
        also: Mapping[str, object] = MappingProxyType({}),
        **members: object,
    ) -> str:
        """Calls the hook; returns what it printed."""
        self.now += SECOND
        self.calls += 1
        told = {
            "session_id": "s1",
            "hook_event_name": event,
            "event": event,
            "cwd": str(cwd or self.root),
            **members,
            **also,
        }
        self.capfd.readouterr()
        reads, writes = os.pipe()
        os.write(writes, json.dumps(told).encode())
        os.close(writes)
        status = hook.main((agent,), reads, {"POG_NOW": str(self.now), **self.environ})
        os.close(reads)
        out, err = self.capfd.readouterr()
        assert (status, err) == (0, "")
        return out

    def ask(self, tool: str, given: dict[str, Any], *, cwd: Path | None = None) -> Denied | None:
        """Asks whether a tool may be called, as Claude Code does."""
        out = self.say("PreToolUse", cwd=cwd, tool_name=tool, tool_input=given, tool_use_id=f"t{self.calls}")
        if not out:
            return None
        answer = json.loads(out)["hookSpecificOutput"]
        assert (answer["hookEventName"], answer["permissionDecision"]) == ("PreToolUse", "deny")
        head, _, reason = answer["permissionDecisionReason"].partition(": ")
        return Denied(head.removeprefix("pogstore (").removesuffix(")"), reason)

    def edit(self, path: str, tool: str = "Edit", *, cwd: Path | None = None) -> Denied | None:
        return self.ask(tool, {"file_path": path, "old_string": "a", "new_string": "b"}, cwd=cwd)

    def write(self, name: str, text: str, tool: str = "Write") -> Denied | None:
        """Asks, and writes a file whatever the answer; returns the answer."""
        found = self.edit(name, tool)
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        call = f"t{self.calls - 1}"
        path.write_text(text)
        self.say("PostToolUse", tool_name=tool, tool_input={"file_path": name, "content": text}, tool_use_id=call)
        return found

    def shell(self, command: str, *, cwd: Path | None = None) -> Denied | None:
        return self.ask("Bash", {"command": command}, cwd=cwd)

    def drained(self) -> list[Event]:
        """Drains the spool; returns the events of all tasks."""
        drain(self.store, now=self.now + 7200 * SECOND)
        return [
            sealed.event
            for task in self.store.tasks()
            for sealed in self.store.events(task)
            if isinstance(sealed.event, Event)
        ]

    def refused(self) -> list[Refused]:
        return [event for event in self.drained() if isinstance(event, Refused)]

    def bind(self, task: TaskId = TASK, *, actor: Actor = PERSON, **fields: Any) -> TaskId:
        """Defines a task with some limits and starts it here."""
        tasks.define(self.store, task, Definition(title="a task", **fields), self.by(actor))
        self.start(task, actor)
        return task

    def start(self, task: TaskId = TASK, actor: Actor = PERSON) -> None:
        claims.start(self.store, task, self.by(actor))
        active.set_active(self.store.layout, task)

    def amend(self, actor: Actor = PERSON, task: TaskId = TASK, **fields: Any) -> None:
        tasks.define(self.store, task, Definition(title="a task", **fields), self.by(actor))


def asking(repo: Repo, capfd: pytest.CaptureFixture[str]) -> Asking:
    """Enables a repository and lets an agent work in it."""
    store = opened(repo)
    setup.enable(store)
    return Asking(store, Path(os.path.realpath(repo.path)), capfd)


def scope(*allow: str, deny: tuple[str, ...] = ()) -> Globs:
    return Globs(allow=allow or None, deny=deny)
