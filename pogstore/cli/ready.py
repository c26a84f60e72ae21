"""`git pog ready`: the tasks on which work may begin."""

from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import as_option, json_option, pog_command, tag_option
from pogstore.cli._render import echo_json, table, tell
from pogstore.cli._values import task_line
from pogstore.cli.list import has_tags, rows_of
from pogstore.history.tasks import check_whole, ready, summaries


@pog_command("ready", {1: "no task is ready", 3: "damaged store"})
@tag_option
@as_option
@json_option
@pass_env
def command(env: Env, tag: tuple[str, ...], as_json: bool) -> int:
    """List the tasks on which work may begin, the most urgent first.

    Nobody holds them, and everything that they depend on is completed: they were not begun, or were given back, or the
    lease of who began them is over. Sessions of agents are not among them. What was given to you by name stands first.
    """
    env.at_one_moment()
    lines = [line for line in ready(env.store, env.time, env.find_actor()) if has_tags(line, tag)]
    if as_json:
        echo_json([task_line(line, env.time) for line in lines])
    elif lines:
        env.page(table(rows_of(lines, env.store.tasks(), env.time), width=env.width))
    else:
        tell("no task is ready")
    check_whole(summaries(env.store, env.store.damaged_tasks()))
    return 0 if lines else 1
