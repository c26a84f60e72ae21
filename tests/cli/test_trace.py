"""What `git pog trace` prints."""

import re
from pathlib import Path

from tests.cli.test_blame import Tea, tea
from tests.cli.test_json import event_on
from tests.conftest import SECOND

__all__ = ["tea"]


def test_the_text_form(tea: Tea) -> None:
    lines = tea.here("trace", tea.task).stdout.splitlines()
    assert lines[0] == f"task      {tea.task[:8]} Steeping takes time [pending]"
    assert re.fullmatch(r"added     \d+ lines in 4 events", lines[1])
    assert re.fullmatch(r"at HEAD   \d+ lines standing, \d+ % of those added", lines[2])
    assert re.fullmatch(r"here      \d+ lines standing, \d+ % of those added", lines[3])
    assert lines[4] == ""
    assert re.fullmatch(r"brew\.py:4-\d +\*[0-9a-f]{8}  2026-03-02  claude-code  stepped Edit brew\.py", lines[5])
    assert lines[-1].startswith("test_brew.py:1-5 ")
    assert not any(line != line.rstrip() for line in lines)


def test_an_event_an_actor_and_nobody(tea: Tea) -> None:
    event = event_on(tea.here, tea.task, "test_brew.py")
    lines = tea.here("trace", event[:8]).stdout.splitlines()
    assert lines[0] == f"event     {event[:10]} stepped Write test_brew.py"
    value = tea.here("trace", event[:8], "--json").json
    assert (value["task"], value["event"], value["added"]) == (tea.task, event, 5)
    assert lines[1:3] == ["added     5 lines in 1 event", "at HEAD   5 lines standing, 100 % of those added"]
    whole = tea.here("trace", tea.task, "--json").json
    for name in ("claude-code", "agent:claude-code", "claude-opus-4-5"):
        value = tea.here("trace", name, "--json").json
        assert value["actor"] == name
        assert value["files"] == whole["files"]
    assert f"  {tea.task[:8]}  stepped Edit" in tea.here("trace", "claude-code").stdout
    assert tea.here("trace", "nobody", status=128).stderr.startswith("error: no task, event or actor matches 'nobody'")
    assert tea.here("trace", status=128).stderr.startswith("error: no active task")


def test_what_was_rolled_back_stands_no_more(tea: Tea) -> None:
    event = event_on(tea.here, tea.task, "test_brew.py")
    tea.here.now += 90 * 86_400 * SECOND  # after the session and its commit
    tea.here("rollback", event[:10])
    value = tea.here("trace", tea.task, "--json").json
    assert [each["here"] for each in value["events"] if each["event"] == event] == [0]
    assert [each["standing"] for each in value["events"] if each["event"] == event] == [5]
    assert value["uncounted"] == []
    tea.here("undo")
    assert tea.here("trace", event, "--json").json["work_tree"] == {"standing": 5, "share": 100.0}


def test_where_work_tree_and_head_differ(tea: Tea) -> None:
    (tea.repo.path / "test_brew.py").write_text("\n" + (tea.repo.path / "test_brew.py").read_text())
    (tea.repo.path / "brew.py").unlink()
    text = tea.here("trace", tea.task).stdout
    assert re.search(r"^test_brew\.py:2-6 .* test_brew\.py \(here\)$", text, re.MULTILINE)
    assert re.search(r"^test_brew\.py:1-5 .* test_brew\.py \(at HEAD\)$", text, re.MULTILINE)
    value = tea.here("trace", tea.task, "--json").json
    assert value["standing"] == sum(each["standing"] for each in value["events"])
    assert value["work_tree"]["standing"] == sum(each["here"] for each in value["events"]) == 5
    assert [file["path"] for file in value["files"]] == ["brew.py", "test_brew.py"]
    assert value["files"][0]["work_tree"] == []


def test_in_a_bare_repository(tea: Tea, tmp_path: Path) -> None:
    tea.repo.git("clone", "-q", "--mirror", ".", str(tmp_path / "bare.git"))
    lines = tea.here("trace", tea.task).stdout.splitlines()
    bare = tea.here("trace", tea.task, cwd=tmp_path / "bare.git").stdout.splitlines()
    assert bare == [line for line in lines if not line.startswith("here ")]
    value = tea.here("trace", tea.task, "--json", cwd=tmp_path / "bare.git").json
    assert value["work_tree"] is None
    assert [file["work_tree"] for file in value["files"]] == [None, None]


def test_contents_that_are_not_here_are_said(tea: Tea) -> None:
    tea.repo.git("update-ref", "-d", f"refs/pog/content/{tea.task}")
    said = tea.here("trace", tea.task)
    assert "the contents of 4 events are not here" in said.stderr
    assert "unknown   what 4 events added is not recorded, or not here\n" in said.stdout
    assert tea.here("trace", tea.task, "--json").json["share"] is None
    assert "at HEAD   0 lines standing\n" in said.stdout


def test_names_are_escaped(tea: Tea) -> None:
    tea.here("edit", tea.task, "--title", "a\x1b[31mb\u202ec")
    assert "a<U+001B>[31mb<U+202E>c" in tea.here("trace", tea.task).stdout
