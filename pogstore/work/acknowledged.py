"""What a person has been told of losses and has acknowledged, so that the next one is seen.

The counts themselves stay: hooks overwrite them in place, and a count that is set back while a hook adds to it would
be wrong. Kept beside them is how high they stood, and when that was.
"""

import os
from collections.abc import Mapping
from typing import NamedTuple

from pogstore.errors import WorkTreeFailed
from pogstore.store.layout import Layout
from pogstore.work import spool, spooled
from pogstore.work.spooled import Loss

KEPT = "lost-seen"


class Seen(NamedTuple):
    """How often each reason had been counted when a person acknowledged it, and the time of that, in µs."""

    time: int = 0
    times: Mapping[str, int] = {}

    def new(self, loss: Loss) -> int:
        """Returns how often something was lost since; a count that is lower than then was begun anew."""
        before = self.times.get(loss.reason, 0)
        return loss.times - before if before <= loss.times else loss.times


def seen(layout: Layout) -> Seen:
    """Returns what was acknowledged; nothing if that never happened, or if the file is not as we write it."""
    try:
        first, *lines = (layout.own / KEPT).read_text("ascii").splitlines()
        counts = (spool.parse_loss(line.encode()) for line in lines)
        return Seen(int(first), {line.split()[0]: times for line, (times, _) in zip(lines, counts, strict=True)})
    except (OSError, ValueError, IndexError):
        return Seen()


def acknowledge(layout: Layout, now: int) -> None:
    """Keeps that a person has seen what was lost so far. Raises `WorkTreeFailed`."""
    losses = spooled.losses(layout.own / "spool")
    lines = b"".join(spool.loss_line(loss.reason.encode(), loss.times, loss.last) for loss in losses)
    path = layout.own / KEPT
    beside = path.with_name(f"{KEPT}.{os.getpid()}")
    try:
        beside.write_bytes(b"%d\n" % now + lines)
        beside.replace(path)
    except OSError as fault:
        raise WorkTreeFailed(str(path), fault.strerror or str(fault)) from fault
