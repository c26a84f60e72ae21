"""What `store/pack.py` promises: packs that git takes as its own, and bit rot noticed byte by byte (T14, SC-59)."""

import hashlib
import os
import stat
import struct
import zlib
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pogstore.errors import NotFound, ObjectDamaged
from pogstore.model import Oid
from pogstore.store import pack
from pogstore.store.loose import KINDS, oid_of
from pogstore.store.pack import PackIndex, PackWriter, check_pack, clear_unfinished, object_dirs, packs, write_pack
from tests.conftest import Repo

ALGORITHMS = ("sha1", "sha256")
Given = tuple[Oid, str, bytes]


def named(kind: str, data: bytes, algorithm: str) -> Given:
    return oid_of(kind, data, algorithm), kind, data


def history(algorithm: str, length: int = 5) -> list[Given]:
    """Returns the objects of a chain of commits, each with a tree and a blob; the last is the tip."""
    objects: list[Given] = []
    parent = b""
    for number in range(length):
        blob = named("blob", b"version %d\n" % number * (1 + 200 * number), algorithm)
        tree = named("tree", b"100644 file\0" + bytes.fromhex(blob[0]), algorithm)
        who = b"Ada Example <ada@example.org> %d +0000" % (1_700_000_000 + number)
        text = b"tree %b\n%bauthor %b\ncommitter %b\n\nchange\n" % (tree[0].encode(), parent, who, who)
        commit = named("commit", text, algorithm)
        parent = b"parent %b\n" % commit[0].encode()
        objects += [blob, tree, commit]
    return objects


def entries(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def batch(repo: Repo, oids: list[Oid]) -> bytes:
    output = repo.git("cat-file", "--batch", input="\n".join(oids) + "\n")
    return output.encode(errors="surrogateescape") + b"\n"


@pytest.mark.parametrize("compression", [0, 1, 9])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_git_takes_a_pack_as_its_own(make_repo: Callable[..., Repo], algorithm: str, compression: int) -> None:
    repo = make_repo("repo", f"--object-format={algorithm}")
    objects_dir = repo.path / ".git" / "objects"
    objects = history(algorithm, 40)
    path = write_pack(objects_dir / "pack", objects, fsync=True, algorithm=algorithm, compression=compression)
    assert path is not None
    expected = b"".join(
        b"%b %b %d\n%b\n" % (oid.encode(), kind.encode(), len(data), data) for oid, kind, data in objects
    )
    oids = [oid for oid, _, _ in objects]
    assert batch(repo, oids) == expected
    repo.git("verify-pack", "--verbose", str(path))
    repo.git("update-ref", "refs/pog/tasks/one", oids[-1])
    repo.git("fsck", "--strict", "--full")
    repo.git("gc", "--quiet", "--prune=now")
    assert not path.exists()
    assert batch(repo, oids) == expected
    assert [check_pack(kept, algorithm) for kept in packs(objects_dir)] == [None]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_index_is_the_one_that_git_would_write(make_repo: Callable[..., Repo], algorithm: str) -> None:
    repo = make_repo("repo", f"--object-format={algorithm}", commit=False)
    path = write_pack(repo.path, history(algorithm), fsync=False, algorithm=algorithm)
    assert path is not None
    repo.git("index-pack", "-o", "git.idx", str(path))
    assert (repo.path / "git.idx").read_bytes() == path.with_suffix(".idx").read_bytes()


def test_a_tag_can_be_packed(make_repo: Callable[..., Repo]) -> None:
    repo = make_repo()
    repo.git("tag", "--annotate", "--message", "a tag", "v1")
    raw = repo.git("cat-file", "tag", "v1").encode() + b"\n"
    other = make_repo("other", commit=False)
    write_pack(other.path / ".git" / "objects" / "pack", [named("tag", raw, "sha1")], fsync=False)
    assert other.git("cat-file", "-t", repo.git("rev-parse", "v1")) == "tag"


@given(
    contents=st.lists(st.tuples(st.sampled_from(KINDS), st.binary(max_size=5000)), min_size=1, max_size=12),
    algorithm=st.sampled_from(ALGORITHMS),
)
def test_every_object_stands_where_the_index_says(
    tmp_path_factory: pytest.TempPathFactory, contents: list[tuple[str, bytes]], algorithm: str
) -> None:
    directory = tmp_path_factory.mktemp("packs")
    objects = [named(kind, data, algorithm) for kind, data in contents]
    path = write_pack(directory, objects, fsync=False, algorithm=algorithm)
    assert path is not None
    assert check_pack(path, algorithm) is None
    raw = path.read_bytes()
    with PackIndex.open(path.with_suffix(".idx"), algorithm) as index:
        assert list(index.oids()) == sorted({oid for oid, _, _ in objects})
        for oid, kind, data in objects:
            assert oid in index
            assert read_entry(raw, index.offset(oid)) == (kind, data)


def read_entry(raw: bytes, offset: int) -> tuple[str, bytes]:
    """Reads one object of a pack by git's own description of the format."""
    number, size, shift = raw[offset] >> 4 & 7, raw[offset] & 15, 4
    while raw[offset] & 0x80:
        offset += 1
        size |= (raw[offset] & 0x7F) << shift
        shift += 7
    data = zlib.decompressobj().decompress(raw[offset + 1 :])
    assert len(data) == size
    return {1: "commit", 2: "tree", 3: "blob", 4: "tag"}[number], data


def test_no_objects_make_no_pack_and_leave_no_file(tmp_path: Path) -> None:
    assert write_pack(tmp_path / "pack", [], fsync=True) is None
    assert entries(tmp_path / "pack") == []


def test_an_object_given_twice_is_written_once(tmp_path: Path) -> None:
    one, two = named("blob", b"one", "sha1"), named("blob", b"two", "sha1")
    path = write_pack(tmp_path, [one, two, one, two, one], fsync=False)
    assert path is not None
    assert path == write_pack(tmp_path, [one, two], fsync=False)
    with PackIndex.open(path.with_suffix(".idx")) as index:
        assert len(index) == 2


def test_files_are_read_only_named_by_their_trailer_and_alone(tmp_path: Path) -> None:
    path = write_pack(tmp_path, history("sha1"), fsync=False)
    assert path is not None
    assert path.name == f"pack-{path.read_bytes()[-20:].hex()}.pack"
    assert entries(tmp_path) == [path.with_suffix(".idx").name, path.name]
    assert {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()} == {0o444}


def test_an_object_under_a_wrong_name_is_refused_and_nothing_stays(tmp_path: Path) -> None:
    good, bad = named("blob", b"one", "sha1"), (oid_of("blob", b"two"), "blob", b"2")
    with pytest.raises(ObjectDamaged, match=bad[0]):
        write_pack(tmp_path, [good, bad], fsync=False)
    assert entries(tmp_path) == []


def test_objects_that_fail_halfway_leave_nothing(tmp_path: Path) -> None:
    def interrupted() -> Iterator[Given]:
        yield named("blob", b"one", "sha1")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_pack(tmp_path, interrupted(), fsync=False)
    assert entries(tmp_path) == []


def test_a_disk_that_refuses_the_last_step_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="No space left"):
        write_pack(tmp_path, history("sha1"), fsync=False)
    assert entries(tmp_path) == []


def test_a_writer_that_is_not_finished_leaves_nothing(tmp_path: Path) -> None:
    with PackWriter(tmp_path, fsync=False) as writer:
        writer.add(*named("blob", b"one", "sha1"))
        (name,) = entries(tmp_path)
        assert not name.startswith("tmp_"), "git gc --prune=now would take it from under the writer"
    assert entries(tmp_path) == []


def test_what_a_killed_writer_left_is_cleared_away(tmp_path: Path) -> None:
    with PackWriter(tmp_path, fsync=False) as writer:
        writer.add(*named("blob", b"one", "sha1"))
        (tmp_path / "tmp_pack_of_git").touch()
        clear_unfinished(tmp_path)
        assert entries(tmp_path) == ["tmp_pack_of_git"]


def test_the_index_appears_after_its_pack_and_both_after_their_sync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SC-57: who finds an index finds its pack."""
    done: list[str] = []
    replace, fsync = Path.replace, os.fsync

    def remember_replace(self: Path, target: Path) -> Path:
        done.append(f"replace {target.suffix}")
        return replace(self, target)

    def remember_fsync(descriptor: int) -> None:
        done.append("fsync directory" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "fsync file")
        fsync(descriptor)

    monkeypatch.setattr(Path, "replace", remember_replace)
    monkeypatch.setattr(os, "fsync", remember_fsync)
    write_pack(tmp_path, history("sha1"), fsync=True)
    assert done == ["fsync file", "fsync file", "replace .pack", "replace .idx", "fsync directory"]
    done.clear()
    write_pack(tmp_path, history("sha1"), fsync=False)
    assert done == ["replace .pack", "replace .idx"]


def test_a_damaged_pack_is_healed_by_writing_it_again(tmp_path: Path) -> None:
    path = write_pack(tmp_path, history("sha1"), fsync=False)
    assert path is not None
    for file in (path, path.with_suffix(".idx")):
        file.chmod(0o644)
        file.write_bytes(b"")
    assert check_pack(path) is not None
    assert write_pack(tmp_path, history("sha1"), fsync=False) == path
    assert check_pack(path) is None


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_offsets_beyond_two_gigabytes_are_read_by_git_and_by_us(make_repo: Callable[..., Repo], algorithm: str) -> None:
    repo = make_repo("repo", f"--object-format={algorithm}", commit=False)
    offsets = (12, (1 << 31) - 1, 1 << 31, (1 << 32) + 5, 1 << 40)
    names = [hashlib.new(algorithm, b"%d" % offset).digest() for offset in offsets]
    places = {name: pack._Place(7, offset) for name, offset in zip(names, offsets, strict=True)}
    raw = pack._index_bytes(places, bytes(len(names[0])), algorithm)
    shown = repo.git("show-index", f"--object-format={algorithm}", input=raw)
    expected = {name.hex(): offset for name, offset in zip(names, offsets, strict=True)}
    assert {line.split()[1]: int(line.split()[0]) for line in shown.splitlines()} == expected
    (repo.path / "far.idx").write_bytes(raw)
    with PackIndex.open(repo.path / "far.idx", algorithm) as index:
        assert {oid: index.offset(oid) for oid in index.oids()} == expected


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_an_index_of_git_is_read(make_repo: Callable[..., Repo], algorithm: str) -> None:
    repo = make_repo("repo", f"--object-format={algorithm}")
    for number in range(20):
        repo.commit({f"file{number}": f"{number}\n" * 50})
    repo.git("gc", "--quiet")
    (path,) = packs(repo.path / ".git" / "objects")
    oids = repo.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)").splitlines()
    with PackIndex.open(path.with_suffix(".idx"), algorithm) as index:
        assert list(index.oids()) == oids
        assert all(oid in index for oid in oids)
        shown = repo.git("show-index", f"--object-format={algorithm}", input=path.with_suffix(".idx").read_bytes())
        assert {oid: index.offset(oid) for oid in oids} == {
            line.split()[1]: int(line.split()[0]) for line in shown.splitlines()
        }


def test_what_a_pack_does_not_hold_is_not_found(tmp_path: Path) -> None:
    path = write_pack(tmp_path, history("sha1"), fsync=False)
    assert path is not None
    with PackIndex.open(path.with_suffix(".idx")) as index:
        for name in ("0" * 40, "f" * 40, "0" * 64, "", "ab", "not hex"):
            assert name not in index
            with pytest.raises(NotFound, match=f"no object matches '{name}'"):
                index.offset(name)
        assert 5 not in index


def broken_index(count: int = 1, fanout: tuple[int, ...] | None = None, cut: int = 0, far: int = 0) -> bytes:
    table = struct.pack(">256I", *(fanout or (count,) * 256))
    body = b"\xfftOc\0\0\0\2" + table + bytes(20) * count + bytes(4) * count + struct.pack(">I", far) * count
    return (body + bytes(40))[: -cut or None]


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "its index is too short"),
        (broken_index()[:1031], "its index is too short"),
        (b"\0" + broken_index()[1:], "its index is not of version 2"),
        (broken_index(cut=1), "its index has not the size that its count asks for"),
        (broken_index() + bytes(3), "its index has not the size that its count asks for"),
        (broken_index() + bytes(16), "its index has not the size that its count asks for"),
        (broken_index(1, (5, *(1,) * 255)), "the fan-out of its index goes down"),
        (broken_index(1, (1 << 31,) * 256), "its index has not the size that its count asks for"),
    ],
)
def test_an_index_of_a_wrong_shape_is_not_opened(tmp_path: Path, raw: bytes, reason: str) -> None:
    (tmp_path / "pack-1.idx").write_bytes(raw)
    with pytest.raises(ObjectDamaged) as caught:
        PackIndex.open(tmp_path / "pack-1.idx")
    assert (caught.value.name, caught.value.reason) == ("pack-1.idx", reason)


def test_an_index_that_points_outside_itself_is_damaged(tmp_path: Path) -> None:
    (tmp_path / "pack-1.idx").write_bytes(broken_index(far=(1 << 31) + 5))
    with PackIndex.open(tmp_path / "pack-1.idx") as index, pytest.raises(ObjectDamaged, match="outside its table"):
        index.offset("0" * 40)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("suffix", [".pack", ".idx"])
def test_every_flipped_byte_and_every_truncation_is_noticed(tmp_path: Path, suffix: str, algorithm: str) -> None:
    """T14."""
    path = write_pack(tmp_path, history(algorithm, 1), fsync=False, algorithm=algorithm)
    assert path is not None
    assert check_pack(path, algorithm) is None
    file = path.with_suffix(suffix)
    file.chmod(0o644)
    raw = file.read_bytes()
    for position, byte in enumerate(raw):
        for mask in (0xFF, 1 << position % 8):
            file.write_bytes(raw[:position] + bytes((byte ^ mask,)) + raw[position + 1 :])
            assert check_pack(path, algorithm), f"byte {position} ^ {mask}"
        file.write_bytes(raw[:position])
        assert check_pack(path, algorithm), f"cut at {position}"
    file.write_bytes(raw + b"\0")
    assert check_pack(path, algorithm)
    file.write_bytes(raw)
    assert check_pack(path, algorithm) is None


def test_a_pack_of_several_chunks_is_checked_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_pack(tmp_path, history("sha1", 30), fsync=False)
    assert path is not None
    size, index_size = path.stat().st_size, path.with_suffix(".idx").stat().st_size
    for chunk in (1032, 1033, size - 20, size - 21, size - 19, size, size + 1, index_size - 25):
        monkeypatch.setattr(pack, "_CHUNK", chunk)
        assert check_pack(path) is None
    monkeypatch.setattr(pack, "_CHUNK", 1032)
    path.chmod(0o644)
    raw = path.read_bytes()
    for position in range(0, size, 97):
        path.write_bytes(raw[:position] + bytes((raw[position] ^ 1,)) + raw[position + 1 :])
        assert check_pack(path)


def sealed(body: bytes) -> bytes:
    return body + hashlib.sha1(body).digest()


def test_each_fault_is_named(tmp_path: Path) -> None:
    path = write_pack(tmp_path, history("sha1"), fsync=False)
    other = write_pack(tmp_path, history("sha1", 2), fsync=False)
    assert path is not None
    assert other is not None
    raw, index = path.read_bytes(), path.with_suffix(".idx").read_bytes()
    counted = sealed(raw[:8] + struct.pack(">I", 7) + raw[12:-20])
    cases = [
        (b"JUNK" + raw[4:], index, "the pack does not begin as one"),
        (sealed(raw[:4] + b"\0\0\0\3" + raw[8:-20]), index, "the pack is not of version 2"),
        (raw[:-1] + b"\0", index, "the bytes of the pack do not hash to its checksum"),
        (raw, index[:-1] + b"\0", "the bytes of its index do not hash to its checksum"),
        (raw, b"JUNK" + index[4:], "its index is not of version 2"),
        (raw, other.with_suffix(".idx").read_bytes(), "its index is that of another pack"),
        (
            counted,
            sealed(index[:-40] + counted[-20:]),
            "the pack and its index do not count the same objects",
        ),
    ]
    probe = tmp_path / "pack-probe.pack"
    for pack_bytes, index_bytes, reason in cases:
        probe.write_bytes(pack_bytes)
        probe.with_suffix(".idx").write_bytes(index_bytes)
        assert check_pack(probe) == reason


def test_a_missing_file_or_a_pipe_in_its_place_is_named(tmp_path: Path) -> None:
    path = write_pack(tmp_path, history("sha1"), fsync=False)
    assert path is not None
    index = path.with_suffix(".idx")
    index.unlink()
    assert check_pack(path) == f"'{index.name}' cannot be read: there is no such file"
    os.mkfifo(index)
    assert check_pack(path) == f"'{index.name}' cannot be read: there is no such file"
    path.unlink()
    assert check_pack(path) == f"'{path.name}' cannot be read: there is no such file"


def test_packs_and_borrowed_packs_are_listed(make_repo: Callable[..., Repo]) -> None:
    lender = make_repo("lender")
    lender.git("repack", "-a", "-d", "-q")
    borrower = make_repo("borrower", commit=False)
    objects_dir = borrower.path / ".git" / "objects"
    (objects_dir / "# ours").mkdir()
    (objects_dir / "info" / "alternates").write_text("# ours\n\n../../../lender/.git/objects\nno/such/place\n")
    borrower.commit({"file": "text\n"})
    borrower.git("repack", "-a", "-d", "-l", "-q")
    (objects_dir / "pack" / "pack-unfinished.pack").write_bytes(b"PACK")
    assert len(object_dirs(objects_dir)) == 2
    found = packs(objects_dir)
    assert [path.is_relative_to(objects_dir / "pack") for path in found] == [True, False]
    assert [check_pack(path) for path in found] == [None, None]


def chain_of_lenders(root: Path, count: int) -> list[Path]:
    chain = [root / str(number) for number in range(count)]
    for path in chain:
        (path / "info").mkdir(parents=True)
    return chain


def test_lenders_that_borrow_in_a_circle_are_listed_once(tmp_path: Path) -> None:
    chain = chain_of_lenders(tmp_path, 3)
    for path, lender in zip(chain, [*chain[1:], chain[0]], strict=True):
        (path / "info" / "alternates").write_text(f"{lender}\n{lender}/.\n")
    assert object_dirs(chain[0]) == chain


def test_lenders_are_followed_as_deep_as_git_does(make_repo: Callable[..., Repo]) -> None:
    chain = [make_repo(str(number), commit=False).path / ".git" / "objects" for number in range(9)]
    for path, lender in pairwise(chain):
        (path / "info" / "alternates").write_text(f"{lender}\n")
    counted = Repo(chain[0].parents[1]).git("count-objects", "-v").splitlines()
    by_git = [Path(line.removeprefix("alternate: ")) for line in counted if line.startswith("alternate: ")]
    assert len(by_git) < 8
    assert object_dirs(chain[0]) == [chain[0], *by_git]


def test_a_repository_without_packs_has_none(tmp_path: Path) -> None:
    assert packs(tmp_path) == []
