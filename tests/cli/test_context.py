"""Tests of where a command finds itself: which repository, which work tree, who acts, which task is meant."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from pogstore.cli._context import git_environments
from tests.cli.conftest import Here
from tests.conftest import EMAIL, NAME, Pog, Repo

MakeRepo = Callable[..., Repo]


def title_at(run: Pog | Here, cwd: Path) -> list[str]:
    """Returns the titles of the tasks that a command sees in a directory."""
    return [line["title"] for line in run("list", "--all", "--json", cwd=cwd).json]


def test_a_sub_directory_is_as_good_as_the_root(here: Here, repo: Repo) -> None:
    below = repo.path / "src" / "deep"
    repo.commit({"src/deep/a.txt": "one\n"})
    here.task("a task")
    assert title_at(here, below) == ["a task"]
    assert here("blame", "a.txt", "--json", cwd=below).json[0]["path"] == "src/deep/a.txt"
    assert here("blame", "../deep/a.txt", "--json", cwd=below).json[0]["path"] == "src/deep/a.txt"
    assert here("why", "a.txt:1", "--json", cwd=below).json["text"] == "one"
    said = here("blame", "../../../elsewhere", cwd=below, status=128)
    assert said.stderr == "error: '../../../elsewhere': is outside the repository\n"


def test_a_linked_work_tree_has_its_own_active_task(here: Here, repo: Repo, tmp_path: Path) -> None:
    """Case PC-69: the same tasks, another HEAD, another active task."""
    linked = tmp_path / "linked"
    repo.git("worktree", "add", "--quiet", "-b", "other", str(linked))
    one, other = here.task("one", "--start"), here.task("other")
    assert here("status", "--json", cwd=linked).json["active"] is None
    here("start", other, cwd=linked)
    assert here("show", "--json", cwd=linked).json["task"] == other
    assert here("show", "--json").json["task"] == one
    (linked / "README").write_text("changed\n")
    assert [line["owner"] for line in here("blame", "--json", cwd=linked).json[0]["lines"]] == ["unknown"]
    assert here("blame", "--json", status=1).json == []
    events = here("log", "--json", one, other).json
    assert len({event["worktree"] for event in events}) == 2


def test_a_bare_repository_serves_every_verb_without_files(here: Here, repo: Repo, tmp_path: Path) -> None:
    bare = Repo(tmp_path / "bare.git")
    repo.git("clone", "--quiet", "--bare", str(repo.path), str(bare.path))
    here("init", cwd=bare.path)
    task = here("new", "in a bare repository", "--item", "x", "--start", "--json", cwd=bare.path).json["task"]
    for command in ("note x", "decide x", "check 1", "review --approve", "block", "move in_progress", "show",
                    "log", "list --all", "status", "diff", "verify", "reindex", "share", "move pending", "release",
                    "claim", "release", "start", "edit --tag x", "done"):  # fmt: skip
        here(*command.split(), cwd=bare.path, status=None if command == "release" else 0)
    assert here("show", task, "--json", cwd=bare.path).json["tags"] == ["x"]
    here("new", "another", "--start", cwd=bare.path)
    here("cancel", cwd=bare.path)
    for command in ("blame README", "why README:1", "undo", "rollback @"):
        said = here(*command.split(), cwd=bare.path, status=None)
        assert said.status == 128, command
    assert (
        here("blame", "README", cwd=bare.path, status=128).stderr
        == "error: this operation must be run in a work tree\n"
    )


def test_a_bare_repository_with_work_trees_beside_it(here: Here, repo: Repo, tmp_path: Path) -> None:
    """Case PC-70: a bare clone in a folder, its work trees beside it; called from the folder and from within."""
    folder = tmp_path / "project"
    folder.mkdir()
    repo.git("clone", "--quiet", "--bare", str(repo.path), str(folder / ".bare"))
    (folder / ".git").write_text("gitdir: ./.bare\n")
    Repo(folder).git("worktree", "add", "--quiet", str(folder / "main"), "main")
    here("init", cwd=folder)
    here("new", "from the folder", cwd=folder)
    here("new", "from the work tree", cwd=folder / "main")
    assert title_at(here, folder) == title_at(here, folder / "main") == ["from the work tree", "from the folder"]
    assert here("blame", "README", "--json", cwd=folder / "main").json[0]["path"] == "README"
    assert here("-C", str(folder / "main"), "list", "--json", cwd=tmp_path).json


def test_a_repository_without_commits_works(make_repo: MakeRepo, here: Here) -> None:
    """Case PC-102."""
    empty = make_repo("empty", commit=False).path
    assert here("list", "--json", cwd=empty).json == []
    assert here("status", cwd=empty).stdout == "pogstore is not enabled in this repository\nno active task\n0 tasks\n"
    here("init", cwd=empty)
    here("new", "before the first commit", "--start", cwd=empty)
    (empty / "a.txt").write_text("one\n")
    assert here("blame", "a.txt", "--json", cwd=empty).json[0]["lines"][0]["owner"] == "unknown"
    assert here("show", "--json", cwd=empty).json["status"] == "in_progress"
    assert here("verify", "--json", cwd=empty).json["ok"]
    assert here("undo", cwd=empty, status=128).stderr.startswith("error: no operation to undo\n")


def test_nothing_is_recorded_before_init(make_repo: MakeRepo, here: Here) -> None:
    other = make_repo("other")
    before = set((other.path / ".git").rglob("*"))
    said = here("new", "a task", cwd=other.path, status=128)
    assert said.stderr == "error: pogstore is not enabled in this repository\nhint: run 'git pog init' first\n"
    assert other.git("for-each-ref", "refs/pog") == ""
    assert not [path for path in set((other.path / ".git").rglob("*")) - before if "pog" not in path.parts]


@pytest.mark.parametrize(
    "command", ["new x", "note x --task {task}", "start {task}", "import pog-task .", "done {task}"]
)
def test_recording_can_be_switched_off(here: Here, repo: Repo, command: str) -> None:
    """Case PC-124: nothing is written while `POG_DISABLE` is set, and reading goes on."""
    task = here.task("a task")
    before = repo.git("for-each-ref")
    said = here(*command.format(task=task).split(), POG_DISABLE="1", status=4)
    assert said.stderr == "error: recording is disabled by POG_DISABLE\nhint: unset it to record again\n"
    assert repo.git("for-each-ref") == before
    assert here("show", task, "--json", POG_DISABLE="1").json["status"] == "pending"
    here("note", "x", "--task", task, POG_DISABLE="0")


# Which repository


def test_git_dir_counts(pog: Pog, repo: Repo, make_repo: MakeRepo, tmp_path: Path) -> None:
    other = make_repo("other")
    pog("init")
    pog("new", "a task")
    git_dir = str(repo.path / ".git")
    assert [line["title"] for line in pog("list", "--json", cwd=other.path, env={"GIT_DIR": git_dir}).json] == [
        "a task"
    ]
    assert pog("list", "--json", cwd=tmp_path, env={"GIT_DIR": git_dir, "GIT_WORK_TREE": str(repo.path)}).json
    assert other.git("--git-dir", git_dir, "pog", "list").endswith("a task")
    assert pog("list", cwd=other.path, env={"GIT_DIR": "/nowhere"}, status=128).stderr.startswith(
        "error: not a git repo"
    )


def test_inside_a_hook_the_place_counts(pog: Pog, repo: Repo, make_repo: MakeRepo, tmp_path: Path) -> None:
    """Case PC-81: a hook of A that has gone to B means B; one that stays means A. Both exports of git are covered."""
    other = make_repo("other")
    linked = tmp_path / "linked"
    pog("init")
    pog("init", cwd=other.path)
    repo.git("worktree", "add", "--quiet", "-b", "linked", str(linked))
    hook = repo.path / ".git" / "hooks" / "post-commit"
    hook.write_text(
        '#!/bin/sh\ngit pog new "in A: ${GIT_DIR:+dir}"\n'
        f'cd "{other.path}" && git pog new "in B: ${{GIT_DIR:+dir}}"\n'
    )
    hook.chmod(0o755)
    index = (repo.path / ".git" / "index").read_bytes()
    repo.git("commit", "--quiet", "--allow-empty", "-m", "from the main work tree", env={"POG_NOW": "1"})
    Repo(linked).git("commit", "--quiet", "--allow-empty", "-m", "from a linked one", env={"POG_NOW": "2"})
    assert title_at(pog, repo.path) == ["in A: dir", "in A: "]
    assert title_at(pog, other.path) == ["in B: dir", "in B: "]
    assert (repo.path / ".git" / "index").read_bytes() == index


def test_a_server_hook_finds_its_repository(pog: Pog, repo: Repo, make_repo: MakeRepo) -> None:
    server, other = make_repo("server.git", "--bare", commit=False), make_repo("other")
    pog("init", cwd=server.path)
    pog("init", cwd=other.path)
    hook = server.path / "hooks" / "post-receive"
    hook.write_text(f'#!/bin/sh\ngit pog new "at the server"\ncd "{other.path}" && git pog new "elsewhere"\n')
    hook.chmod(0o755)
    repo.git("push", "--quiet", str(server.path), "main", env={"POG_NOW": "1"})
    assert title_at(pog, server.path) == ["at the server"]
    assert title_at(pog, other.path) == ["elsewhere"]


def test_environments_are_tried_in_order() -> None:
    assert [found.get("GIT_DIR") for found in git_environments({})] == [None]
    assert [found.get("GIT_DIR") for found in git_environments({"GIT_DIR": "x"})] == ["x"]
    assert [found.get("GIT_DIR") for found in git_environments({"GIT_DIR": "x", "GIT_PREFIX": ""})] == [None, "x"]
    assert [found.get("GIT_DIR") for found in git_environments({"GIT_DIR": "."})] == [None, "."]
    for found in git_environments({"GIT_DIR": "x", "GIT_INDEX_FILE": "y"}):
        assert "GIT_INDEX_FILE" not in found


# Who acts, and when


def actor_of(here: Here, *options: str, **env: str) -> dict[str, object]:
    """Returns the actor that a note is written by."""
    actor: dict[str, object] = here("note", "x", *options, "--json", env=env).json["actor"]
    return actor


def test_an_actor_is_the_person_that_git_knows(here: Here, repo: Repo) -> None:
    here.task("a task", "--start")
    ada = {"name": NAME, "email": EMAIL}
    assert actor_of(here) == {"type": "human", "name": NAME, "on_behalf_of": ada}
    bob = {"name": "Bob", "email": "bob@example.org"}
    assert actor_of(here, GIT_AUTHOR_NAME="Bob", GIT_AUTHOR_EMAIL=bob["email"])["on_behalf_of"] == bob
    repo.git("config", "user.name", "Carol")
    assert actor_of(here)["name"] == "Carol"
    repo.git("config", "author.name", "Dora")
    assert actor_of(here)["name"] == "Dora"


def test_git_c_configures_us_too(pog: Pog, repo: Repo) -> None:
    pog("init")
    said = repo.git("-c", "user.name=Eve", "pog", "new", "x", "--json", env={"POG_NOW": "1"})
    assert '"task"' in said
    assert pog("log", "--json").json[0]["actor"]["name"] == "Eve"


@pytest.mark.parametrize("config", ["", "[user]\n\tname = Ada\n", "[user]\n\temail = a@example.org\n"])
def test_without_an_identity_only_an_agent_can_act(here: Here, repo: Repo, config: str) -> None:
    here.task("a task", "--start")
    Path(os.environ["GIT_CONFIG_GLOBAL"]).write_text(config)
    refs = repo.git("for-each-ref")
    for words in (["new", "x"], ["note", "x"], ["decide", "x"], ["start"], ["done"], ["edit", "--tag", "x"]):
        assert here(*words, status=128).stderr == (
            "error: no identity: user.name and user.email are not both set\n"
            "hint: run 'git config --global user.name NAME' and 'git config --global user.email ADDRESS'\n"
        )
    assert repo.git("for-each-ref") == refs
    for words in (["list"], ["show"], ["log"], ["status"]):
        here(*words)
    assert actor_of(here, "--as", "claude") == {"type": "agent", "name": "claude"}
    assert here("decide", "x", "--as", "claude", "--json").json["actor"] == {"type": "agent", "name": "claude"}
    assert actor_of(here, GIT_AUTHOR_NAME="Bob", GIT_AUTHOR_EMAIL="b@example.org")["name"] == "Bob"


@pytest.mark.parametrize("name", ["", " ", "\t "])
def test_an_actor_without_a_name_is_wrong_usage(here: Here, name: str) -> None:
    """A variable that a script forgot to fill would let an agent pass for a person."""
    here.task("a task", "--start")
    assert here("note", "x", "--as", name, status=129).stderr.startswith("error: --as is empty; it names who acts\n")
    assert here("note", "x", status=129, POG_ACTOR=name).stderr.startswith("error: POG_ACTOR is empty;")
    assert actor_of(here, "--as", "claude", POG_ACTOR=name)["name"] == "claude"


@pytest.mark.parametrize(
    ("name", "type_", "shown"),
    [
        ("claude", "agent", "claude"),
        ("agent:claude", "agent", "claude"),
        ("human:Bob", "human", "Bob"),
        ("tool:ci", "tool", "ci"),
        ("a:b", "agent", "a:b"),
    ],
)
def test_an_actor_can_be_named(here: Here, name: str, type_: str, shown: str) -> None:
    here.task("a task", "--start")
    by_option = actor_of(here, "--as", name)
    by_variable = actor_of(here, POG_ACTOR=name, POG_SESSION="")
    assert (by_option["type"], by_option["name"]) == (type_, shown)
    assert by_option == by_variable
    assert by_option["on_behalf_of"] == {"name": NAME, "email": EMAIL}
    assert actor_of(here, "--as", name, POG_ACTOR="other", POG_SESSION="s-1") == by_option | {"session": "s-1"}


@pytest.mark.parametrize("name", ["agent:", "x" * 101, "ghp_" + "a1B2" * 9])
def test_a_name_that_cannot_stay_for_good_is_refused(here: Here, name: str) -> None:
    here.task("a task", "--start")
    said = here("note", "x", "--as", name, status=128)
    assert said.stderr.startswith("error: the name of an actor: ")
    assert name.strip() == "" or name not in said.stderr


@pytest.mark.parametrize("moment", ["yesterday", "-1", "1.5", "²", "9" * 17])
def test_a_clock_that_is_none_is_refused(here: Here, moment: str) -> None:
    said = here("new", "x", POG_NOW=moment, status=128)
    assert said.stderr == "error: POG_NOW: is not a number of µs since the epoch\n"


# Which task or event


@pytest.fixture
def named(here: Here) -> tuple[Here, str, str]:
    """Two tasks, the second of which is active, the first before it."""
    one = here.task("one", "--alias", "PROJ-1", "--issue", "17", "--start")
    two = here.task("two", "--alias", "PROJ-2", "--start")
    return here, one, two


def shared(one: str, two: str) -> str:
    """Returns the longest common beginning of two ids."""
    return next(one[:length] for length in range(len(one), -1, -1) if two.startswith(one[:length]))


def test_a_task_has_many_names(named: tuple[Here, str, str]) -> None:
    here, one, two = named
    short = shared(one, two)
    names = {one, one.upper(), one[: len(short) + 1], "PROJ-1", "proj-1", "@{-1}"}
    assert {here("show", name, "--json").json["task"] for name in names} == {one}
    assert {here("show", name, "--json").json["task"] for name in ("@", two, "PROJ-2")} == {two}
    assert here("show", "--json").json["task"] == two


def test_an_ambiguous_name_lists_what_it_may_be(named: tuple[Here, str, str]) -> None:
    here, one, two = named
    short = shared(one, two)
    said = here("show", short, status=128)
    assert said.stderr.startswith(f"error: '{short}' is ambiguous\nhint: it may be {one}, {two}")
    error = here("show", short, "--json", status=128)
    assert '"code": "ambiguous"' in error.stderr


def test_an_event_has_many_names(named: tuple[Here, str, str]) -> None:
    here, one, _ = named
    here("note", "the last", "--task", "PROJ-1")
    ids = [event["id"] for event in here("log", "PROJ-1", "--json").json]
    assert here("show", ids[1][:12], "--json").json["id"] == ids[1]
    for back, event in enumerate(ids, 1):
        assert here("show", f"PROJ-1@{{{back}}}", "--json").json["id"] == event
    here("start", one)
    assert here("show", "@@{2}", "--json").json["id"] == here("show", "@{2}", "--json").json["id"] == ids[1]
    assert here("show", "PROJ-1@{0}", status=128).stderr.endswith("of which 1 is the last\n")
    assert here("show", "PROJ-1@{²}", status=128).stderr.startswith("error: '²': neither a number nor a date")
    assert here("show", "PROJ-1@{2026-01-05}", "--json").json["id"] == ids[0]
    assert here("show", f"{one}@{{2026-01-05T09:00:02}}", "--json").json["id"] == ids[1]
    assert here("show", "PROJ-1@{2025-12-31}", status=128).stderr.endswith("hint: the task has none that old\n")
    assert here("show", "PROJ-1@{999}", status=128).stderr.startswith("error: no event matches")
    assert here("show", "PROJ-1@{soon}", status=128).stderr == (
        "error: 'soon': neither a number nor a date such as 2026-11-30\n"
    )


def test_pog_task_names_the_active_task(named: tuple[Here, str, str]) -> None:
    here, one, two = named
    assert here("show", "--json", POG_TASK=one).json["task"] == one
    assert here("show", "--json", POG_TASK="PROJ-1").json["task"] == one
    assert here("note", "x", "--json", POG_TASK="PROJ-1").json["task"] == one
    assert here("status", "--json", POG_TASK=one).json["active"]["task"] == one
    assert here("show", two, "--json", POG_TASK=one).json["task"] == two
    assert here("show", POG_TASK="nothing", status=128).stderr.startswith("error: no task matches 'nothing'\n")


@pytest.mark.parametrize("name", ["nothing", "ffff", "@{-7}", "", "-", "@@", "x@{1}", "0" * 64])
def test_a_name_that_means_nothing_is_128(here: Here, name: str) -> None:
    here.task("a task")
    said = here("show", "--", name, status=128)
    assert said.stdout == ""
    assert re.match(r"error: no (active )?(task|event)", said.stderr)
    assert here("show", status=128).stderr == ("error: no active task\nhint: start one with 'git pog start TASK'\n")


@pytest.mark.parametrize("name", ["0", "01", "abc", "ABC"])
def test_a_prefix_that_is_too_short_is_said_to_be(here: Here, name: str) -> None:
    task = here.task("a task")
    hint = "hint: a prefix of an id needs at least four digits; 'git pog list --all' shows the ids\n"
    assert here("show", name, status=128).stderr == f"error: no task or event matches '{name}'\n{hint}"
    assert here("claim", name, status=128).stderr == f"error: no task matches '{name}'\n{hint}"
    assert here("show", task[:4], "--json").json["task"] == task
