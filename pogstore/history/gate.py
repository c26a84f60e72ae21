"""What a commit or a pull request lacks, by the limits of the tasks that its lines come from.

Lines are judged by the definition of the task that wrote them, as it is in force now, and by the policy of this
repository; nothing that a hook keeps is believed. Runs nothing.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from pogstore import model, policy, state
from pogstore.history.blame import Blame, BlamedLine, blame
from pogstore.history.lacking import said_approvals
from pogstore.history.led import led_by
from pogstore.history.ranges import Range, RangeFile, blame_range
from pogstore.history.required import Approvals, Check, approvals_of, checks_of
from pogstore.model import EventId, Oid, Opaque, TaskId
from pogstore.policy import Contract
from pogstore.store import gitdiff, gitlog
from pogstore.store.gitdiff import FileDiff
from pogstore.store.store import Store
from pogstore.work import bounded, bounds
from pogstore.work.policies import Policy, file_at, policy_of, with_files

UNCOVERED, APPROVALS, CHECK, STEP, UNCLAIMED = "uncovered", "approvals", "check", "step", "unclaimed"


Ran = Mapping[str, bool]
"""Commands that were run, and whether they passed."""
NOTHING: Ran = MappingProxyType({})


class Problem(NamedTuple):
    """One thing that is wrong: the rule, where (no lines: the whole file), in which task, and why."""

    rule: str
    reason: str
    path: bytes | None = None
    lines: tuple[range, ...] = ()
    task: TaskId | None = None
    event: EventId | None = None


class Gated(NamedTuple):
    """A task that changed lines come from: how many, and what is asked of it."""

    task: TaskId
    lines: int
    approvals: Approvals
    checks: tuple[Check, ...]


class Gate(NamedTuple):
    """The answer. `covered` counts added lines that a recorded event wrote, `uncovered` those that none did."""

    base: Oid | None
    tip: Oid | None
    files: int
    covered: int
    uncovered: int
    tasks: tuple[Gated, ...]
    problems: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


def gate_range(store: Store, asked: Range, *, strict: bool = False, ran: Ran = NOTHING) -> Gate:
    """Judges what a range adds since both sides parted; raises `NotFound` for an unknown revision.

    `ran` says of checks that were run just now whether they passed.
    """
    found = blame_range(store, asked)
    files = [file_at(store, found.base) if found.base else None, file_at(store, found.tip)]
    return _judged(store, found.files, with_files(store, files), found.base, found.tip, strict, ran)


def gate_staged(store: Store, *, strict: bool = False, ran: Ran = NOTHING) -> Gate:
    """Judges what the index has otherwise than HEAD; raises `BadInput` for a file of limits that cannot be read."""
    policy_of(store)  # a file that cannot be read is said, also where it is not staged
    head = gitlog.find_head(store.git)
    found = [RangeFile(diff, _staged(store, diff)) for diff in gitdiff.staged(store.git, head)]
    files = [file_at(store, "HEAD"), file_at(store, ":")]
    return _judged(store, found, with_files(store, files), head, None, strict, ran)


def _staged(store: Store, diff: FileDiff) -> Blame | None:
    if not diff.added:
        return None
    contents = store.git.run("cat-file", "blob", ":" + diff.path.decode("utf-8", "surrogateescape")).stdout
    wanted = {number for numbers in diff.added for number in numbers}
    found = blame(store, diff.path, contents=contents)
    return found._replace(lines=tuple(line for line in found.lines if line.number in wanted))


def _judged(
    store: Store, files: Sequence[RangeFile], asked: Policy, base: Oid | None, tip: Oid | None, strict: bool, ran: Ran
) -> Gate:
    judging = _Judging(store, asked, strict or asked.require_task, ran)
    problems = [problem for file in files for problem in judging.file(file)]
    tasks = tuple(judging.tasks())
    problems += [problem for gated in tasks for problem in judging.task(gated)]
    problems += judging.others()
    if asked.require_task and files and not store.tasks():
        problems.append(Problem(policy.NO_TASK, "a task is required, and none is here: 'git pog fetch' brings them"))
    return Gate(base, tip, len(files), judging.covered, judging.uncovered, tasks, tuple(problems))


class _Judging:
    """What is known of the tasks while files are gone through."""

    def __init__(self, store: Store, asked: Policy, strict: bool, ran: Ran) -> None:
        self._store, self._asked, self._strict, self._ran = store, asked, strict, ran
        self._contracts: dict[TaskId, Contract] = {}
        self._lines: dict[TaskId, int] = {}
        self._led: dict[TaskId, set[EventId]] = {}
        self.covered = self.uncovered = 0

    def file(self, file: RangeFile) -> Iterator[Problem]:
        """Yields what is wrong with the lines of one file, or with all of it where it has none."""
        path = file.diff.path
        owners: dict[TaskId | None, list[int]] = {}
        for line in file.lines:
            owners.setdefault(_task_of(line), []).append(line.number)
        if not file.lines:
            owners = {task: [] for task in self._tasks_on(file.diff)} or {None: []}
        for at, sealed in enumerate(led_by(self._store, file.diff)):
            self._led.setdefault(sealed.event.task, set()).add(sealed.event_id)
            if at == 0:  # what the range brings is its work, also where all lines are older
                owners.setdefault(sealed.event.task, [])
        for task, numbers in owners.items():
            places = _ranges(numbers)
            if task is None:
                self.uncovered += len(numbers)
                if self._strict and (numbers or not _is_empty(file.diff)):
                    yield Problem(UNCOVERED, "no recorded step wrote this", path, places)
                continue
            self.covered += len(numbers)
            self._lines[task] = self._lines.get(task, 0) + len(numbers)
            refusal = policy.judge_paths(self._contract(task), [path.decode("utf-8", "surrogateescape")])
            if refusal is not None:
                yield Problem(refusal.rule, refusal.reason, path, places, task)

    def _tasks_on(self, diff: FileDiff) -> list[TaskId]:
        """Returns the task of the last event on a file of which no line is to be seen: one deleted, say, or renamed."""
        names = [diff.path, *([diff.former] if diff.former else [])]
        events = [sealed for name in names for sealed in self._store.events_on(name)]
        events = [sealed for sealed in events if not isinstance(sealed.event, Opaque)]
        last = max(events, key=lambda sealed: (sealed.event.clock, sealed.event_id), default=None)
        return [] if last is None or state_kind(last.event) == "observed" else [last.event.task]

    def _contract(self, task: TaskId) -> Contract:
        if task not in self._contracts:
            limits = (*bounds.bounds_of(self._store, task).limits, *self._asked.limits)
            self._contracts[task] = Contract(task, "", limits)
        return self._contracts[task]

    def tasks(self) -> Iterator[Gated]:
        """Yields the tasks that were met, with what is asked of each."""
        for task, lines in sorted(self._lines.items(), key=lambda item: (-item[1], item[0])):
            found = bounds.bounds_of(self._store, task)
            needed = max(found.approvals, self._asked.approvals)
            checks = tuple(checks_of(self._store, task, found, self._asked.checks, self._ran))
            yield Gated(task, lines, approvals_of(self._store, task, needed), checks)

    def task(self, gated: Gated) -> Iterator[Problem]:
        """Yields what a task lacks, and the steps that broke its limits."""
        task, asked = gated.task, gated.approvals
        yield from (Problem(APPROVALS, said, task=task) for said in said_approvals(asked))
        for check in gated.checks:
            if check.state != "passed":
                yield Problem(CHECK, f"'{check.command}' {check.said}", task=task)
        if self._asked.require_task and not state.fold(self._store.events(task)).claimants:
            yield Problem(UNCLAIMED, "nobody has claimed the task", task=task)
        yield from self._broken(task)

    def others(self) -> Iterator[Problem]:
        """Yields the steps beyond limits of tasks that no line comes from, but on the way to what the range brings."""
        for task in sorted(self._led.keys() - self._lines.keys()):
            yield from (each for each in self._broken(task) if each.event in self._led[task])

    def _broken(self, task: TaskId) -> Iterator[Problem]:
        for found in bounded.broken(self._store, task):
            rule, reason = found.refusal.rule, found.refusal.reason
            if isinstance(found.sealed.event, model.Ran) and rule == policy.COMMAND:
                yield Problem(rule, reason, task=task, event=found.sealed.event_id)
            else:
                yield Problem(STEP, f"{rule}: {reason}", task=task, event=found.sealed.event_id)


def state_kind(event: object) -> str:
    """Returns the kind of an event that is understood."""
    return str(type(event).__struct_config__.tag)  # type: ignore[attr-defined]


def _is_empty(diff: FileDiff) -> bool:
    """Says whether a file is only renamed or its mode is another: no line is anybody's."""
    return diff.what == "text" and not diff.added and not diff.removed


def _task_of(line: BlamedLine) -> TaskId | None:
    return line.task if line.event is not None else None


def _ranges(numbers: Iterable[int]) -> tuple[range, ...]:
    found: list[range] = []
    for number in sorted(numbers):
        if found and found[-1].stop == number:
            found[-1] = range(found[-1].start, number + 1)
        else:
            found.append(range(number, number + 1))
    return tuple(found)
