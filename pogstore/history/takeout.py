"""Taking one recorded change out of a work tree: what its paths hold, what they would hold, or what stands in the way.

The rules are those of `docs/explanation/rollback.md`. Reads; writes nothing.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from pogstore.draft import FileVersion
from pogstore.errors import NotFound
from pogstore.history.blame import BEFORE_UNSEEN
from pogstore.history.linemerge import is_binary, is_nearer, is_taken_out, merge
from pogstore.history.plans import Clash
from pogstore.history.tree import Obstructed, Tree
from pogstore.model import BlobId, Change, Path, Redacted, Sealed, Side
from pogstore.store.content import blob_id, path_bytes
from pogstore.store.libgit2 import line_hunks
from pogstore.store.store import Store

DIFF = partial(line_hunks, slide=False)
"""Lines as git's own merge compares them."""
SYMLINK, SUBMODULE = "120000", "160000"
APPLIED, IDENTICAL, SKIPPED = "applied", "identical", "skipped"
ONE_SIDED = (
    *("overlap", "edited-since-create", "deleted-since", "recreated-since", "renamed-since", "binary", "link-changed"),
    *("type-changed", "content-absent", "content-erased", "content-omitted"),
)
"""The conflicts in which a path can have the older side whole, if that is here."""
WITHOUT_LINES = ("binary", "link-changed", "type-changed", "content-absent", "content-erased", "content-omitted")
"""The conflicts in which no lines stand against each other."""
ENCODING_LOST = "encoding"
"""Why an event's coverage is partial if the bytes of a file were lost on the way to the recorded text."""


def spelled(path: Path | None) -> str | None:
    """Returns a path as the work tree spells it, bytes that are not UTF-8 escaped; nothing for one outside."""
    name = path_bytes(path) if path is not None else None
    return None if name is None else name.decode("utf-8", "surrogateescape")


class Told(NamedTuple):
    """What an operation of ours saw of a change: the file with it and without it, and whether it took it out."""

    with_it: Side | None
    without: Side | None
    is_out: bool


class Case(NamedTuple):
    """One change to be taken out of a tree; and what later events say of it: to which names they have moved its file,
    in order, and what the last of our operations on it saw.
    """

    store: Store
    tree: Tree
    cause: Sealed
    change: Change
    names: Sequence[str] = ()
    told: Callable[[], Told | None] = lambda: None


def take_out(case: Case) -> str:
    """Plans the inverse of a change in what its path holds now, and returns what came of it.

    Raises `Obstructed` for a conflict.
    """
    tree, change, path = case.tree, case.change, spelled(case.change.path)
    if path is None:
        return SKIPPED
    if _is_unseen(case.cause, change):
        raise Obstructed(path, "not-recorded")
    if any(side is not None and side.mode == SUBMODULE for side in (change.before, change.after)):
        raise Obstructed(path, "submodule")
    here = next((name for name in (*reversed(case.names), path) if tree.now(name) is not None), path)
    older = spelled(change.from_)
    if older is None or change.before is None or change.after is None:
        return _in_place(case, here)
    if here != path:
        raise Obstructed(here, "renamed-since")
    if tree.now(path) is None:
        return _in_place(case, older)
    if tree.now(older) is not None:
        raise Obstructed(older, "recreated-since")
    tree.move(path, older, _inverse(case, path), case.cause)
    return APPLIED


def take_older(case: Case, fault: Obstructed) -> Clash:
    """Plans the older side of a change whole, in spite of a conflict; returns what stood against each other.

    Raises the fault where there is no older side, or nothing may be written.
    """
    if fault.reason not in ONE_SIDED:
        raise fault
    tree, change, path, older = case.tree, case.change, spelled(case.change.path), spelled(case.change.from_)
    before = _version(case.store, fault.path, change.before)
    base, ours = _find_version(case.store, change.after), tree.now(fault.path)
    home = fault.path if older is None or path is None or None in (change.before, change.after) else older
    if home == fault.path:
        tree.put(home, before, case.cause)
        if fault.reason == "recreated-since" and path is not None and path != home:
            tree.put(path, None, case.cause)
    else:
        tree.move(fault.path, home, before, case.cause)
    return Clash(home, fault.reason, case.cause.event_id, base, ours, before)


def put_back(store: Store, tree: Tree, cause: Sealed, change: Change) -> None:
    """Plans what a path held before a change of ours; raises `Obstructed` if it is not as that change left it."""
    path, older = spelled(change.path), spelled(change.from_)
    if path is None:
        return
    if not _is(tree.now(path), change.after):
        raise Obstructed(path, "edited-since")
    before = _version(store, path, change.before)
    if older is None:
        tree.put(path, before, cause)
        return
    if tree.now(older) is not None:
        raise Obstructed(older, "recreated-since")
    tree.move(path, older, before, cause)


def _is_unseen(cause: Sealed, change: Change) -> bool:
    """Whether what was before a change is not known, so that it cannot be brought back."""
    reason = getattr(cause.event, "coverage_reason", None)
    if reason == ENCODING_LOST or (change.before is None and change.after is None):
        return True
    return reason == BEFORE_UNSEEN and change.before is None


def _in_place(case: Case, path: str) -> str:
    wanted = _inverse(case, path)
    if wanted == case.tree.now(path):
        return IDENTICAL
    case.tree.put(path, wanted, case.cause)
    return APPLIED


def _inverse(case: Case, path: str) -> FileVersion | None:
    """Returns what a path would hold without a change: three-way, from what it left to what was before."""
    change, now = case.change, case.tree.now(path)
    if _is(now, change.before):
        return now
    if _is(now, change.after):
        return _version(case.store, path, change.before)
    if change.after is None:
        raise Obstructed(path, "recreated-since")
    if change.before is None:
        raise Obstructed(path, "edited-since-create")
    if now is None:
        raise Obstructed(path, "deleted-since")
    _check_mergeable(path, (change.before.mode, change.after.mode, now.mode))
    before, after = _regular(case.store, path, change.before), _regular(case.store, path, change.after)
    is_in = is_taken_out(after.data, before.data, now.data, DIFF)  # its opposite is not in the text
    is_out = not is_in and (_is_told_out(case, path, now.data) or is_taken_out(before.data, after.data, now.data, DIFF))
    data = now.data if is_out else _merged(case.tree, path, (after.data, now.data, before.data))
    return FileVersion(mode=before.mode if now.mode == after.mode else now.mode, data=data)


def _is_told_out(case: Case, path: str, now: bytes) -> bool:
    """Whether a text is nearer to what an operation saw without a change than to what it saw with it.

    So must be the file as it lies there: other targets may have gone from the plan that the operation left alone. Where
    the operation put the change back, its lines must be as they were without it as well.
    """
    told = case.told()
    if told is None:
        return False
    with_it, without = _find(case.store, told.with_it), _find(case.store, told.without)
    if with_it is None or without is None:
        return False
    found = case.tree.found(path)
    if found is not None and not is_nearer(found.data, without, with_it, DIFF):
        return False
    return is_nearer(now, without, with_it, DIFF) if told.is_out else is_taken_out(without, with_it, now, DIFF)


def _find(store: Store, side: Side | None) -> bytes | None:
    if side is None or side.blob is None:
        return None
    try:
        return store.read_content(side.blob)
    except NotFound:
        return None


def _find_version(store: Store, side: Side | None) -> FileVersion | None:
    data = _find(store, side)
    return None if side is None or data is None else FileVersion(mode=side.mode, data=data)


def _check_mergeable(path: str, modes: Sequence[str]) -> None:
    if set(modes) == {SYMLINK}:
        raise Obstructed(path, "link-changed")
    if SYMLINK in modes:
        raise Obstructed(path, "type-changed")


def _merged(tree: Tree, path: str, texts: tuple[bytes, bytes, bytes]) -> bytes:
    """Merges three texts, base first; contents that are no text only where the answer is clear."""
    if len(set(texts)) == 3 and not tree.conversion.merges_lines(path):
        raise Obstructed(path, "binary")
    data = merge(*texts, DIFF)
    if data is None:
        raise Obstructed(path, "binary" if any(map(is_binary, texts)) else "overlap")
    return data


def _is(version: FileVersion | None, side: Side | None) -> bool:
    """Whether a file is what a side names, which takes no content."""
    if version is None or side is None:
        return version is None and side is None
    return version.mode == side.mode and blob_id(version.data) == side.blob


def _version(store: Store, path: str, side: Side | None) -> FileVersion | None:
    return None if side is None else _regular(store, path, side)


def _regular(store: Store, path: str, side: Side) -> FileVersion:
    try:
        return FileVersion(mode=side.mode, data=store.read_content(side.blob or BlobId("")))
    except NotFound:
        raise Obstructed(path, _why_absent(store, side)) from None


def _why_absent(store: Store, side: Side) -> str:
    if side.omitted:
        return "content-omitted"
    erased: Iterator[Sealed] = store.newest_of(("redacted",))
    is_erased = any(isinstance(sealed.event, Redacted) and side.blob in sealed.event.blobs for sealed in erased)
    return "content-erased" if is_erased else "content-absent"
