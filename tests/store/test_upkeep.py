"""Few packs and few loose objects of ours, whoever is killed and whoever else is at work (PC-51, SC-57, SC-59)."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from math import log2
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pogstore.model import FORMAT, Change, Observed, Oid, TaskId
from pogstore.store import upkeep
from pogstore.store.batch import Batch
from pogstore.store.contract import NewObject
from pogstore.store.footprint import Footprint
from pogstore.store.gitcli import Git
from pogstore.store.libgit2 import PACK_FEW_FROM
from pogstore.store.loose import find_loose
from pogstore.store.pack import PackIndex
from pogstore.store.store import Store, open_store
from pogstore.store.upkeep import LET_GO, MOST_LOOSE, MOST_PACKS, Upkeep, how_many
from tests.builders_store import ADA, TASK, append, noted, oids, opened
from tests.conftest import STARTED, Repo

LIMIT = 1 << 24
KILLED = 9
LITTER = 30


def turn(store: Store, number: int, task: TaskId = TASK, lines: int = 120) -> None:
    """Writes what a turn of an agent leaves: eight events, six file versions."""

    def write(batch: Batch) -> None:
        for step in range(6):
            path = f"src/file{(number + step) % 10}.py"
            text = "".join(f"{line} {number if line % 30 == step else ''}\n" for line in range(lines))
            change = Change(path=path, after=batch.add_file(task, path, "100644", text.encode()))
            batch.append(Observed(v=FORMAT, task=task, clock=1, time=STARTED, actor=ADA, changes=(change,)))
        batch.append(noted(task, f"turn {number}"))
        batch.append(noted(task, f"end {number}"))

    store.transact(write, packed=True)


def packs(store: Store) -> set[str]:
    return {path.stem for path in (store.layout.objects / "pack").glob("*.pack")}


def loose(store: Store) -> list[Path]:
    return [path for path in store.layout.objects.glob("[0-9a-f][0-9a-f]/*") if len(path.name) == 38]


def pack_files(store: Store) -> list[str]:
    return sorted(path.name for path in (store.layout.objects / "pack").iterdir())


def everything(store: Store) -> set[Oid]:
    """Every object that git reaches from our refs."""
    listed = store.git.text("rev-list", "--objects", "--no-object-names", "--glob=refs/pog/*").split()
    return {Oid(oid) for oid in listed}


def check(store: Store, wanted: set[Oid]) -> None:
    """Everything is there, whole, for git and for us."""
    assert store.git.text("fsck", "--full", "--strict", "--no-dangling") == ""
    assert everything(store) == wanted
    for oid in wanted:
        store.objects.read(oid, LIMIT)


@pytest.fixture
def crowded(store: Store) -> Store:
    """A store at the point where the next turn merges packs."""
    for number in range(MOST_PACKS):
        turn(store, number)
    assert len(packs(store)) == MOST_PACKS
    return store


@pytest.fixture
def littered(store: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store at the point where the next single event packs the loose objects, which here are fewer than elsewhere."""
    monkeypatch.setattr(upkeep, "MOST_LOOSE", LITTER)
    for number in range(LITTER):
        append(store, str(number))
    assert len(loose(store)) == LITTER + 1 + len(loose_of_user(store))
    return store


def loose_of_user(store: Store) -> set[str]:
    """The loose objects of the first commit that `repo` has."""
    return set(store.git.text("rev-list", "--objects", "--no-object-names", "HEAD").split())


def test_two_hundred_turns_and_as_many_single_events_leave_few_files(store: Store, repo: Repo) -> None:
    """PC-51, PC-113, RC-67: gc stays asleep, and the versions are deltas of each other."""
    users = loose_of_user(store)
    for number in range(200):
        turn(store, number)
        append(store, f"single {number}")
        assert len(packs(store)) <= MOST_PACKS
    for number in range(200):
        append(store, f"later {number}")
    assert len(packs(store)) <= MOST_PACKS
    assert len(loose(store)) - len(users) <= MOST_LOOSE + 2
    before = pack_files(store)
    repo.git("config", "gc.auto", "6700")
    repo.git("gc", "--auto", "--quiet")
    assert pack_files(store) == before
    assert not any("tmp_" in name for name in before)
    check(store, everything(store))
    assert len(store.events(TASK)) == 200 * 8 + 400
    size = sum(path.stat().st_size for path in (store.layout.objects / "pack").iterdir())
    repo.git("gc", "--quiet", "--prune=now")
    assert size < 2 * sum(path.stat().st_size for path in (store.layout.objects / "pack").iterdir())


def test_a_drain_of_any_size_is_one_pack(store: Store) -> None:
    turn(store, 0)
    assert len(packs(store)) == 1
    few = [noted(topic=str(number)) for number in range(PACK_FEW_FROM - 1)]  # and the empty tree
    store.transact(lambda batch: [batch.append(event) for event in few], packed=True)
    assert len(packs(store)) == 2
    loose_before = len(loose(store))
    store.transact(lambda batch: batch.append(noted()), packed=True)
    assert len(packs(store)) == 2
    assert len(loose(store)) > loose_before


def test_gc_that_prunes_now_takes_nothing_whose_ref_is_about_to_move(
    store: Store, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SC-58."""
    swap = store.refs.compare_and_swap

    def beside(name: str, old: Oid | None, new: Oid | None) -> None:
        repo.git("gc", "--quiet", "--prune=now")
        swap(name, old, new)

    monkeypatch.setattr(store.refs, "compare_and_swap", beside)
    turn(store, 0)
    monkeypatch.undo()
    check(store, everything(store))
    assert len(store.events(TASK)) == 8
    assert not any(name.endswith(".keep") for name in pack_files(store))


def test_what_a_killed_writer_held_is_released(crowded: Store) -> None:
    """Without its refs it is as good as not written, and git may take it away."""
    killed = crowded.objects.write([NewObject(*blob) for blob in blobs(crowded, 9)], fsync=False, packed=True)
    assert killed is not None
    assert killed.with_suffix(".keep").exists()
    turn(crowded, 99)
    assert not any(name.endswith(".keep") for name in pack_files(crowded))
    assert not killed.exists()
    assert len(packs(crowded)) < MOST_PACKS


def blobs(store: Store, count: int) -> list[tuple[Oid, str, bytes]]:
    return [(store.objects.name("blob", b"%d" % number), "blob", b"%d" % number) for number in range(count)]


def test_packs_of_others_are_never_touched(crowded: Store, repo: Repo) -> None:
    """SC-57."""
    repo.commit({"mine": "of the user"})
    repo.git("repack", "-d", "--quiet")  # what is loose, alone
    (users,) = packs(crowded) - set(Footprint(crowded.layout.own).packs())
    turn(crowded, 99)
    assert users in packs(crowded)
    assert len(packs(crowded)) <= MOST_PACKS


def test_a_pack_that_is_kept_or_named_by_a_multi_pack_index_stays(crowded: Store, repo: Repo) -> None:
    pack_dir = crowded.layout.objects / "pack"
    kept, *others = sorted(packs(crowded))
    (pack_dir / f"{kept}.keep").touch()
    for number in range(MOST_PACKS, MOST_PACKS + 3):
        turn(crowded, number)
    assert kept in packs(crowded)
    assert not set(others) <= packs(crowded)
    repo.git("multi-pack-index", "write")
    named = packs(crowded)
    for number in range(100, 100 + 2 * MOST_PACKS):
        turn(crowded, number)
    assert named <= packs(crowded)
    assert len(packs(crowded) - named) <= MOST_PACKS
    repo.git("multi-pack-index", "verify")
    check(crowded, everything(crowded))


def test_loose_objects_become_one_pack_and_those_of_others_stay(littered: Store, repo: Repo) -> None:
    """SC-59."""
    users = loose_of_user(littered) | {repo.git("hash-object", "-w", "--stdin", input="a draft")}
    append(littered, "one more")
    assert {path.parent.name + path.name for path in loose(littered)} - users == {
        "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
    }
    assert len(packs(littered)) == 1
    check(littered, everything(littered))
    append(littered, "next")
    assert len(packs(littered)) == 1


def test_an_object_that_the_user_had_loose_is_not_ours(store: Store, repo: Repo) -> None:
    oid = Oid(repo.git("hash-object", "-w", "--stdin", input="shared\n"))
    store.transact(lambda batch: batch.add_file(TASK, "a", "100644", b"shared\n"))
    assert oid not in Footprint(store.layout.own).loose()
    assert len(Footprint(store.layout.own).loose()) == 2


def test_loose_objects_that_gc_has_packed_are_forgotten(littered: Store, repo: Repo) -> None:
    repo.git("gc", "--quiet")
    before = packs(littered)
    append(littered, "one more")
    assert packs(littered) == before
    assert Footprint(littered.layout.own).loose() == list(oids(littered) - set(listed(littered, before)))


def listed(store: Store, names: set[str]) -> Iterator[Oid]:
    for name in names:
        with PackIndex.open(store.layout.objects / "pack" / f"{name}.idx") as index:
            yield from index.oids()


def test_an_open_reader_finds_what_was_packed_behind_its_back(crowded: Store, repo: Repo) -> None:
    """What libgit2 had opened, what it knew but had not opened, and loose objects."""
    reader = open_store(repo.path)
    append(crowded, "loose")
    wanted = sorted(everything(crowded))
    reader.objects.read(wanted[0], LIMIT)
    turn(crowded, 99)
    assert len(packs(crowded)) < MOST_PACKS // 2
    for oid in wanted:
        reader.objects.read(oid, LIMIT)
        assert reader.objects.exists(oid)
    reader.close()


def test_a_loose_object_that_goes_while_it_is_read_is_found_in_its_pack(
    littered: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(littered, "one more")
    oid = next(iter(oids(littered)))
    assert find_loose(littered.layout.objects, oid) is None
    monkeypatch.setattr("pogstore.store.libgit2.find_loose", lambda *_: Path("it was here a moment ago"))
    assert littered.objects.read(oid, LIMIT)[0] == "commit"


def killed_at(store: Store, step: int, action: Callable[[], object]) -> bool:
    """Runs an action in a process that dies, unable to tidy up, just before its n-th step; says whether it did."""
    child = os.fork()
    if not child:
        die_at(step)
        action()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == KILLED


def die_at(step: int) -> None:
    """Lets this process die just before the n-th thing that upkeep does to a file, or asks of git."""
    left = step

    def counted(real: Any) -> Any:
        def call(*arguments: Any, **named: Any) -> Any:
            nonlocal left
            if left == 0:
                os._exit(KILLED)
            left -= 1
            return real(*arguments, **named)

        return call

    for owner, names in ((Path, ("replace", "unlink")), (Git, ("run",)), (upkeep, ("sync", "create_file"))):
        for name in names:
            setattr(owner, name, counted(getattr(owner, name)))
    Footprint.note_pack = counted(Footprint.note_pack)  # type: ignore[method-assign]


def steps_until_done(store: Store, action: Callable[[Store], object], stride: int) -> int:
    """Kills an action at one step after the other, on a copy; all is readable then, and tidy after another run."""
    wanted = everything(store)
    killed = True
    step = 0
    while killed:
        copy = Repo(store.layout.common_dir.parent.with_name("copy"))
        shutil.copytree(store.layout.common_dir.parent, copy.path)
        (copy.path / ".git" / "pog" / "lock").unlink(missing_ok=True)
        one = open_store(copy.path)
        killed = killed_at(one, step, lambda one=one: action(one))  # type: ignore[misc]
        check(one, wanted)
        action(one)
        check(one, wanted)
        assert not any("tmp_" in name for name in pack_files(one))
        assert len(packs(one)) <= MOST_PACKS
        assert all(
            name.endswith(".idx") or name.replace(".pack", ".idx") in pack_files(one) for name in pack_files(one)
        )
        assert len(loose(one)) < LITTER
        one.close()
        shutil.rmtree(copy.path)
        step += 1 if step < 12 else stride
    return step


def tidy(store: Store) -> None:
    upkeep.keep_up(store.layout, store.git, store.objects)


@pytest.mark.skipif(sys.platform != "linux", reason="forks a process that has threads of libgit2")
def test_whoever_is_killed_while_packs_are_merged_leaves_everything_readable(
    crowded: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(upkeep, "keep_up", lambda *_: None)
        turn(crowded, 99)
    assert steps_until_done(crowded, tidy, 9) > 50


@pytest.mark.skipif(sys.platform != "linux", reason="forks a process that has threads of libgit2")
def test_whoever_is_killed_while_loose_objects_are_packed_leaves_everything_readable(
    littered: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(upkeep, "keep_up", lambda *_: None)
        append(littered, "one more")
    assert steps_until_done(littered, tidy, 7) > 30


@pytest.mark.parametrize("moment", ["_pack", "_index", "_check"])
@pytest.mark.parametrize("kind", ["packs", "loose"])
def test_gc_may_run_at_any_moment(
    request: pytest.FixtureRequest, repo: Repo, monkeypatch: pytest.MonkeyPatch, moment: str, kind: str
) -> None:
    store: Store = request.getfixturevalue("crowded" if kind == "packs" else "littered")
    real = getattr(Upkeep, moment)

    def beside(*arguments: Any) -> Any:
        repo.git("repack", "-adq")
        repo.git("prune-packed", "-q")
        return real(*arguments)

    monkeypatch.setattr(Upkeep, moment, staticmethod(beside) if moment == "_check" else beside)
    if kind == "packs":
        turn(store, 99)
    else:
        append(store, "one more")
    check(store, everything(store))
    assert len(packs(store)) <= 2
    turn(store, 100)
    check(store, everything(store))


def test_what_is_borrowed_stays_where_it_is(crowded: Store, repo: Repo, tmp_path: Path) -> None:
    """Alternates: only our own directory is tidied, and who borrows from it still finds everything."""
    place = tmp_path / "borrower"
    repo.git("clone", "--quiet", "--shared", str(repo.path), str(place))
    borrower = opened(Repo(place))
    lent = pack_files(crowded)
    wanted = everything(crowded)
    for number in range(MOST_PACKS + 1):
        turn(borrower, number)
    assert len(packs(borrower)) < MOST_PACKS
    assert pack_files(crowded) == lent
    turn(crowded, 99)
    assert len(packs(crowded)) < MOST_PACKS
    for oid in wanted:
        borrower.objects.read(oid, LIMIT)
    check(borrower, everything(borrower))


def test_a_damaged_loose_object_stays_and_holds_nothing_up(littered: Store) -> None:
    damaged = find_loose(littered.layout.objects, sorted(oids(littered))[0])
    assert damaged is not None
    damaged.chmod(0o644)
    damaged.write_bytes(b"rot")
    append(littered, "one more")
    assert len(packs(littered)) == 1
    assert damaged.read_bytes() == b"rot"
    assert len(loose(littered)) < LITTER // 2


def test_a_damaged_pack_is_not_taken_away(crowded: Store, repo: Repo) -> None:
    """Nor does the command fail over it, or try again with every event."""
    victim = crowded.layout.objects / "pack" / f"{sorted(packs(crowded))[0]}.pack"
    data = bytearray(victim.read_bytes())
    data[len(data) // 2] ^= 0x40
    victim.chmod(0o644)
    victim.write_bytes(data)
    before = packs(crowded)
    crowded.close()
    store = open_store(repo.path)
    turn(store, 99, TaskId("0198a1b2-c3d4-7e5f-8a9b-000000000001"))
    assert before <= packs(store)
    assert not any("tmp_" in name for name in pack_files(store))
    calls: list[tuple[str, ...]] = []
    store.git.run = lambda *arguments, **_: calls.append(arguments)  # type: ignore[method-assign,assignment]
    append(store, "one more", TaskId("0198a1b2-c3d4-7e5f-8a9b-000000000001"))
    assert calls == []


@pytest.mark.parametrize("whole", [True, False])
def test_a_pack_that_lost_its_index_gets_it_back(crowded: Store, whole: bool) -> None:
    """SC-57: it is as good as gone, but what it holds may lie nowhere else."""
    victim = crowded.layout.objects / "pack" / f"{sorted(packs(crowded))[0]}.pack"
    wanted = everything(crowded)
    victim.with_suffix(".idx").unlink()
    if not whole:
        victim.chmod(0o644)
        victim.write_bytes(victim.read_bytes()[:-30])
    for number in (99, 100):
        turn(crowded, number, TaskId("0198a1b2-c3d4-7e5f-8a9b-000000000001"))
    assert victim.exists() == (not whole)
    if whole:
        assert wanted < everything(crowded)
        check(crowded, everything(crowded))


def test_a_failure_is_tried_again_later(crowded: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise OSError(28, "no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Upkeep, "_pack", fails)
        turn(crowded, 99)
    assert len(packs(crowded)) == MOST_PACKS + 1
    turn(crowded, 100)
    assert len(packs(crowded)) == MOST_PACKS + 2
    monkeypatch.setattr(upkeep, "RETRY_SECONDS", 0)
    turn(crowded, 101)
    assert len(packs(crowded)) < MOST_PACKS


def test_what_git_writes_must_hold_everything(crowded: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Upkeep._pack
    monkeypatch.setattr(Upkeep, "_pack", lambda self, pack, found: real(self, pack, list(found)[1:]))
    before = packs(crowded)
    turn(crowded, 99)
    assert before < packs(crowded)


SIZES = st.lists(st.integers(1, 1 << 22), min_size=MOST_PACKS + 1, max_size=40).map(sorted)


@given(SIZES)
def test_at_most_half_as_many_packs_stay(sizes: list[int]) -> None:
    count = how_many(sizes)
    assert count >= 2
    if sum(sizes) <= 2 * LET_GO:
        assert len(sizes) - count + 1 <= MOST_PACKS // 2
    if count > 2:
        assert sum(sizes[:count]) <= 2 * LET_GO


@given(st.lists(st.integers(LET_GO // 2, LET_GO), min_size=MOST_PACKS + 1, max_size=20).map(sorted))
def test_no_command_waits_for_much(sizes: list[int]) -> None:
    assert sum(sizes[: how_many(sizes)]) <= 2 * LET_GO


@pytest.mark.parametrize("writes", [100, 1000, 20_000])
def test_an_object_is_written_again_a_few_times_only(writes: int) -> None:
    standing: list[int] = []
    rewritten = 0
    for _ in range(writes):
        standing = sorted([*standing, 1])
        if len(standing) > MOST_PACKS:
            count = how_many(standing)
            rewritten += sum(standing[:count])
            standing = sorted([*standing[count:], sum(standing[:count])])
    assert rewritten <= writes * log2(writes)
