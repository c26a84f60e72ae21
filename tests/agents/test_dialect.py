"""What a hook knows of a step: the same of each agent, whatever it calls things."""

import json
from typing import Any

import pytest

from pogstore.agents import dialect, heard
from pogstore.agents import generic as generic_said
from pogstore.agents.dialect import DIALECTS, Step, understand
from pogstore.agents.drain import READERS
from pogstore.agents.generic import paths_of
from pogstore.interop.claude_session import CLASSES

STEPS = (heard.BEGIN, heard.END, heard.FAILED)


def understood(agent: str, **members: Any) -> Step:
    return understand(agent, json.dumps({"cwd": "/r", **members}).encode())


def claude(event: str, tool: str = "", **given: Any) -> Step:
    return understood("claude-code", hook_event_name=event, tool_name=tool, tool_input=given)


def generic(event: str, **members: Any) -> Step:
    return understood("generic", event=event, **members)


@pytest.mark.parametrize(("tools", "class_"), [(dialect.EDITS, "edit"), (dialect.SHELLS, "shell")])
def test_the_classes_of_tools_are_those_of_the_transcripts(tools: tuple[str, ...], class_: str) -> None:
    assert set(tools) == {tool for tool, each in CLASSES.items() if each == class_}


def test_the_contract_has_one_spelling() -> None:
    assert set(DIALECTS["generic"].steps) == {word for word, each in generic_said.EVENTS.items() if each in STEPS}
    assert {*dialect.CLASSES, "other"} == set(generic_said.CLASSES)
    own = DIALECTS["generic"]
    assert {own.event, own.cwd, own.tool, own.given, *own.own, *own.paths} <= generic_said.MEMBERS


def test_who_is_heard_is_understood() -> None:
    assert set(READERS) <= set(DIALECTS)


@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse", "PostToolUseFailure"])
def test_a_step_of_claude_code(event: str) -> None:
    step = claude(event, "Edit", file_path="a", path="b", command="c")
    assert (step.event, step.cwd, step.paths, step.whole, step.command) == (event, "/r", ["a"], False, "")
    step = claude(event, "Bash", file_path="a", command="sed b")
    assert (step.paths, step.whole, step.command) == ([], True, "sed b")
    assert claude(event, "mcp__files__write", path="a").whole
    assert not claude(event, "Read", file_path="a").paths
    assert not claude(event, "Agent").whole, "its own calls are told by themselves"


@pytest.mark.parametrize("event", ["tool_start", "tool_end", "tool_failed"])
def test_a_step_of_any_agent(event: str) -> None:
    step = generic(event, **{"class": "edit"}, paths=["a", 1, "b/c"])
    assert (step.event, step.cwd, step.paths, step.whole) == (event, "/r", ["a", "b/c"], False)
    assert generic(event, **{"class": "edit"}, path="a").paths == ["a"]
    assert generic(event, **{"class": "edit"}, paths="a").paths == ["a"]
    assert generic(event, **{"class": "edit"}, paths=["", "b"], path="a").paths == ["b"]
    assert generic(event, **{"class": "edit"}, input={"file_path": "a"}).paths == [], "nothing is guessed"
    assert not generic(event, **{"class": "edit"}).whole


@pytest.mark.parametrize(
    ("members", "whole"),
    [
        ({"class": "shell"}, True),
        ({"class": "shell", "paths": ["a"]}, True),
        ({"class": "mcp"}, True),
        ({"class": "other"}, True),
        ({"class": "of our own"}, True),
        ({"class": "other", "paths": ["a"]}, False),
        ({"class": "read"}, False),
        ({"tool": "sed"}, True),
        ({"tool": "mcp__x", "path": "a"}, False),
        ({"": "edit", "tool": "Edit"}, True),
        ({}, True),
    ],
)
def test_what_names_no_files_may_have_changed_any(members: dict[str, Any], whole: bool) -> None:
    assert generic("tool_end", **members).whole is whole


@pytest.mark.parametrize("given", [{"command": "cd ../b"}, "cd ../b"])
def test_a_command_may_be_the_input_itself(given: object) -> None:
    assert generic("tool_end", **{"class": "shell"}, input=given).command == "cd ../b"


@pytest.mark.parametrize(
    "members",
    [
        {"paths": ["a", "b", "", 3]},
        {"paths": "a"},
        {"path": "a"},
        {"path": "a", "paths": ["b"]},
        {"paths": {"a": "b"}},
        {},
    ],
)
def test_the_files_are_those_that_a_drain_hears_of(members: dict[str, Any]) -> None:
    assert generic("tool_end", **members).paths == paths_of(members)


@pytest.mark.parametrize("name", ["file_path", "filepath", "path", "filePath", "notebook_path"])
def test_the_file_of_an_edit_has_many_names(name: str) -> None:
    for agent, tool in (("cursor", "Write"), ("gemini", "replace"), ("codex", "Edit"), ("claude-code", "Edit")):
        names = DIALECTS[agent]
        said = {"hook_event_name": names.steps[0], names.tool: tool, names.given: {name: "a"}}
        assert understood(agent, **said).paths == ["a"]


@pytest.mark.parametrize("name", ["file_paths", "filepaths", "files", "paths"])
def test_an_edit_may_name_several_files(name: str) -> None:
    given = {name: ["a", 1, "", "b/c"]}
    step = understood("cursor", hook_event_name="preToolUse", tool_name="Write", tool_input=given)
    assert (step.paths, step.whole) == (["a", "b/c"], False)


def test_before_a_tool_runs_it_can_be_refused() -> None:
    assert [claude(event).asks for event in ("PreToolUse", "PostToolUse", "Stop")] == [True, False, False]
    assert [generic(event).asks for event in ("tool_start", "tool_end", "note")] == [True, False, False]


def test_a_turn_and_a_session_end() -> None:
    assert [claude(event).ends for event in ("Stop", "SessionEnd", "SubagentStop")] == [True, True, False]
    assert [claude(event).whole for event in ("Stop", "SessionEnd", "UserPromptSubmit")] == [True, False, False]
    assert [generic(event).ends for event in ("turn_end", "session_end", "note")] == [True, True, False]
    assert [generic(event).whole for event in ("turn_end", "session_end", "note")] == [True, False, False]


@pytest.mark.parametrize("agent", DIALECTS)
@pytest.mark.parametrize("payload", [b"", b"[]", b'{"": "shell", "cwd": 1', b'{"event": {"a": "b"}}'])
def test_of_nonsense_nothing_is_known(agent: str, payload: bytes) -> None:
    step = understand(agent, payload)
    assert (step.event, step.cwd, step.paths, step.whole, step.ends, step.command) == ("", "", [], False, False, "")
