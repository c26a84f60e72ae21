"""What the hooks of an agent said, as drafts. Pure: what the files held is given by the caller.

A step that a hook told and the same step in a transcript that is imported later are echoes of each other: they have the
same session and call id. So texts, classes and coverage follow `interop/claude_code.py` wherever both can know a thing.
"""

import json
import os
from collections.abc import Mapping, Sequence

import msgspec

from pogstore.agents.heard import DECISION, END, Heard, Step, name
from pogstore.draft import Draft, DraftChange, DraftText
from pogstore.interop.claude_code import LONGEST_TITLE, UNTITLED, bounded, bounded_value
from pogstore.interop.claude_edits import BODIES
from pogstore.interop.claude_speech import line_of
from pogstore.model import Actor, Definition, Link, OddPath, Person, Source
from pogstore.store.content import path_of

LIVE = "spool"
"""The format of the sources of events that hooks told."""
OUTSIDE, TAMPERED = "pogstore:outside-limits", "pogstore:contract-changed"
"""The topics of our own notes: a step that its task's limits deny, and a compiled contract that is not ours."""
GOES_ON = "derived_from"
"""The link from a session's task to that of the session which it was forked from, or resumed from under another id."""
PART = "parent"
"""The link to that of the session which it is a part of: the work of a sub-agent (case PC-136)."""
PARENTS = (GOES_ON, PART)


def person(heard: Heard, behind: Person | None) -> Actor:
    """Returns the person at the keyboard."""
    return Actor(type="human", name=behind.name if behind else None, session=heard.session, on_behalf_of=behind)


def agent(heard: Heard, model: str | None, behind: Person | None) -> Actor:
    """Returns the agent, or the sub-agent, that made a hook call."""
    return Actor(
        type="agent",
        name=heard.agent,
        model=model,
        session=heard.session,
        agent_id=heard.agent_id,
        on_behalf_of=behind,
    )


def defined(heard: Heard, actor: Actor, parent: Link | None = None) -> Draft:
    """Returns the definition of the session's own task, from its first prompt; the same source as an import's.

    `parent` links to the session that this one goes on from, or is a part of.
    """
    prompt = heard.text if heard.phase == "prompt" else None
    title = line_of(prompt or "", LONGEST_TITLE) or UNTITLED
    return Draft(
        kind="defined",
        time=heard.record.time,
        offset=heard.record.offset,
        actor=actor,
        definition=Definition(title=title, intent=prompt, aliases=(heard.session,)),
        definition_class="private",
        links=(parent,) if parent else (),
        source=Source(format=heard.agent, key=f"session/{heard.session}/defined"),
    )


def moved(heard: Heard, status: str, actor: Actor) -> Draft:
    """Returns the move of the session's own task that a hook call brings about."""
    return _draft("moved", heard, actor, fields={"status": status}, key=f"{heard.record.id}/moved")


def prompted(heard: Heard, actor: Actor) -> Draft:
    """Returns the instruction that a person gave."""
    return _draft("prompted", heard, actor, texts={"text": private(bounded(heard.text))})


def noted(heard: Heard, actor: Actor, parent: Link | None = None) -> Draft:
    """Returns any other call of a hook: a topic, and all it said as text; a decision as what it is.

    What a session begins with names the task of the session that it goes on from, `parent`: it is the first event.
    """
    if heard.phase == DECISION:
        return _draft("decided", heard, actor, texts={"text": DraftText(text=bounded(heard.text), class_="content")})
    said = heard.text or heard.record.payload.decode("utf-8", "replace")
    topic = heard.topic or f"{heard.agent}:{name(heard.record.event) or 'unknown'}"
    draft = _draft("noted", heard, actor, fields={"topic": topic}, texts={"text": private(bounded(said))})
    return msgspec.structs.replace(draft, links=(parent,) if parent else ())


def link_of(heard: Heard) -> Link | None:
    """Returns the link from a session's task to the one that it goes on from, or is a part of; nothing without one."""
    return Link(rel=PART if heard.is_part else GOES_ON, task=heard.parent) if heard.parent else None


def refused(heard: Heard, rule: str, paths: Sequence[str], actor: Actor) -> Draft:
    """Returns that a contract denied a tool call; a path outside of the repository is not spelled."""
    named = [
        OddPath(outside=True) if path.startswith("/") else path_of(os.fsencode(path.rstrip("/"))) for path in paths
    ]
    fields: dict[str, object] = {"rule": rule, "paths": [msgspec.to_builtins(each) for each in dict.fromkeys(named)]}
    fields |= {"tool": heard.tool} if heard.tool else {}
    # an agent that asks two hooks about one call is denied twice, and that is one refusal
    key = f"{heard.session}/{heard.call_id}/refused" if heard.call_id else None
    return _draft("refused", heard, actor, fields=fields, key=key)


def said_by_us(heard: Heard, key: str, topic: str, words: str) -> Draft:
    """Returns a note of our own about what a hook call told."""
    return Draft(
        kind="noted",
        time=heard.record.time,
        offset=heard.record.offset,
        actor=Actor(type="tool", name="pogstore"),
        fields={"topic": topic},
        texts={"text": private(words)},
        source=Source(format=LIVE, key=f"{heard.record.id}/{key}"),
    )


def observed(
    heard: Heard,
    key: str,
    changes: tuple[DraftChange, ...],
    fields: Mapping[str, object],
    maker: Actor | None = None,
) -> Draft:
    """Returns what changed outside of every step, `maker` being who did it; the same source as an import's."""
    return Draft(
        kind="observed",
        time=heard.record.time,
        offset=heard.record.offset,
        actor=maker or Actor(type="unknown"),
        fields=dict(fields),
        changes=changes,
        source=Source(format=heard.agent, key=key),
    )


def stepped(step: Step, actor: Actor) -> Draft:
    """Returns the step that one tool call is, from its end, or from its beginning where no end came."""
    heard = step.heard
    fields: dict[str, object] = {"tool": heard.tool, "class": heard.tool_class}
    if heard.call_id is not None:
        fields["call_id"] = heard.call_id
    ok = step.end is not None and step.end.phase == END
    if step.end is not None:
        fields["ok"] = ok
        took = _duration(step)
        fields |= {"duration_ms": took} if took is not None else {}
        fields |= {"usage": msgspec.to_builtins(heard.usage)} if heard.usage is not None else {}
    told = {"coverage": step.coverage, "coverage_reason": step.reason, "base": step.base}
    fields |= {name: value for name, value in told.items() if value}
    if step.odd_changes:
        fields["changes"] = list(step.odd_changes)
    draft = _draft("stepped", heard, actor, fields=fields, texts=_texts(step, ok))
    record = (step.begin or heard).record if heard.call_id else heard.record
    return msgspec.structs.replace(
        draft,
        changes=step.changes,
        source=Source(format=LIVE, key=record.id),
        inferred=step.inferred or None,
    )


def _duration(step: Step) -> int | None:
    """Returns how long a call lasted, in ms: as the agent says, or else between its two hooks, so with what it waited.

    Two lines that were read at one moment say nothing.
    """
    told = step.heard.duration_ms
    if told is not None or step.begin is None or step.end is None:
        return told
    took = step.end.record.time - step.begin.record.time
    return took // 1000 if took > 0 else None


def _texts(step: Step, ok: bool) -> dict[str, DraftText]:
    heard = step.heard
    if step.reason == "ignored" and heard.tool_class in ("edit", "other"):
        # they would quote a file whose contents are not kept
        return {}
    given = heard.given
    known = step.known and heard.edit is not None  # only of tools that we know do we know what repeats the change
    if isinstance(given, dict):
        given = {name: value for name, value in given.items() if not (known and name in BODIES)}
    texts = {"input": private(as_json(given))} if given else {}
    answer = step.end.answer if step.end else ""
    if answer and not known and not (ok and heard.tool_class == "read"):
        texts["output"] = private(bounded(answer))
    return texts


def _draft(
    kind: str,
    heard: Heard,
    actor: Actor,
    *,
    fields: dict[str, object] | None = None,
    texts: dict[str, DraftText] | None = None,
    key: str | None = None,
) -> Draft:
    return Draft(
        kind=kind,
        time=heard.record.time,
        offset=heard.record.offset,
        actor=actor,
        fields=fields or {},
        texts=texts or {},
        source=Source(format=LIVE, key=key or heard.record.id),
        raw=private(bounded(heard.unnamed)) if heard.unnamed else None,
    )


def private(value: str) -> DraftText:
    """Returns a text that stays at home."""
    return DraftText(text=value, class_="private")


def as_json(value: object) -> str:
    """Returns a value as text, its longest strings cut."""
    return json.dumps(bounded_value(value), ensure_ascii=False, separators=(",", ":"))
