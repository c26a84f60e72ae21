"""A replay as a branch: one commit for each event that changed something, from trees in memory.

Creates that branch and nothing else: HEAD, the index, the work tree and all other branches stay. What it makes is a
function of the events, the base and git's committer, so whoever goes on after a kill comes to the same commits.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from pogstore.errors import BadInput, Conflict, GitFailed
from pogstore.history import replayed
from pogstore.history.replay import Progress, Replay, tree_at
from pogstore.history.replay_world import Contents, Put
from pogstore.history.replayed import Begun
from pogstore.model import EventId, Observed, Oid, Sealed
from pogstore.store import carrier
from pogstore.store.batch import Batch
from pogstore.store.contract import NewObject
from pogstore.store.footprint import release
from pogstore.store.lock import locked
from pogstore.store.newtree import Entry, GitTree
from pogstore.store.store import Store
from pogstore.work.actors import IDENTIFY
from pogstore.work.acts import By

HEADS = "refs/heads/"
AT_ONCE = 64 << 20
"""Bytes of new objects that are gathered before they become a pack."""
Emit = Callable[[NewObject], None]


class ReplayedBranch(NamedTuple):
    """A branch that was made: where it points, the commit of each event that has one, the events that tell of it."""

    name: str
    tip: Oid
    commits: dict[EventId, Oid]
    events: tuple[Sealed, ...]


def check_branch(store: Store, name: str) -> str:
    """Returns the ref of a branch that can be made; raises `BadInput` for a bad name, `Conflict` for a taken one."""
    ref = HEADS + name
    if name.startswith("-") or name == "HEAD" or store.git.run("check-ref-format", ref, check=False).returncode:
        raise BadInput(f"'{name}'", "is no name for a branch")
    taken = [HEADS + "/".join(name.split("/")[:depth]) for depth in range(1, name.count("/") + 2)]
    other = next((each for each in taken if store.refs.read(each)), None) or next(iter(store.refs.list(ref + "/")), "")
    if other:
        hint = "'--resume' goes on with a replay that was killed" if other == ref else None
        raise Conflict(f"a branch '{other.removeprefix(HEADS)}' exists already", [], hint)
    if store.git.text("symbolic-ref", "--quiet", "HEAD", check=False) == ref:
        raise Conflict(f"HEAD is on '{name}', which has no commit yet", [], "choose another name")
    return ref


def replay_branch(
    store: Store, replay: Replay, name: str, by: By, *, partial: bool = False, progress: Progress | None = None
) -> ReplayedBranch:
    """Makes a branch of a replay, with the `replayed` events that tell of it.

    Raises `Conflict`, with nothing written, if an event would be left out and `partial` is off, or if the name is
    taken; `BadInput` for a bad name; `UnsafePath` for a path that nobody may write.
    """
    check_branch(store, name)
    replayed.check_writable(store, replay, partial=partial)
    begun = replayed.begin(store, replay, branch=name, committer=committer_of(store))
    return resume_branch(store, replay, begun, by, progress)


def resume_branch(
    store: Store, replay: Replay, begun: Begun, by: By, progress: Progress | None = None
) -> ReplayedBranch:
    """Goes on with a branch that was begun; raises `Conflict` if it has other commits meanwhile."""
    name = begun.branch or ""
    packs = _Packs(store)
    try:
        made = _Commits(store, replay, begun.committer or "", packs.add)
        tip = made.make(progress)
        if tip is None:
            replayed.end(store, begun)
            raise Conflict("nothing was written: there is nothing to commit, and no base", [])
        events = store.transact(lambda batch: _finish(store, batch, replay, begun, by, packs, tip))
    finally:
        packs.release()
    replayed.end(store, begun)
    return ReplayedBranch(name, tip, made.commits, tuple(events))


def committer_of(store: Store) -> str:
    """Returns the person who commits here, as git writes one; raises `BadInput` where git knows none."""
    try:
        said = store.git.text("var", "GIT_COMMITTER_IDENT")
    except GitFailed as fault:
        raise BadInput("no identity", "git does not know who commits", IDENTIFY) from fault
    return said.rsplit(" ", 2)[0]


def fill(tree: GitTree, contents: Contents, puts: Iterable[Put]) -> None:
    """Lets a tree hold what a replay puts there; what nobody has the bytes of stays as it was."""
    for path, held in puts:
        if held is None:
            tree.remove(path)
        elif held.seen:
            tree.put(path, Entry(held.mode, contents.oid(held)))


def _finish(
    store: Store, batch: Batch, replay: Replay, begun: Begun, by: By, packs: "_Packs", tip: Oid
) -> list[Sealed]:
    ref = HEADS + (begun.branch or "")
    found = store.refs.read(ref)
    if found not in (None, tip):
        raise Conflict(f"a branch '{begun.branch}' exists already", [])
    packs.write()
    if found is None:
        batch.move(ref, None, tip)
    return replayed.record(store, batch, replay, by, begun.key, tip)


class _Commits:
    """The commits of a replay while they are made, each over the one before."""

    def __init__(self, store: Store, replay: Replay, committer: str, emit: Emit) -> None:
        self._store, self._replay, self._committer, self._emit = store, replay, committer, emit
        self._tree = tree_at(store, replay.base) if replay.base else GitTree(lambda _: b"")
        self._written = self._tree.write(emit)
        self._tip = replay.base
        self.commits: dict[EventId, Oid] = {}

    def make(self, progress: Progress | None) -> Oid | None:
        """Makes all of them and returns the last; the base if there is none."""
        for oid, data in self._replay.contents.new():
            self._emit(NewObject(oid, "blob", data))
        first = self._replay.steps[0].results[0].event
        self._commit(self._replay.before, first, "files as the first event found them", f"Pog-Before: {first.event_id}")
        for done, step in enumerate(self._replay.steps, 1):
            events = [result.event for result in step.results]
            found = events[0]
            self._commit(step.arrived, found, "files that git brought", f"Pog-Before: {found.event_id}")
            trailers = [f"Pog-Task: {found.event.task}", *(f"Pog-Event: {each.event_id}" for each in events)]
            commit = self._commit(step.puts, found, _subject(found), *trailers)
            if commit is not None:
                self.commits.update(dict.fromkeys((each.event_id for each in events), commit))
            if progress is not None:
                progress(done, len(self._replay.steps))
        return self._tip

    def _commit(self, puts: Iterable[Put], sealed: Sealed, subject: str, *trailers: str) -> Oid | None:
        """Commits what some files become, unless nothing changes by it; who answers for an event is its author."""
        fill(self._tree, self._replay.contents, puts)
        tree = self._tree.write(self._emit)
        if tree == self._written:
            return None
        self._written = tree
        event = sealed.event
        head = [f"tree {tree}", *([f"parent {self._tip}"] if self._tip else [])]
        nobody = carrier.UNKNOWN if isinstance(event, Observed) else carrier.NOBODY
        head += [f"author {carrier.signature(event, nobody)}", f"committer {self._committer} {carrier.moment(event)}"]
        data = "\n".join([*head, "", subject, "", *trailers, ""]).encode("utf-8", "surrogateescape")
        self._tip = self._store.objects.name("commit", data)
        self._emit(NewObject(self._tip, "commit", data))
        return self._tip


class _Packs:
    """New objects on their way to the repository, in few packs that git's housekeeping leaves alone meanwhile."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._gathered: dict[Oid, NewObject] = {}
        self._size = 0
        self._held: list[Path] = []

    def add(self, item: NewObject) -> None:
        """Takes one object."""
        self._gathered.setdefault(item.oid, item)
        self._size += len(item.data)
        if self._size > AT_ONCE:
            with locked(self._store.layout.own):
                self.write()

    def write(self) -> None:
        """Writes what was gathered; the caller has the store's lock."""
        pack = self._store.objects.write(self._gathered.values(), fsync=self._store.fsync, packed=True)
        if pack is not None:
            self._held.append(pack)
        self._gathered.clear()
        self._size = 0

    def release(self) -> None:
        """Leaves the packs to git."""
        for pack in self._held:
            with suppress(OSError):
                release(pack)


def _subject(sealed: Sealed) -> str:
    """Returns what stands in the first line: the tool, or else the kind, and the first path; it cannot lie in a log."""
    whole = carrier.subject(sealed)
    return whole.partition(" ")[2] if getattr(sealed.event, "tool", None) else whole
