"""Deltas that git reads, of which no byte differs when they are applied (SC-18)."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pogstore.errors import ObjectDamaged
from pogstore.model import Oid
from pogstore.store.delta import make_delta
from pogstore.store.loose import oid_of
from pogstore.store.pack import LARGEST_DELTA, LONGEST_CHAIN, Base, packs, write_pack
from pogstore.store.packed import Pack, _applied
from tests.conftest import Repo

OID = Oid("0" * 40)
PIECES = [b"\n", b"}\n", b"x" * 200 + b"\n", b"a line that is long enough\r\n", b"\0" * 13, b"tail"]
LINES = st.lists(st.sampled_from(PIECES))
Item = tuple[Oid, str, bytes, Base | None]


def version(number: int, lines: int = 300) -> bytes:
    """A file of which one line tells its versions apart, and moves through it."""
    made = [b"line %d of a file that is edited\n" % at for at in range(lines)]
    made[number * 7 % lines] = b"version %d\n" % number
    return b"".join(made)


def chain_of(oids: list[Oid], contents: list[bytes], *, with_bases: bool = True) -> list[Item]:
    """Blobs for a pack, each like the one before it."""
    bases: list[Base | None] = [None, *map(Base, oids, contents)] if with_bases else [None] * (len(oids) + 1)
    return [(oid, "blob", data, base) for oid, data, base in zip(oids, contents, bases, strict=False)]


def applied(base: bytes, delta: bytes) -> bytes:
    return _applied(OID, base, delta, 1 << 30)


@given(st.binary(max_size=300), st.binary(max_size=300))
def test_whatever_the_two_are_the_delta_makes_one_of_the_other(base: bytes, target: bytes) -> None:
    assert applied(base, make_delta(base, target)) == target


@given(LINES.map(b"".join), LINES.map(b"".join))
@example(b"", b"")
@example(b"a line that is long enough\n" * 3, b"a line that is long enough\n" * 9000)
def test_lines_that_come_again_and_move(base: bytes, target: bytes) -> None:
    assert applied(base, make_delta(base, target)) == target


@pytest.mark.parametrize("size", [1, 126, 127, 128, 254, 255, 0xFFFE, 0xFFFF, 0x10000, 0x1FFFF, 0x1000000])
def test_sizes_at_which_the_spelling_changes(size: int) -> None:
    """Inserts end at 127 bytes, copies at 0xFFFF, and starts and lengths have bytes that are zero."""
    shared = b"s" * (size - 1) + b"\n"
    for base, target in ((b"", b"n" * size), (shared, shared), (b"b" * size + b"\n" + shared, shared)):
        delta = make_delta(base, target)
        assert applied(base, delta) == target
    assert len(make_delta(shared, shared)) < 20 + size // 1000 + (size if size <= 12 else 0)


def test_a_small_edit_is_a_small_delta() -> None:
    assert len(make_delta(version(1), version(2))) < 100


@pytest.mark.parametrize("algorithm", ["sha1", "sha256"])
def test_git_reads_a_chain_of_versions(make_repo: Callable[..., Repo], algorithm: str) -> None:
    repo = make_repo("deltas", f"--object-format={algorithm}", commit=False)
    contents = [version(number) for number in range(3 * LONGEST_CHAIN)]
    oids = [oid_of("blob", data, algorithm) for data in contents]
    items = chain_of(oids, contents)
    path = write_pack(repo.path / ".git" / "objects" / "pack", items, fsync=False, algorithm=algorithm)
    assert path is not None
    assert path.stat().st_size < 2 * len(contents[0])
    listed = repo.git("verify-pack", "-v", str(path)).splitlines()
    depths = [int(line.split()[5]) for line in listed if len(line.split()) == 7]
    assert max(depths) == LONGEST_CHAIN
    assert len(depths) == 3 * LONGEST_CHAIN - 3
    assert repo.git("fsck", "--strict", "--full", "--no-dangling") == ""
    for oid, data in list(zip(oids, contents, strict=True))[::17]:
        assert repo.git("cat-file", "blob", oid).encode() + b"\n" == data
    with Pack(path, algorithm) as pack:
        assert all(pack.read(oid, 1 << 20) == ("blob", data) for oid, data in zip(oids, contents, strict=True))
    assert packs(repo.path / ".git" / "objects") == [path]


@pytest.mark.parametrize(("with_bases", "whole"), [(True, 1), (False, 40)])
def test_gits_housekeeping_keeps_our_deltas(repo: Repo, with_bases: bool, whole: int) -> None:
    """It makes none of objects that lie whole in one pack, which is why we do."""
    contents = [version(number) for number in range(40)]
    oids = [oid_of("blob", data) for data in contents]
    write_pack(repo.path / ".git" / "objects" / "pack", chain_of(oids, contents, with_bases=with_bases), fsync=False)
    for number, oid in enumerate(oids):
        repo.git("update-ref", f"refs/pog/tasks/{number}", oid)
    repo.git("gc", "--quiet", "--prune=now")
    (path,) = packs(repo.path / ".git" / "objects")
    listed = [line.split() for line in repo.git("verify-pack", "-v", str(path)).splitlines()]
    assert sum(1 for words in listed if words[0] in oids and len(words) == 5) == whole


def test_what_is_no_gain_is_written_whole(tmp_path: Path) -> None:
    """A base that is not in the pack, one that is too different, an object that is too large."""
    one, large = version(1), b"y" * LARGEST_DELTA
    two = b"".join(version(2).splitlines(keepends=True)[::40]) + b"z" * 9000
    named = {data: oid_of("blob", data) for data in (one, two, large, large + one, version(3))}
    items: list[Item] = [
        (named[version(3)], "blob", version(3), Base(OID, b"")),
        (named[one], "blob", one, None),
        (named[two], "blob", two, Base(named[one], one)),
        (named[large], "blob", large, None),
        (named[large + one], "blob", large + one, Base(named[large], large)),
    ]
    path = write_pack(tmp_path, items, fsync=False)
    assert path is not None
    with Pack(path) as pack:
        assert all(pack.read(oid, 1 << 22) == ("blob", data) for data, oid in named.items())
    with pytest.raises(ObjectDamaged):
        write_pack(tmp_path, [(named[one], "blob", one), (named[two], "blob", one, Base(named[one], one))], fsync=False)
