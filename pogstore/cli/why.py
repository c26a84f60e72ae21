"""`git pog why`: from a line to the instruction behind it."""

import click

from pogstore.cli._context import Env, pass_env
from pogstore.cli._events import headline
from pogstore.cli._options import json_option, pog_command
from pogstore.cli._render import echo_json, page, safe, when, who
from pogstore.cli._values import event_value
from pogstore.errors import BadInput
from pogstore.history.why import Chain, why


@pog_command("why", {3: "damaged store"})
@click.argument("place", metavar="FILE:LINE")
@json_option
@pass_env
def command(env: Env, place: str, as_json: bool) -> None:
    """Show what led to a line: event, task, prompt, decisions, reviews, commit."""
    name, _, number = place.rpartition(":")
    if not name or not number.isdigit():
        raise BadInput(f"'{place}'", "is not FILE:LINE")
    chain = why(env.store, env.repository_path(name).encode("utf-8", "surrogateescape"), int(number))
    if as_json:
        echo_json(_value(chain))
        return
    page(_text(chain), env.pager)


def _value(chain: Chain) -> dict[str, object]:
    return {
        "path": chain.path.decode("utf-8", "replace"),
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


def _text(chain: Chain) -> list[str]:
    line = chain.line
    name, text = (safe(raw.decode("utf-8", "replace")) for raw in (chain.path, line.text))
    lines = [f"line      {name}:{line.number}: {text}"]
    if chain.event is not None:
        event = chain.event.event
        lines.append(f"event     {chain.event.event_id[:10]} {safe(headline(chain.event))}")
        lines.append(f"actor     {who(event.actor)}")
        lines.append(f"when      {when(event.time, event.offset)}")
    if chain.task is not None:
        lines.append(f"task      {chain.task.task[:8]} {safe(chain.task.title)} [{safe(chain.task.status)}]")
    lines += _block("intent", chain.intent)
    if chain.prompt is not None:
        lines += _block("prompt", chain.prompt_text or "(not here: private, erased or not fetched)")
    for _, decision in chain.decisions:
        lines += _block("decision", decision or "(not here)")
    lines += [
        f"review    {safe(str(getattr(sealed.event, 'verdict', '')))} by {who(sealed.event.actor)}"
        for sealed in chain.reviews
    ]
    if line.commit is not None and chain.commit is not None:
        lines.append(f"commit    {line.commit[:10]} {safe(chain.commit.subject)} ({safe(chain.commit.author)})")
    if line.reason:
        lines.append(f"reason    {line.reason}")
    return lines


def _block(name: str, text: str | None) -> list[str]:
    if not text:
        return []
    first, *rest = safe(text.strip(), lines=True).splitlines() or [""]
    return [f"{name:9} {first}", *(f"{'':9} {line}" for line in rest[:19]), *([f"{'':9} …"] if len(rest) > 19 else [])]
