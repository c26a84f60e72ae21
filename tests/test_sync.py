"""Exchange between real clones through a real bare repository."""

import json
import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pogstore import codec, sync
from pogstore.errors import NotEnabled, RefusedByPolicy, RemoteFailed
from pogstore.history.pointnames import name_point, named_points
from pogstore.history.timeline import PointId
from pogstore.model import BlobId, Joined, Reviewed, TaskId
from pogstore.store import chain, content, transport
from pogstore.store.refs import content_ref, task_ref, tracking_ref
from pogstore.store.store import open_store
from pogstore.work import locality, tasks
from tests.builders_exchange import (
    Bare,
    Clock,
    Clone,
    append_by_hand,
    bare,
    clone,
    handmade,
    head_of,
    make_bare,
    make_clone,
    outcomes,
    pair,
    write_commit,
    write_event,
)
from tests.conftest import Repo, run

__all__ = ["bare", "clone", "pair"]  # fixtures, used by their names

KEY = "AK" + "IA" + "QX3ZT7RWM5NJ2KDL"
"""The shape of a key, in two parts so that no scanner takes this file for a leak."""


def hook(bare: Bare, name: str, script: str) -> None:
    path = bare.repo.path / "hooks" / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


# One task, several clones


def test_rc59_what_names_an_event_names_the_same_one_after_clones_diverged_and_joined(
    pair: tuple[Clone, Clone, TaskId],
) -> None:
    ada, bob, task = pair
    ada.step(task, {"f": "1\n"})
    step = ada.store.events(task)[-1]
    name_point(ada.store, step.event_id, "safe", ada.by())
    tasks.review(ada.store, task, "approved", ada.by(), of=(step.event_id,))
    bob.step(task, {"g": "2\n"})
    bob.push()
    for each in (ada, bob):
        each.pull()
        each.push()
    assert any(isinstance(sealed.event, Joined) for sealed in ada.store.events(task))
    for each in (ada, bob):
        assert named_points(each.store)["safe"] == PointId(task, step.event_id)
        events = [sealed.event for sealed in each.store.events(task)]
        assert [event.of for event in events if isinstance(event, Reviewed)] == [(step.event_id,)]
        assert each.store.event(step.event_id) == step


def test_what_one_clone_pushes_the_other_pulls(pair: tuple[Clone, Clone, TaskId], bare: Bare) -> None:
    ada, bob, task = pair
    assert bob.refs() == ada.refs() == bare.refs()
    assert [sealed.event_id for sealed in bob.store.events(task)] == [s.event_id for s in ada.store.events(task)]
    definition = bob.store.events(task)[0].event
    assert "Fix the parser" in bob.store.read_text(definition.definition)  # type: ignore[union-attr]
    assert bob.repo.git("fsck", "--strict") == ""


@pytest.mark.parametrize("first", ["ada", "bob"])
def test_either_order_ends_with_equal_refs(pair: tuple[Clone, Clone, TaskId], bare: Bare, first: str) -> None:
    """Cases PC-30, SC-26: both appended, both pushed, nothing is lost and nothing was forced."""
    ada, bob, task = pair
    expected = ada.event_ids(task) | {ada.note(task, "from ada").event_id, bob.note(task, "from bob").event_id}
    faster, slower = (ada, bob) if first == "ada" else (bob, ada)
    assert outcomes(faster.push().refs) == {"tasks": "forwarded", "content": "forwarded"}
    report = slower.push()
    assert outcomes(report.refs) == {"tasks": "forwarded", "content": "forwarded"}
    assert outcomes(report.joined) == {"tasks": "joined", "content": "joined"}
    faster.pull()
    assert ada.refs() == bob.refs() == bare.refs()
    assert ada.event_ids(task) == bob.event_ids(task) >= expected
    assert ada.store.events(task)[-1].event.parents
    notes = [ada.store.read_text(sealed.event.text) for sealed in ada.store.events(task)[1:3]]  # type: ignore[union-attr]
    assert sorted(notes) == ["from ada", "from bob"]


def test_the_order_of_exchange_does_not_show_in_the_task(tmp_path: Path) -> None:
    """The task's ref is a function of the events: both orders of pushing end at the very same oid."""
    tips = set()
    for first in ("ada", "bob"):
        place = tmp_path / first
        place.mkdir()
        bare = make_bare(place / "origin.git")
        clock = Clock()
        ada, bob = (make_clone(place / name, bare.repo.path, clock) for name in ("ada", "bob"))
        task = TaskId("01946f5a-0000-7000-8000-000000000001")
        append_by_hand(ada.store, handmade(task))
        ada.push()
        bob.pull()
        for one, name in ((ada, "ada"), (bob, "bob")):
            append_by_hand(one.store, handmade(task, [head_of(one.store, task)], topic=name))
        for one in (ada, bob) if first == "ada" else (bob, ada):
            one.push()
        tips.add(bare.refs()[task_ref(task)])
        for one in (ada, bob):
            one.store.close()
        bare.store.close()
    assert len(tips) == 1


def test_two_clones_make_the_same_joined(pair: tuple[Clone, Clone, TaskId], tmp_path: Path) -> None:
    """Each joins the other's without a word between them: the event and its carrier are the same."""
    ada, bob, task = pair
    ada.note(task)
    bob.note(task)
    for one, other in ((ada, bob), (bob, ada)):
        one.repo.git("remote", "add", "other", str(other.repo.path))
    remotes = [transport.find_remote(one.store.git.settings(), "other") for one in (ada, bob)]
    for one, remote in zip((ada, bob), remotes, strict=True):
        sync.fetch(one.store, remote)
    for one, remote in zip((ada, bob), remotes, strict=True):
        assert outcomes(sync.join(one.store, remote).refs)["tasks"] == "joined"
    ref = task_ref(task)
    assert ada.store.refs.read(ref) == bob.store.refs.read(ref)
    assert head_of(ada.store, task).event.parents == tuple(sorted(head_of(ada.store, task).event.parents))
    assert codec.fields_of(head_of(ada.store, task))["kind"] == "joined"


def test_three_clones_settle(clone: Callable[[str], Clone], bare: Bare) -> None:
    clones = [clone(name) for name in ("ada", "bob", "cyd")]
    task = clones[0].new()
    clones[0].push()
    for one in clones[1:]:
        one.pull()
    written = {one.note(task).event_id for one in clones}
    for one in clones:
        assert not one.push().failed
    for one in clones:
        one.pull()
    assert clones[0].refs() == clones[1].refs() == clones[2].refs() == bare.refs()
    assert written <= clones[0].event_ids(task)


def test_tasks_without_a_common_event_are_joined(clone: Callable[[str], Clone], bare: Bare) -> None:
    """Case SC-29: two clones began the same task apart, an import for one; there is no common ancestor."""
    task = TaskId("01946f5a-0000-7000-8000-000000000001")
    ada, bob = clone("ada"), clone("bob")
    for one, topic in ((ada, "a"), (bob, "b")):
        append_by_hand(one.store, handmade(task, topic=topic))
        assert not one.push().failed
    ada.pull()
    assert ada.refs() == bob.refs() == bare.refs()
    assert len(ada.event_ids(task)) == 3


def test_contents_of_both_sides_survive_in_one_chain(pair: tuple[Clone, Clone, TaskId], bare: Bare) -> None:
    ada, bob, task = pair
    ada.step(task, {"a.py": "ada = 1\n", "both.py": "same\n"})
    bob.step(task, {"b.py": "bob = 2\n", "both.py": "same\n"})
    ada.push()
    bob.push()
    ada.pull()
    for data in (b"ada = 1\n", b"bob = 2\n", b"same\n"):
        assert ada.store.read_content(content.blob_id(data)) == bob.store.read_content(content.blob_id(data)) == data
    names = [entry.name for _, entry in chain.contents(ada.store.objects, ada.refs()[content_ref(task, "content")])]
    assert len(names) == len(set(names)) == 4
    commits = bare.repo.git("rev-list", "--parents", content_ref(task, "content")).splitlines()
    assert max(len(line.split()) for line in commits) == 2, "a chain of contents has no merges"


LOCAL_STATES = ("absent", "equal", "ahead", "behind", "diverged")


@pytest.mark.parametrize("state", LOCAL_STATES)
@pytest.mark.parametrize("verb", ["fetch", "pull", "push"])
def test_no_local_state_loses_anything(pair: tuple[Clone, Clone, TaskId], bare: Bare, state: str, verb: str) -> None:
    """Case PC-36: five states of the local ref, three verbs."""
    ada, bob, task = pair
    if state == "absent":
        task = ada.new("Another")
    if state in ("absent", "behind", "diverged"):
        ada.note(task)
        ada.push()
    if state in ("ahead", "diverged"):
        bob.note(task)
    known = bob.event_ids(task) if state != "absent" else set()
    theirs = bare.store.refs.read(task_ref(task))
    assert not getattr(bob, verb)().failed
    after = bob.event_ids(task) if task in bob.store.tasks() else set()
    assert known <= after
    if verb == "fetch":
        assert after == known
        assert bob.store.refs.read(tracking_ref("origin", task_ref(task))) == theirs
    if verb == "pull":
        assert after == known | ada.event_ids(task) | ({head_of(bob.store, task).event_id})
    if verb == "push":
        assert state == "diverged" or after == known, "what is only new there is left to a pull"
        tip = bob.refs().get(task_ref(task), theirs)
        expected = theirs if state in ("absent", "behind") else tip
        assert bare.store.refs.read(task_ref(task)) == expected


@given(moves=st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["note", "push", "pull"])), min_size=4, max_size=9))
@settings(max_examples=6)
def test_any_exchange_converges(tmp_path_factory: pytest.TempPathFactory, moves: list[tuple[int, str]]) -> None:
    """Whatever was exchanged: once each has pushed and pulled, all hold the same, and all that was written."""
    place, clock = tmp_path_factory.mktemp("exchange"), Clock()
    bare = make_bare(place / "origin.git")
    clones = [make_clone(place / name, bare.repo.path, clock) for name in ("ada", "bob", "cyd")]
    task = clones[0].new()
    clones[0].push()
    for one in clones:
        one.pull()
    written = set()
    for who, what in moves:
        if what == "note":
            written.add(clones[who].note(task).event_id)
        else:
            assert not getattr(clones[who], what)().failed
    for one in clones:
        one.push()
    for one in clones:
        one.pull()
    assert clones[0].refs() == clones[1].refs() == clones[2].refs() == bare.refs()
    assert written <= clones[1].event_ids(task)
    before = clones[1].refs(), bare.refs()
    assert not clones[1].fetch().refs
    assert not clones[1].pull().joined.refs
    assert (clones[1].refs(), bare.refs()) == before
    for store in (bare.store, *(one.store for one in clones)):
        store.close()


def test_fetching_twice_is_fetching_once(pair: tuple[Clone, Clone, TaskId]) -> None:
    ada, bob, task = pair
    ada.note(task)
    ada.push()
    assert outcomes(bob.fetch().refs) == {"tasks": "updated", "content": "updated"}
    refs = bob.repo.git("for-each-ref")
    assert bob.fetch().refs == ()
    assert bob.repo.git("for-each-ref") == refs


def test_twenty_tasks_go_in_one_exchange(clone: Callable[[str], Clone], bare: Bare) -> None:
    ada, bob = clone("ada"), clone("bob")
    tasks = [ada.new(f"Task {number}") for number in range(20)]
    assert {ref.outcome for ref in ada.push().refs} == {"created"}
    assert {ref.outcome for ref in bob.pull().joined.refs} == {"created"}
    assert bob.store.tasks() == sorted(tasks)
    assert bob.refs() == ada.refs() == bare.refs()


def test_only_what_is_named_is_exchanged(clone: Callable[[str], Clone], bare: Bare) -> None:
    ada, bob = clone("ada"), clone("bob")
    one, other, third = ada.new("One"), ada.new("Other"), ada.new("Third")
    ada.push(one, other)
    assert {ref.rpartition("/")[2] for ref in bare.refs()} == {one, other}
    assert {ref.task for ref in bob.fetch(other).refs} == {other}
    bob.pull(one)
    assert bob.store.tasks() == [one]
    assert third not in sync.remote_tasks(bob.store, bob.origin)


# What goes to the remote, and what stays at home


def test_nothing_new_pushes_nothing(pair: tuple[Clone, Clone, TaskId], bare: Bare) -> None:
    ada, _, _ = pair
    hook(bare, "pre-receive", "exit 1")
    report = ada.push()
    assert (report.refs, report.failed) == ((), False)


def test_only_refs_that_differ_are_named(pair: tuple[Clone, Clone, TaskId], bare: Bare) -> None:
    ada, _, task = pair
    other = ada.new("Other")
    hook(bare, "pre-receive", 'cut -d" " -f3 > named')
    ada.push()
    named = (bare.repo.path / "named").read_text().split()
    assert sorted(named) == [content_ref(other, "content"), task_ref(other)]
    assert task not in str(named)


def test_private_contents_stay_at_home(clone: Callable[[str], Clone], bare: Bare) -> None:
    """Cases T18 and PC-125: words said in prompt, reply, output and a session's title are nowhere at the remote."""
    ada = clone("ada")
    task = ada.new("marker-title", class_="private")
    ada.prompt(task, "marker-prompt")
    ada.step(task, {"shared.py": "shared-file\n"}, input="marker-input", output="marker-output")
    ada.note(task, "shared-note")
    assert not ada.push().failed
    there = bare.everything()
    assert b"shared-file" in there
    assert b"shared-note" in there
    assert b"marker-" not in there
    assert sorted(bare.refs()) == [content_ref(task, "content"), task_ref(task)]
    bob = clone("bob")
    bob.pull()
    assert bob.event_ids(task) == ada.event_ids(task), "the events travel although their texts do not"


@pytest.mark.parametrize("how", ["option", "setting"])
def test_private_contents_go_where_somebody_chose_so(clone: Callable[[str], Clone], bare: Bare, how: str) -> None:
    ada, bob = clone("ada"), clone("bob")
    task = ada.new("marker-title", class_="private")
    if how == "setting":
        for one in (ada, bob):
            one.repo.git("config", "remote.origin.pogPrivate", "true")
    ada.push(private=how == "option")
    assert b"marker-title" in bare.everything()
    bob.pull(private=how == "option")
    definition = bob.store.events(task)[0].event
    assert "marker-title" in bob.store.read_text(definition.definition)  # type: ignore[union-attr]


def test_private_chains_that_diverged_are_joined_too(clone: Callable[[str], Clone]) -> None:
    ada, bob = clone("ada"), clone("bob")
    task = ada.new(class_="private")
    ada.push(private=True)
    bob.pull(private=True)
    ada.prompt(task, "from ada")
    bob.prompt(task, "from bob")
    ada.push(private=True)
    assert outcomes(bob.push(private=True).joined) == {"tasks": "joined", "private": "joined"}
    ada.pull(private=True)
    assert ada.refs() == bob.refs()
    ref = content_ref(task, "private")
    assert len({entry.name for _, entry in chain.contents(ada.store.objects, ada.refs()[ref])}) == 3


def test_a_local_task_never_leaves(clone: Callable[[str], Clone], bare: Bare) -> None:
    ada = clone("ada")
    task, other = ada.new("marker-local"), ada.new("Other")
    assert locality.mark_local(ada.store, task)
    report = ada.push()
    assert report.local == 1
    assert {ref.rpartition("/")[2] for ref in bare.refs()} == {other}
    assert b"marker-local" not in bare.everything()
    with pytest.raises(RefusedByPolicy, match=task):
        ada.push(task)
    locality.unmark_local(ada.store, task)
    assert ada.push().local == 0
    assert b"marker-local" in bare.everything()


def test_a_file_with_a_secret_is_held_back(clone: Callable[[str], Clone], bare: Bare) -> None:
    """Case T18: the task is named with place and kind; the secret itself is said nowhere, and others go on."""
    ada = clone("ada")
    task, other = ada.new("Leaky"), ada.new("Other")
    ada.step(task, {"conf/dev.py": f"debug = 1\naws = '{KEY}'\n"})
    report = ada.push()
    assert report.failed
    assert [(str(p.where), p.line, p.kind) for p in report.refused[task]] == [("conf/dev.py", 2, "aws-key-id")]
    assert KEY not in repr(report)
    assert {ref.rpartition("/")[2] for ref in bare.refs()} == {other}
    assert KEY.encode() not in bare.everything()


@pytest.mark.parametrize("how", ["argument", "setting"])
def test_a_content_that_only_looks_like_a_secret_can_pass(clone: Callable[[str], Clone], bare: Bare, how: str) -> None:
    ada = clone("ada")
    task = ada.new("Leaky")
    ada.step(task, {"conf/dev.py": f"aws = '{KEY}'\n"})
    blob = ada.push().refused[task][0].blob
    if how == "setting":
        ada.repo.git("config", "--add", "pog.allowSecret", blob)
    allowed: list[BlobId] = [blob] if how == "argument" else []
    assert not sync.push(ada.store, ada.origin, allowed=allowed).failed
    assert task_ref(task) in bare.refs()


def test_what_the_remote_has_is_not_scanned_again(pair: tuple[Clone, Clone, TaskId], bare: Bare) -> None:
    ada, _, task = pair
    ada.step(task, {"conf/dev.py": f"aws = '{KEY}'\n"})
    blob = ada.push().refused[task][0].blob
    sync.push(ada.store, ada.origin, allowed=[blob])
    ada.note(task)
    assert not ada.push().failed


def test_a_damaged_content_is_reported_and_not_pushed(pair: tuple[Clone, Clone, TaskId], bare: Bare) -> None:
    ada, _, task = pair
    ada.step(task, {"a.py": "ada = 1\n"})
    other = ada.new("Other")
    ada.store.refresh()
    oid = ada.repo.git("hash-object", "--stdin", input="ada = 1\n")
    loose = ada.repo.path / ".git/objects" / oid[:2] / oid[2:]
    for pack in (ada.repo.path / ".git/objects/pack").glob("*.pack"):
        packed = pack.read_bytes()
        for file in pack.parent.glob(f"{pack.stem}.*"):
            file.unlink()
        ada.repo.git("unpack-objects", "-q", input=packed)
    loose.chmod(0o644)
    loose.write_bytes(b"not an object")
    report = ada.push()
    assert {ref.task for ref in report.refs if ref.failed} == {task}
    assert task_ref(other) in bare.refs()


def test_a_remote_that_is_not_allowed_is_refused(pair: tuple[Clone, Clone, TaskId], bare: Bare) -> None:
    """Case UC-13: the list counts for where a push really goes, and nothing else takes its place."""
    ada, _, task = pair
    ada.note(task)
    before = bare.refs()
    ada.repo.git("config", "pog.allowRemote", "https://git.example.org/*")
    with pytest.raises(RefusedByPolicy, match="origin"):
        ada.push()
    assert bare.refs() == before
    ada.repo.git("config", "--add", "pog.allowRemote", f"{bare.repo.path.parent}/*")
    assert not ada.push().failed


def test_a_remote_may_be_allowed_by_name(pair: tuple[Clone, Clone, TaskId]) -> None:
    ada, _, _ = pair
    ada.repo.git("config", "pog.allowRemote", "origin")
    assert not ada.push().failed
    ada.repo.git("config", "pog.allowRemote", "upstream")
    with pytest.raises(RefusedByPolicy):
        ada.push()


def test_a_rehearsal_writes_nothing(pair: tuple[Clone, Clone, TaskId], bare: Bare) -> None:
    ada, bob, task = pair
    ada.note(task)
    ada.push()
    bob.note(task)
    other = bob.new("Other")
    before = bob.repo.git("for-each-ref"), bare.repo.git("for-each-ref")
    report = sync.push(bob.store, bob.origin, dry_run=True)
    assert {(ref.task, ref.outcome) for ref in report.refs} == {(task, "joined"), (other, "created")}
    assert (bob.repo.git("for-each-ref"), bare.repo.git("for-each-ref")) == before


# Remotes that say no, lose things or are in the way


def test_one_ref_that_a_remote_rejects_is_reported(clone: Callable[[str], Clone], bare: Bare) -> None:
    """Cases PC-34, SC-30: `update` rejects one ref; the others arrive, and the rejected one stays to be pushed."""
    ada = clone("ada")
    one, other = ada.new("One"), ada.new("Other")
    hook(bare, "update", f'case "$1" in {task_ref(one)}) exit 1;; esac')
    report = ada.push()
    assert report.failed
    bad = [ref for ref in report.refs if ref.failed]
    assert [(ref.ref, ref.outcome, ref.reason) for ref in bad] == [(task_ref(one), "rejected", "hook declined")]
    assert task_ref(other) in bare.refs()
    hook(bare, "update", "exit 0")
    assert [ref.ref for ref in ada.push().refs] == [task_ref(one)]


def test_a_remote_that_rejects_all_for_one_gets_the_others(clone: Callable[[str], Clone], bare: Bare) -> None:
    """Case PC-34: `pre-receive` can only say no to everything, so tasks are tried in halves."""
    ada = clone("ada")
    tasks = [ada.new(f"Task {number}") for number in range(5)]
    hook(bare, "pre-receive", f"grep -q {tasks[2]} && exit 1; exit 0")
    report = ada.push()
    assert {ref.task for ref in report.refs if ref.failed} == {tasks[2]}
    assert {ref.reason for ref in report.refs if ref.failed} == {"pre-receive hook declined"}
    assert {ref.rpartition("/")[2] for ref in bare.refs()} == set(tasks) - {tasks[2]}


def test_a_wiped_remote_takes_nothing_and_is_healed(pair: tuple[Clone, Clone, TaskId], bare: Bare) -> None:
    """Case SC-31: what is gone elsewhere is not gone here."""
    ada, bob, _ = pair
    before = bob.refs()
    for ref in bare.refs():
        bare.put(ref, None)
    report = bob.pull()
    assert outcomes(report.fetched.refs) == {"tasks": "wiped", "content": "wiped"}
    assert not report.failed
    assert bob.refs() == before
    assert outcomes(bob.push().refs) == {"tasks": "created", "content": "created"}
    assert bare.refs() == before
    assert bob.fetch().refs == ()
    assert ada.fetch().refs == ()


def test_a_truncated_remote_takes_nothing_and_is_healed(pair: tuple[Clone, Clone, TaskId], bare: Bare) -> None:
    """Case T17: the remote goes back to an older tip of the same task."""
    ada, bob, task = pair
    older = bare.refs()
    ada.note(task)
    ada.push()
    bob.pull()
    before = bob.refs()
    for ref, oid in older.items():
        bare.put(ref, oid)
    report = bob.pull()
    assert report.failed
    assert outcomes(report.fetched.refs) == {"tasks": "truncated", "content": "truncated"}
    assert bob.refs() == before
    assert bob.store.refs.read(tracking_ref("origin", task_ref(task))) == before[task_ref(task)], "last seen is kept"
    assert not bob.push().failed
    assert bare.refs() == before


def test_a_forked_remote_is_joined_and_healed(pair: tuple[Clone, Clone, TaskId], bare: Bare) -> None:
    """Case T17: the remote lacks what was there, and has something new instead. Both are kept."""
    ada, bob, task = pair
    older = bare.refs()
    lost = ada.note(task, "pushed, then lost")
    ada.push()
    bob.pull()
    for ref, oid in older.items():
        bare.put(ref, oid)
    fork = handmade(task, [head_of(bare.store, task)], topic="fork")
    append_by_hand(bare.store, fork)
    report = bob.pull()
    assert outcomes(report.fetched.refs)["tasks"] == "truncated"
    assert outcomes(report.joined.refs)["tasks"] == "joined"
    assert {lost.event_id, fork.event_id} <= bob.event_ids(task)
    assert not bob.push().failed
    assert bare.refs() == bob.refs()


def test_a_remote_without_anything_is_no_fault(clone: Callable[[str], Clone]) -> None:
    ada = clone("ada")
    assert ada.pull().fetched.refs == ()
    assert ada.push().refs == ()


def test_a_remote_that_is_not_there_is_an_error(clone: Callable[[str], Clone]) -> None:
    ada = clone("ada")
    ada.new()
    ada.repo.git("remote", "set-url", "origin", "https://ada:hunter2@localhost:1/x.git")
    for verb in (ada.push, ada.fetch, ada.pull):
        with pytest.raises(RemoteFailed) as caught:
            verb()
        assert "hunter2" not in str(caught.value)


def test_pull_needs_consent_and_fetch_does_not(pair: tuple[Clone, Clone, TaskId], tmp_path: Path, bare: Bare) -> None:
    _, _, task = pair
    stranger = make_clone(tmp_path / "stranger", bare.repo.path, Clock(), enabled=False)
    with pytest.raises(NotEnabled):
        stranger.pull()
    assert {ref.task for ref in stranger.fetch().refs} == {task}
    assert stranger.refs() == {}
    stranger.store.close()


# The user's repository


def state_of(repo: Repo) -> dict[str, object]:
    """Everything of a repository that is not ours."""
    git_dir = repo.path / ".git"
    files = ("HEAD", "FETCH_HEAD", "ORIG_HEAD", "config", "index", "packed-refs", "shallow", "logs")
    found: dict[str, object] = {name: read(git_dir / name) for name in files}
    theirs = ("refs/heads", "refs/remotes", "refs/tags", "refs/notes", "refs/stash")
    found["refs"] = repo.git("for-each-ref", *theirs)
    found["work tree"] = sorted(path.name for path in repo.path.iterdir())
    return found


def read(path: Path) -> object:
    if path.is_dir():
        return {below.relative_to(path).as_posix(): read(below) for below in path.rglob("*") if below.is_file()}
    return path.read_bytes() if path.exists() else None


def test_the_users_own_things_are_left_alone(pair: tuple[Clone, Clone, TaskId], bare: Bare) -> None:
    """Case SC-27 and configurations that make git do more than it was asked: none of it happens."""
    ada, bob, task = pair
    for one in (ada, bob):
        one.repo.commit({"README": "x\n"})
        one.repo.git("tag", "-a", "-m", "t", f"v-{one.repo.path.name}")
        for name, value in (
            ("remote.origin.fetch", "+refs/pog/*:refs/pog/*"),
            ("remote.origin.push", "refs/heads/*"),
            ("remote.origin.tagOpt", "--tags"),
            ("remote.origin.mirror", "true"),
            ("fetch.prune", "true"),
            ("fetch.pruneTags", "true"),
            ("fetch.writeCommitGraph", "true"),
            ("push.followTags", "true"),
            ("push.default", "matching"),
            ("gc.auto", "1"),
        ):
            one.repo.git("config", name, value)
    marker = ada.repo.path.parent / "hook-ran"
    for name in ("pre-push", "reference-transaction", "post-checkout", "pre-auto-gc"):
        path = ada.repo.path / ".git/hooks" / name
        path.write_text(f"#!/bin/sh\necho {name} >> {marker}\n")
        path.chmod(0o755)
    bob.note(task)
    bob.push()
    bob.repo.git("-c", "remote.origin.mirror=false", "push", "--quiet", "origin", "refs/tags/v-bob")
    ada.note(task)
    ada.repo.git("tag", "-a", "-m", "on an event", "v-event", task_ref(task))
    marker.unlink()  # the tag was the user's own doing
    before, ours = state_of(ada.repo), ada.refs()
    ada.fetch()
    assert ada.refs() == ours
    ada.pull()
    assert not ada.push().failed
    assert state_of(ada.repo) == before
    assert not marker.exists()
    assert not (ada.repo.path / ".git/objects/info/commit-graphs").exists()
    theirs = bare.repo.git("for-each-ref", "--format=%(refname)").split()
    assert [ref for ref in theirs if "pog" not in ref] == ["refs/tags/v-bob"]
    assert bare.refs() == ada.refs()


def test_a_linked_work_tree_exchanges_for_all(pair: tuple[Clone, Clone, TaskId], bare: Bare) -> None:
    """Case PC-37: two work trees, two remotes; each remote gets everything."""
    ada, _, task = pair
    ada.repo.commit()
    ada.repo.git("worktree", "add", "--quiet", "../linked")
    second = make_bare(bare.repo.path.parent / "second.git")
    ada.repo.git("remote", "add", "second", str(second.repo.path))
    ada.note(task)
    linked = open_store(ada.repo.path.parent / "linked")
    for name in ("second", "origin"):
        assert not sync.push(linked, transport.find_remote(linked.git.settings(), name)).failed
    assert second.refs() == bare.refs() == ada.refs()
    for store in (linked, second.store):
        store.close()


def test_a_task_is_found_after_a_plain_clone(pair: tuple[Clone, Clone, TaskId], bare: Bare, tmp_path: Path) -> None:
    """Case PC-33: git does not fetch our refs by itself."""
    ada, _, task = pair
    ada.repo.commit()
    ada.repo.git("push", "--quiet", "origin", "HEAD:refs/heads/main")
    run(["git", "clone", "--quiet", str(bare.repo.path), "second"], tmp_path)
    store = open_store(tmp_path / "second")
    remote = transport.find_remote(store.git.settings(), "origin")
    assert store.tasks() == []
    assert sync.remote_tasks(store, remote) == [task]
    store.close()


def test_a_push_goes_where_the_remote_pushes(pair: tuple[Clone, Clone, TaskId], bare: Bare) -> None:
    ada, _, task = pair
    fork = make_bare(bare.repo.path.parent / "fork.git")
    ada.repo.git("config", "remote.origin.pushurl", str(fork.repo.path))
    before = bare.refs()
    ada.note(task)
    remote = transport.find_remote(ada.store.git.settings(), "origin", push=True)
    assert not sync.push(ada.store, remote).failed
    assert fork.refs() == ada.refs()
    assert bare.refs() == before
    fork.store.close()


# Several at once


def together(*commands: tuple[Path, list[str]]) -> list[int]:
    """Runs commands at the same time; returns their exit statuses."""
    running = [
        subprocess.Popen(
            ["git", "pog", *arguments], cwd=path, env=os.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        for path, arguments in commands
    ]
    return [process.wait(timeout=120) for process in running]


def test_six_clones_push_different_tasks_at_once(clone: Callable[[str], Clone], bare: Bare) -> None:
    """Case PC-31: no conflict between tasks, since their refs differ."""
    clones = [clone(f"clone{number}") for number in range(6)]
    tasks = [one.new(f"Task of {number}") for number, one in enumerate(clones)]
    assert together(*[(one.repo.path, ["push"]) for one in clones]) == [0] * 6
    assert {ref.rpartition("/")[2] for ref in bare.refs()} == set(tasks)


def test_four_clones_push_the_same_task_at_once(clone: Callable[[str], Clone], bare: Bare) -> None:
    """Case PC-31: each loses races, joins and tries again; nothing is lost."""
    clones = [clone(f"clone{number}") for number in range(4)]
    task = clones[0].new()
    clones[0].push()
    for one in clones[1:]:
        one.pull()
    written = {one.note(task).event_id for one in clones}
    assert together(*[(one.repo.path, ["push"]) for one in clones]) == [0] * 4
    clones[0].pull()
    assert written <= clones[0].event_ids(task)
    assert clones[0].refs() == bare.refs()


def test_a_lost_race_is_run_again(pair: tuple[Clone, Clone, TaskId], bare: Bare) -> None:
    """The other clone pushes between our look and our push, by way of a hook that runs once."""
    ada, bob, task = pair
    theirs = bob.note(task)
    bob.repo.git("push", "--quiet", "origin", f"{task_ref(task)}:refs/heads/waiting")
    ada.note(task)
    waiting = bare.repo.git("rev-parse", "refs/heads/waiting")
    # a hook may not move refs in its quarantine, so it leaves that
    hook(
        bare,
        "pre-receive",
        f"rm hooks/pre-receive; env -u GIT_QUARANTINE_PATH git update-ref {task_ref(task)} {waiting}",
    )
    report = ada.push()
    assert not report.failed
    assert theirs.event_id in ada.event_ids(task)
    assert bare.refs()[task_ref(task)] == ada.refs()[task_ref(task)]


def test_others_may_be_faster_only_so_often(
    pair: tuple[Clone, Clone, TaskId], bare: Bare, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, _, task = pair
    ada.note(task)
    monkeypatch.setattr(sync, "ATTEMPTS", 2)
    (bare.repo.path / f"{task_ref(task)}.lock").touch()
    report = ada.push()
    bad = [ref for ref in report.refs if ref.failed]
    assert [ref.ref for ref in bad] == [task_ref(task)]
    assert "others were faster 2 times" in (bad[0].reason or "")


# Commands


def test_the_commands_say_what_happened(pair: tuple[Clone, Clone, TaskId], bare: Bare) -> None:
    ada, bob, task = pair
    ada.note(task)

    def pog(one: Clone, *arguments: str, status: int = 0) -> str:
        done = run(["git", "pog", *arguments], one.repo.path)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr

    assert "would push to origin" in pog(ada, "push", "--dry-run")
    assert "updated" in pog(ada, "push")
    assert "nothing to push" in pog(ada, "push")
    assert "updated" in pog(bob, "fetch", "origin", task[:8])
    assert "updated" in pog(bob, "pull")
    assert "nothing new" in pog(bob, "pull")
    assert "is local" in pog(ada, "local", task)
    assert "is local" in pog(ada, "push", task, status=4)
    assert task in pog(ada, "local", "--list")
    assert "1 local task" in pog(ada, "push")
    assert "no remote or task" in pog(ada, "push", "nowhere", status=128)
    assert "not the name of a remote" in pog(ada, "fetch", "--", "--upload-pack=touch x", status=128)


def test_what_is_wrong_is_said_apart(pair: tuple[Clone, Clone, TaskId], bare: Bare) -> None:
    ada, bob, task = pair

    def said(one: Clone, *arguments: str, status: int) -> str:
        done = run(["git", "pog", *arguments], one.repo.path)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stderr

    older = bare.refs()[task_ref(task)]
    ada.step(task, {"conf.py": f"aws = '{KEY}'\n" * 30})
    held_back = said(ada, "push", status=4)
    assert "conf.py, line 1: aws-key-id in content" in held_back
    assert "and 10 more" in held_back
    assert "pog.allowSecret" in held_back
    assert KEY not in held_back
    other = ada.new("Other")
    ada.note(other)
    ada.push(other)
    bob.pull()
    bare.put(task_ref(task), None)
    bare.put("refs/pog/tasks/-x", older)
    bare.put(task_ref(other), write_event(bare.store, handmade(other, topic="fork")))
    wrong = said(bob, "pull", status=1)
    assert f"warning: task {task} is gone from the remote" in wrong
    assert f"error: task {other}: the remote lacks what was last seen there" in wrong
    assert "warning: tasks/-x was skipped" in wrong
    bob.push()
    append_by_hand(bare.store, handmade(other, [head_of(bare.store, other)], clock=2**39))
    assert f"warning: task {other} has events whose clock is far ahead" in said(bob, "pull", status=0)
    bare.put(task_ref(other), write_commit(bare.store, b"tree 1\n\nx\n"))
    assert f"error: tasks/{other}: failed" in said(bob, "pull", status=1)


def test_what_was_pushed_before_it_was_local_is_said(pair: tuple[Clone, Clone, TaskId]) -> None:
    ada, _, task = pair
    assert "no local tasks" in run(["git", "pog", "local", "--list"], ada.repo.path).stderr
    done = run(["git", "pog", "local", task], ada.repo.path)
    assert "it was pushed to origin before" in done.stderr
    done = run(["git", "pog", "local", task, "--json"], ada.repo.path)
    assert json.loads(done.stdout) == {"task": task, "local": True, "changed": False, "seen_at": ["origin"]}
    assert json.loads(run(["git", "pog", "local", "--list", "--json"], ada.repo.path).stdout) == [task]
    assert "may be pushed" in run(["git", "pog", "local", "--remove", task], ada.repo.path).stdout


def test_commands_answer_json(pair: tuple[Clone, Clone, TaskId], bare: Bare) -> None:
    ada, bob, task = pair
    ada.step(task, {"conf.py": f"aws = '{KEY}'\n"})
    other = ada.new("Other")

    def pog(one: Clone, *arguments: str, status: int = 0) -> Any:
        done = run(["git", "pog", *arguments, "--json"], one.repo.path)
        assert done.returncode == status, done.stdout + done.stderr
        assert KEY not in done.stdout + done.stderr
        return json.loads(done.stdout)

    pushed = pog(ada, "push", status=4)
    assert pushed["ok"] is False
    assert [held["task"] for held in pushed["refused"]] == [task]
    assert {ref["task"] for ref in pushed["refs"]} == {other}
    pulled = pog(bob, "pull")
    assert pulled["ok"] is True
    assert {ref["outcome"] for ref in pulled["joined"]} == {"created"}
    assert pog(bob, "fetch")["refs"] == []


def test_a_task_that_only_the_remote_has_can_be_named(pair: tuple[Clone, Clone, TaskId]) -> None:
    ada, bob, _ = pair
    other = ada.new("Other")
    ada.push()
    done = run(["git", "pog", "pull", "origin", other[:23]], bob.repo.path)
    assert done.returncode == 0, done.stderr
    assert other in bob.store.tasks()
    assert run(["git", "pog", "pull", "origin", "ffffffff"], bob.repo.path).returncode == 128
