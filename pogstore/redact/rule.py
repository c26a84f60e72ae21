"""What a rule is: an anchor that stands in every match, a pattern of what follows it, and what of it is secret.

Knows strings and nothing else. Time is linear in the size of the text if a pattern is possessive or bounded; one that
can fail after a long run may begin only where that run does.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

B64URL = "[A-Za-z0-9_-]"
ALNUM = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
NAME_CHARS = ALNUM + "_-"

Span = tuple[int, int]
Judge = Callable[[str, int, re.Match[str]], Iterable[Span]]


class Finding(NamedTuple):
    """The place of a secret, `text[start:end]`, and what sort of secret it is; never the secret itself."""

    kind: str
    start: int
    end: int


class Rule(NamedTuple):
    """One way in which a secret of some kind is told."""

    kind: str
    anchors: str  # separated by white space; in lower case where any case will do
    pattern: str  # of what follows an anchor
    judge: Judge  # what of a match is secret, given the text and the place of the anchor
    before: str | None = ""  # what may not precede an anchor, beside letters and digits; None if anything may


def spans(rule: Rule, anchor: bytes, text: str, sought: bytes, flags: int) -> Iterator[Span]:
    """Yields the spans of a rule behind one of its anchors; `sought` is the text, one byte a character."""
    pattern = re.compile(rule.pattern, flags)
    at = sought.find(anchor)
    while at >= 0:
        end = at + len(anchor)
        if (rule.before is None or _opens(text, at, rule.before)) and (match := pattern.match(text, end)):
            for span in rule.judge(text, at, match):
                yield span
                end = max(end, span[1])
        at = sought.find(anchor, end)


def _opens(text: str, at: int, before: str) -> bool:
    r"""Tells whether a token can begin here: outside a word, or after an escape that ends like one (`\n`, `%20`)."""
    last = text[at - 1 : at]
    in_word = last.isascii() and last != "" and (last.isalnum() or last in before)
    return not in_word or text[max(0, at - 2) : at] in (r"\n", r"\r", r"\t") or text[max(0, at - 3) : at - 2] == "%"


def start_of_run(text: str, at: int, chars: str, limit: int) -> int:
    """Returns where the run of some characters begins that ends at a place, so far back at most."""
    least = max(0, at - limit)
    while at > least and text[at - 1] in chars:
        at -= 1
    return at


def whole(_text: str, at: int, match: re.Match[str]) -> Iterator[Span]:
    """Judges the anchor and what follows it to be the secret."""
    yield at, match.end()


def group(_text: str, _at: int, match: re.Match[str]) -> Iterator[Span]:
    """Judges the group of that name to be the secret."""
    yield match.span("secret")


def mixed(value: str) -> bool:
    """Tells whether a value has capitals, small letters and digits."""
    return all(re.search(chars, value) for chars in ("[A-Z]", "[a-z]", "[0-9]"))
