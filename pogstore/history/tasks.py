"""Tasks as a reader sees them: state, definition and title together, kept in the index by what they depend on."""

from collections.abc import Iterable, Mapping

import msgspec

from pogstore import codec, state
from pogstore.errors import NotCanonical, NotFound, ObjectDamaged
from pogstore.model import Actor, BlobId, Definition, Link, Oid, TaskId
from pogstore.state import Claim, TaskState
from pogstore.store import rows
from pogstore.store.refs import content_ref, task_ref
from pogstore.store.store import Store

UNTITLED = "untitled session"
DAMAGED = "damaged"
PRIORITIES = ("critical", "urgent", "high", "medium", "low")
"""The words by which tasks are ordered, the most urgent first; a task without one comes before those that are low."""
MEMO = "task-summary-4"


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """One line about a task."""

    task: TaskId
    title: str
    status: str
    titled: bool
    private: bool = False
    category: str | None = None
    priority: str | None = None
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    claimed_by: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    definition_id: BlobId | None = None
    given_back: bool = False
    """Whether somebody has begun it and nobody holds it any more."""
    actors: tuple[str, ...] = ()
    first_time: int = 0
    last_time: int = 0
    events: int = 0
    incomplete: str | None = None
    damaged: str | None = None
    """Why the task or its definition cannot be read; its status is then `damaged`, if that cannot be told either."""


_line = msgspec.json.Decoder(Summary)


def read_state(store: Store, task: TaskId) -> TaskState:
    """Returns the state of a task; raises `NotFound` if it has no events."""
    return state.fold(store.events(task))


def find_definition(store: Store, now: TaskState) -> Definition | None:
    """Returns the definition in force; nothing if it is not here, or is not one."""
    text = store.find_text(now.definition)
    if text is None:
        return None
    try:
        return codec.decode_definition(text.encode())
    except NotCanonical:
        return None


def summary(store: Store, task: TaskId) -> Summary:
    """Returns one line about a task."""
    found = summaries(store, [task])
    if not found:
        raise NotFound("task", task)
    return found[0]


def summaries(store: Store, tasks: Iterable[TaskId] | None = None) -> list[Summary]:
    """Returns a line about each task (all of them by default), by id; what was known before is not folded again."""
    with store.one_moment():
        tips = rows.tips(store.index.connection)  # first of all: a line may be newer than its tips, but never older
        for ref, _ in rows.faults(store.index.connection):  # no line that was kept may hide one
            tips.pop(ref, None)
        wanted = sorted({*store.tasks(), *store.damaged_tasks()}) if tasks is None else list(tasks)
        memos = rows.memos(store.index.connection, MEMO, None if tasks is None else wanted)
        found: list[Summary] = []
        fresh: dict[str, bytes] = {}
        for task in wanted:
            rests_on = _rests_on(tips, task)
            line = _remembered(memos.get(task), rests_on)
            if line is None:
                line = _summary(store, task)
                if line.damaged is None:
                    fresh[task] = rests_on + msgspec.json.encode(line)
            found.append(line)
    if fresh:
        rows.keep_memos(store.index.connection, MEMO, fresh)
    return found


def _rests_on(tips: Mapping[str, Oid], task: TaskId) -> bytes:
    """Returns everything that a line depends on, as its memo begins: the task's refs as they stand."""
    names = (task_ref(task), content_ref(task, "content"), content_ref(task, "private"))
    return " ".join(tips.get(name, "-") for name in names).encode() + b"\n"


def _remembered(memo: bytes | None, rests_on: bytes) -> Summary | None:
    return _line.decode(memo[len(rests_on) :]) if memo is not None and memo.startswith(rests_on) else None


def check_whole(lines: Iterable[Summary]) -> None:
    """Raises `ObjectDamaged` if one of the lines is about a task that cannot be read whole."""
    for line in lines:
        if line.damaged is not None:
            raise ObjectDamaged(task_ref(line.task), line.damaged)


def _summary(store: Store, task: TaskId) -> Summary:
    definition, damaged = None, None
    try:
        now = read_state(store, task)
    except ObjectDamaged as fault:
        return Summary(task=task, title=f"({DAMAGED})", status=DAMAGED, titled=False, damaged=fault.reason)
    try:
        definition = find_definition(store, now)
    except ObjectDamaged as fault:
        damaged = fault.message
    private = now.definition is not None and now.definition.class_ == "private"
    return Summary(
        task=task,
        title=definition.title if definition else UNTITLED,
        titled=definition is not None,
        private=private,
        status=now.status or "pending",
        category=definition.category if definition else None,
        priority=definition.priority if definition else None,
        tags=definition.tags if definition else (),
        aliases=definition.aliases if definition else (),
        links=now.links,
        claimed_by=tuple(held.actor.name or held.actor.type for held in now.claims),
        claims=now.claims,
        definition_id=now.definition_id,
        given_back=now.status == "in_progress" and bool(now.claimants) and not now.claims,
        actors=tuple(dict.fromkeys(actor.name or actor.type for actor in now.actors if actor.type != "unknown")),
        first_time=now.first_time or 0,
        last_time=now.last_time or 0,
        events=now.events,
        incomplete=now.incomplete,
        damaged=damaged,
    )


def is_ready(line: Summary, by_task: Mapping[TaskId, Summary], now: int, actor: Actor | None = None) -> bool:
    """Says whether work may begin, or go on: nobody holds it at a time (µs), everything it depends on is completed.

    A task that was begun is ready once it was given back or the lease of its claim has ended. What was given to an
    actor by name is ready for that one. Never for a session of an agent, which is the record of work and no offer of
    it: its definition is private.
    """
    begun = line.status == "in_progress" and (line.given_back or bool(line.claims))
    if line.private or line.damaged or not (begun or line.status in ("pending", "in_design", "in_planning")):
        return False
    if not all(state.is_over(held, now) or _is_given(held, actor) for held in line.claims):
        return False
    needed = {link.task for link in line.links if link.rel == "depends_on" and link.task}
    needed |= {
        other.task
        for other in by_task.values()
        for link in other.links
        if link.rel == "blocks" and link.task == line.task
    }
    return all(task in by_task and by_task[task].status == "completed" for task in needed)


def ready(store: Store, now: int, actor: Actor | None = None) -> list[Summary]:
    """Returns the tasks that are ready at a time: those given to the actor, then the urgent, then the older."""
    by_task = {line.task: line for line in summaries(store)}
    found = [line for line in by_task.values() if is_ready(line, by_task, now, actor)]
    return sorted(found, key=lambda line: (not _is_for(line, actor), _rank(line.priority), line.first_time, line.task))


def _is_given(held: Claim, actor: Actor | None) -> bool:
    return actor is not None and held.given_by is not None and state.holds(held, actor)


def _is_for(line: Summary, actor: Actor | None) -> bool:
    return any(_is_given(held, actor) for held in line.claims)


def _rank(priority: str | None) -> int:
    """Returns the place of a priority; one that nobody knows comes where none comes."""
    order = (*PRIORITIES[:-1], None, PRIORITIES[-1])
    return order.index(priority if priority in PRIORITIES else None)
