"""How long the replay order of many events takes, beside `sorted` over the same pairs of clock and id."""

import random
from collections.abc import Iterator
from functools import partial

from benchmarks.material import PERSON, STARTED, task_of
from benchmarks.measure import Options, Peer, Row, compare, in_turn, main
from pogstore import graph
from pogstore.model import FORMAT, EventId, Noted, Sealed


def rows(options: Options) -> Iterator[Row]:
    """Yields a figure for pairs, as an index holds them, and one for decoded events."""
    chance = random.Random(7)
    pairs = [
        (chance.randrange(options.events), EventId(f"{chance.getrandbits(256):064x}")) for _ in range(options.events)
    ]
    events = [_event(clock, event_id) for clock, event_id in pairs]
    by_sorted = partial(sorted, pairs)
    for what, ours in (("pairs", partial(graph.order, pairs)), ("events", partial(graph.replay_order, events))):
        mine, theirs = in_turn(options.runs, ours, by_sorted)
        question = f"the order of {options.events:,} {what}"
        yield compare(question, mine, Peer("sorted, of the pairs", theirs), at_most=6.0, count=options.events)


def _event(clock: int, event_id: EventId) -> Sealed:
    return Sealed(event_id, b"", Noted(v=FORMAT, task=task_of(0), clock=clock, time=STARTED, actor=PERSON))


if __name__ == "__main__":
    main(rows, events=100_000, quick=300)
