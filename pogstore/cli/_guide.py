"""What the reference and the manual page say beside the commands: names, JSON, exit statuses, variables, settings."""

from collections.abc import Mapping

from pogstore.cli._shapes import ERROR

Terms = Mapping[str, str]

SUMMARY = "record, blame, roll back and share the work of AI agents"

DESCRIPTION = """\
Git records commits. pogstore records what led to them: **tasks** with an intent, limits and an outcome, and the
**events** of each, down to the single tool call of an agent. They are kept in the repository itself, under `refs/pog/`,
and travel by push and fetch. Nothing is recorded before `git pog init`, and no command touches index, HEAD, branches or
hooks."""

NAMES: Terms = {
    "01a22ece": "the beginning of the id of a task or an event, four digits or more; if several match, they are listed",
    "PROJ-123": "an alias of a task",
    "@": "the active task: `POG_TASK`, else the one that was started last in this work tree, until it ends",
    "@{-1}": "the one that was active before",
    "TASK@{3}": "the third last event of a task; 1 is the last",
    "TASK@{2026-11-30}": "the last event of a task on or before a day, or before a time such as `2026-11-30T12:00`",
    "--": "ends options and revisions: what follows are files",
}
TEXTS = """\
Where `TEXT|-` is asked for, `-` stands for standard input. What looks like a secret (keys, tokens, passwords in URLs)
is replaced before it is stored."""

JSON = f"""\
With `--json` a command prints one JSON value and nothing else, `[]` if there is nothing; `log --jsonl` prints one value
a line. An error is one value on standard error, `{ERROR}`, where `code` is stable and `hint` may be null. Fields may be
added and are never taken away."""

SHAPES_OF_JSON = """\
In the shapes below `a?` is there sometimes, `…` stands for more fields, and `|` for either."""

EXITS: Terms = {
    "0": "done",
    "1": "a negative answer: a conflict, a claim that somebody else holds, no task that is ready",
    "3": "the store is damaged",
    "4": "refused by policy",
    "128": "cannot: no repository, no such task, a failure of the system",
    "129": "wrong usage",
    "130": "interrupted",
}
ENVIRONMENT: Terms = {
    "POG_TASK": "the active task, whatever the work tree is on",
    "POG_ACTOR": "who acts, as `--as`",
    "POG_SESSION": "the session of that actor",
    "POG_DISABLE": "if set to anything but 0, nothing is recorded: hooks stay silent, commands that would are refused",
    "POG_DEBUG": "if set, an unexpected error shows where it came from",
    "POG_NOW": "the time in µs since the epoch, in the place of the clock",
    "CLAUDE_CONFIG_DIR": "where Claude Code keeps your own settings, by default `~/.claude`",
    "NO_COLOR": "if set, nothing is coloured",
    "GIT_DIR, GIT_WORK_TREE": "the repository, as for git; in a git hook the place where the command runs comes first",
    "GIT_AUTHOR_NAME, GIT_AUTHOR_EMAIL": "the person who acts; else `user.name` and `user.email`",
    "GIT_PAGER, PAGER": "the pager, as for git",
}
SETTINGS: Terms = {
    "pog.enabled": "whether anything is recorded here; `git pog init` sets it",
    "pog.maxBlob": "the largest content in bytes that is stored, by default 16 MiB; of larger ones hash and size are; "
    "a larger text that you type is refused",
    "pog.fsync": "whether what is written is synced to disk at once, by default true",
    "pog.envTools": "the tools whose versions are recorded with commands, by default python3, node, go, cargo, gcc "
    "and git",
    "pog.envAllow": "the variables that are recorded with commands, in the place of a short list of ours; none that "
    "looks like a secret is",
    "pog.local": "a task that never leaves; `git pog local` sets it",
    "pog.redact": "a rule of your own for what is redacted: a text, or `regex:` and an expression",
    "pog.allowSecret": "a content that may be pushed although it looks like a secret",
    "pager.pog": "whether long output is paged, and how",
    "color.pog": "whether output is coloured: always, auto or never; by default as `color.ui` says",
}
