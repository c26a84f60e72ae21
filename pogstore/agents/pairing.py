"""Which of some calls without ids belong together: by what they do, and in the order in which they came. Pure.

Some agents give a call no id. Two equal ones that run beside each other are told apart by their order, and one that was
told twice by the time that the agent itself puts into what it says.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator

from pogstore.agents.heard import FAILED, SESSION_END, SESSION_START, Heard

_Key = tuple[str, str, bytes]


def paired(said: Iterable[Heard]) -> Iterator[Heard]:
    """Yields what was said in its order, each call without an id with its number among its equals.

    An end belongs to the first of them that has none yet, if its turn or session was not over before. What the same
    hook was told twice, by two installations of it, is left out, and so is a failure behind an end that told of it.
    """
    numbers: dict[_Key, int] = defaultdict(int)
    waiting: dict[_Key, deque[int]] = defaultdict(deque)
    known: set[tuple[bytes, str, bytes]] = set()
    for heard in said:
        if heard.settles or heard.phase in (SESSION_START, SESSION_END):
            for key in [key for key in waiting if key[0] == heard.session]:
                del waiting[key]
        if heard.call_id is not None or not (heard.begins or heard.ends):
            yield heard
            continue
        told = (heard.record.git_dir, heard.record.event, heard.record.payload)
        if heard.stamp and told in known:
            continue
        known.add(told)
        key = (*heard.call, heard.record.git_dir)
        if heard.ends and waiting[key]:
            yield heard._replace(nth=waiting[key].popleft())
            continue
        if heard.phase == FAILED and numbers[key]:
            continue  # its end was told, and now its failure too
        if heard.begins:
            waiting[key].append(numbers[key])
        yield heard._replace(nth=numbers[key])
        numbers[key] += 1
