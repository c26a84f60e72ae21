"""Claims on the command line: leases, amendments, handing a task on, and the next one to work on."""

import json
from typing import Any

import pytest

from tests.cli.conftest import Here
from tests.cli.test_json import imported
from tests.conftest import SECOND, Pog, Repo

MINUTE = 60 * SECOND


def claim_of(here: Here, task: str) -> Any:
    """Returns the one claim of a task, as `show` tells it."""
    (claim,) = here("show", task, "--json").json["claims"]
    return claim


def holder(here: Here) -> str:
    """Returns the line of the only task that is listed, from its holder on."""
    (line,) = here("list").stdout.splitlines()
    return line.split("2026-01-05  ")[1]


@pytest.mark.parametrize(
    ("given", "seconds"), [("90", 5400), ("1", 60), ("45s", 45), ("30m", 1800), ("2h", 7200), ("1d", 86_400)]
)
def test_how_long_a_lease_is(here: Here, given: str, seconds: int) -> None:
    event = here("claim", here.task("a task"), "--lease", given, "--json").json
    assert event["lease_until"] == event["time"] + seconds * SECOND


@pytest.mark.parametrize("given", ["0", "-1", "2w", "1.5h", "", "h", "99999999d", "２h"])
def test_what_is_no_lease(here: Here, given: str) -> None:
    task = here.task("a task")
    for command in (("claim", task), ("start", task), ("next", "--claim")):
        assert "is no time such as" in here(*command, f"--lease={given}", status=129).stderr
    assert here("show", task, "--json").json["claims"] == []


def test_a_lease_that_is_over_is_told_and_taken_over_visibly(here: Here) -> None:
    task = here.task("a task")
    here("start", task, "--as", "robot", "--lease", "10m")
    assert "until 2026-01-05 09:10\n" in here("show", task).stdout
    assert holder(here) == "robot  a task"
    assert here("next", status=1).stderr == "no task is ready\n"
    here.now += 11 * MINUTE
    assert holder(here) == "robot (lease over)  a task"
    assert "claimed by robot until 2026-01-05 09:10 (lease over)\n" in here("show", task).stdout
    assert "  the lease of robot is over; 'git pog claim' takes a new one\n" in here("status").stdout
    assert here("status", "--json").json["active"]["claims"][0]["over"] is True
    assert here("ready", "--json").json[0]["claims"][0]["over"] is True
    said = here("next", "--claim", "--as", "codex", "--lease", "1h", "--json").json
    assert (said["task"], said["claim"]["actor"]["name"], said["claimed_by"]) == (task, "codex", ["codex"])
    assert said["claim"]["lease_until"] == said["claim"]["time"] + 60 * MINUTE
    assert "claimed: after robot  (codex)" in here("log", task, "--oneline").stdout
    assert here("done", task, "--as", "robot", status=1).stderr == f"error: task '{task}' is claimed by 'codex'\n"


def test_an_amendment_is_seen_and_asks_for_a_new_claim(here: Here) -> None:
    task = here.task("a task", "--item", "one")
    here("start", task, "--as", "robot")
    said = here("edit", task, "--item", "other")
    assert said.stderr == "warning: robot has claimed it as it was before, and has to claim it again\n"
    assert holder(here) == "robot (amended)  a task"
    assert "in_progress; claimed by robot (amended since)\n" in here("show", task).stdout
    assert "  amended since robot claimed it; 'git pog claim' accepts it as it is now\n" in here("status").stdout
    assert here("list", "--json").json[0]["claims"][0]["outdated"] is True
    assert claim_of(here, task)["outdated"] is True
    for command in (("check", "1", "--task", task), ("done", task)):
        refused = here(*command, "--as", "robot", "--json", status=1)
        assert json.loads(refused.stderr)["error"]["code"] == "claim-outdated"
        assert f"'git pog claim {task}' accepts that" in refused.stderr
    here("note", "on it", "--task", task, "--as", "robot")
    here("claim", task, "--as", "robot")
    assert claim_of(here, task)["outdated"] is False
    here("check", "1", "--task", task, "--as", "robot")
    here("done", task, "--as", "robot")


def test_who_amends_its_own_task_goes_on(here: Here) -> None:
    task = here.task("a task", "--start")
    assert here("edit", task, "--tag", "x").stderr == ""
    assert claim_of(here, task)["outdated"] is False
    here("done", task)


def test_a_claim_is_renewed_by_who_holds_it(here: Here) -> None:
    task = here.task("a task")
    here("claim", task, "--as", "robot", "--lease", "1h")
    told = here("claim", task, "--as", "robot", status=1).stderr
    assert told == (
        f"error: task '{task}' is claimed by 'robot'\n"
        "hint: that is you; 'git pog claim --renew' takes a new lease\n"
    )  # fmt: skip
    here("claim", task, "--as", "codex", "--renew", status=128)
    event = here("claim", task, "--as", "robot", "--renew", "--lease", "2h", "--json").json
    assert claim_of(here, task)["lease_until"] == event["time"] + 120 * MINUTE
    here("claim", task, "--renew", "--for", "codex", status=129)


def test_a_task_is_handed_on(here: Here) -> None:
    task, other = here.task("a task", "--priority", "low"), here.task("urgent", "--priority", "urgent")
    assert here("claim", task, "--for", "robot").stdout.endswith("claimed: for robot  (Ada Example)\n")
    assert "given to robot by Ada Example\n" in here("show", task).stdout
    given = claim_of(here, task)
    assert (given["actor"], given["given_by"]["name"]) == ({"type": "agent", "name": "robot"}, "Ada Example")
    assert here("next").stdout == f"{other} urgent\n"
    assert here("next", "--as", "codex").stdout == f"{other} urgent\n"
    assert [line["task"] for line in here("ready", "--as", "robot", "--json").json] == [task, other]
    assert here("next", "--claim", "--as", "robot", POG_SESSION="s1").stdout == f"{task} a task\n"
    assert claim_of(here, task)["actor"]["session"] == "s1"
    assert here("next", "--as", "robot").stdout == f"{other} urgent\n"
    here("claim", task, "--for", "human:Bob", status=1)
    here("claim", task, "--for", " ", status=128)
    handed = here("claim", task, "--for", "human:Bob", "--as", "robot", env={"POG_SESSION": "s1"})
    assert handed.stdout.endswith("claimed: for Bob  (robot)\n")
    here("start", task, "--as", "codex", status=1)
    here("start", task, env={"GIT_AUTHOR_NAME": "Bob", "GIT_AUTHOR_EMAIL": "bob@example.org"})
    assert claim_of(here, task)["actor"]["on_behalf_of"]["email"] == "bob@example.org"


def test_what_was_begun_and_given_back_is_offered_again(here: Here) -> None:
    task = here.task("a task")
    here("start", task, "--as", "robot")
    here("ready", status=1)
    here("release", task, "--as", "robot")
    assert here("next").stdout == f"{task} a task\n"
    here("block", task, "-m", "the clay is late")
    here("next", status=1)


def test_the_order_of_what_is_next_and_what_is_not(here: Here) -> None:
    """By priority, then by age; what depends on something that is not completed waits."""
    low = here.task("low", "--priority", "low")
    old, new = here.task("old", "--tag", "kitchen", "--tag", "wet"), here.task("new", "--tag", "kitchen")
    high = here.task("high", "--priority", "high", "--depends", old)
    order = []
    while (said := here("next", "--claim", "--json", status=None)).status == 0:
        order.append(said.json["task"])
        here("start", order[-1])
        here("done", order[-1])
    assert (said.status, said.stdout) == (1, "null\n")
    assert order == [old, high, new, low]


def test_only_tasks_with_some_tags(here: Here) -> None:
    here.task("plain", "--priority", "urgent")
    wet = here.task("wet", "--tag", "kitchen", "--tag", "wet")
    dry = here.task("dry", "--tag", "kitchen")
    assert here("next", "--tag", "kitchen").stdout == f"{wet} wet\n"
    assert [line["task"] for line in here("ready", "--tag", "kitchen", "--json").json] == [wet, dry]
    assert here("next", "--claim", "--tag", "kitchen", "--tag", "wet").stdout == f"{wet} wet\n"
    assert here("next", "--claim", "--tag", "kitchen", "--tag", "wet", status=1).stdout == ""
    assert here("next", "--tag", "none", "--json", status=1).json is None
    assert here("next", "--lease", "1h", status=129).stderr.startswith("error: --lease belongs to --claim")


def test_next_needs_no_identity_but_to_claim(here: Here, repo: Repo) -> None:
    task = here.task("a task")
    repo.git("config", "--global", "--unset", "user.email")
    assert here("next").stdout == f"{task} a task\n"
    assert here("next", "--claim", status=128).stderr.startswith("error: no identity")


def test_a_session_is_never_next(here: Here) -> None:
    """It is the record of work, and no offer of it."""
    assert imported(here)
    here("next", "--claim", status=1)


def test_claims_of_two_clones_conflict_until_one_is_released(here: Here, repo: Repo, pog: Pog) -> None:
    remote = repo.path.parent / "hub.git"
    repo.git("init", "--quiet", "--bare", str(remote))
    other = repo.path.parent / "other"
    task = here.task("a task")
    here("push", str(remote))
    repo.git("clone", "--quiet", str(repo.path), str(other))
    here("init", cwd=other)
    here("pull", str(remote), cwd=other)
    here("claim", task, "--as", "robot", "--lease", "1m")
    here("claim", task, "--as", "codex", cwd=other)
    here("push", str(remote))
    here("pull", str(remote), cwd=other)
    here("push", str(remote), cwd=other)
    here("pull", str(remote))
    for cwd in (repo.path, other):
        (line,) = here("list", cwd=cwd).stdout.splitlines()
        assert "(conflict)" in line
        assert "Conflict:    several claims stand; one has to be released\n" in here("show", task, cwd=cwd).stdout
        here("next", "--claim", cwd=cwd, status=1)
        here("claim", task, "--as", "third", cwd=cwd, status=1)
    here("start", task, "--as", "codex", cwd=other)
    assert "  conflict: claimed by robot, codex; 'git pog release' ends one\n" in sorted_names(
        here("status", cwd=other).stdout
    )
    here.now += 2 * MINUTE
    assert here("show", task, "--json").json["conflicted"], "a lease that is over settles no conflict"
    here("release", task, "--as", "robot")
    here("push", str(remote))
    here("pull", str(remote), cwd=other)
    assert claim_of(here, task)["actor"]["name"] == "codex"


def sorted_names(text: str) -> str:
    """Returns a text in which it does not matter whose claim has the smaller id."""
    return text.replace("codex, robot", "robot, codex")


def test_an_agent_completes_what_it_holds_or_its_person_does(here: Here) -> None:
    """A person may complete what another holds; an agent may not, as it may not claim it."""
    held = here.task("held by robot")
    here("start", held, "--as", "robot", "--lease", "1h")
    for actor in ("codex", "tool:make"):
        refused = here("done", held, "--as", actor, status=1)
        assert refused.stderr.startswith(f"error: task '{held}' is claimed by 'robot'\n")
    assert here("show", held, "--json").json["status"] == "in_progress"
    here.now += 61 * MINUTE
    here("done", held, "--as", "codex")
    own = here.task("held by the person of robot", "--start")
    here("done", own, "--as", "robot")
    other = here.task("held by somebody else")
    here("start", other, env={"GIT_AUTHOR_NAME": "Eve", "GIT_AUTHOR_EMAIL": "eve@example.com"})
    here("done", other, "--as", "robot", status=1)
    here("done", other)


def test_what_a_completed_task_lacks_is_said(here: Here, repo: Repo) -> None:
    repo.git("config", "pog.check", "git status")
    task = here.task("a task", "--item", "one", "--item", "two", "--check", "true", "--approvals", "2", "--start")
    here("check", "1")
    here("run", "--", "true")
    assert here("done", task).stderr.splitlines()[-3:] == [
        "warning: 1 item is open: 'two'",
        "warning: check 'git status' was not recorded: git pog run -- git status",
        "warning: 0 of 2 approvals by people who did not work on it",
    ]
    repo.git("config", "--unset", "pog.check")
    quiet = here.task("nothing lacks", "--item", "one", "--start")
    here("check", "1", "--task", quiet)
    assert "warning" not in here("done", quiet).stderr
