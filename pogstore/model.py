"""What a task and an event are: frozen structs, one for each kind of event.

Knows no bytes, no hashes, no git and no clock. Field names and meanings are those of `docs/format.md`; every struct is
a part of the format. Enums stay open: a field that holds one is a plain string, and the values that this version
writes stand in the constants below.
"""

from typing import NewType

from msgspec import Struct, field

EventId = NewType("EventId", str)
"""64 hex digits: the BLAKE3 of an event's canonical bytes."""
TaskId = NewType("TaskId", str)
"""A UUID, lower case, with hyphens."""
BlobId = NewType("BlobId", str)
"""64 hex digits: the BLAKE3 of a stored content."""
Oid = NewType("Oid", str)
"""Git's own object id, in hex."""

FORMAT = 1

STATUSES = (
    "pending",
    "in_design",
    "in_planning",
    "in_progress",
    "in_review",
    "blocked",
    "completed",
    "cancelled",
)
ACTOR_TYPES = ("human", "agent", "tool", "unknown")
TOOL_CLASSES = ("edit", "shell", "read", "mcp", "other")
COVERAGES = ("exact", "scoped", "shared", "partial", "none")
EFFECTS = ("tree", "outside", "unknown")
RELATIONS = ("parent", "depends_on", "blocks", "derived_from", "releases", "follows", "marks", "made")
MODES = ("100644", "100755", "120000", "160000")
CLASSES = ("content", "private")


class _Part(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A struct that stands inside an event or a definition."""


class OddPath(_Part, frozen=True, kw_only=True):
    """A path that a string cannot spell: its bytes in base64, or one outside the repository, which is never spelled."""

    b64: str | None = None
    outside: bool | None = None


Path = str | OddPath
"""Relative to the repository, with `/`."""


class Person(_Part, frozen=True, kw_only=True):
    """Somebody who answers for what was done."""

    name: str
    email: str


class Actor(_Part, frozen=True, kw_only=True):
    """Who did it: a person, an agent or a tool."""

    type: str
    name: str | None = None
    model: str | None = None
    version: str | None = None
    session: str | None = None
    agent_id: str | None = None
    on_behalf_of: Person | None = None


class Link(_Part, frozen=True, kw_only=True):
    """An edge to another task, event or commit. Exactly one of the three is present."""

    rel: str
    task: TaskId | None = None
    event: EventId | None = None
    commit: str | None = None


class Text(_Part, frozen=True, kw_only=True):
    """A reference to a stored text; `size` counts the bytes of the text without its salt."""

    blob: BlobId
    size: int
    class_: str = field(name="class")
    omitted: str | None = None


class Source(_Part, frozen=True, kw_only=True):
    """The record an event came from."""

    format: str
    key: str
    raw: Text | None = None


class Slice(_Part, frozen=True, kw_only=True):
    """Part `n` (from 1) of `of` events that apply together or not at all."""

    n: int
    of: int


class Side(_Part, frozen=True, kw_only=True):
    """What a path held: a file version by its content, or the commit of a submodule (mode 160000)."""

    mode: str
    blob: BlobId | None = None
    commit: str | None = None
    size: int | None = None
    omitted: str | None = None


class Change(_Part, frozen=True, kw_only=True):
    """One path before and after. An absent side says that the file did not exist; a path outside has no sides."""

    path: Path
    from_: Path | None = field(default=None, name="from")
    before: Side | None = None
    after: Side | None = None


class Base(_Part, frozen=True, kw_only=True):
    """The commit and the branch a work tree was on."""

    commit: str | None = None
    branch: str | None = None


class Usage(_Part, frozen=True, kw_only=True):
    """What a step used of its budget."""

    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_micro_usd: int | None = None


class Outcome(_Part, frozen=True, kw_only=True):
    """What became of one target of a rollback, restore or replay."""

    event: EventId
    outcome: str


class Hunk(_Part, frozen=True, kw_only=True):
    """Line numbers only: `old_lines` lines from `old_start` became `new_lines` lines from `new_start`."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int


class ErasedChange(_Part, frozen=True, kw_only=True):
    """The hunks of one change into or out of an erased file version."""

    event: EventId
    path: Path
    hunks: tuple[Hunk, ...] = ()


class Event(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind"):
    """The fields that every kind of event has. `time` is µs since the epoch and never orders events."""

    v: int
    task: TaskId
    clock: int
    time: int
    actor: Actor
    parents: tuple[EventId, ...] = ()
    offset: int = 0
    worktree: str | None = None
    links: tuple[Link, ...] = ()
    source: Source | None = None
    inferred: bool | None = None
    part: Slice | None = None
    needs: tuple[str, ...] = ()


class Defined(Event, frozen=True, kw_only=True, tag="defined"):
    """The contract of a task; again when amended."""

    definition: Text


class Claimed(Event, frozen=True, kw_only=True, tag="claimed"):
    """An actor accepts one definition. A `releases` link names a claim whose place this one takes.

    `holder` is somebody to whom the actor gives the task: until that one claims it too, it is known by name alone.
    """

    definition_id: BlobId | None = None
    lease_until: int | None = None
    holder: Actor | None = None


class Released(Event, frozen=True, kw_only=True, tag="released"):
    """A claim ends. A `releases` link names the claim; without one, it is every claim of this actor."""

    definition_id: BlobId | None = None
    lease_until: int | None = None


class Moved(Event, frozen=True, kw_only=True, tag="moved"):
    """The status changed; at an end the outcome says what came of it."""

    status: str
    reason: Text | None = None
    outcome: Text | None = None


class Checked(Event, frozen=True, kw_only=True, tag="checked"):
    """A checklist item of one definition is done, or not; `item` counts from 0."""

    item: int
    done: bool
    definition_id: BlobId | None = None


class Prompted(Event, frozen=True, kw_only=True, tag="prompted"):
    """An instruction was given."""

    text: Text


class Decided(Event, frozen=True, kw_only=True, tag="decided"):
    """A decision, apart from any prompt."""

    text: Text


class Noted(Event, frozen=True, kw_only=True, tag="noted"):
    """Anything else worth keeping."""

    topic: str | None = None
    text: Text | None = None


class _Step(Event, frozen=True, kw_only=True, omit_defaults=True):
    """The fields that one tool call and one recorded command share. `ok` is absent if the end was never seen."""

    class_: str = field(name="class")
    call_id: str | None = None
    ok: bool | None = None
    duration_ms: int | None = None
    changes: tuple[Change, ...] = ()
    coverage: str | None = None
    coverage_reason: str | None = None
    base: Base | None = None
    env: Text | None = None
    usage: Usage | None = None
    effects: str | None = None


class Stepped(_Step, frozen=True, kw_only=True, tag="stepped"):
    """One tool call."""

    tool: str
    input: Text | None = None
    output: Text | None = None


class Ran(_Step, frozen=True, kw_only=True, tag="ran"):
    """A recorded command."""

    tool: str
    argv: Text
    stdout: Text | None = None
    stderr: Text | None = None
    cwd: Path | None = None
    exit_code: int | None = None
    inputs: tuple[Path, ...] = ()
    outputs: tuple[Path, ...] = ()


class Refused(Event, frozen=True, kw_only=True, tag="refused"):
    """A contract denied an action."""

    rule: str
    tool: str | None = None
    paths: tuple[Path, ...] = ()


class Observed(Event, frozen=True, kw_only=True, tag="observed"):
    """The work tree changed outside any recorded step; `during` names the calls that were open."""

    changes: tuple[Change, ...] = ()
    coverage: str | None = None
    coverage_reason: str | None = None
    base_from: Base | None = None
    base: Base | None = None
    during: tuple[str, ...] = ()


class Committed(Event, frozen=True, kw_only=True, tag="committed"):
    """A git commit that carries this task's work. Oids are `sha1_<hex>` or `sha256_<hex>`."""

    commit: str
    tree: str | None = None
    commit_parents: tuple[str, ...] = ()


class Reviewed(Event, frozen=True, kw_only=True, tag="reviewed"):
    """A verdict on named events, or on the definition that a `blob` id names."""

    verdict: str
    of: tuple[str, ...] = ()
    text: Text | None = None


class RolledBack(Event, frozen=True, kw_only=True, tag="rolled_back"):
    """The effects of the targets were taken out of the work tree."""

    targets: tuple[EventId, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    strategy: str | None = None
    changes: tuple[Change, ...] = ()


class Restored(Event, frozen=True, kw_only=True, tag="restored"):
    """The work tree was made equal to a point, or (strategy `undo`) our last operation was taken back."""

    targets: tuple[EventId, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    strategy: str | None = None
    changes: tuple[Change, ...] = ()


class Replayed(Event, frozen=True, kw_only=True, tag="replayed"):
    """Recorded effects were applied again and checked."""

    targets: tuple[EventId, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    strategy: str | None = None
    changes: tuple[Change, ...] = ()


class Signed(Event, frozen=True, kw_only=True, tag="signed"):
    """A signature over the event ids it names, one a line."""

    of: tuple[EventId, ...]
    key: str
    sig: str


class Joined(Event, frozen=True, kw_only=True, tag="joined"):
    """Two or more heads became one. A pure function of its parents, so that every clone makes the same one."""


class Redacted(Event, frozen=True, kw_only=True, tag="redacted"):
    """Named contents are gone; the hunks keep blame whole."""

    blobs: tuple[BlobId, ...]
    reason: str
    hunks: tuple[ErasedChange, ...] = ()


KINDS: dict[str, type[Event]] = {
    str(kind.__struct_config__.tag): kind
    for kind in (
        Defined, Claimed, Released, Moved, Checked, Prompted, Decided, Noted, Stepped, Ran, Refused, Observed,
        Committed, Reviewed, RolledBack, Restored, Replayed, Signed, Joined, Redacted,
    )
}  # fmt: skip
"""Every kind of event that this version understands, by its name."""

AnyEvent = (
    Defined | Claimed | Released | Moved | Checked | Prompted | Decided | Noted | Stepped | Ran | Refused | Observed
    | Committed | Reviewed | RolledBack | Restored | Replayed | Signed | Joined | Redacted
)  # fmt: skip
"""The same kinds as a union, so that the type checker names every `match` that lacks one."""


def kind_of(event: Event) -> str:
    """Returns the name of an event's kind."""
    return str(type(event).__struct_config__.tag)


class Opaque(Struct, frozen=True, kw_only=True):
    """An event that needs a newer reader: carried, ordered and pushed on, never interpreted."""

    v: int
    task: TaskId
    kind: str
    clock: int
    time: int
    parents: tuple[EventId, ...] = ()
    offset: int = 0
    actor: Actor | None = None
    needs: tuple[str, ...] = ()


class Sealed(Struct, frozen=True):
    """An event with its canonical bytes and the id they give."""

    event_id: EventId
    canonical: bytes
    event: Event | Opaque


class ChecklistItem(_Part, frozen=True, kw_only=True):
    """One thing to be done; `done` is what the definition itself says, before any `checked` event."""

    text: str
    done: bool | None = None
    extra: "tuple[Extra, ...]" = ()


class Extra(_Part, frozen=True, kw_only=True):
    """A field that this format has no name for. A scalar is its literal text; nothing at all stands for null."""

    name: str
    value: str | None = None
    items: "tuple[Extra, ...] | None" = None
    """A list: its items have empty names."""
    fields: "tuple[Extra, ...] | None" = None
    """A mapping, in its own order."""


class Globs(_Part, frozen=True, kw_only=True):
    """What is allowed and what is denied; `None` allows everything, an empty list nothing."""

    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()


class Budget(_Part, frozen=True, kw_only=True):
    """How much may be spent."""

    tokens: int | None = None
    cost_micro_usd: int | None = None
    minutes: int | None = None
    changed_lines: int | None = None


class Definition(_Part, frozen=True, kw_only=True):
    """What a task is to be: the text that a `defined` event names, as canonical JSON."""

    title: str
    intent: str | None = None
    description: str | None = None
    category: str | None = None
    priority: str | None = None
    tags: tuple[str, ...] = ()
    checklist: tuple[ChecklistItem, ...] = ()
    inputs: tuple[str, ...] = ()
    context_files: tuple[str, ...] = ()
    related_files: tuple[str, ...] = ()
    estimate_minutes: int | None = None
    issue: str | None = None
    aliases: tuple[str, ...] = ()
    extra: tuple[Extra, ...] = ()
    scope: Globs | None = None
    commands: Globs | None = None
    budget: Budget | None = None
    checks: tuple[str, ...] = ()
    approvals: int | None = None
