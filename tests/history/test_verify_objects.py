"""What `history/verify_objects.py` promises: every copy is looked at, no file makes a read wait or grow (T13, T14)."""

import hashlib
import struct
import zlib
from collections.abc import Callable
from functools import partial

import pytest

from pogstore.errors import NotFound
from pogstore.history.verify import verify
from pogstore.history.verify_objects import Objects
from pogstore.model import KINDS, Oid
from pogstore.store.carrier import read_carrier
from pogstore.store.loose import find_loose, oid_of
from pogstore.store.pack import packs, write_pack
from pogstore.store.refs import CONTENT, TASKS
from pogstore.store.store import Store, open_store
from tests.conftest import Repo
from tests.history.stores import (
    OTHER,
    TASK,
    add_version,
    append,
    enabled,
    flipped,
    holding,
    loose_file,
    objects_of,
    only,
    point,
    raw,
    tip,
)


@pytest.fixture
def store(repo: Repo) -> Store:
    """The store of `repo`, in which events may be written."""
    return enabled(repo)


def test_a_damaged_copy_beside_a_whole_one_is_named(repo: Repo, store: Store) -> None:
    append(store, "moved")
    oid = tip(store)
    loose = loose_file(repo, oid)
    data = loose.read_bytes()
    repo.git("repack", "-q", "-a", "-d")
    loose.parent.mkdir(exist_ok=True)
    loose.write_bytes(flipped(data, 20))
    fault = only(verify(store))
    assert (fault.object, fault.lost, fault.task) == (oid, "nothing: another copy of it is whole", TASK)
    loose.write_bytes(data)
    assert verify(store).ok


def test_a_loose_copy_stands_in_for_a_damaged_pack(repo: Repo, store: Store) -> None:
    append(store, "moved")
    loose = {path: path.read_bytes() for path in store.layout.objects.glob("??/*")}
    repo.git("repack", "-q", "-a", "-d")
    (pack,) = packs(store.layout.objects)
    pack.chmod(0o644)
    whole = pack.read_bytes()
    pack.write_bytes(whole[:12] + bytes(len(whole) - 32) + whole[-20:])
    for path, data in loose.items():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    fault = only(verify(store))
    assert fault.object == pack.name
    assert fault.lost == "nothing of the tasks that were checked: each object that they have in it is whole"
    loose_file(repo, tip(store)).unlink()
    report = verify(store)
    assert objects_of(report) == [tip(store), pack.name]
    assert report.faults[-1].lost == f"1 objects in it, of 1 tasks: {TASK}"


def test_an_index_that_lies_is_seen_beside_a_whole_copy(repo: Repo, store: Store) -> None:
    """The checksums of such a pack hold; git reads it first all the same."""
    append(store, "moved")
    oid = tip(store)
    path = write_pack(store.layout.objects / "pack", [(oid_of("blob", b"x"), "blob", b"x")], fsync=False)
    assert path is not None
    index = path.with_suffix(".idx")
    index.chmod(0o644)
    whole = index.read_bytes()
    fanout = b"".join(struct.pack(">I", byte >= int(oid[:2], 16)) for byte in range(256))
    lying = whole[:8] + fanout + bytes.fromhex(oid) + whole[1052:-20]
    index.write_bytes(lying + hashlib.sha1(lying).digest())
    fault = only(verify(store))
    assert (fault.object, fault.reason) == (oid, f"is not sound in {path.name}")
    loose_file(repo, oid).unlink()
    assert f"(in {path.name})" in only(verify(store)).reason


def test_a_damaged_pack_says_which_tasks_lie_in_it(repo: Repo, store: Store) -> None:
    append(store, *KINDS, *KINDS, *KINDS, *KINDS)
    append(store, "moved", task=OTHER)
    (pack,) = packs(store.layout.objects)
    pack.chmod(0o644)
    whole = pack.read_bytes()
    with holding(pack, whole[:-40] + bytes(20) + whole[-20:]):
        report = verify(store)
        fault = report.faults[-1]
        assert fault.object == pack.name
        assert "do not hash to its checksum" in fault.reason
        assert fault.lost.endswith(f" objects in it, of 1 tasks: {TASK}")
        fault = only(verify(store, [OTHER]))  # its tree, which is empty, lies there
        assert (fault.object, fault.lost[:7]) == (pack.name, "nothing")
    with holding(pack, flipped(whole, 4)):
        assert only(verify(store)).lost.startswith("nothing of the tasks that were checked")
    index = pack.with_suffix(".idx")
    index.chmod(0o644)
    with holding(index, b"\xfftOc"):
        faults = verify(store).faults
        assert (faults[-1].object, faults[-1].lost) == (pack.name, "whatever is in it and nowhere else")
    assert verify(store).ok


def test_packs_that_hold_nothing_of_ours_are_not_read(repo: Repo, store: Store) -> None:
    repo.git("repack", "-q", "-a", "-d")
    append(store, "moved")
    (pack,) = packs(store.layout.objects)
    pack.chmod(0o644)
    pack.write_bytes(flipped(pack.read_bytes(), 40))
    report = verify(store)
    assert report.ok
    assert report.checked.packs == 0


def test_deltas_of_every_kind_are_read(repo: Repo, store: Store) -> None:
    for number in range(20):
        data = b"".join(b"line %d of a long file\n" % line for line in range(300) if line != number)
        store.transact(partial(add_version, path="long.txt", data=data))
    for near in ("true", "false"):
        repo.git("-c", f"repack.useDeltaBaseOffset={near}", "repack", "-q", "-a", "-d", "-f", "--depth=50")
        (pack,) = packs(store.layout.objects)
        assert "chain length = 1" in repo.git("verify-pack", "-v", str(pack))
        report = verify(store)
        assert report.ok, report.faults
        assert (report.checked.events, report.checked.contents) == (20, 20)


def test_borrowed_objects_are_verified(make_repo: Callable[..., Repo], repo: Repo, store: Store) -> None:
    append(store, "stepped", "moved")
    borrower = make_repo("borrower", commit=False)
    (borrower.path / ".git" / "objects" / "info" / "alternates").write_text(f"{store.layout.objects}\n")
    point(borrower, tip(store))
    point(borrower, tip(store, place=CONTENT), place=CONTENT)
    other = open_store(borrower.path)
    assert verify(other).ok
    path = loose_file(repo, tip(store))
    with holding(path, flipped(path.read_bytes(), 30)):
        assert objects_of(verify(other)) == [tip(store)]
    repo.git("repack", "-q", "-a", "-d")
    report = verify(other)
    assert report.ok
    assert report.checked.packs == 1


@pytest.mark.parametrize("packed", [False, True])
def test_a_bomb_is_not_inflated(repo: Repo, store: Store, packed: bool) -> None:
    """T13: 1 MB that stands for 1 GB, in the place of an event."""
    data = bytes(64 << 20)
    oid = oid_of("commit", data)
    if packed:
        write_pack(store.layout.objects / "pack", [(oid, "commit", data)], fsync=False)
    else:
        path = store.layout.objects / oid[:2] / oid[2:]
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(zlib.compress(b"commit %d\0" % len(data) + data))
    (repo.path / ".git" / TASKS).mkdir(parents=True)
    (repo.path / ".git" / (TASKS + TASK)).write_text(oid + "\n")
    assert f"claims {len(data)} bytes, over the limit" in only(verify(store)).reason


def test_what_is_packed_meanwhile_is_found(repo: Repo, store: Store) -> None:
    append(store, "noted", "moved")
    oid = tip(store)
    below = read_carrier(oid, raw(repo, oid)).parents[0]
    objects = Objects(store.layout.objects)
    assert objects.read(oid, 1 << 20, TASK)[0] == "commit"
    repo.git("gc", "--quiet", "--prune=now")
    assert find_loose(store.layout.objects, below) is None
    assert objects.read(below, 1 << 20, TASK) == ("commit", raw(repo, below))
    append(store, "moved")
    assert objects.read(tip(store), 1 << 20, TASK) == ("commit", raw(repo, tip(store)))
    with pytest.raises(NotFound):
        objects.read(Oid("1" * 40), 1 << 20, TASK)
    objects.close()
    objects.close()
