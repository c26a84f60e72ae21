"""How values are shown: escaped, in columns, as JSON, with git's colours and pager.

Whatever comes from a store or a file goes through `safe` (or `to_json`) before it reaches a terminal.
"""

import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta, timezone

import click

from pogstore.model import Actor, OddPath, Path

# Controls (C0 but tab, DEL, C1), soft hyphen, bidi controls, zero-width and other invisible characters, tags, and lone
# surrogates (threats T1 and T2).
_CLASS = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff"
)
_HIDDEN = re.compile(f"[{_CLASS}\n]")
_HIDDEN_BUT_NEWLINE = re.compile(f"[{_CLASS}]")


def safe(text: str, *, lines: bool = False) -> str:
    """Returns a text in which nothing is hidden and nothing moves a terminal; newlines stay only if `lines` is set."""
    pattern = _HIDDEN_BUT_NEWLINE if lines else _HIDDEN
    return pattern.sub(lambda match: f"<U+{ord(match.group()):04X}>", text)


def to_json(value: object, *, indent: int | None = 2) -> str:
    """Returns a value as JSON in which hidden characters are escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _HIDDEN_BUT_NEWLINE.sub(lambda match: json.dumps(match.group())[1:-1], text)


def echo(text: str = "") -> None:
    """Prints a line."""
    click.echo(text)


def echo_json(value: object) -> None:
    """Prints one JSON value."""
    click.echo(to_json(value))


def echo_json_lines(values: Iterable[object]) -> None:
    """Prints a stream of JSON values, one a line."""
    for value in values:
        click.echo(to_json(value, indent=None))


def page(lines: Iterable[str], pager: str | None) -> None:
    """Prints lines through a pager if a person is reading, else directly."""
    if not pager or not sys.stdout.isatty() or "GIT_PAGER_IN_USE" in os.environ:
        for line in lines:
            click.echo(line)
        return
    os.environ.setdefault("LESS", "FRX")
    os.environ["PAGER"] = pager
    click.echo_via_pager(f"{line}\n" for line in lines)


def table(rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()) -> list[str]:
    """Returns rows in aligned columns; the last column is not padded."""
    widths = [max((len(row[at]) for row in rows), default=0) for at in range(max(map(len, rows), default=0))]
    return [_row(row, widths, right) for row in rows]


def _row(row: Sequence[str], widths: Sequence[int], right: Sequence[int]) -> str:
    cells = [cell.rjust(widths[at]) if at in right else cell.ljust(widths[at]) for at, cell in enumerate(row[:-1])]
    return "  ".join([*cells, row[-1]]).rstrip()


def when(time: int, offset: int = 0) -> str:
    """Returns a time in µs as git shows one: date, time and zone of the one who acted."""
    try:
        moment = datetime.fromtimestamp(time // 1_000_000, UTC).astimezone(timezone(timedelta(minutes=offset)))
    except (OverflowError, OSError, ValueError):
        return f"({time} µs)"
    return moment.strftime("%Y-%m-%d %H:%M:%S %z")


def day(time: int) -> str:
    """Returns the date of a time in µs."""
    return when(time)[:10]


def who(actor: Actor | None) -> str:
    """Returns how an actor is called in one line: name and model, for whom."""
    if actor is None:
        return "unknown"
    name = actor.name or (actor.on_behalf_of.name if actor.on_behalf_of else None) or actor.type
    name += f" ({actor.model})" if actor.model else ""
    if actor.type != "human" and actor.on_behalf_of:
        name += f" for {actor.on_behalf_of.name}"
    return safe(name)


def path_text(path: Path) -> str:
    """Returns a path as it is shown."""
    if isinstance(path, OddPath):
        return "(outside the repository)" if path.outside else f"b64:{path.b64}"
    return safe(path)


def style(text: str, color: str, *, enabled: bool, bold: bool = False) -> str:
    """Returns a text in a colour, if colours are on."""
    return click.style(text, fg=color, bold=bold) if enabled else text
