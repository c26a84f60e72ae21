"""Rollouts of Codex in, drafts out: a task for each session, also for those of which no hook told (case PC-133). Pure.

A line is `{timestamp, type, payload}`. What a person typed is told by an event; what the model was shown as the user's
has instructions and the environment too. A session that was forked begins with what it was forked from.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec
from msgspec import Struct

from pogstore.draft import session_task_id
from pogstore.interop.agent_sessions import Called, FileEdit, Kept, Spoken, drafts_of
from pogstore.interop.claude_code import Committed, Reading
from pogstore.interop.claude_lines import microseconds, text
from pogstore.interop.codex_patch import Patched, parse
from pogstore.interop.json_lines import Oddities, Transcript, read_records
from pogstore.model import Link

AGENT = "codex"
EDITS = frozenset(("apply_patch",))
SHELLS = frozenset(("shell", "shell_command", "exec_command", "local_shell", "container.exec", "Bash", "write_stdin"))
READS = frozenset(("read_file", "list_dir", "grep_files", "view_image", "web_search"))
PATCHER = ("apply_patch", "applypatch")
_ENDED = re.compile(r"(?:Exit code:|Process exited with code) *(-?[0-9]+)")
"""How an answer begins that tells with which status a command ended."""
_INSERTED = (
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<INSTRUCTIONS>",
    "<turn_aborted>",
)
"""How text begins that the program puts before the model as the user's."""


class _Line(Struct, frozen=True):
    timestamp: object = None
    type: object = None
    payload: object = None


class _Entry(NamedTuple):
    """One line: when, of which sort, and what it holds."""

    line: int
    time: int
    type: str
    payload: Mapping[str, object]


_LINE = msgspec.json.Decoder(_Line)


def read_rollouts(
    transcripts: Iterable[Transcript],
    *,
    roots: Sequence[str] = (),
    here: str | None = None,
    committed: Committed = lambda *_: (),
) -> Iterator[Reading]:
    """Yields one reading for each file that tells of a session, in the order given; see `read_transcripts`."""
    known: dict[str, set[str]] = {}
    for transcript in transcripts:
        oddities = Oddities()
        gathered = _Gathered(transcript.name, list(_entries(transcript, oddities)))
        if gathered.session is None:
            oddities.count("no-session", transcript.name, "it names no session")
            yield Reading((), oddities.told())
            continue
        kept = gathered.kept(known.get(gathered.origin or "", set()))
        known.setdefault(gathered.session, set()).update(
            each.call_id for each in kept.items if isinstance(each, Called)
        )
        task = drafts_of(kept, oddities, roots=roots, here=here, committed=committed)
        yield Reading((task,) if task else (), oddities.told(), gathered.session, tuple(kept.cwds))


def _entries(transcript: Transcript, oddities: Oddities) -> Iterator[_Entry]:
    latest = 0
    for line, number in read_records(transcript, lambda record, number: (_LINE.decode(record), number), oddities):
        latest = max(latest, microseconds(line.timestamp) or 0)
        if isinstance(line.payload, dict):
            yield _Entry(number, latest, text(line.type) or "", line.payload)


class _Gathered:
    """What one rollout says."""

    def __init__(self, name: str, entries: Sequence[_Entry]) -> None:
        self._name, self._entries = name, entries
        meta = next((each.payload for each in entries if each.type == "session_meta"), {})
        self.session = text(meta.get("id"))
        self.version = text(meta.get("cli_version"))
        self.origin, self.link = _origin(meta)
        self._cwd = text(meta.get("cwd")) or ""
        self._model: str | None = None
        self._cwds: dict[str, None] = {self._cwd: None} if self._cwd else {}
        self._ends = {
            call_id: each
            for each in entries
            if str(each.payload.get("type")).endswith("_output") and (call_id := text(each.payload.get("call_id")))
        }
        self._is_told = any(each.payload.get("type") == "user_message" for each in entries if each.type == "event_msg")

    def kept(self, before: set[str]) -> Kept:
        """Returns the session; `before` are the calls of the one it was forked from, with which it may begin."""
        items = [item for entry in self._entries for item in self._items(entry)]
        copied = [at for at, item in enumerate(items) if isinstance(item, Called) and item.call_id in before]
        return Kept(
            AGENT,
            self.session or "",
            self._name,
            items[copied[-1] + 1 :] if copied else items,
            tuple(self._cwds),
            self.version,
            link=self.link,
        )

    def _items(self, entry: _Entry) -> Iterator[Spoken | Called]:
        kind = text(entry.payload.get("type")) or ""
        if entry.type == "turn_context":
            self._model = text(entry.payload.get("model")) or self._model
            self._moved_to(text(entry.payload.get("cwd")))
        elif entry.type == "event_msg" and kind == "user_message":
            yield from self._said(entry, "prompted", None, text(entry.payload.get("message")), human=self.link is None)
        elif entry.type == "compacted":
            yield from self._said(entry, "noted", "codex:summary", text(entry.payload.get("message")))
        elif entry.type == "response_item":
            yield from self._responded(entry, kind)

    def _moved_to(self, cwd: str | None) -> None:
        if cwd:
            self._cwd = cwd
            self._cwds.setdefault(cwd)

    def _responded(self, entry: _Entry, kind: str) -> Iterator[Spoken | Called]:
        payload = entry.payload
        if kind == "message":
            yield from self._message(entry, payload)
        elif kind == "reasoning":
            yield from self._said(entry, "noted", "codex:thinking", _texts(payload.get("summary")))
        elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
            call = self._call(entry, payload)
            if call is not None:
                yield call

    def _message(self, entry: _Entry, payload: Mapping[str, object]) -> Iterator[Spoken]:
        said = _texts(payload.get("content"))
        if payload.get("role") == "assistant":
            yield from self._said(entry, "noted", "codex:reply", said)
        elif payload.get("role") == "user" and not self._is_told and said and not said.lstrip().startswith(_INSERTED):
            yield from self._said(entry, "prompted", None, said, human=self.link is None)

    def _said(
        self, entry: _Entry, kind: str, topic: str | None, words: str | None, *, human: bool = False
    ) -> Iterator[Spoken]:
        if words and words.strip():
            yield Spoken(entry.time, kind, topic, words, f"line/{entry.line}", human, None if human else self._model)

    def _call(self, entry: _Entry, payload: Mapping[str, object]) -> Called | None:
        call_id = text(payload.get("call_id")) or text(payload.get("id"))
        tool = (text(payload.get("name")) or "local_shell").removeprefix("functions.")
        if call_id is None:
            return None
        given = _given(payload)
        end = self._ends.get(call_id)
        ok, answer = _outcome(end.payload) if end else (None, "")
        words = _words(given)
        cwd = text(given.get("workdir")) or text(given.get("cwd")) or self._cwd
        patch = _patch(tool, given, words)
        edits = tuple(_edit(each) for each in parse(patch)) if patch else ()
        return Called(
            end.time if end else entry.time,
            call_id,
            tool,
            "edit" if edits or tool in EDITS else _class(tool),
            given,
            ok,
            answer,
            cwd,
            self._model,
            edits,
            _command(words),
        )


def _origin(meta: Mapping[str, object]) -> tuple[str | None, Link | None]:
    match meta.get("source"):
        case {"subagent": {"thread_spawn": {"parent_thread_id": str(parent)}}} if parent:
            return parent, Link(rel="parent", task=session_task_id(AGENT, parent))
    forked = text(meta.get("forked_from_id"))
    return forked, Link(rel="derived_from", task=session_task_id(AGENT, forked)) if forked else None


def _class(tool: str) -> str:
    if tool in SHELLS:
        return "shell"
    return "read" if tool in READS else "mcp" if tool.startswith("mcp__") else "other"


def _texts(content: object) -> str:
    parts = content if isinstance(content, list) else [content]
    found = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return "\n".join(each for each in found if isinstance(each, str) and each)


def _given(payload: Mapping[str, object]) -> dict[str, object]:
    """Returns the input of a call: an object, JSON in a string, or the text of a patch."""
    for value in (payload.get("arguments"), payload.get("input"), payload.get("action")):
        if isinstance(value, dict):
            return value
        if isinstance(value, str) and value:
            try:
                found = msgspec.json.decode(value)
            except (msgspec.MsgspecError, RecursionError):
                found = None
            return found if isinstance(found, dict) else {"input": value}
    return {}


def _words(given: Mapping[str, object]) -> list[str]:
    """Returns the words of a command; one in a string is what a shell is told."""
    told = given.get("command", given.get("cmd"))
    if isinstance(told, str):
        return ["sh", "-c", told]
    return [each for each in told if isinstance(each, str)] if isinstance(told, list) else []


def _command(words: Sequence[str]) -> str:
    """Returns what a shell was told to do; nothing of a command that is no shell's."""
    return words[2] if len(words) == 3 and words[1] in ("-c", "-lc") else ""


def _patch(tool: str, given: Mapping[str, object], words: Sequence[str]) -> str:
    """Returns the patch that a call applies, also through a shell."""
    if tool in EDITS:
        return text(given.get("input")) or text(given.get("patch")) or text(given.get("command")) or ""
    if len(words) == 2 and words[0] in PATCHER:
        return words[1]
    command = _command(words).lstrip()
    return command if command.startswith(PATCHER) else ""


def _edit(patched: Patched) -> FileEdit:
    if patched.content is not None:
        return FileEdit(patched.path, content=patched.content, created=True)
    if patched.gone:
        return FileEdit(patched.path, gone=True)
    made = patched.applied if patched.hunks else _unchanged
    return FileEdit(patched.path, made=made, to=patched.to)


def _unchanged(content: str) -> str:
    return content


def _outcome(payload: Mapping[str, object]) -> tuple[bool, str]:
    """Returns whether a call did what it was to do, and what the model was told; both may stand in a JSON text."""
    output = payload.get("output")
    if isinstance(output, str) and output.startswith("{"):
        try:
            found = msgspec.json.decode(output)
        except (msgspec.MsgspecError, RecursionError):
            found = None
        output = found if isinstance(found, dict) else output
    if isinstance(output, dict):
        meta = output.get("metadata")
        code = meta.get("exit_code") if isinstance(meta, dict) else output.get("exit_code")
        shown = text(output.get("output")) or text(output.get("content")) or ""
        return output.get("success") is not False and code in (None, 0), shown
    words = output if isinstance(output, str) else _texts(output)
    return not _tells_of_failure(words), words


def _tells_of_failure(words: str) -> bool:
    """Says whether a plain answer tells of a failure, in the words that Codex has for it."""
    head = words[:400]
    if head.startswith(("apply_patch verification failed", "failed ", "error: ", "Failed ", "aborted")):
        return True
    codes = [found[1] for line in head.split("\n") if (found := _ENDED.match(line))]
    return any(code != "0" for code in codes[:1])
