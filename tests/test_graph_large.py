"""Order, ancestry and cycles of up to 100,000 events: chains, fans and any DAG, against sweeps over an array.

The sweeps know the place of every event in a topological order, and mark places instead of following edges.
"""

from collections.abc import Iterable
from random import Random
from typing import NamedTuple

import pytest

from pogstore import graph
from tests.strategies import Dag

SHAPES = {"chain": 2_000, "fan": 2_000, "ladder": 2_000, "random": 100_000}
"""How many events of each shape: chains of 100,000 are walked in `test_graph.py`."""


class Large(NamedTuple):
    """A DAG in a topological order: `above` has the places of the parents of each place."""

    names: list[str]
    above: list[tuple[int, ...]]
    dag: Dag

    def clocks(self) -> dict[str, int]:
        """The clock of each event: one above its parents."""
        clocks: list[int] = []
        for places in self.above:
            clocks.append(1 + max((clocks[place] for place in places), default=0))
        return dict(zip(self.names, clocks, strict=True))

    def marked_above(self, start: int) -> set[str]:
        """What a place rests on, by one sweep downward."""
        marks = bytearray(len(self.above))
        marks[start] = 1
        for place in range(start, -1, -1):
            if marks[place]:
                for parent in self.above[place]:
                    marks[parent] = 1
        return {self.names[place] for place in range(start) if marks[place]}

    def marked_below(self, start: int) -> set[str]:
        """What rests on a place, by one sweep upward."""
        marks = bytearray(len(self.above))
        marks[start] = 1
        for place in range(start + 1, len(self.above)):
            marks[place] = any(marks[parent] for parent in self.above[place])
        return {self.names[place] for place in range(start + 1, len(self.above)) if marks[place]}


def made(shape: str, random: Random) -> Large:
    """A DAG of one shape; names tell nothing of the order."""
    many = SHAPES[shape]
    names = [f"{random.getrandbits(64):016x}" for _ in range(many)]
    above = [tuple(sorted(set(_parents(shape, place, many, random)))) for place in range(many)]
    dag = {names[place]: tuple(sorted(names[parent] for parent in above[place])) for place in range(many)}
    return Large(names, above, dag)


def _parents(shape: str, place: int, many: int, random: Random) -> Iterable[int]:
    if place == 0 or (shape == "random" and random.random() < 0.001):
        return ()
    if shape == "chain":
        return (place - 1,)
    if shape == "fan":  # one root, as many heads as there are events, and one event that joins half of them
        return range(1, many // 2) if place == many - 1 else (0,)
    if shape == "ladder":  # two heads that meet at every third event
        return (place - 1, max(0, place - 2)) if place % 3 == 0 else (max(0, place - 2),)
    near = (random.randrange(max(0, place - 50), place) for _ in range(random.randrange(1, 4)))
    return (*near, random.randrange(place))


@pytest.mark.parametrize("shape", SHAPES)
def test_answers_agree_with_sweeps(shape: str) -> None:
    """RC-50: whatever the order in which the events are met."""
    random = Random(f"{shape} of many")
    large = made(shape, random)
    many = len(large.names)
    dag, parents, clocks = large.dag, large.dag.__getitem__, large.clocks()
    shuffled = random.sample(large.names, many)

    ordered = graph.order((clocks[name], name) for name in shuffled)
    assert ordered == sorted(large.names, key=lambda name: (clocks[name], name))
    place_of = {name: place for place, name in enumerate(ordered)}
    assert all(place_of[parent] < place_of[name] for name in ordered for parent in dag[name])
    named = {parent for own in dag.values() for parent in own}
    assert graph.heads(shuffled, parents) == tuple(sorted(dag.keys() - named))
    assert graph.missing_parents(shuffled[: many // 2], parents) == tuple(
        sorted({parent for name in shuffled[: many // 2] for parent in dag[name]} - set(shuffled[: many // 2]))
    )

    one, other = many - 1, many - 1 - random.randrange(1, 9)
    above, above_other = large.marked_above(one), large.marked_above(other)
    assert graph.ancestors([large.names[one]], parents) == above
    by_parent = graph.children(shuffled, parents)
    low = random.randrange(9)
    assert graph.descendants([large.names[low]], by_parent) == large.marked_below(low)
    for name in random.sample(large.names, 5):
        assert graph.is_ancestor(name, large.names[one], parents, clocks.__getitem__) == (name in above)

    common = ({large.names[one]} | above) & ({large.names[other]} | above_other)
    best = common - {parent for name in common for parent in dag[name]}
    assert graph.merge_bases(large.names[one], large.names[other], parents) == tuple(sorted(best))


@pytest.mark.parametrize("shape", SHAPES)
def test_one_edge_back_is_found_and_survived(shape: str) -> None:
    """RC-56: links that close a cycle over 100,000 tasks; every walk ends, and the report is the same from anywhere."""
    random = Random(shape)
    large = made(shape, random)
    many = len(large.names)
    assert graph.find_cycle(large.names, large.dag.__getitem__) is None
    above = large.marked_above(many - 1)
    last, first = large.names[-1], next(name for name in large.names if name in above)
    assert graph.closes_cycle(first, last, large.dag.__getitem__)
    assert graph.closes_cycle(last, large.names[many // 3], large.dag.__getitem__) == (
        last in large.marked_above(many // 3)
    )
    edges = (large.dag | {first: (*large.dag[first], last)}).__getitem__
    cycle = graph.find_cycle(random.sample(large.names, many), edges)
    assert cycle is not None
    assert {first, last} <= set(cycle)
    assert len(set(cycle)) == len(cycle)
    assert all(after in edges(before) for before, after in zip(cycle, cycle[1:] + cycle[:1], strict=True))
    assert cycle[0] == min(cycle)
    assert cycle == graph.find_cycle(large.names, edges)
    assert {first, last} <= set(graph.reach([first], edges))
