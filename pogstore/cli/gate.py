"""`git pog gate`: what a commit or a pull request lacks, for a git hook and for CI."""

import click

from pogstore.cli._checks import run_checks
from pogstore.cli._context import Env, pass_env
from pogstore.cli._gate import gate_lines, gate_summary, gate_value
from pogstore.cli._options import exclusive, json_option, pog_command
from pogstore.cli._render import echo, echo_json, tell
from pogstore.errors import BadInput
from pogstore.history.gate import Gate, Ran, gate_range, gate_staged
from pogstore.history.ranges import find_range


@pog_command("gate", {1: "something is outside the limits, or lacks what is asked", 4: "refused by policy"})
@click.argument("range_", metavar="[RANGE]", required=False)
@click.option("--staged", is_flag=True, help="Judge what is staged; so it is without a range, too.")
@click.option("--strict", is_flag=True, help="Lines that no recorded step wrote are a fault, too.")
@click.option("--exec", "exec_", is_flag=True, help="Run the checks that were defined here.")
@click.option("--yes", is_flag=True, help="With --exec: run them without asking.")
@click.option("--summary", is_flag=True, help="Print Markdown for a pull request.")
@json_option
@pass_env
def command(
    env: Env,
    range_: str | None,
    staged: bool,
    strict: bool,
    exec_: bool,
    yes: bool,
    summary: bool,
    as_json: bool,
) -> int:
    """Judge changed lines by the limits of the tasks that they come from, and what those tasks still lack.

    RANGE is A..B or A...B; without one, what is staged is judged. Where a task is required (pog.requireTask), every
    line has to come from a claimed task. A hook's own files are not believed: the definitions are. Nothing is run
    without --exec.
    """
    exclusive(summary=summary, json=as_json)
    if staged and range_ is not None:
        raise click.UsageError("--staged and a range cannot be combined")
    if yes and not exec_:
        raise click.UsageError("--yes goes with --exec")
    found = _gate(env, range_, {}, strict=strict)
    if found.files and not env.store.tasks():
        tell("warning: no task is here, so that no limit of one was looked at; 'git pog fetch' brings what was pushed")
    if exec_:
        ran = run_checks(env, [gated.task for gated in found.tasks], yes=yes)
        found = _gate(env, range_, ran, strict=strict)
    if as_json:
        echo_json(gate_value(env.store, found))
    else:
        for line in gate_summary(env.store, found) if summary else gate_lines(found):
            echo(line)
    return 0 if found.ok else 1


def _gate(env: Env, range_: str | None, ran: Ran, *, strict: bool) -> Gate:
    if range_ is None:
        return gate_staged(env.store, strict=strict, ran=ran)
    asked = find_range(range_)
    if asked is None:
        raise BadInput(f"'{range_}'", "is no range", "a range is A..B or A...B, such as origin/main...HEAD")
    return gate_range(env.store, asked, strict=strict, ran=ran)
