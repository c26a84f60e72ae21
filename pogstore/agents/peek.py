"""Finds a few strings in a JSON object, so that a hook need not load `json` to know where its record belongs.

Reads what is JSON as `json` does, the last of equal names included, and raw control characters as well, which some
agents write (case PC-135). Where the text is no JSON it returns what it had found by then; it never raises. Time and
memory are linear in the size of the text, whose long strings are passed at the speed of a search for bytes.
"""

TYPE_CHECKING = False  # what type checkers take it for; see `pogstore/__init__.py`

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

_SPACE = b" \t\n\r"
_OPENING, _CLOSING = b"{[", b"}]"
_ENDS_LITERAL = b" \t\n\r,}]"
_NOT_IN_LITERAL = b'"{[:'
_SIMPLE = {b'"': '"', b"/": "/", b"b": "\b", b"f": "\f", b"n": "\n", b"r": "\r", b"t": "\t"}
_HEX = b"0123456789abcdefABCDEF"
_QUOTE, _COLON, _COMMA, _OPEN, _CLOSE = b'":,{}'
_ARRAY, _ARRAY_END = b"[]"
_BOM = b"\xef\xbb\xbf"
MOST = 1_000
"""Strings of one array that are returned; a hook is to end, however many files an agent names."""


def peek(
    data: bytes, names: "Container[str]", inner: "Mapping[str, Container[str]]", arrays: "Container[str]" = ()
) -> dict[str, str]:
    """Returns the members of a JSON object that are strings and bear one of some names.

    `inner` gives names of members of those members that are objects themselves; they are returned as `outer.inner`.
    `arrays` gives names of members that are arrays, those inside others as `outer.inner`; the strings in them are
    returned as `name.0`, `name.1` and so on, in their order, `MOST` at most. Bytes that are not UTF-8 and halves of
    surrogate pairs stand in the strings as Python spells them.
    """
    found: dict[str, str] = {}
    try:
        _members(_Text(data), _Wanted(names, inner, found, arrays=arrays))
    except (IndexError, ValueError):
        # the text ended, or is no JSON from here on
        return found
    return found


class _Text:
    """A text, where we are in it, and the same text without the quotes that are inside strings, for searches."""

    __slots__ = ("at", "data", "plain")

    def __init__(self, data: bytes) -> None:
        self.data = data
        # a quote that is left is the beginning or the end of a string; nothing moves
        self.plain = data.replace(b"\\\\", b"..").replace(b'\\"', b"..")
        self.at = len(_BOM) if data.startswith(_BOM) else 0

    def next(self) -> int:
        """Passes white space and returns the byte behind it."""
        while (byte := self.plain[self.at]) in _SPACE:
            self.at += 1
        return byte

    def take(self, byte: int) -> None:
        """Passes one byte that must come next."""
        if self.next() != byte:
            raise ValueError
        self.at += 1

    def string(self) -> bytes:
        """Passes a string and returns what is between its quotes."""
        self.take(_QUOTE)
        start = self.at
        end = self.plain.index(b'"', start)
        self.at = end + 1
        return self.data[start:end]

    def literal(self) -> None:
        """Passes a number, `true`, `false` or `null`."""
        if self.plain[self.at] in _ENDS_LITERAL:
            raise ValueError
        while (byte := self.plain[self.at]) not in _ENDS_LITERAL:
            if byte in _NOT_IN_LITERAL:
                raise ValueError
            self.at += 1

    def container(self, depth: int = 0) -> None:
        """Passes an object or an array, from one string in it to the next; `depth` brackets of it are open already."""
        while True:
            quote = self.plain.find(b'"', self.at)
            end = len(self.plain) if quote < 0 else quote
            depth = self._brackets(end, depth)
            if depth == 0:
                return
            self.at = self.plain.index(b'"', end + 1) + 1

    def _brackets(self, end: int, depth: int) -> int:
        closed = self.plain.count(b"}", self.at, end) + self.plain.count(b"]", self.at, end)
        if closed < depth:
            return depth - closed + self.plain.count(b"{", self.at, end) + self.plain.count(b"[", self.at, end)
        for at in range(self.at, end):
            byte = self.plain[at]
            depth += (byte in _OPENING) - (byte in _CLOSING)
            if depth == 0:
                self.at = at + 1
                return 0
        return depth


class _Wanted:
    """The names that are looked for in one object, and the found strings of all."""

    __slots__ = ("arrays", "found", "inner", "names", "prefix")

    def __init__(
        self,
        names: "Container[str]",
        inner: "Mapping[str, Container[str]]",
        found: dict[str, str],
        prefix: str = "",
        arrays: "Container[str]" = (),
    ) -> None:
        self.names, self.inner, self.found, self.prefix, self.arrays = names, inner, found, prefix, arrays

    def put(self, name: str, raw: bytes | None) -> None:
        """Keeps a string as it stood between its quotes; forgets an earlier one of this name if there is none now."""
        if name in self.names:
            self.found.pop(self.prefix + name, None)
            value = None if raw is None else unescape(raw)
            if value is not None:
                self.found[self.prefix + name] = value

    def within(self, name: str) -> "_Wanted | None":
        """Returns what is looked for inside the object of that name, and forgets an earlier one."""
        if name not in self.inner:
            return None
        self._forget(name + ".")
        return _Wanted(self.inner[name], {}, self.found, name + ".", self.arrays)

    def elements(self, name: str) -> str:
        """Returns what the names of the strings in an array begin with, if they are wanted; forgets an earlier one."""
        if self.prefix + name not in self.arrays:
            return ""
        self._forget(f"{self.prefix}{name}.")
        return f"{self.prefix}{name}."

    def _forget(self, prefix: str) -> None:
        for known in [known for known in self.found if known.startswith(prefix)]:
            del self.found[known]


def _members(text: _Text, wanted: _Wanted) -> None:
    text.take(_OPEN)
    if text.next() == _CLOSE:
        text.at += 1
        return
    while True:
        name = unescape(text.string())
        text.take(_COLON)
        _value(text, wanted, name or "")
        if text.next() == _CLOSE:
            text.at += 1
            return
        text.take(_COMMA)


def _value(text: _Text, wanted: _Wanted, name: str) -> None:
    byte = text.next()
    within, elements = wanted.within(name), wanted.elements(name)
    if byte == _QUOTE:
        wanted.put(name, text.string())
        return
    wanted.put(name, None)
    if byte == _OPEN and within is not None:
        _members(text, within)
    elif byte == _ARRAY and elements:
        _strings(text, wanted.found, elements)
    else:
        _pass(text, byte)


def _strings(text: _Text, found: dict[str, str], prefix: str) -> None:
    """Keeps the strings of an array, and passes what else is in it."""
    text.take(_ARRAY)
    if text.next() == _ARRAY_END:
        text.at += 1
        return
    count = 0
    while count < MOST:
        value = _string(text, text.next())
        if value is not None:
            found[f"{prefix}{count}"] = value
            count += 1
        if text.next() == _ARRAY_END:
            text.at += 1
            return
        text.take(_COMMA)
    text.container(depth=1)


def _string(text: _Text, byte: int) -> str | None:
    if byte == _QUOTE:
        return unescape(text.string())
    _pass(text, byte)
    return None


def _pass(text: _Text, byte: int) -> None:
    if byte in _OPENING:
        text.container()
    else:
        text.literal()


def unescape(raw: bytes) -> str | None:
    """Returns the string that stands between two quotes in JSON, or `None` if an escape in it is none of JSON's."""
    first, *rest = raw.split(b"\\")
    pieces = [_decoded(first)]
    literal = False
    for part in rest:
        if literal or part:
            piece = _decoded(part) if literal else _escaped(part)
            literal = False
        else:
            piece, literal = "\\", True
        if piece is None:
            return None
        pieces.append(piece)
    if literal:
        return None
    return _paired(pieces)


def _escaped(part: bytes) -> str | None:
    if part[:1] == b"u":
        digits = part[1:5]
        if len(digits) < 4 or digits.strip(_HEX):
            return None
        return chr(int(digits, 16)) + _decoded(part[5:])
    simple = _SIMPLE.get(part[:1])
    return None if simple is None else simple + _decoded(part[1:])


def _paired(pieces: list[str]) -> str:
    """Joins what stood between the escapes; two halves of a surrogate pair, each escaped, become one character."""
    for at in range(1, len(pieces)):
        high, low = pieces[at - 1], pieces[at]
        if len(high) == 1 and "\ud800" <= high <= "\udbff" and "\udc00" <= low[:1] <= "\udfff":
            both = 0x10000 + (ord(high) - 0xD800) * 0x400 + ord(low[0]) - 0xDC00
            pieces[at - 1], pieces[at] = "", chr(both) + low[1:]
    return "".join(pieces)


def _decoded(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")
