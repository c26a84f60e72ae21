"""What is odd about one task of POG Task: each check yields codes of the list I-01…I-51 and what it saw.

Nothing here refuses anything. Knows no YAML, no other task and no drafts.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, pairwise

from pogstore.interop.pog_fields import Fields, Value, hours_of, text_of, texts_in, truth
from pogstore.interop.pog_history import action_of, actor_of, entries_of, moment, of_entry, status_of
from pogstore.model import STATUSES

Faults = Iterator[tuple[str, str]]

_NULLABLE = ("started_at", "completed_at", "claimed_at", "claimed_by", "parent_task", "original_prompt")
_TEXTS = ("type", "id", "title", "description", "category", "priority", "status", "notes", "record_path", "issue")
_NUMBERS = ("estimated_hours", "actual_hours")
_LISTS = ("related_files", "context_files", "dependencies", "blocking", "tags", "checklist", "history")
_TIMES = ("created_at", "started_at", "completed_at", "claimed_at")
_SCALARS = (*_TEXTS, *_NUMBERS, *_NULLABLE, "created_at")
_KNOWN = frozenset((*_SCALARS, *_LISTS))
_PRIORITIES = ("low", "medium", "high", "urgent")
_CATEGORIES = frozenset(
    ("feature", "bugfix", "refactor", "test", "doc", "research", "review", "chore", "improvement", "design")
)
_ACTIONS = ("created", "claimed", "progress", "completed", "blocked", "cancelled")

_PRIVATE_PATH = re.compile(r"file:///|(?<![\w/.])/(?:Users|home)/[^\s/]+/")
_COMMIT = re.compile(r"\bcommits?\s+`?([0-9a-f]{7,40})\b", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"\{task\.\w+\}|\{\$\{\w+\}\}|\{common\}|\bx{8}\b")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_MARKUP = re.compile(r"<[a-zA-Z/!]|javascript:", re.IGNORECASE)
_ISSUE_FILE = re.compile(r"([A-Z][A-Z0-9]+-\d+) - ")
_STATUS_LINE = re.compile(
    r"^[^\w\n]*(?:status|狀態)[^\w\n:：]*[:：][^\w\n]*(\w+)(?: (\w+))?", re.IGNORECASE | re.MULTILINE
)


def task_oddities(fields: Fields, now: int) -> Faults:
    """Yields what is odd about the fields of one task; `now` tells which of its times lie ahead."""
    for check in _CHECKS:
        yield from check(fields)
    yield from _times(fields, now)


def text_oddities(text: str) -> Faults:
    """Yields what a text holds that whoever shares or shows it should know."""
    if _PRIVATE_PATH.search(text):
        yield "I-40", "an absolute path of somebody's machine"
    if commits := sorted({match.lower() for match in _COMMIT.findall(text)}):
        yield "I-42", f"names commits in prose: {', '.join(commits)}"
    if _PLACEHOLDER.search(text):
        yield "I-47", "a placeholder that was never filled in"
    if _CONTROL.search(text):
        yield "I-49", "control or direction characters"


def record_oddities(text: str, status: Value) -> Faults:
    """Yields what is odd about the text of a record beside the status of its task."""
    yield from text_oddities(text)
    claimed = _STATUS_LINE.search(text)
    said = {status_of(name) for name in (claimed[1], f"{claimed[1]} {claimed[2]}")} if claimed else set()
    said.intersection_update(STATUSES)
    if said and status_of(status) not in said:
        yield "I-40", f"the record says '{min(map(str, said))}', the task '{text_of(status)}'"
    if not any(line.strip() and not line.lstrip().startswith(("#", "`")) for line in text.splitlines()):
        yield "I-39", "a record of headings only"


def name_oddities(path: str, fields: Fields) -> Faults:
    """Yields what is odd about the name of a task's file beside its title."""
    stem = path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    title = fields.get("title")
    if unicodedata.normalize("NFC", path) != path:
        yield "I-31", "a path in decomposed characters"
    if isinstance(title, str) and unicodedata.normalize("NFC", stem) != unicodedata.normalize("NFC", title):
        yield "I-30", "a file name that is not the title"
    if issue := issue_of(path, fields):
        yield "I-50", f"made from issue {issue}"
    if _CONTROL.search(path) or _MARKUP.search(path):
        yield "I-49", "control characters or markup in the path"


def issue_of(path: str, fields: Fields) -> str | None:
    """Returns the key of the issue that a file was made from, by its name and its tag."""
    match = _ISSUE_FILE.match(path.rsplit("/", 1)[-1])
    return match[1] if match and "jira" in texts_in(fields.get("tags")) else None


def spellings(names: Sequence[str]) -> Faults:
    """Yields the names of actors that differ in case only."""
    by_case: dict[str, set[str]] = {}
    for name in names:
        by_case.setdefault(name.lower(), set()).add(name)
    for variants in by_case.values():
        if len(variants) > 1:
            yield "I-19", f"one agent under several spellings: {', '.join(sorted(variants))}"


def _types(fields: Fields) -> Faults:
    if fields.get("type") != "task":
        yield "I-36", f"type is '{text_of(fields.get('type'))}'"
    for key, value in fields.items():
        if value is None and key in _KNOWN and key not in _NULLABLE:
            yield "I-27", f"{key} is null"
        elif key in _SCALARS and isinstance(value, list | dict):
            yield "I-27", f"{key} is no scalar"
        elif key in _LISTS and value is not None and not isinstance(value, list):
            yield "I-27", f"{key} is no list"
        elif key in _NUMBERS and isinstance(value, str) and hours_of(value) is None:
            yield "I-27", f"{key} is no number"
    others = [key for key in fields if key not in _KNOWN]
    if others:
        yield "I-24", f"fields outside the schema: {', '.join(others)}"


def _enums(fields: Fields) -> Faults:
    priority, category, status = fields.get("priority"), fields.get("category"), fields.get("status")
    if isinstance(priority, str) and priority not in _PRIORITIES:
        yield "I-21", f"priority '{priority}'"
    if isinstance(category, str) and category not in _CATEGORIES:
        yield "I-22", f"category '{category}'"
    if isinstance(status, str) and status not in STATUSES:
        yield "I-23", f"status '{status}'"
    elif status is None:
        yield "I-23", "no status"
    for entry in entries_of(fields):
        action = of_entry(entry, "action")
        if action not in _ACTIONS:
            yield "I-17", f"action '{text_of(action)}'"


def _times(fields: Fields, now: int) -> Faults:
    entries = entries_of(fields)
    stamps = [(f"history {n}", of_entry(entry, "timestamp")) for n, entry in enumerate(entries)]
    named = [(key, fields[key]) for key in _TIMES if fields.get(key) is not None]
    for where, text in (*named, *stamps):
        at = moment(text)
        if at is None:
            yield "I-11", f"{where} is no time: '{text_of(text)}'"
        elif at.note:
            yield "I-07", f"{where}: {at.note}"
        if at is not None and at.time > now:
            yield "I-08", f"{where} lies ahead"
    if any(one[1] == other[1] and one[1] for one, other in pairwise(stamps)):
        yield "I-09", "different entries of one time"
    created, first = moment(fields.get("created_at")), moment(stamps[0][1]) if stamps else None
    if created and first and created.time != first.time:
        yield "I-12", "created_at is not the time of the first entry"


def _status(fields: Fields) -> Faults:
    actions = [action_of(entry) for entry in entries_of(fields)]
    completed = "completed" in actions
    if status_of(fields.get("status")) == "completed":
        lacking = [] if completed else ["completed event"]
        lacking += [key for key in ("completed_at", "started_at", "claimed_by") if not fields.get(key)]
        if lacking:
            yield "I-13", f"completed without {', '.join(lacking)}"
    elif completed and fields.get("completed_at"):
        yield "I-15", "completed_at and a completed event, but another status"
    ends = [n for n, action in enumerate(actions) if action in ("completed", "cancelled")]
    if ends and ends[0] < len(actions) - 1:
        yield "I-15", "entries after the end"
    reviews = [n for n, action in enumerate(actions) if action == "in_review"]
    if reviews and "progress" in actions[reviews[0] :]:
        yield "I-16", "work after in_review that no entry re-opened"
    claims = [entry for entry in entries_of(fields) if action_of(entry) == "claimed"]
    if bool(claims) != bool(fields.get("claimed_by")):
        yield "I-18", "a claimed event without claimed_by" if claims else "claimed_by without a claimed event"


def _checklist(fields: Fields) -> Faults:
    checklist = fields.get("checklist")
    items = checklist if isinstance(checklist, list) else []
    if not items:
        yield "I-14", "no checklist"
    regular = [item for item in items if isinstance(item, dict) and item.keys() == {"text", "completed"}]
    if len(regular) < len(items):
        yield "I-25", f"{len(items) - len(regular)} checklist items of another shape"
    still_open = [item for item in items if not (isinstance(item, dict) and _is_done(item))]
    if still_open and status_of(fields.get("status")) == "completed":
        yield "I-14", f"completed with {len(still_open)} of {len(items)} checklist items open"


def _is_done(item: Fields) -> bool:
    return truth(item.get("completed", item.get("done"))) is True


def _hours(fields: Fields) -> Faults:
    actual = hours_of(fields.get("actual_hours"))
    started, completed = moment(fields.get("started_at")), moment(fields.get("completed_at"))
    if actual == 0:
        yield "I-20", "actual_hours is 0"
    elif actual and started and completed and actual * 3_600_000_000 > completed.time - started.time:
        yield "I-20", "actual_hours is more than went by"


def _paths(fields: Fields) -> Faults:
    for path in chain(texts_in(fields.get("related_files")), texts_in(fields.get("context_files"))):
        if path.startswith(("/", "~", "../")) or path.endswith("/") or re.search(r"[*?\\]|/\.\./", path):
            yield "I-41", f"'{path}' names no file of the repository"


def _texts(fields: Fields) -> Faults:
    messages = (text_of(of_entry(entry, "message")) for entry in entries_of(fields))
    named = (text_of(fields.get(key)) for key in ("title", "description", "original_prompt", "notes"))
    yield from text_oddities("\n".join(chain(named, messages)))
    if _MARKUP.search(text_of(fields.get("title"))):
        yield "I-49", "markup in the title"


def names_in(fields: Fields) -> list[str]:
    """Returns the names of all actors of a task, as they were written."""
    values = [fields.get("claimed_by"), *(of_entry(entry, "agent") for entry in entries_of(fields))]
    return [actor.name for actor in map(actor_of, values) if actor.name]


_CHECKS: tuple[Callable[[Fields], Faults], ...] = (_types, _enums, _status, _checklist, _hours, _paths, _texts)
