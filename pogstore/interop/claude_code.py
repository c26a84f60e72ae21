"""Transcripts of Claude Code in, drafts out: one task for each session.

Pure: no disk, no git, no clock. The same session may be told by several files: copies of one growing transcript,
files of its sub-agents, a resumed session. Every message counts once, by its uuid, and every tool call once, by its id.
Memory holds one session at a time.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

import msgspec

from pogstore import codec, redact
from pogstore.draft import Draft, DraftChange, DraftText, FileVersion, Oddity, TaskDrafts, session_task_id
from pogstore.interop import claude_edits
from pogstore.interop.claude_edits import Contents, Gap, Sides
from pogstore.interop.claude_lines import Outcome, sessions_in, whole
from pogstore.interop.claude_session import AGENT, Call, Moment, Session
from pogstore.interop.claude_shell import Told, View, told
from pogstore.interop.claude_speech import line_of
from pogstore.interop.json_lines import Oddities, Transcript
from pogstore.interop.recorded_paths import Parts, Place, holds, own_root, parts_of, place
from pogstore.model import Actor, Definition, OddPath, Source

LONGEST_TEXT = 64 * 1024
"""How many characters of one text of a tool's input or output are kept."""
DEEPEST = 100
"""How deep values in a tool's input are nested that are kept (case UC-70)."""
TOO_DEEP = "[nested too deeply; omitted]"
LONGEST_TITLE = 80
MOST_DURING = 16
"""How many calls an observed change names at most."""
UNTITLED = "untitled session"
_CUT = 4096
_STRENGTH = ("summary", "ai-title", "custom-title")


Committed: TypeAlias = Callable[[str, int], Iterable[str]]
"""Tells what a path held in commits before a moment (µs), the newest first."""


class Reading(NamedTuple):
    """What was read: the tasks, what was odd about their sources, and the session (none: files that tell of none).

    `directories` are those that the session worked in, as it spelled them, the first one first.
    """

    tasks: tuple[TaskDrafts, ...]
    oddities: tuple[Oddity, ...]
    session: str | None = None
    directories: tuple[str, ...] = ()


def read_transcripts(
    transcripts: Iterable[Transcript],
    *,
    roots: Sequence[str] = (),
    here: str | None = None,
    committed: Committed | None = None,
) -> Iterator[Reading]:
    """Yields one reading for each session that the files tell of, in the order in which they appear.

    The lines of each file are gone through twice, first to see whose they are. `roots` are the directories, on the
    recording machines, that the repository lay in; without any, each session's own root counts. `here` is the real path
    of the present work tree: the root of a session whose own one lies in it. `committed` is asked where an edit does
    not tell what it started from, and no file of the session does.
    """
    files: dict[str, list[Transcript]] = {}
    oddities = Oddities()
    for transcript in map(_replayable, transcripts):
        sessions = sessions_in(transcript.lines)
        for session in sessions:
            files.setdefault(session, []).append(transcript)
        if not sessions:
            oddities.count("no-session", transcript.name, "it names no session")
    if told := oddities.told():
        yield Reading((), told)
    for session, its in files.items():
        yield read_session(session, its, roots=roots, here=here, committed=committed)


def _replayable(transcript: Transcript) -> Transcript:
    lines = transcript.lines
    return transcript._replace(lines=list(lines)) if isinstance(lines, Iterator) else transcript


def read_session(
    session: str,
    transcripts: Iterable[Transcript],
    *,
    roots: Sequence[str] = (),
    here: str | None = None,
    committed: Committed | None = None,
) -> Reading:
    """Returns the task of one session, from all files that may tell of it; no task if none does."""
    oddities = Oddities()
    gathered = Session(session)
    for transcript in transcripts:
        gathered.read(transcript, oddities)
    for end in gathered.orphans():
        oddities.count("result-without-call", end.name, "results of calls that are in no file")
    fold = _Fold(gathered, _roots(list(gathered.cwds), roots, here), oddities, committed or _nothing)
    drafts = fold.drafts()
    tasks = (TaskDrafts(task=session_task_id(AGENT, session), drafts=drafts),) if drafts else ()
    return Reading(tasks, oddities.told(), session, tuple(gathered.cwds))


def _roots(cwds: Sequence[str], given: Sequence[str], here: str | None) -> list[Parts]:
    own = own_root(cwds)
    if given or own is None:
        return [parts_of(root) for root in given]
    top = parts_of(here) if here else own
    return [top if holds(top, own) else own]


def _nothing(*_: object) -> Iterable[str]:
    return ()


class _Fold:
    """Turns a session into drafts, in order: what a path held before decides what an edit shows."""

    def __init__(self, session: Session, roots: Sequence[Parts], oddities: Oddities, committed: Committed) -> None:
        self._session, self._committed = session, committed
        self._oddities = oddities
        self._roots = roots
        self._contents = Contents()
        self._shells: list[tuple[str, str]] = []
        self._touched: dict[Parts, int] = {}
        self._tokens = dict(session.tokens)

    def drafts(self) -> tuple[Draft, ...]:
        """Returns the drafts of the session: its definition, then everything in its own order."""
        found: list[Draft] = []
        for each in self._session.ordered():
            found.extend([_spoken(each)] if isinstance(each, Moment) else self._called(each))
        return (self._defined(found), *found) if found else ()

    def _defined(self, drafts: Sequence[Draft]) -> Draft:
        prompt = next((draft for draft in drafts if draft.kind == "prompted"), None)
        intent = prompt.texts["text"].text if prompt else None
        definition = Definition(
            title=self._title() or line_of(intent or "", LONGEST_TITLE) or UNTITLED,
            intent=intent,
            aliases=(self._session.session,),
        )
        return Draft(
            kind="defined",
            time=(prompt or drafts[0]).time,
            actor=Actor(type="human", session=self._session.session),
            definition=definition,
            definition_class="private",
            source=_source(f"session/{self._session.session}/defined"),
        )

    def _title(self) -> str:
        """Returns the strongest title. A summary counts only if it is about this session: files hold others' too."""
        own = [each for each in self._session.titles if each.leaf is None or each.leaf in self._session.uuids]
        best = max(own, key=lambda each: _STRENGTH.index(each.type), default=None)
        latest = [each for each in own if best and each.type == best.type]
        return line_of(latest[-1].title or "", LONGEST_TITLE) if latest else ""

    def _called(self, call: Call) -> Iterator[Draft]:
        if call.tool_class == "edit":
            yield from self._edited(call)
            return
        fields = self._fields(call)
        if call.tool_class in ("shell", "mcp"):
            fields |= {"coverage": "none", "coverage_reason": "not-compared"}
        if call.use.tool == "Read":
            self._read(call)
        seen = self._ran(call) if call.tool_class == "shell" else []
        if seen:
            unsure = any(each.unsure for each in seen)
            fields |= {"coverage": "partial", "coverage_reason": "no-before" if unsure else "from-command"}
        changes = tuple(_change(each.where.relative or "", each.before, each.after, each.from_) for each in seen)
        output = not (call.ok and call.tool_class == "read")
        yield _stepped(call, fields, call.use.input, changes=changes, output=output, inferred=bool(seen) or None)

    def _ran(self, call: Call) -> list[Told]:
        """Returns what a shell command has made of files, as far as its own words tell."""
        command = str(call.use.input.get("command", ""))
        self._shells.append((call.use.call_id, command))
        view = View(call.cwd, self._roots, self._contents, partial(self._older, time=call.time))
        found = told(command, view) if call.ok else []
        self._touched |= {each.where.whole: len(self._shells) for each in found}
        return found

    def _read(self, call: Call) -> None:
        """Remembers a file that was read whole: a sub-agent's edit may start from it."""
        if call.ok and (found := claude_edits.read_whole(call.use.input, call.outcome, call.answer)):
            path, content = found
            self._contents.saw(place(path, call.cwd, self._roots).whole, content)

    def _edited(self, call: Call) -> Iterator[Draft]:
        fields = self._fields(call)
        if self._session.is_open(call):
            self._oddities.add("unfinished", call.name, call.line, "an edit whose end is not in the transcript yet")
            return
        if call.ok is False:
            yield _stepped(call, fields, call.use.input)
            return
        edit = claude_edits.edit_of(call.use.tool, call.use.input, call.outcome, call.answer)
        if not edit.path:
            self._oddities.add("no-path", call.name, call.line, "an edit that names no file")
            yield _stepped(call, fields, call.use.input)
            return
        where = place(edit.path, call.cwd, self._roots)
        if where.relative is None:
            yield self._outside(call, fields, where)
            return
        if call.end is None:
            self._contents.lost(where.whole)
            sides = Sides(reason="no-result")
        else:
            sides = self._contents.settle(where.whole, edit, self._older(where, call.time))
        if sides.gap:
            yield self._observed(call, where, sides.gap)
        self._touched[where.whole] = len(self._shells)
        yield self._written(call, fields, where.relative, sides)

    def _older(self, where: Place, time: int) -> Iterator[str]:
        """Yields what a path held in commits before a moment, which is looked up when somebody wants it."""
        if where.relative is not None:
            yield from self._committed(where.relative, time)

    def _outside(self, call: Call, fields: dict[str, object], where: Place) -> Draft:
        self._oddities.count(*self._why_outside(call, where))
        fields |= {"coverage": "partial", "coverage_reason": "outside"}
        return _stepped(call, fields, call.use.input, changes=(DraftChange(path=OddPath(outside=True)),))

    def _why_outside(self, call: Call, where: Place) -> tuple[str, str, str]:
        if where.fault:
            return "odd-path", call.name, f"the path of an edit cannot be placed: {where.fault}"
        if cwd := next((cwd for cwd in self._session.cwds if holds(parts_of(cwd), where.whole)), None):
            return "other-root", call.name, f"edits below '{cwd}', which is under no root; name it as one to take them"
        return "outside", call.name, "edits of files outside of the repository"

    def _observed(self, call: Call, where: Place, gap: Gap) -> Draft:
        shells = self._shells[self._touched.get(where.whole, 0) :]
        name = re.compile(rf"(?<![\w.-]){re.escape(where.whole[-1])}(?![\w-])")
        during = [call_id for call_id, command in shells if name.search(command)][-MOST_DURING:]
        fields: dict[str, object] = {"coverage": "partial", "coverage_reason": "gap"}
        return Draft(
            kind="observed",
            time=call.time,
            actor=Actor(type="unknown"),
            fields=fields | ({"during": during} if during else {}),
            changes=(_change(where.relative or "", gap.before, gap.after),),
            source=_source(f"gap/{call.use.call_id}"),
            inferred=True,
        )

    def _written(self, call: Call, fields: dict[str, object], path: str, sides: Sides) -> Draft:
        if sides.reason:
            self._oddities.add(f"edit-{sides.reason}", call.name, call.line, path)
            coverage = "shared" if sides.reason == "user-modified" else "partial"
            fields |= {"coverage": coverage, "coverage_reason": sides.reason}
        else:
            fields |= {"coverage": "scoped"}
        known = sides.after is not None
        given = {name: value for name, value in call.use.input.items() if not (known and name in claude_edits.BODIES)}
        change = _change(path, sides.before, sides.after)
        return _stepped(call, fields, given, changes=(change,), output=not known, inferred=sides.inferred or None)

    def _fields(self, call: Call) -> dict[str, object]:
        fields: dict[str, object] = {
            "tool": call.use.tool,
            "class": call.tool_class,
            "call_id": call.use.call_id,
        }
        outcome = call.outcome or Outcome()
        if call.ok is not None:
            fields["ok"] = call.ok
        if (duration := whole(outcome.duration_ms) or whole(outcome.total_duration_ms)) is not None:
            fields["duration_ms"] = duration
        if tokens := self._tokens.pop(call.message, None):
            fields["usage"] = {"tokens_in": tokens[0], "tokens_out": tokens[1]}
        return fields


def _spoken(moment: Moment) -> Draft:
    return Draft(
        kind=moment.kind,
        time=moment.time,
        actor=moment.actor,
        fields={"topic": moment.topic} if moment.topic else {},
        texts={"text": DraftText(text=moment.text, class_="private")},
        source=_source(moment.key),
    )


def _stepped(
    call: Call,
    fields: dict[str, object],
    given: dict[str, object],
    *,
    changes: tuple[DraftChange, ...] = (),
    output: bool = True,
    inferred: bool | None = None,
) -> Draft:
    texts = {}
    if given:
        texts["input"] = _private(msgspec.json.encode(bounded_value(given)).decode())
    if output and call.answer:
        texts["output"] = _private(bounded(call.answer))
    return Draft(
        kind="stepped",
        time=call.time,
        actor=call.actor,
        fields=fields,
        texts=texts,
        changes=changes,
        source=_source(f"call/{call.use.call_id}"),
        inferred=inferred,
    )


def _private(text: str) -> DraftText:
    return DraftText(text=text, class_="private")


def _source(key: str) -> Source:
    return Source(format=AGENT, key=key)


def _change(path: str, before: str | None, after: str | None, from_: str | None = None) -> DraftChange:
    return DraftChange(path=path, from_=from_, before=_version(before), after=_version(after))


def _version(content: str | None) -> FileVersion | None:
    """Returns a file version; a transcript does not tell the mode, so a regular file is assumed."""
    return None if content is None else FileVersion(mode="100644", data=content.encode())


def bounded_value(value: object, left: int = DEEPEST) -> object:
    """Returns a JSON value with its strings cut as `bounded` does, and without what is nested deeper than `DEEPEST`."""
    if isinstance(value, str):
        return bounded(value)
    if not isinstance(value, dict | list):
        return value
    if not left:
        return TOO_DEEP
    if isinstance(value, dict):
        return {name: bounded_value(each, left - 1) for name, each in value.items()}
    return [bounded_value(each, left - 1) for each in value]


def bounded(text: str) -> str:
    """Returns a text cut to `LONGEST_TEXT` characters, saying so; cut at a line or a word if one ends near.

    One that is cut has no secrets any more, since half of one would pass the rules that find whole ones.
    """
    if len(text) <= LONGEST_TEXT:
        return text
    text = codec.scrub(text)
    end = max(text.rfind(mark, LONGEST_TEXT - _CUT, LONGEST_TEXT) for mark in ("\n", " "))
    end = end if end > 0 else LONGEST_TEXT
    return f"{redact.excerpt(text, 0, end)}\n[{len(text) - end} more characters omitted]"
