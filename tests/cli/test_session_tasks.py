"""The task that a session opens by itself, as people meet it on the command line."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from pogstore.draft import session_task_id
from pogstore.work import spool
from tests.agents.live import Live
from tests.builders_claude import Script
from tests.cli.conftest import Here
from tests.conftest import SECOND

TASK = session_task_id("claude-code", "s1")


@pytest.fixture
def live(here: Here) -> Live:
    found = Live(here.cwd)
    found.prompt("Pay the salaries\nof June")
    return found


def titles(here: Here, *options: str) -> list[str]:
    return [line["title"] for line in here("list", "--json", *options).json]


def definition_class(here: Here) -> str:
    (*_, last) = [event for event in here("log", TASK, "--reverse", "--json").json if event["kind"] == "defined"]
    return str(last["definition"]["class"])


def test_a_session_that_goes_on_is_listed_and_one_that_is_over_is_not(here: Here, live: Live) -> None:
    assert titles(here) == ["Pay the salaries"]
    live.say("SessionEnd", reason="other")
    assert (titles(here), titles(here, "--all")) == ([], ["Pay the salaries"])
    shown = here("show", TASK, "--json").json
    assert (shown["status"], shown["intent"]) == ("in_review", "Pay the salaries\nof June")
    live.prompt("And of July")
    assert titles(here) == ["Pay the salaries"]


@pytest.mark.parametrize("promote", [("share", TASK), ("edit", "--title", "Salaries", TASK)])
def test_it_is_private_until_it_is_shared_or_named(here: Here, live: Live, promote: tuple[str, ...]) -> None:
    live.say("SessionEnd", reason="other")
    here("edit", "--tag", "money", TASK)
    assert (definition_class(here), titles(here)) == ("private", [])
    here(*promote)
    assert definition_class(here) == "content"
    assert titles(here) == ["Salaries" if promote[0] == "edit" else "Pay the salaries"]
    live.prompt("And of July")
    live.say("SessionEnd", reason="other")
    assert definition_class(here) == "content"
    assert here("show", TASK, "--json").json["status"] == "in_review"


def test_a_task_that_was_begun_meanwhile_takes_what_comes_then(here: Here, live: Live) -> None:
    task = str(here("new", "--start", "Pay them", "--json").json["task"])
    live.prompt("For the task")
    other = str(here("new", "--start", "Another", "--json").json["task"])
    kinds = {name: [event["kind"] for event in here("log", name, "--json").json] for name in (TASK, task, other)}
    assert [kinds[name].count("prompted") for name in (TASK, task, other)] == [1, 1, 0]


def test_the_named_task_wins_over_the_one_that_was_begun(here: Here, live: Live) -> None:
    named = here.task("named")
    here.task("begun", "--start")
    live.task_name = named
    live.prompt("For the named one")
    assert here("log", named, "-n", "1", "--json").json[0]["kind"] == "prompted"


def test_an_import_of_a_session_that_was_recorded_adds_what_the_hooks_missed(
    here: Here, live: Live, tmp_path: Path
) -> None:
    script = Script("s1", cwd=str(here.cwd))
    script.moment = datetime.fromtimestamp(live.clock[0] // SECOND, UTC)
    script.prompt("Pay the salaries\nof June")
    script.reply("Paid.")
    (tmp_path / "s1.jsonl").write_text(script.text())
    told = here("import", "claude-code", str(tmp_path / "s1.jsonl")).stdout
    assert told == "0 new tasks, 1 new event, 2 records known before\n"
    assert "0 new events" in here("import", "claude-code", str(tmp_path / "s1.jsonl")).stdout


def test_the_file_that_names_the_task_is_read_with_care(here: Here) -> None:
    git_dir = bytes(here.cwd / ".git")
    path = here.cwd / ".git" / "pog" / "task"
    assert spool.task_of(git_dir) == spool.NO_TASK
    for text, task in ((f"{TASK}\nolder\n", TASK), ("", spool.NO_TASK), ("caf\u00e9\n", "caf\ufffd\ufffd")):
        path.write_text(text)
        assert spool.task_of(git_dir) == task
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")
    assert spool.task_of(git_dir) == spool.NO_TASK
