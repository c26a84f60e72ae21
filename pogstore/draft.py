"""What an importer or a hook has seen, before its texts were redacted, hashed and stored.

Not a part of the format. Knows the model and nothing of storage.
"""

from uuid import UUID, uuid5

from msgspec import Struct, field

from pogstore.model import Actor, Definition, Link, Path, Source, TaskId

NAMESPACE = UUID("4342153b-ed3b-4426-8be4-b1d8a43778d0")
"""The namespace of the UUIDv5 of task ids that are derived. Drawn once at random; it never changes."""


def derived_task_id(format: str, repository: str, raw_id: str) -> TaskId:  # noqa: A002 - the field of Source
    """Returns the task id that stands for a foreign id which is no UUID: the same in every clone and at every import.

    `repository` is the oid of the lowest root commit of the source repository, empty where there is none.
    """
    return TaskId(str(uuid5(NAMESPACE, "\0".join((format, repository, raw_id.lower())))))


def session_task_id(agent: str, session: str) -> TaskId:
    """Returns the task id of an agent's session: the same for its hooks, for every import and in every clone."""
    return TaskId(str(uuid5(NAMESPACE, f"{agent}\0{session}")))


class FileVersion(Struct, frozen=True, kw_only=True):
    """A file as it was seen: its mode and its bytes."""

    mode: str
    data: bytes


class DraftChange(Struct, frozen=True, kw_only=True):
    """One path before and after, with the bytes at hand."""

    path: Path
    from_: Path | None = None
    before: FileVersion | None = None
    after: FileVersion | None = None


class DraftText(Struct, frozen=True, kw_only=True):
    """A text that is not stored yet."""

    text: str
    class_: str
    once: bool = False
    """Whether an equal text that the task has named of late is named again: environments hardly ever change."""


class Draft(Struct, frozen=True, kw_only=True):
    """What a source says happened: an event before its place in a task is known.

    `fields` are the kind's own fields that need no storing (JSON-like values); `texts` and `changes` are those that do.
    """

    kind: str
    time: int
    offset: int = 0
    actor: Actor
    fields: dict[str, object] = field(default_factory=dict)
    texts: dict[str, DraftText] = field(default_factory=dict)
    changes: tuple[DraftChange, ...] = ()
    links: tuple[Link, ...] = ()
    source: Source | None = None
    raw: DraftText | None = None
    inferred: bool | None = None
    definition: Definition | None = None
    """For kind `defined`: what the intake encodes and stores as the text `definition`."""
    definition_class: str = "content"
    """The class of that text: `private` for an agent's session until a person names or shares its task."""
    versioned: bool = False
    """Whether the source may say something else under the same key later (a file that is edited)."""


class TaskDrafts(Struct, frozen=True, kw_only=True):
    """The drafts of one task, in the order in which its source tells them."""

    task: TaskId
    drafts: tuple[Draft, ...]


class Oddity(Struct, frozen=True, kw_only=True):
    """Something in a source that is not as it should be, and was taken all the same."""

    code: str
    where: str
    detail: str
