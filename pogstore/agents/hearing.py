"""Reads what an agent says by a table of its words: how it spells what every agent has to say. Pure.

Nothing that is missing, or of another type, is an error; a field that no table names stays in the record's payload.
"""

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from msgspec import UNSET

from pogstore.agents import heard
from pogstore.agents.drafts import as_json
from pogstore.agents.heard import Heard, decoded, name
from pogstore.agents.peek import peek
from pogstore.interop.claude_edits import Edit, Replacement
from pogstore.interop.claude_lines import LARGEST, text
from pogstore.interop.codex_patch import parse
from pogstore.work.spooled_record import Record

STEPS = (heard.BEGIN, heard.END, heard.FAILED)
PATCHES = ("command", "input", "patch", "patchText")
"""Under which names the input of a call may have a patch."""
_FILES = ("file_path", "path", "filePath")
_CONTENTS = ("content", "contents", "file_text")
_REPLACED = (("old_string", "new_string"), ("old_str", "new_str"), ("oldString", "newString"))
_EVERYWHERE = ("replace_all", "replaceAll", "allow_multiple")
"""Under which names the input of an edit has the file, its new content, or a text and the one in its place."""
_TOLD = ("stdout", "output", "llmContent", "textResultForLlm", "content")
"""Under which names the answer of a tool has what it said."""
_FAILURES = ("failure", "failed", "error", "denied", "rejected")


_Moves: TypeAlias = tuple[tuple[bytes, bytes], ...]


class Words(NamedTuple):
    """How an agent spells things. Where there are several spellings the first that is there counts.

    `phases` are what its events are, as far as they mean more than a note; `classes` are the classes of its tools.
    `settles` says that what has not ended with a turn will not end: the agent tells of no failure.
    """

    agent: str
    phases: Mapping[str, str]
    classes: Mapping[str, str]
    session: tuple[str, ...] = ("session_id",)
    agent_id: tuple[str, ...] = ("agent_id",)
    call_id: tuple[str, ...] = ("tool_use_id",)
    tool: tuple[str, ...] = ("tool_name",)
    given: tuple[str, ...] = ("tool_input",)
    answer: tuple[str, ...] = ("tool_response",)
    transcript: tuple[str, ...] = ("agent_transcript_path", "transcript_path")
    parent: tuple[str, ...] = ()
    mcp: str = "mcp__"
    settles: bool = True


def hear(record: Record, words: Words, said: Mapping[str, object] | None = None) -> Heard:
    """Returns what a record says; never fails, whatever the agent sent. `said` stands in for its payload."""
    members = decoded(record.payload) if said is None else said
    found: Mapping[str, object] = members or peek(record.payload, _strings(words), {})
    phase = words.phases.get(record.event, heard.NOTE)
    tool = bare(_name(members, words.tool) or "")
    prompt = text(members.get("prompt"))
    if (phase in STEPS and not tool) or (phase == heard.PROMPT and not (prompt or "").strip()):
        phase = heard.NOTE
    basic = Heard(
        record,
        phase,
        words.agent,
        session=_name(found, words.session) or "unknown",
        agent_id=_name(found, words.agent_id),
        call_id=_name(found, words.call_id) if phase in STEPS else None,
        transcript=next(filter(None, (text(members.get(each)) for each in words.transcript)), None),
        model=name(members.get("model")),
        parent_session=_name(found, words.parent),
        stamp=_stamp(members.get("timestamp")),
        settles=words.settles and phase == heard.TURN_END,
    )
    if phase in STEPS:
        return _of_tool(basic, members, tool, words)
    if phase == heard.SESSION_START:
        return basic._replace(started=name(members.get("source")))
    return basic._replace(text=(prompt or "") if phase == heard.PROMPT else "")


def _strings(words: Words) -> frozenset[str]:
    return frozenset((*words.session, *words.agent_id, *words.parent))


def _name(members: Mapping[str, object], spellings: Sequence[str]) -> str | None:
    return next(filter(None, (name(members.get(each)) for each in spellings)), None)


def _stamp(value: object) -> str:
    """Returns when the agent says that it spoke: the same, whoever is told of it."""
    return "" if isinstance(value, bool) or not isinstance(value, str | int) else str(value)


def bare(tool: str) -> str:
    """Returns the name of a tool without the name of the space that some versions put before it."""
    return tool.removeprefix("functions.")


def _of_tool(basic: Heard, members: Mapping[str, object], tool: str, words: Words) -> Heard:
    given = input_of(next((members[each] for each in words.given if members.get(each)), None))
    answer = next((members[each] for each in words.answer if members.get(each) is not None), None)
    class_ = words.classes.get(tool, "mcp" if tool.startswith(words.mcp) else "other")
    error = members.get("error", members.get("error_message"))
    moves, edits = _patched(basic.record, members, given) if class_ == "edit" else ((), {})
    failed = basic.phase == heard.END and (_has_failed(answer) or bool(error))
    return basic._replace(
        phase=heard.FAILED if failed else basic.phase,
        tool=tool,
        tool_class=class_,
        given=given,
        answer=_shown(answer, error),
        duration_ms=_milliseconds(members),
        command=command_of(given),
        edit=edit_of(given) if class_ == "edit" and basic.phase == heard.END and not failed else None,
        moves=moves,
        edits=edits if basic.phase == heard.END and not failed else {},
        in_background=isinstance(given, dict) and given.get("run_in_background") is True,
    )


def input_of(value: object) -> object:
    """Returns the input of a call; some versions send it as JSON in a string."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        return decoded(value.encode("utf-8", "surrogatepass")) or value
    return value


def command_of(given: object) -> str:
    """Returns what a shell was told to do, also where it was given as words."""
    told = given.get("command", given.get("cmd")) if isinstance(given, dict) else given
    if isinstance(told, list):
        words = [each for each in told if isinstance(each, str)]
        return words[2] if len(words) == 3 and words[1] in ("-c", "-lc") else shlex.join(words)
    return told if isinstance(told, str) else ""


def edit_of(given: object) -> Edit | None:
    """Returns the edit that the input of a call asks for, where it names one file and says what is to be in it."""
    if not isinstance(given, dict):
        return None
    path = next(filter(None, (text(given.get(each)) for each in _FILES)), None)
    content = next((given[each] for each in _CONTENTS if isinstance(given.get(each), str)), None)
    if path is None or content is not None:
        return Edit(path, UNSET, str(content), (), exact=False) if path else None
    count = given.get("expected_replacements")
    everywhere = any(given.get(each) is True for each in _EVERYWHERE) or (isinstance(count, int) and count > 1)
    for old, new in _REPLACED:
        before, after = given.get(old), given.get(new)
        if isinstance(before, str) and isinstance(after, str) and before:
            return Edit(path, UNSET, None, (Replacement(before, after, everywhere),), exact=False)
    return None


def patch_of(given: object) -> str:
    """Returns the patch in the input of a call; nothing if there is none."""
    found = [given.get(each) for each in PATCHES] if isinstance(given, dict) else [given]
    return next((each for each in found if isinstance(each, str) and "*** " in each), "")


def _patched(record: Record, members: Mapping[str, object], given: object) -> tuple[_Moves, Mapping[bytes, Edit]]:
    """Returns what a patch moves, and what it makes of the other files, all below the root.

    A path that leads elsewhere is left out.
    """
    cwd = _raw(text(members.get("cwd")) or "") or record.root
    moved: list[tuple[bytes, bytes]] = []
    edits: dict[bytes, Edit] = {}
    for each in parse(patch_of(given)):
        path, to = _below(record.root, cwd, each.path), _below(record.root, cwd, each.to or "")
        if path and to and path != to:
            moved.append((path, to))
        elif path and not each.to and not each.gone:
            made = each.applied if each.hunks else None
            edits[path] = Edit(each.path, UNSET, each.content, (), exact=False, made=made)
    return tuple(moved), edits


def _below(root: bytes, cwd: bytes, path: str) -> bytes:
    raw = _raw(path)
    whole = os.path.normpath(os.path.join(cwd, raw))  # noqa: PTH118 - bytes
    prefix = root.rstrip(b"/") + b"/"
    return whole[len(prefix) :] if raw and whole.startswith(prefix) else b""


def _raw(path: str) -> bytes:
    """Returns a path as the system takes it; nothing for one that it cannot take."""
    try:
        return path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return b""


def _has_failed(answer: object) -> bool:
    """Says whether an answer tells of a failure in one of the ways in which agents do."""
    if not isinstance(answer, dict):
        return False
    kind, code = answer.get("resultType", answer.get("status")), answer.get("exit_code", answer.get("exitCode"))
    return (
        bool(answer.get("error"))
        or answer.get("success") is False
        or answer.get("is_error") is True
        or (isinstance(kind, str) and kind.lower() in _FAILURES)
        or (isinstance(code, int) and code != 0)
    )


def _shown(answer: object, error: object) -> str:
    """Returns what a tool answered, and what went wrong, as text."""
    parts = [_text(answer), _text(error)]
    if isinstance(answer, dict) and not isinstance(error, str):
        parts[1] = _text(answer.get("error"))
    return "\n".join(dict.fromkeys(each for each in parts if each))


def _text(value: object) -> str:
    if isinstance(value, dict):
        told = [value.get(each) for each in (*_TOLD, "stderr", "message")]
        words = [each for each in told if isinstance(each, str) and each]
        return "\n".join(words) if words else as_json(value)
    return "" if value is None else value if isinstance(value, str) else as_json(value)


def _milliseconds(members: Mapping[str, object]) -> int | None:
    told = members.get("duration_ms", members.get("duration", members.get("durationMs")))
    if isinstance(told, bool) or not isinstance(told, int | float) or not 0 <= told < LARGEST:
        return None
    return int(told)


def in_json(value: object) -> object:
    """Returns what a text holds that is JSON, else the text."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value
