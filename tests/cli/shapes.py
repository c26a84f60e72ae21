"""Holds values against the sketches of `pogstore/cli/_shapes.py`, so that what the reference prints is true."""

import re
from collections.abc import Iterator
from typing import Any

TOKEN = re.compile(r"\s*(?:(?P<mark>[{}\[\],:?|…])|(?P<word>[A-Za-z_]+))")


class _Parser:
    """A recursive descent over the tokens of one sketch."""

    def __init__(self, sketch: str) -> None:
        self._tokens = [match["mark"] or match["word"] for match in TOKEN.finditer(sketch)]
        self._at = 0

    def either(self) -> list[Any]:
        """Returns the alternatives: a mapping, a one-element list, None for null, or a word for anything."""
        found = [self._one()]
        while self._peek() == "|":
            self._next()
            found.append(self._one())
        return found

    def _one(self) -> Any:
        match self._next():
            case "{":
                return dict(self._fields())
            case "[":
                inner = self.either()
                assert self._next() == "]"
                return [inner]
            case "null":
                return None
            case word:
                return word

    def _fields(self) -> Iterator[tuple[str, Any]]:
        while True:
            name = self._next()
            optional = self._peek() == "?"
            if optional:
                self._next()
            value: Any = ["anything"]
            if self._peek() == ":":
                self._next()
                value = self.either()
            yield name, (optional, value)
            if self._next() == "}":
                return

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _next(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1]


def fits(value: object, sketch: str) -> bool:
    """Says whether a value has the shape that a sketch describes."""
    return _fits_one(value, _Parser(sketch).either())


def _fits_one(value: object, alternatives: list[Any]) -> bool:
    return any(_fits(value, shape) for shape in alternatives)


def _fits(value: object, shape: Any) -> bool:
    if isinstance(shape, dict):
        return isinstance(value, dict) and _fits_object(value, shape)
    if isinstance(shape, list):
        return isinstance(value, list) and all(_fits_one(item, shape[0]) for item in value)
    return value is None if shape is None else True


def _fits_object(value: dict[str, object], fields: dict[str, tuple[bool, Any]]) -> bool:
    required = {name for name, (optional, _) in fields.items() if not optional and name != "…"}
    known = value.keys() <= fields.keys() or "…" in fields
    return (
        known
        and required <= value.keys()
        and all(_fits_one(value[name], shape) for name, (_, shape) in fields.items() if name in value)
    )
