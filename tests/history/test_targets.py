"""Which events a rollback means: chains, sub-tasks, several at once, some paths. RC-11, RC-58."""

from pathlib import Path

import msgspec
import pytest

from pogstore.errors import BadInput, LinkCycle, NotFound
from pogstore.history.names import Named
from pogstore.history.plans import Terms
from pogstore.history.rollback import plan_rollback
from pogstore.history.targets import Span, asked_for, chosen_paths, resolve_target
from pogstore.model import Defined, Definition, EventId, Link, TaskId
from pogstore.work import tasks
from tests.builders_rollback import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A work tree with a task."""
    return Bench(tmp_path / "work")


@pytest.fixture
def chain(bench: Bench) -> list[EventId]:
    """Four tool calls of one task, each on a line of its own."""
    text = [b"%d\n" % number for number in range(4)]
    bench.write("f", b"".join(text))
    events = []
    for number in range(4):
        text[number] = b"agent %d\n" % number
        events.append(bench.step({"f": b"".join(text)}))
    return events


def meant(bench: Bench, *names: str, subtasks: bool = False) -> list[EventId]:
    found = [resolve_target(bench.store, name, lambda back: bench.task if not back else None) for name in names]
    return [sealed.event_id for sealed in asked_for(bench.store, found, subtasks=subtasks)]


def test_a_chain_is_what_came_after_an_event_and_up_to_another(bench: Bench, chain: list[EventId]) -> None:
    first, second, third, fourth = chain
    assert meant(bench, f"{second}..") == [third, fourth]
    assert meant(bench, f"..{second}") == [first, second]
    assert meant(bench, f"{first[:12]}..{third[:12]}") == [second, third]
    # as in git: what is named first stays
    assert meant(bench, "@{3}..") == meant(bench, f"{bench.task}@{{3}}..") == [third, fourth]
    assert meant(bench, f"{second}..@") == [third, fourth]
    assert resolve_target(bench.store, f"{second}..", lambda _: None) == Span(bench.task, second, None)
    with pytest.raises(NotFound, match=f"no recorded change matches '{fourth[:16]}..'"):
        meant(bench, f"{fourth}..")
    with pytest.raises(NotFound):
        meant(bench, f"{third}..{first}")


@pytest.mark.parametrize("name", ["..", "{task}..", "{event}...{event}", "{event}..{other}", "{event}..nothing"])
def test_what_is_no_chain_is_refused(bench: Bench, chain: list[EventId], name: str) -> None:
    other = bench.step({"g": b"1\n"}, task=bench.new_task())
    with pytest.raises((BadInput, NotFound)):
        meant(bench, name.format(task=bench.task, event=chain[0], other=other))


def test_names_of_every_sort_go_together_in_any_order(bench: Bench, chain: list[EventId]) -> None:
    other = bench.new_task()
    event = bench.step({"g": b"1\n"}, task=other)
    names = [f"{chain[0]}..{chain[1]}", chain[0], chain[3], other]
    assert set(meant(bench, *names)) == {chain[0], chain[1], chain[3], event}
    assert meant(bench, *names) == meant(bench, *reversed(names))


def test_what_a_chain_takes_out_and_what_it_leaves(bench: Bench, chain: list[EventId]) -> None:
    plan = plan_rollback(bench.store, [Span(bench.task, chain[1], None)])
    assert plan.tasks[0].targets == (chain[2], chain[3])
    assert plan.writes[0].after is not None
    assert plan.writes[0].after.data == b"agent 0\nagent 1\n2\n3\n"


def child_of(bench: Bench, parent: TaskId) -> TaskId:
    task = bench.new_task()
    link = Link(rel="parent", task=parent)
    tasks.define(bench.store, task, Definition(title="Part of it"), bench.by(), links=(link,))
    return task


def test_sub_tasks_come_along_if_asked_for_and_a_cycle_is_survived(bench: Bench) -> None:
    """RC-58: the links of the newest definition count, in whatever clone each half of a cycle was written."""
    child = child_of(bench, bench.task)
    grandchild = child_of(bench, child)
    stranger = bench.new_task()
    names = ["own", "child", "grandchild", "stranger"]
    of = dict(zip(names, (bench.task, child, grandchild, stranger), strict=True))
    events = {name: bench.step({name: b"1\n"}, task=task) for name, task in of.items()}
    assert meant(bench, bench.task) == [events["own"]]
    below = [events["own"], events["child"], events["grandchild"]]
    assert meant(bench, bench.task, subtasks=True) == below
    assert meant(bench, child, subtasks=True) == below[1:]
    assert meant(bench, grandchild, bench.task, subtasks=True) == below
    assert meant(bench, events["child"], subtasks=True) == [events["child"]]
    loop = Link(rel="parent", task=grandchild)
    defined = bench.store.events(bench.task)[0].event
    assert isinstance(defined, Defined)
    with pytest.raises(LinkCycle):
        tasks.define(bench.store, bench.task, Definition(title="Loop"), bench.by(), links=(loop,))
    # as it may come from another clone
    bench.store.transact(lambda batch: batch.append(msgspec.structs.replace(defined, links=(loop,), parents=())))
    assert meant(bench, bench.task, subtasks=True) == below
    assert meant(bench, child, subtasks=True) == below
    plan = plan_rollback(bench.store, [Named(bench.task)], terms=Terms(subtasks=True))
    assert {write.path for write in plan.writes} == {"own", "child", "grandchild"}
    assert {own.task for own in plan.tasks} == {bench.task, child, grandchild}


def test_a_task_without_changes_of_its_own_has_those_of_its_sub_tasks(bench: Bench) -> None:
    child = child_of(bench, bench.task)
    event = bench.step({"f": b"1\n"}, task=child)
    with pytest.raises(NotFound):
        meant(bench, bench.task)
    assert meant(bench, bench.task, subtasks=True) == [event]


def test_only_the_paths_that_git_would_choose(bench: Bench) -> None:
    names = ["src/a.py", "src/deep/b.py", "doc/a.md", "top.py", "src/[x]"]
    event = bench.step(dict.fromkeys(names, b"1\n"))
    named = [Named(bench.task, event)]

    def chosen(*specs: str, cwd: str | None = None) -> set[bytes]:
        place = bench.path / cwd if cwd else None
        return set(chosen_paths(bench.store, named, specs, place))

    assert chosen("src") == {b"src/a.py", b"src/deep/b.py", b"src/[x]"}
    assert chosen("*.py", ":!src/deep") == {b"src/a.py", b"top.py"}
    assert chosen(":(literal)src/[x]") == {b"src/[x]"}
    assert chosen("deep", cwd="src") == {b"src/deep/b.py"}
    assert chosen(":/top.py", "a.*", cwd="src") == {b"src/a.py", b"top.py"}
    bench.move("top.py", "moved.py")
    assert chosen("top.py") == {b"top.py", b"moved.py"}, "the file is known by where it is now, too"
    plan = plan_rollback(bench.store, named, terms=Terms(paths=frozenset(chosen("src/a.py", "doc"))))
    assert {write.path for write in plan.writes} == {"src/a.py", "doc/a.md"}
    with pytest.raises(NotFound):
        plan_rollback(bench.store, named, terms=Terms(paths=frozenset(chosen("nothing"))))


def test_an_event_of_which_no_path_is_chosen_is_no_target(bench: Bench) -> None:
    first, second = bench.step({"a": b"1\n"}), bench.step({"b": b"1\n"})
    plan = plan_rollback(bench.store, [Named(bench.task)], terms=Terms(paths=frozenset([b"a"])))
    assert plan.tasks[0].targets == (first,)
    assert second not in plan.tasks[0].targets
    bench.write("a", b"edited\n")
    bench.write("b", b"edited\n")
    plan = plan_rollback(bench.store, [Named(bench.task)], terms=Terms(paths=frozenset([b"a"])))
    assert [obstacle.path for obstacle in plan.obstacles] == ["a"], "what is not chosen is in nobody's way"
