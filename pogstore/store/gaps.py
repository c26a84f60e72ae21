"""Which recorded steps say that something of them was not captured: one question to an index that is up to date.

Bounded, so that it can be asked on the way: it reads the newest events of some tasks, and stops.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from pogstore.model import TaskId

MOST = 5000
"""So many events are read at most."""
UNSAID = "unsaid"
"""The reason of a step that names none."""

_QUERY = """
SELECT time, CASE WHEN instr(body, ?) OR instr(body, ?) THEN body END FROM events WHERE task = ?
ORDER BY clock DESC, id DESC
"""


class Gap(NamedTuple):
    """How many steps were not wholly captured for one reason, how far (`partial` or `none`), and when last, in µs."""

    reason: str
    coverage: str
    steps: int
    last: int


class _Covered(msgspec.Struct):
    time: int
    coverage: str | None = None
    coverage_reason: str | None = None


_DECODER = msgspec.json.Decoder(_Covered)


def gaps(database: sqlite3.Connection, since: Mapping[TaskId, int]) -> list[Gap]:
    """Returns the gaps of some tasks, each since a time (µs); the reason with the most steps first.

    Where there are more events than are read, those of the first tasks count.
    """
    found: dict[tuple[str, str], list[int]] = {}
    for body in _newest(database, since.items()):
        step = _DECODER.decode(body)
        if step.coverage in ("partial", "none"):  # the words may stand elsewhere in an event
            found.setdefault((step.coverage_reason or UNSAID, step.coverage), []).append(step.time)
    counted = (Gap(reason, coverage, len(times), max(times)) for (reason, coverage), times in found.items())
    return sorted(counted, key=lambda gap: (-gap.steps, gap))


def _newest(database: sqlite3.Connection, since: Iterable[tuple[TaskId, int]]) -> Iterator[bytes]:
    left = MOST
    for task, begin in since:
        for time, body in database.execute(_QUERY, (b'"coverage":"partial"', b'"coverage":"none"', task)):
            left -= 1
            if time < begin or left < 0:
                break
            if body is not None:
                yield body
