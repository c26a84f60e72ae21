"""The bar of a plan that takes long: only for who watches, and only after a second."""

import io
import sys
import time

import pytest

from pogstore.cli._progress import LateBar


class Terminal(io.StringIO):
    """A stream that a person reads."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("watched", "seconds", "shown"), [(True, 0.9, False), (True, 1.1, True), (False, 1.1, False)], ids=str
)
def test_a_bar_is_shown_to_who_waits(
    monkeypatch: pytest.MonkeyPatch, watched: bool, seconds: float, shown: bool
) -> None:
    stream = Terminal() if watched else io.StringIO()
    now = [100.0]
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    bar = LateBar("changes")
    bar(1, 3)
    assert stream.getvalue() == ""
    now[0] += seconds
    bar(2, 3)
    bar(3, 3)
    assert ("3/3" in stream.getvalue()) is shown
    assert stream.getvalue().endswith("\n") is shown
