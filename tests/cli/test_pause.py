"""`git pog init` and `git pog pause`: consent, what would be done, and taking it back."""

import os
import subprocess
import sys
from pathlib import Path

from pogstore.work import spool, spooled
from tests.cli.conftest import Here
from tests.cli.test_hook import said, spool_of
from tests.conftest import Pog, Repo

SCRIPT = str(Path(sys.executable).parent / "git-pog")


def step(repo: Repo) -> None:
    subprocess.run([SCRIPT, "hook", "claude-code"], input=said(repo).encode(), cwd=repo.path, check=True)


def test_a_hook_records_between_init_and_pause_only(pog: Pog, repo: Repo) -> None:
    step(repo)
    assert not spool_of(repo).exists()
    pog("init")
    step(repo)
    assert spooled.pending(spool_of(repo)) == 1
    assert pog("pause").stdout == "recording is paused\n"
    step(repo)
    assert not spool_of(repo).exists()
    assert pog("pause").stdout == "recording was paused before\n"
    assert "hint: recording is paused" in pog("init").stderr
    assert pog("pause", "--resume").stdout == "recording again\n"
    assert pog("pause", "--resume").stdout == "recording was not paused\n"
    before = spooled.pending(spool_of(repo))
    step(repo)
    assert spooled.pending(spool_of(repo)) == before + 1


def test_a_pause_without_consent_is_refused(anywhere: Here, repo: Repo) -> None:
    answer = anywhere("pause", cwd=repo.path, status=128)
    assert answer.stderr.startswith("error: pogstore is not enabled")


def test_init_says_what_it_would_do(anywhere: Here, repo: Repo) -> None:
    before = sorted(repo.path.rglob("*"))
    answer = anywhere("init", "--dry-run", cwd=repo.path)
    assert answer.stdout.splitlines() == [
        "would set pog.enabled to true",
        "would add refs/pog/ to log.excludeDecoration",
        "would add refs/pog-remotes/ to log.excludeDecoration",
        "would make .git/pog/spool, where records wait",
    ]
    assert anywhere("init", "-n", "--json", cwd=repo.path).json["enabled"] is False
    assert anywhere("init", "--remove", "--dry-run", cwd=repo.path).stderr == "nothing would be done\n"
    assert sorted(repo.path.rglob("*")) == before


def test_init_remove_refuses_to_lose_and_force_does_not(here: Here, repo: Repo) -> None:
    damaged = spool_of(repo) / spooled.DAMAGED
    damaged.mkdir()
    (damaged / "part").write_bytes(b"x")
    answer = here("init", "--remove", status=1)
    assert answer.stderr.splitlines()[0].endswith("holds 1 damaged part of records")
    assert "hint: it is nowhere else; '--force' deletes it" in answer.stderr
    assert "would remove .git/pog/spool" in here("init", "--remove", "-n").stdout
    assert here("init", "--remove", "--force", "--json").json["enabled"] is False
    assert not (repo.path / ".git" / "pog" / "lost").exists()


def test_a_later_setting_reaches_the_hooks_with_the_next_init(here: Here, repo: Repo) -> None:
    repo.git("config", "pog.maxBlob", "77")
    here("init")
    assert spool.settings(os.fsencode(spool_of(repo)))[:2] == (77, True)
