"""Git's deltas: one content as copies out of another one and what is new. Knows bytes and nothing else.

Looks for equal lines, which is what two versions of a file share; a delta of anything else is right and no smaller.
"""

SHORT = 12
"""Bytes: shorter lines (a bracket, a blank line) stand everywhere, and to copy them costs as much as to write them."""

_LONGEST_COPY = 0xFFFF
_LONGEST_INSERT = 127
_COPY = 0x80


def make_delta(base: bytes, target: bytes) -> bytes:
    """Returns the instructions that make `target` out of `base`."""
    places: dict[bytes, int] = {}
    at = 0
    for line in base.splitlines(keepends=True):
        places.setdefault(line, at)
        at += len(line)
    parts = [_size(len(base)), _size(len(target))]
    start = length = 0  # what is copied next
    fresh: list[bytes] = []  # what is written before it
    for line in target.splitlines(keepends=True):
        if length and base.startswith(line, start + length):
            length += len(line)
            continue
        found = places.get(line) if len(line) > SHORT else None
        if length:
            parts += _copies(start, length)
            length = 0
        if found is None:
            fresh.append(line)
        else:
            parts += _inserts(b"".join(fresh))
            fresh.clear()
            start, length = found, len(line)
    return b"".join((*parts, *_copies(start, length), *_inserts(b"".join(fresh))))


def _size(number: int) -> bytes:
    """Spells a size, seven bits to a byte, the lowest first."""
    spelled = bytearray()
    while number > 0x7F:
        spelled.append(number & 0x7F | 0x80)
        number >>= 7
    spelled.append(number)
    return bytes(spelled)


def _copies(start: int, length: int) -> list[bytes]:
    ends = range(start, start + length, _LONGEST_COPY)
    return [_copy(at, min(_LONGEST_COPY, start + length - at)) for at in ends]


def _copy(start: int, length: int) -> bytes:
    """Spells a copy: a bit for each byte of start and length that is not zero, then these bytes."""
    code, rest = _COPY, bytearray()
    for bit, byte in enumerate((*start.to_bytes(4, "little"), *length.to_bytes(2, "little"))):
        if byte:
            code |= 1 << bit
            rest.append(byte)
    return bytes((code, *rest))


def _inserts(data: bytes) -> list[bytes]:
    pieces = (data[at : at + _LONGEST_INSERT] for at in range(0, len(data), _LONGEST_INSERT))
    return [bytes((len(piece),)) + piece for piece in pieces]
