import pytest
from hypothesis import given
from hypothesis import strategies as st

from pogstore.draft import derived_task_id
from pogstore.interop.pog_fields import Fields, Value
from pogstore.interop.pog_links import MAX_LINKS, NIL, Edges, link_oddities, links, task_id_of
from pogstore.model import Link, TaskId
from tests.interop.pog import ID, OTHER, ROOT, as_file, clean, read, without


def subject(name: str, **fields: Value) -> Edges:
    return Edges(task_id_of(name, ROOT), name, fields)


def named(*pairs: tuple[str, str]) -> tuple[Link, ...]:
    return tuple(Link(rel=rel, task=task_id_of(name, ROOT)) for rel, name in pairs)


def details(*subjects: Edges) -> list[tuple[str, str]]:
    return [(each.code, each.detail) for each in link_oddities(subjects, ROOT)]


def test_ids_are_kept_or_derived() -> None:
    """I-01, I-02, I-03, I-05."""
    assert task_id_of(ID.upper(), ROOT) == ID
    assert task_id_of("e5d4c3b2-a1f0-9e8d-7c6b-5a4f3e2d1c0b", ROOT) == "e5d4c3b2-a1f0-9e8d-7c6b-5a4f3e2d1c0b"
    for raw in (NIL, "1", "a1b2c3d4-e5f6-g7h8-i9j0-k1l2m3n4o5p6", ID.replace("-", ""), f"{{{ID}}}", f" {ID}"):
        assert task_id_of(raw, ROOT) == derived_task_id("pog-task", ROOT, raw) != task_id_of(raw, "cd" * 20)


def test_derived_ids_never_change() -> None:
    assert derived_task_id("pog-task", ROOT, "PARENT-1") == "067ac364-ce84-5532-8f43-8406127903f3"
    assert derived_task_id("pog-task", ROOT, "parent-1") == derived_task_id("pog-task", ROOT, "PARENT-1")


def test_edges_in_the_order_of_the_fields() -> None:
    made = subject("a", blocking=["d"], dependencies=["b", "c", "b", "", None], parent_task="p")
    assert links([made], ROOT) == [named(("parent", "p"), ("depends_on", "b"), ("depends_on", "c"), ("blocks", "d"))]


def test_a_link_to_itself_is_left_out() -> None:
    """I-28."""
    made = subject("a", parent_task="A", dependencies=["a"], blocking=["a"], subtasks=["a"])
    assert links([made], ROOT) == [()]
    assert {code for code, _ in details(made)} == {"I-28"}


def test_subtasks_are_parents_of_the_children() -> None:
    """I-29: the union of both sides."""
    parent, child, silent = (
        subject("p", subtasks=["c", "gone"]),
        subject("c", parent_task="q"),
        subject("s", parent_task="p"),
    )
    assert links([parent, child, silent], ROOT) == [(), named(("parent", "q"), ("parent", "p")), named(("parent", "p"))]
    assert {code for code, _ in details(parent, child, silent)} == {"I-28", "I-29"}
    assert len([1 for code, _ in details(parent, child, silent) if code == "I-29"]) == 2


def test_what_is_mirrored_is_not_reported() -> None:
    assert not details(subject("a", dependencies=["b"]), subject("b", blocking=["a"]))


@pytest.mark.parametrize(
    ("subjects", "detail"),
    [
        ([subject("a", dependencies=["b"]), subject("b")], "does not say that it blocks this"),
        ([subject("a", blocking=["b"]), subject("b")], "does not say that it depends on this"),
        ([subject("a", dependencies=["gone"])], "which is not there"),
        (
            [subject("a", dependencies=["p"], parent_task="p"), subject("p", blocking=["a"])],
            "depends on its own parent",
        ),
    ],
)
def test_odd_edges(subjects: list[Edges], detail: str) -> None:
    """I-28."""
    assert any(code == "I-28" and detail in found for code, found in details(*subjects))


def test_cycles_are_named_and_nothing_loops() -> None:
    """I-28."""
    ring = [subject(str(n), dependencies=[str((n + 1) % 500)]) for n in range(500)]
    outside = subject("out", dependencies=["0"])
    found = [each.where for each in link_oddities([*ring, outside], ROOT) if "cycles" in each.detail]
    assert sorted(found) == sorted(str(n) for n in range(500))
    mixed = details(subject("a", blocking=["b"], dependencies=["b"]), subject("b"))
    assert len([1 for _, found_detail in mixed if "cycles of dependencies" in found_detail]) == 2
    parents = details(subject("a", parent_task="b"), subject("b", parent_task="a"))
    assert len([1 for _, found_detail in parents if "cycles of parents" in found_detail]) == 2


@given(st.lists(st.lists(st.integers(0, 7), max_size=4), max_size=8))
def test_any_graph_is_taken(graph: list[list[int]]) -> None:
    subjects = [subject(str(n), dependencies=[str(other) for other in others]) for n, others in enumerate(graph)]
    for own, found in zip(subjects, links(subjects, ROOT), strict=True):
        assert own.task not in {link.task for link in found}
    reachable = {n: _reached(graph, n) for n in range(len(graph))}
    cyclic = {str(n) for n, others in reachable.items() if n in others and _reached(graph, n, own=False)}
    reported = {each.where for each in link_oddities(subjects, ROOT) if "cycles" in each.detail}
    assert cyclic <= reported


def _reached(graph: list[list[int]], start: int, *, own: bool = True) -> set[int]:
    """Returns what is reached from a node over edges to others that are there."""
    found: set[int] = set()
    ready = [start]
    while ready:
        node = ready.pop()
        for other in graph[node]:
            if other < len(graph) and other != node and other not in found:
                found.add(other)
                ready.append(other)
    return found


def test_links_stay_within_what_an_event_bears() -> None:
    made = subject("a", dependencies=[str(n) for n in range(MAX_LINKS + 5)])
    assert len(links([made], ROOT)[0]) == MAX_LINKS
    assert any("links, of which" in detail for _, detail in details(made))


def test_the_defined_draft_carries_them() -> None:
    reading = read(as_file(clean(dependencies=[OTHER])), as_file(without(id=OTHER), "list/web/login/b.yaml"))
    tasks = {task.task: task for task in reading.tasks}
    assert tasks[TaskId(ID)].drafts[0].links == (Link(rel="depends_on", task=TaskId(OTHER)),)


def test_fields_of_any_shape() -> None:
    odd: Fields = {"dependencies": {"id": "x"}, "blocking": "b", "parent_task": ["p"], "subtasks": None}
    assert links([Edges(TaskId(ID), "a", odd)], ROOT) == [named(("parent", "p"), ("blocks", "b"))]
