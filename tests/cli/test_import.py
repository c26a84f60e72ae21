"""Tests of `git pog import`: what it says, of which what it does is tested beside the importers."""

import json
from pathlib import Path

import pytest

from tests.builders_claude import Script
from tests.cli.conftest import Here
from tests.cli.test_json import SAMPLE
from tests.conftest import Repo

TASK = "type: task\ntitle: Sort the shelf\nstatus: pending\npriority: high\nid: not-a-uuid\nwhat_is_this: x\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of POG Task with one odd file."""
    (tmp_path / "tasks" / "list" / "project" / "area").mkdir(parents=True)
    (tmp_path / "tasks" / "list" / "project" / "area" / "sort.yaml").write_text(TASK)
    return tmp_path / "tasks"


def test_task_files(here: Here, folder: Path) -> None:
    said = here("import", "pog-task", str(folder))
    assert said.stdout.startswith("1 new task, ")
    again = here("import", "pog-task", str(folder), "--json").json
    assert (again["tasks"], again["events"]) == (0, 0)
    assert again["known"] > 0
    assert here("list", "--json").json[0]["title"] == "Sort the shelf"


@pytest.mark.parametrize(("below", "hinted"), [("list", True), ("list/project", True), ("..", True), ("other", False)])
def test_a_folder_without_a_list_is_refused_with_the_right_one_named(
    here: Here, folder: Path, below: str, hinted: bool
) -> None:
    (folder / "other").mkdir()
    said = here("import", "pog-task", str(folder / below), status=128).stderr
    assert f"error: no list/ in '{folder / below}': " in said
    assert (f"\nhint: did you mean '{folder}'?\n" in said) is hinted
    assert here("list", "--json").json == []


def test_oddities_are_counted_or_listed(here: Here, folder: Path) -> None:
    said = here("import", "pog-task", str(folder))
    assert "\nodd: " in said.stdout
    assert said.stderr == "hint: '--oddities' lists each of them\n"
    every = here("import", "pog-task", str(folder), "--oddities")
    assert every.stderr == ""
    odd = here("import", "pog-task", str(folder), "--json").json["oddities"]
    assert len(odd) == len(every.stdout.splitlines()) - 1 > 0
    for each in odd:
        assert f"{each['code']} {each['where']}: {each['detail']}" in every.stdout


def test_transcripts(here: Here, tmp_path: Path) -> None:
    said = here("import", "claude-code", str(SAMPLE), "--root", "/home/ada/tea")
    assert said == ("1 new task, 10 new events\n", "", 0)
    assert here("import", "claude-code", str(SAMPLE), "--root", "/home/ada/tea").stdout == (
        "0 new tasks, 0 new events, 10 records known before\n"
    )
    edits = [change["path"] for event in here("log", "--json").json for change in event.get("changes", ())]
    assert set(edits) == {"brew.py", "test_brew.py"}


def test_a_directory_of_transcripts(here: Here, tmp_path: Path) -> None:
    deep = tmp_path / "projects" / "tea"
    deep.mkdir(parents=True)
    (deep / "one.jsonl").write_bytes(SAMPLE.read_bytes())
    (deep / "two.jsonl").write_bytes(SAMPLE.read_bytes().replace(b"7d0c3f5e", b"7d0c3f5f"))
    (deep / "notes.txt").write_text("no transcript")
    assert here("import", "claude-code", str(tmp_path / "projects"), "--json").json["tasks"] == 2


def test_where_the_repository_lay_decides_what_is_outside(here: Here) -> None:
    here("import", "claude-code", str(written(here, "a.py", "/elsewhere/b.py")))
    assert [path for path in changed(here) if path != "a.py"] == [{"outside": True}]
    assert "(outside the repository)" in here("log", "--oneline").stdout


def test_roots_that_hold_no_edit_are_refused(here: Here) -> None:
    said = here("import", "claude-code", str(SAMPLE), "--root", "/somewhere/else", "--root", "/tea", status=128)
    assert said.stdout == ""
    assert said.stderr == (
        "error: no edit lies below '/somewhere/else', '/tea': nothing was imported\n"
        "hint: the directories that were worked in: '/home/ada/tea'\n"
    )
    assert here("list", "--json").json == []
    script = Script()
    script.prompt()
    (here.cwd / ".git" / "talk.jsonl").write_text(script.text())
    assert here("import", "claude-code", ".git/talk.jsonl", "--root", "/tea", "--json").json["tasks"] == 1


def test_files_that_tell_of_no_session_are_refused_unless_another_does(here: Here, tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("")
    (tmp_path / "words").write_text("root:x:0:0\n")
    (tmp_path / "none").mkdir()
    for name in ("empty", "words", "none"):
        said = here("import", "claude-code", str(tmp_path / name), status=128)
        assert f"no transcript in '{tmp_path / name}'" in said.stderr
    every = [str(tmp_path / name) for name in ("empty", "words", "none")]
    assert here("import", "claude-code", *every, str(SAMPLE), "--json").json["tasks"] == 1


def written(here: Here, *paths: str, below: str = "", contents: str = "1\n") -> Path:
    """Returns the transcript of a session in a directory of the work tree: it wrote some files."""
    script = Script(cwd=str(here.cwd / below))
    script.prompt()
    for path in paths:
        script.write(path, contents)
    transcript = here.cwd / ".git" / "session.jsonl"
    transcript.write_bytes(script.text().encode())
    return transcript


def changed(here: Here) -> list[object]:
    return [change["path"] for event in here("log", "--json").json for change in event.get("changes", ())]


def test_a_session_that_began_below_the_top_is_recorded_from_the_top(here: Here) -> None:
    here("import", "claude-code", str(written(here, "a.py", below="src")))
    assert changed(here) == ["src/a.py"]


def test_contents_of_ignored_files_are_not_kept(here: Here, repo: Repo) -> None:
    repo.commit({"build/tracked": "1\n"})
    repo.commit({".gitignore": ".env\nbuild/\n!:kept\n"})
    (repo.path / "link").symlink_to("build")
    secret = "colour of the door: vermilion"
    script = Script(cwd=str(repo.path))
    script.prompt()
    script.edit(".env", f"{secret}\n", "of", "on")
    script.edit(".env", "somebody wrote: vermilion\n", "wrote", "said")
    for path in ("link/x", "build/new", ".env"):
        script.write(path, f"{secret}, {path}\n")
    script.write(":kept", "fine\n")
    script.write("build/tracked", "2\n", "1\n")
    (repo.path / ".git" / "session.jsonl").write_text(script.text())
    here("import", "claude-code", ".git/session.jsonl")
    held = repo.git("cat-file", "--batch", "--batch-all-objects")
    assert "vermilion" not in held
    assert "fine" in held
    changes = {
        change["path"]: event.get("coverage_reason") if "after" not in change else "kept"
        for event in here("log", "--json").json
        for change in event.get("changes", ())
    }
    assert changes == {
        ".env": "ignored", "link/x": "ignored", "build/new": "ignored", ":kept": "kept", "build/tracked": "kept"
    }  # fmt: skip
    (repo.path / ".env").write_text(secret)
    here("blame", ".env", status=None)
    task = here("list", "--json").json[0]["task"]
    assert "not-recorded" in here("rollback", task, "--json", status=None).stdout


@pytest.mark.parametrize("words", [["claude-code", "none.jsonl"], ["pog-task", "none"]])
def test_what_is_not_there_is_named(here: Here, words: list[str]) -> None:
    said = here("import", *words, "--json", status=128)
    assert words[1] in json.loads(said.stderr)["error"]["message"]


def test_an_edit_that_tells_no_original_starts_from_what_was_committed(here: Here, repo: Repo) -> None:
    """The newest content by then that holds the old text once; a text that a command appends continues the newest."""
    repo.commit({"a.py": "older\none\n", "b.py": "first\n"})
    repo.commit({"a.py": "one\ntwo\n"})
    repo.commit({"a.py": "one\none\n"})
    repo.git("commit", "--quiet", "--allow-empty", "-m", "later", "--date", "2099-01-01T00:00:00Z")
    repo.commit({"a.py": "one\nlate\n"})
    repo.git("commit", "--quiet", "--amend", "--no-edit", "--date", "2099-01-02T00:00:00Z")
    script = Script(cwd=str(repo.path))
    script.answer(script.use("Edit", {"file_path": "a.py", "old_string": "one", "new_string": "1"}))
    script.answer(script.use("Edit", {"file_path": "a.py", "old_string": "nowhere", "new_string": "1"}))
    script.bash("echo second >> b.py")
    script.bash("echo x >> unheard.py")
    (repo.path / ".git" / "session.jsonl").write_text(script.text())
    here("import", "claude-code", ".git/session.jsonl")
    found = [event for event in here("log", "--json").json[::-1] if event["kind"] == "stepped"]
    sides = [
        [[change.get(side, {}).get("size") for side in ("before", "after")] for change in event.get("changes", [])]
        for event in found
    ]
    assert sides == [[[8, 6]], [[None, None]], [[6, 13]], []]
    assert [event.get("inferred") for event in found] == [True, None, True, None]
