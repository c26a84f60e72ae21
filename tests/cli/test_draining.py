"""What hooks left comes into the store by itself, before commands that write and, if it takes no time, that read."""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import click
import pytest

from pogstore.cli import _draining
from pogstore.cli.main import cli
from pogstore.store.lock import locked
from pogstore.store.store import open_store
from pogstore.work import setup, spool, spooled
from tests.cli.conftest import Here
from tests.cli.test_hook import HOOK, SCRIPT, spool_of
from tests.cli.test_quiet import READING
from tests.cli.test_untouched import paths_of
from tests.conftest import STARTED, Pog, Repo, run


def tell(repo: Repo, event: str, **members: Any) -> None:
    said = {"session_id": "s", "hook_event_name": event, "cwd": str(repo.path), **members}
    run([SCRIPT, *HOOK], repo.path, json.dumps(said), {"POG_NOW": str(STARTED)})


def write(repo: Repo, name: str = "tea.txt", call: str = "t1") -> None:
    """Lets an agent write a file, and tell of it."""
    path = repo.path / name
    step = {"tool_name": "Write", "tool_use_id": call, "tool_input": {"file_path": str(path), "content": "tea\n"}}
    tell(repo, "PreToolUse", **step)
    path.write_text("tea\n")
    tell(repo, "PostToolUse", **step, tool_response={"filePath": str(path)})


@pytest.mark.parametrize("command", ["log --json", "blame --json tea.txt", "list --all --json", "verify --json"])
def test_a_command_that_reads_finds_what_hooks_left(here: Here, repo: Repo, command: str) -> None:
    tell(repo, "UserPromptSubmit", prompt="Make tea.")
    write(repo)
    answer = here(*command.split())
    assert answer.stderr == ""
    assert spooled.pending(spool_of(repo)) == 0
    assert [event["kind"] for event in here("log", "--json").json] == ["stepped", "prompted", "moved", "defined"]


def test_every_command_that_reads_is_known_to_be_one() -> None:
    """A new one fails here until it is in one of the lists; else it waits for others, and settles what was cut off."""
    paths = sorted(paths_of(cli), key=len, reverse=True)
    apart = {"help", "version", *_draining.BY_THEMSELVES}
    for command in READING:
        path = next(path for path in paths if f"{command} ".startswith(f"{path} "))
        dry = {"-n", "--dry-run"}.intersection(command.split())
        assert dry or path in apart or path in _draining.READING or path in _draining.WRITING_WITH, command
    for name, options in _draining.WRITING_WITH.items():
        found = cli.get_command(click.Context(cli), name)
        assert found is not None
        assert {param.name for param in found.params}.issuperset(options)
        assert _draining.is_reading(name, {})
        assert not any(_draining.is_reading(name, {option: "x"}) for option in options)


def test_a_command_that_writes_stores_it_first(here: Here, repo: Repo) -> None:
    tell(repo, "UserPromptSubmit", prompt="Make tea.")
    here.task("a task")
    kinds = [event["kind"] for event in here("log", "--json").json]
    assert kinds == ["defined", "prompted", "moved", "defined"]


@pytest.mark.parametrize("command", ["undo --dry-run", "push --dry-run nowhere", "init --dry-run"])
def test_a_dry_run_stores_nothing(here: Here, repo: Repo, command: str) -> None:
    tell(repo, "UserPromptSubmit", prompt="Make tea.")
    before = sorted((spool_of(repo)).iterdir())
    answer = here(*command.split(), status=None)
    assert ("pending: 1" in answer.stderr.splitlines()) == (command != "init --dry-run")
    assert sorted((spool_of(repo)).iterdir()) == before


def test_while_another_writes_a_reader_says_what_waits(here: Here, repo: Repo) -> None:
    tell(repo, "UserPromptSubmit", prompt="Make tea.")
    with locked(repo.path / ".git" / "pog"):
        assert here("list", "--all").stderr.splitlines()[0] == "pending: 1"
        assert here("list", "--all", "--json").stderr == ""
        assert here("status").stdout.splitlines()[-1] == "pending: 1"
        assert here("status", "--json").json["pending"] == 1
    assert here("list", "--all").stderr == ""


def test_a_reader_leaves_much_to_others(here: Here, repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_draining, "READERS_RECORDS", 1)
    for prompt in ("one", "two"):
        tell(repo, "UserPromptSubmit", prompt=prompt)
    assert here("list").stderr.splitlines()[0] == "pending: 2"
    assert here("drain", "--json").json == {"stored": 2, "pending": 0, "reason": None}
    assert here("drain").stdout == "stored: 0, pending: 0\n"


def test_what_cannot_be_stored_stops_nobody(here: Here, repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyError("tool_input")

    tell(repo, "UserPromptSubmit", prompt="Make tea.")
    with monkeypatch.context() as patch:
        patch.setattr("pogstore.agents.drain.drain", fail)
        answer = here("new", "a task")
        assert answer.stderr.splitlines()[0] == "pending: 1 (KeyError: 'tool_input')"
        assert here("drain", status=1).stderr == "warning: KeyError: 'tool_input'\n"
        assert here("init", "--remove", status=1).stderr.startswith("error: 1 record waits to be stored\n")
    assert here("drain", "--json").json["stored"] == 1


def test_disabled_stores_nothing(here: Here, repo: Repo) -> None:
    tell(repo, "UserPromptSubmit", prompt="Make tea.")
    here("list", POG_DISABLE="1")
    assert spooled.pending(spool_of(repo)) == 1
    here("drain", status=4, POG_DISABLE="1")


@pytest.mark.parametrize("command", ["pause", "init --remove"])
def test_what_waits_is_stored_before_the_spool_goes(here: Here, repo: Repo, command: str) -> None:
    tell(repo, "UserPromptSubmit", prompt="Make tea.")
    here(*command.split())
    assert not spool_of(repo).exists()
    assert [event["kind"] for event in here("log", "--json").json] == ["prompted", "moved", "defined"]


def test_a_call_without_an_end_is_stored_before_the_spool_goes(here: Here, repo: Repo) -> None:
    given = {"file_path": str(repo.path / "tea.txt"), "content": "tea"}
    tell(repo, "PreToolUse", tool_name="Write", tool_use_id="t1", tool_input=given)
    here("drain")
    assert here("log", "--json").json == []
    here("init", "--remove")
    assert here("log", "--json").json[0]["kind"] == "stepped"


def test_a_damaged_part_is_set_aside_and_said(here: Here, repo: Repo) -> None:
    tell(repo, "UserPromptSubmit", prompt="Make tea.")

    def tear(end: bytes) -> None:
        with (spool_of(repo) / "current").open("ab") as file:
            file.write(b"\n\0pog 99 " + end)

    tear(b"for a program")
    assert here("log", "--jsonl").stderr == ""
    [first] = here("status", "--json").json["set_aside"]
    Path(first).unlink()
    tear(b"torn")
    assert "warning: 1 damaged part of records set aside" in here("list").stderr
    [kept] = here("status", "--json").json["set_aside"]
    assert Path(kept).read_bytes() == b"\n\0pog 99 torn"
    assert f"  {kept}" in here("status").stdout.splitlines()
    assert "note" in here("doctor").stdout


def test_status_says_what_was_lost(here: Here, repo: Repo) -> None:
    spool.count_loss(os.fsencode(spool_of(repo)), b"full", STARTED)
    spool.count_loss(os.fsencode(spool_of(repo)), b"full", STARTED)
    line = here("status").stdout.splitlines()[-1]
    assert line == "not recorded: 2 hook calls, last on 2026-01-05 09:00:00 +0000: the disk was full"
    assert here("status", "--json").json["losses"] == [{"reason": "full", "times": 2, "last": STARTED}]


def test_status_says_who_records_and_whether_it_is_paused(here: Here) -> None:
    here("agent", "add", "claude-code")
    here("pause")
    assert here("status").stdout.splitlines()[-2:] == [
        "recording claude-code: local settings",
        "paused: nothing that agents do is recorded",
    ]
    found = here("status", "--json").json
    assert (found["paused"], [each["scope"] for each in found["hooks"]]) == (True, ["local"])


def test_a_setting_that_changed_reaches_the_hooks_with_the_next_drain(here: Here, repo: Repo) -> None:
    repo.git("config", "pog.maxBlob", "77")
    tell(repo, "Stop")
    here("list")
    assert spool.settings(os.fsencode(spool_of(repo)))[:2] == (77, True)


def test_a_command_that_finds_nothing_waiting_loads_nothing_for_it(pog: Pog, repo: Repo) -> None:
    pog("init")
    code = (
        "import sys\nfrom pogstore.cli.main import main\ntry:\n    main()\nfinally:\n"
        "    print('pogstore.agents.claude_code' in sys.modules, file=sys.stderr)"
    )

    def loaded() -> str:
        done = run([sys.executable, "-c", code, "list"], repo.path)
        return done.stderr.splitlines()[-1]

    assert loaded() == "False"
    tell(repo, "Stop")
    assert loaded() == "True"


def unprivileged() -> list[str]:
    """Returns what goes before a command so that permissions hold for it, as they do for everybody but root."""
    if os.geteuid():
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root may write anywhere, and there is no setpriv")
    dropped = "-dac_override,-dac_read_search"
    return ["setpriv", f"--bounding-set={dropped}", f"--inh-caps={dropped}"]


def test_a_read_only_repository_can_be_read(here: Here, repo: Repo) -> None:
    here.task("a task")
    tell(repo, "UserPromptSubmit", prompt="Make tea.")
    drop = unprivileged()
    folders = [path for path in [repo.path / ".git", *(repo.path / ".git").rglob("*")] if path.is_dir()]
    try:
        for folder in folders:
            folder.chmod(0o500)
        done = run([*drop, SCRIPT, "list"], repo.path)
        assert (done.returncode, done.stderr) == (0, "pending: 1\n")
        assert "a task" in done.stdout
        checked = run([*drop, SCRIPT, "doctor", "--json"], repo.path)
        assert checked.returncode == 1
        assert "spool cannot be written to" in checked.stdout
    finally:
        for folder in folders:
            folder.chmod(0o700)


def doctor(here: Here, check: str, status: int = 1) -> tuple[str, str]:
    """Returns the worst result of one check, and its hint."""
    found = [each for each in here("doctor", "--json", status=status).json["checks"] if each["check"] == check]
    worst = max(found, key=lambda each: ("ok", "note", "wrong").index(each["result"]))
    return worst["result"], worst["hint"] or ""


def test_doctor_finds_nothing_where_all_is_well(here: Here) -> None:
    here("agent", "add", "claude-code")
    answer = here("doctor")
    assert {line.split()[0] for line in answer.stdout.splitlines()} == {"ok"}
    assert answer.stderr == ""


def test_doctor_says_what_is_wrong_and_what_to_do(here: Here, repo: Repo) -> None:
    """Cases UC-10, UC-11: hooks that are there and do nothing, and hooks that somebody dropped."""
    assert doctor(here, "hooks", 0) == ("note", "'git pog agent add claude-code' lets it")
    here("agent", "add", "claude-code", "--project")
    path = repo.path / ".claude" / "settings.json"
    whole = path.read_text()
    path.write_text(whole.replace("pog hook claude-code", "pog hook claude-code --old"))
    assert doctor(here, "hooks")[1] == "'git pog agent add claude-code --project' adds what is missing"
    path.write_text("{")
    assert doctor(here, "hooks")[0] == "wrong"
    path.write_text(whole)
    here("agent", "add", "claude-code", "--user")
    assert doctor(here, "hooks", 0) == ("note", "remove one: 'git pog agent remove'")
    assert doctor(here, "program", 0)[0] == "ok"

    repo.git("config", "pog.fsync", "false")
    assert doctor(here, "spool") == ("wrong", "run 'git pog init' again")
    here("init")
    spool_of(repo).chmod(0o777)
    assert doctor(here, "spool")[1].startswith("make it yours alone: chmod 700")
    spool_of(repo).chmod(0o700)

    for refspec, wrong in (
        ("+refs/*:refs/*", True), ("+refs/pog/tasks/*:refs/pog/tasks/*", True), ("refs/pog/*:refs/pog/*", False),
        ("+refs/heads/*:refs/remotes/origin/*", False), ("+refs/pog/*:refs/pog-remotes/origin/*", False),
    ):  # fmt: skip
        repo.git("config", "remote.origin.fetch", refspec)
        assert (here("doctor", status=None).status == 1) == wrong, refspec
    here("pause")
    assert doctor(here, "consent", 0)[0] == "note"
    here("init", "--remove")
    assert doctor(here, "consent") == ("wrong", "run 'git pog init'")


def test_doctor_without_a_program_and_without_a_spool(here: Here, repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pogstore.cli._delivery.program", lambda _: None)
    assert doctor(here, "program")[0] == "wrong"
    gone = repo.path / "git-pog"
    gone.write_text("#!/no/such/python\n")
    gone.chmod(0o755)
    monkeypatch.setattr("pogstore.cli._delivery.program", lambda _: str(gone))
    assert doctor(here, "program") == ("wrong", "install it again, in a path without a space")
    setup.spool_of(open_store(repo.path).layout).rename(repo.path / "elsewhere")
    assert doctor(here, "spool") == ("wrong", "run 'git pog init' again")
