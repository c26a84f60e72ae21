"""Lines of our own contract, read strictly: whoever calls `git pog record` is there to be told what is wrong.

Looks at the files that a line names at the moment it is read. Writes nothing.
"""

import base64
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from pogstore.agents import generic
from pogstore.agents.heard import BEGIN, END, FAILED, Heard
from pogstore.draft import FileVersion
from pogstore.errors import BadInput
from pogstore.interop.claude_lines import whole
from pogstore.work import sighting, spool
from pogstore.work.spooled_record import Record, decode_record

LONGEST_LINE = 64 * 1024 * 1024
"""Bytes of one line, as of what a hook reads."""
MODES = ("100644", "100755", "120000")
ALONE = ("key", "time", "changes")
"""Members that the contract has for lines alone."""
_NAMES = ("agent", "session", "agent_id", "model", "call_id", "tool", "topic", "parent_session", "key", "event")
_TEXTS = ("text", "error", "reason", "source", "cwd", "path")
_COUNTS = ("duration_ms", "time")
_USAGE = ("tokens_in", "tokens_out", "cost_micro_usd")


class ToldChange(NamedTuple):
    """What a line says of one path: both sides of it, as the work tree has them."""

    path: bytes
    before: FileVersion | None
    after: FileVersion | None


class Line(NamedTuple):
    """One line: its number, what it says, and what it says of paths.

    `has_session` and `has_agent` say whether it names them. `told` is `None` where the line leaves it to us to look.
    `outside` counts the paths that are not in this work tree.
    """

    number: int
    heard: Heard
    has_session: bool
    has_agent: bool
    told: tuple[ToldChange, ...] | None
    outside: int


class Where(NamedTuple):
    """The work tree that lines are about, if there is one, where relative paths begin, and the present time."""

    git_dir: Path
    root: Path | None
    cwd: Path
    max_blob: int
    time: int
    offset: int


def read_lines(lines: Iterable[bytes], where: Where) -> Iterator[Line]:
    """Yields what lines say; blank ones say nothing. Raises `BadInput` that names the first line which is wrong."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield _read(number, line, where)
            except BadInput as fault:
                raise BadInput(f"line {number}", fault.message, fault.hint) from fault


def _read(number: int, line: bytes, where: Where) -> Line:
    members = _members(line)
    _check(members)
    told, outside = _told(members, where)
    states: list[bytes] = []
    if told is None:
        states, outside = _states(members, where)
    record = _record(members, line, where, states)
    return Line(number, generic.hear(record), "session" in members, "agent" in members, told, outside)


def _members(line: bytes) -> dict[str, object]:
    if len(line) > LONGEST_LINE:
        raise BadInput("too long", f"{len(line):,} bytes in one line; at most {LONGEST_LINE:,} are read")
    try:
        found = json.loads(line.decode("utf-8-sig"), strict=False)
    except UnicodeDecodeError as fault:
        raise BadInput("not UTF-8", f"byte {fault.start}") from fault
    except ValueError as fault:
        raise BadInput("not JSON", str(fault), "each line is one JSON object") from fault
    except RecursionError as fault:
        raise BadInput("not JSON", "nested too deeply") from fault
    if not isinstance(found, dict):
        raise BadInput("not a JSON object", f"it is of type {type(found).__name__}", "each line is one JSON object")
    return found


def _check(members: Mapping[str, object]) -> None:
    """Raises `BadInput` for a member of another type than the contract says; `null` is as good as absent nowhere."""
    if "event" not in members:
        raise BadInput("no 'event'", f"it is one of {', '.join(generic.EVENTS)}, or a word of your own")
    if members.get("version", generic.VERSION) not in (generic.VERSION, str(generic.VERSION)):
        raise BadInput("'version'", f"this pogstore knows version {generic.VERSION}", "it needs a newer pogstore")
    for name in members.keys() & {*_NAMES, *_TEXTS}:
        if not isinstance(members[name], str) or (name in _NAMES and not members[name]):
            raise BadInput(f"'{name}'", "is no text" if name in _TEXTS else "is no name")
    for name in members.keys() & {*_COUNTS}:
        _check_count(name, members[name])
    if "class" in members and members["class"] not in generic.CLASSES:
        raise BadInput("'class'", f"it is one of {', '.join(generic.CLASSES)}")
    usage = members.get("usage", {})
    if not isinstance(usage, dict):
        raise BadInput("'usage'", "is no object")
    for name in usage.keys() & {*_USAGE}:
        _check_count(f"usage.{name}", usage[name])
    paths = members.get("paths", [])
    if not isinstance(paths, list) or not all(isinstance(each, str) and each for each in paths):
        raise BadInput("'paths'", "is no list of paths")
    if len(paths) > generic.MOST_PATHS:
        raise BadInput("'paths'", f"names {len(paths)} files; at most {generic.MOST_PATHS} fit one step")
    text = members.get("text")
    if members["event"] in ("prompt", "note", "decision") and not (isinstance(text, str) and text.strip()):
        raise BadInput("no 'text'", f"a {members['event']} has to say something")


def _check_count(name: str, value: object) -> None:
    if whole(value) is None:
        raise BadInput(f"'{name}'", "is no whole number from 0 to 2^53 - 1")


def _record(members: Mapping[str, object], line: bytes, where: Where, states: Iterable[bytes]) -> Record:
    """Returns the record that a hook would have made; its id is the same whenever the line is sent again."""
    names_itself = _key(members)
    at = whole(members.get("time"))
    if members.keys() & {*ALONE}:
        line = json.dumps({name: value for name, value in members.items() if name not in ALONE}).encode()
    encoded = spool.encode_record(
        record_id=os.urandom(16).hex(),
        agent=generic.AGENT,
        event=str(members["event"]),
        time=where.time if at is None else at,
        offset=where.offset,
        git_dir=os.fsencode(where.git_dir),
        common_dir=os.fsencode(where.git_dir),
        root=os.fsencode(where.root or b""),
        payload=line,
        whole=True,
        states=states,
    )
    record = decode_record(encoded)
    return record._replace(id=f"record/{names_itself}") if names_itself else record


def _key(members: Mapping[str, object]) -> str:
    """Returns what tells a line from all others of its task; nothing if it does not say."""
    whose = [str(members.get(name, "")) for name in ("agent", "session")]
    if "key" in members:
        return json.dumps([*whose, "key", members["key"]])
    phase = generic.EVENTS.get(str(members["event"]))
    if "call_id" in members and phase in (BEGIN, END, FAILED):
        return json.dumps([*whose, "call", members["call_id"]])
    return ""


def _located(spelled: str, members: Mapping[str, object], where: Where) -> bytes | None:
    """Returns a path below the root; `None` for one that is outside of this work tree, or git's own."""
    if where.root is None:
        return None
    try:
        raw = str(where.cwd / str(members.get("cwd", "")) / spelled).encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return None
    located, place = sighting.locate(raw) if b"\0" not in raw else (b"", None)
    return located if place is not None and place[0] == _root(where) else None


def _root(where: Where) -> bytes:
    return sighting.resolve(os.fsencode(where.root)) if where.root is not None else b""


def _states(members: Mapping[str, object], where: Where) -> tuple[list[bytes], int]:
    """Returns the states of the paths that a line names, and how many of them are not in this work tree."""
    found: list[bytes] = []
    outside = 0
    for spelled in generic.paths_of(members):
        located = _located(spelled, members, where)
        states = sighting.states(_root(where), located, where.max_blob) if located is not None else []
        outside += not states
        found += states
    return found, outside


def _told(members: Mapping[str, object], where: Where) -> tuple[tuple[ToldChange, ...] | None, int]:
    """Returns the changes that a line tells of, and how many of their paths are not in this work tree."""
    if "changes" not in members:
        return None, 0
    changes = members["changes"]
    if not isinstance(changes, list) or len(changes) > generic.MOST_PATHS:
        raise BadInput("'changes'", f"is no list of at most {generic.MOST_PATHS} changes")
    found = [_change(change, members, where) for change in changes]
    kept = {each.path: each for each in found if each is not None}
    if len(kept) != sum(each is not None for each in found):
        raise BadInput("'changes'", "name a path twice")
    return tuple(kept.values()), found.count(None)


def _change(change: object, members: Mapping[str, object], where: Where) -> ToldChange | None:
    if not isinstance(change, dict) or not isinstance(change.get("path"), str) or not change["path"]:
        raise BadInput("'changes'", "one of them is no object with a 'path'")
    mode = change.get("mode", MODES[0])
    if mode not in MODES:
        raise BadInput("'mode'", f"it is one of {', '.join(MODES)}")
    before, after = (_side(change, side, mode) for side in ("before", "after"))
    located = _located(change["path"], members, where)
    if located is None:
        return None
    below = located[len(_root(where).rstrip(b"/")) + 1 :]
    is_ours = not below or b".git" in below.lower().split(b"/")
    return None if is_ours else ToldChange(below, before, after)


def _side(change: Mapping[str, object], side: str, mode: str) -> FileVersion | None:
    text, coded = change.get(side), change.get(f"{side}_b64")
    if text is not None and coded is not None:
        raise BadInput(f"'{side}'", f"is told twice, by '{side}_b64' too")
    if coded is not None:
        try:
            return FileVersion(mode=mode, data=base64.b64decode(str(coded).encode("ascii"), validate=True))
        except ValueError as fault:
            raise BadInput(f"'{side}_b64'", f"is no base64: {fault}") from fault
    if text is None:
        return None
    if not isinstance(text, str):
        raise BadInput(f"'{side}'", "is neither a text nor null")
    return FileVersion(mode=mode, data=text.encode("utf-8", "surrogatepass"))
