"""Whether what was done kept to the limits of its task: facts are judged by the definition, not by a hook's file."""

import json
import os
import shlex
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pogstore import model, policy, state
from pogstore.errors import BadInput
from pogstore.model import Opaque, Ran, Sealed, Stepped, TaskId
from pogstore.policy import Contract, Limits, Refusal
from pogstore.store.content import path_bytes
from pogstore.store.store import Store
from pogstore.work.arguments import argv_of
from pogstore.work.bounds import Folding


class Deed(NamedTuple):
    """What a step changed, and what a shell was told, where that is known."""

    paths: tuple[model.Path, ...]
    command: str = ""


def judge(task: TaskId, limits: tuple[Limits, ...], deed: Deed) -> Refusal | None:
    """Returns which limit a deed broke; nothing if none.

    What a command wrote is told by what changed; of the command itself only its programs are judged here.
    """
    if not limits:
        return None
    contract = Contract(task, "", limits)
    found = policy.judge_paths(contract, spelled(deed.paths))
    if found is None and deed.command and contract.on_commands:
        found = policy.judge_command(contract, deed.command, lambda _: ())
    return found


class Broken(NamedTuple):
    """A step that broke a limit of its task."""

    sealed: Sealed
    refusal: Refusal


def broken(store: Store, task: TaskId) -> Iterator[Broken]:
    """Yields the steps of agents and tools that broke what limited the task when they were made; empty without limits.

    A person is bound by no contract. A command whose words are not here is judged by what it changed alone.
    """
    folding = Folding(store)
    for sealed in state.distinct(state.whole(store.events(task)).events).used:
        event = sealed.event
        if isinstance(event, Stepped | Ran):
            is_persons = isinstance(event, Ran) and event.actor.type == "human"
            limits = () if is_persons else folding.bounds.limits
            deed = Deed(tuple(change.path for change in event.changes), _command(store, event) if limits else "")
            found = judge(task, limits, deed)
            if found is not None:
                yield Broken(sealed, found)
        elif not isinstance(event, Opaque):
            folding.add(sealed)


def _command(store: Store, event: Stepped | Ran) -> str:
    """Returns what a shell was told, or the command that was run as a shell would take it, if that is here."""
    if isinstance(event, Ran):
        argv = store.find_text(event.argv)
        try:
            return shlex.join(map(os.fsdecode, argv_of(argv))) if argv is not None else ""
        except BadInput:
            return ""
    text = store.find_text(event.input) if event.class_ == "shell" else None
    try:
        given = json.loads(text or "null")
    except ValueError:
        return ""
    command = given.get("command") if isinstance(given, dict) else given
    return command if isinstance(command, str) else ""


def spelled(paths: Iterable[model.Path]) -> list[str]:
    """Returns paths of events as a contract judges them; one outside of the repository has no name but `/`."""
    return ["/" if (raw := path_bytes(path)) is None else raw.decode("utf-8", "surrogateescape") for path in paths]
