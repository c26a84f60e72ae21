"""Rollouts of Codex: what was said and called, what patches did, and sessions that begin with another's lines."""

import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pogstore.draft import Draft, session_task_id
from pogstore.interop.claude_code import Reading
from pogstore.interop.codex import read_rollouts
from pogstore.interop.json_lines import Transcript
from pogstore.model import Link
from tests.interop.claude import of_kind, sides

ROOT = "/home/ada/shop"


class Rollout:
    """A rollout, line by line; the n-th is of the n-th second."""

    def __init__(self, session: str = "0199a-1", cwd: str = ROOT, **meta: Any) -> None:
        self.lines: list[dict[str, Any]] = []
        self.add("session_meta", id=session, cwd=cwd, cli_version="0.139.0", originator="codex_exec", **meta)
        self.add("turn_context", cwd=cwd, model="gpt-test")

    def add(self, type_: str, **payload: Any) -> "Rollout":
        stamp = f"2026-03-02T09:00:{len(self.lines):02}.500Z"
        self.lines.append({"timestamp": stamp, "type": type_, "payload": payload})
        return self

    def prompt(self, text: str) -> "Rollout":
        content = [{"type": "input_text", "text": text}]
        self.add("response_item", type="message", role="user", content=content)
        return self.add("event_msg", type="user_message", message=text, kind="plain")

    def patch(self, *lines: str, call_id: str = "p1", output: Any = None) -> "Rollout":
        text = "\n".join(("*** Begin Patch", *lines, "*** End Patch"))
        self.add("response_item", type="custom_tool_call", name="apply_patch", input=text, call_id=call_id)
        told = json.dumps({"output": "Success.", "metadata": {"exit_code": 0}}) if output is None else output
        return self.add("response_item", type="custom_tool_call_output", call_id=call_id, output=told)

    def shell(
        self, command: Any, call_id: str = "s1", output: Any = "Exit code: 0\nOutput:\nok", **more: Any
    ) -> "Rollout":
        arguments = json.dumps({"command": command, **more})
        self.add("response_item", type="function_call", name="shell", arguments=arguments, call_id=call_id)
        return self.add("response_item", type="function_call_output", call_id=call_id, output=output)

    def transcript(self) -> Transcript:
        return Transcript("rollout.jsonl", [json.dumps(line).encode() + b"\n" for line in self.lines])


def readings(*rollouts: Rollout, **options: Any) -> list[Reading]:
    return list(read_rollouts([each.transcript() for each in rollouts], **options))


def drafts(rollout: Rollout, **options: Any) -> tuple[Draft, ...]:
    (found,) = readings(rollout, **options)
    (task,) = found.tasks
    assert task.task == session_task_id("codex", str(found.session))
    return task.drafts


def changed(found: Iterable[Draft]) -> list[Any]:
    return [(change.path, change.from_, *sides(change)) for draft in found for change in draft.changes]


def test_an_exec_session_is_told_though_no_hook_was_called() -> None:
    """Case PC-133."""
    rollout = Rollout().add(
        "response_item", type="message", role="user", content=[{"type": "input_text", "text": "<environment_context>…"}]
    )
    rollout.prompt("Add a greeting").add(
        "response_item", type="reasoning", summary=[{"type": "summary_text", "text": "Hm"}]
    )
    rollout.patch("*** Add File: hello.py", "+print('hi')")
    rollout.add("response_item", type="message", role="assistant", content=[{"type": "output_text", "text": "Done."}])
    found = drafts(rollout)
    assert [(draft.kind, draft.fields.get("topic")) for draft in found] == [
        ("defined", None), ("prompted", None), ("noted", "codex:thinking"), ("stepped", None), ("noted", "codex:reply"),
    ]  # fmt: skip
    (step,) = of_kind(found, "stepped")
    assert step.fields == {"tool": "apply_patch", "class": "edit", "call_id": "p1", "ok": True, "coverage": "scoped"}
    assert changed([step]) == [("hello.py", None, None, b"print('hi')\n")]
    assert (step.actor.model, step.actor.version, step.actor.name) == ("gpt-test", "0.139.0", "codex")
    assert found[0].definition is not None
    assert (found[0].definition.title, found[0].definition_class) == ("Add a greeting", "private")
    assert of_kind(found, "prompted")[0].actor.type == "human"


def test_a_patch_starts_from_what_the_session_wrote_or_what_was_committed() -> None:
    rollout = Rollout().prompt("go").patch("*** Add File: a", "+1", "+2")
    rollout.patch("*** Update File: a", "*** Move to: b", "@@", " 1", "-2", "+zwei", call_id="p2")
    rollout.patch("*** Update File: old", "@@", "-x", "+y", call_id="p3").patch("*** Delete File: b", call_id="p4")
    rollout.patch("*** Update File: unknown", "@@", "-x", "+y", call_id="p5")
    found = of_kind(drafts(rollout, committed=lambda path, _: ["other\n", "x\n"] if path == "old" else []), "stepped")
    assert changed(found) == [
        ("a", None, None, b"1\n2\n"),
        ("b", "a", b"1\n2\n", b"1\nzwei\n"),
        ("old", None, b"x\n", b"y\n"),
        ("b", None, b"1\nzwei\n", None),
        ("unknown", None, None, None),
    ]
    assert [step.inferred for step in found] == [True, None, True, None, None]
    assert [step.fields.get("coverage_reason") for step in found] == [None, None, None, None, "no-original"]


@pytest.mark.parametrize(
    ("output", "ok"),
    [
        ("Exit code: 0\nWall time: 0.1 seconds", True),
        ("Exit code: 1\nWall time", False),
        ("Process exited with code 127\n", False),
        (json.dumps({"output": "no", "metadata": {"exit_code": 2}}), False),
        (json.dumps({"output": "yes", "metadata": {"exit_code": 0}}), True),
        ({"content": "no", "success": False}, False),
        ([{"type": "input_text", "text": "shown"}], True),
        ("apply_patch verification failed: no such line", False),
        ("plain", True),
    ],
)
def test_whether_a_call_went_well_is_told_in_many_ways(output: Any, ok: bool) -> None:
    rollout = Rollout().prompt("go").shell(["bash", "-lc", "make"], output=output)
    (step,) = of_kind(drafts(rollout), "stepped")
    assert (step.fields["ok"], step.fields["class"]) == (ok, "shell")


def test_a_failed_patch_and_one_without_an_end_change_nothing() -> None:
    rollout = Rollout().prompt("go").patch("*** Add File: a", "+1", output="apply_patch verification failed: x")
    rollout.patch("*** Add File: b", "+1", call_id="p2")
    rollout.lines.pop()
    failed, open_ = of_kind(drafts(rollout), "stepped")
    assert (failed.changes, failed.fields["ok"]) == ((), False)
    assert (changed([open_]), "ok" in open_.fields) == ([("b", None, None, None)], False)


def test_a_patch_through_a_shell_is_an_edit_and_other_commands_tell_by_their_words() -> None:
    patch = "*** Begin Patch\n*** Add File: a\n+1\n*** End Patch"
    rollout = Rollout().prompt("go").shell(["apply_patch", patch])
    rollout.shell(["bash", "-lc", f"apply_patch <<'EOF'\n{patch.replace(': a', ': b')}\nEOF"], "s2")
    rollout.shell(["bash", "-lc", "echo x > c"], "s3", workdir=f"{ROOT}/sub").shell("rm -rf d", "s4")
    found = of_kind(drafts(rollout), "stepped")
    assert [step.fields["class"] for step in found] == ["edit", "edit", "shell", "shell"]
    assert [(path, after) for path, _, _, after in changed(found)] == [("a", b"1\n"), ("b", b"1\n"), ("sub/c", b"x\n")]
    assert found[2].fields["coverage"] == "partial"
    assert found[3].fields["coverage"] == "none"


def test_where_the_repository_lay_decides_what_is_outside() -> None:
    rollout = Rollout(cwd=f"{ROOT}/sub").prompt("go").patch("*** Add File: a", "+1")
    rollout.patch("*** Add File: /etc/motd", "+1", call_id="p2")
    assert [path for path, *_ in changed(drafts(rollout, roots=[ROOT]))][:1] == ["sub/a"]
    inside, outside = of_kind(drafts(rollout), "stepped")
    assert [change.path for change in inside.changes] == ["a"]
    assert outside.fields["coverage_reason"] == "outside"
    assert not isinstance(outside.changes[0].path, str)


def test_a_fork_does_not_tell_again_what_it_was_forked_from() -> None:
    first = Rollout("s1").prompt("go").patch("*** Add File: a", "+1")
    fork = Rollout("s2", forked_from_id="s1").prompt("go").patch("*** Add File: a", "+1")
    fork.prompt("another way").patch("*** Add File: b", "+1", call_id="p2")
    _, second = readings(first, fork)
    (task,) = second.tasks
    assert changed(task.drafts) == [("b", None, None, b"1\n")]
    assert [draft.texts["text"].text for draft in of_kind(task.drafts, "prompted")] == ["another way"]
    assert task.drafts[0].links == (Link(rel="derived_from", task=session_task_id("codex", "s1")),)


def test_a_thread_of_a_sub_agent_is_a_part_of_its_parent() -> None:
    """Case PC-136: no person spoke there."""
    rollout = Rollout("s2", source={"subagent": {"thread_spawn": {"parent_thread_id": "s1", "depth": 1}}}).prompt("do")
    found = drafts(rollout)
    assert found[0].links == (Link(rel="parent", task=session_task_id("codex", "s1")),)
    assert {draft.actor.type for draft in found} == {"agent"}


def test_without_events_the_user_s_own_messages_are_the_prompts() -> None:
    rollout = Rollout()
    for text in ("<environment_context>x", "# AGENTS.md instructions for /x", "Do it"):
        rollout.add("response_item", type="message", role="user", content=[{"type": "input_text", "text": text}])
    assert [draft.texts["text"].text for draft in of_kind(drafts(rollout), "prompted")] == ["Do it"]


@pytest.mark.parametrize("lines", [[], [b"no json\n"], [b'{"type": "session_meta", "payload": {}}\n'], [b"[]\n"]])
def test_what_is_no_rollout_is_told(lines: list[bytes]) -> None:
    (found,) = read_rollouts([Transcript("x", lines)])
    assert found.tasks == ()
    assert "no-session" in {oddity.code for oddity in found.oddities}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["type", "text", "command"]), inner),
    max_leaves=6,
)
NAMES = st.sampled_from(
    [
        "type",
        "role",
        "content",
        "call_id",
        "name",
        "arguments",
        "input",
        "output",
        "message",
        "cwd",
        "source",
        "summary",
    ]
)
KINDS = st.sampled_from(["message", "function_call", "custom_tool_call", "function_call_output", "user_message", "x"])


@given(st.lists(st.tuples(st.sampled_from(["response_item", "event_msg", "turn_context", "compacted", "session_meta"]),
                          KINDS, st.dictionaries(NAMES, VALUES)), max_size=5))  # fmt: skip
def test_whatever_a_line_holds_is_no_error(lines: list[tuple[str, str, dict[str, Any]]]) -> None:
    rollout = Rollout()
    for type_, kind, payload in lines:
        rollout.add(type_, **({"type": kind} | payload))
    readings(rollout)
