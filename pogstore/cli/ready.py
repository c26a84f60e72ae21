"""`git pog ready`: the tasks on which work may begin."""

from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import json_option, pog_command
from pogstore.cli._render import echo, echo_json, page, table
from pogstore.cli._values import task_line
from pogstore.cli.list import rows_of
from pogstore.history.tasks import ready


@pog_command("ready", {1: "no task is ready"})
@json_option
@pass_env
def command(env: Env, as_json: bool) -> int:
    """List the tasks on which work may begin: claimed by nobody, everything before them completed.

    The most urgent comes first, then the oldest.
    """
    lines = ready(env.store)
    if as_json:
        echo_json([task_line(line) for line in lines])
    elif lines:
        page(table(rows_of(lines)), env.pager)
    else:
        echo("no task is ready")
    return 0 if lines else 1
