"""What is recorded of a task, as pieces of an answer, the most important first."""

from collections.abc import Iterator

from pogstore.cli._budget import Piece
from pogstore.cli._claims import claim_words
from pogstore.cli._render import ELLIPSIS, raw_path_text, safe, short_who
from pogstore.cli._values import Value, kind_name
from pogstore.history.briefing import NOT_HERE, Briefing, FileSeen, Said
from pogstore.history.related import Related
from pogstore.history.tasks import UNTITLED
from pogstore.model import Definition, Noted, Reviewed

LONGEST_NAME, LONGEST_TITLE = 60, 200
UNTRUSTED, ASSIGNMENT = "untrusted", "assignment"
_BUDGET = ("tokens", "cost_micro_usd", "minutes", "changed_lines")


def pieces(told: Briefing, at: int) -> list[Piece]:
    """Returns what there is to say of a task at a time (µs), the most important first."""
    definition = told.definition or Definition(title=UNTITLED)
    trust = ASSIGNMENT if told.is_own else UNTRUSTED
    return [
        *_limits(definition),
        *_standing(told, at),
        *_absent(told),
        *_definition(definition, trust),
        *_checklist(definition, told, trust),
        *_said("decisions", told.decisions),
        *_said("reviews", told.reviews),
        *(Piece("files", _file(each)) for each in told.files),
        *_said("notes", told.notes),
        *(_related(each) for each in told.related),
    ]


def _standing(told: Briefing, at: int) -> Iterator[Piece]:
    for held in told.now.claims:
        yield Piece("standing", {"claim": claim_words(held, told.now.definition_id, at), "event": held.event_id})
    for name, text in (("reason", told.reason), ("outcome", told.outcome)):
        if text:
            yield Piece("standing", {"field": name, "text": text, "trust": UNTRUSTED}, "text")


def _absent(told: Briefing) -> Iterator[Piece]:
    if told.definition is None and told.now.definition is not None:
        yield Piece("definition", {"field": "definition", "value": NOT_HERE, "trust": UNTRUSTED})


def short(text: str, most: int) -> str:
    """Returns a text in at most so many characters: columns would let any number of those through that take none."""
    shown = safe(text)
    return shown if len(shown) <= most else shown[: most - 1] + ELLIPSIS


def _limits(definition: Definition) -> Iterator[Piece]:
    """Yields each limit by itself: none may be lost because there are many others."""
    for words, globs in (("change", definition.scope), ("run", definition.commands)):
        if globs is None:
            continue
        for verb, listed in (("may", globs.allow), ("must not", globs.deny)):
            yield from (Piece("limits", {"limit": f"{verb} {words}", "value": glob}) for glob in listed or ())
        if globs.allow is not None:
            yield Piece("limits", {"limit": f"may {words} nothing{' else' if globs.allow else ''}"})
    for name in _BUDGET:
        most = getattr(definition.budget, name) if definition.budget else None
        if most is not None:
            yield Piece("limits", {"limit": f"at most, {name.replace('_', ' ')}", "value": str(most)})
    yield from (Piece("limits", {"limit": "proved done by", "value": command}) for command in definition.checks)
    if definition.approvals:
        yield Piece("limits", {"limit": "approvals needed", "value": str(definition.approvals)})


def _definition(definition: Definition, trust: str) -> Iterator[Piece]:
    for name in ("intent", "description"):
        text = getattr(definition, name)
        if text:
            yield Piece("definition", {"field": name, "text": text, "trust": trust}, "text")
    words = [(name, getattr(definition, name)) for name in ("category", "priority", "issue")]
    words += [("tag", tag) for tag in definition.tags] + [("input", each) for each in definition.inputs]
    yield from (Piece("definition", {"field": name, "value": word, "trust": trust}) for name, word in words if word)


def _checklist(definition: Definition, told: Briefing, trust: str) -> Iterator[Piece]:
    for at, item in enumerate(definition.checklist):
        done = told.now.checked.get(at, bool(item.done))
        yield Piece("checklist", {"item": at + 1, "done": done, "text": item.text, "trust": trust})


def _said(section: str, every: tuple[Said, ...]) -> Iterator[Piece]:
    """Yields the last first: they matter more, and what is left out is old."""
    for sealed, text, lacking in reversed(every):
        event = sealed.event
        value: Value = {
            "event": sealed.event_id,
            "time": event.time,
            "by": short(short_who(event.actor), LONGEST_NAME),
        }
        if isinstance(event, Reviewed):
            value["verdict"] = event.verdict
        if isinstance(event, Noted) and event.topic:
            value["topic"] = event.topic
        if lacking:
            value["lacking"] = lacking
        value |= {"text": text, "trust": UNTRUSTED}
        yield Piece(section, value, "text" if text else None)


def _file(seen: FileSeen) -> Value:
    value: Value = {"path": raw_path_text(seen.path), "why": list(seen.roles)}
    if seen.last is not None:
        event = seen.last.event
        value["last"] = {
            "event": seen.last.event_id,
            "kind": kind_name(seen.last),
            "task": event.task,
            "by": short(short_who(event.actor), LONGEST_NAME),
            "time": event.time,
        }
    return value | {"trust": UNTRUSTED}


def _related(each: Related) -> Piece:
    why = [*each.links]
    if each.files:
        why.append(f"changed {each.files} of the files above")
    why += [f"tag {tag}" for tag in each.tags]
    value: Value = {"task": each.line.task, "title": each.line.title, "status": each.line.status, "why": why}
    value |= {"outcome": each.outcome, "trust": UNTRUSTED}
    return Piece("related", value, "outcome" if each.outcome else None)
