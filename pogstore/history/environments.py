"""In which environment an event or a task was done, and in what two environments differ."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from pogstore.errors import BadInput, NotFound
from pogstore.history.names import Named
from pogstore.model import EventId, Ran, Sealed, Stepped, Text
from pogstore.store.store import Store
from pogstore.work import environment

LATER = "later"
"""The member that says when an environment was looked at, and nothing of what it is."""

_INTERPRETER, _VARIABLES, _LOCKS = "interpreter", "variables.", "locks."


class Told(NamedTuple):
    """An environment by its members, as an event told it; `event_id` is absent for the present one."""

    members: dict[str, str | None]
    event_id: EventId | None = None

    @property
    def is_later(self) -> bool:
        """Whether it was looked at when the step was stored and not when it was made."""
        return LATER in self.members


class Difference(NamedTuple):
    """A member that is not the same in two environments; nothing on the side where it is not told or not set."""

    name: str
    before: str | None
    after: str | None


def told(store: Store, named: Named) -> Told:
    """Returns the environment of an event, or the last one of a task.

    An event that names none has that of the last before it in its task which does; of the same session, if it is one
    of a session. Raises `NotFound` where there is none, or where its text is not here.
    """
    events = store.events(named.task)
    if named.event_id is not None:
        at = next(at for at, sealed in enumerate(events) if sealed.event_id == named.event_id)
        events = [each for each in events[: at + 1] if _session(each) == _session(events[at])]
    for sealed in reversed(events):
        if text_of(sealed) is not None:
            return of_event(store, sealed)
    raise NotFound("environment", named.event_id or named.task, "none was recorded with it")


def of_event(store: Store, sealed: Sealed) -> Told:
    """Returns the environment that an event tells itself; raises as `told` does."""
    text = text_of(sealed)
    if text is None:
        raise NotFound("environment", sealed.event_id, "none was recorded with it")
    return Told(_read(store, sealed.event_id, text), sealed.event_id)


def variables_in(found: Told | None) -> list[str]:
    """Returns the names of the variables that an environment tells of."""
    return [] if found is None else [name[len(_VARIABLES) :] for name in found.members if name.startswith(_VARIABLES)]


def present(
    store: Store, cwd: Path, environ: Mapping[bytes, bytes], like: Told | None = None, root: Path | None = None
) -> Told:
    """Returns the environment of this process in a folder; of what another one tells of nothing is left out.

    `root` is the work tree whose lock files count; by default that of the store.
    """
    said = () if like is None else tuple(like.members)
    locks = tuple(name[len(_LOCKS) :] for name in said if name.startswith(_LOCKS))
    wanted = environment.asked(store, variables_in(like))._replace(locks=locks)
    found = environment.capture(root or store.layout.work_tree, cwd, environ, wanted, store.layout.own)
    return Told(environment.members(environment.text_of(found)) or {})


def text_of(sealed: Sealed) -> Text | None:
    """Returns the name of the environment that an event tells, if it tells one."""
    return sealed.event.env if isinstance(sealed.event, Ran | Stepped) else None


def differences(before: Told, after: Told) -> list[Difference]:
    """Returns the members that two environments do not share, by name.

    Nothing is said of what one of them cannot tell: which interpreter a program had that recorded itself, and the
    variables where it was looked at later.
    """
    names = sorted((before.members.keys() | after.members.keys()) - {LATER})
    if before.is_later or after.is_later:
        names = [name for name in names if not name.startswith(_VARIABLES)]
    if not (_INTERPRETER in before.members and _INTERPRETER in after.members):
        names = [name for name in names if name != _INTERPRETER]
    found = (Difference(name, before.members.get(name), after.members.get(name)) for name in names)
    return [each for each in found if each.before != each.after]


def _session(sealed: Sealed) -> str | None:
    actor = sealed.event.actor
    return actor.session if actor is not None else None


def _read(store: Store, event_id: EventId, text: Text) -> dict[str, str | None]:
    said = store.find_text(text)
    if said is None:
        raise NotFound("text of the environment", event_id, "it is private: it was not fetched, or it was erased")
    found = environment.members(said)
    if found is None:
        raise BadInput(f"the environment of event '{event_id}'", "is not as any version of pogstore writes it")
    return found
