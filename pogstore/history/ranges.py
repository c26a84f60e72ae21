"""The lines that a range of commits adds, each with its owner, and what they come to by task and by writer."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from pogstore.history.blame import Blame, BlamedLine, blame
from pogstore.model import Actor, Oid, TaskId
from pogstore.store import gitdiff, gitlog
from pogstore.store.carrier import NOBODY, UNKNOWN
from pogstore.store.gitdiff import FileDiff
from pogstore.store.store import Store

_RANGE = re.compile(r"(?P<base>[^/.](?:.*?[^.])?|)\.\.\.?(?P<tip>[^/.].*|)", re.DOTALL)
_T = TypeVar("_T")
_NOBODIES = tuple((each.name, each.email) for each in (NOBODY, UNKNOWN))
"""The authors, in commits of ours, of what nobody is known to have made."""


class Range(NamedTuple):
    """Two revisions as they were written; an empty one is HEAD."""

    base: str
    tip: str


class Writer(NamedTuple):
    """Who wrote a line: `agent`, `tool`, `person` or `unknown`; by name, and with the model of an agent."""

    kind: str
    name: str
    model: str | None = None


class RangeFile(NamedTuple):
    """A file that a range changes, with the lines that it adds there."""

    diff: FileDiff
    blame: Blame | None

    @property
    def lines(self) -> tuple[BlamedLine, ...]:
        """The added lines."""
        return self.blame.lines if self.blame else ()


class RangeBlame(NamedTuple):
    """What a range adds since the commit where both sides parted; there may be none. `is_head`: HEAD is its tip."""

    base: Oid | None
    tip: Oid
    files: tuple[RangeFile, ...]
    is_head: bool


class Totals(NamedTuple):
    """Added lines, counted once for whoever wrote each and at most once for a task; the most first."""

    added: int
    writers: tuple[tuple[Writer, int], ...]
    tasks: tuple[tuple[TaskId, int], ...]


def find_range(written: str) -> Range | None:
    """Returns the revisions of `A..B` or `A...B`; nothing if it is neither: `../a` is a path."""
    match = _RANGE.fullmatch(written)
    return Range(match["base"] or "HEAD", match["tip"] or "HEAD") if match and written.strip(".") else None


def blame_range(
    store: Store, asked: Range, pathspecs: Sequence[str] = (), options: Sequence[str] = (), *, strict: bool = False
) -> RangeBlame:
    """Returns the lines that a range adds, by file, each with its owner.

    Both forms of a range mean what a pull request shows: what its tip has and the common ancestor has not. A file that
    was only renamed adds nothing. `options` and `strict` are those of `blame`. Raises `NotFound` for an unknown
    revision.
    """
    one, tip = (gitlog.commit_of(store.git, revision) for revision in asked)
    base = gitdiff.find_merge_base(store.git, one, tip)
    found = gitdiff.differences(store.git, base, tip, pathspecs)
    limits = [*options, f"^{base}"] if base else list(options)
    files = tuple(RangeFile(diff, _added(store, diff, tip, limits, strict=strict)) for diff in found)
    return RangeBlame(base, tip, files, tip == gitlog.find_head(store.git))


def _added(store: Store, diff: FileDiff, tip: Oid, options: Sequence[str], *, strict: bool) -> Blame | None:
    """Returns the added lines of a file; git itself need not look behind the base for them."""
    if not diff.added:
        return None
    wanted = {number for numbers in diff.added for number in numbers}
    found = blame(store, diff.path, tip, (), options, strict=strict)
    return found._replace(lines=tuple(line for line in found.lines if line.number in wanted))


def totals(found: RangeBlame | Iterable[RangeFile]) -> Totals:
    """Returns how many of the added lines come from each writer and from each task."""
    files = found.files if isinstance(found, RangeBlame) else found
    lines = [(file.blame, line) for file in files if file.blame for line in file.blame.lines]
    writers = Counter(writer_of(of_file, line) for of_file, line in lines)
    tasks = Counter(line.task for _, line in lines if line.task is not None)
    return Totals(len(lines), tuple(_most_first(writers)), tuple(_most_first(tasks)))


def _most_first(counts: Counter[_T]) -> list[tuple[_T, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], str(item[0])))


def writer_of(found: Blame, line: BlamedLine) -> Writer:
    """Returns who wrote a line: the actor of its event, or else the author of its commit."""
    if line.event is not None:
        return _writer(found.events[line.event].event.actor)
    if line.commit is not None:
        info = found.commits[line.commit]
        is_nobody = (info.author, info.mail.strip("<>")) in _NOBODIES
        return Writer("unknown", "unknown") if is_nobody else Writer("person", info.author)
    return Writer("unknown", "unknown")


def _writer(actor: Actor | None) -> Writer:
    if actor is None:
        return Writer("unknown", "unknown")
    name = actor.name or (actor.on_behalf_of.name if actor.on_behalf_of else None) or actor.type
    return Writer("person", name) if actor.type == "human" else Writer(actor.type, name, actor.model)


def first_place(found: RangeBlame, task: TaskId) -> tuple[bytes, int] | None:
    """Returns the first place at which a line of a task stands."""
    return next(_places(found, task), None)


def _places(found: RangeBlame, task: TaskId) -> Iterator[tuple[bytes, int]]:
    return ((file.diff.path, line.number) for file in found.files for line in file.lines if line.task == task)


def share(part: int, whole: int) -> float:
    """Returns a part in per cent, from 0 to 100; a part of nothing is 0 (case PC-26)."""
    return 100 * min(max(part, 0), whole) / whole if whole > 0 else 0.0
