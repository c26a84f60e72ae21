"""The index: what the refs hold, in a database that may be deleted at any time.

Derived from git alone and updated only by what is new since the ref tips that it has recorded. Safe with several
processes: SQLite's write-ahead log, one transaction an update. Its key is the exact set of (ref, oid); a ref that is
missing from a listing is looked up before it counts as gone. `rows.py` holds the questions.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pogstore.errors import NotCanonical, NotFound, ObjectDamaged, PogError
from pogstore.model import Oid, Sealed, TaskId
from pogstore.store import chain
from pogstore.store.carrier import parents_of
from pogstore.store.content import path_bytes
from pogstore.store.contract import Objects, Refs
from pogstore.store.refs import BY_CLASS, TASKS

SCHEMA = 1
BUSY_SECONDS = 30.0

_TABLES = """
CREATE TABLE refs (name TEXT PRIMARY KEY, oid TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE events (
    n INTEGER PRIMARY KEY, id TEXT NOT NULL, task TEXT NOT NULL, kind TEXT NOT NULL, clock INTEGER NOT NULL,
    time INTEGER NOT NULL, oid TEXT NOT NULL, body BLOB NOT NULL);
CREATE UNIQUE INDEX events_id ON events (id);
CREATE INDEX events_task ON events (task, clock, id);
CREATE INDEX events_oid ON events (oid);
CREATE TABLE changes (event INTEGER NOT NULL, path BLOB NOT NULL, before TEXT, after TEXT, came_from BLOB);
CREATE INDEX changes_path ON changes (path);
CREATE INDEX changes_event ON changes (event);
CREATE INDEX changes_after ON changes (after);
CREATE TABLE contents (
    blob TEXT NOT NULL, class TEXT NOT NULL, task TEXT NOT NULL, oid TEXT NOT NULL,
    PRIMARY KEY (blob, class, task)) WITHOUT ROWID;
CREATE TABLE content_commits (oid TEXT NOT NULL, ref TEXT NOT NULL, PRIMARY KEY (ref, oid)) WITHOUT ROWID;
CREATE TABLE sources (format TEXT NOT NULL, key TEXT NOT NULL, event INTEGER NOT NULL);
CREATE INDEX sources_key ON sources (key, format);
CREATE INDEX sources_event ON sources (event);
CREATE TABLE links (event INTEGER NOT NULL, rel TEXT NOT NULL, target TEXT NOT NULL);
CREATE INDEX links_target ON links (target);
CREATE INDEX links_event ON links (event);
CREATE TABLE faults (ref TEXT NOT NULL, reason TEXT NOT NULL);
CREATE TABLE memos (kind TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY (kind, key)) WITHOUT ROWID;
"""


class Index:
    """The database of one store; opened on first use, made anew when it is damaged or of another schema."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None

    @property
    def connection(self) -> sqlite3.Connection:
        """The open database."""
        if self._connection is None:
            self._connection = _open(self.path)
        return self._connection

    def close(self) -> None:
        """Closes the database."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def discard(self) -> None:
        """Deletes the database; the next use makes it anew."""
        self.close()
        for suffix in ("", "-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)

    def update(self, objects: Objects, refs: Refs) -> None:
        """Brings the index up to the refs as they stand; costs what is new since the last time."""
        try:
            self._update(objects, refs)
        except sqlite3.DatabaseError as fault:
            if isinstance(fault, sqlite3.OperationalError) and "locked" in str(fault):
                raise
            self.discard()
            self._update(objects, refs)

    def _update(self, objects: Objects, refs: Refs) -> None:
        found = _listing(refs)
        if self._recorded() == found:
            return
        with transaction(self.connection) as database:
            found = _listing(refs)
            recorded = self._recorded()
            for name in recorded.keys() - found.keys():
                if (oid := refs.read(name)) is not None:
                    found[name] = oid
            for name in sorted(recorded.keys() | found.keys()):
                if recorded.get(name) != found.get(name):
                    _update_ref(database, objects, name, found.get(name))

    def _recorded(self) -> dict[str, Oid]:
        return dict(self.connection.execute("SELECT name, oid FROM refs"))


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Holds the database's write lock for a block; an error leaves everything as it was."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _open(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    for _ in range(2):
        connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            if _prepare(connection):
                return connection
        except sqlite3.DatabaseError as fault:
            if isinstance(fault, sqlite3.OperationalError) and "locked" in str(fault):
                connection.close()
                raise
        connection.close()
        for suffix in ("", "-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
    raise ObjectDamaged(path.name, "the index cannot be made anew")


def _prepare(connection: sqlite3.Connection) -> bool:
    """Says whether the database is usable: it is of this schema, or it was empty and has been made."""
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA cache_size = -65536")
    if connection.execute("PRAGMA user_version").fetchone()[0] == SCHEMA:
        return True
    with transaction(connection):
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version == 0:
            for statement in _TABLES.split(";\n"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {SCHEMA}")
    return version in (0, SCHEMA)


def _listing(refs: Refs) -> dict[str, Oid]:
    return dict(refs.list("refs/pog/"))


def _update_ref(database: sqlite3.Connection, objects: Objects, name: str, oid: Oid | None) -> None:
    place, _, _ = name.removeprefix("refs/pog/").rpartition("/")
    database.execute("DELETE FROM faults WHERE ref = ?", (name,))
    if f"refs/pog/{place}/" == TASKS:
        whole = _update_events(database, objects, name, oid)
    elif place in BY_CLASS:
        whole = _update_contents(database, objects, name, oid)
    else:
        whole = True
    if oid is None or not whole:  # what is damaged is read again at the next update
        database.execute("DELETE FROM refs WHERE name = ?", (name,))
    else:
        database.execute("INSERT OR REPLACE INTO refs VALUES (?, ?)", (name, oid))


def _update_events(database: sqlite3.Connection, objects: Objects, name: str, oid: Oid | None) -> bool:
    task = TaskId(name.removeprefix(TASKS))
    known = {row[0] for row in database.execute("SELECT oid FROM events WHERE task = ?", (task,))}
    if known and (oid is None or not _extends(database, objects, name, oid, known)):
        _forget_events(database, task)
        known = set()
    try:
        for link in chain.events(objects, oid, known.__contains__) if oid else ():
            _insert_event(database, task, link)
    except (ObjectDamaged, NotCanonical, NotFound) as fault:
        _insert_fault(database, name, fault)
        return False
    return True


def _forget_events(database: sqlite3.Connection, task: TaskId) -> None:
    of_task = "WHERE event IN (SELECT n FROM events WHERE task = ?)"
    database.execute(f"DELETE FROM changes {of_task}", (task,))  # noqa: S608 - a constant
    database.execute(f"DELETE FROM sources {of_task}", (task,))  # noqa: S608 - a constant
    database.execute(f"DELETE FROM links {of_task}", (task,))  # noqa: S608 - a constant
    database.execute("DELETE FROM events WHERE task = ?", (task,))


def _extends(database: sqlite3.Connection, objects: Objects, name: str, tip: Oid, known: set[str]) -> bool:
    """Says whether a new tip rests on the recorded one, so that nothing which was indexed is gone."""
    row = database.execute("SELECT oid FROM refs WHERE name = ?", (name,)).fetchone()
    if row is None:
        return False
    pending, seen = [tip], {tip}
    while pending:
        oid = pending.pop()
        if oid == row[0]:
            return True
        if oid in known:
            continue
        try:
            parents = parents_of(chain.read_commit(objects, oid))
        except (ObjectDamaged, NotFound):
            continue
        pending += [parent for parent in parents if parent not in seen]
        seen.update(parents)
    return False


def _insert_event(database: sqlite3.Connection, task: TaskId, link: chain.Link) -> None:
    sealed = link.sealed
    event = sealed.event
    if event.task != task:
        raise ObjectDamaged(link.oid, "an event of another task")
    kind = getattr(event, "kind", None) or str(type(event).__struct_config__.tag)
    row = (sealed.event_id, event.task, kind, event.clock, event.time, link.oid, sealed.canonical)
    cursor = database.execute(
        "INSERT OR IGNORE INTO events (id, task, kind, clock, time, oid, body) VALUES (?, ?, ?, ?, ?, ?, ?)", row
    )
    if cursor.rowcount < 1:
        return
    number = cursor.lastrowid
    database.executemany("INSERT INTO changes VALUES (?, ?, ?, ?, ?)", _change_rows(number, sealed))
    if source := getattr(event, "source", None):
        database.execute("INSERT INTO sources VALUES (?, ?, ?)", (source.format, source.key, number))
    for edge in getattr(event, "links", ()):
        target = edge.task or edge.event or edge.commit or ""
        database.execute("INSERT INTO links VALUES (?, ?, ?)", (number, edge.rel, target))


def _change_rows(number: int | None, sealed: Sealed) -> Iterator[tuple[object, ...]]:
    for change in getattr(sealed.event, "changes", ()):
        name = path_bytes(change.path)
        if name is not None:
            before = change.before.blob if change.before else None
            after = change.after.blob if change.after else None
            yield number, name, before, after, path_bytes(change.from_) if change.from_ else None


def _update_contents(database: sqlite3.Connection, objects: Objects, name: str, oid: Oid | None) -> bool:
    class_, _, task = name.removeprefix("refs/pog/").partition("/")
    known = {row[0] for row in database.execute("SELECT oid FROM content_commits WHERE ref = ?", (name,))}
    if known and (oid is None or not _extends(database, objects, name, oid, known)):
        database.execute("DELETE FROM contents WHERE task = ? AND class = ?", (task, class_))
        database.execute("DELETE FROM content_commits WHERE ref = ?", (name,))
        known = set()
    try:
        for commit, entry in chain.contents(objects, oid, known.__contains__) if oid else ():
            row = (entry.blob, class_, task, entry.oid)
            database.execute("INSERT OR IGNORE INTO contents VALUES (?, ?, ?, ?)", row)
            database.execute("INSERT OR IGNORE INTO content_commits VALUES (?, ?)", (commit, name))
    except (ObjectDamaged, NotFound) as fault:
        _insert_fault(database, name, fault)
        return False
    return True


def _insert_fault(database: sqlite3.Connection, ref: str, fault: PogError) -> None:
    database.execute("INSERT INTO faults VALUES (?, ?)", (ref, fault.message))
