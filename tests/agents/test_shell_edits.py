"""Fourteen ways in which a shell changes files (case PC-97): each is recorded, or it is said that it is not and why."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.agents.session import Session
from tests.conftest import Pog, Repo

FILES = {"a.txt": "one\ntwo\nthree\n", "b.txt": "left\nalone\n", "sub/c.txt": "deep\n", ".gitignore": "*.log\n"}


@pytest.fixture
def agent(repo: Repo, pog: Pog) -> Session:
    repo.commit(FILES)
    pog.init()
    repo.git("config", "pog.autoDrain", "false")
    agent = Session(repo.path)
    agent.prompt("change things by the shell")
    return agent


def step(pog: Pog, call: str) -> dict[str, Any]:
    [found] = [event for event in pog("log", "--json").json if event.get("call_id") == call]
    return dict(found)


def changed(event: dict[str, Any]) -> dict[str, tuple[str | None, str | None]]:
    """The changed paths of an event, with the modes of both sides."""
    return {
        change["path"]: ((change.get("before") or {}).get("mode"), (change.get("after") or {}).get("mode"))
        for change in event.get("changes", [])
    }


FILE, RUNS, LINK = "100644", "100755", "120000"


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        pytest.param("sed -i s/two/2/ a.txt", {"a.txt": (FILE, FILE)}, id="sed"),
        pytest.param("cat > new.txt <<'END'\nfrom here\nEND", {"new.txt": (None, FILE)}, id="heredoc"),
        pytest.param("mv a.txt moved.txt", {"moved.txt": (FILE, FILE)}, id="mv"),
        pytest.param("rm b.txt", {"b.txt": (FILE, None)}, id="rm"),
        pytest.param("echo x >> a.txt; git checkout --quiet a.txt; echo y > z", {"z": (None, FILE)}, id="undone"),
        pytest.param(
            "python3 -c \"import pathlib; p = pathlib.Path('a.txt'); p.write_text(p.read_text().upper())\"",
            {"a.txt": (FILE, FILE)},
            id="formatter",
        ),
        pytest.param(
            "for n in 1 2 3; do echo $n > gen$n.txt; done", {f"gen{n}.txt": (None, FILE) for n in "123"}, id="generator"
        ),
        pytest.param("chmod +x b.txt", {"b.txt": (FILE, RUNS)}, id="chmod"),
        pytest.param("ln -s a.txt link", {"link": (None, LINK)}, id="ln"),
        pytest.param("cd sub && echo more >> c.txt", {"sub/c.txt": (FILE, FILE)}, id="cd"),
    ],
)
def test_a_shell_edit_is_recorded(
    agent: Session, pog: Pog, command: str, wanted: dict[str, tuple[str | None, str | None]]
) -> None:
    event = step(pog, agent.bash(command))
    assert changed(event) == wanted
    assert event["coverage"] == "shared", "a person may have saved in the same moment"


def test_a_move_is_one_change(agent: Session, pog: Pog) -> None:
    event = step(pog, agent.bash("mv a.txt moved.txt"))
    assert [(change["from"], change["path"]) for change in event["changes"]] == [("a.txt", "moved.txt")]


def test_a_checkout_of_a_file_takes_back_what_was_there(agent: Session, pog: Pog, repo: Repo) -> None:
    agent.edit("a.txt", "two", "2")
    event = step(pog, agent.bash("git checkout --quiet a.txt"))
    assert changed(event) == {"a.txt": (FILE, FILE)}
    text = pog("diff", event["id"]).stdout
    assert "-2\n+two\n" in text


def test_an_archive_is_unpacked(agent: Session, pog: Pog, repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "from-tar.txt").write_text("packed\n")
    subprocess.run(["tar", "-cf", tmp_path / "a.tar", "-C", tmp_path / "in", "from-tar.txt"], check=True)
    event = step(pog, agent.bash(f"mkdir out && tar -xf '{tmp_path}/a.tar' -C out"))
    assert changed(event) == {"out/from-tar.txt": (None, FILE)}


def test_in_a_sub_directory(agent: Session, pog: Pog, repo: Repo) -> None:
    """PC-66."""
    event = step(pog, agent.bash("sed -i s/deep/deeper/ c.txt && sed -i s/one/1/ ../a.txt", cwd=repo.path / "sub"))
    assert changed(event) == {"a.txt": (FILE, FILE), "sub/c.txt": (FILE, FILE)}


def test_in_another_work_tree_it_is_observed(agent: Session, pog: Pog, repo: Repo) -> None:
    repo.git("worktree", "add", "--quiet", "../other")
    call = agent.bash("cd ../other && sed -i s/two/2/ a.txt")
    assert changed(step(pog, call)) == {}
    [seen] = [event for event in pog("log", "--json").json if event["kind"] == "observed"]
    assert changed(seen) == {"a.txt": (FILE, FILE)}
    assert seen["during"] == [call]


def test_in_a_nested_repository_it_is_told_that_it_is_not_recorded(agent: Session, pog: Pog, repo: Repo) -> None:
    nested = Repo(repo.path / "nested")
    nested.path.mkdir()
    nested.git("init", "--quiet")
    nested.commit({"inner.txt": "inner\n"})
    event = step(pog, agent.bash("sed -i s/inner/INNER/ nested/inner.txt"))
    assert (event["coverage"], event["coverage_reason"]) == ("partial", "nested-repository")
    assert changed(event) == {"nested": (None, None)}


def test_of_an_ignored_file_it_is_told_that_it_is_not_recorded(agent: Session, pog: Pog, repo: Repo) -> None:
    (repo.path / "secret.log").write_text("before\n")
    event = step(pog, agent.bash("echo secret$((6 * 7)) > secret.log"))
    assert (event["coverage"], event["coverage_reason"]) == ("partial", "ignored")
    assert changed(event) == {"secret.log": (None, None)}
    for kind in ("content", "private"):
        held = repo.git("log", "--all", "--format=", "-p", f"refs/pog/{kind}/{event['task']}", "--", check=False)
        assert "secret42" not in held


@pytest.mark.parametrize("differing", [300])
def test_a_switch_of_branches_is_no_change(agent: Session, pog: Pog, repo: Repo, differing: int) -> None:
    """PC-20: what git brings is nobody's edit."""
    for n in range(differing):
        (repo.path / f"file{n}.txt").write_text(f"main {n}\n")
    repo.commit()
    repo.git("checkout", "--quiet", "-b", "other")
    for n in range(differing):
        (repo.path / f"file{n}.txt").write_text(f"other {n}\n")
    repo.commit()
    agent.bash("true")
    there = step(pog, agent.bash("git checkout --quiet main"))
    back = step(pog, agent.bash("git checkout --quiet other && echo own > own.txt"))
    assert (changed(there), there["coverage"]) == ({}, "exact")
    assert changed(back) == {"own.txt": (None, FILE)}
    assert back["base"]["branch"] == "other"
    assert not [event for event in pog("log", "--json").json if event["kind"] == "observed"]


def test_a_commit_a_pull_and_a_rebase_are_no_changes(agent: Session, pog: Pog, repo: Repo, tmp_path: Path) -> None:
    """PC-20."""
    shutil.copytree(repo.path, tmp_path / "origin")
    origin = Repo(tmp_path / "origin")
    origin.commit({"b.txt": "left\nupstream\n"})
    repo.git("remote", "add", "origin", str(origin.path))
    agent.edit("a.txt", "two", "2")
    done = step(pog, agent.bash("git commit --quiet --all --message mine"))
    pulled = step(pog, agent.bash("git pull --quiet --rebase origin main"))
    assert [changed(each) for each in (done, pulled)] == [{}, {}]
    assert (repo.path / "b.txt").read_text() == "left\nupstream\n"


@pytest.mark.parametrize("linked", [False, True])
def test_after_a_move_of_the_repository_nothing_is_claimed_again(
    agent: Session, pog: Pog, repo: Repo, tmp_path: Path, linked: bool
) -> None:
    """Case PC-48."""
    if linked:
        repo.git("worktree", "add", "--quiet", "-b", "n", str(tmp_path / "linked"))
        agent.root = tmp_path / "linked"
    agent.write("own.txt", "the agent's\n")
    moved = repo.path.rename(tmp_path / "moved")
    if linked:
        Repo(moved).git("worktree", "repair", str(agent.root))
    else:
        agent.root = moved
    agent.bash("echo more > more.txt")
    events = Pog(moved)("log", "--json").json
    told = [(event["kind"], sorted(changed(event))) for event in events if event.get("changes")]
    assert told == [("stepped", ["more.txt"]), ("stepped", ["own.txt"])]


def with_submodule(agent: Session, repo: Repo, make_repo: Callable[..., Repo], *, enabled: bool = True) -> Pog:
    """A submodule `lib` that records by itself; what a person types there."""
    other = make_repo("other")
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other.path), "lib")
    repo.git("commit", "--quiet", "--message", "a submodule")
    there = Pog(repo.path / "lib")
    if enabled:
        there("init")
        Repo(repo.path / "lib").git("config", "pog.autoDrain", "false")
    return there


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("echo from here > lib/new.txt", id="named"),
        pytest.param("(cd lib && echo from here >new.txt)", id="folder"),
        pytest.param("cd l*b; echo from here > new.txt", id="found"),
    ],
)
def test_in_a_submodule_that_is_recorded_it_is_observed_there(
    agent: Session, pog: Pog, repo: Repo, make_repo: Callable[..., Repo], command: str
) -> None:
    there = with_submodule(agent, repo, make_repo)
    call = agent.bash(command)
    assert step(pog, call)["coverage_reason"] == "submodule"
    (found,) = [event for event in there("log", "--json").json if event["kind"] == "observed"]
    assert (changed(found), found["during"]) == ({"new.txt": (None, FILE)}, [call])
    agent.bash("true")
    assert len([event for event in there("log", "--json").json if event["kind"] == "observed"]) == 1


def test_in_a_submodule_that_is_not_recorded_nothing_is_written(
    agent: Session, pog: Pog, repo: Repo, make_repo: Callable[..., Repo]
) -> None:
    with_submodule(agent, repo, make_repo, enabled=False)
    agent.bash("echo from here > lib/new.txt")
    assert not (repo.path / ".git" / "modules" / "lib" / "pog" / "spool").exists()


def test_a_session_ends_wherever_it_was_at_work(
    agent: Session, pog: Pog, repo: Repo, make_repo: Callable[..., Repo]
) -> None:
    there = with_submodule(agent, repo, make_repo)
    other = Session(repo.path, "s2")
    agent.write("lib/new.txt", "the agent's\n")
    other.prompt("look around")
    other.now = agent.now
    other.hook("SessionEnd", reason="exit")
    assert [task["status"] for task in there("list", "--all", "--json").json] == ["in_progress"]
    agent.now = other.now
    agent.hook("SessionEnd", reason="exit")
    assert [task["status"] for task in there("list", "--all", "--json").json] == ["in_review"]
    assert not (repo.path / ".git" / "pog" / "reached").exists()
