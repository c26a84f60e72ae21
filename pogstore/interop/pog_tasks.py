"""Tasks of POG Task, however their files spelled them, as the drafts of ours. Knows no YAML and no JSON lines."""

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from pogstore import redact
from pogstore.draft import Draft, DraftText, Oddity, TaskDrafts
from pogstore.interop.pog_fields import MAX_DEPTH, Value, definition_of, source_fields
from pogstore.interop.pog_history import Moment, definer_of, start_of, told
from pogstore.interop.pog_links import Edges, id_oddities, link_oddities, links, task_id_of
from pogstore.interop.pog_oddities import Faults, issue_of, name_oddities, names_in, spellings, task_oddities
from pogstore.interop.pog_records import (
    MAIN,
    RecordFile,
    defined,
    faults_of_path,
    faults_of_record,
    record_drafts,
    record_path,
    stub_drafts,
)
from pogstore.model import Link, TaskId

MAX_KEY = 128
MAX_DETAIL = 300


class Document(NamedTuple):
    """One task as its file tells it.

    `line` stands where a file holds several, `raw` where the original bytes are text; `ours` is what is known besides,
    and `named` says whether the file's name is that of this task.
    """

    path: str
    line: int | None
    fields: dict[str, Value]
    raw: str | None
    ours: dict[str, Value]
    named: bool

    @property
    def where(self) -> str:
        """Where a person finds it."""
        return self.path if self.line is None else f"{self.path}:{self.line}"

    @property
    def raw_id(self) -> str:
        """Its own id, or where it stands if it has none."""
        own = self.fields.get("id")
        return own if isinstance(own, str) and own else self.where


class Subject(NamedTuple):
    """One telling of a task, and what its source keys begin with."""

    task: TaskId
    key: str
    document: Document


class Reading(NamedTuple):
    """The tasks that were read, all that was odd, and which raw id is which task."""

    tasks: tuple[TaskDrafts, ...]
    oddities: tuple[Oddity, ...]
    names: dict[str, TaskId]


def assemble(documents: Sequence[Document], records: Sequence[RecordFile], *, repository: str, now: int) -> Reading:
    """Returns the drafts of all tasks: those of their files in the given order, then one task for orphaned records."""
    subjects, doubles = _subjects(documents, repository)
    edges = [Edges(each.task, each.document.where, each.document.fields) for each in subjects]
    drafts = _histories(subjects, links(edges, repository), now)
    first = {each.task: each for each in reversed(subjects)}
    folders = _by_task(records, subjects, repository)
    names = {each.document.raw_id: each.task for each in subjects}
    for task, own in folders.items():
        if task in first:
            last = drafts[task][-1]
            drafts[task].extend(record_drafts(own, first[task].key, Moment(last.time, last.offset)))
        else:
            aliases = [own[0].folder] if own[0].folder != task else []
            drafts[task] = list(stub_drafts(own, _key(own[0].folder, task), aliases, Moment(now)))
            names.setdefault(own[0].folder, task)
    oddities = (
        *doubles,
        *(fault for each in subjects for fault in _faults(each, folders, now)),
        *link_oddities(edges, repository),
        *_set_faults(subjects),
        *_record_faults(folders, first),
    )
    return Reading(tuple(TaskDrafts(task=task, drafts=tuple(own)) for task, own in drafts.items()), oddities, names)


def odd(where: str, faults: Iterable[tuple[str, str]]) -> Iterator[Oddity]:
    """Yields faults as oddities of one place, each once and none too long to print."""
    for code, detail in dict.fromkeys(faults):
        shown = detail if len(detail) <= MAX_DETAIL else f"{redact.excerpt(detail, 0, MAX_DETAIL - 1)}…"
        yield Oddity(code=code, where=where, detail=shown)


def _key(raw_id: str, task: TaskId) -> str:
    """Returns what the source keys of a task begin with: its raw id, unless that may be free text."""
    return raw_id.lower() if len(raw_id) <= MAX_KEY and raw_id.isprintable() else task


def _subjects(documents: Sequence[Document], repository: str) -> tuple[list[Subject], list[Oddity]]:
    """Returns what each document tells of; a second telling of a task has keys of its own, and is odd."""
    subjects: list[Subject] = []
    doubles: list[Oddity] = []
    places: dict[TaskId, list[str]] = {}
    for document in documents:
        task = task_id_of(document.raw_id, repository)
        key, earlier = _key(document.raw_id, task), places.setdefault(task, [])
        subjects.append(Subject(task, f"{key}#{len(earlier) + 1}" if earlier else key, document))
        if earlier:
            doubles.extend(odd(document.where, [("I-06", f"the id of {earlier[-1]} again; this one counts")]))
        earlier.append(document.where)
    return subjects, doubles


def _histories(subjects: Sequence[Subject], edges: Sequence[tuple[Link, ...]], now: int) -> dict[TaskId, list[Draft]]:
    """Returns the drafts of each task; a second telling goes on from the status and the entries of the one before."""
    drafts: dict[TaskId, list[Draft]] = {}
    status: dict[TaskId, str] = {}
    known: dict[TaskId, set[str]] = {}
    for subject, own_links in zip(subjects, edges, strict=True):
        task, key, document = subject
        start = start_of(document.fields, now)
        history = told(
            document.fields, key, start, status=status.get(task, "pending"), known=known.setdefault(task, set())
        )
        status[task] = history.status
        drafts.setdefault(task, []).extend((_defined(subject, own_links, start), *history.drafts))
    return drafts


def _defined(subject: Subject, own_links: tuple[Link, ...], start: Moment) -> Draft:
    document = subject.document
    title = _stem(document.path) if document.named else document.raw_id
    definition = definition_of(document.fields, title=title, aliases=_aliases(subject), ours=document.ours)
    raw = None if document.raw is None else DraftText(text=document.raw, class_="private")
    made = defined(definition, subject.key, start)
    return replace(made, actor=definer_of(document.fields), links=own_links, raw=raw)


def _aliases(subject: Subject) -> tuple[str, ...]:
    """Returns the other names of a task: its raw id, its issue, and its path where the title is not in it."""
    document = subject.document
    paths = [document.path] if document.named and document.fields.get("title") != _stem(document.path) else []
    names = (document.raw_id, *_issues(document), *paths)
    return tuple(dict.fromkeys(name for name in names if name != subject.task))


def _stem(path: str) -> str:
    return posixpath.splitext(posixpath.basename(path))[0]


def _issues(document: Document) -> Iterator[str]:
    issue = document.fields.get("issue")
    if isinstance(issue, str) and issue:
        yield issue
    if document.named and (key := issue_of(document.path, document.fields)):
        yield key


def _by_task(
    records: Sequence[RecordFile], subjects: Sequence[Subject], repository: str
) -> dict[TaskId, list[RecordFile]]:
    """Returns the records of each task: by the id their folder is named after, or else where a task says they are."""
    known = {each.task for each in subjects}
    named = {record_path(each.document.path, each.document.fields): each.task for each in subjects}
    found: dict[TaskId, list[RecordFile]] = {}
    for record in records:
        task = task_id_of(record.folder, repository)
        found.setdefault(task if task in known else named.get(record.path, task), []).append(record)
    return found


def _faults(subject: Subject, folders: Mapping[TaskId, Sequence[RecordFile]], now: int) -> Iterator[Oddity]:
    document = subject.document
    own = folders.get(subject.task, ())
    faults = (
        *_id_faults(document),
        *task_oddities(document.fields, now),
        *(name_oddities(document.path, document.fields) if document.named else ()),
        *_depth_faults(document),
        *faults_of_path(document.path, document.fields, {record.path for record in own}),
        *(() if any(record.name == MAIN for record in own) else (("I-38", "no record"),)),
    )
    yield from odd(document.where, faults)


def _id_faults(document: Document) -> Faults:
    if document.raw_id == document.where:
        yield "I-36", "no id; it is named by its place"
    else:
        yield from id_oddities(document.raw_id)


def _depth_faults(document: Document) -> Faults:
    if source_fields(definition_of(document.fields, title="", aliases=(), ours={})) != document.fields:
        yield "I-35", f"nested deeper than {MAX_DEPTH}; JSON text from there on"


def _set_faults(subjects: Sequence[Subject]) -> Iterator[Oddity]:
    """Yields what is odd about all tasks taken together, as oddities of no place."""
    yield from odd("", spellings([name for each in subjects for name in names_in(each.document.fields)]))
    by_issue: dict[str, set[TaskId]] = {}
    for each in subjects:
        for issue in _issues(each.document):
            by_issue.setdefault(issue, set()).add(each.task)
    shared = (f"{issue} names {len(tasks)} tasks" for issue, tasks in by_issue.items() if len(tasks) > 1)
    yield from odd("", (("I-50", detail) for detail in shared))


def _record_faults(folders: Mapping[TaskId, Sequence[RecordFile]], first: Mapping[TaskId, Subject]) -> Iterator[Oddity]:
    for task, own in folders.items():
        document = first[task].document if task in first else None
        raw_id, fields = (document.raw_id, document.fields) if document else (None, {})
        for record in own:
            yield from odd(record.path, faults_of_record(record, raw_id, fields))
