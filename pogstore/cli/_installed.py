"""Where the hooks of agents stand, as a command that tells of them needs it."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pogstore.agents import claude_settings, codex, copilot, cursor, gemini, opencode, wiring
from pogstore.agents.settings_file import Place, Scope
from pogstore.agents.wiring import Installed, Wiring
from pogstore.cli._context import Env
from pogstore.errors import PogError
from pogstore.work.ignored import ignored

_ALL = (claude_settings.WIRING, codex.WIRING, gemini.WIRING, cursor.WIRING, copilot.WIRING, opencode.WIRING)
WIRINGS: Mapping[str, Wiring] = {each.agent: each for each in _ALL}
"""How each agent is told to call us, by its name."""


class Hooks(NamedTuple):
    """The hooks in one settings file that call us; `fault` says why the file cannot be read, if it cannot."""

    agent: str
    scope: Scope
    path: Path
    found: Sequence[Installed]
    fault: str | None = None

    @property
    def wiring(self) -> Wiring:
        """How the agent is told to call us."""
        return WIRINGS[self.agent]

    @property
    def exact(self) -> bool:
        """Whether they are what we write: each event that we ask for, with our line unchanged."""
        return all(each.exact for each in self.found) and {each.event for each in self.found} >= set(self.wiring.events)

    @property
    def said(self) -> str:
        """How far they are installed, in words."""
        if self.fault:
            return "cannot be read"
        if not self.found:
            return "not installed"
        if self.exact:
            return "installed"
        known = len({each.event for each in self.found} & set(self.wiring.events))
        changed = sum(not each.exact for each in self.found)
        return f"{known} of {len(self.wiring.events)} events" + (f", {changed} changed" if changed else "")


def installed(env: Env) -> list[Hooks]:
    """Returns what each settings file of an agent that counts here has of ours."""
    return [_hooks(env, each, scope) for each in WIRINGS.values() for scope in _scopes(env, each)]


def _scopes(env: Env, wired: Wiring) -> list[Scope]:
    """Returns the scopes whose files count here. Of two that share one file it is the one that git makes of it."""
    if env.store.layout.work_tree is None:
        return ["user"]
    if wired.files["project"] != wired.files["local"]:
        return ["project", "local", "user"]
    name = wired.files["local"]
    is_own = os.path.lexists(env.work_tree / name) and bool(ignored(env.store.git, [name.encode()]))
    return ["local" if is_own else "project", "user"]


def is_tracked(env: Env, name: str) -> bool:
    """Says whether git tracks a file, named from the root of the work tree."""
    return bool(env.store.git.text("ls-files", "--", f":(top,literal){name}"))


def _hooks(env: Env, wired: Wiring, scope: Scope) -> Hooks:
    here = place(env, wired, scope)
    path = wiring.settings_path(wired, scope, here)
    try:
        return Hooks(wired.agent, scope, path, wiring.installed(wired, scope, here))
    except PogError as fault:
        return Hooks(wired.agent, scope, path, (), fault.message)


def place(env: Env, wired: Wiring, scope: Scope) -> Place:
    """Returns where settings are looked for; those of a person need no work tree."""
    config_dir = os.environ.get(wired.variable) if wired.variable else None
    work_tree = Path.cwd() if scope == "user" else env.work_tree
    return Place(work_tree, Path.home(), Path(config_dir).absolute() if config_dir else None)
