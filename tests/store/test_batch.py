"""What one write adds: all of it or nothing, in an order in which no reader finds a hole."""

from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pygit2
import pytest

from pogstore import codec, graph
from pogstore.errors import NotEnabled, NotFound, ObjectDamaged, OutsideDomain, StaleRef
from pogstore.model import FORMAT, Change, Noted, Observed, Oid, TaskId
from pogstore.store import chain, content, rows
from pogstore.store.batch import OMITTED_LARGE, Batch
from pogstore.store.carrier import carrier
from pogstore.store.contract import NewObject
from pogstore.store.libgit2 import PACK_FROM
from pogstore.store.loose import find_loose, write_loose
from pogstore.store.refs import CONTENT, PRIVATE, TASKS, content_ref, task_ref
from pogstore.store.store import ATTEMPTS, Store, open_store
from tests.builders_store import ADA, OTHER, TASK, append, edit, links, noted, oids, topics
from tests.conftest import STARTED, Repo


def objects_of(store: Store) -> set[str]:
    return set(store.git.text("cat-file", "--batch-check=%(objectname)", "--batch-all-objects").split())


def everything(batch: Batch, task: TaskId = TASK) -> None:
    text = batch.add_text(task, "what was said", "private")
    batch.add_file(task, "a.py", "100644", b"print()\n")
    batch.append(Noted(v=FORMAT, task=task, clock=1, time=STARTED, actor=ADA, text=text))


def test_objects_are_there_before_refs_and_contents_before_events(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader between any two steps finds no ref without its objects, and no event without its contents."""
    steps: list[str] = []
    written: set[Oid] = set()
    write, swap = store.objects.write, store.refs.compare_and_swap

    def write_seen(objects: Iterable[NewObject], *, fsync: bool, packed: bool = False) -> Path | None:
        wanted = list(objects)
        answer = write(wanted, fsync=fsync, packed=packed)
        written.update(item.oid for item in wanted)
        steps.append("objects")
        return answer

    def swap_seen(name: str, old: Oid | None, new: Oid | None) -> None:
        assert new in written
        swap(name, old, new)
        steps.append(name)

    monkeypatch.setattr(store.objects, "write", write_seen)
    monkeypatch.setattr(store.refs, "compare_and_swap", swap_seen)

    def both(batch: Batch) -> None:
        for task in (OTHER, TASK):
            everything(batch, task)

    store.transact(both)
    assert steps == [
        "objects",
        *(prefix + task for prefix in (CONTENT, PRIVATE) for task in (TASK, OTHER)),
        *(TASKS + task for task in (TASK, OTHER)),
    ]


def test_nothing_is_written_before_the_end(store: Store) -> None:
    before = objects_of(store)

    def write(batch: Batch) -> None:
        everything(batch)
        assert not batch.is_empty
        assert objects_of(store) == before
        assert store.tips() == {}

    store.transact(write)
    assert len(store.tips()) == 3


@pytest.mark.parametrize("fault", [ZeroDivisionError, KeyboardInterrupt, OutsideDomain])
def test_an_error_writes_nothing(store: Store, fault: type[BaseException]) -> None:
    before = objects_of(store)

    def write(batch: Batch) -> None:
        everything(batch)
        if fault is OutsideDomain:
            batch.append(noted(topic="\ud800"))
        raise fault

    with pytest.raises(fault):
        store.transact(write)
    assert objects_of(store) == before
    assert store.tips() == {}
    append(store, "next")
    assert topics(store) == ["next"]


def test_a_write_that_adds_nothing_moves_nothing(store: Store) -> None:
    before = objects_of(store)
    assert store.transact(lambda batch: batch.is_empty)
    assert objects_of(store) == before
    assert not (store.layout.own / "clock").exists()


def test_events_stand_on_the_head_and_above_every_clock(store: Store) -> None:
    first = append(store, "one")
    second, third = store.transact(lambda batch: [batch.append(noted(topic=topic)) for topic in ("two", "three")])
    assert first.event.parents == ()
    assert second.event.parents == (first.event_id,)
    assert third.event.parents == (second.event_id,)
    assert [sealed.event.clock for sealed in (first, second, third)] == [1, 2, 3]
    assert topics(store) == ["one", "two", "three"]
    assert {link.oid for link in links(store)} == oids(store)


def test_a_write_that_is_killed_once_its_ref_moved_has_kept_its_clock(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(store, "one")
    append(store, "elsewhere", OTHER)
    swap = store.refs.compare_and_swap

    def killed(name: str, old: Oid | None, new: Oid | None) -> None:
        swap(name, old, new)
        raise KeyboardInterrupt

    monkeypatch.setattr(store.refs, "compare_and_swap", killed)
    with pytest.raises(KeyboardInterrupt):
        append(store, "two")
    monkeypatch.setattr(store.refs, "compare_and_swap", swap)
    assert topics(store) == ["one", "two"]
    assert append(store, "later", OTHER).event.clock > store.events(TASK)[-1].event.clock


def test_a_batch_shows_its_own_additions(store: Store) -> None:
    append(store, "one")

    def write(batch: Batch) -> None:
        assert batch.head(OTHER) is None
        sealed = batch.append(noted(topic="two"))
        assert batch.head(TASK) == sealed
        assert batch.tip(task_ref(TASK)) != store.refs.read(task_ref(TASK))

    store.transact(write)


def move_by_git(store: Store, repo: Repo, topic: str) -> None:
    """Appends an event as somebody would who uses plain git and takes no lock of ours."""
    head = chain.read_link(store.objects, Oid(repo.git("rev-parse", task_ref(TASK))))
    sealed = codec.encode(noted(topic=topic, parents=(head.sealed.event_id,), clock=head.sealed.event.clock + 1))
    oid = write_loose(store.layout.objects, "commit", carrier(sealed, [head.oid]), fsync=False)
    repo.git("update-ref", task_ref(TASK), oid)


def test_a_ref_that_moved_meanwhile_makes_the_write_run_again(store: Store, repo: Repo) -> None:
    """Plain git was used: the write decides anew, from what stands there now (PC-40, T22)."""
    append(store, "one")
    other = open_store(repo.path)
    tries: list[Batch] = []

    def write(batch: Batch) -> None:
        batch.append(noted(topic="mine"))
        if not tries:
            move_by_git(store, repo, "theirs")
        tries.append(batch)

    store.transact(write)
    assert len(tries) == 2
    assert topics(store) == topics(other) == ["one", "theirs", "mine"]


def test_retries_have_an_end(store: Store, repo: Repo) -> None:
    """SC-20: a loop that never wins says so."""
    append(store, "one")
    tries: list[int] = []

    def write(batch: Batch) -> None:
        batch.append(noted(topic="mine"))
        move_by_git(store, repo, f"theirs {len(tries)}")
        tries.append(1)

    with pytest.raises(StaleRef) as caught:
        store.transact(write)
    assert len(tries) == ATTEMPTS
    assert caught.value.retryable
    assert "mine" not in topics(store)


def test_a_head_that_is_no_event_is_named(store: Store, repo: Repo) -> None:
    repo.git("update-ref", task_ref(TASK), "HEAD")
    with pytest.raises(ObjectDamaged, match="a commit without an event"):
        append(store)


def test_many_objects_are_one_pack_and_few_are_loose(store: Store) -> None:
    """PC-51: a bulk write leaves the user's own gc asleep."""
    packs = store.layout.objects / "pack"
    store.transact(lambda batch: [batch.append(noted()) for _ in range(PACK_FROM - 2)])  # and the empty tree
    assert list(packs.glob("*.pack")) == []
    store.transact(lambda batch: [batch.append(noted()) for _ in range(PACK_FROM * 3)])
    assert len(list(packs.glob("*.pack"))) == 1
    assert store.git.text("fsck", "--strict", "--no-dangling") == ""
    store.git.run("gc", "-q", "--prune=now")
    assert len(store.events(TASK)) == PACK_FROM * 4 - 2


# Contents


def test_each_class_has_its_own_chain(store: Store) -> None:
    def write(batch: Batch) -> None:
        said = batch.add_text(TASK, "a secret thought", "private")
        decided = batch.add_text(TASK, "a decision", "content")
        batch.append(noted(text=said))
        batch.append(noted(text=decided))

    store.transact(write)
    assert set(store.tips()) == {prefix + TASK for prefix in (TASKS, CONTENT, PRIVATE)}
    shown = {
        class_: store.git.run("log", "-p", "--format=", f"{prefix}{TASK}").stdout
        for class_, prefix in (("content", CONTENT), ("private", PRIVATE))
    }
    assert b"a decision" in shown["content"]
    assert b"secret" not in shown["content"]
    assert b"a secret thought" in shown["private"]


def test_equal_texts_have_different_names(store: Store) -> None:
    one, two = store.transact(lambda batch: [batch.add_text(TASK, "yes", "content") for _ in range(2)])
    assert one.blob != two.blob
    assert one.size == two.size == 3
    assert store.read_text(one) == store.read_text(two) == "yes"


def test_a_text_is_counted_without_its_salt_and_in_bytes(store: Store) -> None:
    texts = store.transact(lambda batch: [batch.add_text(TASK, text, "content") for text in ("", "é😀", "a\ud800b")])
    assert [text.size for text in texts] == [0, 6, 5]
    assert [store.read_text(text) for text in texts] == ["", "é😀", "a\ufffdb"]


def test_a_content_that_the_chain_holds_is_not_added_again(store: Store) -> None:
    edit(store, "a.py", b"same")
    tip = store.tips()[content_ref(TASK, "content")]
    edit(store, "b.py", b"same")
    assert store.tips()[content_ref(TASK, "content")] == tip
    edit(store, "a.py", b"other")
    assert len(list(chain.contents(store.objects, store.tips()[content_ref(TASK, "content")]))) == 2
    edit(store, "a.py", b"same", OTHER)
    assert content_ref(OTHER, "content") in store.tips(), "each task can be shared by itself"


def test_a_content_that_an_erasure_took_away_is_added_again(store: Store, repo: Repo) -> None:
    """The index of this process may be older than what another process has done to the chain."""
    edit(store, "a.py", b"same")
    edit(store, "a.py", b"other")
    assert rows.holds_content(store.index.connection, TASK, "content", content.blob_id(b"same"))
    repo.git("update-ref", "-d", content_ref(TASK, "content"))
    edit(store, "a.py", b"same")
    assert store.read_content(content.blob_id(b"same")) == b"same"


def test_one_commit_holds_all_that_one_write_added(store: Store) -> None:
    def write(batch: Batch) -> None:
        for number in range(5):
            batch.add_file(TASK, f"f{number}", "100644", b"%d" % number)
        batch.append(noted(time=STARTED + 5_000_000))
        batch.append(noted(time=STARTED + 3_000_000))

    store.transact(write)
    ref = content_ref(TASK, "content")
    assert store.git.text("rev-list", "--count", ref) == "1"
    assert len(store.git.text("ls-tree", ref).splitlines()) == 5
    assert store.git.text("log", "-1", "--format=%s %ct %an", ref) == f"content {STARTED // 1_000_000 + 5} pogstore"


def test_what_is_over_the_limit_is_recorded_by_hash_and_size(store: Store, repo: Repo) -> None:
    """PC-46: never silently, and never as an object that no host takes."""
    repo.git("config", "pog.maxBlob", "100")
    small = open_store(repo.path)

    def write(batch: Batch) -> Any:
        side = batch.add_file(TASK, "big", "100644", b"x" * 101)
        fits = batch.add_file(TASK, "fits", "100644", b"x" * 100)
        text = batch.add_text(TASK, "y" * 101, "content")
        batch.append(noted(text=text))
        return side, fits, text

    side, fits, text = small.transact(write)
    assert (side.omitted, side.size, side.blob) == (OMITTED_LARGE, 101, content.blob_id(b"x" * 101))
    assert fits.omitted is None
    assert (text.omitted, text.size) == (OMITTED_LARGE, 101)
    assert small.find_text(text) is None
    with pytest.raises(NotFound):
        small.read_content(side.blob)
    assert small.read_content(fits.blob) == b"x" * 100


def test_an_object_of_the_user_is_shared_and_not_copied(store: Store, repo: Repo) -> None:
    repo.commit({"a.py": "print()\n"})
    before = objects_of(store)
    oid = repo.git("rev-parse", "HEAD:a.py")
    edit(store, "a.py", b"print()\n")
    assert oid in before
    assert store.find_content(content.blob_id(b"print()\n")).oid == oid  # type: ignore[union-attr]


# Joining, clocks, consent


def two_heads(store: Store) -> dict[Oid, Any]:
    base = append(store, "base")
    tip = store.tips()[task_ref(TASK)]
    sides = {}
    for topic, clock in (("left", 2), ("right", 5)):
        sealed = codec.encode(noted(topic=topic, parents=(base.event_id,), clock=clock))
        sides[write_loose(store.layout.objects, "commit", carrier(sealed, [tip]), fsync=False)] = sealed
    return sides


def test_two_heads_are_joined_alike_whatever_their_order(store: Store) -> None:
    """SC-29 and the like: both clones make the same commit, and no third join appears."""
    sides = two_heads(store)
    backwards = dict(reversed(sides.items()))
    names = []
    for heads in (sides, backwards):
        batch = Batch(store)
        sealed = batch.join(heads)
        names.append((sealed.event_id, batch.tip(task_ref(TASK))))
    assert names[0] == names[1]
    store.transact(lambda batch: batch.join(sides))
    assert store.tips()[task_ref(TASK)] == names[0][1]
    assert topics(store) == ["base", "left", "right", None]
    assert store.highest_clock() == 6


def test_an_event_that_is_ahead_raises_nothing(store: Store) -> None:
    """UC-67, T23: one future clock must not poison all later events of this clone."""
    append(store, "one")
    head = chain.read_link(store.objects, store.tips()[task_ref(TASK)])
    far = codec.encode(noted(topic="far", parents=(head.sealed.event_id,), clock=1 + graph.AHEAD * 2))
    oid = write_loose(store.layout.objects, "commit", carrier(far, [head.oid]), fsync=False)
    store.git.run("update-ref", task_ref(TASK), oid)
    above = append(store, "above")
    assert above.event.clock == far.event.clock + 1
    assert append(store, "elsewhere", OTHER).event.clock == 2


def test_an_imported_event_counts_its_parents_alone(store: Store) -> None:
    for _ in range(4):
        append(store)
    imported = store.transact(
        lambda batch: [batch.append(noted(OTHER), imported=True), batch.append(noted(OTHER), imported=True)]
    )
    assert [sealed.event.clock for sealed in imported] == [1, 2]


def test_nothing_is_written_without_consent(repo: Repo) -> None:
    """PC-124."""
    store = open_store(repo.path)
    before = objects_of(store)
    with pytest.raises(NotEnabled, match="not enabled"):
        append(store)
    assert objects_of(store) == before
    assert not store.layout.own.exists()
    store.transact(lambda batch: batch.append(noted()), consent=False)
    assert len(store.events(TASK)) == 1


def test_a_chain_that_diverged_takes_contents_that_are_there_already(store: Store) -> None:
    edit(store, "a", b"mine")
    entry = next(entry for _, entry in chain.contents(store.objects, store.tips()[content_ref(TASK, "content")]))
    store.transact(lambda batch: batch.add_stored(OTHER, "content", entry.name, entry.oid))
    store.refresh()
    assert {row.task for row in rows.contents(store.index.connection, entry.blob)} == {TASK, OTHER}


@pytest.mark.parametrize("fsync", [True, False])
def test_syncing_follows_the_setting(repo: Repo, fsync: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """SC-23, UC-52: by default objects are on disk before a ref names them, and so are refs."""
    repo.git("config", "pog.enabled", "true")
    if not fsync:
        repo.git("config", "pog.fsync", "false")
    store = open_store(repo.path)
    synced: list[int] = []
    monkeypatch.setattr("os.fsync", synced.append)
    append(store)
    assert bool(synced) == fsync
    synced.clear()
    store.transact(lambda batch: [batch.append(noted()) for _ in range(PACK_FROM)])
    assert bool(synced) == fsync


def test_refs_are_synced_after_a_pack_as_well(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    settings: list[bool] = []
    repo.git("config", "pog.enabled", "true")
    store = open_store(repo.path)
    monkeypatch.setattr(pygit2, "settings", SimpleNamespace(enable_fsync_gitdir=settings.append))
    store.transact(lambda batch: [batch.append(noted()) for _ in range(PACK_FROM)])
    append(store)
    assert settings == [True, True]


def test_an_observed_path_that_cannot_be_spelled_is_stored(store: Store) -> None:
    """PC-61."""
    path = content.path_of(b"\xff.py")

    def write(batch: Batch) -> None:
        change = Change(path=path, after=batch.add_file(TASK, path, "100644", b"x"))
        batch.append(Observed(v=FORMAT, task=TASK, clock=1, time=STARTED, actor=ADA, changes=(change,)))

    store.transact(write)
    assert len(store.events_on(b"\xff.py")) == 1
    assert find_loose(store.layout.objects, store.tips()[task_ref(TASK)])
