"""What a `with` block is that records: entered once, open until it ends, and never in the way of what it raises."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from pogstore.errors import BadInput

_NEW, _OPEN, _ENDED = "new", "open", "ended"


class Block:
    """A `with` block that is entered once and knows whether it is open."""

    noun = "block"

    def __init__(self) -> None:
        self._state = _NEW
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Opens the block; raises `BadInput` a second time."""
        with self._lock:
            if self._state != _NEW:
                raise BadInput(f"this {self.noun}", f"has {'begun' if self._state == _OPEN else 'ended'} already")
            self._state = _OPEN

    def end(self) -> bool:
        """Says whether the block was open until now."""
        with self._lock:
            was, self._state = self._state, _ENDED
        return was == _OPEN

    @property
    def is_over(self) -> bool:
        """Whether the block has ended."""
        return self._state == _ENDED

    def check_open(self) -> None:
        """Raises `BadInput` unless the block is open."""
        if self._state != _OPEN:
            reason = "has ended" if self._state == _ENDED else "has not begun"
            raise BadInput(f"this {self.noun}", reason, "it is open inside its 'with' block alone")


@contextmanager
def not_instead_of(fault: BaseException | None, noun: str) -> Iterator[None]:
    """Lets what a block raised pass, with a note, where that it did could not be recorded."""
    try:
        yield
    except Exception as own:
        if fault is None:
            raise
        fault.add_note(f"pogstore: the {noun} that raised this is not recorded: {own}")


def is_failure(fault: BaseException | None) -> bool:
    """Says whether a block went wrong; to close a generator, or to leave a program on purpose, is nothing wrong."""
    if isinstance(fault, SystemExit):
        return fault.code not in (None, 0)
    return fault is not None and not isinstance(fault, GeneratorExit)


def as_text(value: object) -> str:
    """Returns any value as text: JSON, unless it is text already; never raises."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return repr(value)
