"""Where work comes from and what rests on it: links, content, commits, lines; and that every walk ends."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pogstore import codec, graph
from pogstore.draft import Draft, DraftChange, FileVersion, TaskDrafts
from pogstore.errors import BadInput, NotFound
from pogstore.history.lineage import FileLine, Lineage, Node, Walk, lineage
from pogstore.history.names import Named
from pogstore.history.streamed import changes_of
from pogstore.model import Actor, Base, EventId, Link, Oid, Sealed, Source, TaskId
from pogstore.store.decoded import Decoded
from pogstore.store.refs import content_ref, task_ref
from pogstore.store.store import Store, open_store
from pogstore.work.intake import take
from tests.builders_exchange import Clone, bare, clone, pair
from tests.builders_store import opened
from tests.conftest import SECOND, STARTED, Repo
from tests.history.agents import Agent
from tests.history.works import OPERATIONS, Operation, Works, needs, on, parent_of, played, task_id
from tests.strategies import Dag, parents_in
from tests.test_graph import closure

__all__ = ["bare", "clone", "pair"]

Triple = tuple[str, str, str]


@pytest.fixture
def works(repo: Repo) -> Works:
    return Works(opened(repo))


def triples(walk: Walk | None) -> set[Triple]:
    """The edges of a walk as (from, rel, to)."""
    assert walk is not None
    return {(edge.from_.id, edge.rel, edge.to.id) for edge in walk.edges}


def of_event(works: Works, sealed: Sealed, depth: int | None = None) -> Lineage:
    return lineage(works.store, Named(sealed.event.task, sealed.event_id), depth=depth)


def used(found: Lineage) -> set[tuple[str, str]]:
    """Who used whose work, in both directions."""
    return {(edge.from_.id, edge.to.id) for edge in found.edges if edge.rel == "used"}


def test_an_event_that_found_what_another_left_used_its_work(works: Works) -> None:
    one, two = works.define(1), works.define(2)
    made = works.edit(one, "a.py", None, "1\n")
    other = works.edit(two, "b.py", None, "1\n")  # the same content elsewhere is nobody's work
    edited = works.edit(two, "a.py", "1\n", "2\n")
    again = works.edit(one, "a.py", "2\n", "3\n")
    found = of_event(works, edited)
    assert used(found) == {(edited.event_id, made.event_id), (again.event_id, edited.event_id)}
    assert other.event_id not in {node.id for node in found.nodes if node not in _relatives(found)}
    edge = next(edge for edge in found.edges if edge.rel == "used")
    assert edge.paths == (b"a.py",)
    tasks = lineage(works.store, Named(one))
    assert triples(tasks.up) == triples(tasks.down) == {(one, "used", two), (two, "used", one)}


def _relatives(found: Lineage) -> set[Node]:
    """Parents and children, near and far."""
    return {node for edge in found.edges if edge.rel == "parent" for node in edge[:2]}


def test_of_several_that_left_a_version_the_nearest_before_counts(works: Works) -> None:
    task = works.define(1)
    works.edit(task, "a", None, "1\n")
    back = works.edit(task, "a", "2\n", "1\n")
    user = works.edit(task, "a", "1\n", "9\n")
    late = works.edit(task, "a", "7\n", "1\n")
    assert used(of_event(works, user)) == {(user.event_id, back.event_id)}
    assert used(of_event(works, late)) == set()


def test_work_is_followed_through_a_rename(works: Works) -> None:
    task = works.define(1)
    made = works.edit(task, "old/a", None, "1\n")
    moved = works.step(task, ("old/a", "new/a", "1\n", "2\n"))
    user = works.edit(task, "new/a", "2\n", "3\n")
    unrelated = works.edit(task, "new/a", "1\n", "4\n")
    assert used(of_event(works, moved)) == {(moved.event_id, made.event_id), (user.event_id, moved.event_id)}
    assert used(of_event(works, unrelated)) == set()


def test_parents_and_children_of_an_event(works: Works) -> None:
    task = works.define(1)
    events = [works.edit(task, f"f{n}", None, f"{n}\n") for n in range(4)]
    found = of_event(works, events[1])
    assert (events[1].event_id, "parent", events[0].event_id) in triples(found.up)
    assert found.up is not None
    assert found.down is not None
    assert len([edge for edge in found.up.edges if edge.rel == "parent"]) == 2  # the definition is the root
    assert {node.id for node in found.down.distance} == {each.event_id for each in events[1:]}
    assert (events[1].event_id, "of", task) in triples(found.up)


def test_links_of_tasks_in_both_directions(works: Works) -> None:
    epic = works.define(1, "epic")
    base = works.define(2, "base")
    fork = works.define(3, "fork", parent_of(epic), needs(base), Link(rel="derived_from", task=task_id(9)))
    sub = works.define(4, "sub", parent_of(fork))
    gate = works.define(5, "gate", Link(rel="blocks", task=fork))
    found = lineage(works.store, Named(fork))
    assert triples(found.up) == {
        (fork, "parent", epic), (fork, "depends_on", base), (fork, "derived_from", task_id(9)),
        (fork, "blocked_by", gate),
    }  # fmt: skip
    assert triples(found.down) == {(sub, "parent", fork)}
    assert triples(lineage(works.store, Named(gate)).down) == {(fork, "blocked_by", gate), (sub, "parent", fork)}
    assert Node("task", task_id(9)) in found.nodes
    assert task_id(9) not in found.tasks, "it is not here"


def test_only_the_definition_in_force_counts(works: Works) -> None:
    one, two = works.define(1), works.define(2)
    task = works.define(3, "a", needs(one))
    works.define(3, "b", needs(two))
    assert triples(lineage(works.store, Named(task)).up) == {(task, "depends_on", two)}
    assert triples(lineage(works.store, Named(one)).down) == set()


def test_a_link_of_an_event_counts_for_its_task_too(works: Works) -> None:
    """A session that goes on from another says so in its first event; a point marks an event."""
    one, two = works.define(1), works.define(2)
    made = works.edit(one, "a", None, "1\n")
    marks = works.note(two, Link(rel="marks", event=made.event_id), Link(rel="derived_from", task=one))
    assert triples(lineage(works.store, Named(two)).up) == {(two, "marks", one), (two, "derived_from", one)}
    assert triples(lineage(works.store, Named(one)).down) == {(two, "marks", one), (two, "derived_from", one)}
    assert (marks.event_id, "marks", made.event_id) in triples(of_event(works, made).down)
    assert {(marks.event_id, "marks", made.event_id), (marks.event_id, "derived_from", one)} <= triples(
        of_event(works, marks).up
    )


def test_a_commit_carries_what_it_brings(works: Works, repo: Repo) -> None:
    task, other = works.define(1), works.define(2)
    early = works.edit(task, "a", None, "1\n")
    last = works.edit(task, "a", "1\n", "2\n")
    gone = works.edit(task, "README", "a project\n", None)
    works.edit(task, "b", None, "not committed\n")
    (repo.path / "README").unlink()
    commit = repo.commit({"a": "2\n"})
    works.committed(task, commit)
    later = repo.commit({"c": "x\n"})
    works.committed(task, later)
    user = works.edit(other, "a", "2\n", "3\n", base=on(commit))
    found = lineage(works.store, Oid(commit))
    carried = {(commit, "carries", task), (commit, "carries", last.event_id), (commit, "carries", gone.event_id)}
    assert {each for each in triples(found.up) if each[0] == commit} == carried
    assert (last.event_id, "used", early.event_id) in triples(found.up)
    assert triples(found.down) == set(), "an event had left what the user found"
    assert {each for each in triples(lineage(works.store, Oid(later)).up) if each[0] == later} == {
        (later, "carries", task)
    }
    assert (commit, "carries", last.event_id) in triples(of_event(works, early).down)
    assert (user.event_id, "used", last.event_id) in triples(of_event(works, early).down)
    assert {(commit, "carries", task), (later, "carries", task), (other, "used", task)} == triples(
        lineage(works.store, Named(task)).down
    )
    assert found.commits[Oid(commit)].subject == "change"


def test_a_commit_that_nobody_told_of_is_known_by_its_files(works: Works, repo: Repo) -> None:
    """A squash or a merge elsewhere: the first that left what it brings."""
    task, other = works.define(1), works.define(2)
    first = works.edit(task, "a/b", None, "1\n")
    works.edit(other, "a/b", "x\n", "1\n")
    commit = repo.commit({"a/b": "1\n", "a/c": "2\n"})
    assert triples(lineage(works.store, Oid(commit)).up) == {
        (commit, "carries", task), (commit, "carries", first.event_id),
    }  # fmt: skip
    assert triples(lineage(works.store, Oid(repo.commit())).up) == set()


def test_work_that_began_with_what_a_commit_held(works: Works, repo: Repo) -> None:
    commit = repo.git("rev-parse", "HEAD")
    task = works.define(1)
    began = works.edit(task, "README", "a project\n", "1\n", base=on(commit))
    went_on = works.edit(task, "README", "1\n", "2\n", base=on(commit))
    typed = works.edit(task, "README", "nobody knows\n", "3\n", base=on(commit))
    absent = works.edit(task, "x", "somewhere else\n", "4\n", base=on("1" * 40))
    assert (began.event_id, "base", commit) in triples(of_event(works, began).up)
    assert (began.event_id, "base", commit) in triples(of_event(works, went_on).up)
    assert not any(rel == "base" for _, rel, _ in triples(of_event(works, typed).up))
    assert (absent.event_id, "base", "1" * 40) in triples(of_event(works, absent).up)
    found = lineage(works.store, Oid(commit))
    assert triples(found.down) == {
        (began.event_id, "base", commit), (went_on.event_id, "used", began.event_id)
    }  # fmt: skip
    assert "1" * 40 not in of_event(works, absent).commits


@pytest.mark.parametrize("commit", ["../../../README", "x", "sha1_" + "g" * 40, "\x1b[31m"])
def test_a_commit_whose_name_is_none_is_not_looked_for(works: Works, commit: str) -> None:
    """Events come from anybody who can push; their commits are no paths into the object database."""
    task = works.define(1, "", Link(rel="derived_from", commit=commit))
    event = works.edit(task, "a", "0\n", "1\n", base=Base(commit=commit))
    assert lineage(works.store, Named(task)).commits == of_event(works, event).commits == {}
    assert lineage(works.store, Oid(commit)).commits == {}


def test_a_line_comes_from_whoever_wrote_it(repo: Repo) -> None:
    repo.commit({"a.py": "one\ntwo\n"}, "base")
    first, second = Agent(repo), Agent(repo, task_id(2), name="other")
    made = first.write("a.py", "one\nTWO\n")
    edited = second.write("a.py", "one\nTWO\nthree\n")
    store = first.store
    line = lineage(store, FileLine(b"a.py", 3))
    assert line.asked == Node("line", "a.py:3")
    assert triples(line.up) == {("a.py:3", "written_by", edited), (edited, "used", made)}
    whole = lineage(store, FileLine(b"a.py"))
    head = repo.git("rev-parse", "HEAD")
    assert triples(whole.up) == {("a.py", "written_by", owner) for owner in (head, made, edited)} | {
        (edited, "used", made)
    }
    assert triples(lineage(store, FileLine(b"a.py", 2)).down) == {
        ("a.py:2", "written_by", made), (edited, "used", made)
    }  # fmt: skip
    with pytest.raises(BadInput, match="line 4: the file has 3 lines"):
        lineage(store, FileLine(b"a.py", 4))
    with pytest.raises(NotFound):
        lineage(store, FileLine(b"no.py", 1))


def test_neither_saw_the_other(works: Works) -> None:
    one, two, three = (works.define(number) for number in (1, 2, 3))
    base = works.edit(one, "a", None, "0\n")
    left = works.edit(two, "a", "0\n", "1\n")
    right = works.edit(three, "a", "0\n", "2\n")
    assert [edge.to.id for edge in of_event(works, left).concurrent] == [right.event_id]
    assert [edge.to.id for edge in of_event(works, right).concurrent] == [left.event_id]
    assert of_event(works, base).concurrent == ()
    assert [edge.to.id for edge in lineage(works.store, Named(two)).concurrent] == [three]
    assert lineage(works.store, Named(one)).concurrent == ()


def test_who_used_the_work_has_seen_it(works: Works) -> None:
    one, two = works.define(1), works.define(2)
    works.edit(one, "a", None, "0\n")
    left = works.step(one, (None, "a", "0\n", "1\n"), (None, "b", None, "x\n"))
    right = works.step(two, (None, "a", "0\n", "2\n"), (None, "b", "x\n", "y\n"))
    assert of_event(works, left).concurrent == of_event(works, right).concurrent == ()


def test_two_heads_of_one_task_are_concurrent_where_they_meet(pair: tuple[Clone, Clone, TaskId]) -> None:
    one, two, task = pair
    first = Works(one.store).edit(task, "a", None, "1\n")
    second = Works(two.store).edit(task, "a", "5\n", "2\n")
    elsewhere = Works(two.store).edit(task, "b", None, "3\n")
    two.push()
    one.pull()
    found = lineage(one.store, Named(task, first.event_id))
    assert [edge.to.id for edge in found.concurrent] == [second.event_id]
    assert lineage(one.store, Named(task, elsewhere.event_id)).concurrent == ()


def test_a_cycle_whose_halves_two_clones_wrote(pair: tuple[Clone, Clone, TaskId]) -> None:
    """RC-56: each half was legitimate where it was written; fetched together, every question still ends."""
    one, two, task = pair
    other = one.new("other")
    one.push()
    two.pull()
    Works(one.store).define(task, "x", needs(other))
    Works(two.store).define(other, "x", needs(task))
    two.push()
    one.pull()
    for depth in (None, 0, 1, 2, 9):
        for name, beyond in ((task, other), (other, task)):
            found = lineage(one.store, Named(name), depth=depth)
            edges = {(name, "depends_on", beyond), (beyond, "depends_on", name)} if depth != 0 else set()
            assert triples(found.up) == triples(found.down) == edges
    links = {task: [other], other: [task]}
    assert graph.find_cycle(links, links.__getitem__) == sorted(links)


def test_a_task_that_is_linked_to_itself(works: Works) -> None:
    task = works.define(1, "a", needs(task_id(1)), Link(rel="blocks", task=task_id(1)))
    found = lineage(works.store, Named(task))
    assert triples(found.up) == triples(found.down) == {(task, "depends_on", task), (task, "blocked_by", task)}


def test_how_deep(works: Works) -> None:
    for number in range(1, 9):
        works.define(number, "", *([needs(task_id(number - 1))] if number > 1 else ()), needs(task_id(100 + number)))
    found = lineage(works.store, Named(task_id(6)), depth=2)
    assert found.up is not None
    assert found.down is not None
    assert found.up.distance[Node("task", task_id(4))] == 2
    assert found.up.more == {Node("task", task_id(4)): 2}
    assert found.down.more == {}
    assert lineage(works.store, Named(task_id(6)), depth=0).up == Walk(
        {Node("task", task_id(6)): 0}, (), {Node("task", task_id(6)): 2}
    )


def test_one_direction(works: Works) -> None:
    task = works.define(1)
    assert lineage(works.store, Named(task), up=False).up is None
    assert lineage(works.store, Named(task), down=False).down is None


def test_what_is_withheld_or_erased_is_no_failure(works: Works, repo: Repo) -> None:
    """Contents and private texts that are not here: the graph is in the events."""
    one = works.define(1, "secret", class_="private")
    two = works.define(2, "open", needs(one))
    made = works.edit(one, "a", None, "1\n")
    user = works.edit(two, "a", "1\n", "2\n")
    before = [lineage(works.store, Named(one)), of_event(works, user)]
    for class_ in ("content", "private"):
        repo.git("update-ref", "-d", content_ref(one, class_))
    after = [lineage(works.store, Named(one)), of_event(works, user)]
    assert [found.edges for found in after] == [found.edges for found in before]
    assert (user.event_id, made.event_id) in used(after[1])
    assert before[0].tasks[one].title == "secret"
    assert after[0].tasks[one].title == "untitled session"


def test_a_damaged_task_is_said_and_the_rest_answered(works: Works, repo: Repo) -> None:
    one, two = works.define(1), works.define(2)
    works.define(3, "", needs(one), needs(two))
    blob = repo.git("hash-object", "-w", "--stdin", input="x")
    (repo.path / ".git" / task_ref(one)).write_text(f"{blob}\n")
    works.store.index.discard()
    found = lineage(open_store(repo.path), Named(task_id(3)))
    assert triples(found.up) == {(task_id(3), "depends_on", one), (task_id(3), "depends_on", two)}
    assert found.tasks[one].damaged
    assert found.tasks[two].damaged is None


def test_what_was_told_twice_counts_once(works: Works) -> None:
    task = works.define(1)
    made = works.edit(task, "a", None, "1\n", call_id="c1")
    echo = works.edit(task, "a", None, "1\n", call_id="c1")
    user = works.edit(works.define(2), "a", "1\n", "2\n")
    assert used(of_event(works, user)) == {(user.event_id, made.event_id)}
    asked = of_event(works, echo)
    assert asked.asked.id == made.event_id, "the one that stands for both"
    assert used(asked) == {(user.event_id, made.event_id)}


def test_imports_are_taken_in_the_order_of_blame(works: Works) -> None:
    """Decision 0005: the clocks of two imports say nothing of each other, so their times do."""
    made = FileVersion(mode="100644", data=b"1\n")
    other = FileVersion(mode="100644", data=b"2\n")
    earlier = [*(reading(1, at) for at in range(5)), reading(1, 5, DraftChange(path="a", before=None, after=made))]
    later = [reading(2, 9, DraftChange(path="a", before=made, after=other))]
    for task, drafts in ((2, later), (1, earlier)):
        take(works.store, [TaskDrafts(task=task_id(task), drafts=tuple(drafts))], imported=True)
    maker, user = works.store.events(task_id(1))[-1], works.store.events(task_id(2))[-1]
    assert user.event.clock < maker.event.clock
    assert used(of_event(works, user)) == used(of_event(works, maker)) == {(user.event_id, maker.event_id)}
    assert of_event(works, user).concurrent == ()


def reading(task: int, at: int, *changes: DraftChange) -> Draft:
    """A step of an imported session."""
    return Draft(
        kind="stepped",
        time=STARTED + (task * 100 + at) * SECOND,
        actor=Actor(type="agent", name="coder", session=f"s{task}"),
        fields={"tool": "Edit", "class": "edit", "call_id": f"{task} {at}"},
        changes=changes,
        source=Source(format="claude-code", key=f"{task} {at}"),
    )


def events_of(store: Store) -> list[Sealed]:
    """All events, in replay order."""
    return graph.replay_order(sealed for task in store.tasks() for sealed in store.events(task))


def slowly_used(events: list[Sealed]) -> Dag:
    """Whose work each event used: the nearest earlier one in replay order, looked for event by event."""
    found: dict[str, set[str]] = {sealed.event_id: set() for sealed in events}
    for at, sealed in enumerate(events):
        for change in changes_of(sealed):
            wanted = (change.from_ or change.path, change.before.blob if change.before else None)
            left = (each for each in reversed(events[:at]) if wanted in versions_left(each))
            if change.before and (maker := next(left, None)):
                found[sealed.event_id].add(maker.event_id)
    return {name: tuple(others) for name, others in found.items()}


def versions_left(sealed: Sealed) -> set[object]:
    """What an event left at which path."""
    return {(change.path, change.after.blob) for change in changes_of(sealed) if change.after}


def is_inverse(answers: dict[Node, Lineage]) -> bool:
    """Whether of two nodes of a kind one is above the other exactly where the other is below the one."""

    def reached(node: Node, walk: Walk | None) -> set[Node]:
        assert walk is not None
        return {other for other in walk.distance if other.kind == node.kind and other in answers} - {node}

    up = {(node, other) for node, found in answers.items() for other in reached(node, found.up)}
    down = {(other, node) for node, found in answers.items() for other in reached(node, found.down)}
    return up == down


@settings(max_examples=6)
@given(st.data(), OPERATIONS)
def test_whatever_the_links_and_the_order_of_arrival(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, operations: list[Operation]
) -> None:
    """RC-50, RC-56: every question ends, up is the inverse of down, and nothing depends on how the events came here."""
    store = played(Repo(tmp_path_factory.mktemp("lineage")), operations).store
    events = events_of(store)
    asked = [*map(Named, store.tasks()), *(Named(each.event.task, each.event_id) for each in events)]
    found = {one: lineage(store, one) for one in asked}
    answers = {each.asked: each for each in found.values()}
    assert is_inverse(answers)
    reached, parents = closure(slowly_used(events)), parents_in(events)
    for node, answer in answers.items():
        if node.kind == "event" and answer.up is not None:
            above = {EventId(other.id) for other in answer.up.distance if other.kind == "event"}
            assert above == {node.id} | reached[node.id] | graph.ancestors([EventId(node.id)], parents)
    arrived = Repo(tmp_path_factory.mktemp("arrived"))
    arrived.git("init", "-q")
    second = opened(arrived)
    for task in data.draw(st.permutations(store.tasks())):
        refs = [f"{ref}:{ref}" for ref in store.tips() if ref.endswith(task)]
        arrived.git("fetch", "-q", str(store.layout.work_tree), *refs)
        second.refresh()
    assert {one: lineage(second, one) for one in asked} == found
    second.index.discard()
    assert {one: lineage(second, one) for one in asked} == found


def test_events_that_have_no_part_in_it_are_not_read(works: Works, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many events other tasks have: each that is decoded is of a task in the answer."""
    one, two = works.define(1), works.define(2, "", needs(task_id(1)))
    made = works.edit(one, "a", None, "1\n")
    works.edit(two, "a", "1\n", "2\n")
    for number in range(3, 30):
        works.define(number)
        works.edit(task_id(number), f"f{number}", None, "1\n")  # the same bytes elsewhere
        works.edit(task_id(number), "a", f"{number}\n", f"{number + 1}\n")  # other bytes at the same path
    works.store.refresh()
    read: list[TaskId] = []
    decode = codec.decode

    def counting(body: bytes) -> Sealed:
        sealed = decode(body)
        read.append(sealed.event.task)
        return sealed

    monkeypatch.setattr(codec, "decode", counting)
    for asked in (Named(one), Named(two), Named(one, made.event_id)):
        works.store.decoded = Decoded()
        read.clear()
        lineage(works.store, asked)
        assert set(read) == {one, two}
        assert len(read) <= 2 * 4 + 2, "an answer that reads an event over and over"
