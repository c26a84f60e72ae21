"""POG Task 1.0: one JSON value a line, as mappings of literal texts. Knows no YAML and not what a field means."""

import json
from collections.abc import Iterator
from typing import NamedTuple

from pogstore.interop.pog_fields import MAX_NESTING, Value, nesting, sound

NOT_TASKS = ("metadata", "category")


class Line(NamedTuple):
    """One line that holds a mapping; numbers count from 1."""

    number: int
    fields: dict[str, Value]
    text: str


class Lines(NamedTuple):
    """The tasks of a file, what its metadata line says, and its faults as (line, code, detail)."""

    tasks: tuple[Line, ...]
    metadata: dict[str, Value]
    faults: tuple[tuple[int, str, str], ...]


def read_lines(text: str) -> Lines:
    """Returns the tasks of a file; a line that cannot be read is a fault and stops nothing."""
    faults: list[tuple[int, str, str]] = []
    lines = list(_mappings(text, faults))
    metadata = [line for line in lines if line.fields.get("type") == "metadata"]
    faults.extend((line.number, "I-37", "a second metadata line") for line in metadata[1:])
    if lines and not metadata:
        faults.append((1, "I-37", "no metadata line"))
    tasks = tuple(line for line in lines if line.fields.get("type") not in NOT_TASKS)
    return Lines(tasks, metadata[0].fields if metadata else {}, tuple(faults))


def _mappings(text: str, faults: list[tuple[int, str, str]]) -> Iterator[Line]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        twice: list[str] = []
        try:
            value = _load(line, twice)
        except (ValueError, RecursionError) as error:
            faults.append((number, "I-37", f"not readable as JSON: {error}"))
            continue
        faults.extend((number, "I-35", f"key '{key}' twice, the last one taken") for key in twice)
        if not isinstance(value, dict):
            faults.append((number, "I-37", "no mapping"))
        elif nesting(value) > MAX_NESTING:
            faults.append((number, "I-35", f"nested deeper than {MAX_NESTING}"))
        else:
            yield Line(number, value, line.rstrip("\r"))


def _load(line: str, twice: list[str]) -> Value:
    def mapping(pairs: list[tuple[str, Value]]) -> dict[str, Value]:
        return _mapping(pairs, twice)

    value: Value = json.loads(line, parse_int=str, parse_float=str, parse_constant=str, object_pairs_hook=mapping)
    return value


def _mapping(pairs: list[tuple[str, Value]], twice: list[str]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for key, value in pairs:
        name = sound(key)
        if name in found:
            twice.append(name)
        found[name] = _literal(value)
    return found


def _literal(value: "Value | bool") -> Value:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return sound(value)
    return [_literal(each) for each in value] if isinstance(value, list) else value
