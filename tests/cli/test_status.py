"""`git pog status`: what was not captured, in words, until a person has seen it."""

import os
import sys
from pathlib import Path

import pytest

from pogstore.cli import _missing
from pogstore.store.gaps import Gap
from pogstore.work import compared, githooks, recorded, spool, watched
from pogstore.work.acknowledged import Seen
from pogstore.work.spooled import Loss
from tests.cli.conftest import Here
from tests.cli.test_draining import tell
from tests.cli.test_hook import spool_of
from tests.conftest import SECOND, STARTED, Repo

WEEK = 7 * 86_400 * SECOND


def lose(repo: Repo, reason: bytes = b"full") -> None:
    spool.count_loss(os.fsencode(spool_of(repo)), reason, STARTED)


def told(here: Here, *options: str) -> list[str]:
    return [line for line in here("status", *options).stdout.splitlines() if "record" in line]


def test_a_loss_is_told_until_it_was_seen_and_a_new_one_again(here: Here, repo: Repo) -> None:
    lose(repo)
    lose(repo)
    lose(repo, b"locked")
    assert "hint: 'git pog status --seen' when you have seen it" in here("status").stderr
    assert len(told(here, "--seen")) == 2, "the last time it is told"
    assert told(here) == []
    assert "--seen" not in here("status").stderr
    lose(repo)
    assert told(here) == ["not recorded: 1 hook call, last on 2026-01-05 09:00:00 +0000: the disk was full"]
    found = here("status", "--json").json
    assert found["new_losses"] == {"full": 1}
    assert [each["times"] for each in found["losses"]] == [3, 1], "the counts stay"


def test_what_was_seen_is_forgotten_with_the_counts(here: Here, repo: Repo) -> None:
    lose(repo)
    lose(repo)
    here("status", "--seen")
    here("init", "--remove")
    assert not (repo.path / ".git" / "pog" / "lost-seen").exists()
    here("init")
    lose(repo)
    assert here("status", "--json").json["new_losses"] == {"full": 1}


def test_counts_that_began_anew_are_all_new() -> None:
    seen = Seen(STARTED, {"full": 5})
    assert [seen.new(Loss("full", times, STARTED)) for times in (4, 5, 7)] == [4, 0, 2]
    assert seen.new(Loss("locked", 3, STARTED)) == 3


@pytest.mark.parametrize("kept", [b"", b"x", b"\xff\n", b"12\nfull\n", b"12\n\n"])
def test_a_damaged_file_hides_nothing(here: Here, repo: Repo, kept: bytes) -> None:
    lose(repo)
    (repo.path / ".git" / "pog" / "lost-seen").write_bytes(kept)
    assert here("status", "--json").json["new_losses"] == {"full": 1}


def test_steps_without_their_effects_are_told_with_why(here: Here, repo: Repo) -> None:
    ignored = repo.path / "out.log"
    (repo.path / ".gitignore").write_text("*.log\n")
    call = {"tool_name": "Write", "tool_use_id": "t1", "tool_input": {"file_path": str(ignored), "content": "x"}}
    tell(repo, "PreToolUse", **call)
    ignored.write_text("x")
    tell(repo, "PostToolUse", **call, tool_response={"success": True})
    here("drain")
    answer = here("status")
    line = next(line for line in answer.stdout.splitlines() if "recorded in part" in line)
    assert line.startswith("recorded in part: 1 step, last on ")
    assert line.endswith(": git ignores the file")
    assert "hint: name it in the scope of a task" in answer.stderr
    (gap,) = here("status", "--json").json["gaps"]
    assert (gap["reason"], gap["coverage"], gap["steps"]) == ("ignored", "partial", 1)
    here("status", "--seen", env={"POG_NOW": str(gap["last"] + SECOND)})
    assert here("status", "--json").json["gaps"] == []


def test_a_week_later_it_is_history(here: Here, repo: Repo) -> None:
    test_steps_without_their_effects_are_told_with_why(here, repo)
    (repo.path / ".git" / "pog" / "lost-seen").unlink()
    (gap,) = here("status", "--json").json["gaps"]
    assert here("status", "--json", env={"POG_NOW": str(gap["last"] + WEEK + SECOND)}).json["gaps"] == []


def test_every_reason_has_words_and_an_unknown_one_is_shown_safely() -> None:
    gaps = [Gap(reason, "none", 1, STARTED) for reason in _missing.WHY_PARTIAL] + [Gap("\x1b[31m", "none", 1, STARTED)]
    *known, unknown = (line for line, _ in _missing.said_gaps(gaps))
    assert all(line.startswith("effects not seen: 1 step, last on 2026-01-05 09:00:00 +0000: ") for line in known)
    assert unknown.endswith(": <U+001B>[31m")
    told = [hint for _, hint in _missing.said_gaps(gaps + gaps) if hint]
    assert len(told) == len(set(told)) > 5, "each hint is said once"


def test_a_hint_stands_beside_its_line(here: Here, repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [Gap("ignored", "partial", 1, STARTED), Gap("nested-repository", "partial", 2, STARTED)]
    monkeypatch.setattr("pogstore.store.gaps.gaps", lambda *_: found)
    monkeypatch.setattr(sys, "stderr", sys.stdout)
    lines = here("status").stdout.splitlines()
    at = next(at for at, line in enumerate(lines) if line.startswith("recorded in part: 1 step"))
    assert lines[at + 1] == "hint: name it in the scope of a task, if it is to be recorded"
    assert lines[at + 2].endswith(": the file is in a repository of its own")
    assert lines[at + 3] == "hint: 'git pog log' there shows it, where 'git pog init' was run there"


def test_every_reason_that_is_written_has_words() -> None:
    written = {*recorded._FAULTS.values(), "still-running", "shell", compared.MEANWHILE, watched.ANOTHER_CALL}
    assert written <= _missing.WHY_PARTIAL.keys()


def test_a_guard_that_is_gone_is_told(here: Here, repo: Repo) -> None:
    """UC-11: a manager re-syncs its hooks and drops ours."""
    here("init", "--pre-push")
    assert "pre" not in here("status").stderr
    (repo.path / ".git" / "hooks" / githooks.PRE_PUSH).unlink()
    assert "nothing keeps private refs from a plain 'git push' any more" in here("status").stderr


def test_where_nothing_can_be_written_seen_says_so(here: Here, repo: Repo) -> None:
    Path(repo.path / ".git" / "pog" / "lost-seen").mkdir()
    assert here("status", "--seen", status=128).stderr.startswith("error: cannot read or write")


def test_a_spool_that_is_closed_to_us_is_said(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after `sudo git pog init`; root, who may run this test, can look into everything."""

    def closed(_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pogstore.work.spooled.pending", closed)
    said = here("status").stdout
    assert "nothing is recorded: the spool cannot be read (Permission denied); see 'git pog doctor'" in said
    found = here("status", "--json").json
    assert (found["pending"], found["closed"]) == (0, "Permission denied")
