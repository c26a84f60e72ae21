"""What `history/verify.py` promises: no damage goes unseen, what is lost is named, and nothing makes it wait for ever.

Cases T13, T14, RC-61. Mass damage is done in a process of its own, see `damage.py`.
"""

import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from pogstore import codec
from pogstore.errors import NotFound
from pogstore.history import verify as verify_module
from pogstore.history.verify import verify
from pogstore.history.verify_refs import read_refs
from pogstore.model import KINDS, OddPath, Oid, Redacted, Sealed, TaskId
from pogstore.store import content
from pogstore.store.carrier import carrier, read_carrier
from pogstore.store.refs import CONTENT, PRIVATE, TASKS
from pogstore.store.store import Store
from tests.builders_exchange import append_by_hand, handmade
from tests.conftest import Pog, Repo
from tests.history.stores import (
    OTHER,
    SALTED,
    TASK,
    add_version,
    append,
    common,
    content_chain,
    content_oids,
    enabled,
    flipped,
    holding,
    loose_file,
    naming,
    objects_of,
    only,
    point,
    raw,
    text_of,
    tip,
    write,
)


@pytest.fixture
def store(repo: Repo) -> Store:
    """The store of `repo`, in which events may be written."""
    return enabled(repo)


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


def test_rc61_what_an_event_may_leave_out_is_not_missed(store: Store) -> None:
    """Of each kind that names no text, one with nothing but what it must have: no offset, no work tree, no coverage."""
    least: dict[str, dict[str, object]] = {
        "checked": {"item": 0, "done": True}, "claimed": {}, "committed": {"commit": f"sha1_{'1' * 40}"},
        "moved": {"status": "blocked"}, "noted": {}, "observed": {}, "refused": {"rule": "deny"}, "released": {},
        "replayed": {}, "restored": {}, "reviewed": {"verdict": "approved"}, "rolled_back": {},
        "stepped": {"tool": "Edit", "class": "edit"},
    }  # fmt: skip
    above: list[Sealed] = []
    for kind, fields in least.items():
        above = [handmade(TASK, above, kind=kind, **fields)]
        append_by_hand(store, above[0])
    report = verify(store)
    assert report.ok, report.faults
    assert report.checked.events == len(least)


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
    content_chain(repo, {})
    fault = only(verify(store))
    assert (fault.object, fault.reason, fault.ref) == (content.blob_id(SALTED), "is in no chain", CONTENT + TASK)
    assert "text of event" in fault.lost


def test_a_content_in_the_chain_of_another_task_is_there(repo: Repo, store: Store) -> None:
    naming(repo, text_of(SALTED))
    oid = content_chain(repo, {content.blob_id(SALTED): SALTED})
    repo.git("update-ref", CONTENT + OTHER, oid)
    content_chain(repo, {})
    assert verify(store).ok
    assert verify(store, [TASK]).ok


def test_what_was_omitted_or_erased_is_not_looked_for(repo: Repo, store: Store) -> None:
    naming(repo, text_of(SALTED, omitted="too-large"))
    content_chain(repo, {})
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
    content_chain(repo, {})
    assert only(verify(store)).reason == "is in no chain"


def test_a_path_in_base64_is_shown_so(repo: Repo, store: Store) -> None:
    store.transact(lambda batch: add_version(batch, OddPath(b64="/w=="), b"x\n"))
    assert verify(store).ok
    repo.git("update-ref", "-d", CONTENT + TASK)
    assert "after of /w==" in only(verify(store)).lost


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
