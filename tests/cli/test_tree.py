"""Trees drawn from any graph: each node whole once, cycles marked, nothing left out."""

import re
from collections.abc import Mapping

from hypothesis import given

from pogstore.cli._tree import MOST_INDENTED, Branch, tree
from tests.strategies import Dag, digraphs

Edges = Mapping[str, tuple[str, ...]]


def levels(edges: Edges, root: str) -> dict[str, int]:
    """How far each node is from the root."""
    found, level = {root: 0}, [root]
    while level:
        level = [other for node in level for other in edges[node] if other not in found]
        found |= {node: 1 + min(found[up] for up in found if node in edges[up]) for node in dict.fromkeys(level)}
        level = list(dict.fromkeys(level))
    return found


def drawn(edges: Edges, root: str) -> list[str]:
    """The lines below the root."""
    level = levels(edges, root)
    return list(tree(root, lambda node: [Branch(other, other) for other in edges[node]], level))


def test_what_a_tree_looks_like() -> None:
    edges = {"a": ("b", "c"), "b": ("d",), "c": ("d", "a"), "d": ("e",), "e": ()}
    assert drawn(edges, "a") == [
        "├─ b",
        "│  └─ d",
        "│     └─ e",
        "└─ c",
        "   ├─ d (above)",
        "   └─ a (a cycle: above)",
    ]


def test_a_node_that_is_nearer_elsewhere_is_drawn_there() -> None:
    edges = {"a": ("b", "c"), "b": ("c",), "c": ("d",), "d": ()}
    assert drawn(edges, "a") == ["├─ b", "│  └─ c (below)", "└─ c", "   └─ d"]


@given(digraphs())
def test_every_node_is_drawn_whole_once_and_every_edge_is_shown(digraph: Dag) -> None:
    """RC-56: cycles neither blow up nor hide anything."""
    root = min(digraph, default="")
    digraph = {"": (), **digraph}
    lines = drawn(digraph, root)
    reached = levels(digraph, root)
    names = [match[1] for line in lines if (match := re.search(r"─ (\w+)$", line))]
    assert sorted(names) == sorted(reached.keys() - {root})
    assert len(lines) == sum(len(digraph[node]) for node in reached)


def test_a_deep_chain_needs_no_recursion_and_no_endless_lines() -> None:
    edges = {str(n): (str(n + 1),) for n in range(20_000)} | {"20000": ()}
    lines = list(tree("0", lambda node: [Branch(other, other) for other in edges[node]], {n: int(n) for n in edges}))
    assert len(lines) == 20_000
    assert max(map(len, lines)) < 4 * MOST_INDENTED
    assert lines[-1].endswith("└─ (20000) 20000")
