"""`git pog doctor`: whether what agents do here is recorded, and what to do where it is not."""

import os
from collections.abc import Iterator
from typing import Literal, NamedTuple

from pogstore.cli import _delivery, _draining
from pogstore.cli._context import Env, disabled, pass_env
from pogstore.cli._installed import Hooks, installed
from pogstore.cli._options import json_option, pog_command
from pogstore.cli._render import counted, echo, echo_json, safe, table, tell
from pogstore.work import setup, spool, spooled

WRONG = {1: "something is wrong"}


class Check(NamedTuple):
    """What was looked at and found, and what to do about it."""

    check: str
    result: Literal["ok", "note", "wrong"]
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
        yield from _spool(env)
        yield from _hooks(env)
    yield from _refspecs(env)


def _program() -> Check:
    found = _delivery.program(os.environ)
    if found is None:
        return Check("program", "wrong", "git finds no git-pog", "link it into ~/.local/bin, or extend the PATH")
    version = _delivery.version(found)
    if version is None:
        return Check("program", "wrong", f"{found} does not start", "install it again, in a path without a space")
    return Check("program", "ok", f"{found} ({version})")


def _consent(env: Env) -> Check:
    if not env.store.enabled:
        return Check("consent", "wrong", "pogstore is not enabled in this repository", "run 'git pog init'")
    if setup.paused(env.store.layout):
        return Check("consent", "note", "recording is paused", "'git pog pause --resume' goes on with it")
    if disabled():
        return Check("consent", "note", "POG_DISABLE is set", "unset it to record")
    return Check("consent", "ok", "pogstore is enabled in this repository")


def _spool(env: Env) -> Iterator[Check]:
    layout = env.store.layout
    place = setup.spool_of(layout)
    if setup.paused(layout):
        return
    if not place.is_dir():
        yield Check("spool", "wrong", f"there is no {place}", "run 'git pog init' again")
        return
    try:
        os.close(spool.open_folder(os.fsencode(place)))
    except OSError as fault:
        yield Check("spool", "wrong", f"{place}: {fault.strerror}", f"make it yours alone: chmod 700 '{place}'")
        return
    if not os.access(place, os.W_OK):
        yield Check("spool", "wrong", f"{place} cannot be written to", "nothing is recorded in a read-only repository")
        return
    if spool.settings(os.fsencode(place)) != setup.settings(env.store):
        yield Check("spool", "wrong", "hooks do not know of changed settings", "run 'git pog init' again")
        return
    left = spooled.set_aside_parts(place)
    if left:
        yield Check(
            "spool", "note", f"{counted(len(left), 'damaged part')} of records set aside", "see 'git pog status'"
        )
        return
    yield Check("spool", "ok", f"pending: {_draining.pending(env.store)}")


def _hooks(env: Env) -> Iterator[Check]:
    everywhere = installed(env)
    for hooks in everywhere:
        if hooks.fault:
            yield Check(
                "hooks", "wrong", hooks.fault, f"mend {hooks.path}: {hooks.agent} reads no more of it than we do"
            )
    found = [hooks for hooks in everywhere if hooks.found]
    if not found:
        yield Check("hooks", "note", "no agent tells us what it does", "'git pog agent add claude-code' lets it")
    for hooks in found:
        yield _installed(hooks)
    if len(found) > 1:
        scopes = " and ".join(hooks.scope for hooks in found)
        yield Check("hooks", "note", f"told twice: in the {scopes} settings", "remove one: 'git pog agent remove'")


def _installed(hooks: Hooks) -> Check:
    text = f"{hooks.agent}, {hooks.scope} settings: {hooks.said}"
    if hooks.exact:
        return Check("hooks", "ok", text)
    return Check("hooks", "wrong", text, f"'git pog agent add {hooks.agent} --{hooks.scope}' adds what is missing")


def _refspecs(env: Env) -> Iterator[Check]:
    """A forced fetch into our refs would overwrite tasks that differ here."""
    for name, values in env.store.git.settings().items():
        forced = [value for value in values if value.startswith("+") and _reaches_ours(value)]
        if name.startswith("remote.") and name.endswith(".fetch") and forced:
            hint = f"take it out of {name}: 'git pog pull' joins what differs"
            yield Check("refspecs", "wrong", f"{name} {forced[0]} overwrites tasks", hint)


def _reaches_ours(refspec: str) -> bool:
    target = refspec.partition(":")[2]
    return target.startswith("refs/pog/") or (target.endswith("*") and "refs/pog/".startswith(target[:-1]))
