"""What a reader of CommonMark takes for code, by its rules and not by ours: a text must not get into the rest."""

import re

_OPENING = re.compile(r" {0,3}(`{3,})([^`]*)\Z")
_RUN = re.compile("`+")


def fences(page: str) -> list[str]:
    """Returns the contents of the fenced blocks of a page; raises if one is not closed."""
    return _parted(page)[0]


def outside(page: str) -> str:
    """Returns a page without its fenced blocks and code spans."""
    return "\n".join(map(_without_spans, _parted(page)[1]))


def _parted(page: str) -> tuple[list[str], list[str]]:
    inside: list[str] = []
    rest: list[str] = []
    lines = iter(page.split("\n"))
    for line in lines:
        opening = _OPENING.match(line)
        if not opening:
            rest.append(line)
            continue
        closing = re.compile(rf" {{0,3}}`{{{len(opening[1])},}}[ \t]*\Z")
        block: list[str] = []
        for inner in lines:
            if closing.match(inner):
                break
            block.append(inner[min(len(inner) - len(inner.lstrip(" ")), line.index("`")) :])
        else:
            raise AssertionError("a fence is not closed")
        inside.append("\n".join(block))
    return inside, rest


def _without_spans(line: str) -> str:
    """Returns a line without its code spans: one begins with a run of backticks and ends with the next as long."""
    runs = list(_RUN.finditer(line))
    kept, at = "", 0
    while runs:
        opening = runs.pop(0)
        closing = next((run for run in runs if len(run[0]) == len(opening[0])), None)
        if closing is None:
            continue
        kept += line[at : opening.start()]
        at = closing.end()
        runs = [run for run in runs if run.start() >= at]
    return kept + line[at:]
