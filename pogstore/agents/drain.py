"""From the records of the spool to events in the store, whichever agent they are of.

A call whose end has not come waits for it: until its session ends, or an hour. After the steps it is told which commits
carry what they wrote.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from pogstore.agents import claude_code, codex, copilot, cursor, gemini, generic, opencode
from pogstore.agents.fold import PATIENCE, Fold
from pogstore.agents.heard import Heard
from pogstore.draft import TaskDrafts
from pogstore.errors import LockHeld, NotEnabled, PogError, StaleRef
from pogstore.store.store import Store
from pogstore.work import contracts, intake, spool
from pogstore.work import drain as spool_drain
from pogstore.work.committed import tell_committed
from pogstore.work.drain import Drained, Written
from pogstore.work.spooled_record import Record

__all__ = ["PATIENCE", "Drained", "drain"]

_FAULTS = (PogError, ValueError, LookupError, TypeError)
"""What may be wrong with one session: its task is damaged, or a record says what no event can hold."""
_OF_ALL = (LockHeld, NotEnabled, StaleRef)
READERS: dict[str, Callable[[Record], Heard]] = {
    "claude-code": claude_code.hear,
    "codex": codex.hear,
    "copilot": copilot.hear,
    "cursor": cursor.hear,
    "gemini": gemini.hear,
    "opencode": opencode.hear,
    "generic": generic.hear,
}


def drain(store: Store, *, wait: float = spool.WAIT, now: int | None = None) -> Drained:
    """Brings what the hooks of agents recorded into the store; see `work.drain.drain`.

    `now` is the time in µs by which calls without an end are given up.
    """
    at = time.time_ns() // 1000 if now is None else now

    def write(records: Sequence[Record]) -> Written:
        try:
            return _write(store, records, at)
        except _FAULTS as fault:
            if isinstance(fault, _OF_ALL):
                raise
        return _write_apart(store, records, at)

    done = spool_drain.drain(store, write, wait=wait)
    if done.records:
        contracts.refresh_all(store)
    return done


def _write(store: Store, records: Sequence[Record], now: int) -> Written:
    wanted = _Wanted(store, records, now)
    taken = intake.take(store, wanted, imported=False)
    return Written(taken.events + _committed(store, records), wanted.open, 0)


def _committed(store: Store, records: Sequence[Record]) -> int:
    """Tells of new commits, or does so the next time: the records are stored, whatever is wrong with git's history."""
    try:
        return tell_committed(store, records)
    except (*_FAULTS, OSError):
        return 0


def _write_apart(store: Store, records: Sequence[Record], now: int) -> Written:
    """Writes one session after the other, so that one that cannot be written stops no other; its records are kept."""
    sessions: dict[str, list[Record]] = {}
    for record in records:
        sessions.setdefault(READERS[record.agent](record).session if record.agent in READERS else "", []).append(record)
    found = Written(0, frozenset(), 0)
    for its in sessions.values():
        try:
            done = _write(store, its, now)
        except _FAULTS as fault:
            if isinstance(fault, _OF_ALL):
                raise
            done = Written(0, frozenset(record.id for record in its), len(its))
        found = Written(found.events + done.events, found.open | done.open, found.stuck + done.stuck)
    return found


class _Wanted:
    """The drafts that some records become, found anew each time they are gone through: the store may have changed."""

    def __init__(self, store: Store, records: Sequence[Record], now: int) -> None:
        self._store, self._records, self._now = store, records, now
        self.open: frozenset[str] = frozenset()

    def __iter__(self) -> Iterator[TaskDrafts]:
        known = [READERS[record.agent](record) for record in self._records if record.agent in READERS]
        fold = Fold(self._store, known, self._now)
        found = fold.found()
        self.open = frozenset(fold.open | {record.id for record in self._records if record.agent not in READERS})
        for task, run in groupby(found, key=lambda each: each[0]):
            yield TaskDrafts(task=task, drafts=tuple(draft for _, draft in run))
