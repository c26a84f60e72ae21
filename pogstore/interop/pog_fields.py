"""A task of POG Task as a mapping of literal texts, and the same as a `Definition`: both ways, with nothing lost.

One rule keeps it lossless: a key that the named fields of a definition alone would not give back as it was (null,
empty, of another type, or unknown to us) stands in `extra`, and there it wins. Knows no YAML, no JSON lines, no events.
"""

import json
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from msgspec.structs import replace

from pogstore.model import ChecklistItem, Definition, Extra

Value: TypeAlias = "str | list[Value] | dict[str, Value] | None"
"""What a file holds: null, the literal text of a scalar, a list, or a mapping in the file's order."""
Fields: TypeAlias = Mapping[str, Value]

OURS = "pog-task:source"
"""The name of the last `extra` of a definition, where the importer keeps what it knows besides the file's own keys."""
MAX_DEPTH = 28
"""How deep an `Extra` may lie. Two levels of canonical JSON each, and four around it: just within the codec's 64."""

MAX_NESTING = 200
"""How deep a file may nest before it is hostile: far below what Python's own stack bears."""

_UNTITLED = "untitled"
_BOOLS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_HOURS = re.compile(r"\d{1,9}(\.\d{1,9})?", re.ASCII)
_SURROGATE = re.compile("[\ud800-\udfff]")


def sound(text: str) -> str:
    """Returns a text that UTF-8 can hold: surrogates in pairs become their character, lone ones U+FFFD."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def nesting(value: Value) -> int:
    """Returns how deep lists and mappings lie in a value, without recursion."""
    depth, layer = 0, [value]
    while containers := [each for each in layer if isinstance(each, list | dict)]:
        depth += 1
        layer = [child for each in containers for child in (each.values() if isinstance(each, dict) else each)]
    return depth


def text_of(value: Value) -> str:
    """Returns a value as text: a scalar as it is, anything else as JSON, null as nothing."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def texts_in(value: Value) -> tuple[str, ...]:
    """Returns the texts of a list; a text alone counts as a list of one."""
    values = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return tuple(each for each in values if isinstance(each, str))


def minutes(value: Value) -> int | None:
    """Returns a number of hours in minutes, or `None` if it is no number or no whole number of minutes."""
    hours = hours_of(value)
    return int(hours * 60) if hours is not None and (hours * 60).denominator == 1 else None


def hours_of(value: Value) -> Fraction | None:
    """Returns a number of hours exactly, or `None` if the text is no plain number."""
    return Fraction(value) if isinstance(value, str) and _HOURS.fullmatch(value) else None


def to_extra(name: str, value: Value, level: int = 1) -> Extra:
    """Returns a value as an `Extra`; what would lie deeper than `MAX_DEPTH` becomes its JSON text."""
    if value is None or isinstance(value, str):
        return Extra(name=name, value=value)
    if level >= MAX_DEPTH:
        return Extra(name=name, value=text_of(value))
    if isinstance(value, list):
        return Extra(name=name, items=tuple(to_extra("", each, level + 1) for each in value))
    return Extra(name=name, fields=tuple(to_extra(key, each, level + 1) for key, each in value.items()))


def from_extra(extra: Extra) -> Value:
    """Returns the value that an `Extra` holds."""
    if extra.items is not None:
        return [from_extra(each) for each in extra.items]
    if extra.fields is not None:
        return {each.name: from_extra(each) for each in extra.fields}
    return extra.value


def truth(value: Value) -> bool | None:
    """Returns what a text claims to be true or false in any of YAML's spellings, else `None`."""
    return _BOOLS.get(value.lower()) if isinstance(value, str) else None


def to_item(value: Value) -> ChecklistItem:
    """Returns a checklist item of any shape; one of a shape that is not ours keeps itself whole in `extra`."""
    fields = value if isinstance(value, dict) else {"text": value}
    text = text_of(fields.get("text", fields.get("task")))
    done = truth(fields.get("completed", fields.get("done")))
    rest = tuple(to_extra(key, each) for key, each in fields.items() if key not in ("text", "completed"))
    item = ChecklistItem(text=text, done=done, extra=rest)
    return item if from_item(item) == value else replace(item, extra=(to_extra(OURS, value),))


def from_item(item: ChecklistItem) -> Value:
    """Returns a checklist item as its file had it."""
    if item.extra and item.extra[0].name == OURS:
        return from_extra(item.extra[0])
    done: dict[str, Value] = {} if item.done is None else {"completed": "true" if item.done else "false"}
    return {"text": item.text, **done, **{each.name: from_extra(each) for each in item.extra}}


def definition_of(fields: Fields, *, title: str, aliases: Sequence[str], ours: Fields) -> Definition:
    """Returns the definition of a task: `title` where it has none of its own, `ours` what is known besides its keys."""
    checklist = fields.get("checklist")
    own_title = _text(fields, "title")
    definition = Definition(
        title=own_title or title,
        intent=_text(fields, "original_prompt"),
        description=_text(fields, "description"),
        category=_text(fields, "category"),
        priority=_text(fields, "priority"),
        tags=texts_in(fields.get("tags")),
        checklist=tuple(map(to_item, checklist)) if isinstance(checklist, list) else (),
        context_files=texts_in(fields.get("context_files")),
        related_files=texts_in(fields.get("related_files")),
        estimate_minutes=minutes(fields.get("estimated_hours")),
        issue=_text(fields, "issue"),
        aliases=tuple(aliases),
    )
    last = to_extra(OURS, {**ours} if own_title else {**ours, _UNTITLED: "true"})
    given = _given(replace(definition, extra=(last,)))
    rest = (to_extra(key, value) for key, value in fields.items() if key not in given or given[key] != value)
    return replace(definition, extra=(*rest, last))


def source_fields(definition: Definition) -> dict[str, Value]:
    """Returns the mapping that a definition was made from, key by key; only what lay too deep is JSON text now."""
    extra = definition.extra[:-1] if _ours(definition) is not None else definition.extra
    return {**_given(definition), **{each.name: from_extra(each) for each in extra}}


def _text(fields: Fields, key: str) -> str | None:
    value = fields.get(key)
    return value if isinstance(value, str) else None


def _ours(definition: Definition) -> Extra | None:
    last = definition.extra[-1] if definition.extra else None
    return last if last is not None and last.name == OURS else None


def _given(definition: Definition) -> dict[str, Value]:
    """Returns what the named fields alone say, under the file's names for them."""
    ours = _ours(definition)
    untitled = ours is not None and any(each.name == _UNTITLED for each in ours.fields or ())
    given: dict[str, Value] = {} if untitled else {"title": definition.title}
    texts = {
        "description": definition.description,
        "category": definition.category,
        "priority": definition.priority,
        "issue": definition.issue,
        "original_prompt": definition.intent,
    }
    lists = {
        "tags": definition.tags,
        "related_files": definition.related_files,
        "context_files": definition.context_files,
    }
    given.update({key: text for key, text in texts.items() if text is not None})
    given.update({key: list(items) for key, items in lists.items() if items})
    if definition.checklist:
        given["checklist"] = [from_item(item) for item in definition.checklist]
    return given
