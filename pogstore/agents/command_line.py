"""The line by which an agent's shell calls us, and the places that it may name. Pure.

It is sh that runs it, also the one of Git for Windows. For each agent and event it stays the same in all our versions:
some agents run no hook that is not, to the byte, the one that a person once agreed to (case UC-44).
"""

import re
import shlex
from functools import cache
from pathlib import Path

_HEAD = "PATH=$PATH:$HOME/.local/bin"
_CALL = "git -c help.autocorrect=0 pog"
_QUIET = "2>/dev/null || true"
_PLACE = r"(?P<place>(?:[^\s'\"]|'[^']*'|\"[^\"]*\")+)"
_QUOTES = re.compile(r"['\"]")


def line(call: str) -> str:
    """Returns the line that calls us; `call` is the name of the agent, with the event if it does not say that itself.

    It names no interpreter and no place of ours, so that it outlives an upgrade; a person's own programs are looked for
    last, because an agent started from a desktop often lacks them on its `PATH`. Without git-pog, or without git, it
    prints nothing and answers 0: git would name `log` as the most similar command and, told to correct, would run it,
    and what it prints becomes part of the agent's prompt. Standard output stays open, for a hook that has an answer.
    """
    return f"{_HEAD} {_CALL} hook {call} {_QUIET}"


def placed_line(call: str, scripts: Path) -> str:
    """Returns our line with a place in which git-pog is looked for last, for one that no agent has on its `PATH`.

    It names no interpreter: what is installed anew in that place is found, and where it is gone, any other.
    """
    return f"{_HEAD}:{shlex.quote(str(scripts))} {_CALL} hook {call} {_QUIET}"


def direct_line(call: str, python: Path, scripts: Path) -> str:
    """Returns a line that starts git-pog by its interpreter, for places in which the system cannot start a script.

    A script names its interpreter in its first line, and the system takes a space there for the end of the name. If
    it is gone, the git-pog that git finds does it (case UC-71); ours itself always succeeds, so it is told once.
    """
    start = f'P={shlex.quote(str(scripts))}; {shlex.quote(str(python))} -P "$P"/git-pog hook {call}'
    return f"{start} {_QUIET.removesuffix('true')}{line(call)}"


@cache
def _placed(call: str) -> re.Pattern[str]:
    """Returns what `placed_line` makes, whichever place it names."""
    return re.compile(rf"{re.escape(_HEAD)}:{_PLACE} {re.escape(f'{_CALL} hook {call} {_QUIET}')}")


@cache
def _direct(call: str) -> re.Pattern[str]:
    """Returns what `direct_line` makes, and a line without the second part that it made once."""
    both = f"{_QUIET.removesuffix('true')}{line(call)}"
    return re.compile(rf'P=.+; .+ -P "\$P"/git-pog hook {re.escape(call)} (?:{re.escape(_QUIET)}|{re.escape(both)})')


def is_exact(command: str, call: str) -> bool:
    """Says whether a line is ours, unchanged."""
    return command == line(call) or any(each.fullmatch(command) for each in (_placed(call), _direct(call)))


def is_ours(command: str, agent: str) -> bool:
    """Says whether a line calls us for an agent, also if somebody changed it: then it still records, and is theirs."""
    words = " ".join(_QUOTES.sub("", command).split())
    return re.search(rf"pog hook {re.escape(agent)}(?![\w-])", words) is not None


def place_in(command: str, call: str) -> Path | None:
    """Returns the place that a line of `placed_line` names; nothing for another line."""
    found = _placed(call).fullmatch(command)
    return Path("".join(shlex.split(found["place"]))) if found else None


def programs(command: str, call: str) -> list[Path]:
    """Returns the programs and scripts that a line names by an absolute path, as far as they can be told."""
    try:
        if _direct(call).fullmatch(command):
            place, python, *_ = shlex.split(command)
            return [Path(python), Path(place.removeprefix("P=").removesuffix(";")) / "git-pog"]
        words = shlex.split(command.replace(";", " "), comments=True)
    except ValueError:  # quotes that do not match
        return []
    return [path for path in map(Path, words) if path.is_absolute() and _is_program(path)]


def _is_program(path: Path) -> bool:
    return path.name.startswith(("git", "python", "pog"))
