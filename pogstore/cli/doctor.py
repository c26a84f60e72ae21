"""`git pog doctor`: whether what agents do here is recorded, and what to do where it is not."""

import os
import pwd
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from pogstore.agents import claude_settings, command_line, wiring
from pogstore.cli import _delivery, _draining
from pogstore.cli._context import Env, disabled, pass_env
from pogstore.cli._installed import Hooks, installed
from pogstore.cli._limits import trouble_with
from pogstore.cli._options import json_option, pog_command
from pogstore.cli._render import counted, echo, echo_json, safe, table, tell, when
from pogstore.store.refs import PRIVATE, TRACKING
from pogstore.work import githooks, policies, setup, spool, spooled
from pogstore.work.leaving import SHELF

STALE = 86_400
"""Seconds after which records that wait are worth a word: any command would have stored them."""
Result = Literal["ok", "note", "wrong"]
WRONG = {1: "something is wrong"}


class Check(NamedTuple):
    """What was looked at and found, and what to do about it."""

    check: str
    result: Result
    text: str
    hint: str | None = None


@pog_command("doctor", WRONG)
@json_option
@pass_env
def command(env: Env, as_json: bool) -> int:
    """Check that what agents do here is recorded, and say what to do where it is not.

    Looks only; `git pog agent test` proves that a step arrives.
    """
    checks = list(_checks(env))
    ok = all(each.result != "wrong" for each in checks)
    if as_json:
        echo_json({"ok": ok, "checks": [each._asdict() for each in checks]})
    else:
        for line in table([(each.result, each.check, safe(each.text)) for each in checks]):
            echo(line)
        for each in checks:
            if each.hint:
                tell(f"hint: {safe(each.hint)}")
    return 0 if ok else 1


def _checks(env: Env) -> Iterator[Check]:
    yield _program()
    yield _consent(env)
    if env.store.enabled:
        found = None if setup.paused(env.store.layout) else _spool(env)
        if found is not None:
            yield found
        if found is None or found.result == "ok":  # else it may be closed to us
            yield from _waiting(env)
        yield from _hooks(env)
    yield from _rules(env)
    yield from _limits(env)
    yield from _guard(env)
    yield from _refspecs(env)


def _limits(env: Env) -> Iterator[Check]:
    found = trouble_with(env.store)
    if found is not None:
        yield Check("limits", "wrong", found.text, found.hint)


def _program() -> Check:
    found = _delivery.program(os.environ)
    if found is None:
        return Check("program", "wrong", "git finds no git-pog", "link it into ~/.local/bin, or extend the PATH")
    version = _delivery.version(found)
    if version is None:
        reason, hint = _delivery.why_not(found)
        text = f"{found} does not start: {reason}"
        if not _delivery.needs_interpreter(os.environ):
            return Check("program", "wrong", text, hint)
        return Check("program", "note", text, "hooks of agents can do without it, and 'git pog' cannot")
    return Check("program", "ok", f"{found} ({version})")


def _consent(env: Env) -> Check:
    if not env.store.enabled:
        return Check("consent", "wrong", "pogstore is not enabled in this repository", "run 'git pog init'")
    if setup.paused(env.store.layout):
        return Check("consent", "note", "recording is paused", "'git pog pause --resume' goes on with it")
    if disabled():
        return Check("consent", "note", "POG_DISABLE is set", "unset it to record")
    return Check("consent", "ok", "pogstore is enabled in this repository")


def _spool(env: Env) -> Check:
    """Looks at the spool as a hook would use it."""
    place = setup.spool_of(env.store.layout)
    if not place.is_dir():
        return Check("spool", "wrong", f"there is no {place}", "run 'git pog init' again")
    others = _of_others(place)
    if others is not None:
        hint = f"give it back, as root: chown -R {os.geteuid()} '{place.parent}'"
        return Check("spool", "wrong", f"{others} belongs to {_owner(others)}", hint)
    try:
        os.close(spool.open_folder(os.fsencode(place)))
    except OSError as fault:
        return Check("spool", "wrong", f"{place}: {fault.strerror}", f"make it yours alone: chmod 700 '{place}'")
    closed = next((path for path in (place, *_files_of(place)) if not os.access(path, os.W_OK)), None)
    if closed is not None:
        return Check(
            "spool", "wrong", f"{closed} cannot be written to", "nothing is recorded in a read-only repository"
        )
    known = spool.settings(os.fsencode(place)), spool.requires_task(os.fsencode(place))
    if known != (setup.settings(env.store), policies.requires_task(env.store)):
        return Check("spool", "wrong", "hooks do not know of changed settings", "run 'git pog init' again")
    return Check("spool", "ok", f"pending: {_draining.pending(env.store)}")


def _files_of(place: Path) -> list[Path]:
    """Returns the files that a hook writes to, as far as there are any."""
    files = (place / os.fsdecode(spool.CURRENT), place.parent / os.fsdecode(spool.LOST))
    return [path for path in files if os.path.lexists(path)]


def _of_others(place: Path) -> Path | None:
    """Returns what somebody else has made there, say a command that was run as root."""
    found = (path for path in (place, *_files_of(place)) if path.lstat().st_uid != os.geteuid())
    return next(found, None) if os.geteuid() else None


def _owner(path: Path) -> str:
    number = path.lstat().st_uid
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}"


def _waiting(env: Env) -> Iterator[Check]:
    """What waits for long, or was set aside: commands of a person store it, unless something is in their way."""
    layout = env.store.layout
    for place in (setup.spool_of(layout), setup.paused_of(layout)):
        since = min((path.stat().st_mtime for path in _waiting_files(place)), default=None)
        if since is not None and time.time() - since > STALE:
            text = f"records wait in {place} since {when(int(since * 1_000_000))}"
            yield Check("waiting", "note", text, "'git pog drain' stores them, or says why it cannot")
        left = spooled.set_aside_parts(place)
        if left:
            text = f"{counted(len(left), 'damaged part')} of records set aside"
            yield Check("waiting", "note", text, "'git pog status' names the files; look at them, then delete them")


def _waiting_files(place: Path) -> list[Path]:
    if not place.is_dir():
        return []
    names = (path for path in place.iterdir() if path.name == os.fsdecode(spool.CURRENT) or path.name.isdigit())
    return [path for path in names if path.is_file() and path.stat().st_size]


def _hooks(env: Env) -> Iterator[Check]:
    everywhere = installed(env)
    for hooks in everywhere:
        if hooks.fault:
            yield Check(
                "hooks", "wrong", hooks.fault, f"mend {hooks.path}: {hooks.agent} reads no more of it than we do"
            )
        yield from _switched_off(hooks.path, wiring.switched_off(hooks.wiring, hooks.path))
    for path in claude_settings.managed_files():
        yield from _switched_off(path, wiring.switched_off(claude_settings.MANAGED_WIRING, path))
    found = [hooks for hooks in everywhere if hooks.found]
    if not found:
        yield Check("hooks", "note", "no agent tells us what it does", "'git pog agent add claude-code' lets it")
    for agent in dict.fromkeys(hooks.agent for hooks in found):
        its = [hooks.scope for hooks in found if hooks.agent == agent]
        if len(its) > 1:
            text = f"told twice: in the {' and '.join(its)} settings"
            yield Check("hooks", "note", text, "remove one: 'git pog agent remove'")
    for hooks in found:
        yield _installed(hooks)
        yield from _gone(hooks)
        yield from _out_of_reach(hooks)


def _switched_off(path: Path, key: str | None) -> Iterator[Check]:
    if key is not None:
        hint = "whoever set it has to take it out; until then the agent runs no hook of ours"
        yield Check("hooks", "wrong", f"{path}: '{key}' keeps hooks from running", hint)


def _installed(hooks: Hooks) -> Check:
    text = f"{hooks.agent}, {hooks.scope} settings: {hooks.said}"
    if hooks.exact:
        return Check("hooks", "ok", text)
    return Check("hooks", "wrong", text, f"'git pog agent add {hooks.agent} --{hooks.scope}' adds what is missing")


def _gone(hooks: Hooks) -> Iterator[Check]:
    """A line that names a place, and nothing is there any more (case UC-71)."""
    calls = _calls(hooks)
    named = dict.fromkeys(path for command, call in calls.items() for path in command_line.programs(command, call))
    for path in named:
        if not os.access(path, os.X_OK):
            again = f"{hooks.agent} --{hooks.scope}"
            hint = (
                f"take the line out of {hooks.path} ('git pog agent remove {again}'), then 'git pog agent add {again}'"
            )
            yield Check("hooks", "wrong", f"a line of ours starts {path}, which is not there", hint)


def _calls(hooks: Hooks) -> dict[str, str]:
    """Returns the lines of some hooks, each with what it calls."""
    calls = hooks.wiring.calls()
    return {each.command: calls.get(each.event, hooks.agent) for each in hooks.found}


def _out_of_reach(hooks: Hooks) -> Iterator[Check]:
    """A line that finds git-pog from this terminal, perhaps, and from no other."""
    if _delivery.lasting(os.environ) is not None:
        return
    exact = {each.command for each in hooks.found if each.exact}
    named = {
        command: command_line.place_in(command, call) for command, call in _calls(hooks).items() if command in exact
    }
    link = "link it into ~/.local/bin"
    for place in dict.fromkeys(place for place in named.values() if place):
        if not os.access(place / "git-pog", os.X_OK):
            yield Check("hooks", "wrong", f"a line of ours looks for git-pog in {place}, and it is not there", link)
    if any(command == command_line.line(call) for command, call in _calls(hooks).items()):
        text = f"the line in the {hooks.scope} settings finds git-pog on the PATH alone, as this terminal has it"
        again = f"{hooks.agent} --{hooks.scope}"
        other = (
            "" if hooks.scope == "project" else f", or 'git pog agent remove {again}' and 'git pog agent add {again}'"
        )
        places = ", ".join(("~/.local/bin", *_delivery.EVERYWHERE))
        yield Check("hooks", "note", f"{text}; it lies in none of {places}", link + other)


def _rules(env: Env) -> Iterator[Check]:
    """What a person wants to have redacted, beside what everybody has."""
    rules = env.store.own_rules
    for fault in rules.faults:
        hint = "mend it with 'git config --edit'; nothing is pushed meanwhile"
        yield Check("redact", "wrong", f"rule {fault.rule} of pog.redact {fault.reason}; it is not used", hint)
    if rules and not rules.faults:
        yield Check("redact", "ok", f"{counted(rules.number, 'rule')} of your own")


def _guard(env: Env) -> Iterator[Check]:
    """The git hook that keeps what is private at home, where somebody asked for it (cases UC-11 and T21)."""
    found = githooks.look(env.store)
    if found.state == "changed":
        hint = "it is yours to mend; or delete it and run 'git pog init --pre-push'"
        yield Check("pre-push", "note", f"{found.hook} is not as we wrote it", hint)
    if found.lost:
        manager = found.manager or "nobody"
        hint = "'git pog init --pre-push' puts it back, or prints what to give to what manages hooks here"
        text = "nothing keeps what is private from a plain 'git push' any more"
        yield Check("pre-push", "wrong", text if found.manager is None else f"{text}: {manager} does not call us", hint)
    elif found.wanted:
        yield Check("pre-push", "ok", "'git push' takes nothing private along")


def _refspecs(env: Env) -> Iterator[Check]:
    """A forced fetch into our refs would overwrite tasks that differ here; some pushes take what is private along."""
    for name, values in env.store.git.settings().items():
        _, _, variable = name.rpartition(".")
        if not name.startswith("remote."):
            continue
        forced = [value for value in values if value.startswith("+") and _reaches_ours(value)]
        if variable == "fetch" and forced:
            hint = f"take it out of {name}: 'git pog pull' joins what differs"
            yield Check("refspecs", "wrong", f"{name} {forced[0]} overwrites tasks", hint)
        taking = [value for value in values if _takes_private(value)] if variable == "push" else []
        if variable == "mirror" and values[-1].lower() in ("true", "yes", "on", "1"):
            taking = [values[-1]]
        if taking:
            yield _leak(env, name, taking[0])


def _leak(env: Env, name: str, value: str) -> Check:
    """A push that takes private refs along, as the configuration says; harmless while the hook refuses it."""
    text = f"{name} {value} takes what is private along"
    chosen = env.store.git.settings().get(name.rpartition(".")[0] + ".pogprivate", ["false"])[-1].lower()
    if githooks.look(env.store).calls or chosen in ("true", "yes", "on", "1"):
        return Check("refspecs", "note", text, "a choice of yours, or held back by the pre-push hook")
    return Check(
        "refspecs", "wrong", text, "name 'refs/heads/*' and 'refs/tags/*' instead, or run 'git pog init --pre-push'"
    )


def _takes_private(refspec: str) -> bool:
    source = refspec.removeprefix("+").removeprefix("^").partition(":")[0]
    if refspec.startswith("^") or not source:
        return False
    before, star, _ = source.partition("*")
    return any(
        before.startswith(ours) or (bool(star) and ours.startswith(before)) for ours in (PRIVATE, SHELF, TRACKING)
    )


def _reaches_ours(refspec: str) -> bool:
    target = refspec.partition(":")[2]
    return target.startswith("refs/pog/") or (target.endswith("*") and "refs/pog/".startswith(target[:-1]))
