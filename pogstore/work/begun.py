"""What a work tree held when a command began that was recorded here: the register of commands that may be run again.

One small file for each, `<common git dir>/pog/ran/<event id>`. It is never fetched nor pushed, and no event can claim
to be in it: an event is there because this very repository recorded it. What files held is named by git's oid.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from pogstore.model import EventId, OddPath, Oid
from pogstore.store.content import path_bytes, path_of
from pogstore.store.store import Store
from pogstore.work import jottings
from pogstore.work.held import SUBMODULE, Held

FOLDER = "ran"
MOST_PATHS = 5_000
_ID = re.compile(r"[0-9a-f]{64}")
_OID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_MODES = ("100644", "100755", "120000")


class File(NamedTuple):
    """A file or a link as it was: its mode, and git's blob of it."""

    mode: str
    oid: Oid


class Begun(NamedTuple):
    """The commit that a work tree was on (nothing before the first one), and what was not as that commit has it.

    Of `files`, `None` is a path at which nothing was. `unknown` are paths that held what nobody keeps. `whole` says
    whether all that was not as the commit has it is named.
    """

    commit: Oid | None
    files: Mapping[bytes, File | None] = {}
    unknown: tuple[bytes, ...] = ()
    whole: bool = True


def register(store: Store, event_id: EventId, begun: Begun) -> bool:
    """Keeps how it began with a command that was recorded; says whether that went well."""
    folder = store.layout.own / FOLDER
    try:
        folder.mkdir(exist_ok=True)
    except OSError:
        return False
    many = len(begun.files) + len(begun.unknown) > MOST_PATHS
    shown = Begun(begun.commit, whole=False) if many else begun
    value = {
        "commit": shown.commit,
        "files": [[_spelled(path), *(file or ())] for path, file in shown.files.items()],
        "unknown": [_spelled(path) for path in shown.unknown],
        "whole": shown.whole,
    }
    return jottings.jot(folder / event_id, value)


def find(store: Store, event_id: EventId) -> Begun | None:
    """Returns how it began with a command that was recorded in this repository; `None` for any other event."""
    if not _ID.fullmatch(event_id) or (store.layout.own / FOLDER).is_symlink():
        return None
    try:
        return _begun(jottings.read(store.layout.own / FOLDER / event_id))
    except (ValueError, TypeError, LookupError):
        return None


def _begun(value: object) -> Begun:
    if not isinstance(value, dict):
        raise TypeError("no object")
    commit = value["commit"]
    files = {_path(each[0]): _file(*each[1:]) if each[1:] else None for each in value["files"]}
    unknown = tuple(map(_path, value["unknown"]))
    return Begun(None if commit is None else _oid(commit), files, unknown, value["whole"] is True)


def _file(mode: str, oid: str) -> File:
    if mode not in _MODES:
        raise ValueError(mode)
    return File(mode, _oid(oid))


def _oid(text: str) -> Oid:
    if not _OID.fullmatch(text):
        raise ValueError(text)
    return Oid(text)


def _spelled(path: bytes) -> object:
    name = path_of(path)
    return {"b64": name.b64} if isinstance(name, OddPath) else name


def _path(spelled: object) -> bytes:
    path = path_bytes(OddPath(b64=spelled["b64"]) if isinstance(spelled, dict) else str(spelled))
    if not path:
        raise ValueError("no path")
    return path


def begun(store: Store, commit: str | None, held: Mapping[bytes, Held]) -> Begun:
    """Returns how it began, from what the paths held that differed from a commit."""
    files: dict[bytes, File | None] = {}
    unknown: list[bytes] = []
    for path, each in held.items():
        file = _named(store, each)
        if file is None and (each.fault is not None or each.key is not None):
            unknown.append(path)
        else:
            files[path] = file
    return Begun(Oid(commit) if commit else None, files, tuple(unknown))


def _named(store: Store, held: Held) -> File | None:
    """Returns the blob of what a path held; `None` for nothing, and for what nobody keeps."""
    if held.fault is not None:
        return None
    if held.version is not None:
        return File(held.version.mode, store.objects.name("blob", held.version.data))
    side = held.side
    if side is None or side.mode == SUBMODULE or side.blob is None or side.omitted:
        return None
    row = store.find_content(side.blob)
    return None if row is None else File(side.mode, row.oid)
