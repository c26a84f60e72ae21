"""A recorded command, run once more and compared: in a fresh work tree, with what it had then, far from the user's own.

Only what was recorded in this very repository is ever run (`work/begun.py`): an event that was fetched is not, whatever
it says of itself. Never by way of a shell. Asks nobody: that a person agrees is for the caller to find out.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from pogstore.draft import FileVersion
from pogstore.errors import BadInput, NotFound, NoWorkTree, PogError, RefusedByPolicy
from pogstore.history import environments
from pogstore.history.environments import Difference, Told
from pogstore.model import FORMAT, EventId, Outcome, Ran, Replayed, Sealed, Side
from pogstore.store.content import path_bytes
from pogstore.store.store import Store
from pogstore.work import begun, environment
from pogstore.work.acts import By
from pogstore.work.arguments import argv_of
from pogstore.work.freshtree import FreshTree, fresh_tree, refuse_inside, scratch
from pogstore.work.paths import check_relative
from pogstore.work.process import Finished, execute, signals_passed_on
from pogstore.work.rooted import read_version

STRATEGY = "exec"
SAME, DIFFERS, MISSING = "same", "differs", "missing"
PATIENCE = 600.0
"""Seconds that a command may take, unless somebody says otherwise."""
_KEPT = (b"PATH", b"HOME")
_MASK = "[redacted:"


class Expected(NamedTuple):
    """What a path held when the command had ended: a version in git's form (`side`), one as it lay there, or nothing.

    With `fault` that is not known.
    """

    side: Side | None = None
    version: FileVersion | None = None
    fault: bool = False


class Ready(NamedTuple):
    """A command that can be run: the event, what would be run and where, and what differs from then."""

    sealed: Sealed
    event: Ran
    argv: tuple[bytes, ...]
    cwd: Path
    environ: Mapping[bytes, bytes]
    tree: FreshTree
    expected: Mapping[bytes, Expected]
    differences: tuple[Difference, ...]
    is_told: bool
    """Whether it is known in which environment it ran."""
    lacking: tuple[bytes, ...]
    """Files that were there, and that nobody kept."""


class Verdict(NamedTuple):
    """One output: `same`, `differs` or `missing`, and both versions, where there are any."""

    path: bytes
    verdict: str
    recorded: FileVersion | None
    now: FileVersion | None


class Result(NamedTuple):
    """How it ended. Where the exit status is not the recorded one nothing is compared, and `verdicts` is empty.

    `uncompared` are outputs of which nobody kept what they held, `others` what it changed now and did not then.
    """

    finished: Finished
    verdicts: tuple[Verdict, ...] = ()
    uncompared: tuple[bytes, ...] = ()
    others: tuple[bytes, ...] = ()
    stopped: bool = False

    @property
    def outcome(self) -> str:
        """What became of the event, in one word."""
        if self.stopped or self.others or any(each.verdict != SAME for each in self.verdicts):
            return "diverged"
        return "unverifiable" if self.uncompared else "identical"


@contextmanager
def ready(store: Store, event_id: EventId, environ: Mapping[bytes, bytes]) -> Iterator[Ready]:
    """Makes all ready to run a command again, and gives that; what it needs is removed at the end of the block.

    Raises `RefusedByPolicy` for what was not recorded here, and `BadInput` where it cannot be run as
    it was.
    """
    root = store.layout.work_tree
    if root is None:
        raise NoWorkTree
    sealed = store.event(event_id)
    event = sealed.event
    if not isinstance(event, Ran):
        raise BadInput(f"event '{event_id}'", "is no recorded command", "'git pog log' shows which are: they say 'ran'")
    how = begun.find(store, event_id)
    if how is None:
        raise RefusedByPolicy(
            f"event '{event_id}' was not recorded in this repository",
            "what was fetched or imported is never run, and neither is what an older version recorded",
        )
    if not how.whole or event.part is not None:
        raise _cannot(event_id, "what the work tree held before it was too much to keep")
    argv = _argv(store, event_id, event, root)
    with fresh_tree(store, how) as tree:
        cwd = _cwd(event_id, event, tree)
        then = _told(store, sealed)
        around = _environ(store, environ, then)
        differences = _differences(store, tree, cwd, around, then)
        expected, lacking = _expected(event, tree), _lacking(event, tree)
        _remove(event, tree)
        yield Ready(sealed, event, argv, cwd, around, tree, expected, differences, then is not None, lacking)


def run(store: Store, ready: Ready, *, seconds: float = PATIENCE, shown: tuple[int, int] = (2, 2)) -> Result:
    """Runs a command again, and compares what it left with what was recorded. Raises `CannotRun`.

    Another exit status, or the end of its time, stops it there: nothing is compared then (case RC-38).
    """
    with signals_passed_on(apart=True) as signals:
        finished = execute(
            ready.argv, signals, cwd=ready.cwd, environ=ready.environ,
            stdout=shown[0], stderr=shown[1], apart=seconds,
        )  # fmt: skip
    if finished.late or finished.status != ready.event.exit_code:
        return Result(finished, stopped=True)
    verdicts: list[Verdict] = []
    uncompared: list[bytes] = []
    for path, expected in ready.expected.items():
        try:
            verdicts.append(_verdict(store, ready.tree, path, expected))
        except NotFound:
            uncompared.append(path)
    others = tuple(sorted(ready.tree.changed() - ready.expected.keys()))
    return Result(finished, tuple(verdicts), tuple(uncompared), others)


def record(store: Store, ready: Ready, result: Result, by: By) -> Sealed:
    """Writes that a command was run again, and what became of it; raises `BadInput` if it was stopped."""
    if result.stopped:
        raise BadInput(f"event '{ready.sealed.event_id}'", "was not run to the recorded end; nothing is recorded")
    event_id = ready.sealed.event_id
    told = Replayed(
        v=FORMAT, task=ready.event.task, clock=1, time=by.time, offset=by.offset, actor=by.actor, worktree=by.worktree,
        targets=(event_id,), outcomes=(Outcome(event=event_id, outcome=result.outcome),), strategy=STRATEGY,
    )  # fmt: skip
    return store.transact(lambda batch: batch.append(told))


def keep(store: Store, result: Result, place: Path | None) -> Path:
    """Writes both versions of every output into `recorded` and `now` below a directory, and returns that.

    It must be a new or an empty one, outside of the repository; without any it is a new temporary one.
    """
    if place is None:
        place = scratch(store, "pog-outputs-")
    place = Path(os.path.realpath(place))
    check_place(store, place)
    for name in ("recorded", "now"):
        (place / name).mkdir(parents=True)
        for each in result.verdicts:
            version = each.recorded if name == "recorded" else each.now
            if version is not None:
                _write(place / name, each.path, version)
    return place


def check_place(store: Store, place: Path) -> None:
    """Raises `BadInput` for a directory in which outputs cannot be kept: it is not empty, or in the repository."""
    place = Path(os.path.realpath(place))
    refuse_inside(store, place, "the directory for outputs")
    if os.path.lexists(place) and not (place.is_dir() and not any(place.iterdir())):
        raise BadInput(f"'{place}'", "is there already", "name a new directory, or an empty one")


def _cannot(event_id: EventId, reason: str) -> BadInput:
    return BadInput(f"event '{event_id}' cannot be run again", reason)


def _argv(store: Store, event_id: EventId, event: Ran, root: Path) -> tuple[bytes, ...]:
    text = store.find_text(event.argv)
    if text is None:
        raise _cannot(event_id, "its command line is not here: it was erased, or too long to keep")
    if _MASK in text:
        raise _cannot(event_id, "a secret was taken out of its command line")
    argv = argv_of(text)
    if not argv:
        raise _cannot(event_id, "its command line is empty")
    if any(os.fsencode(root) in word for word in argv):
        raise RefusedByPolicy(
            f"the command line of event '{event_id}' names your own work tree",
            "it would be at work there; what is to be run again must name files from where it runs",
        )
    return tuple(argv)


def _cwd(event_id: EventId, event: Ran, tree: FreshTree) -> Path:
    inside = path_bytes(event.cwd) if event.cwd is not None else None
    if inside is None:
        raise _cannot(event_id, "it ran outside of the work tree, of which nothing is recorded")
    cwd = tree.root / os.fsdecode(inside)
    real = Path(os.path.realpath(cwd))
    if not real.is_relative_to(tree.root):
        raise _cannot(event_id, "the folder that it ran in is a link out of the work tree")
    real.mkdir(parents=True, exist_ok=True)  # git keeps no empty folders
    return real


def _told(store: Store, sealed: Sealed) -> Told | None:
    """Returns the environment that it had, if that is here."""
    try:
        return environments.of_event(store, sealed)
    except (NotFound, BadInput):
        return None


def _environ(store: Store, environ: Mapping[bytes, bytes], then: Told | None) -> dict[bytes, bytes]:
    """Returns the variables that it gets: as they are now, and none but those that are recorded, PATH and HOME."""
    wanted = environment.asked(store, environments.variables_in(then))
    known = environment.variables_of(environ, wanted)
    names = [*_KEPT, *(os.fsencode(name) for name in known)]
    return {name: environ[name] for name in names if name in environ}


def _differences(
    store: Store, tree: FreshTree, cwd: Path, environ: Mapping[bytes, bytes], then: Told | None
) -> tuple[Difference, ...]:
    if then is None:
        return ()
    now = environments.present(store, cwd, environ, then, root=tree.root)
    return tuple(environments.differences(then, now))


def _lacking(event: Ran, tree: FreshTree) -> tuple[bytes, ...]:
    """Returns what was there and is not, as far as it is known: what was not kept, and inputs that git ignores."""
    inputs = filter(None, map(path_bytes, event.inputs))
    gone = (path for path in inputs if not os.path.lexists(tree.root / os.fsdecode(path)))
    return tuple(dict.fromkeys((*tree.lacking, *gone)))


def _expected(event: Ran, tree: FreshTree) -> dict[bytes, Expected]:
    """Returns what each output held: as it was changed, or where a declared one was not, as it was before.

    A declared one was there in the end; if neither says what it held, git ignores it, and nobody knows.
    """
    found: dict[bytes, Expected] = {}
    for path in filter(None, map(path_bytes, event.outputs)):
        before = _read(tree, path)
        found[path] = Expected(version=before, fault=before is None)
    for change in event.changes:
        older = path_bytes(change.from_) if change.from_ is not None else None
        if older is not None:
            found[older] = Expected()
        path_ = path_bytes(change.path)
        if path_ is not None:
            found[path_] = Expected(side=change.after, fault=change.before is None and change.after is None)
    return found


def _remove(event: Ran, tree: FreshTree) -> None:
    """Removes the declared outputs, so that one which is there afterwards was made; not those that are inputs too."""
    inputs = set(map(path_bytes, event.inputs))
    for path in filter(None, map(path_bytes, event.outputs)):
        if path not in inputs and _read(tree, path) is not None:
            (tree.root / os.fsdecode(path)).unlink()


def _read(tree: FreshTree, path: bytes, most: int = 1 << 31) -> FileVersion | None:
    """Returns a file or link of a tree; nothing where there is none, or something else."""
    try:
        return read_version(tree.root, os.fsdecode(path), max_size=most)
    except PogError:
        return None


def _verdict(store: Store, tree: FreshTree, path: bytes, expected: Expected) -> Verdict:
    """Returns what became of one output; raises `NotFound` if nobody kept what it held."""
    if expected.fault:
        raise NotFound("content", os.fsdecode(path))
    recorded = expected.version
    if expected.side is not None:
        if expected.side.blob is None or expected.side.omitted:
            raise NotFound("content", os.fsdecode(path))
        recorded = FileVersion(mode=expected.side.mode, data=store.read_content(expected.side.blob))
    now = _read(tree, path)
    is_there = os.path.lexists(tree.root / os.fsdecode(path))
    if recorded is not None and not is_there:
        return Verdict(path, MISSING, recorded, None)
    same = _is_same(store, tree, path, recorded, now) if now is not None or not is_there else False
    return Verdict(path, SAME if same else DIFFERS, recorded, now)


def _is_same(store: Store, tree: FreshTree, path: bytes, recorded: FileVersion | None, now: FileVersion | None) -> bool:
    """Compares mode and bytes; what git converts (line endings, say) is compared as git would store it."""
    if recorded is None or now is None or recorded.mode != now.mode:
        return recorded is now
    if recorded.data == now.data:
        return True
    if now.mode == "120000":
        return False
    return tree.oid(os.fsdecode(path), now.data) == store.objects.name("blob", recorded.data)


def _write(root: Path, path: bytes, version: FileVersion) -> None:
    name = os.fsdecode(path)
    check_relative(name)
    place = root / name
    place.parent.mkdir(parents=True, exist_ok=True)
    if not Path(os.path.realpath(place.parent)).is_relative_to(root):
        raise BadInput(f"'{name}'", "lies behind a link")
    if version.mode == "120000":
        place.symlink_to(os.fsdecode(version.data))
        return
    place.write_bytes(version.data)
    place.chmod(0o755 if version.mode == "100755" else 0o644)
