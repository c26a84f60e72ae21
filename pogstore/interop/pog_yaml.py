"""POG Task 1.1 to 1.3, one YAML file a task with record folders beside it; the JSON lines of 1.0 are read along.

A stream in, drafts out; a fault of one file is reported and stops nothing. The one door to PyYAML, of which only the
parser is used, up to its events: nothing is resolved or constructed, so a date stays a text and no tag runs anything.
"""

import codecs
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from yaml import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingStartEvent,
    ScalarEvent,
    SequenceStartEvent,
    YAMLError,
)
from yaml.events import CollectionEndEvent
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner

from pogstore.draft import Oddity
from pogstore.interop.pog_fields import MAX_NESTING, Value, sound, text_of
from pogstore.interop.pog_jsonl import NOT_TASKS, read_lines
from pogstore.interop.pog_records import RecordFile, record_file
from pogstore.interop.pog_tasks import Document, Reading, assemble, odd

__all__ = ["Loaded", "Reading", "TaskFile", "Tree", "load", "read_tasks", "wanted"]

MAX_BYTES = 8 << 20
MAX_NODES = 100_000
MAX_EXPANSION = 1 << 20
"""How many characters the aliases of one file may add up to."""
MAX_KEY = 1_000

_NULLS = ("", "~", "null", "Null", "NULL")
_CORE = "tag:yaml.org,2002:"
_CORE_TAGS = frozenset(f"{_CORE}{name}" for name in ("str", "int", "float", "bool", "null", "timestamp", "map", "seq"))
_STAMP = re.compile(r"\d{4}-\d\d?-\d\d?(?:[Tt ]\s*[\d:.,]+\s*(?:Z|[+-][\d:]+)?)?", re.ASCII)
_TASK_FILES = (".yaml", ".yml", ".jsonl")
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class TaskFile(NamedTuple):
    """What the caller read from disk; `path` is relative to the imported folder, with `/`."""

    path: str
    data: bytes


class Tree(NamedTuple):
    """One document of a YAML file, and the line on which it begins."""

    line: int
    value: Value


class Loaded(NamedTuple):
    """The documents of a YAML file, and its faults as (code, detail). A file that is no YAML has no documents."""

    trees: tuple[Tree, ...]
    faults: tuple[tuple[str, str], ...]


def wanted(path: str) -> bool:
    """Says whether the reader wants a file of the imported folder: its task files, and all that lies in records."""
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        return False
    return record_file(path) is not None or (parts[0] == "list" and path.lower().endswith(_TASK_FILES))


def read_tasks(files: Sequence[TaskFile], *, repository: str, now: int) -> Reading:
    """Returns the drafts of all tasks that the files tell of, in the order of their paths; refuses nothing.

    `repository` is the oid of the lowest root commit of the source repository, or empty; `now` stands in for times that
    nothing tells.
    """
    oddities: list[Oddity] = []
    documents: list[Document] = []
    records: list[RecordFile] = []
    for file in sorted(files):
        record = record_file(file.path, file.data)
        if record is not None:
            records.append(record)
        elif file.path.lower().endswith(_TASK_FILES):
            documents.extend(_documents(file, oddities))
    reading = assemble(documents, records, repository=repository, now=now)
    return reading._replace(oddities=(*oddities, *reading.oddities))


def load(text: str) -> Loaded:
    """Returns the documents of a text with every scalar as its literal text, and null as null."""
    parser, builder = _Parser(text), _Builder()
    try:
        while parser.check_event():
            builder.take(parser.get_event())  # type: ignore[no-untyped-call]
    except _Hostile as error:
        return Loaded((), (*builder.faults, ("I-35", str(error))))
    except (YAMLError, ValueError, LookupError, OverflowError, RecursionError) as error:
        return Loaded((), (*builder.faults, ("I-36", f"not readable as YAML: {' '.join(str(error).split())}")))
    tabs = (("I-33", "tabs between its tokens"),) if parser.tabs else ()
    return Loaded(tuple(builder.trees), (*builder.faults, *tabs))


def _documents(file: TaskFile, oddities: list[Oddity]) -> Iterator[Document]:
    if len(file.data) > MAX_BYTES:
        oddities.extend(odd(file.path, [("I-35", f"larger than {MAX_BYTES} bytes; not read")]))
        return
    text, faults = _decoded(file.data)
    oddities.extend(odd(file.path, faults))
    yield from (_of_lines if file.path.lower().endswith(".jsonl") else _of_yaml)(file, text, oddities)


def _decoded(data: bytes) -> tuple[str, list[tuple[str, str]]]:
    """Returns bytes as text, whatever they are, with what was odd about them."""
    faults = []
    wide = data.startswith(_WIDE)
    if wide or data.startswith(codecs.BOM_UTF8):
        faults.append(("I-33", "a byte order mark"))
    text = data.decode("utf-16" if wide else "utf-8-sig", "replace")
    if "\ufffd" in text:
        faults.append(("I-33", "bytes that are no text, replaced"))
    if "\0" in text:
        faults.append(("I-33", "NUL characters, replaced"))
    if "\r" in text:
        faults.append(("I-33", "carriage returns"))
    if text and not text.endswith("\n"):
        faults.append(("I-33", "no final newline"))
    return text.replace("\0", "\ufffd"), faults


def _raw(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _of_lines(file: TaskFile, text: str, oddities: list[Oddity]) -> Iterator[Document]:
    lines = read_lines(text)
    for number, code, detail in lines.faults:
        oddities.extend(odd(f"{file.path}:{number}", [(code, detail)]))
    ours: dict[str, Value] = {"path": file.path, "metadata": lines.metadata}
    ours.update((key, lines.metadata[key]) for key in ("project", "module") if key in lines.metadata)
    for line in lines.tasks:
        if _is_task(line.fields):
            yield Document(file.path, line.number, line.fields, line.text, ours, named=False)
        else:
            oddities.extend(odd(f"{file.path}:{line.number}", [("I-37", "neither a task nor metadata")]))


def _of_yaml(file: TaskFile, text: str, oddities: list[Oddity]) -> Iterator[Document]:
    loaded = load(text)
    faults, raw = list(loaded.faults), _raw(file.data)
    ours: dict[str, Value] = {"path": file.path}
    ours.update(_place(file.path))
    if file.path.lower().endswith(".yml"):
        faults.append(("I-36", "its name ends in .yml"))
    if "module" not in ours:
        faults.append(("I-51", "at no depth that names a project and a module"))
    trees = [tree for tree in loaded.trees if tree.value is not None]
    if len(trees) > 1:
        faults.append(("I-35", f"{len(trees)} documents in one file"))
    if not trees and not any(code in ("I-35", "I-36") for code, _ in loaded.faults):
        faults.append(("I-36", "an empty file"))
    oddities.extend(odd(file.path, faults))
    for tree in trees:
        line = tree.line if len(trees) > 1 else None
        if isinstance(tree.value, dict) and _is_task(tree.value):
            yield Document(file.path, line, tree.value, raw, ours, named=line is None)
        else:
            oddities.extend(odd(f"{file.path}:{tree.line}", [("I-36", "no task")]))


def _is_task(fields: dict[str, Value]) -> bool:
    """Says whether a mapping is a task: it says so, or it has the id or title of one and says nothing known."""
    kind = fields.get("type")
    return kind == "task" or (kind not in NOT_TASKS and bool(fields.get("id") or fields.get("title")))


def _place(path: str) -> dict[str, str]:
    """Returns the project and the module that a path names, if it names both."""
    folders = path.split("/")[:-1]
    folders = folders[1:] if folders[:1] == ["list"] else folders
    return {"project": folders[0], "module": folders[1]} if len(folders) == 2 else {}


class _Hostile(ValueError):
    """A file that would cost more than any task file may."""


class _Parser(Reader, Scanner, Parser):
    """PyYAML up to its events, for text that YAML itself would refuse: with control characters, and tabs as space."""

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)
        self.tabs = 0

    def check_printable(self, data: object) -> None:
        """Lets every character pass."""

    def scan_to_next_token(self) -> None:
        """Skips tabs too; one counts as one column, so files indented by tabs alone keep their shape."""
        super().scan_to_next_token()
        while self.peek() == "\t":
            self.tabs += 1
            self.forward()
            super().scan_to_next_token()

    def scan_plain_spaces(self, indent: int, start_mark: object) -> list[str] | None:
        """Takes tabs inside a plain scalar as a part of it, and before a line break as nothing."""
        length = 0
        while self.peek(length) in (" ", "\t"):
            length += 1
        space: str = self.prefix(length)
        if "\t" not in space:
            plain: list[str] | None = super().scan_plain_spaces(indent, start_mark)
            return plain
        self.tabs += 1
        self.forward(length)
        return super().scan_plain_spaces(indent, start_mark) or [space]


class _Node(NamedTuple):
    """A value that was read; `weight` counts its characters with all aliases followed, `text` is a scalar's own."""

    value: Value
    weight: int
    depth: int = 0
    text: str | None = None


class _Frame:
    """A list or mapping that is still being read."""

    def __init__(self, value: "list[Value] | dict[str, Value]", anchor: str | None) -> None:
        self.value, self.anchor = value, anchor
        self.key: str | None = None
        self.weight = self.depth = 1


class _Builder:
    """Builds values from events: without recursion, within bounds, and with the faults it saw."""

    def __init__(self) -> None:
        self.trees: list[Tree] = []
        self.faults: list[tuple[str, str]] = []
        self._stack: list[_Frame] = []
        self._anchors: dict[str, _Node | None] = {}
        self._line = self._began = self._nodes = self._expanded = 0

    def take(self, event: Event) -> None:
        """Takes the next event of the parser."""
        self._line = event.start_mark.line + 1 if event.start_mark else 0
        match event:
            case DocumentStartEvent():
                self._began = self._line
                self._anchors.clear()
            case AliasEvent(anchor=anchor):
                self._count()
                self._add(self._followed(anchor or ""))
            case ScalarEvent(anchor=anchor):
                self._count()
                self._notice(event)
                self._end(anchor, _scalar(event))
            case SequenceStartEvent(anchor=anchor, tag=tag):
                self._begin(_Frame([], anchor), tag)
            case MappingStartEvent(anchor=anchor, tag=tag):
                self._begin(_Frame({}, anchor), tag)
            case CollectionEndEvent():
                frame = self._stack.pop()
                self._end(frame.anchor, _Node(frame.value, frame.weight, frame.depth))

    def _count(self) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise _Hostile(f"more than {MAX_NODES} values in one file; not read")

    def _begin(self, frame: _Frame, tag: str | None) -> None:
        self._count()
        self._refuse_tag(tag)
        self._stack.append(frame)
        if len(self._stack) > MAX_NESTING:
            raise _Hostile(f"line {self._line}: nested deeper than {MAX_NESTING}; not read")
        if frame.anchor is not None:
            self._anchors[frame.anchor] = None

    def _end(self, anchor: str | None, node: _Node) -> None:
        if anchor is not None:
            self._anchors[anchor] = node
        self._add(node)

    def _add(self, node: _Node) -> None:
        if not self._stack:
            self.trees.append(Tree(self._began, node.value))
            return
        frame = self._stack[-1]
        frame.weight += node.weight
        frame.depth = max(frame.depth, node.depth + 1)
        if isinstance(frame.value, list):
            frame.value.append(node.value)
        elif frame.key is None:
            frame.key = self._key(node, frame.value)
            frame.weight += len(frame.key)
        else:
            frame.value[frame.key] = node.value
            frame.key = None

    def _key(self, node: _Node, mapping: "dict[str, Value]") -> str:
        key = node.text
        if key is None:
            # quoted JSON doubles with each level at which a key has such a key itself
            key = text_of(node.value) if node.weight <= MAX_KEY else ""
            self._fault("a key that is no scalar" + ("" if key else ", too large to keep"))
        if key in mapping:
            self._fault(f"key '{key}' twice, the last one taken")
        if key == "<<":
            self._fault("a merge key, not followed")
        return key

    def _followed(self, anchor: str) -> _Node:
        """Returns what an alias stands for, or the alias as a text where that is not there or too much."""
        node = self._anchors.get(anchor)
        if node is None:
            why = "to its own inside" if anchor in self._anchors else "to nothing"
        elif self._expanded + node.weight > MAX_EXPANSION or len(self._stack) + node.depth > MAX_NESTING:
            why = "that would grow too large"
        else:
            self._expanded += node.weight
            return node
        self._fault(f"alias '*{anchor}' {why}; kept as text")
        return _text(f"*{anchor}")

    def _notice(self, event: ScalarEvent) -> None:
        self._refuse_tag(event.tag)
        if event.tag is None and event.implicit[0] and _STAMP.fullmatch(event.value):
            self.faults.append(("I-10", "an unquoted time, kept as text"))

    def _refuse_tag(self, tag: str | None) -> None:
        if tag is not None and tag != "!" and tag not in _CORE_TAGS:
            self._fault(f"tag '{tag}' ignored")

    def _fault(self, detail: str) -> None:
        self.faults.append(("I-35", f"line {self._line}: {detail}"))


def _text(text: str) -> _Node:
    return _Node(text, len(text) + 1, text=text)


def _scalar(event: ScalarEvent) -> _Node:
    node = _text(sound(event.value))
    plain_null = event.tag is None and event.implicit[0] and node.text in _NULLS
    return node._replace(value=None) if plain_null or event.tag == f"{_CORE}null" else node
