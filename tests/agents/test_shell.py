"""What shell calls do to a work tree, and what others do meanwhile: each change is its owner's, or nobody's."""

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from pogstore.agents import hook
from pogstore.draft import session_task_id
from pogstore.history.blame import blame
from pogstore.model import Committed, Observed, Stepped, TaskId
from pogstore.store.store import Store, open_store
from pogstore.work import drain as work_drain
from pogstore.work import intake, sighting, spooled
from pogstore.work import look as looking
from pogstore.work.drain import spool_of
from tests.agents.live import Live, drained, events, recording, sides, steps
from tests.agents.test_drain import Died, crash
from tests.conftest import SECOND, Repo


@pytest.fixture
def store(repo: Repo) -> Store:
    return recording(repo)


@contextmanager
def shell(live: Live, command: str = "make", tool: str = "Bash") -> Iterator[str]:
    """A shell call during which the block happens; gives the id of the call."""
    call = live.begin(tool, {"command": command})
    yield str(call["tool_use_id"])
    live.end(call, {"stdout": "", "stderr": ""})


def put(live: Live, name: str, data: str | None) -> None:
    path = live.root / name
    if data is None:
        path.unlink()
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(data)


def observed(store: Store) -> list[Observed]:
    return [each for task in store.tasks() for each in events(store, task) if isinstance(each, Observed)]


def judged(step: Stepped) -> tuple[str | None, str | None]:
    return step.coverage, step.coverage_reason


Side = tuple[object, bytes | None, bytes | None]


def of_steps(store: Store, live: Live) -> list[list[Side]]:
    return [sorted(sides(store, step), key=str) for step in steps(store, live.task)]


def test_what_happens_inside_a_shell_call_is_its_own(repo: Repo, store: Store) -> None:
    """Case PC-97."""
    repo.commit({"old": "old\n"})
    live = Live(repo.path)
    with shell(live):
        put(live, "README", "one\n")
        put(live, "new", "new\n")
        put(live, "old", None)
    with shell(live, "ls"):
        pass
    drained(store, live)
    made, listed = steps(store, live.task)
    assert of_steps(store, live)[0] == [
        ("README", b"a project\n", b"one\n"), ("new", None, b"new\n"), ("old", b"old\n", None)
    ]  # fmt: skip
    assert (judged(made), judged(listed)) == (("shared", "shell"), ("exact", None))
    assert listed.changes == ()
    assert not observed(store)
    assert made.base is not None
    assert (made.base.commit, made.base.branch) == (f"sha1_{repo.git('rev-parse', 'HEAD')}", "main")


def test_what_a_person_does_between_two_shell_calls_is_observed(repo: Repo, store: Store) -> None:
    """Case PC-19."""
    live = Live(repo.path)
    with shell(live):
        put(live, "README", "one\n")
    put(live, "README", "one\nby hand\n")
    put(live, "mine", "by hand\n")
    with shell(live) as call_id:
        put(live, "README", "two\nby hand\n")
    drained(store, live)
    (gap,) = observed(store)
    assert sorted(sides(store, gap), key=str) == [
        ("README", b"one\n", b"one\nby hand\n"), ("mine", None, b"by hand\n")
    ]  # fmt: skip
    assert (gap.coverage, gap.during, gap.actor.type) == ("exact", (), "unknown")
    assert gap.source is not None
    assert gap.source.key == f"gap/{call_id}"
    assert of_steps(store, live) == [
        [("README", b"a project\n", b"one\n")], [("README", b"one\nby hand\n", b"two\nby hand\n")]
    ]  # fmt: skip
    assert gap.base == gap.base_from
    assert gap.base is not None


def test_the_end_of_a_turn_finds_what_no_call_did(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    with shell(live):
        pass
    put(live, "README", "by hand\n")
    live.say("Stop")
    live.say("Stop", again=True)
    drained(store, live)
    (gap,) = observed(store)
    assert sides(store, gap) == [("README", b"a project\n", b"by hand\n")]
    put(live, "README", "more by hand\n")
    with shell(live):
        pass
    drained(store, live)
    assert [sides(store, gap) for gap in observed(store)][1:] == [[("README", b"by hand\n", b"more by hand\n")]]


def test_changes_while_two_shell_calls_run_are_nobodys(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    with shell(live) as first, shell(live) as second:
        put(live, "README", "one\n")
    with shell(live):
        put(live, "README", "two\n")
    drained(store, live)
    one, two, three = steps(store, live.task)
    assert judged(one) == judged(two) == ("shared", "another-call")
    assert one.changes == two.changes == ()
    (gap,) = observed(store)
    assert set(gap.during) == {first, second}
    assert sides(store, three) == [("README", b"one\n", b"two\n")]
    assert judged(three) == ("shared", "shell")


def test_two_sessions_that_take_turns_keep_their_own(repo: Repo, store: Store) -> None:
    """Case PC-22."""
    repo.commit({"a": "1\n2\n3\n4\n5\n"})
    one = Live(repo.path, "one")
    two = Live(repo.path, "two", one.clock)
    with shell(one):
        put(one, "a", "1\n2\n3\n4\nfive\n")
    with shell(two):
        put(two, "a", "one\n2\n3\n4\nfive\n")
    with shell(one):
        put(one, "b", "b\n")
    drained(store, one)
    assert of_steps(store, two) == [[("a", b"1\n2\n3\n4\nfive\n", b"one\n2\n3\n4\nfive\n")]]
    assert of_steps(store, one)[1] == [("b", None, b"b\n")]
    assert not observed(store)


def test_a_call_of_another_session_in_between_makes_it_nobodys(repo: Repo, store: Store) -> None:
    one = Live(repo.path, "one")
    two = Live(repo.path, "two", one.clock)
    with shell(one) as outer:
        with shell(two) as inner:
            put(two, "a", "a\n")
        put(one, "b", "b\n")
    drained(store, one)
    assert [step.changes for live in (one, two) for step in steps(store, live.task)] == [(), ()]
    assert [(sides(store, gap), set(gap.during)) for gap in observed(store)] == [
        ([("a", None, b"a\n")], {outer, inner}), ([("b", None, b"b\n")], {outer, inner})
    ]  # fmt: skip


def test_a_call_that_was_told_to_the_store_while_another_ran_still_counts(repo: Repo, store: Store) -> None:
    one = Live(repo.path, "one")
    two = Live(repo.path, "two", one.clock)
    with shell(one) as outer:
        with shell(two) as inner:
            put(two, "a", "a\n")
        drained(store, one)
        put(one, "b", "b\n")
    drained(store, one)
    (step,) = steps(store, one.task)
    assert (judged(step), step.changes) == (("shared", "another-call"), ())
    assert [(sides(store, gap), set(gap.during)) for gap in observed(store)] == [
        ([("a", None, b"a\n")], {outer, inner}), ([("b", None, b"b\n")], {outer, inner})
    ]  # fmt: skip


def test_an_edit_that_ran_beside_a_shell_call_keeps_its_own(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    with shell(live):
        live.edit("README", "a project", "one")
        put(live, "made", "by the shell\n")
    drained(store, live)
    edit, made = steps(store, live.task)
    assert sides(store, edit) == [("README", b"a project\n", b"one\n")]
    assert sides(store, made) == [("made", None, b"by the shell\n")]
    assert not observed(store)


def test_what_an_edit_wrote_and_another_changed_again_is_observed(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    with shell(live) as call_id:
        live.edit("README", "a project", "one")
        put(live, "README", "one\nmore\n")
        put(live, "made", "by the shell\n")
    drained(store, live)
    edit, made = steps(store, live.task)
    (gap,) = observed(store)
    assert sides(store, gap) == [("README", b"one\n", b"one\nmore\n")]
    assert gap.during == (call_id,)
    assert sides(store, edit) == [("README", b"a project\n", b"one\n")]
    assert sides(store, made) == [("made", None, b"by the shell\n")]


def test_an_edit_that_is_open_when_a_shell_call_looks_keeps_its_own(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    call = live.begin_edit("README", "a project", "one")
    put(live, "README", "one\n")
    with shell(live):
        put(live, "made", "by the shell\n")
    live.end(call)
    drained(store, live)
    made, edit = steps(store, live.task)
    assert sides(store, edit) == [("README", b"a project\n", b"one\n")]
    assert sides(store, made) == [("made", None, b"by the shell\n")]
    assert not observed(store)


def test_shell_calls_own_nothing_where_that_is_the_policy(repo: Repo, store: Store) -> None:
    repo.git("config", "pog.shellOwns", "false")
    live = Live(repo.path)
    with shell(live) as call_id:
        put(live, "README", "one\n")
    drained(store, live)
    (step,), (gap,) = steps(store, live.task), observed(store)
    assert step.changes == ()
    assert (sides(store, gap), gap.during) == ([("README", b"a project\n", b"one\n")], (call_id,))


def test_an_agent_that_goes_on_after_an_interruption_is_not_held_back(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    live.begin("Bash", {"command": "sleep 100"})
    live.prompt("never mind")
    with shell(live):
        put(live, "README", "one\n")
    drained(store, live)
    (step,) = steps(store, live.task)
    assert sides(store, step) == [("README", b"a project\n", b"one\n")]


def test_an_edit_that_was_interrupted_hides_no_later_change(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    live.begin_edit("README", "a project", "one")
    live.prompt("never mind")
    with shell(live):
        put(live, "README", "two\n")
    drained(store, live)
    (step,) = steps(store, live.task)
    assert sides(store, step) == [("README", b"a project\n", b"two\n")]


def test_a_call_that_sets_a_sub_agent_to_work_takes_nothing_from_it(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    call = generic(live, "tool_start", call_id="task", tool="task", **{"class": "other"})
    generic(live, "tool_start", call_id="sub", tool="sh", agent_id="sub1", **{"class": "shell"})
    put(live, "README", "one\n")
    generic(live, "tool_end", call_id="sub", tool="sh", agent_id="sub1", **{"class": "shell"})
    generic(live, "tool_end", call_id="task", tool="task", **{"class": "other"})
    drained(store, live)
    inner, outer = steps(store, call)
    assert (sides(store, inner), judged(inner)) == ([("README", b"a project\n", b"one\n")], ("shared", "shell"))
    assert (outer.changes, judged(outer)) == ((), ("shared", "another-call"))


def generic(live: Live, event: str, **members: Any) -> TaskId:
    """Says something by our own contract; returns the task of that session."""
    told = {"version": 1, "agent": "a", "session": "g", "event": event, "cwd": str(live.root)} | members
    live.clock[0] += SECOND
    reads, writes = os.pipe()
    os.write(writes, json.dumps(told).encode())
    os.close(writes)
    hook.main(("generic",), reads, {"POG_NOW": str(live.clock[0])})
    os.close(reads)
    return session_task_id("a", "g")


def test_a_pull_in_a_shell_call_or_beside_it_is_nobodys(repo: Repo, store: Store) -> None:
    """Case PC-20."""
    repo.git("branch", "upstream")
    repo.git("checkout", "--quiet", "upstream")
    repo.commit({"pulled": "theirs\n", "README": "theirs\n"})
    repo.git("checkout", "--quiet", "main")
    live = Live(repo.path)
    with shell(live):
        put(live, "mine", "agent's\n")
    repo.git("add", "--all")
    repo.git("commit", "--quiet", "--message", "agent's")
    with shell(live, "git pull"):
        repo.git("merge", "--quiet", "--no-edit", "upstream")
    repo.git("reset", "--quiet", "--hard", "HEAD~1")
    repo.git("merge", "--quiet", "--no-edit", "upstream")
    with shell(live):
        put(live, "second", "agent's\n")
    drained(store, live)
    assert not observed(store)
    assert of_steps(store, live) == [[("mine", None, b"agent's\n")], [], [("second", None, b"agent's\n")]]
    assert [line.owner for line in blame(store, b"pulled").lines] == ["commit"]


def test_what_a_call_writes_and_commits_itself_is_its_own_and_carried(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    with shell(live, "sed -i s/a/b/ README && git commit -am one"):
        put(live, "README", "one\n")
        at = f"{live.clock[0] // SECOND} +0000"
        repo.git("commit", "--quiet", "--all", "--message", "one", env={"GIT_AUTHOR_DATE": at})
    drained(store, live)
    step, carried = events(store, live.task)[-2:]
    assert sides(store, step) == [("README", b"a project\n", b"one\n")]
    assert isinstance(carried, Committed)
    assert carried.commit == f"sha1_{repo.git('rev-parse', 'HEAD')}"


def test_a_checkout_of_a_file_in_a_shell_call_is_a_change_of_it(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    put(live, "README", "by hand\n")
    with shell(live):
        repo.git("checkout", "--quiet", "--", "README")
    put(live, "README", "again\n")
    with shell(live):
        repo.git("stash", "--quiet")
    with shell(live):
        repo.git("stash", "pop", "--quiet")
    drained(store, live)
    assert of_steps(store, live) == [
        [("README", b"by hand\n", b"a project\n")],
        [("README", b"again\n", b"a project\n")],
        [("README", b"a project\n", b"again\n")],
    ]


def test_a_branch_that_is_switched_with_a_changed_file_is_no_change(repo: Repo, store: Store) -> None:
    repo.git("checkout", "--quiet", "-b", "other")
    repo.commit({"elsewhere": "x\n"})
    live = Live(repo.path)
    put(live, "README", "by hand\n")
    with shell(live):
        repo.git("checkout", "--quiet", "main")
        put(live, "new", "agent's\n")
    drained(store, live)
    assert of_steps(store, live) == [[("new", None, b"agent's\n")]]
    assert [sides(store, gap) for gap in observed(store)] == [[("README", b"a project\n", b"by hand\n")]]
    (step,) = steps(store, live.task)
    assert step.base is not None
    assert step.base.branch == "main"


def test_a_file_that_is_moved_is_one_change(repo: Repo, store: Store) -> None:
    """Case PC-25."""
    repo.commit({"long": "".join(f"{number}\n" for number in range(1000))})
    live = Live(repo.path)
    with shell(live):
        (repo.path / "sub").mkdir()
        repo.git("mv", "long", "sub/moved")
    with shell(live):
        put(live, "long", "another\n")
    drained(store, live)
    moved, made = steps(store, live.task)
    (change,) = moved.changes
    assert (change.path, change.from_) == ("sub/moved", "long")
    assert change.before == change.after
    assert sides(store, made) == [("long", None, b"another\n")]


def test_a_moved_file_that_is_brought_back_in_a_later_drain_did_not_exist(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    with shell(live):
        repo.git("mv", "README", "moved")
    drained(store, live)
    with shell(live):
        put(live, "README", "new\n")
    drained(store, live)
    assert of_steps(store, live)[1] == [("README", None, b"new\n")]


@contextmanager
def cut(reason: str = "timeout") -> Iterator[None]:
    """Within the block every look at the whole work tree is cut."""

    def look(place: sighting.Place, max_blob: int, timeout: float) -> looking.Look:
        return looking.Look(place[1], looking.head_of(place[1], place[2]), f"partial {reason}".encode(), [])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(looking, "look", look)
        yield


@pytest.mark.parametrize("reason", ["timeout", "too-many", "failed", "no-git"])
def test_a_look_at_the_end_that_was_cut_claims_nothing(repo: Repo, store: Store, reason: str) -> None:
    live = Live(repo.path)
    call = live.begin("Bash", {"command": "make"})
    put(live, "README", "one\n")
    head = repo.git("rev-parse", "HEAD")
    repo.git("commit", "--quiet", "--allow-empty", "--message", "meanwhile")
    with cut(reason):
        live.end(call, {})
    with shell(live):
        put(live, "new", "new\n")
    drained(store, live)
    first, whole = steps(store, live.task)
    assert (judged(first), first.changes) == (("partial", reason), ())
    assert sides(store, whole) == [("new", None, b"new\n")]
    (gap,) = observed(store)
    assert sides(store, gap) == [("README", b"a project\n", b"one\n")]
    assert gap.base_from is not None
    assert gap.base_from.commit == f"sha1_{head}"


def test_a_look_at_the_beginning_that_was_cut_claims_nothing(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    with cut():
        call = live.begin("Bash", {"command": "make"})
    put(live, "README", "one\n")
    live.end(call, {})
    drained(store, live)
    (step,), (gap,) = steps(store, live.task), observed(store)
    assert (judged(step), step.changes) == (("partial", "timeout"), ())
    assert sides(store, gap) == [("README", b"a project\n", b"one\n")]
    assert gap.during == (call["tool_use_id"],)


def test_an_end_without_a_beginning_claims_nothing(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    put(live, "README", "one\n")
    live.end({"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "t1"}, {})
    drained(store, live)
    (step,), (gap,) = steps(store, live.task), observed(store)
    assert (judged(step), step.changes) == (("partial", "no-before"), ())
    assert (sides(store, gap), gap.during) == ([("README", b"a project\n", b"one\n")], ("t1",))


def test_without_looks_a_shell_call_is_not_compared(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    spooled.write_settings(spool_of(store), max_blob=1 << 20, sync=False, look=0)
    with shell(live):
        put(live, "README", "one\n")
    drained(store, live)
    (step,) = steps(store, live.task)
    assert (judged(step), step.changes) == (("none", "not-compared"), ())


def test_a_mcp_tool_is_compared_like_a_shell(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    with shell(live, tool="mcp__files__write"):
        put(live, "README", "one\n")
    drained(store, live)
    assert of_steps(store, live) == [[("README", b"a project\n", b"one\n")]]


def test_linked_work_trees_do_not_disturb_each_other(repo: Repo, store: Store, tmp_path: Path) -> None:
    repo.git("worktree", "add", "--quiet", str(tmp_path / "linked"))
    here = Live(repo.path, "here")
    there = Live(tmp_path / "linked", "there", here.clock)
    with shell(here), shell(there):
        put(here, "README", "one\n")
        put(there, "README", "two\n")
    drained(store, here)
    assert of_steps(store, here) == [[("README", b"a project\n", b"one\n")]]
    assert of_steps(store, there) == [[("README", b"a project\n", b"two\n")]]
    assert not observed(store)


def test_what_a_call_does_to_another_work_tree_is_observed_there(repo: Repo, store: Store, tmp_path: Path) -> None:
    repo.git("worktree", "add", "--quiet", str(tmp_path / "linked"))
    live = Live(repo.path)
    with shell(live, f"touch {tmp_path}/linked/new") as call_id:
        (tmp_path / "linked" / "new").write_text("there\n")
        put(live, "here", "here\n")
    drained(store, live)
    assert of_steps(store, live) == [[("here", None, b"here\n")]]
    (gap,) = observed(store)
    assert (sides(store, gap), gap.during) == ([("new", None, b"there\n")], (call_id,))
    assert gap.worktree != steps(store, live.task)[0].worktree


def test_what_a_call_undoes_in_another_work_tree_is_observed_after_a_drain(
    repo: Repo, store: Store, tmp_path: Path
) -> None:
    repo.git("worktree", "add", "--quiet", str(tmp_path / "linked"))
    (tmp_path / "linked" / "README").write_text("by hand\n")
    live = Live(repo.path)
    with shell(live, f"git -C {tmp_path}/linked checkout README") as call_id:
        drained(store, live)
        Repo(tmp_path / "linked").git("checkout", "--quiet", "--", "README")
    drained(store, live)
    assert [(sides(store, gap), gap.during) for gap in observed(store)] == [
        ([("README", b"a project\n", b"by hand\n")], ()),
        ([("README", b"by hand\n", b"a project\n")], (call_id,)),
    ]
    assert not list((spool_of(store) / "open").iterdir())


def test_drained_after_every_record_it_is_the_same(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    call = live.begin("Bash", {"command": "make"})
    drained(store, live)
    put(live, "README", "one\n")
    drained(store, live)
    live.end(call, {})
    drained(store, live)
    put(live, "README", "one\nby hand\n")
    call = live.begin("Bash", {"command": "make"})
    drained(store, live)
    put(live, "new", "two\n")
    live.end(call, {})
    drained(store, live)
    live.say("Stop")
    drained(store, live)
    assert of_steps(store, live) == [[("README", b"a project\n", b"one\n")], [("new", None, b"two\n")]]
    assert [sides(store, gap) for gap in observed(store)] == [[("README", b"one\n", b"one\nby hand\n")]]


@pytest.mark.parametrize("at", [1, 2])
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize(("place", "name"), [(intake, "take"), (work_drain, "_keep"), (Path, "unlink")])
def test_a_drain_that_is_killed_tells_nothing_twice(
    repo: Repo, store: Store, place: Any, name: str, at: int, after: bool
) -> None:
    live = Live(repo.path)
    with shell(live):
        put(live, "README", "one\n")
    put(live, "README", "one\nby hand\n")
    with shell(live):
        put(live, "README", "two\n")
        put(live, "new", "new\n")
    live.say("Stop")
    with pytest.MonkeyPatch.context() as patch:
        crash(patch, place, name, at, after)
        with suppress(Died):
            drained(store, live)
    store.close()
    again = open_store(repo.path)
    drained(again, live)
    with shell(live):
        put(live, "new", "newer\n")
    drained(again, live)
    assert of_steps(again, live) == [
        [("README", b"a project\n", b"one\n")],
        [("README", b"one\nby hand\n", b"two\n"), ("new", None, b"new\n")],
        [("new", b"new\n", b"newer\n")],
    ]
    assert [sides(again, gap) for gap in observed(again)] == [[("README", b"one\n", b"one\nby hand\n")]]
    assert len(again.events(live.task)) == 2 + 3 + 1 + 1
    again.close()


def test_an_ignored_file_is_told_of_and_not_kept(repo: Repo, store: Store) -> None:
    repo.commit({".gitignore": "*.log\n"})
    live = Live(repo.path)
    put(live, "old.log", "old\n")
    put(live, "same.log", "same\n")
    with shell(live):
        put(live, "x.log", "text of vermilion\n")
        put(live, "old.log", "text of vermilion, too\n")
        put(live, "README", "one\n")
    with shell(live):
        pass
    drained(store, live)
    made, nothing = steps(store, live.task)
    assert judged(made) == ("partial", "ignored")
    assert sorted(sides(store, made), key=str) == [
        ("README", b"a project\n", b"one\n"), ("old.log", None, None), ("x.log", None, None)
    ]  # fmt: skip
    assert (judged(nothing), nothing.changes) == (("exact", None), ())
    assert "vermilion" not in repo.git("cat-file", "--batch", "--batch-all-objects")
    assert not observed(store)


def test_of_a_large_file_it_is_told_that_it_is_another(repo: Repo, store: Store) -> None:
    spooled.write_settings(spool_of(store), max_blob=64, sync=False)
    live = Live(repo.path)
    put(live, "same", "x" * 100)
    with shell(live):
        put(live, "large", "x" * 100)
        put(live, "small", "x\n")
    drained(store, live)
    (step,) = steps(store, live.task)
    assert judged(step) == ("partial", "too-large")
    assert sorted(sides(store, step), key=str) == [("large", None, None), ("small", None, b"x\n")]


def test_a_nested_repository_is_not_walked(repo: Repo, store: Store, make_repo: Callable[..., Repo]) -> None:
    """Case PC-46."""
    inner = make_repo("repo/vendor")
    live = Live(repo.path)
    with shell(live):
        inner.commit({"deep/file": "theirs\n"})
    with shell(live):
        pass
    drained(store, live)
    made, nothing = steps(store, live.task)
    assert judged(made) == ("partial", "nested-repository")
    assert sides(store, made) == [("vendor", None, None)]
    assert (judged(nothing), nothing.changes) == (("exact", None), ())


def test_a_submodule_that_is_moved_has_its_commits(repo: Repo, store: Store, make_repo: Callable[..., Repo]) -> None:
    source = make_repo("source")
    first = source.git("rev-parse", "HEAD")
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(source.path), "mod")
    repo.git("commit", "--quiet", "--message", "mod")
    second = source.commit({"a": "a\n"})
    inner = Repo(repo.path / "mod")
    inner.git("fetch", "--quiet")
    live = Live(repo.path)
    with shell(live):
        inner.git("checkout", "--quiet", second)
    with shell(live):
        (inner.path / "a").write_text("dirty\n")
    drained(store, live)
    moved, dirty = steps(store, live.task)
    (change,) = moved.changes
    assert change.before is not None
    assert change.after is not None
    assert (change.before.mode, change.before.commit) == ("160000", f"sha1_{first}")
    assert (change.after.mode, change.after.commit) == ("160000", f"sha1_{second}")
    assert judged(moved) == ("shared", "shell")
    assert judged(dirty) == ("partial", "submodule")
    assert not observed(store)
    inner.git("checkout", "--quiet", "--", "a")
    repo.commit(message="moved")
    with shell(live):
        repo.git("checkout", "--quiet", "--detach", "HEAD~1")
        repo.git("submodule", "--quiet", "update")
    drained(store, live)
    assert inner.git("rev-parse", "HEAD") == first
    *_, back = steps(store, live.task)
    assert (judged(back), back.changes) == (("exact", None), ())


def test_a_work_tree_inside_another_is_not_walked(repo: Repo, store: Store) -> None:
    """Case PC-46: it has a log of its own, and no path of it is told twice."""
    repo.git("worktree", "add", "--quiet", "trees/inner")
    here = Live(repo.path, "here")
    there = Live(repo.path / "trees" / "inner", "there", here.clock)
    with shell(here):
        put(here, "README", "one\n")
    with shell(there):
        put(there, "README", "two\n")
    with shell(here):
        pass
    drained(store, here)
    assert of_steps(store, there) == [[("README", b"a project\n", b"two\n")]]
    assert of_steps(store, here) == [[("README", b"a project\n", b"one\n")], []]
    assert not observed(store)


def blobs(repo: Repo) -> int:
    """The bytes of all objects of a repository."""
    lines = repo.git("cat-file", "--batch-all-objects", "--batch-check=%(objectsize)").split()
    return sum(map(int, lines))


def test_what_is_stored_grows_with_what_is_changed(repo: Repo, store: Store) -> None:
    """Cases PC-113, RC-67: a large untracked file that nobody touches is stored once, however many steps there are."""
    live = Live(repo.path)
    put(live, "data", "0123456789abcdef" * 65_536)
    for number in range(3):
        with shell(live):
            put(live, "small", f"{number}\n")
    drained(store, live)
    before = blobs(repo)
    assert before > 1 << 20
    for number in range(10):
        with shell(live):
            put(live, "small", f"again {number}\n")
        drained(store, live)
    assert blobs(repo) - before < 100_000
    assert sum(len(step.changes) for step in steps(store, live.task)) == 13


def test_many_files_that_nobody_touches_cost_little(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    for number in range(5_000):
        (repo.path / f"file{number:05}").write_text(f"{number}\n")
    live.say("Stop")
    with shell(live):
        pass
    drained(store, live)
    (gap,) = observed(store)
    assert len(gap.changes) == 5_000
    with shell(live):
        for number in range(5):
            put(live, f"file{number:05}", "changed\n")
    live.say("Stop")
    begun = time.monotonic()
    drained(store, live)
    took = time.monotonic() - begun
    assert [len(step.changes) for step in steps(store, live.task)] == [0, 5]
    assert len(observed(store)) == 1
    assert took < 5  # about one on an idle machine; a process for each path would take minutes


def test_a_commit_that_carries_what_a_step_wrote_is_told_of(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    with shell(live):
        put(live, "README", "one\n")
    drained(store, live)
    commit = repo.commit(message="agent's")
    other = repo.commit({"unrelated": "x\n"})
    live.say("Stop")
    drained(store, live)
    live.say("Stop", again=True)
    drained(store, live)
    (carried,) = [each for each in events(store, live.task) if isinstance(each, Committed)]
    assert (carried.commit, carried.tree) == (f"sha1_{commit}", f"sha1_{repo.git('rev-parse', commit + '^{tree}')}")
    assert carried.commit_parents == (f"sha1_{repo.git('rev-parse', commit + '^')}",)
    assert carried.source is not None
    assert (carried.source.format, carried.source.key) == ("git", f"commit/sha1_{commit}")
    assert carried.actor is not None
    assert carried.actor.type == "unknown"
    assert carried.actor.on_behalf_of is not None
    assert other != commit


def test_a_commit_of_what_a_person_made_of_a_steps_file_carries_its_work_as_well(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    with shell(live):
        put(live, "README", "one\n")
    put(live, "README", "one\nby hand\n")
    live.say("Stop")
    drained(store, live)
    commit = repo.commit(message="both")
    live.say("Stop", again=True)
    drained(store, live)
    assert [each.commit for each in events(store, live.task) if isinstance(each, Committed)] == [f"sha1_{commit}"]


def test_only_the_commit_of_a_squash_carries_the_work(repo: Repo, store: Store) -> None:
    """Case PC-04: a feature branch is squashed into a main that has gone on by five commits."""
    repo.git("checkout", "--quiet", "-b", "feature")
    live = Live(repo.path)
    with shell(live):
        put(live, "feature.py", "agent's\n")
    drained(store, live)
    first = repo.commit(message="wip")
    repo.git("checkout", "--quiet", "main")
    for number in range(5):
        repo.commit({f"base{number}": f"{number}\n", "README": f"{number}\n"})
    repo.git("merge", "--quiet", "--squash", "feature")
    squash = repo.commit(message="feature")
    live.say("Stop")
    drained(store, live)
    found = {each.commit for each in events(store, live.task) if isinstance(each, Committed)}
    assert found == {f"sha1_{first}", f"sha1_{squash}"}


def test_a_commit_of_a_file_that_was_there_before_carries_no_work(repo: Repo, store: Store) -> None:
    live = Live(repo.path)
    put(live, "mine", "by hand\n")
    put(live, "empty", "")
    with shell(live):
        put(live, "README", "one\n")
        put(live, "nothing", "")
    drained(store, live)
    repo.git("add", "mine", "empty")
    repo.git("commit", "--quiet", "--message", "by hand")
    live.say("Stop")
    drained(store, live)
    assert not [each for each in events(store, live.task) if isinstance(each, Committed)]
