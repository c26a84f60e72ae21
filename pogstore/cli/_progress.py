"""Progress bars on standard error, for a person who waits."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

PATIENCE = 1.0
"""Seconds after which somebody who waits wants to know for how much longer."""


@contextmanager
def progress(length: int, label: str) -> Iterator[Callable[[], None]]:
    """Shows a bar while a person is watching; it ends full, whatever was skipped. Yields what moves it on by one."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    with click.progressbar(length=length, label=label, file=sys.stderr, show_pos=True) as bar:
        yield lambda: bar.update(1)
        bar.update(max(0, length - bar.pos))


class LateBar:
    """A bar that is shown only if the work takes longer than a second; call it with what is done, and of how much."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._began = time.monotonic()
        self._show: Callable[[int, int], None] | None = None
        self._is_watched = sys.stderr.isatty()

    def __call__(self, done: int, total: int) -> None:
        """Moves the bar on; it goes with the last."""
        if not self._is_watched or (self._show is None and time.monotonic() - self._began < PATIENCE):
            return
        if self._show is None:
            self._show = _bar(self._label, total)
        self._show(done, total)


def _bar(label: str, total: int) -> Callable[[int, int], None]:
    bar = click.progressbar(length=total, label=label, file=sys.stderr, show_pos=True)

    def show(done: int, total: int) -> None:
        bar.update(done - bar.pos)
        if done == total:
            bar.render_finish()

    return show
