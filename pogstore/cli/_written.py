"""What a command that wrote events says of them."""

from collections.abc import Sequence

from pogstore.cli._events import event_line
from pogstore.cli._render import echo, echo_json
from pogstore.cli._values import event_value
from pogstore.model import Sealed


def show_written(written: Sequence[Sealed], as_json: bool) -> None:
    """Prints the events that were written: a line each, or the JSON of all of them (one event: just that one)."""
    if as_json:
        values = [event_value(sealed) for sealed in written]
        echo_json(values[0] if len(values) == 1 else values)
        return
    for sealed in written:
        echo(event_line(sealed))
