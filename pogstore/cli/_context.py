"""What a command gets: the store of the place it runs in, who acts, what time it is, how to show what is long.

The one place that reads the environment and the clock.
"""

import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, update_wrapper
from pathlib import Path
from typing import Any, TypeVar

import click

from pogstore.cli import _draining, _interrupted
from pogstore.cli._elsewhere import with_way_on
from pogstore.cli._render import DONE_ALL_THE_SAME, OF_OUTPUT, cut, echo, flush
from pogstore.errors import BadInput, NotARepository, NotFound, NoWorkTree, PogError, RefusedByPolicy
from pogstore.history import names
from pogstore.history.names import Named
from pogstore.model import Actor, Sealed, TaskId
from pogstore.redact import OwnRules, in_force
from pogstore.store import gitcli
from pogstore.store.store import Store, open_store
from pogstore.work import active, bounds, claims
from pogstore.work.actors import actor_by
from pogstore.work.acts import By, read_state
from pogstore.work.tasks import new_task_id

_R = TypeVar("_R")
_PLACES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_CEILING_DIRECTORIES")
_OF_A_HOOK = ("GIT_INDEX_FILE", "GIT_QUARANTINE_PATH", "GIT_PREFIX")
_NO = ("", "0", "false", "no", "off", "never")


class Env:
    """The place, the person and the time of one command."""

    def __init__(self, actor: str | None = None) -> None:
        self.actor_name = actor

    @cached_property
    def store(self) -> Store:
        """The store of the repository that git itself would use here, with what was left to do, if it can be done."""
        store = self._opened
        _interrupted.before_the_command(store, may_write=not disabled())
        if not disabled():
            _draining.before_the_command(store, now)
        return store

    def own_rules(self) -> OwnRules:
        """Returns the rules of one's own for what is redacted here; none where no repository can be opened."""
        try:
            return self._opened.own_rules
        except PogError:
            return OwnRules()

    @cached_property
    def _opened(self) -> Store:
        *others, last = git_environments(os.environ)
        for environment in others:
            try:
                return open_store(Path.cwd(), environment)
            except NotARepository:
                continue
        return open_store(Path.cwd(), last)

    def at_one_moment(self) -> None:
        """Lets the rest of a command, which only reads, be answered as of now: all refs are listed once."""
        click.get_current_context().with_resource(self.store.one_moment())

    @cached_property
    def _settings(self) -> Mapping[str, list[str]]:
        return self.store.git.settings()

    def setting(self, name: str) -> str | None:
        """Returns a setting of git's configuration as git itself sees it here, `git -c` included."""
        values = self._settings.get(name)
        return values[-1] if values else None

    @cached_property
    def work_tree(self) -> Path:
        """The root of the work tree; raises `NoWorkTree` in a bare repository."""
        if self.store.layout.work_tree is None:
            raise NoWorkTree
        return self.store.layout.work_tree

    @cached_property
    def worktree(self) -> str | None:
        """The random id of this work tree; nothing where pogstore is not enabled."""
        return active.worktree_id(self.store.layout) if self.store.enabled else None

    @cached_property
    def time(self) -> int:
        """The time of this command, in µs since the epoch."""
        return now()

    @cached_property
    def by(self) -> By:
        """Who acts, now, here; raises `RefusedByPolicy` where nothing may be recorded."""
        self.refuse_if_disabled()
        return By(actor=self.actor, time=self.time, offset=time.localtime().tm_gmtoff // 60, worktree=self.worktree)

    def refuse_if_disabled(self) -> None:
        """Raises `RefusedByPolicy` while `POG_DISABLE` is set: then nothing is recorded (case PC-124)."""
        if disabled():
            raise RefusedByPolicy("recording is disabled by POG_DISABLE", "unset it to record again")

    @property
    def has_acted(self) -> bool:
        """Whether this command has written something in somebody's name."""
        opened: Store | None = self.__dict__.get("_opened")
        return "by" in self.__dict__ and opened is not None and opened.has_written

    @property
    def actor(self) -> Actor:
        """Who acts: the person that git knows, or whom `--as` or `POG_ACTOR` names, on that person's behalf.

        Raises `BadInput` for a person whom git does not know: nobody could answer for what is recorded.
        """
        return actor_by(self._actor_name(), os.environ, self._settings)

    def find_actor(self) -> Actor | None:
        """Returns who acts; nothing for a person whom git does not know."""
        try:
            return self.actor
        except BadInput:
            return None

    def _actor_name(self) -> str | None:
        """Returns whom `--as` or else `POG_ACTOR` names; an empty name is refused, lest an agent pass for a person."""
        option = self.actor_name is not None
        named = self.actor_name if option else os.environ.get("POG_ACTOR")
        if named is not None and not named.strip():
            raise click.UsageError(f"{'--as' if option else 'POG_ACTOR'} is empty; it names who acts")
        return named

    def active(self, back: int = 0) -> TaskId | None:
        """Returns the active task of this work tree, `POG_TASK` before all else."""
        named = os.environ.get("POG_TASK")
        if named and back == 0:
            return names.resolve_task(self.store, named, lambda _: None)
        return active.active_task(self.store.layout, back)

    def task(self, name: str) -> TaskId:
        """Returns the task that a name means."""
        return names.resolve_task(self.store, name, self.active)

    def named(self, name: str) -> Named:
        """Returns the task or event that a name means."""
        return names.resolve(self.store, name, self.active)

    def start(self, task: TaskId, lease_until: int | None = None) -> list[Sealed]:
        """Claims a task, moves it to `in_progress` and makes it the active one of this work tree.

        Raises `RefusedByPolicy` for an agent where another one is held, whose limits it would leave behind.
        """
        self.refuse_to_leave(task)
        written = claims.start(self.store, task, self.by, lease_until=lease_until)
        active.set_active(self.store.layout, task)
        return written

    def refuse_to_leave(self, task: TaskId | None) -> None:
        """Refuses that an agent begins a task where another one with limits is held."""
        found = self.bounding()
        if found is None or found == task:
            return
        held = read_state(self.store, found).claims
        if any(claim.worktree in (None, self.worktree) for claim in held):
            raise RefusedByPolicy(
                f"this work tree is on task '{found}', which has limits", "a person begins another one"
            )

    def bounding(self) -> TaskId | None:
        """Returns the task whose limits bind who acts here: an agent, on an active task with limits."""
        found = None if self.actor.type == "human" else active.active_task(self.store.layout)
        return found if found is not None and not bounds.bounds_of(self.store, found).is_empty else None

    def new_task_id(self) -> TaskId:
        """Returns the id of a task that is made now."""
        return new_task_id(now(), int.from_bytes(os.urandom(10)) >> 6)

    @cached_property
    def color(self) -> bool:
        """Whether to colour what is printed: `NO_COLOR`, then `color.pog`, `color.ui`, then whether a person reads."""
        setting = (self.setting("color.pog") or self.setting("color.ui") or "auto").lower()
        if os.environ.get("NO_COLOR") or setting in _NO:
            return False
        if setting == "always":
            return True
        return (sys.stdout.isatty() and os.environ.get("TERM") != "dumb") or "GIT_PAGER_IN_USE" in os.environ

    @property
    def width(self) -> int | None:
        """The columns of the terminal a person reads on; nothing if the output goes elsewhere."""
        return shutil.get_terminal_size().columns if sys.stdout.isatty() else None

    def fitted(self, lines: Iterable[str]) -> Iterable[str]:
        """Returns escaped lines, cut to what the terminal of a person holds."""
        width = self.width
        return lines if width is None else (cut(line, width) for line in lines)

    def page(self, lines: Iterable[str]) -> None:
        """Prints lines; through the pager that git would use if a person reads."""
        pager = self._pager()
        if pager is None:
            for line in lines:
                echo(line)
            return
        os.environ.setdefault("LESS", "FRX")
        os.environ["PAGER"] = pager
        click.echo_via_pager((f"{line}\n" for line in lines), color=self.color)

    def _pager(self) -> str | None:
        if not sys.stdout.isatty() or "GIT_PAGER_IN_USE" in os.environ:
            return None
        if (self.setting("pager.pog") or "true").lower() in _NO:
            return None
        found = self.store.git.text("var", "GIT_PAGER", check=False)
        return None if found in ("", "cat") else found

    def repository_path(self, written: str) -> str:
        """Returns a path that a person wrote, relative to the root of the work tree; raises `BadInput` outside it."""
        spelled = os.path.normpath(Path.cwd() / written)
        parent = Path(os.path.realpath(Path(spelled).parent)) / Path(spelled).name
        try:
            return parent.relative_to(self.work_tree).as_posix()
        except ValueError:
            raise BadInput(f"'{written}'", "is outside the repository") from None


def disabled() -> bool:
    """Says whether `POG_DISABLE` is set, so that nothing may be recorded."""
    return os.environ.get("POG_DISABLE", "").lower() not in _NO


def now() -> int:
    """Returns the time in µs; `POG_NOW` stands in for the clock where output must be repeatable."""
    fixed = os.environ.get("POG_NOW")
    if fixed is None:
        return time.time_ns() // 1000
    if not re.fullmatch(r"[0-9]{1,16}", fixed):
        raise BadInput("POG_NOW", "is not a number of µs since the epoch")
    return int(fixed)


def git_environments(environ: Mapping[str, str]) -> list[dict[str, str]]:
    """Returns the environments in which to look for the repository, one after the other.

    `GIT_DIR` counts, as it does for git. A hook or an alias inherits it from the git that called it, though, and may
    have gone to another repository: there, the place where the command runs comes first (case PC-81).
    """
    plain = gitcli.environment()
    given = {name: environ[name] for name in _PLACES if name in environ}
    if not given:
        return [plain]
    inherited = any(name in environ for name in _OF_A_HOOK) or given.get("GIT_DIR") == "."
    return [plain, plain | given] if inherited else [plain | given]


def pass_env(function: Callable[..., _R]) -> Callable[..., _R]:
    """Gives a command its environment; `--as`, where the command has it, says who acts."""

    def wrapped(*args: Any, **kwargs: Any) -> _R:
        env = Env(kwargs.pop("actor", None))
        context = click.get_current_context()
        context.call_on_close(lambda: _close(env))
        context.with_resource(in_force(env.own_rules))
        try:
            answer = function(env, *args, **kwargs)
            flush()
        except NotFound as fault:
            raise with_way_on(env.store, fault) from fault.__cause__
        except OSError as fault:
            if env.has_acted and OF_OUTPUT in getattr(fault, "__notes__", ()):
                fault.add_note(DONE_ALL_THE_SAME)
            raise
        return answer

    return update_wrapper(wrapped, function)


def _close(env: Env) -> None:
    if (opened := env.__dict__.get("_opened")) is not None:
        opened.close()
