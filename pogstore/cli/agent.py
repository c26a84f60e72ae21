"""`git pog agent`: which agents call us, and where that is written."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from pogstore.agents import command_line, settings_file, wiring
from pogstore.agents.settings_file import Scope, Verb
from pogstore.agents.wiring import Wiring
from pogstore.cli import _delivery
from pogstore.cli._context import Env, pass_env
from pogstore.cli._installed import WIRINGS, installed, is_tracked, place
from pogstore.cli._options import exclusive, json_option, pog_command, pog_group
from pogstore.cli._render import counted, echo, echo_json, safe, table, tell
from pogstore.errors import BadInput
from pogstore.work import excluded

AGENTS = tuple(WIRINGS)
NOT_DELIVERED = {1: "something did not arrive"}
CHANGED_MEANWHILE = {1: "the file changed meanwhile", 4: "the file lies outside the work tree"}

_F = TypeVar("_F", bound=Callable[..., Any])


def _scope_options(function: _F) -> _F:
    for option in (
        click.option("--user", is_flag=True, help="In your own settings, for all repositories."),
        click.option("--local", is_flag=True, help="For you, in this work tree; the default."),
        click.option("--project", is_flag=True, help="In the settings that the repository shares."),
    ):
        function = option(function)
    return click.argument("agent", type=click.Choice(AGENTS), metavar="AGENT")(function)


@pog_group("agent")
def command() -> None:
    """Let an agent tell us what it does: its hooks are written into its own settings."""


@pog_command("add", CHANGED_MEANWHILE)
@_scope_options
@click.option("--print", "only_print", is_flag=True, help="Only print what a settings file would hold.")
@json_option
@pass_env
def add(env: Env, agent: str, project: bool, local: bool, user: bool, only_print: bool, as_json: bool) -> None:
    """Write our hooks into the settings of AGENT: one of those that `git pog agent list` names.

    Other hooks, their order and every other byte stay; doing it again changes nothing. The line itself stays the
    same in all our versions, and finds git-pog as git does, or in ~/.local/bin. Only where it lies in no such place
    that every program has on its PATH does the line name that place as well, and where the system cannot start it,
    since the path of its interpreter has a space in it, that; never with --project, whose settings others share. It
    records only where `git pog init` was run.

    The settings of yours in this work tree (--local) are kept out of git by a line in .git/info/exclude, unless git
    tracks or ignores them already. Where an agent has one file for you and for the repository, --local takes that file
    if git does not track it.
    """
    exclusive(project=project, local=local, user=user, print=only_print)
    if only_print:
        text = wiring.snippet(WIRINGS[agent], spell=_delivery.spelling(os.environ))
        echo_json({"agent": agent, "snippet": text}) if as_json else echo(text.rstrip("\n"))
        return
    scope, wired = _scope(project, user), WIRINGS[agent]
    _refuse_shared(env, wired, scope)
    path, changed = _change(env, wired, scope, "add")
    kept_out = scope == "local" and excluded.exclude(env.store, wired.files[scope])
    if as_json:
        echo_json({"agent": agent, "scope": scope, "path": str(path), "changed": changed, "excluded": kept_out})
        return
    echo(f"{agent} {'tells us what it does' if changed else 'told us before'}: {safe(str(path))}")
    if kept_out:
        tell(f"git ignores that file from now on: a line in {safe(str(excluded.file_of(env.store.layout)))} says so")
    _hint_after_adding(env, wired, scope)
    if changed and wired.hint:
        tell(f"hint: {wired.hint}")


@pog_command("remove", CHANGED_MEANWHILE)
@_scope_options
@json_option
@pass_env
def remove(env: Env, agent: str, project: bool, local: bool, user: bool, as_json: bool) -> None:
    """Take our hooks out of the settings of AGENT again.

    The file gets the bytes it had before, and so does .git/info/exclude. A line of ours that somebody changed is
    theirs, and stays.
    """
    exclusive(project=project, local=local, user=user)
    scope, wired = _scope(project, user), WIRINGS[agent]
    path, changed = _change(env, wired, scope, "remove")
    left = wiring.installed(wired, scope, place(env, wired, scope))
    is_own = wired.files[scope] == wired.files["local"]
    taken_out = is_own and not left and excluded.include(env.store, wired.files[scope])
    if as_json:
        echo_json({"agent": agent, "scope": scope, "path": str(path), "changed": changed, "left": len(left)})
        return
    echo(f"{agent} {'no longer tells us' if changed else 'did not tell us'}: {safe(str(path))}")
    if taken_out:
        tell(f"our line is taken out of {safe(str(excluded.file_of(env.store.layout)))} again")
    if left:
        tell(f"warning: {counted(len(left), 'changed line')} of ours left; remove by hand what you no longer want")


@pog_command("list")
@json_option
@pass_env
def list_(env: Env, as_json: bool) -> None:
    """List the settings of agents that may hold our hooks, and those that do."""
    found = installed(env)
    if as_json:
        echo_json([
            {"agent": each.agent, "scope": each.scope, "path": str(each.path),
             "events": [hook.event for hook in each.found], "exact": each.exact}
            for each in found
        ])  # fmt: skip
        return
    for line in table([(each.agent, each.scope, each.said, safe(str(each.path))) for each in found]):
        echo(line)
    for each in found:
        if each.fault:
            tell(f"warning: {safe(each.fault)}")


@pog_command("test", NOT_DELIVERED)
@click.argument("agent", type=click.Choice(AGENTS), metavar="AGENT")
@json_option
def test(agent: str, as_json: bool) -> int:
    """Prove that what AGENT says arrives, with a made-up session in a scratch repository.

    Each event is told to the line that `add` writes, by a shell, as the agent would. Says which did not arrive.
    """
    found = _delivery.deliver(WIRINGS[agent], os.environ)
    if as_json:
        events = [
            {"event": each.event, "arrived": each.arrived, "status": each.status, "printed": each.printed,
             "ms": round(each.seconds * 1000)}
            for each in found.told
        ]  # fmt: skip
        echo_json({"agent": agent, "ok": found.ok, "program": found.program, "version": found.version,
                   "events": events, "file_seen": found.file_seen, "stored": found.stored})  # fmt: skip
        return 0 if found.ok else 1
    _show(found)
    return 0 if found.ok else 1


def _show(found: _delivery.Delivery) -> None:
    for line in table([(each.event, _became(each), f"{each.seconds * 1000:.0f} ms") for each in found.told]):
        echo(line)
    if found.program is None:
        tell("hint: git finds no git-pog; link it into ~/.local/bin, or put its directory on the PATH")
        return
    echo(f"git-pog is {safe(found.program)} ({safe(found.version or 'of unknown version')})")
    echo("the session arrived, and the file that it wrote is in the record" if found.ok else "not everything arrived")


def _became(each: _delivery.Told) -> str:
    if each.printed:
        return f"disturbed the agent: {safe(each.printed[:60])}"
    if each.status:
        return f"ended with {each.status}"
    return "arrived" if each.arrived else "lost"


def _scope(project: bool, user: bool) -> Scope:
    if project:
        return "project"
    return "user" if user else "local"


def _refuse_shared(env: Env, wired: Wiring, scope: Scope) -> None:
    """Refuses to write for one person what git shares with all."""
    name = wired.files[scope]
    if scope == "local" and name == wired.files["project"] and is_tracked(env, name):
        hint = f"'git pog agent add {wired.agent} --project' writes it for all, '--user' for you everywhere"
        raise BadInput(f"'{name}'", "git tracks it, so that it is not yours alone", hint)


def _change(env: Env, wired: Wiring, scope: Scope, verb: Verb) -> tuple[Path, bool]:
    # what a repository shares must not name a place of this machine
    spell = command_line.line if scope == "project" or verb == "remove" else _delivery.spelling(os.environ)
    plan = wiring.plan(wired, scope, place(env, wired, scope), verb, spell=spell)
    settings_file.apply(plan)
    return plan.path, plan.before != plan.after


def _hint_after_adding(env: Env, wired: Wiring, scope: Scope) -> None:
    if scope == "user":
        return
    if not env.store.enabled:
        tell("hint: nothing is recorded before 'git pog init'")
    path = wiring.settings_path(wired, scope, place(env, wired, scope))
    others = [hooks for hooks in installed(env) if hooks.found and hooks.agent == wired.agent and hooks.path != path]
    if others:
        scopes = " and ".join(hooks.scope for hooks in others)
        tell(f"hint: it is told in the {scopes} settings too; once is enough")


command.add_command(add)
command.add_command(remove)
command.add_command(list_)
command.add_command(test)
