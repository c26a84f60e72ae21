"""Conflicts laid out in a directory for somebody to settle, and taken from there: `--materialize` and `--continue`.

Each conflict has a directory of its own, by number, so that no recorded name is ever a name there. Symbolic links are
laid out as plain files that hold their target, as git does where there are none.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from typing import NamedTuple

import msgspec

from pogstore.draft import FileVersion
from pogstore.errors import BadInput, Conflict, PlanMoved, UnsafePath
from pogstore.history.linemerge import has_markers, is_binary, marked, marker_size
from pogstore.history.names import Named
from pogstore.history.operations import Manner, carry_out
from pogstore.history.plans import Clash, Done, Plan, Terms, digest_of
from pogstore.history.rollback import plan_rollback
from pogstore.history.takeout import DIFF, WITHOUT_LINES
from pogstore.model import EventId, Path, RolledBack
from pogstore.store.content import path_bytes, path_of
from pogstore.store.store import Store
from pogstore.work.acts import By
from pogstore.work.conversion import Conversion
from pogstore.work.paths import check_path
from pogstore.work.writer import Write, apply, read_version

MANIFEST = "manifest.json"
VERSION = 1
LARGEST = 64 << 20
"""Bytes of a manifest that is read."""
MERGED, DELETE = "merged", "delete"
SIDES = ("base", "ours", "theirs")
PLAIN = "100644"
_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,16}\Z")


class _Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One conflict: where it is laid out, and the modes of what lies there; a side without a mode is no file."""

    number: int
    path: Path
    reason: str
    event: EventId
    base: str | None
    ours: str | None
    theirs: str | None


class _Manifest(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="pogstore-rollback"):
    """All that is needed to make the same plan again, and to tell whether it is the same."""

    version: int
    targets: tuple[EventId, ...]
    paths: tuple[Path, ...] | None
    plan: str
    conflicts: tuple[_Entry, ...]


class LaidOut(NamedTuple):
    """What was written below a directory: each conflict with the file in which it is to be settled."""

    directory: FilePath
    conflicts: tuple[tuple[Clash, str], ...]


def lay_out(store: Store, plan: Plan, terms: Terms, directory: FilePath) -> LaidOut:
    """Writes the clashes of a plan below a directory that must be empty or absent: both sides, base and the merge.

    Raises `BadInput` for another directory or a plan without clashes, and `UnsafePath` inside of git's own; then
    nothing is written.
    """
    if not plan.clashes:
        raise BadInput(f"'{directory}'", "nothing conflicts, so there is nothing to lay out", "leave --materialize out")
    place = _place(store, directory)
    conversion = Conversion(store)
    writes = [write for number, clash in enumerate(plan.clashes, 1) for write in _sides(conversion, number, clash)]
    manifest = msgspec.json.format(msgspec.json.encode(_manifest(plan, terms)), indent=2) + b"\n"
    writes.append(_file(MANIFEST, manifest))
    made = not place.exists()
    try:
        place.mkdir(exist_ok=True)
        apply(place, writes, fsync=store.fsync)
    except BaseException as fault:
        if made and place.is_dir() and not any(place.iterdir()):
            place.rmdir()
        if isinstance(fault, OSError):
            raise BadInput(f"'{directory}'", fault.strerror or "cannot be made") from fault
        raise
    named = [(clash, _name(number, MERGED, clash.path)) for number, clash in enumerate(plan.clashes, 1)]
    return LaidOut(directory, tuple(named))


def plan_resolved(store: Store, directory: FilePath) -> Plan:
    """Returns the plan that was laid out, with what somebody made of its conflicts.

    Raises `PlanMoved` if files or events changed since, `Conflict` while something is not settled, and `BadInput` for a
    directory that was not laid out by us.
    """
    manifest = _read_manifest(directory)
    paths = manifest.paths if manifest.paths is None else frozenset(filter(None, map(path_bytes, manifest.paths)))
    names = [Named(store.event(event_id).event.task, event_id) for event_id in manifest.targets]
    terms = Terms(widen="no", conflicts="take", paths=paths)
    plan = plan_rollback(store, names, terms=terms)
    if _digest(plan) != manifest.plan:
        again = "nothing was written; lay the conflicts out anew with '--materialize', in another directory"
        raise PlanMoved(manifest.plan, _digest(plan), again)
    settled = plan_rollback(store, names, terms=terms, resolved=_resolutions(directory, plan.clashes))
    return settled._replace(clashes=())


def apply_resolved(store: Store, plan: Plan, by: By) -> Done:
    """Carries a rollback out whose conflicts somebody settled; raises `Conflict`, with nothing written."""
    return carry_out(store, plan, by, Manner(RolledBack, "resolved"))


def _place(store: Store, directory: FilePath) -> FilePath:
    """Returns where a directory really is; raises unless it may be written to."""
    is_named = directory.name not in ("", "..")
    place = FilePath(directory.parent.resolve(), directory.name) if is_named else directory.resolve()
    if place.is_symlink():
        raise UnsafePath(str(directory), "it is a symbolic link")
    for name in place.parts[1:]:
        _refuse_git(name, directory)
    for own in (store.layout.git_dir, store.layout.common_dir):
        if place.is_relative_to(own.resolve()):
            raise UnsafePath(str(directory), "it is inside git's own directory")
    if place.exists() and not place.is_dir():
        raise BadInput(f"'{directory}'", "is not a directory")
    if place.is_dir() and any(place.iterdir()):
        raise BadInput(f"'{directory}'", "is not empty", "name a directory that is, or that is not there yet")
    if not place.parent.is_dir():
        raise BadInput(f"'{directory}'", "the directory above it does not exist")
    return place


def _refuse_git(name: str, directory: FilePath) -> None:
    try:
        check_path(name)
    except UnsafePath as fault:
        if "git's own" in fault.reason:
            raise UnsafePath(str(directory), fault.reason) from fault


def _sides(conversion: Conversion, number: int, clash: Clash) -> Iterator[Write]:
    versions = (clash.base, clash.ours, clash.theirs)
    for side, version in zip(SIDES, versions, strict=True):
        if version is not None:
            yield _file(_name(number, side, clash.path), version.data)
    if _is_text(conversion, clash):
        base, ours, theirs = (b"" if version is None else version.data for version in versions)
        yield _file(_name(number, MERGED, clash.path), marked(base, ours, theirs, DIFF))


def _is_text(conversion: Conversion, clash: Clash) -> bool:
    """Whether a conflict may have lines with markers: two texts that are files, which git merges by lines."""
    versions = (clash.base, clash.ours, clash.theirs)
    if clash.ours is None or clash.theirs is None or clash.reason in WITHOUT_LINES:
        return False
    whole = any(version and (version.mode[:3] != "100" or is_binary(version.data)) for version in versions)
    return not whole and conversion.merges_lines(clash.path)


def _manifest(plan: Plan, terms: Terms) -> _Manifest:
    def mode(version: FileVersion | None) -> str | None:
        return None if version is None else version.mode

    entries = tuple(
        _Entry(
            number=number,
            path=path_of(clash.path.encode("utf-8", "surrogateescape")),
            reason=clash.reason,
            event=clash.event,
            base=mode(clash.base),
            ours=mode(clash.ours),
            theirs=mode(clash.theirs),
        )
        for number, clash in enumerate(plan.clashes, 1)
    )
    targets = tuple(sorted(target for own in plan.tasks for target in own.targets))
    paths = None if terms.paths is None else tuple(path_of(path) for path in sorted(terms.paths))
    return _Manifest(version=VERSION, targets=targets, paths=paths, plan=_digest(plan), conflicts=entries)


def _digest(plan: Plan) -> str:
    """Returns the digest of a plan, whatever names led to it."""
    return digest_of(plan._replace(uncovered=()))


def _read_manifest(directory: FilePath) -> _Manifest:
    found = read_version(directory, MANIFEST, max_size=LARGEST) if directory.is_dir() else None
    if found is None:
        raise BadInput(f"'{directory}'", f"holds no {MANIFEST}, so no rollback was laid out there")
    try:
        manifest = msgspec.json.decode(found.data, type=_Manifest)
    except (msgspec.DecodeError, UnicodeDecodeError) as fault:
        raise BadInput(f"'{directory}/{MANIFEST}'", f"is not what was written: {fault}") from fault
    if manifest.version != VERSION or not manifest.targets:
        raise BadInput(f"'{directory}/{MANIFEST}'", "was written by another version")
    return manifest


def _resolutions(directory: FilePath, clashes: tuple[Clash, ...]) -> Mapping[str, FileVersion | None]:
    """Returns what each conflict was settled to; raises `Conflict` with all the paths that are not settled."""
    found: dict[str, FileVersion | None] = {}
    open_: dict[str, str] = {}
    for number, clash in enumerate(clashes, 1):
        name = _name(number, MERGED, clash.path)
        merged = _read_plain(directory, name)
        gone = _read_plain(directory, f"{number}/{DELETE}") is not None
        if gone == (merged is not None):
            open_[clash.path] = f"'{name}' and '{number}/{DELETE}'" if gone else f"no '{name}', nor '{number}/{DELETE}'"
        elif merged is not None and _has_markers(clash, merged):
            open_[clash.path] = f"conflict markers in '{name}'"
        else:
            found[clash.path] = None if merged is None else FileVersion(mode=_mode(clash, merged), data=merged)
    if open_:
        path, reason = next(iter(open_.items()))
        more = f", and {len(open_) - 1} more" if len(open_) > 1 else ""
        hint = (
            f"settle each in 'N/{MERGED}', or make a file 'N/{DELETE}' to have none; '{MANIFEST}' says which is which"
        )
        raise Conflict(f"'{path}' is not settled: {reason}{more}; nothing was written", list(open_), hint)
    return found


def _read_plain(directory: FilePath, name: str) -> bytes | None:
    """Returns what a plain file holds; a link is none of ours and is not followed."""
    found = read_version(directory, name)
    if found is not None and found.mode == "120000":
        raise BadInput(f"'{directory}/{name}'", "is a symbolic link")
    return None if found is None else found.data


def _has_markers(clash: Clash, merged: bytes) -> bool:
    sides = [version.data for version in (clash.base, clash.ours, clash.theirs) if version is not None]
    if is_binary(merged) or merged in sides:
        return False
    return has_markers(merged, marker_size(*sides))


def _mode(clash: Clash, merged: bytes) -> str:
    """Returns the mode of what a conflict was settled to: that of the side it is, else as modes merge."""
    base, ours, theirs = clash.base, clash.ours, clash.theirs
    for side in (theirs, ours):
        if side is not None and side.data == merged:
            return side.mode
    modes = [side.mode for side in (ours, theirs) if side is not None]
    if "120000" in modes:
        return modes[0] if len(set(modes)) == 1 and len(modes) == 2 else PLAIN
    if ours is not None and base is not None and theirs is not None and ours.mode == base.mode:
        return theirs.mode
    return modes[0] if modes else PLAIN


def _name(number: int, what: str, path: str) -> str:
    """Returns the name of a file of one conflict, with the suffix of its path so that an editor knows what it is."""
    suffix = _SUFFIX.search(path.rpartition("/")[2])
    return f"{number}/{what}{suffix[0] if suffix else ''}"


def _file(path: str, data: bytes) -> Write:
    return Write(path, None, FileVersion(mode=PLAIN, data=data))
