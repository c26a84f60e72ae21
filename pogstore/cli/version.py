"""`git pog version`: which versions are at work."""

from importlib.metadata import version

from pogstore.cli._options import json_option, pog_command
from pogstore.cli._render import echo, echo_json
from pogstore.model import FORMAT


@pog_command("version")
@json_option
def command(as_json: bool) -> None:
    """Print the version of pogstore and of its format."""
    value = {"pogstore": version("pogstore"), "format": FORMAT}
    if as_json:
        echo_json(value)
        return
    echo(f"pogstore {value['pogstore']} (format {FORMAT})")
