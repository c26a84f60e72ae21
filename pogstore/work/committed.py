"""Tells which new commits carry what the tasks of this repository recorded. Knows no agents.

A commit carries a task's work if it brings, as a blob that its first parent does not have there, a version that the
task wrote. So the commits that a squash or a merge rests on, or that a pull brings, carry nothing of it.
"""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from pogstore.draft import Draft, TaskDrafts
from pogstore.errors import NotFound, ObjectDamaged
from pogstore.model import Actor, BlobId, Observed, Oid, Opaque, Person, Source, TaskId
from pogstore.model import Path as Name
from pogstore.store import gitlog, rows
from pogstore.store.content import blob_id
from pogstore.store.gitlog import CommitBlobs
from pogstore.store.store import MAX_CONTENT, Store
from pogstore.work import intake
from pogstore.work.held import oid_text
from pogstore.work.spooled_record import Record

FORMAT = "git"
"""The format of the sources of these events: every clone tells of a commit under the same key."""
MOST_COMMITS = 500
"""So many new commits are looked at, the newest."""
_COMMITTER = re.compile(rb"^committer (.*) <(.*)> (\d{1,15}) ([+-])(\d\d)(\d\d)$", re.MULTILINE)
_LIMIT = 1 << 24


class _Made(NamedTuple):
    """Who made a commit and when, in µs, minutes east."""

    person: Person | None
    time: int
    offset: int


def tell_committed(store: Store, records: Iterable[Record]) -> int:
    """Writes `committed` into the tasks whose work is in commits that are new since the last time; returns how many.

    New is what branches and the heads in `records` have. The first time it is what came after the first of these
    heads, so that no old history is gone through.
    """
    heads: dict[bytes, list[str]] = {}
    for record in records:
        if record.head is not None and record.head.commit:
            heads.setdefault(record.git_dir, []).append(record.head.commit)
    if not heads:
        return 0
    kept = _kept(store)
    known = _known_at_first(store, [its[0] for its in heads.values()]) if kept is None else kept
    tips = sorted({*_branches(store), *(its[-1] for its in heads.values())})
    if kept is not None and set(tips) <= kept:
        return 0
    commits = gitlog.new_commits(store.git, tips, sorted(known), MOST_COMMITS)
    drafts = list(_drafts(store, commits))
    taken = intake.take(store, drafts, imported=False).events if drafts else 0
    _keep(store, tips)
    return taken


def _kept(store: Store) -> set[str] | None:
    try:
        return set(_file(store).read_text("ascii", "replace").split())
    except FileNotFoundError:
        return None


def _known_at_first(store: Store, heads: list[str]) -> set[str]:
    """Returns the heads at the beginning, and the branches that did not grow out of them since."""
    return {*heads, *_branches(store, *(f"--no-contains={head}" for head in heads if store.objects.exists(Oid(head))))}


def _branches(store: Store, *options: str) -> set[str]:
    done = store.git.run("for-each-ref", "--format=%(objectname)", *options, "refs/heads", check=False)
    return set(done.stdout.decode("ascii", "replace").split())


def _keep(store: Store, tips: Iterable[str]) -> None:
    path = _file(store)
    staged = path.with_name(f"{path.name}.{os.getpid()}")
    staged.write_text("".join(f"{tip}\n" for tip in tips), "ascii")
    staged.replace(path)


def _file(store: Store) -> Path:
    return store.layout.own / "heads"


def _drafts(store: Store, commits: list[CommitBlobs]) -> Iterator[TaskDrafts]:
    """Returns what to write, task by task."""
    store.refresh()
    holding = rows.tasks_holding(store.index.connection, (oid for commit in commits for oid in commit.blobs))
    names = {oid: name for oid in holding if (name := _content_name(store, oid)) is not None}
    for task in sorted({task for tasks in holding.values() for task in tasks}):
        written = _written(store, task)
        carrying = [each for each in commits if any(names.get(oid) in written for oid in each.blobs)]
        found = tuple(draft for commit in carrying if (draft := _draft(store, commit)) is not None)
        if found:
            yield TaskDrafts(task=task, drafts=found)


def _content_name(store: Store, oid: Oid) -> BlobId | None:
    """Returns the name of the content that a git blob is; nothing for an empty one, which tells nothing."""
    try:
        _, data = store.objects.read(oid, MAX_CONTENT)
    except (NotFound, ObjectDamaged):
        return None
    return blob_id(data) if data else None


def _written(store: Store, task: TaskId) -> set[BlobId | None]:
    """Returns the versions that a task wrote, and what others made of the same files while it saw to them."""
    written: set[BlobId | None] = set()
    others: list[tuple[Name, BlobId]] = []
    own: set[Name] = set()
    for sealed in _events(store, task):
        for change in getattr(sealed, "changes", ()):
            blob = change.after.blob if change.after is not None else None
            if blob is None:
                continue
            if isinstance(sealed, Observed):
                others.append((change.path, blob))
            else:
                own.add(change.path)
                written.add(blob)
    return written | {blob for path, blob in others if path in own}


def _events(store: Store, task: TaskId) -> Iterator[object]:
    try:
        found = store.events(task)
    except (NotFound, ObjectDamaged):
        return
    yield from (sealed.event for sealed in found if not isinstance(sealed.event, Opaque))


def _draft(store: Store, commit: CommitBlobs) -> Draft | None:
    try:
        _, data = store.objects.read(commit.commit, _LIMIT)
    except (NotFound, ObjectDamaged):
        return None
    made = _made(data.partition(b"\n\n")[0])
    parents = [oid_text(parent) for parent in commit.parents]
    fields: dict[str, object] = {"commit": oid_text(commit.commit), "tree": oid_text(commit.tree)}
    return Draft(
        kind="committed",
        time=made.time,
        offset=made.offset,
        actor=Actor(type="unknown", on_behalf_of=made.person),
        fields=fields | ({"commit_parents": parents} if parents else {}),
        source=Source(format=FORMAT, key=f"commit/{oid_text(commit.commit)}"),
    )


def _made(head: bytes) -> _Made:
    match = _COMMITTER.search(head)
    if match is None:
        return _Made(None, 0, 0)
    name, email = (match[at].decode("utf-8", "replace") for at in (1, 2))
    offset = (int(match[5]) * 60 + int(match[6])) * (-1 if match[4] == b"-" else 1)
    person = Person(name=name, email=email) if name and email else None
    return _Made(person, min(int(match[3]), 1 << 32) * 1_000_000, max(-840, min(840, offset)))
