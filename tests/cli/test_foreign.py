"""Tests of what is shown of events that this version does not know, of links that lead nowhere, and of damage."""

from collections.abc import Iterator

import pytest

from pogstore.cli._shapes import SHAPES
from pogstore.model import TaskId
from pogstore.store.store import Store, open_store
from tests.builders_exchange import append_by_hand, handmade, head_of
from tests.cli.conftest import Here
from tests.cli.shapes import fits
from tests.conftest import Repo


@pytest.fixture
def store(here: Here) -> Iterator[Store]:
    found = open_store(here.cwd)
    yield found
    found.close()


def test_an_event_that_needs_a_newer_reader_is_shown(here: Here, store: Store) -> None:
    task = TaskId(here.task("a task"))
    newer = handmade(task, [head_of(store, task)], v=2, kind="moved", status="completed")
    append_by_hand(store, newer)
    assert "Incomplete:  needs a newer pogstore" in here("show", task).stdout
    assert here("show", task, "--json").json["incomplete"] == "needs a newer pogstore"
    assert here("list", "--all", "--json").json[0]["incomplete"] == "needs a newer pogstore"
    assert here("show", newer.event_id, "--json").json["status"] == "completed"
    assert "Note:   needs a newer pogstore to be understood" in here("show", newer.event_id).stdout
    assert here("log", "--json").json[0]["v"] == 2
    said = here("note", "x", "--task", task, status=1)
    assert said.stderr == f"error: task '{task}' is incomplete: needs a newer pogstore\n"


def test_an_event_of_a_made_up_kind_is_shown(here: Here, store: Store) -> None:
    task = TaskId(here.task("a task"))
    event = handmade(task, [head_of(store, task)], kind="dreamt", of="sheep")
    append_by_hand(store, event)
    assert here("show", event.event_id, "--json").json["of"] == "sheep"
    assert " dreamt  (" in here("log", "--oneline").stdout
    assert [found["kind"] for found in here("log", "--kind", "dreamt", "--json").json] == ["dreamt"]


def test_unknown_fields_and_values_are_shown(here: Here, store: Store) -> None:
    task = TaskId(here.task("a task"))
    append_by_hand(store, handmade(task, [head_of(store, task)], kind="moved", status="simmering", mood="calm"))
    assert here("show", task, "--json").json["status"] == "simmering"
    assert here("log", "--json").json[0]["mood"] == "calm"
    assert here("status").stdout.endswith("1 task: 1 simmering\n")
    assert here("list", "--status", "simmering", "--json").json[0]["task"] == task


def test_links_that_lead_nowhere_are_shown(here: Here, store: Store, repo: Repo) -> None:
    task = TaskId(here.task("a task"))
    gone = "01234567-89ab-7def-8123-456789abcdef"
    definition = store.events(task)[0].event
    links = [{"rel": "parent", "task": gone}, {"rel": "fixes", "commit": "sha1_" + repo.git("rev-parse", "HEAD")}]
    fields = {"blob": definition.definition.blob, "size": definition.definition.size, "class": "content"}  # type: ignore[union-attr]
    append_by_hand(store, handmade(task, [head_of(store, task)], kind="defined", definition=fields, links=links))
    page = here("show", task).stdout
    assert f"Parent:      {gone} (not here)" in page
    assert "Fixes:       sha1_" in page
    assert here("ready", "--json").json[0]["task"] == task


def test_changes_are_told_apart(here: Here, store: Store) -> None:
    task = TaskId(here.task("a task"))
    side = {"mode": "100644", "blob": "0" * 64, "size": 1}
    changes = [
        {"path": "new", "after": side}, {"path": "old", "before": side},
        {"path": "same", "before": side, "after": side},
        {"path": "to", "from": "from", "before": side, "after": side}, {"path": {"outside": True}},
        {"path": "module", "after": {"mode": "160000", "commit": "sha1_" + "1" * 40}},
    ]  # fmt: skip
    fields = {"kind": "stepped", "tool": "Edit", "class": "edit", "ok": False, "changes": changes, "inferred": True}
    event = handmade(task, [head_of(store, task)], **fields)
    append_by_hand(store, event)
    page = here("show", event.event_id).stdout
    for line in (
        "created new - -> 0000000000", "deleted old 0000000000 -> -", "changed same 0000000000 -> 0000000000",
        "changed to (from from) 0000000000 -> 0000000000", "unknown (outside the repository) - -> -",
        "created module - -> sha1_11111", "stepped Edit new and 5 more failed", "Note:   inferred by an importer",
    ):  # fmt: skip
        assert line in page
    assert here("diff", event.event_id, status=128).stderr.startswith("error: no content matches '0000")


def test_a_damaged_task_is_said_and_the_rest_goes_on(here: Here, repo: Repo) -> None:
    task = here.task("a task")
    bad = "01234567-89ab-7def-8123-456789abcdef"
    repo.git("update-ref", f"refs/pog/tasks/{bad}", "HEAD")
    said = here("status", status=3)
    assert f"damaged: refs/pog/tasks/{bad}: " in said.stdout
    faults = here("status", "--json", status=3).json["faults"]
    assert [fault["ref"] for fault in faults] == [f"refs/pog/tasks/{bad}"]
    assert [line["task"] for line in here("list", "--json", status=3).json] == [task, bad]
    assert fits(here("list", "--json", status=3).json, SHAPES["list"])
    assert here("verify", status=3).stdout.endswith(": 1 fault\n")
    assert not here("verify", "--json", status=3).json["ok"]
    assert here("verify", task, "--json").json["ok"]
    assert here("verify", bad[:8], "--json", status=3).json["faults"][0]["task"] == bad
    here("note", "x", "--task", task)


def test_a_text_that_is_not_what_it_should_be_is_damage(here: Here, repo: Repo, store: Store) -> None:
    task = here.task("a task", "--start")
    note = here("note", "the true words", "--json").json
    blob = note["text"]["blob"]
    oid = store.find_content(blob)
    assert oid is not None
    loose = repo.path / ".git" / "objects" / oid.oid[:2] / oid.oid[2:]
    loose.chmod(0o644)
    loose.write_bytes(loose.read_bytes()[:-3])
    said = here("show", note["id"], status=3)
    assert said.stderr.startswith(f"error: object '{oid.oid}' is damaged: ")
    assert said.stderr.endswith("hint: run 'git pog verify' to see what is lost\n")
    assert here("list", "--json").json[0]["task"] == task
