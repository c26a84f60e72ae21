"""Who acts, where nobody gives an actor: whom the caller or the environment names, else the person that git knows."""

from collections.abc import Mapping

from pogstore import redact
from pogstore.errors import BadInput
from pogstore.model import Actor, Person
from pogstore.store.gitcli import Git

_TYPES = ("human", "agent", "tool")
_LONGEST_NAME = 100


def actor_by(by: Actor | str | None, environ: Mapping[str, str], git: Git) -> Actor:
    """Returns an actor: the one given, an agent of a name (or `human:NAME`, `tool:NAME`), else whom `POG_ACTOR` names,
    else the person. Raises `BadInput` where nobody could answer for what is recorded, and for what cannot be an actor.
    """
    if isinstance(by, Actor):
        return checked(by)
    person = person_of(environ, git)
    named = by if by is not None else environ.get("POG_ACTOR")
    if named is None:
        if person is None:
            raise BadInput("no identity", "user.name and user.email are not both set", "say who acts with 'by'")
        return Actor(type="human", name=person.name, on_behalf_of=person)
    type_, colon, name = named.partition(":")
    if not colon or type_ not in _TYPES:
        type_, name = "agent", named
    return checked(Actor(type=type_, name=name, session=environ.get("POG_SESSION") or None, on_behalf_of=person))


def checked(actor: Actor) -> Actor:
    """Returns an actor that an event may hold for good; raises `BadInput` for another, as `--as` does."""
    if actor.type not in _TYPES:
        raise BadInput(f"actor type '{actor.type}'", "no such type", f"it is one of {', '.join(_TYPES)}")
    name = actor.name
    if name is None:
        return actor
    if not 0 < len(name.strip()) <= len(name) <= _LONGEST_NAME or redact.redact(name)[1]:
        raise BadInput("the name of an actor", f"needs 1 to {_LONGEST_NAME} characters, and no secret among them")
    return actor


def person_of(environ: Mapping[str, str], git: Git) -> Person | None:
    """Returns the person that git knows as the author of commits; nothing without both a name and an address."""
    settings = git.settings()
    name, email = (
        environ.get(f"GIT_AUTHOR_{field.upper()}")
        or settings.get(f"author.{field}", [""])[-1]
        or settings.get(f"user.{field}", [""])[-1]
        for field in ("name", "email")
    )
    return Person(name=name, email=email) if name and email else None
