"""Events as lines and as paragraphs."""

import json
import re
import signal
from collections.abc import Mapping

from pogstore.cli._missing import during, lacks, lacks_shortly
from pogstore.cli._render import path_text, safe, short_who, when, who
from pogstore.cli._values import kind_name
from pogstore.errors import NotFound, ObjectDamaged
from pogstore.model import (
    Change,
    Checked,
    Claimed,
    Committed,
    Defined,
    Event,
    Noted,
    Oid,
    Opaque,
    Released,
    Sealed,
    Side,
    Text,
)
from pogstore.store.store import Store

SHORT = 10
TASK_SHORT = 8
GIST = 50
"""Characters of a text that stand in one line."""
NOT_HERE = "(not here: private, erased or not fetched)"
_HUMAN = ("last_assistant_message", "message", "reason", "source", "agent_type", "trigger")
"""The members of a hook's call that a person can read, the best first."""
_LARGEST_COMMIT = 1 << 20
_OID = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
_WORDS = ("tool", "status", "verdict", "topic")


def event_line(sealed: Sealed, store: Store | None = None, *, with_task: bool = False) -> str:
    """Returns an event in one line: short id, time, kind, what it was about, who did it.

    With a store the beginning of what was said stands in it as well, if it is here.
    """
    event = sealed.event
    moment = when(event.time, event.offset)[:19]
    task = f"{safe(event.task[:TASK_SHORT])} " if with_task else ""
    words = safe(headline(sealed))
    said = safe(gist(store, sealed)) if store else ""
    lacking = lacks_shortly(event)
    words += (f": {said}" if said else "") + (f" [{lacking}]" if lacking else "")
    return f"{sealed.event_id[:SHORT]} {task}{moment} {words}  ({short_who(event.actor)})"


def gist(store: Store, sealed: Sealed) -> str:
    """Returns the beginning of what an event says in words, not escaped; nothing if it says none or it is not here."""
    event = sealed.event
    if isinstance(event, Checked):
        return f"item {event.item + 1}" + ("" if event.done else " not done")
    if isinstance(event, Committed):
        return _subject(store, event) or ""
    if isinstance(event, Claimed | Released):
        return _handed(store, event)
    names = [getattr(event, name, None) for name in ("definition", "text", "outcome", "reason")]
    text = next((name for name in names if isinstance(name, Text)), None)
    try:
        said = store.find_text(text)
    except ObjectDamaged:
        return ""
    if said is not None and isinstance(event, Defined):
        said = _title(said)
    if said is not None and isinstance(event, Noted) and event.source is not None and said.startswith("{"):
        said = _of_hook(said)
    first = (said or "").strip().split("\n", 1)[0]
    return first if len(first) <= GIST else first[: GIST - 1] + "…"


def _handed(store: Store, event: Claimed | Released) -> str:
    """Returns to whom a task was given, and whose claims end by that, if they are not the actor's own."""
    holder = event.holder if isinstance(event, Claimed) else None
    ended = store.standing(link.event for link in event.links if link.rel == "releases" and link.event).values()
    before = [getattr(claim.event, "holder", None) or claim.event.actor for claim in ended]
    names = [short_who(actor) for actor in before if actor not in (event.actor, holder)]
    words = [f"for {short_who(holder)}"] if holder else []
    return " ".join([*words, *([f"after {', '.join(dict.fromkeys(names))}"] if names else [])])


def _title(definition: str) -> str:
    try:
        return str(json.loads(definition)["title"])
    except (ValueError, KeyError, TypeError):
        return ""


def _of_hook(payload: str) -> str:
    """Returns what a person can read of a hook's call that was kept as it came: no names of files, no ids."""
    try:
        members = json.loads(payload, strict=False)
    except (ValueError, RecursionError):
        return ""  # it was cut
    said = (members.get(name) for name in _HUMAN) if isinstance(members, dict) else ()
    return next((value for value in said if isinstance(value, str) and value.strip()), "")


def _subject(store: Store, event: Committed) -> str | None:
    """Returns the first line of a commit's message; nothing if the commit is not here."""
    oid = event.commit.rpartition("_")[2]
    if not _OID.fullmatch(oid):
        return None
    try:
        kind, data = store.objects.read(Oid(oid), _LARGEST_COMMIT)
    except (NotFound, ObjectDamaged):
        return None
    message = data.partition(b"\n\n")[2].strip() if kind == "commit" else b""
    return message.split(b"\n", 1)[0].decode("utf-8", "replace")


def headline(sealed: Sealed) -> str:
    """Returns the kind of an event with its tool or status and the paths that it changed; not escaped."""
    event = sealed.event
    words = [kind_name(sealed), *(str(getattr(event, name)) for name in _WORDS if getattr(event, name, None))]
    changes: tuple[Change, ...] = getattr(event, "changes", ())
    if changes:
        words.append(path_text(changes[0].path) + (f" and {len(changes) - 1} more" if len(changes) > 1 else ""))
    if isinstance(event, Committed):
        words.append(event.commit.rpartition("_")[2][:SHORT])
    if getattr(event, "ok", None) is False:
        words.append("failed")
    return " ".join(words)


def render_event(
    sealed: Sealed, texts: Mapping[str, str | None], store: Store | None = None, *, indent: str = "    "
) -> list[str]:
    """Returns an event with its texts, as `git log` shows a commit; with a store, what a commit is about."""
    event = sealed.event
    lines = [f"event {sealed.event_id}", f"Task:   {event.task}", f"Actor:  {who(event.actor)}"]
    lines += [f"Date:   {when(event.time, event.offset)}", f"Clock:  {event.clock}"]
    if isinstance(event, Opaque):
        lines.append("Note:   needs a newer pogstore to be understood")
    elif event.inferred:
        lines.append("Note:   inferred by an importer")
    lines += [f"Note:   {said}" for said in (lacks(event), during(event)) if said]
    subject = _subject(store, event) if store and isinstance(event, Committed) else None
    if "env" in texts:
        lines.append(f"Env:    {safe(_system(texts['env']))} (git pog env show {sealed.event_id[:SHORT]})")
    said = subject or _how_it_ended(event)
    lines += ["", indent + safe(f"{headline(sealed)}{': ' + said if said else ''}")]
    lines += [f"{indent}{change_line(change)}" for change in getattr(event, "changes", ())]
    for name, text in texts.items():
        if name == "env":
            continue
        shown = NOT_HERE if text is None else _indented(text) if name == "definition" else text
        lines += ["", f"{indent}{safe(name)}:", *text_lines(shown.rstrip("\n"), indent + "  ")]
    return lines


def _how_it_ended(event: Event | Opaque) -> str | None:
    """Returns with what a command failed: its exit status, or the signal that ended it."""
    code: int | None = getattr(event, "exit_code", None)
    if not code:
        return None
    return f"exit status {code}" if code > 0 else f"ended by signal {-code}{_signal_name(-code)}"


def _signal_name(number: int) -> str:
    try:
        return f" ({signal.Signals(number).name})"
    except ValueError:  # the command ran on another system
        return ""


def _system(environment: str | None) -> str:
    """Returns of an environment which system it tells of; the rest is long, and rarely what a reader looks for."""
    try:
        system = json.loads(environment or "")["system"]
        return f"{system.get('distribution') or system['name']}, {system['machine']}"
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return "not here" if environment is None else "told"


def _indented(text: str) -> str:
    """Returns a definition, which is JSON in one line, so that a person can read it."""
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    except ValueError:
        return text


def text_lines(text: str, indent: str = "    ") -> list[str]:
    """Returns a text as it is shown below a heading: escaped, its own lines kept."""
    return [f"{indent}{safe(line)}".rstrip() for line in text.split("\n")]


def change_line(change: Change) -> str:
    """Returns one change: what happened to the path, and the first digits of what it held."""
    verb = "unknown" if change.before is None and change.after is None else "changed"
    if change.before is None and change.after is not None:
        verb = "created"
    elif change.after is None and change.before is not None:
        verb = "deleted"
    moved = f" (from {path_text(change.from_)})" if change.from_ else ""
    return f"{verb} {path_text(change.path)}{moved} {_side(change.before)} -> {_side(change.after)}"


def _side(side: Side | None) -> str:
    return "-" if side is None else safe(side.blob or side.commit or "?")[:SHORT]
