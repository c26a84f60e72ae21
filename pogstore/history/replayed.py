"""Replays that write: what is written down before, so that a killed one goes on, and the events that tell of it.

One small file for each branch or directory that is being written, in the git dir of the work tree; it goes when all is
done. It pins the events and the base, so that whoever goes on comes to the same result.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from pogstore import digest
from pogstore.errors import BadInput, Conflict, NotEnabled, NotFound, UnsafePath
from pogstore.history.names import Named
from pogstore.history.replay import Progress, Replay, plan_groups
from pogstore.history.replay_range import groups_in
from pogstore.model import EventId, Link, Oid, Outcome, Replayed, Sealed, Slice, Source, TaskId
from pogstore.store import rows
from pogstore.store.batch import Batch
from pogstore.store.layout import Layout
from pogstore.store.store import Store
from pogstore.work.acts import By, common

EFFECTS = "effects"
MADE = "made"
"""The relation of a `replayed` event to the commit it made."""
SOURCE = "replay"
PART_TARGETS = 3_000
"""So many targets at most in one event; more are split over events that apply together."""
_FOLDER = "replay"


class Begun(msgspec.Struct, frozen=True, kw_only=True):
    """A replay that writes, as it is noted before it does. `key` tells its events from all others."""

    key: str
    digest: str
    events: tuple[EventId, ...]
    tasks: tuple[TaskId, ...]
    onto: Oid | None = None
    branch: str | None = None
    directory: str | None = None
    committer: str | None = None

    @property
    def target(self) -> str:
        """What is being written, in words."""
        return f"branch '{self.branch}'" if self.branch is not None else f"directory '{self.directory}'"


_begun = msgspec.json.Decoder(Begun)


def begin(store: Store, replay: Replay, *, branch: str | None = None, directory: str | None = None,
          committer: str | None = None) -> Begun:  # fmt: skip
    """Notes a replay that is about to be written, on disk when this returns."""
    events = [result.event for result in replay.results]
    begun = Begun(
        key=os.urandom(16).hex(),
        digest=digest_of(replay),
        events=tuple(sealed.event_id for sealed in events),
        tasks=tuple(sealed.event.task for sealed in events),
        onto=replay.base if replay.onto else None,
        branch=branch,
        directory=directory,
        committer=committer,
    )
    place = _place(store.layout, begun)
    place.parent.mkdir(parents=True, exist_ok=True)
    staged = place.with_name(f"{place.name}.{os.getpid()}")
    with staged.open("wb") as file:
        file.write(msgspec.json.encode(begun))
        file.flush()
        os.fsync(file.fileno())
    staged.replace(place)
    return begun


def end(store: Store, begun: Begun) -> None:
    """Forgets a replay that is done."""
    _place(store.layout, begun).unlink(missing_ok=True)


def unfinished(store: Store) -> list[Begun]:
    """Returns the replays of this work tree that were begun and not ended."""
    found = []
    for path in sorted((store.layout.own_here / _FOLDER).glob("*.json")):
        try:
            found.append(_begun.decode(path.read_bytes()))
        except msgspec.DecodeError as fault:
            raise BadInput(f"'{path}'", f"is no state of a replay: {fault}", "remove it to begin anew") from fault
    return found


def find_begun(store: Store, branch: str | None, directory: str | None) -> Begun:
    """Returns the one unfinished replay, or the one into a branch or a directory; raises `NotFound`, `BadInput`."""
    every = unfinished(store)
    wanted = [each for each in every if (branch is None and directory is None) or _names(each, branch, directory)]
    if not wanted:
        raise NotFound("unfinished replay", branch or directory or "@")
    if len(wanted) > 1:
        targets = " and ".join(each.target for each in wanted)
        raise BadInput("'--resume'", f"{targets} are unfinished", "say which with '--branch' or '--into'")
    return wanted[0]


def plan_again(store: Store, begun: Begun, progress: Progress) -> Replay:
    """Returns the replay that was begun; raises `Conflict` if it would come to something else now."""
    names = [Named(task, event_id) for task, event_id in zip(begun.tasks, begun.events, strict=True)]
    with store.one_moment():
        replay = plan_groups(store, groups_in(store, names), begun.onto, progress)
    if digest_of(replay) != begun.digest:
        raise Conflict(
            f"the replay into {begun.target} would not come to what it was begun for",
            [],
            "events or contents have come or gone since; remove what it has written, and replay anew",
        )
    return replay


def check_writable(store: Store, replay: Replay, *, partial: bool) -> None:
    """Raises `UnsafePath` for a path that nobody may write, and `Conflict` where an event would be left out."""
    if not store.enabled:
        raise NotEnabled
    for place in replay.refused:
        raise UnsafePath(place.path if isinstance(place.path, str) else "?", place.reason)
    if not partial and not replay.is_whole:
        paths = [place.path for result in replay.results for place in result.places if isinstance(place.path, str)]
        hint = "'--check' shows each of them, '--partial' leaves them out"
        raise Conflict("nothing was written: some events cannot be applied", sorted(set(paths)), hint)


def digest_of(replay: Replay) -> str:
    """Returns 64 hex digits over everything that a replay would write."""
    steps = [
        [(result.event.event_id, result.outcome) for result in step.results] + [step.arrived, step.puts]
        for step in replay.steps
    ]
    plain = msgspec.to_builtins([replay.base, replay.onto, replay.before, steps])
    return digest.hexdigest(msgspec.json.encode(plain, order="sorted"))


def record(store: Store, batch: Batch, replay: Replay, by: By, key: str, commit: Oid | None = None) -> list[Sealed]:
    """Adds the `replayed` events of a replay, one for each task, or several; those that are there already stay."""
    store.refresh()
    found: list[Sealed] = []
    for task in dict.fromkeys(result.event.event.task for result in replay.results):
        known = rows.events_from(store.index.connection, task, SOURCE)
        for number, event in enumerate(_events(replay, task, by, commit), 1):
            source = Source(format=SOURCE, key=f"{key}:{number}")
            if source.key in known:
                found.append(store.event(known[source.key]))
            else:
                found.append(batch.append(msgspec.structs.replace(event, source=source)))
    return found


def _events(replay: Replay, task: TaskId, by: By, commit: Oid | None) -> Iterator[Replayed]:
    results = [result for result in replay.results if result.event.event.task == task]
    slices = [results[at : at + PART_TARGETS] for at in range(0, len(results), PART_TARGETS)]
    for number, part in enumerate(slices, 1):
        yield Replayed(
            **common(task, by, (Link(rel=MADE, commit=f"sha1_{commit}"),) if commit else ()),
            part=Slice(n=number, of=len(slices)) if len(slices) > 1 else None,
            targets=tuple(result.event.event_id for result in part),
            outcomes=tuple(Outcome(event=result.event.event_id, outcome=result.outcome) for result in part),
            strategy=EFFECTS,
        )


def _names(begun: Begun, branch: str | None, directory: str | None) -> bool:
    return begun.branch == branch if branch is not None else begun.directory == directory


def _place(layout: Layout, begun: Begun) -> Path:
    name = digest.hexdigest(begun.target.encode("utf-8", "surrogateescape"))[:16]
    return layout.own_here / _FOLDER / f"{name}.json"
