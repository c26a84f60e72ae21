"""Walks of chains: every commit once, without recursion, and damage is named."""

import pytest

from pogstore import codec
from pogstore.errors import NotCanonical, NotFound, ObjectDamaged
from pogstore.model import Noted, Oid
from pogstore.store import chain, content
from pogstore.store.carrier import EMPTY_TREE, carrier, content_commit
from pogstore.store.loose import write_loose
from pogstore.store.refs import content_ref, task_ref
from pogstore.store.store import Store
from tests.builders_store import TASK, append, edit, links, noted, oids


def put(store: Store, raw: bytes, kind: str = "commit") -> Oid:
    return write_loose(store.layout.objects, kind, raw, fsync=False)


def test_a_chain_is_walked_from_its_tip_and_each_carrier_once(store: Store) -> None:
    written = [append(store, f"t{number}") for number in range(5)]
    found = links(store)
    assert [link.sealed for link in found] == list(reversed(written))
    assert {link.oid for link in found} == oids(store)


def test_a_joined_chain_is_walked_once_on_each_side(store: Store) -> None:
    base = append(store, "base")
    tip = store.refs.read(task_ref(TASK))
    assert tip is not None
    sides = {}
    for topic in ("left", "right"):
        sealed = codec.encode(noted(topic=topic, parents=(base.event_id,), clock=2))
        sides[put(store, carrier(sealed, [tip]))] = sealed
    joined = store.transact(lambda batch: batch.join(sides))
    found = links(store)
    assert [link.sealed.event_id for link in found[:1]] == [joined.event_id]
    assert len(found) == 4
    assert {link.oid for link in found} == oids(store)
    assert found[0].carried.parents == tuple(
        sorted(sides, key=lambda oid: joined.event.parents.index(sides[oid].event_id))
    )


def test_a_walk_stops_at_what_is_known(store: Store) -> None:
    for number in range(5):
        append(store, f"t{number}")
    known = links(store)[2].oid
    tip = store.refs.read(task_ref(TASK))
    assert tip is not None
    found = list(chain.events(store.objects, tip, lambda oid: oid == known))
    assert [getattr(link.sealed.event, "topic", None) for link in found] == ["t4", "t3"]
    assert list(chain.events(store.objects, tip, lambda oid: oid == tip)) == []


def test_a_long_chain_needs_no_recursion(store: Store) -> None:
    """T13."""
    store.transact(lambda batch: [batch.append(noted(topic=str(number))) for number in range(3000)])
    assert len(links(store)) == 3000


def test_contents_are_found_in_every_commit_of_a_chain(store: Store) -> None:
    edit(store, "a", b"one")
    edit(store, "a", b"two")
    tip = store.refs.read(content_ref(TASK, "content"))
    assert tip is not None
    found = list(chain.contents(store.objects, tip))
    assert [entry.blob for _, entry in found] == [content.blob_id(b"two"), content.blob_id(b"one")]
    assert found[0][0] == tip
    assert len(list(chain.contents(store.objects, tip, lambda oid: oid != tip))) == 1


@pytest.mark.parametrize(
    ("kind", "raw", "fault"),
    [
        ("blob", b"x", ObjectDamaged),
        ("tree", b"", ObjectDamaged),
        ("commit", content_commit(EMPTY_TREE, [], 0), ObjectDamaged),
        ("commit", b"tree x\n\nsubject\n\nnot json\n", NotCanonical),
        ("commit", b"tree x\n\nsubject\n\n{}\n", NotCanonical),
    ],
)
def test_what_is_no_carrier_is_named(store: Store, kind: str, raw: bytes, fault: type[Exception]) -> None:
    with pytest.raises(fault):
        chain.read_link(store.objects, put(store, raw, kind))


def test_a_parent_that_is_missing_is_named(store: Store) -> None:
    sealed = codec.encode(noted(parents=("a" * 64,)))
    tip = put(store, carrier(sealed, [Oid("1" * 40)]))
    with pytest.raises(NotFound, match="1" * 40):
        list(chain.events(store.objects, tip))


def test_a_tree_in_the_place_of_a_blob_is_damaged(store: Store) -> None:
    blob = put(store, b"x", "blob")
    with pytest.raises(ObjectDamaged, match="a blob in the place of a tree"):
        list(chain.tree_entries(store.objects, blob))


def test_an_event_of_the_largest_size_is_read(store: Store) -> None:
    room = codec.MAX_BYTES - len(codec.encode(noted(topic="")).canonical) - 80
    sealed = append(store, "x" * room)
    assert links(store)[0].sealed == sealed
    assert isinstance(sealed.event, Noted)
