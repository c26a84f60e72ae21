"""The options of `git pog blame` that git has too: its columns are git's own, and events stay where they are."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pogstore.cli._blame import Look, Texts, incremental, porcelain
from pogstore.history.blame import blame
from pogstore.history.incremental import groups
from tests.cli.conftest import Here
from tests.cli.test_blame import Tea, commit_later, tea
from tests.conftest import Repo, run
from tests.history.agents import Agent, enabled
from tests.history.test_blame import BASE, later

__all__ = ["tea"]

FORMS = ("--porcelain", "--line-porcelain", "--incremental")
TEXT = "a function that is long enough to be found\nand a second line of it, long as well\n"


def git_lines(repo: Repo, *words: str, stdin: bytes = b"") -> str:
    done = run(["git", "blame", *words], repo.path, stdin)
    assert done.returncode == 0, done.stderr
    return done.stdout


def without_ours(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("pog-"))


def no_clock(text: str) -> str:
    """Returns what git printed without the time of lines that are not committed, which is now."""
    return re.sub(r"(?m)^((?:author|committer)-time) (?!17[67])\d+$", r"\1 now", text)


def owners(here: Here, *words: str) -> list[Any]:
    return [line.get("event", line["owner"]) for line in here("blame", "--json", *words).json[0]["lines"]]


@pytest.fixture
def moved(repo: Repo) -> Repo:
    """A history in which -w, -M and -C matter, an agent's line, and one that is not committed."""
    repo.commit({"a.py": BASE + TEXT, "b.py": "b\n"}, "base")
    repo.commit({"a.py": TEXT + BASE, "b.py": "b\n"}, "moved within")
    repo.commit({"a.py": BASE, "b.py": "b\n" + TEXT}, "moved across")
    repo.commit({"a.py": BASE.replace("alpha", "    alpha")}, "spaces")
    agent = Agent(repo)
    agent.write("b.py", (repo.path / "b.py").read_text() + "a line by the agent\n")
    later(repo, "commit", "-qam", "agent's")
    (repo.path / "a.py").write_text((repo.path / "a.py").read_text() + "not committed\n")
    return repo


OPTIONS = (
    "", "-w", "-M", "-C", "-C -C", "-C -C -C", "-w -M -C", "-M1", "-M99999", "-C1 -C -C",
    "--since 2000-01-01", "--since=2030-01-01", "-L 1,2",
    "-L 2,+1", "--ignore-rev HEAD~1", "--ignore-revs-file= --ignore-rev HEAD",
)  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("options", OPTIONS)
def test_what_git_says_is_passed_on_byte_for_byte(here: Here, moved: Repo, options: str, form: str) -> None:
    """Case PC-139: each of them does what it does in git."""
    for names in (["a.py"], ["b.py"], ["HEAD~1", "--", "a.py"]):
        ours = here("blame", form, *options.split(), *names).stdout
        assert no_clock(without_ours(ours)) == no_clock(git_lines(moved, form, *options.split(), *names))


@pytest.mark.parametrize("options", ["-w", "-M", "-C", "-C -C -C", "--since=2026-01-05T09:10Z", "--ignore-rev HEAD"])
def test_what_is_passed_on_changes_commits_and_no_event(here: Here, moved: Repo, options: str) -> None:
    words = (*options.split(), "HEAD", "--", "b.py")
    assert owners(here, *words) == owners(here, "b.py")
    assert len(set(owners(here, *words))) == 2


def commits(here: Here, *words: str) -> list[str]:
    return [line.get("commit", "") for line in here("blame", "--json", *words).json[0]["lines"]]


def test_each_option_of_git_does_something(here: Here, moved: Repo) -> None:
    assert commits(here, "-w", "a.py") != commits(here, "a.py")
    assert commits(here, "-C", "b.py") != commits(here, "b.py")
    assert commits(here, "-C", "-C", "-C", "HEAD~3", "--", "a.py") != []
    assert commits(here, "-M", "HEAD~3", "--", "a.py") != commits(here, "HEAD~3", "--", "a.py")
    assert here("blame", "--porcelain", "--since=2030-01-01", "a.py").stdout.count("\nboundary") == 1


def test_a_score_is_part_of_its_option(here: Here, moved: Repo) -> None:
    low, high = (commits(here, score, "HEAD~3", "--", "a.py") for score in ("-M1", "-M99999"))
    assert low == commits(here, "-M", "HEAD~3", "--", "a.py") != high
    (moved.path / "-M1").write_text("a file of that name\n")
    assert here("blame", "--json", "--", "-M1").json[0]["path"] == "-M1"
    assert here("blame", "-Mx", "a.py", status=129).stdout == ""


def test_a_formatting_commit_is_passed_over(here: Here, moved: Repo, tmp_path: Path) -> None:
    """Case PC-75: `--ignore-rev`, its file, and the file that the configuration names."""
    plain, spaces = commits(here, "a.py"), moved.git("rev-parse", "HEAD~1")
    assert spaces in plain
    assert spaces not in commits(here, "--ignore-rev", spaces, "a.py")
    (moved.path / "sub").mkdir()
    (moved.path / ".git-blame-ignore-revs").write_text(f"# the formatter\n{spaces}\n")
    named = here(
        "blame", "--json", "--ignore-revs-file", "../.git-blame-ignore-revs", "../a.py", cwd=moved.path / "sub"
    )
    assert spaces not in str(named.json)
    moved.git("config", "blame.ignoreRevsFile", ".git-blame-ignore-revs")
    assert spaces not in commits(here, "a.py")
    assert spaces in commits(here, "--ignore-revs-file", "", "a.py")
    assert spaces not in here("blame", "--json", "HEAD~2..").stdout.split('"files"')[1]
    assert here("blame", "--ignore-rev", "nowhere", "a.py", status=128).stderr.startswith("error: git blame")


def test_a_formatter_takes_lines_only_if_that_is_asked_for(here: Here, moved: Repo) -> None:
    event = owners(here, "b.py")[-1]
    text = (moved.path / "b.py").read_text()
    (moved.path / "b.py").write_text(text.replace("a line by the agent", "    a line  by the agent"))
    later(moved, "commit", "-qam", "formatted")
    for names in (["b.py"], ["HEAD", "--", "b.py"]):
        assert owners(here, *names)[-1] == event
        assert owners(here, "--strict", *names)[-1] == "commit"
    for words, agents in (([], 1), (["--strict"], 0)):
        tasks = here("blame", "--json", "--summary", *words, "HEAD~1..", "--", "b.py").json["tasks"]
        assert sum(each["lines"] for each in tasks) == agents


def test_other_contents(here: Here, moved: Repo, tmp_path: Path) -> None:
    other = tmp_path / "other"
    text = "new\n" + (moved.path / "b.py").read_text()
    other.write_text(text)
    event = owners(here, "b.py")[-1]
    assert owners(here, "--contents", str(other), "b.py") == ["unknown", *owners(here, "b.py")]
    said = here("blame", "--json", "--contents", "-", "b.py", stdin=text).json[0]["lines"]
    assert [line["text"] for line in said] == text.splitlines()
    assert said[-1]["event"] == event
    for form in FORMS:
        ours = here("blame", form, "--contents", "-", "b.py", stdin=text).stdout
        git = git_lines(moved, form, "--contents", "-", "b.py", stdin=text.encode())
        assert no_clock(without_ours(ours)) == no_clock(git)
    untracked = here("blame", "--json", "--contents", str(other), "in-no-commit").json[0]
    assert [line["owner"] for line in untracked["lines"]] == ["unknown"] * len(text.splitlines())
    assert "needs one FILE" in here("blame", "--contents", str(other), status=129).stderr
    assert "cannot read" in here("blame", "--contents", "nothing", "a.py", status=128).stderr


def test_fewer_columns_and_addresses(tea: Tea) -> None:
    lines = tea.here("blame", "-s", "brew.py").stdout.splitlines()
    assert re.fullmatch(r" [0-9a-f]{8}  1\) \"\"\"How to brew tea.\"\"\"", lines[0])
    assert re.fullmatch(r"\*[0-9a-f]{8}  4\) def steep\(.*", lines[3])
    assert len({line.index(")") for line in lines}) == 1
    lines = tea.here("blame", "-e", "brew.py").stdout.splitlines()
    assert "(<ada@example.org>" in lines[0]
    assert "(claude-code " in lines[3]


def test_the_address_of_a_person_who_was_recorded(here: Here) -> None:
    repo = Repo(here.cwd)
    here.task("by hand", "--start")
    here("run", "--", "sh", "-c", "echo a line by a person > a.py")
    assert "(Ada Example " in here("blame", "a.py").stdout
    assert "(<ada@example.org> " in here("blame", "-e", "a.py").stdout
    assert repo.git("status", "--short") == "?? a.py"


def colors(text: str) -> list[str]:
    return [match[1] if (match := re.match(r"\x1b\[(\d+)m", line)) else "" for line in text.splitlines()]


def test_what_colours_stand_for(tea: Tea) -> None:
    tea.repo.git("config", "color.pog", "always")

    def shown(*words: str, now: int | None = None) -> list[str]:
        env = {"NO_COLOR": ""} | ({} if now is None else {"POG_NOW": str(now)})
        return colors(tea.here("blame", *words, "brew.py", env=env).stdout)

    plain = tea.here("blame", "--json", "brew.py").json[0]["lines"]
    by_actor, by_task, by_age = (shown("--color-by", what) for what in ("actor", "task", "age"))
    for line, default, actor, task in zip(plain, shown(), by_actor, by_task, strict=True):
        is_event = line["owner"] == "event"
        assert bool(task) == is_event
        assert actor
        assert bool(default) == (line["owner"] in ("event", "unknown"))
    assert len({color for line, color in zip(plain, by_actor, strict=True) if line["owner"] == "event"}) == 1
    assert len(set(by_actor)) == 3
    second, day = 1_000_000, 86_400_000_000
    session = 1_772_442_000 * second
    ages = [shown("--color-by", "age", now=session + days * day)[3] for days in (1, 8, 40, 800)]
    assert len(set(ages)) == 4
    assert by_age
    assert "--color-by" in tea.here("blame", "--color-by", "mood", "brew.py", status=129).stderr
    assert not any(colors(tea.here("blame", "--color-by", "actor", "brew.py").stdout))


def test_forms_exclude_each_other(tea: Tea) -> None:
    for one, other in (("--porcelain", "--json"), ("--line-porcelain", "--incremental")):
        assert "cannot be combined" in tea.here("blame", one, other, "brew.py", status=129).stderr
    for form in FORMS:
        assert "a range has no" in tea.here("blame", form, "HEAD~1..", status=129).stderr


def test_headers_of_ours_in_every_form(tea: Tea) -> None:
    expected = {
        line["line"]: line["event"]
        for line in tea.here("blame", "--json", "brew.py").json[0]["lines"]
        if line["owner"] == "event"
    }
    said = tea.here("blame", "--line-porcelain", "brew.py").stdout.splitlines()
    assert sum(line.startswith("pog-event ") for line in said) == len(expected)
    found: dict[int, str] = {}
    numbers = range(0)
    for line in tea.here("blame", "--incremental", "brew.py").stdout.splitlines():
        if line.startswith("pog-lines "):
            first, count = map(int, line.split()[1:])
            numbers = range(first, first + count)
        elif line.startswith("pog-event "):
            found |= dict.fromkeys(numbers, line.split()[1])
    assert found == expected


def test_a_file_in_no_commit_has_no_incremental_form(tea: Tea) -> None:
    (tea.repo.path / "new").write_text("x\n")
    assert tea.here("blame", "--incremental", "new", status=128).stderr.startswith("error: git blame")
    commit_later(tea.repo, "all")
    assert tea.here("blame", "--incremental", "new").stdout.endswith("filename new\n")


LINES = st.lists(st.sampled_from([b"a", b"", b"  a", b"\tfilename x", b"filename x", b"pog-event 1", b"b\r", b"\xff"]))


@settings(max_examples=12)
@given(st.lists(st.tuples(LINES, st.booleans()), min_size=1, max_size=4))
def test_with_no_event_every_form_is_that_of_git(
    tmp_path_factory: pytest.TempPathFactory, versions: list[tuple[list[bytes], bool]]
) -> None:
    repo = Repo(tmp_path_factory.mktemp("forms"))
    repo.git("init", "-q")
    for number, (lines, ends) in enumerate(versions):
        repo.commit({"a": b"\n".join(lines) + b"\n" * ends}, f"version {number}")
    store = enabled(repo)
    found = blame(store, b"a")

    def said(form: str) -> bytes:
        return git_lines(repo, form, "a").encode("utf-8", "surrogateescape")

    assert porcelain(found) == said("--porcelain")
    assert porcelain(blame(store, b"a", options=["--line-porcelain"])) == said("--line-porcelain")
    assert b"".join(incremental(found, groups(store, found))) == said("--incremental")
    shown = list(Texts(store, [found], None, Look(short=True)).lines(found))
    assert len(shown) == len(found.lines)


def test_each_line_of_an_event_says_by_which_rule_it_is_his(here: Here, repo: Repo) -> None:
    repo.commit({"a.py": BASE}, "base")
    agent = Agent(repo)
    agent.write("a.py", BASE + TEXT)
    later(repo, "commit", "-qam", "as it was left")
    after = BASE + TEXT + "a third line by the agent\n"
    agent.write("a.py", after)

    def rules(*words: str) -> list[object]:
        found = here("blame", "--json", "--explain", *words, "a.py").json[0]["lines"]
        return [(line["rule"], line["sure"]) if line["owner"] == "event" else line.get("rule") for line in found]

    assert rules() == [None] * 3 + [("hash", "certain")] * 3
    (repo.path / "a.py").write_text("a line by a person, above all others\n" + after)
    assert rules() == [None] * 4 + [("bound", "certain")] * 2 + [("near", "likely")]
    later(repo, "commit", "-qam", "a person's, and the agent's")
    (repo.path / "a.py").write_text("a line by a person, above all others\n" + after.replace("a third", "  a third"))
    assert rules() == [None] * 4 + [("bound", "certain")] * 2 + [("spaces", "likely")]
    shown = here("blame", "--explain", "a.py").stdout.splitlines()
    assert [line.split()[1] for line in shown[4:7]] == ["bound", "bound", "spaces"]
    assert shown[7:] == [
        "",
        "bound   certain:  unchanged since a content that the step left",
        "spaces  likely:   the same but for white space",
    ]
    short = here("blame", "--explain", "-s", "a.py").stdout.splitlines()
    assert re.fullmatch(r"\*[0-9a-f]{8} bound   5\) .*", short[4])
    for form in FORMS:
        plain, told = here("blame", form, "a.py").stdout, here("blame", form, "--explain", "a.py").stdout
        assert no_clock(without_ours(told)) == no_clock(without_ours(plain))
        heads = {line for line in told.splitlines() if line.startswith("pog-rule ")}
        assert sorted(heads) == ["pog-rule bound certain", "pog-rule spaces likely"]
        assert "pog-rule" not in plain
    assert "--explain" in here("blame", "--explain", "HEAD~1..", status=129).stderr


def test_explaining_changes_no_owner_and_is_not_kept(here: Here, moved: Repo) -> None:
    for name in ("a.py", "b.py"):
        assert owners(here, "--explain", name) == owners(here, name)
        assert not any("rule" in line for line in here("blame", "--json", name).json[0]["lines"])
    assert "explain" in here("blame", "-h").stdout


def test_where_no_event_has_a_line_nothing_is_explained(here: Here, moved: Repo) -> None:
    (moved.path / "a.py").write_text(BASE)
    assert here("blame", "--explain", "a.py").stdout.splitlines()[-1].endswith(BASE.splitlines()[-1])
