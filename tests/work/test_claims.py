"""Claims: who holds a task, until when and as defined how; and how it goes from one to another."""

from collections.abc import Iterator
from itertools import count
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pogstore import state
from pogstore.errors import AlreadyClaimed, ClaimOutdated, IllegalTransition, NotFound, NotHeld, TaskEnded
from pogstore.model import Actor, ChecklistItem, Claimed, Definition, EventId, Person, TaskId, kind_of
from pogstore.store.store import Store
from pogstore.work import claims, tasks
from pogstore.work.acts import By, read_state
from tests.builders_store import ADA, opened
from tests.conftest import SECOND, STARTED, Repo

ROBOT = Actor(type="agent", name="robot", session="r1", on_behalf_of=Person(name="ada", email="a@x"))
CODEX = Actor(type="agent", name="codex")
NAMED_ROBOT = Actor(type="agent", name="robot")
PLAN = Definition(title="a task", checklist=(ChecklistItem(text="one"),))
LEASE = 60 * SECOND
numbers = count(1)


def at(actor: Actor, seconds: int = 0, worktree: str | None = None) -> By:
    return By(actor=actor, time=STARTED + seconds * SECOND, worktree=worktree)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    repo = Repo(tmp_path_factory.mktemp("claims"))
    repo.git("init", "--quiet")
    store = opened(repo)
    yield store
    store.close()


def made(store: Store) -> TaskId:
    """Makes a task that nobody has claimed."""
    task = tasks.new_task_id(STARTED, next(numbers))
    tasks.define(store, task, PLAN, at(ADA))
    return task


def held_by(store: Store, task: TaskId) -> list[str | None]:
    return [held.actor.name for held in read_state(store, task).claims]


def last(store: Store, task: TaskId) -> Claimed:
    event = store.events(task)[-1].event
    assert isinstance(event, Claimed)
    return event


def test_a_claim_whose_lease_is_over_is_taken_over_and_names_it(shared: Store) -> None:
    task = made(shared)
    first = claims.claim(shared, task, at(ROBOT), lease_until=STARTED + LEASE)
    with pytest.raises(AlreadyClaimed, match="'robot'"):
        claims.claim(shared, task, at(CODEX, 59))
    claims.claim(shared, task, at(CODEX, 60))
    assert [link.event for link in last(shared, task).links] == [first.event_id]
    assert held_by(shared, task) == ["codex"]
    assert not read_state(shared, task).conflicted


def test_who_holds_a_task_cannot_claim_it_twice_but_renew(shared: Store) -> None:
    """UC-1: agents without a session are told apart by nothing else."""
    task = made(shared)
    with pytest.raises(NotHeld):
        claims.claim(shared, task, at(CODEX), renew=True)
    claims.claim(shared, task, at(CODEX), lease_until=STARTED + LEASE)
    with pytest.raises(AlreadyClaimed) as told:
        claims.claim(shared, task, at(CODEX, 1, "elsewhere"))
    assert "--renew" in (told.value.hint or "")
    claims.claim(shared, task, at(CODEX, 1, "elsewhere"), lease_until=STARTED + 2 * LEASE, renew=True)
    assert [held.lease_until for held in read_state(shared, task).claims] == [STARTED + 2 * LEASE]
    with pytest.raises(AlreadyClaimed):
        claims.claim(shared, task, at(ROBOT, 90), renew=False)


def test_an_amendment_asks_for_a_new_claim(shared: Store) -> None:
    task = made(shared)
    claims.start(shared, task, at(ROBOT))
    old = read_state(shared, task).definition_id
    assert last_claim(shared, task).definition_id == old
    tasks.define(shared, task, Definition(title="more", checklist=PLAN.checklist), at(ADA, 1))
    for act in (lambda: tasks.check(shared, task, 0, at(ROBOT, 2)), lambda: move(shared, task, ROBOT)):
        with pytest.raises(ClaimOutdated) as told:
            act()
        assert "git pog claim" in (told.value.hint or "")
    tasks.note(shared, task, "work is never refused a note", at(ROBOT, 2))
    tasks.move(shared, task, "in_review", at(ROBOT, 2))
    tasks.check(shared, task, 0, at(ADA, 2))
    with pytest.raises(AlreadyClaimed):
        claims.claim(shared, task, at(CODEX, 2))
    claims.claim(shared, task, at(ROBOT, 3))
    assert last(shared, task).definition_id not in (None, old)
    assert held_by(shared, task) == ["robot"]
    tasks.check(shared, task, 0, at(ROBOT, 4))
    move(shared, task, ROBOT)


def last_claim(store: Store, task: TaskId) -> state.Claim:
    return read_state(store, task).claims[-1]


def move(store: Store, task: TaskId, actor: Actor) -> None:
    tasks.move(store, task, "completed", at(actor, 5))


def test_a_start_claims_an_amended_task_again(shared: Store) -> None:
    task = made(shared)
    assert [kind_of(each.event) for each in claims.start(shared, task, at(ROBOT))] == ["claimed", "moved"]  # type: ignore[arg-type]
    assert claims.start(shared, task, at(ROBOT, 1)) == []
    tasks.define(shared, task, Definition(title="more"), at(ADA, 1))
    assert len(claims.start(shared, task, at(ROBOT, 2))) == 1
    assert not state.is_outdated(last_claim(shared, task), read_state(shared, task).definition_id)
    assert len(claims.start(shared, task, at(ROBOT, 3), lease_until=STARTED + LEASE)) == 1
    assert last_claim(shared, task).lease_until == STARTED + LEASE
    with pytest.raises(AlreadyClaimed):
        claims.start(shared, task, at(CODEX, 4))
    assert len(claims.start(shared, task, at(CODEX, 61))) == 1


def test_who_amends_what_it_holds_has_accepted_it(shared: Store) -> None:
    task = made(shared)
    claims.claim(shared, task, at(ROBOT), lease_until=STARTED + LEASE)
    tasks.define(shared, task, Definition(title="more"), at(ROBOT, 1))
    assert last_claim(shared, task).definition_id == read_state(shared, task).definition_id
    assert last_claim(shared, task).lease_until == STARTED + LEASE
    tasks.define(shared, task, Definition(title="still more"), at(ADA, 1))
    tasks.define(shared, task, Definition(title="and more"), at(ROBOT, 2))
    assert last_claim(shared, task).definition_id != read_state(shared, task).definition_id, "it did not accept Ada's"


def test_a_shared_task_keeps_its_claims_and_ticks(shared: Store) -> None:
    task = tasks.new_task_id(STARTED, next(numbers))
    tasks.define(shared, task, PLAN, at(ADA), class_="private")
    claims.claim(shared, task, at(ROBOT))
    tasks.check(shared, task, 0, at(ROBOT))
    assert tasks.share(shared, task, at(ADA)) is not None
    now = read_state(shared, task)
    assert now.definition is not None
    assert now.definition.class_ == "content"
    assert not state.is_outdated(now.claims[0], now.definition_id)
    assert now.checked == {0: True}
    assert tasks.share(shared, task, at(ADA)) is None
    row = shared.find_content(now.definition.blob)
    assert row is not None
    assert shared.git.text("ls-tree", "-r", f"refs/pog/content/{task}").endswith(now.definition.blob)


def test_a_task_is_handed_on_by_who_holds_it(shared: Store) -> None:
    task = made(shared)
    claims.claim(shared, task, at(ADA))
    with pytest.raises(AlreadyClaimed):
        claims.claim(shared, task, at(CODEX), holder=CODEX)
    claims.claim(shared, task, at(ADA), holder=NAMED_ROBOT)
    held = last_claim(shared, task)
    assert (held.actor, held.given_by) == (NAMED_ROBOT, ADA)
    with pytest.raises(AlreadyClaimed, match="'robot'"):
        claims.claim(shared, task, at(CODEX, 1))
    with pytest.raises(AlreadyClaimed, match="'robot'"):
        claims.start(shared, task, at(CODEX, 1))
    claims.start(shared, task, at(ROBOT, 1))
    assert [(each.actor, each.given_by) for each in read_state(shared, task).claims] == [(ROBOT, None)]
    with pytest.raises(AlreadyClaimed):
        claims.claim(shared, task, at(ADA, 2), holder=CODEX)


def test_who_gave_a_task_can_give_it_to_another_or_take_it_back(shared: Store) -> None:
    task = made(shared)
    claims.claim(shared, task, at(ADA), holder=NAMED_ROBOT)
    claims.claim(shared, task, at(ADA, 1), holder=CODEX)
    assert held_by(shared, task) == ["codex"]
    claims.release(shared, task, at(ADA, 2))
    assert held_by(shared, task) == []
    claims.claim(shared, task, at(ADA, 3), holder=CODEX)
    claims.release(shared, task, at(CODEX, 4))
    assert held_by(shared, task) == []


def test_an_agent_that_lost_its_claim_does_not_complete_the_task(shared: Store) -> None:
    task = made(shared)
    claims.start(shared, task, at(ROBOT), lease_until=STARTED + SECOND)
    claims.start(shared, task, at(CODEX, 2))
    with pytest.raises(AlreadyClaimed, match="'codex'"):
        move(shared, task, ROBOT)
    with pytest.raises(AlreadyClaimed, match="'codex'"):
        tasks.check(shared, task, 0, at(ROBOT, 3))
    tasks.check(shared, task, 0, at(ADA, 3))
    move(shared, task, CODEX)
    with pytest.raises(TaskEnded):
        claims.claim(shared, task, at(ROBOT, 6))


def test_a_person_who_handed_a_task_on_may_complete_it(shared: Store) -> None:
    task = made(shared)
    claims.start(shared, task, at(ADA))
    claims.claim(shared, task, at(ADA), holder=NAMED_ROBOT)
    claims.start(shared, task, at(ROBOT))
    tasks.check(shared, task, 0, at(ADA))
    move(shared, task, ADA)
    assert read_state(shared, task).status == "completed"


def test_a_lease_that_is_over_ends_no_work_of_its_own(shared: Store) -> None:
    task = made(shared)
    claims.start(shared, task, at(ROBOT), lease_until=STARTED + SECOND)
    move(shared, task, ROBOT)
    assert read_state(shared, task).status == "completed"


def test_reviews_by_whom_a_task_was_given_to_do_not_count(shared: Store) -> None:
    task = made(shared)
    claims.claim(shared, task, at(ADA), holder=NAMED_ROBOT)
    for actor in (ROBOT, CODEX, ADA):
        tasks.review(shared, task, "approved", at(actor))
    assert [each.actor for each in state.independent_reviews(read_state(shared, task))] == [CODEX, ADA]


def test_the_first_that_can_be_claimed_is(shared: Store) -> None:
    """UC-2: what others hold, what has ended and what is gone is passed over."""
    held, ended, free = made(shared), made(shared), made(shared)
    claims.claim(shared, held, at(CODEX))
    claims.start(shared, ended, at(ADA))
    move(shared, ended, ADA)
    wanted = [TaskId("0198a1b2-0000-7e5f-8a9b-0c1d2e3f4a5b"), held, ended, free]
    taken = claims.claim_first(shared, lambda: wanted, at(ROBOT), lease_until=STARTED + LEASE)
    assert taken is not None
    assert taken.event.task == free
    assert last(shared, free).lease_until == STARTED + LEASE
    assert claims.claim_first(shared, lambda: wanted, at(ROBOT)) is None
    assert claims.claim_first(shared, list, at(ROBOT)) is None


def test_a_release_needs_a_claim(shared: Store) -> None:
    task = made(shared)
    with pytest.raises(NotHeld):
        claims.release(shared, task, at(ROBOT))
    with pytest.raises(NotFound):
        claims.release(shared, task, at(ROBOT), of=EventId("0" * 64))


class Act(NamedTuple):
    """One thing that an actor tries, so many seconds after the one before."""

    verb: str
    who: int
    lease: int | None
    wait: int


ACTORS = (ADA, ROBOT, CODEX)
acts = st.builds(
    Act,
    verb=st.sampled_from(("claim", "renew", "give", "release", "start", "first", "amend", "complete", "tick")),
    who=st.integers(0, 2),
    lease=st.sampled_from((None, 1, 3)),
    wait=st.integers(0, 2),
)


def attempt(store: Store, task: TaskId, act: Act, by: By) -> None:
    until = None if act.lease is None else by.time + act.lease * SECOND
    match act.verb:
        case "claim":
            claims.claim(store, task, by, lease_until=until)
        case "renew":
            claims.claim(store, task, by, lease_until=until, renew=True)
        case "give":
            claims.claim(store, task, by, lease_until=until, holder=(CODEX, NAMED_ROBOT, ADA)[act.who])
        case "release":
            claims.release(store, task, by)
        case "start":
            claims.start(store, task, by, lease_until=until)
        case "first":
            claims.claim_first(store, lambda: [task], by, lease_until=until)
        case "amend":
            tasks.define(store, task, PLAN, by)
        case "tick":
            tasks.check(store, task, 0, by)
        case "complete":
            tasks.move(store, task, "completed", by)


@given(st.lists(acts, min_size=1, max_size=12))
def test_in_one_repository_never_do_two_claims_stand(shared: Store, story: list[Act]) -> None:
    """Whatever is tried in whatever order: nobody loses a claim to another but by its end, a gift or a release."""
    task = made(shared)
    now = 0
    for act in story:
        now += act.wait
        by = at(ACTORS[act.who], now)
        before = read_state(shared, task)
        try:
            attempt(shared, task, act, by)
        except (AlreadyClaimed, ClaimOutdated, NotHeld, TaskEnded, IllegalTransition):
            assert read_state(shared, task) == before, "what is refused changes nothing"
        after = read_state(shared, task)
        assert len(after.claims) <= 1
        for held in state.standing_claims(before, by.time):
            if held.event_id not in {each.event_id for each in after.claims} and not after.ended:
                gave = held.given_by is not None and state.same_actor(held.given_by, by.actor)
                assert state.holds(held, by.actor) or gave, act
        if act.verb in ("tick", "complete") and after != before:
            own = [held for held in before.claims if state.same_actor(held.actor, by.actor)]
            assert not any(state.is_outdated(held, before.definition_id) for held in own)
