"""What benchmarks are made of: repositories, stores in them, and drafts that look like an agent's work.

Nothing is random that a second run would draw otherwise.
"""

import hashlib
import random
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pogstore.draft import Draft, DraftChange, DraftText, FileVersion, TaskDrafts, session_task_id
from pogstore.model import Actor, Definition, Person, Source, TaskId
from pogstore.store.store import Store, open_store
from pogstore.work.intake import take
from pogstore.work.setup import enable

STARTED = 1_767_603_600_000_000
SECOND = 1_000_000
PER_TASK = 200
AT_ONCE = 100_000
"""Events that are taken in by one write, so that memory is bounded."""
ADA = Person(name="Ada Example", email="ada@example.org")
PERSON = Actor(type="human", name=ADA.name, on_behalf_of=ADA)
WORDS = ("return", "value", "index", "store", "event", "for", "in", "parents", "if", "not", "count", "self", "append")


def git(place: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    """Returns what git prints; a failure is an error."""
    done = subprocess.run(["git", *arguments], cwd=place, input=stdin, capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(f"git {' '.join(arguments)}: {done.stderr.decode('utf-8', 'replace')}")
    return done.stdout


def new_repository(place: Path, *options: str) -> Path:
    """Makes a repository."""
    place.mkdir(parents=True)
    git(place, "init", "--quiet", *options)
    return place


def new_store(place: Path) -> Store:
    """Makes a repository with one commit, in which recording is allowed, and opens its store."""
    new_repository(place)
    git(place, "commit", "--quiet", "--allow-empty", "--message", "first")
    enable(open_store(place))
    return open_store(place)


def task_of(number: int) -> TaskId:
    """Returns the id of one of many tasks."""
    return session_task_id("benchmark", str(number))


def agent(number: int) -> Actor:
    """Returns the agent of one of many sessions."""
    return Actor(type="agent", name="coder", model="model-1", session=f"session-{number}", on_behalf_of=ADA)


def defined(number: int) -> Draft:
    """Returns the definition of one of many tasks."""
    definition = Definition(
        title=f"Task {number}: mend what is broken", intent="So that it works again.", tags=("bench",)
    )
    return Draft(kind="defined", time=STARTED + number * SECOND, actor=PERSON, definition=definition)


def step(number: int, at: int, actor: Actor, changes: Sequence[DraftChange] = (), **texts: DraftText) -> Draft:
    """Returns one tool call; without changes it only read."""
    fields: dict[str, object] = {
        "tool": "Edit" if changes else "Read",
        "class": "edit" if changes else "read",
        "call_id": f"call_{number:06}_{at:08}",
        "ok": True,
        "duration_ms": 37,
    }
    if changes:
        fields["coverage"] = "scoped"
    return Draft(
        kind="stepped",
        time=STARTED + at * SECOND,
        actor=actor,
        fields=fields,
        changes=tuple(changes),
        texts=texts,
        source=Source(format="benchmark", key=f"{number}:{at}"),
    )


def readings(events: int, per_task: int = PER_TASK, begin: int = 0) -> list[TaskDrafts]:
    """Returns so many events without content, over tasks of `per_task` each; `begin` is the first event's number."""
    end = begin + events
    return [
        TaskDrafts(
            task=task_of(first // per_task),
            drafts=tuple(step(first // per_task, at, agent(first)) for at in range(first, min(first + per_task, end))),
        )
        for first in range(begin, end, per_task)
    ]


def filled_store(place: Path, events: int, per_task: int = PER_TASK) -> Store:
    """Returns a store with so many events without content."""
    store = new_store(place)
    for begin in range(0, events, AT_ONCE):
        take(store, readings(min(AT_ONCE, events - begin), per_task, begin))
    return store


def source_lines(seed: int, count: int) -> list[bytes]:
    """Returns lines that look like code, none of them twice."""
    chance = random.Random(seed)
    return [_line(chance, seed, at) for at in range(count)]


def edited(lines: Sequence[bytes], seed: int, count: int = 4) -> list[bytes]:
    """Returns lines as a step of an agent leaves them: a few in a row are others, every fifth time elsewhere too."""
    chance = random.Random(seed)
    found = list(lines)
    for _ in range(2 if seed % 5 == 0 else 1):
        at = chance.randrange(len(found))
        gone, come = chance.choice(((count, count), (count, count + 1), (count + 1, count)))
        found[at : at + gone] = [_line(chance, seed, place) for place in range(come)]
    return found


def versions(seed: int, count: int, lines: int) -> Iterator[bytes]:
    """Yields the versions of one file, each an edit of the one before."""
    current = source_lines(seed, lines)
    yield b"".join(current)
    for at in range(1, count):
        current = edited(current, seed * 1_000_003 + at)
        yield b"".join(current)


def change(path: str, before: bytes | None, after: bytes) -> DraftChange:
    """Returns one edit of a file."""
    old = None if before is None else FileVersion(mode="100644", data=before)
    return DraftChange(path=path, before=old, after=FileVersion(mode="100644", data=after))


class Committed(NamedTuple):
    """A version of one file in a commit of its own; `at` counts seconds from the beginning, as steps do."""

    at: int
    path: str
    data: bytes


def commits(ref: str, versions_: Iterable[Committed]) -> bytes:
    """Returns a stream for `git fast-import`: a commit for each file version, in a row."""
    parts = []
    for version in versions_:
        person = f"{ADA.name} <{ADA.email}> {STARTED // SECOND + version.at} +0000"
        head = f"commit {ref}\ncommitter {person}\ndata 6\nchangeM 100644 inline {version.path}\n"
        parts.append(f"{head}data {len(version.data)}\n".encode() + version.data + b"\n")
    return b"".join(parts)


def exported(store: Store) -> bytes:
    """Returns all that our refs hold as a stream for `git fast-import`, which makes the same objects of it."""
    return git(store.layout.git_dir, "fast-export", "--glob=refs/pog/*")


def refs_of(place: Path) -> bytes:
    """Returns what all our refs point at."""
    return git(place, "for-each-ref", "refs/pog/")


def packed_bytes(place: Path) -> int:
    """Returns the bytes of all packs after git's own housekeeping."""
    git(place, "gc", "--quiet", "--prune=now")
    return sum(path.stat().st_size for path in (place / ".git" / "objects" / "pack").glob("pack-*.pack"))


def _line(chance: random.Random, seed: int, at: int) -> bytes:
    words = " ".join(chance.choice(WORDS) for _ in range(5))
    unique = hashlib.blake2b(f"{seed}:{at}".encode(), digest_size=4).hexdigest()
    return f"    {words} {unique}\n".encode()
