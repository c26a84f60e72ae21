"""`git pog agent`: where our hooks stand, and the proof that what an agent says arrives."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from pogstore.agents import command_line
from pogstore.agents.claude_settings import AGENT, EVENTS
from pogstore.agents.wiring import Wiring
from pogstore.cli import _delivery
from pogstore.cli._installed import WIRINGS
from pogstore.work import spooled
from tests.cli.conftest import Here
from tests.cli.test_hook import events, said, spool_of
from tests.conftest import Pog, Repo

LINE = command_line.line(AGENT)
SCOPES = {"--project": "settings.json", "--local": "settings.local.json"}


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("before", [None, b"{}\n", b'{\r\n\t"model": "x",\r\n\t"hooks": {"Stop": []}\r\n}'])
def test_add_and_remove_leave_the_bytes_as_they_were(here: Here, scope: str, before: bytes | None) -> None:
    path = here.cwd / ".claude" / SCOPES[scope]
    if before is not None:
        path.parent.mkdir()
        path.write_bytes(before)
    assert here("agent", "add", "claude-code", scope).stdout == f"claude-code tells us what it does: {path}\n"
    line = LINE if scope == "--project" else _delivery.spelling(os.environ)(AGENT)
    assert line in [
        hook["command"] for group in json.loads(path.read_text())["hooks"]["Stop"] for hook in group["hooks"]
    ]
    written = path.read_bytes()
    assert here("agent", "add", "claude-code", scope, "--json").json["changed"] is False
    assert path.read_bytes() == written
    assert here("agent", "remove", "claude-code", scope, "--json").json["changed"] is True
    assert (path.read_bytes() if path.exists() else None) == before
    assert here("agent", "remove", "claude-code", scope).stdout == f"claude-code did not tell us: {path}\n"


def test_the_default_reaches_nobody_else(here: Here) -> None:
    added = here("agent", "add", "claude-code", "--json").json
    assert (added["scope"], added["path"]) == ("local", str(here.cwd / ".claude" / "settings.local.json"))


@pytest.mark.parametrize("configured", [False, True], ids=["HOME", "CLAUDE_CONFIG_DIR"])
def test_the_settings_of_a_person_need_no_repository(anywhere: Here, tmp_path: Path, configured: bool) -> None:
    env = {"CLAUDE_CONFIG_DIR": str(tmp_path / "configured")} if configured else {}
    folder = tmp_path / "configured" if configured else Path(os.environ["HOME"]) / ".claude"
    anywhere("agent", "add", "claude-code", "--user", env=env)
    assert (folder / "settings.json").exists()
    anywhere("agent", "remove", "claude-code", "--user", env=env)
    assert not (folder / "settings.json").exists()


def test_print_writes_nothing(here: Here) -> None:
    before = sorted(here.cwd.rglob("*"))
    printed = here("agent", "add", "claude-code", "--print")
    assert set(json.loads(printed.stdout)["hooks"]) == set(EVENTS)
    assert json.loads(here("agent", "add", "claude-code", "--print", "--json").json["snippet"]) == printed.json
    assert sorted(here.cwd.rglob("*")) == before


def test_scopes_exclude_each_other(here: Here) -> None:
    for verb, others in (("add", ("--user", "--local", "--print")), ("remove", ("--user", "--local"))):
        for other in others:
            assert "cannot be combined" in here("agent", verb, "claude-code", "--project", other, status=129).stderr


def test_list_tells_where_and_how_far(here: Here) -> None:
    def listed() -> dict[str, str]:
        rows = [re.split(r"  +", line) for line in here("agent", "list").stdout.splitlines()]
        return {scope: words for agent, scope, words, _ in rows if agent == AGENT}

    here("agent", "add", "claude-code", "--project")
    assert listed() == {"project": "installed", "local": "not installed", "user": "not installed"}
    path = here.cwd / ".claude" / "settings.json"
    path.write_text(path.read_text().replace(f'"{LINE}"', f'"{LINE} # mine"', 1))
    assert listed()["project"] == f"{len(EVENTS)} of {len(EVENTS)} events, 1 changed"
    found = here("agent", "list", "--json").json[0]
    assert (found["scope"], found["exact"], len(found["events"])) == ("project", False, len(EVENTS))
    assert "warning: 1 changed line of ours left" in here("agent", "remove", "claude-code", "--project").stderr


def test_add_says_what_is_missing_or_double(here: Here) -> None:
    assert here("agent", "add", "claude-code", "--project").stderr == ""
    assert "in the project settings too" in here("agent", "add", "claude-code", "--local").stderr
    here("init", "--remove")
    assert "git pog init" in here("agent", "add", "claude-code", "--project").stderr


def test_a_file_that_is_no_json_is_left_alone(here: Here) -> None:
    path = here.cwd / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text("{ // a comment\n}")
    assert here("agent", "add", "claude-code", "--project", status=128).stderr.startswith("error: ")
    assert path.read_text() == "{ // a comment\n}"


def test_settings_that_lead_out_of_the_work_tree_are_refused(here: Here, tmp_path: Path) -> None:
    outside = tmp_path / "outside.json"
    outside.write_text("{}\n")
    path = here.cwd / ".claude" / "settings.json"
    path.parent.mkdir()
    path.symlink_to(outside)
    answer = here("agent", "add", "claude-code", "--project", status=4)
    assert answer.stderr.startswith(f"error: '{path}' leads out of the work tree, to '{outside}'\nhint: ")
    assert outside.read_text() == "{}\n"


def test_the_line_as_it_stands_in_the_settings_records(pog: Pog, repo: Repo) -> None:
    pog("init")
    pog("agent", "add", "claude-code")
    settings = json.loads((repo.path / ".claude" / "settings.local.json").read_text())
    for event in EVENTS:
        command = settings["hooks"][event][0]["hooks"][0]["command"]
        done = subprocess.run(
            ["sh", "-c", command], input=said(repo, event).encode(), capture_output=True, cwd=repo.path, check=False
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert events(repo) == list(EVENTS)


def test_a_made_up_session_arrives(pog: Pog, tmp_path: Path) -> None:
    """Case UC-43: a hook that does nothing and answers 0 would look as if all were well."""
    answer = pog("agent", "test", "claude-code", cwd=tmp_path)
    assert answer.stdout.splitlines()[-1] == "the session arrived, and the file that it wrote is in the record"
    found = pog("agent", "test", "claude-code", "--json", cwd=tmp_path).json
    assert found["ok"]
    assert found["stored"]
    assert [each["arrived"] for each in found["events"]] == [True] * 6
    assert list(tmp_path.glob("pog-agent-test-*")) == []


def test_what_does_not_arrive_is_said(here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cases UC-10 and UC-71: no git-pog where the agent looks, or one that talks to it."""
    monkeypatch.setattr(_delivery, "_script", lambda: tmp_path / "gone" / "git-pog")
    folder = tmp_path / "bin"
    folder.mkdir()
    git = subprocess.run(["sh", "-c", "command -v git"], capture_output=True, text=True, check=True).stdout.strip()
    (folder / "git").symlink_to(git)
    (folder / "sh").symlink_to("/bin/sh")
    answer = here("agent", "test", "claude-code", status=1, env={"PATH": str(folder)})
    assert "hint: git finds no git-pog" in answer.stderr
    assert {line.split()[1] for line in answer.stdout.splitlines()} == {"lost"}
    talking = folder / "git-pog"
    talking.write_text("#!/bin/sh\necho hello\n")
    talking.chmod(0o755)
    found = here("agent", "test", "claude-code", "--json", status=1, env={"PATH": str(folder)}).json
    assert (found["program"], found["events"][0]["printed"]) == (str(talking), "hello\n")


def test_a_session_of_a_test_leaves_nothing_here(here: Here, repo: Repo) -> None:
    here("agent", "test", "claude-code")
    assert spooled.pending(spool_of(repo)) == 0


def test_the_line_records_for_an_agent_with_another_path(pog: Pog, repo: Repo) -> None:
    """git-pog is on the PATH of one terminal; the agent is started elsewhere."""
    pog("init")
    pog("agent", "add", "claude-code")
    settings = json.loads((repo.path / ".claude" / "settings.local.json").read_text())
    command = settings["hooks"]["Stop"][0]["hooks"][0]["command"]
    bare = {name: value for name, value in os.environ.items() if not name.startswith("POG_")} | {
        "PATH": "/usr/bin:/bin"
    }
    if shutil.which("git-pog", path=bare["PATH"]):
        pytest.skip("git-pog is installed for the whole system")
    done = subprocess.run(
        ["sh", "-c", command],
        input=said(repo, "Stop").encode(),
        capture_output=True,
        cwd=repo.path,
        check=False,
        env=bare,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert events(repo) == ["Stop"]


def test_a_git_pog_that_lies_where_all_find_it_is_not_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = _delivery._script()
    monkeypatch.setattr(_delivery, "EVERYWHERE", (str(tmp_path / "usr"),))
    env = {"HOME": str(tmp_path), "PATH": str(script.parent)}
    assert _delivery.spelling(env)(AGENT) == command_line.placed_line(AGENT, script.parent)
    for folder in ("usr", ".local/bin"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "git-pog").symlink_to(script)
        assert _delivery.spelling(env)(AGENT) == LINE
        (tmp_path / folder / "git-pog").unlink()


def test_settings_of_one_s_own_are_kept_out_of_git(here: Here, repo: Repo) -> None:
    """`git add -A` of an agent would commit them, and its first look would tell of them."""
    exclude = repo.path / ".git" / "info" / "exclude"
    before = exclude.read_bytes() if exclude.exists() else None
    assert (
        f"git ignores that file from now on: a line in {exclude} says so\n"
        in here("agent", "add", "claude-code").stderr
    )
    assert repo.git("status", "--porcelain") == ""
    assert here("agent", "add", "claude-code").stderr == ""
    assert f"our line is taken out of {exclude} again\n" in here("agent", "remove", "claude-code").stderr
    assert (exclude.read_bytes() if exclude.exists() else None) == before
    here("agent", "add", "claude-code", "--project")
    assert ".claude/" in repo.git("status", "--porcelain"), "what a repository shares is for git"


SHARED = [each for each in WIRINGS.values() if each.files["local"] == each.files["project"]]


@pytest.mark.parametrize("wired", SHARED, ids=lambda each: each.agent)
def test_an_agent_with_one_file_has_it_for_one_person_or_for_all(here: Here, repo: Repo, wired: Wiring) -> None:
    path = here.cwd / wired.files["local"]

    def listed() -> list[str]:
        found = here("agent", "list", "--json").json
        return [each["scope"] for each in found if each["agent"] == wired.agent and each["events"]]

    assert "git ignores that file from now on" in here("agent", "add", wired.agent).stderr
    assert (repo.git("status", "--porcelain"), listed()) == ("", ["local"])
    assert "is taken out of" in here("agent", "remove", wired.agent).stderr
    assert not path.exists()
    assert here("agent", "add", wired.agent, "--project", "--json").json["changed"]
    assert listed() == ["project"]
    repo.git("add", wired.files["project"])
    refused = here("agent", "add", wired.agent, status=128).stderr
    assert f"error: '{wired.files['project']}': git tracks it, so that it is not yours alone" in refused
    assert f"git pog agent add {wired.agent} --project" in refused
    assert here("agent", "remove", wired.agent, "--json").json["left"] == 0
    assert not path.exists()


def test_doctor_knows_every_agent(here: Here) -> None:
    for agent in WIRINGS:
        here("agent", "add", agent, "--user")
    checks = here("doctor", "--json").json["checks"]
    assert [each["text"] for each in checks if each["check"] == "hooks" and each["result"] == "ok"] == [
        f"{agent}, user settings: installed" for agent in WIRINGS
    ]
    here("agent", "add", "cursor", "--project")
    texts = [each["text"] for each in here("doctor", "--json").json["checks"]]
    assert texts.count("told twice: in the project and user settings") == 1, "of that agent alone"


@pytest.mark.parametrize("agent", WIRINGS)
def test_a_made_up_session_of_each_agent_arrives(pog: Pog, tmp_path: Path, agent: str) -> None:
    """Case UC-43."""
    found = pog("agent", "test", agent, "--json", cwd=tmp_path).json
    assert found["ok"], found
    assert {each["printed"] for each in found["events"]} == {""}
