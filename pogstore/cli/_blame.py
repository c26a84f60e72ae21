"""Blamed lines as text, as git's porcelain and as JSON."""

from collections.abc import Iterator
from functools import cache

from pogstore.cli._render import day, path_text, safe, style, table, who
from pogstore.cli._values import Value, kind_name
from pogstore.errors import PogError
from pogstore.history.blame import Blame, BlamedLine
from pogstore.history.tasks import UNTITLED, summary
from pogstore.model import Sealed, TaskId
from pogstore.store.content import path_of
from pogstore.store.store import Store

SHORT = 8
_MARKS = {"event": "*", "observed": "~", "commit": " ", "unknown": "?"}
_COLORS = {"event": "cyan", "observed": "yellow", "unknown": "red"}


class Titles:
    """The titles of tasks, each looked up once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.of = cache(self._look_up)

    def _look_up(self, task: TaskId) -> str:
        try:
            return summary(self._store, task).title
        except PogError:
            return UNTITLED


def text_lines(found: Blame, titles: Titles, *, color: bool) -> Iterator[str]:
    """Yields a file as `git blame` prints one: mark and short id, who, for which task, when, line number, text."""
    rows = [_columns(found, line, titles) for line in found.lines]
    for line, columns in zip(found.lines, table(rows), strict=True):
        text = safe(line.text.decode("utf-8", "replace").replace("\r", ""))
        head = style(columns, _COLORS.get(line.owner, ""), enabled=color and line.owner in _COLORS)
        yield f"{head}) {text}"


def _columns(found: Blame, line: BlamedLine, titles: Titles) -> list[str]:
    mark = _MARKS[line.owner]
    number = str(line.number).rjust(len(str(found.lines[-1].number)))
    if line.event is not None:
        sealed = found.events[line.event]
        title = titles.of(sealed.event.task)
        return [
            f"{mark}{line.event[:SHORT]} ({who(sealed.event.actor)}",
            _cut(safe(title), 28),
            day(sealed.event.time),
            number,
        ]
    if line.commit is not None:
        info = found.commits[line.commit]
        return [
            f"{mark}{line.commit[:SHORT]} ({safe(info.author)}",
            _cut(safe(info.subject), 28),
            day(info.time),
            number,
        ]
    return [f"{mark}{'0' * SHORT} (unknown", "not committed", "-", number]


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def porcelain(found: Blame) -> bytes:
    """Returns git's porcelain output, byte for byte, with header lines of ours before the text of an event's line."""
    parts: list[bytes] = []
    for line in found.lines:
        parts += line.head
        parts += _headers(found, line)
        parts.append(b"\t" + line.text)
    return b"".join(part + b"\n" for part in parts)


def _headers(found: Blame, line: BlamedLine) -> list[bytes]:
    if line.event is None:
        return []
    event = found.events[line.event].event
    headers = [f"pog-event {line.event}", f"pog-task {event.task}", f"pog-actor {who(event.actor)}"]
    return [header.encode("utf-8", "replace") for header in headers]


def blamed_value(found: Blame) -> Value:
    """Returns what `--json` says of a file."""
    value: Value = {"path": path_text(path_of(found.path)), "lines": [_line_value(found, line) for line in found.lines]}
    if found.absent:
        value["absent"] = list(found.absent)
    return value


def _line_value(found: Blame, line: BlamedLine) -> Value:
    value: Value = {"line": line.number, "text": _line_text(line.text), "owner": line.owner}
    if line.event is not None:
        sealed: Sealed = found.events[line.event]
        value |= {"event": line.event, "task": sealed.event.task, "actor": who(sealed.event.actor)}
        value["kind"] = kind_name(sealed)
    if line.commit is not None:
        value["commit"] = line.commit
    if line.observed is not None:
        value["observed"] = line.observed
    if line.reason is not None:
        value["reason"] = line.reason
    return value


def _line_text(text: bytes) -> str:
    return text.decode("utf-8", "replace")
