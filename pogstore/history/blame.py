"""`blame`: which event last wrote each line of a file, and else which commit.

Joins three sources: the events that touched the path, the commits that changed it, and `git blame` for the commit of
each line. Answers are values. `attributed.py` finds the events, and keeps what it found.
"""

import os
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pogstore import codec
from pogstore.errors import BadInput, GitFailed, NotFound
from pogstore.history.attributed import Question, attributed
from pogstore.history.claims import Rule
from pogstore.history.explanation import Owner
from pogstore.history.former import MOST_NAMES
from pogstore.history.lines import split
from pogstore.history.streamed import BEFORE_UNSEEN, effective_times, recorded_names
from pogstore.model import EventId, Observed, Oid, Sealed, TaskId
from pogstore.store import gitlog, rows
from pogstore.store.gitlog import NOT_COMMITTED, CommitInfo, LineCommit
from pogstore.store.store import Store

__all__ = ["BEFORE_UNSEEN", "MOST_NAMES", "Blame", "BlamedLine", "blame", "changed_files", "effective_times"]

NO_RANGE = "is not START,END, such as 10,20 or 10,+5"


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
    rule: Rule | None = None
    """By which rule the event has the line, if that was asked."""


class Blame(NamedTuple):
    """The lines of one file, and the events that own some of its lines.

    `absent` names events whose contents are not here, so that their lines are not known.
    """

    path: bytes
    lines: tuple[BlamedLine, ...]
    events: dict[EventId, Sealed]
    commits: dict[Oid, CommitInfo]
    absent: tuple[EventId, ...]


def blame(
    store: Store,
    path: bytes,
    revision: str | None = None,
    ranges: Sequence[str] = (),
    options: Sequence[str] = (),
    contents: bytes | None = None,
    *,
    strict: bool = False,
    explained: bool = False,
) -> Blame:
    """Returns the lines of a file in the work tree, or in a revision, each with its owner.

    `ranges` limit the lines, each as `git blame -L` takes them. `options` go to git, and change which commit it names.
    `contents` stand in for what the file of the work tree holds. A line that differs from an earlier one in white space
    alone keeps that one's owner, or with `strict` goes to whoever changed it. With `explained` the lines of events have
    a rule. Raises `NotFound` if there is no such file. Writes nothing but the index.
    """
    asked = _Asked(path, revision, tuple(ranges), tuple(options), contents, strict, explained)
    return store.index.ask(store.objects, store.refs, lambda _: _blame(store, asked))


class _Asked(NamedTuple):
    """What `blame` is asked."""

    path: bytes
    revision: str | None
    ranges: tuple[str, ...]
    options: tuple[str, ...]
    contents: bytes | None
    strict: bool
    explained: bool


def _blame(store: Store, asked: _Asked) -> Blame:
    tip = gitlog.commit_of(store.git, asked.revision) if asked.revision else gitlog.find_head(store.git)

    lines, commits, ask = _git_lines(store, asked, tip)
    content = b"".join(line.text + b"\n" for line in lines)
    known = {info.path for oid, info in commits.items() if oid != NOT_COMMITTED}
    is_new = asked.revision is None and asked.path not in known
    found = attributed(store, Question(asked.path, tip, content, asked.strict, is_new, asked.explained))
    events = _events(store, found.runs)
    owners = [owner for owner, count in found.runs for _ in range(count)]
    wanted = _limited(lines, asked.ranges, ask) if asked.ranges else lines
    blamed = [_line(line, owners[line.final - 1], events) for line in wanted]
    return Blame(asked.path, tuple(blamed), events, commits, tuple(found.absent))


_Ask = Callable[[Sequence[str]], bytes]


def _git_lines(
    store: Store, asked: _Asked, tip: Oid | None
) -> tuple[list[LineCommit], dict[Oid, CommitInfo], _Ask | None]:
    """Returns git's own answer, and what asks it again; a file that git does not know has uncommitted lines.

    Git is asked first, and only where it has no answer whether it knows the file: most do. A file that was recorded to
    be moved from a name that git knows is blamed as that one with other contents.
    """
    ask = _asking(store, asked, tip, asked.contents)
    try:
        return (*gitlog.parse_blame(ask(())), ask)
    except GitFailed:
        if tip is not None and gitlog.blob_at(store.git, tip, asked.path) is not None:
            _refuse_if_deleted(store, asked)
            raise
    if asked.revision is not None:
        name = asked.path.decode("utf-8", "replace")
        raise NotFound("file", name, f"'git ls-tree -r --name-only {asked.revision}' lists the files of that revision")
    content = _work_tree_bytes(store, asked.path) if asked.contents is None else asked.contents
    older = _committed_name(store, asked.path, tip) if tip is not None else None
    if older is None:
        return (*_uncommitted(asked.path, content), None)
    ask = _asking(store, asked._replace(path=older), tip, content)
    lines, commits = gitlog.parse_blame(ask(()))
    if NOT_COMMITTED in commits:
        commits[NOT_COMMITTED] = commits[NOT_COMMITTED]._replace(path=asked.path)
    return lines, commits, ask


def _asking(store: Store, asked: _Asked, tip: Oid | None, contents: bytes | None) -> _Ask:
    def ask(limits: Sequence[str]) -> bytes:
        revision = tip if asked.revision else None
        return gitlog.blame(store.git, asked.path, revision, [*asked.options, *limits], contents)

    return ask


def _committed_name(store: Store, path: bytes, tip: Oid) -> bytes | None:
    """Returns the name in a commit from which recorded renames have led to a path."""
    names = recorded_names(store, path)
    return next((name for name in names if gitlog.blob_at(store.git, tip, name) is not None), None)


def _uncommitted(path: bytes, content: bytes) -> tuple[list[LineCommit], dict[Oid, CommitInfo]]:
    head = b"%s %d %d"
    lines = [
        LineCommit(NOT_COMMITTED, n, n, (head % (NOT_COMMITTED.encode(), n, n),), line.removesuffix(b"\n"))
        for n, line in enumerate(split(content), 1)
    ]
    return lines, {NOT_COMMITTED: CommitInfo("Not Committed Yet", 0, 0, "", boundary=False, path=path)}


def _limited(lines: list[LineCommit], ranges: Sequence[str], ask: _Ask | None) -> list[LineCommit]:
    """Returns the lines in some ranges: by git itself, with its own heads, if it knows the file."""
    if ask is not None:
        try:
            return gitlog.parse_blame(ask([option for text in ranges for option in ("-L", text)]))[0]
        except GitFailed as fault:
            raise _bad_range(ranges, len(lines), fault) from fault
    numbers = {number for text in ranges for number in _range(text, len(lines))}
    return [line for line in lines if line.final in numbers]


def _refuse_if_deleted(store: Store, asked: _Asked) -> None:
    """Raises `NotFound` for a file that git knows, and that is asked for as the work tree has it, which has it not."""
    root, name = store.layout.work_tree, os.fsdecode(asked.path)
    if asked.revision is None and asked.contents is None and root is not None and not os.path.lexists(root / name):
        raise NotFound(
            "file", name, "it is deleted in the work tree; 'git pog blame HEAD FILE' blames it as HEAD has it"
        )


def _bad_range(ranges: Sequence[str], total: int, fault: GitFailed) -> BadInput:
    """Returns in our words what git says of ranges of lines."""
    where = " ".join(f"-L {text}" for text in ranges)
    if re.search(r"has only \d+ lines?", fault.stderr):
        return BadInput(where, _lines_in(total))
    return BadInput(where, "no line matches" if re.search("[Nn]o match", fault.stderr) else NO_RANGE)


def _lines_in(total: int) -> str:
    return f"the file has {total} line{'' if total == 1 else 's'}"


def _range(text: str, total: int) -> range:
    """Returns the line numbers of `10,20`, `10,+5`, `10` (to the end) or `,20`."""
    match = re.fullmatch(r"(?P<first>\d*)(?:,(?P<plus>\+?)(?P<last>\d*))?", text)
    if match is None or not text:
        raise BadInput(f"-L {text}", NO_RANGE)
    first = int(match["first"] or 1)
    last = int(match["last"] or total)
    last = first + last - 1 if match["plus"] and match["last"] else last
    if not 0 < first <= total:
        raise BadInput(f"-L {text}", _lines_in(total))
    return range(min(first, last), min(max(first, last), total) + 1)


def _work_tree_bytes(store: Store, path: bytes) -> bytes:
    root = store.layout.work_tree
    name = path.decode("utf-8", "surrogateescape")
    if root is not None and (root / name).is_dir():
        shown = path.decode("utf-8", "replace")
        raise BadInput(f"'{shown}'", "is a folder, not a file", "name its files; 'git ls-files FOLDER' lists them")
    if root is None or not (root / name).is_file():
        raise NotFound("file", path.decode("utf-8", "replace"))
    return (root / name).read_bytes()


def _events(store: Store, runs: Sequence[tuple[Owner, int]]) -> dict[EventId, Sealed]:
    """Returns the events among some owners; what else happened to the file need not be read for them."""
    found = {}
    for owner in dict.fromkeys(owner for owner, _ in runs):
        body = rows.body(store.index.connection, EventId(owner)) if owner else None
        if body is not None:
            found[EventId(owner)] = codec.decode(body)
    return found


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
    rule: Rule | None = getattr(owner, "rule", None) if event is not None else None
    return BlamedLine(
        line.final, line.text, kind, event, task, commit, line.original, observed, reason, line.head, rule
    )


def changed_files(store: Store) -> list[bytes]:
    """Returns the files of the work tree that differ from HEAD and still exist, sorted."""
    return gitlog.changed_files(store.git)
