"""Order, ancestry, cycles and clocks, against slow models and at the borders of the numbers."""

from collections.abc import Callable, Iterable
from functools import partial
from random import Random
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pogstore import graph
from pogstore.errors import OutsideDomain
from pogstore.graph import AHEAD, CLOCK_LIMIT, LEAP, Raised
from pogstore.model import Actor, EventId, Noted, Sealed
from tests.strategies import TASK, Dag, chains, dags, digraphs, event_ids, parents_in, shuffled

DEEP = 100_000


def closure(dag: Dag) -> dict[str, set[str]]:
    """What one or more edges lead to, by repeating until nothing changes."""
    reached = {name: set(edges) for name, edges in dag.items()}
    changed = True
    while changed:
        changed = False
        for known in reached.values():
            further = set().union(*(reached[name] for name in known)) - known
            known.update(further)
            changed = changed or bool(further)
    return reached


def note(name: str, clock: int, *parents: str) -> Sealed:
    event = Noted(
        v=1, task=TASK, clock=clock, time=0, actor=Actor(type="tool"), parents=tuple(EventId(p) for p in parents)
    )
    return Sealed(EventId(name), b"", event)


def deep_chain() -> Dag:
    return {str(n): (str(n - 1),) if n else () for n in range(DEEP)}


@given(st.data(), chains())
def test_replay_order_is_a_function_of_the_set(data: st.DataObject, chain: list[Sealed]) -> None:
    arrived = data.draw(shuffled(chain)) + data.draw(st.lists(st.sampled_from(chain)))
    ordered = graph.replay_order(arrived)
    assert ordered == graph.replay_order(chain)
    assert [(s.event.clock, s.event_id) for s in ordered] == sorted((s.event.clock, s.event_id) for s in chain)


@given(chains())
def test_in_replay_order_parents_come_first(chain: list[Sealed]) -> None:
    done: set[str] = set()
    for sealed in graph.replay_order(chain):
        assert done.issuperset(sealed.event.parents)
        done.add(sealed.event_id)


@given(st.data(), st.lists(st.tuples(st.integers(1, 5), event_ids())))
def test_order_of_pairs_agrees_with_the_order_of_events(data: st.DataObject, nodes: list[tuple[int, EventId]]) -> None:
    by_id = {event_id: clock for clock, event_id in nodes}
    pairs = [(clock, event_id) for event_id, clock in by_id.items()]
    events = [note(event_id, clock) for clock, event_id in data.draw(shuffled(pairs))]
    assert graph.order(pairs + pairs) == [sealed.event_id for sealed in graph.replay_order(events)]


def test_order_costs_little_more_than_sorting() -> None:
    random = Random(7)
    nodes = [(random.randrange(DEEP), f"{random.getrandbits(256):064x}") for _ in range(DEEP)]
    events = [note(event_id, clock) for clock, event_id in nodes]

    def best(run: Callable[[], object]) -> float:
        taken = []
        for _ in range(3):
            started = perf_counter()
            run()
            taken.append(perf_counter() - started)
        return min(taken)

    sorting = best(partial(sorted, nodes))
    assert best(partial(graph.order, nodes)) <= 6 * sorting
    assert best(partial(graph.replay_order, events)) <= 6 * sorting


@given(st.data(), dags())
def test_heads_are_those_without_a_child(data: st.DataObject, dag: Dag) -> None:
    expected = sorted(name for name in dag if not any(name in parents for parents in dag.values()))
    assert graph.heads(data.draw(shuffled(list(dag))), dag.__getitem__) == tuple(expected)


@given(dags())
def test_heads_of_a_part_of_the_events_ignore_children_outside_it(dag: Dag) -> None:
    part = sorted(dag)[::2]
    expected = [name for name in part if not any(name in dag[child] for child in part)]
    assert graph.heads(part, dag.__getitem__) == tuple(expected)


@given(dags())
def test_ancestry_agrees_with_the_closure(dag: Dag) -> None:
    above, parents = closure(dag), dag.__getitem__
    depth = {name: len(above[name]) for name in dag}  # grows from parent to child, as clocks do
    by_parent = graph.children(dag, parents)
    for one in dag:
        assert graph.ancestors([one], parents) == above[one]
        assert graph.descendants([one], by_parent) == {name for name in dag if one in above[name]}
        for other in dag:
            assert graph.is_ancestor(one, other, parents) == (one in above[other])
            assert graph.is_ancestor(one, other, parents, depth.__getitem__) == (one in above[other])
            apart = one != other and one not in above[other] and other not in above[one]
            assert graph.concurrent(one, other, parents) == apart


@given(dags())
def test_ancestors_of_all_are_the_union(dag: Dag) -> None:
    assert graph.ancestors(dag, dag.__getitem__) == {parent for parents in dag.values() for parent in parents}


def test_with_clocks_the_walk_stays_above_the_ancestor() -> None:
    dag = deep_chain()
    asked: list[str] = []

    def parents(name: str) -> tuple[str, ...]:
        asked.append(name)
        return dag[name]

    assert graph.is_ancestor(str(DEEP - 4), str(DEEP - 1), parents, int)
    assert not graph.is_ancestor("x", str(DEEP - 1), parents, lambda name: DEEP - 4 if name == "x" else int(name))
    assert len(asked) < 10


@given(dags())
def test_children_turn_the_edges_round(dag: Dag) -> None:
    by_parent = graph.children(dag, dag.__getitem__)
    assert {(p, c) for p, cs in by_parent.items() for c in cs} == {(p, c) for c, ps in dag.items() for p in ps}
    assert all(cs == sorted(cs) for cs in by_parent.values())


@given(st.data(), dags())
def test_missing_parents_are_named(data: st.DataObject, dag: Dag) -> None:
    held = data.draw(st.lists(st.sampled_from(sorted(dag)), unique=True)) if dag else []
    expected = {parent for name in held for parent in dag[name]} - set(held)
    assert graph.missing_parents(held, dag.__getitem__) == tuple(sorted(expected))


@given(dags())
def test_merge_bases_are_the_common_ancestors_that_no_other_descends_from(dag: Dag) -> None:
    above = closure(dag)
    for one in dag:
        for other in dag:
            common = ({one} | above[one]) & ({other} | above[other])
            best = sorted(name for name in common if not any(name in above[base] for base in common))
            assert graph.merge_bases(one, other, dag.__getitem__) == tuple(best)


@given(st.data(), digraphs())
def test_a_cycle_is_found_if_there_is_one_and_always_the_same(data: st.DataObject, digraph: Dag) -> None:
    """RC-56, RC-50: links form cycles; the report does not depend on the order in which they are met."""
    cycle = graph.find_cycle(data.draw(shuffled(list(digraph))), digraph.__getitem__)
    assert (cycle is not None) == any(name in reached for name, reached in closure(digraph).items())
    if cycle:
        assert all(digraph[a].count(b) for a, b in zip(cycle, cycle[1:] + cycle[:1], strict=True))
        assert cycle[0] == min(cycle)
        assert len(set(cycle)) == len(cycle)
        assert graph.find_cycle(sorted(digraph), lambda name: reversed(digraph[name])) == cycle


@given(digraphs())
def test_an_edge_closes_a_cycle_exactly_if_its_end_reaches_its_start(digraph: Dag) -> None:
    reached = closure(digraph)
    for source in digraph:
        for target in digraph:
            expected = source == target or source in reached[target]
            assert graph.closes_cycle(source, target, digraph.__getitem__) == expected


@given(digraphs())
def test_every_walk_ends_on_cycles(digraph: Dag) -> None:
    """RC-56: queries over links that form a cycle terminate."""
    for start, reached in closure(digraph).items():
        assert sorted(graph.reach([start], digraph.__getitem__)) == sorted(reached)


def test_a_deep_chain_needs_no_recursion() -> None:
    """T13: 10^5 events in a row are walked, not recursed into."""
    dag = deep_chain()
    last = str(DEEP - 1)
    assert len(graph.ancestors([last], dag.__getitem__)) == DEEP - 1
    assert graph.is_ancestor("0", last, dag.__getitem__)
    assert graph.heads(dag, dag.__getitem__) == (last,)
    assert graph.merge_bases("5", last, dag.__getitem__) == ("5",)
    assert graph.find_cycle(dag, dag.__getitem__) is None
    cycle = graph.find_cycle(dag, (dag | {"0": (last,)}).__getitem__)
    assert cycle is not None
    assert len(cycle) == DEEP


def test_an_unknown_parent_is_an_ancestor_without_parents() -> None:
    chain = [note("a", 5, "gone"), note("b", 6, "a")]
    assert graph.ancestors([EventId("b")], parents_in(chain)) == {"a", "gone"}


@pytest.mark.parametrize(
    ("clock", "parent_clocks", "valid"),
    [
        (1, (), True),
        (0, (), False),
        (-1, (), False),
        (LEAP, (), True),
        (LEAP + 1, (), False),
        (5, (4,), True),
        (4, (4,), False),
        (8, (7, 3), True),
        (7, (3, 7), False),
        (5, (7, 3), False),
        (7 + LEAP, (3, 7), True),
        (8 + LEAP, (3, 7), False),
        (CLOCK_LIMIT - 1, (CLOCK_LIMIT - 2,), True),
        (CLOCK_LIMIT, (CLOCK_LIMIT - 1,), False),
        (CLOCK_LIMIT - 1, (CLOCK_LIMIT - 1,), False),
        (2**54, (), False),
        (2**62, (2**62 - 1,), False),
    ],
)
def test_a_clock_is_valid_within_its_borders(clock: int, parent_clocks: tuple[int, ...], *, valid: bool) -> None:
    """SC-38, T23: a clock that no honest clone can reach is not valid, whoever judges it."""
    assert (graph.clock_fault(clock, parent_clocks) is None) == valid


@given(st.lists(st.integers(1, CLOCK_LIMIT - 2), max_size=4), st.integers(0, CLOCK_LIMIT))
def test_the_next_clock_is_always_valid(parent_clocks: list[int], accepted: int) -> None:
    clock = graph.next_clock(parent_clocks, accepted)
    assert graph.clock_fault(clock, parent_clocks) is None
    highest = max([accepted, *parent_clocks])
    assert clock == 1 + highest or highest - max(parent_clocks, default=0) >= LEAP or highest >= CLOCK_LIMIT - 1


def test_the_next_clock_stays_within_reach_of_its_parents() -> None:
    """A clone that has accepted very high clocks can still write into an old task."""
    assert graph.next_clock([7, 3], 9) == 10
    assert graph.next_clock([7, 3], 3 * LEAP) == 7 + LEAP
    assert graph.next_clock([], 3 * LEAP) == LEAP


def test_no_clock_is_left_above_the_largest() -> None:
    assert graph.next_clock([CLOCK_LIMIT - 2], 0) == CLOCK_LIMIT - 1
    with pytest.raises(OutsideDomain):
        graph.next_clock([CLOCK_LIMIT - 1], 0)


def test_ahead_begins_one_above_2_to_the_20() -> None:
    assert not graph.is_ahead(100 + AHEAD, 100)
    assert graph.is_ahead(101 + AHEAD, 100)
    assert AHEAD == 1 << 20


def test_what_rests_on_an_event_that_is_ahead_does_not_raise_our_clock() -> None:
    """UC-67, T23: one event from a far future moves neither our clock nor, through its children, later ones."""
    ahead = note("f", 2 * AHEAD, "a")
    first = graph.highest_raised([note("a", 1), note("b", 2, "a"), ahead], 1)
    assert first == Raised(2, frozenset([EventId("f")]))
    near = note("n", 2 * AHEAD - 5)
    child = note("c", 2 * AHEAD + 1, "f")
    later = graph.highest_raised([child, near], AHEAD, first.ahead)
    assert later == Raised(2 * AHEAD - 5, frozenset([EventId("c"), EventId("f")]))
    assert graph.highest_raised([ahead], later.highest, later.ahead).highest == later.highest


def test_a_long_row_of_ordinary_steps_is_accepted_whole() -> None:
    step = AHEAD // 2
    row = [note(f"{n:02}", 1 + n * step, *([f"{n - 1:02}"] if n else [])) for n in range(20)]
    assert graph.highest_raised(reversed(row), 0) == Raised(1 + 19 * step, frozenset())


@given(st.data(), st.lists(st.integers(1, 6), min_size=1, max_size=8))
def test_the_raised_clock_does_not_depend_on_the_order_of_arrival(data: st.DataObject, gaps: list[int]) -> None:
    clocks = [sum(gaps[: n + 1]) * (AHEAD // 4) for n in range(len(gaps))]
    events = [note(f"{n}", clock, *([f"{n - 1}"] if n else [])) for n, clock in enumerate(clocks)]
    raised = graph.highest_raised(data.draw(shuffled(events)), 0)
    assert raised == graph.highest_raised(events, 0)
    assert raised.highest == max(
        (c for c, s in zip(clocks, events, strict=True) if s.event_id not in raised.ahead), default=0
    )


@given(chains())
def test_chains_of_the_strategies_have_valid_clocks(chain: list[Sealed]) -> None:
    clocks = {sealed.event_id: sealed.event.clock for sealed in chain}

    def clocks_of(ids: Iterable[EventId]) -> list[int]:
        return [clocks[event_id] for event_id in ids]

    assert all(graph.clock_fault(s.event.clock, clocks_of(s.event.parents)) is None for s in chain)
    assert all(graph.next_clock(clocks_of(s.event.parents), 0) <= s.event.clock for s in chain)
