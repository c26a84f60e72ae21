"""Tests of what `blame` and `why` print; who owns a line is tested with the algorithm."""

import re
from itertools import pairwise
from typing import NamedTuple

import pytest

from tests.cli.conftest import Here
from tests.cli.test_json import SAMPLE, event_on, imported
from tests.conftest import Repo


class Tea(NamedTuple):
    """The sample session in a repository, and a line of a person below."""

    here: Here
    repo: Repo
    task: str


def commit_later(repo: Repo, message: str) -> None:
    """Commits everything after the session, whose own clock is ahead of that of the tests."""
    date = "2026-03-02T11:00:00+00:00"
    repo.git("add", "--all")
    repo.git("commit", "--quiet", "-m", message, env={"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date})


@pytest.fixture
def tea(here: Here) -> Tea:
    repo = Repo(here.cwd)
    task = imported(here)
    commit_later(repo, "steep")
    with (repo.path / "brew.py").open("a") as file:
        file.write("# mine\n")
    return Tea(here, repo, task)


def test_the_text_form(tea: Tea) -> None:
    lines = tea.here("blame", "brew.py").stdout.splitlines()
    assert len({line.index(")") for line in lines}) == 1, "one column for the text"
    assert re.fullmatch(r" [0-9a-f]{8} \(Ada Example +tea +2026-01-05 +1\) \"\"\"How to brew tea.\"\"\"", lines[0])
    assert re.fullmatch(r"\*[0-9a-f]{8} \(claude-code +Steeping takes time +2026-03-02 +4\) def steep\(.*", lines[3])
    assert re.fullmatch(r"\?00000000 \(unknown +not committed +- +20\) # mine", lines[-1])
    assert not any(line != line.rstrip() for line in lines)


def test_models_are_named_where_one_name_stands_for_several(tea: Tea) -> None:
    assert "opus" not in tea.here("blame", "brew.py").stdout
    newer = SAMPLE.read_text().replace("claude-opus-4-5", "claude-next").replace("7d0c3f5e", "7d0c3f5f")
    newer = newer.replace("FAVOURITE", "x").replace("brew.py", "other.py")
    (tea.repo.path / ".git" / "newer.jsonl").write_text(newer)
    tea.here("import", "claude-code", ".git/newer.jsonl", "--root", "/home/ada/tea")
    tea.repo.commit({"other.py": SAMPLE.with_name("brew.py.txt").read_bytes()}, "other")
    other = next(line["task"] for line in tea.here("list", "--json").json if line["task"] != tea.task)
    tea.repo.git("apply", "--exclude=test_*", input=tea.here("diff", other).stdout)
    both = tea.here("blame", "brew.py", "other.py").stdout
    assert "claude-code claude-…" in both
    assert "claude-…" not in tea.here("blame", "other.py").stdout


def test_which_lines_and_which_revision(tea: Tea) -> None:
    def numbers(*words: str) -> list[int]:
        return [line["line"] for line in tea.here("blame", "--json", *words).json[0]["lines"]]

    assert numbers("-L", "2,4", "brew.py") == [2, 3, 4]
    assert numbers("-L", "2,+2", "-L", "7,7", "brew.py") == [2, 3, 7]
    assert numbers("HEAD", "brew.py") == list(range(1, 20))
    assert numbers("HEAD", "--", "brew.py") == list(range(1, 20))
    assert numbers("--", "brew.py") == list(range(1, 21))
    assert len(tea.here("blame", "--json", "--", "README", "brew.py").json) == 2
    assert tea.here("blame", "--", "HEAD", status=128).stderr.startswith("error: no file matches 'HEAD'")
    assert tea.here("blame", "--", "HEAD", "brew.py", status=128).stderr.startswith("error: no file matches 'HEAD'")
    assert tea.here("blame", "-L", "90,95", "brew.py", status=128).stdout == ""


def test_what_cannot_be_blamed_is_said_in_words_of_ours(tea: Tea) -> None:
    def said(*words: str) -> str:
        return tea.here("blame", *words, status=128).stderr

    for text in ("x", "1,x", "0,1", "-3"):
        assert said("-L", text, "brew.py") == f"error: -L {text}: is not START,END, such as 10,20 or 10,+5\n"
    assert said("-L", "/zzz/", "brew.py") == "error: -L /zzz/: no line matches\n"
    assert said("-L", "90", "-L", "1", "brew.py") == "error: -L 90 -L 1: the file has 20 lines\n"
    (tea.repo.path / "brew.py").unlink()
    gone = "hint: it is deleted in the work tree; 'git pog blame HEAD FILE' blames it as HEAD has it\n"
    assert said("brew.py") == f"error: no file matches 'brew.py'\n{gone}"
    assert tea.here("blame", "HEAD", "brew.py").stdout
    first = "hint: 'HEAD' is a revision, and comes first: 'git pog blame HEAD "
    assert said("brew.py", "HEAD") == f"error: no revision matches 'brew.py'\n{first}brew.py'\n"
    assert said("README", "HEAD") == f"error: no file matches 'HEAD'\n{first}README'\n"
    assert said("HEAD") == f"error: no file matches 'HEAD'\n{first}FILE'\n"
    assert said("nothing") == "error: no file matches 'nothing'\n"
    assert "'git ls-tree -r --name-only HEAD'" in said("HEAD", "nothing")
    (tea.repo.path / "inv").mkdir()
    folder = "error: 'inv': is a folder, not a file\nhint: name its files; 'git ls-files FOLDER' lists them\n"
    assert said("inv") == folder
    (tea.repo.path / "inv" / "a").write_text("x\n")
    tea.repo.git("add", "inv")
    assert said("inv") == folder


def test_without_a_file_it_is_what_has_changed(tea: Tea) -> None:
    assert [each["path"] for each in tea.here("blame", "--json").json] == ["brew.py"]
    assert tea.here("blame").stdout.startswith("brew.py\n ")
    (tea.repo.path / "README").write_text("changed\n")
    assert tea.here("blame").stdout.startswith("README\n?")
    assert "\n\nbrew.py\n " in tea.here("blame").stdout
    tea.repo.git("checkout", "--quiet", ".")
    assert tea.here("blame", status=1) == ("", "no changed file\n", 1)


def test_porcelain_is_that_of_git_with_headers_of_ours(tea: Tea) -> None:
    """What is not committed has the time of the answer, which may be a second later."""
    before = tea.repo.git("blame", "--porcelain", "brew.py")
    ours = tea.here("blame", "--porcelain", "brew.py").stdout
    after = tea.repo.git("blame", "--porcelain", "brew.py")
    added = [line for line in ours.splitlines() if line.startswith("pog-")]
    rest = "\n".join(line for line in ours.split("\n") if not line.startswith("pog-"))
    assert rest.rstrip("\n") in (before.rstrip("\n"), after.rstrip("\n"))
    assert f"pog-task {tea.task}" in added
    assert "pog-actor claude-code (claude-opus-4-5)" in added
    assert len(added) % 3 == 0


def test_why_shows_the_chain(tea: Tea) -> None:
    event = event_on(tea.here, tea.task, "brew.py")
    tea.here("review", tea.task, "--approve", "--of", event, "--as", "human:Bob")
    number = 1 + (tea.repo.path / "brew.py").read_text().splitlines().index('    warm = f"warm {cup}"')
    lines = tea.here("why", f"brew.py:{number}").stdout.splitlines()
    assert lines[0] == f'line      brew.py:{number}:     warm = f"warm {{cup}}"'
    assert lines[1] == f"event     {event[:10]} stepped Edit brew.py"
    assert lines[2] == "actor     claude-code (claude-opus-4-5)"
    assert lines[3] == "when      2026-03-02 10:03:40 +0000"
    assert lines[4].startswith(f"task      {tea.task[:8]} Steeping takes time [")
    assert [line.split()[0] for line in lines[5:]] == ["intent", "prompt", "review", "commit"]
    assert lines[7] == "review    approve by Bob"
    assert tea.here("why", "brew.py:20").stdout.splitlines()[-1].startswith("reason    not committed")
    assert tea.here("why", "brew.py:99", status=128).stderr == "error: line 99: the file has 20 lines\n"
    assert tea.here("why", "brew.py:0", status=128).stderr == "error: line 0: the file has 20 lines\n"


def test_why_shows_several_lines_by_their_origin(tea: Tea) -> None:
    value = tea.here("why", "brew.py:1-20", "--json").json
    blamed = tea.here("blame", "brew.py", "--json").json[0]["lines"]
    assert value[0]["line"] == 1
    assert value[-1]["last"] == 20
    assert all(one["last"] + 1 == other["line"] for one, other in pairwise(value))
    for each in value:
        lines = blamed[each["line"] - 1 : each["last"]]
        assert {(line.get("event"), line.get("commit")) for line in lines} == {
            (each["event"]["id"] if each["event"] else None, each["commit"])
        }
    text = tea.here("why", "brew.py:4-7").stdout
    assert text.startswith("line      brew.py:4-7: def steep(leaves, water, minutes=3):\nevent ")
    assert tea.here("why", "brew.py:7-4").stdout == text
    assert tea.here("why", "brew.py:4-4").stdout == tea.here("why", "brew.py:4").stdout
    both = tea.here("why", "brew.py:3-4").stdout
    assert both == tea.here("why", "brew.py:3").stdout + "\n" + tea.here("why", "brew.py:4").stdout
    assert tea.here("why", "brew.py:4-99", status=128).stderr == "error: line 99: the file has 20 lines\n"
    assert "is not FILE:LINE" in tea.here("why", "brew.py:4-", status=129).stderr


def test_a_long_text_is_cut_in_why(tea: Tea) -> None:
    tea.here("edit", tea.task, "--intent", "-", stdin="\n".join(f"line {n}" for n in range(40)))
    lines = tea.here("why", "brew.py:4").stdout.splitlines()
    assert "          line 19" in lines
    assert "          …" in lines
    assert not any("line 20" in line for line in lines)


def test_contents_that_are_not_here_are_said(tea: Tea) -> None:
    tea.repo.git("update-ref", "-d", f"refs/pog/content/{tea.task}")
    said = tea.here("blame", "brew.py")
    assert said.stderr == (
        "warning: brew.py: the contents of 3 events are not here, so their lines go to the commits\n"
    )
    value = tea.here("blame", "--json", "brew.py").json[0]
    assert len(value["absent"]) == 3
