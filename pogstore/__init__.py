"""pogstore: a git-native, content-addressed record of the work of AI agents.

    import pogstore

    store = pogstore.open(".")
    with store.task("Parse dates", by="robot") as task, task.step("format", paths=["src/parser.py"]) as step:
        step.output = format_file("src/parser.py")
    for line in pogstore.blame(store, b"src/parser.py").lines:
        print(line.number, line.owner, line.task)

The face of the package: `open`, the structs, the errors and the verbs. Whatever is not in `__all__` may change at any
time. A name is imported when it is first used, so that `import pogstore` costs nothing.
"""

TYPE_CHECKING = False  # what type checkers take it for; the module `typing` would cost more than all else here

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike
    from typing import Any

    from pogstore.draft import (
        Draft,
        DraftChange,
        DraftText,
        FileVersion,
        TaskDrafts,
    )
    from pogstore.errors import (
        AlreadyClaimed,
        AmbiguousName,
        BadInput,
        CannotRun,
        ClaimOutdated,
        Conflict,
        GitFailed,
        IllegalTransition,
        Incomplete,
        LinkCycle,
        LockHeld,
        NoSuchProgram,
        NotAFile,
        NotARepository,
        NotCanonical,
        NotEnabled,
        NotFound,
        NotHeld,
        NoWorkTree,
        ObjectDamaged,
        OutsideDomain,
        PlanMoved,
        PogError,
        RefusedByPolicy,
        RemoteFailed,
        StaleRef,
        TaskEnded,
        UnsafePath,
        UnsupportedRepository,
        WorkTreeFailed,
    )
    from pogstore.history.blame import (
        Blame,
        BlamedLine,
        blame,
    )
    from pogstore.history.lineage import (
        Edge,
        FileLine,
        Lineage,
        Node,
        Walk,
        lineage,
    )
    from pogstore.history.names import (
        Named,
    )
    from pogstore.history.plans import (
        Done,
        Obstacle,
        Plan,
        digest_of,
    )
    from pogstore.history.replay import (
        Replay,
    )
    from pogstore.history.replayed_branch import (
        ReplayedBranch,
        replay_branch,
    )
    from pogstore.history.replayed_directory import (
        ReplayedDirectory,
        replay_directory,
    )
    from pogstore.history.rollback import (
        apply_rollback,
        apply_undo,
        plan_rollback,
        plan_undo,
    )
    from pogstore.history.tasks import (
        Summary,
        summaries,
    )
    from pogstore.history.verify import (
        Fault,
        Report,
        verify,
    )
    from pogstore.history.why import (
        Chain,
        why,
    )
    from pogstore.model import (
        Actor,
        Base,
        BlobId,
        Budget,
        Change,
        Checked,
        ChecklistItem,
        Claimed,
        Committed,
        Decided,
        Defined,
        Definition,
        ErasedChange,
        Event,
        EventId,
        Extra,
        Globs,
        Hunk,
        Joined,
        Link,
        Moved,
        Noted,
        Observed,
        OddPath,
        Oid,
        Opaque,
        Outcome,
        Path,
        Person,
        Prompted,
        Ran,
        Redacted,
        Refused,
        Released,
        Replayed,
        Restored,
        Reviewed,
        RolledBack,
        Sealed,
        Side,
        Signed,
        Slice,
        Source,
        Stepped,
        TaskId,
        Text,
        Usage,
    )
    from pogstore.state import (
        TaskState,
    )
    from pogstore.work.acts import (
        By,
        read_state,
    )
    from pogstore.work.claims import (
        claim,
        claim_first,
        release,
        start,
    )
    from pogstore.work.intake import (
        Taken,
    )
    from pogstore.work.recorder import (
        RecordedStep,
        RecordedTask,
    )
    from pogstore.work.recorder import (
        Recorder as Store,
    )
    from pogstore.work.tasks import (
        check,
        decide,
        define,
        move,
        new_task_id,
        note,
        review,
        share,
    )

__all__ = [
    "Actor",
    "AlreadyClaimed",
    "AmbiguousName",
    "BadInput",
    "Base",
    "Blame",
    "BlamedLine",
    "BlobId",
    "Budget",
    "By",
    "CannotRun",
    "Chain",
    "Change",
    "Checked",
    "ChecklistItem",
    "ClaimOutdated",
    "Claimed",
    "Committed",
    "Conflict",
    "Decided",
    "Defined",
    "Definition",
    "Done",
    "Draft",
    "DraftChange",
    "DraftText",
    "Edge",
    "ErasedChange",
    "Event",
    "EventId",
    "Extra",
    "Fault",
    "FileLine",
    "FileVersion",
    "GitFailed",
    "Globs",
    "Hunk",
    "IllegalTransition",
    "Incomplete",
    "Joined",
    "Lineage",
    "Link",
    "LinkCycle",
    "LockHeld",
    "Moved",
    "Named",
    "NoSuchProgram",
    "NoWorkTree",
    "Node",
    "NotAFile",
    "NotARepository",
    "NotCanonical",
    "NotEnabled",
    "NotFound",
    "NotHeld",
    "Noted",
    "ObjectDamaged",
    "Observed",
    "Obstacle",
    "OddPath",
    "Oid",
    "Opaque",
    "Outcome",
    "OutsideDomain",
    "Path",
    "Person",
    "Plan",
    "PlanMoved",
    "PogError",
    "Prompted",
    "Ran",
    "RecordedStep",
    "RecordedTask",
    "Redacted",
    "Refused",
    "RefusedByPolicy",
    "Released",
    "RemoteFailed",
    "Replay",
    "Replayed",
    "ReplayedBranch",
    "ReplayedDirectory",
    "Report",
    "Restored",
    "Reviewed",
    "RolledBack",
    "Sealed",
    "Side",
    "Signed",
    "Slice",
    "Source",
    "StaleRef",
    "Stepped",
    "Store",
    "Summary",
    "Taken",
    "TaskDrafts",
    "TaskEnded",
    "TaskId",
    "TaskState",
    "Text",
    "UnsafePath",
    "UnsupportedRepository",
    "Usage",
    "Walk",
    "WorkTreeFailed",
    "apply_rollback",
    "apply_undo",
    "blame",
    "check",
    "claim",
    "claim_first",
    "decide",
    "define",
    "digest_of",
    "lineage",
    "move",
    "new_task_id",
    "note",
    "open",
    "plan_rollback",
    "plan_undo",
    "read_state",
    "record",
    "release",
    "replay",
    "replay_branch",
    "replay_directory",
    "review",
    "rollback",
    "share",
    "start",
    "summaries",
    "undo",
    "verify",
    "why",
]

_HOMES = {
    "pogstore.draft": "Draft DraftChange DraftText FileVersion TaskDrafts",
    "pogstore.errors": """
        AlreadyClaimed AmbiguousName BadInput CannotRun ClaimOutdated Conflict GitFailed IllegalTransition Incomplete
        LinkCycle LockHeld NoSuchProgram NoWorkTree NotAFile NotARepository NotCanonical NotEnabled NotFound NotHeld
        ObjectDamaged OutsideDomain PlanMoved PogError RefusedByPolicy RemoteFailed StaleRef TaskEnded UnsafePath
        UnsupportedRepository WorkTreeFailed
    """,
    "pogstore.history.blame": "Blame BlamedLine blame",
    "pogstore.history.lineage": "Edge FileLine Lineage Node Walk lineage",
    "pogstore.history.names": "Named",
    "pogstore.history.plans": "Done Obstacle Plan digest_of",
    "pogstore.history.replay": "Replay",
    "pogstore.history.replayed_branch": "ReplayedBranch replay_branch",
    "pogstore.history.replayed_directory": "ReplayedDirectory replay_directory",
    "pogstore.history.rollback": "apply_rollback apply_undo plan_rollback plan_undo",
    "pogstore.history.tasks": "Summary summaries",
    "pogstore.history.verify": "Fault Report verify",
    "pogstore.history.why": "Chain why",
    "pogstore.model": """
        Actor Base BlobId Budget Change Checked ChecklistItem Claimed Committed Decided Defined Definition
        ErasedChange Event EventId Extra Globs Hunk Joined Link Moved Noted Observed OddPath Oid Opaque Outcome
        Path Person Prompted Ran Redacted Refused Released Replayed Restored Reviewed RolledBack Sealed Side
        Signed Slice Source Stepped TaskId Text Usage
    """,
    "pogstore.state": "TaskState",
    "pogstore.work.intake": "Taken take",
    "pogstore.work.recorder": "RecordedStep RecordedTask Store open_recorder",
    "pogstore.work.acts": "By read_state",
    "pogstore.work.claims": "claim claim_first release start",
    "pogstore.work.tasks": "check decide define move new_task_id note review share",
}
_RENAMED = {"Store": "Recorder"}
_BEHIND = {"resolve_task": "pogstore.history.names", "replay_of": "pogstore.history.replay"}
_WHERE = _BEHIND | {name: module for module, names in _HOMES.items() for name in names.split()}


def open(path: "str | PathLike[str]" = ".", env: "dict[str, str] | None" = None) -> "Store":  # noqa: A001 - of every store
    """Opens the store of the repository that holds a path; raises `NotARepository` or `UnsupportedRepository`.

    `env` is the environment that says where the repository is and who acts, by default that of this process.
    """

    def find_task(store: "Store", name: str) -> "TaskId":
        found: TaskId = __getattr__("resolve_task")(store, name, lambda _: None)
        return found

    opened: Store = __getattr__("open_recorder")(path, env, find_task)
    return opened


def record(store: "Store", drafts: "Iterable[TaskDrafts]") -> "Taken":
    """Records what has just happened: redacts texts, stores contents, appends the events, all in one write.

    What the store holds already, by its source key, is skipped.
    """
    taken: Taken = __getattr__("take")(store, drafts, imported=False)
    return taken


def rollback(store: "Store", named: "Sequence[Named]", by: "By") -> "Done":
    """Takes the effects of events or tasks out of the work tree; raises `Conflict`, with nothing written.

    `plan_rollback` and `apply_rollback` are its two halves, for those who want to look first.
    """
    done: Done = __getattr__("apply_rollback")(store, __getattr__("plan_rollback")(store, named), by)
    return done


def undo(store: "Store", by: "By") -> "Done":
    """Takes back the last rollback or undo made in the work tree of `by`; raises `Conflict`, with nothing written."""
    done: Done = __getattr__("apply_undo")(store, __getattr__("plan_undo")(store, by.worktree), by)
    return done


def replay(store: "Store", named: "Sequence[Named]", onto: "str | None" = None) -> "Replay":
    """Applies the recorded effects of events or tasks again, in replay order, in memory, and checks each of them.

    On the base that was recorded, or onto a revision. Nothing is written; `replay_branch` and `replay_directory` do.
    """
    found: Replay = __getattr__("replay_of")(store, named, onto)
    return found


def __getattr__(name: str) -> "Any":
    """Imports what stands behind a name of the face."""
    from importlib import import_module  # noqa: PLC0415 - here alone, so that importing the face costs nothing

    if name not in _WHERE:
        raise AttributeError(f"module 'pogstore' has no attribute '{name}'")
    found = globals()[name] = getattr(import_module(_WHERE[name]), _RENAMED.get(name, name))
    return found


def __dir__() -> list[str]:
    return __all__
