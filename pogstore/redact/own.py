"""Rules of one's own, as `pog.redact` of git's configuration holds them: texts, and expressions whose time is bounded.

A rule that cannot be used is named by its number and never shown, since a text that should go may stand in it. All
others are in force meanwhile.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from pogstore.redact.bounded import Refusal, bound
from pogstore.redact.kinds import KINDS
from pogstore.redact.rule import Finding, Span

KIND = "own-rule"
"""The kind of what a rule of one's own finds."""
SHORTEST = 4
"""So many characters at least must a rule match: what is shorter stands everywhere."""
_MASK = "[redacted:"
_LONGEST_MASK = 64


class Fault(NamedTuple):
    """A rule that is not used: its number among the values of `pog.redact`, from 1, and why; never the rule itself."""

    rule: int
    reason: str


class OwnRules(NamedTuple):
    """The rules that can be used, and the faults of those that cannot."""

    texts: tuple[tuple[str, ...], ...] = ()  # each in all forms in which it is sought
    expressions: tuple[re.Pattern[str], ...] = ()
    faults: tuple[Fault, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.texts or self.expressions)

    @property
    def number(self) -> int:
        """How many rules are used."""
        return len(self.texts) + len(self.expressions)

    def findings(self, text: str) -> list[Finding]:
        """Returns what the rules find, in no order; what stands inside of a mask is none."""
        spans = [span for forms in self.texts for form in forms for span in _spans_of(form, text)]
        spans += [one.span() for rule in self.expressions for one in rule.finditer(text)]
        return [Finding(KIND, start, end) for start, end in spans if not _is_masked(text, start, end)]


NONE = OwnRules()
_in_force: ContextVar[Callable[[], OwnRules]] = ContextVar("pogstore_own_rules", default=lambda: NONE)


def own_rules(values: Iterable[str]) -> OwnRules:
    """Returns the rules that the values of `pog.redact` are: `regex:EXPRESSION`, `literal:TEXT`, or a text as it is."""
    texts: list[tuple[str, ...]] = []
    expressions: list[re.Pattern[str]] = []
    faults: list[Fault] = []
    for number, value in enumerate(values, 1):
        try:
            if value.startswith("regex:"):
                expressions.append(_expression(value.removeprefix("regex:")))
            else:
                texts.append(tuple(dict.fromkeys(_forms(value.removeprefix("literal:")))))
        except Refusal as refusal:
            faults.append(Fault(number, str(refusal)))
    return OwnRules(tuple(texts), tuple(expressions), tuple(faults))


@contextmanager
def in_force(rules: Callable[[], OwnRules]) -> Iterator[None]:
    """Lets rules of one's own be in force in a block, in place of those that were: whatever redacts follows them.

    They are asked for when something is redacted, since to read them may take longer than what needs none.
    """
    token = _in_force.set(rules)
    try:
        yield
    finally:
        _in_force.reset(token)


def present() -> OwnRules:
    """Returns the rules of one's own that are in force."""
    return _in_force.get()()


def _expression(pattern: str) -> re.Pattern[str]:
    _check_characters(pattern)
    shortest, _ = bound(pattern)
    if shortest < SHORTEST:
        raise Refusal(f"matches fewer than {SHORTEST} characters")
    return re.compile(pattern)


def _forms(text: str) -> Iterator[str]:
    """Yields a text, and how JSON writes it: much of what agents say is stored as JSON."""
    _check_characters(text)
    if len(text.strip()) < SHORTEST:
        raise Refusal(f"is shorter than {SHORTEST} characters")
    yield text
    named = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    escaped = "".join(named.get(char, char) for char in text)
    yield escaped
    yield "".join(char if char.isascii() else _escape(char) for char in escaped)


def _escape(char: str) -> str:
    units = char.encode("utf-16-be")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def _check_characters(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Refusal("is not UTF-8") from None


def _spans_of(form: str, text: str) -> Iterator[Span]:
    at = text.find(form)
    while at >= 0:
        yield at, at + len(form)
        at = text.find(form, at + len(form))


def _is_masked(text: str, start: int, end: int) -> bool:
    begin = text.rfind(_MASK, max(0, start - _LONGEST_MASK), start + len(_MASK))
    close = text.find("]", begin, begin + _LONGEST_MASK) if 0 <= begin <= start else -1
    return end <= close + 1 and text[begin + len(_MASK) : close] in (*KINDS, KIND)
