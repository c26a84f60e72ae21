"""`git pog gate`, as a hook of git and CI call it."""

import json
from pathlib import Path

import pytest

from pogstore.model import Defined
from pogstore.store.store import open_store
from pogstore.work import defined_here
from tests.cli.conftest import Here
from tests.conftest import SECOND, STARTED, Repo


@pytest.fixture
def work(here: Here, repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Here:
    """A task that allows `src` alone, with a check and an approval that is needed; a command wrote outside of it."""
    for name in ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"):
        monkeypatch.setenv(name, f"{STARTED // SECOND + 86_400} +0000")
    repo.git("tag", "base")
    here("new", "a `task` | with marks", "--allow", "src/**", "--check", "sh check.sh", "--approvals", "1", "--start")
    write(here, "src/a.py", "value = first(1)")
    write(here, "other.py", "value = second(2)")
    return here


def write(here: Here, path: str, text: str) -> None:
    here("run", "--", "sh", "-c", f"mkdir -p src; echo '{text}' > {path}")


def rules(said: str) -> list[str]:
    return [each["rule"] for each in json.loads(said)["problems"]]


def test_it_says_what_is_wrong_in_a_table_and_with_its_status(work: Here, repo: Repo) -> None:
    repo.git("add", "--all")
    found = work("gate", "--staged", status=1)
    assert found.stdout.splitlines()[0].split()[:2] == ["path", "other.py:1"]
    assert found.stdout.splitlines()[-1] == "2 files: 2 lines of 1 task, 0 not recorded; 3 faults"
    assert rules(work("gate", "--json", status=1).stdout) == ["path", "approvals", "check"]


def test_a_range_is_judged_as_a_pull_request_shows_it(work: Here, repo: Repo) -> None:
    repo.commit(message="work")
    value = work("gate", "base..HEAD", "--json", status=1).json
    assert (value["ok"], value["files"], value["covered"], value["uncovered"]) == (False, 2, 2, 0)
    assert value["problems"][0] | {"task": "", "reason": ""} == {
        "rule": "path", "path": "other.py", "lines": [[1, 1]], "task": "", "reason": "",
    }  # fmt: skip
    assert value["tasks"][0]["approvals"] == {"needed": 1, "have": 0}
    assert value["tasks"][0]["checks"] == [{"command": "sh check.sh", "state": "missing"}]
    summary = work("gate", "base...HEAD", "--summary", status=1).stdout
    assert summary.startswith("Limits of agents: **3 faults**, in 2 changed files\n")
    assert "``a `task` \\| with marks``" in summary


def test_nothing_to_judge_is_no_fault(here: Here) -> None:
    assert here("gate").stdout == "0 files: 0 lines of 0 tasks, 0 not recorded; no fault\n"
    assert here("gate", "HEAD..HEAD", "--json").json["ok"] is True


def test_a_check_that_was_recorded_to_pass_need_not_run_again(work: Here, repo: Repo) -> None:
    (repo.path / "check.sh").write_text("exit 0\n")
    work("run", "--", "sh", "check.sh")
    repo.git("add", "src")
    assert rules(work("gate", "--json", status=1).stdout) == ["approvals"]
    write(work, "src/b.py", "value = third(3)")
    repo.git("add", "src")
    found = work("gate", "--json", status=1).json
    assert found["tasks"][0]["checks"][0]["state"] == "stale"
    (repo.path / "check.sh").write_text("exit 3\n")
    work("run", "--", "sh", "check.sh", status=3)
    assert work("gate", "--json", status=1).json["tasks"][0]["checks"][0]["state"] == "failed"


def test_checks_run_where_a_person_says_so_and_defined_them_here(work: Here, repo: Repo) -> None:
    """Cases T9 and T10."""
    (repo.path / "check.sh").write_text("echo ran >> ran.txt; exit 0\n")
    repo.git("add", "src")
    assert work("gate", "--exec", status=4).stderr.count("nobody is here to say yes") == 1
    assert not (repo.path / "ran.txt").exists()
    assert rules(work("gate", "--exec", "--yes", "--json", status=1).stdout) == ["approvals"]
    assert (repo.path / "ran.txt").read_text() == "ran\n"
    (repo.path / "check.sh").write_text("exit 1\n")
    assert rules(work("gate", "--exec", "--yes", "--json", status=1).stdout) == ["approvals", "check"]
    assert work("gate", "--yes", status=129).stdout == ""


def test_checks_that_came_from_elsewhere_are_never_run(work: Here, repo: Repo) -> None:
    """A definition that was fetched is not one that a person wrote here, whatever it says of itself."""
    (repo.path / "check.sh").write_text("touch ran.txt\n")
    store = open_store(repo.path)
    defined = next(each.event for each in store.events(store.tasks()[0]) if isinstance(each.event, Defined))
    place = store.layout.own / defined_here.FOLDER / defined.definition.blob
    place.unlink()
    store.close()
    repo.git("add", "src")
    assert "are not run" in work("gate", "--exec", "--yes", status=4).stderr
    place.touch()
    work("edit", "@", "--check", "sh check.sh", "--check", "touch more.txt", "--as", "an-agent")
    assert work("gate", "--exec", "--yes", status=4).stdout == ""
    assert not [name for name in ("ran.txt", "more.txt") if (repo.path / name).exists()]


def test_a_check_of_git_s_configuration_is_one_s_own(work: Here, repo: Repo) -> None:
    repo.git("config", "pog.check", "test -e src/a.py")
    work("edit", "@", "--check", "", "--approvals", "0")
    work("start", "@")
    repo.git("add", "src")
    assert rules(work("gate", "--json", status=1).stdout) == ["check"]
    assert work("gate", "--exec", "--yes").stdout.endswith("no fault\n")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("check = ['rm -rf /']\n", "'check' is nothing that narrows"),
        ("allow = 'src'\n", "no list of patterns"),
        ("approvals = -1\n", "no whole number"),
        ("require_task = 1\n", "neither true nor false"),
        ("[budget]\ntimes = 1\n", "'times' is nothing that narrows"),
        ("allow = [", "cannot be read"),
        ("x" * 70_000, "has more than"),
    ],
)
def test_a_file_of_limits_that_says_anything_else_is_refused(here: Here, repo: Repo, text: str, why: str) -> None:
    (repo.path / ".pog.toml").write_text(text)
    repo.git("add", ".pog.toml")
    found = here("gate", status=128)
    assert "'.pog.toml'" in found.stderr
    assert why in found.stderr
    task = here("new", "a task").stdout.split()[0]
    assert "'.pog.toml'" in here("start", task, status=128).stderr
    assert here("show", task, "--json").json["status"] == "pending", "nothing was written"


def test_what_is_no_range_is_said(here: Here) -> None:
    assert "is no range" in here("gate", "HEAD", status=128).stderr
    assert here("gate", "--staged", "HEAD..HEAD", status=129).stdout == ""
    assert here("gate", "--summary", "--json", status=129).stdout == ""


def test_it_changes_nothing(work: Here, repo: Repo, tmp_path: Path) -> None:
    repo.git("add", "--all")
    before = repo.git("status", "--porcelain"), repo.git("for-each-ref"), (repo.path / ".git" / "index").read_bytes()
    work("gate", status=1)
    assert (
        repo.git("status", "--porcelain"),
        repo.git("for-each-ref"),
        (repo.path / ".git" / "index").read_bytes(),
    ) == before


def test_that_no_task_is_here_is_said(anywhere: Here, repo: Repo, tmp_path: Path) -> None:
    """A fetch that CI forgot must not look as if all was well."""
    repo.commit({"a": "1\n"}, "one")
    clone = tmp_path / "clone"
    repo.git("clone", "--quiet", ".", str(clone))
    found = anywhere("gate", "HEAD~..HEAD", cwd=clone)
    assert found.stdout == "1 file: 0 lines of 0 tasks, 1 not recorded; no fault\n"
    assert found.stderr.startswith("warning: no task is here")
    assert "git pog fetch" in found.stderr
    assert anywhere("gate", "HEAD..HEAD", cwd=clone).stderr == ""
    Repo(clone).git("config", "pog.requireTask", "true")
    assert "no-task" in rules(anywhere("gate", "HEAD~..HEAD", "--json", cwd=clone, status=1).stdout)


def test_a_file_of_limits_that_cannot_be_read_is_said_everywhere(here: Here, repo: Repo) -> None:
    (repo.path / ".pog.toml").write_text("deny = [\n")
    why = "'.pog.toml': cannot be read: "
    assert why in here("gate", status=128).stderr
    assert f"limits: {why}" in here("status").stdout
    assert here("status", "--json").json["limits"].startswith(why)
    checks = here("doctor", "--json", status=1).json["checks"]
    assert [each["text"][: len(why)] for each in checks if each["check"] == "limits"] == [why]


def test_limits_that_hooks_do_not_know_of_are_said(here: Here, repo: Repo) -> None:
    repo.git("config", "pog.deny", "*.key")
    assert "limits: hooks do not know of changed limits\n" in here("status").stdout
    assert "'git pog init' tells them" in here("doctor", status=1).stderr
    here("init")
    assert here("status", "--json").json["limits"] is None
    here("doctor", status=None)
    assert "limits" not in here("status").stdout


def test_a_denied_command_is_run_by_no_agent(here: Here, repo: Repo) -> None:
    """Each refusal is an event; a person is bound by nothing."""
    here("new", "a task", "--deny-command", "touch", "--deny", "*.key", "--start")
    for words in (("touch", "ran"), ("sh", "-c", "touch ran"), ("rm", "a.key"), ("sh", "-c", "echo x >sub/a.key")):
        said = here("run", "--as", "robot", "--", *words, status=4).stderr
        assert said.startswith(("error: command: 'touch ran' may not be run", "error: path: ")), words
    assert not (repo.path / "ran").exists()
    assert [event["kind"] for event in here("log", "@", "--json").json].count("refused") == 4
    here("run", "--as", "robot", "--", "cp", "README", "new")
    here("run", "--", "touch", "ran")
    repo.git("add", "--all")
    assert rules(here("gate", "--json").stdout) == []
    here("edit", "@", "--deny-command", "cp")
    here("run", "--as", "robot", "--", "cp", "README", "new", status=4)
    repo.git("config", "pog.denyCommand", "ls")
    here("run", "--as", "robot", "--", "ls", status=4)
