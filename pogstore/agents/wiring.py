"""Puts our hooks into the settings of an agent, takes them out again, and tells where they stand.

Every agent has a `Wiring`, in a file of its own, that says where its settings are and how a hook is spelled there.
`plan` reads a file and answers what it would become. Other hooks, their order and every other byte stay; after adding
and removing, the file is what it was, or is not there if it was not.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol, TypeAlias

from pogstore.agents import command_line, settings_file
from pogstore.agents.settings import Head, append, decode, drop, drop_head, is_blank, read
from pogstore.agents.settings_file import Place, Plan, Scope, Verb
from pogstore.errors import PogError

Spell: TypeAlias = Callable[[str], str]
"""Makes the line of a call: `command_line.line`, or one that names a place of this machine."""
TIMEOUT = 10
"""Seconds after which an agent stops waiting; their own defaults are between 30 and 600."""


class Installed(NamedTuple):
    """A hook that calls us: for which event and which tools (`None`: all), and whether its line is ours unchanged."""

    event: str
    matcher: str | None
    command: str
    exact: bool


class Shape(Protocol):
    """How the settings of an agent spell its hooks. A text is `None` where there is no file."""

    def added(self, text: str | None, name: str, calls: Mapping[str, str], spell: Spell) -> str | None:
        """Returns a text with our hook for each event that has none; `calls` has their calls."""

    def removed(self, text: str | None, name: str, calls: Mapping[str, str]) -> str | None:
        """Returns a text without the hooks that have our line unchanged."""

    def found(self, text: str | None, name: str, calls: Mapping[str, str]) -> list[Installed]:
        """Returns the hooks of a text that call us, in its order."""


class Wiring(NamedTuple):
    """How one agent is told to call us.

    `files` are below the work tree, and that of the scope `user` below the agent's own folder: `home` below a person's
    home, or what the environment's `variable` names. `events` are what we ask for. `names_event` says that the agent
    does not tell which event it is, so that the line has to. `off` returns the key by which settings keep hooks from
    running, if one does; `hint` is what a person still has to do.
    """

    agent: str
    files: Mapping[Scope, str]
    home: str
    variable: str | None
    events: tuple[str, ...]
    shape: Shape
    names_event: bool = False
    off: Callable[[Mapping[str, object]], str | None] = lambda _: None
    hint: str | None = None

    def calls(self, events: Sequence[str] | None = None) -> dict[str, str]:
        """Returns what `git pog hook` is called with, by event."""
        wanted = self.events if events is None else events
        return {event: f"{self.agent} {event}" if self.names_event else self.agent for event in wanted}


def settings_path(wiring: Wiring, scope: Scope, place: Place) -> Path:
    """Returns the settings file of a scope."""
    if scope == "user":
        return (place.config_dir or place.home / wiring.home) / wiring.files[scope]
    return place.work_tree / wiring.files[scope]


def plan(
    wiring: Wiring,
    scope: Scope,
    place: Place,
    verb: Verb,
    events: Sequence[str] | None = None,
    *,
    spell: Spell = command_line.line,
) -> Plan:
    """Returns what adding or removing our hook would make of a settings file; writes nothing.

    Raises `BadInput` with the place where the file is not strict JSON (agents read no other), and what
    `settings_file.read` raises.
    """
    path = settings_path(wiring, scope, place)
    found = settings_file.read(path, None if scope == "user" else place.work_tree)
    text, calls = _text(found.before, path), wiring.calls(events)
    if verb == "add":
        changed = wiring.shape.added(text, str(path), calls, spell)
    else:
        changed = wiring.shape.removed(text, str(path), calls)
    return found._replace(after=None if changed is None else changed.encode())


def installed(wiring: Wiring, scope: Scope, place: Place) -> list[Installed]:
    """Returns the hooks of a settings file that call us, in its order."""
    path = settings_path(wiring, scope, place)
    return wiring.shape.found(_text(settings_file.content(path), path), str(path), wiring.calls())


def switched_off(wiring: Wiring, path: Path) -> str | None:
    """Returns the key by which a settings file keeps our hooks from running.

    Nothing if there is none, or if the file cannot be read: that is told elsewhere.
    """
    try:
        settings = read(_text(settings_file.content(path), path) or "{}", str(path))
    except PogError:
        return None
    return wiring.off(settings) if isinstance(settings, dict) else None


def snippet(wiring: Wiring, events: Sequence[str] | None = None, *, spell: Spell = command_line.line) -> str:
    """Returns what a settings file with nothing but our hook would hold, to be printed and copied."""
    return wiring.shape.added(None, "settings", wiring.calls(events), spell) or ""


def _text(data: bytes | None, path: Path) -> str | None:
    return None if data is None else decode(data, str(path))


class _Hook(NamedTuple):
    """A hook of the settings that calls us, and the path of keys and indexes that leads to it."""

    path: tuple[str | int, ...]
    alone: bool
    found: Installed


class JsonHooks(NamedTuple):
    """Hooks in a member `hooks` of a JSON object: by event, arrays of hooks, or of groups of them that share a matcher.

    `agent` is who calls; `hook` makes a hook of the event and the line, which stands in it under `key`; `matched` are
    the events whose groups have a matcher. `head` is a member that the agent wants beside the hooks.
    """

    agent: str
    hook: Callable[[str, str], dict[str, object]]
    key: str = "command"
    grouped: bool = True
    matched: frozenset[str] = frozenset()
    head: Head | None = None

    def added(self, text: str | None, name: str, calls: Mapping[str, str], spell: Spell) -> str | None:
        """Returns the settings with our hook at the end of each event that has none that calls us yet."""
        present = {hook.found.event for hook in self._ours(text, name, calls)}
        for event, call in calls.items():
            if event not in present:
                element = json.dumps(self._element(event, spell(call)))
                text = append(text, ("hooks", event), element, name, self.head)
        return text

    def removed(self, text: str | None, name: str, calls: Mapping[str, str]) -> str | None:
        """Returns the settings without the hooks that have our line unchanged, at whichever event."""
        while text is not None:
            hook = next((hook for hook in reversed(self._ours(text, name, calls)) if hook.found.exact), None)
            if hook is None:
                break
            # a group that holds nothing else was made by us: it goes as a whole, with its matcher
            text = drop(text, hook.path[:3] if hook.alone else hook.path, name, self.head)
        if text is None or self.head is None or is_blank(text) or self._ours(text, name, calls):
            return text
        return drop_head(text, self.head, name)

    def found(self, text: str | None, name: str, calls: Mapping[str, str]) -> list[Installed]:
        """Returns the hooks that call us."""
        return [hook.found for hook in self._ours(text, name, calls)]

    def _element(self, event: str, line: str) -> dict[str, object]:
        hook = self.hook(event, line)
        if not self.grouped:
            return hook
        return {**({"matcher": "*"} if event in self.matched else {}), "hooks": [hook]}

    def _ours(self, text: str | None, name: str, calls: Mapping[str, str]) -> list[_Hook]:
        return [] if text is None or is_blank(text) else list(self._hooks(read(text, name), calls))

    def _hooks(self, settings: object, calls: Mapping[str, str]) -> Iterator[_Hook]:
        """Yields the hooks that call us; what has not the shape of a hook is somebody else's, and passed over."""
        match settings:
            case {"hooks": dict(events)}:
                for event, elements in events.items():
                    for at, element in enumerate(elements if isinstance(elements, list) else ()):
                        path = ("hooks", event, at)
                        call = calls.get(event, self.agent)
                        yield from (
                            self._of_group(path, element, call) if self.grouped else self._of(path, element, call)
                        )

    def _of_group(self, path: tuple[str, str, int], group: object, call: str) -> Iterator[_Hook]:
        match group:
            case {"hooks": list(hooks), **rest}:
                matcher = rest.get("matcher")
                for index, hook in enumerate(hooks):
                    for found in self._of((*path, "hooks", index), hook, call):
                        named = found.found._replace(
                            event=path[1], matcher=matcher if isinstance(matcher, str) else None
                        )
                        yield found._replace(alone=len(hooks) == 1, found=named)

    def _of(self, path: tuple[str | int, ...], hook: object, call: str) -> Iterator[_Hook]:
        match hook:
            case dict() if hook.get("type", None if self.grouped else "command") == "command":
                command = hook.get(self.key)
                if isinstance(command, str) and command_line.is_ours(command, self.agent):
                    exact = command_line.is_exact(command, call)
                    yield _Hook(path, True, Installed(str(path[1]), None, command, exact))
