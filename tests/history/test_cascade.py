"""The fewest further events: beside trying all of them, on made-up conflicts and in a real work tree. RC-8, RC-11."""

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pogstore.history import rollback as rollback_module
from pogstore.history.cascade import Blocked, find
from pogstore.history.plans import Cascade, Terms
from pogstore.history.rollback import apply_rollback, plan_rollback
from pogstore.model import EventId
from tests.builders_rollback import Bench, Benches, untouched

NAMES = [EventId(letter) for letter in "abcdef"]


Conflicts = Mapping[EventId, Sequence[frozenset[EventId]]]
ASKED = EventId("asked")


def obstacles_of(conflicts: Conflicts, added: Collection[EventId]) -> list[Blocked]:
    """Each event, once it goes, brings conflicts of its own; one ends when any of its events goes."""
    every = [Blocked(event, ends) for event in (ASKED, *added) for ends in conflicts.get(event, ())]
    return [each for each in every if each.ends.isdisjoint(added)]


@settings(max_examples=200)
@given(
    st.dictionaries(
        st.sampled_from([ASKED, *NAMES]), st.lists(st.frozensets(st.sampled_from(NAMES), max_size=3), max_size=3)
    )
)
def test_no_smaller_set_is_clean(conflicts: Conflicts) -> None:
    found = find(lambda added: obstacles_of(conflicts, added), most=10_000)
    clean = [
        set(chosen)
        for size in range(len(NAMES) + 1)
        for chosen in combinations(NAMES, size)
        if not obstacles_of(conflicts, chosen)
    ]
    if not clean:
        assert found == Cascade((), "none")
        return
    assert found.found == "smallest"
    assert set(found.events) in clean
    assert len(found.events) == len(clean[0])


def test_it_gives_up_and_says_so() -> None:
    pairs = [frozenset(NAMES[at : at + 2]) for at in range(5)]
    plans: list[int] = []

    def obstacles(added: Collection[EventId]) -> list[Blocked]:
        plans.append(len(added))
        return [Blocked(ASKED, pair) for pair in pairs if pair.isdisjoint(added)]

    assert find(obstacles, most=1) == Cascade((), "unknown")
    few = find(obstacles, most=5)
    assert (few.found, len(few.events) > 2) == ("clean", True)
    plans.clear()
    assert find(obstacles, most=1_000).found == "smallest"
    assert len(plans) <= 1_000


def cascade(bench: Bench, *names: EventId, widen: str = "say") -> Cascade | None:
    plan = plan_rollback(bench.store, [bench.named(name) for name in names], terms=Terms(widen=widen))  # type: ignore[arg-type]
    return plan.cascade


def test_only_what_overlaps_is_asked_for(bench: Bench) -> None:
    bench.write("f", b"1\n2\n3\n")
    first = bench.step({"f": b"a\n2\n3\n"})
    over = bench.step({"f": b"b\n2\n3\n"})
    bench.step({"f": b"b\n2\n3c\n"})
    assert cascade(bench, first) == Cascade((over,), "smallest")
    assert cascade(bench, first, widen="no") is None
    plan = plan_rollback(bench.store, [bench.named(first)], terms=Terms(widen="take"))
    assert plan.cascade == Cascade((over,), "smallest")
    apply_rollback(bench.store, plan, bench.by())
    assert bench.text("f") == "1\n2\n3c\n"
    bench.undo()
    assert bench.text("f") == "b\n2\n3c\n"


def test_of_several_tasks_and_people_each_is_named(bench: Bench) -> None:
    other = bench.new_task()
    bench.write("f", b"1\n")
    first = bench.step({"f": b"2\n"})
    second = bench.step({"f": b"3\n"}, task=other)
    third = bench.step({"f": b"4\n"})
    assert cascade(bench, first) == Cascade(tuple(sorted((second, third))), "smallest")
    assert cascade(bench, first, third) == Cascade((second,), "smallest")
    bench.write("f", b"a person's, told to nobody\n")
    assert cascade(bench, first) == Cascade((), "none")
    state = untouched(bench.path, [".git/pog"])
    plan = plan_rollback(bench.store, [bench.named(first)], terms=Terms(widen="take"))
    assert plan.obstacles
    assert untouched(bench.path, [".git"]) == {
        name: each for name, each in state.items() if not name.startswith(".git")
    }


def test_an_edit_before_a_later_rename_is_found(bench: Bench) -> None:
    bench.write("old", b"1\n2\n")
    first = bench.step({"old": b"a\n2\n"})
    edit = bench.step({"old": b"b\n2\n"})
    bench.move("old", "new")
    assert cascade(bench, first) == Cascade((edit,), "smallest")


def test_two_renames_stand_in_the_way_of_a_rename(bench: Bench) -> None:
    bench.write("a", b"1\n")
    first = bench.move("a", "b")
    others = [bench.move("b", "c"), bench.move("c", "d")]
    assert cascade(bench, first) == Cascade(tuple(sorted(others)), "smallest")


def test_what_took_the_place_of_a_directory_or_a_file_is_found(bench: Bench) -> None:
    bench.write("a", b"1\n")
    gone = bench.step({"a": None})
    below = bench.step({"a/b": b"2\n"})
    assert bench.conflicts(gone) == {"a": "in-the-way"}
    assert cascade(bench, gone) == Cascade((below,), "smallest")
    bench.rollback(below)
    bench.rollback(gone)
    bench.write("d/e", b"1\n")
    gone = bench.step({"d/e": None})
    above = bench.step({"d": b"2\n"})
    assert cascade(bench, gone) == Cascade((above,), "smallest")


def test_a_part_brings_the_others(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pogstore.history.operations.PART_CHANGES", 2)
    first = bench.step(dict.fromkeys("abcde", b"1\n"))
    second = bench.step(dict.fromkeys("abcde", b"2\n"))
    parts = [sealed.event_id for sealed in bench.rollback(second).events]
    assert len(parts) == 3
    bench.step({"a": b"3\n"})
    found = cascade(bench, parts[0])
    assert found is not None
    assert found.found == "smallest"
    plan = plan_rollback(bench.store, [bench.named(parts[0])], terms=Terms(widen="take"))
    assert set(parts) <= {target for own in plan.tasks for target in own.targets}
    assert first not in found.events


def test_it_gives_up_in_a_work_tree_too(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rollback_module, "MOST_CHANGES", 0)
    monkeypatch.setattr(rollback_module, "FEWEST_PLANS", 1)
    bench.write("f", b"1\n")
    first = bench.step({"f": b"2\n"})
    bench.step({"f": b"3\n"})
    assert cascade(bench, first) == Cascade((), "unknown")


def test_how_far_the_search_is_is_told(bench: Bench) -> None:
    bench.write("f", b"1\n")
    first = bench.step({"f": b"2\n"})
    bench.step({"f": b"3\n"})
    told: list[tuple[int, int]] = []
    plan_rollback(bench.store, [bench.named(first)], searching=lambda done, total: told.append((done, total)))
    most = rollback_module.MOST_PLANS
    assert told == [(1, most), (2, most), (most, most)]


LINES = st.lists(st.integers(0, 3), min_size=1, max_size=2)
EDITS = st.lists(st.tuples(st.sampled_from("fg"), LINES, st.booleans()), min_size=2, max_size=6)


@settings(max_examples=25)
@given(EDITS, st.data())
def test_beside_trying_all_sets_of_events_in_a_work_tree(
    benches: Benches[Bench], edits: list[tuple[str, list[int], bool]], data: st.DataObject
) -> None:
    with benches.new() as bench:
        texts = {name: [f"{name}{at}\n" for at in range(4)] for name in "fg"}
        for name, lines in texts.items():
            bench.write(name, "".join(lines).encode())
        events = []
        for number, (name, touched, both) in enumerate(edits):
            for each in "fg" if both else name:
                for line in touched:
                    texts[each][line] = f"edit {number} of {line}\n"
            events.append(bench.step({each: "".join(texts[each]).encode() for each in ("fg" if both else name)}))
        target = data.draw(st.sampled_from(events))
        if data.draw(st.booleans()):
            texts["f"][data.draw(st.integers(0, 3))] = "a person's line\n"
            bench.write("f", "".join(texts["f"]).encode())
        others = [event for event in events if event != target]
        found = cascade(bench, target)
        sizes = [
            size
            for size in range(len(others) + 1)
            if any(not bench.plan_just(target, *chosen).obstacles for chosen in combinations(others, size))
        ]
        if not sizes:
            assert found == Cascade((), "none")
        elif not sizes[0]:
            assert found is None
        else:
            assert found is not None
            assert (found.found, len(found.events)) == ("smallest", sizes[0])
            assert not bench.plan_just(target, *found.events).obstacles
