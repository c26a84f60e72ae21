"""Attribution in a clone where history was written anew: no hook ran there, and no record was touched.

Each rewriting happens in a second clone that fetched the tasks, as a server, a colleague or a tool would do it.
"""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from pogstore.draft import DraftChange, FileVersion
from pogstore.history.blame import blame
from pogstore.history.names import Named
from pogstore.history.trace import events_of, trace
from pogstore.model import Base, EventId
from pogstore.store.store import Store, open_store
from tests.conftest import SECOND, STARTED, Repo
from tests.history.agents import OTHER, TASK, Agent
from tests.history.test_blame import ADDED, BASE, later

FILE = "pkg/a.py"
QUIET = {"FILTER_BRANCH_SQUELCH_WARNING": "1"}


def subdirectory(clone: Repo) -> str:
    """The root is now what was a directory."""
    clone.git("filter-branch", "-f", "--subdirectory-filter", "pkg", "--", "main", env=QUIET)
    return "a.py"


def into_directory(clone: Repo) -> str:
    """Everything has moved one directory down, in every commit."""
    move = "mkdir down && for each in *; do [ $each = down ] || mv $each down; done"
    clone.git("filter-branch", "-f", "--tree-filter", move, "--", "main", env=QUIET)
    return f"down/{FILE}"


def another_file_removed(clone: Repo) -> str:
    """A file that nobody may see is taken out of every commit."""
    remove = "git rm -q --cached --ignore-unmatch secret.txt"
    clone.git("filter-branch", "-f", "--index-filter", remove, "--", "main", env=QUIET)
    return FILE


def exported_and_imported(clone: Repo) -> str:
    """As filter-repo works: the stream of `fast-export` with other people, other messages, and read in again."""
    stream = clone.git("fast-export", "--no-data", "main")
    stream = re.sub(r"^author .*? <.*?>", "author Somebody <some@body.example>", stream, flags=re.MULTILINE)
    stream = stream.replace("refs/heads/main", "refs/heads/rewritten")
    clone.git("fast-import", "--quiet", "--force", input=stream + "\n")
    clone.git("reset", "-q", "--hard", "rewritten")
    return FILE


def squashed_by_a_server(clone: Repo) -> str:
    """All of the branch in one commit, made by plumbing with a message of its own, dated later."""
    root = clone.git("rev-list", "--max-parents=0", "main")
    commit = later(clone, "commit-tree", "main^{tree}", "-p", root, "-m", "a fresh message (#7)")
    clone.git("update-ref", "refs/heads/main", commit)
    clone.git("reset", "-q", "--hard")
    return FILE


def mailed(clone: Repo) -> str:
    """The last commit arrives as a mail, on top of other work."""
    patch = clone.git("format-patch", "-1", "--stdout", "main")
    clone.git("reset", "-q", "--hard", "main~1")
    (clone.path / "other.txt").write_text("work of somebody else\n")
    clone.git("add", "-A")
    later(clone, "commit", "-qm", "other work")
    clone.git("am", "-q", input=patch + "\n", env={"GIT_COMMITTER_DATE": "2026-01-05T09:40:00+00:00"})
    return FILE


def replaced(clone: Repo) -> str:
    """The tip is shown as a commit without a past."""
    commit = later(clone, "commit-tree", "main^{tree}", "-m", "replaced")
    clone.git("replace", "main", commit)
    return FILE


def grafted(clone: Repo) -> str:
    """The tip is shown with another parent."""
    root = clone.git("rev-list", "--max-parents=0", "main")
    clone.git("replace", "--graft", "main", root)
    return FILE


REWRITINGS = (
    subdirectory, into_directory, another_file_removed, exported_and_imported, squashed_by_a_server, mailed,
    replaced, grafted,
)  # fmt: skip


def recorded(repo: Repo) -> EventId:
    """An agent added two lines to a file of a history of three commits."""
    repo.commit({FILE: BASE, "secret.txt": "a secret\n"}, "base")
    repo.commit({"other.txt": "other\n"}, "between")
    agent = Agent(repo)
    event = agent.write(FILE, BASE + ADDED)
    later(repo, "commit", "-qam", "agent's work")
    return event


def cloned(repo: Repo, place: Path) -> tuple[Repo, Store]:
    """A second clone, with the tasks of the first."""
    repo.git("clone", "-q", f"file://{repo.path}", str(place))
    clone = Repo(place)
    clone.git("config", "user.name", "Bea")
    clone.git("config", "user.email", "bea@example.org")
    clone.git("fetch", "-q", "origin", "refs/pog/*:refs/pog/*")
    return clone, open_store(place)


@pytest.mark.parametrize("rewrite", REWRITINGS, ids=lambda function: function.__name__)
def test_attribution_holds_where_history_was_written_anew(
    repo: Repo, tmp_path: Path, rewrite: Callable[[Repo], str]
) -> None:
    """Cases PC-05, PC-14, UC-19 and RC-64: each line the agent wrote is its event's, each other one a commit's."""
    event = recorded(repo)
    clone, store = cloned(repo, tmp_path / "clone")
    before = [line.event or line.owner for line in blame(store, FILE.encode()).lines]
    assert before == ["commit"] * 3 + [event] * 2
    old = clone.git("rev-parse", "main")
    path = rewrite(clone)
    found = blame(store, path.encode()).lines
    assert [line.event or line.owner for line in found] == before
    assert rewrite in (replaced, grafted) or clone.git("rev-parse", "HEAD") != old
    assert trace(store, events_of(store, Named(TASK))).survived() == 2


def test_what_this_history_had_is_not_elsewhere(repo: Repo) -> None:
    """A file that was deleted and later made anew in another directory: for git, and for us, it is another file."""
    recorded(repo)
    later(repo, "rm", "-q", FILE)
    later(repo, "commit", "-qm", "deleted")
    (repo.path / "copy").mkdir()
    (repo.path / "copy/a.py").write_text(BASE + ADDED)
    later(repo, "add", "-A")
    later(repo, "commit", "-qm", "made anew")
    assert {line.owner for line in blame(open_store(repo.path), b"copy/a.py").lines} == {"commit"}


def test_a_small_content_does_not_say_where_it_was(repo: Repo) -> None:
    """A file that a task changed and nobody committed, and another of that name and content: it may be chance."""
    small, long = "__all__ = []\n", BASE + ADDED
    repo.commit({"other.txt": "other\n"}, "base")
    agent = Agent(repo)
    for path, content in (("scratch/__init__.py", small), ("scratch/long.py", long)):
        agent.write(path, "something else\n")
        agent.write(path, content)
        agent.write(path, None)
    made(repo, {"pkg/__init__.py": small, "pkg/long.py": long})
    assert {line.owner for line in blame(agent.store, b"pkg/__init__.py").lines} == {"commit"}
    assert {line.owner for line in blame(agent.store, b"pkg/long.py").lines} == {"event"}


@pytest.mark.parametrize("beside", [True, False], ids=["copied", "alone"])
def test_a_file_made_elsewhere_may_be_a_copy(repo: Repo, beside: bool) -> None:
    """An agent makes a file of the content that a person has just typed into another one, and that he commits later.

    Only where the commit that the agent started from has no such file is there nothing that it could have copied.
    """
    base = repo.commit({"other.txt": "other\n"} | ({"pkg/a.py": "typed before\n"} if beside else {}), "base")
    agent = Agent(repo)
    made_by = DraftChange(path="scratch/a.py", after=FileVersion(mode="100644", data=(BASE + ADDED).encode()))
    agent.record(made_by, base=Base(commit=f"sha1_{base}", branch="main"))
    made(repo, {"pkg/a.py": BASE + ADDED})
    owner = "commit" if beside else "event"
    assert {line.owner for line in blame(agent.store, b"pkg/a.py").lines} == {owner}


def made(repo: Repo, files: dict[str, str]) -> None:
    """A person writes some files and commits them."""
    for path, content in files.items():
        (repo.path / path).parent.mkdir(exist_ok=True)
        (repo.path / path).write_text(content)
    later(repo, "add", "-A")
    later(repo, "commit", "-qm", "made")


def test_work_goes_on_after_the_rewriting(repo: Repo, tmp_path: Path) -> None:
    """Events under the new path and those under the old one are one history; a late fetch counts as well."""
    event = recorded(repo)
    repo.git("clone", "-q", f"file://{repo.path}", str(tmp_path / "clone"))
    clone = Repo(tmp_path / "clone")
    clone.git("config", "user.name", "Bea")
    clone.git("config", "user.email", "bea@example.org")
    path = subdirectory(clone)
    agent = Agent(clone, OTHER, name="other", started=STARTED + 3_600 * SECOND)
    newer = agent.write(path, "a line by the other agent\n" + BASE + ADDED)
    assert [line.event or line.owner for line in blame(agent.store, b"a.py").lines] == [newer] + ["commit"] * 5
    clone.git("fetch", "-q", "origin", "refs/pog/*:refs/pog/*")
    assert [line.event or line.owner for line in blame(agent.store, b"a.py").lines] == (
        [newer] + ["commit"] * 3 + [event] * 2
    )
