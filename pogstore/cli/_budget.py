"""As much of some pieces of a text as fits into a budget of tokens, the most important first.

A model's own tokens cannot be counted without the model. The estimate is a token for four ASCII characters and one for
every other character, so it is never below a quarter of the bytes.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

RULE = "one token for four ASCII characters, one for every other character"
_QUARTERS = 4
SHARES: Mapping[str, int] = {
    "limits": 4,
    "standing": 8,
    "definition": 2,
    "checklist": 4,
    "decisions": 4,
    "reviews": 8,
    "files": 8,
    "notes": 8,
    "related": 8,
}
"""Of the room there is a section takes at most a half, a quarter or an eighth at first."""
_HEADING = 16
"""What the heading of a section takes beside its name."""
_LEAST_CUT = 160
"""A text that is cut keeps so many characters, or is left out."""


class Piece(NamedTuple):
    """A part of an answer: the section it belongs to, what it says, and which of its members may be cut short."""

    section: str
    value: Mapping[str, object]
    text: str | None = None

    def cut(self, length: int) -> "Piece":
        """Returns the piece with so many characters of its text, and how many there were."""
        whole = str(self.value[self.text or ""])
        value = {**self.value, str(self.text): whole[:length], "cut_from": len(whole)}
        return self._replace(value=value)


class Fitted(NamedTuple):
    """What fits, in the order it was given, and how many pieces of each section do not."""

    pieces: tuple[Piece, ...]
    left_out: Mapping[str, int]


def weight(text: str) -> int:
    """Returns how much a text takes, in quarters of a token."""
    return len(text) if text.isascii() else sum(1 if character < "\x80" else _QUARTERS for character in text)


def tokens(text: str) -> int:
    """Returns the estimate of a text's tokens."""
    return -(-weight(text) // _QUARTERS)


def fitted(
    pieces: Sequence[Piece], budget: int, render: Callable[[Fitted], str], size: Callable[[Piece], str]
) -> Fitted:
    """Returns what fits into a budget of tokens: of two pieces the one that stands first, cut short if need be.

    At first no section takes more than its share, so that a long one does not crowd out all others; then what room is
    left is filled. `render` makes the whole answer of what fits, `size` about what a piece adds to it.
    """
    room = budget * _QUARTERS - weight(render(Fitted((), Counter(piece.section for piece in pieces))))
    taken: dict[int, Piece] = {}
    spent: Counter[str] = Counter()
    for share in (SHARES, {}):
        most = {piece.section: room // share.get(piece.section, 1) for piece in pieces}
        for at, piece in enumerate(pieces):
            if taken.get(at) is piece:
                continue
            before = weight(size(taken[at])) if at in taken else 0
            heading = 0 if spent[piece.section] else len(piece.section) + _HEADING
            free = min(room - sum(spent.values()), most[piece.section] - spent[piece.section])
            chosen = _within(piece, free + before - heading, size)
            if chosen is not None:
                taken[at] = chosen
                spent[piece.section] += heading + weight(size(chosen)) - before
    kept = sorted(taken)
    answer = _answer(pieces, [taken[at] for at in kept])
    while kept and tokens(render(answer)) > budget:
        kept.pop()
        answer = _answer(pieces, [taken[at] for at in kept])
    return answer


def _within(piece: Piece, room: int, size: Callable[[Piece], str]) -> Piece | None:
    """Returns a piece if there is room, else as much of its text as there is; nothing if that says too little."""
    if weight(size(piece)) <= room:
        return piece
    if piece.text is None or room <= 0:
        return None
    low, high = 0, len(str(piece.value[piece.text]))
    while low < high:
        middle = (low + high + 1) // 2
        if weight(size(piece.cut(middle))) <= room:
            low = middle
        else:
            high = middle - 1
    return piece.cut(low) if low >= _LEAST_CUT else None


def _answer(pieces: Sequence[Piece], taken: Sequence[Piece]) -> Fitted:
    left = Counter(piece.section for piece in pieces)
    left.subtract(piece.section for piece in taken)
    return Fitted(tuple(taken), {section: number for section, number in left.items() if number})
