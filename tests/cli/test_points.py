"""`git pog points`, `point` and `restore`: names, words, exit statuses.

PC-100, RC-1, RC-7, RC-22, RC-26, RC-28, RC-34.
"""

import json
from pathlib import Path

import pytest

from tests.builders_rollback import untouched
from tests.cli.conftest import Here
from tests.cli.test_json import event_on, imported
from tests.conftest import Repo


class Worked:
    """A task with four recorded commands, the last of which changed nothing."""

    def __init__(self, here: Here) -> None:
        self.here, self.task = here, here.task("parser", "--start")
        self.events = [
            here("run", "--json", "--", "sh", "-c", command).json["id"]
            for command in ("echo 1 > a; echo 1 > b", "echo 2 > a; rm b", "echo 3 > a; echo 3 > c", "true")
        ]

    def files(self) -> dict[str, str]:
        return {name: (self.here.cwd / name).read_text() for name in "abc" if (self.here.cwd / name).exists()}


@pytest.fixture
def worked(here: Here) -> Worked:
    """A work tree in which a task worked."""
    return Worked(here)


def test_points_are_listed_with_what_they_lack_and_what_is_in_the_way(worked: Worked) -> None:
    (worked.here.cwd / "c").write_text("a person's\n")
    lines = worked.here("points").stdout.splitlines()
    assert [line[:10] for line in lines] == [event[:10] for event in reversed(worked.events)]
    assert "1 path in the way" in lines[2]
    assert "clean" not in lines[3]
    assert "partial: 1 step perhaps shared" in lines[3]
    assert "(changed nothing)" in lines[0], "RC-7"
    unchecked = worked.here("points", "--no-check", "-n", "1").stdout
    assert "in the way" not in unchecked
    assert unchecked.startswith(worked.events[-1][:10])
    value = worked.here("points", "--json").json
    assert [point["event"] for point in value] == worked.events[::-1]
    assert [point["in_the_way"] for point in value] == [1, 1, 1, 1]
    assert [point["clean"] for point in value] == [False] * 4
    assert value[3]["lacks"] == [{"reason": "shared", "times": 1}]
    assert value[3]["changes"] == ["a", "b"]
    assert [point["clean"] for point in worked.here("points", "--json", "--no-check").json] == [None] * 4


def test_a_point_is_named_and_gone_back_to_by_name(worked: Worked) -> None:
    here = worked.here
    first = here("point", "v 1", worked.events[0][:8])
    assert first.stdout.startswith(f"point v 1: {worked.events[0][:10]} ")
    assert first.stderr == ""
    moved = here("point", "v 1", worked.events[1])
    assert moved.stderr == f"it was on {worked.events[0][:10]} before\n"
    assert here("point", "v 1", worked.events[1]).stderr == ""
    assert here("point", "last", "--json").json | {"noted": ""} == {
        "name": "last", "event": worked.events[3], "task": worked.task, "former": None, "noted": ""
    }  # fmt: skip
    assert here("point", "also last", "--json").json["event"] == worked.events[3], "a name is no point itself"
    assert "[v 1]" in here("points").stdout
    assert "[also last, last]" in here("points").stdout
    here("restore", "v 1")
    assert worked.files() == {"a": "2\n"}
    here("restore", "v 1^")
    assert worked.files() == {"a": "1\n", "b": "1\n"}
    here("restore", "last")
    assert worked.files() == {"a": "3\n", "c": "3\n"}


def test_rc26_rc28_the_state_before_and_the_way_back_are_named(worked: Worked) -> None:
    here, first = worked.here, worked.events[0]
    said = here("restore", "--before", first)
    assert said.stderr == "hint: 'git pog undo' takes this back\n"
    assert worked.files() == {}
    (before, after) = (line.split()[0] for line in here("points", "-n", "2").stdout.splitlines()[::-1])
    assert (before, after) == (f"{after}^", after)
    here("restore", before)
    assert worked.files() == {"a": "3\n", "c": "3\n"}
    here("restore", f"{worked.task}@{{1}}")
    assert here("restore", f"{first}^", "-n").stdout.startswith("would delete a\n")
    here("restore", f"{worked.task}@{{99}}", status=128)


def test_rc22_rc34_what_is_in_the_way_is_said_with_the_ways_out(worked: Worked) -> None:
    here = worked.here
    (here.cwd / "a").write_text("a person's\n")
    for options in ((), ("--dry-run",)):
        said = here("restore", worked.events[0], *options, status=1)
        assert said.stdout.startswith("conflict edited-since: a: it was edited since (event ")
        assert said.stderr.startswith("hint: '--keep' leaves")
        assert said.stderr.endswith("nothing was written\n")
        assert worked.files() == {"a": "a person's\n", "c": "3\n"}
    value = here("restore", worked.events[0], "--json", status=1).json
    assert [conflict["reason"] for conflict in value["conflicts"]] == ["edited-since"]
    kept = here("restore", "--keep", worked.events[0])
    assert "a: it was edited since" in kept.stdout + kept.stderr
    assert worked.files() == {"a": "a person's\n", "b": "1\n"}
    here("restore", "--take", worked.events[0])
    assert worked.files() == {"a": "1\n", "b": "1\n"}
    here("undo")
    assert worked.files() == {"a": "a person's\n", "b": "1\n"}
    here("restore", "--keep", "--take", worked.events[0], status=129)


@pytest.mark.parametrize("detached", [False, True], ids=["on a branch", "detached"])
def test_pc100_a_dirty_tree_is_refused_or_goes_back_and_head_stays(worked: Worked, repo: Repo, detached: bool) -> None:
    here = worked.here
    repo.commit({}, "all")
    if detached:
        repo.git("checkout", "--quiet", "--detach")
    head = (repo.path / ".git/HEAD").read_text()
    (here.cwd / "a").write_text("a person's\n")
    before = untouched(repo.path, [".git/pog"])
    said = here("restore", worked.events[0], status=1)
    assert said.stderr.endswith("nothing was written\n")
    assert untouched(repo.path, [".git/pog"]) == before
    (here.cwd / "a").write_text("3\n")
    (here.cwd / "mine").write_text("dirty, and none of the task's\n")
    here("restore", worked.events[0])
    assert worked.files() == {"a": "1\n", "b": "1\n"}
    assert (here.cwd / "mine").read_text() == "dirty, and none of the task's\n"
    assert (repo.path / ".git/HEAD").read_text() == head


def test_paths_are_chosen_as_in_git_from_where_one_stands(worked: Worked) -> None:
    here = worked.here
    (here.cwd / "sub").mkdir()
    here("restore", worked.events[0], "--", "../a", cwd=here.cwd / "sub")
    assert worked.files() == {"a": "1\n", "c": "3\n"}
    here("restore", worked.events[0], "--path", "b")
    assert worked.files() == {"a": "1\n", "b": "1\n", "c": "3\n"}
    here("restore", worked.events[0], "--", ":!c")
    assert worked.files() == {"a": "1\n", "b": "1\n", "c": "3\n"}
    assert here("restore", worked.events[0], "--", "d", status=128).stderr.startswith("error: no path of the task")


def test_a_plan_that_was_shown_is_carried_out_or_refused(worked: Worked) -> None:
    here = worked.here
    plan = here("restore", "-n", worked.events[0]).stdout.splitlines()[-1].removeprefix("plan ")
    (here.cwd / "c").unlink()
    assert here("restore", "--plan", plan, worked.events[0], status=1).stdout == ""
    assert worked.files() == {"a": "3\n"}
    (here.cwd / "c").write_text("3\n")
    here("restore", "--plan", plan, worked.events[0])
    assert worked.files() == {"a": "1\n", "b": "1\n"}


def test_nothing_to_do_is_said_and_not_recorded(worked: Worked) -> None:
    said = worked.here("restore", worked.events[3])
    assert (said.stdout, said.stderr) == ("", "nothing to do: the paths of the task are as they were at that point\n")
    assert len(worked.here("points", "--json").json) == 4


def test_a_task_is_no_point(worked: Worked) -> None:
    said = worked.here("restore", worked.task, status=128)
    hint = f"it is a task; 'git pog points {worked.task[:8]}' lists its points"
    assert said.stderr == f"error: no point matches '{worked.task}'\nhint: {hint}\n"
    for words in (["point", "x", "nothing"], ["points", "nothing"]):
        assert worked.here(*words, status=128).stderr.startswith("error: no task ")
    for name in ("nothing", "^"):
        said = worked.here("restore", name, status=128)
        assert said.stderr.startswith(f"error: no point, task or event matches '{name}'\nhint: 'git pog points'")
    for words in (["restore"], ["restore", "a", "b"], ["points", "--all", worked.task], ["point"]):
        worked.here(*words, status=129)


def test_a_name_that_cannot_be_one_is_refused(here: Here) -> None:
    here.task("parser", "--start")
    for name in ("", "abcdef", "a\nb", "@", "x^", "ghp_" + "a1B2" * 9):
        here("point", "--", name, status=128)
    assert here("log", "--json", "--kind", "noted").json == []


def test_without_a_point_of_this_work_tree_it_is_said(here: Here, tmp_path: Path) -> None:
    task = here.task("nothing yet", "--start")
    said = here("points")
    assert said.stdout == ""
    assert said.stderr == "no points of this work tree; '--elsewhere' shows those of others\n"
    assert here("points", "--json").json == []
    said = here("point", "x", "--json").json
    assert said["task"] == task
    worked = Worked(here)
    Repo(here.cwd).git("commit", "--quiet", "--allow-empty", "-m", "x")
    linked = tmp_path / "linked"
    Repo(here.cwd).git("worktree", "add", "--quiet", str(linked))
    assert here("points", worked.task, cwd=linked).stdout == ""
    away = here("points", worked.task, "--elsewhere", "--json", cwd=linked).json
    assert [point["event"] for point in away] == worked.events[::-1]
    here("point", "there", worked.task, cwd=linked, status=128)
    before = worked.files()
    here("restore", "--take", worked.events[0], cwd=linked)
    assert (linked / "b").read_text() == "1\n"
    assert worked.files() == before


def test_points_of_all_tasks_name_their_task(worked: Worked) -> None:
    here = worked.here
    session = imported(here)
    event = event_on(here, session, "brew.py")
    lines = here("points", "--all").stdout.splitlines()
    assert any(line.startswith(event[:10]) and session[:8] in line for line in lines)
    assert any(worked.task[:8] in line for line in lines)
    assert json.loads(here("points", session, "--json").stdout)[0]["task"] == session
    assert "effects not seen" in here("points", session).stdout


def test_points_and_a_dry_run_need_no_permission_to_record(worked: Worked) -> None:
    here = worked.here
    for words in (["points"], ["restore", "-n", worked.events[0]]):
        here(*words, POG_DISABLE="1")
    for words in (["point", "x"], ["restore", worked.events[0]]):
        here(*words, POG_DISABLE="1", status=4)
    assert worked.files() == {"a": "3\n", "c": "3\n"}
