"""What `store/packed.py` promises: the same objects that git reads, and an end whatever a pack holds (T13, T14)."""

import hashlib
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from pogstore.errors import NotFound, ObjectDamaged
from pogstore.model import Oid
from pogstore.store.loose import KINDS, oid_of
from pogstore.store.pack import packs, write_pack
from pogstore.store.packed import DEEPEST, Pack
from tests.conftest import Repo

LIMIT = 1 << 20


def versions(repo: Repo, count: int = 30) -> None:
    """Commits versions of one file that git keeps as deltas, small and large copies and insertions among them."""
    for number in range(count):
        lines = [f"line {line} {'x' * (line % 90)}\n" for line in range(900) if line % 31 != number]
        lines.insert(number * 20, f"inserted by {number}\n")
        repo.commit({"long.txt": "".join(lines), "small.txt": f"{number}\n", "bin": bytes(70000) + bytes([number])})
    repo.git("tag", "-m", "a tag", "v1")


def oids_of(repo: Repo) -> list[Oid]:
    lines = repo.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)").splitlines()
    return [Oid(line) for line in lines]


@pytest.mark.parametrize("algorithm", ["sha1", "sha256"])
@pytest.mark.parametrize("near", ["true", "false"])
def test_every_object_is_read_as_git_reads_it(make_repo: Callable[..., Repo], algorithm: str, near: str) -> None:
    repo = make_repo("repo", f"--object-format={algorithm}")
    versions(repo)
    repo.git("-c", f"repack.useDeltaBaseOffset={near}", "repack", "-q", "-a", "-d", "-f", "--depth=20", "--window=20")
    (path,) = packs(repo.path / ".git" / "objects")
    assert "chain length = 2: " in repo.git("verify-pack", "-v", str(path))
    seen = set()
    with Pack(path, algorithm) as pack:
        for oid in oids_of(repo):
            kind, data = pack.read(oid, LIMIT)
            seen.add(kind)
            assert oid_of(kind, data, algorithm) == oid
            assert oid in pack
        with pytest.raises(NotFound):
            pack.read(Oid("1" * len(oid)), LIMIT)
    assert seen == set(KINDS)


def test_bases_are_forgotten_when_they_are_many(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    versions(repo, 12)
    repo.git("repack", "-q", "-a", "-d", "-f")
    monkeypatch.setattr("pogstore.store.packed._BASES_KEPT", 200_000)
    (path,) = packs(repo.path / ".git" / "objects")
    with Pack(path) as pack:
        for oid in oids_of(repo) * 2:
            pack.read(oid, LIMIT)


def test_whatever_a_byte_says_an_object_is_whole_or_refused(repo: Repo, tmp_path: Path) -> None:
    versions(repo, 12)
    repo.git("repack", "-q", "-a", "-d", "-f")
    (path,) = packs(repo.path / ".git" / "objects")
    oids = oids_of(repo)
    with Pack(path) as pack:
        whole = {oid: pack.read(oid, LIMIT) for oid in oids}
    copy = tmp_path / path.name
    refused = 0
    for source in (path, path.with_suffix(".idx")):
        data = source.read_bytes()
        for number in range(100):
            at = number * len(data) // 100
            copy.write_bytes(path.read_bytes())
            copy.with_suffix(".idx").write_bytes(path.with_suffix(".idx").read_bytes())
            target = tmp_path / source.name
            target.write_bytes(data[:at] + bytes((data[at] ^ 0xFF,)) + data[at + 1 :])
            refused += refusals(copy, whole)
            copy.unlink()
            copy.with_suffix(".idx").unlink()
    assert refused > 200


def refusals(path: Path, whole: dict[Oid, tuple[str, bytes]]) -> int:
    refused = 0
    try:
        pack = Pack(path)
    except ObjectDamaged:
        return len(whole)
    with pack:
        for oid, expected in whole.items():
            try:
                assert pack.read(oid, LIMIT) == expected
            except (ObjectDamaged, NotFound):
                refused += 1
    return refused


def entry(number: int, size: int, rest: bytes) -> bytes:
    """One object of a pack: type and size, then whatever follows."""
    head = [number << 4 | size & 15]
    size >>= 4
    while size:
        head[-1] |= 0x80
        head.append(size & 0x7F)
        size >>= 7
    return bytes(head) + rest


def size_bytes(size: int) -> bytes:
    out = [size & 0x7F]
    while size := size >> 7:
        out[-1] |= 0x80
        out.append(size & 0x7F)
    return bytes(out)


def pack_of(directory: Path, *entries: bytes, names: list[Oid] | None = None) -> tuple[Path, list[Oid]]:
    """Writes a pack of hand-made entries with an index, whose names are made up unless they are given."""
    offsets, body = [], struct.pack(">4sII", b"PACK", 2, len(entries))
    for data in entries:
        offsets.append(len(body))
        body += data
    checksum = hashlib.sha1(body).digest()
    path = directory / "pack-made.pack"
    path.write_bytes(body + checksum)
    oids = names or [Oid(f"{number:02x}" * 20) for number in range(len(entries))]
    order = sorted(range(len(entries)), key=lambda at: oids[at])
    index = struct.pack(">4sI", b"\xfftOc", 2)
    index += struct.pack(">256I", *(sum(int(oid[:2], 16) <= byte for oid in oids) for byte in range(256)))
    index += b"".join(bytes.fromhex(oids[at]) for at in order) + bytes(4 * len(entries))
    index += b"".join(struct.pack(">I", offsets[at]) for at in order) + checksum
    path.with_suffix(".idx").write_bytes(index + hashlib.sha1(index).digest())
    return path, oids


BASE = b"a base of some bytes"


def delta(instructions: bytes, *, source: int = len(BASE), target: int = 4) -> bytes:
    return size_bytes(source) + size_bytes(target) + instructions


BROKEN_DELTAS = {
    "another base": delta(b"\x04abcd", source=3),
    "too much": delta(b"\x04abcd", target=LIMIT + 1),
    "too long": delta(b"\x05abcde"),
    "too short": delta(b"\x03abc"),
    "cut insertion": delta(b"\x04abc"),
    "cut copy": delta(b"\x91\x01"),
    "copy beyond the base": delta(b"\x91\x12\x04"),
    "the reserved instruction": delta(b"\x00\x04abcd"),
    "no sizes": b"",
    "endless sizes": b"\xff" * 40,
}


@pytest.mark.parametrize("instructions", BROKEN_DELTAS.values(), ids=BROKEN_DELTAS)
def test_a_broken_delta_is_refused(tmp_path: Path, instructions: bytes) -> None:
    base = entry(3, len(BASE), zlib.compress(BASE))
    near = entry(6, len(instructions), size_bytes(len(base)) + zlib.compress(instructions))
    path, oids = pack_of(tmp_path, base, near, names=[oid_of("blob", BASE), Oid("f" * 40)])
    with Pack(path) as pack:
        assert pack.read(oids[0], LIMIT) == ("blob", BASE)
        with pytest.raises(ObjectDamaged, match=r"delta|limit"):
            pack.read(oids[1], LIMIT)


def test_a_sound_delta_is_applied(tmp_path: Path) -> None:
    base = entry(3, len(BASE), zlib.compress(BASE))
    made = BASE[2:6] + b"new" + BASE
    instructions = delta(b"\x91\x02\x04\x03new\x90\x14", target=len(made))
    near = entry(6, len(instructions), size_bytes(len(base)) + zlib.compress(instructions))
    path, oids = pack_of(tmp_path, base, near, names=[oid_of("blob", BASE), oid_of("blob", made)])
    with Pack(path) as pack:
        assert pack.read(oids[1], LIMIT) == ("blob", made)
        with pytest.raises(ObjectDamaged, match="limit"):
            pack.read(oids[1], len(made) - 1)


def test_deltas_on_each_other_come_to_an_end(tmp_path: Path) -> None:
    """Git refuses such a pack when it is sent; one that is there all the same must not hold us."""
    a, b = Oid("a" * 40), Oid("b" * 40)
    rest = zlib.compress(delta(b"\x04abcd"))
    path, _ = pack_of(
        tmp_path,
        entry(7, 7, bytes.fromhex(b) + rest),
        entry(7, 7, bytes.fromhex(a) + rest),
        names=[a, b],
    )
    with Pack(path) as pack, pytest.raises(ObjectDamaged, match=f"more than {DEEPEST} deltas"):
        pack.read(a, LIMIT)


HEADS = {
    "type 0": entry(0, 4, zlib.compress(b"abcd")),
    "type 5": entry(5, 4, zlib.compress(b"abcd")),
    "endless size": b"\xb4" + b"\xff" * 60,
    "a size over the limit": entry(3, LIMIT + 1, zlib.compress(b"abcd")),
    "too large a size": entry(3, 5, zlib.compress(b"abcd")),
    "too small a size": entry(3, 3, zlib.compress(b"abcd")),
    "a large size that is too small": entry(3, 70000, zlib.compress(bytes(70001))),
    "a large size that is too large": entry(3, 70000, zlib.compress(bytes(69999))),
    "a cut stream": entry(3, 4, zlib.compress(b"abcd")[:-3]),
    "a large cut stream": entry(3, 70000, zlib.compress(bytes(70000))[:-3]),
    "another stream": entry(3, 4, b"no zlib stream at all"),
    "a base before the pack": entry(6, 4, size_bytes(100) + zlib.compress(b"abcd")),
    "itself as its base": entry(6, 4, b"\0" + zlib.compress(b"abcd")),
    "an endless distance": entry(6, 4, b"\xff" * 60),
    "another name": entry(3, 4, zlib.compress(b"abcd")),
}


@pytest.mark.parametrize("data", HEADS.values(), ids=HEADS)
def test_what_is_no_object_is_refused(tmp_path: Path, data: bytes) -> None:
    path, (oid,) = pack_of(tmp_path, data)
    with Pack(path) as pack, pytest.raises(ObjectDamaged) as caught:
        pack.read(oid, LIMIT)
    assert caught.value.name == oid


def test_a_base_that_is_in_no_pack_is_missing(tmp_path: Path) -> None:
    path, (oid,) = pack_of(tmp_path, entry(7, 4, b"\xee" * 20 + zlib.compress(b"abcd")))
    with Pack(path) as pack, pytest.raises(ObjectDamaged, match="base"):
        pack.read(oid, LIMIT)


def test_what_is_no_pack_is_refused(tmp_path: Path) -> None:
    path = write_pack(tmp_path, [(oid_of("blob", BASE), "blob", BASE)], fsync=False)
    assert path is not None
    path.chmod(0o644)
    path.write_bytes(b"")
    with pytest.raises(ObjectDamaged, match="cannot be read"):
        Pack(path)
    path.write_bytes(b"PACK")
    with Pack(path) as pack, pytest.raises(ObjectDamaged, match="outside the pack"):
        pack.read(oid_of("blob", BASE), LIMIT)
