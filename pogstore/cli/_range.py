"""What a range adds, as text, as a summary for a pull request and as JSON.

The summary is Markdown. What somebody else wrote stands in it as code, where it is no link, no mention and no markup.
"""

import re
import shlex
from collections.abc import Iterator, Sequence

import msgspec

from pogstore.cli._blame import Texts, line_value
from pogstore.cli._render import counted, raw_path_text, safe
from pogstore.cli._values import Value
from pogstore.history.names import shortest
from pogstore.history.ranges import RangeBlame, RangeFile, Totals, Writer, first_place, share, totals
from pogstore.model import TaskId
from pogstore.store.content import path_of
from pogstore.store.store import Store

ROWS = 5
"""Rows of a table in a summary, so that all of it fits on a screen."""
GIST = 60
_TICKS = re.compile(r"`+")


def range_text(found: RangeBlame, texts: Texts) -> Iterator[str]:
    """Yields every file with the lines that are added there, or with the reason why there are none."""
    for file in found.files:
        yield heading(file)
        if file.blame is not None:
            yield from texts.lines(file.blame)
        yield ""


def heading(file: RangeFile) -> str:
    """Returns the path of a file and what happened to it, but for plain edits."""
    diff = file.diff
    path = raw_path_text(diff.path)
    name = path if diff.former is None else f"{raw_path_text(diff.former)} => {path}"
    words = [] if diff.what == "text" else [diff.what]
    if diff.what == "text" and not diff.added:
        words.append("renamed" if diff.former is not None and not diff.removed else "no line added")
    return f"{name}: {', '.join(words)}" if words else name


def summary_text(found: RangeBlame, store: Store, texts: Texts, name: str) -> Iterator[str]:
    """Yields a screenful of Markdown: how many lines, by whom, for which tasks, and how to ask on."""
    sums = totals(found)
    yield f"**{counted(sums.added, 'line')}** added in {_files(found)} by {code(name)}"
    if not sums.added:
        return
    yield ""
    yield from _table("who wrote them", [(_writer(writer), lines) for writer, lines in sums.writers], sums.added)
    if not sums.tasks:
        return
    short = {task: shortest(store.tasks(), task) for task, _ in sums.tasks[:ROWS]}
    rows = [(f"{code(short.get(task, task))} {code(texts.title(task))}", lines) for task, lines in sums.tasks]
    yield ""
    yield from _table("for which task", rows, sums.added)
    yield ""
    yield _hints(found, sums.tasks[0][0], short)


def _hints(found: RangeBlame, task: TaskId, short: dict[TaskId, str]) -> str:
    place = first_place(found, task) if found.is_head else None
    asking = [f"git pog show {short[task]}"]
    if place is not None:
        asking.append(f"git pog why {shlex.quote(f'{raw_path_text(place[0])}:{place[1]}')}")
    shown = ", ".join(code(each, len(each)) for each in asking)
    return f"Look closer: {shown}. Take it out: {code(f'git pog rollback {short[task]}')}"


def _files(found: RangeBlame) -> str:
    """Returns how many files there are, and of which kinds where they are not plain text."""
    kinds = {what: sum(file.diff.what == what for file in found.files) for what in ("binary", "deleted", "submodule")}
    kinds["renamed"] = sum(file.diff.former is not None for file in found.files)
    words = [f"{number} {what}" for what, number in sorted(kinds.items()) if number]
    return counted(len(found.files), "file") + (f" ({', '.join(words)})" if words else "")


def _table(title: str, rows: Sequence[tuple[str, int]], whole: int) -> Iterator[str]:
    yield f"| lines | share | {title} |"
    yield "| ---: | ---: | :--- |"
    for name, lines in rows[: ROWS if len(rows) > ROWS + 1 else ROWS + 1]:
        yield f"| {lines} | {percent(lines, whole)} | {name} |"
    rest = rows[ROWS:]
    if len(rest) > 1:
        lines = sum(number for _, number in rest)
        yield f"| {lines} | {percent(lines, whole)} | and {len(rest)} more |"


def _writer(writer: Writer) -> str:
    if writer.kind == "unknown":
        return "unknown"
    model = f" {code(writer.model)}" if writer.model else ""
    kind = writer.kind if writer.kind in ("person", "tool") else code(writer.kind)
    return f"{code(writer.name)}{model}" + (f" ({kind})" if writer.kind != "agent" else "")


def code(text: str, longest: int = GIST) -> str:
    """Returns a text as code in a cell of a Markdown table: what somebody wrote there cannot become anything else."""
    shown = " ".join(safe(text).split())
    shown = (shown if len(shown) <= longest else shown[: longest - 1] + "…").replace("|", "\\|") or "-"
    fence = "`" * (1 + max(map(len, _TICKS.findall(shown)), default=0))
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def percent(part: int, whole: int) -> str:
    """Returns a share in whole per cent; only nothing is 0 %, and only everything is 100 %."""
    found = share(part, whole)
    rounded = round(found) if found in (0, 100) else min(max(round(found), 1), 99)
    return f"{rounded} %"


def range_value(found: RangeBlame, texts: Texts, *, with_lines: bool) -> Value:
    """Returns what `--json` says of a range."""
    sums = totals(found)
    return {
        "base": found.base,
        "tip": found.tip,
        "added": sums.added,
        "removed": sum(file.diff.removed for file in found.files),
        "files": [_file_value(file, with_lines=with_lines) for file in found.files],
        **_totals_value(sums, texts),
    }


def _file_value(file: RangeFile, *, with_lines: bool) -> Value:
    diff = file.diff
    value: Value = {"path": msgspec.to_builtins(path_of(diff.path)), "what": diff.what}
    if diff.former is not None:
        value["from"] = msgspec.to_builtins(path_of(diff.former))
    value |= {"added": len(file.lines), "removed": diff.removed}
    if with_lines:
        value["lines"] = [line_value(file.blame, line) for line in file.lines] if file.blame else []
    if file.blame is not None and file.blame.absent:
        value["absent"] = list(file.blame.absent)
    return value


def _totals_value(sums: Totals, texts: Texts) -> Value:
    def counts(lines: int) -> Value:
        return {"lines": lines, "share": round(share(lines, sums.added), 1)}

    writers = [
        {"kind": writer.kind, "name": writer.name} | ({"model": writer.model} if writer.model else {}) | counts(lines)
        for writer, lines in sums.writers
    ]
    tasks = [{"task": task, "title": texts.title(task)} | counts(lines) for task, lines in sums.tasks]
    return {"writers": writers, "tasks": tasks}
