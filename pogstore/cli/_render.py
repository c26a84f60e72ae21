"""How values are shown: escaped, in columns, as JSON, on standard output or standard error.

Whatever comes from a store, a file or a remote goes through `safe` (or `to_json`) before it reaches a terminal.
"""

import json
import re
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta, timezone

from pogstore.model import Actor, OddPath, Path

# Controls (C0 but tab, DEL, C1), soft hyphen, bidi controls, zero-width and other invisible characters, tags, and lone
# surrogates (threats T1 and T2).
_CLASS = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# A variation selector that follows a symbol makes an emoji of it; elsewhere it is a place to hide things.
_SELECTOR = "(?<![\u203c-\u3299\U0001f000-\U0001faff])\ufe0f"
_HIDDEN = re.compile(f"[{_CLASS}\n]|{_SELECTOR}")
_HIDDEN_BUT_NEWLINE = re.compile(f"[{_CLASS}]|{_SELECTOR}")
ELLIPSIS = "…"
OF_OUTPUT = "standard output"
"""Marks an `OSError`, as a note, that came of writing there."""
DONE_ALL_THE_SAME = "it is done and recorded all the same; only what it prints is lost"
"""Marks one of them, as a note, of a command that had done its work."""
_NAMES = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_COLORS = {name: 30 + at for at, name in enumerate(_NAMES)} | {
    f"bright_{name}": 90 + at for at, name in enumerate(_NAMES)
}
"""What a terminal is told for the text that follows."""
_EPOCH = date(1970, 1, 1).toordinal()
_DAY = 86_400_000_000


def safe(text: str, *, lines: bool = False) -> str:
    """Returns a text in which nothing is hidden and nothing moves a terminal; newlines stay only if `lines` is set."""
    pattern = _HIDDEN_BUT_NEWLINE if lines else _HIDDEN
    return pattern.sub(lambda match: f"<U+{ord(match.group()):04X}>", text)


def to_json(value: object, *, indent: int | None = 2) -> str:
    """Returns a value as JSON in which hidden characters are escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _HIDDEN_BUT_NEWLINE.sub(lambda match: _json_escape(match.group()), text)


def _json_escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def echo(text: str = "") -> None:
    """Prints a line on standard output."""
    try:
        sys.stdout.write(f"{text}\n")
    except OSError as fault:
        fault.add_note(OF_OUTPUT)
        raise


def flush() -> None:
    """Writes what waits for standard output."""
    try:
        sys.stdout.flush()
    except OSError as fault:
        fault.add_note(OF_OUTPUT)
        raise


def tell(text: str) -> None:
    """Prints a line on standard error: a hint, a warning, or that there is nothing to print."""
    flush()
    sys.stderr.write(f"{text}\n")


def echo_json(value: object) -> None:
    """Prints one JSON value."""
    echo(to_json(value))


def echo_json_lines(values: Iterable[object]) -> None:
    """Prints a stream of JSON values, one a line."""
    for value in values:
        echo(to_json(value, indent=None))


def echo_bytes(data: bytes) -> None:
    """Prints bytes as they are into a pipe or a file; on a terminal, what could move it is escaped."""
    if sys.stdout.isatty():
        sys.stdout.write(safe(data.decode("utf-8", "backslashreplace"), lines=True))
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(data)


def table(rows: Sequence[Sequence[str]], *, right: Sequence[int] = (), width: int | None = None) -> list[str]:
    """Returns rows in aligned columns; the last column is not padded, and cut where `width` columns end."""
    widths = [max((columns(row[at]) for row in rows), default=0) for at in range(max(map(len, rows), default=0))]
    lines = [_row(row, widths, right) for row in rows]
    return lines if width is None else [cut(line, width) for line in lines]


def _row(row: Sequence[str], widths: Sequence[int], right: Sequence[int]) -> str:
    cells = []
    for at, cell in enumerate(row[:-1]):
        padding = " " * (widths[at] - columns(cell))
        cells.append(padding + cell if at in right else cell + padding)
    return "  ".join([*cells, row[-1]]).rstrip()


def columns(text: str) -> int:
    """Returns how many columns of a terminal an escaped text takes."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def cut(text: str, width: int) -> str:
    """Returns an escaped text in at most so many columns; one that is cut ends with an ellipsis."""
    if columns(text) <= width:
        return text
    taken = 0
    for at, character in enumerate(text):
        taken += _columns(character)
        if taken > width - 1:
            return text[:at] + ELLIPSIS
    return text


def counted(number: int, noun: str) -> str:
    """Returns a number with its noun: `1 task`, `2 tasks`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def when(time: int, offset: int = 0) -> str:
    """Returns a time in µs as git shows one: date, time and zone of the one who acted."""
    try:
        moment = datetime.fromtimestamp(time // 1_000_000, UTC).astimezone(timezone(timedelta(minutes=offset)))
    except (OverflowError, OSError, ValueError):
        return f"({time} µs)"
    return moment.strftime("%Y-%m-%d %H:%M:%S %z")


def day(time: int) -> str:
    """Returns the date of a time in µs."""
    try:
        return date.fromordinal(_EPOCH + time // _DAY).isoformat()
    except (OverflowError, ValueError):
        return when(time)[:10]


def who(actor: Actor | None) -> str:
    """Returns how an actor is called where there is room: name and model, for whom."""
    name = short_who(actor)
    if actor is None:
        return name
    name += f" ({safe(actor.model)})" if actor.model else ""
    if actor.type != "human" and actor.on_behalf_of and actor.name:
        name += f" for {safe(actor.on_behalf_of.name)}"
    return name


def short_who(actor: Actor | None) -> str:
    """Returns how an actor is called in a column: by name alone."""
    if actor is None:
        return "unknown"
    return safe(actor.name or (actor.on_behalf_of.name if actor.on_behalf_of else None) or actor.type)


def path_text(path: Path) -> str:
    """Returns a path as it is shown."""
    if isinstance(path, OddPath):
        return "(outside the repository)" if path.outside else f"b64:{path.b64}"
    return safe(path)


def raw_path_text(path: bytes) -> str:
    """Returns a path of the work tree as it is shown; bytes that are not UTF-8 are escaped."""
    return safe(path.decode("utf-8", "backslashreplace"))


def style(text: str, color: str, *, enabled: bool) -> str:
    """Returns a text in a colour, if colours are on."""
    return f"\x1b[{_COLORS[color]}m{text}\x1b[0m" if enabled else text
