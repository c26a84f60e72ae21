"""What a path of a work tree held, as far as it is known. Pure."""

import base64
from typing import NamedTuple

from pogstore.draft import FileVersion
from pogstore.model import OddPath, Path, Side
from pogstore.store import content

SUBMODULE = "160000"


class Held(NamedTuple):
    """What a path held: a version; one of which only the hash is known (`side`); or nothing, where all are `None`.

    A side that is not `omitted` is a version that was not read yet, or the commit of a submodule. `fault` says why it
    is not known what the path held.
    """

    version: FileVersion | None = None
    side: Side | None = None
    fault: str | None = None

    @property
    def key(self) -> tuple[str, str] | None:
        """Mode and BLAKE3, by which two of them are compared; `None` for a file that did not exist."""
        if self.version is not None:
            return self.version.mode, content.blob_id(self.version.data)
        return (self.side.mode, self.side.blob or self.side.commit or "") if self.side is not None else None

    def same(self, other: "Held") -> bool:
        """Says whether both are known and equal."""
        return self.fault is None and other.fault is None and self.key == other.key


NOTHING = Held()


class Last(NamedTuple):
    """What was last recorded of a path, and when, in µs; by a step that edits, or in another way."""

    held: Held
    time: int
    by_edit: bool = False


def oid_text(oid: str) -> str:
    """Returns a git oid as events spell it."""
    return f"sha1_{oid}" if len(oid) == 40 else f"sha256_{oid}"


def path_of(path: bytes) -> Path:
    """Returns a path as events spell it."""
    try:
        return path.decode()
    except UnicodeDecodeError:
        return OddPath(b64=base64.b64encode(path).decode("ascii"))
