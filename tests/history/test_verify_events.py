"""What `history/verify_events.py` promises: one carrier for one event, in git the edges of the events, rising clocks.

Cases T14, PC-42.
"""

from collections.abc import Callable

import pytest

from pogstore import codec
from pogstore.history.verify import verify
from pogstore.model import Oid, Sealed
from pogstore.store.carrier import carrier
from pogstore.store.refs import CONTENT, PRIVATE, TASKS
from pogstore.store.store import Store
from tests.conftest import Repo
from tests.history.stores import (
    OTHER,
    TASK,
    append,
    enabled,
    forge,
    loose_file,
    note,
    only,
    point,
    tip,
    write,
)


@pytest.fixture
def store(repo: Repo) -> Store:
    """The store of `repo`, in which events may be written."""
    return enabled(repo)


def test_the_newest_event_is_named_as_such(repo: Repo, store: Store) -> None:
    append(store, "noted", "moved")
    loose_file(repo, tip(store)).write_bytes(b"")
    assert only(verify(store)).lost.startswith(f"the newest event of task {TASK}")


@pytest.mark.parametrize("kind", ["blob", "tree", "tag"])
@pytest.mark.parametrize("place", [TASKS, CONTENT, PRIVATE])
def test_a_ref_to_something_else_than_a_commit_is_named(repo: Repo, store: Store, kind: str, place: str) -> None:
    """PC-42."""
    tag = f"object {tip_of(repo)}\ntype commit\ntag t\ntagger A <a@example.org> 1 +0000\n\nt\n"
    oid = write(repo, kind, {"blob": b"x\n", "tree": b"", "tag": tag.encode()}[kind])
    point(repo, oid, place=place)
    fault = only(verify(store))
    assert (fault.object, fault.reason) == (oid, f"is a {kind} in the place of a commit")


def tip_of(repo: Repo) -> str:
    return repo.git("rev-parse", "HEAD")


def test_a_ref_to_a_foreign_commit_is_named(repo: Repo, store: Store) -> None:
    point(repo, Oid(tip_of(repo)))
    assert "not the carrier of an event" in only(verify(store)).reason
    point(repo, Oid(tip_of(repo)), place=PRIVATE)
    assert "is not a commit of contents" in [
        fault.reason for fault in verify(store).faults if fault.ref == PRIVATE + TASK
    ]


def test_an_event_of_another_task_is_named(repo: Repo, store: Store) -> None:
    append(store, "moved")
    point(repo, tip(store), OTHER)
    fault = next(fault for fault in verify(store).faults if fault.ref == TASKS + OTHER)
    assert (fault.object, fault.reason) == (tip(store), f"carries an event of task {TASK}")
    assert verify(store, [TASK]).ok


FORGERIES: dict[str, Callable[[bytes], bytes]] = {
    "another author": lambda data: data.replace(b"author Ada Example", b"author Eve Example"),
    "another committer": lambda data: data.replace(b"committer Ada Example", b"committer Eve Example"),
    "another time": lambda data: data.replace(b" +0100", b" +0200", 1),
    "another subject": lambda data: data.replace(b"\n\nnoted", b"\n\ncompleted by Ada", 1),
    "another tree": lambda data: data.replace(b"tree 4b825dc", b"tree 4b825dd", 1),
    "a header more": lambda data: data.replace(b"\n\nnoted", b"\nencoding UTF-8\n\nnoted", 1),
    "a signature": lambda data: data.replace(b"\n\nnoted", b"\ngpgsig x\n y\n\nnoted", 1),
    "a line more": lambda data: data + b"\n",
    "a line less": lambda data: data[:-1],
}


@pytest.mark.parametrize("change", FORGERIES.values(), ids=FORGERIES)
def test_a_forged_carrier_is_named(repo: Repo, store: Store, change: Callable[[bytes], bytes]) -> None:
    first = note()
    below = write(repo, "commit", carrier(first, []))
    assert verify(store).ok
    forge(repo, note(first), below)
    assert verify(store).ok
    oid = forge(repo, note(first), below, change=change)
    fault = only(verify(store))
    assert (fault.object, fault.task, fault.ref) == (oid, TASK, TASKS + TASK)
    assert "is not the carrier " in fault.reason


def test_the_first_line_that_differs_is_shown(repo: Repo, store: Store) -> None:
    forge(repo, note(), change=FORGERIES["another author"])
    assert only(verify(store)).reason.endswith(
        "'author Eve Example <ada@example.org> 1767603600 +0100' in the place of "
        "'author Ada Example <ada@example.org> 1767603600 +0100'"
    )


ENCODINGS: dict[str, Callable[[bytes], bytes]] = {
    "white space": lambda data: data.replace(b'"v":1', b'"v": 1'),
    "key order": lambda data: data.replace(b'"clock":1,', b"").replace(b'"v":1', b'"v":1,"clock":1'),
    "a key twice": lambda data: data.replace(b'"v":1', b'"v":1,"v":1'),
    "an escape": lambda data: data.replace(b'"odd"', b'"od\\u0064"'),
    "no event": lambda data: data.partition(b"\n\n")[0] + b"\n\nnoted\n\nfree text\n",
    "no message": lambda data: data.partition(b"\n\n")[0] + b"\n",
}


@pytest.mark.parametrize("change", ENCODINGS.values(), ids=ENCODINGS)
def test_an_event_in_another_encoding_is_named(repo: Repo, store: Store, change: Callable[[bytes], bytes]) -> None:
    oid = forge(repo, note(topic="odd"), change=change)
    fault = only(verify(store))
    assert (fault.object, fault.lost) == (oid, "what this event said")


@pytest.mark.parametrize(
    ("clock", "reason"),
    [(5, "clock 5 is not above 5"), (1, "is not above"), (5 + (1 << 40) + 1, "is more than 2^40 above")],
)
def test_a_clock_that_is_not_valid_is_named(repo: Repo, store: Store, clock: int, reason: str) -> None:
    first = note(clock=5)
    below = write(repo, "commit", carrier(first, []))
    oid = forge(repo, note(first, clock=clock), below)
    fault = only(verify(store))
    assert fault.object == oid
    assert reason in fault.reason
    assert "order" in fault.lost


def test_a_root_that_begins_too_high_is_named(repo: Repo, store: Store) -> None:
    assert only_object(repo, store, note(clock=(1 << 40) + 1)).startswith("clock ")


def only_object(repo: Repo, store: Store, sealed: Sealed, *carriers: Oid) -> str:
    oid = forge(repo, sealed, *carriers)
    fault = only(verify(store))
    assert fault.object == oid
    return fault.reason


def test_edges_of_git_and_of_events_must_be_the_same(repo: Repo, store: Store) -> None:
    one, other = sorted((note(topic="a"), note(topic="b")), key=lambda sealed: sealed.event_id)
    a, b = (write(repo, "commit", carrier(sealed, [])) for sealed in (one, other))
    both = note(one, other)
    forge(repo, both, a, b)
    assert verify(store).ok
    assert only_object(repo, store, both, b, a).startswith(f"its parent {b} does not carry the event")
    assert only_object(repo, store, both, a).startswith("has 1 parents in git, where its event names 2")
    assert only_object(repo, store, both, a, b, b).startswith("has 3 parents in git")
    assert only_object(repo, store, note(one), a, a).startswith("has 2 parents in git, where its event names 1")
    assert only_object(repo, store, note(one)).startswith("has 0 parents in git")
    assert only_object(repo, store, note(one), b).startswith(f"its parent {b} does not carry")


def test_an_event_that_is_there_twice_is_named(repo: Repo, store: Store) -> None:
    first = note()
    a = write(repo, "commit", carrier(first, []))
    copy = write(repo, "commit", FORGERIES["another author"](carrier(first, [])))
    left, right = note(first, topic="l"), note(first, topic="r")
    oids = {
        left.event_id: write(repo, "commit", carrier(left, [a])),
        right.event_id: write(repo, "commit", carrier(right, [copy])),
    }
    forge(repo, note(left, right), *(oids[event_id] for event_id in sorted(oids)))
    reasons = {fault.object: fault.reason for fault in verify(store).faults if "same event" in fault.reason}
    assert len(reasons) == 1
    assert {a, copy} > set(reasons)


NEWER: dict[str, bytes] = {
    "another v": b'{"clock":2,"future":{"deep":[1]},"kind":"noted","parents":["%b"],"task":"%b","time":1,"v":2}',
    "an unknown kind": (
        b'{"clock":2,"kind":"dreamt","parents":["%b"],"status":"asleep","task":"%b","time":1,"tool":"Bed","v":1}'
    ),
    "an unknown need": b'{"clock":2,"kind":"noted","needs":["quorum"],"parents":["%b"],"task":"%b","time":1,"v":1}',
    "an unknown field": (
        b'{"actor":{"type":"human"},"clock":2,"kind":"noted","mood":"fine","parents":["%b"],"task":"%b","time":1,"v":1}'
    ),
}


@pytest.mark.parametrize("form", NEWER.values(), ids=NEWER)
def test_an_event_of_a_newer_version_is_carried(repo: Repo, store: Store, form: bytes) -> None:
    first = note()
    below = write(repo, "commit", carrier(first, []))
    newer = codec.decode(form % (first.event_id.encode(), TASK.encode()))
    above = forge(repo, newer, below)
    forge(repo, note(newer), above)
    report = verify(store)
    assert report.ok, report.faults
    assert report.checked.events == 3


def test_a_newer_event_is_still_held_to_graph_and_tree(repo: Repo, store: Store) -> None:
    first = note()
    below = write(repo, "commit", carrier(first, []))
    newer = codec.decode(NEWER["another v"] % (first.event_id.encode(), TASK.encode()))
    assert only_object(repo, store, newer).startswith("has 0 parents in git")
    forge(repo, newer, below, change=FORGERIES["another tree"])
    assert only(verify(store)).reason == "its tree is not the empty one"
