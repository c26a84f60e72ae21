"""A whole session through the installed command, then every rewriting of its commits: each line keeps its owner."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.agents.session import Session
from tests.conftest import SECOND, Pog, Repo

APP = "".join(f"app line {n} of the base\n" for n in range(1, 9))
NOTES = "".join(f"note {n} of the base\n" for n in range(1, 7))
GIT = "commit"
"""The owner of a line that nobody but git tells of."""


class Scene(NamedTuple):
    """A repository after a session, not committed yet; `owners` tells of every line that is not from the base."""

    repo: Repo
    owners: dict[str, str]
    now: int


def dates(at: int) -> dict[str, str]:
    return {"GIT_AUTHOR_DATE": f"{at // SECOND} +0000", "GIT_COMMITTER_DATE": f"{at // SECOND} +0000"}


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Scene]:
    """Where the scene is kept once it was played: it is copied for every test."""
    return {}


@pytest.fixture
def scene(lived: dict[str, Scene], tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Scene:
    if not lived:
        lived["played"] = play(Repo(tmp_path_factory.mktemp("scene") / "repo"))
    played = lived["played"]
    shutil.copytree(played.repo.path, tmp_path / "copy", symlinks=True)
    return played._replace(repo=Repo(tmp_path / "copy"))


def play(repo: Repo) -> Scene:
    """A prompt, an edit, a person's edit, a shell step, a sub-agent's file, a failed tool, the end of the turn."""
    repo.path.mkdir()
    repo.git("init", "--quiet")
    repo.commit({"app.py": APP, "notes.txt": NOTES, "old.txt": "gone soon\n"}, "base")
    Pog(repo.path)("init")
    repo.git("config", "pog.autoDrain", "false")
    agent = Session(repo.path)
    owners: dict[str, str] = {}
    agent.hook("SessionStart", source="startup", model="model-1")
    agent.prompt("Make it greet, and tidy the notes")
    new = "def greet(name: str) -> str:\n    return 'hello ' + name\napp line 3 of the base\n"
    call = agent.edit("app.py", "app line 3 of the base\n", new)
    owners |= dict.fromkeys(new.splitlines()[:2], call)
    app = repo.path / "app.py"
    app.write_text(app.read_text() + "# a person added this remark\n")
    owners["# a person added this remark"] = "person"
    call = agent.bash("sed -i 's/^note 4 .*/note 4 rewritten by the shell/' notes.txt && rm old.txt")
    owners["note 4 rewritten by the shell"] = call
    agent.agent = {"agent_id": "sub1", "agent_type": "writer"}
    agent.hook("SubagentStart")
    call = agent.write("src/helper.py", "def helper() -> int:\n    return 'a helper of the sub-agent'\n")
    owners |= dict.fromkeys(["def helper() -> int:", "    return 'a helper of the sub-agent'"], call)
    agent.hook("SubagentStop")
    agent.agent = {}
    agent.fail("app.py")
    agent.hook("Stop", last_assistant_message="Done.")
    Pog(repo.path)("drain")
    return Scene(repo, owners, agent.now)


def committed(scene: Scene) -> str:
    scene.repo.git("add", "--all")
    scene.repo.git("commit", "--quiet", "--message", "greet", env=dates(scene.now + 60 * SECOND))
    return scene.repo.git("rev-parse", "HEAD")


def owners(repo: Repo, name: str) -> list[tuple[str, str]]:
    """Each line of a file, with the call that owns it, `person` where it is only observed, or `commit`."""
    pog = Pog(repo.path)
    calls = {event["id"]: event.get("call_id", "") for event in pog("log", "--json").json}
    [found] = pog("blame", "--json", name).json
    return [(line["text"], _owner(line, calls)) for line in found["lines"]]


def _owner(line: dict[str, Any], calls: dict[str, str]) -> str:
    if line["owner"] == "event":
        return calls[line["event"]]
    return "person" if line["owner"] == "observed" else str(line["owner"])


def assert_owned(scene: Scene, *names: str, person: str = GIT) -> None:
    """Every line of some files has the owner that it had when it was written."""
    for name in names:
        found = owners(scene.repo, name)
        wanted = [(text, scene.owners.get(text, GIT)) for text, _ in found]
        assert found == [(text, person if owner == "person" else owner) for text, owner in wanted]


ALL = ("app.py", "notes.txt", "src/helper.py")


def lines_of_calls(scene: Scene) -> int:
    return sum(owner not in (GIT, "person") for name in ALL for _, owner in owners(scene.repo, name))


def test_what_a_session_did_is_told_whole(scene: Scene) -> None:
    pog = Pog(scene.repo.path)
    told = [
        (event["kind"], event.get("tool") or event.get("topic") or event.get("status"), event.get("ok"))
        for event in pog("log", "--json").json
    ]
    kinds = sorted(kind for kind, *_ in told)
    assert kinds.count("prompted") == 1
    assert [each for each in sorted(told, key=str) if each[0] == "stepped"] == sorted(
        [
            ("stepped", "Bash", True),
            ("stepped", "Edit", False),
            ("stepped", "Edit", True),
            ("stepped", "Write", True),
        ],
        key=str,
    )
    assert kinds.count("observed") == 1
    assert scene.repo.git("status", "--porcelain").splitlines() == [
        " M app.py",
        " M notes.txt",
        " D old.txt",
        "?? src/",
    ]


def test_before_the_commit_each_line_has_its_owner(scene: Scene) -> None:
    assert_owned(scene, *ALL, person="person")
    assert lines_of_calls(scene) == 5


def test_committed(scene: Scene) -> None:
    committed(scene)
    assert_owned(scene, *ALL)
    assert lines_of_calls(scene) == 5
    shown = json.loads(Pog(scene.repo.path)("blame", "--json", "app.py").stdout)[0]["lines"][-1]
    assert shown["owner"] == "commit"
    assert shown["observed"], "the commit is shown, and what was observed is told beside it"


def upstream(scene: Scene) -> None:
    """A branch `upstream` that went on from the base: lines above ours, another file."""
    repo, env = scene.repo, dates(scene.now + 30 * SECOND)
    repo.git("checkout", "--quiet", "-b", "upstream", "HEAD~1")
    for name in ("app.py", "notes.txt"):
        path = repo.path / name
        path.write_text(f"upstream put this on top of {name}\n" + path.read_text())
    (repo.path / "more.txt").write_text("more of upstream\n")
    repo.git("add", "--all")
    repo.git("commit", "--quiet", "--message", "upstream", env=env)


def rebase(scene: Scene) -> None:
    """PC-01, PC-02: onto a changed upstream."""
    upstream(scene)
    scene.repo.git("checkout", "--quiet", "main")
    scene.repo.git("rebase", "--quiet", "upstream", env={"GIT_COMMITTER_DATE": f"{scene.now // SECOND + 90} +0000"})


def squash(scene: Scene) -> None:
    """PC-04: two commits become one on a branch that went on."""
    app = scene.repo.path / "app.py"
    app.write_text(app.read_text().replace("app line 8 of the base", "app line 8 by a person"))
    scene.repo.git("commit", "--quiet", "--all", "--message", "more", env=dates(scene.now + 70 * SECOND))
    scene.repo.git("branch", "work")
    scene.repo.git("reset", "--quiet", "--hard", "HEAD~1")
    upstream(scene)
    scene.repo.git("merge", "--quiet", "--squash", "work")
    scene.repo.git("commit", "--quiet", "--message", "squashed", env=dates(scene.now + 80 * SECOND))


def amend(scene: Scene) -> None:
    """PC-13: with a person's line."""
    app = scene.repo.path / "app.py"
    app.write_text("a person put this on top\n" + app.read_text())
    scene.repo.git("commit", "--quiet", "--all", "--amend", "--no-edit", env=dates(scene.now + 80 * SECOND))


def cherry_pick(scene: Scene) -> None:
    picked = scene.repo.git("rev-parse", "HEAD")
    upstream(scene)
    scene.repo.git("cherry-pick", picked, env={"GIT_COMMITTER_DATE": f"{scene.now // SECOND + 90} +0000"})


def squash_by_plumbing(scene: Scene) -> None:
    """PC-05: a fresh message and another parent, as servers make them."""
    tree = scene.repo.git("rev-parse", "HEAD^{tree}")
    made = scene.repo.git(
        "commit-tree", tree, "-p", "HEAD~1", "-m", "squashed by a server", env=dates(scene.now + 99 * SECOND)
    )
    scene.repo.git("reset", "--quiet", "--hard", made)


@pytest.mark.parametrize("rewrite", [rebase, squash, amend, cherry_pick, squash_by_plumbing])
def test_each_line_keeps_its_owner(scene: Scene, rewrite: Callable[[Scene], None]) -> None:
    committed(scene)
    rewrite(scene)
    assert_owned(scene, *ALL)
    assert lines_of_calls(scene) == 5
    assert Pog(scene.repo.path)("verify").status == 0


def test_a_stash_and_its_pop_change_no_owner(scene: Scene) -> None:
    """PC-08."""
    scene.repo.git("stash", "--quiet", "--include-untracked")
    scene.repo.git("stash", "pop", "--quiet")
    assert_owned(scene, *ALL, person="person")
    committed(scene)
    assert_owned(scene, *ALL)
    assert lines_of_calls(scene) == 5


def test_committed_in_two_batches(scene: Scene) -> None:
    """PC-10."""
    scene.repo.git("add", "app.py")
    scene.repo.git("commit", "--quiet", "--message", "one", env=dates(scene.now + 60 * SECOND))
    committed(scene)
    assert_owned(scene, *ALL)
    assert lines_of_calls(scene) == 5
