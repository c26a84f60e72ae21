"""`git pog replay` as people type it: what is printed, what it exits with, what it leaves.

RC-38, RC-46, UC-33.
"""

import json
from pathlib import Path

import pytest

from pogstore.history import replayed
from tests.cli.conftest import Here
from tests.conftest import Repo


@pytest.fixture
def task(here: Here, repo: Repo) -> str:
    """A task with three recorded commands, two of them on one file."""
    task = here.task("Mend it")
    here("start", task)
    for command in ("printf '1\\n2\\n3\\n' > f", "sed -i s/2/two/ f", "cp f g"):
        here("run", "--", "sh", "-c", command)
    return task


def test_it_says_what_came_of_each_event(here: Here, task: str) -> None:
    answer = here("replay")
    lines = answer.stdout.splitlines()
    assert [line.split()[0] for line in lines[:-1]] == ["applied"] * 3
    assert lines[-1] == "3 events: 3 applied"
    for option in ("--check", "--dry-run", "-n"):
        assert here("replay", task, option).stdout == answer.stdout
    assert here("replay", "--all").stdout == answer.stdout
    found = here("replay", "@{3}..", "--json").json
    assert (found["ok"], found["recorded"], len(found["events"])) == (True, [], 2)


def test_a_conflict_is_named_and_nothing_is_written(here: Here, repo: Repo, task: str) -> None:
    repo.commit({"f": "one\n"}, "theirs")
    answer = here("replay", "--onto", "HEAD", "--branch", "again", status=1)
    assert "f: recreated-since: something else stands there now" in answer.stdout
    assert "which was not applied" in answer.stdout
    assert answer.stderr == "nothing was written; '--partial' leaves out what cannot be applied\n"
    assert repo.git("for-each-ref", "refs/heads/again") == ""
    assert all(event["kind"] != "replayed" for event in here("log", "--json").json), "RC-38: nothing done, nothing told"
    answer = here("replay", "--onto", "HEAD", "--branch", "again", "--partial", "--json", status=1)
    assert (answer.json["ok"], answer.json["branch"]) == (False, "again")
    assert repo.git("show", "again:f") == "one"


def test_a_branch_and_a_directory_are_made(here: Here, repo: Repo, tmp_path: Path, task: str) -> None:
    status = repo.git("status", "--porcelain")
    made = here("replay", "--branch", "again", "--as", "human:Bob", "--json").json
    assert made["tip"] == repo.git("rev-parse", "again") == made["events"][-1]["commit"]
    assert (made["base"], len(made["recorded"])) == (repo.git("rev-parse", "HEAD"), 1)
    said = here("replay", "--into", str(tmp_path / "out")).stdout
    assert f"3 files in '{tmp_path / 'out'}'" in said
    assert (tmp_path / "out" / "g").read_text() == "1\ntwo\n3\n"
    assert repo.git("status", "--porcelain") == status
    log = here("log", task, "--json").json
    assert [event["kind"] for event in log[:2]] == ["replayed", "replayed"]
    assert "Bob" in [event["actor"]["name"] for event in log[:2]]
    assert here("replay").stdout.endswith("3 events: 3 applied\n"), "replays are not replayed"


def test_what_the_first_event_found_is_a_commit_of_its_own(here: Here, repo: Repo, task: str) -> None:
    """The work tree is not clean, and no commit of anybody else's comes in between (RC-37)."""
    here("replay", "@{1}", "--branch", "again")  # the last command copied a file that nobody has committed
    second = here("log", task, "--json").json[2]
    assert second["tool"] == "sh" or second["kind"] == "ran"
    found = here("replay", second["id"], "--branch", "second", "--json").json
    assert found["base"] == repo.git("rev-parse", "main")
    subjects = repo.git("log", "--format=%s", "main..second").splitlines()
    assert subjects == ["sh f", "files as the first event found them"]
    assert repo.git("show", "second~:f") == "1\n2\n3"
    assert repo.git("show", "second:f") == "1\ntwo\n3"
    assert repo.git("rev-parse", "second~2") == repo.git("rev-parse", "main")


def test_it_goes_on_after_a_kill(here: Here, repo: Repo, task: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Killed(BaseException):
        """Stands for a kill."""

    def die(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(replayed, "record", die)
        here("replay", "--branch", "again", status=128)
    assert here("replay", "--resume", "--json").json["branch"] == "again"
    assert repo.git("rev-list", "--count", "main..again") == "3"
    assert here("replay", "--resume", status=128).stderr.startswith("error: no unfinished replay")
    with monkeypatch.context() as patch:
        patch.setattr(replayed, "record", die)
        here("replay", "--into", "../out/x", status=128)
    assert "3 files in" in here("replay", "--resume", "--into", "../out/x").stdout


@pytest.mark.parametrize(
    ("given", "status", "said"),
    [
        (("--branch", "a", "--into", "b"), 129, "cannot be combined"),
        (("--check", "--branch", "a"), 129, "cannot be combined"),
        (("-n", "--into", "a"), 129, "cannot be combined"),
        (("--resume", "--onto", "HEAD"), 129, "cannot be combined"),
        (("--all", "@"), 129, "cannot be combined"),
        (("--branch", "main"), 1, "a branch 'main' exists already"),
        (("--branch", "a..b"), 128, "is no name for a branch"),
        (("--into", ".git/x"), 128, "is inside the git directory"),
        (("--into", "."), 1, "is not empty"),
        (("--onto", "nowhere"), 128, "no revision matches 'nowhere'"),
        (("@{1}..",), 128, "no recorded change"),
        (("@{9999}",), 128, "no event matches"),
    ],
)
def test_what_is_refused(here: Here, repo: Repo, task: str, given: tuple[str, ...], status: int, said: str) -> None:
    """An empty range is an error, too."""
    before = repo.git("for-each-ref")
    assert said in here("replay", *given, status=status).stderr
    assert repo.git("for-each-ref") == before


def test_without_an_active_task_somebody_has_to_name_one(here: Here) -> None:
    assert "no active task" in here("replay", status=128).stderr
    task = here.task("Nothing yet")
    assert f"no recorded change matches '{task}'" in here("replay", task, status=128).stderr
    event = here("log", task, "--json").json[0]["id"]
    assert f"no recorded change matches '{event[:16]}..'" in here("replay", f"{event}..", status=128).stderr
    assert "--all and TASK cannot be combined" in here("replay", "--all", task, status=129).stderr


def test_nothing_recorded_at_all_is_said(here: Here) -> None:
    assert here("replay", "--all", status=128).stderr.startswith("error: no recorded change\n")


def test_what_is_printed_is_escaped(here: Here, repo: Repo) -> None:
    task = here.task("Odd")
    here("start", task)
    here("run", "--", "sh", "-c", "printf x > $(printf 'a\\033[31mb')")
    repo.commit({"other": "x\n"})
    answer = here("replay")
    assert "\033" not in answer.stdout
    assert json.loads(here("replay", "--json").stdout)["ok"]


def test_a_restore_and_its_undo_bring_nobodys_lines_onto_another_base(here: Here, repo: Repo) -> None:
    repo.commit({"f.txt": "one\ntwo\nthree\n"})
    here("start", here.task("Week"))
    here("run", "--", "sed", "-i", "s/one/ONE/", "f.txt")
    step = next(each["id"] for each in here("log", "--json").json if each["kind"] == "ran")
    repo.git("commit", "-qam", "the week")
    repo.commit({"f.txt": "ONE\ntwo\nthree\nsecret of Ann\n"})
    here("restore", "--take", f"{step}^")
    here("undo")
    found = here("replay", "--onto", "HEAD~2", "--branch", "week", "--json").json
    assert [each["outcome"] for each in found["events"]] == ["applied", "identical", "identical"]
    assert [each["reason"] for event in found["events"][1:] for each in event["places"]] == ["undone"] * 2
    assert repo.git("show", "week:f.txt") == "ONE\ntwo\nthree"
    assert repo.git("rev-list", "--count", "HEAD~2..week") == "1"
    here("undo")  # of the undo: now the restore holds
    found = here("replay", "--onto", "HEAD~2", "--branch", "again", "--json").json
    assert [each["outcome"] for each in found["events"]] == ["applied", "applied", "identical", "identical"]
    assert repo.git("show", "again:f.txt") == "one\ntwo\nthree"


def test_what_was_observed_is_named_and_of_an_unknown_author(here: Here, repo: Repo) -> None:
    repo.commit({"f.txt": "one\ntwo\n"})
    here("start", here.task("Week"))
    here("run", "--", "sed", "-i", "s/one/ONE/", "f.txt")
    (repo.path / "f.txt").write_text("ONE\ntwo\nby hand\n")
    here("run", "--", "sed", "-i", "s/two/TWO/", "f.txt")
    said = here("replay", "--onto", "HEAD", "--branch", "week").stdout
    assert said.count("not a step of the task") == 1
    assert repo.git("log", "--format=%an", "HEAD..week").splitlines()[1] == "unknown"
    shown = here("blame", "--summary", "HEAD..week").stdout
    assert "pogstore" not in shown
    assert "unknown" in shown
    assert "unknown (person)" not in shown
