"""Questions to an index that is up to date, each one query. Knows the tables of `index.py` and nothing of git."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pogstore.model import BlobId, EventId, Oid, TaskId

UNREADABLE = "its file does not hold an object's name"
"""The fault of a ref which a power cut left empty, or that something else overwrote."""


FORGOTTEN = "forgotten"
"""Counts how often events or contents were taken out of the index, as after an erasure."""
ARRIVED = "arrived"
"""Counts how often contents have come."""


class ContentRow(NamedTuple):
    """Where one content lies."""

    task: TaskId
    class_: str
    oid: Oid


def task_ids(database: sqlite3.Connection) -> list[TaskId]:
    """Returns every task that has events, sorted; looks up one event of each, however many there are."""
    query = (
        "WITH RECURSIVE found (task) AS (SELECT min(task) FROM events"
        " UNION ALL SELECT (SELECT min(task) FROM events WHERE task > found.task) FROM found WHERE task IS NOT NULL)"
        " SELECT task FROM found WHERE task IS NOT NULL"
    )
    return [TaskId(row[0]) for row in database.execute(query)]


def tips(database: sqlite3.Connection) -> dict[str, Oid]:
    """Returns what each ref pointed at when the index was brought up, but for those that could not be read whole."""
    return dict(database.execute("SELECT name, oid FROM refs"))


def tip(database: sqlite3.Connection, ref: str) -> Oid | None:
    """Returns what one ref pointed at when the index was brought up."""
    row = database.execute("SELECT oid FROM refs WHERE name = ?", (ref,)).fetchone()
    return Oid(row[0]) if row else None


def task_tips(database: sqlite3.Connection) -> dict[TaskId, Oid]:
    """Returns what each task's ref pointed at when the index was brought up."""
    rows = database.execute(
        "SELECT substr(name, 16), oid FROM refs WHERE name >= 'refs/pog/tasks/' AND name < 'refs/pog/tasks0'"
    )
    return {TaskId(task): Oid(oid) for task, oid in rows}


def bodies(database: sqlite3.Connection, task: TaskId) -> list[bytes]:
    """Returns the canonical bytes of a task's events, in replay order."""
    return [row[0] for row in database.execute("SELECT body FROM events WHERE task = ? ORDER BY clock, id", (task,))]


def ids_of(database: sqlite3.Connection, task: TaskId) -> list[EventId]:
    """Returns the ids of a task's events, in replay order."""
    found = database.execute("SELECT id FROM events WHERE task = ? ORDER BY clock, id", (task,))
    return [EventId(row[0]) for row in found]


def body(database: sqlite3.Connection, event_id: EventId) -> bytes | None:
    """Returns the canonical bytes of one event."""
    row = database.execute("SELECT body FROM events WHERE id = ?", (event_id,)).fetchone()
    return row[0] if row else None


def carrier_oid(database: sqlite3.Connection, event_id: EventId) -> Oid | None:
    """Returns the git commit that carries an event."""
    row = database.execute("SELECT oid FROM events WHERE id = ?", (event_id,)).fetchone()
    return Oid(row[0]) if row else None


def event_ids(database: sqlite3.Connection, prefix: str, limit: int) -> list[EventId]:
    """Returns the events whose id begins with some hex digits, at most `limit`."""
    above = prefix + "g"  # the first character after every hex digit
    rows = database.execute(
        "SELECT id FROM events WHERE id >= ? AND id < ? ORDER BY id LIMIT ?", (prefix, above, limit)
    )
    return [EventId(row[0]) for row in rows]


def ids_on_path(database: sqlite3.Connection, path: bytes) -> list[EventId]:
    """Returns the ids of the events that changed a path, or moved it away, in replay order."""
    rows = database.execute(
        "SELECT id FROM events WHERE n IN (SELECT event FROM changes WHERE path = ?"
        " UNION SELECT event FROM changes WHERE came_from = ?) ORDER BY clock, id",
        (path, path),
    )
    return [EventId(row[0]) for row in rows]


def ids_on_paths(database: sqlite3.Connection, paths: Iterable[bytes]) -> dict[bytes, list[EventId]]:
    """Returns, for each of some paths, the ids of the events that changed it, or moved it away, in replay order."""
    return {path: ids_on_path(database, path) for path in dict.fromkeys(paths)}


def ids_below(database: sqlite3.Connection, path: bytes) -> list[EventId]:
    """Returns the ids of the events that changed a path, or what is below it, or moved it away; in replay order.

    The empty path is the root: every event that changed any path.
    """
    found = set()
    for column in ("path", "came_from"):
        query = f"SELECT DISTINCT event FROM changes WHERE {column} = ?1 OR ({column} >= ?2 AND {column} < ?3)"  # noqa: S608 - one of two columns
        bounds = (path + b"/", path + b"0") if path else (b"", b"\xff" * 8)
        found |= {row[0] for row in database.execute(query, (path, *bounds))}
    rows = (database.execute("SELECT clock, id FROM events WHERE n = ?", (number,)).fetchone() for number in found)
    return [EventId(row[1]) for row in sorted(rows)]


def has_changes(database: sqlite3.Connection) -> bool:
    """Says whether any event changed any path."""
    return database.execute("SELECT 1 FROM changes LIMIT 1").fetchone() is not None


def newest_on_paths(database: sqlite3.Connection, paths: Iterable[bytes]) -> int:
    """Returns the greatest number of an event that changed one of some paths or moved it away; 0 if there is none.

    Numbers only grow: as long as nothing was forgotten, an equal one stands for an equal set of events.
    """
    newest = 0
    for path in paths:
        for column in ("path", "came_from"):
            query = f"SELECT max(event) FROM changes WHERE {column} = ?"  # noqa: S608 - one of two columns
            newest = max(newest, database.execute(query, (path,)).fetchone()[0] or 0)
    return newest


def newest_change(database: sqlite3.Connection) -> int:
    """Returns the greatest number of an event that changed a path; 0 if there is none."""
    row = database.execute("SELECT event FROM changes ORDER BY rowid DESC LIMIT 1").fetchone()
    return row[0] if row else 0


def paths_called(database: sqlite3.Connection, name: bytes) -> list[bytes]:
    """Returns the paths that some event changed and whose last part is a name, sorted."""
    query = """
        WITH RECURSIVE each(path) AS (
            SELECT min(path) FROM changes UNION ALL
            SELECT (SELECT min(path) FROM changes WHERE path > each.path) FROM each WHERE each.path IS NOT NULL)
        SELECT path FROM each WHERE path = ?1 OR substr(path, -length(?2)) = ?2"""
    return [bytes(row[0]) for row in database.execute(query, (name, b"/" + name))]


def paths_holding(database: sqlite3.Connection, oids: Iterable[Oid]) -> dict[bytes, list[Oid]]:
    """Returns for each path at which an event changed one of some git blobs, or something into one, those blobs."""
    query = """
        SELECT g.path FROM contents c JOIN changes g ON g.after = c.blob
        WHERE c.oid = ?1 AND c.class = 'content' AND g.before IS NOT NULL
        UNION
        SELECT coalesce(g.came_from, g.path) FROM contents c JOIN changes g ON g.before = c.blob
        WHERE c.oid = ?1 AND c.class = 'content'"""
    found: dict[bytes, list[Oid]] = {}
    for oid in oids:
        for (path,) in database.execute(query, (oid,)):
            found.setdefault(path, []).append(oid)
    return found


def creations_of(database: sqlite3.Connection, oid: Oid) -> list[tuple[bytes, EventId]]:
    """Returns where an event made a file that holds a git blob, and which."""
    query = """
        SELECT DISTINCT g.path, e.id FROM contents c JOIN changes g ON g.after = c.blob JOIN events e ON e.n = g.event
        WHERE c.oid = ? AND c.class = 'content' AND g.before IS NULL ORDER BY e.clock, e.id"""
    return [(path, EventId(event)) for path, event in database.execute(query, (oid,))]


def counter(database: sqlite3.Connection, name: str) -> int:
    """Returns how often something has happened to this database."""
    row = database.execute("SELECT n FROM counters WHERE name = ?", (name,)).fetchone()
    return row[0] if row else 0


def count(database: sqlite3.Connection, name: str) -> None:
    """Counts something once more."""
    query = "INSERT INTO counters VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET n = n + 1"
    database.execute(query, (name,))


def former_names(database: sqlite3.Connection, path: bytes, limit: int) -> list[bytes]:
    """Returns the paths from which events moved a file to a path, sorted, at most `limit`.

    An event also moved a file if one path vanished in it as one other came: it may have edited the file on the way.
    """
    query = """
        SELECT came_from FROM changes WHERE path = ?1 AND came_from IS NOT NULL
        UNION
        SELECT gone.path FROM changes came JOIN changes gone ON gone.event = came.event
        WHERE came.path = ?1 AND came.before IS NULL AND came.after IS NOT NULL AND came.came_from IS NULL
            AND gone.after IS NULL AND gone.before IS NOT NULL AND 2 = (
                SELECT count(*) FROM changes each
                WHERE each.event = came.event AND (each.before IS NULL OR each.after IS NULL))
        ORDER BY 1 LIMIT ?2"""
    return [row[0] for row in database.execute(query, (path, limit))]


def later_names(database: sqlite3.Connection, path: bytes, limit: int) -> list[bytes]:
    """Returns the paths to which events moved a file from a path, sorted, at most `limit`; see `former_names`."""
    query = """
        SELECT path FROM changes WHERE came_from = ?1
        UNION
        SELECT came.path FROM changes gone JOIN changes came ON came.event = gone.event
        WHERE gone.path = ?1 AND gone.after IS NULL AND gone.before IS NOT NULL
            AND came.before IS NULL AND came.after IS NOT NULL AND came.came_from IS NULL AND 2 = (
                SELECT count(*) FROM changes each
                WHERE each.event = gone.event AND (each.before IS NULL OR each.after IS NULL))
        ORDER BY 1 LIMIT ?2"""
    return [row[0] for row in database.execute(query, (path, limit))]


def newest_of(database: sqlite3.Connection, kinds: Sequence[str]) -> Iterator[bytes]:
    """Yields the canonical bytes of the events of some kinds, the last in replay order first."""
    marks = ", ".join("?" for _ in kinds)
    query = f"SELECT body FROM events WHERE kind IN ({marks}) ORDER BY clock DESC, id DESC"  # noqa: S608 - only marks
    for row in database.execute(query, list(kinds)):
        yield row[0]


def changed_paths(database: sqlite3.Connection) -> list[bytes]:
    """Returns every path that some event changed, sorted."""
    return [row[0] for row in database.execute("SELECT DISTINCT path FROM changes ORDER BY path")]


def path_digest_rows(database: sqlite3.Connection, path: bytes) -> list[EventId]:
    """Returns the ids of the events that changed a path, sorted."""
    rows = database.execute(
        "SELECT DISTINCT e.id FROM changes c JOIN events e ON e.n = c.event WHERE c.path = ? ORDER BY e.id", (path,)
    )
    return [EventId(row[0]) for row in rows]


def contents(database: sqlite3.Connection, blob: BlobId) -> list[ContentRow]:
    """Returns every place of one content."""
    rows = database.execute("SELECT task, class, oid FROM contents WHERE blob = ?", (blob,))
    return [ContentRow(TaskId(task), class_, Oid(oid)) for task, class_, oid in rows]


def tasks_holding(database: sqlite3.Connection, oids: Iterable[Oid]) -> dict[Oid, set[TaskId]]:
    """Returns which tasks hold some git blobs as contents that are not private; blobs that none holds are left out."""
    query = "SELECT task FROM contents WHERE class = 'content' AND oid = ?"  # the class as the index of oids has it
    found = ((oid, {TaskId(row[0]) for row in database.execute(query, (oid,))}) for oid in dict.fromkeys(oids))
    return {oid: tasks for oid, tasks in found if tasks}


def holds_content(database: sqlite3.Connection, task: TaskId, class_: str, blob: BlobId) -> bool:
    """Says whether a task's chain is known to hold a content."""
    query = "SELECT 1 FROM contents WHERE blob = ? AND class = ? AND task = ?"
    return database.execute(query, (blob, class_, task)).fetchone() is not None


def contents_of(database: sqlite3.Connection, task: TaskId) -> Iterator[tuple[BlobId, str, Oid]]:
    """Yields what a task's chains hold: content, class, git blob."""
    for blob, class_, oid in database.execute("SELECT blob, class, oid FROM contents WHERE task = ?", (task,)):
        yield BlobId(blob), class_, Oid(oid)


def carried(database: sqlite3.Connection, task: TaskId, oid: Oid) -> tuple[EventId, int] | None:
    """Returns id and clock of the event that a carrier of a task holds; nothing if it is not in the task's chain."""
    query = "SELECT id, clock FROM events WHERE oid = ? AND task = ?"
    row = database.execute(query, (oid, task)).fetchone()
    return (EventId(row[0]), row[1]) if row else None


def holds_commit(database: sqlite3.Connection, ref: str, oid: Oid) -> bool:
    """Says whether a commit is in the content chain of a ref."""
    query = "SELECT 1 FROM content_commits WHERE ref = ? AND oid = ?"
    return database.execute(query, (ref, oid)).fetchone() is not None


def holds_stored(database: sqlite3.Connection, task: TaskId, class_: str, blob: BlobId, oid: Oid) -> bool:
    """Says whether a task's chain holds a content as exactly this git blob, which has been checked then."""
    query = "SELECT 1 FROM contents WHERE blob = ? AND class = ? AND task = ? AND oid = ?"
    return database.execute(query, (blob, class_, task, oid)).fetchone() is not None


def paths_with(database: sqlite3.Connection, task: TaskId, blob: BlobId) -> list[bytes]:
    """Returns the paths at which a task's events saw a file version, sorted."""
    rows = database.execute(
        "SELECT DISTINCT c.path FROM events e JOIN changes c ON c.event = e.n"
        " WHERE e.task = ? AND (c.after = ? OR c.before = ?) ORDER BY c.path",
        (task, blob, blob),
    )
    return [row[0] for row in rows]


def events_from(database: sqlite3.Connection, task: TaskId, format_: str) -> dict[str, EventId]:
    """Returns the events of a task that came from one foreign format, by the key they have there.

    Of several with one key it is the first in replay order, which stands for the others.
    """
    rows = database.execute(
        "SELECT s.key, e.id FROM sources s JOIN events e ON e.n = s.event WHERE e.task = ? AND s.format = ?"
        " ORDER BY e.clock DESC, e.id DESC",
        (task, format_),
    )
    return {key: EventId(event_id) for key, event_id in rows}


def linked_to(database: sqlite3.Connection, target: str) -> list[bytes]:
    """Returns the canonical bytes of the events with a link to a task, an event or a commit, in replay order."""
    rows = database.execute(
        "SELECT DISTINCT e.clock, e.id, e.body FROM links l JOIN events e ON e.n = l.event"
        " WHERE l.target = ? ORDER BY e.clock, e.id",
        (target,),
    )
    return [row[2] for row in rows]


def linking(database: sqlite3.Connection, rel: str) -> list[bytes]:
    """Returns the canonical bytes of the events with a link of one relation, in replay order."""
    rows = database.execute(
        "SELECT DISTINCT e.clock, e.id, e.body FROM links l JOIN events e ON e.n = l.event"
        " WHERE l.rel = ? ORDER BY e.clock, e.id",
        (rel,),
    )
    return [row[2] for row in rows]


def clocks(database: sqlite3.Connection) -> Iterator[int]:
    """Yields every clock in use, ascending."""
    for row in database.execute("SELECT DISTINCT clock FROM events ORDER BY clock"):
        yield row[0]


def faults(database: sqlite3.Connection) -> list[tuple[str, str]]:
    """Returns the refs that could not be read whole, with the reason."""
    return [(ref, reason) for ref, reason in database.execute("SELECT ref, reason FROM faults ORDER BY ref")]


def fault(database: sqlite3.Connection, ref: str) -> str | None:
    """Returns why a ref could not be read whole; nothing if it could."""
    row = database.execute("SELECT reason FROM faults WHERE ref = ?", (ref,)).fetchone()
    return row[0] if row else None


def damaged_chain(database: sqlite3.Connection, blob: BlobId) -> tuple[str, str] | None:
    """Returns a chain that could not be read whole, with the reason, of a task whose events name a content."""
    query = (
        "SELECT f.ref, f.reason FROM faults f JOIN events e"
        " ON f.ref = 'refs/pog/content/' || e.task OR f.ref = 'refs/pog/private/' || e.task"
        " WHERE instr(e.body, ?) LIMIT 1"
    )
    row = database.execute(query, (blob.encode(),)).fetchone()
    return (row[0], row[1]) if row else None


def unreadable(database: sqlite3.Connection) -> set[str]:
    """Returns the refs whose files held no oid."""
    return {row[0] for row in database.execute("SELECT ref FROM faults WHERE reason = ?", (UNREADABLE,))}


def keep_unreadable(database: sqlite3.Connection, refs: Iterable[str]) -> None:
    """Keeps which refs have files that hold no oid, in the place of what was kept before."""
    database.execute("DELETE FROM faults WHERE reason = ?", (UNREADABLE,))
    database.executemany("INSERT INTO faults VALUES (?, ?)", [(ref, UNREADABLE) for ref in refs])


def memo(database: sqlite3.Connection, kind: str, key: str) -> bytes | None:
    """Returns a kept answer; its key names everything that it depends on."""
    row = database.execute("SELECT value FROM memos WHERE kind = ? AND key = ?", (kind, key)).fetchone()
    return row[0] if row else None


def memos(database: sqlite3.Connection, kind: str, keys: Iterable[str] | None = None) -> dict[str, bytes]:
    """Returns the kept answers of a kind: all of them, or those with some keys."""
    if keys is None:
        return dict(database.execute("SELECT key, value FROM memos WHERE kind = ?", (kind,)))
    found = ((key, memo(database, kind, key)) for key in keys)
    return {key: value for key, value in found if value is not None}


def keep_memos(database: sqlite3.Connection, kind: str, values: Mapping[str, bytes]) -> None:
    """Keeps answers; a busy database loses them, which costs time and nothing else."""
    try:
        database.execute("BEGIN IMMEDIATE")
        rows = [(kind, key, value) for key, value in values.items()]
        database.executemany("INSERT OR REPLACE INTO memos VALUES (?, ?, ?)", rows)
        database.execute("COMMIT")
    except sqlite3.OperationalError:
        if database.in_transaction:
            database.execute("ROLLBACK")
