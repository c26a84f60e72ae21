"""One stream in time of the events and commits that changed a file, as attribution takes them."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

from pogstore.history.explanation import Key, Owner

Kind = Literal["edit", "shell", "observed"]
"""What an event saw: one tool's edit, all that a command left behind, or what changed outside of every step."""

SLACK = 60_000_000
"""µs by which an event may be later than the commit that holds its lines: two clocks are never the same."""
SECOND = 1_000_000
"""µs: the grain of a commit's times."""


class EventStep(NamedTuple):
    """An event that made `after` of `before`; `chain` tells the places apart in which versions follow each other.

    With `unsure` an absent `before` is one that nobody saw, not a file that did not exist. `duration` is how long a
    command ran, in µs, if that is known. A command and what was observed may bring back what others wrote.
    """

    event: Owner
    time: int
    before: Key | None
    after: Key | None
    chain: str
    unsure: bool = False
    kind: Kind = "edit"
    duration: int | None = None

    @property
    def begun(self) -> int:
        """The time from which on a commit may be the step's own; nothing that was only observed makes commits."""
        if self.kind == "observed":
            return self.time + SECOND
        return self.time - (SLACK if self.duration is None else self.duration)


class CommitStep(NamedTuple):
    """A commit that holds a version, over what its parents held.

    `authored` is when its work was done, which a rebase leaves as it is. With `is_old` nobody asks which commit wrote
    its lines.
    """

    commit: Owner
    time: int
    authored: int
    after: Key | None
    parents: tuple[Key, ...]
    is_old: bool = False


def steps(events: Iterable[EventStep], commits: Iterable[CommitStep]) -> list[EventStep | CommitStep]:
    """Returns one stream in time; an event comes before a commit of the same time.

    Commits stay in their topological order, so one whose clock was behind is placed with those before it.
    """
    placed: list[tuple[int, int, int, EventStep | CommitStep]] = []
    placed += [(event.time, 0, at, event) for at, event in enumerate(events)]
    latest = 0
    for at, commit in enumerate(commits):
        latest = max(latest, commit.time)
        placed.append((latest, 1, at, commit))
    return told_old([step for *_, step in sorted(placed, key=lambda item: item[:3])])


def told_old(stream: list[EventStep | CommitStep]) -> list[EventStep | CommitStep]:
    """Tells of the commits before all events that they are old, where all events are edits.

    Only what a command brings back may be a commit's again; an edit is only asked whether he came before a commit.
    """
    events = [step for step in stream if isinstance(step, EventStep)]
    if not events or any(event.kind != "edit" for event in events):
        return stream
    first = stream.index(events[0])
    early = [step for step in stream[:first] if isinstance(step, CommitStep)]
    return [*(step._replace(is_old=step.time < events[0].time - SLACK) for step in early), *stream[first:]]
