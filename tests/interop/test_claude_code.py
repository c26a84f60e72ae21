"""Transcripts in, drafts out: the four real ones against an expectation of plain `json`, the rest made by hand."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pogstore.draft import DraftChange, TaskDrafts, session_task_id
from pogstore.interop.claude_code import LONGEST_TEXT, Reading, bounded, read_session, read_transcripts
from pogstore.interop.json_lines import Transcript
from pogstore.model import KINDS, Actor, OddPath
from tests.builders_claude import MODEL, ROOT, SESSION, VERSION, Script
from tests.interop.claude import codes, drafts, fold, of_kind, reading, real, sides, start, steps

HOME_FILE = "/home/ada/.claude/plans/secret-plan.md"


def title(script: Script) -> str:
    definition = drafts(script)[0].definition
    assert definition is not None
    return definition.title


class TestRealTranscripts:
    """The four files of the shared data. The expectation reads them with `json` and nothing of ours."""

    @staticmethod
    def tasks() -> list[TaskDrafts]:
        transcripts = [Transcript(file.name, file.read_bytes().splitlines()) for file in real()]
        return [task for reading in read_transcripts(transcripts) for task in reading.tasks]

    @staticmethod
    def results(file: Path) -> Iterator[tuple[dict[str, Any], dict[str, Any], Any]]:
        """Yields every Edit and Write with its entry and what is told of its result."""
        uses = {}
        for entry in map(json.loads, file.read_text().splitlines()):
            content = entry["message"]["content"] if "message" in entry else []
            for block in content if isinstance(content, list) else []:
                if block["type"] == "tool_use" and block["name"] in ("Edit", "Write"):
                    uses[block["id"]] = block
                if block["type"] == "tool_result" and block["tool_use_id"] in uses:
                    yield uses[block["tool_use_id"]], entry, entry["toolUseResult"]

    def expected(self, file: Path) -> tuple[list[tuple[Any, ...]], int, int, list[tuple[Any, ...]]]:
        """Returns the edits inside, how many lie outside and how many failed, and the gaps."""
        inside, gaps, outside, failed = [], [], 0, 0
        last: dict[str, str] = {}
        for use, entry, result in self.results(file):
            if isinstance(result, str):
                failed += 1
                continue
            path, root = result["filePath"], entry["cwd"] + "/"
            if not path.startswith(root):
                outside += 1
                continue
            before, after = result["originalFile"], result.get("content")
            if use["name"] == "Edit":
                assert before.count(result["oldString"]) == 1
                after = before.replace(result["oldString"], result["newString"])
            if path in last and last[path] != before:
                gaps.append((path.removeprefix(root), last[path], before))
            last[path] = after
            inside.append((use["id"], path.removeprefix(root), before, after))
        return inside, outside, failed, gaps

    @staticmethod
    def written(change: DraftChange) -> tuple[Any, ...]:
        return (change.path, *(side and side.decode() for side in sides(change)))

    def test_each_edit_inside_has_exactly_its_sides(self) -> None:
        files, tasks = real(), self.tasks()
        assert len(tasks) == len(files) == 4
        total = 0
        for file, task in zip(files, tasks, strict=True):
            inside, *_ = self.expected(file)
            found = [
                (draft.fields["call_id"], *self.written(draft.changes[0]))
                for draft in of_kind(task.drafts, "stepped")
                if draft.changes and isinstance(draft.changes[0].path, str)
            ]
            assert found == inside
            total += len(found)
        assert total == 31

    def test_both_outside_have_no_sides_and_both_that_failed_no_changes(self) -> None:
        files, tasks = real(), self.tasks()
        edits = [draft for task in tasks for draft in task.drafts if draft.fields.get("class") == "edit"]
        outside = [draft for draft in edits if draft.changes and isinstance(draft.changes[0].path, OddPath)]
        assert {draft.changes for draft in outside} == {(DraftChange(path=OddPath(outside=True)),)}
        assert len(outside) == sum(self.expected(file)[1] for file in files) == 2
        failed = [draft for draft in edits if draft.fields["ok"] is False]
        assert all(not draft.changes for draft in failed)
        assert len(failed) == sum(self.expected(file)[2] for file in files) == 2
        assert len(edits) == 31 + 2 + 2

    def test_two_gaps_are_observed_before_the_edit_that_shows_them(self) -> None:
        files, tasks = real(), self.tasks()
        found, expected = [], []
        for file, task in zip(files, tasks, strict=True):
            expected += self.expected(file)[3]
            for draft, after in zip(task.drafts, task.drafts[1:], strict=False):
                if draft.kind == "observed":
                    assert (draft.inferred, draft.actor, draft.fields["coverage_reason"]) == (
                        True,
                        Actor(type="unknown"),
                        "gap",
                    )
                    assert draft.source
                    assert draft.source.key == f"gap/{after.fields['call_id']}"
                    found.append(self.written(draft.changes[0]))
        assert found == expected
        assert len(found) == 2

    def test_every_prompt_of_a_person_is_there_and_no_path_of_the_machine_in_an_event(self) -> None:
        files, tasks = real(), self.tasks()
        for file, task in zip(files, tasks, strict=True):
            entries = map(json.loads, file.read_text().splitlines())
            said = [entry["message"]["content"] for entry in entries if entry["type"] == "user"]
            typed = [each if isinstance(each, str) else each[0].get("text") for each in said]
            found = [draft.texts["text"].text for draft in of_kind(task.drafts, "prompted")]
            assert found == [text for text in typed if text is not None]
            events = [(draft.fields, [change.path for change in draft.changes]) for draft in task.drafts]
            assert "/Users/" not in repr(events)

    def test_changes_fold_file_by_file(self) -> None:
        for task in self.tasks():
            assert fold(task.drafts, start(task.drafts)).keys() >= start(task.drafts).keys()


class TestSession:
    def test_the_task_is_derived_from_the_session_and_defined_first_and_in_private(self) -> None:
        script = Script()
        script.prompt("\n  Tidy   the shop \nand more")
        script.reply("Done.")
        (task,) = reading(script).tasks
        assert task.task == session_task_id("claude-code", SESSION) == "28929eef-7a03-5a3d-941c-010f152bd8cd"
        defined = task.drafts[0]
        assert (defined.kind, defined.definition_class) == ("defined", "private")
        assert defined.definition is not None
        assert defined.definition.title == "Tidy the shop"
        assert defined.definition.intent == "\n  Tidy   the shop \nand more"
        assert defined.definition.aliases == (SESSION,)
        assert defined.time == task.drafts[1].time
        assert [draft.kind for draft in task.drafts] == ["defined", "prompted", "noted"]
        assert {text.class_ for draft in task.drafts for text in draft.texts.values()} == {"private"}

    def test_kinds_and_fields_are_those_of_the_format(self) -> None:
        script = Script()
        script.prompt()
        script.edit("a.py", "1\n", "1", "2")
        script.edit("a.py", "3\n", "3", "4")
        script.bash("make")
        for draft in drafts(script):
            encoded = KINDS[draft.kind].__struct_encode_fields__
            assert {*draft.fields, *draft.texts} <= set(encoded)

    def test_a_long_first_line_is_cut_and_a_session_without_prompt_is_untitled(self) -> None:
        long, silent = Script(), Script()
        long.prompt("tidy " * 40)
        silent.reply("Done.")
        titles = [found[0].definition for found in (drafts(long), drafts(silent))]
        assert titles[0] is not None
        assert titles[1] is not None
        assert len(titles[0].title) <= 80
        assert titles[0].title.endswith("…")
        assert titles[1].title == "untitled session"

    def test_a_title_is_the_person_s_before_the_program_s_and_a_summary_of_another_session_is_none(self) -> None:
        script = Script()
        asked = script.prompt()
        script.entries.insert(0, {"type": "summary", "summary": "Of another one", "leafUuid": "elsewhere"})
        assert title(script) == "Please tidy the shop"
        script.entries.append({"type": "summary", "summary": "Tidied", "leafUuid": asked["uuid"]})
        assert title(script) == "Tidied"
        script.add("custom-title", customTitle="Spring cleaning")
        script.entries.append({"type": "summary", "summary": "Tidied again", "leafUuid": asked["uuid"]})
        assert title(script) == "Spring cleaning"

    def test_actors_name_the_model_the_version_and_the_session(self) -> None:
        script = Script()
        script.prompt()
        script.bash()
        person, call = drafts(script)[1:]
        assert person.actor == Actor(type="human", session=SESSION)
        assert call.actor == Actor(type="agent", name="claude-code", model=MODEL, version=VERSION, session=SESSION)

    def test_tokens_count_once_a_message_at_its_first_call(self) -> None:
        script = Script()
        script.blocks({"type": "text", "text": "Now"}, message_id="msg_1", tokens=(7, 9))
        first = script.use("Bash", {"command": "a"}, message_id="msg_1")
        second = script.use("Bash", {"command": "b"}, message_id="msg_1")
        script.answer(first)
        script.answer(second)
        assert [draft.fields.get("usage") for draft in steps(script)] == [
            {"tokens_in": 107, "tokens_out": 9},
            None,
        ]

    def test_a_call_stands_where_it_ended_with_its_class_and_end(self) -> None:
        script = Script()
        script.bash("make", "fine")
        script.bash("make", "broken", error=True)
        script.answer(script.use("mcp__linear__get_issue", {"id": "X-1"}), [{"type": "text", "text": "an issue"}])
        script.answer(script.use("TodoWrite", {"todos": []}))
        script.read("a.py", "1\n")
        waiting = script.use("Task", {"prompt": "go"})
        script.reply("meanwhile")
        script.answer(waiting, "went", {"totalDurationMs": 1200})
        found = steps(script)
        assert [(draft.fields["tool"], draft.fields["class"], draft.fields["ok"]) for draft in found] == [
            ("Bash", "shell", True),
            ("Bash", "shell", False),
            ("mcp__linear__get_issue", "mcp", True),
            ("TodoWrite", "other", True),
            ("Read", "read", True),
            ("Task", "other", True),
        ]
        assert [draft.fields.get("coverage") for draft in found] == ["none", "none", "none", None, None, None]
        assert [draft.texts["output"].text if "output" in draft.texts else None for draft in found] == [
            "fine",
            "broken",
            "an issue",
            "ok",
            None,  # a call that only reads keeps its input
            "went",
        ]
        assert found[-1].fields["duration_ms"] == 1200
        assert drafts(script)[-1] == found[-1]
        assert json.loads(found[0].texts["input"].text) == {"command": "make", "description": "Run it"}

    def test_an_interrupted_shell_call_is_not_ok(self) -> None:
        script = Script()
        script.answer(script.use("Bash", {"command": "sleep 9"}), "", {"stdout": "", "interrupted": True})
        assert steps(script)[0].fields["ok"] is False

    def test_a_result_that_was_never_seen_leaves_ok_absent(self) -> None:
        script = Script()
        script.use("Bash", {"command": "reboot"})
        call = script.use("Edit", {"file_path": f"{ROOT}/a.py", "old_string": "1", "new_string": "2"})
        script.reply("again")
        script.use("Bash", {"command": "ls"})
        shell, edit, last = steps(script)
        assert "ok" not in shell.fields
        assert "ok" not in last.fields
        assert "ok" not in edit.fields
        assert (edit.fields["call_id"], edit.fields["coverage"], edit.fields["coverage_reason"]) == (
            call,
            "partial",
            "no-result",
        )
        assert edit.changes == (DraftChange(path="a.py"),)

    def test_an_edit_that_may_still_run_is_left_to_the_next_import(self) -> None:
        script = Script()
        script.prompt()
        call = script.use("Write", {"file_path": f"{ROOT}/a.py", "content": "1\n"})
        assert "unfinished" in codes(script)
        assert steps(script) == []
        script.answer(call, "File created successfully at: a.py", {"type": "create", "content": "1\n"})
        assert sides(steps(script)[0].changes[0]) == (None, b"1\n")

    def test_keys_name_the_call_the_entry_or_the_session(self) -> None:
        script = Script()
        del script.prompt()["uuid"]
        asked = script.prompt()
        call = script.bash()
        keys = [draft.source.key if draft.source else None for draft in drafts(script)]
        assert keys == [f"session/{SESSION}/defined", "line//1/0", f"{asked['uuid']}/0", f"call/{call}"]

    def test_a_long_output_is_cut_at_a_line_and_says_so(self) -> None:
        script = Script()
        script.bash("cat log", "0123456789\n" * 10_000)
        text = steps(script)[0].texts["output"].text
        assert len(text) < LONGEST_TEXT + 100
        assert text.endswith("\n0123456789\n[44474 more characters omitted]")
        assert bounded("x" * LONGEST_TEXT) == "x" * LONGEST_TEXT
        assert bounded("x" * (LONGEST_TEXT + 1)).endswith("x\n[1 more characters omitted]")

    def test_a_time_that_runs_backwards_does_not_change_the_order(self) -> None:
        script = Script()
        script.prompt("first")
        script.prompt("second")["timestamp"] = "2020-01-01T00:00:00Z"
        script.prompt("third")["timestamp"] = "not a time"
        found = drafts(script)[1:]
        assert [draft.texts["text"].text for draft in found] == ["first", "second", "third"]
        assert found[1].time == 1_577_836_800_000_000
        assert found[2].time == found[0].time


class TestPlaces:
    def test_a_path_outside_is_never_spelled_in_an_event(self) -> None:
        script = Script()
        script.write(HOME_FILE, "secret\n")
        script.edit(HOME_FILE, "changed\n", "changed", "again")
        found = drafts(script)[1:]
        assert [draft.kind for draft in found] == ["stepped", "stepped"]
        assert {draft.changes for draft in found} == {(DraftChange(path=OddPath(outside=True)),)}
        assert "secret-plan" not in repr([(draft.fields, draft.source) for draft in found])
        assert json.loads(found[0].texts["input"].text)["file_path"] == HOME_FILE

    @pytest.mark.parametrize("path", [f"{ROOT}/../x", f"{ROOT}/.git/config", f"{ROOT}/sub/.GIT/hooks/x", ROOT])
    def test_a_path_that_cannot_be_placed_is_outside_and_odd(self, path: str) -> None:
        script = Script()
        script.write(path, "x\n")
        assert steps(script)[0].changes == (DraftChange(path=OddPath(outside=True)),)
        assert "odd-path" in codes(script)

    def test_given_roots_count_alone_and_the_deepest_wins(self) -> None:
        script = Script()
        for path in (f"{ROOT}/a.py", f"{ROOT}/trees/one/a.py", "/mnt/copy/a.py"):
            script.write(path, path)
        found = [draft.changes[0].path for draft in steps(script, roots=["/mnt/copy", f"{ROOT}/trees/one"])]
        assert found == [OddPath(outside=True), "a.py", "a.py"]

    def test_a_session_that_goes_down_or_starts_below_keeps_one_root(self) -> None:
        script = Script(cwd=f"{ROOT}/src/deep")
        script.write("a.py", "1\n")
        script.cwd = ROOT
        script.write("b.py", "1\n")
        script.cwd = "/home/ada"
        script.write("c.py", "1\n")
        found = [draft.changes[0].path for draft in steps(script)]
        assert found == ["src/deep/a.py", "b.py", OddPath(outside=True)]

    @pytest.mark.parametrize(
        ("here", "path"),
        [(ROOT, "app/a.py"), (f"{ROOT}/app", "a.py"), (f"{ROOT}/ap", "a.py"), (f"{ROOT}/app/src", "a.py")],
    )
    def test_the_present_work_tree_is_the_root_of_a_session_in_it(self, here: str, path: str) -> None:
        script = Script(cwd=f"{ROOT}/app")
        script.write("a.py", "1\n")
        (task,) = read_session(SESSION, [Transcript("t", script.lines())], here=here).tasks
        assert [change.path for draft in task.drafts for change in draft.changes] == [path]

    def test_edits_in_another_directory_of_the_session_are_told_so_that_it_can_be_named(self) -> None:
        script = Script()
        script.write("a.py", "1\n")
        script.cwd = "/home/ada/src/other"
        script.write("b.py", "1\n")
        (oddity,) = reading(script).oddities
        assert oddity.code == "other-root"
        assert "'/home/ada/src/other'" in oddity.detail

    def test_windows_spells_one_path_in_many_ways(self) -> None:  # PC-72
        script = Script(cwd="C:\\Users\\ada\\shop")
        for path in (
            "C:\\Users\\ada\\shop\\src\\a.py",
            "\\\\?\\C:\\Users\\ada\\shop\\src\\a.py",
            "/c:/Users/ada/shop/src/a.py",
            "c:/users/Ada/shop/src/a.py",
        ):
            script.write(path, "1\n")
        assert {draft.changes[0].path for draft in steps(script)} == {"src/a.py"}


class TestFiles:
    def two_copies(self) -> tuple[Script, Script]:
        script = Script()
        script.prompt()
        script.edit("a.py", "1\n", "1", "2")
        early = Script()
        early.entries = list(script.entries)
        script.reply("Done.")
        script.edit("a.py", "2\n", "2", "3")
        return early, script

    @pytest.mark.parametrize("same_time", [False, True])
    def test_copies_of_a_growing_transcript_count_once_in_any_order(self, same_time: bool) -> None:
        early, late = self.two_copies()
        for entry in late.entries if same_time else ():
            entry["timestamp"] = "2026-02-05T11:30:00.000Z"
        alone = drafts(late)
        assert drafts(early, late) == drafts(late, early) == drafts(late, late) == alone
        assert drafts(early) == alone[: len(drafts(early))]

    def test_slices_of_one_transcript_are_put_together_in_any_order(self) -> None:
        _, whole = self.two_copies()
        head, tail = Script(), Script()
        head.entries, tail.entries = whole.entries[:2], whole.entries[2:]
        assert drafts(tail, head) == drafts(whole)

    def test_a_result_whose_call_is_nowhere_is_counted(self) -> None:
        _, whole = self.two_copies()
        whole.entries = whole.entries[2:]
        assert "result-without-call" in codes(whole)

    def test_blank_and_doubled_lines_change_nothing(self) -> None:
        _, script = self.two_copies()
        lines = [each for line in script.lines() for each in (line, b"\n", line, b"  \r\n")]
        assert read_session(SESSION, [Transcript("t", lines)]) == reading(script)

    def test_files_are_grouped_by_session(self) -> None:
        one, other, mixed = Script("s-1"), Script("s-2", name="o"), Script("s-2", name="x", minute=9)
        one.prompt("one")
        other.prompt("two")
        mixed.prompt("three")
        mixed.session = "s-1"
        mixed.prompt("four")
        named = [Transcript(str(n), iter(script.lines())) for n, script in enumerate((one, other, mixed))]
        found = list(read_transcripts([*named, Transcript("empty", []), Transcript("none", [b"{}\n"])]))
        told = {
            task.task: [draft.texts["text"].text for draft in of_kind(task.drafts, "prompted")]
            for reading in found
            for task in reading.tasks
        }
        assert told == {
            session_task_id("claude-code", "s-1"): ["one", "four"],
            session_task_id("claude-code", "s-2"): ["two", "three"],
        }
        assert [(oddity.code, oddity.where) for oddity in found[0].oddities] == [
            ("no-session", "empty"),
            ("no-session", "none"),
        ]

    def test_a_session_that_says_nothing_is_no_task(self) -> None:
        script = Script()
        script.add("system", subtype="turn_duration")
        assert reading(script) == Reading((), (), SESSION, (ROOT,))

    def test_lines_that_cannot_be_read_are_reported_with_their_number(self) -> None:
        script = Script()
        script.prompt()
        script.add("a-new-type")
        script.add("a-new-type")
        script.reply("Done.")
        lines = script.lines()
        lines[1:1] = [b"nonsense\n"]
        lines.append(lines[-1][:40])
        found = read_session(SESSION, [Transcript("t", lines)])
        assert [draft.kind for draft in found.tasks[0].drafts] == ["defined", "prompted", "noted"]
        assert [(oddity.code, oddity.where) for oddity in found.oddities] == [
            ("bad-line", "t:2"),
            ("truncated", "t:6"),
            ("unknown-type", "t"),
        ]
        assert found.oddities[-1].detail == "lines of the type 'a-new-type' (2 times)"

    def test_raw_control_characters_do_not_cost_the_line(self) -> None:  # PC-135
        script = Script()
        script.bash("printf x", "tab\there")
        lines = [line.replace(b"\\t", b"\t") for line in script.lines()]
        found = read_session(SESSION, [Transcript("t", lines)])
        assert found.tasks[0].drafts[-1].texts["output"].text == "tab\there"
        assert "repaired" in {oddity.code for oddity in found.oddities}
