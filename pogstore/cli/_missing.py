"""What was not captured, in words: why, and what can be done about it."""

from collections.abc import Iterator, Mapping, Sequence

from pogstore.cli._render import counted, safe, when
from pogstore.model import Event, Opaque
from pogstore.store.gaps import UNSAID, Gap
from pogstore.work.acknowledged import Seen
from pogstore.work.spooled import Loss

WHY_LOST = {
    "full": "the disk was full",
    "locked": "the spool was locked for too long",
    "denied": "the system did not let the hook write",
    "elsewhere": "the file is in a repository that is not enabled; run 'git pog init' there too",
    "failed": "the hook failed",
}
_THERE = "'git pog log' there shows it, where 'git pog init' was run there"
WHY_PARTIAL: Mapping[str, tuple[str, str | None]] = {
    "not-compared": (
        "nobody compared the work tree around a command",
        "its edits show as 'observed' at the next step that names the file",
    ),
    "timeout": ("the comparison of the work tree took too long", "'git config pog.lookTimeout' gives it more time"),
    "too-many": ("too many files had changed to look at each", "commit, or let git ignore what is generated"),
    "no-git": ("the hook found no git to ask", "put git on the PATH of the agent"),
    "operation": (
        "a rollback, restore or replay was writing files at the time",
        "if 'git pog status' says that it was interrupted, 'git pog drain' settles it",
    ),
    "failed": ("the comparison of the work tree failed", "'git status' in that work tree may say why"),
    "ignored": ("git ignores the file", "name it in the scope of a task, if it is to be recorded"),
    "outside": ("the file lies outside the repository", None),
    "nested-repository": ("the file is in a repository of its own", _THERE),
    "submodule": ("the file is in a submodule", _THERE),
    "directory": ("there is a directory in the file's place", None),
    "too-large": ("the file is larger than pog.maxBlob", "only hash and size are kept; raise pog.maxBlob to keep more"),
    "unseen": ("the file could not be read", None),
    "unread": ("the file could not be read", None),
    "special": ("what stands there is no file", None),
    "filtered": ("git would not convert the file", "a filter in .gitattributes fails; 'git add --dry-run' may say why"),
    "missing": ("an earlier version of the file is not held here", "'git pog fetch', or 'git fetch' without a filter"),
    "no-head": ("HEAD was not known", None),
    "no-result": (
        "the agent never told the end of the call",
        "it was interrupted, or its hooks were changed meanwhile",
    ),
    "no-before": ("nobody saw the file before the step", None),
    "no-original": ("the import does not hold the file as it was before", None),
    "from-command": ("nobody looked; the command itself tells what it wrote", None),
    "unverified": ("the import does not hold the whole file", None),
    "gap": ("the import lacks what happened in between", None),
    "user-modified": ("a person changed the text before it was written", None),
    "committed-meanwhile": ("a command committed, and git does not tell what of it is whose", None),
    "still-running": ("what the command started was still running when it ended", None),
    "another-call": ("another call was open at the same time", None),
    "shell": ("whoever else saved a file meanwhile cannot be told apart", None),
    UNSAID: ("no reason was recorded", None),
}
"""By the word in `coverage_reason`: why, and what helps if anything does. Other words are shown as they are."""


HOW: Mapping[str, str] = {
    "partial": "recorded in part",
    "none": "effects not seen",
    "shared": "perhaps not all of it is this step's",
}
"""By the word in `coverage`, where a step lacks something."""
_FEW = 3


def lacks(event: Event | Opaque) -> str | None:
    """Returns what an event lacks and why, in words; nothing if it lacks nothing or says nothing of it."""
    how = HOW.get(getattr(event, "coverage", None) or "")
    reason = getattr(event, "coverage_reason", None) or UNSAID
    return f"{how}: {why(reason)}" if how else None


def lacks_shortly(event: Event | Opaque) -> str | None:
    """Returns what an event lacks for certain, in a few words for a line."""
    match getattr(event, "coverage", None):
        case "partial":
            return f"in part: {why(getattr(event, 'coverage_reason', None) or UNSAID)}"
        case "none":
            return "effects not seen"
        case _:
            return None


def why(reason: str) -> str:
    """Returns the reason of a coverage in words; one that has none is shown as it is, escaped."""
    return WHY_PARTIAL.get(reason, (safe(reason), None))[0]


def during(event: Event | Opaque) -> str | None:
    """Returns which calls were open while something was observed; nothing if none was."""
    calls: tuple[str, ...] = getattr(event, "during", ())
    if not calls:
        return None
    named = safe(", ".join(calls[:_FEW])) + (f" and {len(calls) - _FEW} more" if len(calls) > _FEW else "")
    return f"while {'this call was' if len(calls) == 1 else 'these calls were'} open: {named}"


def said_losses(losses: Sequence[Loss], seen: Seen) -> Iterator[str]:
    """Yields a line for each reason for which calls of a hook were lost since a person acknowledged it."""
    for loss in losses:
        if times := seen.new(loss):
            reason = WHY_LOST.get(loss.reason, loss.reason)
            yield f"not recorded: {counted(times, 'hook call')}, last on {when(loss.last)}: {reason}"


def said_gaps(gaps: Sequence[Gap]) -> Iterator[tuple[str, str | None]]:
    """Yields a line for each reason for which steps were recorded in part, or without their effects.

    Beside it stands what can be done about it, each hint once.
    """
    said: set[str | None] = set()
    for gap in gaps:
        _, hint = WHY_PARTIAL.get(gap.reason, ("", None))
        line = f"{HOW[gap.coverage]}: {counted(gap.steps, 'step')}, last on {when(gap.last)}: {why(gap.reason)}"
        yield line, None if hint in said else hint
        said.add(hint)
