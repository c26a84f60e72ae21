"""Tests of the Python API that records while a program works, in real repositories."""

import gc
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pogstore
from pogstore.model import Actor, Change, Decided, Defined, Event, Moved, Noted, Observed, Prompted, Stepped
from pogstore.work import watched
from pogstore.work.blocks import as_text
from pogstore.work.look import look
from tests.conftest import NAME, Repo

KEY = "AKIA" + "IOSFODNN7EXAMPLE"


class Bench:
    """A store that is open on a repository."""

    def __init__(self, repo: Repo) -> None:
        self.repo, self.path = repo, repo.path
        repo.git("config", "pog.enabled", "true")
        repo.git("config", "pog.fsync", "false")
        self.store = pogstore.open(repo.path)

    def write(self, name: str, text: str) -> None:
        (self.path / name).write_text(text, "utf-8")

    def events(self, task: pogstore.RecordedTask) -> list[Event]:
        found = [sealed.event for sealed in self.store.events(task.id)]
        return [event for event in found if isinstance(event, Event)]

    def steps(self, task: pogstore.RecordedTask) -> list[Stepped]:
        return [event for event in self.events(task) if isinstance(event, Stepped)]

    def status(self, task: pogstore.RecordedTask) -> str | None:
        return pogstore.read_state(self.store, task.id).status

    def said(self, change: Change) -> tuple[Any, bytes | None, bytes | None]:
        sides = (change.before, change.after)
        before, after = (self.store.read_content(side.blob) if side and side.blob else None for side in sides)
        return change.path, before, after

    def changes(self, event: Stepped | Observed) -> list[tuple[Any, bytes | None, bytes | None]]:
        return [self.said(change) for change in event.changes]


@pytest.fixture
def bench(repo: Repo) -> Iterator[Bench]:
    found = Bench(repo)
    found.repo.commit({"a.txt": "one\n", "b.txt": "one\n"})
    yield found
    found.store.close()


def test_a_step_tells_what_it_changed(bench: Bench) -> None:
    with (
        bench.store.task("a task", intent="because", by="robot") as task,
        task.step("sed", "edit", paths=["a.txt"]) as step,
    ):
        step.input = {"file": "a.txt"}
        bench.write("a.txt", "two\n")
        step.output = "done"
        step.usage = pogstore.Usage(tokens_in=3)
        step.effects = "tree"
    (event,) = bench.steps(task)
    assert step.event.event == event
    assert (event.tool, event.class_, event.ok, event.coverage) == ("sed", "edit", True, "scoped")
    assert (event.usage, event.effects) == (pogstore.Usage(tokens_in=3), "tree")
    assert event.base == pogstore.Base(commit=f"sha1_{bench.repo.git('rev-parse', 'HEAD')}", branch="main")
    assert bench.changes(event) == [("a.txt", b"one\n", b"two\n")]
    assert event.actor == pogstore.Actor(
        type="agent", name="robot", on_behalf_of=pogstore.Person(name=NAME, email="ada@example.org")
    )
    assert event.input is not None
    assert event.output is not None
    assert event.input.class_ == event.output.class_ == "private"
    assert bench.store.read_text(event.input) == '{"file": "a.txt"}'
    assert bench.store.read_text(event.output) == "done"
    assert [line.owner for line in pogstore.blame(bench.store, b"a.txt").lines] == ["event"]


def test_without_paths_the_whole_tree_is_compared(bench: Bench) -> None:
    (bench.path / "sub").mkdir()
    with bench.store.task("a task") as task, task.step("make", "shell"):
        bench.write("a.txt", "two\n")
        bench.write("sub/new.txt", "new\n")
        (bench.path / "b.txt").unlink()
    (event,) = bench.steps(task)
    assert bench.changes(event) == [
        ("a.txt", b"one\n", b"two\n"), ("b.txt", b"one\n", None), ("sub/new.txt", None, b"new\n"),
    ]  # fmt: skip
    assert event.coverage == "shared", "nobody can tell who else saved a file meanwhile"
    with bench.store.task(task=task.id) as again, again.step("true", "shell"):
        pass
    assert [each.coverage for each in bench.steps(again)] == ["shared", "exact"]


def test_what_was_named_is_all_that_is_looked_at(bench: Bench) -> None:
    with bench.store.task("a task") as task:
        with task.step("sed", "edit", paths=["a.txt"]):
            bench.write("b.txt", "two\n")
        with task.step("cat", "read"):
            bench.write("a.txt", "two\n")
        with task.step("curl", paths=()):
            bench.write("a.txt", "three\n")
    assert [(each.changes, each.coverage) for each in bench.steps(task)] == [((), "scoped"), ((), None), ((), "none")]


def test_a_change_from_before_is_nobodys(bench: Bench) -> None:
    bench.write("a.txt", "a person's\n")
    with bench.store.task("a task") as task:
        with task.step("sed", "edit", paths=["a.txt"]):
            bench.write("a.txt", "mine\n")
        bench.write("a.txt", "a person's again\n")
        with task.step("make", "shell"):
            bench.write("a.txt", "mine again\n")
    told = [event for event in bench.events(task) if isinstance(event, Observed | Stepped)]
    assert [type(event).__name__ for event in told] == ["Observed", "Stepped"] * 2
    assert [bench.changes(event)[0][1:] for event in told] == [
        (b"one\n", b"a person's\n"), (b"a person's\n", b"mine\n"),
        (b"mine\n", b"a person's again\n"), (b"a person's again\n", b"mine again\n"),
    ]  # fmt: skip


def test_a_task_is_in_progress_until_it_is_said_what_came_of_it(bench: Bench) -> None:
    with bench.store.task("left as it is") as task:
        assert bench.status(task) == "in_progress"
    assert bench.status(task) == "in_progress"
    with bench.store.task(task=task.id) as task:
        task.done("it works")
        assert bench.status(task) == "in_progress", "it ends with its block"
    assert bench.status(task) == "completed"
    moved = bench.events(task)[-1]
    assert isinstance(moved, Moved)
    assert bench.store.find_text(moved.outcome) == "it works"
    with bench.store.task("reviewed") as task:
        task.review()
    assert bench.status(task) == "in_review"
    with bench.store.task("blocked") as task:
        task.block("no key")
    assert bench.status(task) == "blocked"


def test_done_comes_after_the_steps_of_the_same_block(bench: Bench) -> None:
    with bench.store.task("a task") as task, task.step("sed", "edit", paths=["a.txt"]):
        task.done()
    assert [type(event).__name__ for event in bench.events(task)][-2:] == ["Stepped", "Moved"]


def test_an_exception_passes_and_completes_nothing(bench: Bench) -> None:
    fault = ValueError(f"it broke {KEY}")
    with (  # noqa: PT012 - what is tested is what happens before it raises
        pytest.raises(ValueError, match="it broke") as caught,
        bench.store.task("a task") as task,
        task.step("sed", "edit", paths=["a.txt"]) as step,
    ):
        task.done()
        step.output = "so far"
        bench.write("a.txt", "half\n")
        raise fault
    assert caught.value is fault
    (event,) = bench.steps(task)
    assert event.ok is False
    assert bench.changes(event) == [("a.txt", b"one\n", b"half\n")]
    assert event.output is not None
    assert bench.store.read_text(event.output) == "so far\nValueError: it broke [redacted:aws-key-id]"
    assert bench.status(task) == "in_progress"
    last = bench.events(task)[-1]
    assert isinstance(last, Noted)
    assert (last.topic, last.text is not None and last.text.class_) == ("exception", "private")


def test_leaving_a_program_on_purpose_is_no_failure(bench: Bench) -> None:
    with pytest.raises(SystemExit), bench.store.task("a task") as task, task.step("x", paths=()):
        sys.exit(0)
    with pytest.raises(SystemExit), bench.store.task(task=task.id) as task, task.step("x", paths=()):
        sys.exit("a message")
    with bench.store.task(task=task.id) as task, task.step("x", paths=()) as step:
        step.ok = False
    assert [event.ok for event in bench.steps(task)] == [True, False, False]


def test_a_fault_of_ours_is_raised_and_never_hides_one_of_theirs(bench: Bench) -> None:
    task = bench.store.task("a task")
    with pytest.raises(pogstore.NotEnabled), task, task.step("x", paths=()):
        bench.repo.git("config", "pog.enabled", "false")
    bench.repo.git("config", "pog.enabled", "true")
    other = bench.store.task("another")
    with pytest.raises(KeyError, match="mine") as caught, other, other.step("x", paths=()):  # noqa: PT012
        bench.repo.git("config", "pog.enabled", "false")
        raise KeyError("mine")
    notes = caught.value.__notes__
    assert [note.partition(" that")[0] for note in notes] == ["pogstore: the step", "pogstore: the task"]


def test_nothing_is_recorded_where_nobody_asked_for_it(repo: Repo) -> None:
    with pogstore.open(repo.path) as store:
        with pytest.raises(pogstore.NotEnabled), store.task("a task"):
            pytest.fail("the block ran")
        assert repo.git("for-each-ref", "refs/pog") == ""
        assert not (repo.path / ".git" / "pog").exists()


def test_recording_that_is_off_is_said(bench: Bench) -> None:
    off = pogstore.open(bench.path, {**os.environ, "POG_DISABLE": "1"})
    with pytest.raises(pogstore.RefusedByPolicy, match="POG_DISABLE"):
        off.task("a task")
    off.close()
    bench.repo.git("pog", "init")
    with bench.store.task("a task") as task:
        bench.repo.git("pog", "pause")
        with pytest.raises(pogstore.RefusedByPolicy, match="paused"), task.step("x"):
            pytest.fail("the block ran")
        with pytest.raises(pogstore.RefusedByPolicy, match="paused"):
            bench.store.task("another")
    assert bench.steps(task) == []


def test_who_acts(bench: Bench) -> None:
    env = {**os.environ, "POG_ACTOR": "tool:cron", "POG_SESSION": "s1", "GIT_AUTHOR_NAME": "Eve"}
    named = pogstore.open(bench.path, env)
    assert bench.store.task("x").actor.type == "human"
    assert bench.store.task("x").actor.name == NAME
    assert (named.task("x").actor.type, named.task("x").actor.name) == ("tool", "cron")
    assert (named.task("x").actor.session, named.task("x", by="robot").actor.name) == ("s1", "robot")
    behind = named.task("x").actor.on_behalf_of
    assert behind is not None
    assert behind.name == "Eve"
    actor = pogstore.Actor(type="agent", name="r", model="m")
    assert named.task("x", by=actor).actor == actor
    for name in ("", " ", "x" * 101, KEY):
        with pytest.raises(pogstore.BadInput, match="name of an actor"):
            named.task("x", by=name)
    named.close()
    bench.repo.git("config", "--global", "--remove-section", "user")
    with pytest.raises(pogstore.BadInput, match="no identity"):
        bench.store.task("x")


def test_a_task_that_is_there_is_gone_on_with(bench: Bench) -> None:
    definition = pogstore.Definition(title="aliased", aliases=("PROJ-1",))
    with bench.store.task(definition=definition) as first:
        first.note("x")
    bench.repo.git("pog", "start", first.id)
    for name in (first.id, first.id[:20], "proj-1", "@"):
        with bench.store.task(task=name, by="robot") as again:
            assert again.id == first.id
    assert sum(isinstance(event, Defined) for event in bench.events(first)) == 1
    active = pogstore.open(bench.path, {**os.environ, "POG_TASK": "PROJ-1"})
    assert active.task(task="@").id == first.id
    active.close()
    with pytest.raises(pogstore.NotFound):
        bench.store.task(task="PROJ-2")
    for wrong in ({}, {"title": ""}, {"title": "x", "task": "PROJ-1"}, {"title": "x", "definition": definition}):
        with pytest.raises(pogstore.BadInput):
            bench.store.task(**wrong)


def test_a_task_that_somebody_holds_can_be_worked_on(bench: Bench) -> None:
    with bench.store.task("a person's"):
        pass
    (line,) = pogstore.summaries(bench.store)
    with bench.store.task(task=line.task, by="robot") as task:
        task.note("helped")
    assert len(pogstore.read_state(bench.store, task.id).claims) == 1
    with bench.store.task(task=line.task) as task:
        task.done()
    with bench.store.task(task=line.task, by="robot") as task:
        assert bench.status(task) == "in_progress", "re-opened, for all to see"


def test_words(bench: Bench) -> None:
    with bench.store.task("a task", by="robot") as task:
        task.prompt(f"use {KEY}")
        task.decide("tabs")
        task.note("y", topic="t")
    prompted, decided, noted = bench.events(task)[-3:]
    assert isinstance(prompted, Prompted)
    assert (prompted.text.class_, prompted.actor.type, prompted.actor.name) == ("private", "human", NAME)
    assert bench.store.read_text(prompted.text) == "use [redacted:aws-key-id]"
    assert isinstance(decided, Decided)
    assert isinstance(noted, Noted)
    assert (noted.topic, noted.actor.name) == ("t", "robot")


def test_nested_steps_share_nothing(bench: Bench) -> None:
    with bench.store.task("a task") as task, task.step("outer", "shell"):
        bench.write("a.txt", "outer\n")
        with task.step("inner", "shell"):
            bench.write("b.txt", "inner\n")
        bench.write("a.txt", "outer again\n")
    inner, outer = bench.steps(task)
    assert (inner.tool, bench.changes(inner)) == (
        "inner",
        [("a.txt", b"one\n", b"outer\n"), ("b.txt", b"one\n", b"inner\n")][1:],
    )
    assert (outer.tool, bench.changes(outer)[-1]) == ("outer", ("a.txt", b"outer\n", b"outer again\n"))


def test_steps_at_once_are_shared(bench: Bench) -> None:
    both = threading.Barrier(2, timeout=60)
    faults: list[BaseException] = []
    with bench.store.task("a task") as task:

        def work(name: str) -> None:
            try:
                with task.step(name, "shell"):
                    both.wait()
                    bench.write(f"{name}.txt", f"{name}\n")
                    both.wait()
            except BaseException as fault:  # noqa: BLE001 - a thread's own
                faults.append(fault)

        threads = [threading.Thread(target=work, args=(name,)) for name in ("x", "y")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert faults == []
    steps = bench.steps(task)
    paths = sorted(str(change.path) for step in steps for change in step.changes)
    assert paths == ["x.txt", "y.txt"], "each once"
    assert {(step.coverage, step.coverage_reason) for step in steps} == {("shared", "another-call")}
    assert list((bench.path / ".git" / "pog" / "calls").iterdir()) == []


def test_a_child_process_records_by_itself(bench: Bench) -> None:
    with bench.store.task("a task") as task:
        child = os.fork()
        if child == 0:  # pragma: no cover - of the child nothing is measured
            try:
                with task.step("x", "edit", paths=["a.txt"]):
                    bench.write("a.txt", "two\n")
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        with task.step("y", "edit", paths=["b.txt"]):
            bench.write("b.txt", "two\n")
    assert [(step.tool, len(step.changes)) for step in bench.steps(task)] == [("x", 1), ("y", 1)]


def test_a_call_whose_process_died_is_not_open(bench: Bench) -> None:
    code = (
        "import os, sys, pogstore\n"
        "store = pogstore.open(sys.argv[1])\n"
        "with store.task('a task') as task, task.step('x', 'shell'):\n os._exit(9)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(bench.path)], check=False, timeout=60)
    assert done.returncode == 9
    calls = bench.path / ".git" / "pog" / "calls"
    assert len(list(calls.iterdir())) == 1
    with bench.store.task("another") as task, task.step("y", "shell"):
        bench.write("a.txt", "two\n")
    assert [step.coverage_reason for step in bench.steps(task)] == ["shell"]
    assert list(calls.iterdir()) == []


def test_a_generator_left_open_ends_with_its_task(bench: Bench) -> None:
    def work(task: pogstore.RecordedTask) -> Iterator[int]:
        with task.step("x", "edit", paths=["a.txt"]):
            bench.write("a.txt", "two\n")
            yield 1
            bench.write("a.txt", "three\n")

    with bench.store.task("a task") as task:
        left = work(task)
        next(left)
        task.done()
    (event,) = bench.steps(task)
    assert event.ok is None, "nobody saw its end"
    assert bench.changes(event) == [("a.txt", b"one\n", b"two\n")]
    assert bench.status(task) == "completed"
    left.close()  # type: ignore[attr-defined]
    assert len(bench.steps(task)) == 1

    with bench.store.task("another") as task:
        left = work(task)
        next(left)
        del left
        gc.collect()
        assert [event.ok for event in bench.steps(task)] == [None]
        with task.step("after", paths=()):
            pass


def test_a_block_is_entered_once(bench: Bench) -> None:
    task = bench.store.task("a task")
    early: list[Any] = [lambda: task.note("x"), lambda: task.step("x"), task.done, lambda: task.prompt("x")]
    for verb in early:
        with pytest.raises(pogstore.BadInput, match="this task: has not begun"):
            verb()
    with task:
        step = task.step("x", paths=())
        with step, pytest.raises(pogstore.BadInput, match="this step: has begun already"), step:
            pytest.fail("the block ran")
        with pytest.raises(pogstore.BadInput, match="this step: has ended already"), step:
            pytest.fail("the block ran")
        with pytest.raises(pogstore.BadInput, match="this step: has ended"):
            step.output = "too late"
        late = task.step("late", paths=())
    verbs: list[Any] = [lambda: task.note("x"), lambda: task.step("x"), task.done, late.__enter__, task.__enter__]
    for verb in verbs:
        with pytest.raises(pogstore.BadInput, match="this task: has ended"):
            verb()
    assert len(bench.steps(task)) == 1


def test_paths(bench: Bench, tmp_path: Path) -> None:
    (bench.path / "link").symlink_to("a.txt")
    inner = Repo(bench.path / "inner")
    inner.path.mkdir()
    inner.git("init", "--quiet")
    with bench.store.task("a task") as task:
        for wrong in ("../x", str(tmp_path / "x"), ".git/config", "sub/../../x", "inner/x", ".", "", "inner"):
            with pytest.raises(pogstore.BadInput):
                task.step("x", paths=[wrong])
        with pytest.raises(pogstore.BadInput, match="no such class"):
            task.step("x", "nonsense")
        with pytest.raises(pogstore.BadInput, match="no name"):
            task.step(" ")
        with task.step("x", paths=[bench.path / "a.txt", b"b.txt", "./new\udcff.txt", "link"]):
            bench.write("a.txt", "two\n")
            (bench.path / "new\udcff.txt").write_bytes(b"new\n")
    (event,) = bench.steps(task)
    assert [change.path for change in event.changes] == ["a.txt", pogstore.OddPath(b64="bmV3/y50eHQ=")]


def test_the_index_of_the_user_is_not_touched(bench: Bench) -> None:
    bench.write("b.txt", "staged\n")
    bench.repo.git("add", "b.txt")
    index = bench.path / ".git" / "index"
    before = index.read_bytes(), index.stat().st_mtime_ns
    with bench.store.task("a task") as task, task.step("x", "shell"):
        bench.write("a.txt", "two\n")
    assert (index.read_bytes(), index.stat().st_mtime_ns) == before
    assert [change.path for change in bench.steps(task)[0].changes] == ["a.txt"]


def test_ignored_files_and_secrets_stay_out(bench: Bench) -> None:
    bench.repo.commit({".gitignore": "*.env\n"})
    with bench.store.task("a task") as task, task.step("x", "shell") as step:
        step.input = {"key": KEY}
        bench.write("x.env", "secret\n")
    (event,) = bench.steps(task)
    assert event.input is not None
    assert KEY not in bench.store.read_text(event.input)
    assert all(change.after is None for change in event.changes)
    assert event.coverage in ("exact", "partial")


def test_a_dirty_file_whose_bytes_lie_in_a_record_is_told_whole(bench: Bench) -> None:
    """A look may name the hash alone of what an earlier one read; that must not lose what stood there."""
    bench.write("a.txt", "dirty\n")
    (bench.path / ".git" / "pog").mkdir(exist_ok=True)
    place = tuple(os.fsencode(each) for each in (bench.path, bench.path / ".git", bench.path / ".git"))
    look(place, 1 << 20, 60).remember()  # type: ignore[arg-type]
    with bench.store.task("a task") as task, task.step("x", "shell"):
        bench.write("a.txt", "mine\n")
    observed = [event for event in bench.events(task) if isinstance(event, Observed)]
    assert bench.changes(observed[0]) == [("a.txt", b"one\n", b"dirty\n")]
    assert bench.changes(bench.steps(task)[0]) == [("a.txt", b"dirty\n", b"mine\n")]


def test_a_bare_repository_has_nothing_to_compare(make_repo: Any) -> None:
    bare = make_repo("bare.git", "--bare", commit=False)
    bare.git("config", "pog.enabled", "true")
    with pogstore.open(bare.path) as store:
        with store.task("a task") as task:
            with pytest.raises(pogstore.NoWorkTree):
                task.step("x", paths=["a"])
            with task.step("x"):
                pass
        events = [sealed.event for sealed in store.events(task.id)]
    assert [event.coverage for event in events if isinstance(event, Stepped)] == ["none"]


def test_how_far_a_comparison_goes(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """No look at all where the configuration wants none; one that fails is said, at the beginning or at the end."""
    bench.repo.git("config", "pog.lookTimeout", "0")
    with bench.store.task("a task") as task, task.step("x", "shell"):
        bench.write("a.txt", "two\n")
    bench.repo.git("config", "pog.lookTimeout", "2000")
    reopened = pogstore.open(bench.path)
    with reopened.task(task=task.id) as task:
        with task.step("x", "shell"):
            bench.write("a.txt", "three\n")
            monkeypatch.setattr(watched, "PATIENCE", 1e-9)
        with task.step("x", "shell"):
            bench.write("a.txt", "four\n")
            monkeypatch.setattr(watched, "PATIENCE", 30.0)
    reopened.close()
    told = [(step.coverage, step.coverage_reason, step.changes) for step in bench.steps(task)]
    assert told == [("none", "not-compared", ()), ("partial", "timeout", ()), ("partial", "timeout", ())]


ACTS = st.one_of(
    st.tuples(st.just("write"), st.sampled_from("ab"), st.sampled_from(["", "1\n", "2\n", "3\n"])),
    st.tuples(st.just("begin"), st.sampled_from(["whole", "a", "b"])),
    st.tuples(st.just("end")),
)


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(ACTS, max_size=9))
def test_every_version_follows_from_the_one_before(bench: Bench, acts: list[tuple[str, ...]]) -> None:
    """However steps stand in each other and whoever writes: no change is told twice, and none is lost."""
    number = len(bench.store.tasks())
    names = {name: f"{name}{number}.txt" for name in "ab"}  # what git brings back is another matter
    bench.repo.commit(dict.fromkeys(names.values(), "0\n"))
    with bench.store.task("a task") as task, ExitStack() as left:
        open_steps: list[ExitStack] = []
        for act in acts:
            match act:
                case ("write", name, text):
                    bench.write(names[name], text)
                case ("begin", "whole"):
                    open_steps.append(left.enter_context(ExitStack()))
                    open_steps[-1].enter_context(task.step("x", "shell"))
                case ("begin", name):
                    open_steps.append(left.enter_context(ExitStack()))
                    open_steps[-1].enter_context(task.step("x", "edit", paths=[names[name]]))
                case _ if open_steps:
                    open_steps.pop().close()
        while open_steps:
            open_steps.pop().close()
        with task.step("last", "shell"):
            pass
    for name in names.values():
        held: bytes | None = b"0\n"
        for event in bench.events(task):
            for path, before, after in bench.changes(event) if isinstance(event, Stepped | Observed) else ():
                if path == name:
                    assert before == held
                    held = after
        assert held == (bench.path / name).read_bytes()


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text() | st.binary(), st.lists, max_leaves=5))
def test_any_value_is_said_as_text(value: object) -> None:
    text = as_text(value)
    assert isinstance(text, str)
    assert text == value or not isinstance(value, str)


def test_what_is_no_json_is_said_all_the_same() -> None:
    circular: list[object] = []
    circular.append(circular)
    assert as_text(circular) == "[[...]]"
    assert as_text({(1, 2): 3}) == "{(1, 2): 3}"
    assert as_text({"path": Path("a")}) == '{"path": "a"}'


@pytest.mark.parametrize(
    "by", ["", " ", "x" * 101, "agent:" + "x" * 101, Actor(type="robot", name="r"), Actor(type="agent", name="y" * 101)]
)
def test_who_acts_is_checked_however_it_is_said(bench: Bench, by: Actor | str) -> None:
    """As `--as` is: events keep a name for good."""
    with pytest.raises(pogstore.BadInput):
        bench.store.task("a task", by=by)


def test_a_secret_is_nobody_s_name(bench: Bench) -> None:
    with pytest.raises(pogstore.BadInput, match="looks like a secret"):
        bench.store.task("a task", by=Actor(type="agent", name="ghp_" + "16C7e42F29" * 4))


def test_a_task_that_is_not_there_is_not_there_already(bench: Bench) -> None:
    with pytest.raises(pogstore.NotFound):
        bench.store.task("a title", task="zzz")
