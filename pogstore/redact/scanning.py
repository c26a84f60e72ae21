"""Looks for secrets in a text, and puts masks in their place."""

import re
from collections.abc import Iterable, Iterator

from pogstore.redact import own
from pogstore.redact.frames import discord_tokens
from pogstore.redact.kinds import FRAMES, KEYS, KINDS, NAMES
from pogstore.redact.rule import NAME_CHARS, Finding, spans

CERTAINTY = (*KINDS, own.KIND)
"""All kinds, the most certain first."""
_SPACED = bytes(byte if chr(byte) in NAME_CHARS + "." else 0x20 for byte in range(256))


def masked(text: str, found: Iterable[Finding]) -> str:
    """Returns a text with a mask in the place of each finding; they are in order and apart."""
    pieces: list[str] = []
    at = 0
    for kind, start, end in found:
        pieces += text[at:start], _mask(kind)
        at = end
    return "".join([*pieces, text[at:]])


def unmasked(more: list[Finding], found: list[Finding]) -> Iterator[Finding]:
    """Yields places in the masked text as places in the text itself; what touches a mask takes in all it hides."""
    pending = iter([*found, Finding("", 1 << 62, 1 << 62)])
    kind, start, end = next(pending)
    shift = 0  # from the masked text to the text, between masks
    bounds: list[int] = []
    for at in [offset for one in more for offset in one[1:]]:
        while at + shift >= start + (length := len(_mask(kind))):
            shift += end - start - length
            kind, start, end = next(pending)
        inside = at + shift > start
        bounds.append((end if len(bounds) % 2 else start) if inside else at + shift)
    for place, one in enumerate(more):
        yield Finding(one.kind, bounds[2 * place], bounds[2 * place + 1])


def _mask(kind: str) -> str:
    return f"[redacted:{kind}]"


def merged(found: list[Finding]) -> list[Finding]:
    """Returns findings in order; those that overlap become one, of the most certain of their kinds."""
    merged: list[Finding] = []
    for one in sorted(found, key=lambda finding: finding.start):
        if merged and one.start < merged[-1].end:
            last = merged.pop()
            kind = min(last.kind, one.kind, key=CERTAINTY.index)
            one = Finding(kind, last.start, max(last.end, one.end))  # noqa: PLW2901
        merged.append(one)
    return merged


def scan(text: str) -> list[Finding]:
    """Returns what the rules find in a text as it is, in order and apart."""
    # One byte a character keeps the offsets; anchors are ASCII, and only ASCII is folded.
    plain = text.encode("ascii", "replace")
    folded = plain.lower()
    words = _long_words(plain)
    found = [Finding("discord-token", *span) for span in discord_tokens(text, words)]
    for rules, anywhere, sought, flags in (
        (KEYS, words, plain, re.ASCII),
        (FRAMES, plain, plain, re.ASCII),
        (NAMES, folded, folded, re.ASCII | re.IGNORECASE),
    ):
        for anchor, rule in rules if anywhere else ():
            if anchor in anywhere:
                found += [Finding(rule.kind, *span) for span in spans(rule, anchor, text, sought, flags)]
    found += own.present().findings(text)
    return merged(found)


def _long_words(plain: bytes) -> bytes:
    """Returns the runs of token characters that are long enough for a key: little of a text, so quick to search."""
    # In slices, so that memory is bounded; they overlap by more than the longest anchor and the shortest key.
    slices = (plain[at : at + 0x10040] for at in range(0, len(plain), 0x10000))
    return b" ".join([word for part in slices for word in part.translate(_SPACED).split() if len(word) >= 16])
