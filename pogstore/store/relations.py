"""Questions to an index that is up to date about how events hang together: links, file versions, commits.

Like `rows.py`: each one query; knows the tables of `index.py` and nothing of git.
"""

import sqlite3

from pogstore.model import BlobId, EventId, Oid, TaskId

TOLD = "told"
"""The role of a commit of which a `committed` event tells."""
BASE = "base"
"""The role of a commit that the work tree was on."""


def linked_into(database: sqlite3.Connection, task: TaskId) -> list[bytes]:
    """Returns the canonical bytes of other tasks' events with a link to an event of a task, in replay order."""
    rows = database.execute(
        "SELECT DISTINCT f.clock, f.id, f.body FROM events e JOIN links l ON l.target = e.id JOIN events f"
        " ON f.n = l.event WHERE e.task = ?1 AND f.task <> ?1 ORDER BY f.clock, f.id",
        (task,),
    )
    return [row[2] for row in rows]


def has_events(database: sqlite3.Connection, task: TaskId) -> bool:
    """Says whether any event of a task is here."""
    return database.execute("SELECT 1 FROM events WHERE task = ? LIMIT 1", (task,)).fetchone() is not None


def task_of(database: sqlite3.Connection, event_id: EventId) -> TaskId | None:
    """Returns the task of an event; nothing if it is not here."""
    row = database.execute("SELECT task FROM events WHERE id = ?", (event_id,)).fetchone()
    return TaskId(row[0]) if row else None


def tasks_on_path(database: sqlite3.Connection, path: bytes) -> list[TaskId]:
    """Returns the tasks of the events that changed a path, sorted."""
    query = "SELECT DISTINCT e.task FROM changes c JOIN events e ON e.n = c.event WHERE c.path = ? ORDER BY e.task"
    return [TaskId(row[0]) for row in database.execute(query, (path,))]


def last_on_path(database: sqlite3.Connection, path: bytes) -> EventId | None:
    """Returns the last event in replay order that changed a path; nothing if none did."""
    query = (
        "SELECT e.id FROM changes c JOIN events e ON e.n = c.event WHERE c.path = ? ORDER BY e.clock DESC, e.id DESC"
    )
    row = database.execute(f"{query} LIMIT 1", (path,)).fetchone()
    return EventId(row[0]) if row else None


def ids_around(database: sqlite3.Connection, path: bytes, blob: BlobId) -> list[EventId]:
    """Returns the ids of the events that found a version at a path, or left it there, in replay order.

    What a rename found stood at the path that it moved the file away from.
    """
    rows = database.execute(
        "SELECT id FROM events WHERE n IN (SELECT event FROM changes WHERE after = ?2 AND +path = ?1"
        " UNION SELECT event FROM changes WHERE before = ?2 AND coalesce(came_from, path) = ?1) ORDER BY clock, id",
        (path, blob),
    )
    return [EventId(row[0]) for row in rows]


def versions_shared(database: sqlite3.Connection, event_id: EventId) -> set[tuple[bytes, BlobId]]:
    """Returns the versions, each at its path, that an event found or left and that another event found or left too."""
    found: set[tuple[bytes, BlobId]] = set()
    for path, blob in (("coalesce(c.came_from, c.path)", "c.before"), ("c.path", "c.after")):
        query = (
            f"SELECT DISTINCT {path}, {blob} FROM events e JOIN changes c ON c.event = e.n"  # noqa: S608 - columns
            f" WHERE e.id = ? AND {blob} IS NOT NULL AND (EXISTS (SELECT 1 FROM changes o WHERE o.before = {blob}"
            f" AND o.event <> c.event AND coalesce(o.came_from, o.path) = {path})"
            f" OR EXISTS (SELECT 1 FROM changes o WHERE o.after = {blob} AND o.event <> c.event AND +o.path = {path}))"
        )
        found |= {(row[0], BlobId(row[1])) for row in database.execute(query, (event_id,))}
    return found


def ids_naming_commit(database: sqlite3.Connection, role: str, commit: Oid) -> list[EventId]:
    """Returns the ids of the events that tell of a commit, or were made on it (`TOLD`, `BASE`), in replay order."""
    rows = database.execute(
        "SELECT DISTINCT e.clock, e.id FROM commits c JOIN events e ON e.n = c.event WHERE c.oid = ? AND c.role = ?"
        " ORDER BY e.clock, e.id",
        (commit, role),
    )
    return [EventId(row[1]) for row in rows]


def ids_telling_of_commits(database: sqlite3.Connection, task: TaskId) -> list[EventId]:
    """Returns the ids of a task's `committed` events, in replay order."""
    query = "SELECT id FROM events WHERE task = ? AND kind = 'committed' ORDER BY clock, id"
    return [EventId(row[0]) for row in database.execute(query, (task,))]


def names_of_oid(database: sqlite3.Connection, oid: Oid) -> list[BlobId]:
    """Returns the names under which a git blob is kept as a content that is not private, sorted."""
    query = "SELECT DISTINCT blob FROM contents WHERE class = 'content' AND oid = ? ORDER BY blob"
    return [BlobId(row[0]) for row in database.execute(query, (oid,))]
