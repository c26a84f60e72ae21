"""Verification: is everything that our refs lead to still what was written? Levels `bytes` and `graph`.

Reads the files of the repository itself and trusts nothing that is derived from them: no index of ours, no git, no
libgit2. It shares with what it verifies only the encoding of events, the form of carriers and the readers of loose
objects and packs. Names each fault, and what is lost by it.
"""

from collections.abc import Iterable
from typing import NamedTuple

from pogstore.errors import NotFound, ObjectDamaged
from pogstore.history.verify_contents import Contents, Held, check_contents, use_faults, with_losses
from pogstore.history.verify_events import Events, Use, check_events
from pogstore.history.verify_objects import Objects
from pogstore.history.verify_refs import Refs, read_refs
from pogstore.history.verify_report import Checked, Fault, Report
from pogstore.model import BlobId, Oid, TaskId
from pogstore.store.carrier import EMPTY_TREE
from pogstore.store.refs import BY_CLASS, TASKS
from pogstore.store.store import Store

__all__ = ["Checked", "Fault", "Report", "verify"]

ATTEMPTS = 3
"""So often are tasks looked at again whose refs moved while they were verified."""

_NOTHING = Events(0, [], {}, set(), [])


class _Missing(NamedTuple):
    """What the events of one task name and its own chains do not hold, and the chains that could not be read whole."""

    uses: dict[BlobId, Use]
    gaps: dict[str, list[Fault]]
    classes: frozenset[str]


def verify(store: Store, tasks: Iterable[TaskId] | None = None) -> Report:
    """Returns what is wrong with some tasks, or with all; raises `NotFound` for a task that has no ref.

    Ends in bounded time whatever the files hold. A fault is believed only if the refs stand still meanwhile.
    """
    wanted = None if tasks is None else set(tasks)
    refs = read_refs(store.layout.common_dir)
    for _ in range(ATTEMPTS):
        report = _verify(store, refs, wanted)
        now = read_refs(store.layout.common_dir)
        if report.ok or now == refs:
            break
        refs = now
    return report


def _verify(store: Store, refs: Refs, wanted: set[TaskId] | None) -> Report:
    objects = Objects(store.layout.objects)
    try:
        return _Verification(objects, refs, wanted).report()
    finally:
        objects.close()


class _Verification:
    """One run over some tasks, or all."""

    def __init__(self, objects: Objects, refs: Refs, wanted: set[TaskId] | None) -> None:
        self.objects, self.refs, self.wanted = objects, refs, wanted
        self.faults = [fault for fault in refs.faults if wanted is None or fault.task is None or fault.task in wanted]
        self.events = self.contents = self.absent = 0
        self.known: dict[Oid, tuple[str, Held]] = {}
        self.held: set[BlobId] = set()
        self.erased: set[BlobId] = set()
        self.missing: dict[TaskId, _Missing] = {}

    def report(self) -> Report:
        """Checks every task, then what can be judged only with all of them in view."""
        tasks = self._tasks()
        for task in tasks:
            self._check(task)
        if self.wanted is not None and any(found.uses for found in self.missing.values()):
            self._look_elsewhere(tasks)
        for task, found in self.missing.items():
            self._add_missing(task, found)
        self._check_empty_tree(tasks)
        self.faults += self.objects.faults()
        refs = sum(1 for tips in self.refs.tips.values() for task in tasks if task in tips)
        checked = Checked(
            events=self.events,
            contents=self.contents,
            refs=refs if self.wanted is not None else self.refs.checked,
            packs=self.objects.checked_packs,
            absent=self.absent,
        )
        return Report(checked=checked, faults=tuple(self.faults))

    def _tasks(self) -> list[TaskId]:
        found = {task for tips in self.refs.tips.values() for task in tips}
        named = found | {fault.task for fault in self.refs.faults if fault.task}
        for task in sorted(self.wanted or ()):
            if task not in named:
                raise NotFound("task", task)
        return sorted(found if self.wanted is None else found & self.wanted)

    def _check(self, task: TaskId) -> None:
        events = self._events(task)
        self.events += events.checked
        self.faults += events.faults
        chains = self._chains(task, events.uses)
        for class_, chain in chains.items():
            self.contents += len(chain.held) + len(chain.broken)
            self.faults += chain.faults
            uses = (*events.uses.items(), *events.disputed)
            self.faults += use_faults(task, BY_CLASS[class_] + task, chain.held, uses)
        for oid, reason in self.objects.spoiled.items():
            lost = "nothing: another copy of it is whole"
            self.faults.append(Fault(object=oid, reason=reason, lost=lost, task=task))
        self.objects.spoiled.clear()
        gaps = {class_: chain.gaps for class_, chain in chains.items() if chain.gaps}
        missing = {blob: use for blob, use in events.uses.items() if blob not in self.held and not use.omitted}
        if missing or gaps:
            self.missing[task] = _Missing(missing, gaps, frozenset(chains))

    def _events(self, task: TaskId) -> Events:
        tip = self.refs.tips[TASKS].get(task)
        events = _NOTHING if tip is None else check_events(self.objects, task, tip)
        self.erased |= events.redacted
        return events

    def _chains(self, task: TaskId, uses: dict[BlobId, Use]) -> dict[str, Contents]:
        found = {}
        for class_, place in BY_CLASS.items():
            if tip := self.refs.tips[place].get(task):
                found[class_] = chain = check_contents(self.objects, task, class_, tip, uses, self.known)
                self.held |= chain.held.keys() | chain.broken
        return found

    def _look_elsewhere(self, tasks: list[TaskId]) -> None:
        """Learns what the chains of all other tasks hold and what their events erase, and leaves their faults alone."""
        for task in {task for tips in self.refs.tips.values() for task in tips}.difference(tasks):
            self._events(task)
            self._chains(task, {})
        self.objects.spoiled.clear()

    def _add_missing(self, task: TaskId, found: _Missing) -> None:
        """Adds a fault where a content is lost: it travels by default, is in no chain of any task, was not erased."""
        for class_, place in BY_CLASS.items():
            lost = {
                blob: use
                for blob, use in found.uses.items()
                if use.class_ == class_ and blob not in self.held and blob not in self.erased
            }
            gaps = found.gaps.get(class_, [])
            if lost and class_ == "content" and class_ not in found.classes:
                gaps = [Fault(object=place + task, ref=place + task, task=task, reason="is missing", lost="")]
            self.faults += with_losses(gaps, list(lost.values()))
            if gaps or class_ == "private":
                self.absent += len(lost)
                continue
            self.faults += [
                Fault(object=blob, reason="is in no chain", lost=f"content {blob}, {use}", ref=place + task, task=task)
                for blob, use in lost.items()
            ]

    def _check_empty_tree(self, tasks: list[TaskId]) -> None:
        """Looks at the tree of all carriers: git can do without the object, but not with a damaged one."""
        if not tasks:
            return
        try:
            self.objects.read(EMPTY_TREE, 0, tasks[0])
        except NotFound:
            return
        except ObjectDamaged as fault:
            lost = "nothing that cannot be made again: it is empty"
            self.faults.append(Fault(object=EMPTY_TREE, reason=fault.reason, lost=lost))
