"""Our own settings file is kept out of git, and `info/exclude` gets its former bytes back."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pogstore.store.store import Store, open_store
from pogstore.work import excluded
from tests.conftest import Repo

NAME = ".claude/settings.local.json"


@pytest.fixture
def store(repo: Repo) -> Iterator[Store]:
    found = open_store(repo.path)
    yield found
    found.close()


def settings(repo: Repo) -> Path:
    path = repo.path / NAME
    path.parent.mkdir(exist_ok=True)
    path.write_text("{}\n")
    return path


@pytest.mark.parametrize("before", [None, b"", b"*.log\n", b"# mine\n*.log", b"a\r\nb\xff\r\n"])
def test_git_does_not_see_it_and_every_byte_comes_back(repo: Repo, store: Store, before: bytes | None) -> None:
    path = excluded.file_of(store.layout)
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    if before is not None:
        path.write_bytes(before)
    settings(repo)
    assert excluded.exclude(store, NAME)
    assert repo.git("status", "--porcelain", "-uall") == ""
    written = path.read_bytes()
    assert not excluded.exclude(store, NAME)
    assert path.read_bytes() == written
    assert excluded.include(store, NAME)
    assert (path.read_bytes() if path.exists() else None) == before
    assert not excluded.include(store, NAME)
    assert not (repo.path / ".git" / "pog").exists()


def test_what_somebody_wrote_since_stays(repo: Repo, store: Store) -> None:
    path = excluded.file_of(store.layout)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"*.log\n")
    excluded.exclude(store, NAME)
    with path.open("ab") as file:
        file.write(b"*.tmp\n")
    assert excluded.include(store, NAME)
    assert path.read_bytes() == b"*.log\n*.tmp\n"


OTHERS = (NAME, ".codex/hooks.json", ".cursor/hooks.json")


@pytest.mark.parametrize("before", [None, b"*.log"])
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_several_files_of_ours_come_out_in_any_order(
    repo: Repo, store: Store, before: bytes | None, order: tuple[int, ...]
) -> None:
    path = excluded.file_of(store.layout)
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    if before is not None:
        path.write_bytes(before)
    for name in OTHERS:
        assert excluded.exclude(store, name)
    for at in order:
        assert path.exists()
        assert excluded.include(store, OTHERS[at])
    assert (path.read_bytes() if path.exists() else None) == before
    assert not (repo.path / ".git" / "pog").exists()


def test_what_git_ignores_or_tracks_needs_no_line(repo: Repo, store: Store) -> None:
    settings(repo)
    (repo.path / ".gitignore").write_text(".claude/\n")
    assert not excluded.exclude(store, NAME)
    (repo.path / ".gitignore").unlink()
    repo.git("add", NAME)
    assert not excluded.exclude(store, NAME)
    assert not (repo.path / ".git" / "pog").exists()


def test_permissions_stay(store: Store) -> None:
    path = excluded.file_of(store.layout)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"*.log\n")
    path.chmod(0o600)
    excluded.exclude(store, NAME)
    assert path.stat().st_mode & 0o777 == 0o600
