"""`git pog import codex` and `gemini`: blame of what no hook told, and nothing twice of what one did."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.agents.live import Live
from tests.cli.conftest import Here
from tests.conftest import SECOND, STARTED, Repo
from tests.interop.test_codex import Rollout
from tests.interop.test_gemini import call, message, transcript


def kept(path: Path, lines: Any) -> str:
    path.write_bytes(b"".join(lines))
    return str(path)


def test_an_exec_session_of_codex_is_blamed(here: Here, tmp_path: Path) -> None:
    """Case PC-133."""
    rollout = Rollout(cwd=str(here.cwd)).prompt("Greet").patch("*** Add File: hello.py", "+print('hi')")
    folder = tmp_path / "sessions" / "2026" / "03"
    folder.mkdir(parents=True)
    kept(folder / "rollout-1.jsonl", rollout.transcript().lines)
    (here.cwd / "hello.py").write_text("print('hi')\n")
    assert here("import", "codex", str(tmp_path / "sessions")).stdout == "1 new task, 3 new events\n"
    again = here("import", "codex", str(tmp_path / "sessions")).stdout
    assert again == "0 new tasks, 0 new events, 3 records known before\n"
    assert "(codex" in here("blame", "hello.py").stdout
    assert here("list", "--all", "--json").json[0]["title"] == "Greet"


def test_a_session_of_gemini_is_blamed(here: Here, tmp_path: Path) -> None:
    written = call(2, "write_file", {"file_path": str(here.cwd / "a.txt"), "content": "hi\n"}, {"isNewFile": True})
    told = transcript(
        message(1, "user", content="Greet"), message(2, "gemini", toolCalls=[written]), project=str(here.cwd)
    )
    path = kept(tmp_path / "session-1.json", told.lines)
    (here.cwd / "a.txt").write_text("hi\n")
    assert here("import", "gemini", path).stdout == "1 new task, 3 new events\n"
    assert "0 new events" in here("import", "gemini", path).stdout
    assert "(gemini" in here("blame", "a.txt").stdout


def test_what_is_odd_is_counted_or_listed(here: Here, tmp_path: Path) -> None:
    rollout = Rollout(cwd=str(here.cwd)).prompt("Greet")
    torn = kept(tmp_path / "rollout-1.jsonl", [*rollout.transcript().lines, b"{torn\n"])
    told = transcript(message(1, "user", content="Greet"), form="lines", project=str(here.cwd))
    other = kept(tmp_path / "session-1.jsonl", [*told.lines, b"{torn\n"])
    for said, every in (
        (here("import", "codex", torn), here("import", "codex", torn, "--oddities")),
        (here("import", "gemini", other), here("import", "gemini", other, "--oddities")),
    ):
        assert "\nodd: " in said.stdout
        assert said.stderr == "hint: '--oddities' lists each of them\n"
        assert "rollout-1.jsonl" in every.stdout or "session-1.jsonl" in every.stdout


@pytest.mark.parametrize(("agent", "noun"), [("codex", "rollout"), ("gemini", "session")])
def test_files_of_nobody_are_refused(here: Here, tmp_path: Path, agent: str, noun: str) -> None:
    path = kept(tmp_path / "x.jsonl", [b"nothing\n"])
    assert f"error: no {noun} in '{path}'" in here("import", agent, path, status=128).stderr


def test_what_codex_told_live_is_not_told_again(here: Here, repo: Repo, tmp_path: Path) -> None:
    live = Live(repo.path, "0199a-1", by="codex")
    patch = ("*** Add File: hello.py", "+print('hi')")
    live.prompt("Greet")
    begun = live.begin("apply_patch", {"command": "\n".join(("*** Begin Patch", *patch, "*** End Patch"))})
    (repo.path / "hello.py").write_text("print('hi')\n")
    live.end(begun, "Success.")
    rollout = Rollout(cwd=str(repo.path)).prompt("Greet").patch(*patch, call_id=begun["tool_use_id"])
    for line in rollout.lines:
        line["timestamp"] = "2026-01-05T09:00:03Z"
    rollout.add("response_item", type="message", role="assistant", content=[{"type": "output_text", "text": "Done."}])
    path = kept(tmp_path / "rollout.jsonl", rollout.transcript().lines)
    assert here("import", "codex", path).stdout == "0 new tasks, 1 new event, 3 records known before\n"
    assert here("import", "codex", path).stdout == "0 new tasks, 0 new events, 4 records known before\n"


def test_what_gemini_told_live_without_ids_is_not_told_again(here: Here, repo: Repo, tmp_path: Path) -> None:
    """Two equal calls are two; one that no hook told is added."""
    live = Live(repo.path, "g-1", by="gemini")
    live.say("BeforeAgent", prompt="Greet")
    args = {"file_path": str(repo.path / "a.txt"), "content": "hi\n"}
    messages = [message(1, "user", content="Greet")]
    for number in range(2):
        live.say("BeforeTool", tool_name="write_file", tool_input=args, timestamp=f"{number}b")
        (repo.path / "a.txt").write_text("hi\n")
        live.say(
            "AfterTool",
            tool_name="write_file",
            tool_input=args,
            timestamp=f"{number}e",
            tool_response={"llmContent": "ok"},
        )
        messages.append(message(2 + number, "gemini", toolCalls=[call(2 + number, "write_file", args)]))
    messages.append(message(9, "gemini", toolCalls=[call(9, "read_file", {"file_path": "x"})]))
    lines = json.dumps(json.loads(b"".join(transcript(*messages).lines))).replace(
        "2026-03-02T09:00", "2026-01-05T09:00"
    )
    path = kept(tmp_path / "session.json", [lines.encode()])
    assert live.clock[0] - STARTED < 10 * SECOND
    assert here("import", "gemini", path).stdout == "0 new tasks, 1 new event, 4 records known before\n"
    assert [event["tool"] for event in here("log", "--json").json if event["kind"] == "stepped"] == [
        "read_file", "write_file", "write_file",
    ]  # fmt: skip
