"""The door to pygit2: objects in every place, refs by compare-and-swap, faults as ours (T6, UC-53, SC-10 to SC-12)."""

import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pygit2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pogstore.errors import LockHeld, NotARepository, NotFound, ObjectDamaged, StaleRef
from pogstore.model import Oid
from pogstore.store import libgit2
from pogstore.store.contract import NewObject
from pogstore.store.layout import discover
from pogstore.store.libgit2 import PACK_FROM, line_hunks, patch_body
from pogstore.store.loose import find_loose
from pogstore.store.store import Store
from tests.builders_store import append, opened, topics
from tests.conftest import Repo

REF = "refs/pog/tasks/0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"
LIMIT = 1 << 20


def new(store: Store, data: bytes, kind: str = "blob") -> NewObject:
    return NewObject(store.objects.name(kind, data), kind, data)


@pytest.fixture
def commits(repo: Repo) -> list[Oid]:
    tree = repo.git("write-tree")
    return [Oid(repo.git("commit-tree", tree, "-m", str(number))) for number in range(3)]


# Objects


def test_few_objects_are_loose_and_many_are_one_pack(store: Store) -> None:
    packs = store.layout.objects / "pack"
    few = [new(store, b"%d" % number) for number in range(PACK_FROM - 1)]
    assert store.objects.write(few, fsync=False) is None
    assert all(find_loose(store.layout.objects, item.oid) for item in few)
    assert list(packs.iterdir()) == []
    many = [new(store, b"p%d" % number) for number in range(PACK_FROM)]
    pack = store.objects.write(many, fsync=False)
    assert pack is not None
    assert {path.suffix for path in packs.iterdir()} == {".pack", ".idx", ".keep"}
    assert not any(find_loose(store.layout.objects, item.oid) for item in many)
    for item in few + many:
        assert store.objects.exists(item.oid)
        assert store.objects.read(item.oid, LIMIT) == ("blob", item.data)
    assert store.git.text("fsck", "--strict", "--no-dangling") == ""


def test_objects_are_read_wherever_git_keeps_them(store: Store, repo: Repo) -> None:
    expected = {}
    for number in range(30):
        text = b"".join(b"line %d of file %d\n" % (line, number // 10) for line in range(200 + number))
        repo.commit({f"f{number // 10}": text})
        expected[Oid(repo.git("hash-object", "--stdin", input=text))] = text
    tag = repo.git("rev-parse", "HEAD")
    repo.git("tag", "--annotate", "--message", "m", "v1")
    repo.git("gc", "-q")
    for oid, data in expected.items():
        assert store.objects.read(oid, LIMIT) == ("blob", data)
    assert store.objects.read(Oid(tag), LIMIT)[0] == "commit"
    assert store.objects.read(Oid(repo.git("rev-parse", "v1")), LIMIT)[0] == "tag"


def test_objects_of_an_alternate_are_found(store: Store, repo: Repo, tmp_path: Path) -> None:
    """PC-45."""
    append(store, "lent")
    tip = store.tips()[REF]
    repo.git("clone", "-q", "--shared", str(repo.path), str(tmp_path / "borrower"))
    borrower = opened(Repo(tmp_path / "borrower"))
    assert borrower.objects.exists(tip)
    assert borrower.objects.read(tip, LIMIT) == store.objects.read(tip, LIMIT)


def test_what_is_missing_is_not_found_by_its_name(store: Store) -> None:
    with pytest.raises(NotFound, match="1" * 40):
        store.objects.read(Oid("1" * 40), LIMIT)
    assert not store.objects.exists(Oid("1" * 40))


@pytest.mark.parametrize("packed", [False, True])
def test_the_size_is_looked_at_before_the_bytes(store: Store, repo: Repo, packed: bool) -> None:
    """T13: one small delta may stand for gigabytes."""
    oid = Oid(repo.git("hash-object", "-w", "--stdin", input=b"x" * 5000))
    if packed:
        repo.git("update-ref", "refs/heads/keep", repo.commit({"big": b"x" * 5000}))
        repo.git("repack", "-adq")
        repo.git("prune-packed", "-q")
        assert find_loose(store.layout.objects, oid) is None
    with pytest.raises(ObjectDamaged, match="over the limit of 4999"):
        store.objects.read(oid, 4999)
    assert store.objects.read(oid, 5000)[1] == b"x" * 5000


@pytest.mark.parametrize("damage", [b"", b"x", b"\0" * 50])
def test_a_damaged_loose_object_is_named_and_healed_by_the_next_write(store: Store, damage: bytes) -> None:
    """T14, UC-52: git itself would say that it wrote it, and leave it broken."""
    item = new(store, b"precious")
    store.objects.write([item], fsync=False)
    path = find_loose(store.layout.objects, item.oid)
    assert path is not None
    path.chmod(0o644)
    path.write_bytes(damage)
    with pytest.raises(ObjectDamaged, match=item.oid):
        store.objects.read(item.oid, LIMIT)
    store.objects.write([item], fsync=False)
    assert store.objects.read(item.oid, LIMIT) == ("blob", b"precious")


def test_the_empty_tree_is_written_where_it_is_missing(store: Store, repo: Repo) -> None:
    append(store, "one")
    assert repo.git("cat-file", "-t", "4b825dc642cb6eb9a060e54bf8d69288fbee4904") == "tree"
    assert find_loose(store.layout.objects, Oid("4b825dc642cb6eb9a060e54bf8d69288fbee4904"))


# Refs


def test_a_ref_is_made_moved_and_deleted_by_compare_and_swap(store: Store, commits: list[Oid]) -> None:
    one, two, _ = commits
    store.refs.compare_and_swap(REF, None, one)
    assert store.refs.read(REF) == one
    store.refs.compare_and_swap(REF, one, two)
    assert store.refs.list("refs/pog/") == {REF: two}
    store.refs.compare_and_swap(REF, two, None)
    assert store.refs.read(REF) is None
    assert store.refs.list("refs/pog/") == {}


@pytest.mark.parametrize("packed", [False, True])
def test_a_ref_that_moved_meanwhile_is_left_alone(store: Store, repo: Repo, commits: list[Oid], packed: bool) -> None:
    """UC-53, SC-15: the comparison happens under git's own lock, also for a packed ref."""
    one, two, three = commits
    for old in (two, None):
        repo.git("update-ref", REF, one)
        if packed:
            repo.git("pack-refs", "--all")
        with pytest.raises(StaleRef) as caught:
            store.refs.compare_and_swap(REF, old, three)
        assert (caught.value.ref, caught.value.expected, caught.value.found) == (REF, old, one)
        assert store.refs.read(REF) == one
    with pytest.raises(StaleRef):
        store.refs.compare_and_swap(REF, two, None)
    repo.git("update-ref", "-d", REF)
    with pytest.raises(StaleRef):
        store.refs.compare_and_swap(REF, one, two)
    assert not (store.layout.common_dir / f"{REF}.lock").exists()


def test_no_reflog_is_written(store: Store, repo: Repo, commits: list[Oid]) -> None:
    store.refs.compare_and_swap(REF, None, commits[0])
    store.refs.compare_and_swap(REF, commits[0], commits[1])
    assert not (repo.path / ".git" / "logs" / REF).exists()


def test_a_move_that_fails_once_it_is_done_is_done(
    store: Store, commits: list[Oid], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error that comes after the move must not make the caller write everything again."""
    one, two = commits[:2]
    swap = store.refs._swap

    def failing(name: str, old: Oid | None, new: Oid | None) -> None:
        swap(name, old, new)
        raise pygit2.GitError("failed to open a directory")

    monkeypatch.setattr(store.refs, "_swap", failing)
    for old, new in ((None, one), (one, two), (two, None)):
        store.refs.compare_and_swap(REF, old, new)
        assert store.refs.read(REF) == new
    with pytest.raises(StaleRef):
        store.refs.compare_and_swap(REF, one, two)
    monkeypatch.setattr(libgit2, "RETRY_SECONDS", -1.0)
    store.refs.compare_and_swap(REF, None, one)
    assert store.refs.read(REF) == one


APPENDS_SLOWLY = """
import sys
from pogstore.store.libgit2 import Refs
from pogstore.store.store import open_store
from tests.builders_store import append
swap, faults = Refs._swap, []
def seen(*arguments):
    try:
        swap(*arguments)
    except Exception as fault:
        faults.append(str(fault))
        raise
Refs._swap = seen
append(open_store(sys.argv[1]), "two")
print(*faults, sep="\\n")
"""


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_what_pack_refs_does_right_after_a_move_makes_no_second_event(repo: Repo) -> None:
    """The cause of 481 events where 480 were written: libgit2 syncs a directory that `git pack-refs` has removed."""
    store = opened(repo, fsync=True)
    append(store, "one")
    repo.git("pack-refs", "--all")
    ref = store.layout.common_dir / REF
    lock = ref.with_name(f"{ref.name}.lock")
    slowly = ("strace", "-f", "-qq", "-o", os.devnull, "-P", str(lock), "-e", "inject=unlink:delay_exit=3000000:when=1")
    command = [*slowly, sys.executable, "-c", APPENDS_SLOWLY, str(repo.path)]
    root = Path(__file__).parents[2]
    writer = subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while writer.poll() is None and not (ref.exists() and not lock.exists()):
        time.sleep(0.01)
    repo.git("pack-refs", "--all")
    said, errors = writer.communicate(timeout=60)
    if "ptrace" in errors.lower():
        pytest.skip("no process may be traced here")
    assert writer.returncode == 0, errors
    assert "for fsync" in said
    assert topics(store) == ["one", "two"]
    store.close()


def test_a_lock_that_somebody_holds_for_a_moment_is_waited_for(store: Store, commits: list[Oid]) -> None:
    """SC-19: libgit2 itself never waits."""
    store.refs.compare_and_swap(REF, None, commits[0])
    lock = store.layout.common_dir / f"{REF}.lock"
    lock.touch()
    threading.Timer(0.3, lock.unlink).start()
    store.refs.compare_and_swap(REF, commits[0], commits[1])
    assert store.refs.read(REF) == commits[1]


def test_a_lock_that_nobody_gives_back_is_named(
    store: Store, commits: list[Oid], monkeypatch: pytest.MonkeyPatch
) -> None:
    """T24: a stale lock is never broken by us, and waiting has an end."""
    monkeypatch.setattr(libgit2, "RETRY_SECONDS", 0.3)
    lock = store.layout.common_dir / f"{REF}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.touch()
    started = time.monotonic()
    with pytest.raises(LockHeld, match=REF):
        store.refs.compare_and_swap(REF, None, commits[0])
    assert time.monotonic() - started < 3
    assert lock.exists()


@pytest.mark.parametrize("text", [b"", b"garbage\n", b"\0" * 41])
def test_a_ref_whose_file_is_broken_is_named(store: Store, commits: list[Oid], text: bytes) -> None:
    """UC-52: after a power cut a ref may be an empty file; it is not taken for one that does not exist."""
    store.refs.compare_and_swap(REF, None, commits[0])
    (store.layout.common_dir / REF).write_bytes(text)
    with pytest.raises(ObjectDamaged, match=REF):
        store.refs.read(REF)
    for old in (commits[0], None):
        with pytest.raises(ObjectDamaged, match=REF):
            store.refs.compare_and_swap(REF, old, commits[1])
    assert (store.layout.common_dir / REF).read_bytes() == text


def test_a_place_that_is_no_repository(repo: Repo) -> None:
    place = discover(repo.path)
    (repo.path / ".git" / "HEAD").unlink()
    with pytest.raises(NotARepository):
        libgit2.open_repository(place)


# Configuration


def test_configuration_as_git_reads_it(store: Store, repo: Repo) -> None:
    for name, value in (("pog.big", "16m"), ("pog.flag", "yes"), ("pog.odd", "maybe"), ("pog.word", "Some Text")):
        repo.git("config", name, value)
    repo.git("config", "--add", "pog.word", "again")
    config = store.config
    assert config.number("pog.big", 1) == 16 << 20
    assert config.number("pog.odd", 7) == config.number("pog.absent", 7) == 7
    assert config.flag("pog.flag", default=False) is True
    assert config.flag("pog.odd", default=True) is True
    assert config.flag("pog.absent", default=True) is True
    assert config.text("pog.word") == "again"
    assert config.text("pog.absent") is None
    assert config.all("pog.word") == ["Some Text", "again"]


# Line diffs


@given(st.lists(st.sampled_from([b"a\n", b"b\n", b"\n", b"c\r\n", b"d"]), max_size=8), st.data())
def test_hunks_turn_the_old_lines_into_the_new(old_lines: list[bytes], data: st.DataObject) -> None:
    new_lines = data.draw(st.lists(st.sampled_from([*old_lines, b"x\n", b"y"]), max_size=8))
    old, new_text = b"".join(old_lines), b"".join(new_lines)
    before, after = split(old), split(new_text)
    built: list[bytes] = []
    at = 0
    for hunk in line_hunks(old, new_text):
        built += before[at : hunk.old_start]
        assert len(built) == hunk.new_start
        built += after[hunk.new_start : hunk.new_start + hunk.new_lines]
        at = hunk.old_start + hunk.old_lines
    assert built + before[at:] == after


def split(text: bytes) -> list[bytes]:
    lines = text.split(b"\n")
    return [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def test_a_patch_is_gits_without_its_head() -> None:
    assert patch_body(b"a\nb\n", b"a\nc\n") == b"@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
    assert patch_body(b"a\n", b"a\n") == b""
    assert patch_body(b"\0a", b"\0b") == b""


def test_libgit2_finds_no_configuration_of_the_machine() -> None:
    assert pygit2.settings.search_path[pygit2.enums.ConfigLevel.SYSTEM] == ""


IN_C = """
import random, sys
from pogstore.cli import _late
_late.install()
from pogstore.store import libgit2

def versions():
    chance = random.Random(7)
    lines = [b"%d\\n" % chance.randrange(9) for _ in range(400)]
    for _ in range(60):
        old = b"".join(lines)
        for _ in range(chance.randrange(4)):
            at = chance.randrange(len(lines))
            lines[at : at + chance.randrange(3)] = [b"    %d\\n" % chance.randrange(9)] * chance.randrange(3)
        yield old, b"".join(lines)

def found():
    hunks = [[libgit2.line_hunks(*pair, slide=slide) for pair in versions()] for slide in (True, False)]
    return hunks, libgit2.differ()

alone = found()
assert not libgit2.is_loaded()
import pygit2
assert pygit2.Patch and libgit2.is_loaded()
libgit2._in_c.cache_clear()
libgit2._diff_flags.cache_clear()
assert libgit2._in_c() is pygit2
assert alone == found()
"""


def test_a_diff_loads_half_of_pygit2_and_is_the_same() -> None:
    subprocess.run([sys.executable, "-c", IN_C], check=True)
