"""`git pog why`: from a line to the instruction behind it."""

import re
from collections.abc import Iterator, Sequence

import click
import msgspec

from pogstore.cli._context import Env, pass_env
from pogstore.cli._events import NOT_HERE, SHORT, headline
from pogstore.cli._options import json_option, pog_command
from pogstore.cli._render import echo_json, raw_path_text, safe, when, who
from pogstore.cli._values import event_value
from pogstore.history.names import shortest
from pogstore.history.why import Chain, why_lines
from pogstore.model import TaskId
from pogstore.store.content import path_of

_PLACE = re.compile(r"(?P<file>.+):(?P<first>[0-9]{1,9})(?P<more>-(?P<last>[0-9]{1,9}))?", re.DOTALL)
LONGEST = 20
"""So many lines of a text are shown."""


@pog_command("why", {3: "damaged store"})
@click.argument("place", metavar="FILE:LINE[-LINE]")
@json_option
@pass_env
def command(env: Env, place: str, as_json: bool) -> None:
    """Show what led to a line: event, task, prompt, decisions, commit.

    Of several lines those in a row that have one origin are shown together, with the text of the first; with --json
    they are a list.
    """
    match = _PLACE.fullmatch(place)
    if match is None:
        raise click.UsageError(f"'{place}' is not FILE:LINE or FILE:LINE-LINE")
    path = env.repository_path(match["file"])
    env.at_one_moment()
    first, last = int(match["first"]), int(match["last"] or match["first"])
    chains = why_lines(env.store, path.encode("utf-8", "surrogateescape"), first, last)
    if as_json:
        echo_json([_value(chain) | {"last": chain.last} for chain in chains] if match["more"] else _value(chains[0]))
        return
    env.page(_texts(chains, env.store.tasks()))


def _texts(chains: Sequence[Chain], tasks: Sequence[TaskId]) -> Iterator[str]:
    for at, chain in enumerate(chains):
        yield from [""] * (at > 0)
        yield from _text(chain, tasks)


def _value(chain: Chain) -> dict[str, object]:
    return {
        "path": msgspec.to_builtins(path_of(chain.path)),
        "line": chain.line.number,
        "text": chain.line.text.decode("utf-8", "replace"),
        "owner": chain.line.owner,
        "event": event_value(chain.event) if chain.event else None,
        "task": chain.task.task if chain.task else None,
        "title": chain.task.title if chain.task else None,
        "intent": chain.intent,
        "prompt": {"event": chain.prompt.event_id, "text": chain.prompt_text} if chain.prompt else None,
        "decisions": [{"event": sealed.event_id, "text": text} for sealed, text in chain.decisions],
        "reviews": [event_value(sealed) for sealed in chain.reviews],
        "commit": chain.line.commit,
    }


def _text(chain: Chain, tasks: Sequence[TaskId]) -> list[str]:
    line = chain.line
    text = safe(line.text.decode("utf-8", "backslashreplace").removesuffix("\r"))
    several = f"-{chain.last}" if chain.last > line.number else ""
    lines = [f"line      {raw_path_text(chain.path)}:{line.number}{several}: {text}".rstrip()]
    if chain.event is not None:
        event = chain.event.event
        lines.append(f"event     {chain.event.event_id[:SHORT]} {safe(headline(chain.event))}")
        lines.append(f"actor     {who(event.actor)}")
        lines.append(f"when      {when(event.time, event.offset)}")
    if chain.task is not None:
        short = shortest(list(tasks), chain.task.task)
        lines.append(f"task      {short} {safe(chain.task.title)} [{safe(chain.task.status)}]")
    lines += _block("intent", chain.intent)
    if chain.prompt is not None:
        lines += _block("prompt", chain.prompt_text or NOT_HERE)
    for _, decision in chain.decisions:
        lines += _block("decision", decision or NOT_HERE)
    lines += [
        f"review    {safe(str(getattr(sealed.event, 'verdict', '')))} by {who(sealed.event.actor)}"
        for sealed in chain.reviews
    ]
    if line.commit is not None and chain.commit is not None:
        lines.append(f"commit    {line.commit[:SHORT]} {safe(chain.commit.subject)} ({safe(chain.commit.author)})")
    if line.reason:
        lines.append(f"reason    {safe(line.reason)}")
    return lines


def _block(name: str, text: str | None) -> list[str]:
    if not text:
        return []
    first, *rest = map(safe, text.strip().split("\n"))
    more = [*rest[: LONGEST - 1], *(["…"] if len(rest) >= LONGEST else [])]
    return [f"{name:9} {first}", *(f"{'':9} {line}".rstrip() for line in more)]
