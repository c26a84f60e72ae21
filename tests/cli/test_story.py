"""The life of a task, as a person and an agent tell it to each other, and what the table of transitions forbids."""

import json
import re
from typing import Any

import pytest

from pogstore import state
from pogstore.model import STATUSES
from tests.cli.conftest import Here
from tests.conftest import NAME, Pog, Repo


def shown(here: Here, name: str = "@") -> Any:
    """Returns what `show --json` says of a task."""
    return here("show", name, "--json").json


def test_from_an_idea_to_an_outcome(pog: Pog) -> None:
    """The whole story through git's own dispatch: a person plans, an agent works, another person judges."""
    pog("init")
    clay = pog("new", "Buy the clay", "--priority", "low").stdout.split()[0]
    made = pog(
        "new", "Build the pot", "--intent", "Tea needs one", "--item", "design", "--item", "fire", "--tag", "kitchen",
        "--priority", "urgent", "--alias", "POT-1", "--depends", clay, "--allow", "src/**", "--check", "make test",
        "--budget-minutes", "30", "--approvals", "1",
    ).stdout  # fmt: skip
    pot = made.split()[0]
    assert made == f"{pot} Build the pot\n"
    assert pog("ready", "--json").json[0]["task"] == clay, "the pot depends on the clay"
    pog("edit", "POT-1", "--description", "Round, with a spout")
    pog("start", clay)
    pog("done", "-m", "Ten kilos")
    assert [line["task"] for line in pog("ready", "--json").json] == [pot]
    assert pog("claim", pot, "--as", "claude", "--lease", "60").stdout.endswith(" claimed  (claude)\n")
    assert pog("start", pot, status=1).stderr == f"error: task '{pot}' is claimed by 'claude'\n"
    assert pog("ready", "--json", status=1).json == []
    started = pog("start", pot, "--as", "claude").stdout
    assert started.splitlines()[-1] == f"now on {pot} Build the pot"
    first, second = pog("status").stdout.splitlines()
    assert re.fullmatch(rf"on {pot[:8]}\S* Build the pot \[in_progress\]", first)
    assert second == "2 tasks: 1 in_progress, 1 completed"
    pog("note", "-", "--topic", "glaze", "--as", "claude", stdin="Blue runs.\nGreen does not.\n")
    pog("decide", "Green: blue runs", "--as", "claude")
    pog("check", "1", "--as", "claude")
    pog("block", "-m", "no kiln")
    assert (
        pog("show").stdout.splitlines()[2] == "Status:      blocked (no kiln); claimed by claude until 2026-01-05 10:00"
    )
    pog("move", "in_progress", "--reason", "a kiln was found")
    pog("check", "2")
    pog("check", "2", "--undo")
    pog("move", "in_review")
    pog("review", "--approve", "-m", "a fine pot", "--as", "human:Bob")
    pog("done", "-m", "It pours")
    page = pog("show", pot).stdout
    for line in (
        "Title:       Build the pot",
        "Status:      completed",
        "Priority:    urgent",
        "Tags:        kitchen",
        "Aliases:     POT-1",
        f"Depends on:  {clay} Buy the clay [completed]",
        "Allow:       src/**",
        "Budget:      30 minutes",
        "Check:       make test",
        "Approvals:   1 needed",
        "Review:      approve of the definition by Bob",
        "    Tea needs one",
        "    Round, with a spout",
        "    [x] 1. design",
        "    [ ] 2. fire",
        "    It pours",
        "14 events, the last:",
    ):
        assert line in page.splitlines(), line
    assert [line["status"] for line in pog("list", "--json").json] == []
    pog("move", "pending", pot)
    assert pog("list").stdout.split()[1] == "pending"
    assert pog("verify", "--json").json["ok"]


def test_show_and_log_tell_what_was_said(here: Here) -> None:
    here.task("a task", "--start", "--intent", "an intent")
    here("decide", "a decision")
    here("note", "first\nsecond", "--topic", "hints")
    text = here("log").stdout
    assert "    decided\n\n    text:\n      a decision\n" in text
    assert "    noted hints\n\n    text:\n      first\n      second\n" in text
    assert '      {\n        "intent": "an intent",\n        "title": "a task"\n      }\n' in text
    event = here("log", "-n", "1", "--json").json[0]["id"]
    assert here("show", event[:10]).stdout == text.split("\n\nevent ")[0].rstrip() + "\n"
    assert here("show", event, "--json").json["texts"] == {"text": "first\nsecond"}
    assert here("show", "--events").stdout.count("\n") == here("show").stdout.count("\n")
    here("note", "one more")
    assert here("show", "--events").stdout.count("\n") == here("show").stdout.count("\n") + 1
    assert [event["kind"] for event in here("show", "--events", "--json").json["events"]] == [
        "defined", "claimed", "moved", "decided", "noted", "noted",
    ]  # fmt: skip


def test_the_log_can_be_narrowed(here: Here) -> None:
    one, two = here.task("one"), here.task("two")
    here("note", "x", "--task", one)
    every = [event["id"] for event in here("log", "--json").json]
    assert [event["id"] for event in here("log", "--reverse", "--json").json] == every[::-1]
    assert [event["id"] for event in here("log", two, "--json").json] == [every[1]]
    assert [event["id"] for event in here("log", one, two, one, "--json").json] == every
    assert [event["id"] for event in here("log", "-n", "1", "--json").json] == every[:1]
    assert [event["id"] for event in here("log", "-n", "1", "--reverse", "--json").json] == every[:1]
    assert here("log", "-n", "0", "--json").json == []
    assert [event["kind"] for event in here("log", "--kind", "noted", "--json").json] == ["noted"]
    assert here("log", "--kind", "noted", "--kind", "defined", "--json").json == here("log", "--json").json
    assert here("log", "--kind", "signed", "--json").json == []
    lines = here("log", "--jsonl").stdout.splitlines()
    assert [json.loads(line)["id"] for line in lines] == every
    when = "2026-01-05 09:00:04"
    newest = here("log", "--oneline").stdout.splitlines()[0]
    assert newest == f"{every[0][:10]} {one[:8]} {when} noted: x  ({NAME})", "of several tasks each line names its own"
    newest = here("log", "--oneline", one).stdout.splitlines()[0]
    assert newest == f"{every[0][:10]} {when} noted: x  ({NAME})"


def test_a_line_says_what_was_said(here: Here) -> None:
    """A text's first line stands in its event's line, cut; an item by its number; what is not here is left out."""
    task = here.task("a title", "--item", "one")
    here("decide", "a" * 80 + "\nand more", "--task", task)
    here("check", "1", "--task", task)
    here("check", "1", "--undo", "--task", task)
    shown = here("log", "--oneline", "--reverse", task).stdout
    assert "defined: a title  (" in shown
    assert f"decided: {'a' * 49}…  (" in shown
    assert "checked: item 1  (" in shown
    assert "checked: item 1 not done  (" in shown
    assert "defined: a title  (" in here("show", task).stdout


def test_what_the_table_forbids_is_a_negative_answer(here: Here) -> None:
    task = here.task("a task")
    said = here("done", task, status=1)
    assert said.stderr == (
        f"error: task '{task}' cannot move from 'pending' to 'completed'\n"
        f"hint: 'git pog start {task}' comes first; "
        "from 'pending' it can move to blocked, cancelled, in_design, in_planning, in_progress\n"
    )
    said = here("move", "in_review", task, status=1)
    assert said.stderr.endswith("in_progress\n")
    error = json.loads(here("done", task, "--json", status=1).stderr)["error"]
    assert (error["code"], error["retryable"]) == ("illegal-transition", False)
    here("cancel", task, "-m", "nobody wants it")
    assert shown(here, task)["reason"] == "nobody wants it"
    for command in ("block", "cancel", "done"):
        here(command, task, status=1)
    here("start", task)
    assert shown(here, task)["status"] == "in_progress"
    assert len(here("log", task, "--json").json) == 4, "what was refused left no event"


@pytest.mark.parametrize("status", [status for status in STATUSES if state.legal("pending", status)])
def test_move_sets_whatever_the_table_allows(here: Here, status: str) -> None:
    task = here.task("a task")
    ended = ["--outcome", "what"] if state.is_end(status) else []
    assert here("move", status, task, "--reason", "why", *ended, "--json").json["status"] == status
    found = shown(here, task)
    assert (found["status"], found["reason"], found["outcome"]) == (status, "why", "what" if ended else None)


def test_an_outcome_belongs_to_an_end(here: Here) -> None:
    task = here.task("a task")
    assert here("move", "blocked", task, "--outcome", "x", status=129).stderr.startswith("error: --outcome belongs to")
    assert here("move", "cancelled", task, "--reason", "-", "--outcome", "-", status=128).stderr == (
        "error: standard input: can be the reason or the outcome, not both\n"
    )
    here("move", "cancelled", task, "--outcome", "-", stdin="it was too hot", POG_ACTOR="x")
    assert shown(here, task)["outcome"] == "it was too hot"


def test_claims(here: Here) -> None:
    task = here.task("a task")
    claim = here("claim", task, "--as", "one", "--json").json
    said = here("claim", task, "--as", "two", "--json", status=1)
    assert json.loads(said.stderr)["error"]["code"] == "already-claimed"
    assert here("release", task, "--as", "two", status=128).stderr == (
        f"error: you hold no claim of task '{task}'\nhint: '--claim EVENT' ends that of somebody else\n"
    )
    assert here("release", task, "--claim", claim["id"][:12], "--as", "two", "--json").json["kind"] == "released"
    lease = here("claim", task, "--as", "two", "--lease", "1", "--json").json
    assert lease["lease_until"] == lease["time"] + 60_000_000
    here.now += 61_000_000
    taken = here("claim", task, "--as", "three", "--json").json
    assert taken["links"] == [{"rel": "releases", "event": lease["id"]}]
    assert [held["actor"]["name"] for held in shown(here, task)["claims"]] == ["three"]
    assert not shown(here, task)["conflicted"]


@pytest.mark.parametrize(("verb", "status"), [("done", "completed"), ("cancel", "cancelled")])
def test_what_has_ended_is_re_opened_before_it_is_claimed(here: Here, verb: str, status: str) -> None:
    task = here.task("a task", "--start")
    here(verb, task)
    assert here("claim", task, "--as", "one", status=1).stderr == (
        f"error: task '{task}' is {status}\nhint: re-open it with 'git pog start {task[:8]}'\n"
    )
    here("start", task, "--as", "one")
    assert [held["actor"]["name"] for held in shown(here, task)["claims"]][-1] == "one"


def test_start_does_only_what_is_left_to_do(here: Here) -> None:
    one, two = here.task("one"), here.task("two", "--start")
    assert [event["kind"] for event in here("start", one, "--json").json["events"]] == ["claimed", "moved"]
    assert here("start", one, "--json").json == {"task": one, "title": "one", "status": "in_progress", "events": []}
    assert here("start", one).stdout == f"now on {one} one\n"
    here("start", two)
    assert shown(here, "@{-1}")["task"] == one


@pytest.mark.parametrize("verb", [("done",), ("cancel",), ("move", "completed")], ids=" ".join)
def test_a_task_that_ends_is_not_the_active_one_any_more(here: Here, verb: tuple[str, ...]) -> None:
    one, other = here.task("one", "--start"), here.task("other")
    assert here("move", "in_review", one).stderr == ""
    assert here("cancel", other).stderr == ""
    assert here("status", "--json").json["active"]["task"] == one
    assert here(*verb).stderr == "no active task now; '@{-1}' is the one that ended\n"
    assert here("status", "--json").json["active"] is None
    assert shown(here, "@{-1}")["task"] == one
    two = here.task("two", "--start")
    assert (shown(here, "@")["task"], shown(here, "@{-1}")["task"]) == (two, one)


def test_reviews(here: Here) -> None:
    task = here.task("a task")
    note = here("note", "x", "--task", task, "--json").json["id"]
    here("review", task, "--reject", "-m", "too big")
    here("review", task, "--approve", "--of", note[:10])
    verdicts = [(review["verdict"], review["of"] == [note]) for review in shown(here, task)["reviews"]]
    assert verdicts == [("reject", False), ("approve", True)]
    page = here("show", task).stdout
    assert "Review:      approve of the events by" in page
    assert "Review:      reject of the definition by" in page
    here("edit", task, "--title", "a smaller one")
    page = here("show", task).stdout
    assert "Review:      approve of the events by" in page
    assert "Review:      reject of an earlier definition by" in page, "nobody has reviewed this one"


def test_checks(here: Here) -> None:
    task = here.task("a task", "--item", "one", "--item", "two")
    here("check", "2", "--task", task)
    assert [item["done"] for item in shown(here, task)["checklist"]] == [False, True]
    here("check", "2", "--undo", "--task", task)
    assert [item["done"] for item in shown(here, task)["checklist"]] == [False, False]
    assert here("check", "3", "--task", task, status=128).stderr == "error: item 3: the checklist has 2 items\n"
    here("edit", task, "--item", "one")
    assert here("check", "7", "--task", task, status=128).stderr == "error: item 7: the checklist has 1 item\n"
    assert here("show", f"{task}@{{9}}", status=128).stderr.endswith(
        "hint: the task has 4 events, of which 1 is the last\n"
    )


@pytest.mark.parametrize("command", ["note", "decide"])
def test_an_empty_text_says_nothing(here: Here, command: str) -> None:
    here.task("a task", "--start")
    assert here(command, " \n", status=129).stderr.startswith("error: TEXT is empty\n")
    assert here(command, "-", stdin="", status=128).stderr == "error: TEXT: is empty\n"
    assert here(command, "@everyone look", "--json").json["text"]["size"] == 14


@pytest.mark.parametrize(
    "words",
    [
        ["new", "a title", "--intent", "-"],
        ["edit", "--intent", "-"],
        ["note", "-"],
        ["decide", "-"],
        ["move", "blocked", "--reason", "-"],
        ["done", "-m", "-"],
        ["review", "--approve", "-m", "-"],
    ],
    ids=" ".join,
)
def test_a_text_that_would_not_be_stored_is_refused(here: Here, repo: Repo, words: list[str]) -> None:
    """What somebody typed is not left out without a word, as a large file is."""
    here.task("a task", "--start")
    repo.git("config", "pog.maxBlob", "1000")
    refs = repo.git("for-each-ref")
    said = here(*words, stdin="long " * 500, status=128).stderr
    assert re.fullmatch(r"error: the text: has 2,5\d\d bytes; pog.maxBlob is 1,000\n", said)
    assert repo.git("for-each-ref") == refs


def test_ready_is_in_order_and_waits_for_what_comes_before(here: Here) -> None:
    assert here("ready", status=1).stderr == "no task is ready\n"
    low = here.task("low", "--priority", "low")
    plain = here.task("plain")
    urgent = here.task("urgent", "--priority", "urgent")
    waits = here.task("waits", "--depends", low, "--priority", "urgent")
    blocker = here.task("blocker", "--blocks", plain, "--priority", "high")
    assert [line["task"] for line in here("ready", "--json").json] == [urgent, blocker, low]
    here("start", blocker)
    here("done", blocker)
    here("start", low)
    here("cancel", low)
    assert [line["task"] for line in here("ready", "--json").json] == [urgent, plain], "cancelled is not completed"
    here("claim", urgent, "--as", "somebody")
    assert here("ready").stdout.split()[-1] == "plain"
    here("move", "pending", low)
    here("start", low)
    here("done", low)
    assert [line["task"] for line in here("ready", "--json").json] == [waits, plain]


def test_list_filters(here: Here) -> None:
    assert here("list") == ("", "no open tasks\n", 0)
    assert here("list", "--all") == ("", "no tasks\n", 0)
    one = here.task("one", "--tag", "red", "--tag", "big")
    two = here.task("two", "--tag", "red")
    here("cancel", one)

    def listed(*options: str) -> list[str]:
        return [line["task"] for line in here("list", "--json", *options).json]

    assert listed() == [two]
    assert listed("--all") == listed("-a") == [one, two], "the last changed first"
    assert listed("--status", "cancelled") == [one]
    assert listed("--status", "cancelled", "--status", "pending") == [one, two]
    assert listed("--tag", "red", "--all") == [one, two]
    assert listed("--tag", "red", "--tag", "big", "--all") == [one]
    assert listed("--tag", "blue") == []
    assert here("list", "--tag", "blue").stderr == "no task matches\n"


def test_a_share_can_be_asked_for_at_any_time(here: Here) -> None:
    task = here.task("a task")
    assert here("share", task, "--json").json == {"task": task, "title": "a task", "event": None}
    assert here("share", task, "--as", "x") == (f"{task} a task\n", "hint: 'git pog push' takes it along\n", 0)


def test_reindex_is_never_needed(here: Here, repo: object) -> None:
    task = here.task("a task")
    before = here("show", task, "--json").stdout
    assert here("reindex").stdout == "indexed 1 task\n"
    assert here("reindex", "--json").json == {"tasks": 1}
    assert here("reindex", "--blame").stdout == "indexed 1 task\n"
    assert here("show", task, "--json").stdout == before
