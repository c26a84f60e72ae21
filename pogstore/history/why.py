"""`why`: the whole chain behind lines: event, task, prompt, decisions, reviews, commit."""

from itertools import groupby
from typing import NamedTuple

from pogstore.errors import BadInput, ObjectDamaged
from pogstore.history.blame import Blame, BlamedLine, blame
from pogstore.history.tasks import Summary, find_definition, read_state, summary
from pogstore.model import Decided, Prompted, Reviewed, Sealed
from pogstore.store.gitlog import CommitInfo
from pogstore.store.store import Store


class Chain(NamedTuple):
    """What led to a line, and to those that follow it as far as `last`; what there is not is absent."""

    path: bytes
    line: BlamedLine
    event: Sealed | None
    task: Summary | None
    intent: str | None
    prompt: Sealed | None
    prompt_text: str | None
    decisions: tuple[tuple[Sealed, str | None], ...]
    reviews: tuple[Sealed, ...]
    commit: CommitInfo | None
    last: int


def why(store: Store, path: bytes, number: int) -> Chain:
    """Returns the chain behind a line of the work tree's file; lines count from 1."""
    return why_lines(store, path, number, number)[0]


def why_lines(store: Store, path: bytes, first: int, last: int) -> list[Chain]:
    """Returns the chains behind some lines of the work tree's file: one for all lines in a row with one origin."""
    found = blame(store, path)
    for number in (first, last):
        if not 0 < number <= len(found.lines):
            raise BadInput(f"line {number}", f"the file has {len(found.lines)} lines")
    wanted = found.lines[min(first, last) - 1 : max(first, last)]
    rows = [list(run) for _, run in groupby(wanted, key=_origin)]
    return [_behind(store, found, row[0], row[-1].number) for row in rows]


def _origin(line: BlamedLine) -> tuple[str | None, ...]:
    return line.owner, line.event, line.observed, line.commit, line.reason


def _behind(store: Store, found: Blame, line: BlamedLine, last: int) -> Chain:
    named = line.event or line.observed
    sealed = found.events[named] if named else None
    commit = found.commits.get(line.commit) if line.commit else None
    if sealed is None:
        return Chain(found.path, line, None, None, None, None, None, (), (), commit, last)
    return _chain(store, found.path, line, sealed, commit, last)


def _chain(store: Store, path: bytes, line: BlamedLine, sealed: Sealed, commit: CommitInfo | None, last: int) -> Chain:
    task = sealed.event.task
    events = store.events(task)
    at = next(n for n, other in enumerate(events) if other.event_id == sealed.event_id)
    prompt = next((other for other in reversed(events[:at]) if isinstance(other.event, Prompted)), None)
    since = events.index(prompt) if prompt else 0
    decisions = [other for other in events[since : at + 1] if isinstance(other.event, Decided)]
    now = read_state(store, task)
    definition = find_definition(store, now)
    judged = {sealed.event_id, now.definition.blob if now.definition else sealed.event_id}
    return Chain(
        path=path,
        line=line,
        event=sealed,
        task=summary(store, task),
        intent=definition.intent if definition else None,
        prompt=prompt,
        prompt_text=_text(store, prompt) if prompt else None,
        decisions=tuple((other, _text(store, other)) for other in decisions),
        reviews=tuple(
            other for other in events if isinstance(other.event, Reviewed) and judged.intersection(other.event.of)
        ),
        commit=commit,
        last=last,
    )


def _text(store: Store, sealed: Sealed) -> str | None:
    text = getattr(sealed.event, "text", None)
    try:
        return store.find_text(text)
    except ObjectDamaged:
        return None
