"""Proves that what an agent says arrives: a made-up session, told to the line that stands in the agent's settings.

Runs in a scratch repository, as the agent would: through its shell, with its `PATH`, one process an event. Nothing of
the person's is read or written.
"""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from pogstore.agents import command_line
from pogstore.agents.rehearsal import FILE, REHEARSALS, TEXT, Line
from pogstore.agents.wiring import Spell, Wiring
from pogstore.cli import _draining
from pogstore.cli._context import now
from pogstore.errors import GitFailed
from pogstore.model import Stepped
from pogstore.store import gitcli
from pogstore.store.store import Store, open_store
from pogstore.work import setup, spooled
from pogstore.work.spooled_record import Record, decode_record

OWN_PLACE = ".local/bin"
"""From a person's home: where our line looks for git-pog whatever the `PATH` is."""
EVERYWHERE = ("/usr/local/bin", "/usr/bin", "/bin")
"""What is on the `PATH` of every program of a system."""
PATIENCE = 30
"""Seconds that one event may take before it counts as lost."""


class Told(NamedTuple):
    """One event that was told: whether its record arrived, what the shell answered, what was printed, how long."""

    event: str
    arrived: bool
    status: int
    printed: str
    seconds: float


class Delivery(NamedTuple):
    """What became of a made-up session; `program` is the git-pog that the line reaches, `None` if there is none."""

    program: str | None
    version: str | None
    told: tuple[Told, ...]
    file_seen: bool
    stored: bool

    @property
    def ok(self) -> bool:
        """Whether everything arrived, and nothing disturbed the agent."""
        return (
            self.file_seen
            and self.stored
            and all(each.arrived and not each.status and not each.printed for each in self.told)
        )


def deliver(wired: Wiring, environ: Mapping[str, str]) -> Delivery:
    """Tells a session of an agent to a scratch repository and returns what arrived."""
    spell, direct = spelling(environ), needs_interpreter(environ)
    found = str(_script()) if direct or spell is not command_line.line else None
    found = (None if direct else program(environ)) or found
    with _scratch(environ) as (store, place, env):
        answers = [
            _tell(place, env, spell(next(iter(wired.calls([line.event]).values()))), line)
            for line in _session(wired.agent, place)
        ]
        records = _records(store)
        left, _ = _draining.drain(store, now)
        stored = not left and any(isinstance(sealed.event, Stepped) for sealed in store.events_on(FILE.encode()))
    arrived = {record.event for record in records}
    told = tuple(each._replace(arrived=each.event in arrived) for each in answers)
    seen = any(state.path == FILE.encode() for record in records for state in record.states)
    return Delivery(found, version(found, (sys.executable, "-P") if direct else ()), told, seen, stored)


def _session(agent: str, place: Path) -> Iterator[Line]:
    """Yields what an agent says in a short session; the file is written when its tool would."""
    for line in REHEARSALS[agent](str(place)):
        if line.written:
            (place / FILE).write_text(TEXT, "utf-8")
        yield line


def _tell(place: Path, env: Mapping[str, str], command: str, line: Line) -> Told:
    begun = time.perf_counter()
    try:
        done = subprocess.run(
            ["sh", "-c", command], input=json.dumps(line.members).encode(), cwd=place, env=env, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=PATIENCE, check=False,
        )  # fmt: skip
        status, printed = done.returncode, done.stdout.decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        status, printed = 124, ""
    return Told(line.event, False, status, printed, time.perf_counter() - begun)


def _records(store: Store) -> list[Record]:
    files = spooled.take(setup.spool_of(store.layout))
    parts = [part for path in files for part in spooled.read(path)]
    return [decode_record(part.record) for part in parts if isinstance(part, spooled.Good)]


@contextmanager
def _scratch(environ: Mapping[str, str]) -> Iterator[tuple[Store, Path, dict[str, str]]]:
    """Makes a repository in which recording is enabled, and the environment in which an agent would work in it."""
    kept = {name: value for name, value in environ.items() if not name.startswith(("GIT_", "POG_"))}
    env = kept | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    with tempfile.TemporaryDirectory(prefix="pog-agent-test-") as name:
        place = Path(name).resolve()
        _git(place, env, "init", "--quiet", "--template=", ".")
        _git(place, env, "config", setup.AUTO_DRAIN, "false")  # a drain of theirs would take what we look for
        store = open_store(place)
        try:
            setup.enable(store)
            yield store, place, env
        finally:
            store.close()


def _git(place: Path, env: Mapping[str, str], *words: str) -> None:
    done = subprocess.run([gitcli.executable(), *words], cwd=place, env=env, capture_output=True, check=False)
    if done.returncode:
        raise GitFailed(words[0], done.returncode, done.stderr.decode("utf-8", "replace"))


def spelling(environ: Mapping[str, str]) -> Spell:
    """Returns what makes the line that reaches us from an agent's settings: the one that never changes, if it can.

    An agent that is started elsewhere has not the `PATH` of this terminal: where git-pog lies in no place that is on
    every `PATH`, the line names its place as well. Where the system cannot start our script, because there is a space
    in the path of its interpreter, it names the interpreter.
    """
    if needs_interpreter(environ):
        return partial(command_line.direct_line, python=Path(sys.executable), scripts=_script().parent)
    if lasting(environ) is not None:
        return command_line.line
    found = program(environ) if _cannot_start(Path(sys.executable)) or not _script().is_file() else str(_script())
    return (
        command_line.line if found is None else partial(command_line.placed_line, scripts=Path(found).absolute().parent)
    )


def needs_interpreter(environ: Mapping[str, str]) -> bool:
    """Says whether git-pog is reached by its interpreter alone, since the system starts no script of that place."""
    return _cannot_start(Path(sys.executable)) and _script().is_file() and version(program(environ)) is None


def lasting(environ: Mapping[str, str]) -> str | None:
    """Returns the git-pog that an agent finds wherever it is started; nothing if there is none.

    That is one in a place which our line names itself, or which systems have on the `PATH` of every program.
    """
    own = Path(environ.get("HOME", "")) / OWN_PLACE
    return shutil.which("git-pog", path=os.pathsep.join([str(own), *EVERYWHERE]))


def _script() -> Path:
    return Path(sysconfig.get_path("scripts")) / "git-pog"


def _cannot_start(interpreter: Path) -> bool:
    """Whether the system takes no such name from the first line of a script: 127 bytes are sure, and no white space."""
    return any(character.isspace() for character in str(interpreter)) or len(os.fsencode(interpreter)) > 125


def program(environ: Mapping[str, str]) -> str | None:
    """Returns the program that git would start for the line in an agent's settings."""
    path = os.pathsep.join([environ.get("PATH", os.defpath), str(Path(environ.get("HOME", "")) / OWN_PLACE)])
    return shutil.which("git-pog", path=path)


def version(program: str | None, interpreter: Sequence[str] = ()) -> str | None:
    """Returns the version that a program says it has; nothing if it does not start, or is none of ours."""
    if program is None:
        return None
    command = [*interpreter, program, "--version"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    name, _, found = done.stdout.strip().partition(" ")
    return found if done.returncode == 0 and name == "pogstore" else None


def why_not(program: str) -> tuple[str, str]:
    """Returns why a program does not start, and what to do about it."""
    try:
        with Path(program).open("rb") as file:
            first = file.readline(4096).rstrip(b"\r\n")
    except OSError as fault:
        return fault.strerror or str(fault), "install it again"
    interpreter = Path(os.fsdecode(first.removeprefix(b"#!").strip()))
    if not first.startswith(b"#!/") or interpreter.name == "sh":
        return "it does not say what it is", "is it ours? See what it prints: git-pog --version"
    if _cannot_start(interpreter):
        return (
            f"the path of its interpreter has a space in it or is too long: {interpreter}",
            "install it elsewhere, or run that interpreter with '-m pogstore agent add AGENT'",
        )
    if not os.access(interpreter, os.X_OK):
        return f"its interpreter is gone: {interpreter}", "install it again, in a path without a space"
    return "it ends with an error", f"see what it says: {program} --version"
