"""`git pog next`: the task to work on next, and taking it."""

import click

from pogstore.cli._claims import lease_option
from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import as_option, json_option, pog_command, tag_option
from pogstore.cli._render import echo, echo_json, safe, tell
from pogstore.cli._values import event_value, task_line
from pogstore.cli.list import has_tags
from pogstore.history.tasks import check_whole, ready, summaries, summary
from pogstore.model import Sealed, TaskId
from pogstore.work import claims


@pog_command("next", {1: "no task is ready", 3: "damaged store"})
@click.option("--claim", is_flag=True, help="Claim it: of several who do at once, each gets another task.")
@lease_option
@tag_option
@as_option
@json_option
@pass_env
def command(env: Env, claim: bool, lease: int | None, tag: tuple[str, ...], as_json: bool) -> int:
    """Name the task to work on next: the first of those that 'git pog ready' lists.

    With --claim to find it and to claim it are one step: no task is ever given to two. Ready are tasks that nobody
    holds, and everything that they depend on is completed. What was given to you by name comes first, then the urgent
    ones, then the older ones.
    """
    if lease is not None and not claim:
        raise click.UsageError("--lease belongs to --claim")
    taken = _take(env, lease, tag) if claim else None
    found = taken.event.task if taken else None if claim else next(iter(_candidates(env, tag)), None)
    if found is None:
        if as_json:
            echo_json(None)
        else:
            tell("no task is ready")
        check_whole(summaries(env.store, env.store.damaged_tasks()))
        return 1
    line = summary(env.store, found)
    if as_json:
        echo_json(task_line(line, env.time) | ({"claim": event_value(taken)} if taken else {}))
    else:
        echo(f"{found} {safe(line.title)}")
    return 0


def _take(env: Env, lease: int | None, tag: tuple[str, ...]) -> Sealed | None:
    until = env.by.time + lease if lease else None
    return claims.claim_first(env.store, lambda: _candidates(env, tag), env.by, lease_until=until)


def _candidates(env: Env, tag: tuple[str, ...]) -> list[TaskId]:
    return [line.task for line in ready(env.store, env.time, env.find_actor()) if has_tags(line, tag)]
