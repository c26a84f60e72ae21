"""Tests of commands that are run again: what is never run, what reaches the program, and what is compared."""

import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from pogstore.errors import BadInput, NotFound, PogError, RefusedByPolicy
from pogstore.history import reexecution
from pogstore.history.reexecution import DIFFERS, MISSING, SAME, Ready, Result
from pogstore.model import Actor, Definition, EventId, Ran, Replayed
from pogstore.store.store import open_store
from pogstore.work import begun, runner, setup, tasks
from pogstore.work.active import worktree_id
from pogstore.work.acts import By
from pogstore.work.runner import Command
from tests.builders_exchange import Clone, bare, clone
from tests.builders_store import TASK
from tests.cli.test_quiet import snapshot
from tests.conftest import SECOND, STARTED, Repo

__all__ = ["bare", "clone"]

ADA = Actor(type="human", name="ada")
QUIET = os.open(os.devnull, os.O_WRONLY)


class Bench:
    """A repository in which commands are recorded and run again."""

    def __init__(self, repo: Repo) -> None:
        repo.git("config", "pog.enabled", "true")
        repo.git("config", "pog.fsync", "false")
        self.repo, self.path = repo, repo.path
        self.store = open_store(repo.path)
        setup.enable(self.store)
        self.by = By(ADA, STARTED, worktree=worktree_id(self.store.layout))
        self.now = STARTED
        tasks.define(self.store, TASK, Definition(title="t"), self.by)

    def clock(self) -> int:
        self.now += SECOND
        return self.now

    def run(self, *argv: str | bytes, cwd: str = "", **more: Any) -> EventId:
        """Runs and records a command; returns its event."""
        words = tuple(os.fsencode(word) for word in argv)
        command = Command(words, self.path / cwd, dict(os.environb), **more)
        done = runner.run(self.store, TASK, command, self.by, now=self.clock, shown=(QUIET, QUIET))
        assert done.fault is None
        assert done.event is not None
        return done.event.event_id

    def sh(self, script: str, **more: Any) -> EventId:
        return self.run("sh", "-c", script, **more)

    def again(self, event_id: EventId, environ: Mapping[str, str] = {}, **more: Any) -> tuple[Ready, Result]:
        """Runs a command again; the user's tree and git directory must stay as they are."""
        # git gives an object that it would write a new time, so that it is not pruned: that is git's own affair
        ours = (".git/pog/", ".git/objects/")
        before, objects = snapshot(self.path, ours), self.repo.git("count-objects")
        variables = {os.fsencode(name): os.fsencode(value) for name, value in {**os.environ, **environ}.items()}
        with reexecution.ready(self.store, event_id, variables) as ready:
            result = reexecution.run(self.store, ready, shown=(QUIET, QUIET), **more)
            self.tree = ready.tree.root
        assert not self.tree.exists(), "it is removed"
        assert (snapshot(self.path, ours), self.repo.git("count-objects")) == (before, objects)
        return ready, result

    def verdicts(self, event_id: EventId, **more: Any) -> dict[str, str]:
        return {os.fsdecode(each.path): each.verdict for each in self.again(event_id, **more)[1].verdicts}

    def refused(self, event_id: EventId) -> PogError:
        with pytest.raises(PogError) as caught, reexecution.ready(self.store, event_id, dict(os.environb)):
            raise AssertionError("it was made ready")
        return caught.value


@pytest.fixture
def bench(repo: Repo) -> Iterator[Bench]:
    repo.commit({"a.txt": "one\n", "sub/b.txt": "two\n"})
    found = Bench(repo)
    yield found
    found.store.close()


def test_the_same_command_in_the_same_state_gives_the_same(bench: Bench) -> None:
    event = bench.sh("cat a.txt sub/b.txt > c.txt; chmod +x c.txt; ln -s c.txt link; rm sub/b.txt")
    ready, result = bench.again(event)
    assert {each.path: each.verdict for each in result.verdicts} == dict.fromkeys(
        (b"c.txt", b"link", b"sub/b.txt"), SAME
    )
    assert (result.outcome, result.uncompared, result.others, result.stopped) == ("identical", (), (), False)
    assert ready.differences == ()
    assert ready.is_told


def test_what_was_not_committed_is_there_again(bench: Bench, tmp_path: Path) -> None:
    """Changed, untracked and removed files, by whomever: it is the state that the command found, as git sees it too."""
    (bench.path / "a.txt").write_text("changed\n")
    (bench.path / "new").mkdir()
    (bench.path / "new" / "file").write_text("untracked\n")
    (bench.path / "new" / "file").chmod(0o755)
    (bench.path / "new" / "ln").symlink_to("file")
    (bench.path / "sub" / "b.txt").unlink()
    told = tmp_path / "told"
    event = bench.sh(
        f"{{ cat a.txt new/ln; find . -path ./.git -prune -o -type f -print | sort; ls -l new | cut -c1-10;"
        f" git status --short; git rev-parse HEAD; git ls-files; }} > '{told}'"
    )
    first = told.read_text()
    assert "changed\nuntracked\n./README\n./a.txt\n./new/file\n" in first
    assert " M a.txt\n D sub/b.txt\n?? new/\n" in first
    (bench.path / "a.txt").write_text("changed again\n")
    bench.repo.commit({"more": "x"}, "later")
    told.unlink()
    assert bench.again(event)[1].outcome == "identical"
    assert told.read_text() == first


@pytest.mark.parametrize(
    ("script", "verdicts", "outcome"),
    [
        ("echo $$ $(date +%N) > n.txt", {"n.txt": DIFFERS}, "diverged"),
        ("echo x > m.txt", {"m.txt": SAME}, "identical"),
    ],
)
def test_what_is_not_deterministic_differs(bench: Bench, script: str, verdicts: dict[str, str], outcome: str) -> None:
    ready, result = bench.again(bench.sh(script))
    assert {os.fsdecode(each.path): each.verdict for each in result.verdicts} == verdicts
    assert result.outcome == outcome
    assert ready.event.exit_code == 0


def test_an_output_may_be_missing_or_of_another_mode_or_kind(bench: Bench, tmp_path: Path) -> None:
    """Case RC-55: mode and link are a part of what is compared."""
    mark = tmp_path / "mark"
    script = (
        f"if test -e '{mark}'; then echo x > mode; mkdir dir; ln -s elsewhere link; echo x > more;"
        " else echo x > mode; chmod +x mode; echo x > dir; ln -s here link; echo x > gone; fi"
    )
    event = bench.sh(script)
    mark.touch()
    _, result = bench.again(event)
    found = {os.fsdecode(each.path): each.verdict for each in result.verdicts}
    assert found == {"mode": DIFFERS, "dir": DIFFERS, "link": DIFFERS, "gone": MISSING}
    assert result.others == (b"more",)
    assert result.outcome == "diverged"


def test_what_it_did_not_change_then_and_does_now_is_told(bench: Bench, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    event = bench.sh(f"test ! -e '{mark}' || echo x >> a.txt")
    mark.touch()
    _, result = bench.again(event)
    assert (result.verdicts, result.others, result.outcome) == ((), (b"a.txt",), "diverged")


def test_a_declared_output_is_not_there_when_it_runs(bench: Bench, tmp_path: Path) -> None:
    """Otherwise one that was there before would pass for made. An input that is an output too stays."""
    bench.repo.commit({"out.txt": "same\n", "both.txt": "1\n"})
    mark = tmp_path / "mark"
    event = bench.sh(
        f"test -e '{mark}' || echo same > out.txt; cat both.txt", inputs=("both.txt",), outputs=("out.txt", "both.txt")
    )
    assert bench.verdicts(event) == {"out.txt": SAME, "both.txt": SAME}
    mark.touch()
    assert bench.verdicts(event) == {"out.txt": MISSING, "both.txt": SAME}


def test_what_is_changed_in_place_is_there_when_it_runs(bench: Bench) -> None:
    assert bench.verdicts(bench.sh("echo more >> a.txt; mv sub/b.txt moved")) == {
        "a.txt": SAME, "sub/b.txt": SAME, "moved": SAME
    }  # fmt: skip


HOSTILE = [
    b"; touch pwned", b"$(touch pwned)", b"`touch pwned`", b"a\nb", b"'\"", b"| touch pwned", b"&& touch pwned", b"-n",
    b"\xff\xfe", b"", b"*", b"~", b"$HOME", b"\x1b[31m", "\u202e".encode(),
]  # fmt: skip


def test_no_word_is_ever_interpreted(bench: Bench, tmp_path: Path) -> None:
    """Threat T9: the words reach the program as bytes, the same as then."""
    code = "import os, sys; open('words', 'wb').write(b'\\0'.join(map(os.fsencode, sys.argv[1:])))"
    event = bench.run(sys.executable, "-c", code, *HOSTILE)
    ready, result = bench.again(event)
    assert ready.argv[3:] == tuple(HOSTILE)
    assert [(each.path, each.verdict) for each in result.verdicts] == [(b"words", SAME)]
    assert result.verdicts[0].now is not None
    assert result.verdicts[0].now.data == b"\0".join(HOSTILE)
    assert not list(tmp_path.rglob("pwned"))


def test_another_exit_status_stops_it_and_nothing_is_recorded(bench: Bench, tmp_path: Path) -> None:
    """Case RC-38."""
    mark = tmp_path / "mark"
    event = bench.sh(f"echo x > out; test ! -e '{mark}' || exit 3")
    mark.touch()
    events = len(bench.store.events(TASK))
    with reexecution.ready(bench.store, event, dict(os.environb)) as ready:
        result = reexecution.run(bench.store, ready, shown=(QUIET, QUIET))
        assert (result.stopped, result.verdicts, result.outcome) == (True, (), "diverged")
        with pytest.raises(BadInput, match="nothing is recorded"):
            reexecution.record(bench.store, ready, result, bench.by)
    assert len(bench.store.events(TASK)) == events


def test_a_failure_that_is_the_same_is_compared(bench: Bench) -> None:
    _, result = bench.again(bench.sh("echo x > out; exit 3"))
    assert (result.stopped, result.outcome) == (False, "identical")


def test_what_takes_too_long_is_ended_with_all_that_it_started(bench: Bench, tmp_path: Path) -> None:
    mark, left = tmp_path / "mark", tmp_path / "left"
    for script in ("exec >/dev/null 2>&1; sleep 60", "trap '' TERM INT; sleep 60 & wait"):
        mark.unlink(missing_ok=True)
        event = bench.sh(f"test ! -e '{mark}' || {{ (sleep 1.5; touch '{left}') & {script}; }}")
        mark.touch()
        began = time.monotonic()
        _, result = bench.again(event, seconds=0.5)
        assert (result.finished.late, result.stopped) == (True, True)
        assert time.monotonic() - began < 20
    time.sleep(1.6)
    assert not left.exists()


def test_what_it_leaves_running_is_ended(bench: Bench, tmp_path: Path) -> None:
    left = tmp_path / "left"
    event = bench.sh(f"(sleep 0.7; touch '{left}') >/dev/null 2>&1 & echo x > out")
    time.sleep(0.8)
    left.unlink()
    assert bench.verdicts(event) == {"out": SAME}
    time.sleep(0.8)
    assert not left.exists()


def test_it_reads_nothing_and_gets_no_other_variables(bench: Bench, tmp_path: Path) -> None:
    told = tmp_path / "told"
    event = bench.sh(f"cat; env > '{told}'", variables=("LEVEL",))
    bench.again(event, environ={"LEVEL": "5", "OTHER": "6", "MY_TOKEN": "x1y2z3", "GIT_DIR": "/x", "PYTHONPATH": "/x"})
    names = {line.partition("=")[0] for line in told.read_text().splitlines()}
    assert names - {"PWD", "OLDPWD", "SHLVL", "_"} == {"PATH", "HOME", "LC_ALL", "TZ", "LEVEL"}


def test_what_waits_on_our_standard_input_is_not_the_commands(bench: Bench, tmp_path: Path) -> None:
    told = tmp_path / "told"
    event = bench.sh(f"cat > '{told}'")
    reads, writes = os.pipe()
    os.write(writes, b"meant for us")
    os.close(writes)
    saved = os.dup(0)
    try:
        os.dup2(reads, 0)
        bench.again(event)
    finally:
        os.dup2(saved, 0)
        os.close(saved)
        os.close(reads)
    assert told.read_text() == ""


def test_what_differs_in_the_environment_is_told(bench: Bench) -> None:
    bench.repo.commit({"uv.lock": "1\n"})
    event = bench.run("true", variables=("LEVEL",))
    ready, _ = bench.again(event, environ={"LEVEL": "5", "TZ": "Asia/Tokyo"})
    assert [tuple(each) for each in ready.differences] == [
        ("variables.LEVEL", None, "5"), ("variables.TZ", "UTC", "Asia/Tokyo")
    ]  # fmt: skip
    bench.repo.git("update-ref", "-d", f"refs/pog/private/{TASK}")
    assert "command line is not here" in str(bench.refused(event))


def test_lock_files_are_those_of_the_fresh_tree(bench: Bench) -> None:
    bench.repo.commit({"uv.lock": "1\n"})
    event = bench.run("true")
    bench.repo.commit({"uv.lock": "2\n"})
    assert bench.again(event)[0].differences == ()


def test_it_runs_where_it_ran(bench: Bench) -> None:
    bench.repo.commit({".gitignore": "cache/\n"})
    (bench.path / "cache" / "x").mkdir(parents=True)
    assert bench.verdicts(bench.sh("cat b.txt > c.txt", cwd="sub")) == {"sub/c.txt": SAME}
    assert bench.again(bench.sh("pwd", cwd="cache/x"))[1].outcome == "identical", "an empty folder is made"
    outside = bench.run("true", cwd=str(bench.path.parent))
    assert "outside of the work tree" in str(bench.refused(outside))


def test_a_command_that_commits_does_so_elsewhere(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Case RC-40."""
    for name in ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"):
        monkeypatch.setenv(name, f"{STARTED // SECOND + 1} +0000")
    event = bench.sh("echo x > new; git add new; git commit -q -m made; git tag made-then; git config x.y z")
    bench.repo.git("tag", "-d", "made-then")
    bench.repo.git("reset", "-q", "--hard", "HEAD~1")
    assert bench.verdicts(event) == {"new": SAME}
    assert bench.repo.git("for-each-ref", "refs/tags") == ""
    assert bench.repo.git("worktree", "list").count("\n") == 0


def test_line_endings_are_compared_as_git_stores_them(bench: Bench) -> None:
    bench.repo.commit({".gitattributes": "*.txt text eol=crlf\n", "x.txt": "1\r\n2\r\n"})
    event = bench.sh("tr -d '\\r' < x.txt > y.txt; printf 'a\\r\\n' > z.txt")
    assert bench.verdicts(event) == {"y.txt": SAME, "z.txt": SAME}


def test_before_the_first_commit(make_repo: Any) -> None:
    bench = Bench(make_repo("young", commit=False))
    (bench.path / "a").write_text("x")
    assert bench.verdicts(bench.sh("cat a a > b")) == {"b": SAME}
    bench.store.close()


@pytest.mark.parametrize("name", ["new\nline", "-dash", "sp ace", "\u00e9", "q\"'"])
def test_odd_names(bench: Bench, name: str) -> None:
    (bench.path / name).write_text("x")
    assert bench.verdicts(bench.run("cp", "--", name, f"{name}2")) == {f"{name}2": SAME}


def test_names_that_are_not_utf8(bench: Bench) -> None:
    (bench.path / os.fsdecode(b"a\xff")).write_text("x")
    event = bench.run(b"cp", b"a\xff", b"b\xff")
    assert bench.verdicts(event) == {os.fsdecode(b"b\xff"): SAME}


# What is never run.


def test_what_was_fetched_is_never_run(clone: Any, tmp_path: Path) -> None:
    """RC-41: after a real push and fetch, neither the event as it is, nor one that claims to be of our work tree."""
    one: Clone = clone("one")
    two: Clone = clone("two")
    task = one.new()
    mark = tmp_path / "mark"
    command = Command((b"touch", os.fsencode(mark)), one.repo.path, dict(os.environb))
    ours = worktree_id(two.store.layout)  # forged: as if two had recorded it
    by = By(ADA, STARTED, worktree=ours)
    done = runner.run(one.store, task, command, by, now=one.clock, shown=(QUIET, QUIET))
    assert done.event is not None
    mark.unlink()
    one.push(private=True)
    two.pull(private=True)
    fetched = two.store.event(done.event.event_id)
    assert getattr(fetched.event, "worktree", None) == ours
    with (
        pytest.raises(RefusedByPolicy, match="not recorded in this repository"),
        reexecution.ready(two.store, fetched.event_id, dict(os.environb)),
    ):
        raise AssertionError("it was made ready")
    with reexecution.ready(one.store, done.event.event_id, dict(os.environb)) as ready:
        reexecution.run(one.store, ready, shown=(QUIET, QUIET))
    assert mark.exists(), "where it was recorded, it is"


def test_what_is_no_recorded_command_is_never_run(bench: Bench) -> None:
    bench.run("true")
    first = bench.store.events(TASK)[0].event_id
    assert isinstance(bench.refused(first), BadInput)
    with pytest.raises(NotFound), reexecution.ready(bench.store, EventId("0" * 64), dict(os.environb)):
        pass


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"{}",
        b"[]",
        b'{"commit": "$(x)", "files": [], "unknown": [], "whole": true}',
        b'{"commit": null, "files": [["a", "160000", "x"]], "unknown": [], "whole": true}',
    ],
)
def test_a_register_that_is_damaged_lets_nothing_run(bench: Bench, damaged: bytes) -> None:
    event = bench.run("true")
    (bench.store.layout.own / "ran" / event).write_bytes(damaged)
    assert isinstance(bench.refused(event), RefusedByPolicy)


def test_a_register_behind_a_link_is_none(bench: Bench, tmp_path: Path) -> None:
    event = bench.run("true")
    folder = bench.store.layout.own / "ran"
    folder.rename(tmp_path / "ran")
    folder.symlink_to(tmp_path / "ran")
    assert isinstance(bench.refused(event), RefusedByPolicy)


def test_a_command_without_its_secret_is_not_run(bench: Bench) -> None:
    event = bench.run("true", "--password", "hunter2Secret9")
    assert "a secret was taken out" in str(bench.refused(event))


def test_a_command_that_names_the_users_own_tree_is_not_run(bench: Bench) -> None:
    event = bench.run("touch", str(bench.path / "a.txt"))
    assert isinstance(bench.refused(event), RefusedByPolicy)


def test_no_file_of_ours_lies_in_the_users_tree(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    event = bench.run("true")
    monkeypatch.setattr(tempfile, "tempdir", str(bench.path))
    before = snapshot(bench.path, (".git/pog/",))
    assert "inside the repository" in str(bench.refused(event))
    assert snapshot(bench.path, (".git/pog/",)) == before


# What is kept and recorded.


def test_what_nobody_kept_is_not_compared(bench: Bench) -> None:
    """Case RC-52: no verdict is given on what cannot be checked."""
    bench.repo.commit({".gitignore": "*.o\nbuild/\n"})
    script = "mkdir -p build; echo z > build/z; echo x > made.o; echo y > made.txt"
    event = bench.sh(script, outputs=("build/z", "made.o", "made.txt"))
    _, result = bench.again(event)
    assert [(each.path, each.verdict) for each in result.verdicts] == [(b"made.txt", SAME)]
    assert (result.uncompared, result.outcome) == ((b"build/z", b"made.o"), "unverifiable")


def test_an_input_that_git_ignores_is_named(bench: Bench) -> None:
    bench.repo.commit({".gitignore": "*.in\n"})
    (bench.path / "x.in").write_text("x")
    ready, result = bench.again(bench.sh("cat x.in || true", inputs=("x.in", "a.txt")))
    assert ready.lacking == (b"x.in",)
    assert not result.stopped


def test_both_versions_are_kept(bench: Bench, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    event = bench.sh(f"if test -e '{mark}'; then echo 2 > v; ln -s b l; else echo 1 > v; ln -s a l; echo 1 > g; fi")
    mark.touch()
    _, result = bench.again(event)
    place = reexecution.keep(bench.store, result, tmp_path / "kept")
    assert ((place / "recorded" / "v").read_text(), (place / "now" / "v").read_text()) == ("1\n", "2\n")
    assert [str((place / name / "l").readlink()) for name in ("recorded", "now")] == ["a", "b"]
    assert (place / "recorded" / "g").exists()
    assert not (place / "now" / "g").exists()
    with pytest.raises(BadInput, match="already"):
        reexecution.keep(bench.store, result, tmp_path / "kept")
    with pytest.raises(BadInput, match="inside the repository"):
        reexecution.keep(bench.store, result, bench.path / "kept")
    assert reexecution.keep(bench.store, result, None).is_relative_to(tempfile.gettempdir())


def test_it_is_recorded_what_became_of_it(bench: Bench) -> None:
    event = bench.sh("echo x > out")
    with reexecution.ready(bench.store, event, dict(os.environb)) as ready:
        result = reexecution.run(bench.store, ready, shown=(QUIET, QUIET))
        sealed = reexecution.record(bench.store, ready, result, bench.by)
    told = sealed.event
    assert isinstance(told, Replayed)
    assert (told.targets, told.strategy, told.changes) == ((event,), "exec", ())
    assert [(each.event, each.outcome) for each in told.outcomes] == [(event, "identical")]
    assert bench.store.events(TASK)[-1] == sealed


def test_how_it_began_is_kept_for_its_owner_alone(bench: Bench) -> None:
    (bench.path / os.fsdecode(b"a\xff")).write_text("x")
    (bench.path / "a.txt").unlink()
    event = bench.run("true")
    path = bench.store.layout.own / "ran" / event
    assert path.stat().st_mode & 0o777 == 0o600
    found = begun.find(bench.store, event)
    assert found is not None
    assert found.commit == bench.repo.git("rev-parse", "HEAD")
    blob = bench.repo.git("hash-object", "--stdin", input="x")
    assert found.files == {b"a\xff": ("100644", blob), b"a.txt": None}
    assert (found.unknown, found.whole) == ((), True)
    assert isinstance(bench.store.event(event).event, Ran)


def test_too_many_changed_files_are_not_kept(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(begun, "MOST_PATHS", 2)
    for name in "xyz":
        (bench.path / name).write_text(name)
    event = bench.run("true")
    assert "too much to keep" in str(bench.refused(event))


def test_a_file_that_nobody_kept_is_named(bench: Bench) -> None:
    bench.repo.git("config", "pog.maxBlob", "100")
    bench.store = open_store(bench.path)
    (bench.path / "large").write_text("x" * 200)
    event = bench.sh("echo y > small")
    with reexecution.ready(bench.store, event, dict(os.environb)) as ready:
        assert ready.lacking == (b"large",)
        assert not (ready.tree.root / "large").exists()
