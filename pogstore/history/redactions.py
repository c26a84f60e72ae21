"""Where secrets were taken out of the texts of a task: kinds and places, never what stood there.

Read from the masks in the texts that are here, so it holds after a fetch too; what was erased or not fetched tells
nothing.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from pogstore import codec, redact
from pogstore.errors import ObjectDamaged
from pogstore.model import EventId, Sealed, Text
from pogstore.store.store import Store


class Redaction(NamedTuple):
    """One mask: the event, its field, the line in it (from 1), and the kind of what was taken out."""

    event: EventId
    field: str
    line: int
    kind: str


def redactions(store: Store, events: Iterable[Sealed]) -> Iterator[Redaction]:
    """Yields what was taken out of the texts of some events, in their order; a text that is not here is passed over."""
    for sealed in events:
        for field, text in _texts(codec.fields_of(sealed)):
            try:
                said = store.find_text(text)
            except ObjectDamaged:  # `verify` says so
                continue
            for kind, at in redact.masks(said or ""):
                yield Redaction(sealed.event_id, field, redact.line_of(said or "", at), kind)


def counts(found: Iterable[Redaction]) -> dict[str, int]:
    """Returns how many there are of each kind, by name."""
    return dict(sorted(Counter(one.kind for one in found).items()))


def _texts(fields: Mapping[str, object]) -> Iterator[tuple[str, Text]]:
    for name, value in sorted(fields.items()):
        within = value.get("raw") if name == "source" and isinstance(value, dict) else value
        if isinstance(within, dict) and {"blob", "size", "class"} <= within.keys():
            yield name, msgspec.convert(within, Text)
