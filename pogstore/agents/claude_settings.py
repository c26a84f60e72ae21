"""Puts our hook into the settings of Claude Code, takes it out again, and tells where it stands.

Three files can hold hooks: of a project (`.claude/settings.json`, shared by git), of one person in a project
(`.claude/settings.local.json`) and of a person (`settings.json` in the configuration folder). `plan` reads one and
answers what it would become, `apply` writes that, if the file is still as it was read. Other hooks, their order and
every other byte stay; after adding and removing, the file is what it was, or is not there if it was not.
"""

import json
import os
import re
import secrets
import shlex
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal, NamedTuple

from pogstore.agents.settings import append, decode, drop, is_blank, read
from pogstore.errors import BadInput, Conflict, NotAFile, PogError, RefusedByPolicy, WorkTreeFailed
from pogstore.work.writer import TEMPORARY

LINE = "PATH=$PATH:$HOME/.local/bin git -c help.autocorrect=0 pog hook claude-code 2>/dev/null || true"
"""What the agent's shell runs: sh, also the one of Git for Windows. It stays the same in all our versions.

It names no interpreter and no place of ours, so that it outlives an upgrade; a person's own programs are looked for
last, because an agent started from a desktop often lacks them on its `PATH`. Without git-pog, or without git, it prints
nothing and answers 0: git would name `log` as the most similar command and, told to correct, would run it, and what it
prints becomes part of the agent's prompt. Standard output stays open, for a hook that has something to answer.
"""
_TAIL = "hook claude-code 2>/dev/null || true"
_HEAD, _REST = LINE.split(" ", 1)
_PLACED = re.compile(rf"{re.escape(_HEAD)}:(?P<place>(?:[^\s'\"]|'[^']*'|\"[^\"]*\")+) {re.escape(_REST)}")
"""The line that `placed_line` makes, whichever place it names."""
_DIRECT = re.compile(
    rf'P=.+; .+ -P "\$P"/git-pog (?:{re.escape(_TAIL)}|{re.escape(_TAIL.removesuffix("true") + LINE)})'
)
"""The line that `direct_line` makes; it is ours whichever places it names."""
_QUOTES = re.compile(r"['\"]")
SIGN = "pog hook claude-code"
"""What also a line of ours has that somebody changed: it still records, and it is theirs to remove."""
TIMEOUT = 10
"""Seconds after which the agent stops waiting; its own default is 600, or 1.5 for all hooks at the end of a session."""
EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "PreCompact",
    "SessionEnd",
)
"""What we ask for. Before 2.1.101 (April 2026) Claude Code ignored a whole settings file, permissions and all, for one
event it did not know: so these are only those that every version since January 2026 has."""
MANAGED = (
    Path("/Library/Application Support/ClaudeCode/managed-settings.json")
    if sys.platform == "darwin"
    else Path("/etc/claude-code/managed-settings.json")
)
"""What an administrator of the machine says to Claude Code; beside it may lie `managed-settings.d`."""
LARGEST = 4 << 20
"""Bytes of a settings file that is edited; no person has one of that size."""
LATER_EVENTS = ("PostCompact", "TaskCreated", "TaskCompleted", "CwdChanged")
"""What newer versions also tell. `WorktreeCreate` and `WorktreeRemove` are in neither list, and must not be: a hook of
theirs replaces what Claude Code would do, so that one without an answer breaks it."""
_TOOL_EVENTS = frozenset({"PreToolUse", "PostToolUse", "PostToolUseFailure"})

Scope = Literal["project", "local", "user"]
Verb = Literal["add", "remove"]


class Place(NamedTuple):
    """Where settings are looked for: a work tree's top, a home, and what `CLAUDE_CONFIG_DIR` says if it is set."""

    work_tree: Path
    home: Path
    config_dir: Path | None = None


class Plan(NamedTuple):
    """What a settings file is (`None`: not there) and what it becomes; `target` is what `path` links to, or `path`."""

    path: Path
    target: Path
    before: bytes | None
    after: bytes | None


class Installed(NamedTuple):
    """A hook that calls us: for which event and which tools (`None`: all), and whether its line is ours unchanged."""

    event: str
    matcher: str | None
    command: str
    exact: bool


class _Hook(NamedTuple):
    """A hook of the settings that calls us, and the path of keys and indexes that leads to it."""

    path: tuple[str | int, ...]
    alone: bool
    found: Installed


def settings_path(scope: Scope, place: Place) -> Path:
    """Returns the settings file of a scope."""
    match scope:
        case "project":
            return place.work_tree / ".claude" / "settings.json"
        case "local":
            return place.work_tree / ".claude" / "settings.local.json"
        case "user":
            return (place.config_dir or place.home / ".claude") / "settings.json"


def placed_line(scripts: Path) -> str:
    """Returns our line with a place in which git-pog is looked for last, for one that no agent has on its `PATH`.

    It names no interpreter: what is installed anew in that place is found, and where it is gone, any other.
    """
    return f"{_HEAD}:{shlex.quote(str(scripts))} {_REST}"


def place_in(command: str) -> Path | None:
    """Returns the place that a line of `placed_line` names; nothing for another line."""
    found = _PLACED.fullmatch(command)
    return Path("".join(shlex.split(found["place"]))) if found else None


def direct_line(python: Path, scripts: Path) -> str:
    """Returns a line that starts git-pog by its interpreter, for places in which the system cannot start a script.

    A script names its interpreter in its first line, and the system takes a space there for the end of the name. If
    it is gone, the git-pog that git finds does it (case UC-71); ours itself always succeeds, so it is told once.
    """
    start = f'P={shlex.quote(str(scripts))}; {shlex.quote(str(python))} -P "$P"/git-pog'
    return f"{start} {_TAIL.removesuffix('true')}{LINE}"


def programs(command: str) -> list[Path]:
    """Returns the programs and scripts that a line names by an absolute path, as far as they can be told."""
    try:
        if _DIRECT.fullmatch(command):
            place, python, *_ = shlex.split(command)
            return [Path(python), Path(place.removeprefix("P=").removesuffix(";")) / "git-pog"]
        words = shlex.split(command.replace(";", " "), comments=True)
    except ValueError:  # quotes that do not match
        return []
    return [path for path in map(Path, words) if path.is_absolute() and _is_program(path)]


def _is_program(path: Path) -> bool:
    return path.name.startswith(("git", "python", "pog"))


def plan(scope: Scope, place: Place, verb: Verb, events: Sequence[str] = EVENTS, *, line: str = LINE) -> Plan:
    """Returns what adding or removing our hook would make of a settings file; writes nothing.

    Raises `BadInput` with the place where the file is not strict JSON (Claude Code reads no other) or if it is too
    large, `NotAFile`, `WorkTreeFailed` if it cannot be read, and `RefusedByPolicy` if the settings of a work tree lie
    outside it: a repository that one has cloned may hold links into one's home.
    """
    path = settings_path(scope, place)
    with _naming(path):
        target = _target(path)
        if scope != "user":
            _refuse_outside(path, place.work_tree)
        before = _read(target)
    text = None if before is None else decode(before, str(path))
    changed = with_hooks(text, str(path), events, line=line) if verb == "add" else without_hooks(text, str(path))
    return Plan(path, target, before, None if changed is None else changed.encode())


def installed(scope: Scope, place: Place) -> list[Installed]:
    """Returns the hooks of a settings file that call us, in its order."""
    path = settings_path(scope, place)
    with _naming(path):
        data = _read(_target(path))
    return [] if data is None else [hook.found for hook in _ours(decode(data, str(path)), str(path))]


def switched_off(path: Path, *, managed: bool = False) -> str | None:
    """Returns the key by which a settings file keeps our hooks from running; some have a meaning only if `managed`.

    Nothing if there is none, or if the file cannot be read: that is told elsewhere.
    """
    try:
        data = _read(_target(path))
        settings = read(decode(data or b"{}", str(path)), str(path))
    except (OSError, PogError):
        return None
    keys = ("disableAllHooks", "allowManagedHooksOnly") if managed else ("disableAllHooks",)
    return next((key for key in keys if isinstance(settings, dict) and settings.get(key) is True), None)


def managed_files() -> list[Path]:
    """Returns the settings files of the machine's administrator, as far as they are files."""
    parts = MANAGED.with_name("managed-settings.d")
    return [path for path in (MANAGED, *sorted(parts.glob("*.json"))) if os.path.isfile(path)]  # noqa: PTH113 - of a path that is closed to us it says no


def snippet(events: Sequence[str] = EVENTS, *, line: str = LINE) -> str:
    """Returns what a settings file with nothing but our hook would hold, to be printed and copied."""
    return with_hooks(None, "settings", events, line=line) or ""


def with_hooks(text: str | None, name: str, events: Sequence[str] = EVENTS, *, line: str = LINE) -> str | None:
    """Returns the settings with our hook at the end of each event that has none that calls us yet."""
    present = {hook.found.event for hook in _ours(text, name)}
    for event in events:
        if event not in present:
            text = append(text, ("hooks", event), _element(event, line), name)
    return text


def without_hooks(text: str | None, name: str) -> str | None:
    """Returns the settings without the hooks that have our line unchanged, at whichever event; `None`: no file."""
    while text is not None:
        hook = next((hook for hook in reversed(_ours(text, name)) if hook.found.exact), None)
        if hook is None:
            break
        # a group that holds nothing else was made by us: it goes as a whole, with its matcher
        text = drop(text, hook.path[:3] if hook.alone else hook.path, name)
    return text


def apply(plan: Plan, *, fsync: bool = True) -> None:
    """Writes what was planned, whole or not at all, with the permissions of the file that it replaces.

    A link stays a link: its target is written. Folders on the way are made, and not removed again. Raises `Conflict`
    if the file is no longer as it was when the plan was made, `WorkTreeFailed` if the system refuses.
    """
    if plan.after == plan.before:
        return
    with _naming(plan.path):
        if plan.after is None:
            _compare(plan)
            plan.target.unlink()
        else:
            _replace(plan, plan.after, fsync)
        if fsync:
            _sync(plan.target.parent)


def _element(event: str, line: str) -> str:
    hook = {"type": "command", "command": line, "timeout": TIMEOUT}
    return json.dumps({**({"matcher": "*"} if event in _TOOL_EVENTS else {}), "hooks": [hook]})


def _ours(text: str | None, name: str) -> list[_Hook]:
    return [] if text is None or is_blank(text) else list(_hooks(read(text, name)))


def _hooks(settings: object) -> Iterator[_Hook]:
    """Yields the hooks that call us; what has not the shape of a hook is somebody else's, and passed over."""
    match settings:
        case {"hooks": dict(events)}:
            for event, groups in events.items():
                for at, group in enumerate(groups if isinstance(groups, list) else ()):
                    yield from _hooks_of_group(event, at, group)


def _hooks_of_group(event: str, at: int, group: object) -> Iterator[_Hook]:
    match group:
        case {"hooks": list(hooks), **rest}:
            matcher = rest.get("matcher")
            for index, hook in enumerate(hooks):
                match hook:
                    case {"type": "command", "command": str(command)} if SIGN in " ".join(
                        _QUOTES.sub("", command).split()
                    ):
                        exact = command == LINE or any(each.fullmatch(command) for each in (_PLACED, _DIRECT))
                        found = Installed(event, matcher if isinstance(matcher, str) else None, command, exact)
                        yield _Hook(("hooks", event, at, "hooks", index), len(hooks) == 1, found)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as fault:
        raise WorkTreeFailed(str(path), fault.strerror or str(fault)) from fault


def _target(path: Path) -> Path:
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def _read(target: Path) -> bytes | None:
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):
        raise NotAFile(str(target), "directory" if stat.S_ISDIR(mode) else "special file")
    with target.open("rb") as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise BadInput(str(target), f"larger than {LARGEST >> 20} MiB; these are no settings")
    return data


def _refuse_outside(path: Path, work_tree: Path) -> None:
    found = Path(os.path.realpath(path))
    if not found.is_relative_to(os.path.realpath(work_tree)):
        raise RefusedByPolicy(
            f"'{path}' leads out of the work tree, to '{found}'", "edit that file yourself; '--print' shows what to add"
        )


def _compare(plan: Plan) -> None:
    if _target(plan.path) != plan.target or _read(plan.target) != plan.before:
        path = str(plan.path)
        raise Conflict(f"'{path}' changed since it was read; nothing was written", [path], "run the command again")


def _replace(plan: Plan, after: bytes, fsync: bool) -> None:
    if plan.target == plan.path:
        plan.path.parent.mkdir(parents=True, exist_ok=True)
    _compare(plan)
    temporary = plan.target.parent / f"{TEMPORARY}{secrets.token_hex(16)}"
    try:
        _write(temporary, after, None if plan.before is None else plan.target, fsync)
        _compare(plan)
        temporary.replace(plan.target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def _write(temporary: Path, after: bytes, former: Path | None, fsync: bool) -> None:
    """Writes a new file; if it is to replace another, with the permissions of that one, which must be writable."""
    if former is not None:
        # a rename would replace a file that its owner has write-protected; opening it asks the system
        os.close(os.open(former, os.O_WRONLY | os.O_CLOEXEC))
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(temporary, flags, 0o666 if former is None else 0o600), "wb") as file:
        file.write(after)
        file.flush()
        if former is not None:
            os.fchmod(file.fileno(), stat.S_IMODE(former.stat().st_mode))
        if fsync:
            os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
