"""Puts elements into arrays of a JSON text and takes them out again; every other byte stays as it was.

Nothing is ever written anew from parsed values: a text is cut and pasted at the places where its members stand, so that
order, indentation, line ends, escapes and odd spacing of its author survive. `append` makes the objects and the array
on the way where they are missing; `drop` takes back exactly what `append` put in, without any record kept elsewhere,
because the text itself tells whether a container was there before:

- a container that `append` made holds nothing but what was put into it, and goes with its last member;
- an empty container that was there before gets *one space* behind its new last member, and stays, without the space;
- a text that `append` made as a whole is known by being, to the byte, what it would make;
- a `head` (a member that some agents want at the top, say their format's version) stands first in a new text; where one
  is missing in a text that was there, it is put last, and spelled as nobody spells it, so that `drop_head` knows it.

Where somebody else has formatted the file anew meanwhile, that space is gone: then an emptied container goes too,
which means the same to every reader. Pure functions over text; they know of no agent and no file.
"""

import json
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, NoReturn, TypeAlias

from pogstore.errors import BadInput

BOM = "\ufeff"
Head: TypeAlias = tuple[str, str]
"""A member of the outermost object: its key, and its value as JSON on one line."""
_BLANK = re.compile(r"[ \t\r\n]*")
_MARK = " "
"""What follows the last member of a container that was there, and empty, before we put something into it."""
_UNIT = "  "
"""One step of indentation, where the text shows none of its own."""


class Member(NamedTuple):
    """A member of an object, or an element of an array (then `key` is `None`), as places in the text."""

    key: str | None
    start: int
    value: int
    end: int


class _Layout(NamedTuple):
    """How the members of a container stand: each on a line of its own at `indent`, or (`None`) all on one line."""

    newline: str
    indent: str | None
    unit: str

    @property
    def gap(self) -> str:
        return "" if self.indent is None else self.newline + self.indent

    @property
    def deeper(self) -> "_Layout":
        return self if self.indent is None else self._replace(indent=self.indent + self.unit)


def decode(data: bytes, name: str) -> str:
    """Returns the text of a file, byte order mark and line ends kept; `name` is what an error calls the file."""
    try:
        return data.decode()
    except UnicodeDecodeError as fault:
        raise BadInput(name, f"byte {fault.start} is not UTF-8") from fault


def is_blank(text: str) -> bool:
    """Tells whether a text holds no value at all; `append` treats it like a file that is not there."""
    return _skip(text, _root(text)) == len(text)


def read(text: str, name: str) -> object:
    """Returns the value of a JSON text, numbers as strings; raises `BadInput` with the place of what is not JSON."""
    try:
        value, end = _DECODER.raw_decode(text, _root(text))
    except json.JSONDecodeError as fault:
        raise _not_json(text, fault.pos, name) from fault
    except RecursionError as fault:
        raise BadInput(name, "nested too deeply") from fault
    except _NotANumber as fault:
        raise BadInput(name, f"'{fault}' is not JSON") from fault
    if (rest := _skip(text, end)) < len(text):
        raise _not_json(text, rest, name)
    return value


def members(text: str, start: int) -> list[Member]:
    """Returns where the members of the object or array that opens at `start` stand; the text must be valid JSON."""
    found = []
    is_object = text[start] == "{"
    at = _skip(text, start + 1)
    while text[at] not in "}]":
        key, value = None, at
        if is_object:
            key, colon = _DECODER.raw_decode(text, at)
            value = _skip(text, _skip(text, colon) + 1)
        _, end = _DECODER.raw_decode(text, value)
        found.append(Member(key, at, value, end))
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found


def append(text: str | None, keys: Sequence[str], element: str, name: str, head: Head | None = None) -> str:
    """Returns the text with `element` (JSON on one line) as the last of the array that `keys` lead to from the top.

    `None` stands for a file that does not exist. Of equal keys the last one counts, as it does for JavaScript. Raises
    `BadInput` where the text is not strict JSON, or where something else stands in the place of an object or array.
    """
    if text is None:
        return _whole(keys, element, "\n", head) + "\n"
    if is_blank(text):
        return text + _whole(keys, element, _newline(text), head)
    read(text, name)
    start = _root(text)
    _require(text, start, "{", name, ())
    if head is not None and _find(members(text, start), head[0]) is None:
        return _with_head(append(text, keys, element, name), head)
    layout = _top_layout(text, start)
    for depth, key in enumerate(keys):
        _require(text, start, "{", name, keys[:depth])
        member = _find(members(text, start), key)
        if member is None:
            return _insert(text, start, layout, _speller(keys[depth:], element))
        layout = _layout_of(text, member, layout).deeper
        start = member.value
    _require(text, start, "[", name, keys)
    return _insert(text, start, layout._replace(indent=None), lambda _: element)


def _with_head(text: str, head: Head) -> str:
    start = _root(text)
    return _insert(text, start, _top_layout(text, start), lambda _: _odd(head))


def drop_head(text: str, head: Head, name: str) -> str:
    """Returns the text without a head that `append` put into it; one that somebody else wrote stays."""
    read(text, name)
    start = _root(text)
    beside = members(text, start) if text.startswith("{", start) else []
    for place, member in enumerate(beside):
        if text[member.start : member.end] == _odd(head):
            return _cut(text, [_Step(start, beside, place)])
    return text


def drop(text: str, path: Sequence[str | int], name: str, head: Head | None = None) -> str | None:
    """Returns the text without the member that keys and indexes lead to, and without what held nothing else.

    What `append` did last is undone to the byte: `None` says that there was no file.
    """
    read(text, name)
    steps = _steps(text, path)
    if steps is None:
        raise BadInput(name, f"there is no {_dotted(path)}")
    member = steps[-1].member
    if all(isinstance(key, str) for key in path[:-1]):
        whole = _whole([str(key) for key in path[:-1]], text[member.value : member.end], _newline(text), head)
        if text == whole + "\n":
            return None
        if text.endswith(whole) and is_blank(before := text.removesuffix(whole)):
            return before
    return _cut(text, steps)


class _Step(NamedTuple):
    """One step of a path: the container that opens at `start`, its members, and which of them is meant."""

    start: int
    beside: list[Member]
    place: int

    @property
    def member(self) -> Member:
        return self.beside[self.place]


def _steps(text: str, path: Sequence[str | int]) -> list[_Step] | None:
    steps: list[_Step] = []
    start = _root(text)
    for key in path:
        if text[start] != ("{" if isinstance(key, str) else "["):
            return None
        beside = members(text, start)
        member = _find(beside, key)
        if member is None:
            return None
        steps.append(_Step(start, beside, beside.index(member)))
        start = member.value
    return steps


def _cut(text: str, steps: Sequence[_Step]) -> str:
    """Takes out the innermost member of the path that does not stand alone, or the outermost."""
    for start, beside, place in reversed(steps):
        end = beside[place].end
        if place > 0:
            return text[: beside[place - 1].end] + text[end:]
        if len(beside) > 1:
            return text[: beside[0].start] + text[beside[1].start :]
        if text.startswith(_MARK, end):
            return text[: start + 1] + text[end + len(_MARK) :]
    return text[: steps[0].start + 1] + text[steps[0].member.end :]


def _find(beside: Sequence[Member], key: str | int) -> Member | None:
    if isinstance(key, int):
        return beside[key] if key < len(beside) else None
    return next((member for member in reversed(beside) if member.key == key), None)


def _insert(text: str, start: int, if_empty: _Layout, spell: Callable[[_Layout], str]) -> str:
    """Puts what `spell` makes behind the last member of the container that opens at `start`, laid out as that one."""
    beside = members(text, start)
    if not beside:
        return text[: start + 1] + if_empty.gap + spell(if_empty) + _MARK + text[start + 1 :]
    end, layout = beside[-1].end, _layout_of(text, beside[-1], if_empty)
    return text[:end] + "," + (layout.gap or " ") + spell(layout) + text[end:]


def _speller(keys: Sequence[str], element: str) -> Callable[[_Layout], str]:
    return lambda layout: _spell(keys, element, layout)


def _spell(keys: Sequence[str], element: str, layout: _Layout) -> str:
    """Returns a member of the first key: objects down to the last key, which holds an array of the one element."""
    key, *rest = keys
    if not rest:
        return f"{json.dumps(key)}: [{element}]"
    return f"{json.dumps(key)}: {{{layout.deeper.gap}{_spell(rest, element, layout.deeper)}{layout.gap}}}"


def _whole(keys: Sequence[str], element: str, newline: str, head: Head | None) -> str:
    """Returns the text of an object that holds nothing but the element and a head, without a final line end."""
    layout = _Layout(newline, _UNIT, _UNIT)
    first = f"{layout.gap}{_spelled(head)}," if head else ""
    return f"{{{first}{layout.gap}{_spell(keys, element, layout)}{newline}}}"


def _spelled(head: Head) -> str:
    return f"{json.dumps(head[0])}: {head[1]}"


def _odd(head: Head) -> str:
    return f"{json.dumps(head[0])} :{head[1]}"


def _layout_of(text: str, member: Member, otherwise: _Layout) -> _Layout:
    gap = text[len(text[: member.start].rstrip(" \t\r\n")) : member.start]
    if "\n" not in gap:
        return otherwise._replace(indent=None)
    newline = "\r\n" if "\r\n" in gap else "\n"
    return otherwise._replace(newline=newline, indent=gap.rpartition("\n")[2])


def _top_layout(text: str, start: int) -> _Layout:
    """Returns how members of the outermost object stand; an empty one gets lines, as a person would write it."""
    layout = _Layout(_newline(text), _UNIT, _UNIT)
    beside = members(text, start)
    indent = _layout_of(text, beside[0], layout).indent if beside else None
    return layout if indent is None else layout._replace(indent=indent, unit=indent)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _root(text: str) -> int:
    """Returns where the value of the text begins, behind a byte order mark and white space."""
    return _skip(text, len(BOM) if text.startswith(BOM) else 0)


def _skip(text: str, at: int) -> int:
    blank = _BLANK.match(text, at)
    return blank.end() if blank else at


class _NotANumber(Exception):
    """`NaN` or an infinity, which Python reads and JSON does not have."""


def _refuse(constant: str) -> NoReturn:
    raise _NotANumber(constant)


_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=_refuse)


def _not_json(text: str, at: int, name: str) -> BadInput:
    return BadInput(_placed(text, at, name), _reason(text, at), "comments and trailing commas are not allowed here")


def _placed(text: str, at: int, name: str) -> str:
    line, begin = text.count("\n", 0, at) + 1, text.rfind("\n", 0, at) + 1
    return f"{name}, line {line}, column {at - begin + 1}"


def _reason(text: str, at: int) -> str:
    if _skip(text, at) == len(text):
        return "the text ends too early"
    if text.startswith(("//", "/*", "#"), at):
        return "a comment is not JSON"
    comma = at if text[at] == "," else len(text[:at].rstrip(" \t\r\n")) - 1
    if text[comma : comma + 1] == "," and text.startswith(("}", "]"), _skip(text, comma + 1)):
        return "a trailing comma is not JSON"
    return "not JSON"


def _require(text: str, start: int, opening: str, name: str, keys: Sequence[str]) -> None:
    if not text.startswith(opening, start):
        noun = "an object" if opening == "{" else "an array"
        raise BadInput(_placed(text, start, name), f"{_dotted(keys)} is not {noun}")


def _dotted(path: Sequence[str | int]) -> str:
    return f"'{'.'.join(map(str, path))}'" if path else "the outermost value"
