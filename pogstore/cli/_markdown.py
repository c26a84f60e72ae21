"""Foreign text in Markdown: in code spans and fences that it cannot end, escaped as for a terminal.

By CommonMark a fence ends at a line of at least as many backticks as it began with, a span at the next run of exactly
as many; nothing inside either is read as markup. So ours are longer than any run of backticks in the text.
"""

import re

from pogstore.cli._render import safe

_RUN = re.compile("`+")


def span(text: str) -> str:
    """Returns a text in one line, as a code span."""
    shown = safe(text).replace("\t", " ").strip() or "(empty)"
    ticks = "`" * (_longest_run(shown) + 1)
    padding = " " if "`" in (shown[0], shown[-1]) else ""
    return f"{ticks}{padding}{shown}{padding}{ticks}"


def fence(text: str) -> str:
    """Returns a text in its own lines, as a fenced block of an item of a list: no line of it begins as one of ours."""
    shown = safe(text, lines=True).strip("\n")
    ticks = "`" * max(3, _longest_run(shown) + 1)
    return "\n".join(f"  {line}" if line else "" for line in (f"{ticks}text", *shown.split("\n"), ticks))


def _longest_run(text: str) -> int:
    return max((len(run) for run in _RUN.findall(text)), default=0)
