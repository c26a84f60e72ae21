"""The one door to BLAKE3: every hash that names an event or a content is made here.

Knows bytes and nothing else.
"""

from typing import BinaryIO

from blake3 import blake3

CHUNK = 1 << 20


def hexdigest(data: bytes) -> str:
    """Returns the BLAKE3-256 of some bytes, as 64 lower-case hex digits."""
    return blake3(data).hexdigest()


def hexdigest_stream(stream: BinaryIO) -> tuple[str, int]:
    """Returns the digest and the size of what a stream holds, read once in bounded memory."""
    hasher = blake3()
    size = 0
    while chunk := stream.read(CHUNK):
        hasher.update(chunk)
        size += len(chunk)
    return hasher.hexdigest(), size
