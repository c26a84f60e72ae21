"""Tests that a command touches nothing but its own: reading verbs nothing at all, writing verbs only refs/pog."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Here
from tests.cli.test_again import SCRIPT
from tests.cli.test_json import event_on, imported
from tests.conftest import Answer, Pog, Repo

OURS = (".git/pog/", ".git/refs/pog/", ".git/objects/", ".git/logs/refs/pog/")
READING = (
    "list", "list --all --json", "ready", "next", "context", "show", "show --json --events",
    "log", "log --oneline", "log --jsonl", "diff",
    "blame", "blame brew.py README", "blame --porcelain brew.py", "blame -L 2,3 brew.py", "blame HEAD brew.py",
    "blame -s -e -w -M -C --color-by age brew.py", "blame --incremental brew.py", "blame --contents README brew.py",
    "points", "points {task} --json", "points --all --no-check -n 3", "restore -n {event}",
    "restore --dry-run --json {event}^",
    "blame --json brew.py", "blame --line-porcelain brew.py", "blame --explain brew.py", "blame --strict brew.py",
    "blame --since 2020-01-01 brew.py", "blame --color-by task brew.py", "blame --color-by actor brew.py",
    "blame HEAD~1..", "blame --summary HEAD~1...HEAD", "blame --json HEAD~1..HEAD", "blame --summary --json HEAD~1..",
    "trace", "trace {task}", "trace {event} --json", "trace claude-code",
    "lineage", "lineage {task}", "lineage {event} --json", "lineage HEAD --dot", "lineage brew.py:4 --mermaid",
    "why brew.py:4", "why brew.py:1-9", "why --json brew.py:4",
    "status", "status --json", "verify", "verify --json", "rollback -n {event}",
    "rollback --dry-run --json {task}", "undo --dry-run", "help", "help -a", "version", "local --list",
    "push --dry-run {remote}", "replay {event}", "replay --check --json {task}",
    "replay --exec --check {event}", "gate", "gate --json HEAD..HEAD",
    "env show now", "env diff {event} now --json",
)  # fmt: skip
WRITING = (
    "new x --intent y", "edit --tag z", "claim {other}", "release {other}", "next --claim --lease 1h",
    "release {other}", "start {other}", "note x", "decide x",
    "check 1", "block -m x", "move in_progress", "review --approve", "done", "cancel {other}", "share", "reindex",
    "point v1 {event}",
    "import claude-code {sample}", "push {remote}", "fetch {remote}", "pull {remote}",
)  # fmt: skip


def snapshot(root: Path, ours: tuple[str, ...]) -> dict[str, tuple[int, int, bytes]]:
    """Returns the mode, the mtime and the bytes of every file but our own; of a symbolic link where it leads."""
    found = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if (path.is_dir() and not path.is_symlink()) or name.startswith(ours):
            continue
        status = path.lstat()
        data = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
        found[name] = (status.st_mode, status.st_mtime_ns, data)
    return found


@pytest.fixture
def lived_in(here: Here, tmp_path: Path) -> tuple[Here, dict[str, str]]:
    """A repository as people leave it: staged, changed and untracked files, a stash, hooks, an index out of date."""
    repo = Repo(here.cwd)
    task = imported(here)
    other = here.task("other")
    here("new", "mine", "--item", "x", "--start")
    event = event_on(here, task, "brew.py")
    here("rollback", event)
    (repo.path / "README").write_text("stashed\n")
    repo.git("stash", "push", "--quiet", "--", "README")
    for name, text in (("staged", "x\n"), ("untracked", "x\n"), ("README", "changed\n")):
        (repo.path / name).write_text(text)
    repo.git("add", "staged")
    (repo.path / "link").symlink_to("README")
    os.utime(repo.path / "test_brew.py", (1, 1))  # git status would refresh the index now
    marker = tmp_path / "a-hook-ran"
    for name in ("reference-transaction", "post-index-change", "pre-push", "post-checkout", "pre-auto-gc", "fsmonitor"):
        hook = repo.path / ".git" / "hooks" / name
        hook.write_text(f"#!/bin/sh\necho {name} >> '{marker}'\n")
        hook.chmod(0o755)
    repo.git("config", "core.fsmonitor", ".git/hooks/fsmonitor")
    remote = Repo(tmp_path / "remote.git")
    remote.path.mkdir()
    remote.git("init", "--quiet", "--bare")
    sample = Path(__file__).parents[2] / "pogstore" / "cli" / "sample" / "session.jsonl"
    names = {"task": task, "other": other, "event": event[:16], "remote": str(remote.path), "sample": str(sample)}
    return here, names | {"marker": str(marker)}


def test_reading_verbs_write_nothing(lived_in: tuple[Here, dict[str, str]]) -> None:
    """Beyond `.git/pog`, where the index is; refs and objects stay as they are too."""
    here, names = lived_in
    before = snapshot(here.cwd, (".git/pog/",))
    for command in READING:
        here(*command.format(**names).split(), status=None)
        assert snapshot(here.cwd, (".git/pog/",)) == before, command
    assert not Path(names["marker"]).exists(), "a hook of the user ran"


def test_blame_as_it_is_installed_writes_nothing(lived_in: tuple[Here, dict[str, str]]) -> None:
    """The way of a plain command, for the first time and again, of files that are committed, changed and untracked."""
    here, names = lived_in
    here("status")  # empties the spool
    before = snapshot(here.cwd, (".git/pog/",))
    for form in ([], ["--porcelain"], ["--json"]):
        for path in ("test_brew.py", "README", "untracked") * 2:
            command = [sys.executable, str(SCRIPT), "blame", *form, path]
            done = subprocess.run(command, cwd=here.cwd, capture_output=True, check=True)
            assert done.stdout
            assert snapshot(here.cwd, (".git/pog/",)) == before, command
    assert not Path(names["marker"]).exists(), "a hook of the user ran"


def timeless(answer: Answer) -> Answer:
    """Returns an answer without the second in which git looked at lines that are not committed."""
    moment = re.compile(r"(Not Committed Yet\n(?:.+\n)?(?:author|committer)-time) \d+")
    return answer._replace(stdout=moment.sub(r"\1", answer.stdout))


def test_the_index_may_be_deleted_at_any_time(lived_in: tuple[Here, dict[str, str]]) -> None:
    here, names = lived_in
    for command in READING:
        if "-n" in command or "dry-run" in command:
            continue
        words = command.format(**names).split()
        with_index = timeless(here(*words, status=None))
        for path in (here.cwd / ".git" / "pog").glob("index*"):
            path.unlink()
        assert timeless(here(*words, status=None)) == with_index, command


def test_writing_verbs_leave_what_is_the_users(lived_in: tuple[Here, dict[str, str]]) -> None:
    """Index, HEAD, branches, stash, reflogs, hooks, configuration and work tree."""
    here, names = lived_in
    before = snapshot(here.cwd, OURS)
    for command in WRITING:
        here(*command.format(**names).split(), status=None)
        found = snapshot(here.cwd, OURS)
        assert {
            name: each for name, each in found.items() if not name.startswith(".git/refs/pog-remotes/")
        } == before, command
    assert not Path(names["marker"]).exists(), "a hook of the user ran"


def test_a_rollback_writes_its_own_paths_only(lived_in: tuple[Here, dict[str, str]]) -> None:
    here, names = lived_in
    before = snapshot(here.cwd, OURS)
    here("undo")
    found = snapshot(here.cwd, OURS)
    assert {name for name in found if found[name] != before.get(name)} == {"brew.py"}
    here("undo")
    found = snapshot(here.cwd, OURS)
    assert {name for name in found if found[name][::2] != before[name][::2]} == set()
    assert not Path(names["marker"]).exists(), "a hook of the user ran"


@pytest.mark.parametrize(
    "config",
    [
        "",
        "[user]\n\tname = X\n",
        "# ours is below\n[pog]\n\t# kept\n\tfsync = false\n",
        "[log]\n\texcludeDecoration = refs/notes/\n\tdate = iso\n[alias]\n\tx = log\n",
    ],
    ids=["plain", "user", "pog", "log"],
)  # fmt: skip
def test_init_sets_exactly_its_settings_and_takes_exactly_those_away(repo: Repo, here: Here, config: str) -> None:
    here("init", "--remove")
    path = repo.path / ".git" / "config"
    path.write_text(path.read_text() + config)
    before, listed = path.read_bytes(), repo.git("config", "--local", "--list").splitlines()
    rest = snapshot(repo.path, (".git/pog/", ".git/config"))
    planned = here("init", "--dry-run", "--json").json["steps"]
    assert here("init", "--json").json == {"enabled": True, "changed": True, "steps": planned}
    after = path.read_bytes()
    added = repo.git("config", "--local", "--list").splitlines()
    for line in listed:
        added.remove(line)
    assert sorted(added) == [
        "log.excludedecoration=refs/pog-remotes/", "log.excludedecoration=refs/pog/", "pog.enabled=true",
    ]  # fmt: skip
    assert here("init").stdout == "pogstore was enabled here before\n"
    assert here("init", "--json").json == {"enabled": True, "changed": False, "steps": []}
    assert path.read_bytes() == after, "a second init changes nothing"
    planned = here("init", "--remove", "--dry-run", "--json").json["steps"]
    assert here("init", "--remove", "--json").json == {"enabled": False, "changed": True, "steps": planned}
    assert path.read_bytes() == before
    assert here("init", "--remove").stdout == "pogstore is disabled here; tasks and events are kept under refs/pog\n"
    assert path.read_bytes() == before
    assert snapshot(repo.path, (".git/pog/", ".git/config")) == rest


def test_init_keeps_logs_quiet(pog: Pog, repo: Repo) -> None:
    pog("init")
    pog("new", "a task")
    assert "pog" not in repo.git("log", "--decorate")
    hint = pog("init", "--remove").stderr + pog("init").stderr
    command = hint.split("quiet: git ")[1].strip().replace("'", "").split()
    assert repo.git(*command, "--format=%s") == "first"


def test_tasks_survive_a_removal(here: Here) -> None:
    task = here.task("a task")
    here("init", "--remove")
    assert here("show", task, "--json").json["title"] == "a task"
    here("note", "x", "--task", task, status=128)
    here("init")
    here("note", "x", "--task", task)
