"""Where the hooks of agents stand, as a command that tells of them needs it."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pogstore.agents import claude_settings
from pogstore.agents.claude_settings import EVENTS, Installed, Place, Scope
from pogstore.cli._context import Env
from pogstore.errors import PogError

SCOPES: tuple[Scope, ...] = ("project", "local", "user")


class Hooks(NamedTuple):
    """The hooks in one settings file that call us; `fault` says why the file cannot be read, if it cannot."""

    agent: str
    scope: Scope
    path: Path
    found: Sequence[Installed]
    fault: str | None = None

    @property
    def exact(self) -> bool:
        """Whether they are what we write: each event that we ask for, with our line unchanged."""
        return all(each.exact for each in self.found) and {each.event for each in self.found} >= set(EVENTS)

    @property
    def said(self) -> str:
        """How far they are installed, in words."""
        if self.fault:
            return "cannot be read"
        if not self.found:
            return "not installed"
        if self.exact:
            return "installed"
        known = len({each.event for each in self.found} & set(EVENTS))
        changed = sum(not each.exact for each in self.found)
        return f"{known} of {len(EVENTS)} events" + (f", {changed} changed" if changed else "")


def installed(env: Env) -> list[Hooks]:
    """Returns what each settings file of Claude Code that counts here has of ours."""
    scopes = SCOPES if env.store.layout.work_tree is not None else SCOPES[-1:]
    return [_hooks(scope, place(env, scope)) for scope in scopes]


def _hooks(scope: Scope, here: Place) -> Hooks:
    path = claude_settings.settings_path(scope, here)
    try:
        return Hooks("claude-code", scope, path, claude_settings.installed(scope, here))
    except PogError as fault:
        return Hooks("claude-code", scope, path, (), fault.message)


def place(env: Env, scope: Scope) -> Place:
    """Returns where settings are looked for; those of a person need no work tree."""
    config_dir = os.environ.get("CLAUDE_CONFIG_DIR")
    work_tree = Path.cwd() if scope == "user" else env.work_tree
    return Place(work_tree, Path.home(), Path(config_dir).absolute() if config_dir else None)
