"""Claims as people read them, and how long one is to hold."""

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import click

from pogstore.cli._render import cut, safe, short_who, when
from pogstore.history.tasks import Summary
from pogstore.model import BlobId
from pogstore.state import Claim, is_outdated, is_over

_F = TypeVar("_F", bound=Callable[..., Any])
_UNITS = {"s": 1, "m": 60, "": 60, "h": 3600, "d": 86_400}
_LONGEST = 3660 * 86_400
OVER, AMENDED, CONFLICT = "lease over", "amended", "conflict"


class Lease(click.ParamType[int]):
    """A duration in µs: `90s`, `30m`, `2h`, `1d`; a number alone counts minutes."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Returns the duration that a person wrote."""
        found = re.fullmatch(r"([0-9]{1,9})([smhd]?)", str(value))
        seconds = int(found[1]) * _UNITS[found[2]] if found else 0
        if not 0 < seconds <= _LONGEST:
            self.fail(f"'{value}' is no time such as 90s, 30m, 2h or 1d", param, ctx)
        return seconds * 1_000_000


def lease_option(function: _F) -> _F:
    """Adds `--lease`."""
    text = "Hold it for so long only, such as 30m, 2h or 1d; after that anybody may take it over."
    return click.option("--lease", type=Lease(), metavar="TIME", help=text)(function)


def claim_words(claim: Claim, definition_id: BlobId | None, at: int) -> str:
    """Returns a claim in words, as of a time (µs)."""
    words = f"claimed by {short_who(claim.actor)}"
    if claim.given_by is not None:
        words = f"given to {short_who(claim.actor)} by {short_who(claim.given_by)}"
    if claim.lease_until is not None:
        words += f" until {when(claim.lease_until)[:16]}"
    marks = list(_marks(claim, definition_id, at))
    return words + (f" ({', '.join(marks)})" if marks else "")


def _marks(claim: Claim, definition_id: BlobId | None, at: int) -> Iterator[str]:
    if is_over(claim, at):
        yield OVER
    if is_outdated(claim, definition_id):
        yield f"{AMENDED} since"


def troubles(line: Summary, at: int) -> Iterator[str]:
    """Yields what is not as it should be with the claims of a task, and what to do about it."""
    if len(line.claims) > 1:
        names = ", ".join(short_who(claim.actor) for claim in line.claims)
        yield f"conflict: claimed by {names}; 'git pog release' ends one"
    for claim in line.claims:
        if is_outdated(claim, line.definition_id):
            yield f"amended since {short_who(claim.actor)} claimed it; 'git pog claim' accepts it as it is now"
        if is_over(claim, at):
            yield f"the lease of {short_who(claim.actor)} is over; 'git pog claim' takes a new one"


def holders(line: Summary, at: int, width: int) -> str:
    """Returns who holds a task, in at most so many columns, with what stands in the way of that."""
    mark = ""
    if len(line.claims) > 1:
        mark = f" ({CONFLICT})"
    elif any(is_over(claim, at) for claim in line.claims):
        mark = f" ({OVER})"
    elif any(is_outdated(claim, line.definition_id) for claim in line.claims):
        mark = f" ({AMENDED})"
    return cut(safe(", ".join(line.claimed_by)) or "-", width - len(mark)) + mark
