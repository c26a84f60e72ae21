"""What a record of the spool says: the other half of `spool.encode_record`. Pure."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pogstore.errors import BadInput

_FIELD = re.compile(rb"([a-z][a-z0-9_]*) ([0-9]{1,15})\n")


class Seen(NamedTuple):
    """A file or link as a hook saw it; `data` is absent of a large file, and `blake3` too of a very large one.

    `stat` is opaque: equal as long as nobody touched the file. `kept` says that an earlier record of the same work tree
    has the bytes that have this hash.
    """

    path: bytes
    mode: str
    size: int
    blake3: str | None
    data: bytes | None
    stat: bytes = b""
    kept: bool = False


class Absent(NamedTuple):
    """A path at which nothing stood."""

    path: bytes


class Unseen(NamedTuple):
    """A path at which something stood that could not be seen, and why.

    `directory`, `special`, or the number of an error; `unread` (too many bytes for one look), `ignored` (by git: never
    read), `repository` (a nested one) and `submodule`. `mark` is opaque: equal as long as nothing was seen to change
    inside; `commit` is the one that is checked out in a submodule.
    """

    path: bytes
    reason: str
    mark: bytes = b""
    commit: str = ""
    stat: bytes = b""


class Head(NamedTuple):
    """HEAD of a work tree: no branch if it is detached, no commit if there is none yet.

    `branch` is a full ref name, in which bytes that are no UTF-8 are escaped as in file names.
    """

    commit: str
    branch: str


class Record(NamedTuple):
    """What one call of a hook left: what the agent said, where, when, and the states of the paths that it named.

    `time` is µs since the epoch, `offset` minutes east. `extra` holds the fields of a newer version. `look` is `None`
    where the whole tree was not looked at, else `whole`, or `partial` and why: see `look.py`.
    """

    id: str
    agent: str
    event: str
    time: int
    offset: int
    git_dir: bytes
    common_dir: bytes
    root: bytes
    payload: bytes
    whole: bool
    task: str
    states: tuple[Seen | Absent | Unseen, ...]
    extra: Mapping[str, bytes]
    head: Head | None = None
    look: str | None = None


def decode_record(data: bytes) -> Record:
    """Returns the record that `spool.encode_record` made; raises `BadInput` for any other bytes."""
    pairs = list(_fields(data))
    values = dict(pairs)
    states = tuple(_state(value) for name, value in pairs if name == "state")
    if values.get("version") != b"1":
        raise BadInput("spool record", "is of another version", "it needs a newer pogstore")
    try:
        return Record(
            id=values.pop("id").decode("ascii"),
            agent=values.pop("agent").decode(),
            event=values.pop("event").decode(),
            time=int(values.pop("time")),
            offset=int(values.pop("offset")),
            git_dir=values.pop("git_dir"),
            common_dir=values.pop("common_dir"),
            root=values.pop("root"),
            payload=values.pop("payload"),
            whole=values.pop("whole") == b"1",
            task=values.pop("task").decode(),
            head=_head(values.pop("head", b"")),
            look=values.pop("look").decode("ascii") if "look" in values else None,
            states=states,
            extra={name: value for name, value in values.items() if name not in ("version", "state")},
        )
    except KeyError as fault:
        raise BadInput("spool record", f"lacks the field {fault}") from fault
    except ValueError as fault:
        raise BadInput("spool record", f"has a field that cannot be read: {fault}") from fault


def _head(data: bytes) -> Head | None:
    commit, space, branch = data.partition(b" ")
    return Head(commit.decode("ascii"), branch.decode("utf-8", "surrogateescape")) if space else None


def _state(data: bytes) -> Seen | Absent | Unseen:
    values = dict(_fields(data))
    path = values.get("path", b"")
    if not path:
        raise BadInput("spool record", "has a state without a path")
    if "absent" in values:
        return Absent(path)
    try:
        if "unseen" in values:
            return _unseen(path, values)
        return _seen(path, values)
    except (KeyError, ValueError) as fault:
        raise BadInput("spool record", f"has a state that cannot be read: {fault}") from fault


def _seen(path: bytes, values: Mapping[str, bytes]) -> Seen:
    return Seen(
        path,
        values["mode"].decode("ascii"),
        int(values["size"]),
        values["blake3"].decode("ascii") if "blake3" in values else None,
        values.get("data"),
        values.get("stat", b""),
        "kept" in values,
    )


def _unseen(path: bytes, values: Mapping[str, bytes]) -> Unseen:
    return Unseen(
        path,
        values["unseen"].decode("ascii"),
        values.get("mark", b""),
        values.get("commit", b"").decode("ascii"),
        values.get("stat", b""),
    )


def _fields(data: bytes) -> Iterator[tuple[str, bytes]]:
    at = 0
    while at < len(data):
        head = _FIELD.match(data, at)
        end = head.end() + int(head[2]) if head else len(data)
        if head is None or data[end : end + 1] != b"\n":
            raise BadInput("spool record", f"has no field at byte {at}")
        yield head[1].decode("ascii"), data[head.end() : end]
        at = end + 1
