"""The one door to BLAKE3: every hash that names an event or a content is made here.

Knows bytes and nothing else. It stands on the path of every hook, so importing it must cost only the hash itself.
"""

from blake3 import blake3

TYPE_CHECKING = False  # what type checkers take it for; the module `typing` would cost more than all else here

if TYPE_CHECKING:
    from typing import BinaryIO

CHUNK = 1 << 20


def hexdigest(data: bytes) -> str:
    """Returns the BLAKE3-256 of some bytes, as 64 lower-case hex digits."""
    return blake3(data).hexdigest()


def hexdigest_stream(stream: "BinaryIO") -> tuple[str, int]:
    """Returns the digest and the size of what a stream holds, read once in bounded memory."""
    hasher = blake3()
    size = 0
    while chunk := stream.read(CHUNK):
        hasher.update(chunk)
        size += len(chunk)
    return hasher.hexdigest(), size
