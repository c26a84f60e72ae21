"""Records one command that a person or an agent runs: what was run, in what, what it said, and what it changed."""

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from pogstore import model, redact
from pogstore.draft import DraftText
from pogstore.errors import BadInput, NoSuchProgram, NoWorkTree, PogError
from pogstore.model import Ran, Sealed, TaskId
from pogstore.store.lock import locked
from pogstore.store.store import Store
from pogstore.work import arguments, begun, environment, watched
from pogstore.work.acts import By
from pogstore.work.held import path_of
from pogstore.work.matched import OUTSIDE, Matched, match
from pogstore.work.process import Finished, execute, signals_passed_on
from pogstore.work.watched import Found, Watch

_LONGEST_NAME = 200


class Command(NamedTuple):
    """A command line, where and in which environment it runs, and what is said of its files and variables."""

    argv: tuple[bytes, ...]
    cwd: Path
    environ: Mapping[bytes, bytes]
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()


class Recorded(NamedTuple):
    """How a command ended, and its event; or `fault`, for which it could not be recorded."""

    finished: Finished
    outputs: Matched
    event: Sealed | None = None
    fault: PogError | OSError | None = None


def run(
    store: Store,
    task: TaskId,
    command: Command,
    by: By,
    *,
    now: Callable[[], int],
    shown: tuple[int, int] = (1, 2),
    before_writing: Callable[[], None] = lambda: None,
) -> Recorded:
    """Runs a command and records it in a task as `ran`; what it prints is shown on two descriptors meanwhile.

    What can be known to fail is found before anything runs: raises `NoWorkTree`, `BadInput`, `NoSuchProgram`, or what
    the store's lock raises. `before_writing` is called when the command has ended, to store what others have told.
    Signals go to the command; none keeps it from being recorded.
    """
    root = store.layout.work_tree
    if root is None:
        raise NoWorkTree
    with redact.in_force(lambda: store.own_rules):
        arguments.check_variables(command.variables, command.environ)
    _check_program(command)
    inputs = _inputs(root, command)
    with locked(store.layout.own):
        pass  # what cannot be recorded is not run
    with signals_passed_on() as signals, redact.in_force(lambda: store.own_rules):
        watch = Watch(store, task, None, now)
        try:
            around = _environment(store, root, command)
            finished = execute(
                command.argv, signals, cwd=command.cwd, environ=command.environ, stdout=shown[0], stderr=shown[1]
            )
            outputs = match(root, command.cwd, command.outputs)
            try:
                before_writing()
                fields = _fields(root, command, finished, inputs, outputs)
                texts = _texts(command, finished, around)
                with watch.ended(store, now) as found:
                    watched.write(store, task, "ran", by._replace(time=now()), fields, texts, _as_far(found, finished))
                event = _event(store, task, str(fields["call_id"]))
                _register(store, event, watch)
                return Recorded(finished, outputs, event)
            except (PogError, OSError) as fault:
                return Recorded(finished, outputs, fault=fault)
        finally:
            watch.close()


def _register(store: Store, event: Sealed | None, watch: Watch) -> None:
    """Keeps that this command was recorded here, so that it may be run again; it is no fault if that cannot be."""
    how = watch.begun(store) if event is not None else None
    if event is not None and how is not None:
        begun.register(store, event.event_id, how)


def _as_far(found: Found, finished: Finished) -> Found:
    """Returns what was found, as far as it can be all: what the command started may still be at work."""
    return found._replace(coverage="partial", reason="still-running") if finished.left else found


def exit_status(finished: Finished) -> int:
    """Returns what a shell would say of how a command ended: 128 and its number for a signal."""
    return finished.status if finished.status >= 0 else 128 - finished.status


def _check_program(command: Command) -> None:
    program = os.fsdecode(command.argv[0])
    path = os.fsdecode(command.environ.get(b"PATH", os.fsencode(os.defpath)))
    found = os.path.lexists(command.cwd / program) if "/" in program else shutil.which(program, os.F_OK, path)
    if not found:
        raise NoSuchProgram(program)


def _inputs(root: Path, command: Command) -> Matched:
    found = match(root, command.cwd, command.inputs)
    if found.unmatched:
        raise BadInput(f"the input '{found.unmatched[0]}'", "is not there", "nothing ran")
    if found.cut:
        raise BadInput("the inputs", "are too many to be named in one event", "nothing ran; name fewer of them")
    return found


def _environment(store: Store, root: Path, command: Command) -> str:
    wanted = environment.asked(store, command.variables)
    return environment.text_of(environment.capture(root, command.cwd, command.environ, wanted, store.layout.own))


def _fields(root: Path, command: Command, finished: Finished, inputs: Matched, outputs: Matched) -> dict[str, object]:
    name = redact.excerpt(command.argv[0].rpartition(b"/")[2].decode("utf-8", "replace"), 0, _LONGEST_NAME)
    return {
        "tool": name or "command",
        "class": "shell",
        "call_id": os.urandom(16).hex(),
        "ok": finished.status == 0,
        "duration_ms": finished.microseconds // 1000,
        "cwd": _cwd(root, command.cwd),
        "exit_code": finished.status,
        "inputs": inputs.paths,
        "outputs": outputs.paths,
    }


def _cwd(root: Path, cwd: Path) -> model.Path:
    return path_of(os.fsencode(cwd.relative_to(root))) if cwd.is_relative_to(root) else OUTSIDE


def _texts(command: Command, finished: Finished, around: str) -> dict[str, DraftText]:
    said = {
        "argv": arguments.argv_text(command.argv),
        "stdout": finished.stdout,
        "stderr": finished.stderr,
    }
    texts = {name: DraftText(text=text, class_="private") for name, text in said.items() if text}
    return texts | {"env": DraftText(text=around, class_="private", once=True)}


def _event(store: Store, task: TaskId, call_id: str) -> Sealed | None:
    found = (each for each in reversed(store.events(task)) if isinstance(each.event, Ran))
    return next((each for each in found if isinstance(each.event, Ran) and each.event.call_id == call_id), None)
