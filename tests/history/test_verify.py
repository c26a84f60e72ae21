"""What `history/verify.py` promises: no damage goes unseen, what is lost is named, and nothing makes it wait for ever.

Cases T13, T14, SC-23, UC-52, PC-42. Mass damage is done in a process of its own, see `damage.py`.
"""

import subprocess
import sys
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from pogstore import codec
from pogstore.errors import NotFound
from pogstore.history import verify as verify_module
from pogstore.history.verify import Fault, Report, verify
from pogstore.history.verify_objects import Objects
from pogstore.history.verify_refs import read_refs
from pogstore.model import KINDS, Change, Noted, OddPath, Oid, Redacted, Sealed, Stepped, TaskId, Text
from pogstore.store import content
from pogstore.store.batch import Batch
from pogstore.store.carrier import carrier, content_commit, read_carrier
from pogstore.store.loose import find_loose, oid_of
from pogstore.store.pack import packs, write_pack
from pogstore.store.refs import CONTENT, PRIVATE, TASKS
from pogstore.store.store import Store, open_store
from tests.conftest import STARTED, Pog, Repo
from tests.history.stores import (
    OTHER,
    TASK,
    append,
    common,
    content_oids,
    enabled,
    flipped,
    holding,
    loose_file,
    tip,
)


@pytest.fixture
def store(repo: Repo) -> Store:
    """The store of `repo`, in which events may be written."""
    return enabled(repo)


def objects_of(report: Report) -> list[str]:
    return [fault.object for fault in report.faults]


def only(report: Report) -> Fault:
    """The one fault of a report."""
    assert len(report.faults) == 1, report.faults
    return report.faults[0]


def write(repo: Repo, kind: str, data: bytes) -> Oid:
    """Writes any object with plain git, whatever is in it."""
    return Oid(repo.git("hash-object", "-w", "-t", kind, "--literally", "--stdin", input=data))


def point(repo: Repo, oid: Oid, task: TaskId = TASK, place: str = TASKS) -> None:
    repo.git("update-ref", place + task, oid)


def carried(repo: Repo, oid: Oid) -> Sealed:
    return codec.decode(read_carrier(oid, raw(repo, oid)).canonical)


def raw(repo: Repo, oid: Oid) -> bytes:
    return (repo.git("cat-file", "commit", oid) + "\n").encode()


def note(*parents: Sealed, clock: int | None = None, task: TaskId = TASK, **fields: Any) -> Sealed:
    """An event over others, made without a store."""
    above = 1 + max((parent.event.clock for parent in parents), default=0)
    named = tuple(sorted(parent.event_id for parent in parents))
    given = common(task) | {"parents": named, "clock": above if clock is None else clock} | fields
    return codec.encode(Noted(**given))


def forge(repo: Repo, sealed: Sealed, *carriers: Oid, change: Callable[[bytes], bytes] = bytes) -> Oid:
    """Writes the carrier of an event, changed in some way, and lets the task's ref point at it."""
    oid = write(repo, "commit", change(carrier(sealed, carriers)))
    point(repo, oid)
    return oid


@pytest.mark.parametrize("part", ["even", "odd", "pack"])
def test_every_damaged_byte_is_named(part: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.history.damage", part, str(tmp_path)]
    done = subprocess.run(
        command, cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-5000:]
    *missed, last = done.stdout.splitlines()
    assert missed == []
    assert int(last.split()[0]) >= 1000


def test_a_whole_store_has_no_fault(repo: Repo, store: Store) -> None:
    append(store, *KINDS)
    append(store, "noted", "prompted", task=OTHER)
    report = verify(store)
    assert report.ok, report.faults
    assert report.checked.events == len(KINDS) + 2
    assert report.checked.refs == 6
    assert report.checked.packs == 0
    named = repo.git("ls-tree", "-r", "--name-only", CONTENT + TASK).splitlines()
    assert report.checked.contents > len(named)
    repo.git("gc", "--quiet", "--prune=now")
    again = verify(store)
    assert again.ok, again.faults
    assert again.checked == replace(report.checked, packs=1)


def test_a_store_without_tasks_has_no_fault(store: Store) -> None:
    assert verify(store) == verify(store, [])
    assert verify(store).ok


@pytest.mark.parametrize("kind", ["events", "content", "tree", "commit"])
def test_a_missing_object_is_named_with_what_is_lost(repo: Repo, store: Store, kind: str) -> None:
    first, _, last = append(store, "noted", "stepped", "moved")
    middle = read_carrier(tip(store), raw(repo, tip(store))).parents[0]
    commit, tree, *blobs = content_oids(repo, "content")
    oid = {"events": middle, "content": blobs[0], "tree": tree, "commit": commit}[kind]
    loose_file(repo, oid).unlink()
    report = verify(store)
    fault = report.faults[0]
    assert (fault.object, fault.reason, fault.task) == (oid, "is missing", TASK)
    assert fault.ref == (TASKS if kind == "events" else CONTENT) + TASK
    if kind == "events":
        assert last.event.parents[0] in fault.lost
        assert first.event_id not in objects_of(report)
    elif kind == "content":
        assert "of event" in fault.lost
    else:
        assert fault.lost.startswith("up to 5 contents: ")
    assert len(report.faults) == 1


def test_the_newest_event_is_named_as_such(repo: Repo, store: Store) -> None:
    append(store, "noted", "moved")
    loose_file(repo, tip(store)).write_bytes(b"")
    assert only(verify(store)).lost.startswith(f"the newest event of task {TASK}")


def test_a_swapped_content_is_named(repo: Repo, store: Store) -> None:
    append(store, "stepped")
    commit, tree, one, other = content_oids(repo, "content")
    names = repo.git("ls-tree", "--name-only", tree).splitlines()
    swapped = write(repo, "tree", content.tree({names[0]: other, names[1]: one}))
    point(repo, write(repo, "commit", raw(repo, commit).replace(tree.encode(), swapped.encode())), place=CONTENT)
    report = verify(store)
    assert sorted(objects_of(report)) == sorted([one, other])
    assert all(fault.reason.startswith("holds the content ") for fault in report.faults)
    assert {name[:64] for name in names} == {fault.lost.split()[1].rstrip(",") for fault in report.faults}


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


BAD_REFS: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "its file is empty"),
    "zeros": (bytes(41), "does not hold an object's name"),
    "garbage": (b"\xff\xfe garbage", "does not hold an object's name"),
    "cut": (b"0123456789", "does not hold an object's name"),
    "symbolic": (b"ref: refs/heads/main\n", "is a symbolic ref"),
}


@pytest.mark.parametrize("place", [TASKS, CONTENT, PRIVATE])
@pytest.mark.parametrize(("data", "reason"), BAD_REFS.values(), ids=BAD_REFS)
def test_a_damaged_ref_file_is_named(repo: Repo, store: Store, place: str, data: bytes, reason: str) -> None:
    """SC-23, UC-52: a power cut leaves files of length zero."""
    append(store, "stepped")
    path = repo.path / ".git" / (place + TASK)
    with holding(path, data):
        fault = next(fault for fault in verify(store).faults if fault.object == place + TASK)
        assert reason in fault.reason
        assert (fault.ref, fault.task) == (place + TASK, TASK)
        assert verify(store, [TASK]).faults
    assert verify(store).ok


def test_a_packed_ref_stands_in_for_a_damaged_file(repo: Repo, store: Store) -> None:
    append(store, "moved")
    repo.git("pack-refs", "--all")
    assert verify(store).ok
    path = repo.path / ".git" / (TASKS + TASK)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    report = verify(store)
    assert only(report).object == TASKS + TASK
    assert report.checked.events == 1


@pytest.mark.parametrize("name", [TASK.upper(), "note", f"{TASK}-1", "deep/er"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_ref_that_no_task_can_have_is_named(repo: Repo, store: Store, name: str, packed: bool) -> None:
    append(store, "moved")
    repo.git("update-ref", TASKS + name, tip(store))
    if packed:
        repo.git("pack-refs", "--all")
    fault = only(verify(store))
    assert (fault.object, fault.reason) == (TASKS + name, "is not named by a task's id in lower case")


def test_a_damaged_line_of_packed_refs_is_named(repo: Repo, store: Store) -> None:
    append(store, "moved")
    repo.git("tag", "-m", "a tag", "v1")
    repo.git("pack-refs", "--all")
    path = repo.path / ".git" / "packed-refs"
    with holding(path, path.read_bytes().replace(b" " + TASKS.encode(), b"-" + TASKS.encode())):
        fault = only(verify(store))
    assert fault.object == "packed-refs"
    assert TASK in fault.reason
    assert verify(store).ok


def test_locks_and_other_places_are_nobodys_concern(repo: Repo, store: Store) -> None:
    append(store, "moved")
    (repo.path / ".git" / (TASKS + TASK + ".lock")).touch()
    repo.git("update-ref", "refs/pog/shelf/tasks", tip_of(repo))
    write(repo, "blob", b"referenced by nobody")
    assert verify(store).ok


def contents(
    repo: Repo, names: dict[str, bytes], change: Callable[[bytes], bytes] = bytes, class_: str = CONTENT
) -> Oid:
    """Lets a content chain hold exactly some blobs, by name; returns its commit."""
    tree = write(repo, "tree", content.tree({name: write(repo, "blob", data) for name, data in names.items()}))
    oid = write(repo, "commit", change(content_commit(tree, [], STARTED)))
    point(repo, oid, place=class_)
    return oid


def naming(repo: Repo, *texts: Text, **fields: Any) -> None:
    """Lets the task hold one event for each text."""
    last: list[tuple[Sealed, Oid]] = []
    for text in texts:
        sealed = note(*(sealed for sealed, _ in last), text=text, **fields)
        last = [(sealed, forge(repo, sealed, *(oid for _, oid in last)))]


def text_of(data: bytes, class_: str = "content", size: int | None = None, **fields: Any) -> Text:
    blob = content.blob_id(data)
    return Text(blob=blob, size=len(data) - 33 if size is None else size, class_=class_, **fields)


SALTED = b"0123456789abcdef0123456789abcdef\nspoken"
NO_TEXTS = {
    "no salt": (b"spoken", "is a text without its salt"),
    "a salt of other letters": (b"X" + SALTED[1:], "is a text without its salt"),
    "not UTF-8": (SALTED + b"\xff", "is a text that is not UTF-8"),
}


@pytest.mark.parametrize(("data", "reason"), NO_TEXTS.values(), ids=NO_TEXTS)
def test_a_text_that_is_none_is_named(repo: Repo, store: Store, data: bytes, reason: str) -> None:
    naming(repo, text_of(data))
    contents(repo, {content.blob_id(data): data})
    fault = only(verify(store))
    assert (fault.object, fault.reason) == (oid_of("blob", data), reason)
    assert content.blob_id(data) in fault.lost
    contents(repo, {content.file_name(content.blob_id(data), "a"): data})
    fault = only(verify(store))
    assert (fault.object, fault.reason) == (content.blob_id(data), reason)


def test_sizes_must_agree(repo: Repo, store: Store) -> None:
    naming(repo, text_of(SALTED, size=7))
    contents(repo, {content.blob_id(SALTED): SALTED})
    assert only(verify(store)).reason == "has 6 bytes where its event says 7"
    naming(repo, text_of(SALTED, size=6))
    assert verify(store).ok


def test_a_name_that_no_content_can_have_is_named(repo: Repo, store: Store) -> None:
    blob = content.blob_id(SALTED)
    for name in (blob[:63], f"{blob}-short", f"{blob}-{'G' * 16}", f"{blob}.{'0' * 16}", "note.txt"):
        commit = contents(repo, {name: SALTED})
        fault = only(verify(store))
        assert (fault.object, fault.ref) == (repo.git("rev-parse", f"{commit}^{{tree}}"), CONTENT + TASK)
        assert fault.reason == "holds something else than contents, in order"


def test_a_tree_holds_nothing_but_contents(repo: Repo, store: Store) -> None:
    name, blob = content.blob_id(SALTED).encode(), bytes.fromhex(write(repo, "blob", SALTED))
    whole = b"100644 %b\0%b" % (name, blob)
    for data in (
        b"100755 %b\0%b" % (name, blob),
        b"40000 %b\0%b" % (name, bytes.fromhex(write(repo, "tree", b""))),
        whole * 2,
        b"100644 %b-%b\0%b" % (name, b"0" * 16, blob) + whole,
        whole[:-1],
        whole + b"x",
    ):
        tree = write(repo, "tree", data)
        point(repo, write(repo, "commit", content_commit(tree, [], STARTED)), place=CONTENT)
        assert only(verify(store)).object == tree, data


def test_a_forged_content_commit_is_named(repo: Repo, store: Store) -> None:
    for change in (
        lambda data: data.replace(b"author pogstore", b"author Eve"),
        lambda data: data.replace(b"+0000", b"+0100"),
        lambda data: data + b"\nmore\n",
        lambda data: data.replace(b"\n\n", b"\nencoding x\n\n"),
    ):
        oid = contents(repo, {content.blob_id(SALTED): SALTED}, change)
        fault = only(verify(store))
        assert (fault.object, fault.reason) == (oid, "is not a commit of contents")


def test_what_was_not_fetched_is_absent_and_no_fault(repo: Repo, store: Store) -> None:
    append(store, "prompted", "stepped", "decided")
    assert verify(store).checked.absent == 0
    repo.git("update-ref", "-d", PRIVATE + TASK)
    report = verify(store)
    assert report.ok
    assert report.checked.absent == 4


def test_lost_contents_are_a_fault(repo: Repo, store: Store) -> None:
    append(store, "stepped", "decided")
    repo.git("update-ref", "-d", CONTENT + TASK)
    fault = only(verify(store))
    assert (fault.object, fault.reason, fault.task) == (CONTENT + TASK, "is missing", TASK)
    assert fault.lost.startswith("up to 3 contents: text of event ")
    assert ", before of src/main.py of event " in fault.lost


def test_a_content_in_no_chain_is_a_fault(repo: Repo, store: Store) -> None:
    naming(repo, text_of(SALTED), text_of(SALTED + b"!", "private"))
    contents(repo, {})
    fault = only(verify(store))
    assert (fault.object, fault.reason, fault.ref) == (content.blob_id(SALTED), "is in no chain", CONTENT + TASK)
    assert "text of event" in fault.lost


def test_a_content_in_the_chain_of_another_task_is_there(repo: Repo, store: Store) -> None:
    naming(repo, text_of(SALTED))
    oid = contents(repo, {content.blob_id(SALTED): SALTED})
    repo.git("update-ref", CONTENT + OTHER, oid)
    contents(repo, {})
    assert verify(store).ok
    assert verify(store, [TASK]).ok


def test_what_was_omitted_or_erased_is_not_looked_for(repo: Repo, store: Store) -> None:
    naming(repo, text_of(SALTED, omitted="too-large"))
    contents(repo, {})
    assert verify(store).ok
    naming(repo, text_of(SALTED))
    assert not verify(store).ok
    erased = {"blobs": (content.blob_id(SALTED),), "reason": "secret"}
    sealed = codec.encode(Redacted(**common(OTHER) | erased))
    point(repo, write(repo, "commit", carrier(sealed, [])), OTHER)
    assert verify(store).ok
    assert verify(store, [TASK]).ok


def test_a_version_that_was_omitted_once_and_stored_later_is_looked_for(repo: Repo, store: Store) -> None:
    naming(repo, text_of(SALTED, omitted="too-large"), text_of(SALTED))
    contents(repo, {})
    assert only(verify(store)).reason == "is in no chain"


def test_a_path_in_base64_is_shown_so(repo: Repo, store: Store) -> None:
    store.transact(lambda batch: add_version(batch, OddPath(b64="/w=="), b"x\n"))
    assert verify(store).ok
    repo.git("update-ref", "-d", CONTENT + TASK)
    assert "after of /w==" in only(verify(store)).lost


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
    loose = loose_file(repo, tip(store))
    data = loose.read_bytes()
    repo.git("repack", "-q", "-a", "-d")
    (pack,) = packs(store.layout.objects)
    pack.chmod(0o644)
    whole = pack.read_bytes()
    pack.write_bytes(whole[:12] + bytes(len(whole) - 32) + whole[-20:])
    loose.parent.mkdir(exist_ok=True)
    loose.write_bytes(data)
    report = verify(store)
    assert pack.name in objects_of(report)
    assert tip(store) not in objects_of(report)
    assert report.checked.events == 1


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


def add_version(batch: Batch, path: str | OddPath, data: bytes) -> None:
    side = batch.add_file(TASK, path, "100644", data)
    batch.append(Stepped(**common(), tool="t", class_="edit", changes=(Change(path=path, after=side),)))


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


def test_one_task_does_not_answer_for_another(repo: Repo, store: Store) -> None:
    append(store, "moved")
    append(store, "moved", task=OTHER)
    loose_file(repo, tip(store, OTHER)).write_bytes(b"")
    report = verify(store, [TASK])
    assert report.ok
    assert (report.checked.events, report.checked.refs) == (1, 2)
    assert not verify(store, [TASK, OTHER]).ok
    with pytest.raises(NotFound):
        verify(store, [TaskId("0198a1b2-c3d4-7e5f-8a9b-000000000000")])


def test_the_index_is_not_asked(repo: Repo, store: Store) -> None:
    append(store, "moved", "noted")
    store.refresh()
    store.index.close()
    store.index.path.write_bytes(b"no database")
    assert verify(store).ok
    loose_file(repo, tip(store)).write_bytes(b"")
    assert not verify(store).ok
    assert store.index.path.read_bytes() == b"no database"


def test_a_damaged_empty_tree_is_named_and_a_missing_one_is_not(repo: Repo, store: Store) -> None:
    append(store, "moved")
    path = loose_file(repo, Oid("4b825dc642cb6eb9a060e54bf8d69288fbee4904"))
    with holding(path, b""):
        assert only(verify(store)).object == "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
    path.unlink()
    assert verify(store).ok


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


def test_a_fault_is_believed_only_if_the_refs_stand_still(
    repo: Repo, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(store, "noted")
    old = read_refs(store.layout.common_dir)
    append(store, "moved")
    now = read_refs(store.layout.common_dir)
    old.tips[TASKS][TASK] = Oid("1" * 40)
    answers = [old, now]
    monkeypatch.setattr(verify_module, "read_refs", lambda _: answers.pop(0) if len(answers) > 1 else now)
    report = verify(store)
    assert report.ok
    assert report.checked.events == 2


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


def test_the_command_names_faults_and_answers_3(repo: Repo, pog: Pog) -> None:
    pog("init")
    task = pog("new", "a task", "--json").json["task"]
    pog("note", "something", "--task", task)
    said = pog("verify", "--json").json
    assert said == {
        "ok": True,
        "checked": {"events": 2, "contents": 2, "refs": 2, "packs": 0, "absent": 0},
        "faults": [],
    }
    assert pog("verify", task[:8]).stdout == "checked 2 events, 2 contents, 2 refs, 0 packs: no fault\n"
    oid = Oid(repo.git("rev-parse", TASKS + task))
    path = loose_file(repo, oid)
    path.write_bytes(flipped(path.read_bytes(), 50))
    answer = pog("verify", "--json", task, status=3).json
    assert answer["ok"] is False
    (fault,) = answer["faults"]
    assert (fault["object"], fault["task"], fault["ref"]) == (oid, task, TASKS + task)
    assert set(fault) == {"object", "task", "ref", "reason", "lost"}
    lines = pog("verify", status=3).stdout.splitlines()
    assert lines[0].startswith(f"{oid} ({TASKS}{task}): ")
    assert f"; lost: the newest event of task {task}" in lines[0]
    assert lines[-1] == "checked 0 events, 2 contents, 2 refs, 0 packs: 1 fault"
    assert pog("verify", "nothing", status=128).stderr.startswith("error: no task matches 'nothing'")
