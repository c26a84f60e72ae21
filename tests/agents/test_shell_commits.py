"""Shell calls that write and commit, not one commit after the other: what they wrote is found by blame."""

from pathlib import Path

import pytest

from tests.agents.session import Session
from tests.agents.test_shell_edits import FILE, changed, step
from tests.conftest import SECOND, Pog, Repo

WROTE = "the agent wrote this line by its shell"
WRITE = f"echo '{WROTE}' > f.txt; git add f.txt"
COMMIT = f"{WRITE}; git commit -qm f"


@pytest.fixture
def agent(repo: Repo, pog: Pog) -> Session:
    repo.commit({"a.txt": "one\ntwo\nthree\n"})
    pog.init()
    repo.git("config", "pog.autoDrain", "false")
    agent = Session(repo.path)
    agent.prompt("commit things by the shell")
    return agent


def dated(agent: Session, command: str, after: int = 1) -> str:
    """A command that runs in the second in which it is told to, or so many seconds after the last hook."""
    at = f"'{agent.now // SECOND + after} +0000'"
    return f"export GIT_AUTHOR_DATE={at} GIT_COMMITTER_DATE={at}; {command}"


def blamed(pog: Pog, name: str = "f.txt", at: str = "HEAD") -> list[str]:
    """Who wrote each line of a file in a commit."""
    lines = pog("blame", at, name).stdout.splitlines()
    return ["agent" if "(claude-code" in line else "other" for line in lines]


def other_branch(repo: Repo, files: dict[str, str]) -> None:
    """A branch `other` with a commit of somebody else; HEAD stays where it is."""
    repo.git("checkout", "--quiet", "-b", "other")
    repo.commit(files)
    repo.git("checkout", "--quiet", "main")


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(f"{WRITE}; git commit -q --amend --no-edit", id="amend"),
        pytest.param(
            f"git checkout -qb n; {COMMIT}; git checkout -q main; git merge -q --no-ff --no-edit n", id="no-ff"
        ),
        pytest.param(f"git checkout -q other; {COMMIT}", id="existing"),
        pytest.param(f"git checkout -q --orphan n; {COMMIT}", id="orphan"),
        pytest.param(f"{COMMIT}; git merge -q --no-edit other", id="merge"),
        pytest.param(f"{COMMIT}; git rebase -q other", id="rebase"),
        pytest.param(f"{COMMIT}; git commit -q --amend -m again", id="twice"),
        pytest.param(
            f"git checkout -q other; {COMMIT}; git checkout -q main; git checkout -q other f.txt", id="copied"
        ),
    ],
)
def test_what_a_call_writes_and_commits_is_its_own(agent: Session, pog: Pog, repo: Repo, command: str) -> None:
    other_branch(repo, {"o.txt": "somebody wrote another file\n"})
    found = step(pog, agent.bash(dated(agent, command)))
    assert changed(found) == {"f.txt": (None, FILE)}
    assert (found["coverage"], found["coverage_reason"]) == ("shared", "shell")
    at = "HEAD" if repo.git("ls-tree", "HEAD", "f.txt") else "other"
    if "--amend --no-edit" not in command:  # see the next test
        assert blamed(pog, at=at) == ["agent"]


@pytest.mark.xfail(reason="attribution takes a commit that is older than the command for others' work", strict=True)
def test_blame_of_what_a_call_adds_to_a_commit_that_is_old(agent: Session, pog: Pog) -> None:
    agent.bash(dated(agent, f"{WRITE}; git commit -q --amend --no-edit"))
    assert blamed(pog) == ["agent"]


def test_what_a_call_commits_on_a_branch_that_it_leaves_is_its_own(agent: Session, pog: Pog, repo: Repo) -> None:
    command = (
        "git checkout -qb n; sed -i 's/two/the second line is new/' a.txt; git commit -qam a; git checkout -q main"
    )
    found = step(pog, agent.bash(dated(agent, command)))
    assert changed(found) == {"a.txt": (FILE, FILE)}
    assert blamed(pog, "a.txt", "n") == ["other", "agent", "other"]
    assert changed(step(pog, agent.bash("true"))) == {}
    assert not [event for event in pog("log", "--json").json if event["kind"] == "observed"]


def test_what_a_call_commits_in_a_work_tree_that_it_adds_is_its_own(
    agent: Session, pog: Pog, repo: Repo, tmp_path: Path
) -> None:
    there = tmp_path / "added"
    found = step(pog, agent.bash(dated(agent, f"git worktree add -q -b n {there} && cd {there} && {{ {COMMIT}; }}")))
    assert changed(found) == {"f.txt": (None, FILE)}
    assert blamed(pog, at="n") == ["agent"]


def test_lines_that_a_merge_joins_are_of_those_who_wrote_them(agent: Session, pog: Pog, repo: Repo) -> None:
    repo.commit({"a.txt": "".join(f"line {n} of the file\n" for n in range(9))})
    agent.bash("true")
    other_branch(repo, {"a.txt": "".join(f"line {n} of the file\n" for n in range(8)) + "somebody's last line\n"})
    change = "sed -i '1s/.*/the first line is of the agent/' a.txt; git commit -qam f; git merge -q --no-edit other"
    found = step(pog, agent.bash(dated(agent, change)))
    assert changed(found) == {"a.txt": (FILE, FILE)}
    assert blamed(pog, "a.txt") == ["agent", *["other"] * 8]


@pytest.mark.parametrize("amend", [False, True])
def test_what_a_person_had_staged_is_no_calls(agent: Session, pog: Pog, repo: Repo, amend: bool) -> None:
    (repo.path / "mine.txt").write_text("a person wrote this line by hand\n")
    repo.git("add", "mine.txt")
    found = step(pog, agent.bash(dated(agent, f"git commit -q -m mine {'--amend' * amend}; git checkout -q -b n")))
    assert changed(found) == {}
    assert blamed(pog, "mine.txt") == ["other"]


def test_what_was_staged_before_and_left_again_is_not_told_apart(agent: Session, pog: Pog, repo: Repo) -> None:
    (repo.path / "a.txt").write_text("a person staged this\n")
    repo.git("add", "a.txt")
    (repo.path / "a.txt").write_text("a person wrote this later\n")
    command = "git checkout -q -b n; git commit -q -m n; git checkout -q -f main"
    found = step(pog, agent.bash(dated(agent, command)))
    assert (found["coverage"], found["coverage_reason"]) == ("partial", "committed-meanwhile")


@pytest.mark.parametrize("command", ["merge -q other", "pull -q . other", "cherry-pick other", "rebase -q other"])
def test_what_git_brings_is_nobodys(agent: Session, pog: Pog, repo: Repo, command: str) -> None:
    """Case PC-20."""
    other_branch(repo, {"f.txt": "somebody wrote this line on a branch\n"})
    found = step(pog, agent.bash(dated(agent, f"git {command}")))
    assert (changed(found), found["coverage"]) == ({}, "exact")
    assert blamed(pog) == ["other"]


def test_what_is_brought_and_committed_anew_is_nobodys(agent: Session, pog: Pog, repo: Repo) -> None:
    other_branch(repo, {"f.txt": "somebody wrote this line on a branch\n"})
    found = step(pog, agent.bash(dated(agent, "git checkout -q -b n; git merge -q --squash other; git commit -qm n")))
    found = step(pog, agent.bash(dated(agent, "git checkout -q main; git cherry-pick -n other; git commit -qm p")))
    assert changed(found) == {}


def test_without_a_log_the_times_of_the_commits_tell(agent: Session, pog: Pog, repo: Repo) -> None:
    repo.git("config", "core.logAllRefUpdates", "false")
    other_branch(repo, {"o.txt": "somebody wrote another file\n"})
    for log in (repo.path / ".git" / "logs").rglob("*"):
        if log.is_file():
            log.unlink()
    amended = step(pog, agent.bash(dated(agent, f"{WRITE}; git commit -q --amend --no-edit")))
    merged = "echo another line of the shell > g.txt; git add g.txt; git commit -qm g; git merge -q --no-edit other"
    found = step(pog, agent.bash(dated(agent, merged)))
    assert [changed(each) for each in (amended, found)] == [{"f.txt": (None, FILE)}, {"g.txt": (None, FILE)}]
    assert blamed(pog, "g.txt") == ["agent"]
    picked = step(pog, agent.bash(dated(agent, "git checkout -q -b n HEAD~1; git rebase -q other")))
    assert (picked["coverage"], picked.get("coverage_reason")) == ("partial", "committed-meanwhile")


def test_two_calls_of_one_second_do_not_tell_of_a_commit_twice(agent: Session, pog: Pog, repo: Repo) -> None:
    first = agent.bash(dated(agent, f"git checkout -qb n; {COMMIT}; git checkout -q main", after=2))
    agent.now -= SECOND // 2
    second = agent.bash("true")
    assert [changed(step(pog, call)) for call in (first, second)] == [{"f.txt": (None, FILE)}, {}]


PERSONS = "a person typed this line by hand"


def by_hand(agent: Session, repo: Repo, name: str, second: int) -> None:
    """A person saves a line and commits it, in the second that is so many after the last hook."""
    (repo.path / name).write_text(f"{PERSONS}\n")
    repo.git("add", name)
    at = f"{agent.now // SECOND + second} +0000"
    env = {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}
    repo.git("commit", "--quiet", "-m", "by hand", env=env)


@pytest.mark.parametrize(
    "command", ["true", "echo x > made.txt", f"export GIT_AUTHOR_DATE=@ GIT_COMMITTER_DATE=@; {COMMIT}"]
)
def test_what_a_person_commits_in_the_second_of_a_call_but_before_or_after_it_is_no_calls(
    agent: Session, pog: Pog, repo: Repo, command: str
) -> None:
    """Git's times have whole seconds, and hooks are faster."""
    by_hand(agent, repo, "before.txt", 1)  # the hook before the call comes one second after the last one
    call = agent.bash(command.replace("@", f"'{agent.now // SECOND + 1} +0000'"))
    by_hand(agent, repo, "after.txt", 0)
    found = step(pog, call)
    own = {"made.txt": (None, FILE)} if "made" in command else {"f.txt": (None, FILE)} if "commit" in command else {}
    assert (changed(found), found.get("coverage_reason")) == (own, "shell" if own else None)
    assert blamed(pog, "before.txt") == blamed(pog, "after.txt") == ["other"]
    if "commit" in command:
        assert blamed(pog) == ["agent"]
