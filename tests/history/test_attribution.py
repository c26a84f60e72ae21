"""Attribution from content alone: a small world of versions, and the invariants of the algorithm."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pogstore.history.attribution import WINDOW
from pogstore.history.claims import marked, rule_of
from pogstore.history.explanation import MOVE, TELLING, UNKNOWN, Owner, blocks, fold
from pogstore.history.lines import is_trivial, normal, split
from pogstore.history.stream import SLACK, EventStep, Kind, told_old
from pogstore.store.libgit2 import line_hunks
from tests.history.worlds import MINUTE, World, text

KINDS_THAT_BRING_BACK: tuple[Kind, ...] = ("shell", "observed")
A, B, C, D = ("a" * 64, "b" * 64, "c" * 64, "d" * 64)
ONE, TWO, THREE = ("1" * 40, "2" * 40, "3" * 40)


BASE = text("alpha line of the base", "beta line of the base", "gamma line of the base")


def begun() -> World:
    world = World()
    world.commit(ONE, BASE)
    return world


def test_an_event_owns_what_it_adds_and_nothing_else() -> None:
    world = begun()
    after = BASE + text("delta line of the agent")
    world.event(A, BASE, after)
    assert world.owners(after) == [ONE] * 3 + [A]
    assert world.owners(BASE) == [ONE] * 3, "the older version keeps its owners"


def test_a_commit_of_the_event_s_content_leaves_it_its_lines() -> None:
    world = begun()
    after = BASE + text("delta line of the agent")
    world.event(A, BASE, after)
    world.commit(TWO, after, BASE)
    assert world.owners(after) == [ONE] * 3 + [A]


def test_a_person_s_lines_in_the_same_commit_are_the_commit_s() -> None:
    """Case PC-19: a line changed outside any event is not the agent's."""
    world = begun()
    after = BASE + text("delta line of the agent")
    world.event(A, BASE, after)
    committed = text("a person's own first line") + after
    world.commit(TWO, committed, BASE)
    assert world.owners(committed) == [TWO] + [ONE] * 3 + [A]


def test_partial_commits_credit_each_hunk_once() -> None:
    """Cases PC-10 and PC-11: one edit with two hunks, committed in two commits."""
    world = begun()
    after = text("first hunk by the agent") + BASE + text("second hunk by the agent")
    world.event(A, BASE, after)
    half = text("first hunk by the agent") + BASE
    world.commit(TWO, half, BASE)
    world.commit(THREE, after, half)
    assert world.owners(half) == [A] + [ONE] * 3
    assert world.owners(after) == [A] + [ONE] * 3 + [A]


def test_a_rebase_onto_a_changed_file_keeps_the_agent_s_lines() -> None:
    """Cases PC-01 and UC-19: new commits, no hook, other content around the agent's lines."""
    world = begun()
    after = BASE + text("delta line of the agent", "epsilon line of the agent")
    world.event(A, BASE, after)
    world.commit(TWO, after, BASE)
    upstream = text("a new head line from upstream") + BASE
    world.commit(THREE, upstream, BASE)
    rebased = text("a new head line from upstream") + after
    world.commit("4" * 40, rebased, upstream, authored=world.now - MINUTE)
    assert world.owners(rebased) == [THREE] + [ONE] * 3 + [A, A]


def test_pulled_lines_are_never_the_agent_s() -> None:
    """Cases PC-20 and UC-20: lines that came with a pull between two steps."""
    world = begun()
    one = BASE + text("delta line of the agent")
    world.event(A, BASE, one)
    world.commit(TWO, text("pulled line nobody here wrote") + BASE, BASE)
    pulled = text("pulled line nobody here wrote") + one
    two = pulled + text("epsilon line of the agent")
    world.event(B, pulled, two)
    assert world.owners(two)[1:] == [ONE] * 3 + [A, B]
    assert world.owners(two)[0] not in (A, B)


def test_a_later_event_is_never_the_owner_of_an_older_commit() -> None:
    """Invariant I4."""
    world = begun()
    after = BASE + text("delta line that stood there before")
    world.commit(TWO, after, BASE)
    world.now += SLACK * 2
    world.event(A, BASE, after)
    assert world.owners(after) == [ONE] * 3 + [TWO]


def test_an_undo_gives_the_lines_back_and_a_redo_gives_them_to_the_later_call() -> None:
    """Invariant I13."""
    world = begun()
    after = BASE + text("delta line of the agent")
    world.event(A, BASE, after)
    world.event(B, after, BASE)
    assert world.owners(BASE) == [ONE] * 3, "an undo leaves the owners of what was there before"
    world.event(C, BASE, after)
    assert world.owners(after) == [ONE] * 3 + [C], "done again: the later call has it"


def test_an_event_without_a_change_takes_nothing_over() -> None:
    """Case PC-17."""
    world = begun()
    world.event(A, BASE, BASE)
    assert world.owners(BASE) == [ONE] * 3


def test_interleaved_sessions_have_their_own_lines() -> None:
    """Case PC-22: two agents in one file."""
    world = begun()
    one = BASE + text("thirtieth line by the first agent")
    two = text("fifth line by the second agent") + one
    world.event(A, BASE, one, chain="first")
    world.event(B, one, two, chain="second")
    assert world.owners(two) == [B] + [ONE] * 3 + [A]


def test_white_space_alone_leaves_an_event_its_lines() -> None:
    """Case PC-16 and invariant I11: a formatter that only moves white space."""
    world = begun()
    after = BASE + text("if ready(agent_state):", "run(agent_state)")
    world.event(A, BASE, after)
    world.commit(TWO, after, BASE)
    formatted = BASE + text("if ready( agent_state ):", "    run(agent_state)")
    world.commit(THREE, formatted, after)
    assert world.owners(formatted) == [ONE] * 3 + [A, A]


def test_a_line_that_stands_where_it_stood_has_not_become_another() -> None:
    """A person writes the agent's line once more, with other white space: that one is the person's."""
    world = begun()
    after = BASE + text("delta line of the agent")
    world.event(A, BASE, after)
    world.commit(TWO, after, BASE)
    again = BASE + text("    delta line of the agent", "a person's own line", "delta line of the agent")
    world.commit(THREE, again, after)
    assert world.owners(again) == [ONE] * 3 + [THREE, THREE, A]


def test_white_space_around_a_bracket_alone_leaves_nobody_anything() -> None:
    """What stands in every file, alone among changed lines, is no line that somebody only moved to the right."""
    world = begun()
    after = BASE + text("if delta {", "}")
    world.event(A, BASE, after)
    world.commit(TWO, after, BASE)
    again = BASE + text("while epsilon {", "    }")
    world.commit(THREE, again, after)
    assert world.owners(again) == [ONE] * 3 + [THREE, THREE]


def test_a_gap_is_nobody_s() -> None:
    world = begun()
    one = BASE + text("delta line of the agent")
    world.event(A, BASE, one)
    typed = one + text("typed by a person between two steps")
    two = typed + text("epsilon line of the agent")
    world.event(B, typed, two)
    assert world.owners(two) == [ONE] * 3 + [A, UNKNOWN, B]
    world.commit(TWO, two, BASE)
    assert world.owners(two) == [ONE] * 3 + [A, TWO, B], "once committed, the line is the commit's"


def test_what_nobody_saw_before_starts_from_the_newest_version() -> None:
    world = begun()
    after = BASE + text("delta line of the agent")
    world.event(A, None, after, unsure=True)
    assert world.owners(after) == [ONE] * 3 + [A]


def test_a_new_file_and_a_deleted_one() -> None:
    world = World()
    world.event(A, None, BASE)
    assert world.owners(BASE) == [A] * 3
    world.event(B, BASE, None)
    world.event(C, None, BASE)
    assert world.owners(BASE) == [C] * 3


def test_absent_contents_are_reported_and_claim_nothing() -> None:
    world = begun()
    world.event(A, BASE, "absent:1")
    world.event(B, "absent:1", BASE + text("delta line of the agent"))
    assert world.absent() == [A, B]
    assert world.owners(BASE) == [ONE] * 3


def test_old_work_is_not_near_new_commits() -> None:
    world = begun()
    after = BASE + text("delta line of an agent long ago")
    world.event(A, BASE, after)
    world.now += 2 * WINDOW
    committed = text("another head line") + after
    world.commit(TWO, committed, BASE)
    assert world.owners(committed) == [TWO] + [ONE] * 3 + [TWO]


def test_old_work_comes_back_by_a_command_if_there_is_much_of_it() -> None:
    """A stash that is popped after a week; boilerplate of few letters is not taken for it."""
    for lines, owner in ((1, C), (8, A)):
        world = begun()
        after = BASE + text(*[f"line {n} of an agent long ago" for n in range(lines)])
        world.event(A, BASE, after)
        world.event(B, after, BASE)
        world.now += 2 * WINDOW
        upstream = text("another head line") + BASE
        world.commit(TWO, upstream, BASE)
        popped = text("another head line") + after
        world.event(C, upstream, popped, kind="shell")
        assert world.owners(popped) == [TWO] + [ONE] * 3 + [owner] * lines


def test_moved_blocks_keep_their_event() -> None:
    """A block that no diff aligns, since what it jumped over is longer."""
    world = World()
    base = text(*[f"line {n} of the base" for n in range(9)])
    agent = text("def moved_by_a_person(agent):", "    return agent.words_of_its_own()", "}")
    world.commit(ONE, base)
    world.event(A, base, base + agent)
    world.commit(TWO, agent + base, base)
    assert world.owners(agent + base) == [A] * 3 + [ONE] * 9


def test_moved_blocks_are_weak_evidence() -> None:
    """They are nobody's who came after the work was done, or of whose work a commit has some already."""
    base = text(*[f"line {n} of the base" for n in range(9)])
    agent = text("def moved_by_a_person(agent):", "    return agent.words_of_its_own()", "}")
    amended, landed = World(), World()
    for world in (amended, landed):
        world.commit(ONE, base)
    authored = amended.now
    amended.event(A, base, base + agent)
    amended.commit(TWO, agent + base, base, authored=authored - 2 * SLACK)
    assert amended.owners(agent + base) == [TWO] * 3 + [ONE] * 9
    landed.event(A, base, base + agent + text("one more line of the agent"))
    landed.commit(TWO, base + text("one more line of the agent"), base)
    landed.commit(THREE, base, base + text("one more line of the agent"))
    moved = agent + base
    landed.commit("4" * 40, moved, base)
    assert landed.owners(moved) == ["4" * 40] * 3 + [ONE] * 9


def test_a_line_that_stands_already_is_not_given_away_once_more() -> None:
    """Invariant I5: what the parents had counts."""
    world = begun()
    line = "repeated_call(of_the_agent, with_words)"
    world.event(A, BASE, BASE + text(line))
    world.commit(TWO, text(line) + BASE, BASE)
    world.commit(THREE, text(line) + BASE + text(line), text(line) + BASE)
    assert world.owners(text(line) + BASE + text(line)) == [A] + [ONE] * 3 + [THREE]


def test_what_a_command_brings_back_keeps_even_lines_that_say_nothing() -> None:
    """A known content is told by its hash alone; nothing is explained."""
    for kind in KINDS_THAT_BRING_BACK:
        world = begun()
        after, other = BASE + text("}"), text("other") + BASE
        world.event(A, BASE, after)
        world.event(B, BASE, other)
        world.event(C, other, after, kind=kind)
        assert world.owners(after) == [ONE] * 3 + [A]


@pytest.mark.parametrize(("line", "owner"), [("size = 2", TWO), ("s" * (MOVE - 1), TWO), ("s" * MOVE, A)])
def test_blocks_of_few_letters_are_not_taken_for_moved(line: str, owner: Owner) -> None:
    world = World()
    base = text(*[f"line {n} of the base" for n in range(9)])
    world.commit(ONE, base)
    world.event(A, base, base + text(line))
    moved = text(line) + base
    world.commit(TWO, moved, base)
    assert world.owners(moved) == [owner] + [ONE] * 9


@pytest.mark.parametrize(
    ("line", "is_in_base", "owner"),
    [("if err != nil:", True, TWO), ("t" * (TELLING - 1), True, TWO), ("t" * TELLING, True, A), ("size = 2", False, A)],
)
def test_a_few_letters_that_stood_elsewhere_say_nothing_of_who_wrote_them(
    line: str, *, is_in_base: bool, owner: Owner
) -> None:
    """A person writes between lines of his own what an agent wrote there between others."""
    world = World()
    base = text(*([line] if is_in_base else []), *BASE.splitlines())
    world.commit(ONE, base)
    world.event(A, base, base + text("delta line of the agent", line, "epsilon line of the agent"))
    committed = base + text("a line of a person", line, "another line of a person")
    world.commit(TWO, committed, base)
    assert world.owners(committed)[-3:] == [TWO, owner, TWO]


def test_a_few_letters_that_stood_elsewhere_are_the_agent_s_beside_a_line_that_stood_there() -> None:
    world = World()
    base = text("aa = 1", "bb = 2")
    world.commit(ONE, base)
    world.event(A, base, base + text("aa = 1"))
    committed = text("a person's own first line") + base + text("aa = 1")
    world.commit(TWO, committed, base)
    assert world.owners(committed) == [TWO, ONE, ONE, A]


@pytest.mark.parametrize("indent", ["", "    "])
def test_few_letters_among_known_lines_are_found_in_a_version_that_is_no_leaf(indent: str) -> None:
    """Also if they are indented in the meantime."""
    world = begun()
    head, tail = BASE.splitlines()[:2], BASE.splitlines()[2]
    one = text(*head, "size = 2", tail)
    world.event(A, BASE, one)
    world.event(B, one, BASE)
    committed = text("another head line", *head, f"{indent}size = 2", tail)
    world.commit(TWO, committed, BASE)
    assert world.owners(committed) == [TWO, ONE, ONE, A, ONE]


def test_lines_of_a_version_that_is_no_leaf_any_more_are_found_by_their_text() -> None:
    world = begun()
    one = BASE + text("delta line of the agent, with words of its own")
    world.event(A, BASE, one)
    world.event(B, one, BASE)
    committed = text("another head line") + one
    world.commit(TWO, committed, BASE)
    assert world.owners(committed) == [TWO] + [ONE] * 3 + [A]


def test_few_letters_are_enough_only_among_lines_that_were_there() -> None:
    """Support: once an event has landed, what it wrote comes back by chance too."""
    for at, owner in ((4, A), (0, THREE)):
        world = begun()
        after = BASE + text("size = 2")
        world.event(A, BASE, after)
        world.commit(TWO, after, BASE)
        world.commit(TWO.replace("2", "4"), BASE, after)
        world.event(B, BASE, text("first") + BASE)  # so that the content is no old one
        lines = ["first", *BASE.splitlines()]
        lines.insert(at, "size = 2")
        world.commit(THREE, text(*lines), BASE)
        assert dict(zip(lines, world.owners(text(*lines)), strict=True))["size = 2"] == owner


def test_a_file_moved_by_writing_it_keeps_its_owners() -> None:
    """A new file that has much of what is there under another name."""
    world = World()
    old = text(*[f"line {n} of some length" for n in range(10)])
    world.commit(ONE, old)
    new = old + text("one line more")
    world.event(A, None, new, chain="new name")
    assert world.owners(new) == [ONE] * 10 + [A]


def test_supply_bounds_claims() -> None:
    """Invariant I5: a line that an event wrote once is given away once."""
    world = begun()
    line = "repeated_call(of_the_agent)"
    world.event(A, BASE, BASE + text(line))
    world.commit(TWO, text(line) + BASE + text(line), BASE)
    assert world.owners(text(line) + BASE + text(line)).count(A) == 1


def test_blank_lines_between_claims_go_with_the_one_above() -> None:
    world = begun()
    agent = text(
        "def first_of_agent():", "    return 1_000_001", "", "", "def second_of_agent():", "    return 2_000_002"
    )
    world.event(A, BASE, BASE + agent)
    committed = text("head by a person") + BASE + agent
    world.commit(TWO, committed, BASE)
    assert world.owners(committed) == [TWO] + [ONE] * 3 + [A] * 6


def test_a_merge_of_two_branches_keeps_both_sides() -> None:
    """Case PC-07."""
    world = begun()
    left = text("left line of the first agent") + BASE
    right = BASE + text("right line of the second agent")
    world.event(A, BASE, left, chain="l")
    world.commit(TWO, left, BASE)
    world.event(B, BASE, right, chain="r")
    world.commit(THREE, right, BASE)
    merged = text("left line of the first agent") + right
    world.commit("4" * 40, merged, left, right)
    assert world.owners(merged) == [A] + [ONE] * 3 + [B]


LINES = st.lists(st.integers(0, 10**6).map(lambda n: f"unique line number {n} of this text"), unique=True, max_size=8)


def matches(old: bytes, new: bytes) -> list[tuple[int, int]]:
    """Returns the lines that a diff leaves unchanged, as (new, old) line numbers."""
    return [pair for block in blocks(line_hunks(old, new), len(split(new))) for pair in block]


@given(LINES, st.lists(LINES, min_size=1, max_size=5))
def test_chain_of_events_over_unique_lines(base: list[str], versions: list[list[str]]) -> None:
    """Invariants I1, I2, I3, I8: as many owners as lines; a line is the last event's that added it."""
    world = World()
    world.commit(ONE, text(*base))
    owners: dict[str, Owner] = dict.fromkeys(base, ONE)
    chain = [base, *versions]
    for number, (before, after) in enumerate(pairwise(chain)):
        event = f"{number:064x}"
        if text(*after) in [text(*earlier) for earlier in chain[: number + 1]]:
            return  # a content that was there before is told in the tests of undo and redo
        world.event(event, text(*before), text(*after))
        kept = {after[new] for new, _ in matches(text(*before).encode(), text(*after).encode())}
        owners = {line: owners[line] if line in kept else event for line in after}
    assert world.owners(text(*chain[-1])) == [owners[line] for line in chain[-1]]


@given(LINES, st.integers(0, 8), LINES)
def test_unique_lines_inserted_outside_change_no_owner(base: list[str], at: int, more: list[str]) -> None:
    """Invariant I9: in the work tree and by a commit."""
    world = begun()
    agent = [f"agent's {line}" for line in base]
    after = BASE + text(*agent)
    world.event(A, BASE, after)
    lines = after.splitlines()
    at = min(at, len(lines))
    mixed = text(*lines[:at], *[f"person's {line}" for line in more], *lines[at:])
    before = dict(zip(lines, world.owners(after), strict=True))
    in_tree = dict(zip(mixed.splitlines(), world.owners(mixed, BASE), strict=True))
    world.commit(TWO, mixed, BASE)
    committed = dict(zip(mixed.splitlines(), world.owners(mixed), strict=True))
    for line in lines:
        assert committed[line] == before[line]
        assert in_tree[line] == before[line]


@given(st.binary(max_size=40), st.binary(max_size=40))
def test_blocks_pair_equal_lines(old: bytes, new: bytes) -> None:
    before, after = split(old), split(new)
    assert all(after[at] == before[was] for at, was in matches(old, new))
    assert all(pair for block in blocks(line_hunks(old, new), len(after)) for pair in [block])


@given(st.binary(max_size=40), st.binary(max_size=40))
def test_fold_gives_one_owner_a_line(old: bytes, new: bytes) -> None:
    """Invariant I2."""
    owners = fold([ONE] * len(split(old)), line_hunks(old, new), A)
    assert len(owners) == len(split(new))
    if not is_trivial(normal(old)):
        assert set(owners) <= {ONE, A}


def test_owners_tell_by_which_rule_they_have_a_line() -> None:
    """Asked to explain, an owner equals what it is without being asked."""
    world = begun()
    after = BASE + text("delta line of the agent", "epsilon line of the agent")
    world.event(A, BASE, after)
    upstream = text("a new head line from upstream") + BASE
    world.commit(TWO, upstream, BASE)
    rebased = text("a new head line from upstream") + after
    world.commit(THREE, rebased, upstream, authored=world.now - MINUTE)
    world.commit("4" * 40, after, rebased)
    found = world.owners(rebased, explained=True)
    assert found == world.owners(rebased) == [TWO] + [ONE] * 3 + [A, A]
    assert [rule_of(owner, is_recorded=False) for owner in found[-2:]] == ["near", "near"]
    assert {rule_of(owner, is_recorded=True) for owner in world.owners(after, explained=True)[-2:]} == {"hash"}


def test_who_has_a_line_by_a_rule_keeps_the_one_that_is_least_sure() -> None:
    near = marked(A, "near")
    assert (near, rule_of(near, is_recorded=True)) == (A, "near")
    assert rule_of(marked(near, "moved"), is_recorded=True) == "moved"
    assert rule_of(marked(marked(A, "moved"), "index"), is_recorded=True) == "moved"
    assert rule_of(A, is_recorded=False) == "bound"


CONTENTS = st.lists(st.sampled_from(["", "}", "x = 1", "a line that says much", "another"]), max_size=6).map(
    lambda lines: text(*lines)
)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(CONTENTS, st.booleans()), min_size=1, max_size=4),
    st.lists(st.tuples(CONTENTS, st.booleans(), st.integers(0, 4), st.booleans()), min_size=1, max_size=7),
)
def test_which_of_the_old_commits_has_a_line_matters_to_no_event(
    early: list[tuple[str, bool]], late: list[tuple[str, bool, int, bool]]
) -> None:
    """Commits, some beside each other, then edits and commits that go on from any version, some of them unsure."""
    world = World()
    contents: list[str] = []
    for number, (content, merges) in enumerate(early):
        parents = (contents[-1:] + contents[-2:-1]) if merges else contents[:1]
        world.commit(f"{number:040x}", content, *parents)
        contents.append(content)
    world.now += MINUTE
    for number, (content, commits, behind, unsure) in enumerate(late, len(early)):
        before = contents[-1 - behind % len(contents)]
        if commits:
            world.commit(f"{number:040x}", content, before, *contents[-1:])
        else:
            world.event(f"{number:064x}", None if unsure else before, content, unsure=unsure)
        contents.append(content)
    each, told = world.replayed(), World()
    told.steps = told_old(world.steps)
    assert not any(isinstance(step, EventStep) for step in world.steps) or told.steps[0] != world.steps[0]
    found = told.replayed()
    for content in contents:
        owners = [
            [owner if len(owner) == 64 else "" for owner in one.owners(content, content.encode(), [], world.now)]
            for one in (each, found)
        ]
        assert owners[0] == owners[1]
    assert found.absent == each.absent


def test_commits_are_not_old_where_a_command_may_bring_their_lines_back() -> None:
    world = World()
    world.commit("c" * 40, text("a"))
    world.event("e" * 64, text("a"), text("b"))
    assert told_old(world.steps)[0] == world.steps[0], "a commit of the same moment may hold the event's lines"
    world.now += MINUTE
    world.steps[1] = world.steps[1]._replace(time=world.now)
    assert told_old(world.steps)[0] == world.steps[0]._replace(is_old=True)  # type: ignore[call-arg]
    world.event("f" * 64, text("b"), text("a"), kind="shell")
    assert told_old(world.steps) == world.steps
