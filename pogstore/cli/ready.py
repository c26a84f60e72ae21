"""`git pog ready`: the tasks on which work may begin."""

from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import json_option, pog_command
from pogstore.cli._render import echo_json, table, tell
from pogstore.cli._values import task_line
from pogstore.cli.list import rows_of
from pogstore.history.tasks import check_whole, ready, summaries


@pog_command("ready", {1: "no task is ready", 3: "damaged store"})
@json_option
@pass_env
def command(env: Env, as_json: bool) -> int:
    """List the tasks on which work may begin, the most urgent first.

    Those are claimed by nobody, not begun, and everything that they depend on is completed. Sessions of agents are
    not among them.
    """
    env.at_one_moment()
    lines = ready(env.store)
    if as_json:
        echo_json([task_line(line) for line in lines])
    elif lines:
        env.page(table(rows_of(lines, env.store.tasks()), width=env.width))
    else:
        tell("no task is ready")
    check_whole(summaries(env.store, env.store.damaged_tasks()))
    return 0 if lines else 1
