"""Histories to be replayed: what was recorded, with what each path held after each event."""

import os
import zlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hypothesis import strategies as st

from pogstore.draft import FileVersion
from pogstore.history.names import Named
from pogstore.history.replay import Replay, plan_replay
from pogstore.history.replay_world import Held
from pogstore.model import EventId, Observed, Sealed, TaskId
from pogstore.store.batch import Batch
from pogstore.store.content import blob_id
from pogstore.store.loose import oid_of
from pogstore.store.store import open_store
from tests.builders_rollback import AGENT, Bench, Files, Step, change_of, file, link, program
from tests.conftest import SECOND

PATHS = ("f", "d", "d/g", "d/e/h", "ü/ñ.txt", "a b", os.fsdecode(b"odd-\xff"), "-n", "tail.crlf")
"""Some of them are in each other's way."""
VERSIONS = (
    *(file(data) for data in (b"", b"one\n", b"one\ntwo\n", b"no end", b"crlf\r\nlines\r\n", b"\0binary\xff")),
    program(b"one\n"),
    program(b"#!/bin/sh\n"),
    link(b"f"),
    link(b"/nowhere/at/all"),
)


class Recorded(NamedTuple):
    """One event, and what all paths held after it."""

    event_id: EventId
    task: TaskId
    files: Files


Action = tuple[int, bool, str, str, FileVersion | None]
"""The task, whether it was only observed, a path, another path, a version; what is done follows from what is there."""
actions = st.tuples(
    st.integers(0, 2),
    st.booleans(),
    st.sampled_from(PATHS),
    st.sampled_from(PATHS),
    st.one_of(st.sampled_from(VERSIONS), st.none()),
)
histories = st.lists(actions, min_size=2, max_size=9)


def record(bench: Bench, done: Sequence[Action], files: Mapping[str, FileVersion] = {}) -> list[Recorded]:
    """Records what some actions did to some files; what would change nothing is left out."""
    tasks = [bench.task, bench.new_task(), bench.new_task()]
    now: Files = dict(files)
    found = []
    for which, is_observed, path, other, version in done:
        step = _step(now, path, other, version)
        if step is None:
            continue
        event_id = observe(bench, step, tasks[which]) if is_observed else bench.record(step, task=tasks[which])
        if step.older is not None:
            del now[step.older]
        now.pop(step.path, None)
        if step.after is not None:
            now[step.path] = step.after
        found.append(Recorded(event_id, tasks[which], dict(now)))
    return found


def _step(now: Files, path: str, other: str, version: FileVersion | None) -> Step | None:
    """What can be done to a path: another version, a deletion, or a move to a free name, perhaps with an edit."""
    before = now.get(path)
    if path != other and before is not None and _is_free({each: now[each] for each in now if each != path}, other):
        return Step(other, before, version if version and version.mode == before.mode else before, path)
    if before == version or (version is not None and before is None and not _is_free(now, path)):
        return None
    return Step(path, before, version)


def _is_free(now: Files, path: str) -> bool:
    return not any(path == each or path.startswith(f"{each}/") or each.startswith(f"{path}/") for each in now)


def observe(bench: Bench, step: Step, task: TaskId) -> EventId:
    """Records a change that nobody's call made."""
    bench.now += SECOND

    def write(batch: Batch) -> Sealed:
        bench.store.refresh()
        changes = (change_of(batch, task, step),)
        return batch.append(Observed(v=1, task=task, clock=1, time=bench.now, actor=AGENT, changes=changes))

    return bench.store.transact(write).event_id


def named(bench: Bench, *names: str) -> list[Named]:
    """Tasks and events; all tasks if none is named."""
    return [bench.named(name) for name in names] if names else [Named(task) for task in bench.store.tasks()]


def replay(bench: Bench, *names: str, onto: str | None = None) -> Replay:
    """Replays tasks and events, or all of them, in memory."""
    return plan_replay(bench.store, named(bench, *names), onto)


def outcomes(found: Replay) -> dict[EventId, str]:
    """What came of each event."""
    return {result.event.event_id: result.outcome for result in found.results}


def reasons(found: Replay) -> dict[str, str]:
    """Why an event was not simply applied, by path."""
    return {str(place.path): place.reason for result in found.results for place in result.places}


def held(files: Mapping[str, FileVersion]) -> dict[bytes, Held]:
    """What paths hold, as a replay names it."""
    return {os.fsencode(path): Held(version.mode, blob_id(version.data)) for path, version in files.items()}


def prefixes(found: Replay, files: Mapping[bytes, Held] = {}) -> list[dict[bytes, Held]]:
    """What all paths hold after each step."""
    now: dict[bytes, Held | None] = {**files, **dict(found.before)}
    after = []
    for step in found.steps:
        now |= dict(step.arrived)
        now |= dict(step.puts)
        after.append({path: each for path, each in now.items() if each is not None})
    return after


def committed(bench: Bench, revision: str) -> dict[str, tuple[str, str]]:
    """The files of a commit: mode and git's name of the blob, by path."""
    records = bench.repo.git("ls-tree", "-r", "-z", "--full-tree", revision).split("\0")[:-1]
    return {
        path: (fields.split()[0], fields.split()[2]) for fields, _, path in (each.partition("\t") for each in records)
    }


def as_git_has(files: Mapping[str, FileVersion]) -> dict[str, tuple[str, str]]:
    """Files as `committed` says them."""
    return {path: (version.mode, oid_of("blob", version.data)) for path, version in files.items()}


def damage(bench: Bench, data: bytes) -> None:
    """Lets a content be another one, as a failing disk would."""
    oid = bench.store.objects.name("blob", data)
    place = bench.store.layout.objects / oid[:2] / oid[2:]
    place.chmod(0o644)
    place.write_bytes(zlib.compress(b"blob 2\0x\n"))
    bench.store.close()
    bench.store = open_store(bench.path)


def lose(bench: Bench, data: bytes) -> None:
    """Takes a content out of the repository, as a failing disk would."""
    oid = bench.store.objects.name("blob", data)
    place = bench.store.layout.objects / oid[:2] / oid[2:]
    place.unlink()
    bench.store.close()
    bench.store = open_store(bench.path)
