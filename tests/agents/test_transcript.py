"""What a transcript tells of models and of where a session came from; nothing else is opened or taken."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pogstore.agents import transcript
from pogstore.agents.heard import Heard
from pogstore.agents.transcript import HEAD, TAIL, Transcripts
from pogstore.work.spooled_record import Record

MINUTE = 60 * 1_000_000
START = 1_770_000_000_000_000
"""2026-02-02T02:40:00Z."""


def stamp(minute: int) -> str:
    return f"2026-02-02T{2 + (40 + minute) // 60:02}:{(40 + minute) % 60:02}:00Z"


def said(minute: int, model: str, *calls: str, session: str = "s", **members: Any) -> dict[str, Any]:
    content = [{"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "ls"}} for call in calls]
    message = {"role": "assistant", "model": model, "content": content}
    return {"type": "assistant", "sessionId": session, "timestamp": stamp(minute), "message": message, **members}


def written(path: Path, *lines: dict[str, Any]) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def heard(path: str | None, minute: int = 59, call_id: str | None = None, agent_id: str | None = None) -> Heard:
    record = Record(
        "0" * 32, "claude-code", "x", START + minute * MINUTE, 0, b"/g", b"/g", b"/r", b"{}", True, "", (), {}
    )
    return Heard(record, "end", "claude-code", "s", call_id=call_id, agent_id=agent_id, transcript=path)


def model(path: str | None, minute: int = 59, call_id: str | None = None, agent_id: str | None = None) -> str | None:
    return Transcripts().model_of(heard(path, minute, call_id, agent_id))


def test_a_call_was_made_by_the_model_of_its_message(tmp_path: Path) -> None:
    path = written(tmp_path / "s.jsonl", said(1, "m-1", "t1", "t2"), said(2, "m-2", "t3"))
    assert [model(path, 1, call) for call in ("t1", "t2", "t3")] == ["m-1", "m-1", "m-2"]


def test_what_is_not_told_yet_was_the_last_model_before(tmp_path: Path) -> None:
    path = written(tmp_path / "s.jsonl", said(1, "m-1", "t1"), said(5, "m-2", "t3"))
    assert [model(path, minute, "later") for minute in (0, 3, 7)] == [None, "m-1", "m-2"]
    assert model(path, 3) == "m-1"
    assert model(str(tmp_path / "gone.jsonl"), 3) is None
    assert model(None) is None


def test_a_sub_agent_has_a_file_and_a_model_of_its_own(tmp_path: Path) -> None:
    path = written(tmp_path / "s.jsonl", said(1, "m-1", "t1"), said(2, "m-0", "t9", isSidechain=True))
    own = written(tmp_path / "s" / "subagents" / "agent-a1.jsonl", said(2, "m-2", "t2", isSidechain=True))
    assert model(path, 9, "t2", "a1") == "m-2"
    assert model(path, 9, "later", "a1") == "m-2"
    assert model(own, 9, "t2", "a1") == "m-2"
    assert model(path, 9, "later") == "m-1"
    assert model(path, 9, "t9", "a2") == "m-0"
    assert model(path, 9, "later", "a2") is None
    assert model(path, 9, "later", "../../s") is None


@pytest.mark.parametrize(
    "name", ["<synthetic>", "", "two words", "line\nline", "x" * 201, "-", "root:x:0:0:root:/\u202e"]
)
def test_only_names_of_models_are_taken(tmp_path: Path, name: str) -> None:
    path = written(tmp_path / "s.jsonl", said(1, "m-1", "t1"), said(2, name, "t2"))
    assert model(path, 9, "t2") == "m-1"
    path = written(tmp_path / "s.jsonl", {**said(2, "m", "t2"), "type": "user"})
    assert model(path, 9, "t2") is None
    assert model(written(tmp_path / "s.jsonl", said(1, "eu.anthropic.claude-x-v1:0[1m]", "t")), 9) is not None


def test_only_the_end_of_a_large_transcript_is_read(tmp_path: Path) -> None:
    filler = {"type": "user", "message": {"content": "x" * 1000}}
    many = TAIL // 1000
    path = written(tmp_path / "s.jsonl", said(1, "m-1", "t1"), *[filler] * many, said(9, "m-2", "t2"))
    assert [model(path, 59, call) for call in ("t1", "t2")] == ["m-2", "m-2"]
    assert model(path, 3, "t1") is None


def test_a_file_of_ten_gigabytes_costs_its_end(tmp_path: Path) -> None:
    """Case PC-127."""
    path = tmp_path / "s.jsonl"
    with path.open("wb") as file:
        file.truncate(10 * 1024**3)
        file.seek(0, os.SEEK_END)
        file.write(b"\n" + json.dumps(said(1, "m-1", "t1")).encode() + b"\n")
    assert model(str(path), 9, "t1") == "m-1"
    assert Transcripts().parent_of(heard(str(path))) == (None, False)


LINE = json.dumps(said(1, "m-1", "t1")) + "\n"


def test_what_is_no_transcript_of_ours_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Case PC-127: the path is what an agent says."""
    real = tmp_path / "real.jsonl"
    real.write_text(LINE)
    (tmp_path / "link.jsonl").symlink_to(real)
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "named.txt").write_text(LINE)
    (tmp_path / "object.json").write_text(LINE)
    os.mkfifo(tmp_path / "fifo.jsonl")
    (tmp_path / "device.jsonl").symlink_to("/dev/zero")
    names = ["link.jsonl", "folder.jsonl", "named.txt", "object.json", "fifo.jsonl", "device.jsonl", "absent.jsonl"]
    names += ["a\0b.jsonl"]
    paths = [str(tmp_path / name) for name in names]
    for path in [*paths, "/etc/shadow", "/etc/passwd", "real.jsonl", "", "/", "\ud800.jsonl", "/\ud800.jsonl"]:
        assert model(path, 9, "t1") is None, path
        assert Transcripts().parent_of(heard(path)) == (None, False), path
        assert model(path, 9, "t1", "a1") is None, path
    assert model(str(real), 9, "t1") == "m-1"
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert model(str(real), 9, "t1") is None


def test_a_sub_agents_file_is_opened_as_carefully(tmp_path: Path) -> None:
    path = written(tmp_path / "s.jsonl")
    (tmp_path / "s" / "subagents").mkdir(parents=True)
    (tmp_path / "real.jsonl").write_text(LINE)
    (tmp_path / "s" / "subagents" / "agent-a1.jsonl").symlink_to(tmp_path / "real.jsonl")
    assert model(path, 9, "t1", "a1") is None


def test_each_file_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "s.jsonl", said(1, "m-1", "t1"))
    opened: list[str] = []

    def read(path: str, *_: object, **__: object) -> bytes:
        opened.append(path)
        return LINE.encode()

    monkeypatch.setattr(transcript, "_read", read)
    found = Transcripts()
    for call in ("t1", "t2", "t1"):
        found.model_of(heard(path, 9, call))
        found.parent_of(heard(path))
    assert opened == [path, path]


def test_a_session_that_begins_with_lines_of_another_goes_on_from_it(tmp_path: Path) -> None:
    def parent(*lines: dict[str, Any], agent_id: str | None = None) -> str | None:
        found, is_part = Transcripts().parent_of(heard(written(tmp_path / "s.jsonl", *lines), agent_id=agent_id))
        assert not is_part
        return found

    old, own = said(1, "m", session="old"), said(2, "m")
    older = said(0, "m", session="older")
    assert parent(older, old, own) == "old"
    assert parent({"type": "summary", "summary": "x"}, old, own) == "old"
    assert parent(own) is None
    assert parent(old, own, agent_id="a1") is None
    assert parent(*[own] * (HEAD // 100), old) is None


@given(st.binary(max_size=200) | st.recursive(st.none() | st.text(max_size=3) | st.integers(), st.lists).map(
    lambda value: json.dumps({"type": "assistant", "message": {"model": value, "content": value}}).encode()
))  # fmt: skip
def test_whatever_stands_there_is_no_error(data: bytes) -> None:
    transcript._models(data)
    list(transcript._lines(data))
