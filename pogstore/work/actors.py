"""Who acts, where nobody gives an actor: whom the caller or the environment names, else the person that git knows."""

from collections.abc import Mapping, Sequence

from pogstore import redact
from pogstore.errors import BadInput, RefusedByPolicy
from pogstore.model import Actor, Person

TYPES = ("human", "agent", "tool")
IDENTIFY = "run 'git config --global user.name NAME' and 'git config --global user.email ADDRESS'"
_LONGEST_NAME = 100
SHELLS = {
    "CLAUDECODE": "claude-code",
    "CODEX_THREAD_ID": "codex",
    "CODEX_SANDBOX": "codex",
    "CODEX_SANDBOX_NETWORK_DISABLED": "codex",
    "CURSOR_AGENT": "cursor",
    "GEMINI_CLI": "gemini",
    "OPENCODE": "opencode",
}
"""By which variable an agent marks the shells that it starts."""


def actor_by(by: Actor | str | None, environ: Mapping[str, str], settings: Mapping[str, Sequence[str]]) -> Actor:
    """Returns an actor: the one given, an agent of a name (or `human:NAME`, `tool:NAME`), else whom `POG_ACTOR` names,
    else the agent whose shell this is, else the person. Raises `BadInput` where nobody could answer for what is
    recorded, and for what cannot be an actor; `RefusedByPolicy` in the shell of an agent that passes for a person.
    """
    if isinstance(by, Actor):
        return checked(by)
    person = person_of(environ, settings)
    named = by if by is not None else environ.get("POG_ACTOR")
    agent = agent_of(environ)
    if named is None and agent is not None:
        return Actor(type="agent", name=agent, session=environ.get("POG_SESSION") or None, on_behalf_of=person)
    if named is None:
        if person is None:
            raise BadInput("no identity", "user.name and user.email are not both set", IDENTIFY)
        return Actor(type="human", name=person.name, on_behalf_of=person)
    type_, name = _type_and_name(named)
    if type_ == "human" and agent is not None:
        raise RefusedByPolicy(
            f"this is a shell of '{agent}', which is no person", "a person acts in a shell of its own"
        )
    return checked(Actor(type=type_, name=name, session=environ.get("POG_SESSION") or None, on_behalf_of=person))


def agent_of(environ: Mapping[str, str]) -> str | None:
    """Returns the agent that has started this shell, as far as it says so; nothing for the shell of a person."""
    return next((agent for name, agent in SHELLS.items() if environ.get(name)), None)


def named_actor(named: str) -> Actor:
    """Returns an actor of whom the name alone is known: an agent, or `human:NAME`, `tool:NAME`; raises `BadInput`."""
    type_, name = _type_and_name(named)
    return checked(Actor(type=type_, name=name))


def _type_and_name(named: str) -> tuple[str, str]:
    type_, colon, name = named.partition(":")
    return (type_, name) if colon and type_ in TYPES else ("agent", named)


def checked(actor: Actor) -> Actor:
    """Returns an actor that an event may hold for good: of a known type, its name not empty, not long and no secret."""
    if actor.type not in TYPES:
        raise BadInput(f"actor type '{actor.type}'", "no such type", f"it is one of {', '.join(TYPES)}")
    if actor.name is not None:
        if not actor.name.strip() or len(actor.name) > _LONGEST_NAME:
            raise BadInput("the name of an actor", f"needs 1 to {_LONGEST_NAME} characters")
        unsecret(actor.name, "the name of an actor")
    return actor


def unsecret(word: str, what: str) -> str:
    """Returns a word that becomes a part of an event, where nothing can be erased; raises `BadInput` for a secret."""
    if redact.redact(word)[1]:
        raise BadInput(what, "looks like a secret", "events keep it for good; put texts into notes")
    return word


def person_of(environ: Mapping[str, str], settings: Mapping[str, Sequence[str]]) -> Person | None:
    """Returns the person that git knows as the author of commits; nothing without both a name and an address."""
    name, email = (
        environ.get(f"GIT_AUTHOR_{field.upper()}")
        or settings.get(f"author.{field}", [""])[-1]
        or settings.get(f"user.{field}", [""])[-1]
        for field in ("name", "email")
    )
    return Person(name=name, email=email) if name and email else None
