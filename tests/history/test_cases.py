"""Every per-path case of DESIGN section 8 through every verb that writes: bytes and modes, or a named conflict.

PC-61, PC-63, PC-73, PC-78, PC-90, PC-96, RC-1, RC-5, RC-8, RC-13, RC-14, RC-23, RC-31, RC-44, RC-65, T6, T8.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import pytest

from pogstore.errors import Conflict, PogError
from pogstore.history.names import Named
from pogstore.history.plans import Done, Plan
from pogstore.history.replay import replay_of
from pogstore.history.replayed_directory import replay_directory
from pogstore.history.restore import apply_restore, plan_restore
from pogstore.history.rollback import apply_rollback, apply_undo, plan_undo
from pogstore.history.timeline import PointId
from pogstore.model import Change, EventId
from pogstore.work.unfinished import TEMPORARY
from tests.builders_rollback import WORKTREE, Bench, Benches, Files, Step, file, untouched
from tests.history.cases import CASES, Case, Refused
from tests.work.test_writer import files_of

IGNORED, ATTRIBUTES = ".gitignore", ".gitattributes"
BYSTANDERS: Files = {
    IGNORED: file(b"*.log\n"),
    ATTRIBUTES: file(b"*.bin filter=lfs diff=lfs merge=lfs -text\n"),
    "keep": file(b"kept\n"),
    "untracked": file(b"untracked\n"),
    "build.log": file(b"ignored\n"),
    "beside/untracked": file(b"untracked\n"),
}
"""What no event wrote: committed, untracked and ignored."""


class Verb(NamedTuple):
    """A verb that writes: how it is planned and carried out, and what the table expects of it.

    `ready` brings the repository to where the verb has something to do; it says whether there is.
    """

    plan: Callable[[Bench, EventId], Plan]
    apply: Callable[[Bench, Plan], Done]
    expected: Callable[[Case], Files | Refused | None]
    ready: Callable[[Bench, EventId], bool] = lambda bench, event: True


def _rolled_back(bench: Bench, event: EventId) -> bool:
    try:
        return bool(bench.rollback(event).events)
    except PogError:
        return False


VERBS = {
    "rollback": Verb(
        lambda bench, event: bench.plan(event),
        lambda bench, plan: apply_rollback(bench.store, plan, bench.by()),
        lambda case: case.rolled_back,
    ),
    "undo": Verb(
        lambda bench, event: plan_undo(bench.store, WORKTREE),
        lambda bench, plan: apply_undo(bench.store, plan, bench.by()),
        lambda case: case.after if case.now is None else case.now,
        _rolled_back,
    ),
    "restore": Verb(
        lambda bench, event: plan_restore(bench.store, PointId(bench.task, event, before=True), WORKTREE),
        lambda bench, plan: apply_restore(bench.store, plan, bench.by(), before=True),
        lambda case: case.restored,
    ),
}
"""One line for each verb that writes; what is added here goes through the whole table."""


@pytest.fixture(scope="module")
def benches(tmp_path_factory: pytest.TempPathFactory) -> Benches[Bench]:
    """Repositories for one test each, with files that are none of the task's business."""
    found = Benches(tmp_path_factory.mktemp("benches"), Bench)
    for name, version in BYSTANDERS.items():
        found.first.write(name, version)
    found.first.repo.git("add", IGNORED, ATTRIBUTES, "keep")
    found.first.repo.git("commit", "--quiet", "--message", "first")
    return found


def happened(bench: Bench, case: Case) -> EventId:
    """Lays the files out, records the step of the agent, and lets the person do the rest."""
    for name, value in case.config.items():
        bench.repo.git("config", name, value)
    _lay(bench, case.before)
    if case.before:
        bench.repo.git("--literal-pathspecs", "add", "--", *case.before)
    _lay(bench, case.after, case.before)
    if case.sides is not None:
        event = bench.record_sides(Change(path=case.sides[0], before=case.sides[1], after=case.sides[2]))
    else:
        before, after = case.recorded or (case.before, case.after)
        event = bench.record(*_steps(case, before, after))
    if case.now is not None:
        _lay(bench, case.now, case.after)
    return event


def _lay(bench: Bench, files: Files, instead_of: Iterable[str] = ()) -> None:
    for name in sorted(set(instead_of) - files.keys()):
        bench.write(name, None)
    for name, version in files.items():
        bench.write(name, version)


def _steps(case: Case, before: Files, after: Files) -> list[Step]:
    moved = set(case.older.values())
    return [
        Step(name, before.get(case.older.get(name, name)), after.get(name), case.older.get(name))
        for name in sorted({*before, *after} - (moved - after.keys()))
    ]


def others(bench: Bench) -> dict[str, tuple[object, ...]]:
    """What a verb must leave as it is, whatever it does: bystanders, index, HEAD, branches, configuration."""
    ours = (".git/pog", ".git/objects", ".git/refs/pog")
    return {
        name: state for name, state in untouched(bench.path, ours).items()
        if name.startswith(".git/") or name in BYSTANDERS
    }  # fmt: skip


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_every_case_through_every_verb(bench: Bench, case: Case, verb: Verb) -> None:
    event = happened(bench, case)
    is_ready = verb.ready(bench, event)
    beside, whole, events = others(bench), untouched(bench.path, [".git/"]), bench.all_events()
    expected = verb.expected(case)
    if not is_ready:
        return
    plan = verb.plan(bench, event)
    if isinstance(expected, Refused):
        assert {str(each.path): each.reason for each in plan.obstacles} == expected.paths
        with pytest.raises(Conflict):
            verb.apply(bench, plan)
        assert untouched(bench.path, [".git/"]) == whole
        assert bench.all_events() == events
    else:
        assert plan.obstacles == ()
        before = {name: version for name, version in bench.files().items() if name not in BYSTANDERS}
        verb.apply(bench, plan)
        wanted = case.before if expected is None else expected
        found = {name: version for name, version in bench.files().items() if name not in BYSTANDERS}
        assert found == wanted
        kept = [name for name, version in wanted.items() if before.get(name) == version]
        now = untouched(bench.path, [".git/"])
        assert {name: now[name] for name in kept} == {name: whole[name] for name in kept}, "not written again"
    assert others(bench) == beside
    assert not list(bench.path.rglob(f"{TEMPORARY}*"))
    _check_status(bench, case)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_every_case_replayed_into_a_directory(bench: Bench, case: Case) -> None:
    """What the agent did, whatever was done since; the work tree is not touched at all."""
    event = happened(bench, case)
    beside, whole = others(bench), untouched(bench.path, [".git/"])
    place = bench.path.parent / "out"
    replay = replay_of(bench.store, [Named(bench.task, event)])
    replay_directory(bench.store, replay, place, bench.by(), partial=case.sides is not None)
    assert files_of(place) == case.after
    assert untouched(bench.path, [".git/"]) == whole
    assert others(bench) == beside


def _check_status(bench: Bench, case: Case) -> None:
    """RC-31: what git shows afterwards is what differs; that nothing was staged, the bytes of the index have shown."""
    files = bench.files()
    changed = bench.repo.git("diff", "--name-only", "-z", env={"GIT_OPTIONAL_LOCKS": "0"}).split("\0")[:-1]
    assert set(changed) == {name for name, version in case.before.items() if files.get(name) != version}
