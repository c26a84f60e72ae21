"""Exchange with remotes: which refs to fetch and push, what is new, joining what diverged, quarantining what is bad.

What was fetched lies in tracking refs and is judged before anything of ours moves. A remote that lost something is
reported and takes nothing from us. Knows refs, chains and their union; knows no kind of event.
"""

import random
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from typing import NamedTuple

from pogstore import graph
from pogstore.errors import LockHeld, NotEnabled, NotFound, ObjectDamaged, PogError, RefusedByPolicy, StaleRef
from pogstore.model import BlobId, Oid, TaskId
from pogstore.store import chain, quarantine, transport, union
from pogstore.store.batch import Batch
from pogstore.store.content import Entry
from pogstore.store.quarantine import Judged
from pogstore.store.refs import (
    TASKS,
    class_of,
    is_task_ref,
    task_of,
    task_ref,
    tracking_prefix,
    tracking_ref,
)
from pogstore.store.store import Store
from pogstore.store.transport import Remote, Sent
from pogstore.work.locality import local_tasks
from pogstore.work.scan import Place, check_rules, secrets_in

ATTEMPTS = 12
"""How often a push is tried while others move the same refs."""
LONGEST_PAUSE = 2.0
"""Seconds between two attempts at most; the first pauses are much shorter."""
FEW = 50
"""So many tasks are asked for by name; of more, all refs are listed."""
ALLOW_REMOTE = "pog.allowremote"
ALLOW_SECRET = "pog.allowsecret"  # noqa: S105 - the name of a setting
_FAILED = ("truncated", "quarantined", "rejected", "failed")


class RefOutcome(NamedTuple):
    """What became of one ref.

    Fetched: `new`, `updated`, `truncated` (the remote lost part of it), `wiped` (the remote lost it), `skipped` (it is
    not named as a task is), `failed`. Joined: `created`, `forwarded`, `joined`, `quarantined`. Pushed: `created`,
    `forwarded`, `joined` (only of a dry run: it would be, first), `rejected` (by the remote), `failed`.
    """

    ref: str
    outcome: str
    old: Oid | None = None
    new: Oid | None = None
    reason: str | None = None

    @property
    def task(self) -> TaskId:
        """The task that the ref is about."""
        return task_of(self.ref)

    @property
    def failed(self) -> bool:
        """Whether this is not as it should be."""
        return self.outcome in _FAILED


class FetchReport(NamedTuple):
    """What a fetch found; nothing of ours has moved."""

    remote: str
    refs: tuple[RefOutcome, ...]

    @property
    def failed(self) -> bool:
        """Whether anything is not as it should be."""
        return any(ref.failed for ref in self.refs)


class JoinReport(NamedTuple):
    """What became of our refs, and which tasks hold events so far ahead that they do not raise our clock."""

    remote: str
    refs: tuple[RefOutcome, ...]
    ahead: tuple[TaskId, ...]

    @property
    def failed(self) -> bool:
        """Whether anything is not as it should be."""
        return any(ref.failed for ref in self.refs)


class PullReport(NamedTuple):
    """A fetch and what was then joined."""

    fetched: FetchReport
    joined: JoinReport

    @property
    def failed(self) -> bool:
        """Whether anything is not as it should be."""
        return self.fetched.failed or self.joined.failed


class PushReport(NamedTuple):
    """What became of the remote's refs and, where it had to be joined first, of ours; what was held back, and why."""

    remote: str
    refs: tuple[RefOutcome, ...]
    joined: tuple[RefOutcome, ...]
    refused: Mapping[TaskId, Sequence[Place]]
    local: int

    @property
    def failed(self) -> bool:
        """Whether anything was not pushed that should have been."""
        return bool(self.refused) or any(ref.failed for ref in self.refs)


class _Scope(NamedTuple):
    """Which refs an exchange is about."""

    tasks: frozenset[TaskId] | None
    classes: tuple[str, ...]

    def holds(self, ref: str) -> bool:
        named = is_task_ref(ref) and class_of(ref) in self.classes
        return named and (self.tasks is None or task_of(ref) in self.tasks)

    def names(self) -> list[str]:
        few = self.refs()
        return [f"refs/pog/{class_}/*" for class_ in self.classes] if few is None else few

    def refs(self) -> list[str] | None:
        """Returns every ref that it is about; nothing if these are many."""
        if self.tasks is None or len(self.tasks) > FEW:
            return None
        return [f"refs/pog/{class_}/{task}" for class_ in self.classes for task in sorted(self.tasks)]


def remote_tasks(store: Store, remote: Remote) -> list[TaskId]:
    """Returns the tasks that a remote has, sorted."""
    listed = transport.list_refs(store.git, remote, [f"{TASKS}*"])
    return sorted(TaskId(ref.removeprefix(TASKS)) for ref in listed if is_task_ref(ref))


def fetch(
    store: Store,
    remote: Remote,
    tasks: Iterable[TaskId] | None = None,
    *,
    private: bool = False,
    progress: bool = False,
) -> FetchReport:
    """Brings the tracking refs up to the remote: tasks and contents, private contents only by choice.

    A tip that lacks what was last seen there is reported, and what was last seen is kept.
    """
    scope = _scope(remote, tasks, private)
    there = transport.list_refs(store.git, remote, scope.names())
    outcomes = [RefOutcome(ref, "skipped", None, oid) for ref, oid in there.items() if not is_task_ref(ref)]
    before = _tracked(store, remote, scope)
    moved = {ref: oid for ref, oid in there.items() if scope.holds(ref) and before.get(ref) != oid}
    failed = transport.fetch_refs(store.git, remote, moved, progress=progress)
    now = _tracked(store, remote, scope) if moved else before
    for ref, oid in moved.items():
        if ref in failed and now.get(ref) != oid:
            outcomes.append(RefOutcome(ref, "failed", before.get(ref), oid, failed[ref]))
        else:
            outcomes.append(_received(store, remote, ref, before.get(ref), now.get(ref)))
    outcomes += [RefOutcome(ref, "wiped", oid) for ref, oid in before.items() if ref not in there]
    return FetchReport(remote.name, tuple(sorted(outcomes, key=lambda found: found.ref)))


def join(
    store: Store,
    remote: Remote,
    tasks: Iterable[TaskId] | None = None,
    *,
    private: bool = False,
    fetched: FetchReport | None = None,
) -> JoinReport:
    """Joins what was fetched to ours, each chain after it was judged; a bad one is reported and holds up no other.

    Ours moves forward, or both are joined; a report of the fetch names what a remote has that lost other things.
    """
    scope = _scope(remote, tasks, private)
    store.refresh()
    tips = list(_tracked(store, remote, scope).items())
    tips += [(ref.ref, ref.new) for ref in fetched.refs if ref.outcome == "truncated" and ref.new] if fetched else []
    outcomes: list[RefOutcome] = []
    judged: list[tuple[str, Judged]] = []
    for ref, tip in sorted(tips, key=lambda pair: _tasks_first(pair[0])):
        if any(bad.ref == task_ref(task_of(ref)) for bad in outcomes):
            continue  # contents of a bad task
        try:
            if not union.holds(store, ref, tip):
                judged.append((ref, union.judge(store, ref, tip)))
        except PogError as fault:
            outcomes.append(RefOutcome(ref, "quarantined", store.refs.read(ref), tip, fault.message))
    outcomes += store.transact(lambda batch: _settle_all(store, batch, judged)) if judged else []
    outcomes = [moved._replace(new=moved.new or store.refs.read(moved.ref)) for moved in outcomes]
    highest = store.highest_clock()
    ahead = {task_of(ref) for ref, new in judged if new.clocks and graph.is_ahead(new.clocks[-1], highest)}
    return JoinReport(remote.name, tuple(outcomes), tuple(sorted(ahead)))


def pull(
    store: Store,
    remote: Remote,
    tasks: Iterable[TaskId] | None = None,
    *,
    private: bool = False,
    progress: bool = False,
) -> PullReport:
    """Fetches and joins; raises `NotEnabled` before anything is asked of the remote."""
    if not store.enabled:
        raise NotEnabled
    wanted = None if tasks is None else frozenset(tasks)
    fetched = fetch(store, remote, wanted, private=private, progress=progress)
    return PullReport(fetched, join(store, remote, wanted, private=private, fetched=fetched))


def push(
    store: Store,
    remote: Remote,
    tasks: Iterable[TaskId] | None = None,
    *,
    private: bool = False,
    allowed: Collection[BlobId] = (),
    dry_run: bool = False,
    progress: bool = False,
) -> PushReport:
    """Moves a remote's refs up to ours: tasks and contents, private contents only by choice, local tasks never.

    Where others were faster, theirs is fetched and joined, and it is tried again. A task with a secret in what the
    remote lacks is held back, unless the content is among those `allowed`. With `dry_run` nothing is written anywhere.
    Raises `RefusedByPolicy` for a remote that is not allowed, for a local task, and while a rule of `pog.redact` cannot
    be used: nobody can say then that nothing leaves which should not.
    """
    settings = store.git.settings()
    check_rules(store)
    _check_allowed(store, remote, settings.get(ALLOW_REMOTE, []))
    local = local_tasks(store)
    wanted = None if tasks is None else frozenset(tasks)
    for task in sorted(wanted & local if wanted else ()):
        raise RefusedByPolicy(f"task '{task}' is local", "'git pog local --remove' lets it leave")
    scope = _scope(remote, wanted, private)
    harmless = frozenset(allowed) | frozenset(settings.get(ALLOW_SECRET, []))
    pushing = _Push(store, remote, scope, local, harmless, progress=progress)
    if dry_run:
        pushing.rehearse()
    else:
        pushing.run()
    held_back = len(local & set(store.tasks())) if wanted is None else 0
    outcomes = tuple(sorted(pushing.outcomes.values(), key=lambda found: _tasks_first(found.ref)))
    return PushReport(remote.name, outcomes, tuple(pushing.joined), pushing.refused, held_back)


class _Push:
    """One push: what was decided of each ref so far."""

    def __init__(
        self,
        store: Store,
        remote: Remote,
        scope: _Scope,
        local: frozenset[TaskId],
        harmless: frozenset[str],
        *,
        progress: bool,
    ) -> None:
        self.store, self.remote, self.scope, self.progress = store, remote, scope, progress
        self.local, self.harmless = local, harmless
        self.outcomes: dict[str, RefOutcome] = {}
        self.joined: list[RefOutcome] = []
        self.refused: dict[TaskId, list[Place]] = {}
        self._scanned: set[Entry] = set()

    def run(self) -> None:
        """Pushes until nothing is left to do, or others were faster every time."""
        lost: dict[str, str] = {}
        for attempt in range(ATTEMPTS):
            there = self._there()
            ready, behind = self._plan(there)
            if behind:
                self._catch_up(behind)
                there = self._there()
                ready, behind = self._plan(there)
            lost = dict.fromkeys(behind, "it is still moving")
            if clean := self._clean(ready, there):
                lost |= self._send(clean, there)
            if not lost:
                return
            time.sleep(random.random() * min(LONGEST_PAUSE, 0.05 * 2**attempt))  # noqa: S311 - jitter, no secret
        for ref, reason in lost.items():
            self.outcomes[ref] = RefOutcome(ref, "failed", reason=f"others were faster {ATTEMPTS} times: {reason}")

    def rehearse(self) -> None:
        """Finds out what `run` would do first; writes nothing."""
        there = self._there()
        ready, behind = self._plan(there)
        for ref, oid in self._clean(ready, there).items():
            self.outcomes[ref] = _pushed(ref, there.get(ref), oid)
        for ref, oid in behind.items():
            self.outcomes[ref] = RefOutcome(ref, "joined", there.get(ref), oid)

    def _there(self) -> dict[str, Oid]:
        return transport.list_refs(self.store.git, self.remote, self.scope.names())

    def _plan(self, there: Mapping[str, Oid]) -> tuple[dict[str, Oid], dict[str, Oid]]:
        """Returns the refs that can be pushed, and those of which the remote has something that we have not."""
        self.store.refresh()
        seen = _tracked(self.store, self.remote, self.scope)
        ready, behind = {}, {}
        for ref, ours in _standing(self.store, self.scope).items():
            theirs = there.get(ref)
            if not self._wants(ref) or theirs == ours:
                continue
            if theirs is None or union.holds(self.store, ref, theirs):
                ready[ref] = ours
            elif seen.get(ref) != ours:  # else all that is new is theirs
                behind[ref] = ours
        return ready, behind

    def _wants(self, ref: str) -> bool:
        if not self.scope.holds(ref) or task_of(ref) in self.local or task_of(ref) in self.refused:
            return False
        decided = (
            self.outcomes.get(name) for name in (ref, task_ref(task_of(ref)))
        )  # no contents without their events
        return not any(outcome is not None and outcome.failed for outcome in decided)

    def _catch_up(self, behind: Iterable[str]) -> None:
        """Fetches and joins; what cannot be joined cannot be pushed either."""
        private = "private" in self.scope.classes
        pulled = pull(
            self.store, self.remote, {task_of(ref) for ref in behind}, private=private, progress=self.progress
        )
        self.joined += [found for found in pulled.joined.refs if not found.failed]
        bad = {found.task: found for found in pulled.joined.refs if found.failed}
        bad |= {found.task: found for found in pulled.fetched.refs if found.outcome == "failed"}
        for ref in behind:
            if found := bad.get(task_of(ref)):
                self.outcomes[ref] = RefOutcome(ref, "failed", reason=f"what the remote has is bad: {found.reason}")

    def _clean(self, ready: Mapping[str, Oid], there: Mapping[str, Oid]) -> dict[str, Oid]:
        """Returns the refs of tasks that give away no secret."""
        for ref, oid in ready.items():
            if ref.startswith(TASKS):
                continue
            try:
                if places := self._secrets(ref, oid, there.get(ref)):
                    self.refused.setdefault(task_of(ref), []).extend(places)
            except (NotFound, ObjectDamaged) as fault:
                self.outcomes[ref] = RefOutcome(ref, "failed", there.get(ref), oid, fault.message)
        return {ref: oid for ref, oid in ready.items() if self._wants(ref)}

    def _secrets(self, ref: str, tip: Oid, theirs: Oid | None) -> list[Place]:
        found = {entry for _, entry in chain.contents(self.store.objects, tip, lambda oid: oid == theirs)}
        fresh = [entry for entry in found if entry.blob not in self.harmless and entry not in self._scanned]
        self._scanned.update(found)
        return secrets_in(self.store, task_of(ref), sorted(fresh))

    def _send(self, ready: Mapping[str, Oid], there: Mapping[str, Oid]) -> dict[str, str]:
        """Pushes, notes what became of each ref, and returns those that others moved meanwhile."""
        lost, tracked = {}, _tracked(self.store, self.remote, self.scope)
        known: dict[str, tuple[Oid | None, Oid]] = {}
        for ref, sent in self._sent(ready).items():
            if sent.lost_race:
                lost[ref] = sent.reason
            elif not sent.done:
                outcome = "rejected" if "rejected" in sent.reason else "failed"
                self.outcomes[ref] = RefOutcome(ref, outcome, there.get(ref), ready[ref], _said(sent.reason))
            else:
                self.outcomes[ref] = _pushed(ref, there.get(ref), ready[ref])
                if ref not in tracked or union.holds(self.store, ref, tracked[ref]):
                    known[tracking_ref(self.remote.tracked_as, ref)] = (tracked.get(ref), ready[ref])
        transport.remember(self.store.git, known)
        return lost

    def _sent(self, ready: Mapping[str, Oid]) -> dict[str, Sent]:
        """Pushes tasks together; where a remote rejects all for the sake of some, in halves to find these."""
        sent: dict[str, Sent] = {}
        pending = [sorted({task_of(ref) for ref in ready})]
        calls = 0
        while pending:
            tasks = pending.pop()
            refs = sorted((ref for ref in ready if task_of(ref) in tasks), key=_tasks_first)
            answers = transport.push_refs(
                self.store.git, self.remote, {ref: ready[ref] for ref in refs}, progress=self.progress
            )
            calls += 1
            if len(tasks) > 1 and calls < transport.MOST_CALLS and _all_declined(answers.values()):
                pending += [tasks[len(tasks) // 2 :], tasks[: len(tasks) // 2]]
            else:
                sent |= answers
        return sent


def _check_allowed(store: Store, remote: Remote, patterns: Sequence[str]) -> None:
    """Raises `RefusedByPolicy` if there is a list of allowed remotes and this one is not on it."""
    names = [remote.name] if remote.configured else []
    if not patterns or any(fnmatchcase(name, pattern) for name in names for pattern in patterns):
        return
    for address in transport.addresses(store.git, remote):
        if not any(fnmatchcase(address, transport.without_user(pattern)) for pattern in patterns):
            raise RefusedByPolicy(f"remote '{remote.name}' is not allowed: pog.allowRemote does not name '{address}'")


def _scope(remote: Remote, tasks: Iterable[TaskId] | None, private: bool) -> _Scope:
    classes = ("tasks", "content", "private") if private or remote.private else ("tasks", "content")
    return _Scope(None if tasks is None else frozenset(tasks), classes)


def _tracked(store: Store, remote: Remote, scope: _Scope) -> dict[str, Oid]:
    """Returns what a remote's refs were when they were last seen."""
    return _standing(store, scope, tracking_prefix(remote.tracked_as))


def _standing(store: Store, scope: _Scope, place: str = "refs/pog/") -> dict[str, Oid]:
    """Returns what our refs point at, or the tracking refs of a place; few are read without listing all others."""
    if (few := scope.refs()) is not None:
        found = {ref: store.refs.read(place + ref.removeprefix("refs/pog/")) for ref in few}
        return {ref: oid for ref, oid in found.items() if oid is not None}
    every = {f"refs/pog/{name.removeprefix(place)}": oid for name, oid in store.refs.list(place).items()}
    return {ref: oid for ref, oid in every.items() if scope.holds(ref)}


def _received(store: Store, remote: Remote, ref: str, old: Oid | None, found: Oid | None) -> RefOutcome:
    """Judges whether a fetched tip holds all that was last seen; if not, the tracking ref goes back to that."""
    if found is None:
        return RefOutcome(ref, "failed", old, reason="it did not come")
    if not _is_commit(store, found):
        _put_back(store, remote, ref, found, old)
        return RefOutcome(ref, "failed", old, found, "it is no commit")
    if old is None:
        return RefOutcome(ref, "new", None, found)
    if old in quarantine.reachable(store, found) or not _is_sound(store, ref, old):
        return RefOutcome(ref, "updated", old, found)
    _put_back(store, remote, ref, found, old)
    return RefOutcome(ref, "truncated", old, found, "the remote lacks what was last seen there")


def _put_back(store: Store, remote: Remote, ref: str, found: Oid, old: Oid | None) -> None:
    with suppress(StaleRef, LockHeld):  # another fetch has moved it, and has judged that
        store.refs.compare_and_swap(tracking_ref(remote.tracked_as, ref), found, old)


def _is_commit(store: Store, oid: Oid) -> bool:
    try:
        chain.read_commit(store.objects, oid)
    except (NotFound, ObjectDamaged):
        return False
    return True


def _is_sound(store: Store, ref: str, tip: Oid) -> bool:
    store.refresh()
    try:
        union.judge(store, ref, tip)
    except PogError:
        return False
    return True


def _settle_all(store: Store, batch: Batch, judged: Iterable[tuple[str, Judged]]) -> list[RefOutcome]:
    """Moves our refs for what was judged, as far as we do not hold it by now."""
    store.refresh()
    pending = [(ref, fetched) for ref, fetched in judged if not union.holds(store, ref, fetched.tip)]
    for clock in sorted({clock for _, fetched in pending for clock in fetched.clocks}):
        batch.accept(clock)
    outcomes = []
    for ref, fetched in pending:
        try:
            ours = batch.tip(ref)
            outcomes.append(RefOutcome(ref, union.settle(store, batch, ref, fetched), ours))
        except PogError as fault:
            outcomes.append(RefOutcome(ref, "quarantined", batch.tip(ref), fetched.tip, fault.message))
    return outcomes


def _pushed(ref: str, old: Oid | None, new: Oid) -> RefOutcome:
    return RefOutcome(ref, "created" if old is None else "forwarded", old, new)


def _said(summary: str) -> str:
    """Returns the reason in what git says of a ref: `[remote rejected] (hook declined)`."""
    return summary.rpartition("] ")[2].strip("()")


def _all_declined(answers: Collection[Sent]) -> bool:
    return all(not sent.done and not sent.lost_race and "remote rejected" in sent.reason for sent in answers)


def _tasks_first(ref: str) -> tuple[bool, str]:
    return not ref.startswith(TASKS), ref
