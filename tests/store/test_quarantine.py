"""What is fetched is judged before anything of ours rests on it; newer events pass, bad ones are reported and wait.

Each bad thing is put into the remote by hand and pulled through `sync`, the only way in.
"""

from collections.abc import Callable

import pytest

from pogstore import codec
from pogstore.model import Oid, TaskId
from pogstore.store import chain, content
from pogstore.store.carrier import EMPTY_TREE, carrier
from pogstore.store.clock import read_clock
from pogstore.store.refs import content_ref, task_ref
from pogstore.store.store import open_store
from tests.builders_exchange import (
    Bare,
    Clone,
    append_by_hand,
    bare,
    clone,
    handmade,
    head_of,
    outcomes,
    pair,
    put_contents,
    write_commit,
    write_event,
)

__all__ = ["bare", "clone", "pair"]  # fixtures, used by their names


@pytest.mark.parametrize(
    ("fields", "subject"),
    [
        ({"kind": "dreamt", "depth": 3}, "dreamt"),
        ({"kind": "dreamt", "tool": "Write", "changes": [{"path": "a.py", "why": "x"}]}, "dreamt Write a.py"),
        ({"kind": "dreamt", "paths": [{"outside": True}], "status": "asleep"}, "dreamt asleep (outside)"),
        ({"kind": "dreamt", "tool": {"name": "x"}, "changes": ["a.py"], "paths": 3}, "dreamt"),
        ({"v": 2, "shape": {"new": True}}, "noted"),
        (
            {"kind": "noted", "topic": "t", "mood": "fine", "tool": "Later", "changes": [{"path": {"b64": "/w=="}}]},
            "noted Later b64:/w==",
        ),
        ({"kind": "moved", "status": "completed", "needs": ["telepathy"]}, "moved completed"),
    ],
    ids=["kind", "kind with a tool", "kind with paths", "kind with other shapes", "v", "field", "need"],
)
def test_an_event_of_a_newer_version_travels(
    pair: tuple[Clone, Clone, TaskId], bare: Bare, fields: dict[str, object], subject: str
) -> None:
    """Its carrier is what every version makes of it: also the subject comes from fields that only a newer one has."""
    ada, bob, task = pair
    event = handmade(task, [head_of(ada.store, task)], **fields)
    append_by_hand(ada.store, event)
    assert not ada.push().failed
    assert not bob.pull().failed
    assert bob.refs() == ada.refs() == bare.refs()
    shown = {sealed.event_id: codec.fields_of(sealed) for sealed in bob.store.events(task)}[event.event_id]
    assert fields.items() <= shown.items()
    assert bob.repo.git("log", "-1", "--format=%s", task_ref(task)) == subject
    append_by_hand(ada.store, handmade(task, [event]))
    ada.push()
    assert not bob.pull().failed, "what stands above it travels too"


def test_events_with_ids_of_another_hash_travel(pair: tuple[Clone, Clone, TaskId], bare: Bare) -> None:
    """Another `v` may name another hash, and make its carriers otherwise: what cannot be checked stops nothing."""
    ada, bob, task = pair
    event = handmade(task, [head_of(ada.store, task)], v=2)
    made = carrier(event, [ada.refs()[task_ref(task)]]).replace(b"\n\nnoted\n\n", b"\n\nnoted: otherwise\n\n")
    ada.store.refs.compare_and_swap(task_ref(task), ada.refs()[task_ref(task)], write_commit(ada.store, made))
    for v, name in ((2, "sha3_" + "1" * 64), (1, "sha3_" + "2" * 64)):
        above: dict[str, object] = {"v": v, "parents": [name]}
        append_by_hand(ada.store, handmade(task, [head_of(ada.store, task)], **above))
    ada.push()
    assert not bob.pull().failed
    assert bob.refs() == ada.refs()


def test_a_head_of_another_version_is_not_joined_here(pair: tuple[Clone, Clone, TaskId], bare: Bare) -> None:
    """`joined` would have to name an id that this version cannot make sure of."""
    ada, bob, task = pair
    append_by_hand(ada.store, handmade(task, [head_of(ada.store, task)], v=2))
    ada.push()
    bob.note(task)
    before = bob.refs()
    report = bob.pull()
    assert [ref.outcome for ref in report.joined.refs] == ["quarantined"]
    assert "newer pogstore" in str(report.joined.refs)
    assert bob.refs() == before
    assert bob.push().failed
    assert bare.refs() == ada.refs()


def lying_subject(bare: Bare, task: TaskId, tip: Oid) -> Oid:
    commit = chain.read_commit(bare.store.objects, good(bare, task, tip))
    return write_commit(bare.store, commit.replace(b"\n\nnoted\n\n", b"\n\nmoved completed\n\n"))


def other_author(bare: Bare, task: TaskId, tip: Oid) -> Oid:
    commit = chain.read_commit(bare.store.objects, good(bare, task, tip))
    return write_commit(bare.store, commit.replace(b"pogstore <pogstore@localhost>", b"Eve <eve@example.org>"))


def extra_header(bare: Bare, task: TaskId, tip: Oid) -> Oid:
    commit = chain.read_commit(bare.store.objects, good(bare, task, tip))
    return write_commit(bare.store, commit.replace(b"\n\n", b"\nencoding latin-1\n\n", 1))


def white_space(bare: Bare, task: TaskId, tip: Oid) -> Oid:
    commit = chain.read_commit(bare.store.objects, good(bare, task, tip))
    return write_commit(bare.store, commit.replace(b'"clock":', b'"clock": '))


def tree_with_files(bare: Bare, task: TaskId, tip: Oid) -> Oid:
    tree = bare.write("tree", b"100644 x\0" + bytes.fromhex(bare.write("blob", b"x")))
    commit = chain.read_commit(bare.store.objects, good(bare, task, tip))
    return write_commit(bare.store, commit.replace(commit[5:45], tree.encode(), 1))


def other_task(bare: Bare, task: TaskId, tip: Oid) -> Oid:
    stranger = TaskId("01946f5a-0000-7000-8000-00000000000f")
    return write_event(bare.store, handmade(stranger, [head_of(bare.store, task)]), [tip])


def parents_not_carried(bare: Bare, task: TaskId, tip: Oid) -> Oid:
    return write_event(bare.store, handmade(task, [head_of(bare.store, task)]))


def carriers_not_named(bare: Bare, task: TaskId, tip: Oid) -> Oid:
    return write_event(bare.store, handmade(task, clock=9), [tip])


def parents_in_disorder(bare: Bare, task: TaskId, tip: Oid) -> Oid:
    head = head_of(bare.store, task)
    sides = [handmade(task, [head], topic=topic) for topic in "ab"]
    oids = {side.event_id: write_event(bare.store, side, [tip]) for side in sides}
    return write_event(bare.store, handmade(task, sides), [oids[name] for name in sorted(oids, reverse=True)])


def forged_clock(bare: Bare, task: TaskId, tip: Oid) -> Oid:
    return write_event(bare.store, handmade(task, [head_of(bare.store, task)], clock=2**51), [tip])


def clock_that_stands_still(bare: Bare, task: TaskId, tip: Oid) -> Oid:
    head = head_of(bare.store, task)
    return write_event(bare.store, handmade(task, [head], clock=head.event.clock), [tip])


def bad_below_good(bare: Bare, task: TaskId, tip: Oid) -> Oid:
    bad = handmade(task, [head_of(bare.store, task)], clock=2**51)
    return write_event(bare.store, handmade(task, [bad]), [write_event(bare.store, bad, [tip])])


def no_event(bare: Bare, task: TaskId, tip: Oid) -> Oid:
    return Oid(bare.repo.git("commit-tree", "-m", "hello", "-p", tip, "4b825dc642cb6eb9a060e54bf8d69288fbee4904"))


def good(bare: Bare, task: TaskId, tip: Oid) -> Oid:
    return write_event(bare.store, handmade(task, [head_of(bare.store, task)]), [tip])


BAD = (
    lying_subject,
    other_author,
    extra_header,
    white_space,
    tree_with_files,
    other_task,
    parents_not_carried,
    carriers_not_named,
    parents_in_disorder,
    forged_clock,
    clock_that_stands_still,
    bad_below_good,
    no_event,
)


@pytest.mark.parametrize("make", BAD)
def test_a_bad_task_is_quarantined_and_others_go_on(
    pair: tuple[Clone, Clone, TaskId], bare: Bare, make: Callable[[Bare, TaskId, Oid], Oid]
) -> None:
    """Cases SC-28, SC-32, SC-38, UC-67: it is reported with a reason and moves nothing of ours."""
    ada, bob, task = pair
    tip = bare.refs()[task_ref(task)]
    before, clock = bob.refs(), read_clock(bob.store.layout.own)
    other = ada.new("Other")
    ada.push()
    bare.put(task_ref(task), make(bare, task, tip))
    report = bob.pull()
    bad = [ref for ref in report.joined.refs if ref.failed]
    assert [(ref.ref, ref.outcome, bool(ref.reason)) for ref in bad] == [(task_ref(task), "quarantined", True)]
    assert {ref: oid for ref, oid in bob.refs().items() if not ref.endswith(other)} == before
    assert other in bob.store.tasks()
    assert read_clock(bob.store.layout.own) == max(clock or 0, bob.store.events(other)[-1].event.clock)
    bob.note(task)
    assert bob.push().failed, "over what is bad nothing is pushed"


def test_contents_of_a_bad_task_wait_with_it(pair: tuple[Clone, Clone, TaskId], bare: Bare) -> None:
    ada, bob, task = pair
    before, tip = bob.refs(), bare.refs()[task_ref(task)]
    ada.note(task)
    ada.push()
    bare.put(task_ref(task), tip)
    bare.put(task_ref(task), forged_clock(bare, task, tip))
    assert outcomes(bob.pull().joined.refs) == {"tasks": "quarantined"}
    assert bob.refs() == before


def test_what_the_bad_ones_are_made_from_is_good(pair: tuple[Clone, Clone, TaskId], bare: Bare) -> None:
    _, bob, task = pair
    bare.put(task_ref(task), good(bare, task, bare.refs()[task_ref(task)]))
    assert outcomes(bob.pull().joined.refs) == {"tasks": "forwarded"}


def test_a_remote_that_was_repaired_is_taken_again(pair: tuple[Clone, Clone, TaskId], bare: Bare) -> None:
    """A tip that was seen there and is bad does not have to be in what comes after it."""
    _, bob, task = pair
    tip = bare.refs()[task_ref(task)]
    bare.put(task_ref(task), lying_subject(bare, task, tip))
    assert bob.pull().failed
    bare.put(task_ref(task), tip)
    bare.put(task_ref(task), good(bare, task, tip))
    assert not bob.pull().failed
    assert bob.refs() == bare.refs()


def test_a_clock_far_ahead_is_kept_and_moves_no_other(pair: tuple[Clone, Clone, TaskId], bare: Bare) -> None:
    """Cases UC-67, SC-38: a valid clock that is ahead of all others; also what is written on top of it here."""
    _, bob, task = pair
    ahead = handmade(task, [head_of(bare.store, task)], clock=2**39)
    append_by_hand(bare.store, ahead)
    report = bob.pull()
    assert not report.failed
    assert report.joined.ahead == (task,)
    assert bob.store.highest_clock() < 100
    above = bob.note(task)
    assert above.event.clock == 2**39 + 1
    other = bob.new("Other")
    assert bob.store.events(other)[0].event.clock < 100
    (bob.store.layout.own / "clock").unlink()
    assert bob.store.highest_clock() < 100


def test_an_object_that_git_refuses_spoils_its_own_ref_only(clone: Callable[[str], Clone], bare: Bare) -> None:
    """Cases SC-32, T13: git's own check fails for the whole fetch, so it is done in halves."""
    ada, bob = clone("ada"), clone("bob")
    tasks = [ada.new(f"Task {number}") for number in range(4)]
    ada.push()
    raw = f"tree {EMPTY_TREE}\nauthor nobody\ncommitter nobody\n\nx\n"
    broken = bare.repo.git("hash-object", "-t", "commit", "-w", "--literally", "--stdin", input=raw)
    bare.put(task_ref(tasks[1]), Oid(broken))
    report = bob.pull()
    assert [ref.ref for ref in report.fetched.refs if ref.failed] == [task_ref(tasks[1])]
    assert bob.store.tasks() == sorted(set(tasks) - {tasks[1]})


def test_a_ref_to_something_else_than_a_commit_leaves_no_trace(clone: Callable[[str], Clone], bare: Bare) -> None:
    """Case PC-42: refs to blobs break other tools."""
    ada, bob = clone("ada"), clone("bob")
    task = ada.new()
    ada.push()
    bare.put(task_ref(task), bare.write("blob", b"x"))
    assert outcomes(bob.pull().fetched.refs) == {"tasks": "failed", "content": "new"}
    kinds = bob.repo.git("for-each-ref", "--format=%(objecttype)").split()
    assert set(kinds) == {"commit"}


def test_a_ref_with_another_name_is_skipped(pair: tuple[Clone, Clone, TaskId], bare: Bare) -> None:
    """Cases T11, PC-43: `refs/pog/tasks/-x` is a valid name of a ref and not of a task."""
    _, bob, task = pair
    for name in ("refs/pog/tasks/-x", "refs/pog/tasks/--upload-pack=x", f"refs/pog/tasks/{task.upper()}"):
        bare.put(name, bare.refs()[task_ref(task)])
    report = bob.pull()
    assert [ref.outcome for ref in report.fetched.refs] == ["skipped"] * 3
    assert not report.failed
    assert "-x" not in bob.repo.git("for-each-ref")


SALTED = b"0" * 32 + b"\nsaid"
NAMED = content.blob_id(SALTED)


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ({content.blob_id(b"one"): b"another"}, "holds something else"),
        ({content.blob_id(b"no salt"): b"no salt"}, "without its salt"),
        ({content.blob_id(SALTED) + "-short": SALTED}, "not named as a content"),
        ({"G" * 64: SALTED}, "not named as a content"),
        ({content.blob_id(b"x" * 5000) + "-" + "0" * 16: b"x" * 5000}, "over the limit of 4096"),
    ],
    ids=["bytes", "salt", "tag", "hex", "size"],
)
def test_a_bad_content_is_quarantined(
    pair: tuple[Clone, Clone, TaskId], bare: Bare, entries: dict[str, bytes], reason: str
) -> None:
    """Cases T13, SC-28: contents are compared with their names, within `pog.maxBlob`; events go on without them."""
    _, bob, task = pair
    bob.repo.git("config", "pog.maxBlob", "4096")
    bob.store.close()
    bob = bob._replace(store=open_store(bob.repo.path))
    before = bob.refs()
    put_contents(bare, task, entries)
    event = handmade(task, [head_of(bare.store, task)])
    append_by_hand(bare.store, event)
    report = bob.pull()
    assert outcomes(report.joined.refs) == {"tasks": "forwarded", "content": "quarantined"}
    assert reason in str(report.joined.refs)
    assert event.event_id in bob.event_ids(task)
    assert bob.refs()[content_ref(task, "content")] == before[content_ref(task, "content")]
    bob.store.close()


def test_a_packed_content_that_claims_too_much_is_not_read(pair: tuple[Clone, Clone, TaskId], bare: Bare) -> None:
    """Case T13: 40 MB of zeros, 40 KB in the pack; the size is looked at before the bytes."""
    _, bob, task = pair
    data = bytes(40 << 20)
    put_contents(bare, task, {f"{content.blob_id(data)}-{'0' * 16}": data})
    bare.repo.git("gc", "--quiet")
    bob.repo.git("config", "fetch.unpackLimit", "1")
    report = bob.pull()
    assert outcomes(report.joined.refs) == {"content": "quarantined"}
    assert "over the limit of 16777216" in str(report.joined.refs)


@pytest.mark.parametrize(
    "raw_tree",
    [
        b"40000 " + NAMED.encode() + b"\0" + bytes.fromhex("4b825dc642cb6eb9a060e54bf8d69288fbee4904"),
        b"100755 " + NAMED.encode() + b"\0" + bytes.fromhex("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"),
    ],
    ids=["directory", "mode"],
)
def test_a_tree_with_anything_but_contents_is_quarantined(
    pair: tuple[Clone, Clone, TaskId], bare: Bare, raw_tree: bytes
) -> None:
    _, bob, task = pair
    bare.write("tree", b"")
    bare.write("blob", b"")
    put_contents(bare, task, {}, raw_tree=raw_tree)
    assert outcomes(bob.pull().joined.refs) == {"content": "quarantined"}


def test_a_commit_of_contents_with_a_message_is_quarantined(pair: tuple[Clone, Clone, TaskId], bare: Bare) -> None:
    _, bob, task = pair
    ref = content_ref(task, "content")
    tip = bare.refs()[ref]
    bare.put(ref, Oid(bare.repo.git("commit-tree", "-m", "hello", "-p", tip, f"{tip}^{{tree}}")))
    assert outcomes(bob.pull().joined.refs) == {"content": "quarantined"}
