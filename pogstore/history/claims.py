"""By which rule an event has a line, for who asks: owners then are texts that remember it, and are owners as before."""

from collections.abc import Callable
from typing import Literal, NamedTuple

from pogstore.history.vectors import Owner
from pogstore.model import Event, Opaque, Ran, Stepped

Rule = Literal["hash", "bound", "near", "index", "moved", "spaces", "between"]
Sure = Literal["certain", "likely", "possible"]
Mark = Callable[[Owner, Rule], Owner]
"""Says by which rule an owner gets a line."""


class Reason(NamedTuple):
    """A rule in words, and how sure it is."""

    sure: Sure
    words: str


REASONS: dict[Rule, Reason] = {
    "hash": Reason("certain", "the step left this very content"),
    "bound": Reason("certain", "unchanged since a content that the step left"),
    "near": Reason("likely", "in the same order in a version that a step left shortly before"),
    "index": Reason("likely", "in the same order in what the step wrote, or in the newest version of its place"),
    "spaces": Reason("likely", "the same but for white space"),
    "moved": Reason("likely", "a block of the step's lines in another place"),
    "between": Reason("possible", "a blank line or bracket below the step's lines"),
}
"""What each rule says, the surest first."""
_ORDER = tuple(REASONS)


SHARED = "shared"
"""The coverage of a call during which others may have changed files as well."""


class Claimed(str):
    """An owner who got a line by a rule that is not certain."""

    __slots__ = ("rule",)

    def __new__(cls, owner: Owner, rule: Rule) -> "Claimed":
        """Makes an owner that equals the given one."""
        made = super().__new__(cls, owner)
        made.rule = rule
        return made

    rule: Rule


def unmarked(owner: Owner, _: Rule) -> Owner:
    """Remembers nothing."""
    return owner


def marked(owner: Owner, rule: Rule) -> Owner:
    """Remembers a rule; who got the line by one that is less sure keeps that."""
    had = getattr(owner, "rule", None)
    return owner if had is not None and _ORDER.index(had) >= _ORDER.index(rule) else Claimed(owner, rule)


def rule_of(owner: Owner, *, is_recorded: bool) -> Rule:
    """Returns by which rule an owner has a line; `is_recorded` says that a step left the content as it is."""
    rule: Rule | None = getattr(owner, "rule", None)
    return rule or ("hash" if is_recorded else "bound")


def is_shared(event: Event | Opaque) -> bool:
    """Says whether somebody else may have made some of an event's changes: it did not name the files that it changed.

    An edit names them; what a command names it may only have read.
    """
    is_edit = isinstance(event, Stepped) and event.class_ == "edit"
    return isinstance(event, Stepped | Ran) and event.coverage == SHARED and not is_edit


def sure_of(rule: Rule, event: Event | Opaque) -> Sure:
    """Returns how sure it is that an event wrote the lines that it has by a rule."""
    sure = REASONS[rule].sure
    return doubtful(sure) if is_shared(event) else sure


def doubtful(sure: Sure) -> Sure:
    """Returns how sure a rule is at most where somebody else may have changed the file as well."""
    return "likely" if sure == "certain" else sure
