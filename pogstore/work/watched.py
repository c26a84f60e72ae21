"""What changed in a work tree while something was done there: looks before and after, and the events that tell of it.

For those who do the work themselves, in this process: nothing passes through the spool. Knows no agents.
"""

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

from pogstore.draft import Draft, DraftChange, DraftText, TaskDrafts
from pogstore.errors import BadInput, NoWorkTree
from pogstore.model import Actor, TaskId
from pogstore.store.layout import Layout
from pogstore.store.lock import locked
from pogstore.store.store import Store
from pogstore.work import begun, compared, intake, setup, sighting, spool
from pogstore.work.active import worktree_id
from pogstore.work.acts import By
from pogstore.work.begun import Begun
from pogstore.work.compared import Compared, Look
from pogstore.work.look import head_of, look
from pogstore.work.open_calls import OpenCall
from pogstore.work.recorded import Recorded
from pogstore.work.spooled_record import Seen, decode_record

PATIENCE = 30.0
"""Seconds that one look may take: whoever starts a command waits for it anyway."""
WAIT = 300.0
"""Seconds that one call waits for others to look at the same work tree."""
Clock = Callable[[], int]
ANOTHER_CALL = "another-call"


class Found(NamedTuple):
    """What was changed by what was done, and how far this is known; `apart` is what others changed meanwhile."""

    changes: tuple[DraftChange, ...] = ()
    odd: tuple[object, ...] = ()
    coverage: str | None = None
    reason: str | None = None
    base: Mapping[str, object] | None = None
    apart: Compared | None = None


class Watch:
    """A stretch of work in one work tree, watched from now on until it is compared.

    `paths` are the only ones to be looked at; `None` is the whole tree. What changed before without anybody telling is
    written as `observed` at once. `around` are the calls that this one is a part of; `now` tells the time, in µs.
    """

    def __init__(
        self, store: Store, task: TaskId, paths: tuple[bytes, ...] | None, now: Clock, around: Collection[str] = ()
    ) -> None:
        self._task, self._paths = task, paths
        self._looks = store.layout.work_tree is not None and paths != () and (paths is not None or _patience(store) > 0)
        self._call = OpenCall(store.layout, around)
        self._known: Recorded | None = None
        try:
            with self._alone(store):
                self._before = self._look(store, now())
                self._observe(store)
        except BaseException:
            self.close()
            raise

    @property
    def name(self) -> str:
        """What tells this call from the others that are open in the work tree."""
        return self._call.name

    def begun(self, store: Store) -> Begun | None:
        """Returns what the whole work tree held when the watch began, once it has ended; `None` if not known."""
        before, known = self._before, self._known
        if known is None or before.head is None or before.reason is not None or self._paths is not None:
            return None
        held = {path: known.held(state) for path, state in before.states.items()}
        return begun.begun(store, before.head.commit or None, held)

    def close(self) -> None:
        """Ends the watch; a second time does nothing."""
        self._call.close()

    @contextmanager
    def ended(self, store: Store, now: Clock) -> Iterator[Found]:
        """Ends the watch and yields what changed since it began, but for what events of others tell by now.

        It is to be written in the block: whoever ends next waits for that, so that nothing is told twice.
        """
        with self._alone(store):
            yield self._compare(store, now())

    @contextmanager
    def _alone(self, store: Store) -> Iterator[None]:
        """Lets nobody else look at this work tree and write what was seen there."""
        if not self._looks:
            yield
            return
        with locked(store.layout.own_here / "looking", WAIT):
            yield

    def _compare(self, store: Store, time: int) -> Found:
        if not self._looks:
            self.close()
            return Found(coverage="none", reason="not-compared")
        now = self._look(store, time)
        beside = self._call.is_beside
        self.close()
        recorded = self._recorded(store)
        if self._before.reason is not None:
            return Found(coverage="partial", reason=self._before.reason, base=compared.base_of(now.head))
        self._known = recorded
        compared.observe(recorded, None, self._before)  # anew: what was recorded meanwhile is to be seen
        done = compared.compare(recorded, self._before, now)
        coverage, reason = done.coverage, done.reason
        if beside and coverage != "partial" and (self._paths is None or not done.is_empty):
            coverage, reason = "shared", ANOTHER_CALL
        elif self._paths is not None and coverage != "partial":
            coverage, reason = "scoped", None
        return Found(done.changes, done.odd, coverage, reason, done.base, done.apart)

    def _recorded(self, store: Store) -> Recorded:
        return Recorded(store, store, worktree_id(store.layout))

    def _observe(self, store: Store) -> None:
        if not self._looks:
            return
        found = compared.observe(self._recorded(store), None, self._before)
        if not found.is_empty:
            _put(store, self._task, [_observed(found, self._before.time, worktree_id(store.layout))])

    def _look(self, store: Store, time: int) -> Look:
        if not self._looks:
            return Look(None, {}, time)
        place = _place(store.layout)
        if self._paths is None:
            seen = look(place, store.max_blob, _patience(store))
            head, whole, states, log = seen.head, seen.look, seen.states, seen.log
        else:
            head, whole, log = head_of(place[1], place[2]), b"whole", -1
            inside = (place[0] + b"/" + path for path in self._paths)
            states = [state for path in inside for state in sighting.states(place[0], path, store.max_blob)]
        found = _decoded(place, head, whole, states, time)
        return found._replace(log=log, states={path: self._read(store, state) for path, state in found.states.items()})

    def _read(self, store: Store, state: compared.State) -> compared.State:
        """Returns a state with the bytes that lie in an earlier record, which may be gone once the file is another."""
        if not isinstance(state, Seen) or not state.kept or state.data is not None:
            return state
        place = _place(store.layout)
        states = sighting.states(place[0], place[0] + b"/" + state.path, store.max_blob)
        again = _decoded(place, b"", b"whole", states, 0).states.get(state.path)
        if isinstance(again, Seen) and again.blake3 == state.blake3:
            return state._replace(data=again.data, kept=False)
        return state


def write(
    store: Store,
    task: TaskId,
    kind: str,
    by: By,
    fields: Mapping[str, object],
    texts: Mapping[str, DraftText],
    found: Found,
) -> None:
    """Writes one event of what was done; before it, as `observed`, what others changed meanwhile."""
    said = dict(fields) | {"coverage": found.coverage, "coverage_reason": found.reason, "base": found.base}
    said |= {"changes": list(found.odd)} if found.odd else {}
    draft = Draft(
        kind=kind,
        time=by.time,
        offset=by.offset,
        actor=by.actor,
        fields=_present(said | {"worktree": by.worktree}),
        texts=dict(texts),
        changes=found.changes,
    )
    apart = [_observed(found.apart, by.time, by.worktree)] if found.apart is not None else []
    _put(store, task, [*apart, draft])


def path_inside(layout: Layout, path: str | bytes | os.PathLike[str] | os.PathLike[bytes]) -> bytes:
    """Returns a path from the root of the work tree; raises `BadInput` for what is no file of it, `NoWorkTree`."""
    if layout.work_tree is None:
        raise NoWorkTree
    place = _place(layout)
    shown = os.fsdecode(path)
    inside, home = sighting.locate(os.fsencode(layout.work_tree / shown))
    if home is None or home[0] != place[0] or not inside.startswith(place[0].rstrip(b"/") + b"/"):
        raise BadInput(f"'{shown}'", "is outside the work tree, or in a repository inside it")
    name = inside[len(place[0].rstrip(b"/")) + 1 :]
    if b".git" in name.lower().split(b"/"):
        raise BadInput(f"'{shown}'", "is git's own")
    if _is_directory(Path(os.fsdecode(inside))):
        raise BadInput(f"'{shown}'", "is a directory", "name its files, or no paths at all for the whole work tree")
    return name


def _is_directory(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _put(store: Store, task: TaskId, drafts: list[Draft]) -> None:
    intake.take(store, [TaskDrafts(task=task, drafts=tuple(drafts))], imported=False)


def _observed(found: Compared, time: int, worktree: str | None) -> Draft:
    fields: dict[str, object] = {"coverage": found.coverage, "coverage_reason": found.reason, "worktree": worktree}
    fields |= {"base_from": found.base_from, "base": found.base, "changes": list(found.odd) or None}
    actor = Actor(type="unknown")
    return Draft(kind="observed", time=time, actor=actor, fields=_present(fields), changes=found.changes)


def _present(fields: Mapping[str, object]) -> dict[str, object]:
    """Returns the fields that say something, as plain values."""
    return {name: msgspec.to_builtins(value) for name, value in fields.items() if value not in (None, ())}


def _place(layout: Layout) -> sighting.Place:
    root = layout.work_tree or Path(os.devnull)
    return os.fsencode(root), os.fsencode(layout.git_dir), os.fsencode(layout.common_dir)


def _patience(store: Store) -> float:
    """Returns how long a look may take; nothing where the configuration says that there shall be none."""
    return PATIENCE if setup.settings(store)[2] else 0.0


def _decoded(place: sighting.Place, head: bytes, whole: bytes, states: list[bytes], time: int) -> Look:
    root, git_dir, common_dir = place
    record = spool.encode_record(
        record_id="", agent="", event="", time=time, offset=0, git_dir=git_dir, common_dir=common_dir, root=root,
        payload=b"", whole=True, head=head, look=whole, states=states,
    )  # fmt: skip
    return compared.look_of(decode_record(record)) or Look(None, {}, time, "failed")
