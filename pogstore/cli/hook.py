"""`git pog hook`: what an agent runs at every step. The installed script answers it without coming here."""

import os
import sys

import click

from pogstore.agents import hook
from pogstore.cli import hook_pre_push
from pogstore.cli._options import pog_command, pog_group


@pog_group("hook")
def command() -> None:
    """Record what an agent says on standard input; the agent runs this by itself."""


AGENTS = {
    "claude-code": "Claude Code",
    "codex": "Codex CLI",
    "gemini": "Gemini CLI",
    "cursor": "Cursor",
    "copilot": "Copilot CLI",
    "opencode": "OpenCode",
}
NAMED = ("copilot",)
"""Those that do not say which event it is: the line that calls us does."""
_HELP = """Record one step of {title}.

    Prints nothing and exits with 0, whatever happens: what could not be recorded is counted, and `git pog status` says
    it. Where `git pog init` was not run, nothing is recorded. Only where the contract of the task denies what the agent
    is about to do, it says so, as the agent takes it.
    """


def _of_agent(agent: str, title: str) -> click.Command:
    """Returns the command that records one step of an agent."""

    def told(event: str = "") -> int:
        return _answer(agent, event)

    told.__doc__ = _HELP.format(title=title)
    if agent in NAMED:
        told.__doc__ += "\n    EVENT is what happened, by the agent's own name.\n    "
        return pog_command(agent)(click.argument("event", required=False, default="")(told))
    return pog_command(agent)(told)


@pog_command("generic")
def generic() -> int:
    """Record one step of any agent that can say it as one JSON object.

    Prints nothing and exits with 0, whatever happens, as the hook of an agent must; only where the contract of the task
    denies what the agent is about to do, it prints one JSON object that says so. The members of the object are told in
    the documentation; all but "event" may be missing.
    """
    return _answer("generic")


def _answer(agent: str, event: str = "") -> int:
    return hook.main([agent, *filter(None, [event])], 0, os.environ, (sys.executable, "-m", "pogstore"))


for _agent, _title in AGENTS.items():
    command.add_command(_of_agent(_agent, _title))
command.add_command(generic)
command.add_command(hook_pre_push.command)
