"""A task as a page of text: what it is to be, within which limits, where it stands, what happened last."""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from pogstore.cli._claims import claim_words
from pogstore.cli._events import text_lines
from pogstore.cli._render import counted, safe, short_who
from pogstore.cli._values import Value
from pogstore.history.tasks import Summary
from pogstore.model import Link, TaskId
from pogstore.state import TaskState

_LABEL = 12
_WORDS = ("category", "priority", "issue")
_LISTS = ("tags", "aliases", "inputs", "context_files", "related_files")
_BUDGET = {"tokens": "tokens", "minutes": "minutes", "changed_lines": "changed lines", "cost_micro_usd": "µ$"}
_RELATIONS = {"parent": "Parent", "depends_on": "Depends on", "blocks": "Blocks", "derived_from": "Derived from"}


def render_task(
    value: Value, now: TaskState, others: Mapping[TaskId, Summary], at: int, events: Sequence[str]
) -> Iterator[str]:
    """Yields the lines of a task at a time: `value` is what `--json` says of it, `others` the tasks it is linked to."""
    yield f"task {now.task}"
    yield from _field("Title", safe(str(value["title"])))
    yield from _field("Status", _status(value, now, at))
    yield from _plain_fields(value)
    for link in now.links:
        yield from _field(_RELATIONS.get(link.rel, link.rel.capitalize()), _target(link, others))
    yield from _limits(value)
    yield from _reviews(value, now)
    for name in ("intent", "description"):
        yield from _block(None, value.get(name))
    yield from _checklist(value)
    yield from _block("Outcome:", value.get("outcome"))
    yield ""
    yield f"{counted(now.events, 'event')}{', the last:' if len(events) < now.events else ':'}"
    yield from events


def _field(label: str, text: str) -> Iterator[str]:
    yield f"{safe(label) + ':':{_LABEL}} {text}"


def _status(value: Value, now: TaskState, at: int) -> str:
    status = safe(str(value["status"]))
    reason = value.get("reason")
    if reason:
        status += f" ({safe(str(reason).strip())})"
    claims = now.claims if not now.ended else ()
    return "; ".join([status, *(claim_words(claim, now.definition_id, at) for claim in claims)])


def _plain_fields(value: Value) -> Iterator[str]:
    for name in _WORDS:
        if value.get(name):
            yield from _field(name.capitalize(), safe(str(value[name])))
    for name in _LISTS:
        if value.get(name):
            words = cast(list[object], value[name])
            yield from _field(name.replace("_files", "").capitalize(), safe(", ".join(map(str, words))))
    if value.get("estimate_minutes"):
        yield from _field("Estimate", f"{value['estimate_minutes']} minutes")
    if value.get("conflicted"):
        yield from _field("Conflict", "several claims stand; one has to be released")
    if value.get("incomplete"):
        yield from _field("Incomplete", safe(str(value["incomplete"])))


def _target(link: Link, others: Mapping[TaskId, Summary]) -> str:
    if link.task is None:
        return safe(link.event or link.commit or "")
    other = others.get(link.task)
    return f"{safe(link.task)} " + (f"{safe(other.title)} [{safe(other.status)}]" if other else "(not here)")


def _limits(value: Value) -> Iterator[str]:
    for name, noun in (("scope", ""), ("commands", " run")):
        globs = cast(dict[str, list[str]], value.get(name) or {})
        if "allow" in globs:
            yield from _field(f"Allow{noun}", safe(", ".join(globs["allow"])) or "nothing")
        if globs.get("deny"):
            yield from _field(f"Deny{noun}", safe(", ".join(globs["deny"])))
    budget = cast(dict[str, int], value.get("budget") or {})
    if budget:
        yield from _field(
            "Budget", ", ".join(f"{budget[name]} {noun}" for name, noun in _BUDGET.items() if name in budget)
        )
    for command in cast(list[str], value.get("checks") or []):
        yield from _field("Check", safe(command))
    if value.get("approvals"):
        yield from _field("Approvals", f"{value['approvals']} needed")


def _reviews(value: Value, now: TaskState) -> Iterator[str]:
    for said, review in zip(cast(list[Value], value["reviews"]), now.reviews, strict=True):
        yield from _field("Review", f"{safe(review.verdict)} of {said['subject']} by {short_who(review.actor)}")


def _checklist(value: Value) -> Iterator[str]:
    items = cast(list[Value], value.get("checklist") or [])
    if items:
        yield ""
    for number, item in enumerate(items, 1):
        yield f"    [{'x' if item['done'] else ' '}] {number}. {safe(str(item['text']))}"


def _block(heading: str | None, text: object) -> Iterator[str]:
    if not text:
        return
    yield ""
    if heading:
        yield heading
    yield from text_lines(str(text).strip("\n"))
