"""The work trees of one repository while the records of hooks are gone through: which calls are open in each, and what
each held when it was last looked at.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from pogstore.agents.heard import Heard
from pogstore.draft import DraftChange
from pogstore.interop.claude_code import MOST_DURING
from pogstore.model import Person, Stepped
from pogstore.store.content import path_bytes
from pogstore.store.layout import Layout
from pogstore.store.store import Store
from pogstore.work import compared, sighting
from pogstore.work.active import worktree_id
from pogstore.work.compared import Compared, Look, look_of
from pogstore.work.held import NOTHING, Held, path_of
from pogstore.work.recorded import Recorded
from pogstore.work.spooled_record import Record, Seen

_WRITERS = ("shell", "mcp")
_MOST_STORED = 1000

Key = tuple[str, str]


class Shell(NamedTuple):
    """A shell call that ended, by what it was told and when, in µs."""

    call_id: str
    begin: int
    end: int
    command: str


class Call:
    """A call that is open in a work tree and may write to any file there; `beside` are the others that were meanwhile.

    `is_left` says that its agent has gone on without telling of its end, as after an interruption.
    """

    def __init__(self, begin: Heard) -> None:
        self.begin = begin
        self.beside: dict[Key, str | None] = {}
        self.is_left = False

    def works_for(self, other: Heard) -> bool:
        """Says whether another call may be the one by which this call's sub-agent was set to work."""
        begin = self.begin
        is_sub = begin.agent_id is not None and other.agent_id is None and other.session == begin.session
        return is_sub and other.tool_class == "other" and other.record.time <= begin.record.time


def may_write(heard: Heard) -> bool:
    """Says whether a call may write to files that it does not name."""
    return heard.tool_class in _WRITERS or heard.record.look is not None


def _is_by_same(call: Heard, at: Heard) -> bool:
    return (call.session, call.agent_id) == (at.session, at.agent_id)


class Tree:
    """One work tree whose steps are folded. `shells` are those that ended, of all work trees."""

    def __init__(self, recorded: Recorded, person: Person | None, shells: list[Shell]) -> None:
        self.recorded, self.person = recorded, person
        self.shell_owns = recorded.place.config.flag("pog.shellOwns", default=True)
        self._shells = shells
        self._since: dict[bytes, int] = {}
        self._latest: Look | None = None
        self._calls: dict[Key, Call] = {}
        self._edits: dict[Key, Heard] = {}

    @property
    def worktree(self) -> str | None:
        """The random id of the work tree."""
        return self.recorded.worktree

    def opened(self, begin: Heard) -> None:
        """Takes note that a call has begun."""
        if not may_write(begin):
            if begin.tool_class == "edit" or begin.record.states:
                self._edits[begin.call] = begin
            return
        call = Call(begin)
        for key, other in self._calls.items():
            other.beside[begin.call] = begin.call_id
            if not other.is_left and not call.works_for(other.begin):
                call.beside[key] = other.begin.call_id
        self._calls[begin.call] = call

    def closed(self, key: Key) -> Call | None:
        """Takes note that a call is over; returns it if it could write to any file."""
        self._edits.pop(key, None)
        return self._calls.pop(key, None)

    def knows(self, edited: Heard) -> bool:
        """Says whether an edit is told by a call, open or over: one that names the file, or that left it as it is."""
        paths = [each.path for each in edited.record.states]
        opened = {each.path for begin in self._edits.values() if begin.session == edited.session
                  for each in begin.record.states}  # fmt: skip
        if any(path in opened for path in paths):
            return True
        lasts = [(self.recorded.last(each.path), each) for each in edited.record.states]
        return all(last is not None and last.held.same(self.recorded.held(each)) for last, each in lasts)

    def left(self, at: Heard) -> None:
        """Takes note that an agent has gone on: what it was doing before is over, or was interrupted."""
        for call in self._calls.values():
            call.is_left = call.is_left or _is_by_same(call.begin, at)
        self._edits = {key: begin for key, begin in self._edits.items() if not _is_by_same(begin, at)}

    def observe(self, record: Record) -> Compared | None:
        """Returns what changed until a record that has a look without any call known to have done it."""
        look = look_of(record)
        if look is None:
            return None
        found = compared.observe(self.recorded, self._latest, look, self._left_to_edits())
        self._looked(look, found)
        return found

    def compare(self, begin: Look, end: Look) -> Compared:
        """Returns what changed between the looks at both ends of a call."""
        found = compared.compare(self.recorded, begin, end, self._left_to_edits(), self._latest)
        self._looked(end, found)
        return found

    def _looked(self, look: Look, found: Compared) -> None:
        if look.reason is None:
            self._latest = look
        self._since.update(found.since)
        if found.apart is not None:
            self._since.update(found.apart.since)

    def _left_to_edits(self) -> frozenset[bytes]:
        """Returns the paths that calls name which edit right now: these will tell of them themselves."""
        return frozenset(each.path for begin in self._edits.values() for each in begin.record.states)

    def gaps(self, heard: Heard) -> tuple[DraftChange, ...]:
        """Returns what changed on the named paths since they were last recorded, and takes it for recorded."""
        found = []
        for each in heard.record.states:
            if self.recorded.is_ignored(each.path):
                continue
            now = self.recorded.held(each)
            before = self._changed_from(each.path, now, heard.record)
            if before is not None:
                found.append(DraftChange(path=path_of(each.path), before=before.version, after=now.version))
        return tuple(found)

    def _changed_from(self, path: bytes, now: Held, at: Record) -> Held | None:
        """Returns what a path held before somebody changed it; `None` if nobody did, or nobody can say."""
        last = self.recorded.last(path)
        if now.version is None and now != NOTHING:
            return None
        if last is not None and last.time > at.time:
            return None  # a call that began before others ended: it saw an older state
        self._since[path] = last.time if last else 0
        self.recorded.note(path, now, at.time)
        if last is None:  # then HEAD as it was: by now there may be another
            known = self.recorded.is_committed(path, now) or self.recorded.was_recorded(path, now)
            head = self.recorded.at(at.head, path) if at.head else self.recorded.committed(path)
            before = None if known else head
        else:
            known = self.recorded.is_same(path, last.held, now) or self.recorded.is_committed(path, now)
            before = None if known else last.held
        return before if before is not None and before.fault is None and before.side is None else None

    def unknown(self, begin: Heard) -> tuple[DraftChange, ...]:
        """Returns the named paths as changes of which no side is known."""
        if begin.record.look is not None:
            return ()
        for each in begin.record.states:
            self.recorded.note(each.path, Held(fault="no-result"), begin.record.time)
        return tuple(DraftChange(path=path_of(each.path)) for each in begin.record.states)

    def ran(self, begin: Heard | None, end: Heard) -> None:
        """Takes note of a shell call: it may have made what is observed later."""
        started = (begin or end).record.time
        self._shells.append(Shell(end.call_id or "", started, end.record.time, end.command))

    def during(self, changes: Iterable[DraftChange], at: Heard, calls: Iterable[str | None]) -> list[str]:
        """Returns some calls, those that are open, and the shell calls that name a changed file and ran since it was
        last recorded.
        """
        paths = {path for each in changes if (path := path_bytes(each.path)) is not None}
        since = min((self._since.get(path, 0) for path in paths), default=0)
        names = {os.fsdecode(path.rpartition(b"/")[2]) for path in paths}
        shells = [shell for shell in self._shells if shell.end >= since and shell.begin <= at.record.time]
        found = [shell.call_id for shell in shells if any(name in shell.command for name in names)]
        found += [call.begin.call_id or "" for call in self._calls.values() if not call.is_left]
        found += [call_id or "" for call_id in calls]
        return list(dict.fromkeys(filter(None, found)))[-MOST_DURING:]


class Trees:
    """The work trees of one repository, by their git dirs."""

    def __init__(self, store: Store, since: int) -> None:
        self._store, self._since = store, since
        self._known: dict[bytes, Tree] = {}
        self._shells: list[Shell] = []
        self._stored: list[Stepped] | None = None

    def look_up(self, records: Sequence[Record]) -> None:
        """Asks git once for all paths of a work tree."""
        paths: dict[bytes, list[bytes]] = {}
        for record in records:
            self.of(record).recorded.keep_bytes(record.states)
            wanted = (each.path for each in record.states if record.look is None or isinstance(each, Seen))
            paths.setdefault(self._git_dir(record), []).extend(wanted)
        for git_dir, its in paths.items():
            self._known[git_dir].recorded.look_up(its)

    def left(self, at: Heard) -> None:
        """Takes note that an agent has gone on; see `Tree.left`."""
        for tree in self._known.values():
            tree.left(at)

    def closed(self, key: Key) -> None:
        """Takes note that a call is over in all work trees."""
        for tree in self._known.values():
            tree.closed(key)

    def stored_beside(self, begin: Heard, end: Heard) -> list[str | None]:
        """Returns the calls that ended while another one ran and were told to the store before this."""
        if self._stored is None:
            self._stored = list(self._newest())
        tree, call = self.of(end.record), Call(begin)
        return [
            step.call_id
            for step in self._stored
            if step.worktree == tree.worktree
            and begin.record.time < step.time <= end.record.time
            and (step.actor.session, step.call_id) != begin.call
            and not (step.class_ == "other" and call.begin.agent_id is not None and step.actor.agent_id is None)
        ]

    def _newest(self) -> Iterable[Stepped]:
        """Yields the stored calls that may have written and ended after our first record."""
        for at, sealed in enumerate(self._store.newest_of(("stepped",))):
            event = sealed.event
            if at == _MOST_STORED or event.time < self._since:
                return
            if isinstance(event, Stepped) and (event.class_ in _WRITERS or event.coverage not in (None, "scoped")):
                yield event

    def of(self, record: Record) -> Tree:
        """Returns the work tree that a record is of."""
        git_dir = self._git_dir(record)
        if git_dir not in self._known:
            self._known[git_dir] = self._opened(git_dir, record)
        return self._known[git_dir]

    def _git_dir(self, record: Record) -> bytes:
        """Returns the git dir that a record is of, where it lies by now: the repository may have been moved since."""
        common = os.fsencode(self._store.layout.common_dir)
        inside = record.git_dir[len(record.common_dir) :]
        is_moved = record.common_dir not in (b"", common) and record.git_dir.startswith(record.common_dir)
        return common + inside if is_moved else record.git_dir

    def _opened(self, at: bytes, record: Record) -> Tree:
        git_dir, root = Path(os.fsdecode(at)), Path(os.fsdecode(record.root))
        here = self._store.layout
        if at != record.git_dir:
            root = _root_of(git_dir, here, root)
        if git_dir == here.git_dir and root == here.work_tree:
            place = self._store
        elif git_dir.is_dir() and root.is_dir():
            place = Store(here._replace(git_dir=git_dir, work_tree=root))
        else:  # a linked work tree that was removed: what it recorded is taken as it is
            place = Store(here._replace(work_tree=None))
            return Tree(Recorded(self._store, place, None), _person(place), self._shells)
        return Tree(Recorded(self._store, place, worktree_id(place.layout)), _person(place), self._shells)


def _root_of(git_dir: Path, here: Layout, root: Path) -> Path:
    """Returns the work tree of a repository that was moved; `root` is where it was."""
    if git_dir == here.git_dir and here.work_tree is not None:
        return here.work_tree
    link = sighting.pointed(os.fsencode(git_dir) + b"/gitdir")
    return Path(os.fsdecode(link)).parent if link else root


def _person(place: Store) -> Person | None:
    name, email = place.config.text("user.name"), place.config.text("user.email")
    return Person(name=name, email=email) if name and email else None
