"""How a program records its own work: a task and its steps as `with` blocks.

    with store.task("Parse dates", by="robot") as task, task.step("formatter", paths=["a.py"]) as step:
        step.output = format_file("a.py")

A block that raises is told as what it is, and the exception passes: recording never stands in for what happened.
Reads the clock, and from the environment that it is given who acts; the user's index is never touched.
"""

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import TracebackType
from typing import Self

from pogstore import codec, redact
from pogstore.draft import DraftText
from pogstore.errors import BadInput, NotEnabled, NotFound, RefusedByPolicy
from pogstore.interop.claude_code import bounded
from pogstore.model import (
    FORMAT,
    TOOL_CLASSES,
    Actor,
    Definition,
    Link,
    Prompted,
    Sealed,
    Stepped,
    TaskId,
    Usage,
)
from pogstore.store import gitcli, layout
from pogstore.store.batch import Batch
from pogstore.store.layout import Layout
from pogstore.store.store import Store
from pogstore.work import active, acts, claims, environment, setup, tasks, watched
from pogstore.work.actors import actor_by, checked
from pogstore.work.acts import By
from pogstore.work.blocks import Block, as_text, is_failure, not_instead_of
from pogstore.work.tasks import new_task_id
from pogstore.work.watched import Found, Watch

FindTask = Callable[[Store, str], TaskId]
"""Returns the task that a name means."""
PathLike = str | bytes | os.PathLike[str] | os.PathLike[bytes]

_NO = ("", "0", "false", "no", "off", "never")
_around: ContextVar[tuple[str, ...]] = ContextVar("pogstore_open_calls", default=())
"""The open calls that what runs now is a part of, the outermost first."""


class Recorder(Store):
    """The tasks of one repository, in which a program can record what it does itself."""

    def __init__(
        self, place: Layout, environ: Mapping[str, str] | None = None, find_task: FindTask | None = None
    ) -> None:
        super().__init__(place)
        self._environ = gitcli.environment() if environ is None else environ
        self._find_task = find_task
        self._owner = (os.getpid(), threading.get_ident())
        self._begun = time.monotonic_ns()

    def task(
        self,
        title: str | None = None,
        *,
        intent: str | None = None,
        definition: Definition | None = None,
        links: Iterable[Link] = (),
        private: bool = False,
        task: str | None = None,
        by: Actor | str | None = None,
    ) -> "RecordedTask":
        """Returns a task to work on in a `with` block: a new one, or with `task` one that is there, by id or alias.

        A new one has a title, or a whole definition; a `private` one travels only once it is shared. `by` is an actor
        or the name of an agent; by default it is whom `POG_ACTOR` names, else the person that git knows. Raises
        `NotEnabled` where `git pog init` was not run, and `RefusedByPolicy` while recording is off.
        """
        self.refuse_unless_recording()
        with self.rules_in_force():
            actor = actor_by(by, self._environ, self.git.settings())
        if task is not None:
            named = self._named(task)
            if title is not None or definition is not None or intent is not None or links:
                raise BadInput(f"task '{task}'", "is there already; a definition is for a new one")
            return RecordedTask(self, named, actor, None)
        if (title is None) == (definition is None):
            raise BadInput("a task", "needs a title or a definition, or the name of one that is there")
        wanted = definition or Definition(title=title or "", intent=intent)
        if not wanted.title.strip():
            raise BadInput("the title", "is empty")
        id_ = new_task_id(self.now(), int.from_bytes(os.urandom(10)) >> 6)
        return RecordedTask(self, id_, actor, wanted, tuple(links), "private" if private else "content")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def refuse_unless_recording(self) -> None:
        """Raises `NotEnabled` or `RefusedByPolicy` where nothing may be recorded."""
        if not self.enabled:
            raise NotEnabled
        if self._environ.get("POG_DISABLE", "").lower() not in _NO:
            raise RefusedByPolicy("recording is disabled by POG_DISABLE", "unset it to record again")
        if setup.paused(self.layout):
            raise RefusedByPolicy("recording is paused here", "'git pog pause --resume' resumes it")

    def now(self) -> int:
        """Returns the time in µs; where `POG_NOW` stands in for the clock, it goes on from there."""
        fixed = self._environ.get("POG_NOW", "")
        if fixed.isascii() and fixed.isdigit():
            return int(fixed) + (time.monotonic_ns() - self._begun) // 1000
        return time.time_ns() // 1000

    def environment(self) -> str:
        """Returns the environment of this process now, as events name it."""
        environ = {os.fsencode(name): os.fsencode(value) for name, value in self._environ.items()}
        root = self.layout.work_tree
        wanted = environment.asked(self)
        with self.rules_in_force():
            return environment.text_of(environment.capture(root, root, environ, wanted, self.layout.own, recorder=True))

    def rules_in_force(self) -> AbstractContextManager[None]:
        """Lets the repository's own rules be in force in a block, for what is redacted in it."""
        return redact.in_force(lambda: self.own_rules)

    @contextmanager
    def in_this_thread(self) -> Iterator[Store]:
        """Yields this store, or another one of the same repository in a thread or process that did not open this."""
        if self._owner == (os.getpid(), threading.get_ident()):
            yield self
            return
        other = Store(self.layout)
        try:
            yield other
        finally:
            other.close()

    def _named(self, name: str) -> TaskId:
        """Returns the task that an id or alias means, `@` the active one; raises `NotFound` or `AmbiguousName`."""
        if name in self.tasks():
            return TaskId(name)
        if name == "@" and (self._environ.get("POG_TASK") or "@") == "@":
            found = active.active_task(self.layout)
            if found is None:
                raise NotFound("active task", name, "start one with 'git pog start TASK'")
            return found
        if self._find_task is None:
            raise NotFound("task", name)
        return self._find_task(self, self._environ["POG_TASK"] if name == "@" else name)


class RecordedTask(Block):
    """A task that a program works on; open inside its `with` block.

    To enter it begins the work: the task is in progress then, and claimed unless somebody holds it. Where the block
    ends, so do the steps that are still open. The task stays in progress unless it was said what came of it.
    """

    noun = "task"

    def __init__(
        self,
        store: Recorder,
        id_: TaskId,
        actor: Actor,
        definition: Definition | None,
        links: tuple[Link, ...] = (),
        class_: str = "content",
    ) -> None:
        super().__init__()
        self.id, self.actor = id_, actor
        self.store, self._definition, self._links, self._class = store, definition, links, class_
        self._worktree = active.worktree_id(store.layout) if store.layout.work_tree else None
        self._steps: dict[str, RecordedStep] = {}
        self._environment: str | None = None
        self._outcome: tuple[str, str | None, str | None] | None = None

    def __enter__(self) -> Self:
        self.begin()
        try:
            with self.store.in_this_thread() as store:
                if self._definition is not None:
                    tasks.define(store, self.id, self._definition, self._by(), links=self._links, class_=self._class)
                self._take_up(store)
        except BaseException:
            self.end()
            raise
        return self

    def _take_up(self, store: Store) -> None:
        now = acts.read_state(store, self.id)
        if now.claims and not now.ended:
            if now.status != "in_progress":
                tasks.move(store, self.id, "in_progress", self._by())
        else:
            claims.start(store, self.id, self._by())

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        with not_instead_of(fault, "task"):
            for step in reversed(list(self._steps.values())):
                step.finish(None, seen=False)
            if self.end():
                self._close(fault)

    def _close(self, fault: BaseException | None) -> None:
        with self.store.in_this_thread() as store, self.store.rules_in_force():
            if is_failure(fault):
                text = DraftText(text=bounded(f"{type(fault).__name__}: {fault}"), class_="private")
                watched.write(store, self.id, "noted", self._by(), {"topic": "exception"}, {"text": text}, Found())
            elif fault is None and self._outcome is not None:
                status, reason, outcome = self._outcome
                tasks.move(store, self.id, status, self._by(), reason=reason, outcome=outcome)

    def step(
        self,
        tool: str,
        class_: str = "other",
        *,
        paths: Iterable[PathLike] | None = None,
        input: object = None,  # noqa: A002 - the field of `stepped`
    ) -> "RecordedStep":
        """Returns one step, to be made in a `with` block: what it changed is compared before and after.

        `paths` names the files that it may change, absolute or from the root of the work tree, and nothing else is
        looked at; `None` is the whole tree, unless the step only reads. `class_` is `edit`, `shell`, `read`, `mcp` or
        `other`. Raises `BadInput` for a path outside of the work tree.
        """
        self.check_open()
        if class_ not in TOOL_CLASSES:
            raise BadInput(f"class '{class_}'", "no such class", f"it is one of {', '.join(TOOL_CLASSES)}")
        if not tool.strip():
            raise BadInput("the tool", "has no name")
        named = () if paths is None and class_ == "read" else paths
        inside = None if named is None else tuple(watched.path_inside(self.store.layout, path) for path in named)
        step = RecordedStep(self, tool, class_, inside, only_reads=paths is None and class_ == "read")
        step.input = input
        return step

    def prompt(self, text: str, *, by: Actor | None = None) -> Sealed:
        """Records an instruction as it was given; by default it is of the person who answers for the actor."""
        self.check_open()
        by = checked(by) if by is not None else None
        behind = self.actor.on_behalf_of
        person = Actor(type="human", name=behind.name, on_behalf_of=behind) if behind else self.actor

        def write(batch: Batch) -> Sealed:
            stored = batch.add_text(self.id, redact.redact(codec.scrub(bounded(text)))[0], "private")
            at = self._by()
            event = Prompted(
                v=FORMAT, task=self.id, clock=1, time=at.time, offset=at.offset, actor=by or person,
                worktree=at.worktree, text=stored,
            )  # fmt: skip
            return batch.append(event)

        with self.store.in_this_thread() as store:
            return store.transact(write)

    def decide(self, text: str) -> Sealed:
        """Keeps a decision: question, choice, alternatives, reasons. It travels with the task."""
        self.check_open()
        with self.store.in_this_thread() as store:
            return tasks.decide(store, self.id, text, self._by())

    def note(self, text: str, *, topic: str | None = None) -> Sealed:
        """Keeps a note. It travels with the task."""
        self.check_open()
        with self.store.in_this_thread() as store:
            return tasks.note(store, self.id, text, self._by(), topic=topic)

    def done(self, outcome: str | None = None) -> None:
        """Completes the task where its block ends, unless that ends by an exception."""
        self.check_open()
        self._outcome = ("completed", None, outcome)

    def review(self, reason: str | None = None) -> None:
        """Asks for a review where the block ends, unless that ends by an exception."""
        self.check_open()
        self._outcome = ("in_review", reason, None)

    def block(self, reason: str) -> None:
        """Says that the task cannot go on, where its block ends, unless that ends by an exception."""
        self.check_open()
        self._outcome = ("blocked", reason, None)

    def _by(self) -> By:
        return By(self.actor, self.store.now(), _offset(), self._worktree)

    def open_step(self, step: "RecordedStep") -> None:
        """Takes note of a step that begins; raises `BadInput` if the task is not open."""
        self.check_open()
        self._steps[step.call_id] = step

    def environment(self, *, anew: bool) -> str:
        """Returns the environment as it is; or, unless `anew`, as it was when it was last looked at."""
        if anew or self._environment is None:
            self._environment = self.store.environment()
        return self._environment

    def forget_step(self, step: "RecordedStep") -> None:
        """Takes note that a step has ended."""
        self._steps.pop(step.call_id, None)

    def write(self, store: Store, fields: Mapping[str, object], texts: Mapping[str, DraftText], found: Found) -> None:
        """Writes a step that has ended."""
        watched.write(store, self.id, "stepped", self._by(), fields, texts, found)


class RecordedStep(Block):
    """One step of a task, inside its `with` block; what it changed, said and used is one event once the block ends.

    Set `output`, `usage`, `effects` and `ok` as they become known. A block that raises is a step that failed. One that
    is left open, by a generator that nobody goes on with, ends with its task, and whether it went well is not known.
    """

    noun = "step"

    def __init__(
        self, task: RecordedTask, tool: str, class_: str, paths: tuple[bytes, ...] | None, *, only_reads: bool
    ) -> None:
        super().__init__()
        self.task, self.tool, self.class_ = task, tool, class_
        self.call_id = os.urandom(16).hex()
        self.usage: Usage | None = None
        self.effects: str | None = None
        self.ok: bool | None = None
        self._paths, self._only_reads = paths, only_reads
        self._texts: dict[str, str] = {}
        self._environment = ""
        self._watch: Watch | None = None
        self._since = 0

    @property
    def input(self) -> str | None:
        """What the step was given, as text; anything else becomes JSON."""
        return self._texts.get("input")

    @input.setter  # noqa: A003 - the field of `stepped`
    def input(self, value: object) -> None:
        self._say("input", value)

    @property
    def output(self) -> str | None:
        """What came of the step, as text; anything else becomes JSON."""
        return self._texts.get("output")

    @output.setter
    def output(self, value: object) -> None:
        self._say("output", value)

    @property
    def event(self) -> Sealed:
        """The event that the step became; raises `NotFound` before it has."""
        with self.task.store.in_this_thread() as store:
            for sealed in reversed(store.events(self.task.id)):
                if isinstance(sealed.event, Stepped) and sealed.event.call_id == self.call_id:
                    return sealed
        raise NotFound("event of step", self.tool)

    def _say(self, name: str, value: object) -> None:
        if self.is_over:
            raise BadInput("this step", "has ended", "what it did is written by now")
        if value is None:
            self._texts.pop(name, None)
        else:
            with self.task.store.rules_in_force():
                self._texts[name] = bounded(as_text(value))

    def __enter__(self) -> Self:
        recorder = self.task.store
        self.task.open_step(self)
        self.begin()
        try:
            recorder.refuse_unless_recording()
            self._environment = self.task.environment(anew=self._paths is None)
            with recorder.in_this_thread() as store:
                self._watch = Watch(store, self.task.id, self._paths, recorder.now, _around.get())
            _around.set((*_around.get(), self._watch.name))
        except BaseException:
            self.end()
            raise
        self._since = time.monotonic_ns()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        with not_instead_of(fault, "step"):
            self.finish(fault, seen=not isinstance(fault, GeneratorExit))

    def finish(self, fault: BaseException | None, *, seen: bool) -> None:
        """Writes the step if that was not done; `seen` says whether its end was."""
        self.task.forget_step(self)
        if not self.end() or self._watch is None:
            return
        took = (time.monotonic_ns() - self._since) // 1_000_000
        name = self._watch.name
        _around.set(tuple(each for each in _around.get() if each != name))
        recorder = self.task.store
        try:
            recorder.refuse_unless_recording()
            with (
                recorder.rules_in_force(),
                recorder.in_this_thread() as store,
                self._watch.ended(store, recorder.now) as found,
            ):
                ok = (self.ok if self.ok is not None else not is_failure(fault)) if seen else None
                fields: dict[str, object] = {"call_id": self.call_id, "tool": self.tool, "class": self.class_, "ok": ok}
                fields |= {"duration_ms": took if seen else None, "usage": self.usage, "effects": self.effects}
                self.task.write(store, fields, self._spoken(fault), Found() if self._only_reads else found)
        finally:
            self._watch.close()

    def _spoken(self, fault: BaseException | None) -> dict[str, DraftText]:
        texts = dict(self._texts)
        if is_failure(fault):
            said = f"{type(fault).__name__}: {fault}"
            texts["output"] = bounded(f"{texts['output']}\n{said}" if texts.get("output") else said)
        spoken = {name: DraftText(text=text, class_="private") for name, text in texts.items()}
        return spoken | {"env": DraftText(text=self._environment, class_="private", once=True)}


def open_recorder(
    path: str | os.PathLike[str] = ".", env: dict[str, str] | None = None, find_task: FindTask | None = None
) -> Recorder:
    """Opens the store of the repository that holds a path; raises `NotARepository` or `UnsupportedRepository`."""
    return Recorder(layout.discover(Path(path), env), env, find_task)


def _offset() -> int:
    return time.localtime().tm_gmtoff // 60
