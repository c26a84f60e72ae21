"""Secret rules over text: where a secret stands, and the text without it.

Knows strings and nothing else. A secret is told by kind and place, never by value. Rules are made for decoded text: who
holds JSON redacts its leaves, not the serialised form.

A rule is an anchor, a literal that stands in every match, and a pattern for what follows it. Anchors are sought by
plain search, so a text without secrets costs a few fast passes and compiles no pattern. Time is linear in the size of
the text: patterns are possessive or bounded, and one that can fail after a long run begins only where that run does.
Git ids, BLAKE3 ids and UUIDs that stand for themselves have none of the forms that are sought.

Rules of one's own join them in a block (`in_force`): they belong to a repository, and what redacts a text is often far
from what knows the repository.
"""

import re
from collections.abc import Iterator

from pogstore.redact.own import Fault, OwnRules, in_force, own_rules, present
from pogstore.redact.rule import Finding
from pogstore.redact.scanning import CERTAINTY, masked, merged, scan, unmasked

__all__ = [
    "Fault",
    "Finding",
    "OwnRules",
    "broken_off",
    "excerpt",
    "findings",
    "findings_in_bytes",
    "in_force",
    "line_of",
    "masks",
    "own_rules",
    "redact",
]


def findings(text: str) -> list[Finding]:
    """Returns the places of all secrets, in order and without overlap.

    Places that overlap become one, of the kind whose rule is the most certain. What only begins to look like a secret
    once its neighbour is gone is found too.
    """
    found = scan(text)
    while found and (more := scan(masked(text, found))):
        wider = merged([*found, *unmasked(more, found)])
        if wider == found:
            break
        found = wider
    return found


def findings_in_bytes(data: bytes) -> list[Finding]:
    """Returns the places of all secrets in bytes that need not be UTF-8; offsets count bytes."""
    if data.isascii() or not present():
        return findings(data.decode("latin-1"))
    text = data.decode("utf-8", "surrogateescape")  # a rule of one's own may name any character
    found: list[Finding] = []
    at = offset = 0
    for kind, start, end in findings(text):
        begin = offset + len(text[at:start].encode("utf-8", "surrogateescape"))
        offset = begin + len(text[start:end].encode("utf-8", "surrogateescape"))
        at = end
        found.append(Finding(kind, begin, offset))
    return found


def redact(text: str) -> tuple[str, tuple[Finding, ...]]:
    """Returns the text with `[redacted:<kind>]` in place of each secret, and where in the given text they stood.

    A text without a secret comes back as the same object; redacting twice is redacting once.
    """
    found = findings(text)
    return (masked(text, found), tuple(found)) if found else (text, ())


def excerpt(text: str, start: int, end: int) -> str:
    """Returns `text[start:end]` as it is without secrets, none of which shows a part where it reaches over an end.

    A text must be cut so, and not be redacted afterwards: half of a secret passes the rules that find whole ones.
    """
    found = [one for one in findings(text) if one.start < end and one.end > start]
    inside = [Finding(one.kind, max(one.start, start) - start, min(one.end, end) - start) for one in found]
    return masked(text[start:end], inside)


def broken_off(text: str) -> Finding | None:
    """Returns the part of a secret with which a text ends that was cut: what would be one if it went on.

    Only a text that ends with an ellipsis was cut. A part counts from eight characters, with a digit among them.
    """
    shown = text.removesuffix("…")
    words = shown.split()
    if shown == text or not words or not re.search("[0-9]", words[-1]):
        return None
    for rest in ("0a1b2c3d" * 12, "0A1B2C3D" * 12):
        for length in range(1, len(rest)):
            for one in findings(shown + rest[:length]):
                part = shown[one.start :]
                if one.end > len(shown) and len(part) >= 8 and re.search("[0-9]", part):
                    return Finding(one.kind, one.start, len(shown))
    return None


def masks(text: str) -> Iterator[tuple[str, int]]:
    """Yields the kind and the place of each mask in a text: what was taken out of it, as far as it tells."""
    for mask in re.finditer(r"\[redacted:([a-z0-9-]{1,40})\]", text) if "[redacted:" in text else ():
        if mask[1] in CERTAINTY:
            yield mask[1], mask.start()


def line_of(text: str | bytes, offset: int) -> int:
    """Returns the line in which an offset stands, counted from 1, so that a report can name a place and no value."""
    newlines = text.count("\n", 0, offset) if isinstance(text, str) else text.count(b"\n", 0, offset)
    return newlines + 1
