"""How long a regular expression of somebody else's may take: a bound, or why there is none.

Python's expressions are tried one way after the other, so that a careless one takes time without end on a text made for
it. A cost is an upper bound of the steps that are tried at one place of a text; where all of them are bounded, time is
linear. Only a plain part of the language is taken: characters, classes, groups, alternatives and counted repetition.
A class says what it matches by being asked, so nothing here can disagree with Python about that.
"""

import re
from collections.abc import Sequence
from functools import cache, reduce
from operator import or_

MOST_STEPS = 1000
"""Steps at one place of a text, at most."""
MOST_TIMES = 1000
"""How often a part may be repeated, at most."""
LONGEST = 1000
"""Characters of an expression, at most."""
_DEPTH = 10
_ANY = (1 << 257) - 1  # the characters below 256, and all others as one
_ESCAPES = "dDwWsS"
_COUNT = r"\{([0-9]{1,4})(?:(,)([0-9]{1,4})?)?\}"


class Refusal(ValueError):
    """Why an expression is not taken; names no part of it."""


class _Tail:
    """What follows: how many steps it takes at most, and how many to see that it cannot begin here.

    `first` are the characters it can begin with; `end` says that nothing follows at all.
    """

    __slots__ = ("end", "first", "sight", "steps")

    def __init__(self, steps: int, first: int, sight: int, *, end: bool = False) -> None:
        self.steps, self.first, self.sight, self.end = steps, first, sight, end

    def inside(self) -> "_Tail":
        """Returns the same where something follows that is not counted in it."""
        return _Tail(self.steps, self.first, self.sight)


class _Node:
    """A part: its shape, the characters of a single one, its parts, and how often it stands."""

    __slots__ = ("chars", "least", "most", "parts", "shape")

    def __init__(
        self, shape: str, chars: int = 0, parts: "Sequence[_Node]" = (), least: int = 1, most: int | None = 1
    ) -> None:
        self.shape, self.chars, self.parts, self.least, self.most = shape, chars, parts, least, most


def bound(pattern: str) -> tuple[int, int]:
    """Returns the fewest characters that an expression matches, and the most steps it takes at one place.

    Raises `Refusal` for one that is wrong, too slow, or not of the plain part.
    """
    if len(pattern) > LONGEST:
        raise Refusal(f"is longer than {LONGEST} characters")
    flags = re.IGNORECASE if pattern.startswith("(?i)") else re.NOFLAG
    reader = _Reader(pattern, 4 if flags else 0, flags)
    node = reader.whole()
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as fault:
        raise Refusal("is no regular expression") from fault
    steps = _behind(node, _Tail(0, _ANY, 0, end=True)).steps
    if steps > MOST_STEPS:
        raise Refusal("could take too long on some texts; let it repeat less")
    return _shortest(node), steps


class _Reader:
    """Reads the parts of an expression, from left to right."""

    def __init__(self, pattern: str, at: int, flags: int) -> None:
        self._pattern, self._at, self._flags = pattern, at, flags

    def whole(self) -> _Node:
        node = self._choice(0)
        if self._at < len(self._pattern):
            raise self._refusal("a ')' without its '('")
        return node

    def _refusal(self, reason: str) -> Refusal:
        return Refusal(f"has {reason}, at character {self._at + 1}")

    def _choice(self, depth: int) -> _Node:
        if depth > _DEPTH:
            raise self._refusal("too many groups in each other")
        parts = [self._sequence(depth)]
        while self._next("|"):
            parts.append(self._sequence(depth))
        return parts[0] if len(parts) == 1 else _Node("choice", parts=tuple(parts))

    def _sequence(self, depth: int) -> _Node:
        parts = []
        while self._at < len(self._pattern) and self._pattern[self._at] not in "|)":
            parts.append(self._repeated(self._one(depth)))
        return _Node("sequence", parts=tuple(parts))

    def _next(self, sign: str) -> bool:
        found = self._pattern.startswith(sign, self._at)
        self._at += len(sign) if found else 0
        return found

    def _one(self, depth: int) -> _Node:
        char = self._pattern[self._at]
        if char == "(":
            self._at += 1
            if not self._next("?:") and self._pattern.startswith("?", self._at):
                raise self._refusal("a group that is neither (…) nor (?:…)")
            node = self._choice(depth + 1)
            if not self._next(")"):
                raise self._refusal("a '(' without its ')'")
            return node
        if char in "*+?{}^$":
            raise self._refusal(
                f"a '{char}' that is not escaped" if char in "^$" else f"a '{char}' that repeats nothing"
            )
        begin = self._at
        if char == "[":
            self._class()
        elif char == "\\":
            if self._pattern[begin + 1 : begin + 2] in ("b", "B"):
                self._at += 2
                return _Node("edge")
            self._escape()
        else:
            self._at += 1
        return _Node("char", self._chars(self._pattern[begin : self._at]))

    def _escape(self) -> None:
        escaped = self._pattern[self._at + 1 : self._at + 2]
        if not escaped or (escaped.isalnum() and escaped not in _ESCAPES + "ntr"):
            raise self._refusal("an escape that is not taken")
        self._at += 2

    def _class(self) -> None:
        begin = self._at
        self._at += 1
        self._next("^")
        if self._pattern.startswith("]", self._at):
            raise self._refusal("a ']' in a class that is not escaped")
        while not self._next("]"):
            if self._at >= len(self._pattern):
                raise self._refusal("a '[' without its ']'")
            if self._pattern[self._at] == "\\":
                self._escape()
            elif self._pattern[self._at] == "[":
                raise self._refusal("a '[' in a class that is not escaped")
            else:
                self._at += 1
        if re.search(r"--|&&|\|\||~~", self._pattern[begin : self._at]):
            raise self._refusal("a sign twice in a class")

    def _chars(self, text: str) -> int:
        """Returns which characters a class or a single one matches."""
        try:
            return _matched(text, self._flags)
        except re.error as fault:
            raise self._refusal("a class that is none") from fault

    def _repeated(self, node: _Node) -> _Node:
        least, most = 1, 1
        counts: tuple[int, int | None] | None = None
        if count := re.compile(_COUNT).match(self._pattern, self._at):
            self._at = count.end()
            least = int(count[1])
            counts = least, (int(count[3]) if count[3] else None) if count[2] else least
        elif self._next("?"):
            counts = 0, 1
        elif self._next("*"):
            counts = 0, None
        elif self._next("+"):
            counts = 1, None
        if counts is None:
            return node
        if self._pattern[self._at : self._at + 1] in tuple("*+?{"):
            raise self._refusal("a repetition that is repeated, lazy or possessive")
        least, most = counts[0], counts[1] if counts[1] is not None else MOST_TIMES
        if least > most:
            raise self._refusal("counts in the wrong order")
        if most > MOST_TIMES:
            raise self._refusal(f"a count over {MOST_TIMES}")
        return _Node("repeat", parts=(node,), least=least, most=counts[1])


@cache
def _matched(text: str, flags: int) -> int:
    one = re.compile(text, flags)
    below = sum(1 << number for number in range(256) if one.fullmatch(chr(number)))
    others = (
        text == "." or text.startswith("[^") or not text.isascii() or re.search(r"\\[A-Za-z]", text)
        or (flags and re.search("[A-Za-z]", text))
    )  # fmt: skip
    return below | 1 << 256 if others else below


def _shortest(node: _Node) -> int:
    match node.shape:
        case "char":
            return 1
        case "edge":
            return 0
        case "sequence":
            return sum(map(_shortest, node.parts))
        case "choice":
            return min(map(_shortest, node.parts))
        case _:
            return node.least * _shortest(node.parts[0])


def _behind(node: _Node, tail: _Tail) -> _Tail:
    """Returns the bound of a part and what follows it."""
    if tail.steps > MOST_STEPS:
        return tail.inside()
    match node.shape:
        case "char":
            return _Tail(tail.steps + 1, node.chars, 1)
        case "edge":
            return _Tail(tail.steps + 1, tail.first, tail.sight + 1)
        case "sequence":
            for part in reversed(node.parts):
                tail = _behind(part, tail)
            return tail
        case "choice":
            each = [_behind(part, tail) for part in node.parts]
            first = reduce(or_, (one.first for one in each))
            return _Tail(sum(one.steps + 1 for one in each), first, sum(one.sight + 1 for one in each))
        case _:
            return _repeat(node, node.parts[0], tail)


def _repeat(node: _Node, part: _Node, tail: _Tail) -> _Tail:
    first, sight = (tail.first, tail.sight + 1) if node.least == 0 else (0, 0)
    if node.most is None:
        if not tail.end or part.shape != "char":
            raise Refusal("has '*', '+' or '{n,}' before its end; say how often at most, as in {1,64}")
        # What it takes beyond that is found, and not gone through again.
        return _Tail(node.least + 1, part.chars | first, sight + 1)
    if part.shape == "char" and not part.chars & tail.first and not tail.end:
        # Where it stops is where the rest can begin: at any other length a look is enough.
        steps = node.most * (2 + tail.sight) + 2 + tail.steps
        return _Tail(steps, part.chars | first, sight + 1)
    now = tail
    for done in reversed(range(node.most)):
        more = _behind(part, now.inside())
        optional = done >= node.least
        now = _Tail(
            more.steps + 1 + (tail.steps + 1) * optional,
            more.first | (tail.first if optional else 0),
            more.sight + 1 + (tail.sight + 1) * optional,
        )
        if now.steps > MOST_STEPS:
            break
    return now
