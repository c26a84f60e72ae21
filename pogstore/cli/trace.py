"""`git pog trace`: which lines of a task, an event or an actor still stand."""

from collections.abc import Iterator

import click
import msgspec

from pogstore.cli._context import Env, pass_env
from pogstore.cli._events import SHORT, headline
from pogstore.cli._options import json_option, pog_command
from pogstore.cli._range import percent
from pogstore.cli._render import counted, day, echo_json, raw_path_text, safe, short_who, table, tell
from pogstore.cli._values import Value
from pogstore.errors import NotFound
from pogstore.history.names import Named, shortest
from pogstore.history.ranges import share
from pogstore.history.tasks import summary
from pogstore.history.trace import Place, Standing, Trace, events_by, events_of, trace
from pogstore.model import Sealed
from pogstore.store.content import path_of


@pog_command("trace", {3: "damaged store"})
@click.argument("name", default="@", metavar="[TASK|EVENT|ACTOR]")
@json_option
@pass_env
def command(env: Env, name: str, as_json: bool) -> None:
    """Show which lines of a task, an event or an actor still stand, and what share of those it added.

    An actor is called by name, model or session, or by agent:NAME, human:NAME, tool:NAME. Each event counts the lines
    that it added, so a line that was written twice counts twice. Lines at HEAD are counted, and those in the work tree.
    """
    env.at_one_moment()
    named, events = _events(env, name)
    found = trace(env.store, events)
    if found.absent:
        tell(f"warning: the contents of {counted(len(found.absent), 'event')} are not here; some lines may be theirs")
    if as_json:
        echo_json(_value(name, named, found))
        return
    env.page([_heading(env, name, named), *_sums(found), *_places(found, several=named is None)])


def _events(env: Env, name: str) -> tuple[Named | None, list[Sealed]]:
    """Returns what a name means, and the events: a task or an event before an actor, who has no `Named`."""
    try:
        named = env.named(name)
    except NotFound:
        if name.startswith("@"):
            raise
        return None, events_by(env.store, name)
    return named, events_of(env.store, named)


def _heading(env: Env, name: str, named: Named | None) -> str:
    if named is None:
        return f"actor     {safe(name)}"
    if named.event_id is not None:
        return f"event     {named.event_id[:SHORT]} {safe(headline(env.store.event(named.event_id)))}"
    line = summary(env.store, named.task)
    return f"task      {shortest(env.store.tasks(), named.task)} {safe(line.title)} [{safe(line.status)}]"


def _sums(found: Trace) -> Iterator[str]:
    added = sum(found.added.values())
    yield f"added     {counted(added, 'line')} in {counted(len(found.added), 'event')}"
    if found.uncounted:
        yield f"unknown   what {counted(len(found.uncounted), 'event')} added is not recorded, or not here"
    yield f"at HEAD   {_survived(found, added, in_work_tree=False)}"
    if found.has_work_tree:
        yield f"here      {_survived(found, added, in_work_tree=True)}"


def _survived(found: Trace, added: int, *, in_work_tree: bool) -> str:
    standing = found.standing(in_work_tree=in_work_tree).total()
    survived = found.survived(in_work_tree=in_work_tree)
    said = f"{counted(standing, 'line')} standing"
    return f"{said}, {percent(survived, added)} of those added" if added else said


def _places(found: Trace, *, several: bool) -> list[str]:
    """Returns the places as they are in the work tree, or at HEAD where there is none, and where both differ."""
    rows = []
    for file in found.files:
        for place, where in _in_both(file):
            sealed = found.events[place.event]
            event = [f"*{place.event[:8]}", day(sealed.event.time), short_who(sealed.event.actor)]
            task = [safe(sealed.event.task[:8])] if several else []
            rows.append([_spelled(file, place), *event, *task, f"{safe(headline(sealed))}{where}"])
    return ["", *table(rows)] if rows else []


def _in_both(file: Standing) -> list[tuple[Place, str]]:
    if file.work_tree is None or file.work_tree == file.head:
        return [(place, "") for place in file.head]
    here = [(place, " (here)") for place in file.work_tree]
    return here + [(place, " (at HEAD)") for place in file.head]


def _spelled(file: Standing, place: Place) -> str:
    last = f"-{place.last}" if place.last > place.first else ""
    return f"{raw_path_text(file.path)}:{place.first}{last}"


def _value(name: str, named: Named | None, found: Trace) -> Value:
    standing, here = found.standing(), found.standing(in_work_tree=True)
    added = sum(found.added.values())
    survived, survived_here = found.survived(), found.survived(in_work_tree=True)
    in_work_tree = {"standing": here.total(), "share": round(share(survived_here, added), 1) if added else None}
    whose: Value = {"actor": name} if named is None else {"task": named.task}
    if named is not None and named.event_id is not None:
        whose["event"] = named.event_id
    return whose | {
        "added": added,
        "standing": standing.total(),
        "share": round(share(survived, added), 1) if added else None,
        "work_tree": in_work_tree if found.has_work_tree else None,
        "events": [
            {"event": event, "added": found.added.get(event), "standing": standing[event], "here": here[event]}
            for event in found.events
        ],
        "uncounted": list(found.uncounted),
        "files": [_file_value(file) for file in found.files],
        "absent": list(found.absent),
    }


def _file_value(file: Standing) -> Value:
    def places(found: tuple[Place, ...] | None) -> list[Value] | None:
        return None if found is None else [place._asdict() for place in found]

    path = msgspec.to_builtins(path_of(file.path))
    return {"path": path, "head": places(file.head), "work_tree": places(file.work_tree)}
