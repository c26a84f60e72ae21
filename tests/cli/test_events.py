"""What `log` and `show` tell of an event: what it lacks, which commit it is, what a hook said, in words."""

import json
from contextlib import closing
from typing import Any

import pytest

from pogstore.model import FORMAT, Actor, Committed, Event, Noted, Observed, Person, Sealed, Source, Stepped, TaskId
from pogstore.store.batch import Batch
from pogstore.store.layout import discover
from pogstore.store.store import Store
from tests.cli.conftest import Here
from tests.conftest import STARTED, Repo

ADA = Person(name="Ada", email="ada@example.org")
NOWHERE = "4" * 40


def written(here: Here, repo: Repo, event: type[Event], **fields: Any) -> str:
    """Writes an event by hand and returns the id of its task."""
    task = here.task("A task")
    common: dict[str, Any] = {"v": FORMAT, "task": task, "clock": 1, "time": STARTED, "actor": Actor(type="unknown")}
    text = fields.pop("text", None)

    def write(batch: Batch) -> Sealed:
        stored = {"text": batch.add_text(TaskId(task), str(text), "private")} if text else {}
        return batch.append(event(**common | stored | fields))

    with closing(Store(discover(repo.path))) as store:
        store.transact(write)
    return task


def line(here: Here, task: str) -> str:
    return here("log", "--oneline", "-n", "1", task).stdout.rstrip()


def shown(here: Here, task: str) -> list[str]:
    event = here("log", "-n", "1", task, "--json").json[0]["id"]
    return here("show", event).stdout.splitlines()


@pytest.mark.parametrize(
    ("coverage", "reason", "words", "short"),
    [
        (
            "partial",
            "too-many",
            "recorded in part: too many files had changed to look at each",
            "in part: too many files had changed to look at each",
        ),
        (
            "none",
            "not-compared",
            "effects not seen: nobody compared the work tree around a command",
            "effects not seen",
        ),
        ("partial", None, "recorded in part: no reason was recorded", "in part: no reason was recorded"),
    ],
)
def test_what_a_step_lacks_is_said(
    here: Here, repo: Repo, coverage: str, reason: str | None, words: str, short: str
) -> None:
    task = written(here, repo, Stepped, tool="Bash", class_="shell", coverage=coverage, coverage_reason=reason)
    assert line(here, task).endswith(f" stepped Bash [{short}]  (unknown)")
    assert f"Note:   {words}" in shown(here, task)
    assert f"Note:   {words}" in here("log", task).stdout
    assert f"[{short}]" in here("show", task, "--events").stdout


def test_what_is_perhaps_another_s_stands_where_there_is_room(here: Here, repo: Repo) -> None:
    task = written(here, repo, Stepped, tool="Bash", class_="shell", coverage="shared", coverage_reason="another-call")
    assert "Note:   perhaps not all of it is this step's: another call was open at the same time" in shown(here, task)
    assert line(here, task).endswith(" stepped Bash  (unknown)")


def test_a_whole_step_lacks_nothing(here: Here, repo: Repo) -> None:
    task = written(here, repo, Stepped, tool="Bash", class_="shell", coverage="exact")
    assert not any(each.startswith("Note:") for each in shown(here, task))


def test_what_was_open_while_something_was_observed(here: Here, repo: Repo) -> None:
    task = written(here, repo, Observed, during=("t1",))
    assert "Note:   while this call was open: t1" in shown(here, task)
    task = written(here, repo, Observed, during=("t1", "t2", "t3", "t4"))
    assert "Note:   while these calls were open: t1, t2, t3 and 1 more" in shown(here, task)


def test_a_commit_is_named_with_its_subject(here: Here, repo: Repo) -> None:
    repo.git("commit", "--allow-empty", "-m", "Dry the pot\n\nIt was wet.")
    oid = repo.git("rev-parse", "HEAD").strip()
    task = written(here, repo, Committed, commit=f"sha1_{oid}", actor=Actor(type="unknown", on_behalf_of=ADA))
    assert line(here, task).endswith(f" committed {oid[:10]}: Dry the pot  (Ada)")
    assert f"    committed {oid[:10]}: Dry the pot" in shown(here, task)
    assert f"    committed {oid[:10]}: Dry the pot\n" in here("log", task).stdout
    assert "Actor:  Ada" in shown(here, task)


@pytest.mark.parametrize("named", [f"sha1_{NOWHERE}", "sha1_../../config", "sha1_zz"])
def test_a_commit_that_is_not_here_is_named_alone(here: Here, repo: Repo, named: str) -> None:
    task = written(here, repo, Committed, commit=named)
    assert line(here, task).endswith(f" committed {named.removeprefix('sha1_')[:10]}  (unknown)")


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"last_assistant_message": "All\ndone"}, ": All"),
        ({"source": "startup"}, ": startup"),
        ({"reason": "exit"}, ": exit"),
        ({"agent_type": "Explore"}, ": Explore"),
        ({}, ""),
    ],
)
def test_a_line_shows_no_json_of_a_hook(here: Here, repo: Repo, members: dict[str, str], words: str) -> None:
    payload = json.dumps({"session_id": "s", "cwd": "/x", **members})
    source = Source(format="spool", key="k")
    task = written(here, repo, Noted, topic="claude-code:Stop", text=payload, source=source)
    assert line(here, task).endswith(f" noted claude-code:Stop{words}  (unknown)")
    task = written(here, repo, Noted, topic="claude-code:Stop", text=payload[:30], source=source)
    assert line(here, task).endswith(" noted claude-code:Stop  (unknown)")


def test_what_a_person_notes_stays_as_it_is(here: Here, repo: Repo) -> None:
    task = here.task("A task")
    here("note", '{"reason": "x"}', "--task", task)
    assert 'noted: {"reason": "x"}' in line(here, task)


def test_an_event_is_shown_from_anywhere(here: Here, repo: Repo) -> None:
    """Case PC-138: from another branch, a folder, another work tree, and after the commit it went into is gone."""
    repo.commit({"d/f": "1\n"}, "base")
    here.task("a task", "--start")
    here("run", "--", "sh", "-c", "echo 2 > d/f")
    event = here("log", "--json", "--kind", "ran").json[0]["id"]
    repo.git("commit", "-qam", "with it")
    repo.git("worktree", "add", "-q", "../other", "HEAD~1")
    repo.git("checkout", "-q", "-b", "elsewhere", "HEAD~1")
    repo.git("branch", "-qD", "main")
    said = here("show", event).stdout
    assert "ran sh d/f" in said
    for place in (repo.path / "d", repo.path.parent / "other"):
        assert here("show", event[:12], cwd=place).stdout == said
