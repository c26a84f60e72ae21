"""Two agents and a person at work in one work tree, in any order, with drains in between: nobody gets another's work.

Each file is written with words that name who wrote them, so that every change in the log can be checked.
"""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pogstore.model import Event, Observed, Stepped
from pogstore.store.store import Store
from tests.agents.live import Live, drained, recording, sides
from tests.conftest import Repo

PATHS = ("README", "a", "sub/b")
AGENTS = ("one", "two")
PERSON = "person"
DEEDS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(("begin", "end")), st.sampled_from(AGENTS), st.just("")),
        st.tuples(st.sampled_from(("write", "write", "edit")), st.sampled_from(AGENTS), st.sampled_from(PATHS)),
        st.tuples(st.just("person"), st.just(PERSON), st.sampled_from(PATHS)),
        st.tuples(st.sampled_from(("drain", "stop")), st.sampled_from(AGENTS), st.just("")),
    ),
    min_size=4,
    max_size=14,
)


class Call:
    """A shell call: whether it ran alone, and what it wrote last at each path."""

    def __init__(self, told: dict[str, Any]) -> None:
        self.told = told
        self.is_alone = True
        self.wrote: dict[str, bytes] = {}
        self.disturbed: set[str] = set()

    @property
    def call_id(self) -> str:
        return str(self.told["tool_use_id"])


class World:
    """The work tree, who is at work in it, and what each has done."""

    def __init__(self, repo: Repo) -> None:
        self.repo = repo
        self.store: Store = recording(repo)
        clock = Live(repo.path).clock
        self.agents = {name: Live(repo.path, name, clock) for name in AGENTS}
        self.open: dict[str, Call] = {}
        self.calls: list[Call] = []
        self.edits: dict[str, tuple[str, bytes]] = {}
        self.count = 0

    def put(self, who: str, path: str) -> bytes:
        self.count += 1
        data = f"{who} {self.count}\n"
        place = self.repo.path / path
        place.parent.mkdir(exist_ok=True)
        place.write_text(data)
        return data.encode()

    def do(self, deed: str, who: str, path: str) -> None:
        live = self.agents.get(who)
        if deed == "person" and not self.open:
            self.put(who, path)
        elif live is None:
            return
        elif deed == "begin" and who not in self.open:
            self.begin(who, live)
        elif deed == "end" and who in self.open:
            live.end(self.open.pop(who).told, {"stdout": ""})
        elif deed == "write" and who in self.open:
            call = self.open[who]
            call.wrote[path] = self.put(call.call_id, path)
        elif deed == "edit":
            self.edit(who, live, path)
        elif deed == "drain":
            drained(self.store, live)
        elif deed == "stop" and not self.open:
            live.say("Stop", at=self.count)

    def begin(self, who: str, live: Live) -> None:
        call = Call(live.begin("Bash", {"command": "make"}))
        for other in self.open.values():
            other.is_alone = call.is_alone = False
        self.open[who] = call
        self.calls.append(call)

    def edit(self, who: str, live: Live, path: str) -> None:
        data = f"{who} edit {self.count}\n"
        self.count += 1
        self.edits[live.write(path, data)] = path, data.encode()
        for call in self.open.values():
            call.disturbed.add(path)

    def finish(self) -> None:
        for who in list(self.open):
            self.do("end", who, "")
        self.agents["one"].say("Stop", at=-1)
        drained(self.store, self.agents["one"])

    def events(self) -> list[Event]:
        found = [sealed for task in self.store.tasks() for sealed in self.store.events(task)]
        ordered = sorted(found, key=lambda sealed: (sealed.event.clock, sealed.event_id))
        return [sealed.event for sealed in ordered if isinstance(sealed.event, Event)]


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(deeds=DEEDS)
def test_nobody_gets_the_work_of_another(
    tmp_path_factory: pytest.TempPathFactory, deeds: list[tuple[str, str, str]]
) -> None:
    """Cases PC-19 and PC-22."""
    repo = Repo(tmp_path_factory.mktemp("world"))
    repo.git("init", "--quiet")
    repo.commit({"README": "a project\n"})
    world = World(repo)
    for deed in deeds:
        world.do(*deed)
    world.finish()
    found = world.events()
    steps = {event.call_id: event for event in found if isinstance(event, Stepped)}
    assert steps.keys() == {call.call_id for call in world.calls} | world.edits.keys()
    for call in world.calls:
        check_shell(world.store, call, steps[call.call_id])
    for call_id, (path, data) in world.edits.items():
        assert [(name, after) for name, _, after in sides(world.store, steps[call_id])] == [(path, data)]
    check_chain(world, found)
    world.store.close()


def check_shell(store: Store, call: Call, step: Stepped) -> None:
    """A call has what it wrote itself and nothing else; and nothing at all if another ran beside it."""
    has = {path: after for path, _, after in sides(store, step)}
    if not call.is_alone:
        assert (has, step.coverage_reason) == ({}, "another-call")
        return
    expected = {path: data for path, data in call.wrote.items() if path not in call.disturbed}
    assert {path: after for path, after in has.items() if path not in call.disturbed} == expected
    for path in has.keys() & call.disturbed:
        assert has[path] == call.wrote.get(str(path))


def check_chain(world: World, found: list[Event]) -> None:
    """What is told of a path begins with what it held at first, has no gap, and ends with what it holds."""
    holds: dict[object, bytes | None] = {"README": b"a project\n"}
    for event in found:
        if isinstance(event, Observed | Stepped):
            for path, before, after in sides(world.store, event):
                assert holds.get(path) == before
                holds[path] = after
    paths = (path for path in world.repo.path.rglob("*") if path.is_file() and ".git" not in path.parts)
    assert holds == {str(path.relative_to(world.repo.path)): path.read_bytes() for path in paths}
