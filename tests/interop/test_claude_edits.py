"""What edits did to files: sides, gaps and sub-agents, seen through whole transcripts."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pogstore.draft import DraftChange
from pogstore.interop.claude_code import MOST_DURING, read_session
from pogstore.interop.claude_edits import Replacement, read_whole, rewritten
from pogstore.interop.claude_lines import Outcome
from pogstore.interop.json_lines import Transcript
from pogstore.model import Actor
from tests.builders_claude import ROOT, SESSION, Script, numbered
from tests.interop.claude import codes, drafts, fold, of_kind, sides, start, steps


class TestEdits:
    def test_a_new_file_has_no_before_and_an_edit_both_sides(self) -> None:
        script = Script()
        script.write("src/a.py", "one\ntwo\n")
        script.edit("src/a.py", "one\ntwo\n", "two", "three")
        script.write("src/a.py", "four\n", "one\nthree\n")
        found = steps(script)
        assert [sides(draft.changes[0]) for draft in found] == [
            (None, b"one\ntwo\n"),
            (b"one\ntwo\n", b"one\nthree\n"),
            (b"one\nthree\n", b"four\n"),
        ]
        assert {draft.fields["coverage"] for draft in found} == {"scoped"}
        assert {draft.changes[0].path for draft in found} == {"src/a.py"}
        assert all(draft.inferred is None for draft in found)
        assert all(side is None or side.mode == "100644" for side in (found[0].changes[0].before,))

    def test_what_the_sides_hold_is_not_said_again(self) -> None:
        script = Script()
        script.edit("a.py", "one\n", "one", "two")
        script.edit("a.py", None, "lost", "found")
        known, unknown = steps(script)
        assert json.loads(known.texts["input"].text) == {"file_path": f"{ROOT}/a.py", "replace_all": False}
        assert "output" not in known.texts
        assert json.loads(unknown.texts["input"].text)["new_string"] == "found"
        assert "output" in unknown.texts

    @pytest.mark.parametrize("error", ["The user doesn't want to proceed with this tool use.", "String not found"])
    def test_a_failed_or_rejected_edit_changed_nothing(self, error: str) -> None:
        script = Script()
        given = {"file_path": f"{ROOT}/a.py", "old_string": "1", "new_string": "2"}
        script.answer(script.use("Edit", given), error, f"Error: {error}", error=True)
        (step,) = steps(script)
        assert step.fields["ok"] is False
        assert step.changes == ()
        assert "coverage" not in step.fields
        assert step.texts["output"].text == error

    def test_multi_edit_and_replace_all(self) -> None:
        script = Script()
        edits = [
            {"old_string": "a", "new_string": "b", "replace_all": True},
            {"old_string": "b c", "new_string": "d"},
        ]
        call = script.use("MultiEdit", {"file_path": f"{ROOT}/m.txt", "edits": edits})
        told = {"filePath": f"{ROOT}/m.txt", "edits": edits, "originalFileContents": "a a c\n"}
        script.answer(call, "Applied 2 edits", told)
        script.edit("m.txt", "b d\n", "b", "x", everywhere=True)
        assert [sides(draft.changes[0]) for draft in steps(script)] == [
            (b"a a c\n", b"b d\n"),
            (b"b d\n", b"x d\n"),
        ]
        assert "edits" not in json.loads(steps(script)[0].texts["input"].text)

    def test_a_notebook_has_sides_only_where_they_are_told_whole(self) -> None:
        script = Script()
        given = {"notebook_path": f"{ROOT}/n.ipynb", "new_source": "1"}
        told = {"notebook_path": f"{ROOT}/n.ipynb", "original_file": "{}", "updated_file": '{"cells": []}'}
        script.answer(script.use("NotebookEdit", given), "Updated", told)
        script.answer(script.use("NotebookEdit", given), "Updated", {"new_source": "1"})
        whole, partly = steps(script)
        assert sides(whole.changes[0]) == (b"{}", b'{"cells": []}')
        assert partly.changes == (DraftChange(path="n.ipynb"),)
        assert partly.fields["coverage_reason"] == "no-original"

    def test_what_does_not_follow_from_the_original_has_no_sides(self) -> None:
        script = Script()
        script.edit("a.py", "one\r\ntwo\r\n", "one\ntwo", "three")
        (step,) = steps(script)
        assert step.changes == (DraftChange(path="a.py"),)
        assert (step.fields["coverage"], step.fields["coverage_reason"]) == ("partial", "unverified")
        assert "edit-unverified" in codes(script)

    def test_line_endings_are_those_the_tool_saw(self) -> None:
        script = Script()
        script.edit("a.py", "one\r\ntwo\r\n", "two", "three")
        assert sides(steps(script)[0].changes[0]) == (b"one\r\ntwo\r\n", b"one\r\nthree\r\n")

    def test_a_person_s_hand_in_an_edit_is_told(self) -> None:
        script = Script()
        script.edit("a.py", "one\n", "one", "two", userModified=True)
        (step,) = steps(script)
        assert (step.fields["coverage"], step.fields["coverage_reason"]) == ("shared", "user-modified")
        assert sides(step.changes[0]) == (b"one\n", b"two\n")
        assert "edit-user-modified" in codes(script)

    def test_half_a_surrogate_pair_becomes_a_replacement_character(self) -> None:
        script = Script()
        script.write("a.txt", "x\ud83d\n")
        script.write("b.txt", "\U0001f600\n")
        escaped = json.dumps(script.entries[1]).replace("\n", "").encode()
        assert b"\\ud83d" in escaped
        found = read_session(SESSION, [Transcript("t", [json.dumps(each).encode() for each in script.entries])])
        changes = [draft.changes[0] for draft in found.tasks[0].drafts if draft.changes]
        assert [sides(change)[1] for change in changes] == ["x\ufffd\n".encode(), "\U0001f600\n".encode()]
        assert "repaired" in {oddity.code for oddity in found.oddities}

    def test_an_original_that_was_not_utf_8_is_not_taken_for_exact(self) -> None:
        script = Script()
        script.edit("latin.txt", "caf\ufffd one\n", "one", "two")
        script.edit("latin.txt", "caf\ufffd two\n", "two", "three")
        first, second = steps(script)
        assert first.fields["coverage_reason"] == "encoding"
        assert second.fields["coverage"] == "scoped"  # the tool wrote that character itself

    def test_an_edit_that_names_no_file_has_no_changes(self) -> None:
        script = Script()
        script.answer(script.use("Edit", {"old_string": "a"}))
        assert steps(script)[0].changes == ()
        assert "no-path" in codes(script)


class TestGaps:
    def test_a_change_no_call_explains_is_observed_before_the_step(self) -> None:
        script = Script()
        script.edit("a.py", "1\n", "1", "2")
        script.bash("make fmt")
        script.edit("a.py", "2 by hand\n", "2", "3")
        first, shell, gap, second = drafts(script)[1:]
        assert [draft.kind for draft in (first, shell, gap, second)] == ["stepped", "stepped", "observed", "stepped"]
        assert sides(gap.changes[0]) == (b"2\n", b"2 by hand\n")
        assert gap.inferred is True
        assert gap.fields == {"coverage": "partial", "coverage_reason": "gap"}
        assert fold(drafts(script), {"a.py": b"1\n"}) == {"a.py": b"3 by hand\n"}

    def test_a_shell_call_that_names_the_file_is_named_but_not_blamed(self) -> None:
        script = Script()
        script.bash("touch a.py")  # before the file was seen
        script.edit("a.py", "1\n", "1", "2")
        named = script.bash("sed -i s/2/7/ src/../a.py")
        script.bash("cat aa.py a.pyc")
        script.edit("a.py", "7\n", "7", "8")
        (gap,) = of_kind(drafts(script), "observed")
        assert gap.fields["during"] == [named]
        assert gap.actor == Actor(type="unknown")

    def test_only_the_latest_calls_are_named(self) -> None:
        script = Script()
        script.edit("a.py", "1\n", "1", "2")
        calls = [script.bash("vi a.py") for _ in range(MOST_DURING + 3)]
        script.edit("a.py", "7\n", "7", "8")
        (gap,) = of_kind(drafts(script), "observed")
        assert gap.fields["during"] == calls[3:]

    def test_a_file_that_is_made_again_was_deleted_meanwhile(self) -> None:
        script = Script()
        script.write("a.py", "1\n")
        script.bash("rm a.py")
        script.write("a.py", "2\n")
        (gap,) = of_kind(drafts(script), "observed")
        assert sides(gap.changes[0]) == (b"1\n", None)
        assert fold(drafts(script), {}) == {"a.py": b"2\n"}

    def test_no_gap_at_first_sight_nor_after_a_call_that_names_the_path_and_tells_nothing(self) -> None:
        script = Script()
        script.edit("a.py", "1\n", "1", "2")
        script.use("Edit", {"file_path": f"{ROOT}/a.py", "old_string": "2", "new_string": "3"})
        script.reply("no end was seen")
        script.edit("a.py", "3\n", "3", "4")
        assert of_kind(drafts(script), "observed") == []

    def test_a_call_whose_effect_is_not_known_explains_what_follows(self) -> None:
        script = Script()
        script.edit("a.py", "1\n", "1", "2")
        script.edit("a.py", "2\n", "not there", "3")
        script.edit("a.py", "3\n", "3", "4")
        assert of_kind(drafts(script), "observed") == []

    def test_what_was_found_and_not_told_shows_no_gap(self) -> None:
        script, agent = Script(), Script(agent_id="a1")
        script.write("a.py", "1\n")
        script.edit("a.py", "1\n", "1", "2")
        agent.edit("a.py", None, "1", "3")
        script.progress(agent.entries, "a1")
        script.edit("a.py", "caf\ufffd\n", "caf", "3")
        assert [draft.kind for draft in drafts(script)[1:]] == ["stepped"] * 4
        assert sides(steps(script)[2].changes[0]) == (b"1\n", b"3\n")

    def test_a_failed_edit_explains_nothing(self) -> None:
        script = Script()
        script.edit("a.py", "1\n", "1", "2")
        given = {"file_path": f"{ROOT}/a.py", "old_string": "2", "new_string": "3"}
        script.answer(script.use("Edit", given), "File has been modified since read", "Error", error=True)
        script.edit("a.py", "9\n", "9", "4")
        assert len(of_kind(drafts(script), "observed")) == 1


class TestSubAgents:
    def agent(self) -> Script:
        agent = Script(agent_id="a1b2c3", minute=1)
        agent.prompt("Look into it")
        agent.edit("a.py", "2\n", "2", "3")
        agent.write("new.py", "fresh\n")
        return agent

    def main(self) -> Script:
        main = Script()
        main.prompt()
        main.edit("a.py", "1\n", "1", "2")
        main.moment = main.moment.replace(minute=40)
        return main

    def told_by_progress(self) -> Script:
        main = Script()
        main.prompt()
        main.edit("a.py", "1\n", "1", "2")
        main.progress(self.agent().entries, "a1b2c3")
        return main

    def test_an_own_file_is_merged_by_time_and_exact(self) -> None:
        late = self.main()
        late.edit("a.py", "3\n", "3", "4")
        found = steps(self.agent(), late)
        assert [draft.actor.agent_id for draft in found] == [None, "a1b2c3", "a1b2c3", None]
        assert fold(drafts(late, self.agent()), {"a.py": b"1\n"}) == {"a.py": b"4\n", "new.py": b"fresh\n"}
        assert all(draft.inferred is None for draft in found)

    def test_its_prompt_is_the_agent_s_not_a_person_s(self) -> None:
        found = drafts(self.main(), self.agent())
        assert len(of_kind(found, "prompted")) == 1
        (note,) = of_kind(found, "noted")
        assert note.fields == {"topic": "claude-code:subagent-prompt"}
        assert (note.actor.type, note.actor.agent_id) == ("agent", "a1b2c3")

    def test_progress_alone_is_rebuilt_from_what_the_session_knows(self) -> None:
        found = steps(self.told_by_progress())
        assert [sides(draft.changes[0]) for draft in found] == [
            (b"1\n", b"2\n"),
            (b"2\n", b"3\n"),
            (None, b"fresh\n"),
        ]
        assert [draft.inferred for draft in found] == [None, True, None]  # the tool says itself that the file is new
        assert found[1].actor.agent_id == "a1b2c3"
        assert found[1].fields["coverage"] == "scoped"

    def test_an_own_file_beside_progress_tells_more_and_counts_once(self) -> None:
        both, alone = self.told_by_progress(), self.agent()
        for files in ((both, alone), (alone, both)):
            found = steps(*files)
            assert len(found) == 3
            assert all(draft.inferred is None for draft in found)

    @pytest.mark.parametrize("told", [True, False], ids=["told", "shown with numbers"])
    def test_a_file_that_was_read_serves_as_the_original(self, told: bool) -> None:
        main, agent = Script(), Script(agent_id="a1")
        if told:
            main.read("b.py", "x = 1\ny = 2\n")
        else:
            agent.read("b.py", "x = 1\ny = 2\n")
        agent.edit("b.py", None, "y = 2", "y = 3")
        main.progress(agent.entries, "a1")
        edit = steps(main)[-1]
        assert sides(edit.changes[0]) == (b"x = 1\ny = 2\n", b"x = 1\ny = 3\n")
        assert edit.inferred is True

    def test_the_newest_content_that_fits_once_is_taken(self) -> None:
        main, agent = Script(), Script(agent_id="a1")
        main.write("b.py", "x\ny\n")
        main.edit("b.py", "x\ny\n", "y", "x")
        agent.edit("b.py", None, "x", "z")
        agent.edit("b.py", None, "z", "x", everywhere=True)
        main.progress(agent.entries, "a1")
        assert [sides(draft.changes[0]) for draft in steps(main)[2:]] == [
            (b"x\ny\n", b"z\ny\n"),
            (b"z\ny\n", b"x\ny\n"),
        ]

    def test_what_cannot_be_rebuilt_has_a_path_and_no_sides(self) -> None:
        main, agent = Script(), Script(agent_id="a1")
        agent.edit("b.py", None, "x", "z")
        main.progress(agent.entries, "a1")
        main.edit("b.py", "z 2\n", "z", "y")
        first, second = steps(main)
        assert first.changes == (DraftChange(path="b.py"),)
        assert (first.fields["coverage"], first.fields["coverage_reason"]) == ("partial", "no-original")
        assert sides(second.changes[0]) == (b"z 2\n", b"y 2\n")
        assert of_kind(drafts(main), "observed") == []

    def test_a_write_over_something_unknown_has_only_its_after(self) -> None:
        main, agent = Script(), Script(agent_id="a1")
        call = agent.use("Write", {"file_path": f"{ROOT}/b.py", "content": "new\n"})
        agent.answer(call, "The file b.py has been updated.")
        again = agent.use("Write", {"file_path": f"{ROOT}/b.py", "content": "newer\n"})
        agent.answer(again, "The file b.py has been updated.")
        main.progress(agent.entries, "a1")
        first, second = steps(main)
        assert sides(first.changes[0]) == (None, b"new\n")
        assert (first.inferred, first.fields["coverage_reason"]) == (True, "no-before")
        assert sides(second.changes[0]) == (b"new\n", b"newer\n")
        assert (second.inferred, second.fields["coverage"]) == (True, "scoped")


ACTIONS = st.sampled_from(["edit", "edit", "write", "everywhere", "hand", "fail", "sub-agent", "delete"])
LINES = st.lists(st.sampled_from(["a", "b", "é", "\U0001f600", "", "a b", "  a\r"]), max_size=6)


class Work:
    """Files as a session and a person change them, beside the transcript that tells of it."""

    def __init__(self) -> None:
        self.script = Script()
        self.files: dict[str, str] = {}
        self.told: dict[str, str] = {}

    def do(self, action: str, path: str, lines: list[str], at: int) -> None:
        content, new = self.files.get(path), "\n".join(lines) + "\n"
        if action == "fail":
            given = {"file_path": self.script.path(path), "old_string": "no", "new_string": "yes"}
            self.script.answer(self.script.use("Edit", given), "String not found", "Error", error=True)
        elif action == "hand":
            self.files[path] = new
        elif action == "delete":
            self.files.pop(path, None)
        elif action == "write" or not content:
            self.script.write(path, new, content)
            self.files[path] = self.told[path] = new
        else:
            self.replace(action, path, content, new, at)

    def replace(self, action: str, path: str, content: str, new: str, at: int) -> None:
        lines = [line for line in content.split("\n") if line] or [content]
        old = lines[at % len(lines)]
        everywhere = action == "everywhere" or content.count(old) > 1
        if action == "sub-agent" and self.told.get(path) == content:
            agent = Script(agent_id=f"g{len(self.script.entries)}")
            agent.edit(path, None, old, new, everywhere=everywhere)
            self.script.progress(agent.entries, agent.agent_id or "")
        else:
            self.script.edit(path, content, old, new, everywhere=everywhere)
        self.files[path] = self.told[path] = content.replace(old, new)


@given(st.lists(st.tuples(ACTIONS, st.sampled_from(["a.py", "d/b.py"]), LINES, st.integers(0, 5)), max_size=10))
def test_folding_the_changes_of_any_chain_gives_the_files(chain: list[tuple[str, str, list[str], int]]) -> None:
    work = Work()
    for action, path, lines, at in chain:
        work.do(action, path, lines, at)
    for path in ("a.py", "d/b.py"):  # what a hand did last shows only when somebody writes
        work.do("write", path, ["end"], 0)
    found = drafts(work.script)
    assert fold(found, start(found)) == {path: content.encode() for path, content in work.files.items()}


@pytest.mark.parametrize(
    ("original", "old", "new", "everywhere", "after"),
    [
        ("a\nb\nc\n", "b", "", False, "a\nc\n"),  # the end of the line goes along
        ("a\nb\nc\n", "b\n", "", False, "a\nc\n"),
        ("a b c\n", " b", "", False, "a c\n"),
        ("a\nb", "b", "", False, "a\n"),
        ("b\nxb\nbx", "b", "", True, "xbx"),
        ("$1 a", "a", "$& \\1 \\g<0>", False, "$1 $& \\1 \\g<0>"),
        ("aa", "a", "b", False, None),
        ("aa", "a", "b", True, "bb"),
        ("a", "b", "c", True, None),
        ("a", "", "c", False, None),
        ("", "", "c", False, "c"),
    ],
)
def test_what_a_replacement_makes(original: str, old: str, new: str, everywhere: bool, after: str | None) -> None:
    assert rewritten(original, (Replacement(old, new, everywhere),)) == after


def test_without_replacements_nothing_is_known() -> None:
    assert rewritten("a", ()) is None


def test_an_edit_of_nothing_makes_the_file_unless_it_is_known_to_be_empty() -> None:
    script = Script()
    script.edit("new.py", "", "", "x = 1\n")
    script.write("empty.py", "")
    script.edit("empty.py", "", "", "y = 2\n")
    assert [sides(draft.changes[0]) for draft in steps(script)] == [
        (None, b"x = 1\n"),
        (None, b""),
        (b"", b"y = 2\n"),
    ]


def test_a_write_that_does_not_tell_the_original_continues_what_is_known() -> None:
    script = Script()
    script.write("a.py", "1\n")
    call = script.use("Write", {"file_path": f"{ROOT}/a.py", "content": "2\n"})
    script.answer(call, "The file has been updated", {"type": "update", "filePath": f"{ROOT}/a.py", "content": "2\n"})
    step = steps(script)[-1]
    assert sides(step.changes[0]) == (b"1\n", b"2\n")
    assert step.inferred is True


@pytest.mark.parametrize(
    ("given_", "answer", "content"),
    [
        ({}, numbered("a\n\nb\n"), "a\n\nb\n"),
        ({}, numbered("a") + "\n\n<system-reminder>Beware.</system-reminder>\n", "a"),
        ({"offset": 1}, numbered("a\n"), None),
        ({"limit": 9}, numbered("a\n"), None),
        ({}, numbered("a\n" * 2000), None),
        ({}, numbered("a" * 2000), None),
        ({}, numbered("a\nb").replace("2→", "3→"), None),
        ({}, "File does not exist.", None),
    ],
)
def test_what_was_read_whole_is_known(given_: dict[str, object], answer: str, content: str | None) -> None:
    found = read_whole({"file_path": "/f"} | given_, None, answer)
    assert found == (None if content is None else ("/f", content))


def test_a_part_of_a_file_is_not_the_file() -> None:
    file = {"filePath": "/f", "content": "a", "startLine": 1, "numLines": 1, "totalLines": 2}
    assert read_whole({}, Outcome(file=file), "") is None
    assert read_whole({}, Outcome(file=file | {"totalLines": 1}), "") == ("/f", "a")
