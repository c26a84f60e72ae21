"""What `store/loose.py` promises: agreement with git, no trust in any byte, healing (T13, T14, SC-23, UC-52)."""

import os
import random
import stat
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pogstore.errors import BadInput, NotFound, ObjectDamaged
from pogstore.store import loose
from pogstore.store.loose import KINDS, find_loose, oid_of, read_loose, write_loose
from tests.conftest import Repo

ALGORITHMS = ("sha1", "sha256")
LIMIT = 1 << 20
SMALL = b"hello world\n"
LARGE = b"".join(b"line %d of a longer text\n" % number for number in range(500))
SAMPLES = (b"", b"x", SMALL, bytes(range(256)), LARGE, random.Random(1).randbytes(9000), bytes(100_000))


@pytest.fixture
def objects(tmp_path: Path) -> Path:
    directory = tmp_path / "objects"
    directory.mkdir()
    return directory


def put(objects: Path, oid: str, raw: bytes) -> Path:
    """Puts any bytes where the loose object of a name belongs."""
    path = objects / oid[:2] / oid[2:]
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(raw)
    return path


def reason(objects: Path, oid: str, limit: int = LIMIT) -> str:
    """Returns why an object is damaged; fails if it is not."""
    with pytest.raises(ObjectDamaged) as caught:
        read_loose(objects, oid, limit=limit)
    assert caught.value.name == oid
    return caught.value.reason


def files(directory: Path) -> list[Path]:
    return [path for path in directory.rglob("*") if not path.is_dir()]


def flipped(raw: bytes, masks: tuple[int, ...]) -> Iterator[bytes]:
    for position, byte in enumerate(raw):
        for mask in masks:
            yield raw[:position] + bytes((byte ^ mask,)) + raw[position + 1 :]


BITS = tuple(1 << bit for bit in range(8))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_git_gives_the_same_names_and_reads_what_is_written(make_repo: Callable[..., Repo], algorithm: str) -> None:
    repo = make_repo("repo", f"--object-format={algorithm}")
    directory = repo.path / ".git" / "objects"
    for data in SAMPLES:
        oid = write_loose(directory, "blob", data, fsync=False, algorithm=algorithm)
        assert oid == repo.git("hash-object", "--stdin", input=data)
        assert repo.git("cat-file", "blob", oid).encode(errors="surrogateescape") == data.removesuffix(b"\n")
        assert read_loose(directory, oid, limit=LIMIT, algorithm=algorithm) == ("blob", data)
    repo.git("fsck", "--strict")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("compression", [0, 1, 6, 9])
def test_what_git_writes_is_read(make_repo: Callable[..., Repo], algorithm: str, compression: int) -> None:
    repo = make_repo("repo", f"--object-format={algorithm}", commit=False)
    repo.git("config", "core.looseCompression", str(compression))
    repo.commit({"a": SMALL, "b": LARGE, "c": SAMPLES[5], "d/e": b""})
    repo.git("tag", "--annotate", "--message", "a tag", "v1")
    directory = repo.path / ".git" / "objects"
    listed = repo.git("cat-file", "--batch-check", "--batch-all-objects").splitlines()
    kinds = set()
    for oid, kind, size in map(str.split, listed):
        found, data = read_loose(directory, oid, limit=LIMIT, algorithm=algorithm)
        assert (found, len(data)) == (kind, int(size))
        kinds.add(kind)
    assert kinds == set(KINDS)


@given(kind=st.sampled_from(KINDS), data=st.binary(max_size=9000), algorithm=st.sampled_from(ALGORITHMS))
def test_written_objects_come_back(
    tmp_path_factory: pytest.TempPathFactory, kind: str, data: bytes, algorithm: str
) -> None:
    directory = tmp_path_factory.getbasetemp() / "round"
    directory.mkdir(exist_ok=True)
    oid = write_loose(directory, kind, data, fsync=False, algorithm=algorithm)
    assert oid == oid_of(kind, data, algorithm)
    assert read_loose(directory, oid, limit=len(data), algorithm=algorithm) == (kind, data)


def test_an_unknown_kind_is_never_written(objects: Path) -> None:
    with pytest.raises(BadInput, match="'event' is no kind of git object"):
        write_loose(objects, "event", b"", fsync=False)
    assert files(objects) == []


@pytest.mark.parametrize("name", ["0" * 40, "0" * 64, "", "ab", "../../config", "AB" * 20, "0" * 39 + "/"])
def test_an_absent_object_is_not_found(objects: Path, name: str) -> None:
    put(objects, "0" * 38 + "11", b"another")
    assert find_loose(objects, name) is None
    with pytest.raises(NotFound, match=f"no object matches '{name}'"):
        read_loose(objects, name, limit=LIMIT)


@pytest.mark.parametrize("name", ["..config", "ab" * 20 + "c", "ab" * 32 + "c", "AB" * 20])
def test_a_malformed_name_finds_nothing_even_where_a_file_is(objects: Path, name: str) -> None:
    put(objects, name, zlib.compress(b"blob 0\0"))
    assert find_loose(objects, name) is None
    with pytest.raises(NotFound):
        read_loose(objects, name, limit=LIMIT)


@pytest.mark.parametrize("level", [0, 1, 9])
@pytest.mark.parametrize("data", [b"", SMALL, bytes(range(0, 256, 3))], ids=["empty", "text", "binary"])
def test_every_flipped_bit_and_byte_of_a_small_object_is_noticed(objects: Path, data: bytes, level: int) -> None:
    """T14, SC-23: the padding bits that zlib itself passes over are noticed too."""
    oid = oid_of("blob", data)
    raw = zlib.compress(b"blob %d\0" % len(data) + data, level)
    put(objects, oid, raw)
    assert read_loose(objects, oid, limit=LIMIT) == ("blob", data)
    for damaged in flipped(raw, (0xFF, *BITS)):
        put(objects, oid, damaged)
        assert reason(objects, oid)


def test_every_flipped_bit_of_an_object_of_our_writing_is_noticed(objects: Path) -> None:
    """Repetitions make deflate hide flips, and events are full of them: what fits a disk block is stored plain."""
    oid = write_loose(objects, "blob", LARGE[:600], fsync=False)
    raw = (objects / oid[:2] / oid[2:]).read_bytes()
    assert len(raw) > 600
    for damaged in flipped(raw, (0xFF, *BITS)):
        put(objects, oid, damaged)
        assert reason(objects, oid)


@pytest.mark.parametrize("level", [1, 6, 9])
def test_a_flip_that_is_not_noticed_changed_no_byte(objects: Path, level: int) -> None:
    data = LARGE[:800] + b"a" * 300
    oid = oid_of("blob", data)
    raw = zlib.compress(b"blob %d\0" % len(data) + data, level)
    unnoticed = 0
    for damaged in flipped(raw, (0xFF, *BITS)):
        put(objects, oid, damaged)
        try:
            assert read_loose(objects, oid, limit=LIMIT) == ("blob", data)
            unnoticed += 1
        except ObjectDamaged:
            pass
    assert unnoticed < len(raw) // 4


@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("data", [b"", SMALL, LARGE[:700]], ids=["empty", "text", "lines"])
def test_every_truncation_and_extension_is_noticed(objects: Path, data: bytes, level: int) -> None:
    oid = oid_of("blob", data)
    raw = zlib.compress(b"blob %d\0" % len(data) + data, level)
    for length in range(len(raw)):
        put(objects, oid, raw[:length])
        assert reason(objects, oid)
    for extra in (b"\0", b"\n", b"1234", b"12345", raw, bytes(4000)):
        put(objects, oid, raw + extra)
        assert reason(objects, oid) == "goes on after the end of its stream"


def test_a_file_of_no_bytes_is_named_as_such(objects: Path) -> None:
    """UC-52."""
    put(objects, "ab" * 20, b"")
    assert reason(objects, "ab" * 20) == "its file is empty"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"blob 11\0hello world\n", "holds more bytes than its header claims"),
        (b"blob 13\0hello world\n", "holds fewer bytes than its header claims"),
        (b"blob 012\0hello world\n", "has no header of a git object"),
        (b"blob  12\0hello world\n", "has no header of a git object"),
        (b"blob -1\0", "has no header of a git object"),
        (b"blob 12hello world\n", "has no header of a git object"),
        (b"bulb 12\0hello world\n", "has no header of a git object"),
        (b"blob 12", "has no header of a git object"),
        (b"", "has no header of a git object"),
        (b"blob " + b"9" * 400 + b"\0", "has no header of a git object"),
        (b"blob 12\0hello_world\n", "its bytes hash to another name"),
        (b"tree 12\0hello world\n", "its bytes hash to another name"),
    ],
)
@pytest.mark.parametrize("level", [0, 9])
def test_a_header_that_lies_is_damage(objects: Path, content: bytes, expected: str, level: int) -> None:
    oid = oid_of("blob", SMALL)
    put(objects, oid, zlib.compress(content, level))
    assert reason(objects, oid) == expected


def test_bytes_that_are_no_stream_are_damage(objects: Path) -> None:
    put(objects, "ab" * 20, b"blob 12\0hello world\n")
    assert reason(objects, "ab" * 20).startswith("does not inflate: ")


def peak(call: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("claimed", [LIMIT + 1, 1 << 31, 1 << 40, 10**18])
def test_a_claim_over_the_limit_costs_nothing(objects: Path, claimed: int) -> None:
    """T13: a header that claims 2 GB, or a terabyte."""
    put(objects, "ab" * 20, zlib.compress(b"blob %d\0" % claimed + bytes(1000)))
    assert peak(lambda: reason(objects, "ab" * 20)) < 200_000
    assert reason(objects, "ab" * 20) == f"claims {claimed} bytes, over the limit of {LIMIT}"


def test_a_claim_that_the_file_cannot_hold_is_seen_under_any_limit(objects: Path) -> None:
    put(objects, "ab" * 20, zlib.compress(b"blob %d\0" % (1 << 31)))
    assert reason(objects, "ab" * 20, limit=1 << 40) == f"claims {1 << 31} bytes, more than its file can hold"


def test_a_bomb_is_inflated_no_further_than_its_claim(objects: Path) -> None:
    """T13: 64 MiB of zeros in 64 KiB, under a header that claims ten bytes."""
    put(objects, "ab" * 20, zlib.compress(b"blob 10\0" + bytes(64 << 20), 9))
    assert peak(lambda: reason(objects, "ab" * 20)) < 1_000_000
    assert reason(objects, "ab" * 20) == "holds more bytes than its header claims"


def test_a_stream_of_empty_blocks_is_not_followed_for_ever(objects: Path) -> None:
    squeezer = zlib.compressobj(1)
    raw = squeezer.compress(b"blob 12\0" + SMALL) + squeezer.flush(zlib.Z_FULL_FLUSH)
    raw += b"\0\0\0\xff\xff" * 2000 + squeezer.flush()
    oid = oid_of("blob", SMALL)
    put(objects, oid, raw)
    assert zlib.decompress(raw) == b"blob 12\0" + SMALL
    assert "too large" in reason(objects, oid, limit=100)


def test_the_limit_is_the_largest_size_that_is_read(objects: Path) -> None:
    oid = write_loose(objects, "blob", LARGE, fsync=False)
    assert read_loose(objects, oid, limit=len(LARGE))[1] == LARGE
    assert reason(objects, oid, limit=len(LARGE) - 1).endswith(f"over the limit of {len(LARGE) - 1}")


def test_what_is_not_a_file_is_damage_and_never_waited_for(objects: Path) -> None:
    oid = "ab" * 20
    (objects / "ab" / oid[2:]).mkdir(parents=True)
    assert reason(objects, oid) == "cannot be read: Is a directory"
    (objects / "ab" / oid[2:]).rmdir()
    os.mkfifo(objects / "ab" / oid[2:])
    assert reason(objects, oid) == "is not a file"


def test_a_loop_of_links_is_damage_and_a_dead_link_is_absent(objects: Path) -> None:
    path = put(objects, "ab" * 20, b"")
    path.unlink()
    path.symlink_to(path)
    assert reason(objects, "ab" * 20).startswith("cannot be read: ")
    path.unlink()
    path.symlink_to("nowhere")
    with pytest.raises(NotFound):
        read_loose(objects, "ab" * 20, limit=LIMIT)


def test_the_file_is_read_only_and_alone(objects: Path) -> None:
    oid = write_loose(objects, "blob", SMALL, fsync=False)
    path = objects / oid[:2] / oid[2:]
    assert files(objects) == [path]
    assert find_loose(objects, oid) == path
    assert stat.S_IMODE(path.stat().st_mode) == 0o444


@pytest.mark.parametrize("fsync", [False, True])
def test_a_healthy_object_is_kept_and_made_fresh(objects: Path, fsync: bool) -> None:
    """An old object that becomes needed again must not look prunable."""
    oid = write_loose(objects, "blob", SMALL, fsync=False)
    path = objects / oid[:2] / oid[2:]
    os.utime(path, (1000, 1000))
    before = path.stat()
    write_loose(objects, "blob", SMALL, fsync=fsync)
    after = path.stat()
    assert after.st_ino == before.st_ino
    assert after.st_mtime > 1000


@pytest.mark.parametrize("damage", [b"", b"\0" * 30, b"hello", zlib.compress(b"blob 12\0hello_world\n")])
def test_a_damaged_object_is_healed_where_git_leaves_it(make_repo: Callable[..., Repo], damage: bytes) -> None:
    """T14, UC-52, SC-23."""
    repo = make_repo()
    directory = repo.path / ".git" / "objects"
    oid = write_loose(directory, "blob", SMALL, fsync=False)
    put(directory, oid, damage)
    assert write_loose(directory, "blob", SMALL, fsync=True) == oid
    assert read_loose(directory, oid, limit=LIMIT) == ("blob", SMALL)
    assert repo.git("cat-file", "blob", oid) == "hello world"
    repo.git("fsck", "--strict")


def test_a_write_that_fails_leaves_all_as_it_was(objects: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(objects, oid_of("blob", SMALL), b"damaged")

    def fail(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="No space left"):
        write_loose(objects, "blob", SMALL, fsync=False)
    assert files(objects) == [path]
    assert path.read_bytes() == b"damaged"


def test_an_object_that_vanishes_after_the_look_is_written(objects: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    oid = write_loose(objects, "blob", SMALL, fsync=False)
    path = objects / oid[:2] / oid[2:]

    def prune(gone: Path) -> None:
        gone.unlink()
        raise FileNotFoundError(gone)

    monkeypatch.setattr(os, "utime", prune)
    assert write_loose(objects, "blob", SMALL, fsync=False) == oid
    assert path.exists()


def test_a_directory_that_a_prune_removes_is_made_again(objects: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    create, pruned = loose.create_file, list[Path]()

    def prune_once(path: Path) -> Any:
        if not pruned:
            pruned.append(path)
            path.parent.rmdir()
        return create(path)

    monkeypatch.setattr(loose, "create_file", prune_once)
    oid = write_loose(objects, "blob", SMALL, fsync=False)
    assert len(pruned) == 1
    assert read_loose(objects, oid, limit=LIMIT) == ("blob", SMALL)


def test_a_temporary_file_that_a_prune_takes_is_made_again(objects: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SC-58: `git gc --prune=now` takes them all."""
    replace, pruned = Path.replace, list[Path]()

    def prune_once(self: Path, target: Path) -> Path:
        if not pruned:
            pruned.append(self)
            self.unlink()
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", prune_once)
    oid = write_loose(objects, "blob", SMALL, fsync=False)
    assert len(pruned) == 1
    assert read_loose(objects, oid, limit=LIMIT) == ("blob", SMALL)


def test_a_directory_that_never_stays_is_an_error_not_a_loop(objects: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def vanish(path: Path) -> Any:
        raise FileNotFoundError(path)

    monkeypatch.setattr(loose, "create_file", vanish)
    with pytest.raises(FileNotFoundError, match="tmp_obj_"):
        write_loose(objects, "blob", SMALL, fsync=False)


def test_fsync_reaches_the_file_and_both_directories(objects: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    real = os.fsync

    def remember(descriptor: int) -> None:
        synced.append(os.fstat(descriptor).st_ino)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", remember)
    oid = write_loose(objects, "blob", SMALL, fsync=False)
    assert synced == []
    path = objects / oid[:2] / oid[2:]
    write_loose(objects, "blob", SMALL, fsync=True)
    assert synced == [path.stat().st_ino, path.parent.stat().st_ino]
    path.unlink()
    path.parent.rmdir()
    synced.clear()
    write_loose(objects, "blob", SMALL, fsync=True)
    assert synced == [place.stat().st_ino for place in (path, path.parent, objects)]


def test_a_shared_repository_stays_shared(objects: Path) -> None:
    objects.chmod(0o2775)
    oid = write_loose(objects, "blob", SMALL, fsync=False)
    assert stat.S_IMODE((objects / oid[:2]).stat().st_mode) == 0o2775
