"""Which event wrote each line of a content, found once: answers are kept in the index by all that they depend on.

The key of an answer has no more in it than can be read off without reading the events: their number only grows.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import msgspec

from pogstore import digest
from pogstore.errors import NotFound
from pogstore.history.attribution import Attribution
from pogstore.history.claims import Claimed, rule_of
from pogstore.history.elsewhere import paths_elsewhere
from pogstore.history.explanation import UNKNOWN, Key, Owner
from pogstore.history.former import History, history_of
from pogstore.history.past import Past
from pogstore.history.stream import CommitStep, EventStep, steps
from pogstore.history.streamed import ABSENT, OfOthers, commit_steps, event_steps, events_on, is_part
from pogstore.model import EventId, Oid
from pogstore.store import rows
from pogstore.store.hunks import KeptHunks
from pogstore.store.libgit2 import differ, line_hunks
from pogstore.store.store import Store

MEMO = "blame-10"


class Question(NamedTuple):
    """A content of a path as git's blame prints it, in a revision or in the work tree on top of it.

    `is_new` says that the path may not be in the tip yet. With `explained` owners tell by which rule they have a line.
    """

    path: bytes
    tip: Oid | None
    content: bytes
    strict: bool = False
    is_new: bool = False
    explained: bool = False


class Attributed(NamedTuple):
    """Owners as runs of lines, and the events whose contents are not here."""

    runs: list[tuple[Owner, int]]
    absent: list[EventId]


class _Kept(msgspec.Struct, frozen=True, array_like=True):
    """An answer in the memo: each owner once, and runs as pairs of an owner's place and a number of lines.

    `arrived` is which contents were here, where some were not.
    """

    owners: list[Owner]
    runs: list[int]
    absent: list[EventId]
    arrived: int


_kept = msgspec.msgpack.Decoder(_Kept)


def attributed(store: Store, question: Question, past: Past | None = None) -> Attributed:
    """Returns the owner of each line of a content, UNKNOWN where no event and no step explains it.

    `past` is what is known of the tip's history, for who asks about many files. What is to be explained is looked at
    anew, for answers are kept without the rules.
    """
    if not rows.has_changes(store.index.connection):
        return _nobody(question)
    past = past or Past(store, question.tip)
    history = history_of(store, question.tip, question.path, is_new=question.is_new, past=past)
    history = history._replace(names=history.names + paths_elsewhere(store, past, history.names))
    newest = rows.newest_on_paths(store.index.connection, history.names)
    if not newest:
        return _nobody(question)
    key = _memo_key(store, question, history, newest)
    kept = None if question.explained else _recalled(store, key)
    if kept is not None:
        return kept
    found, whole = _attribute(store, question, history, past)
    if whole and not question.explained:
        _keep(store, key, found)
    return found


def _nobody(question: Question) -> Attributed:
    lines = question.content.count(b"\n")
    return Attributed([(UNKNOWN, lines)] if lines else [], [])


def _memo_key(store: Store, question: Question, history: History, newest: int) -> str:
    """Everything that an answer depends on: path, commits, text, and which events and contents there are.

    Which contents came later is asked of the answer, for most depend on none.
    """
    forgotten = rows.counter(store.index.connection, rows.FORGOTTEN)
    parts = (question.path.hex(), f"{question.tip or ''}{history.altered}", digest.hexdigest(question.content))
    return " ".join((*parts, str(newest), str(forgotten), "strict" if question.strict else ""))


def _recalled(store: Store, key: str) -> Attributed | None:
    data = rows.memo(store.index.connection, MEMO, key)
    if data is None:
        return None
    kept = _kept.decode(data)
    if kept.absent and kept.arrived != rows.counter(store.index.connection, rows.ARRIVED):
        return None
    runs = [(kept.owners[at], count) for at, count in zip(kept.runs[::2], kept.runs[1::2], strict=True)]
    return Attributed(runs, kept.absent)


def _keep(store: Store, key: str, found: Attributed) -> None:
    places = {owner: at for at, owner in enumerate(dict.fromkeys(owner for owner, _ in found.runs))}
    runs = [number for owner, count in found.runs for number in (places[owner], count)]
    arrived = rows.counter(store.index.connection, rows.ARRIVED)
    kept = _Kept(list(places), runs, found.absent, arrived)
    rows.keep_memos(store.index.connection, MEMO, {key: msgspec.msgpack.encode(kept)})


def _attribute(store: Store, question: Question, history: History, past: Past) -> tuple[Attributed, bool]:
    """Returns the answer, and whether it rests on nothing but what its key names."""
    stream, whole = stream_of(store, history, past)
    missing: list[Key] = []
    head = past.blob(question.path)
    with store.blobs(_contents(stream)) as contents:

        def read(key: Key) -> bytes | None:
            if key.startswith(ABSENT):
                return None
            try:
                return contents.read(Oid(key))
            except NotFound:
                missing.append(key)
                return None

        def has(key: Key) -> bool:
            found = not key.startswith(ABSENT) and contents.has(Oid(key))
            if not found and not key.startswith(ABSENT):
                missing.append(key)
            return found

        hunks = KeptHunks(store.index.connection, differ())
        attribution = Attribution(
            read, line_hunks, has=has, known=hunks, strict=question.strict, explained=question.explained
        )
        attribution.replay(stream)
        keys = _keys(store, question.content)
        target = next((key for key in keys if attribution.knows(key)), keys[0])
        now = max((step.time for step in stream), default=0)
        owners = attribution.owners(target, question.content, [head] if head else [], now)
    hunks.save()
    if question.explained:
        is_recorded = attribution.is_recorded(target)
        return Attributed(_told(owners, is_recorded=is_recorded), list(map(EventId, attribution.absent))), False
    runs = [(owner, len(list(run))) for owner, run in groupby(owners)]
    return Attributed(runs, [EventId(event) for event in attribution.absent]), whole and not missing


def _told(owners: Sequence[Owner], *, is_recorded: bool) -> list[tuple[Owner, int]]:
    """Returns runs of lines that one owner has by one rule."""
    told = ((owner, rule_of(owner, is_recorded=is_recorded)) for owner in owners)
    return [(Claimed(owner, rule) if owner else owner, len(list(run))) for (owner, rule), run in groupby(told)]


def _contents(stream: Sequence[EventStep | CommitStep]) -> Iterator[Oid]:
    """Yields the contents that will be looked at, about in the order in which they are."""
    for step in stream:
        before = (step.before,) if isinstance(step, EventStep) else step.parents
        yield from (Oid(key) for key in (*before, step.after) if key is not None and not key.startswith(ABSENT))


def stream_of(store: Store, history: History, past: Past) -> tuple[list[EventStep | CommitStep], bool]:
    """Returns the steps of a file, and whether they rest on the events of its paths alone: parts wait for others."""
    of_others = OfOthers(history.former)
    commits = [commit for commit in past.commits(history.names) if not of_others.has_commit(commit)]
    events = events_on(store, history.names)
    stream = steps(event_steps(store, events, set(history.names), of_others), commit_steps(commits))
    return stream, not any(map(is_part, events))


def _keys(store: Store, content: bytes) -> Sequence[Key]:
    """Returns the keys that a text from `git blame` may have: it does not say whether the last line ends."""
    return [store.objects.name("blob", content), store.objects.name("blob", content[:-1])]
