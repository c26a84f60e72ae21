"""Every error that pogstore raises on purpose.

    PogError
    ├── NotCanonical          bytes that are not the one encoding of an event
    ├── OutsideDomain         a value that canonical bytes cannot hold
    ├── NotFound              no object of that name
    │   └── NotHeld           an actor is to release a task that it has not claimed
    ├── AmbiguousName         several objects match a name
    ├── NotARepository        no git repository here
    ├── UnsupportedRepository a repository this version cannot open
    ├── NotEnabled            `git pog init` was not run here
    ├── NoWorkTree            a work tree is needed and there is none
    ├── GitFailed             git answered with an error
    ├── CannotRun             a command that is to be recorded cannot be started
    │   └── NoSuchProgram     there is no such program
    ├── ObjectDamaged         an object cannot be read, or is not what it claims to be
    ├── StaleRef              a ref moved between reading it and writing it
    ├── LockHeld              another process holds the store's lock for too long
    ├── AlreadyClaimed        somebody else holds the claim of a task
    ├── ClaimOutdated         a task was amended after an actor claimed it, who is to say something about it now
    ├── TaskEnded             a task that is completed or cancelled is to be claimed
    ├── IllegalTransition     the table of transitions has no such edge
    ├── LinkCycle             a link would close a cycle between tasks
    ├── BadInput              input that cannot be used, with the place and the reason
    ├── UnsafePath            a path that may not be written
    ├── Conflict              a plan that cannot be carried out, with the paths in the way
    │   └── NotAFile          a directory, a FIFO or a device stands where a file is looked for
    ├── PlanMoved             what a plan relied on has changed since it was shown
    ├── WorkTreeFailed        the system refused to read or write a file of the work tree
    ├── Incomplete            an answer needs something this reader lacks
    ├── RefusedByPolicy       the contract or a policy says no
    └── RemoteFailed          an exchange with a remote failed, wholly or for some refs

An error keeps its fields; its message is git's style (lower case, no full stop, the name in single quotes)
and its hint stands apart. `code` is stable and `exit_status` is what the command line answers.
Imports nothing of ours.
"""

from collections.abc import Sequence
from typing import ClassVar


class PogError(Exception):
    """The base of all errors of this package: a message, and apart from it a hint."""

    code: ClassVar[str] = "error"
    exit_status: ClassVar[int] = 128
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class NotCanonical(PogError):
    """Bytes that are not the one encoding of an event."""

    code = "not-canonical"
    exit_status = 3

    def __init__(self, reason: str) -> None:
        super().__init__(f"not canonical: {reason}")
        self.reason = reason


class OutsideDomain(PogError):
    """A value that canonical bytes cannot hold."""

    code = "outside-domain"

    def __init__(self, reason: str) -> None:
        super().__init__(f"cannot be encoded: {reason}")
        self.reason = reason


class NotFound(PogError):
    """No object of that name."""

    code = "not-found"

    def __init__(self, noun: str, name: str, hint: str | None = None) -> None:
        super().__init__(f"no {noun}" + ("" if name == "@" else f" matches '{name}'"), hint)
        self.noun, self.name = noun, name


class NotHeld(NotFound):
    """An actor is to release a task that it has not claimed."""

    def __init__(self, task: str) -> None:
        super().__init__("claim", task)
        self.message = f"you hold no claim of task '{task}'"
        self.hint = "'--claim EVENT' ends that of somebody else"


class AmbiguousName(PogError):
    """Several objects match a name."""

    code = "ambiguous"

    def __init__(self, name: str, candidates: Sequence[str]) -> None:
        shown = ", ".join(candidates[:8]) + (", …" if len(candidates) > 8 else "")
        super().__init__(f"'{name}' is ambiguous", f"it may be {shown}")
        self.name, self.candidates = name, tuple(candidates)


class NotARepository(PogError):
    """No git repository at a path or above it."""

    code = "not-a-repository"

    def __init__(self, path: str, reason: str | None = None) -> None:
        super().__init__(f"not a git repository: '{path}'" + (f": {reason}" if reason else ""))
        self.path = path


class UnsupportedRepository(PogError):
    """A repository whose format this version cannot open; nothing was written."""

    code = "unsupported-repository"

    def __init__(self, path: str, feature: str) -> None:
        super().__init__(f"cannot work in '{path}': {feature} is not supported yet")
        self.path, self.feature = path, feature


class NotEnabled(PogError):
    """Nothing is recorded in a repository before `git pog init`."""

    code = "not-enabled"

    def __init__(self) -> None:
        super().__init__("pogstore is not enabled in this repository", "run 'git pog init' first")


class NoWorkTree(PogError):
    """An operation on files in a repository without a work tree."""

    code = "no-work-tree"

    def __init__(self) -> None:
        super().__init__("this operation must be run in a work tree")


class GitFailed(PogError):
    """Git answered a command with an error."""

    code = "git-failed"

    def __init__(self, command: str, status: int, stderr: str) -> None:
        detail = [line for line in stderr.strip().splitlines() if not line.startswith("hint:")]
        super().__init__(f"git {command} failed with status {status}" + (f": {detail[-1]}" if detail else ""))
        self.command, self.status, self.stderr = command, status, stderr


class CannotRun(PogError):
    """A command that is to be recorded cannot be started; nothing ran. Its exit status is a shell's."""

    code = "cannot-run"
    exit_status = 126

    def __init__(self, program: str, reason: str) -> None:
        super().__init__(f"cannot run '{program}': {reason}", "nothing ran, and nothing is recorded")
        self.program, self.reason = program, reason


class NoSuchProgram(CannotRun):
    """The program of a command that is to be recorded does not exist."""

    exit_status = 127

    def __init__(self, program: str) -> None:
        super().__init__(program, "there is no such program")


class ObjectDamaged(PogError):
    """An object that cannot be read, or that is not what it claims to be."""

    code = "damaged"
    exit_status = 3

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"object '{name}' is damaged: {reason}", "run 'git pog verify' to see what is lost")
        self.name, self.reason = name, reason


class StaleRef(PogError):
    """A ref moved between reading it and writing it."""

    code = "stale-ref"
    retryable = True

    def __init__(self, ref: str, expected: str | None, found: str | None) -> None:
        super().__init__(f"ref '{ref}' moved", "read it again, then retry")
        self.ref, self.expected, self.found = ref, expected, found


class LockHeld(PogError):
    """Another process kept the store's lock, or git's lock of a ref, for too long."""

    code = "lock-held"
    retryable = True

    def __init__(self, path: str, seconds: float) -> None:
        hint = "another git pog is writing; try again"
        if path.startswith("refs/"):  # git's own locks are files, which whoever is killed leaves behind
            hint = f"another git is writing; if none is, one was killed: remove '{path}.lock' in the git directory"
        super().__init__(f"could not lock '{path}' within {seconds:g} s", hint)
        self.path, self.seconds = path, seconds


class AlreadyClaimed(PogError):
    """Somebody else holds the claim of a task."""

    code = "already-claimed"
    exit_status = 1

    def __init__(self, task: str, holder: str, *, is_own: bool = False) -> None:
        hint = "that is you; 'git pog claim --renew' takes a new lease" if is_own else None
        super().__init__(f"task '{task}' is claimed by '{holder}'", hint)
        self.task, self.holder = task, holder


class ClaimOutdated(PogError):
    """A task was amended after an actor had claimed it, and what it is about to say is about the new definition."""

    code = "claim-outdated"
    exit_status = 1

    def __init__(self, task: str) -> None:
        hint = f"'git pog show {task}' shows it as it is now, 'git pog claim {task}' accepts that"
        super().__init__(f"task '{task}' was amended after you claimed it", hint)
        self.task = task


class TaskEnded(PogError):
    """A task at an end is to be claimed."""

    code = "task-ended"
    exit_status = 1

    def __init__(self, task: str, status: str) -> None:
        super().__init__(f"task '{task}' is {status}", f"re-open it with 'git pog start {task[:8]}'")
        self.task, self.status = task, status


class IllegalTransition(PogError):
    """The table of transitions has no edge between two statuses."""

    code = "illegal-transition"
    exit_status = 1

    def __init__(self, task: str, old: str, new: str, legal: Sequence[str], *, start_first: bool = False) -> None:
        hint = f"from '{old}' it can move to {', '.join(sorted(legal))}" if legal else None
        if start_first:
            hint = f"'git pog start {task}' comes first; {hint}"
        super().__init__(f"task '{task}' cannot move from '{old}' to '{new}'", hint)
        self.task, self.old, self.new = task, old, new


class LinkCycle(PogError):
    """A link that would close a cycle between tasks."""

    code = "link-cycle"
    exit_status = 1

    def __init__(self, task: str, rel: str, other: str) -> None:
        hint = f"'git pog lineage {other}' shows how the two are linked" if other != task else None
        super().__init__(f"link {rel} from '{task}' to '{other}' would close a cycle", hint)
        self.task, self.rel, self.other = task, rel, other


class BadInput(PogError):
    """Input that cannot be used: where it stands and why."""

    code = "bad-input"

    def __init__(self, where: str, reason: str, hint: str | None = None) -> None:
        super().__init__(f"{where}: {reason}", hint)
        self.where, self.reason = where, reason


class UnsafePath(PogError):
    """A path that may not be written, whatever it holds."""

    code = "unsafe-path"
    exit_status = 4

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"will not write '{path}': {reason}")
        self.path, self.reason = path, reason


class Conflict(PogError):
    """A plan that cannot be carried out; nothing was written."""

    code = "conflict"
    exit_status = 1

    def __init__(self, message: str, paths: Sequence[str], hint: str | None = None) -> None:
        super().__init__(message, hint)
        self.paths = tuple(paths)


class NotAFile(Conflict):
    """Something stands at a path that is neither a regular file nor a symbolic link."""

    code = "not-a-file"

    def __init__(self, path: str, found: str) -> None:
        super().__init__(f"'{path}' is a {found}, not a file", [path])
        self.path, self.found = path, found


class PlanMoved(PogError):
    """A plan is not the one that was shown: what it relied on has changed since; nothing was written."""

    code = "plan-moved"
    exit_status = 1

    def __init__(self, expected: str, found: str, hint: str | None = None) -> None:
        super().__init__(
            f"the plan is not '{expected}' any more: files or events changed since it was shown",
            hint or f"nothing was written; '--dry-run' shows the plan as it is now, {found}",
        )
        self.expected, self.found = expected, found


class WorkTreeFailed(PogError):
    """The system refused to read or write a file of the work tree; `left` names what could not be put back."""

    code = "work-tree-failed"

    def __init__(self, path: str, reason: str, left: Sequence[str] = ()) -> None:
        hint = f"the former contents are kept in {', '.join(left)}" if left else None
        super().__init__(f"cannot read or write '{path}': {reason}", hint)
        self.path, self.reason, self.left = path, reason, tuple(left)


class Incomplete(PogError):
    """An answer needs something that this reader lacks."""

    code = "incomplete"
    exit_status = 1

    def __init__(self, what: str, reason: str) -> None:
        super().__init__(f"{what} is incomplete: {reason}")
        self.what, self.reason = what, reason


class RefusedByPolicy(PogError):
    """A policy says no."""

    code = "refused"
    exit_status = 4


class RemoteFailed(PogError):
    """An exchange with a remote failed, wholly or for some refs."""

    code = "remote-failed"
    exit_status = 1
    retryable = True

    def __init__(self, remote: str, reason: str, refs: Sequence[str] = ()) -> None:
        super().__init__(f"remote '{remote}': {reason}")
        self.remote, self.reason, self.refs = remote, reason, tuple(refs)
