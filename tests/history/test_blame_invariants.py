"""The invariants of blame from content, as properties over small random histories; each test names the one it states.

Where owners must be exact, every line is a text of its own; where lines are drawn from a few, only what must hold all
the same is stated.
"""

import random
from collections import Counter
from itertools import count
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from pogstore.history.blame import blame, effective_times
from pogstore.history.explanation import UNKNOWN, Owner
from pogstore.history.lines import is_trivial, normal, split
from pogstore.history.stream import SLACK, CommitStep, EventStep, Kind
from tests.conftest import Repo
from tests.history.agents import OTHER, Agent
from tests.history.worlds import World, text

few = settings(max_examples=40, deadline=None)

FEW_LINES = ("", "}", "return nil", "x = 1", "if err != nil {", "a line that says a good deal", "another such line")


def event_id(number: int) -> Owner:
    return f"{number:064x}"


def commit_id(number: int) -> Owner:
    return f"{number:040x}"


class Edit(NamedTuple):
    """How the file is changed: where, how many lines go and come; and how that is told, or that it is not."""

    at: int
    gone: int
    come: int
    told: Kind | None
    committed: bool


EDITS = st.lists(
    st.builds(
        Edit,
        st.integers(0, 9),
        st.integers(0, 3),
        st.integers(0, 4),
        st.sampled_from(["edit", "edit", "shell", "observed", None]),
        st.booleans(),
    ),
    min_size=1,
    max_size=7,
)


class History:
    """A history of unique lines, and who wrote each of them by a model that only knows what was inserted when."""

    def __init__(self) -> None:
        self.world = World()
        self.numbers = count(1)
        self.lines = [self.fresh() for _ in range(4)]
        self.owners = dict.fromkeys(self.lines, commit_id(0))
        self.head = text(*self.lines)
        self.seen = self.head
        self.events: list[Owner] = []
        self.world.commit(commit_id(0), self.head)

    def fresh(self) -> str:
        """Returns a line that is nowhere else."""
        return f"line number {next(self.numbers)} of this history"

    def change(self, edit: Edit) -> None:
        """Changes the file as told, and commits it where told."""
        at = min(edit.at, len(self.lines))
        come = [self.fresh() for _ in range(edit.come)]
        self.lines[at : at + edit.gone] = come
        content = text(*self.lines)
        owner = UNKNOWN
        if edit.told is not None:
            owner = event_id(next(self.numbers))
            self.events.append(owner)
            self.world.event(owner, self.seen, content, kind=edit.told)
            self.seen = content
        self.owners |= dict.fromkeys(come, owner)
        if edit.committed and content != self.head:
            self.commit(content)

    def commit(self, content: str) -> None:
        """Commits the file: what nobody was told of is the commit's."""
        commit = commit_id(next(self.numbers))
        self.world.commit(commit, content, self.head)
        self.head = self.seen = content
        self.owners = {line: owner or commit for line, owner in self.owners.items()}

    def expected(self) -> list[Owner]:
        """Returns the owner of each line of the file by the model."""
        return [self.owners[line] for line in self.lines]

    def found(self) -> list[Owner]:
        """Returns the owner of each line of the file as attribution finds it."""
        return self.world.owners(text(*self.lines), self.head)


def told(edits: list[Edit]) -> History:
    history = History()
    for edit in edits:
        history.change(edit)
    return history


@few
@given(EDITS)
def test_i1_i2_i8_every_step_leaves_each_line_with_its_writer(edits: list[Edit]) -> None:
    """One owner a line; kept lines keep theirs, added ones are the event's; the same right after each event."""
    history = History()
    for edit in edits:  # what nobody saw between two steps is the subject of I14
        history.change(edit._replace(committed=edit.committed or edit.told is None))
        assert history.found() == history.expected()


@few
@given(EDITS)
def test_i6_without_events_every_line_is_the_commit_that_added_it(edits: list[Edit]) -> None:
    history = told([edit._replace(told=None, committed=True) for edit in edits])
    assert history.found() == history.expected()


@few
@given(EDITS)
def test_i7_a_replay_of_the_same_steps_is_the_same(edits: list[Edit]) -> None:
    """Also if the answer was asked for in between, and whichever version was asked for before."""
    history = told(edits)
    target = text(*history.lines)
    found = history.world.replayed()
    first = found.owners(target, target.encode(), [history.head], history.world.now)
    for step in history.world.steps:
        if step.after is not None:
            found.owners(step.after, step.after.encode(), [], history.world.now)
    assert found.owners(target, target.encode(), [history.head], history.world.now) == first
    assert history.world.replayed().owners(target, target.encode(), [history.head], history.world.now) == first


@few
@given(EDITS, st.lists(st.integers(0, 12), max_size=4), st.booleans())
def test_i9_lines_inserted_outside_change_no_other_line(edits: list[Edit], places: list[int], commit: bool) -> None:
    """In the work tree and by a commit."""
    history = told(edits)
    history.commit(text(*history.lines))
    before = dict(zip(history.lines, history.found(), strict=True))
    for at in places:
        history.lines.insert(min(at, len(history.lines)), history.fresh())
    if commit:
        history.world.commit(commit_id(10**6), text(*history.lines), history.head)
    after = dict(zip(history.lines, history.found(), strict=True))
    assert {line: after[line] for line in before} == before


@few
@given(EDITS, st.integers(0, 9), st.sampled_from(["rebase", "squash", "stash"]))
def test_i9_the_same_over_upstream_s_changes(edits: list[Edit], at: int, way: str) -> None:
    """Rebased, squashed, or stashed and popped by a command: other lines stand in the version that is gone on from."""
    history = History()
    base = list(history.lines)
    for edit in edits:
        history.change(edit._replace(gone=0, told="edit", committed=False))
    work, mine = text(*history.lines), [line for line in history.lines if line not in base]
    authored = history.world.now
    if way == "rebase":
        history.world.commit(commit_id(10**6), work, text(*base))
    if way == "stash":
        history.world.event(event_id(10**6), work, text(*base), kind="shell")
    upstream = [*base[: at % 5], "a line that came from upstream", *base[at % 5 :]]
    history.world.commit(commit_id(10**6 + 1), text(*upstream), text(*base))
    place = history.lines.index(base[at % 5]) if at % 5 < len(base) else len(history.lines)
    both = [*history.lines[:place], "a line that came from upstream", *history.lines[place:]]
    if way == "stash":
        history.world.event(event_id(10**6 + 1), text(*upstream), text(*both), kind="shell")
    else:
        history.world.commit(commit_id(10**6 + 2), text(*both), text(*upstream), authored=authored)
    found = dict(zip(both, history.world.owners(text(*both), text(*upstream)), strict=True))
    assert {line: found[line] for line in mine} == {line: history.owners[line] for line in mine}
    assert found["a line that came from upstream"] == commit_id(10**6 + 1)
    assert {found[line] for line in base} == {commit_id(0)}


@few
@given(EDITS, st.sets(st.integers(0, 20), max_size=6), st.booleans())
def test_i10_lines_deleted_change_no_other_line(edits: list[Edit], gone: set[int], commit: bool) -> None:
    history = told(edits)
    history.commit(text(*history.lines))
    before = dict(zip(history.lines, history.found(), strict=True))
    history.lines = [line for at, line in enumerate(history.lines) if at not in gone]
    if commit:
        history.world.commit(commit_id(10**6), text(*history.lines), history.head)
    assert history.found() == [before[line] for line in history.lines]


@few
@given(EDITS, st.sets(st.integers(0, 20), max_size=8), st.sampled_from(["commit", "shell", "observed"]))
def test_i11_lines_that_are_indented_keep_their_events(edits: list[Edit], some: set[int], by: str) -> None:
    """Whoever moves the white space; a line of a commit is the new commit's, as git says."""
    history = told(edits)
    history.commit(text(*history.lines))
    before = history.found()
    content = text(*[f"    {line}" if at in some else line for at, line in enumerate(history.lines)])
    if by == "commit":
        history.world.commit(commit_id(10**6), content, history.head)
    else:
        history.world.event(event_id(10**6), history.head, content, kind="shell" if by == "shell" else "observed")
    after = history.world.owners(content, history.head)
    assert len(after) == len(before)
    assert all(new == old for new, old in zip(after, before, strict=True) if old in history.events)


@few
@given(EDITS, st.sampled_from(["commit", "shell", "observed"]))
def test_i13_what_is_taken_back_and_done_again_is_the_same(edits: list[Edit], by: str) -> None:
    """The revert of a revert, and a checkout of what was there; what an edit does again is told in other tests."""
    history = told(edits)
    history.commit(text(*history.lines))
    before = history.found()
    work, base = text(*history.lines), next(step.after for step in history.world.steps)
    assert base is not None
    if by == "commit":
        history.world.commit(commit_id(10**6), base, work)
        history.world.commit(commit_id(10**6 + 1), work, base)
    else:
        kind: Kind = "shell" if by == "shell" else "observed"
        history.world.event(event_id(10**6), work, base, kind=kind)
        history.world.event(event_id(10**6 + 1), base, work, kind=kind)
    assert history.world.owners(work, history.head) == before


@few
@given(EDITS, st.sets(st.integers(0, 7)))
def test_i14_lines_of_a_session_that_is_not_here_fall_back(edits: list[Edit], hidden: set[int]) -> None:
    """To a commit or to nobody, never to another event; and nobody else's line moves."""
    history = told(edits)
    history.commit(text(*history.lines))
    gone = [event for at, event in enumerate(history.events) if at in hidden]
    found = history.world.without(gone).owners(text(*history.lines), history.head)
    for owner, line in zip(found, history.lines, strict=True):
        was = history.owners[line]
        if was in gone:
            assert owner not in history.events
        elif was in history.events:
            assert owner == was


CONTENTS = st.lists(st.sampled_from(FEW_LINES), max_size=8).map(lambda lines: text(*lines))
KINDS = st.sampled_from(["edit", "shell", "observed", "commit"])


@settings(max_examples=150, deadline=None)
@given(CONTENTS, st.lists(st.tuples(CONTENTS, KINDS, st.booleans()), max_size=8))
def test_i1_i3_i4_i5_of_lines_that_are_alike(base: str, steps: list[tuple[str, str, bool]]) -> None:
    """Any versions of a few lines, in one chain or with a branch that goes on from the first version."""
    world = World()
    world.commit(commit_id(0), base)
    last = head = base
    for number, (content, kind, branches) in enumerate(steps, 1):
        if kind == "commit":
            world.commit(commit_id(number), content, base if branches else head)
            head = content
        else:
            world.event(event_id(number), base if branches else last, content, kind=kind)  # type: ignore[arg-type]
            last = content
    check_invariants(world)


def check_invariants(world: World) -> None:
    """I1, I3, I4 and I5 of every version after all steps."""
    made = {step.event: step for step in world.steps if isinstance(step, EventStep)}
    committed: dict[str, int] = {}
    for step in world.steps:
        if isinstance(step, CommitStep) and step.after is not None:
            committed.setdefault(step.after, step.time)
    found = world.replayed()
    for content in {step.after for step in world.steps if step.after is not None}:
        lines = [normal(line) for line in split(content.encode())]
        owners = found.owners(content, content.encode(), [], world.now)
        assert len(owners) == len(lines), "I1"
        for owner, line in zip(owners, lines, strict=True):
            if owner in made:
                assert line in written(made[owner]) or is_trivial(line), "I3"
                assert made[owner].time <= committed.get(content, world.now) + SLACK, "I4"
        for (owner, line), times in Counter(zip(owners, lines, strict=True)).items():
            if owner in made and not is_trivial(line):
                assert times <= written(made[owner])[line], "I5"


def written(step: EventStep) -> Counter[bytes]:
    """Returns how often an event's version has each text."""
    return Counter(normal(line) for line in split((step.after or "").encode()))


def test_i7_the_order_of_arrival_changes_nothing(repo: Repo) -> None:
    """Blame takes events by time, clock and id alone, whatever came first into the store."""
    repo.commit({"a.py": text("base")}, "base")
    one, two = Agent(repo), Agent(repo, OTHER, name="other")
    for number in range(6):
        (one if number % 2 else two).write("a.py", text("base", *[f"line {n} of them" for n in range(number + 1)]))
    events = one.store.events_on(b"a.py")
    assert len(events) == 6
    for seed in range(20):
        shuffled = random.Random(seed).sample(events, len(events))
        assert effective_times(shuffled) == effective_times(events)


SEEDS = 12


def changed(random: random.Random, lines: list[str], mark: str) -> list[str]:
    """Returns some lines after an edit: a few gone, a few come."""
    at = random.randint(0, len(lines))
    come = [f"line {n} of {mark} in this history" for n in range(random.randint(1, 3))]
    return lines[:at] + come + lines[at + random.randint(0, 2) :]


def owners_in(agent: Agent, path: str) -> list[tuple[str, str | None]]:
    return [(line.owner, line.event) for line in blame(agent.store, path.encode()).lines]


def test_i12_and_i15_in_real_git(repo: Repo) -> None:
    """A file renamed as it is keeps its owners, however often; events on other paths change nobody's line.

    Each seed has a file of its own, which an agent and a person edit in turn; what others write elsewhere is the file's
    own lines, in another order.
    """
    minutes = count(1)
    paths = [f"{seed}/a.py" for seed in range(SEEDS)]
    bases = {path: [f"line {n} of the base of {path}" for n in range(4)] for path in paths}
    repo.commit({path: text(*lines) for path, lines in bases.items()}, "base")
    agent = Agent(repo)
    kept = {}

    def commit(message: str) -> None:
        when = f"2026-01-06T09:{next(minutes):02}:00+00:00"
        repo.git("add", "-A")
        repo.git("commit", "-qm", message, env={"GIT_COMMITTER_DATE": when, "GIT_AUTHOR_DATE": when})

    for seed, path in enumerate(paths):
        choice, lines = random.Random(seed), bases[path]
        for step in range(5):
            lines = changed(choice, lines, f"step {step} of {seed}")
            if step % 2:
                (repo.path / path).write_text(text(*lines))
            else:
                agent.write(path, text(*lines))
        kept[path] = owners_in(agent, path)
    commit("all")
    committed = {path: owners_in(agent, path) for path in kept}
    for path, before in kept.items():
        events = [event if owner == "event" else None for owner, event in before]
        assert [event for _, event in committed[path]] == events
        assert len(set(events)) > 1
    for seed, path in enumerate(kept):
        lines = (repo.path / path).read_text().splitlines()
        agent.write(f"other/{seed}.py", text(*random.Random(seed).sample(lines, len(lines))))
        agent.write(f"{seed}/b.py", text(*lines))
    assert {path: owners_in(agent, path) for path in kept} == committed
    for folder in ("moved", "moved again"):
        for path in kept:
            (repo.path / folder / path).parent.mkdir(parents=True, exist_ok=True)
            older = path if folder == "moved" else f"moved/{path}"
            repo.git("mv", older, f"{folder}/{path}")
        commit(folder)
        assert {path: owners_in(agent, f"{folder}/{path}") for path in kept} == committed
