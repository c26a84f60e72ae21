"""What `git pog blame A..B` prints: text, the summary for a pull request, JSON."""

import re
import shlex
from pathlib import Path

import pytest

from pogstore.cli._range import code, percent
from pogstore.model import Actor
from tests.cli.conftest import Here
from tests.cli.test_blame import Tea, commit_later, tea
from tests.conftest import Repo
from tests.history.agents import Agent

__all__ = ["tea"]


def test_lines_by_file_then_totals(tea: Tea) -> None:
    commit_later(tea.repo, "mine")
    text = tea.here("blame", "HEAD~2..HEAD").stdout
    lines = text.splitlines()
    assert lines[0] == "brew.py"
    assert re.fullmatch(r"\*[0-9a-f]{8} \(claude-code +Steeping takes time +2026-03-02 +4\) def steep\(.*", lines[1])
    assert "\n\ntest_brew.py\n*" in text
    assert f"\n\n{tea.here('blame', '--summary', 'HEAD~2..').stdout.replace('HEAD~2..', 'HEAD~2..HEAD')}" in text
    assert not any(line != line.rstrip() for line in lines)


def recorded_lines(tea: Tea, *files: str) -> int:
    """Returns how many lines of some files are an agent's: whether blank ones are is not the point here."""
    blamed = tea.here("blame", "--json", "HEAD", "--", *files).json
    return sum(line["owner"] == "event" for each in blamed for line in each["lines"])


def test_the_summary_is_one_screen_of_markdown(tea: Tea) -> None:
    commit_later(tea.repo, "mine")
    agent = recorded_lines(tea, "brew.py", "test_brew.py")
    lines = tea.here("blame", "--summary", "HEAD~2..").stdout.splitlines()
    assert lines == [
        "**19 lines** added in 2 files by `HEAD~2..`",
        "",
        "| lines | share | who wrote them |",
        "| ---: | ---: | :--- |",
        f"| {agent} | {percent(agent, 19)} | `claude-code` `claude-opus-4-5` |",
        f"| {19 - agent} | {percent(19 - agent, 19)} | `Ada Example` (person) |",
        "",
        "| lines | share | for which task |",
        "| ---: | ---: | :--- |",
        f"| {agent} | {percent(agent, 19)} | `{tea.task[:8]}` `Steeping takes time` |",
        "",
        f"Look closer: `git pog show {tea.task[:8]}`, `git pog why brew.py:4`. "
        f"Take it out: `git pog rollback {tea.task[:8]}`",
    ]


def test_many_writers_still_fit_on_a_screen(here: Here) -> None:
    repo = Repo(here.cwd)
    base = repo.git("rev-parse", "HEAD")
    for number in range(9):
        task = f"0193a4b2-7c00-7000-8000-00000000000{number}"
        Agent(repo, task, name=f"agent {number}").write(f"f{number}", "a line of its own\n" * (20 - number))  # type: ignore[arg-type]
    commit_later(repo, "all")
    lines = here("blame", "--summary", f"{base}..").stdout.splitlines()
    assert len(lines) <= 24
    assert sum(line.startswith("| 54 | 38 % | and 4 more |") for line in lines) == 2
    value = here("blame", "--summary", "--json", f"{base}..").json
    assert [len(value["writers"]), len(value["tasks"])] == [9, 9]
    assert sum(each["lines"] for each in value["writers"]) == value["added"] == 144


def test_nothing_that_others_wrote_is_markup(here: Here) -> None:
    repo = Repo(here.cwd)
    hostile = "@octocat #1 [x](http://e.vil) `a` ``b`` <img src=x> | **x** \u202e\x1b[31m"
    task = here.task(hostile, "--start")
    (repo.path / "lines").write_text('{"event": "note", "text": "x"}\n')
    agent = Agent(repo, task, name="ev|il`@x")  # type: ignore[arg-type]
    agent.write("a|`b.py", "a line of its own\n")
    here("edit", task, "--title", hostile)
    repo.git("add", "a|`b.py")
    repo.git("-c", "user.name=@all<script>", "commit", "-qm", "x", "--", "a|`b.py")
    text = here("blame", "--summary", "HEAD~1..").stdout
    bare = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
    assert not re.search(r"[@#<\[`\x1b\u202e]", bare)
    assert [line.replace("\\|", "").count("|") for line in text.splitlines() if line.startswith("|")] == [4] * 6


def test_the_json_form(tea: Tea) -> None:
    commit_later(tea.repo, "mine")
    value = tea.here("blame", "--json", "HEAD~2...", "--", "brew.py").json
    assert value["base"] == tea.repo.git("rev-parse", "HEAD~2")
    assert value["tip"] == tea.repo.git("rev-parse", "HEAD")
    assert [file["path"] for file in value["files"]] == ["brew.py"]
    assert value["added"] == value["files"][0]["added"] == len(value["files"][0]["lines"]) == 14
    counts = {"lines": recorded_lines(tea, "brew.py"), "share": round(recorded_lines(tea, "brew.py") / 14 * 100, 1)}
    assert value["tasks"] == [{"task": tea.task, "title": "Steeping takes time"} | counts]
    assert value["writers"][0] == {"kind": "agent", "name": "claude-code", "model": "claude-opus-4-5"} | counts
    short = tea.here("blame", "--json", "--summary", "HEAD~2...", "--", "brew.py").json
    assert "lines" not in short["files"][0]


class Typed(Agent):
    """One whose actor is of another type."""

    type = "agent"

    @property
    def actor(self) -> Actor:
        return Actor(type=self.type, name=self.name)


def test_tools_and_odd_kinds_of_actors(here: Here) -> None:
    repo = Repo(here.cwd)
    for number, (type_, name) in enumerate([("tool", "a formatter"), ("<b>", "odd")]):
        agent = Typed(repo, f"0193a4b2-7c00-7000-8000-00000000000{number}", name=name)  # type: ignore[arg-type]
        agent.type = type_
        agent.write(f"f{number}", "a line of its own\n" * (3 - number))
    commit_later(repo, "all")
    text = here("blame", "--summary", "HEAD~1..").stdout
    assert "| 3 | 60 % | `a formatter` (tool) |" in text
    assert "<b>" not in re.sub("`[^`]*`", "", text)
    assert here("blame", "--summary", "HEAD~1..HEAD").stdout.count("git pog why") == 1
    repo.git("switch", "-q", "-c", "elsewhere", "HEAD~1")
    assert "git pog why" not in here("blame", "--summary", "main~1..main").stdout


def test_a_hint_can_be_typed_as_it_stands(here: Here) -> None:
    repo = Repo(here.cwd)
    name = f"a directory/{'x' * 80}.py"
    Agent(repo).write(name, "a line of its own\n")
    commit_later(repo, "odd name")
    hint = here("blame", "--summary", "HEAD~1..").stdout.splitlines()[-1]
    assert f"`git pog why '{name}:1'`" in hint
    for command in re.findall(r"`git pog (show|why|rollback) ([^`]+)`", hint):
        here(command[0], *shlex.split(command[1]))


def test_files_without_lines_are_said(tea: Tea) -> None:
    tea.repo.git("mv", "README", "READ ME")
    tea.repo.git("rm", "-q", "test_brew.py")
    (tea.repo.path / "pic").write_bytes(b"\0")
    (tea.repo.path / "brew.py").write_text("only a person's\nlines\nstand here\n")
    commit_later(tea.repo, "odds")
    lines = tea.here("blame", "HEAD~1..").stdout.splitlines()
    assert {"README => READ ME: renamed", "test_brew.py: deleted", "pic: binary"} <= set(lines)
    files = {file["path"]: file for file in tea.here("blame", "--json", "HEAD~1..").json["files"]}
    assert files["READ ME"] == {
        "path": "READ ME", "what": "text", "from": "README", "added": 0, "removed": 0, "lines": []
    }  # fmt: skip
    assert files["pic"]["what"] == "binary"
    tea.repo.git("mv", "READ ME", "README")
    tea.repo.git("commit", "-qm", "back")
    back = tea.here("blame", "HEAD~1..").stdout
    assert back == "READ ME => README: renamed\n\n**0 lines** added in 1 file (1 renamed) by `HEAD~1..`\n"
    lines = tea.here("blame", "HEAD~2..HEAD~1").stdout.replace("HEAD~2..HEAD~1", "HEAD~1..").splitlines()
    assert "**3 lines** added in 4 files (1 binary, 1 deleted, 1 renamed) by `HEAD~1..`" in lines


def test_how_a_range_is_told_from_a_file(tea: Tea, tmp_path: Path) -> None:
    (tea.repo.path / "sub").mkdir()
    (tea.repo.path / "a..b").write_text("x\n")
    assert tea.here("blame", "a..b").stdout.endswith("1) x\n")
    assert tea.here("blame", "../brew.py", cwd=tea.repo.path / "sub").stdout.endswith("# mine\n")
    assert tea.here("blame", "--", "HEAD..HEAD", status=128).stderr.startswith("error: no file matches")
    assert tea.here("blame", "HEAD..HEAD", status=1).stderr == "no changed file\n"
    assert tea.here("blame", "HEAD..nowhere", status=128).stderr.startswith("error: no revision matches 'nowhere'")
    for words in (["-L", "1,2"], ["--porcelain"]):
        assert "a range has no -L" in tea.here("blame", *words, "HEAD~1..", status=129).stderr
    assert "needs a range" in tea.here("blame", "--summary", "brew.py", status=129).stderr
    assert "only one range" in tea.here("blame", "HEAD~1..", "HEAD", "--", "brew.py", status=129).stderr
    commit_later(tea.repo, "mine")
    assert tea.here("blame", "HEAD~1..", "--", "../brew.py", cwd=tea.repo.path / "sub").stdout.startswith("brew.py\n")


def test_a_shallow_clone_is_warned_of(tea: Tea, tmp_path: Path) -> None:
    commit_later(tea.repo, "mine")
    tea.repo.git("branch", "other", "HEAD~1")
    url = tea.repo.path.as_uri()
    tea.repo.git("clone", "-q", "--depth=1", "--no-single-branch", url, str(tmp_path / "shallow"))
    said = tea.here("blame", "--summary", "origin/other..HEAD", cwd=tmp_path / "shallow")
    assert "no common ancestor here" in said.stderr
    assert "common" not in tea.here("blame", "--summary", "other..HEAD").stderr


def test_nothing_that_is_printed_moves_a_terminal(here: Here) -> None:
    repo = Repo(here.cwd)
    odd = "\x1b[2J\u202e\x07"
    task = here.task(f"title {odd}", "--start")
    agent = Agent(repo, task, name=f"agent {odd}")  # type: ignore[arg-type]
    agent.write(f"a{odd}.py", f"a line with {odd} in it\n")
    commit_later(repo, f"subject {odd}")
    for words in (["blame", "HEAD~1.."], ["blame", "--json", "HEAD~1.."], ["trace", task], ["trace", f"agent {odd}"],
                  ["blame", "-s", f"a{odd}.py"], ["why", f"a{odd}.py:1-1"]):  # fmt: skip
        said = here(*words)
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e]", said.stdout + said.stderr), words


def test_only_files_with_new_lines_are_blamed(tea: Tea, tmp_path: Path) -> None:
    """One diff for all of them, and no blame for what was renamed, deleted or is binary."""
    tea.repo.git("mv", "README", "READ ME")
    tea.repo.git("rm", "-q", "test_brew.py")
    (tea.repo.path / "pic").write_bytes(b"\0")
    commit_later(tea.repo, "odds")
    calls = tmp_path / "calls"
    tea.here("blame", "HEAD~1..", GIT_TRACE=str(calls))
    ran = re.findall(r"built-in: git (?:-\S+ |\S+=\S+ )*?(blame|diff-tree)\b", calls.read_text())
    assert sorted(ran) == ["blame", "diff-tree"]


def test_in_a_bare_repository(tea: Tea, tmp_path: Path) -> None:
    commit_later(tea.repo, "mine")
    tea.repo.git("clone", "-q", "--mirror", ".", str(tmp_path / "bare.git"))
    bare = tea.here("blame", "--summary", "HEAD~2..", cwd=tmp_path / "bare.git").stdout
    assert bare == tea.here("blame", "--summary", "HEAD~2..").stdout


def test_contents_that_are_not_here_are_said(tea: Tea) -> None:
    commit_later(tea.repo, "mine")
    tea.repo.git("update-ref", "-d", f"refs/pog/content/{tea.task}")
    assert "warning: brew.py: the contents of 3 events are not here" in tea.here("blame", "HEAD~2..").stderr
    assert len(tea.here("blame", "HEAD~2..", "--json").json["files"][0]["absent"]) == 3


@pytest.mark.parametrize(
    ("part", "whole", "shown"),
    [(0, 0, "0 %"), (0, 5, "0 %"), (1, 1000, "1 %"), (999, 1000, "99 %"), (5, 5, "100 %"), (1, 3, "33 %")],
)
def test_a_share_is_never_rounded_to_all_or_nothing(part: int, whole: int, shown: str) -> None:
    """Case PC-26."""
    assert percent(part, whole) == shown


def test_code_in_markdown() -> None:
    assert code("a") == "`a`"
    assert code("") == "`-`"
    assert code("`a") == "`` `a ``"
    assert code("a``b") == "```a``b```"
    assert code("a|b\nc") == "`a\\|b<U+000A>c`"
    assert len(code("x" * 200)) == 62
