"""`blame`: which event last wrote each line of a file, and else which commit.

Joins three sources: the events that touched the path, the commits that changed it, and `git blame` for the commit of
each line. Answers are values, kept in the index by everything that they depend on. `attribution.py` has the algorithm.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from typing import NamedTuple

import msgspec

from pogstore import codec, digest, state
from pogstore.errors import BadInput, NotFound
from pogstore.graph import replay_order
from pogstore.history.attribution import Attribution
from pogstore.history.explanation import UNKNOWN, Key, Owner
from pogstore.history.lines import split
from pogstore.history.stream import SECOND, SLACK, CommitStep, EventStep, Kind, steps
from pogstore.model import BlobId, Change, EventId, Observed, Oid, Opaque, Sealed, Side, TaskId
from pogstore.store import gitlog, rows
from pogstore.store.content import path_bytes
from pogstore.store.gitlog import NOT_COMMITTED, CommitInfo, FormerName, LineCommit, PathCommit
from pogstore.store.libgit2 import line_hunks
from pogstore.store.store import MAX_CONTENT, Store

MEMO = "blame-4"
NAMES_MEMO = "names-2"
BEFORE_UNSEEN = "no-before"
"""Why an event's coverage is partial if nobody saw what a file held before."""
ABSENT = "absent:"
"""Begins the key of a version whose content is not here."""
MOST_NAMES = 64
"""So many names of one file are looked at."""
LONGEST_NAME = 4096
COMMIT_DELAY = SECOND
"""µs: a commit counts as made at the end of its second, so that an event of the same second comes before it."""


class BlamedLine(NamedTuple):
    """One line and its owner: `event`, `observed`, `commit` or `unknown` (then with a reason)."""

    number: int
    text: bytes
    owner: str
    event: EventId | None
    task: TaskId | None
    commit: Oid | None
    original: int
    observed: EventId | None
    reason: str | None
    head: tuple[bytes, ...]


class Blame(NamedTuple):
    """The lines of one file. `absent` names events whose contents are not here, so that their lines are not known."""

    path: bytes
    lines: tuple[BlamedLine, ...]
    events: dict[EventId, Sealed]
    commits: dict[Oid, CommitInfo]
    absent: tuple[EventId, ...]


class _Found(msgspec.Struct, frozen=True):
    """What the memo holds: owners as runs, and the events without content."""

    runs: list[tuple[Owner, int]]
    absent: list[EventId]


def blame(
    store: Store,
    path: bytes,
    revision: str | None = None,
    ranges: Sequence[str] = (),
    options: Sequence[str] = (),
    contents: bytes | None = None,
) -> Blame:
    """Returns the lines of a file in the work tree, or in a revision, each with its owner.

    `ranges` limit the lines, each as `git blame -L` takes them. `options` go to git, and change which commit it names.
    `contents` stand in for what the file of the work tree holds. Raises `NotFound` if there is no such file. Writes
    nothing but the index.
    """
    return store.index.ask(
        store.objects, store.refs, lambda _: _blame(store, path, revision, ranges, options, contents)
    )


def _blame(
    store: Store,
    path: bytes,
    revision: str | None,
    ranges: Sequence[str],
    options: Sequence[str],
    contents: bytes | None,
) -> Blame:
    tip = gitlog.commit_of(store.git, revision) if revision else gitlog.find_head(store.git)

    def ask(limits: Sequence[str] = ()) -> bytes:
        return gitlog.blame(store.git, path, tip if revision else None, [*options, *limits], contents)

    lines, commits = _git_lines(store, path, tip, ask, contents, in_work_tree=revision is None)
    names = _names(store, tip, path)
    events = list(_events(store, names))
    found = _owners(store, path, tip, names, lines, events)
    by_id = {sealed.event_id: sealed for sealed in events}
    owners = [owner for owner, count in found.runs for _ in range(count)]
    wanted = _limited(store, path, tip, lines, ranges, ask) if ranges else lines
    blamed = [_line(line, owners[line.final - 1], by_id) for line in wanted]
    return Blame(path, tuple(blamed), by_id, commits, tuple(found.absent))


def _git_lines(
    store: Store, path: bytes, tip: Oid | None, ask: Callable[[], bytes], contents: bytes | None, *, in_work_tree: bool
) -> tuple[list[LineCommit], dict[Oid, CommitInfo]]:
    """Returns git's own answer; a file that is in no commit yet has lines that are not committed."""
    if tip is not None and (not in_work_tree or gitlog.blob_at(store.git, tip, path) is not None):
        if not in_work_tree and gitlog.blob_at(store.git, tip, path) is None:
            raise NotFound(
                "file", path.decode("utf-8", "replace"), "name it relative to the root, as git ls-files does"
            )
        return gitlog.parse_blame(ask())
    content = _work_tree_bytes(store, path) if contents is None else contents
    head = b"%s %d %d"
    lines = [
        LineCommit(NOT_COMMITTED, n, n, (head % (NOT_COMMITTED.encode(), n, n),), line.removesuffix(b"\n"))
        for n, line in enumerate(split(content), 1)
    ]
    return lines, {NOT_COMMITTED: CommitInfo("Not Committed Yet", 0, 0, "", boundary=False, path=path)}


def _limited(
    store: Store,
    path: bytes,
    tip: Oid | None,
    lines: list[LineCommit],
    ranges: Sequence[str],
    ask: Callable[[Sequence[str]], bytes],
) -> list[LineCommit]:
    """Returns the lines in some ranges: by git itself, with its own heads, if it knows the file."""
    if tip is not None and gitlog.blob_at(store.git, tip, path) is not None:
        return gitlog.parse_blame(ask([option for text in ranges for option in ("-L", text)]))[0]
    numbers = {number for text in ranges for number in _range(text, len(lines))}
    return [line for line in lines if line.final in numbers]


def _range(text: str, total: int) -> range:
    """Returns the line numbers of `10,20`, `10,+5`, `10` (to the end) or `,20`."""
    match = re.fullmatch(r"(?P<first>\d*)(?:,(?P<plus>\+?)(?P<last>\d*))?", text)
    if match is None or not text:
        raise BadInput(f"-L {text}", "is not START,END")
    first = int(match["first"] or 1)
    last = int(match["last"] or total)
    last = first + last - 1 if match["plus"] and match["last"] else last
    if not 0 < first <= total:
        raise BadInput(f"-L {text}", f"the file has {total} lines")
    return range(min(first, last), min(max(first, last), total) + 1)


def _work_tree_bytes(store: Store, path: bytes) -> bytes:
    root = store.layout.work_tree
    name = path.decode("utf-8", "surrogateescape")
    if root is None or not (root / name).is_file():
        raise NotFound("file", path.decode("utf-8", "replace"))
    return (root / name).read_bytes()


def _names(store: Store, tip: Oid | None, path: bytes) -> list[bytes]:
    """Returns a path and its older names, by git's renames and by those that events recorded.

    An event may come from anybody, so what git would not take for a path is no name, and their number is bounded.
    """
    names = [path, *(former.name for former in _former_names(store, tip, path))]
    for name in names:  # grows while it is walked
        recorded = rows.former_names(store.index.connection, name, MOST_NAMES)
        fresh = [older for older in recorded if older not in names and _can_be_named(older)]
        names += fresh[: max(0, MOST_NAMES - len(names))]
    return names


def _can_be_named(path: bytes) -> bool:
    """Says whether git takes some bytes for a path inside the repository."""
    parts = path.split(b"/")
    return len(path) <= LONGEST_NAME and b"\0" not in path and not {b"", b".", b".."}.intersection(parts)


def _former_names(store: Store, tip: Oid | None, path: bytes) -> list[FormerName]:
    """Returns the older names of a file by git's renames and copies."""
    if tip is None:
        return []
    key = f"{tip}:{path.hex()}{_altered_history(store)}"
    kept = rows.memo(store.index.connection, NAMES_MEMO, key)
    if kept is not None:
        return msgspec.json.decode(kept, type=list[FormerName])
    names = gitlog.older_names(store.git, tip, path)
    rows.keep_memos(store.index.connection, NAMES_MEMO, {key: msgspec.json.encode(names)})
    return names


def _altered_history(store: Store) -> str:
    """Returns what makes git see other commits behind the same tip, as a digest; nothing where there is nothing."""
    parts = [f"{ref} {oid}".encode() for ref, oid in store.refs.list("refs/replace/").items()]
    for name in ("shallow", "info/grafts"):
        with suppress(OSError):
            parts.append((store.layout.common_dir / name).read_bytes())
    return ":" + digest.hexdigest(b"\n".join(parts)) if parts else ""


def _events(store: Store, names: Sequence[bytes]) -> tuple[Sealed, ...]:
    """Returns the events on some paths in replay order, each told once (echoes left out)."""
    found = {}
    for name in names:
        for body in rows.events_on_path(store.index.connection, name):
            sealed = codec.decode(body)
            found[sealed.event_id] = sealed
    return state.distinct(state.whole(replay_order(found.values())).events).used


def _owners(
    store: Store,
    path: bytes,
    tip: Oid | None,
    names: Sequence[bytes],
    lines: list[LineCommit],
    events: list[Sealed],
) -> _Found:
    if not events:
        return _Found([(UNKNOWN, len(lines))] if lines else [], [])
    content = b"".join(line.text + b"\n" for line in lines)
    key = _memo_key(store, path, tip, content, events)
    kept = rows.memo(store.index.connection, MEMO, key)
    if kept is not None:
        return msgspec.json.decode(kept, type=_Found)
    found = _attribute(store, path, tip, names, content, events)
    rows.keep_memos(store.index.connection, MEMO, {key: msgspec.json.encode(found)})
    return found


def _memo_key(store: Store, path: bytes, tip: Oid | None, content: bytes, events: list[Sealed]) -> str:
    """Everything that an answer depends on: path, commits, text, events, and which contents are here."""
    parts = [path.hex(), f"{tip or ''}{_altered_history(store)}", digest.hexdigest(content)]
    for sealed in events:
        parts.append(sealed.event_id)
        for change in _changes(sealed):
            sides = (change.before, change.after)
            parts += ["1" if side and _key(store, side) else "0" for side in sides]
    return digest.hexdigest("\n".join(parts).encode())


def _attribute(
    store: Store, path: bytes, tip: Oid | None, names: Sequence[bytes], content: bytes, events: list[Sealed]
) -> _Found:
    of_others = _OfOthers(_former_names(store, tip, path))
    commits = [commit for commit in _path_commits(store, tip, names) if not of_others.has_commit(commit)]

    def read(key: Key) -> bytes | None:
        try:
            return None if key.startswith(ABSENT) else store.objects.read(Oid(key), MAX_CONTENT)[1]
        except NotFound:
            return None

    attribution = Attribution(read, line_hunks)
    attribution.replay(steps(_event_steps(store, events, set(names), of_others), _commit_steps(commits)))
    target = next((key for key in _keys(store, content) if attribution.knows(key)), _keys(store, content)[0])
    head = gitlog.blob_at(store.git, tip, path) if tip else None
    now = max([sealed.event.time for sealed in events] + [commit.time for commit in commits])
    owners = attribution.owners(target, content, [head] if head else [], now)
    runs = [(owner, len(list(run))) for owner, run in groupby(owners)]
    return _Found(runs, [EventId(event) for event in attribution.absent])


def _path_commits(store: Store, tip: Oid | None, names: Sequence[bytes]) -> list[PathCommit]:
    return gitlog.path_commits(store.git, tip, names) if tip else []


class _OfOthers:
    """Tells what happened to other files under a former name: to the file that was copied, and to one made there later.

    What another branch does to the file under its former name still counts, since a merge brings it over.
    """

    def __init__(self, former: Iterable[FormerName]) -> None:
        self._former = {each.name: each for each in former}
        self._versions: set[tuple[bytes, Key]] = set()

    def has_commit(self, commit: PathCommit) -> bool:
        """Says whether a commit is about another file; commits come first of all, in their order."""
        return self._has(commit.path, commit.time, commit.before, commit.after, made=commit.before is None)

    def has_event(self, name: bytes, step: EventStep) -> bool:
        """Says whether a change is about another file; changes come in their order."""
        made = step.before is None and not step.unsure
        return self._has(name, step.time - SLACK, step.before, step.after, made=made)

    def _has(self, name: bytes, time: int, before: Key | None, after: Key | None, *, made: bool) -> bool:
        former = self._former.get(name)
        if former is None or time <= former.until:
            return False
        other = former.copied or made or (before is not None and (name, before) in self._versions)
        if other and after is not None:
            self._versions.add((name, after))
        return other


def _keys(store: Store, content: bytes) -> list[Key]:
    """Returns the keys that a text from `git blame` may have: it does not say whether the last line ends."""
    return [store.objects.name("blob", content), store.objects.name("blob", content[:-1])]


def _event_steps(store: Store, events: list[Sealed], names: set[bytes], of_others: _OfOthers) -> list[EventStep]:
    """Returns the changes of events on some paths, in the order of their effective times."""
    found = []
    for time, sealed in effective_times(events):
        for change in _changes(sealed):
            name = path_bytes(change.path)
            if name in names and (change.before or change.after):
                before, after = _side_key(store, change.before), _side_key(store, change.after)
                unsure = getattr(sealed.event, "coverage_reason", None) == BEFORE_UNSEEN
                step = EventStep(
                    sealed.event_id, time, before, after, _chain(sealed, name), unsure, _kind(sealed), _duration(sealed)
                )
                if not of_others.has_event(name, step):
                    found.append(step)
    return found


def effective_times(events: Iterable[Sealed]) -> list[tuple[int, Sealed]]:
    """Returns events with the greatest `time` of each and its predecessors, in the order in which blame takes them.

    Predecessors are the earlier events of the same task and, for what was recorded live, all earlier live events: the
    clocks of an import say nothing about other tasks (`docs/decisions/0005-order-of-imported-events.md`).
    """
    by_task: dict[TaskId, int] = {}
    live = 0
    found = []
    for sealed in sorted(events, key=lambda sealed: (sealed.event.clock, sealed.event_id)):
        event = sealed.event
        time = max(event.time, by_task.get(event.task, 0), 0 if _imported(sealed) else live)
        by_task[event.task] = time
        live = live if _imported(sealed) else time
        found.append((time, sealed))
    return sorted(found, key=lambda item: (item[0], item[1].event.clock, item[1].event_id))


def _imported(sealed: Sealed) -> bool:
    event = sealed.event
    return not isinstance(event, Opaque) and event.source is not None and event.source.format != "spool"


def _commit_steps(commits: Iterable[PathCommit]) -> Iterator[CommitStep]:
    """Yields the commits that changed a path; a merge only if it differs from every parent."""
    for commit, several in groupby(commits, key=lambda row: row.commit):
        changes = list(several)
        before = tuple(dict.fromkeys(row.before for row in changes if row.before))
        if max(row.against for row in changes) < len(changes[0].parents):
            continue
        for after in dict.fromkeys(row.after for row in changes if row.after):
            yield CommitStep(commit, changes[0].time + COMMIT_DELAY, changes[0].authored, after, before)


def _chain(sealed: Sealed, name: bytes) -> str:
    event = sealed.event
    actor = event.actor
    place = (None if isinstance(event, Opaque) else event.worktree) or (actor.session if actor else None) or event.task
    return f"{place}:{name.hex()}"


def _kind(sealed: Sealed) -> Kind:
    """Returns what an event saw: only an edit is known to have written all that it changed."""
    if isinstance(sealed.event, Observed):
        return "observed"
    return "edit" if getattr(sealed.event, "class_", "edit") == "edit" else "shell"


def _duration(sealed: Sealed) -> int | None:
    duration: int | None = getattr(sealed.event, "duration_ms", None)
    return None if duration is None else duration * 1_000


def _changes(sealed: Sealed) -> tuple[Change, ...]:
    changes: tuple[Change, ...] = getattr(sealed.event, "changes", ())
    return changes


def _side_key(store: Store, side: Side | None) -> Key | None:
    if side is None:
        return None
    return _key(store, side) or f"{ABSENT}{side.blob or side.commit}"


def _key(store: Store, side: Side) -> Key | None:
    if side.blob is None:
        return None
    found = rows.contents(store.index.connection, BlobId(side.blob))
    return found[0].oid if found else None


def _line(line: LineCommit, owner: Owner, events: dict[EventId, Sealed]) -> BlamedLine:
    committed = line.commit != NOT_COMMITTED
    sealed = events.get(EventId(owner))
    commit = line.commit if committed else None
    kind, event, observed, reason = "commit", None, None, None
    if sealed is not None and isinstance(sealed.event, Observed):
        observed = sealed.event_id
        kind, event = ("commit", None) if committed else ("observed", sealed.event_id)
    elif sealed is not None:
        kind, event = "event", sealed.event_id
    elif not committed:
        kind, reason = "unknown", "not committed, and in no recorded event"
    task = sealed.event.task if sealed is not None and event is not None else None
    return BlamedLine(line.final, line.text, kind, event, task, commit, line.original, observed, reason, line.head)


def changed_files(store: Store) -> list[bytes]:
    """Returns the files of the work tree that differ from HEAD and still exist, sorted."""
    return gitlog.changed_files(store.git)
