"""`git pog import`: the records of other tools become tasks and events."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import click
import msgspec

from pogstore.cli._context import Env, now, pass_env
from pogstore.cli._options import json_option, pog_command, pog_group
from pogstore.cli._progress import progress
from pogstore.cli._redaction import spelled
from pogstore.cli._render import counted, echo, echo_json, safe, tell
from pogstore.draft import Oddity, TaskDrafts
from pogstore.errors import BadInput
from pogstore.interop.claude_code import Reading, read_transcripts
from pogstore.interop.codex import read_rollouts
from pogstore.interop.gemini import read_sessions
from pogstore.interop.json_lines import Transcript
from pogstore.interop.pog_yaml import TaskFile, read_tasks, wanted
from pogstore.model import OddPath
from pogstore.store.store import Store
from pogstore.work.earlier import CommittedContents
from pogstore.work.echoes import as_told_live
from pogstore.work.ignored import without_ignored
from pogstore.work.intake import Taken, take
from pogstore.work.sources import Lines, lowest_root, read_folder

OUTSIDE = OddPath(outside=True)
LIST = "list"
LISTED = 5
"""How many names a message lists."""


@pog_group("import")
def command() -> None:
    """Take in what other tools recorded; importing twice adds nothing."""


def oddities_option(function: Callable[..., None]) -> Callable[..., None]:
    """Adds `--oddities`."""
    return click.option("--oddities", is_flag=True, help="List everything odd, not only how much of each kind.")(
        function
    )


@pog_command("pog-task")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@oddities_option
@json_option
@pass_env
def pog_task(env: Env, folder: Path, oddities: bool, as_json: bool) -> None:
    """Import the task files (YAML 1.1 to 1.3, JSONL 1.0) and records below DIR, the folder that holds list/."""
    env.refuse_if_disabled()
    files = [TaskFile(found.path, found.data) for found in read_folder(folder, wanted)]
    if not (folder / LIST).is_dir():
        raise BadInput(f"no {LIST}/ in '{folder}'", "the task files of POG Task lie there", _list_hint(folder))
    reading = read_tasks(files, repository=lowest_root(folder), now=now())
    with progress(len(reading.tasks), "tasks") as advance:
        taken = take(env.store, _Kept(env.store, reading.tasks), progress=lambda _: advance())
    _report(taken, reading.oddities, oddities, as_json)


class Reader(NamedTuple):
    """How the sessions of one agent are read: by what, how they are told of, and the end of their files' names."""

    read: Callable[..., Iterator[Reading]]
    title: str
    suffixes: tuple[str, ...]
    noun: str


READERS = {
    "claude-code": Reader(read_transcripts, "Claude Code", (".jsonl",), "transcript"),
    "codex": Reader(read_rollouts, "Codex", (".jsonl",), "rollout"),
    "gemini": Reader(read_sessions, "Gemini CLI", (".json", ".jsonl"), "session"),
}
_HELP = {
    "claude-code": """Import transcripts of Claude Code, those of its sub-agents included: one task for each session.

    FILE may be a directory: every transcript below it is meant. A session's title, prompts, replies and outputs are
    private: they stay in this repository until you say otherwise.
    """,
    "codex": """Import rollouts of Codex, also of `codex exec`, which calls no hooks: one task for each session.

    FILE may be a directory: every rollout below it is meant. What its hooks told already is not told again. Prompts,
    replies and outputs are private: they stay in this repository until you say otherwise.
    """,
    "gemini": """Import sessions that Gemini CLI has kept: one task for each.

    FILE may be a directory: every session below it is meant. What its hooks told already is not told again. A session
    does not say where it worked: by default that is this work tree. Prompts, replies and outputs are private: they
    stay in this repository until you say otherwise.
    """,
}


_ROOT = "Where the repository lay on the recording machine; by default this work tree, or the session's directory."


def _of_agent(agent: str, reader: Reader) -> click.Command:
    """Returns the command that imports the sessions of an agent."""

    @click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
    @click.option(
        "--root", "roots", multiple=True, metavar="DIR", help=_ROOT,
    )  # fmt: skip
    @oddities_option
    @json_option
    @pass_env
    def taken_in(env: Env, files: tuple[Path, ...], roots: tuple[str, ...], oddities: bool, as_json: bool) -> None:
        env.refuse_if_disabled()
        transcripts = list(_transcripts(files, reader.suffixes))
        sessions = _Sessions(reader, files, transcripts, roots, env.store)
        with progress(len(transcripts), f"{reader.noun}s") as advance:
            taken = take(env.store, _Kept(env.store, sessions), progress=lambda _: advance())
        _report(taken, sessions.oddities, oddities, as_json)

    taken_in.__doc__ = _HELP[agent]
    return pog_command(agent)(taken_in)


command.add_command(pog_task)
for _agent, _reader in READERS.items():
    command.add_command(_of_agent(_agent, _reader))


def _list_hint(folder: Path) -> str | None:
    """Returns a hint at the folder that was meant: the one above a `list` that was named, or the only one with one."""
    whole = folder.resolve()
    above = next((each.parent for each in (whole, *whole.parents) if each.name == LIST), None)
    below = [each for each in whole.iterdir() if (each / LIST).is_dir()]
    meant = above or (below[0] if len(below) == 1 else None)
    return f"did you mean '{meant}'?" if meant else None


class _Kept:
    """Some tasks without the contents of files that git ignores here, anew each time they are gone through.

    What was recorded live is known to be that.
    """

    def __init__(self, place: Store, tasks: Iterable[TaskDrafts]) -> None:
        self._place, self._tasks = place, tasks

    def __iter__(self) -> Iterator[TaskDrafts]:
        return (without_ignored(self._place, as_told_live(self._place, task)) for task in self._tasks)


class _Sessions:
    """The sessions in some transcripts, read one at a time, anew each time they are gone through.

    Going through them ends with `BadInput` if there is none, or if roots were given that hold none of their edits.
    """

    def __init__(
        self, reader: Reader, named: Sequence[Path], transcripts: Sequence[Path], roots: Sequence[str], here: Store
    ) -> None:
        self._reader, self._named = reader, named
        self._transcripts = [Transcript(path.name, Lines(path)) for path in transcripts]
        self._roots, self._committed = roots, CommittedContents(here)
        self._here = str(here.layout.work_tree) if here.layout.work_tree else None
        self.oddities: list[Oddity] = []

    def __iter__(self) -> Iterator[TaskDrafts]:
        self.oddities.clear()
        found = False
        directories: dict[str, None] = {}
        inside: set[bool] = set()
        told = self._reader.read(
            self._transcripts, roots=self._roots, here=self._here, committed=self._committed.before
        )
        for reading in told:
            self.oddities += reading.oddities
            found |= reading.session is not None
            directories |= dict.fromkeys(reading.directories)
            inside |= {path != OUTSIDE for path in _edited(reading.tasks)}
            yield from reading.tasks
        if not found:
            why = f"no line names a session of {self._reader.title}"
            raise BadInput(f"no {self._reader.noun} in {_listed(self._named)}", why)
        if self._roots and inside == {False}:
            worked = f"the directories that were worked in: {_listed(directories)}" if directories else None
            raise BadInput(f"no edit lies below {_listed(self._roots)}", "nothing was imported", worked)


def _edited(tasks: Iterable[TaskDrafts]) -> Iterator[object]:
    """Yields the paths that the calls of some tasks changed."""
    return (change.path for task in tasks for draft in task.drafts for change in draft.changes)


def _listed(names: Iterable[object]) -> str:
    """Returns some names in quotes, the first few of many."""
    every = [f"'{name}'" for name in names]
    more = [f"{len(every) - LISTED} more"] if len(every) > LISTED else []
    return ", ".join(every[:LISTED] + more)


def _transcripts(files: Iterable[Path], suffixes: Sequence[str]) -> Iterator[Path]:
    """Yields the files named, and every one below a directory named whose name ends as those of sessions do."""
    for path in files:
        if path.is_dir():
            yield from sorted(found for found in path.rglob("*") if found.suffix in suffixes and found.is_file())
        else:
            yield path


def _report(taken: Taken, oddities: Sequence[Oddity], every: bool, as_json: bool) -> None:
    if as_json:
        echo_json(taken._asdict() | {"oddities": [msgspec.to_builtins(oddity) for oddity in oddities]})
        return
    known = f", {counted(taken.known, 'record')} known before" if taken.known else ""
    echo(f"{counted(taken.tasks, 'new task')}, {counted(taken.events, 'new event')}{known}")
    if taken.redacted:
        echo(f"redacted: {spelled(dict(sorted(taken.redacted.items())))}")
    if every:
        for oddity in oddities:
            echo(f"{safe(oddity.code)} {safe(oddity.where)}: {safe(oddity.detail)}")
    elif oddities:
        counts = sorted(Counter(oddity.code for oddity in oddities).items())
        echo(f"odd: {', '.join(f'{count} {safe(code)}' for code, count in counts)}")
        tell("hint: '--oddities' lists each of them")
