"""Files of JSON lines as the wild has them: repaired where they can be, reported where they cannot.

Knows nothing of any format that is written in JSON lines.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeVar

import msgspec

from pogstore.draft import Oddity

LONGEST_LINE = 64 * 1024 * 1024
"""The most bytes of one line that are read: far above any tool's output, far below what could exhaust the memory."""
MAX_TOLD = 5
"""How many oddities of one code are told for one file, before the rest is only counted."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_LONG_NUMBER = 19
"""Digits. Such a number is nobody's count, and msgspec refuses it from 2^64 on."""

T = TypeVar("T")


class Transcript(NamedTuple):
    """One file: its name for reports, and its lines, which may be gone through more than once."""

    name: str
    lines: Iterable[bytes]


class Oddities:
    """Collects what is odd, so that a file full of one fault is reported in a few lines."""

    def __init__(self) -> None:
        self._told: dict[tuple[str, str], list[Oddity]] = {}
        self._more: dict[tuple[str, str], int] = {}
        self._tally: dict[tuple[str, str, str], int] = {}

    def add(self, code: str, name: str, line: int, detail: str) -> None:
        """Tells one oddity at its place; beyond the first few of a code and file they are counted."""
        told = self._told.setdefault((code, name), [])
        if len(told) < MAX_TOLD:
            told.append(Oddity(code=code, where=f"{name}:{line}", detail=detail))
        else:
            self._more[code, name] = self._more.get((code, name), 0) + 1

    def count(self, code: str, name: str, what: str) -> None:
        """Counts one more of a kind of oddity, which is told once for its file."""
        self._tally[code, name, what] = self._tally.get((code, name, what), 0) + 1

    def told(self) -> tuple[Oddity, ...]:
        """Returns all that was collected."""
        single = [oddity for told in self._told.values() for oddity in told]
        more = [Oddity(code=code, where=name, detail=f"and {n} more") for (code, name), n in self._more.items()]
        tally = [
            Oddity(code=code, where=name, detail=what if n == 1 else f"{what} ({n} times)")
            for (code, name, what), n in self._tally.items()
        ]
        return (*single, *more, *tally)


def read_records(transcript: Transcript, decode: Callable[[bytes, int], T], oddities: Oddities) -> Iterator[T]:
    """Yields what `decode` makes of each record and its line number, in the file's order.

    `decode` raises what msgspec raises. A line that is not quite JSON (raw control characters, halves of surrogate
    pairs, records glued together, bytes that are not UTF-8) is repaired; blank ones are passed over. Lines that stay
    unreadable are reported when the file ends.
    """
    faults: list[tuple[int, str]] = []
    number = readable = 0
    for number, line in enumerate(transcript.lines, 1):
        if not (line := line.strip().removeprefix(b"\xef\xbb\xbf")):
            continue
        try:
            found, fault = _decoded(line, number, decode)
        except ValueError as unreadable:
            faults.append((number, str(unreadable)))
            continue
        if fault:
            oddities.add("repaired", transcript.name, number, fault)
        readable += 1
        yield from found
    _report(faults, transcript.name, last=number, readable=readable, oddities=oddities)


def _report(faults: list[tuple[int, str]], name: str, *, last: int, readable: int, oddities: Oddities) -> None:
    if faults and not readable:
        oddities.count("unreadable", name, "no line of it is a record")
        return
    for number, fault in faults:
        oddities.add("truncated" if number == last else "bad-line", name, number, fault)


def _decoded(line: bytes, number: int, decode: Callable[[bytes, int], T]) -> tuple[list[T], str | None]:
    """Returns the records of a line, and what had to be repaired. Raises `ValueError` if nothing can be read."""
    if len(line) > LONGEST_LINE:
        raise ValueError(f"left out: {len(line)} bytes in one line")
    try:
        return [decode(line, number)], None
    except (msgspec.MsgspecError, RecursionError):
        records, fault = repaired(line)
    try:
        found = [decode(record, number) for record in records]
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ValueError(f"not usable: {error}") from None
    if not found:
        raise ValueError(fault or "not a JSON object")
    return found, fault or "taken, though it is not quite JSON"


def repaired(line: bytes) -> tuple[list[bytes], str | None]:
    """Returns the objects in a line that is not quite JSON as sound JSON, and what is wrong with the rest of it."""
    rest = line.decode("utf-8", "replace").strip("\0")
    records: list[bytes] = []
    try:
        while rest:
            value, end = _LENIENT.raw_decode(rest)
            if isinstance(value, dict):
                records.append(msgspec.json.encode(sound(value)))
            rest = rest[end:].lstrip()
    except RecursionError:
        return records, "nested too deeply"
    except ValueError as error:
        return records, f"not JSON: {error}"
    return records, None


def _integer(digits: str) -> int | str:
    return int(digits) if len(digits) < _LONG_NUMBER else digits


_LENIENT = json.JSONDecoder(strict=False, parse_int=_integer)


def sound(value: object) -> object:
    """Returns a JSON value whose texts UTF-8 can hold: lone surrogates become U+FFFD."""
    if isinstance(value, str):
        if not _SURROGATE.search(value):
            return value
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, dict):
        return {str(sound(key)): sound(each) for key, each in value.items()}
    return [sound(each) for each in value] if isinstance(value, list) else value
