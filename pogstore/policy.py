"""Is this action inside the contract? Judges paths that the caller has resolved, and programs as a shell starts them.

A contract is several limits that hold together: what one of them forbids is forbidden. Knows no storage, no agents, no
clock and no disk. Lies on the path of a hook where a contract was compiled, so that it takes no module but our own.
"""

from pogstore.commands import allows, denies
from pogstore.globs import matches, may_hold, plainer
from pogstore.shell.gitwords import git_verb, odd_setting
from pogstore.shell.programs import Doings, Run, understand
from pogstore.shell.words import Word

TYPE_CHECKING = False  # what type checkers take it for; see `pogstore/__init__.py`

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Resolve = Callable[[Sequence[str]], Iterable[str]]

PATH, COMMAND, UNREAD, ENVIRONMENT, LIMITS = "path", "command", "not-understood", "environment", "limits"
BUDGET, NO_TASK, CLAIM_LOST, LEASE_OVER = "budget", "no-task", "claim-lost", "lease-over"
RULES = (PATH, COMMAND, UNREAD, ENVIRONMENT, LIMITS, BUDGET, NO_TASK, CLAIM_LOST, LEASE_OVER)
"""The rules that an answer names."""

BUILTINS = frozenset((
    *(":", "[", "[[", "cd", "declare", "echo", "exit", "export", "false", "local", "printf", "pwd", "readonly"),
    *("return", "test", "true", "typeset", "wait"),
))  # fmt: skip
"""What a shell does itself, which starts no program and writes no file: it needs no permission."""
HARMLESS = frozenset(("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"))
"""What may be written to under any contract."""
GUARDED = (
    *("**/.git", "**/.git/**", ".pog.toml", "**/.claude/settings*.json", "**/.claude/hooks/**", "**/.codex/hooks.json"),
    *("**/.codex/config.toml", "**/.gemini/settings.json", "**/.cursor/hooks.json", ".github/hooks/**"),
    *("**/.opencode/plugin*/**", "**/opencode.json*"),
)
"""What no contract lets an agent change: from there it could take its own limits away."""
OWN_VERBS = frozenset((
    *("blame", "block", "check", "completion", "context", "decide", "diff", "done", "env", "help", "lineage", "list"),
    *("log", "note", "point", "points", "ready", "record", "run", "search", "show", "stats", "status", "trace"),
    *("verify", "version", "why"),
))  # fmt: skip
"""The verbs of `git pog` that an agent may use under a contract: none of them can change what holds for it."""
_BEGINNING = frozenset(("start", "claim", "next", "new"))
"""The verbs that begin a task."""
_READS_CONFIG = frozenset(("--get", "--get-all", "--get-regexp", "--get-urlmatch", "--list", "-l"))
_WRITES_CONFIG = frozenset(("--add", "--edit", "-e", "--replace-all", "--unset", "--unset-all", "--rename-section"))
_SCOPES = frozenset(
    ("--local", "--global", "--system", "--worktree", "--show-origin", "--show-scope", "--type", "--bool")
)
_ONLY_LOOKS = frozenset(("--json", "--staged", "--strict", "--summary", "-h", "--help"))
"""Options of `next` and `gate` with which they only look."""
_READERS = frozenset(("cat", "echo", "grep", "head", "less", "ls", "printf", "rg", "tail", "test", "wc", "[", "git"))
_READS_REFS = frozenset((
    *("blame", "cat-file", "commit", "diff", "for-each-ref", "grep", "log", "ls-files", "ls-remote", "ls-tree", "pog"),
    *("rev-list", "rev-parse", "shortlog", "show", "show-ref"),
))  # fmt: skip
"""What may be told of the records that we keep, since it only reads."""
_CHANGES_PROGRAMS = (
    *("BASH_ENV", "CDPATH", "EDITOR", "ENV", "IFS", "LESSOPEN", "PAGER", "PATH", "PERL5LIB", "PERL5OPT", "PS4"),
    *("RUBYOPT", "SHELLOPTS", "VISUAL", "BASHOPTS", "JAVA_TOOL_OPTIONS", "NODE_OPTIONS", "POSIXLY_CORRECT"),
    *("GOFLAGS", "MAKEFILES", "MAKEFLAGS", "PROMPT_COMMAND", "PYTEST_ADDOPTS", "PYTEST_PLUGINS", "RUSTC_WRAPPER"),
)
_TAME = ("GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONUNBUFFERED")
_TAME_BY_PREFIX = ("GIT_AUTHOR_", "GIT_COMMITTER_")
_TAME_VALUES = {
    **dict.fromkeys(("PAGER", "GIT_PAGER"), ("cat",)),
    **dict.fromkeys(("EDITOR", "VISUAL", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR"), ("true", ":")),
}
_CHANGES_BY_PREFIX = ("BASH_FUNC", "DYLD_", "GIT_", "LD_", "PYTHON")


class Limits:
    """One set of limits, and where it comes from. An `allow` of `None` allows all, an empty one nothing."""

    __slots__ = ("allow", "command_allow", "command_deny", "deny", "source")

    def __init__(
        self,
        source: str,
        *,
        allow: "Sequence[str] | None" = None,
        deny: "Sequence[str]" = (),
        command_allow: "Sequence[str] | None" = None,
        command_deny: "Sequence[str]" = (),
    ) -> None:
        self.source, self.allow, self.deny = source, allow, deny
        self.command_allow, self.command_deny = command_allow, command_deny

    @property
    def on_paths(self) -> bool:
        """Whether not every path may be changed."""
        return self.allow is not None or bool(self.deny)

    @property
    def on_commands(self) -> bool:
        """Whether not every program may run."""
        return self.command_allow is not None or bool(self.command_deny)


class Contract:
    """What holds for one task: its limits, the claim, and what may be spent.

    `fault` says why nobody can tell all that holds. `standing` is empty while the claim stands, else why it does not;
    in the work trees `lost_in`, by their ids, somebody had claimed it who does not hold it now. `budget` has what may
    be spent, and `spent` what is known to be, by the names of a definition; minutes count from `since`. Times are µs
    since the epoch.
    """

    __slots__ = (
        "budget",
        "definition",
        "fault",
        "lease_until",
        "limits",
        "lost_in",
        "since",
        "spent",
        "standing",
        "task",
    )

    def __init__(self, task: str, definition: str = "", limits: "Iterable[Limits]" = ()) -> None:
        self.task, self.definition, self.limits = task, definition, tuple(limits)
        self.fault = self.standing = ""
        self.lost_in: tuple[str, ...] = ()
        self.lease_until = self.since = 0
        self.budget: dict[str, int] = {}
        self.spent: dict[str, int] = {}

    @property
    def on_paths(self) -> bool:
        """Whether not every path may be changed."""
        return any(each.on_paths for each in self.limits)

    @property
    def on_commands(self) -> bool:
        """Whether not every program may run."""
        return any(each.on_commands for each in self.limits)


class Refusal:
    """An action that a contract forbids: by which rule, why, and of which paths."""

    __slots__ = ("paths", "reason", "rule")

    def __init__(self, rule: str, reason: str, paths: "Sequence[str]" = ()) -> None:
        self.rule, self.reason, self.paths = rule, reason, tuple(paths)


def judge_time(contract: Contract, now: int, worktree: str = "") -> Refusal | None:
    """Judges whether anything may be done at all now (µs since the epoch), in the work tree of an id."""
    if contract.fault:
        return Refusal(LIMITS, contract.fault)
    if worktree and worktree in contract.lost_in:
        return Refusal(CLAIM_LOST, "somebody else has claimed the task, in another work tree")
    if contract.standing:
        return Refusal(CLAIM_LOST, contract.standing)
    if contract.lease_until and now >= contract.lease_until:
        return Refusal(LEASE_OVER, "the lease of the claim is over")
    spent = contract.spent | {"minutes": max(now - contract.since, 0) // 60_000_000}
    for name, limit in contract.budget.items():
        if spent.get(name, 0) >= limit:
            return Refusal(BUDGET, f"the budget of {limit} {name.replace('_', ' ')} is spent")
    return None


def judge_paths(contract: Contract, paths: "Iterable[str]") -> Refusal | None:
    """Judges paths that are to be changed, resolved: relative to the root, and absolute if outside of it."""
    for path in paths:
        plain = plainer(path)
        if any(matches(pattern, plain, fold=True) for pattern in GUARDED):
            return Refusal(LIMITS, f"'{path}' is where the limits of agents are kept", [path])
        for limits in contract.limits:
            refusal = _judge_path(limits, path)
            if refusal is not None:
                return refusal
    return None


def _judge_path(limits: Limits, path: str) -> Refusal | None:
    if path.startswith("/"):
        if limits.allow is None or path in HARMLESS:
            return None
        return Refusal(
            PATH, f"'{path}' is outside of the repository; {limits.source} allows {_only(limits.allow)}", [path]
        )
    if any(
        matches(pattern, each, fold=True, anywhere=True) for pattern in limits.deny for each in {path, plainer(path)}
    ):
        return Refusal(PATH, f"'{path}' may not be changed: {limits.source} denies it", [path])
    if limits.allow is not None and not any(matches(pattern, path) for pattern in limits.allow):
        return Refusal(PATH, f"'{path}' is outside the scope of {limits.source}: {_only(limits.allow)}", [path])
    return None


def _only(allow: "Sequence[str]") -> str:
    return "only " + ", ".join(f"'{pattern}'" for pattern in allow[:8]) if allow else "nothing"


def is_ours(text: str) -> bool:
    """Says whether a command line does nothing but call commands of ours that agents may use, such as `done`."""
    return _is_all(text, OWN_VERBS)


def is_beginning(text: str) -> bool:
    """Says whether a command line does nothing but call commands of ours, those that begin a task among them."""
    return _is_all(text, OWN_VERBS | _BEGINNING)


def _is_all(text: str, verbs: frozenset[str]) -> bool:
    doings = understand(text)
    plain = bool(doings.runs) and not (doings.fault or doings.writes or doings.assigned)
    return plain and all(_is_own(run) and _verb(run) in verbs - {"run"} for run in doings.runs)


def _verb(run: Run) -> str:
    return git_verb(run.words[2:])[0]


def judge_command(contract: Contract, text: str, resolve: "Resolve") -> Refusal | None:
    """Judges what a shell is told: each program that it starts, and each file that it writes to by name.

    `resolve` takes the arguments of the `cd`s that lead to a folder, and a path as it is spelled there; it returns the
    paths that this may be, as `judge_paths` takes them.
    """
    doings = understand(text)
    for run in doings.runs:
        refusal = _judge_own(contract, run) or _judge_run(contract, run) or _judge_setting(contract, run)
        if refusal is not None:
            return refusal
    narrow = contract.on_commands or contract.on_paths
    for name, _, value in (each.partition("=") for each in doings.assigned):
        if name.startswith("POG_") or (narrow and _changes_programs(name, value)):
            return Refusal(ENVIRONMENT, f"'{name}' may not be set: it changes what programs do")
    if doings.fault and narrow:
        return Refusal(UNREAD, f"the command is not understood: {doings.fault}")
    return _judge_writes(contract, doings, resolve)


def _changes_programs(name: str, value: str) -> bool:
    if name in _TAME or name.startswith(_TAME_BY_PREFIX) or value in _TAME_VALUES.get(name, ()):
        return False
    return name in _CHANGES_PROGRAMS or name.startswith(_CHANGES_BY_PREFIX)


def _judge_writes(contract: Contract, doings: Doings, resolve: "Resolve") -> Refusal | None:
    for write in doings.writes:
        word = write.word
        if word.known and word.text in HARMLESS:
            continue
        if contract.on_paths and not (word.known and write.wheres and _is_plain(word, contract)):
            shown = _short(word.spelled or word.text)
            told = f", the shell alone knows: '{shown}'" if shown else " is not told by what it is called with"
            return Refusal(UNREAD, f"which file is written to{told}")
        for where in write.wheres if word.known else ():
            paths = list(resolve([*(each.text for each in where), word.text]))
            judged = _denying(contract) if write.maybe else contract
            refusal = judge_paths(judged, paths) or (_judge_whole(contract, paths) if write.whole else None)
            if refusal is not None:
                return refusal
    return None


def _denying(contract: Contract) -> Contract:
    """Returns what denies paths alone, for a word that may be no path at all."""
    return Contract(contract.task, "", [Limits(limits.source, deny=limits.deny) for limits in contract.limits])


def _judge_whole(contract: Contract, paths: "Iterable[str]") -> Refusal | None:
    """Judges folders, which end with a slash or are the root, that go with all that is in them."""
    for limits in contract.limits:
        for path in paths:
            if (path.endswith("/") or path == ".") and any(may_hold(pattern, path) for pattern in limits.deny):
                return Refusal(PATH, f"'{path}' may hold what {limits.source} denies", [path])
    return None


def _is_plain(word: Word, contract: Contract) -> bool:
    """Says whether a word means one file; a glob may pass where nothing is denied and it cannot climb."""
    return not word.glob or (".." not in word.text and not any(limits.deny for limits in contract.limits))


def _judge_run(contract: Contract, run: Run) -> Refusal | None:
    """Judges one program by the commands that are allowed and denied."""
    narrow = contract.on_commands or contract.on_paths
    if not run.words[0].known and narrow:
        return Refusal(UNREAD, "which program is started, the shell alone knows")
    for limits in contract.limits:
        if not limits.on_commands:
            continue
        shown = " ".join(word.text if word.known else "…" for word in run.words)
        for pattern in limits.command_deny:
            if denies(pattern, run.words):
                return Refusal(COMMAND, f"'{_short(shown)}' may not be run: {limits.source} denies '{pattern}'")
        if limits.command_allow is None or run.words[0].text in BUILTINS or _is_own(run):
            continue
        if not any(allows(pattern, run.words) for pattern in limits.command_allow):
            reason = f"'{_short(shown)}' is not among the commands of {limits.source}: {_only(limits.command_allow)}"
            return Refusal(COMMAND, reason)
    return None


def _is_own(run: Run) -> bool:
    """Says whether it is a command of ours; those that are not for agents are refused before."""
    return [word.text for word in run.words[:2] if word.known] == ["git", "pog"]


def _short(shown: str) -> str:
    return shown if len(shown) <= 80 else shown[:79] + "…"


def _judge_own(contract: Contract, run: Run) -> Refusal | None:
    """Judges commands by which an agent could change its own limits."""
    words = [word.text if word.known else "" for word in run.words]
    name = words[0].rpartition("/")[2]
    if name not in _READERS and any(_is_kept_here(word) for word in words):
        return Refusal(LIMITS, "the records of pogstore are changed by its own commands alone")
    if name == "git":
        return _judge_git(contract, run.words[1:])
    if name == "git-pog":
        return _judge_verb(contract, run.words[1:])
    if name.startswith("python") and "pogstore" in words:
        return _judge_verb(contract, run.words[words.index("pogstore") + 1 :])
    return None


def _is_kept_here(word: str) -> bool:
    return "refs/pog" in word or "pog/contracts" in word


def _judge_git(contract: Contract, given: "Sequence[Word]") -> Refusal | None:
    verb, rest, _ = git_verb(list(given))
    texts = [word.text if word.known else "" for word in rest]
    if verb not in _READS_REFS and any(_is_kept_here(text) for text in texts):
        return Refusal(LIMITS, "the records of pogstore are changed by its own commands alone")
    if verb == "update-ref" and ("--stdin" in texts or not all(texts)):
        return Refusal(LIMITS, "which refs are changed is not told")
    if verb in ("fetch", "pull", "push") and any(_may_be_kept(text) for text in texts):
        return Refusal(LIMITS, "the records of pogstore are exchanged by its own commands alone")
    if verb == "config" and not _reads_config(texts):
        return Refusal(LIMITS, "git's configuration holds what limits agents")
    return _judge_verb(contract, rest) if verb == "pog" else None


def _judge_setting(contract: Contract, run: Run) -> Refusal | None:
    """Judges what git is told to start, or to write, for one command."""
    setting = odd_setting(run.words[1:]) if run.words[0].text.rpartition("/")[2] == "git" else None
    if setting is None or not (contract.on_commands or contract.on_paths or "pog." in setting.casefold()):
        return None
    return Refusal(ENVIRONMENT, f"'{_short(setting)}' may not be set: it changes what programs do")


def _may_be_kept(refspec: str) -> bool:
    """Says whether what is exchanged may be our own refs as well."""
    start, star, _ = refspec.rpartition(":")[2].partition("*")
    return refspec in ("--mirror", "--prune") or bool(star and "refs/pog".startswith(start.lstrip("+")))


def _reads_config(given: "Sequence[str]") -> bool:
    options = [text.partition("=")[0] for text in given if text.startswith("-")]
    named = [text for text in given if not text.startswith("-")]
    if any(option in _READS_CONFIG for option in options) or named[:1] in (["get"], ["list"]):
        return not any(option in _WRITES_CONFIG for option in options)
    return len(named) == 1 and named != ["edit"] and all(option in _SCOPES for option in options)


def _judge_verb(contract: Contract, given: "Sequence[Word]") -> Refusal | None:
    verb, rest, _ = git_verb(list(given))
    again = verb == "start" and [word.text for word in rest if word.known] in (["@"], [contract.task])
    looks = verb in ("next", "gate") and all(
        word.known and (word.text in _ONLY_LOOKS or word.text[:1] != "-") for word in rest
    )
    begins = not contract.task and verb in _BEGINNING  # what holds without a task holds with any
    made = verb == "new" and not any(word.text.startswith("--s") or not word.known for word in rest)
    if verb in OWN_VERBS or again or begins or made or looks or not (verb or any(not word.known for word in given)):
        return None
    return Refusal(LIMITS, f"'git pog {verb}' is for a person while a contract holds")
