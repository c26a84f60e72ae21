"""`git pog context`: what somebody needs who is to work on a task."""

import click

from pogstore.cli._briefing import pieces
from pogstore.cli._briefing_forms import Json, Markdown
from pogstore.cli._budget import fitted
from pogstore.cli._context import Env, pass_env
from pogstore.cli._options import json_option, pog_command, task_argument
from pogstore.cli._render import echo
from pogstore.history.briefing import briefing

BUDGET = 8000
LEAST = 600


@pog_command("context", {3: "damaged store"})
@task_argument
@click.option(
    "--budget",
    type=click.IntRange(LEAST),
    default=BUDGET,
    metavar="TOKENS",
    help="How long it may be; by default 8000.",
)
@json_option
@pass_env
def command(env: Env, task: str, budget: int, as_json: bool) -> None:
    """Print what somebody needs who is to work on a task, as Markdown.

    Its definition, limits and checklist, what was decided, noted and reviewed, its files with their last events, and
    related tasks with their outcomes, within a budget of tokens, which are estimated: one for four ASCII characters,
    one for every other character. What finds no room is counted at the end.

    What others wrote stands in fences and code spans that it cannot end, and is marked as data. Only a definition that
    a person wrote in this repository is called what is to be done.
    """
    env.at_one_moment()
    told = briefing(env.store, env.task(task))
    form = Json(told, budget) if as_json else Markdown(told, budget)
    text = form.render(fitted(pieces(told, env.time), budget, form.render, form.size))
    if as_json:
        echo(text)
    else:
        env.page(text.split("\n"))
