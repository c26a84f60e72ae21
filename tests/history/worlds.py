"""A small world of versions of one file, for tests of attribution: contents name themselves, a step takes a minute."""

from collections.abc import Sequence

from pogstore.history.attribution import Attribution
from pogstore.history.explanation import Owner
from pogstore.history.stream import CommitStep, EventStep, Kind
from pogstore.store.libgit2 import line_hunks

MINUTE = 60_000_000
ABSENT = "absent"


def text(*lines: str) -> str:
    """Returns a content with some lines."""
    return "".join(f"{line}\n" for line in lines)


class World:
    """Versions named by themselves, and steps a minute apart."""

    def __init__(self) -> None:
        self.steps: list[EventStep | CommitStep] = []
        self.now = 1_000 * MINUTE

    def event(
        self,
        event: Owner,
        before: str | None,
        after: str | None,
        *,
        chain: str = "w",
        unsure: bool = False,
        kind: Kind = "edit",
    ) -> None:
        """Adds an event."""
        self.now += MINUTE
        self.steps.append(EventStep(event, self.now, before, after, chain, unsure, kind))

    def commit(self, commit: Owner, after: str | None, *parents: str, authored: int | None = None) -> None:
        """Adds a commit."""
        self.now += MINUTE
        moment = self.now if authored is None else authored
        self.steps.append(CommitStep(commit, self.now, moment, after, tuple(parents)))

    def replayed(self, *, explained: bool = False) -> Attribution:
        """Returns the attribution of all steps."""
        found = Attribution(
            lambda key: None if key.startswith(ABSENT) else key.encode(), line_hunks, explained=explained
        )
        found.replay(self.steps)
        return found

    def owners(self, content: str, *parents: str, explained: bool = False) -> list[Owner]:
        """Returns the owner of each line of a content after all steps."""
        return self.replayed(explained=explained).owners(content, content.encode(), parents, self.now + MINUTE)

    def absent(self) -> list[Owner]:
        """Returns the events whose contents are not here."""
        return self.replayed().absent

    def without(self, events: Sequence[Owner]) -> "World":
        """Returns the same world in which some events were never recorded."""
        other = World()
        other.now = self.now
        other.steps = [step for step in self.steps if not (isinstance(step, EventStep) and step.event in events)]
        return other
