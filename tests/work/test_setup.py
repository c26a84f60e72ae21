"""Consent: what enabling, pausing and disabling leave behind, byte for byte."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pogstore.errors import Conflict, NotEnabled
from pogstore.store.store import Store, open_store
from pogstore.work import setup, spool, spooled
from tests.conftest import Repo

CONFIGS = {
    "none": b"",
    "no final newline": b"[user]\n\tname = x",
    "CRLF": b"[user]\r\n\tname = x\r\n",
    "a comment": b"# mine",
    "an empty section": b"[log]\n",
    "a commented section": b"[log]\n\t# mine\n",
    "own patterns": b"[log]\n\texcludeDecoration = refs/mine/\n[core]\n\tpager = cat\n",
    "a setting of ours": b"[pog]\n\tmaxBlob = 3",
}


@pytest.fixture
def store(repo: Repo) -> Store:
    return open_store(repo.path)


def config(repo: Repo) -> Path:
    return repo.path / ".git" / "config"


def own_files(repo: Repo) -> set[str]:
    own = repo.path / ".git" / "pog"
    return {path.relative_to(own).as_posix() for path in own.rglob("*")} if own.exists() else set()


def record_in(directory: Path, record: bytes = b"a record") -> None:
    spool.append(os.fsencode(directory), record)


@pytest.mark.parametrize("more", CONFIGS.values(), ids=CONFIGS)
def test_the_configuration_gets_its_bytes_back(repo: Repo, more: bytes) -> None:
    config(repo).write_bytes(config(repo).read_bytes() + more)
    config(repo).chmod(0o640)
    before = config(repo).read_bytes()
    assert setup.enable(open_store(repo.path))
    assert repo.git("config", "pog.enabled") == "true"
    assert repo.git("config", "--get-all", "log.excludeDecoration").split()[-2:] == list(setup.PATTERNS)
    assert setup.enable(open_store(repo.path)) == []
    assert setup.disable(open_store(repo.path))
    assert config(repo).read_bytes() == before
    assert config(repo).stat().st_mode & 0o777 == 0o640
    assert own_files(repo) <= {"index.sqlite3", "lock"}
    assert setup.disable(open_store(repo.path)) == []


def test_what_somebody_set_since_stays(repo: Repo, store: Store) -> None:
    setup.enable(store)
    repo.git("config", "user.name", "Somebody")
    repo.git("config", "--add", "log.excludeDecoration", "refs/mine/")
    setup.disable(open_store(repo.path))
    assert repo.git("config", "--local", "user.name") == "Somebody"
    assert repo.git("config", "--get-all", "log.excludeDecoration") == "refs/mine/"
    assert repo.git("config", "pog.enabled", check=False) == ""


def test_a_configuration_that_is_a_link_stays_one(repo: Repo, tmp_path: Path) -> None:
    target = tmp_path / "config"
    before = config(repo).read_bytes()
    config(repo).rename(target)
    config(repo).symlink_to(target)
    setup.enable(open_store(repo.path))
    setup.disable(open_store(repo.path))
    assert config(repo).is_symlink()
    assert target.read_bytes() == before


def test_the_spool_is_ours_alone_and_says_what_git_says(repo: Repo) -> None:
    repo.git("config", "pog.maxBlob", "1k")
    repo.git("config", "pog.fsync", "false")
    repo.git("config", "pog.lookTimeout", "250")
    repo.git("config", "pog.autoDrain", "no")
    setup.enable(open_store(repo.path))
    place = repo.path / ".git" / "pog" / "spool"
    assert place.stat().st_mode & 0o777 == 0o700
    assert spool.settings(os.fsencode(place)) == (1024, False, 250, False)


def test_a_time_to_look_that_is_none_means_never(repo: Repo) -> None:
    repo.git("config", "pog.lookTimeout", "-5")
    setup.enable(open_store(repo.path))
    assert spool.settings(os.fsencode(repo.path / ".git" / "pog" / "spool"))[2] == 0


def test_the_plan_is_what_is_done_and_writes_nothing(repo: Repo, store: Store) -> None:
    before = config(repo).read_bytes()
    planned = setup.plan_enable(store)
    assert config(repo).read_bytes() == before
    assert own_files(repo) == set()
    assert setup.enable(store) == planned != []
    planned = setup.plan_disable(open_store(repo.path))
    assert setup.disable(open_store(repo.path)) == planned != []


def test_a_pause_hides_the_spool_and_keeps_what_waits(repo: Repo, store: Store) -> None:
    setup.enable(store)
    place = setup.spool_of(store.layout)
    record_in(place)
    assert setup.pause(store)
    assert not setup.pause(store)
    assert not place.exists()
    with pytest.raises(FileNotFoundError):
        record_in(place)
    assert setup.enable(store) == [], "to enable is not to resume"
    assert setup.paused(store.layout)
    assert setup.resume(store)
    assert not setup.resume(store)
    assert spooled.pending(place) == 1


def test_a_pause_needs_consent_first(repo: Repo, store: Store) -> None:
    with pytest.raises(NotEnabled):
        setup.pause(store)
    assert own_files(repo) == set()


def test_a_repository_enabled_before_there_were_spools_can_be_paused(repo: Repo) -> None:
    repo.git("config", "pog.enabled", "true")
    store = open_store(repo.path)
    assert setup.pause(store)
    assert setup.paused(store.layout)
    assert setup.resume(store)
    assert setup.enable(open_store(repo.path)), "the patterns are missing"


@pytest.mark.parametrize("aside", [setup.spool_of, setup.paused_of], ids=["recording", "paused"])
def test_what_waits_is_not_deleted_by_the_way(repo: Repo, store: Store, aside: Callable[..., Path]) -> None:
    setup.enable(store)
    record_in(setup.spool_of(store.layout))
    if aside is setup.paused_of:
        setup.pause(store)
    before = config(repo).read_bytes()
    with pytest.raises(Conflict, match="1 record waits to be stored"):
        setup.disable(store)
    assert spooled.pending(aside(store.layout)) == 1
    assert config(repo).read_bytes() == before
    setup.disable(store, force=True)
    assert own_files(repo) <= {"index.sqlite3", "lock"}


def test_damaged_parts_are_not_deleted_by_the_way(repo: Repo, store: Store) -> None:
    setup.enable(store)
    place = setup.spool_of(store.layout)
    record_in(place)
    [file] = spooled.take(place)
    spooled.set_aside(place, file, spooled.Damaged(0, 5, "torn"))
    file.unlink()
    with pytest.raises(Conflict) as caught:
        setup.disable(store)
    assert caught.value.hint is not None
    assert "--force" in caught.value.hint
    assert spooled.set_aside_parts(place)
    setup.disable(store, force=True)
    assert not place.exists()


def test_the_configuration_is_left_alone_while_git_has_it(repo: Repo, store: Store) -> None:
    setup.enable(store)
    left = config(repo).read_bytes()
    config(repo).with_name("config.lock").write_bytes(b"")
    with pytest.raises(Exception, match="could not lock config file"):
        setup.disable(open_store(repo.path))
    assert config(repo).read_bytes() == left
