"""Names of tasks and events: how short one may be."""

from hypothesis import given
from hypothesis import strategies as st

from pogstore.history.names import shortest

IDS = st.lists(st.text("01ab", min_size=12, max_size=12), unique=True, min_size=1).map(sorted)


@given(IDS, st.data())
def test_the_shortest_prefix_is_unique_and_no_shorter_one_is(ids: list[str], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(ids))
    prefix = shortest(ids, name, 2)
    assert name.startswith(prefix)
    assert [other for other in ids if other.startswith(prefix)] == [name]
    if len(prefix) > 2:
        assert len([other for other in ids if other.startswith(prefix[:-1])]) > 1


def test_an_id_that_is_in_no_list_is_told_from_all_in_it() -> None:
    assert shortest(["aabb0000", "aabbcc00"], "aabbcc11", 2) == "aabbcc1"
    assert shortest([], "aabbcc11", 2) == "aa"
