"""`git pog hook`: what an agent runs at every step. The installed script answers it without coming here."""

import os

from pogstore.agents import hook
from pogstore.cli._options import pog_command, pog_group


@pog_group("hook")
def command() -> None:
    """Record what an agent says on standard input; the agent runs this by itself."""


@pog_command("claude-code")
def claude_code() -> None:
    """Record one step of Claude Code.

    Prints nothing and exits with 0, whatever happens: what could not be recorded is counted, and `git pog status` says
    it. Where `git pog init` was not run, nothing is recorded.
    """
    hook.main(["claude-code"], 0, os.environ)


command.add_command(claude_code)
