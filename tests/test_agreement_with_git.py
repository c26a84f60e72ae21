"""What we write is git's own: it passes `git fsck`, survives `gc` and `repack`, clones, and has one name anywhere."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pygit2
import pytest
from pygit2.enums import ObjectType

from pogstore import codec, digest
from pogstore.history.verify import verify
from pogstore.model import KINDS, Event, Oid, Sealed, TaskId
from pogstore.store import chain
from pogstore.store.refs import CONTENT, PRIVATE, TASKS
from pogstore.store.store import Store, open_store
from tests.conftest import Repo
from tests.history.stores import OTHER, TASK, append, enabled, tip

PACKED = TaskId("0198a1b2-c3d4-7e5f-8a9b-111111111111")
TASKS_WRITTEN = (TASK, OTHER, PACKED)


@pytest.fixture
def store(repo: Repo) -> Store:
    """A store with loose events of every kind, and one task that was written as a pack."""
    found = enabled(repo)
    for kind in KINDS:
        append(found, kind)
    append(found, "defined", "stepped", task=OTHER)
    append(found, *KINDS, *KINDS, *KINDS, *KINDS, task=PACKED)
    assert list((repo.path / ".git" / "objects" / "pack").glob("*.pack"))
    return found


def everything(store: Store) -> dict[TaskId, tuple[list[Sealed], dict[str, bytes]]]:
    """All events of all tasks, and all contents by the names that events give them."""
    again = Store(store.layout)
    found = {}
    for task in TASKS_WRITTEN:
        blobs = {}
        for place in (CONTENT, PRIVATE):
            if oid := again.refs.read(place + task):
                for _, entry in chain.contents(again.objects, oid):
                    blobs[entry.name] = again.objects.read(entry.oid, 1 << 20)[1]
        found[task] = (again.events(task), blobs)
    again.close()
    return found


def fsck(repo: Repo) -> str:
    """Runs the strictest check there is; what is dangling is nobody's fault."""
    command = ["git", "fsck", "--strict", "--full", "--no-progress"]
    done = subprocess.run(command, cwd=repo.path, capture_output=True, text=True, check=False)
    said = [line for line in (done.stdout + done.stderr).splitlines() if not line.startswith("dangling ")]
    return f"status {done.returncode}: {said}" if done.returncode or said else ""


def test_fsck_finds_nothing(repo: Repo, store: Store) -> None:
    assert fsck(repo) == ""


@pytest.mark.parametrize(
    "command",
    [
        ("gc", "--quiet", "--prune=now"),
        ("gc", "--quiet", "--aggressive", "--prune=now"),
        ("repack", "-adf", "--quiet"),
        ("pack-refs", "--all", "--prune"),
        ("maintenance", "run", "--quiet", "--task=loose-objects", "--task=incremental-repack"),
        ("multi-pack-index", "write", "--no-progress"),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_housekeeping_loses_nothing(repo: Repo, store: Store, command: tuple[str, ...]) -> None:
    before = everything(store)
    report = verify(store)
    assert report.ok, report.faults
    repo.git(*command)
    repo.git(*command)
    assert everything(store) == before
    again = verify(open_store(repo.path))
    assert again.ok, again.faults
    assert (again.checked.events, again.checked.contents) == (report.checked.events, report.checked.contents)
    assert fsck(repo) == ""


@pytest.mark.parametrize("options", [(), ("--no-local",), ("--shared",)], ids=str)
def test_a_mirror_holds_everything(repo: Repo, store: Store, tmp_path: Path, options: tuple[str, ...]) -> None:
    mirror = Repo(tmp_path / "mirror.git")
    repo.git("clone", "--quiet", "--mirror", *options, str(repo.path), str(mirror.path))
    other = open_store(mirror.path)
    assert everything(other) == everything(store)
    assert verify(other) == verify(other, TASKS_WRITTEN)
    assert verify(other).ok
    assert fsck(mirror) == ""


def test_a_bundle_and_a_fast_export_carry_everything(
    repo: Repo, store: Store, make_repo: Callable[..., Repo], tmp_path: Path
) -> None:
    repo.git("bundle", "create", "--quiet", str(tmp_path / "all.bundle"), "--all")
    unbundled = Repo(tmp_path / "unbundled.git")
    repo.git("clone", "--quiet", "--mirror", str(tmp_path / "all.bundle"), str(unbundled.path))
    imported = make_repo("imported.git", "--bare", commit=False)
    exported = subprocess.run(["git", "fast-export", "--all"], cwd=repo.path, capture_output=True, check=True).stdout
    imported.git("fast-import", "--quiet", input=exported)
    for other in (unbundled, imported):
        assert everything(open_store(other.path)) == everything(store)
        assert verify(open_store(other.path)).ok


def test_plain_git_shows_an_event(repo: Repo, store: Store) -> None:
    assert repo.git("log", "--format=%s", TASKS + OTHER).splitlines() == ["stepped Bash src/main.py", "defined"]
    assert repo.git("log", "-1", "--format=%an <%ae> %ad", "--date=iso", TASKS + OTHER) == (
        "Ada Example <ada@example.org> 2026-01-05 10:00:00 +0100"
    )
    assert repo.git("ls-tree", "-r", TASKS + OTHER) == ""
    assert len(repo.git("rev-list", TASKS + TASK).splitlines()) == len(KINDS)


def test_an_event_id_can_be_checked_by_hand(repo: Repo, store: Store) -> None:
    """The last line of a carrier, without its newline, is what `b3sum` names."""
    for oid in repo.git("rev-list", TASKS + TASK).splitlines():
        raw = subprocess.run(["git", "cat-file", "commit", oid], cwd=repo.path, capture_output=True, check=True).stdout
        last = subprocess.run(["tail", "-n", "1"], input=raw, capture_output=True, check=True).stdout
        assert store.event(codec.event_id(last[:-1])).canonical == last[:-1]
        assert codec.event_id(last[:-1]) == digest.hexdigest(last.removesuffix(b"\n"))
        named = re.search(rb'"task":"([^"]+)"', last)
        assert named is not None
        assert named[1].decode() == TASK


def raw_commits(repo: Repo, task: TaskId) -> list[tuple[Oid, bytes]]:
    """The carriers of a task, parents first, as plain git prints them."""
    found = []
    for oid in repo.git("rev-list", "--reverse", TASKS + task).splitlines():
        done = subprocess.run(["git", "cat-file", "commit", oid], cwd=repo.path, capture_output=True, check=True)
        found.append((Oid(oid), done.stdout))
    return found


def test_every_writer_makes_the_same_carriers(
    repo: Repo, store: Store, make_repo: Callable[..., Repo], tmp_path: Path
) -> None:
    """libgit2 in two clones, `git hash-object` and our own writer: one event, one oid."""
    clones = [make_repo("one", commit=False), make_repo("two", "--bare", commit=False)]
    commits = raw_commits(repo, TASK)
    assert len(commits) == len(KINDS)
    for clone in clones:
        odb = pygit2.Repository(str(clone.path)).odb
        for oid, data in commits:
            assert str(odb.write(ObjectType.COMMIT, data)) == oid
    plain = make_repo("plain", commit=False)
    for oid, data in commits:
        assert plain.git("hash-object", "-t", "commit", "-w", "--stdin", input=data) == oid
    for clone in [*clones, plain]:
        clone.git("hash-object", "-w", "-t", "tree", "--stdin", input=b"")
        clone.git("update-ref", TASKS + TASK, commits[-1][0])
        assert fsck(clone) in ("", "status 0: ['notice: HEAD points to an unborn branch (main)']")
        assert open_store(clone.path).events(TASK) == store.events(TASK)


def test_two_clones_that_write_the_same_event_make_the_same_oids(
    repo: Repo, store: Store, make_repo: Callable[..., Repo]
) -> None:
    bodies = [sealed.event for sealed in store.events(TASK) if isinstance(sealed.event, Event)]
    assert len(bodies) == len(KINDS)
    for name in ("left", "right"):
        other = enabled(make_repo(name, commit=False))
        written = other.transact(lambda batch: [batch.append(event) for event in bodies])
        assert [sealed.event_id for sealed in written] == [sealed.event_id for sealed in store.events(TASK)]
        assert tip(other) == tip(store)


def test_a_store_that_was_copied_file_by_file_is_the_same(repo: Repo, store: Store, tmp_path: Path) -> None:
    shutil.copytree(repo.path, tmp_path / "copy")
    shutil.rmtree(tmp_path / "copy" / ".git" / "pog")
    copy = open_store(tmp_path / "copy")
    assert everything(copy) == everything(store)
    assert os.fspath(copy.layout.common_dir) != os.fspath(store.layout.common_dir)
