"""The record folders of POG Task: which file belongs to which task, and its text as a draft. Knows no YAML."""

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from pogstore.draft import Draft
from pogstore.interop.pog_fields import Fields, definition_of
from pogstore.interop.pog_history import UNKNOWN, Moment, draft, noted
from pogstore.interop.pog_oddities import Faults, record_oddities
from pogstore.model import Definition

MAX_BYTES = 8 << 20
MAIN = "record.md"
_HEADING = re.compile(r"^#{1,6}[ \t]+(\S[^\n]*)", re.MULTILINE)


class RecordFile(NamedTuple):
    """A file of a record folder; `folder` is the id that the folder is named after, `name` the path below it."""

    path: str
    folder: str
    name: str
    data: bytes


def record_file(path: str, data: bytes = b"") -> RecordFile | None:
    """Returns a path as that of a record, or `None` if it lies in no folder below a folder `record`."""
    folders = path.split("/")
    place = folders.index("record") if "record" in folders[:-2] else None
    if place is None:
        return None
    return RecordFile(path, folders[place + 1], "/".join(folders[place + 2 :]), data)


def text_of_record(record: RecordFile) -> str | None:
    """Returns the text of a record, or `None` if it is none or too large for one."""
    if len(record.data) > MAX_BYTES or b"\0" in record.data:
        return None
    try:
        return record.data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def record_drafts(records: Iterable[RecordFile], key: str, at: Moment) -> Iterator[Draft]:
    """Yields a draft for each record that is a text; a second one of a name is told apart by its path."""
    seen: set[str] = set()
    for record in records:
        name = record.path if record.name in seen else record.name
        seen.add(name)
        text = text_of_record(record)
        if text is not None:
            yield noted("record", text, at, UNKNOWN, f"{key}/record/{name}", versioned=True)


def stub_drafts(records: Sequence[RecordFile], key: str, aliases: Sequence[str], at: Moment) -> tuple[Draft, ...]:
    """Returns a task for records that no task file tells of: titled by their first heading, and inferred."""
    title = next((heading for heading in map(_heading, records) if heading), records[0].folder)
    ours: Fields = {"path": posixpath.dirname(records[0].path)}
    return (
        defined(definition_of({}, title=title, aliases=aliases, ours=ours), key, at, inferred=True),
        *record_drafts(records, key, at),
    )


def defined(definition: Definition, key: str, at: Moment, *, inferred: bool | None = None) -> Draft:
    """Returns the draft that defines a task; its file may say something else later."""
    made = draft("defined", at, UNKNOWN, f"{key}/defined")
    return replace(made, definition=definition, inferred=inferred, versioned=True)


def faults_of_record(record: RecordFile, raw_id: str | None, fields: Fields) -> Faults:
    """Yields what is odd about one record beside its task; `raw_id` is the task's own id, if it has a file."""
    text = text_of_record(record)
    if text is None:
        yield "I-39", "no text, or too large for one; not taken in"
    elif record.name == MAIN:
        yield from record_oddities(text, fields.get("status"))
    if raw_id is None:
        yield "I-38", f"a record without a task: {record.folder}"
    elif raw_id != record.folder and raw_id.lower() == record.folder.lower():
        yield "I-03", f"the folder of task {raw_id} is spelled {record.folder}"


def record_path(path: str, fields: Fields) -> str | None:
    """Returns where a task file says its record is, below the imported folder; it may lie outside."""
    named = fields.get("record_path")
    if not isinstance(named, str) or not named:
        return None
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), named))


def faults_of_path(path: str, fields: Fields, given: Iterable[str]) -> Faults:
    """Yields what is odd about where a task file says its record is."""
    named = record_path(path, fields)
    if named is not None and named.startswith(("/", "..")):
        yield "I-38", "record_path leaves the folder; not followed"
    elif named is not None and named not in given:
        yield "I-38", f"record_path '{named}' names no record"


def _heading(record: RecordFile) -> str | None:
    match = _HEADING.search(text_of_record(record) or "")
    return match[1].strip(" #\r") if match else None
