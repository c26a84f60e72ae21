"""OpenCode: the plugin as it runs, and sub-agents whose sessions are parts of their parent's."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pogstore.agents import refusal
from pogstore.agents.opencode import WIRING
from pogstore.draft import session_task_id
from pogstore.model import Defined, Prompted
from pogstore.store.store import Store
from tests.agents.live import Live, drained, events, recording, steps
from tests.conftest import Repo

NODE = shutil.which("node")
DRIVER = """
const { Pogstore } = await import(process.argv[2])
const hooks = await Pogstore({ directory: process.argv[3] })
for (const [name, ...args] of JSON.parse(process.argv[4])) {
  try {
    const done = hooks[name](...args)
    if (!args.at(-1)?.apart) await done
  } catch (error) {
    console.log(`refused: ${error.message}`)
  }
}
await hooks.event({ event: { type: "session.idle", properties: { sessionID: "end" } } })
"""
CALL = {"sessionID": "ses_1", "callID": "c1", "tool": "write"}
ARGS = {"filePath": "a.txt", "content": "x"}


@pytest.fixture
def store(repo: Repo) -> Store:
    return recording(repo)


def run_plugin(folder: Path, line: str, *calls: Any) -> tuple[list[dict[str, Any]], str]:
    """Runs the plugin with a line that keeps what it is told; returns that, and what OpenCode would have seen."""
    plugin = folder / "plugin.mjs"
    kept = folder / "told"
    text = WIRING.shape.added(None, "x", {}, lambda _: f"cat >> '{kept}'; echo >> '{kept}'; {line}")
    plugin.write_text(text or "")
    (folder / "driver.mjs").write_text(DRIVER)
    assert NODE
    command = [NODE, "driver.mjs", f"./{plugin.name}", str(folder), json.dumps(calls)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(each) for each in kept.read_text().splitlines()][:-1], done.stdout


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_the_plugin_tells_what_happens_in_its_order(tmp_path: Path) -> None:
    def event(kind: str, **properties: Any) -> list[Any]:
        return ["event", {"event": {"type": kind, "properties": properties}}]

    failing = {"type": "tool", "sessionID": "ses_2", "callID": "c2", "tool": "edit",
               "state": {"status": "error", "input": {"filePath": "b"}, "error": "no"}}  # fmt: skip
    parts = [{"type": "text", "text": "go"}, {"type": "text", "text": "hidden", "synthetic": True}, {"type": "file"}]
    told, seen = run_plugin(
        tmp_path,
        "true",
        event("session.created", info={"id": "ses_1", "title": "t"}),
        ["chat.message", {"sessionID": "ses_1", "model": {"providerID": "p", "modelID": "m"}}, {"parts": parts}],
        event("session.created", info={"id": "ses_2", "parentID": "ses_1", "title": "sub"}),
        ["tool.execute.before", {**CALL, "sessionID": "ses_2"}, {"args": ARGS}],
        ["tool.execute.after", {**CALL, "sessionID": "ses_2", "args": ARGS}, {"output": "ok", "metadata": {"exit": 0}}],
        event("message.part.updated", part=failing),
        event("message.part.updated", part=failing),
        event("message.part.updated", part={"type": "text"}),
        event("file.edited", file="a.txt"),
        event("session.idle", sessionID="ses_1"),
    )  # fmt: skip
    assert seen == ""
    assert [each["event"] for each in told] == [
        "session.created", "chat.message", "session.created", "tool.execute.before", "tool.execute.after",
        "tool.failed", "session.idle",
    ]  # fmt: skip
    assert told[1]["prompt"] == "go"
    assert told[1]["model"] == "p/m"
    assert told[3] == {"event": "tool.execute.before", "directory": str(tmp_path), "parentID": "ses_1",
                       **CALL, "sessionID": "ses_2", "args": ARGS}  # fmt: skip
    assert told[4]["result"] == {"output": "ok", "exit_code": 0}
    assert told[5]["error"] == "no"
    assert "parentID" not in told[0]


@pytest.mark.skipif(NODE is None, reason="node is not installed")
@pytest.mark.parametrize("line", ["exit 3", "echo noise", "echo '{}'", "kill -9 $$", "exec 0<&-; true"])
def test_whatever_comes_back_does_not_disturb(tmp_path: Path, line: str) -> None:
    _, seen = run_plugin(tmp_path, line, ["tool.execute.before", CALL, {"args": ARGS}])
    assert seen == ""


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_what_is_refused_does_not_run(tmp_path: Path) -> None:
    printed, _, _ = refusal.opencode("outside the 'scope'")
    (tmp_path / "answer").write_bytes(printed)
    _, seen = run_plugin(tmp_path, "cat answer", ["tool.execute.before", CALL, {"args": ARGS}])
    assert seen == "refused: outside the 'scope'\n"


def test_the_session_of_a_sub_agent_is_a_part_of_its_parent(store: Store, repo: Repo) -> None:
    """Case PC-136: and its prompt is no person's."""
    parent, child = session_task_id("opencode", "ses_1"), session_task_id("opencode", "ses_2")
    live = Live(repo.path, by="opencode")

    def say(event: str, session: str, **members: Any) -> None:
        part = {"parentID": "ses_1"} if session == "ses_2" else {}
        said = {"event": event, "directory": str(repo.path), "sessionID": session, **part, **members}
        live.say_bytes(json.dumps(said).encode())

    say("session.created", "ses_1")
    say("chat.message", "ses_1", prompt="Write both", model="p/m")
    say("session.created", "ses_2")
    say("chat.message", "ses_2", prompt="Write one", model="p/small")
    say("tool.execute.before", "ses_2", callID="c", tool="write", args=ARGS)
    (repo.path / "a.txt").write_text("x")
    say("tool.execute.after", "ses_2", callID="c", tool="write", args=ARGS, result={"output": "ok"})
    say("session.idle", "ses_2")
    say("session.idle", "ses_1")
    drained(store, live)
    (defined,) = [event for event in events(store, child) if isinstance(event, Defined)]
    assert [(link.rel, link.task) for link in defined.links] == [("parent", parent)]
    asked = [event.actor for task in (parent, child) for event in events(store, task) if isinstance(event, Prompted)]
    assert [(actor.type, actor.session) for actor in asked] == [("human", "ses_1"), ("agent", "ses_2")]
    (step,) = steps(store, child)
    assert step.actor.model == "p/small"
    assert steps(store, parent) == []
