"""Contents: what events name by BLAKE3, as git blobs in the trees of a content chain.

Each commit of a chain holds what one write added; a chain is a set, the union of its trees. Knows names, salts and
git's tree format; knows nothing of what a content means.
"""

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pogstore import digest
from pogstore.errors import ObjectDamaged
from pogstore.model import BlobId, OddPath, Oid, Path

SALT_DIGITS = 32
_NAME_DIGITS = 64
_TAG_DIGITS = 16
_FILE_MODE = b"100644"


class Entry(NamedTuple):
    """One content in a tree."""

    blob: BlobId
    name: str
    oid: Oid


def salted(text: str, salt: str) -> bytes:
    """Returns a text as it is stored: 32 random hex digits, a newline, the text. Its name then reveals nothing."""
    return f"{salt}\n{text}".encode()


def text_in(blob: BlobId, data: bytes) -> str:
    """Returns the text in a stored content; raises `ObjectDamaged` if it has no salt or is not UTF-8."""
    if len(data) <= SALT_DIGITS or data[SALT_DIGITS : SALT_DIGITS + 1] != b"\n":
        raise ObjectDamaged(blob, "a text without its salt")
    try:
        return data[SALT_DIGITS + 1 :].decode()
    except UnicodeDecodeError as fault:
        raise ObjectDamaged(blob, f"a text that is not UTF-8: {fault.reason}") from fault


def blob_id(data: bytes) -> BlobId:
    """Returns the name of a stored content."""
    return BlobId(digest.hexdigest(data))


def path_bytes(path: Path) -> bytes | None:
    """Returns the bytes of a path; nothing for one outside the repository, or that nobody can read."""
    if isinstance(path, str):
        return path.encode()
    try:
        return base64.b64decode(path.b64, validate=True) if path.b64 else None
    except ValueError:
        return None


def path_of(name: bytes) -> Path:
    """Returns a path in the form in which events spell it."""
    try:
        return name.decode()
    except UnicodeDecodeError:
        return OddPath(b64=binascii.b2a_base64(name, newline=False).decode())


def plain_oid(spelled: str) -> Oid:
    """Returns git's oid without the name of its hash, with which events spell it: `sha1_…`."""
    return Oid(spelled.rpartition("_")[2])


def file_name(blob: BlobId, path: Path) -> str:
    """Returns the name of a file version in a tree: tagged by its path, so that git groups versions for its deltas."""
    tag = digest.hexdigest(path_bytes(path) or b"")[:_TAG_DIGITS]
    return f"{blob}-{tag}"


def tree(entries: Mapping[str, Oid]) -> bytes:
    """Returns the raw git tree of some files."""
    return b"".join(
        _FILE_MODE + b" " + name.encode() + b"\0" + bytes.fromhex(entries[name]) for name in sorted(entries)
    )


def entries_of(oid: Oid, data: bytes) -> Iterator[Entry]:
    """Yields what a raw tree of a content chain holds; raises `ObjectDamaged` for anything else in it."""
    at = 0
    while at < len(data):
        end = data.find(b"\0", at)
        mode, _, name = data[at:end].partition(b" ")
        if end < 0 or len(data) < end + 21 or mode != _FILE_MODE or len(name) < _NAME_DIGITS:
            raise ObjectDamaged(oid, "a tree that holds something else than contents")
        text = name.decode("ascii", "replace")
        yield Entry(BlobId(text[:_NAME_DIGITS]), text, Oid(data[end + 1 : end + 21].hex()))
        at = end + 21
