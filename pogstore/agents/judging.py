"""Whether a contract lets an agent do what it is about to do, as its hook sees it: real files, links and folders.

Loaded only where a contract was compiled, or a task is required. Lies on the path of such a hook: see `work/spool.py`.
"""
# `pathlib` would cost a hook more than all it does
# ruff: noqa: PTH112, PTH114, PTH118

import os

from pogstore.agents.dialect import Step
from pogstore.agents.peek import MOST
from pogstore.agents.refusal import REFUSALS
from pogstore.interop.patched_paths import patched_paths

# not `policy` itself: the package would look for a name of its face first, and load `importlib` for that
from pogstore.policy import (
    NO_TASK,
    UNREAD,
    Contract,
    Refusal,
    is_beginning,
    is_ours,
    judge_command,
    judge_paths,
    judge_time,
)
from pogstore.shell.programs import understand
from pogstore.work import compiled, sighting, spool

TYPE_CHECKING = False  # what type checkers take it for; see `pogstore/__init__.py`

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pogstore.agents.refusal import Answer

ACTS = ("edit", "shell", "mcp")
"""The classes of tools that change something."""
WRITES = (
    *("append", "copy", "create", "delete", "edit", "insert", "mkdir", "move", "patch", "put", "remove", "rename"),
    *("replace", "save", "update", "write"),
)
"""Words in the name of a tool of MCP that writes the files which its input names; what others write, nobody tells."""
PATCHING = ("apply_patch", "applypatch")
RUNS = ("bash", "command", "exec", "process", "run", "shell", "terminal")
"""Words in the name of one that runs a command."""
_OWN, _SPOOL = b"/pog", b"/pog/spool"
FOREIGN = ("PowerShell", "powershell")
"""Shells that speak another language than the one that is read."""


def judge(place: sighting.Place, task: str, step: Step, cwd: bytes, now: int) -> Refusal | None:
    """Returns why a step of a task may not be done in a work tree; nothing if it may, or nothing limits it there."""
    if not (step.kind in ACTS or step.paths) or step.kind == "read":
        return None
    path = compiled.find(place[2] + _OWN, task)
    try:
        if path is not None:
            return _judge(place, path, step, cwd, now)
        path = compiled.find(place[2] + _OWN, spool.NO_TASK)  # what holds without a task
        found = _judge(place, path, step, cwd, now) if path is not None else None
        required = spool.requires_task(place[2] + _SPOOL)
        return _judge_without(step) if found is None and required else found
    except Exception as fault:  # noqa: BLE001 - where a contract holds, nothing passes because it is odd
        return Refusal(UNREAD, f"it cannot be judged: {type(fault).__name__}")


def _judge(place: sighting.Place, path: bytes, step: Step, cwd: bytes, now: int) -> Refusal | None:
    try:
        contract, _ = compiled.read(path)
    except (OSError, compiled.Damaged):
        return compiled.unreadable()
    resolving = Resolving(place, cwd)
    is_shell = step.kind == "shell" or (step.kind == "mcp" and bool(step.command) and _is_called(step.tool, RUNS))
    if not (is_shell and is_ours(step.command)):
        refusal = judge_time(contract, now, spool.worktree_of(place[1]))
        if refusal is not None:
            return refusal
    if step.kind == "edit" and not step.paths and contract.on_paths:
        return Refusal(UNREAD, "which files it edits is not told")
    paths = _written(step)
    if len(paths) >= MOST and contract.on_paths:
        return Refusal(UNREAD, "it names more files at once than are looked at")
    named = [each for spelled in paths for each in resolving([spelled])]
    return judge_paths(contract, named) or (_judge_shell(contract, step, resolving) if is_shell else None)


def _written(step: Step) -> list[str]:
    """Returns the files that a step writes, by all that its input names."""
    writes = step.kind == "edit" or (step.kind == "mcp" and _is_called(step.tool, WRITES))
    return list(dict.fromkeys([*step.paths, *(step.named if writes else ())]))


def _is_called(tool: str, words: "Sequence[str]") -> bool:
    """Says whether a word in the name of a tool of MCP, behind that of its server, begins with one of some."""
    name = tool.replace(":", "__").rpartition("__")[2]
    spaced = "".join(f"_{char}" if char.isupper() else char for char in name).lower().replace("-", "_")
    return any(word.startswith(tuple(words)) for word in spaced.split("_"))


def _judge_shell(contract: Contract, step: Step, resolving: "Resolving") -> Refusal | None:
    if step.tool in FOREIGN and (contract.on_paths or contract.on_commands):
        return Refusal(UNREAD, f"the language of '{step.tool}' is not read")
    if not step.command and (contract.on_paths or contract.on_commands):
        return Refusal(UNREAD, "what the shell is to do is not told")
    refusal = judge_command(contract, step.command, resolving)
    return refusal or (_judge_patch(contract, step, resolving) if contract.on_paths else None)


def _judge_patch(contract: Contract, step: Step, resolving: "Resolving") -> Refusal | None:
    """Judges a patch that a shell is told to apply: Codex understands that, wherever the program is not there."""
    runs = understand(step.command).runs if "apply" in step.command else []
    names = [run.words[0].text.rpartition("/")[2] for run in runs]
    if not any(name in PATCHING for name in names):
        return None
    paths = patched_paths(step.command.replace("'", "\n")) if len(names) == 1 else []
    if not paths or any("$" in path or "`" in path for path in paths):
        return Refusal(UNREAD, "which files a patch changes is not told where it stands")
    return judge_paths(contract, [each for spelled in paths for each in resolving([spelled])])


def _judge_without(step: Step) -> Refusal | None:
    """Returns why a step may not be done where no task is claimed and one is required; nothing if it may."""
    if step.kind == "shell" and is_beginning(step.command):
        return None
    return Refusal(NO_TASK, "no task is claimed here, and 'pog.requireTask' asks for one: 'git pog start TASK'")


def recorded(refusal: Refusal) -> bytes:
    """Returns a refusal as a record of the spool holds it: the rule and the paths, with a NUL between them."""
    return "\0".join((refusal.rule, *refusal.paths)).encode("utf-8", "surrogateescape")


def answer(agent: str, refusal: Refusal) -> "Answer":
    """Returns what an agent is told of a refusal, in its own protocol."""
    return REFUSALS[agent](f"pogstore ({refusal.rule}): {refusal.reason}")


class Resolving:
    """Resolves the paths of one step: a folder that links lead through is two, as a shell and as the system see it."""

    __slots__ = ("cwd", "place")

    def __init__(self, place: sighting.Place, cwd: bytes) -> None:
        self.place, self.cwd = place, cwd

    def __call__(self, steps: "Sequence[str]") -> "Iterable[str]":
        """Returns what the last of some steps may mean, from where the others lead."""
        *moves, last = (step.encode("utf-8", "surrogateescape") for step in steps)
        spelled = os.path.join(self.cwd, *moves)
        found: dict[str, None] = {}
        for folder in dict.fromkeys((os.path.normpath(spelled), sighting.resolve(spelled))):
            whole = os.path.join(folder, last)
            # what is written through a link is written at its end, and what is removed is the link
            above, name = os.path.split(whole.rstrip(b"/"))
            named = (
                sighting.resolve(whole) if name in (b"", b".", b"..") else os.path.join(sighting.resolve(above), name)
            )
            for each in (named, sighting.resolve(whole)):
                found[self._relative(each)] = None
        return found

    def _relative(self, path: bytes) -> str:
        """Returns a path without links relative to the root; git's own folders are `.git` wherever they lie.

        A folder that the root is in is taken for the root.
        """
        root, git_dir, common_dir = self.place
        if root.startswith(path.rstrip(b"/") + b"/"):
            return "."
        is_folder = os.path.isdir(path) and not os.path.islink(path)
        for start, shown in ((git_dir, ".git"), (common_dir, ".git"), (root, "")):
            if path == start:
                return shown or "."
            if path.startswith(start.rstrip(b"/") + b"/"):
                rest = path[len(start.rstrip(b"/")) + 1 :].decode("utf-8", "surrogateescape")
                return (f"{shown}/{rest}" if shown else rest) + ("/" if is_folder else "")
        return path.decode("utf-8", "surrogateescape") + ("/" if is_folder else "")
