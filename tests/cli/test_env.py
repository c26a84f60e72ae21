"""Tests of `git pog env`: what it prints, what it answers, and where it finds what it is asked for."""

from pathlib import Path

import pytest

from pogstore.draft import Draft, DraftText, TaskDrafts
from pogstore.model import TaskId
from pogstore.store.store import open_store
from pogstore.work import intake
from tests.builders_store import ADA
from tests.cli.conftest import Here
from tests.conftest import STARTED, Repo


@pytest.fixture
def task(here: Here) -> str:
    task = here.task("a task")
    here("start", task)
    return task


def ran(here: Here, *words: str, **variables: str) -> str:
    return str(here("run", "--json", *words, "true", env=variables).json["id"])


def test_an_environment_is_shown(here: Here, task: str) -> None:
    Repo(here.cwd).commit({"uv.lock": "x"})
    event = ran(here, "--env", "LEVEL", LEVEL="3")
    said = here("env", "show", event)
    members = dict(line.split(None, 1) for line in said.stdout.splitlines())
    assert members["variables.LEVEL"] == "3"
    assert {"system.name", "tools.git", "locks.uv.lock"} <= members.keys()
    assert said.stderr == ""
    by_task = here("env", "show", task)
    assert by_task.stdout == said.stdout
    assert by_task.stderr == f"{task}: told by event {event[:10]}\n"
    assert here("env", "show").stdout == said.stdout, "by default of the active task"
    now = here("env", "show", "now", "--json").json
    assert now["event"] is None
    assert now["members"]["tools.git"] == members["tools.git"]


def test_a_log_names_the_system_and_where_the_rest_is_told(here: Here, task: str) -> None:
    event = ran(here)
    for words in (("show", event), ("log", task)):
        said = here(*words).stdout
        lines = [line for line in said.splitlines() if line.startswith("Env:")]
        assert len(lines) == 1
        assert lines[0].endswith(f" (git pog env show {event[:10]})")
        assert "tools" not in said


def test_two_are_compared(here: Here, task: str) -> None:
    first = ran(here, "--env", "LEVEL", LEVEL="3", TZ="UTC")
    same = ran(here, "--env", "LEVEL", LEVEL="3", TZ="UTC")
    Repo(here.cwd).commit({"uv.lock": "x"})
    other = ran(here, "--env", "LEVEL", LEVEL="4")
    assert here("env", "diff", first, same).stdout == ""
    said = here("env", "diff", first, other, status=1)
    lines = [line.split() for line in said.stdout.splitlines()]
    assert [line[0] for line in lines] == ["locks.uv.lock", "variables.LEVEL"]
    assert (lines[0][1:3], lines[1][1:]) == (["-", "->"], ["3", "->", "4"])
    value = here("env", "diff", first, other, "--json", status=1).json
    assert value["same"] is False
    assert [side["event"] for side in value["sides"]] == [first, other]
    assert value["differences"][1] == {"name": "variables.LEVEL", "before": "3", "after": "4"}
    assert here("env", "diff", first, task, status=1).stdout == said.stdout, "a task has its last one"


def test_the_present_one(here: Here, task: str) -> None:
    event = ran(here, "--env", "LEVEL", LEVEL="3")
    assert here("env", "diff", event, "now", LEVEL="3").stdout == ""
    assert here("env", "diff", event, LEVEL="3").stdout == ""
    assert here("env", "diff", event, LEVEL="5", status=1).stdout == "variables.LEVEL  3  ->  5\n"
    assert here("env", "diff", "now", event, LEVEL="5", status=1).stdout == "variables.LEVEL  5  ->  3\n"
    assert here("env", "diff", "now", "now").stdout == ""


def test_there_may_be_none(here: Here, task: str) -> None:
    assert "no environment" in here("env", "show", task, status=128).stderr
    event = ran(here)
    Repo(here.cwd).git("update-ref", "-d", f"refs/pog/private/{task}")
    said = here("env", "show", event, status=128).stderr
    assert "it is private: it was not fetched, or it was erased" in said
    assert "it is private" in here("env", "diff", "now", event, status=128).stderr


def test_what_is_shown_is_escaped(here: Here, task: str) -> None:
    """Threat T1: an environment may have been fetched from anywhere."""
    store = open_store(here.cwd)
    evil = '{"tools":{"\\u001b]0;x":"\\u202e1\\n2"},"later":true}'
    texts = {"env": DraftText(text=evil, class_="private")}
    draft = Draft(kind="stepped", time=STARTED, actor=ADA, fields={"tool": "t", "class": "shell"}, texts=texts)
    intake.take(store, [TaskDrafts(task=TaskId(task), drafts=(draft,))], imported=False)
    store.close()
    for words in (("show", task), ("diff", task, "now")):
        said = here("env", *words, status=None)
        assert "tools.<U+001B>]0;x" in said.stdout
        assert "<U+202E>1<U+000A>2" in said.stdout
        assert "its variables are not known" in said.stderr
        assert not {"\x1b", "\u202e"} & set(said.stdout + said.stderr)


def test_in_a_folder_below(here: Here, task: str, tmp_path: Path) -> None:
    Repo(here.cwd).commit({"sub/uv.lock": "x"})
    assert "locks.sub/uv.lock" in here("env", "show", "now", cwd=here.cwd / "sub").stdout
    assert "locks.sub/uv.lock" not in here("env", "show", "now").stdout
