"""Several writers at once: nothing is lost, one line of events, one winner of a claim (PC-40, SC-10 to SC-12, UC-1).

`POG_RACES=1000` makes the races as many as the design asks for; by default the tests run 100 of them for a task that
all name, ten for the next one that is ready, and a few through the commands.
"""

import multiprocessing
import os
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import NamedTuple

import pytest

from pogstore import state
from pogstore.errors import AlreadyClaimed
from pogstore.history.tasks import ready
from pogstore.model import Actor, Definition, Sealed, TaskId
from pogstore.store.refs import task_ref
from pogstore.store.store import Store, open_store
from pogstore.store.upkeep import MOST_PACKS
from pogstore.work import acts, claims, tasks
from pogstore.work.acts import By
from tests.builders_store import TASK, append, links, noted, opened
from tests.conftest import STARTED, Pog, Repo

PROCESSES = 8
WORK_TREES = 4
APPENDS = 60
RACES = int(os.environ.get("POG_RACES", "100"))
NEXT_RACES = int(os.environ.get("POG_RACES", "10"))
OFFERED = 5
"""Tasks that are ready when a race for the next one begins: not enough for all."""
TOGETHER = 50
"""Such races in one repository, so that the tasks that were given away do not fill it."""
PATIENCE = 600
DRAINERS, DRAINS, STEPS = 4, 15, 4

forked = multiprocessing.get_context("forkserver")
"""Processes of their own that begin with this module loaded, in the environment of the first test that needed one."""
forked.set_forkserver_preload([__name__])


class Claim(NamedTuple):
    """What one racer was told about one task: the winner's name, and whether that is itself."""

    won: bool
    holder: str


def appender(place: str, name: str, start: Barrier, done: "Queue[tuple[str, int]]") -> None:
    """Appends to one task as fast as it can, in a process of its own."""
    store = open_store(place)
    start.wait(PATIENCE)
    for number in range(APPENDS):
        append(store, f"{name} {number}")
    store.close()
    done.put((name, APPENDS))


def drainer(place: str, name: str, start: Barrier, done: "Queue[tuple[str, int]]") -> None:
    """Writes packs, which are merged all the time, and reads everything in between."""
    store = open_store(place)
    start.wait(PATIENCE)
    for number in range(DRAINS):
        events = [noted(topic=f"{name} {number}.{step}") for step in range(STEPS)]
        store.transact(lambda batch, events=events: [batch.append(event) for event in events], packed=True)  # type: ignore[misc]
        assert len(store.events(TASK)) >= (number + 1) * STEPS
        for link in links(store):
            store.objects.read(link.oid, 1 << 20)
    store.close()
    done.put((name, DRAINS))


def racer(
    place: str, number: int, wanted: list[TaskId], start: Barrier, done: "Queue[tuple[int, list[Claim]]]"
) -> None:
    """Claims every task as soon as all others are ready to."""
    store = open_store(place)
    by = By(actor=Actor(type="agent", name=f"agent-{number}", session=f"s{number}"), time=STARTED)
    told: list[Claim] = []
    for task in wanted:
        start.wait(PATIENCE)
        try:
            claims.claim(store, task, by)
            told.append(Claim(True, f"agent-{number}"))
        except AlreadyClaimed as fault:
            told.append(Claim(False, fault.holder))
    store.close()
    done.put((number, told))


def taker(place: str, number: int, races: int, start: Barrier, done: "Queue[tuple[int, list[TaskId | None]]]") -> None:
    """Takes the next ready task, race after race; two racers at a time are the same to all others."""
    store = open_store(place)
    by = By(actor=Actor(type="agent", name=f"agent-{number // 2}"), time=STARTED)
    got: list[TaskId | None] = []
    for _ in range(races):
        start.wait(PATIENCE)
        if number == 0:
            defined(store, OFFERED)
        start.wait(PATIENCE)
        taken = claims.claim_first(store, lambda: [line.task for line in ready(store, STARTED, by.actor)], by)
        got.append(taken.event.task if taken else None)
    store.close()
    done.put((number, got))


@contextmanager
def packing(repo: Repo) -> Iterator[list[int]]:
    """Runs `git pack-refs --all` in a loop beside a block; the list has an entry for every run."""
    stop = threading.Event()
    runs: list[int] = []

    def loop() -> None:
        while not stop.is_set():
            done = subprocess.run(["git", "pack-refs", "--all"], cwd=repo.path, capture_output=True, check=False)
            runs.append(done.returncode)

    thread = threading.Thread(target=loop)
    thread.start()
    try:
        yield runs
    finally:
        stop.set()
        thread.join()


def defined(store: Store, count: int) -> list[TaskId]:
    """Makes tasks that nobody has claimed."""
    by = By(actor=Actor(type="human", name="ada"), time=STARTED)
    made = [tasks.new_task_id(STARTED + number * 1000, int.from_bytes(os.urandom(9))) for number in range(count)]
    for task in made:
        tasks.define(store, task, Definition(title="race"), by)
    return made


def test_eight_processes_in_four_work_trees_lose_nothing(repo: Repo, tmp_path: Path) -> None:
    """PC-40, SC-10, SC-11, SC-12, UC-53: 480 events in one line, while refs are packed all the time."""
    opened(repo, fsync=True).close()
    places = [tmp_path / f"tree{number}" for number in range(WORK_TREES)]
    for place in places:
        repo.git("worktree", "add", "-q", "--detach", str(place))
    start, done = forked.Barrier(PROCESSES), forked.Queue()
    writers = [
        forked.Process(target=appender, args=(str(places[number % WORK_TREES]), f"w{number}", start, done))
        for number in range(PROCESSES)
    ]
    with packing(repo) as runs:
        for writer in writers:
            writer.start()
        finished = dict(done.get(timeout=PATIENCE) for _ in writers)
        for writer in writers:
            writer.join()
    assert finished == {f"w{number}": APPENDS for number in range(PROCESSES)}
    assert len(runs) > 5
    store = open_store(repo.path)
    events = store.events(TASK)
    one_line(events)
    assert Counter(topic.split()[0] for topic in map(topic_of, events)) == Counter(finished)
    for name in finished:
        assert [topic for topic in map(topic_of, events) if topic.startswith(f"{name} ")] == [
            f"{name} {number}" for number in range(APPENDS)
        ]
    assert [link.sealed for link in reversed(links(store))] == events
    assert repo.git("rev-list", "--count", task_ref(TASK)) == str(PROCESSES * APPENDS)
    assert repo.git("fsck", "--strict", "--no-dangling") == ""
    store.close()


def test_packs_are_merged_beside_writers_readers_and_gc(repo: Repo) -> None:
    """PC-51, SC-57, SC-58: four processes drain, each reads all after every drain, and the user's gc prunes at once."""
    opened(repo).close()
    start, done = forked.Barrier(DRAINERS + 1), forked.Queue()
    writers = [
        forked.Process(target=drainer, args=(str(repo.path), f"w{number}", start, done)) for number in range(DRAINERS)
    ]
    for writer in writers:
        writer.start()
    start.wait(PATIENCE)
    runs = 0
    while any(writer.is_alive() for writer in writers):
        repo.git("gc", "--quiet", "--prune=now", check=False)
        runs += 1
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0] * DRAINERS
    assert runs > 1
    store = open_store(repo.path)
    found = Counter(map(topic_of, store.events(TASK)))
    wanted = [f"w{who} {drain}.{step}" for who in range(DRAINERS) for drain in range(DRAINS) for step in range(STEPS)]
    assert found == Counter(wanted)
    assert repo.git("fsck", "--strict", "--no-dangling") == ""
    left = list((store.layout.objects / "pack").iterdir())
    assert len([path for path in left if path.suffix == ".pack"]) <= MOST_PACKS + 1  # and one of gc
    assert not [path for path in left if "tmp_" in path.name or path.suffix == ".keep"]
    store.close()


def one_line(events: list[Sealed]) -> None:
    """Each event rests on the one before, and its clock is above."""
    assert len(events) == PROCESSES * APPENDS
    assert events[0].event.parents == ()
    for before, after in pairwise(events):
        assert after.event.parents == (before.event_id,)
        assert after.event.clock > before.event.clock


def topic_of(sealed: Sealed) -> str:
    return getattr(sealed.event, "topic", None) or ""


def test_eight_way_claims_have_one_winner_each(repo: Repo) -> None:
    """UC-1, T22: exactly one wins, and the others are told who."""
    store = opened(repo)
    wanted = defined(store, RACES)
    start, done = forked.Barrier(PROCESSES), forked.Queue()
    racers = [
        forked.Process(target=racer, args=(str(repo.path), number, wanted, start, done)) for number in range(PROCESSES)
    ]
    for process in racers:
        process.start()
    told = dict(done.get(timeout=PATIENCE) for _ in racers)
    for process in racers:
        process.join()
    winners: Counter[str] = Counter()
    for race, task in enumerate(wanted):
        won = [number for number in told if told[number][race].won]
        assert len(won) == 1, f"race {race}: {won}"
        assert {told[number][race].holder for number in told} == {f"agent-{won[0]}"}
        held = state.holder(acts.read_state(store, task), STARTED)
        assert held is not None
        assert held.actor.name == f"agent-{won[0]}"
        assert [kind for kind in kinds(store, task) if kind == "Claimed"] == ["Claimed"]
        winners[f"agent-{won[0]}"] += 1
    assert len(winners) > 1, "a race that always has the same winner is none"
    store.close()


@pytest.mark.parametrize("first", range(0, NEXT_RACES, TOGETHER))
def test_no_task_is_given_to_two_that_ask_for_the_next(repo: Repo, first: int) -> None:
    """UC-2: eight take the next task at once; each gets another one, and who comes too late is told so."""
    races = min(TOGETHER, NEXT_RACES - first)
    store = opened(repo)
    start, done = forked.Barrier(PROCESSES), forked.Queue()
    takers = [
        forked.Process(target=taker, args=(str(repo.path), number, races, start, done)) for number in range(PROCESSES)
    ]
    for process in takers:
        process.start()
    got = dict(done.get(timeout=PATIENCE) for _ in takers)
    for process in takers:
        process.join()
    given = [task for number in got for task in got[number] if task is not None]
    assert len(given) == len(set(given)) == races * OFFERED
    assert set(given) == set(store.tasks())
    for race in range(races):
        assert len([number for number in got if got[number][race] is not None]) == OFFERED, f"race {first + race}"
    for number, tasks_of in got.items():
        for task in filter(None, tasks_of):
            held = state.holder(acts.read_state(store, task), STARTED)
            assert held is not None
            assert held.actor.name == f"agent-{number // 2}"
            assert [kind for kind in kinds(store, task) if kind == "Claimed"] == ["Claimed"]
    store.close()


def kinds(store: Store, task: TaskId) -> list[str]:
    return [type(sealed.event).__name__ for sealed in store.events(task)]


@pytest.mark.parametrize("race", range(max(1, RACES // 20 if RACES <= 100 else RACES // 50)))
def test_eight_commands_have_one_winner(repo: Repo, pog: Pog, race: int) -> None:
    """UC-1: one exit status 0, seven 1, each naming the holder."""
    pog.init()
    task = pog("new", f"race {race}", "--json").json["task"]
    environ = {**os.environ, "POG_NOW": str(STARTED)}
    commands = [
        subprocess.Popen(
            ["git", "pog", "claim", task, "--as", f"agent:agent-{number}"],
            cwd=repo.path,
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(PROCESSES)
    ]
    said = [command.communicate(timeout=PATIENCE) for command in commands]
    statuses = [command.returncode for command in commands]
    assert sorted(statuses) == [0] + [1] * (PROCESSES - 1), said
    winner = f"agent-{statuses.index(0)}"
    for status, (_, errors) in zip(statuses, said, strict=True):
        assert status == 0 or errors.startswith(f"error: task '{task}' is claimed by '{winner}'"), errors


def test_eight_commands_get_eight_tasks(repo: Repo, pog: Pog) -> None:
    """UC-2: exit status 0 and a task of its own for as many as there are tasks, 1 for the rest."""
    pog.init()
    made = {pog("new", f"task {number}", "--json").json["task"] for number in range(OFFERED)}
    commands = [
        subprocess.Popen(
            ["git", "pog", "next", "--claim"],
            cwd=repo.path,
            env={**os.environ, "POG_NOW": str(STARTED)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(PROCESSES)
    ]
    said = [command.communicate(timeout=PATIENCE) for command in commands]
    assert sorted(command.returncode for command in commands) == [0] * OFFERED + [1] * (PROCESSES - OFFERED), said
    assert {out.split()[0] for out, _ in said if out} == made
    assert {errors for out, errors in said if not out} == {"no task is ready\n"}
