"""`git pog doctor`: what a stranger needs to know when nothing is recorded."""

import json
import os
import time
from pathlib import Path

import pytest

from pogstore.agents import claude_settings, command_line
from pogstore.agents.claude_settings import AGENT
from pogstore.cli import _delivery, doctor
from pogstore.work import githooks, spooled
from tests.cli.conftest import Here
from tests.cli.test_hook import spool_of
from tests.conftest import Repo

DAY = 86_400


def checks(here: Here, name: str, status: int | None = None, **env: str) -> list[tuple[str, str, str]]:
    """Returns result, text and hint of the checks of one name."""
    found = here("doctor", "--json", status=status, env=env).json
    assert found["ok"] == all(each["result"] != "wrong" for each in found["checks"])
    return [(each["result"], each["text"], each["hint"] or "") for each in found["checks"] if each["check"] == name]


def settings_of(here: Here) -> Path:
    return here.cwd / ".claude" / "settings.local.json"


def test_all_is_well(here: Here) -> None:
    here("agent", "add", "claude-code")
    assert {line.split()[0] for line in here("doctor").stdout.splitlines()} == {"ok"}


def test_not_enabled_paused_disabled_and_no_agent(here: Here, repo: Repo) -> None:
    """PC-124."""
    assert checks(here, "hooks")[0][:2] == ("note", "no agent tells us what it does")
    assert checks(here, "consent", POG_DISABLE="1")[0][2] == "unset it to record"
    here("pause")
    assert "git pog pause --resume" in checks(here, "consent", 0)[0][2]
    here("init", "--remove")
    assert checks(here, "consent", 1) == [
        ("wrong", "pogstore is not enabled in this repository", "run 'git pog init'"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("first", "reason"),
    [
        ("#!/no/such/python", "its interpreter is gone: /no/such/python"),
        ("#!/home/ada/my venv/bin/python", "has a space in it or is too long: /home/ada/my venv/bin/python"),
        (f"#!/{'x' * 200}/python", "has a space in it or is too long"),
        ("#!/bin/sh\nexit 3", "it does not say what it is"),
    ],
)
def test_a_program_that_does_not_start(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str, reason: str
) -> None:
    """UC-71."""
    script = tmp_path / "git-pog"
    script.write_text(f"{first}\n")
    script.chmod(0o755)
    monkeypatch.setattr(_delivery, "program", lambda _: str(script))
    result, text, hint = checks(here, "program", 1)[0]
    assert result == "wrong"
    assert text.startswith(f"{script} does not start: ")
    assert reason in text
    assert hint


def test_a_line_that_starts_what_is_not_there(here: Here) -> None:
    """UC-71: a person wrote a place into the line, or ours names an interpreter that is gone."""
    here("agent", "add", "claude-code")
    text = settings_of(here).read_text()
    for line, missing in (
        ("/opt/old venv/bin/git-pog hook claude-code", []),  # without quotes it is two words
        ("'/opt/old venv/bin/git-pog' hook claude-code", ["/opt/old venv/bin/git-pog"]),
        ("/bin/true && /opt/gone/git-pog hook claude-code || true", ["/opt/gone/git-pog"]),
        (
            command_line.direct_line(AGENT, Path("/o p/python3"), Path("/o p/bin")),
            ["/o p/python3", "/o p/bin/git-pog"],
        ),
        ("echo 'unbalanced pog hook claude-code", []),
    ):
        ours = json.dumps(_delivery.spelling(os.environ)(AGENT))
        settings_of(here).write_text(text.replace(ours, json.dumps(line)))
        gone = [found for found in checks(here, "hooks") if "which is not there" in found[1]]
        assert [each[1] for each in gone] == [f"a line of ours starts {path}, which is not there" for path in missing]
        assert all("git pog agent add claude-code --local" in each[2] for each in gone)


def test_a_line_that_only_this_terminal_understands(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """git-pog is on the PATH here, and no agent that is started elsewhere has that."""
    monkeypatch.setattr(_delivery, "EVERYWHERE", (str(tmp_path),))
    here("agent", "add", "claude-code", "--project")
    result, text, hint = checks(here, "hooks", 0)[-1]
    assert result == "note"
    assert text.startswith("the line in the project settings finds git-pog on the PATH alone")
    assert hint == "link it into ~/.local/bin"
    (tmp_path / "git-pog").symlink_to(_delivery._script())
    assert [found[0] for found in checks(here, "hooks", 0)] == ["ok"]


def test_a_place_in_a_line_where_nothing_lies_any_more(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """UC-71."""
    monkeypatch.setattr(_delivery, "EVERYWHERE", (str(tmp_path),))
    monkeypatch.setattr(_delivery, "_script", lambda: tmp_path / "my venv" / "git-pog")
    (tmp_path / "my venv").mkdir()
    (tmp_path / "my venv" / "git-pog").write_text("#!/bin/sh\n")
    (tmp_path / "my venv" / "git-pog").chmod(0o755)
    here("agent", "add", "claude-code")
    assert [found[0] for found in checks(here, "hooks", 0)] == ["ok"]
    (tmp_path / "my venv" / "git-pog").unlink()
    result, text, _ = checks(here, "hooks", 1)[-1]
    assert (result, text) == (
        "wrong",
        f"a line of ours looks for git-pog in {tmp_path / 'my venv'}, and it is not there",
    )


@pytest.mark.parametrize("text", ["{", "{ // mine\n}", '{"a": 1,}', "\ufeff{", "[" * 100_000])
def test_settings_that_nobody_can_read(here: Here, text: str) -> None:
    settings_of(here).parent.mkdir()
    settings_of(here).write_text(text)
    wrong = [found for found in checks(here, "hooks", 1) if found[0] == "wrong"]
    assert len(wrong) == 1
    assert wrong[0][2].startswith(f"mend {settings_of(here)}")


def test_hooks_that_are_switched_off(here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the person, and by the administrator, who alone can say two of the things."""
    here("agent", "add", "claude-code")
    path = settings_of(here)
    path.write_text('{"disableAllHooks": true, "allowManagedHooksOnly": true,' + path.read_text()[1:])
    assert checks(here, "hooks", 1)[0][1] == f"{path}: 'disableAllHooks' keeps hooks from running"
    path.write_text(path.read_text().replace('": true', '": false'))
    assert checks(here, "hooks", 0)
    managed = tmp_path / "managed-settings.json"
    monkeypatch.setattr(claude_settings, "MANAGED", managed)
    managed.write_text('{"disableAllHooks": "yes"}')
    assert checks(here, "hooks", 0)
    managed.write_text("nonsense")
    assert checks(here, "hooks", 0)
    part = tmp_path / "managed-settings.d" / "10.json"
    part.parent.mkdir()
    part.write_text('{"allowManagedHooksOnly": true}')
    assert checks(here, "hooks", 1)[0][1] == f"{part}: 'allowManagedHooksOnly' keeps hooks from running"


def test_what_belongs_to_another(here: Here, repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a command that was run as root; who runs a test as root stands for the other one."""
    current = spool_of(repo) / "current"
    current.touch(0o600)
    user = current.stat().st_uid + 1
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(spooled, "set_aside_parts", lambda _: pytest.fail("it may be closed to us"))
    result, text, hint = checks(here, "spool", 1)[0]
    assert (result, text.split(" belongs to ")[0]) == ("wrong", str(spool_of(repo)))
    assert f"chown -R {user}" in hint


def test_a_directory_that_others_may_write_to(here: Here, repo: Repo) -> None:
    spool_of(repo).chmod(0o777)
    result, _, hint = checks(here, "spool", 1)[0]
    assert (result, hint) == ("wrong", f"make it yours alone: chmod 700 '{spool_of(repo)}'")


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is write-protected for root")
@pytest.mark.parametrize("name", ["spool", "spool/current", "lost"])
def test_what_cannot_be_written_to(here: Here, repo: Repo, name: str) -> None:
    path = repo.path / ".git" / "pog" / name
    (spool_of(repo) / "current").touch(0o600)
    before = path.stat().st_mode
    path.chmod(0o500 if path.is_dir() else 0o400)
    found = checks(here, "spool", 1)[0]
    path.chmod(before)
    assert found[1] == f"{path} cannot be written to"


def test_records_that_wait_for_days(here: Here, repo: Repo) -> None:
    waiting = spool_of(repo) / "current"
    waiting.write_bytes(b"x")
    assert checks(here, "waiting") == []
    old = time.time() - 3 * DAY
    os.utime(waiting, (old, old))
    (found,) = checks(here, "waiting", 0)
    assert found[0] == "note"
    assert "git pog drain" in found[2]
    waiting.write_bytes(b"")
    os.utime(waiting, (old, old))
    assert checks(here, "waiting") == [], "an empty file is no record"


def test_what_was_set_aside(here: Here, repo: Repo) -> None:
    (spool_of(repo) / spooled.DAMAGED).mkdir()
    (spool_of(repo) / spooled.DAMAGED / "part").write_bytes(b"x")
    assert checks(here, "waiting", 0)[0][1] == "1 damaged part of records set aside"
    assert checks(here, "spool")[0][0] == "ok", "it hinders nobody"


def test_the_hook_that_keeps_prompts_at_home(here: Here, repo: Repo) -> None:
    """UC-11, T21."""
    assert checks(here, "pre-push") == []
    here("init", "--pre-push")
    assert checks(here, "pre-push", 0) == [("ok", "'git push' takes nothing private along", "")]
    hook = repo.path / ".git" / "hooks" / githooks.PRE_PUSH
    written = hook.read_text()
    hook.write_text(written + "true\n")
    assert checks(here, "pre-push", 0)[0][:2] == ("note", f"{hook} is not as we wrote it")
    hook.unlink()
    assert checks(here, "pre-push", 1)[0][0] == "wrong"
    (repo.path / "lefthook.yml").write_text("pre-commit: {}\n")
    assert checks(here, "pre-push", 1)[0][1].endswith("any more: lefthook does not call us")


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("push", "refs/*:refs/*", True),
        ("push", "+refs/*:refs/backup/*", True),
        ("push", "refs/pog/*:refs/pog/*", True),
        ("push", "refs/pog/private/*:refs/x/*", True),
        ("push", "refs/pog/shelf/*:refs/pog/shelf/*", True),
        ("push", "refs/pog-remotes/o/*:refs/pog-remotes/o/*", True),
        ("push", "refs/p*:refs/p*", True),
        ("mirror", "true", True),
        ("mirror", "false", False),
        ("push", "refs/heads/*:refs/heads/*", False),
        ("push", "refs/pog/tasks/*:refs/pog/tasks/*", False),
        ("push", "HEAD", False),
        ("push", ":", False),
        ("push", ":refs/pog/private/x", False),
        ("push", "^refs/pog/private/*", False),
    ],
)
def test_pushes_that_take_prompts_along(here: Here, repo: Repo, name: str, value: str, told: bool) -> None:
    repo.git("config", "remote.origin.url", "../elsewhere")
    repo.git("config", f"remote.origin.{name}", value)
    found = checks(here, "refspecs", 1 if told else 0)
    assert [each[:2] for each in found] == (
        [("wrong", f"remote.origin.{name} {value} takes what is private along")] if told else []
    )
    if told:
        here("init", "--pre-push")
        assert checks(here, "refspecs", 0)[0][0] == "note", "the hook holds it back"


def test_a_choice_is_no_leak(here: Here, repo: Repo) -> None:
    repo.git("config", "remote.origin.push", "refs/*:refs/*")
    repo.git("config", "remote.origin.pogPrivate", "true")
    assert checks(here, "refspecs", 0)[0][0] == "note"


def test_it_looks_and_changes_nothing(here: Here, repo: Repo) -> None:
    here("init", "--pre-push")
    before = {path: (path.lstat().st_mtime_ns, path.lstat().st_size) for path in sorted(repo.path.rglob("*"))}
    here("doctor", status=None)
    assert {path: (path.lstat().st_mtime_ns, path.lstat().st_size) for path in sorted(repo.path.rglob("*"))} == before


def test_a_spool_without_an_owner_we_know(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def unknown(_: int) -> None:
        raise KeyError

    monkeypatch.setattr("pwd.getpwuid", unknown)
    assert doctor._owner(tmp_path) == f"user {tmp_path.stat().st_uid}"
