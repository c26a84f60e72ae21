"""A plan while it is made: the tree as it would be, what came of each target, and what stands in the way.

Reads; writes nothing. The rules per path are in `takeout.py`; which events are taken out is decided elsewhere.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from pogstore.draft import FileVersion
from pogstore.history.operations import standing
from pogstore.history.pathhistory import PathHistory
from pogstore.history.plans import Clash, Effect, Left, Obstacle, Plan, TaskPlan, Terms
from pogstore.history.streamed import changes_of
from pogstore.history.takeout import APPLIED, IDENTICAL, SKIPPED, Case, put_back, spelled, take_older, take_out
from pogstore.history.targets import names_of
from pogstore.history.tree import Obstructed, Tree
from pogstore.model import Change, EventId, Outcome, Sealed, TaskId
from pogstore.store.content import path_of
from pogstore.store.store import Store
from pogstore.work.paths import misspelling

CONFLICTED = "conflicted"
Progress = Callable[[int, int], None]


def untold(_done: int, _total: int) -> None:
    """Progress that nobody waits for."""


class Ground(NamedTuple):
    """What several plans stand on: the store, the work tree and the events on its paths, each read once."""

    store: Store
    tree: Tree
    history: PathHistory


def ground(store: Store, targets: Iterable[Sealed]) -> Ground:
    """Returns what plans about some events stand on; of other paths more is read when it is asked for."""
    known = [name for sealed in targets for change in changes_of(sealed) for name in names_of(change)]
    tree = Tree(store)
    tree.conversion.look_up(path.decode("utf-8", "surrogateescape") for path in known)
    return Ground(store, tree, PathHistory(store, known))


class Planning:
    """A plan while it is made. On `kept` paths, and on what moved from or to one, nothing is planned."""

    def __init__(
        self,
        on: Ground,
        targets: Sequence[Sealed],
        terms: Terms = Terms(),  # noqa: B008 - a value that nobody can change
        progress: Progress = untold,
        kept: frozenset[str] = frozenset(),
    ) -> None:
        self._store, self._tree, self._history = on.store, on.tree.anew(), on.history
        self._targets, self._terms, self._progress, self._done = targets, terms, progress, 0
        self._total = sum(len(changes_of(sealed)) for sealed in targets)
        self._came_of: dict[EventId, list[str]] = {sealed.event_id: [] for sealed in targets}
        self._obstacles: list[Obstacle] = []
        self._clashes: dict[str, Clash] = {}
        self._names: dict[str, tuple[str, ...]] = {}
        self._left: dict[Left, None] = {}
        self._skips = 0
        self.kept = kept
        self.obstructed: frozenset[str] = frozenset()

    def take_out(self, sealed: Sealed) -> None:
        """Plans the inverse of one target."""
        for change in changes_of(sealed):
            if selected(change, self._terms):
                self._take_out(self._case(sealed, change))
            self._done += 1
            self._progress(self._done, self._total)

    def put_back(self, sealed: Sealed) -> None:
        """Plans what was before one event of an operation of ours."""
        for change in changes_of(sealed):
            try:
                put_back(self._store, self._tree, sealed, change)
                self._came_of[sealed.event_id].append(APPLIED)
            except Obstructed as fault:
                self._obstruct(sealed, fault, _names(change))

    def resolve(self, versions: Mapping[str, FileVersion | None]) -> None:
        """Plans what somebody made of the paths on which the older side was taken."""
        for path, version in versions.items():
            self._tree.put(path, version, self._tree.cause(path))

    def plan(self) -> Plan:
        """Returns the whole plan, compared with the work tree as the writer would do it."""
        effects = self._tree.effects()
        writes, blocked = ((), []) if self._obstacles else self._tree.writes(effects)
        for fault in blocked:
            self._obstruct(self._tree.cause(fault.path), fault, self._names.get(fault.path, ()))
        tasks = dict.fromkeys(sealed.event.task for sealed in self._targets)
        plans = tuple(self._for_task(task, effects) for task in tasks)
        skipped = sum(results.count(SKIPPED) for results in self._came_of.values()) - self._skips
        own = () if self._obstacles else writes
        plan = Plan(plans, own, tuple(self._obstacles), self._tree.unchanged(), skipped)
        return plan._replace(left=tuple(self._left), clashes=tuple(self._all_clashes()))

    def _take_out(self, case: Case) -> None:
        names = (*_names(case.change), *case.names)
        results = self._came_of[case.cause.event_id]
        if not self.kept.isdisjoint(names):
            self.kept |= set(names)
            results.append(CONFLICTED)
            return
        try:
            results.append(SKIPPED if self._leave(case) else take_out(case))
        except Obstructed as fault:
            self._settle(case, fault, names)
        else:
            self._follow(case.change)
        self._names |= dict.fromkeys(names, names)

    def _settle(self, case: Case, fault: Obstructed, names: tuple[str, ...]) -> None:
        """Takes the older side of a conflict, if that is to be done and can be; else it stands in the way."""
        try:
            if self._terms.conflicts != "take":
                raise fault
            clash = take_older(case, fault)
        except Obstructed as other:
            self._obstruct(case.cause, other, names)
            return
        self._clashes.setdefault(clash.path, self._clashes.pop(fault.path, clash)._replace(path=clash.path))
        self._came_of[case.cause.event_id].append(APPLIED)

    def _follow(self, change: Change) -> None:
        """Lets what is known of a clash go with a file that an older change has moved."""
        path, older = spelled(change.path), spelled(change.from_)
        if path in self._clashes and older is not None:
            self._clashes[older] = self._clashes.pop(path)._replace(path=older)

    def _all_clashes(self) -> Iterable[Clash]:
        for path, clash in sorted(self._clashes.items()):
            theirs = self._tree.now(path)
            if theirs != clash.ours:
                yield clash._replace(theirs=theirs)

    def _leave(self, case: Case) -> bool:
        """Leaves a file as it is if its name could be read otherwise elsewhere; says whether it does."""
        names = (*_names(case.change), *case.names)
        reasons = {name: reason for name in names if (reason := misspelling(name)) is not None}
        left = [Left(path_of(_raw(name)), reason) for name, reason in reasons.items()]
        self._left.update(dict.fromkeys(left))
        self._skips += bool(left)
        return bool(left)

    def _case(self, sealed: Sealed, change: Change) -> Case:
        names = self._history.moves(change.path, sealed)
        return Case(self._store, self._tree, sealed, change, names, lambda: self._history.told(change, names, sealed))

    def _for_task(self, task: TaskId, effects: Sequence[Effect]) -> TaskPlan:
        own = [sealed.event_id for sealed in self._targets if sealed.event.task == task]
        outcomes = tuple(Outcome(event=event_id, outcome=_outcome(self._came_of[event_id])) for event_id in own)
        its = tuple(effect for effect in effects if self._tree.cause(effect.path).event.task == task)
        return TaskPlan(task, tuple(own), outcomes, its)

    def _obstruct(self, sealed: Sealed, fault: Obstructed, names: Sequence[str]) -> None:
        self._came_of[sealed.event_id].append(CONFLICTED)
        self.obstructed |= {fault.path}
        later = standing(self._history.after_on(map(_raw, {fault.path, *names}), sealed))
        if fault.reason == "in-the-way":
            later += [event for event in self._around(fault.path, sealed) if event not in later]
        others = tuple(event_id for event_id in later if event_id not in self._came_of)
        self._obstacles.append(Obstacle(path_of(_raw(fault.path)), fault.reason, sealed.event_id, others))

    def _around(self, path: str, sealed: Sealed) -> list[EventId]:
        """Returns later events on what stands in the way of a path: below it, or a file above it."""
        raw = _raw(path)
        above = [raw[:at] for at, byte in enumerate(raw) if byte == ord("/")]
        below = {
            name
            for each in self._store.events_below([raw])
            for change in changes_of(each)
            for name in names_of(change)
            if name.startswith(raw + b"/")
        }
        return standing(self._history.after_on([*above, *below], sealed))


def selected(change: Change, terms: Terms) -> bool:
    """Whether a change counts; a file that moved does under either name."""
    return terms.paths is None or not terms.paths.isdisjoint(names_of(change))


def _names(change: Change) -> tuple[str, ...]:
    return tuple(name.decode("utf-8", "surrogateescape") for name in names_of(change))


def _raw(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def _outcome(results: Sequence[str]) -> str:
    """Returns what came of an event, from what came of its changes."""
    return next((result for result in (CONFLICTED, APPLIED, SKIPPED) if result in results), IDENTICAL)
