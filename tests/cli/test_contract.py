"""Tests of `new` and `edit`: every field of a contract is stored, shown, kept and taken away again."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Here
from tests.conftest import Repo

FIELDS: list[tuple[list[str], str, Any]] = [
    (["--intent", "why"], "intent", "why"),
    (["--description", "long"], "description", "long"),
    (["--category", "bugfix"], "category", "bugfix"),
    (["--priority", "high"], "priority", "high"),
    (["--tag", "a", "--tag", "b"], "tags", ["a", "b"]),
    (["--item", "x", "--item", "y"], "checklist", [{"text": "x", "done": False}, {"text": "y", "done": False}]),
    (["--input", "an API key"], "inputs", ["an API key"]),
    (["--context", "docs/a.md"], "context_files", ["docs/a.md"]),
    (["--file", "src/a.py"], "related_files", ["src/a.py"]),
    (["--estimate", "90"], "estimate_minutes", 90),
    (["--estimate", "0"], "estimate_minutes", 0),
    (["--issue", "GH-1"], "issue", "GH-1"),
    (["--alias", "A-1"], "aliases", ["A-1"]),
    (["--check", "make", "--check", "pytest -q"], "checks", ["make", "pytest -q"]),
    (["--approvals", "0"], "approvals", 0),
    (["--approvals", "2"], "approvals", 2),
    (["--allow", "src/**", "--deny", "src/x"], "scope", {"allow": ["src/**"], "deny": ["src/x"]}),
    (["--deny", "*.pem"], "scope", {"deny": ["*.pem"]}),
    (["--allow-command", "make*", "--deny-command", "rm*"], "commands", {"allow": ["make*"], "deny": ["rm*"]}),
    (["--budget-tokens", "5"], "budget", {"tokens": 5}),
    (["--budget-cost", "7", "--budget-minutes", "8"], "budget", {"cost_micro_usd": 7, "minutes": 8}),
    (["--budget-lines", "9"], "budget", {"changed_lines": 9}),
]


@pytest.mark.parametrize(("options", "field", "value"), FIELDS, ids=lambda each: str(each)[:40])
def test_a_field_is_stored_by_new_and_by_edit(here: Here, options: list[str], field: str, value: Any) -> None:
    assert here("new", "a task", *options, "--json").json[field] == value
    other = here.task("another")
    amended = here("edit", other, *options, "--json").json
    assert amended[field] == value
    assert amended["title"] == "another"
    assert here("show", other, "--json").json == amended


RELATIONS = [
    ("--parent", "parent"),
    ("--depends", "depends_on"),
    ("--blocks", "blocks"),
    ("--derived-from", "derived_from"),
]


@pytest.mark.parametrize(("option", "rel"), RELATIONS)
def test_a_link_is_stored_shown_and_taken_away(here: Here, option: str, rel: str) -> None:
    one, other = here.task("one", "--alias", "ONE"), here.task("other")
    task = here.task("a task", option, "ONE")
    assert here("show", task, "--json").json["links"] == [{"rel": rel, "task": one}]
    assert f"{one} one [pending]" in here("show", task).stdout
    assert here("edit", task, option, other, "--json").json["links"] == [{"rel": rel, "task": other}]
    assert here("edit", task, "--tag", "x", "--json").json["links"] == [{"rel": rel, "task": other}]
    assert here("edit", task, option, "", "--json").json["links"] == []
    assert here("new", "x", option, "nothing", status=128).stderr.startswith("error: no task matches 'nothing'\n")


@pytest.mark.parametrize("option", ["--parent", "--depends", "--blocks"])
def test_a_cycle_of_links_is_refused(here: Here, option: str) -> None:
    one = here.task("one")
    two = here.task("two", option, one)
    three = here.task("three", option, two)
    for task, target in ((one, one), (one, two), (one, three)):
        said = here("edit", task, option, target, "--json", status=1)
        assert json.loads(said.stderr)["error"]["code"] == "link-cycle"
    assert here("show", one, "--json").json["links"] == []


def test_an_amendment_keeps_what_it_does_not_name(here: Here) -> None:
    """An amendment must not widen a contract by what it leaves out."""
    task = here.task("a task", "--allow", "src/**", "--deny", "src/x", "--budget-minutes", "5", "--tag", "t")
    amended = here("edit", task, "--deny", "src/y", "--budget-tokens", "9", "--json").json
    assert amended["scope"] == {"allow": ["src/**"], "deny": ["src/y"]}
    assert amended["budget"] == {"minutes": 5, "tokens": 9}
    amended = here("edit", task, "--title", "renamed", "--json").json
    assert (amended["title"], amended["tags"]) == ("renamed", ["t"])
    assert "scope" in amended


def test_an_empty_value_takes_a_field_away(here: Here) -> None:
    options = [option for given, _, _ in FIELDS[:20] for option in given]
    task = here.task("a task", *options)
    words = ("intent", "description", "category", "priority", "issue")
    lists = (
        "tag",
        "item",
        "input",
        "context",
        "file",
        "alias",
        "check",
        "allow",
        "deny",
        "allow-command",
        "deny-command",
    )
    empty = (*words, *lists)
    amended = here("edit", task, *(part for name in empty for part in (f"--{name}", "")), "--json").json
    assert sorted(set(amended) & {field for _, field, _ in FIELDS}) == ["approvals", "budget", "estimate_minutes"]


def test_ticks_outlive_an_amendment(here: Here) -> None:
    task = here.task("a task", "--item", "one", "--item", "two")
    here("check", "1", "--task", task)
    assert here("edit", task, "--tag", "x", "--json").json["checklist"][0] == {"text": "one", "done": True}
    amended = here("edit", task, "--item", "zero", "--item", "one", "--json").json
    assert amended["checklist"] == [{"text": "zero", "done": False}, {"text": "one", "done": True}]


def test_an_amendment_that_changes_nothing_leaves_no_event(here: Here) -> None:
    task = here.task("a task", "--tag", "x")
    here("edit", task, "--tag", "x", "--title", "a task")
    assert here("show", task, "--json").json["event_count"] == 1
    assert here("edit", task, "--title", " ", status=129).stderr.startswith("error: --title is empty\n")
    assert here("edit", task, "--title", "b", "--as", "x").stdout == f"{task} b\n"


def test_a_definition_that_is_not_here_is_not_overwritten(here: Here, repo: Repo) -> None:
    task = here.task("a task")
    repo.git("update-ref", "-d", f"refs/pog/content/{task}")
    said = here("edit", task, "--tag", "x", status=128)
    assert said.stderr.startswith("error: no definition matches '")
    assert here("show", task, "--json").json["title"] == "untitled session"


def test_intents_come_from_where_they_are(here: Here, repo: Repo, tmp_path: Path) -> None:
    (repo.path / "intent.md").write_text("# Why\n")
    assert here("new", "x", "--intent", "intent.md", "--json").json["intent"] == "# Why\n"
    assert here("new", "x", "--intent", str(repo.path / "intent.md"), "--json").json["intent"] == "# Why\n"
    assert here("new", "x", "--intent", "-", "--json", stdin="from a pipe").json["intent"] == "from a pipe"
    assert here("new", "x", "--intent", "no-such.md", "--json").json["intent"] == "no-such.md"
    assert here("new", "x", "--intent", ".", "--json").json["intent"] == "."
    assert here("new", "x", "--intent", "y" * 5000, "--json").json["intent"] == "y" * 5000
    assert here("new", "x", "--description", "-", "--json", stdin="a story").json["description"] == "a story"
    (tmp_path / "latin").write_bytes(b"\xe9")
    said = here("new", "x", "--intent", str(tmp_path / "latin"), status=128)
    assert said.stderr.startswith("error: --intent: cannot read '")
    assert here("new", " ", status=129).stderr.startswith("error: TITLE is empty\n")
    assert here("new", "-", stdin=" ", status=128).stderr == "error: TITLE: is empty\n"


def test_a_key_makes_a_task_once(here: Here, repo: Repo) -> None:
    """Case UC-38: a client whose call timed out calls again."""
    first = here("new", "a task", "--tag", "x", "--key", "5f1e", "--start", "--json").json
    refs = repo.git("for-each-ref")
    again = here("new", "another title", "--key", "5F1E", "--start", "--json").json
    assert again == first
    assert here("new", "again", "--key", "5f1e").stdout == f"{first['task']} a task\n"
    assert repo.git("for-each-ref") == refs
    assert here("new", "a task", "--key", "other", "--json").json["task"] != first["task"]


def test_numbers_have_bounds(here: Here) -> None:
    assert here("new", "x", "--estimate", str(1 << 53), status=128).stderr.startswith("error: cannot be encoded: ")
    assert (
        here("new", "x", "--budget-cost", str((1 << 53) - 1), "--json").json["budget"]["cost_micro_usd"]
        == (1 << 53) - 1
    )
    assert here("list", "--json").json[0]["title"] == "x"
