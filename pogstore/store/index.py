"""The index: what the refs hold, in a database that may be deleted at any time.

Derived from git alone and updated only by what is new since the ref tips that it has recorded. Safe with several
processes: SQLite's write-ahead log, one transaction an update. Its key is the exact set of (ref, oid); a ref that is
missing from a listing is looked up before it counts as gone. `rows.py` holds the questions.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from pogstore.errors import LockHeld, NotCanonical, NotFound, ObjectDamaged, PogError
from pogstore.model import Event, Oid, Opaque, Sealed, TaskId, kind_of
from pogstore.store import chain, database, relations, rows
from pogstore.store.carrier import parents_of, tree_of
from pogstore.store.content import path_bytes, plain_oid
from pogstore.store.contract import Objects, Refs
from pogstore.store.database import Database, transaction
from pogstore.store.refs import BY_CLASS, TASKS

Known = Callable[[Oid], bool]

_T = TypeVar("_T")


class Index:
    """The database of one store; opened on first use, made anew when it is damaged, gone or of another schema."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._database: Database | None = None
        self._standing = False

    @property
    def connection(self) -> sqlite3.Connection:
        """The open database."""
        if self._database is None:
            self._database = database.open_database(self.path)
        return self._database.connection

    def close(self) -> None:
        """Closes the database."""
        if self._database is not None:
            self._database.close()
            self._database = None

    def discard(self) -> None:
        """Deletes the database; the next use makes it anew. Raises `LockHeld` while another process has it open."""
        self.close()
        database.discard(self.path, database.BUSY_SECONDS)

    def update(self, objects: Objects, refs: Refs) -> None:
        """Brings the index up to the refs as they stand; costs what is new since the last time."""
        self._ask(objects, refs, lambda _: None, standing=False)

    @contextmanager
    def one_moment(self, objects: Objects, refs: Refs) -> Iterator[None]:
        """Brings the index up, and not again for each question of a block: to list all refs costs more than most do.

        What comes meanwhile may be missing, so nothing may be written that was decided in such a block. A block within
        a block is of the same moment.
        """
        if not self._standing:
            self.update(objects, refs)
        standing, self._standing = self._standing, True
        try:
            yield
        finally:
            self._standing = standing

    def ask(self, objects: Objects, refs: Refs, question: Callable[[sqlite3.Connection], _T]) -> _T:
        """Returns the answer of the up-to-date index; a damaged one is made anew first. The question may run twice."""
        return self._ask(objects, refs, question, standing=self._standing)

    def ask_of(self, objects: Objects, refs: Refs, name: str, question: Callable[[sqlite3.Connection], _T]) -> _T:
        """Returns the answer of an index in which one ref is up to date; costs the same however many refs there are."""
        try:
            if not self._standing:
                self._update_one(objects, refs, name)
        except (sqlite3.Error, ObjectDamaged):
            return self.ask(objects, refs, question)
        return self.ask_standing(objects, refs, question)

    def ask_standing(self, objects: Objects, refs: Refs, question: Callable[[sqlite3.Connection], _T]) -> _T:
        """Returns the answer of the index as it stands; what came since its last update may be missing."""
        return self._ask(objects, refs, question, standing=True)

    def _update_one(self, objects: Objects, refs: Refs, name: str) -> None:
        if self._database is None or self._database.is_gone:
            return  # the question finds out, and brings everything up
        if rows.tip(self.connection, name) == refs.read(name) and rows.fault(self.connection, name) is None:
            return
        with transaction(self.connection) as connection:
            oid = refs.read(name)
            if rows.tip(connection, name) != oid or rows.fault(connection, name) is not None:
                _update_ref(connection, objects, name, oid)

    def _ask(self, objects: Objects, refs: Refs, question: Callable[[sqlite3.Connection], _T], *, standing: bool) -> _T:
        if self._database is not None and self._database.is_gone:
            self.close()
        try:
            if self._database is None or not standing:
                self._update(objects, refs)
            return question(self.connection)
        except sqlite3.Error as fault:
            self._make_anew(fault)
            self._update(objects, refs)
            return question(self.connection)

    def _make_anew(self, fault: sqlite3.Error) -> None:
        """Replaces a useless database; where that cannot be done, by one in memory."""
        if database.is_busy(fault):
            raise LockHeld(str(self.path), database.BUSY_SECONDS) from fault
        if not database.is_useless(fault):
            raise fault
        self.close()
        try:
            if database.can_be_kept(fault):
                database.discard(self.path, database.REBUILD_SECONDS)
            else:
                self._database = database.open_in_memory()
        except (LockHeld, OSError):
            self._database = database.open_in_memory()

    def _update(self, objects: Objects, refs: Refs) -> None:
        found, damaged = _listing(refs)
        if self._recorded() == found and rows.unreadable(self.connection) == damaged:
            return
        with transaction(self.connection) as connection:
            found, damaged = _listing(refs)
            recorded = self._recorded()
            rows.keep_unreadable(connection, damaged)
            for name in recorded.keys() - found.keys() - damaged:
                if (oid := refs.read(name)) is not None:
                    found[name] = oid
            for name in sorted((recorded.keys() | found.keys()) - damaged):  # of those, what was known stays
                if recorded.get(name) != found.get(name):
                    _update_ref(connection, objects, name, found.get(name))

    def _recorded(self) -> dict[str, Oid]:
        return dict(self.connection.execute("SELECT name, oid FROM refs"))


def _listing(refs: Refs) -> tuple[dict[str, Oid], set[str]]:
    """Returns our refs as they stand, and those whose files hold no oid."""
    damaged: list[str] = []
    found = dict(refs.list("refs/pog/", damaged))
    return found, set(damaged)


def _update_ref(connection: sqlite3.Connection, objects: Objects, name: str, oid: Oid | None) -> None:
    place, _, _ = name.removeprefix("refs/pog/").rpartition("/")
    connection.execute("DELETE FROM faults WHERE ref = ?", (name,))
    if f"refs/pog/{place}/" == TASKS:
        whole = _update_events(connection, objects, name, oid)
    elif place in BY_CLASS:
        whole = _update_contents(connection, objects, name, oid)
    else:
        whole = True
    if oid is None or not whole:  # what is damaged is read again at the next update
        connection.execute("DELETE FROM refs WHERE name = ?", (name,))
    else:
        connection.execute("INSERT OR REPLACE INTO refs VALUES (?, ?)", (name, oid))


def _update_events(connection: sqlite3.Connection, objects: Objects, name: str, oid: Oid | None) -> bool:
    task = TaskId(name.removeprefix(TASKS))

    def is_known(found: Oid) -> bool:
        return rows.carried(connection, task, found) is not None

    known: Known = is_known
    if oid is None or not _extends(connection, objects, name, oid, is_known):
        _forget_events(connection, task)
        known = _nothing
    try:
        for link in chain.events(objects, oid, known) if oid else ():
            _insert_event(connection, task, link)
    except (ObjectDamaged, NotCanonical, NotFound) as fault:
        _insert_fault(connection, name, fault)
        return False
    return True


def _nothing(_: Oid) -> bool:
    """What is known of a chain that is read from its beginning."""
    return False


def _forget_events(connection: sqlite3.Connection, task: TaskId) -> None:
    of_task = "WHERE event IN (SELECT n FROM events WHERE task = ?)"
    connection.execute(f"DELETE FROM changes {of_task}", (task,))  # noqa: S608 - a constant
    connection.execute(f"DELETE FROM sources {of_task}", (task,))  # noqa: S608 - a constant
    connection.execute(f"DELETE FROM links {of_task}", (task,))  # noqa: S608 - a constant
    connection.execute(f"DELETE FROM commits {of_task}", (task,))  # noqa: S608 - a constant
    if connection.execute("DELETE FROM events WHERE task = ?", (task,)).rowcount:
        rows.count(connection, rows.FORGOTTEN)


def _extends(connection: sqlite3.Connection, objects: Objects, name: str, tip: Oid, is_known: Known) -> bool:
    """Says whether a new tip rests on the recorded one, so that nothing which was indexed is gone."""
    row = connection.execute("SELECT oid FROM refs WHERE name = ?", (name,)).fetchone()
    if row is None:
        return False
    pending, seen = [tip], {tip}
    while pending:
        oid = pending.pop()
        if oid == row[0]:
            return True
        if is_known(oid):
            continue
        try:
            parents = parents_of(chain.read_commit(objects, oid))
        except (ObjectDamaged, NotFound):
            continue
        pending += [parent for parent in parents if parent not in seen]
        seen.update(parents)
    return False


def _insert_event(connection: sqlite3.Connection, task: TaskId, link: chain.Link) -> None:
    sealed = link.sealed
    event = sealed.event
    if event.task != task:
        raise ObjectDamaged(link.oid, "an event of another task")
    row = (sealed.event_id, event.task, _kind(event), event.clock, event.time, link.oid, sealed.canonical)
    cursor = connection.execute(
        "INSERT OR IGNORE INTO events (id, task, kind, clock, time, oid, body) VALUES (?, ?, ?, ?, ?, ?, ?)", row
    )
    if cursor.rowcount < 1:
        return
    number = cursor.lastrowid
    if changes := list(_change_rows(number, sealed)):
        connection.executemany("INSERT INTO changes VALUES (?, ?, ?, ?, ?)", changes)
    if source := getattr(event, "source", None):
        connection.execute("INSERT INTO sources VALUES (?, ?, ?)", (source.format, source.key, number))
    for edge in getattr(event, "links", ()):
        target = edge.task or edge.event or edge.commit or ""
        connection.execute("INSERT INTO links VALUES (?, ?, ?)", (number, edge.rel, target))
    for role, commit in _commits(event):
        connection.execute("INSERT INTO commits VALUES (?, ?, ?)", (number, role, plain_oid(commit)))


def _commits(event: Event | Opaque) -> Iterator[tuple[str, str]]:
    """Yields the commits that an event names: the one it tells of, and those that the work tree was on."""
    if told := getattr(event, "commit", None):
        yield relations.TOLD, told
    for base in (getattr(event, "base_from", None), getattr(event, "base", None)):
        if base is not None and base.commit:
            yield relations.BASE, base.commit


def _kind(event: Event | Opaque) -> str:
    return event.kind if isinstance(event, Opaque) else kind_of(event)


def _change_rows(number: int | None, sealed: Sealed) -> Iterator[tuple[object, ...]]:
    for change in getattr(sealed.event, "changes", ()):
        name = path_bytes(change.path)
        if name is not None:
            before = change.before.blob if change.before else None
            after = change.after.blob if change.after else None
            yield number, name, before, after, path_bytes(change.from_) if change.from_ else None


def _update_contents(connection: sqlite3.Connection, objects: Objects, name: str, oid: Oid | None) -> bool:
    class_, _, task = name.removeprefix("refs/pog/").partition("/")

    def is_known(found: Oid) -> bool:
        return rows.holds_commit(connection, name, found)

    known: Known = is_known
    if oid is None or not _extends(connection, objects, name, oid, is_known):
        gone = connection.execute("DELETE FROM contents WHERE task = ? AND class = ?", (task, class_))
        if gone.rowcount:
            rows.count(connection, rows.FORGOTTEN)
        connection.execute("DELETE FROM content_commits WHERE ref = ?", (name,))
        known = _nothing
    rows.count(connection, rows.ARRIVED)
    try:
        for found, commit in chain.commits(objects, oid, known) if oid else ():
            entries = chain.tree_entries(objects, tree_of(found, commit))
            rows_of = [(entry.blob, class_, task, entry.oid) for entry in entries]
            connection.executemany("INSERT OR IGNORE INTO contents VALUES (?, ?, ?, ?)", rows_of)
            connection.execute("INSERT OR IGNORE INTO content_commits VALUES (?, ?)", (found, name))
    except (ObjectDamaged, NotFound) as fault:
        _insert_fault(connection, name, fault)
        return False
    return True


def _insert_fault(connection: sqlite3.Connection, ref: str, fault: PogError) -> None:
    connection.execute("INSERT INTO faults VALUES (?, ?)", (ref, fault.message))
