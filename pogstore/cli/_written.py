"""What a command says that wrote one event."""

from pogstore.cli._events import event_line
from pogstore.cli._render import echo, echo_json
from pogstore.cli._values import event_value
from pogstore.model import Sealed


def show_written(written: Sealed, as_json: bool) -> None:
    """Prints the event that was written: in one line, or as `log --json` shows it."""
    if as_json:
        echo_json(event_value(written))
    else:
        echo(event_line(written))
