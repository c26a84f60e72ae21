"""What is the user's stays byte for byte: index, HEAD, branches, reflogs, hooks, work tree.

Before and after every event that a hook can be told, every drain and every command that reads; and a repository in
which nobody has run `git pog init` stays as it is altogether.
"""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from pogstore.agents.claude_settings import EVENTS, LATER_EVENTS
from pogstore.cli._table import COMMANDS
from pogstore.cli.hook import AGENTS
from pogstore.cli.main import cli
from tests.cli.conftest import Here
from tests.cli.test_hook import SCRIPT
from tests.cli.test_quiet import OURS, READING, WRITING, lived_in, snapshot
from tests.conftest import Repo, run

__all__ = ["lived_in"]

TOLD = (*EVENTS, *LATER_EVENTS, "PermissionRequest", "Notification", "NoSuchEvent", "")
TOOLS = {
    "Edit": {"file_path": "{root}/README", "old_string": "changed", "new_string": "edited"},
    "Write": {"file_path": "{root}/new", "content": "x\n"},
    "Bash": {"command": "sed -i s/changed/edited/ README"},
    "Read": {"file_path": "{root}/README"},
    "mcp__files__write": {"path": "{root}/README"},
}
READING_TOO = (
    "agent list", "agent list --json", "agent test claude-code", "agent add claude-code --print", "doctor",
    "doctor --json", "init -n", "init --pre-push -n", "init --remove -n", "help init", "status --seen",
    "hook pre-push origin", *(f"hook {name}" for name in (*AGENTS, "generic")),
    "drain", "pause", "pause --resume",
)  # fmt: skip
"""Those that the table of `test_quiet` lacks; some write into `.git/pog`, none elsewhere while nothing waits."""
WRITING_TOO = (
    *("run -- true", "record", "import pog-task /dev/null", "import codex /dev/null", "import gemini /dev/null"),
    "init --pre-push -n",
)
"""Those that write tasks, and nothing of the user's; what is done where nobody ran init is theirs to test."""
NOT_HERE = {
    "init": "writes the configuration; its bytes are held in test_quiet and work/test_setup",
    "agent add": "writes the agent's settings; their bytes are held in agents/test_claude_settings",
    "agent remove": "the same",
    "undo": "writes the work tree; its paths are held in test_quiet",
    "rollback": "the same",
    "restore": "the same",
    "demo": "runs in a repository of its own",
    "agent test": "the same",
}


def paths_of(group: click.Group, before: tuple[str, ...] = ()) -> Iterator[str]:
    """Yields every command as it is typed, sub-commands in the place of their groups."""
    context = click.Context(group)
    for name in COMMANDS if group is cli else group.list_commands(context):
        found = group.get_command(context, name)
        if isinstance(found, click.Group):
            yield from paths_of(found, (*before, name))
        else:
            yield " ".join((*before, name))


def payload(root: Path, event: str, tool: str) -> str:
    given = {name: value.format(root=root) for name, value in TOOLS[tool].items()}
    said = {"session_id": "s", "cwd": str(root), "hook_event_name": event, "prompt": "go on", "source": "startup"}
    call = {"tool_name": tool, "tool_use_id": f"toolu_{tool}", "tool_input": given, "tool_response": {"success": True}}
    return json.dumps(said | (call if "Tool" in event or not event else {}))


def hook(root: Path, text: str) -> None:
    done = run([SCRIPT, "hook", "claude-code"], root, text)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def users(root: Path) -> dict[str, tuple[int, int, bytes]]:
    """Returns all that is not ours, the work tree included."""
    return snapshot(root, OURS)


def everything(root: Path) -> tuple[dict[str, tuple[int, int, bytes]], list[Path]]:
    """Returns every file, and every name: an empty directory is something too."""
    return snapshot(root, ()), sorted(root.rglob("*"))


def test_every_command_is_held_to_it() -> None:
    """A new command fails here until it is in a table, as one that reads or as one that writes."""
    tables = (*READING, *READING_TOO, *WRITING, *WRITING_TOO)
    missing = {
        path for path in paths_of(cli)
        if path not in NOT_HERE and not any(f"{each} ".startswith(f"{path} ") for each in tables)
    }  # fmt: skip
    assert missing == set()


@pytest.mark.parametrize(
    "command",
    [
        "git add untracked", "git update-index --really-refresh", "git commit -q -m x", "git branch another",
        "git checkout -q --detach", "git tag x", "git stash drop -q", "git config x.y z", "touch README",
        "git commit-tree -m x HEAD^{tree} | xargs git update-ref refs/heads/main", "chmod +x README", "rm link",
        "rm .git/hooks/pre-push", "touch .git/ORIG_HEAD", "ln -sf staged link",
    ],
)  # fmt: skip
def test_what_compares_sees_every_change(lived_in: tuple[Here, dict[str, str]], command: str) -> None:
    """A comparison that sees nothing would let all the others pass."""
    root = lived_in[0].cwd
    Repo(root).git("config", "--unset", "core.fsmonitor")
    before = users(root)
    subprocess.run(command, shell=True, cwd=root, check=False, capture_output=True)
    assert users(root) != before


def test_a_command_that_reads_leaves_all_as_it_was(lived_in: tuple[Here, dict[str, str]]) -> None:
    here, names = lived_in
    before = snapshot(here.cwd, (".git/pog/",))
    for command in READING_TOO:
        here(*command.split(), status=None)
        assert snapshot(here.cwd, (".git/pog/",)) == before, command
    assert not Path(names["marker"]).exists(), "a hook of the user ran"


def test_a_command_that_writes_tasks_leaves_what_is_the_user_s(lived_in: tuple[Here, dict[str, str]]) -> None:
    here, names = lived_in
    before = users(here.cwd)
    for command in WRITING_TOO:
        here(*command.split(), status=None)
        assert users(here.cwd) == before, command
    assert not Path(names["marker"]).exists(), "a hook of the user ran"


@pytest.mark.parametrize("tool", TOOLS)
def test_a_hook_leaves_all_as_it_was_whatever_it_is_told(lived_in: tuple[Here, dict[str, str]], tool: str) -> None:
    here, names = lived_in
    Repo(here.cwd).git("config", "pog.autoDrain", "false")
    here("init")
    before = users(here.cwd)
    for event in TOLD:
        hook(here.cwd, payload(here.cwd, event, tool))
        assert users(here.cwd) == before, event
    assert here("status", "--json").json["losses"] == []
    here("drain")
    assert users(here.cwd) == before
    assert not Path(names["marker"]).exists(), "a hook of the user ran"


def test_a_drain_after_a_shell_step_leaves_all_as_it_was(lived_in: tuple[Here, dict[str, str]]) -> None:
    """The step changed files and made a commit; the drain, which looks for it, changes nothing more."""
    here, names = lived_in
    repo = Repo(here.cwd)
    repo.git("config", "--unset", "core.fsmonitor")
    repo.git("config", "pog.autoDrain", "false")
    here("init")
    hook(here.cwd, payload(here.cwd, "PreToolUse", "Bash"))
    (here.cwd / "README").write_text("edited\n")
    (here.cwd / "untracked").unlink()
    repo.git("commit", "--quiet", "--no-verify", "-a", "-m", "made by the step")
    Path(names["marker"]).unlink(missing_ok=True)
    hook(here.cwd, payload(here.cwd, "PostToolUse", "Bash"))
    before = users(here.cwd)
    for command in ("drain", "log", "blame README", "status", "why README:1"):
        here(*command.split(), status=None)
        assert users(here.cwd) == before, command
    assert not Path(names["marker"]).exists(), "a hook of the user ran"


def test_where_nobody_has_run_init_a_hook_leaves_no_trace(repo: Repo, tmp_path: Path) -> None:
    before = everything(repo.path)
    for event in TOLD:
        for tool in TOOLS:
            hook(repo.path, payload(repo.path, event, tool))
    assert everything(repo.path) == before


def test_where_nobody_has_run_init_a_command_that_reads_leaves_no_trace(anywhere: Here, repo: Repo) -> None:
    names = {"task": "x", "other": "y", "event": "abcd", "remote": "../elsewhere", "sample": "/dev/null"}
    before = everything(repo.path)
    for command in (*READING, *READING_TOO):
        anywhere(*command.format(**names).split(), cwd=repo.path, status=None)
        assert everything(repo.path) == before, command


def test_where_nobody_has_run_init_a_command_that_writes_is_refused_and_leaves_no_trace(
    anywhere: Here, repo: Repo
) -> None:
    sample = str(Path(__file__).parents[2] / "pogstore" / "cli" / "sample" / "session.jsonl")
    names = {"task": "x", "other": "y", "event": "abcd", "remote": "../elsewhere", "sample": sample}
    before = snapshot(repo.path, (".git/pog/index",))
    for command in WRITING:
        answer = anywhere(*command.format(**names).split(), cwd=repo.path, status=None)
        assert answer.status != 0 or command == "reindex", command
        assert snapshot(repo.path, (".git/pog/index",)) == before, command
