"""A session that some agent has kept, once it was read, as drafts: what was said, and what calls did to files. Pure.

Knows no agent's format: `codex.py` and `gemini.py` read theirs. What a file held before is what the session told of it,
or what it was last seen to hold, or a content that commits had; where none of these fits, a side stays unknown.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from pogstore.draft import Draft, DraftChange, DraftText, FileVersion, TaskDrafts, session_task_id
from pogstore.interop.claude_code import LONGEST_TITLE, UNTITLED, Committed, bounded, bounded_value
from pogstore.interop.claude_edits import Contents
from pogstore.interop.claude_shell import View, told
from pogstore.interop.claude_speech import line_of
from pogstore.interop.json_lines import Oddities
from pogstore.interop.recorded_paths import Parts, Place, holds, own_root, parts_of, place
from pogstore.model import Actor, Definition, Link, OddPath, Source

NOT_COMPARED = "not-compared"
_WORST = ("no-original", "no-before", "outside")
"""Why a change is not known whole, the worst last."""


class Spoken(NamedTuple):
    """Something that was said. `key` tells it from all else of its session."""

    time: int
    kind: str
    topic: str | None
    text: str
    key: str
    human: bool = False
    model: str | None = None


class FileEdit(NamedTuple):
    """What a call did to one file: new `content`, or `made` from what it held, or `gone`; perhaps under a new name.

    `original` is what it held, `None` if it did not exist, `UNSET` if nobody says; `created` says that it should not
    have existed.
    """

    path: str
    content: str | None = None
    made: Callable[[str], str | None] | None = None
    original: str | UnsetType | None = UNSET
    gone: bool = False
    created: bool = False
    to: str | None = None


class Called(NamedTuple):
    """A tool call. `ok` is `None` if its end is not told."""

    time: int
    call_id: str
    tool: str
    tool_class: str
    given: Mapping[str, object]
    ok: bool | None
    answer: str
    cwd: str
    model: str | None = None
    edits: tuple[FileEdit, ...] = ()
    command: str = ""
    duration_ms: int | None = None


class Kept(NamedTuple):
    """A session as an agent has kept it, in its own order; `cwds` are the directories in which it worked."""

    agent: str
    session: str
    name: str
    items: Sequence[Spoken | Called]
    cwds: Sequence[str]
    version: str | None = None
    title: str | None = None
    link: Link | None = None


class _Sides(NamedTuple):
    before: str | None
    after: str | None
    reason: str | None = None
    inferred: bool = False
    gap: tuple[str | None, str | None] | None = None


def drafts_of(
    kept: Kept, oddities: Oddities, *, roots: Sequence[str], here: str | None, committed: Committed
) -> TaskDrafts | None:
    """Returns the task of a session; nothing if nothing was said or called in it.

    `roots` are the directories, on the recording machine, that the repository lay in; without any it is the session's
    own, or the present work tree `here` where the session worked in it or does not say where.
    """
    if not kept.items:
        return None
    drafts = _Fold(kept, _roots(kept.cwds, roots, here), oddities, committed).drafts()
    return TaskDrafts(task=session_task_id(kept.agent, kept.session), drafts=tuple(drafts))


def _roots(cwds: Sequence[str], given: Sequence[str], here: str | None) -> list[Parts]:
    own = own_root(cwds)
    if given:
        return [parts_of(root) for root in given]
    if own is None:
        return [parts_of(here)] if here and not cwds else []
    top = parts_of(here) if here else own
    return [top if holds(top, own) else own]


class _Fold:
    """Goes through a session in its order: what a path held before decides what an edit shows."""

    def __init__(self, kept: Kept, roots: Sequence[Parts], oddities: Oddities, committed: Committed) -> None:
        self._kept, self._roots, self._oddities, self._committed = kept, roots, oddities, committed
        self._contents = Contents()

    def drafts(self) -> Iterator[Draft]:
        """Yields the definition, and then everything in its order."""
        prompt = next((each for each in self._kept.items if isinstance(each, Spoken) and each.human), None)
        intent = prompt.text if prompt else None
        yield Draft(
            kind="defined",
            time=(prompt or self._kept.items[0]).time,
            actor=self._actor("human" if prompt or not self._kept.link else "agent", None),
            definition=Definition(
                title=line_of(self._kept.title or intent or "", LONGEST_TITLE) or UNTITLED,
                intent=intent,
                aliases=(self._kept.session,),
            ),
            definition_class="private",
            links=(self._kept.link,) if self._kept.link else (),
            source=self._source(f"session/{self._kept.session}/defined"),
        )
        for each in self._kept.items:
            if isinstance(each, Spoken):
                yield self._said(each)
            else:
                yield from self._called(each)

    def _said(self, said: Spoken) -> Draft:
        return Draft(
            kind=said.kind,
            time=said.time,
            actor=self._actor("human" if said.human else "agent", said.model),
            fields={"topic": said.topic} if said.topic else {},
            texts={"text": _private(bounded(said.text))},
            source=self._source(said.key),
        )

    def _called(self, call: Called) -> Iterator[Draft]:
        fields: dict[str, object] = {"tool": call.tool, "class": call.tool_class, "call_id": call.call_id}
        fields |= {} if call.ok is None else {"ok": call.ok}
        fields |= {} if call.duration_ms is None else {"duration_ms": call.duration_ms}
        changes: list[DraftChange] = []
        inferred = False
        if call.edits and call.ok is not False:
            found = [self._edited(call, edit) for edit in call.edits]
            yield from (gap for _, _, gap in found if gap is not None)
            changes = [change for change, _, _ in found if change is not None]
            reasons = [sides.reason for _, sides, _ in found if sides.reason]
            inferred = any(sides.inferred for _, sides, _ in found)
            reason = max(reasons, key=_WORST.index, default=None)
            fields |= {"coverage": "partial", "coverage_reason": reason} if reason else {"coverage": "scoped"}
        elif call.tool_class in ("shell", "mcp"):
            changes, fields_ = self._ran(call)
            fields |= fields_
            inferred = bool(changes)
        yield self._stepped(call, fields, changes, inferred)

    def _ran(self, call: Called) -> tuple[list[DraftChange], dict[str, object]]:
        """Returns what a shell command has made of files, as far as its own words tell."""
        view = View(call.cwd, self._roots, self._contents, partial(self._older, time=call.time))
        seen = told(call.command, view) if call.ok and call.command else []
        if not seen:
            return [], {"coverage": "none", "coverage_reason": NOT_COMPARED}
        reason = "no-before" if any(each.unsure for each in seen) else "from-command"
        changes = [_change(each.where.relative or "", each.before, each.after, each.from_) for each in seen]
        return changes, {"coverage": "partial", "coverage_reason": reason}

    def _edited(self, call: Called, edit: FileEdit) -> tuple[DraftChange | None, _Sides, Draft | None]:
        where = place(edit.path, call.cwd, self._roots)
        target = place(edit.to, call.cwd, self._roots) if edit.to else where
        if where.relative is None or target.relative is None:
            self._oddities.count("outside", self._kept.name, "edits of files outside of the repository")
            return DraftChange(path=OddPath(outside=True)), _Sides(None, None, "outside"), None
        sides = self._settled(edit, where, target, call)
        gap = None if sides.gap is None else self._gap(call, where.relative, *sides.gap)
        if sides.reason == "no-original":
            self._oddities.count(
                "edit-no-original", self._kept.name, "edits of which nothing tells what they began from"
            )
            return DraftChange(path=target.relative), sides, gap
        if sides.before == sides.after and target == where:
            return None, sides, gap
        from_ = where.relative if target != where else None
        return _change(target.relative, sides.before, sides.after, from_), sides, gap

    def _settled(self, edit: FileEdit, where: Place, target: Place, call: Called) -> _Sides:
        """Returns what an edit did, and takes its outcome for what the path holds from now on."""
        if call.ok is None:
            self._contents.lost(where.whole)
            return _Sides(None, None, "no-original")
        sides = self._sides(edit, where, call)
        if sides.reason == "no-original":
            self._contents.lost(where.whole)
            self._contents.lost(target.whole)
            return sides
        if target != where:
            self._contents.wrote(where.whole, None)
        self._contents.wrote(target.whole, sides.after)
        return sides

    def _sides(self, edit: FileEdit, where: Place, call: Called) -> _Sides:
        last = self._contents.held(where.whole)
        if not isinstance(edit.original, UnsetType):
            after = None if edit.gone else edit.content
            if after is None and edit.made is not None:
                after = edit.made(edit.original or "")
            if after is None and not edit.gone:
                return _Sides(None, None, "no-original")
            known = where.whole in self._contents.paths()
            return _Sides(edit.original, after, gap=(last, edit.original) if known and last != edit.original else None)
        if edit.content is not None:
            if last is not None or where.whole in self._contents.paths():
                return _Sides(last, edit.content, inferred=True)
            return _Sides(None, edit.content, None if edit.created else "no-before", inferred=True)
        for before in self._candidates(where, call):
            after = None if edit.gone else edit.made(before) if edit.made is not None else None
            if edit.gone or after is not None:
                return _Sides(before, after, inferred=before != last)
        return _Sides(None, None, "no-original")

    def _candidates(self, where: Place, call: Called) -> Iterator[str]:
        """Yields what a path may have held: what it was seen to hold, the latest first, then in commits."""
        return chain(self._contents.seen(where.whole), self._older(where, call.time))

    def _older(self, where: Place, time: int) -> Iterable[str]:
        return self._committed(where.relative, time) if where.relative is not None else ()

    def _gap(self, call: Called, path: str, before: str | None, after: str | None) -> Draft:
        return Draft(
            kind="observed",
            time=call.time,
            actor=Actor(type="unknown"),
            fields={"coverage": "partial", "coverage_reason": "gap"},
            changes=(_change(path, before, after),),
            source=self._source(f"gap/{call.call_id}"),
            inferred=True,
        )

    def _stepped(
        self, call: Called, fields: Mapping[str, object], changes: Sequence[DraftChange], inferred: bool
    ) -> Draft:
        texts = {}
        if call.given:
            texts["input"] = _private(msgspec.json.encode(bounded_value(dict(call.given))).decode())
        if call.answer and not (call.ok and call.tool_class == "read"):
            texts["output"] = _private(bounded(call.answer))
        return Draft(
            kind="stepped",
            time=call.time,
            actor=self._actor("agent", call.model),
            fields=dict(fields),
            texts=texts,
            changes=tuple(changes),
            source=self._source(f"call/{call.call_id}"),
            inferred=inferred or None,
        )

    def _actor(self, kind: str, model: str | None) -> Actor:
        if kind == "human":
            return Actor(type="human", session=self._kept.session)
        kept = self._kept
        return Actor(type="agent", name=kept.agent, model=model, version=kept.version, session=kept.session)

    def _source(self, key: str) -> Source:
        return Source(format=self._kept.agent, key=key)


def _private(text: str) -> DraftText:
    return DraftText(text=text, class_="private")


def _change(path: str, before: str | None, after: str | None, from_: str | None = None) -> DraftChange:
    return DraftChange(path=path, from_=from_, before=_version(before), after=_version(after))


def _version(content: str | None) -> FileVersion | None:
    """Returns a file version; a session does not tell the mode, so a regular file is assumed."""
    return None if content is None else FileVersion(mode="100644", data=content.encode("utf-8", "surrogatepass"))
