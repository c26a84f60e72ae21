"""Every command, by what it is for, with its first line of help.

Kept here so that `git pog -h` imports no command; a test compares the lines with the commands themselves.
"""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

import click

Section = Mapping[str, str]

PORCELAIN: Mapping[str, Section] = {
    "Begin": {
        "init": "Enable pogstore in this repository; nothing is recorded before",
        "agent": "Let an agent tell us what it does",
        "demo": "Show the main job on a small sample, in a scratch repository",
        "help": "Show the commands, or the help of one",
    },
    "Tasks": {
        "new": "Make a task with a title, an intent and limits, and print its id",
        "edit": "Amend the definition of a task; what is not named stays as it is",
        "list": "List the tasks that are open, the last changed first",
        "ready": "List the tasks on which work may begin, the most urgent first",
        "next": "Name the task to work on next: the first of those that 'git pog ready' lists",
        "show": "Show a task, or an event with its texts",
        "context": "Print what somebody needs who is to work on a task, as Markdown",
        "share": "Let a task leave this repository, with its title and intent",
        "local": "Keep a task in this repository: no push takes it along",
    },
    "Work": {
        "claim": "Claim a task as it is defined now",
        "release": "Give a claimed task back",
        "start": "Claim a task, begin it and make it the active one of this work tree",
        "run": "Run a command and record it: what it was given, what it printed and changed",
        "record": "Record what any program did, from lines of JSON as the contract of hooks has them",
        "note": "Keep a note about a task",
        "decide": "Keep a decision: the question, the choice, and why",
        "check": "Tick a checklist item of a task; items count from 1",
        "move": "Move a task to any status that the table of transitions allows",
        "block": "Say that a task cannot go on, and why",
        "review": "Approve or reject the definition of a task, or some of its events",
        "done": "Complete a task, and say what came of it",
        "cancel": "Give a task up, and say why",
        "status": "Show the active task, how many there are, and what is missing or damaged",
        "pause": "Stop recording what agents do here, at once, until it is resumed",
    },
    "History": {
        "log": "Show the events of the named tasks, or of all, the newest first",
        "diff": "Print what an event or a task changed, as a git patch",
        "blame": "Show which event wrote each line of a file, or else which commit",
        "why": "Show what led to a line: event, task, prompt, decisions, commit",
        "env": "Show in which environment something was done: system, tools, lock files, variables",
        "lineage": "Show what a task, an event, a commit or a line comes from, and what rests on it",
        "trace": "Show which lines of a task, an event or an actor still stand, and what share of those it added",
        "replay": "Apply the recorded effects of events again, in replay order, and check each of them, byte by byte",
    },
    "Taking out": {
        "points": "List the rollback points of a task, the newest first: what each lacks, and what is in the way",
        "point": "Name a rollback point, so that it can be found again",
        "restore": "Make a task's paths what they were at a rollback point",
        "rollback": "Take the effects of events, or of a task's tool calls, out of the work tree",
        "undo": "Take back the last rollback or restore made in this work tree, exactly",
    },
    "Sharing": {
        "push": "Push tasks to a remote",
        "fetch": "Fetch tasks from a remote",
        "pull": "Fetch tasks from a remote and join them to yours",
    },
    "Store": {
        "verify": "Check every byte of the named tasks, or of all",
        "gate": "Judge changed lines by the limits of the tasks that they come from, and what those tasks still lack",
        "doctor": "Check that what agents do here is recorded",
        "import": "Take in what other tools recorded; importing twice adds nothing",
    },
}
PLUMBING: Mapping[str, Section] = {
    "Plumbing": {
        "drain": "Store what agents' hooks recorded",
        "hook": "Record what an agent says on standard input",
        "reindex": "Delete the index and make it anew from the refs",
        "version": "Print the version of pogstore and of its format",
    },
}
"""What scripts need and people rarely; `git pog help -a` shows it."""
COMMANDS = tuple(name for sections in (PORCELAIN, PLUMBING) for section in sections.values() for name in section)


def module_of(name: str) -> str:
    """Returns the module of a command: a word that Python keeps for itself gets an underscore."""
    return f"pogstore.cli.{'import_' if name == 'import' else name}"


def write_sections(formatter: click.HelpFormatter, sections: Mapping[str, Section]) -> None:
    """Writes commands with their first lines of help, in one column over all sections."""
    longest = max(map(len, COMMANDS))
    for title, section in sections.items():
        with formatter.section(title):
            formatter.write_dl([(name.ljust(longest), line) for name, line in section.items()])


def unknown_command(ctx: click.Context, name: str, names: Iterable[str]) -> click.UsageError:
    """Returns the error for a command that does not exist, with those that may be meant."""
    meant = get_close_matches(name, names, n=3, cutoff=0.7)
    guess = "; did you mean " + " or ".join(f"'{each}'" for each in meant) + "?" if meant else ""
    return click.UsageError(f"no such command: '{name}'{guess}", ctx)
