"""Sessions of Gemini CLI in, drafts out: one task for each. Pure.

A session is one JSON object with its messages, or a line for each. It does not say in which directory it worked, only a
hash of it; the paths in its calls are absolute. An edit tells both sides of the file in what was shown of it.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import UNSET, UnsetType

from pogstore.draft import TaskDrafts
from pogstore.interop.agent_sessions import Called, FileEdit, Kept, Spoken, drafts_of
from pogstore.interop.claude_code import Committed, Reading
from pogstore.interop.claude_edits import Replacement, rewritten
from pogstore.interop.claude_lines import microseconds, text
from pogstore.interop.json_lines import Oddities, Transcript, sound

AGENT = "gemini"
EDITS = frozenset(("write_file", "replace", "edit"))
SHELLS = frozenset(("run_shell_command",))
READS = frozenset((
    "read_file", "read_many_files", "list_directory", "glob", "grep_search", "search_file_content", "google_web_search",
    "web_fetch",
))  # fmt: skip
_PLACES = ("dir_path", "directory")


class _Session(NamedTuple):
    """The session that a file tells of, the hash of its directory, and its messages, each by its last state."""

    session: str
    project: str | None
    messages: Sequence[Mapping[str, object]]


def read_sessions(
    transcripts: Iterable[Transcript],
    *,
    roots: Sequence[str] = (),
    here: str | None = None,
    committed: Committed = lambda *_: (),
) -> Iterator[Reading]:
    """Yields one reading for each file; see `read_transcripts`. Without `roots` the repository lay at `here`."""
    for transcript in transcripts:
        oddities = Oddities()
        session = _session(transcript, oddities)
        if session is None:
            oddities.count("no-session", transcript.name, "it names no session")
            yield Reading((), oddities.told())
            continue
        root = (*roots, here or "")[0]
        kept = Kept(AGENT, session.session, transcript.name, list(_items(session, root)), ())
        task = drafts_of(kept, oddities, roots=roots, here=here, committed=committed)
        if task is not None and _is_elsewhere(session, task, (*roots, here or "")):
            oddities.count(
                "other-project", transcript.name, "it worked in another directory, and on no file of this one"
            )
            task = None
        yield Reading((task,) if task else (), oddities.told(), session.session)


def _is_elsewhere(session: _Session, task: TaskDrafts, roots: Iterable[str]) -> bool:
    """Says whether a session is another project's: by the hash of its directory, and by the files that it changed."""
    if session.project is None or session.project in {hashlib.sha256(root.encode()).hexdigest() for root in roots}:
        return False
    return not any(isinstance(change.path, str) for draft in task.drafts for change in draft.changes)


def _session(transcript: Transcript, oddities: Oddities) -> _Session | None:
    lines = list(transcript.lines)
    whole = _decoded(b"".join(lines))
    if isinstance(whole, dict) and isinstance(whole.get("messages"), list):
        records = [whole, *whole["messages"]]
    else:
        found = [(number, _decoded(line)) for number, line in enumerate(lines, 1) if line.strip()]
        for number, record in found:
            if record is None:
                oddities.add("bad-line", transcript.name, number, "not JSON")
        records = [record for _, record in found]
    said = [record for record in records if isinstance(record, dict)]
    session = next(filter(None, (text(each.get("sessionId")) for each in said)), None)
    messages: dict[str, Mapping[str, object]] = {}
    for number, each in enumerate(said):
        if "type" in each:
            messages[text(each.get("id")) or f"#{number}"] = each  # a message that grows is written again
    project = next(filter(None, (text(each.get("projectHash")) for each in said)), None)
    return _Session(session, project, list(messages.values())) if session else None


def _decoded(data: bytes) -> object:
    try:
        return sound(json.loads(data.decode("utf-8", "replace"), strict=False))
    except (ValueError, RecursionError):
        return None


def _items(session: _Session, root: str) -> Iterator[Spoken | Called]:
    latest = 0
    for number, message in enumerate(session.messages):
        latest = max(latest, microseconds(message.get("timestamp")) or 0)
        key = f"message/{text(message.get('id')) or number}"
        kind, words, model = message.get("type"), _words(message.get("content")), text(message.get("model"))
        if kind == "user" and words.strip() and not words.startswith("/"):
            yield Spoken(latest, "prompted", None, words, key, human=True)
        elif kind == "gemini":
            yield from _thoughts(message, latest, key, model)
            if words.strip():
                yield Spoken(latest, "noted", "gemini:reply", words, key, model=model)
            calls = message.get("toolCalls")
            for each in calls if isinstance(calls, list) else ():
                call = _call(each, latest, model, root) if isinstance(each, dict) else None
                if call is not None:
                    latest = max(latest, call.time)
                    yield call


def _thoughts(message: Mapping[str, object], time: int, key: str, model: str | None) -> Iterator[Spoken]:
    thoughts = message.get("thoughts")
    found = [each for each in thoughts if isinstance(each, dict)] if isinstance(thoughts, list) else []
    parts = ["\n".join(filter(None, (text(each.get("subject")), text(each.get("description"))))) for each in found]
    if any(parts):
        yield Spoken(time, "noted", "gemini:thinking", "\n\n".join(filter(None, parts)), f"{key}/thoughts", model=model)


def _call(call: Mapping[str, object], time: int, model: str | None, root: str) -> Called | None:
    call_id, tool, args = text(call.get("id")), text(call.get("name")), call.get("args")
    if call_id is None or tool is None:
        return None
    given = args if isinstance(args, dict) else {}
    status = text(call.get("status"))
    ok = None if status in (None, "executing", "scheduled", "validating", "awaiting_approval") else status == "success"
    edit = _edit(tool, given, call.get("resultDisplay")) if tool in EDITS else None
    place = next(filter(None, (text(given.get(each)) for each in _PLACES)), "")
    return Called(
        max(microseconds(call.get("timestamp")) or time, time),
        call_id,
        tool,
        _class(tool),
        given,
        ok,
        _answer(call.get("result")),
        place if place.startswith("/") else f"{root}/{place}".rstrip("/"),
        model,
        (edit,) if edit else (),
        (text(given.get("command")) or "") if tool in SHELLS else "",
    )


def _class(tool: str) -> str:
    if tool in EDITS:
        return "edit"
    if tool in SHELLS:
        return "shell"
    return "read" if tool in READS else "mcp" if tool.startswith("mcp_") else "other"


def _edit(tool: str, given: Mapping[str, object], shown: object) -> FileEdit | None:
    """Returns the edit of a call; what was shown of it tells both sides, its input one of them, or none."""
    path = text(given.get("file_path"))
    if path is None:
        return None
    shown = shown if isinstance(shown, dict) else {}
    before, after = shown.get("originalContent", UNSET), shown.get("newContent")
    original: str | UnsetType | None = before if isinstance(before, str) or before is None else UNSET
    if shown.get("isNewFile") is True:
        original = None
    if isinstance(after, str):
        return FileEdit(path, content=after, original=original)
    if tool == "write_file":
        content = given.get("content")
        return FileEdit(path, content=content, original=original) if isinstance(content, str) else FileEdit(path)
    old, new = given.get("old_string"), given.get("new_string")
    if not isinstance(old, str) or not isinstance(new, str):
        return FileEdit(path)
    if not old:
        return FileEdit(path, content=new, created=True)
    count = given.get("expected_replacements")
    everywhere = (isinstance(count, int) and count > 1) or given.get("allow_multiple") is True
    made = (Replacement(old, new, everywhere),)
    return FileEdit(path, made=lambda content: rewritten(content, made), original=original)


def _answer(result: object) -> str:
    """Returns what a tool answered, as the model was told it."""
    parts = result if isinstance(result, list) else [result]
    return "\n".join(filter(None, map(_responded, parts)))


def _responded(part: object) -> str:
    match part:
        case str():
            return part
        case {"functionResponse": {"response": dict(response)}}:
            return text(response.get("output")) or text(response.get("error")) or ""
        case {"text": str(words)}:
            return words
    return ""


def _words(content: object) -> str:
    parts = content if isinstance(content, list) else [content]
    found = [each.get("text") if isinstance(each, dict) else each for each in parts]
    return "\n".join(each for each in found if isinstance(each, str))
