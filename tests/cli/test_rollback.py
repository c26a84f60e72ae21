"""`git pog rollback` and `undo` as they are typed: names, options, what is said and written. RC-22, RC-28, RC-34."""

import json
import shlex
from pathlib import Path

import pytest

from pogstore.store.store import open_store
from tests.builders_rollback import Bench, untouched
from tests.cli.conftest import Here
from tests.conftest import SECOND, STARTED, Repo


class Told(Bench):
    """The repository of `here`, as a place where tool calls are recorded."""

    def __init__(self, here: Here) -> None:  # the parent makes a repository of its own
        self.path, self.repo, self.now = here.cwd, Repo(here.cwd), STARTED
        self.store = open_store(here.cwd)
        self.task = self.new_task()


@pytest.fixture
def told(here: Here) -> Told:
    """A file with three edits, of which the last two overlap."""
    found = Told(here)
    found.write("f", b"1\n2\n3\n")
    return found


@pytest.fixture
def edits(told: Told) -> list[str]:
    other = told.new_task()
    return [
        told.step({"f": b"a\n2\n3\n", "made": b"1\n"}),
        told.step({"f": b"b\n2\n3\n"}, task=other),
        told.step({"f": b"b\n2\n3c\n"}),
    ]


def test_a_conflict_names_the_smallest_way_out_as_a_command_that_works(
    here: Here, told: Told, edits: list[str]
) -> None:
    state = untouched(told.path, [".git/pog"])
    said = here("rollback", edits[0], status=1)
    assert said.stdout.startswith("conflict overlap: f: its lines were edited since")
    assert "clean with 1 further event (the fewest):" in said.stderr
    assert "nothing was written" in said.stderr
    value = here("rollback", "--json", edits[0], status=1).json
    assert value["cascade"]["events"] == [edits[1]]
    assert value["cascade"]["found"] == "smallest"
    line = next(line for line in said.stderr.splitlines() if line.startswith("hint: to take them out as well: "))
    assert line.endswith(value["cascade"]["command"])
    assert untouched(told.path, [".git/pog"]) == state
    words = shlex.split(value["cascade"]["command"])
    assert words[:3] == ["git", "pog", "rollback"]
    assert here(*words[2:]).stdout.startswith("updated f\ndeleted made\n")
    assert told.text("f") == "1\n2\n3c\n"


def test_a_cascade_is_shown_before_and_only_taken_if_it_is_asked_for(here: Here, told: Told, edits: list[str]) -> None:
    said = here("rollback", "-n", "--cascade", edits[0])
    assert said.stdout.startswith("would update f\nwould delete made\nplan ")
    assert "cascade: 1 further event (the fewest)" in said.stderr
    assert edits[1][:10] in said.stderr
    digest = said.stdout.splitlines()[-1].removeprefix("plan ")
    assert "clean with" not in here("rollback", "--only", edits[0], status=1).stderr
    assert here("rollback", "--only", "--json", edits[0], status=1).json["cascade"] is None
    value = here("rollback", "--cascade", "--plan", digest, "--json", edits[0]).json
    assert sorted(value["targets"]) == sorted(edits[:2])
    assert len(value["events"]) == 2, "one in each task"
    told.write("f", b"a person's\n")
    hints = here("rollback", "--cascade", edits[2], status=1).stderr
    assert "no further event would help" in hints
    assert "hint: '--keep' leaves such a path as it is, '--take' gives it the older side" in hints
    assert "hint: '--keep'" in here("rollback", "--only", edits[2], status=1).stderr


def test_keep_and_take_say_what_they_do(here: Here, told: Told, edits: list[str]) -> None:
    said = here("rollback", "-n", "--keep", edits[0])
    assert said.stdout.splitlines()[:2] == [
        "would delete made",
        f"kept as it is: conflict overlap: f: its lines were edited since (event {edits[0][:10]}; changed later by "
        f"{edits[1][:10]}, {edits[2][:10]})",
    ]
    said = here("rollback", "-n", "--take", edits[0])
    assert f"would take the older side: f: its lines were edited since (event {edits[0][:10]})" in said.stdout
    said = here("rollback", "--take", edits[0])
    assert f"took the older side: f: its lines were edited since (event {edits[0][:10]})" in said.stdout
    assert "'git pog undo' takes this back" in said.stderr
    assert told.text("f") == "1\n2\n3\n"
    here("undo")
    assert told.text("f") == "b\n2\n3c\n"
    value = here("rollback", "--keep", "--json", edits[0]).json
    assert [each["path"] for each in value["kept"]] == ["f"]
    assert value["outcomes"] == [{"event": edits[0], "outcome": "conflicted"}]
    assert value["writes"] == [{"path": "made", "action": "delete"}]


def test_a_chain_says_what_stays(here: Here, told: Told, edits: list[str]) -> None:
    said = here("rollback", "-n", f"{told.task}@{{2}}..")
    assert f"chain: what came after event {edits[0][:10]}, which itself stays" in said.stderr
    assert said.stdout.startswith("would update f\n")
    here("rollback", f"{edits[2]}..", status=128)


def test_only_some_paths_seen_from_where_it_is_typed(here: Here, told: Told) -> None:
    event = told.step({"src/a.py": b"1\n", "src/b.txt": b"1\n", "a.py": b"1\n"})
    for words in (["--path", "*.py", event], [event, "--", "*.py"], ["--path", "a.py", event, "--", ":!x"]):
        assert here("rollback", "-n", *words, cwd=told.path / "src").stdout.startswith("would delete src/a.py\nplan ")
    assert "no recorded change matches 'nothing'" in here("rollback", event, "--", "nothing", status=128).stderr
    answer = here("rollback", event, "--", "../../x", cwd=told.path / "src", status=128)
    assert answer.stderr.startswith("error: pathspec '../../x': ")
    assert "fatal" not in answer.stderr
    here("rollback", event, "--", ":(top)a.py", cwd=told.path / "src")
    assert set(told.files()) == {"README", "f", "src/a.py", "src/b.txt"}


def test_sub_tasks_come_along(here: Here, told: Told) -> None:
    child = here.task("child", "--parent", told.task)
    told.step({"own": b"1\n"})
    told.step({"theirs": b"1\n"}, task=child)  # type: ignore[arg-type]
    assert here("rollback", "-n", told.task).stdout.startswith("would delete own\nplan ")
    said = here("rollback", "-n", "--with-subtasks", told.task)
    assert said.stdout.startswith("would delete own\nwould delete theirs\nplan ")
    assert "needs a task" in here("rollback", "--with-subtasks", told.step({"x": b"1\n"}), status=129).stderr


def test_conflicts_are_laid_out_and_settled(here: Here, told: Told, edits: list[str], tmp_path: Path) -> None:
    out = tmp_path / "a place"
    state = untouched(told.path, [".git/pog"])
    assert here("rollback", "-n", "--materialize", str(out), edits[0]).stdout.startswith("would update f\n")
    assert not out.exists()
    said = here("rollback", "--materialize", str(out), edits[0])
    assert said.stdout == f"{out}/1/merged: f: its lines were edited since\n"
    assert f"hint: settle each file, then run: git pog rollback --continue '{out}'" in said.stderr
    assert untouched(told.path, [".git/pog"]) == state
    answer = here("rollback", "--continue", str(out), status=1)
    assert "conflict markers in '1/merged'" in answer.stderr
    assert (
        json.loads(here("rollback", "--json", "--continue", str(out), status=1).stderr)["error"]["code"] == "conflict"
    )
    (out / "1/merged").write_bytes(b"both\n2\n3c\n")
    assert untouched(told.path, [".git/pog"]) == state
    shown = here("rollback", "-n", "--continue", str(out))
    digest = shown.stdout.splitlines()[-1].removeprefix("plan ")
    assert here("rollback", "--continue", str(out), "--plan", digest).stdout.startswith("updated f\ndeleted made\n")
    assert told.text("f") == "both\n2\n3c\n"
    assert "is not" in here("rollback", "--continue", str(out), status=1).stderr
    here("undo")
    value = here("rollback", "--json", "--materialize", str(tmp_path / "b"), edits[0]).json
    conflict = {"path": "f", "reason": "overlap", "event": edits[0], "merged": "1/merged"}
    assert value == {"directory": str(tmp_path / "b"), "conflicts": [conflict]}


@pytest.mark.parametrize(
    "words",
    [
        "", "--only --cascade {event}", "--keep --take {event}", "--cascade --keep {event}", "--continue d {event}",
        "--continue d --path x", "--materialize d --take {event}", "--materialize d --continue d", "--path x",
        "--with-subtasks --continue d {event}",
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_wrong_usage(here: Here, told: Told, edits: list[str], words: str) -> None:
    here("rollback", *words.format(event=edits[0]).split(), status=129)


@pytest.mark.parametrize("command", [("rollback",), ("show",), ("diff",), ("done",), ("log",)], ids=" ".join)
def test_what_a_name_is_that_no_task_and_no_event_has_is_said(
    here: Here, told: Told, edits: list[str], command: tuple[str, ...]
) -> None:
    commit = told.repo.commit({"other": "1\n"}, "theirs")[:8]
    here("note", "x", "--task", told.task, "--as", "robot of mine")
    said = here(*command, commit, status=128).stderr
    assert said.endswith(f"\nhint: it names a commit; 'git pog lineage {commit}' shows what that comes from\n")
    said = here(*command, "robot of mine", status=128).stderr
    assert "hint: it names an actor; 'git pog trace 'robot of mine'' shows" in said
    assert here(*command, "nobody", status=128).stderr.endswith("hint: try 'git pog list --all'\n")


# ---- undo


def test_an_undo_after_edits_says_what_to_do(here: Here, told: Told, edits: list[str]) -> None:
    """RC-22, RC-28, RC-34: what is refused, that nothing was lost, and the command that keeps both."""
    operation = here("rollback", "--json", edits[2]).json["events"][0]
    told.write("f", b"b\n2\n3\na person's\n")
    said = here("undo", status=1)
    assert said.stdout.startswith(f"conflict edited-since: f: it was edited since (event {operation[:10]}")
    assert "nothing was written" in said.stderr
    assert f"'git pog rollback {operation[:16]}'" in said.stderr
    assert told.text("f") == "b\n2\n3\na person's\n"
    here("rollback", operation[:16])
    assert told.text("f") == "b\n2\n3c\na person's\n"


def test_an_undo_names_what_is_next_to_take_back(here: Here, told: Told, edits: list[str]) -> None:
    """A second undo makes the operation again, so the one before it goes back by its id alone."""
    first = here("rollback", "--json", edits[2]).json["events"][0]
    again = "hint: 'git pog undo' takes this back\n"
    here("rollback", edits[1])
    words = f"hint: 'git pog rollback {first[:16]}' takes back what was done before it: the rollback of "
    said = here("undo").stderr
    assert said.startswith(again + words), said
    assert said.count("hint: ") == 2
    assert here("undo").stderr == again, "it was made again"
    assert here("undo").stderr.startswith(again + words)
    assert told.text("f") == "b\n2\n3\n"
    here("rollback", first[:16])
    assert told.text("f") == "b\n2\n3c\n"
    assert here("undo", "--json").stderr == ""


def test_undo_of_undo_of_undo(here: Here, told: Told, edits: list[str]) -> None:
    here("rollback", edits[2])
    texts = ["b\n2\n3\n"]
    for _ in range(4):
        assert here("undo").stdout.startswith("updated f\n")
        texts.append(told.text("f"))
    assert texts == ["b\n2\n3\n", "b\n2\n3c\n"] * 2 + ["b\n2\n3\n"]


def test_what_is_gone_says_what_take_keep_and_a_directory_do(here: Here, told: Told, tmp_path: Path) -> None:
    event = told.step({"f": b"1\n2\nthree\n"})
    (told.path / "f").rename(told.path / "moved")
    assert "nothing was written: all of it is kept" in here("rollback", "--keep", event).stderr
    said = here("rollback", "--materialize", str(tmp_path / "out"), event)
    assert not list((tmp_path / "out" / "1").glob("merged*"))
    assert "hint: there is no '1/merged' yet: put the file that you want there" in said.stderr
    assert "or make a file '1/delete' (it is gone already, so that changes nothing)" in said.stderr
    (tmp_path / "out" / "1" / "merged").write_bytes((tmp_path / "out" / "1" / "theirs").read_bytes())
    assert here("rollback", "-n", "--continue", str(tmp_path / "out")).stdout.startswith("would create f\n")
    said = here("rollback", "--take", event)
    assert "made anew there: if it was moved, the file under its new name stays as it is" in said.stdout
    assert told.text("f") == "1\n2\n3\n"


def test_a_file_that_git_has_renamed_is_named_where_it_is(here: Here, told: Told) -> None:
    lines = "".join(f"line {n}\n" for n in range(9))
    told.write("f", lines.encode())
    told.repo.git("add", "f")
    told.repo.git("commit", "-qm", "f")
    event = told.step({"f": lines.replace("line 3", "line three").encode()})
    told.repo.git("commit", "-qam", "the step")
    (told.path / "inv").mkdir()
    told.repo.git("mv", "f", "inv/rep")
    at = f"{told.now // SECOND + 60} +0000"
    told.repo.git("commit", "-qm", "moved", env={"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at})
    said = here("rollback", event, status=1)
    assert said.stdout.startswith("conflict deleted-since: f: ")
    assert "moved: git has renamed f to inv/rep, which is left as it is" in said.stderr
