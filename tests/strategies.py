"""Hypothesis strategies for values of the model: every part, every kind of event, definitions and small DAGs.

All values lie inside the domain of canonical bytes. Odd ones (empty, one character, not ASCII, escapes) are weighted on
purpose. What has no changing argument is made once: building a strategy costs more than drawing from it.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

import msgspec
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from msgspec.structs import replace

from pogstore import digest
from pogstore.model import (
    ACTOR_TYPES,
    CLASSES,
    COVERAGES,
    EFFECTS,
    FORMAT,
    KINDS,
    MODES,
    RELATIONS,
    STATUSES,
    TOOL_CLASSES,
    Actor,
    Base,
    BlobId,
    Budget,
    Change,
    ChecklistItem,
    Claimed,
    Definition,
    ErasedChange,
    Event,
    EventId,
    Extra,
    Globs,
    Hunk,
    Link,
    OddPath,
    Opaque,
    Outcome,
    Path,
    Person,
    Released,
    Sealed,
    Side,
    Slice,
    Source,
    TaskId,
    Text,
    Usage,
)

T = TypeVar("T")
Dag = dict[str, tuple[str, ...]]

TASK = TaskId("0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b")
"""The task of every chain."""
LARGEST = 2**53 - 1
ODD_WORDS = ("", "x", "é", "e\u0301", "日本語", "😀", "a\nb\t", "\x1b[31m", '"\\/', "\x00", "\u202e", " ", "a" * 200)
ODD_PATHS = (
    "a",
    "src/main.py",
    "naïve 😀.py",
    "測試/檔.txt",
    'a "b" \\c',
    " lead",
    "-x",
    "new\nline",
    "---",
    "a/" * 40,
)
CREW = (
    Actor(type="human", name="ada", on_behalf_of=Person(name="Ada", email="ada@example.org")),
    Actor(type="agent", name="codex", session="s1", on_behalf_of=Person(name="Ada", email="ada@example.org")),
    Actor(type="agent", name="codex", session="s2", on_behalf_of=Person(name="Ben", email="ben@example.org")),
    Actor(type="agent", name="codex"),
)
"""A few actors, so that some events have the same one."""


def seal(event: Event | Opaque) -> Sealed:
    """Returns an event with bytes and an id that depend on nothing but the event."""
    canonical = msgspec.json.encode(event, order="sorted")
    return Sealed(EventId(digest.hexdigest(canonical)), canonical, event)


@cache
def event_ids() -> SearchStrategy[EventId]:
    return st.binary(min_size=32, max_size=32).map(lambda raw: EventId(raw.hex()))


@cache
def blob_ids() -> SearchStrategy[BlobId]:
    return st.binary(min_size=32, max_size=32).map(lambda raw: BlobId(raw.hex()))


@cache
def task_ids() -> SearchStrategy[TaskId]:
    return st.uuids().map(lambda uuid: TaskId(str(uuid)))


@cache
def named_oids() -> SearchStrategy[str]:
    """Git oids as events write them."""
    sha1 = st.binary(min_size=20, max_size=20).map(lambda raw: f"sha1_{raw.hex()}")
    return sha1 | st.binary(min_size=32, max_size=32).map(lambda raw: f"sha256_{raw.hex()}")


def words(*, least: int = 0) -> SearchStrategy[str]:
    return st.sampled_from([word for word in ODD_WORDS if len(word) >= least]) | st.text(min_size=least, max_size=20)


def naturals(most: int = LARGEST) -> SearchStrategy[int]:
    return st.sampled_from((0, 1, most)) | st.integers(0, most)


def maybe(values: SearchStrategy[T]) -> SearchStrategy[T | None]:
    return st.none() | values


def some(values: SearchStrategy[T], most: int = 3) -> SearchStrategy[tuple[T, ...]]:
    return st.lists(values, max_size=most).map(tuple)


def distinct_sorted(values: SearchStrategy[T], most: int = 3) -> SearchStrategy[tuple[T, ...]]:
    """Sets as events hold them."""
    return st.lists(values, max_size=most, unique=True).map(lambda drawn: tuple(sorted(drawn)))  # type: ignore[type-var]


@cache
def paths() -> SearchStrategy[Path]:
    spelled = st.sampled_from(ODD_PATHS) | st.text(
        st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12
    )
    coded = st.builds(OddPath, b64=st.sampled_from(("/w==", "Zv9v", "gICA")))
    return st.one_of(spelled, spelled, coded, st.just(OddPath(outside=True)))


@cache
def persons() -> SearchStrategy[Person]:
    return st.builds(Person, name=words(), email=words())


@cache
def actors() -> SearchStrategy[Actor]:
    drawn = st.builds(
        Actor,
        type=st.sampled_from((*ACTOR_TYPES, "robot")),
        name=maybe(words()),
        model=maybe(words()),
        version=maybe(words()),
        session=maybe(words()),
        agent_id=maybe(words()),
        on_behalf_of=maybe(persons()),
    )
    return st.sampled_from(CREW) | drawn


@cache
def links() -> SearchStrategy[Link]:
    rels = st.sampled_from((*RELATIONS, "cites"))
    return st.one_of(
        st.builds(Link, rel=rels, task=task_ids()),
        st.builds(Link, rel=rels, event=event_ids()),
        st.builds(Link, rel=rels, commit=named_oids()),
    )


@cache
def texts(class_: str | None = None) -> SearchStrategy[Text]:
    classes = st.just(class_) if class_ else st.sampled_from(CLASSES)
    return st.builds(Text, blob=blob_ids(), size=naturals(), class_=classes, omitted=maybe(st.just("too-large")))


@cache
def sources() -> SearchStrategy[Source]:
    formats = st.sampled_from(("spool", "claude-code", "pog-yaml"))
    return st.builds(Source, format=formats, key=words(), raw=maybe(texts("private")))


@cache
def slices() -> SearchStrategy[Slice]:
    return st.integers(1, 9).flatmap(lambda of: st.builds(Slice, n=st.integers(1, of), of=st.just(of)))


@cache
def sides() -> SearchStrategy[Side]:
    files = st.builds(
        Side,
        mode=st.sampled_from([mode for mode in MODES if mode != "160000"]),
        blob=blob_ids(),
        size=naturals(),
        omitted=maybe(st.just("too-large")),
    )
    return files | st.builds(Side, mode=st.just("160000"), commit=named_oids())


@cache
def changes() -> SearchStrategy[Change]:
    within = st.builds(Change, path=paths(), from_=maybe(paths()), before=maybe(sides()), after=maybe(sides()))
    return within | st.just(Change(path=OddPath(outside=True)))


@cache
def bases() -> SearchStrategy[Base]:
    return st.builds(Base, commit=maybe(named_oids()), branch=maybe(words()))


@cache
def usages() -> SearchStrategy[Usage]:
    return st.builds(Usage, tokens_in=maybe(naturals()), tokens_out=maybe(naturals()), cost_micro_usd=maybe(naturals()))


@cache
def outcomes() -> SearchStrategy[Outcome]:
    results = st.sampled_from(("applied", "identical", "skipped", "conflicted"))
    return st.builds(Outcome, event=event_ids(), outcome=results)


@cache
def erased_changes() -> SearchStrategy[ErasedChange]:
    lines = naturals(10**6)
    hunks = st.builds(Hunk, old_start=lines, old_lines=lines, new_start=lines, new_lines=lines)
    return st.builds(ErasedChange, event=event_ids(), path=paths(), hunks=some(hunks))


@cache
def extras(depth: int = 3) -> SearchStrategy[Extra]:
    scalars = st.builds(Extra, name=words(), value=maybe(words()))
    if depth == 0:
        return scalars
    nested = extras(depth - 1)
    return st.one_of(
        scalars,
        st.builds(Extra, name=words(), items=some(nested)),
        st.builds(Extra, name=words(), fields=some(nested)),
    )


@cache
def globs() -> SearchStrategy[Globs]:
    patterns = st.sampled_from(("**", "src/**", "*.py", "文件/*", "")) | words()
    return st.builds(Globs, allow=maybe(some(patterns)), deny=some(patterns))


@cache
def budgets() -> SearchStrategy[Budget]:
    limits = maybe(naturals())
    return st.builds(Budget, tokens=limits, cost_micro_usd=limits, minutes=limits, changed_lines=limits)


@cache
def definitions() -> SearchStrategy[Definition]:
    items = st.builds(ChecklistItem, text=words(), done=maybe(st.booleans()), extra=some(extras(1), 1))
    return st.builds(
        Definition,
        title=words(),
        intent=maybe(words()),
        description=maybe(words()),
        category=maybe(words()),
        priority=maybe(st.sampled_from(("low", "urgent", "critical"))),
        tags=some(words()),
        checklist=some(items),
        inputs=some(words()),
        context_files=some(words()),
        related_files=some(words()),
        estimate_minutes=maybe(naturals()),
        issue=maybe(words()),
        aliases=some(words()),
        extra=some(extras()),
        scope=maybe(globs()),
        commands=maybe(globs()),
        budget=maybe(budgets()),
        checks=some(words()),
        approvals=maybe(naturals(9)),
    )


@cache
def _step_fields() -> dict[str, SearchStrategy[Any]]:
    return {
        "tool": words(),
        "class_": st.sampled_from(TOOL_CLASSES),
        "call_id": maybe(words()),
        "ok": maybe(st.booleans()),
        "duration_ms": maybe(naturals()),
        "changes": some(changes()),
        "coverage": maybe(st.sampled_from(COVERAGES)),
        "coverage_reason": maybe(words()),
        "base": maybe(bases()),
        "env": maybe(texts("private")),
        "usage": maybe(usages()),
        "effects": maybe(st.sampled_from(EFFECTS)),
    }


@cache
def _taken_back() -> dict[str, SearchStrategy[Any]]:
    return {
        "targets": some(event_ids()),
        "outcomes": some(outcomes()),
        "strategy": maybe(st.sampled_from(("merge", "undo"))),
        "changes": some(changes()),
    }


@cache
def _own_fields(kind: str) -> dict[str, SearchStrategy[Any]]:
    private, public = maybe(texts("private")), maybe(texts("content"))
    claims = {"definition_id": maybe(blob_ids()), "lease_until": maybe(naturals())}
    fields: dict[str, dict[str, SearchStrategy[Any]]] = {
        "defined": {"definition": texts()},
        "claimed": claims | {"holder": maybe(actors())},
        "released": claims,
        "moved": {"status": st.sampled_from((*STATUSES, "todo")), "reason": public, "outcome": public},
        "checked": {"item": naturals(20), "done": st.booleans(), "definition_id": maybe(blob_ids())},
        "prompted": {"text": texts("private")},
        "decided": {"text": texts("content")},
        "noted": {"topic": maybe(words()), "text": maybe(texts())},
        "stepped": _step_fields() | {"input": private, "output": private},
        "ran": _step_fields()
        | {
            "argv": texts("private"),
            "stdout": private,
            "stderr": private,
            "cwd": maybe(paths()),
            "exit_code": maybe(st.integers(-64, 255)),
            "inputs": some(paths()),
            "outputs": some(paths()),
        },
        "refused": {"rule": words(), "tool": maybe(words()), "paths": some(paths())},
        "observed": {
            "changes": some(changes()),
            "coverage": maybe(st.sampled_from(COVERAGES)),
            "coverage_reason": maybe(words()),
            "base_from": maybe(bases()),
            "base": maybe(bases()),
            "during": some(words()),
        },
        "committed": {"commit": named_oids(), "tree": maybe(named_oids()), "commit_parents": some(named_oids())},
        "reviewed": {"verdict": st.sampled_from(("approved", "rejected")), "of": some(event_ids()), "text": public},
        "rolled_back": _taken_back(),
        "restored": _taken_back(),
        "replayed": _taken_back(),
        "signed": {"of": some(event_ids()), "key": words(), "sig": words()},
        "joined": {},
        "redacted": {"blobs": some(blob_ids()), "reason": st.just("secret"), "hunks": some(erased_changes())},
    }
    return fields[kind]


@cache
def _common_fields() -> dict[str, SearchStrategy[Any]]:
    return {
        "v": st.just(FORMAT),
        "task": task_ids(),
        "clock": st.sampled_from((1, 2, 2**52 - 1)) | st.integers(1, 2**52 - 1),
        "time": st.integers(-LARGEST, LARGEST),
        "actor": actors(),
        "parents": distinct_sorted(event_ids()),
        "offset": st.integers(-840, 840),
        "worktree": maybe(st.binary(min_size=16, max_size=16).map(bytes.hex)),
        "links": some(links()),
        "source": maybe(sources()),
        "inferred": maybe(st.booleans()),
        "part": maybe(slices()),
    }


@cache
def events(*kinds: str, **fixed: SearchStrategy[Any]) -> SearchStrategy[Event]:
    """Events of any of the kinds (of every kind if none is named); `fixed` gives fields their own strategies."""
    drawn = [st.builds(KINDS[kind], **(_common_fields() | _own_fields(kind) | fixed)) for kind in kinds or KINDS]
    return st.one_of(drawn)


@cache
def opaques() -> SearchStrategy[Opaque]:
    """Events that need a newer reader: by their kind, their `v` or their `needs`."""
    newer = st.sampled_from(((FORMAT, "teleported", ()), (FORMAT + 1, "moved", ()), (FORMAT, "moved", ("quorum",))))
    return newer.flatmap(
        lambda what: st.builds(
            Opaque,
            v=st.just(what[0]),
            kind=st.just(what[1]),
            needs=st.just(what[2]),
            task=task_ids(),
            clock=st.integers(1, 2**52 - 1),
            time=naturals(),
            actor=maybe(actors()),
            parents=distinct_sorted(event_ids()),
        )
    )


@cache
def contested() -> SearchStrategy[Event]:
    """Events drawn from small pools, so that actors, definitions, sources and calls often meet again."""
    blobs = st.sampled_from([BlobId(f"{n:064x}") for n in range(3)])
    pools: dict[str, SearchStrategy[Any]] = {
        "actor": st.sampled_from(CREW),
        "worktree": st.sampled_from((None, "w1", "w2")),
        "source": maybe(
            st.builds(Source, format=st.sampled_from(("spool", "claude-code")), key=st.sampled_from(("k1", "k2", "k3")))
        ),
        "part": st.none(),
        "links": st.just(()),
    }
    steps = events("stepped", "ran", call_id=st.sampled_from((None, "c1", "c2")), **pools)
    return st.one_of(
        events("moved", status=st.sampled_from(STATUSES), **pools),
        events("claimed", definition_id=maybe(blobs), holder=st.sampled_from((None, None, *CREW)), **pools),
        events("released", definition_id=maybe(blobs), **pools),
        events("checked", definition_id=maybe(blobs), item=st.integers(0, 2), **pools),
        events("defined", definition=st.builds(Text, blob=blobs, size=st.just(1), class_=st.just("content")), **pools),
        steps,
    )


@st.composite
def chains(draw: DrawFn, bodies: SearchStrategy[Event] | None = None, most: int = 10) -> list[Sealed]:
    """The events of one task: a DAG with valid clocks, parents before children.

    A parent is an earlier event; some events rest on all heads, as those do that a clone writes after a fetch. Some
    `released` and `claimed` events name an earlier claim.
    """
    bodies = events() if bodies is None else bodies
    chain: dict[EventId, Sealed] = {}
    for body in draw(st.lists(bodies, min_size=1, max_size=most)):
        parents = draw(_parents(tuple(chain.values())))
        clock = 1 + max((chain[parent].event.clock for parent in parents), default=0) + draw(st.sampled_from((0, 0, 2)))
        event = replace(body, task=TASK, parents=parents, clock=clock)
        claims = [known.event_id for known in chain.values() if isinstance(known.event, Claimed)]
        if isinstance(event, Released | Claimed) and claims and draw(st.booleans()):
            event = replace(event, links=(Link(rel="releases", event=draw(st.sampled_from(claims))),))
        sealed = seal(event)
        chain.setdefault(sealed.event_id, sealed)
    return list(chain.values())


def _parents(known: Sequence[Sealed]) -> SearchStrategy[tuple[EventId, ...]]:
    if not known:
        return st.just(())
    named = {parent for sealed in known for parent in sealed.event.parents}
    heads = tuple(sorted(sealed.event_id for sealed in known if sealed.event_id not in named))
    earlier = distinct_sorted(st.sampled_from([sealed.event_id for sealed in known]))
    return st.one_of(st.just(heads), st.just((known[-1].event_id,)), earlier, earlier)


@st.composite
def dags(draw: DrawFn, most: int = 12) -> Dag:
    """Small DAGs as a mapping from each id to its parents; the ids tell nothing of the order."""
    names = draw(st.lists(st.text("0123456789abcdef", min_size=4, max_size=4), max_size=most, unique=True))
    return {name: draw(distinct_sorted(st.sampled_from(names[:n]))) if n else () for n, name in enumerate(names)}


@st.composite
def digraphs(draw: DrawFn, most: int = 8) -> Dag:
    """Small directed graphs, cycles and edges to oneself included."""
    names = [f"t{n}" for n in range(draw(st.integers(0, most)))]
    return {name: draw(distinct_sorted(st.sampled_from(names))) for name in names}


def shuffled(values: Sequence[T]) -> SearchStrategy[list[T]]:
    return st.permutations(list(values))


def parents_in(chain: Sequence[Sealed]) -> Callable[[EventId], tuple[EventId, ...]]:
    """The `parents` function of some events: it answers with nothing for others."""
    known = {sealed.event_id: sealed.event.parents for sealed in chain}
    return lambda event_id: known.get(event_id, ())
