"""What each kind means: every transition, claims, checks, reviews, parts, echoes and what is shown as concurrent."""

from functools import partial
from itertools import permutations
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from pogstore import graph, state
from pogstore.model import (
    FORMAT,
    KINDS,
    STATUSES,
    Actor,
    AnyEvent,
    BlobId,
    Change,
    Event,
    EventId,
    Link,
    OddPath,
    Opaque,
    Person,
    Sealed,
    Slice,
    Source,
    Text,
    kind_of,
)
from pogstore.state import ENDS, TRANSITIONS, Overridden, TaskState, Tick
from tests.strategies import CREW, TASK, chains, contested, events, opaques, parents_in, seal, shuffled

ADA, CODEX, OTHER_CODEX, NAMELESS = CREW
CLAUDE = Actor(type="agent", name="claude-code", session="s9")
FIRST = Text(blob=BlobId("1" * 64), size=1, class_="content")
SECOND = Text(blob=BlobId("2" * 64), size=1, class_="content")
EDIT: dict[str, Any] = {"class_": "edit", "tool": "Edit"}
A_CHANGE, ANOTHER_CHANGE = Change(path="a"), Change(path="b")


def make(kind: str, clock: int = 1, *parents: Sealed, actor: Actor = ADA, **fields: Any) -> Sealed:
    """An event of the task at a clock, over its parents."""
    over = tuple(sorted(parent.event_id for parent in parents))
    event = KINDS[kind](v=FORMAT, task=TASK, clock=clock, time=clock, actor=actor, parents=over, **fields)
    return seal(event)


def row(*events: Sealed) -> TaskState:
    return state.fold(graph.replay_order(events))


def at(status: str) -> TaskState:
    """A task that stands at a status."""
    return replace(state.begin(TASK), status=status)


def claim(clock: int, actor: Actor, **fields: Any) -> Sealed:
    return make("claimed", clock, actor=actor, **fields)


def sees(chain: list[Sealed]) -> "partial[bool]":
    return partial(graph.is_ancestor, parents=parents_in(chain))


def test_the_union_of_kinds_is_complete() -> None:
    assert set(get_args(AnyEvent)) == set(KINDS.values())


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_taken(kind: str) -> None:
    @settings(max_examples=15)
    @given(events(kind))
    def taken(event: Event) -> None:
        after = state.apply(state.begin(event.task), seal(event))
        assert after.events == 1
        assert after.actors == (event.actor,)
        assert after.first_time == after.last_time == event.time
        assert after.incomplete is None

    taken()


@pytest.mark.parametrize(
    "kind",
    sorted(KINDS.keys() - {"defined", "claimed", "released", "moved", "checked", "reviewed", "redacted"}),
)
def test_what_records_work_changes_nothing_but_the_tally(kind: str) -> None:
    before = row(make("defined", definition=FIRST), claim(2, CODEX))

    @settings(max_examples=15)
    @given(events(kind))
    def unchanged(event: Event) -> None:
        after = state.apply(before, seal(event))
        tally = {"events": before.events, "actors": before.actors, "last_time": before.last_time}
        assert replace(after, **tally) == before

    unchanged()


@given(opaques())
def test_an_event_of_a_newer_format_makes_the_state_incomplete(event: Opaque) -> None:
    after = state.apply(at("in_progress"), seal(event))
    assert after.incomplete == "needs a newer pogstore"
    assert after.status == "in_progress"
    assert [flag.event_id for flag in after.flagged] == [seal(event).event_id]


@given(opaques())
def test_a_part_of_the_future_is_never_an_echo(event: Opaque) -> None:
    sealed = seal(event)
    assert state.distinct([sealed]).used == (sealed,) == state.whole([sealed]).events


def test_the_table_is_closed_over_the_statuses() -> None:
    assert TRANSITIONS.keys() == set(STATUSES)
    assert set(STATUSES) >= frozenset().union(*TRANSITIONS.values())
    assert not any(old in news for old, news in TRANSITIONS.items())
    assert set(STATUSES) >= ENDS
    assert {status for status in STATUSES if state.is_end(status)} == {"completed", "cancelled"}


def test_every_status_can_be_reached_and_left() -> None:
    for start in STATUSES:
        assert set(graph.reach([start], TRANSITIONS.__getitem__)) == set(STATUSES)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("pending", "in_progress"),
        ("in_progress", "blocked"),
        ("in_progress", "completed"),
        ("blocked", "in_progress"),
        ("in_progress", "in_review"),
        ("in_review", "in_progress"),
        ("in_review", "completed"),
        ("in_progress", "in_planning"),
        ("completed", "in_progress"),
        ("completed", "pending"),
        ("cancelled", "in_progress"),
        ("cancelled", "pending"),
    ],
)
def test_the_promised_transitions_are_legal(old: str, new: str) -> None:
    assert state.legal(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("pending", "completed"),
        ("pending", "in_review"),
        ("blocked", "completed"),
        ("blocked", "in_review"),
        ("in_design", "completed"),
        ("in_planning", "completed"),
        ("completed", "cancelled"),
        ("cancelled", "completed"),
        ("completed", "blocked"),
        ("completed", "completed"),
        ("todo", "in_progress"),
        ("in_progress", "todo"),
        (None, "todo"),
    ],
)
def test_these_transitions_are_not_legal(old: str | None, new: str) -> None:
    assert not state.legal(old, new)


@pytest.mark.parametrize("new", [*STATUSES, "todo"])
@pytest.mark.parametrize("old", [*STATUSES, "todo", None])
def test_each_transition_is_taken_and_flagged_if_it_is_not_legal(old: str | None, new: str) -> None:
    before = at(old) if old else state.begin(TASK)
    moved = make("moved", 5, status=new, reason=SECOND)
    after = state.apply(before, moved)
    assert (after.status, after.status_event, after.reason) == (new, moved.event_id, SECOND)
    expected_flags = [moved.event_id] if (old != new and not state.legal(old, new)) or new == "todo" else []
    assert [flag.event_id for flag in after.flagged] == expected_flags
    assert after.reopened == (old in ENDS and new not in ENDS)


def test_a_flag_says_which_transition_it_was() -> None:
    assert state.apply(at("pending"), make("moved", status="completed")).flagged[0].reason == (
        "illegal transition from 'pending' to 'completed'"
    )
    assert "unknown status 'todo'" in state.apply(at("pending"), make("moved", status="todo")).flagged[0].reason


def test_a_task_is_pending_once_it_is_defined() -> None:
    assert state.begin(TASK).status is None
    defined = make("defined", definition=FIRST, links=(Link(rel="parent", task=TASK),))
    after = row(defined)
    assert (after.status, after.status_event) == ("pending", defined.event_id)
    assert (after.definition, after.definition_event, after.definitions) == (FIRST, defined.event_id, 1)
    assert after.links == (Link(rel="parent", task=TASK),)


def test_an_amendment_replaces_definition_and_links_and_keeps_the_status() -> None:
    old = make("defined", definition=FIRST, links=(Link(rel="parent", task=TASK),))
    new = make("defined", 3, definition=SECOND)
    after = row(old, make("moved", 2, status="in_progress"), new)
    assert (after.status, after.definition, after.definition_event) == ("in_progress", SECOND, new.event_id)
    assert (after.definitions, after.links) == (2, ())


def test_the_outcome_is_that_of_the_last_end() -> None:
    begun = [make("defined", definition=FIRST), make("moved", 2, status="in_progress")]
    ended = [*begun, make("moved", 3, status="completed", outcome=FIRST)]
    assert row(*ended).outcome == FIRST
    again = [*ended, make("moved", 4, status="in_progress")]
    assert (row(*again).outcome, row(*again).reopened) == (FIRST, 1)
    assert row(*again, make("moved", 5, status="completed")).outcome is None
    assert row(*ended, make("moved", 4, status="completed")).outcome == FIRST


def test_a_claim_pins_its_definition() -> None:
    after = row(make("defined", definition=FIRST), claim(2, CODEX, definition_id=FIRST.blob, lease_until=9))
    held = state.holder(after, 8)
    assert held is not None
    assert (held.actor, held.definition_id, held.lease_until) == (CODEX, FIRST.blob, 9)
    assert not after.conflicted


def test_two_claims_of_different_actors_conflict_until_one_is_released() -> None:
    one, two = claim(2, CODEX), claim(2, OTHER_CODEX)
    both = row(one, two)
    assert both.conflicted
    assert state.holder(both, 0) is None
    assert {c.event_id for c in state.standing_claims(both, 0)} == {one.event_id, two.event_id}
    settled = row(one, two, make("released", 3, actor=CODEX))
    assert not settled.conflicted
    assert [c.event_id for c in settled.claims] == [two.event_id]
    assert settled.claimants == both.claimants


def test_an_actor_that_claims_again_replaces_its_own_claim() -> None:
    newer = replace(CODEX, model="next", version="2", agent_id="sub")
    again = claim(3, newer, lease_until=5, worktree="w2")
    after = row(claim(2, CODEX, worktree="w1"), again)
    assert [c.event_id for c in after.claims] == [again.event_id]
    assert state.same_actor(newer, CODEX)


@pytest.mark.parametrize(
    "other",
    [
        Actor(type="human", name="codex"),
        Actor(type="agent", name="other"),
        Actor(type="agent", name="codex", session="s1"),
        Actor(type="agent", name="codex", on_behalf_of=Person(name="Ben", email="ben@example.org")),
    ],
)
def test_another_actor_does_not_replace_a_claim(other: Actor) -> None:
    assert row(claim(2, NAMELESS), claim(3, other)).conflicted
    assert not state.same_actor(NAMELESS, other)


def test_without_a_session_two_clones_are_two_claims() -> None:
    """The same person in two work trees: the second never silently takes over from the first."""
    here, there = claim(2, ADA, worktree="w1"), claim(2, ADA, worktree="w2")
    assert row(here, there).conflicted
    assert not row(here, claim(3, ADA, worktree="w1")).conflicted
    assert row(here, there, make("released", 3, worktree="w1")).claims == ()


def test_a_release_takes_the_claim_that_it_names_whoever_made_it() -> None:
    one, two = claim(2, CODEX), claim(2, CLAUDE)
    named = Link(rel="releases", event=two.event_id)
    after = row(one, two, make("released", 3, actor=CODEX, links=(named,)))
    assert [c.event_id for c in after.claims] == [one.event_id]


def test_a_release_that_names_a_replaced_claim_leaves_the_newer_one() -> None:
    old, new = claim(2, CODEX), claim(3, CODEX)
    after = row(old, new, make("released", 4, links=(Link(rel="releases", event=old.event_id),)))
    assert [c.event_id for c in after.claims] == [new.event_id]


def test_a_release_of_somebody_without_a_claim_changes_nothing() -> None:
    assert len(row(claim(2, CODEX), make("released", 3, actor=CLAUDE)).claims) == 1


def test_a_lease_binds_until_its_end() -> None:
    lasting, leased = claim(2, CODEX), claim(2, CLAUDE, lease_until=100)
    both = row(lasting, leased)
    assert state.holder(both, 99) is None
    held = state.holder(both, 100)
    assert held is not None
    assert held.event_id == lasting.event_id
    assert state.holder(row(leased), 100) is None
    assert both.conflicted  # the claims stand until one is released


def test_an_end_keeps_who_did_it_and_frees_the_task() -> None:
    one, two = claim(2, CODEX), claim(2, CLAUDE)
    ended = row(at_work := make("moved", 1, status="in_progress"), one, two, make("moved", 3, status="completed"))
    assert (ended.claims, ended.ended, ended.conflicted) == ((), True, False)
    assert {c.event_id for c in ended.done_by} == {one.event_id, two.event_id}
    late = claim(4, ADA)
    after_end = row(at_work, one, make("moved", 3, status="completed"), late)
    assert state.standing_claims(after_end, 0) == ()
    reopened = row(at_work, one, make("moved", 3, status="completed"), make("moved", 4, status="in_progress"))
    assert state.holder(reopened, 0) is None
    assert [c.event_id for c in reopened.done_by] == [one.event_id]


def test_a_second_end_adds_to_who_did_it_and_a_later_one_begins_anew() -> None:
    ends = [
        make("moved", 1, status="in_progress"),
        claim(2, CODEX),
        make("moved", 3, status="completed"),
        claim(4, CLAUDE),
        make("moved", 5, status="completed"),
    ]
    assert [c.actor for c in row(*ends).done_by] == [CODEX, CLAUDE]
    later = [make("moved", 6, status="in_progress"), claim(7, ADA), make("moved", 8, status="completed")]
    assert [c.actor for c in row(*ends, *later).done_by] == [ADA]


def test_checks_count_for_the_definition_that_they_name() -> None:
    first = [make("defined", definition=FIRST), make("checked", 2, item=0, done=True, definition_id=FIRST.blob)]
    assert row(*first).checked == {0: True}
    amended = [*first, make("defined", 3, definition=SECOND)]
    assert row(*amended).checked == {}
    assert row(*amended, make("checked", 4, item=1, done=True)).checked == {1: True}
    undone = make("checked", 4, item=0, done=False, definition_id=FIRST.blob)
    assert row(*amended, undone).ticks == (Tick(definition_id=FIRST.blob, item=0, done=False),)


def test_checks_stand_sorted_by_definition_and_item() -> None:
    """RC-50: a mapping has one order, whichever item was ticked first."""
    said = [(SECOND.blob, 1), (FIRST.blob, 2), (None, 0), (FIRST.blob, 0)]
    after = row(*(make("checked", n, definition_id=of, item=item, done=True) for n, (of, item) in enumerate(said, 1)))
    assert [(tick.definition_id, tick.item) for tick in after.ticks] == [said[2], said[3], said[1], said[0]]


def test_a_review_by_who_claimed_the_task_does_not_count() -> None:
    of_codex = replace(CODEX, name="another-name")  # the same session
    reviews = [
        make("reviewed", n, actor=actor, verdict="approved", of=(FIRST.blob,))
        for n, actor in enumerate([CODEX, of_codex, ADA, CLAUDE], 3)
    ]
    after = row(claim(1, CODEX), make("released", 2, actor=CODEX), *reviews)
    assert [review.actor for review in after.reviews] == [CODEX, of_codex, ADA, CLAUDE]
    assert [review.actor for review in state.independent_reviews(after)] == [ADA, CLAUDE]


def test_what_was_redacted_is_a_sorted_set() -> None:
    """RC-50: a set has one order."""
    blobs = (SECOND.blob, FIRST.blob)
    after = row(*(make("redacted", n, blobs=blobs, reason="secret") for n in (1, 2)))
    assert after.redacted == (FIRST.blob, SECOND.blob)


def test_times_are_those_of_the_first_and_last_event_in_replay_order() -> None:
    late = replace(make("noted", 1).event, time=900)
    early = replace(make("noted", 2).event, time=100)
    after = row(seal(early), seal(late))
    assert (after.first_time, after.last_time, after.events) == (900, 100, 2)


def test_a_state_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        state.begin(TASK).status = "completed"  # type: ignore[misc]


@given(st.data(), chains(contested()))
def test_the_state_does_not_depend_on_the_order_of_arrival(data: st.DataObject, chain: list[Sealed]) -> None:
    """RC-50, UC-34: a function of the set of events."""
    arrived = data.draw(shuffled(chain)) + data.draw(st.lists(st.sampled_from(chain)))
    assert row(*arrived) == row(*chain)


@given(chains(contested()))
def test_fold_is_apply_over_what_is_used(chain: list[Sealed]) -> None:
    ordered = graph.replay_order(chain)
    stepwise = state.begin(TASK)
    for sealed in state.distinct(ordered).used:
        stepwise = state.apply(stepwise, sealed)
    assert replace(state.fold(ordered), flagged=()) == replace(stepwise, flagged=())
    assert set(stepwise.flagged) <= set(state.fold(ordered).flagged)


@given(chains())
def test_fold_takes_every_chain(chain: list[Sealed]) -> None:
    after = row(*chain)
    assert after.task == TASK
    assert after.events <= len(chain)


@given(chains(contested()))
def test_claims_that_stand_are_claims_that_were_made(chain: list[Sealed]) -> None:
    after = row(*chain)
    made = {sealed.event_id for sealed in chain if kind_of(sealed.event) == "claimed"}  # type: ignore[arg-type]
    standing = [c.event_id for c in (*after.claims, *after.done_by)]
    assert made.issuperset(standing)
    assert len(standing) == len(set(standing))


def parts_of(count: int, of: int | None = None, clock: int = 1, **fields: Any) -> list[Sealed]:
    """A row of parts, each over the one before."""
    chain: list[Sealed] = []
    for n in range(1, count + 1):
        changes = (Change(path=f"f{n}"),)
        part = Slice(n=n, of=of or count)
        chain.append(make("stepped", clock + n, *chain[-1:], part=part, changes=changes, **EDIT, **fields))
    return chain


def test_a_complete_group_applies() -> None:
    chain = parts_of(3, call_id="c1", actor=CODEX)
    assert state.whole(chain) == (tuple(chain), ())
    assert state.distinct(chain).used == tuple(chain)  # one call, three parts: no echoes of each other


@pytest.mark.parametrize("absent", range(3))
def test_a_group_that_lacks_a_part_does_not_apply(absent: int) -> None:
    note = make("noted", 9)
    chain = [s for n, s in enumerate(parts_of(3)) if n != absent]
    assert state.whole([*chain, note]) == ((note,), tuple(chain))
    folded = state.fold([*chain, note])
    assert (folded.events, [flag.event_id for flag in folded.flagged]) == (1, [s.event_id for s in chain])


def test_parts_belong_together_only_as_a_chain_of_one_kind_and_length() -> None:
    first = make("stepped", 1, part=Slice(n=1, of=2), **EDIT)
    strangers = [
        make("stepped", 2, part=Slice(n=2, of=2), **EDIT),
        make("observed", 2, first, part=Slice(n=2, of=2)),
        make("stepped", 2, first, part=Slice(n=2, of=3), **EDIT),
        make("stepped", 2, first, part=Slice(n=3, of=2), **EDIT),
    ]
    for stranger in strangers:
        assert state.whole([first, stranger]).events == ()
    last = make("stepped", 2, first, make("noted", 1), part=Slice(n=2, of=2), **EDIT)
    assert state.whole([first, *strangers, last]).events == (first, last)


@pytest.mark.parametrize("part", [Slice(n=0, of=0), Slice(n=2, of=1), Slice(n=0, of=1), Slice(n=-1, of=-1)])
def test_a_part_that_cannot_be_never_applies(part: Slice) -> None:
    assert state.whole([make("noted", part=part)]).events == ()


def test_a_part_belongs_to_one_group() -> None:
    first, second = parts_of(2)
    rival = make("stepped", 4, first, part=Slice(n=2, of=2), **EDIT)
    assert state.whole([first, second, rival]) == ((first, second), (rival,))


@given(chains(events(part=st.builds(Slice, n=st.integers(1, 2), of=st.integers(1, 2)))))
def test_dropping_incomplete_groups_again_drops_nothing(chain: list[Sealed]) -> None:
    once = state.whole(chain)
    assert sorted(s.event_id for s in (*once.events, *once.partial)) == sorted(s.event_id for s in chain)
    assert state.whole(once.events) == (once.events, ())


def live(clock: int, key: str, **fields: Any) -> Sealed:
    return make("stepped", clock, source=Source(format="spool", key=key), **EDIT, **fields)


def imported(clock: int, key: str, **fields: Any) -> Sealed:
    return make("stepped", clock, source=Source(format="claude-code", key=key), **EDIT, **fields)


def test_what_is_told_twice_from_one_source_counts_once() -> None:
    """A crash after the ref moved; two clones that import one transcript."""
    first, again, other = imported(1, "k"), imported(2, "k"), imported(3, "other")
    told = state.distinct([first, again, other])
    assert told == ((first, other), {again.event_id: first.event_id}, ())
    assert row(first, again, other).events == 2


def test_live_stands_for_imported_whichever_came_first() -> None:
    early = imported(1, "k1", call_id="c", actor=CODEX)
    captured = live(7, "r1", call_id="c", actor=CODEX)
    unsourced = make("stepped", 8, call_id="c", actor=CODEX, **EDIT)
    told = state.distinct([early, captured, unsourced])
    assert told.used == (captured,)
    assert set(told.echoes.values()) == {captured.event_id}


@pytest.mark.parametrize("clocks", list(permutations((1, 2, 3))))
def test_tellings_are_joined_over_source_and_call(clocks: tuple[int, int, int]) -> None:
    """A and C share nothing; B is the same as both."""
    a = imported(clocks[0], "k1")
    b = imported(clocks[1], "k1", call_id="c", actor=CODEX)
    c = make("stepped", clocks[2], call_id="c", actor=CODEX, **EDIT)
    assert state.distinct(graph.replay_order([a, b, c])).used == (c,)
    assert state.distinct([a, c]).used == (a, c)


@pytest.mark.parametrize(
    "other",
    [
        make("stepped", 2, call_id="c", actor=OTHER_CODEX, **EDIT),
        make("stepped", 2, call_id="d", actor=CODEX, **EDIT),
        make("ran", 2, call_id="c", actor=CODEX, argv=FIRST, **EDIT),
    ],
)
def test_another_session_call_or_kind_is_no_echo(other: Sealed) -> None:
    assert state.distinct([make("stepped", call_id="c", actor=CODEX, **EDIT), other]).echoes == {}


def test_without_session_and_call_nothing_is_an_echo() -> None:
    fields: list[dict[str, Any]] = [
        {"actor": NAMELESS, "call_id": "c"},
        {"actor": CODEX},
        {"actor": CODEX, "call_id": ""},
    ]
    for some in fields:
        pair = [make("stepped", clock, **EDIT, **some) for clock in (1, 2)]
        assert state.distinct(pair).echoes == {}


def test_the_same_key_of_another_format_or_task_is_no_echo() -> None:
    one = imported(1, "k")
    elsewhere = seal(replace(imported(2, "k").event, task="another"))
    assert state.distinct([one, live(2, "k"), elsewhere]).echoes == {}


def test_echoes_that_disagree_in_changes_are_reported() -> None:
    kept = imported(1, "k", changes=(A_CHANGE, ANOTHER_CHANGE))
    reordered = imported(2, "k", changes=(ANOTHER_CHANGE, A_CHANGE))
    differs = imported(3, "k", changes=(A_CHANGE, Change(path=OddPath(outside=True))))
    told = state.distinct([kept, reordered, differs])
    assert told.disagreeing == ((kept.event_id, differs.event_id),)
    flags = row(kept, reordered, differs).flagged
    assert [flag.event_id for flag in flags] == [differs.event_id]
    assert kept.event_id in flags[0].reason


def test_parts_stand_or_fall_with_their_group() -> None:
    """Of two tellings in parts one is used as a whole, never the first part of one and the second of the other."""
    first = parts_of(2, clock=1, call_id="c", actor=CODEX)
    second = parts_of(2, clock=1, call_id="c", actor=CODEX, ok=True)
    ordered = graph.replay_order([*first, *second])
    told = state.distinct(ordered)
    assert set(told.used) in (set(first), set(second))
    assert state.whole(told.used).events == told.used
    assert told.disagreeing == ()


def test_a_telling_in_parts_agrees_with_one_in_a_single_event() -> None:
    parts = parts_of(2, call_id="c", actor=CODEX)
    single = make("stepped", 9, call_id="c", actor=CODEX, changes=(Change(path="f1"), Change(path="f2")), **EDIT)
    assert state.distinct([*parts, single]) == (tuple(parts), {single.event_id: parts[0].event_id}, ())
    imported_parts = parts_of(2, call_id="c", actor=CODEX, source=Source(format="claude-code", key="k"))
    told = state.distinct([*imported_parts, single])
    assert told.used == (single,)
    assert told.echoes == {part.event_id: single.event_id for part in imported_parts}


@given(st.data(), chains(contested()))
def test_echoes_depend_on_the_set_and_dropping_them_again_drops_nothing(
    data: st.DataObject, chain: list[Sealed]
) -> None:
    """PC-13: the second telling changes nothing, in whichever order the two arrive."""
    ordered = graph.replay_order(chain)
    told = state.distinct(ordered)
    assert told == state.distinct(graph.replay_order(data.draw(shuffled(chain))))
    assert state.distinct(told.used) == (told.used, {}, ())
    assert {s.event_id for s in told.used} | told.echoes.keys() == {s.event_id for s in chain}
    assert told.echoes.keys().isdisjoint(s.event_id for s in told.used)
    assert set(told.echoes.values()) <= {s.event_id for s in told.used}


def test_two_moves_that_did_not_see_each_other_are_shown() -> None:
    root = make("moved", 1, status="in_progress")
    one, two = make("moved", 2, root, status="blocked"), make("moved", 3, root, status="completed")
    after = make("moved", 4, one, two, status="in_progress")
    chain = [root, one, two, after]
    assert list(state.overridden(chain, sees(chain))) == [Overridden(one.event_id, two.event_id)]


def test_a_later_move_of_the_same_line_is_still_shown() -> None:
    root = make("moved", 1, status="in_progress")
    one = make("moved", 2, root, status="blocked")
    two = make("moved", 3, root, status="in_review")
    three = make("moved", 4, two, status="completed")
    chain = [root, one, two, three]
    pairs = [Overridden(one.event_id, two.event_id), Overridden(one.event_id, three.event_id)]
    assert list(state.overridden(chain, sees(chain))) == pairs


def test_definitions_and_moves_do_not_override_each_other() -> None:
    chain = [make("defined", 1, definition=FIRST), make("moved", 2, status="in_progress"), make("noted", 3)]
    assert list(state.overridden(chain, sees(chain))) == []
    rivals = [chain[0], make("defined", 2, definition=SECOND)]
    assert list(state.overridden(rivals, sees(rivals))) == [Overridden(rivals[0].event_id, rivals[1].event_id)]


@given(chains(events("moved", "defined", "noted")))
def test_overridden_pairs_are_concurrent_and_of_one_kind(chain: list[Sealed]) -> None:
    ordered = graph.replay_order(chain)
    by_id = {sealed.event_id: sealed for sealed in chain}
    place = {sealed.event_id: n for n, sealed in enumerate(ordered)}
    pairs = list(state.overridden(ordered, sees(chain)))
    for earlier, later in pairs:
        assert graph.concurrent(earlier, later, parents_in(chain))
        assert type(by_id[earlier].event) is type(by_id[later].event)
        assert place[earlier] < place[later]
    for kind in ("moved", "defined"):
        alike = [s.event_id for s in ordered if kind_of(s.event) == kind]  # type: ignore[arg-type]
        apart = [e for e in alike[:-1] if not sees(chain)(e, alike[-1])]
        assert not apart or any(later == alike[-1] for _, later in pairs)


def test_a_chain_of_moves_costs_one_comparison_each() -> None:
    asked: list[tuple[EventId, EventId]] = []

    def seen(earlier: EventId, later: EventId) -> bool:
        asked.append((earlier, later))
        return True

    chain = [make("moved", n, status="in_progress") for n in range(1, 200)]
    assert list(state.overridden(chain, seen)) == []
    assert len(asked) == 198
