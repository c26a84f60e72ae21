"""How each agent spells what a hook must know of a step: what it is, where it is, which files it names.

What a step means is settled when it is drained. Lies on the path of every hook: see `work/spool.py`.
"""

from pogstore.agents.peek import peek
from pogstore.interop.patched_paths import patched_paths

TYPE_CHECKING = False  # what type checkers take it for; see `pogstore/__init__.py`

if TYPE_CHECKING:
    from collections.abc import Mapping

EDITS = ("Edit", "Write", "MultiEdit", "NotebookEdit")
SHELLS = ("Bash", "PowerShell")
CODEX_EDITS = ("apply_patch", "Edit", "Write")
GEMINI_EDITS = ("write_file", "replace", "edit")
CURSOR_EDITS = (*EDITS, "StrReplace", "Delete", "ApplyPatch", "EditNotebook", "SearchReplace")
CURSOR_SHELLS = ("Shell", *SHELLS)
COPILOT_EDITS = (
    *("create", "edit", "str_replace", "str_replace_editor", "insert", "multi_edit", "apply_patch", "create_file"),
    *("replace_string_in_file", "multi_replace_string_in_file", "insert_edit_into_file", "edit_notebook_file"),
    *EDITS,
)
COPILOT_SHELLS = ("bash", "powershell", "shell", "run_in_terminal", *SHELLS)
OPENCODE_EDITS = ("write", "edit", "multiedit", "patch", "apply_patch")
OPENCODE_SHELLS = ("bash", "shell")
GEMINI_SHELLS = ("run_shell_command",)
CODEX_SHELLS = ("Bash", "shell", "shell_command", "exec_command", "local_shell", "write_stdin")
_FILE = "file_path"
_NAMED = (_FILE, "notebook_path", "path", "filePath", "filepath")
"""What a call's input has for the one file that it edits."""
_SEVERAL = ("file_paths", "filepaths", "files", "paths")
"""What it has for several."""
_PATCHED = ("command", "input", "patch", "patchText")
"""What it has for a patch that names the files itself."""
_PLACED = ("working_directory", "workdir", "dir_path", "directory")
"""What it may have for the directory in which a command runs; an agent has one of them at most, and ignores others."""
_MOVED = ("source", "destination", "source_path", "destination_path", "old_path", "new_path", "target", "target_path")
"""What tools of MCP that move and copy have."""
_GIVEN = (*_NAMED, *_PATCHED, *_PLACED, *_MOVED, "cmd")
CLASSES = ("edit", "shell", "read", "mcp")
"""What an agent may class a tool as; every other word is `other`."""


class Dialect:
    """The names of one agent: of members of what it says, of events, of tools.

    Of `steps` the first is told before a tool runs; of `ends` the last when a session is over.
    `own` are members that an agent has that says the class and the files of a call itself, and `paths` those that are
    arrays of files; `of_tool` has the classes of the tools of one that does not, and `mcp` is what the names of those
    begin with that come through MCP. `edited` are events that tell of an edit without a call, with the file beside it.
    `placed` are what a shell's input has for the folder of the command.
    `also` has what members are called where the agent is run by another program, with the names that are meant.
    `roots` is the array of the directories in which the agent works, where it does not say in which one it is. `whole`
    says that an edit which names no file that we find may have changed any.
    """

    __slots__ = (
        *(
            "also",
            "cwd",
            "edited",
            "ends",
            "event",
            "given",
            "looks",
            "mcp",
            "of_tool",
            "own",
            "paths",
            "placed",
            "roots",
            "session",
        ),
        *("steps", "tool", "whole"),
    )

    def __init__(
        self,
        *,
        steps: tuple[str, ...],
        ends: tuple[str, ...],
        looks: tuple[str, ...],
        of_tool: "Mapping[str, str]",
        event: str = "hook_event_name",
        cwd: str = "cwd",
        session: str = "session_id",
        tool: str = "tool_name",
        given: str = "tool_input",
        own: tuple[str, ...] = (),
        paths: tuple[str, ...] = (),
        mcp: str = "mcp__",
        edited: tuple[str, ...] = (),
        also: "Mapping[str, str]" = {},  # noqa: B006 - nobody writes into it
        placed: tuple[str, ...] = (),
        roots: str = "workspace_roots",
        whole: bool = True,
    ) -> None:
        self.event, self.cwd, self.tool, self.given, self.own, self.paths = event, cwd, tool, given, own, paths
        self.session, self.steps, self.ends, self.looks, self.of_tool = session, steps, ends, looks, of_tool
        self.mcp, self.edited, self.also, self.roots, self.whole = mcp, edited, also, roots, whole
        self.placed = placed


DIALECTS = {
    "claude-code": Dialect(
        steps=("PreToolUse", "PostToolUse", "PostToolUseFailure"),
        ends=("Stop", "SessionEnd"),
        looks=("Stop",),
        of_tool=dict.fromkeys(EDITS, "edit") | dict.fromkeys(SHELLS, "shell"),
        whole=False,
    ),
    "codex": Dialect(
        placed=("workdir",),
        steps=("PreToolUse", "PostToolUse", "PostToolUseFailure"),
        ends=("Stop", "StopFailure", "Interrupt", "SessionEnd"),
        looks=("Stop", "StopFailure", "Interrupt"),
        of_tool=dict.fromkeys(CODEX_EDITS, "edit") | dict.fromkeys(CODEX_SHELLS, "shell"),
    ),
    "cursor": Dialect(
        placed=("working_directory",),
        session="conversation_id",
        steps=("preToolUse", "postToolUse", "postToolUseFailure", "afterFileEdit", "afterTabFileEdit"),
        ends=("stop", "sessionEnd"),
        looks=("stop",),
        of_tool=dict.fromkeys(CURSOR_EDITS, "edit") | dict.fromkeys(CURSOR_SHELLS, "shell"),
        mcp="MCP:",
        edited=("afterFileEdit", "afterTabFileEdit"),
    ),
    "copilot": Dialect(
        session="sessionId",
        tool="toolName",
        given="toolArgs",
        also={"session_id": "sessionId", "tool_name": "toolName", "tool_input": "toolArgs"},
        steps=("preToolUse", "postToolUse", "postToolUseFailure"),
        ends=("agentStop", "sessionEnd"),
        looks=("agentStop",),
        of_tool=dict.fromkeys(COPILOT_EDITS, "edit") | dict.fromkeys(COPILOT_SHELLS, "shell"),
    ),
    "gemini": Dialect(
        placed=("dir_path", "directory"),
        steps=("BeforeTool", "AfterTool"),
        ends=("AfterAgent", "SessionEnd"),
        looks=("AfterAgent",),
        of_tool=dict.fromkeys(GEMINI_EDITS, "edit") | dict.fromkeys(GEMINI_SHELLS, "shell"),
        mcp="mcp_",
    ),
    "opencode": Dialect(
        placed=("workdir",),
        event="event",
        cwd="directory",
        session="sessionID",
        tool="tool",
        given="args",
        steps=("tool.execute.before", "tool.execute.after", "tool.failed"),
        ends=("session.idle", "session.deleted"),
        looks=("session.idle",),
        of_tool=dict.fromkeys(OPENCODE_EDITS, "edit") | dict.fromkeys(OPENCODE_SHELLS, "shell"),
    ),
    "generic": Dialect(
        event="event",
        session="session",
        tool="tool",
        given="input",
        own=("class", "path"),
        paths=("paths",),
        steps=("tool_start", "tool_end", "tool_failed"),
        ends=("turn_end", "session_end"),
        looks=("turn_end",),
        of_tool={},
    ),
}
"""By the name under which `git pog hook` is called."""


class Step:
    """What a hook knows of one thing that an agent said.

    `paths` are the files that it names, as it named them, and `roots` the directories that these may begin in where it
    does not say in which one it is; `whole` says that any file may be another now, `ends` that a turn is over, `over`
    that the session is, `asks` that a tool is about to run, which can still be refused; `command` is what a shell was
    told, and `place` where, if that is said. `kind` is the class of the tool that is called, and `named` are all files
    that its input names, whatever it makes of them.
    """

    __slots__ = (
        "asks",
        "command",
        "cwd",
        "ends",
        "event",
        "kind",
        "named",
        "over",
        "paths",
        "place",
        "roots",
        "session",
        "tool",
        "whole",
    )

    def __init__(self, event: str, cwd: str, session: str = "") -> None:
        self.event, self.cwd, self.session = event, cwd, session
        self.paths: list[str] = []
        self.roots: list[str] = []
        self.named: list[str] = []
        self.command = self.place = self.kind = self.tool = ""
        self.whole = self.ends = self.over = self.asks = False


def understand(agent: str, payload: bytes, event: str = "") -> Step:
    """Returns what an agent says; the least that one can know for what is no JSON.

    `event` is which one it is, where the agent itself does not say.
    """
    names = DIALECTS[agent]
    said = _said(names, payload)
    step = Step(event or said.get(names.event, ""), said.get(names.cwd, ""), said.get(names.session, ""))
    step.roots = [] if step.cwd else _strings_of([names.roots], said)
    step.over = step.event == names.ends[-1]
    step.ends, step.whole = step.event in names.ends, step.event in names.looks
    step.asks = step.event == names.steps[0]
    if step.event in names.steps:
        _call(step, names, said)
    return step


def _said(names: Dialect, payload: bytes) -> dict[str, str]:
    """Returns the strings that count, each by the name that is meant; an input may be JSON in a string."""
    members = {names.event, names.cwd, names.session, names.tool, names.given, *names.own, *names.paths, *names.also}
    members |= {_FILE} if names.edited else set()
    inner = {name: _GIVEN for name in (names.given, *names.also) if names.also.get(name, names.given) == names.given}
    arrays = names.paths or tuple(each for name in inner for each in _arrays(name))
    said = peek(payload, members, inner, (*arrays, names.roots))
    for other, name in names.also.items():
        for found in [found for found in said if found == other or found.startswith(f"{other}.")]:
            said.setdefault(name + found[len(other) :], said[found])
    text = said.get(names.given, "")
    if text.lstrip().startswith("{"):
        within = peek(text.encode("utf-8", "surrogateescape"), _GIVEN, {}, (*_SEVERAL, "command"))
        said.update({f"{names.given}.{name}": value for name, value in within.items()})
    return said


def _arrays(given: str) -> tuple[str, ...]:
    """Returns the names of arrays in a call's input: of files, or of the words of a command."""
    return tuple(f"{given}.{name}" for name in (*_SEVERAL, "command"))


def _call(step: Step, names: Dialect, said: dict[str, str]) -> None:
    """Tells of a tool call: what a tool changes that names no files, only a look at everything can tell."""
    if step.event in names.edited:
        step.paths = [said[_FILE]] if said.get(_FILE) else []
        return
    class_ = step.kind = _class(names, said)
    step.tool = said.get(names.tool, "")
    if names.own:
        step.paths = _own_paths(names, said)
    elif class_ in ("edit", "mcp"):
        paths, step.named = _edited(names.given, said)
        if class_ == "mcp":
            step.named += [said[name] for name in (f"{names.given}.{each}" for each in _MOVED) if said.get(name)]
        step.paths = paths if class_ == "edit" else []
    unknown = "other" if names.own else "edit" if names.whole else ""
    step.whole = class_ in ("shell", "mcp") or (class_ == unknown and not step.paths)
    if step.whole:
        step.command = _command(names.given, said)
        if not names.own:
            told = (said.get(f"{names.given}.{each}", "") for each in names.placed)
            step.place = next(filter(None, told), "")


def _edited(given: str, said: dict[str, str]) -> tuple[list[str], list[str]]:
    """Returns the files that the input of an edit names: one, or several, or those of a patch; and all of them."""
    named = [said[name] for name in (f"{given}.{each}" for each in _NAMED) if said.get(name)]
    several = _strings_of([f"{given}.{each}" for each in _SEVERAL], said)
    texts = [said.get(name, "") for name in (*(f"{given}.{each}" for each in _PATCHED), given)]
    patched = [path for text in texts for path in patched_paths(text)]
    return named[:1] or several or patched, [*named, *several, *patched]


def _command(given: str, said: dict[str, str]) -> str:
    """Returns what a shell is told; all of it, if it is told under several names."""
    words = _strings_of([f"{given}.command"], said)
    told = (said.get(f"{given}.command", ""), said.get(f"{given}.cmd", ""), _shell_text(words))
    return "\n".join(dict.fromkeys(filter(None, told))) or said.get(given, "")


def _shell_text(words: list[str]) -> str:
    """Returns the words of a command as a shell is told them."""
    return " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)


def _strings_of(names: list[str], said: dict[str, str]) -> list[str]:
    """Returns the strings of some arrays."""
    prefixes = tuple(f"{name}." for name in names)
    return [value for name, value in said.items() if name.startswith(prefixes) and value]


def _own_paths(names: Dialect, said: dict[str, str]) -> list[str]:
    """Returns the files that an agent says it writes: those of an array, or the one that it names."""
    several = _strings_of(list(names.paths), said)
    return [value for value in several or [said.get(name, "") for name in ("path", *names.paths)] if value]


def _class(names: Dialect, said: dict[str, str]) -> str:
    if names.own:
        told = said.get("class", "")
        return told if told in CLASSES else "other"
    tool = said.get(names.tool, "").removeprefix("functions.")
    return names.of_tool.get(tool, "") or ("mcp" if tool.startswith(names.mcp) else "other")
