"""What changed in a work tree between two looks at the whole of it, against what was recorded last. Knows no agents.

A look lists every path that differs from HEAD; what it does not list holds what HEAD has. What git brought (a checkout,
a pull, a commit) is no change of anybody's here; and what cannot be known is said, or left out, and never guessed.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from pogstore.draft import DraftChange
from pogstore.model import Change, Side
from pogstore.store import content
from pogstore.store.batch import OMITTED_LARGE
from pogstore.work.entries import paths_committed
from pogstore.work.held import SUBMODULE, Held, Last, oid_text, path_of
from pogstore.work.made import Made
from pogstore.work.movements import Span
from pogstore.work.recorded import Recorded
from pogstore.work.renames import with_renames
from pogstore.work.spooled_record import Absent, Head, Record, Seen, Unseen

NO_BEFORE = "no-before"
MEANWHILE = "committed-meanwhile"
"""Why it is not known what a call did: it committed, and git does not tell what of it is whose."""
_WHOLE = "whole"
_DIGITS = 16

State = Seen | Absent | Unseen


class Look(NamedTuple):
    """A work tree as a hook saw it. `reason` says why not all of it was seen; then its states say nothing.

    `log` is how many bytes HEAD's log had then; -1 if that is not known.
    """

    head: Head | None
    states: Mapping[bytes, State]
    time: int
    reason: str | None = None
    log: int = -1


class Difference(NamedTuple):
    """One path that does not hold what it held before; `last` is when and how that was recorded."""

    path: bytes
    last: Last
    after: Held

    @property
    def fault(self) -> str | None:
        """Why one of the two sides is not known."""
        return self.after.fault or self.last.held.fault


class Compared(NamedTuple):
    """What somebody changed: `changes`, and as plain values in `odd` those of which a side is not stored.

    `coverage` and `reason` say how far this is all; the bases are the heads, as plain values. `since` is when each
    changed path was last recorded before. `apart` are changes that others made after what a recorded edit left.
    """

    changes: tuple[DraftChange, ...] = ()
    odd: tuple[object, ...] = ()
    coverage: str = "exact"
    reason: str | None = None
    base_from: Mapping[str, object] | None = None
    base: Mapping[str, object] | None = None
    since: Mapping[bytes, int] = {}
    apart: "Compared | None" = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing changed, as far as is known."""
        return not self.changes and not self.odd


def look_of(record: Record) -> Look | None:
    """Returns the look that a record has; `None` if it has none."""
    if record.look is None:
        return None
    reason = None if record.look == _WHOLE else record.look.partition(" ")[2] or "failed"
    log = record.extra.get("log", b"")
    size = int(log) if log.isdigit() and len(log) < _DIGITS else -1
    return Look(record.head, {each.path: each for each in record.states}, record.time, reason, size)


def base_of(head: Head | None) -> dict[str, object] | None:
    """Returns HEAD as events have it, as plain values."""
    if head is None:
        return None
    found: dict[str, object] = {"commit": oid_text(head.commit)} if head.commit else {}
    return found | ({"branch": head.branch.removeprefix("refs/heads/")} if head.branch else {}) or None


def observe(recorded: Recorded, before: Look | None, now: Look, leave: Collection[bytes] = ()) -> Compared:
    """Returns what changed until a look without anybody known to have done it, and takes all of it for recorded.

    `before` is the last whole look at this work tree that the same `recorded` has met, if any. What git's history has
    was brought by git; what is not known is left out. The paths in `leave` are somebody else's to tell and stay as
    they are. A look that is partial says nothing.
    """
    if now.reason is not None:
        return Compared(coverage="partial", reason=now.reason, base=base_of(now.head))
    found = [each for each in differences(recorded, before, now, before, leave) if each.fault is None]
    found = _without_brought(recorded, [each for each in found if each.path in now.states], now)
    done = _compared(recorded, (each for each in found if each.last.time or not _was_recorded(recorded, each)))
    return done._replace(base_from=base_of(before.head) if before else None, base=base_of(now.head))


def _was_recorded(recorded: Recorded, found: Difference) -> bool:
    return recorded.was_recorded(found.path, found.after)


def _without_brought(recorded: Recorded, found: list[Difference], now: Look) -> list[Difference]:
    brought = recorded.brought({each.path: each.after for each in found if each.fault is None}, now.head)
    return [each for each in found if each.path not in brought]


def compare(
    recorded: Recorded, begin: Look, now: Look, leave: Collection[bytes] = (), latest: Look | None = None
) -> Compared:
    """Returns what changed between the whole look at the beginning of a call and the one at its end.

    The first was given to `observe` before, and so was `latest`, if there was a whole one between the two. If HEAD
    moved meanwhile, what is in HEAD or in git's history was brought by git, and is no change; but not where all commits
    up to HEAD were written meanwhile. If it did not move, all counts.
    Paths whose contents are not known are changes without sides, and the coverage is `partial`. With changes the
    coverage is `shared` (reason `shell`): whoever else saved a file meanwhile cannot be told apart. What a recorded
    edit left meanwhile is none of these; where it was changed again, that is `apart`.
    """
    if now.reason is not None:
        return Compared(coverage="partial", reason=now.reason, base=base_of(now.head))
    mine = _made(recorded, begin, now)
    written = _committed(recorded, begin, now) | _standing(recorded, mine, now)
    found = list(differences(recorded, latest or begin, now, begin, leave, written))
    if _commit(begin) != _commit(now):
        own = [each for each in found if each.path in written and each.path not in now.states]
        listed = [each for each in found if each.path in now.states or each.fault is not None]
        kept = _without_brought(recorded, listed, now)
        kept += [each for each in listed if each not in kept and _is_made(recorded, mine, each)]
        found = [*own, *kept]
    gone = [] if leave else list(_left_behind(recorded, mine, now, written))
    found += [each for each in gone if each.path not in begin.states]
    is_all = mine.is_all and all(each.path not in begin.states for each in gone)
    apart = {each.path for each in found if each.last.by_edit and each.last.time > begin.time}
    done = _compared(recorded, (each for each in found if each.path not in apart))
    others = _compared(recorded, (each for each in found if each.path in apart and each.fault is None))
    if done.coverage == "exact" and not is_all:
        done = done._replace(coverage="partial", reason=MEANWHILE)
    if done.coverage == "exact" and not done.is_empty:
        done = done._replace(coverage="shared", reason="shell")
    base_from, base = base_of(begin.head), base_of(now.head)
    others = others._replace(base_from=base_from, base=base)
    return done._replace(apart=None if others.is_empty else others, base_from=base_from, base=base)


def _committed(recorded: Recorded, begin: Look, now: Look) -> set[bytes]:
    """Returns the paths that were committed in commits that were written between two looks."""
    old, new = _commit(begin), _commit(now)
    if old is None or not new or old == new:
        return set()
    return paths_committed(recorded.place.git, old, new, begin.time // 1_000_000)


def _made(recorded: Recorded, begin: Look, now: Look) -> Made:
    """Returns what the commits have that were made between two looks, also those that HEAD has left again."""
    old, new = _commit(begin), _commit(now)
    if old is None or new is None:
        return Made()

    def was_held(path: bytes, after: Held) -> bool:
        state, noted = begin.states.get(path), recorded.last_noted(path)
        held = [] if state is None else [recorded.held(state)]
        held += [] if noted is None else [noted.held]
        return any(each.same(after) for each in held) or recorded.was_recorded(path, after)

    return recorded.made(Span(old, new, begin.time, now.time, (begin.log, now.log)), was_held)


def _standing(recorded: Recorded, mine: Made, now: Look) -> set[bytes]:
    """Returns the paths that hold what was made of them in commits."""
    paths = (path for path in mine.paths if path not in now.states)
    return {path for path in paths if recorded.entry_at(now.head, path) == mine.paths[path].after}


def _is_made(recorded: Recorded, mine: Made, found: Difference) -> bool:
    written = mine.paths.get(found.path)
    return written is not None and recorded.entry_held(written.after).same(found.after)


def _left_behind(recorded: Recorded, mine: Made, now: Look, standing: Collection[bytes]) -> Iterator[Difference]:
    """Yields what was committed where HEAD is no more, or was merged with other work: the step is where it was made."""
    for path, written in mine.paths.items():
        if path in standing or path in now.states or written.after is None:
            continue
        before, after = recorded.entry_held(written.before), recorded.entry_held(written.after)
        yield Difference(path, Last(before, 0), after)


def _commit(look: Look) -> str | None:
    return look.head.commit if look.head is not None else None


def differences(
    recorded: Recorded,
    latest: Look | None,
    now: Look,
    begin: Look | None,
    leave: Collection[bytes],
    written: Collection[bytes] = (),
) -> Iterator[Difference]:
    """Yields the paths that do not hold what was last recorded, or are not as at `begin`, and notes what they hold.

    `latest` is the last whole look before; `written` are paths that are to be compared though no look lists them. What
    was not touched since is not read.
    """
    recorded.learn(now.states.values())
    old = latest.states if latest else {}
    marks = begin.states if begin else {}
    candidates = dict.fromkeys([*now.states, *old, *recorded.noted, *written])
    for path in candidates:
        if path in leave:
            continue
        state = now.states.get(path)
        if state is None and path not in written and recorded.is_clean(path):  # then git has changed it, if anybody has
            recorded.note_clean(path, now.head, now.time)
            continue
        noted = recorded.last_noted(path)
        is_untouched = _is_untouched(old.get(path), state)
        if is_untouched and noted is not None and noted.held.fault is None:
            continue
        last = _last(recorded, path, noted, latest, now)
        if last.time > now.time:  # this look saw an older state than what is recorded
            continue
        after = _after(recorded, path, state, last.held, now)
        if state is None and after.fault is None:
            recorded.note_clean(path, now.head, now.time)
        else:
            recorded.note(path, after, now.time)
        if not (is_untouched or recorded.is_same(path, last.held, after) or _is_unchanged(marks.get(path), state)):
            yield Difference(path, last, after)


def _is_untouched(before: State | None, after: State | None) -> bool:
    if not (isinstance(before, Seen) and isinstance(after, Seen)):
        return False
    return bool(after.stat) and (before.stat, before.mode) == (after.stat, after.mode)


def _is_unchanged(before: State | None, after: State | None) -> bool:
    """Says whether a path that cannot be seen into is as it was, as far as can be told."""
    return isinstance(before, Unseen) and before == after


def _last(recorded: Recorded, path: bytes, noted: Last | None, latest: Look | None, now: Look) -> Last:
    """Returns what a path held before: as it was recorded, or else what HEAD had there; then the time is 0."""
    if noted is not None:
        return noted
    stored = recorded.last_stored(path)
    if stored is not None and (latest is None or stored.time > latest.time):
        return stored
    if latest is not None and path in latest.states:
        return Last(recorded.held(latest.states[path]), latest.time)
    return Last(recorded.at((latest or now).head, path), 0)


def _after(recorded: Recorded, path: bytes, state: State | None, before: Held, now: Look) -> Held:
    """Returns what a path holds now; of a file that is as before its bytes are not read."""
    if state is None:
        return recorded.at(now.head, path)
    if isinstance(state, Seen):
        if recorded.is_ignored(path):
            return Held(fault="ignored")
        if state.kept and before.fault is None and before.key == (state.mode, state.blake3):
            return before
    if isinstance(state, Unseen) and state.reason == "submodule":
        held = recorded.held(state)
        return Held(fault="submodule") if held.same(before) else held
    return recorded.held(state)


def _compared(recorded: Recorded, found: Iterable[Difference]) -> Compared:
    """Returns differences as changes, those of which a side is not known without sides."""
    changes: list[DraftChange] = []
    odd: list[object] = []
    reasons: list[str] = []
    since: dict[bytes, int] = {}
    for each in found:
        since[each.path] = each.last.time
        before, after = recorded.loaded(each.last.held), recorded.loaded(each.after)
        if each.fault is not None:
            changes.append(DraftChange(path=path_of(each.path)))
            reasons.append(each.fault)
        elif before.side is None and after.side is None:
            changes.append(DraftChange(path=path_of(each.path), before=before.version, after=after.version))
        else:
            sides = Change(path=path_of(each.path), before=side_of(before), after=side_of(after))
            odd.append(msgspec.to_builtins(sides))
            reasons += [OMITTED_LARGE for held in (before, after) if held.side and held.side.mode != SUBMODULE]
    reason = min(reasons, key=lambda word: (word == "ignored", word)) if reasons else None
    coverage = "partial" if reason else "exact"
    return Compared(with_renames(changes), tuple(odd), coverage, reason, since=since)


def side_of(held: Held) -> Side | None:
    """Returns a side by its hash alone."""
    if held.version is None:
        return held.side
    data = held.version.data
    return Side(mode=held.version.mode, blob=content.blob_id(data), size=len(data), omitted=OMITTED_LARGE)
