"""What an import tells that was recorded live already: the same prompts, calls and gaps, by other keys.

A hook is not told by which id a transcript will know a prompt, so the two can only be compared. Reads, and writes
nothing; knows no agent.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import product

import msgspec

from pogstore import codec, redact
from pogstore.draft import Draft, TaskDrafts
from pogstore.errors import NotFound
from pogstore.interop.claude_code import bounded
from pogstore.interop.claude_edits import BODIES
from pogstore.model import Event, Opaque, Prompted, Source, Stepped
from pogstore.store.store import Store

LIVE = "spool"
"""The format of the sources of what was recorded live."""
NEAR = 3600 * 1_000_000
"""µs: so far apart may be the times of one prompt that was typed while the agent was busy."""
_GAP = "gap/"

_Call = tuple[str | None, str]
_Words = tuple[str | None, str]


def as_told_live(store: Store, task: TaskDrafts) -> TaskDrafts:
    """Returns the drafts of a task so that what was recorded live is known by the source that it has there.

    That is a call whose end was seen, by its id, or by what it was given where its hook was told none; what changed
    before such a call without anybody's doing, since its hook looked and knows better; and a prompt of the same words
    in the same session, the nearest in time.
    """
    try:
        events = [each.event for each in store.events(task.task) if not isinstance(each.event, Opaque)]
    except NotFound:
        return task
    live = [event for event in events if event.source is not None and event.source.format == LIVE]
    calls = _calls(live)
    others = {**_prompts(store, live, task.drafts), **_nameless(store, live, task.drafts)}
    drafts = [_told(draft, calls) or others.get(n) for n, draft in enumerate(task.drafts)]
    return msgspec.structs.replace(
        task,
        drafts=tuple(
            msgspec.structs.replace(draft, source=source) if source else draft
            for draft, source in zip(task.drafts, drafts, strict=True)
        ),
    )


def _calls(live: Iterable[Event]) -> Mapping[_Call, Source]:
    return {
        (event.actor.session, event.call_id): event.source
        for event in live
        if isinstance(event, Stepped) and event.call_id and event.ok is not None and event.source
    }


def _told(draft: Draft, calls: Mapping[_Call, Source]) -> Source | None:
    """Returns the live source of a call, or of the one before which something is said to have changed."""
    if draft.kind == "stepped":
        return calls.get((draft.actor.session, str(draft.fields.get("call_id"))))
    if draft.kind == "observed" and draft.source is not None and draft.source.key.startswith(_GAP):
        named = draft.source.key.removeprefix(_GAP)
        return next((source for (_, call_id), source in calls.items() if call_id == named), None)
    return None


def _prompts(store: Store, live: Iterable[Event], drafts: Sequence[Draft]) -> Mapping[int, Source]:
    """Returns the live source of each draft that is a prompt which was recorded live: the nearest pairs first."""
    said: dict[_Words, list[Prompted]] = {}
    for event in live:
        if isinstance(event, Prompted) and (text := store.find_text(event.text)) is not None:
            said.setdefault((event.actor.session, text.strip()), []).append(event)
    told: dict[_Words, list[int]] = {}
    for n, draft in enumerate(drafts):
        if draft.kind == "prompted" and said:
            told.setdefault((draft.actor.session, _stored(draft.texts["text"].text)), []).append(n)
    found: dict[int, Source] = {}
    for words in said.keys() & told.keys():
        found |= _nearest(drafts, told[words], said[words])
    return found


def _nearest(drafts: Sequence[Draft], told: Iterable[int], live: Iterable[Event]) -> Mapping[int, Source]:
    """Returns the live source of each of some drafts, the pairs that are nearest in time first."""
    found: dict[int, Source] = {}
    taken: set[str] = set()
    pairs = ((abs(event.time - drafts[n].time), n, event) for n, event in product(told, live))
    for apart, n, event in sorted(pairs, key=lambda pair: pair[:2]):
        if apart <= NEAR and n not in found and event.source and event.source.key not in taken:
            taken.add(event.source.key)
            found[n] = event.source
    return found


def _nameless(store: Store, live: Iterable[Event], drafts: Sequence[Draft]) -> Mapping[int, Source]:
    """Returns the live source of each draft that is a call of which a hook was told no id: the same tool and input."""
    done: dict[_Call, list[Event]] = {}
    for event in live:
        if isinstance(event, Stepped) and not event.call_id and event.ok is not None and event.input is not None:
            given = store.find_text(event.input)
            if given is not None:
                done.setdefault((event.tool, _plain(given)), []).append(event)
    found: dict[int, Source] = {}
    told: dict[_Call, list[int]] = {}
    for n, draft in enumerate(drafts if done else ()):
        if draft.kind == "stepped" and "input" in draft.texts:
            told.setdefault((str(draft.fields.get("tool")), _plain(_stored(draft.texts["input"].text))), []).append(n)
    for call in done.keys() & told.keys():
        found |= _nearest(drafts, told[call], done[call])
    return found


def _plain(given: str) -> str:
    """Returns the input of a call in one spelling, whoever wrote it down, without what may be left to its changes."""
    try:
        told = json.loads(given)
    except (ValueError, RecursionError):
        return given
    if isinstance(told, dict):
        told = {name: value for name, value in told.items() if name not in BODIES}
    return json.dumps(told, sort_keys=True)


def _stored(text: str) -> str:
    """Returns a prompt as a hook's would be stored, but for blank space around it."""
    return redact.redact(codec.scrub(bounded(text)))[0].strip()
