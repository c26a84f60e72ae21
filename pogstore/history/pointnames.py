"""Names of points: notes that mark an event. The latest in replay order wins a name, so that a name can move.

A name is free text, so it is the text of the note and stands in no event.
"""

import re
import unicodedata
from typing import NamedTuple

from pogstore import codec
from pogstore.errors import BadInput, NotFound, ObjectDamaged
from pogstore.history.timeline import PointId
from pogstore.model import EventId, Link, Noted, Sealed
from pogstore.store import rows
from pogstore.store.store import Store
from pogstore.work import tasks
from pogstore.work.acts import By

TOPIC = "point"
MARKS = "marks"
"""The relation of the link from a note to the event that it names."""
LONGEST = 100
"""Characters of a name."""

_OF_AN_ID = re.compile(r"[0-9a-fA-F]{4,64}|[0-9a-fA-F]{4,8}-[0-9a-fA-F-]*")
_HIDDEN = ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp")


class Marked(NamedTuple):
    """A note that names a point, and where the name stood before."""

    written: Sealed
    former: EventId | None


def check_name(name: str) -> None:
    """Raises `BadInput` for a name that is empty, hides something, or could be read as something else."""
    if reason := _fault(name):
        raise BadInput("the name of a point", reason)


def named_points(store: Store) -> dict[str, PointId]:
    """Returns every point that has a name, by its name; of one whose name is not here nothing is known."""
    store.refresh()
    found: dict[str, PointId] = {}
    for body in rows.linking(store.index.connection, MARKS):
        sealed = codec.decode(body)
        marked, name = marked_by(sealed), _name(store, sealed)
        if marked is not None and name is not None:
            try:
                found[name] = PointId(store.event(marked).event.task, marked)
            except NotFound:  # it was not fetched
                continue
    return found


def name_point(store: Store, event_id: EventId, name: str, by: By) -> Marked:
    """Names the point after an event, in the task of that event; raises `BadInput`, `NotFound`."""
    check_name(name)
    task = store.event(event_id).event.task
    former = named_points(store).get(name)
    links = (Link(rel=MARKS, event=event_id),)
    return Marked(tasks.note(store, task, name, by, topic=TOPIC, links=links), former.event_id if former else None)


def marked_by(sealed: Sealed) -> EventId | None:
    """Returns the event that a note names; nothing for any other event."""
    event = sealed.event
    if not isinstance(event, Noted) or event.topic != TOPIC:
        return None
    return next((link.event for link in event.links if link.rel == MARKS), None)


def _name(store: Store, sealed: Sealed) -> str | None:
    text = sealed.event.text if isinstance(sealed.event, Noted) else None
    try:
        return store.find_text(text)
    except ObjectDamaged:
        return None


def _fault(name: str) -> str | None:
    hidden = any(unicodedata.category(character) in _HIDDEN for character in name)
    marked = name.startswith(("@", "-")) or "@{" in name or name.endswith("^")
    faults = {
        "is empty": not name.strip(),
        "begins or ends with white space": name != name.strip(),
        f"has more than {LONGEST} characters": len(name) > LONGEST,
        "holds a control character, or one that nobody sees": hidden,
        "could be the beginning of an id": _OF_AN_ID.fullmatch(name) is not None,
        "begins with '@' or '-', holds '@{' or ends with '^'": marked,
    }
    return next((reason for reason, is_so in faults.items() if is_so), None)
