"""Blamed lines as text, as git's porcelain and incremental formats, and as JSON."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from itertools import groupby
from typing import NamedTuple

import msgspec

from pogstore.cli._render import counted, cut, day, raw_path_text, safe, short_who, style, table, tell, who
from pogstore.cli._values import Value, kind_name
from pogstore.errors import PogError
from pogstore.history.blame import Blame, BlamedLine
from pogstore.history.claims import REASONS, doubtful, is_shared, sure_of
from pogstore.history.incremental import Group
from pogstore.history.tasks import UNTITLED, summaries, summary
from pogstore.model import Actor, TaskId
from pogstore.store.content import path_of
from pogstore.store.store import Store

SHORT = 8
WHO, TITLE = 20, 28
"""Columns that the actor and the title of the task may take; less on a narrow terminal."""
_PALETTE = ("cyan", "yellow", "green", "magenta", "blue", "bright_red", "bright_cyan", "bright_yellow", "bright_green")
_DAY = 86_400_000_000
_AGES = ((7 * _DAY, "bright_red"), (30 * _DAY, "yellow"), (365 * _DAY, "green"))
_DOUBT = "?"
_RULE = max(map(len, REASONS))
_SHARED = "perhaps shared: somebody else may have saved these lines while the call ran; 'git pog show EVENT' says more"
OLD = "blue"
COLOR_BY = ("actor", "task", "age")
_MARKS = {"event": "*", "observed": "~", "commit": " ", "unknown": "?"}
_COLORS = {"event": "cyan", "observed": "yellow", "unknown": "red"}


class Look(NamedTuple):
    """What a person asked to see: fewer columns (`-s`), addresses (`-e`), what colours stand for, and since when."""

    color: bool = False
    short: bool = False
    email: bool = False
    color_by: str | None = None
    now: int = 0
    explain: bool = False


class Texts:
    """How blamed files are shown: titles looked up once, models named only where one name stands for several."""

    def __init__(self, store: Store, found: Sequence[Blame], width: int | None, look: Look) -> None:
        self._store, self._look = store, look
        self._colors: dict[str, str] = {}
        self.title = cache(self._look_up)
        self._tasks = {sealed.event.task for each in found for sealed in each.events.values()}
        self._who, self._title_width = (WHO, TITLE) if width is None else (min(WHO, width // 6), min(TITLE, width // 5))
        self._models = _models(found)

    def lines(self, found: Blame) -> Iterator[str]:
        """Yields a file as `git blame` prints one: mark, short id, who, for which task, when, line number, text."""
        rows = [[*self._columns(found, line), _day(found, line), str(line.number)] for line in found.lines]
        if self._look.explain:
            rules = [_rule(found, line) for line in found.lines]
            width = _RULE + any(rule.endswith(_DOUBT) for rule in rules)
            rows = [[f"{row[0]} {rule:{width}}", *row[1:]] for row, rule in zip(rows, rules, strict=True)]
        heads = _short(rows) if self._look.short else _aligned(rows)
        for line, head in zip(found.lines, heads, strict=True):
            text = safe(line.text.decode("utf-8", "backslashreplace").removesuffix("\r"))
            color = self._color(found, line) if self._look.color else ""
            yield f"{style(head, color, enabled=bool(color))} {text}".rstrip()

    def _color(self, found: Blame, line: BlamedLine) -> str:
        """Returns the colour of a line by its owner, or by what was asked for; nothing for the plain ones."""
        if self._look.color_by == "age":
            time = _time(found, line)
            age = self._look.now - (self._look.now if time is None else time)
            return next((color for limit, color in _AGES if age < limit), OLD)
        if self._look.color_by == "task":
            return self._color_of(line.task) if line.task else ""
        if self._look.color_by == "actor":
            return self._color_of(self._columns(found, line)[1])
        return _COLORS.get(line.owner, "")

    def _color_of(self, name: str) -> str:
        """Returns a colour for each of several names, in the order in which they come; there are not many."""
        return self._colors.setdefault(name, _PALETTE[len(self._colors) % len(_PALETTE)])

    def _columns(self, found: Blame, line: BlamedLine) -> list[str]:
        mark = _MARKS[line.owner]
        if line.event is not None:
            event = found.events[line.event].event
            # of what somebody else changed meanwhile the task is not the reason
            title = "" if line.owner == "observed" else self.title(event.task)
            return [f"{mark}{line.event[:SHORT]}", self._name(event.actor), cut(safe(title), self._title_width)]
        if line.commit is not None:
            info = found.commits[line.commit]
            name = f"{mark}{line.commit[:SHORT]}"
            author = info.mail if self._look.email else info.author
            return [name, cut(safe(author), self._who), cut(safe(info.subject), self._title_width)]
        reason = (line.reason or "").partition(",")[0]  # `why` says all of it
        return [f"{mark}{'0' * SHORT}", "unknown", cut(safe(reason), self._title_width)]

    def _name(self, actor: Actor | None) -> str:
        if self._look.email and actor is not None and actor.type == "human" and actor.on_behalf_of is not None:
            return cut(f"<{safe(actor.on_behalf_of.email)}>", self._who)
        several = actor is not None and len(self._models[short_who(actor)]) > 1
        model = f" {safe(actor.model)}" if actor is not None and actor.model and several else ""
        return cut(short_who(actor) + model, self._who)

    @cached_property
    def _titles(self) -> dict[TaskId, str]:
        """The titles of all tasks that have lines, looked up at once."""
        try:
            return {line.task: line.title for line in summaries(self._store, sorted(self._tasks))}
        except PogError:
            return {}

    def _look_up(self, task: TaskId) -> str:
        try:
            return self._titles.get(task) or summary(self._store, task).title
        except PogError:
            return UNTITLED


def explained(found: Iterable[Blame]) -> Iterator[str]:
    """Yields what the rules mean by which some lines have their events, the surest first."""
    named = {_rule(each, line) for each in found for line in each.lines}
    rows = []
    for rule, reason in REASONS.items():
        rows += [[rule, f"{reason.sure}:", reason.words]] if rule in named else []
        if rule + _DOUBT in named:
            rows.append([rule + _DOUBT, f"{doubtful(reason.sure)}:", f"{reason.words}; perhaps shared"])
    yield from ["", *table(rows)] if rows else []
    if any(name.endswith(_DOUBT) for name in named):
        yield _SHARED


def _rule(found: Blame, line: BlamedLine) -> str:
    """Returns the rule by which a line has its event, with a mark if somebody else may have written it."""
    if line.rule is None or line.event is None:
        return ""
    return line.rule + (_DOUBT if is_shared(found.events[line.event].event) else "")


def _models(found: Iterable[Blame]) -> dict[str, set[str | None]]:
    """Returns the models that acted under each name."""
    models: dict[str, set[str | None]] = defaultdict(set)
    for each in found:
        for line in each.lines:
            actor = each.events[line.event].event.actor if line.event is not None else None
            if actor is not None:
                models[short_who(actor)].add(actor.model)
    return models


def _day(found: Blame, line: BlamedLine) -> str:
    """Returns the date of what owns a line."""
    time = _time(found, line)
    return "-" if time is None else day(time)


def _time(found: Blame, line: BlamedLine) -> int | None:
    """Returns when what owns a line was done, in µs."""
    if line.event is not None:
        return found.events[line.event].event.time
    return found.commits[line.commit].time if line.commit is not None else None


def _short(rows: Sequence[list[str]]) -> list[str]:
    """Returns what `-s` leaves of the columns: `id number)`."""
    return [f"{row[0]} {row[-1]})" for row in _justified(rows)]


def _aligned(rows: Sequence[list[str]]) -> list[str]:
    """Returns the columns before the text: `id (who  title  day  number)`."""
    return [f"{row[0]} ({rest})" for row, rest in zip(rows, table([row[1:] for row in _justified(rows)]), strict=True)]


def _justified(rows: Sequence[list[str]]) -> list[list[str]]:
    longest = max((len(row[-1]) for row in rows), default=0)
    return [[*row[:-1], row[-1].rjust(longest)] for row in rows]


def porcelain(found: Blame) -> bytes:
    """Returns git's porcelain output, byte for byte, with header lines of ours before the text of an event's line."""
    parts: list[bytes] = []
    for line in found.lines:
        parts += line.head
        parts += _headers(found, line)
        parts.append(b"\t" + line.text)
    return b"".join(part + b"\n" for part in parts)


def incremental(found: Blame, each: Iterable[Group]) -> Iterator[bytes]:
    """Yields git's incremental output, byte for byte, with header lines of ours before the last one of a group.

    The lines of a group may have several owners: `pog-lines FIRST COUNT` says which lines the headers below are about.
    """
    for head, lines in each:
        parts = list(head[:-1])
        for (event, _), run in groupby(lines, key=lambda line: (line.event, line.rule)):
            owned = list(run)
            if event is not None:
                parts += [b"pog-lines %d %d" % (owned[0].number, len(owned)), *_headers(found, owned[0])]
        yield b"".join(part + b"\n" for part in (*parts, head[-1]))


def _headers(found: Blame, line: BlamedLine) -> list[bytes]:
    if line.event is None:
        return []
    event = found.events[line.event].event
    headers = [f"pog-event {line.event}", f"pog-task {event.task}", f"pog-actor {who(event.actor)}"]
    if line.rule is not None:
        headers.append(f"pog-rule {line.rule} {sure_of(line.rule, event)}")
    return [header.encode("utf-8", "replace") for header in headers]


def blamed_value(found: Blame) -> Value:
    """Returns what `--json` says of a file."""
    path = msgspec.to_builtins(path_of(found.path))
    value: Value = {"path": path, "lines": [line_value(found, line) for line in found.lines]}
    if found.absent:
        value["absent"] = list(found.absent)
    return value


def line_value(found: Blame, line: BlamedLine) -> Value:
    """Returns what `--json` says of a line."""
    value: Value = {"line": line.number, "text": line.text.decode("utf-8", "replace"), "owner": line.owner}
    if line.event is not None:
        sealed = found.events[line.event]
        value |= {"event": line.event, "task": sealed.event.task, "actor": who(sealed.event.actor)}
        value["kind"] = kind_name(sealed)
        value |= {"shared": True} if is_shared(sealed.event) else {}
        if line.rule is not None:
            value |= {"rule": line.rule, "sure": sure_of(line.rule, sealed.event)}
    rest = {"commit": line.commit, "observed": line.observed, "reason": line.reason}
    return value | {name: item for name, item in rest.items() if item is not None}


def warn_absent(found: Iterable[Blame]) -> None:
    """Says of which files contents are missing."""
    for each in found:
        if each.absent:
            tell(
                f"warning: {raw_path_text(each.path)}: "
                f"the contents of {counted(len(each.absent), 'event')} are not here, so their lines go to the commits"
            )
