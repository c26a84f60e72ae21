"""Owners of many versions in little memory are the owners that a plain list would hold."""

from hypothesis import given
from hypothesis import strategies as st

from pogstore.history.vectors import AT_HAND, WHOLE_EVERY, Vector, Vectors, fold

Edit = tuple[int, int, int]
"""Where, in parts of the length, how many lines go, and how many come."""


def hunk(length: int, edit: Edit) -> tuple[int, int, int, int]:
    start = edit[0] % (length + 1)
    return start, min(edit[1], length - start), start, edit[2]


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=150))
def test_every_version_keeps_its_owners(edits: list[Edit]) -> None:
    vectors = Vectors()
    plain = [["a"] * 3]
    made: list[Vector] = [vectors.whole(plain[0])]
    for number, edit in enumerate(edits):
        hunks = [hunk(len(plain[-1]), edit)]
        plain.append(fold(plain[-1], hunks, str(number)))
        made.append(vectors.changed(made[-1], hunks, str(number)))
    assert [vectors.listed(each) for each in made] == plain
    his = [[at for at, owner in enumerate(owners) if owner == str(number)] for number, owners in enumerate(plain[1:])]
    assert [each.added for each in made] == [None, *his]
    assert [vectors.listed(each) for each in reversed(made)] == plain[::-1]


def test_a_version_that_gets_other_owners_takes_none_from_those_made_of_it() -> None:
    vectors = Vectors()
    base = vectors.whole(["a", "b"])
    made = vectors.changed(base, [(2, 0, 2, 1)], "c")
    for _ in range(2 * AT_HAND):
        vectors.whole(["x"])
    assert vectors.listed(made) == ["a", "b", "c"]
    assert vectors.listed(base) == ["a", "b"]


def test_few_lists_are_at_hand() -> None:
    vectors = Vectors()
    made = [vectors.whole([f"{line}" for line in range(100)])]
    for number in range(10 * AT_HAND):
        made.append(vectors.changed(made[-1], [(number % 100, 1, number % 100, 1)], "e"))
    assert sum(each._listed is not None for each in made) <= AT_HAND
    assert sum(each._base is None for each in made) == 10 * AT_HAND // WHOLE_EVERY + 1
