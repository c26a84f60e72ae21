"""`git pog blame FILE` for the second time: the same answer without loading much, and never an old one."""

import fcntl
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from pogstore.store import outputs
from tests.conftest import Repo
from tests.history.agents import Agent

SCRIPT = Path(__file__).parents[2] / "pogstore" / "cli" / "git-pog"
BASE = "alpha line of the base\nbeta line of the base\n"
ADDED = "gamma line by the agent\ndelta line by the agent\n"
LATER = {"GIT_AUTHOR_DATE": "2026-01-05T09:30:00+00:00", "GIT_COMMITTER_DATE": "2026-01-05T09:30:00+00:00"}


class Told(NamedTuple):
    """What a command printed, and whether it was worked out: then the module that does so was loaded."""

    output: bytes
    worked_out: bool


class World(NamedTuple):
    """A repository with a committed file of which an agent wrote two lines."""

    repo: Repo
    agent: Agent

    def blame(self, *arguments: str, env: dict[str, str] | None = None, cwd: str = ".") -> Told:
        command = [sys.executable, "-X", "importtime", str(SCRIPT), "blame", *(arguments or ("a.py",))]
        done = subprocess.run(
            command, cwd=self.repo.path / cwd, capture_output=True, check=True, env=os.environ | (env or {})
        )
        return Told(done.stdout, b"pogstore.history.blame" in done.stderr)


@pytest.fixture
def world(repo: Repo) -> World:
    repo.commit({"a.py": BASE, "b.py": BASE}, "base")
    agent = Agent(repo)
    agent.write("a.py", BASE + ADDED)
    repo.git("commit", "-qam", "work", env=LATER)
    return World(repo, agent)


@pytest.mark.parametrize("form", [(), ("--porcelain",), ("--json",)], ids=str)
def test_the_second_answer_is_the_first_without_working_it_out(world: World, form: tuple[str, ...]) -> None:
    first = world.blame(*form, "a.py")
    assert first.worked_out
    assert b"gamma line" in first.output
    assert world.blame(*form, "a.py") == Told(first.output, worked_out=False)
    assert world.blame(*form, "--", "a.py").output == first.output


def test_the_answer_about_an_empty_file_is_kept_too(world: World) -> None:
    world.repo.commit({"empty": ""}, "empty")
    assert world.blame("empty") == Told(b"", worked_out=True)
    assert world.blame("empty") == Told(b"", worked_out=False)


def rewritten(world: World) -> None:
    world.repo.git("commit", "-q", "--amend", "-m", "another subject", env=LATER)


def by_an_event(world: World) -> None:
    world.agent.write("a.py", ADDED + BASE)
    world.repo.git("checkout", "-q", "a.py")


def by_an_event_elsewhere(world: World) -> None:
    world.agent.write("b.py", BASE + ADDED)


def by_a_title(world: World) -> None:
    world.repo.git("pog", "edit", world.agent.task, "--title", "Another title")


def by_a_person(world: World) -> None:
    (world.repo.path / "a.py").write_text(BASE + "a line by a person\n" + ADDED)


def by_a_mailmap(world: World) -> None:
    (world.repo.path / ".mailmap").write_text("Countess <ada@example.org>\n")


def by_a_replacement(world: World) -> None:
    tree = world.repo.git("rev-parse", "HEAD^{tree}")
    other = world.repo.git("commit-tree", tree, "-m", "all in one", env=LATER)
    world.repo.git("replace", world.repo.git("rev-parse", "HEAD"), other)


def by_colors(world: World) -> None:
    world.repo.git("config", "color.pog", "always")


def by_a_packed_ref(world: World) -> None:
    world.repo.git("pack-refs", "--all")


def by_losing_the_record(world: World) -> None:
    for ref in world.repo.git("for-each-ref", "--format=%(refname)", "refs/pog/").split():
        world.repo.git("update-ref", "-d", ref)


@pytest.mark.parametrize(
    "change",
    [
        rewritten,
        by_an_event,
        by_an_event_elsewhere,
        by_a_title,
        by_a_person,
        by_a_mailmap,
        by_a_replacement,
        by_colors,
        by_a_packed_ref,
        by_losing_the_record,
    ],
)
def test_a_kept_answer_is_never_an_old_one(world: World, change: Callable[[World], None]) -> None:
    world.blame()
    assert not world.blame().worked_out
    change(world)
    told = world.blame()
    (world.repo.path / ".git" / "pog" / "index.sqlite3").unlink()
    fresh = world.blame()
    assert fresh.worked_out
    assert told.output == fresh.output


def test_where_it_runs_and_what_the_environment_says_counts(world: World) -> None:
    world.blame()
    (world.repo.path / "below").mkdir()
    assert world.blame("../a.py", cwd="below").worked_out
    assert world.blame(env={"TZ": "Asia/Tokyo"}).worked_out
    other = world.repo.path.parent / "other"
    world.repo.git("clone", "-q", str(world.repo.path), str(other))
    named = world.blame("a.py", env={"GIT_DIR": str(other / ".git"), "GIT_WORK_TREE": str(world.repo.path)})
    assert named.worked_out
    assert b"*" not in named.output, "the other repository has no record"


@pytest.mark.parametrize("setting", ["core.worktree", "include.path", "core.bare"])
def test_a_setting_that_may_move_the_work_tree_is_left_to_git(world: World, setting: str) -> None:
    world.blame()
    world.repo.git("config", setting, {"core.worktree": str(world.repo.path), "core.bare": "false"}.get(setting, "x"))
    if setting == "core.bare":
        world.repo.git("config", "--replace-all", "core.bare", "no")
    assert world.blame().worked_out


def test_an_index_of_another_schema_or_one_that_is_made_anew_is_left_alone(world: World) -> None:
    world.blame()
    world.agent.store.close()
    index = world.repo.path / ".git" / "pog" / "index.sqlite3"
    with index.with_suffix(".lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert outputs.Shelf(str(index)).recall("x") is None
        fcntl.flock(lock, fcntl.LOCK_UN)
    with closing(sqlite3.connect(index)) as connection:
        connection.execute("PRAGMA user_version = 1")
    assert world.blame().worked_out
    index.write_bytes(b"no database" * 100)
    assert world.blame().worked_out


def test_what_is_not_committed_is_worked_out_each_time(world: World) -> None:
    by_a_person(world)
    assert world.blame().worked_out
    assert world.blame().worked_out


def test_a_ref_that_moves_meanwhile_keeps_nothing(world: World) -> None:
    """The answer is worked out with the state that was looked at before, or it is not kept."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from pogstore.cli import _again; again = _again.begun(['a.py'])\n"
        "assert again is not None and not again.tell()\n"
        "again._output.write(b'wrong'); open('.git/refs/pog/tasks/new', 'w').write('0' * 40); again.keep()\n"
    )
    world.blame("b.py")
    subprocess.run(
        [sys.executable, "-c", code, str(SCRIPT.parents[2])], cwd=world.repo.path, capture_output=True, check=True
    )
    (world.repo.path / ".git/refs/pog/tasks/new").unlink()
    assert world.blame().worked_out


class Ended(NamedTuple):
    """How a command ended, and whether it did without the library for command lines."""

    status: int
    output: bytes
    errors: bytes
    plainly: bool


def ended(world: World, *arguments: str, env: dict[str, str] | None = None) -> Ended:
    """Runs a command that has never been run before: what was kept of it is forgotten."""
    with closing(sqlite3.connect(world.repo.path / ".git" / "pog" / "index.sqlite3")) as index:
        index.execute("DELETE FROM outputs")
        index.commit()
    code = f"import sys, runpy; sys.argv[0] = 'git-pog'; sys.path.insert(0, {str(SCRIPT.parents[2])!r})\n" + (
        "import os; leave = os._exit\n"
        "def says(status):\n"
        "    sys.stderr.write(f'plainly {\"click\" not in sys.modules}'); sys.stderr.flush(); leave(status)\n"
        "os._exit = says\n"
        f"runpy.run_path({str(SCRIPT)!r}, run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "blame", *arguments],
        cwd=world.repo.path,
        capture_output=True,
        check=False,
        env=os.environ | (env or {}),
    )
    plainly = done.stderr.endswith(b"plainly True")
    return Ended(done.returncode, done.stdout, done.stderr.removesuffix(b"plainly True"), plainly)


def by_nobody(world: World) -> None:
    """Leaves all as it is."""


def by_an_unknown_file(world: World) -> None:
    (world.repo.path / "a.py").unlink()
    (world.repo.path / "a.py").symlink_to("b.py")


def by_a_file_of_bytes(world: World) -> None:
    world.repo.commit({"a.py": b"\xff\x00\x1b[31m\xe2\x80\xae\n" + BASE.encode()}, "odd")


def by_losing_contents(world: World) -> None:
    ref = f"refs/pog/content/{world.agent.task}"
    world.repo.git("update-ref", "-d", ref)


@pytest.mark.parametrize(
    ("change", "form"),
    [
        (by_nobody, ()),
        (by_an_event, ("--porcelain",)),
        (by_a_person, ()),
        (by_a_replacement, ("--json",)),
        (by_losing_the_record, ("--porcelain",)),
        (by_a_file_of_bytes, ()),
        (by_losing_contents, ("--json",)),
        (by_an_unknown_file, ("--porcelain",)),
    ],
)
def test_the_plain_way_says_what_the_other_one_says(
    world: World, form: tuple[str, ...], change: Callable[[World], None]
) -> None:
    """`GIT_PAGER_IN_USE` asks for colours, `NO_COLOR` takes them away. What is not committed has today's time."""
    change(world)
    plain = ended(world, *form, "a.py")
    other = ended(world, *form, "a.py", env={"GIT_PAGER_IN_USE": "1", "NO_COLOR": "1"})
    assert plain.plainly
    assert not other.plainly
    assert plain.output
    timeless = [re.sub(rb"(?m)^(author|committer)-time .*$", b"", each.output) for each in (plain, other)]
    assert timeless[0] == timeless[1]
    assert (plain.status, plain.errors) == (other.status, other.errors) == (0, plain.errors)


def test_what_cannot_be_said_plainly_is_said_by_the_other_way(world: World) -> None:
    world.repo.git("config", "color.pog", "always")
    assert ended(world, "a.py", env={"NO_COLOR": ""}).output.count(b"\x1b[36m") == 2
    world.repo.git("config", "--unset", "color.pog")
    assert not ended(world, "-s", "a.py").plainly
    assert ended(world, "nothing.py")[:2] == (128, b"")
    assert ended(world, "a.py", env={"POG_NOW": "x"}).status == 128


def test_who_stops_reading_leaves_no_half_answer(world: World) -> None:
    world.repo.commit({"a.py": "".join(f"line {number}\n" for number in range(20_000))}, "long")
    for _ in range(2):
        command = [sys.executable, str(SCRIPT), "blame", "a.py"]
        with subprocess.Popen(command, cwd=world.repo.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            assert process.stdout.readline()
            process.stdout.close()
            assert process.stderr.read() == b""
        assert process.returncode == 0
    assert world.blame().output.count(b"\n") == 20_000
