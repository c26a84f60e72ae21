"""What a command gets: the store of the place it runs in, who acts, what time it is, whether to print JSON.

The one place that reads the environment and the clock.
"""

import os
import secrets
import sys
import time
from collections.abc import Callable, Mapping
from functools import cached_property, update_wrapper
from pathlib import Path
from typing import Any, TypeVar

import click

from pogstore.errors import BadInput, NoWorkTree
from pogstore.history import names
from pogstore.history.names import Named
from pogstore.model import Actor, Person, Sealed, TaskId
from pogstore.store import gitcli
from pogstore.store.store import Store, open_store
from pogstore.work import active, tasks
from pogstore.work.tasks import By, new_task_id

_R = TypeVar("_R")
_HONOURED = ("GIT_DIR", "GIT_WORK_TREE", "GIT_CEILING_DIRECTORIES")


class Env:
    """The place, the person and the time of one command."""

    def __init__(self, actor: str | None = None) -> None:
        self.actor_name = actor

    @cached_property
    def store(self) -> Store:
        """The store of the repository that git itself would use here."""
        return open_store(Path.cwd(), git_environment(os.environ))

    @cached_property
    def work_tree(self) -> Path:
        """The root of the work tree; raises `NoWorkTree` in a bare repository."""
        if self.store.layout.work_tree is None:
            raise NoWorkTree
        return self.store.layout.work_tree

    @cached_property
    def by(self) -> By:
        """Who acts, now, here."""
        here = active.worktree_id(self.store.layout) if self.store.enabled else None
        return By(actor=self.actor, time=now(), offset=time.localtime().tm_gmtoff // 60, worktree=here)

    @property
    def actor(self) -> Actor:
        """Who acts: the person that git knows, or whom `--as` or `POG_ACTOR` names, on that person's behalf."""
        person = self._person()
        named = self.actor_name or os.environ.get("POG_ACTOR")
        if not named:
            return Actor(type="human", name=person.name if person else None, on_behalf_of=person)
        type_, colon, name = named.partition(":")
        if not colon or type_ not in ("human", "agent", "tool"):
            type_, name = "agent", named
        return Actor(type=type_, name=name, session=os.environ.get("POG_SESSION"), on_behalf_of=person)

    def _person(self) -> Person | None:
        name = os.environ.get("GIT_AUTHOR_NAME") or self.store.config.text("user.name")
        email = os.environ.get("GIT_AUTHOR_EMAIL") or self.store.config.text("user.email")
        return Person(name=name, email=email) if name and email else None

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

    def start(self, task: TaskId) -> list[Sealed]:
        """Claims a task, moves it to `in_progress` and makes it the active one of this work tree."""
        written = tasks.start(self.store, task, self.by)
        active.set_active(self.store.layout, task)
        return written

    def new_task_id(self) -> TaskId:
        """Returns the id of a task that is made now."""
        return new_task_id(now(), secrets.randbits(74))

    @property
    def color(self) -> bool:
        """Whether to colour what is printed: `NO_COLOR`, then `color.pog`, `color.ui`, then whether a person reads."""
        if os.environ.get("NO_COLOR"):
            return False
        setting = self.store.config.text("color.pog") or self.store.config.text("color.ui") or "auto"
        if setting in ("always", "never", "false"):
            return setting == "always"
        return sys.stdout.isatty()

    @property
    def pager(self) -> str | None:
        """The pager that git would use, unless `pager.pog` says no."""
        setting = self.store.config.text("pager.pog")
        if setting in ("false", "no", "off", "0"):
            return None
        return self.store.git.text("var", "GIT_PAGER", check=False) or None

    def repository_path(self, written: str) -> str:
        """Returns a path that a person wrote, relative to the root of the work tree; raises `BadInput` outside it."""
        spelled = os.path.normpath(Path.cwd() / written)
        parent = Path(os.path.realpath(Path(spelled).parent)) / Path(spelled).name
        try:
            return parent.relative_to(self.work_tree).as_posix()
        except ValueError:
            raise BadInput(f"'{written}'", "is outside the repository") from None


def now() -> int:
    """Returns the time in µs; `POG_NOW` stands in for the clock where output must be repeatable."""
    fixed = os.environ.get("POG_NOW")
    if fixed is None:
        return time.time_ns() // 1000
    if not fixed.isdigit():
        raise BadInput("POG_NOW", "is not a number of µs since the epoch")
    return int(fixed)


def git_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Returns the environment in which git finds the repository: `GIT_DIR` counts, unless a git hook has set it.

    A hook exports `GIT_INDEX_FILE` too, and runs in its own repository; where it has gone elsewhere, that place counts
    (case PC-81).
    """
    kept = gitcli.environment()
    if "GIT_INDEX_FILE" not in environ and "GIT_QUARANTINE_PATH" not in environ:
        kept |= {name: environ[name] for name in _HONOURED if name in environ}
    return kept


def pass_env(function: Callable[..., _R]) -> Callable[..., _R]:
    """Gives a command its environment; `--as`, where the command has it, says who acts."""

    def wrapped(*args: Any, **kwargs: Any) -> _R:
        env = Env(kwargs.pop("actor", None))
        click.get_current_context().call_on_close(lambda: _close(env))
        return function(env, *args, **kwargs)

    return update_wrapper(wrapped, function)


def _close(env: Env) -> None:
    if "store" in env.__dict__:
        env.store.close()
