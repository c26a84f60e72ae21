"""Who may have changed files while a command line ran that changes none itself: the hooks that git runs. Pure."""

from collections.abc import Sequence

from pogstore.shell.gitwords import git_verb
from pogstore.shell.programs import Run, understand

HOOKS = {
    "commit": ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"),
    "push": ("pre-push",),
}
"""The hooks that a command of git runs which leaves the work tree alone itself."""
_QUIET = frozenset(
    (
        *("add", "branch", "config", "diff", "fetch", "log", "ls-files", "notes", "remote", "rev-parse", "show"),
        *("status", "tag", *HOOKS),
    )
)
"""The commands of git that change no file of the work tree."""
_READERS = frozenset(
    (
        *("cat", "cd", "echo", "false", "grep", "head", "ls", "printf", "pwd", "sort", "tail", "test", "true", "uniq"),
        *("wc", "[", ":"),
    )
)
"""Other programs that change no file but what they are redirected to."""


def git_hooks_of(command: str) -> Sequence[str]:
    """Returns the hooks that git may have run in a command line; none if anything else may have changed a file."""
    doings = understand(command)
    if doings.fault or doings.writes:
        return ()
    found: list[str] = []
    for run in doings.runs:
        verb = _verb(run)
        if verb is None:
            return ()
        found += HOOKS.get(verb, ())
    return tuple(dict.fromkeys(found))


def _verb(run: Run) -> str | None:
    """Returns the command that git is given, nothing for a program that only reads; `None` for any other."""
    name = run.words[0].text if run.words and run.words[0].known else ""
    if name in _READERS:
        return ""
    verb = git_verb(run.words[1:])[0] if name == "git" else ""
    return verb if verb in _QUIET else None
