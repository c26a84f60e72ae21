"""`git pog replay`: recorded effects, applied again and checked."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import msgspec

from pogstore.cli._context import Env, pass_env
from pogstore.cli._events import SHORT, headline
from pogstore.cli._execution import Execution, execute, execution_options
from pogstore.cli._options import as_option, exclusive, json_option, pog_command
from pogstore.cli._plans import REASONS
from pogstore.cli._progress import LateBar
from pogstore.cli._render import counted, echo, echo_json, path_text, safe, tell
from pogstore.cli._values import Value
from pogstore.history import replayed
from pogstore.history.names import Named
from pogstore.history.replay import DIVERGED, OUTCOMES, Place, Replay, Result, plan_replay
from pogstore.history.replayed_branch import ReplayedBranch, check_branch, replay_branch, resume_branch
from pogstore.history.replayed_directory import (
    ReplayedDirectory,
    check_directory,
    place_of,
    replay_directory,
    resume_directory,
)
from pogstore.history.targets import Span, resolve_target
from pogstore.model import Observed

EXITS = {
    1: "an event could not be applied, or the record has a gap",
    3: "damaged store",
    4: "a path that may not be written, or a command that may not be run",
}
WORDS = {
    **REASONS,
    "outside": "it is outside the repository",
    "name": "no file system may hold this name",
    "undone": "it was taken back later, so nothing comes of it",
    "merged": "it held something else than recorded; the change was merged",
    "content-damaged": "its recorded content is damaged",
}
Made = ReplayedBranch | ReplayedDirectory | None


@pog_command("replay", EXITS)
@click.argument("names", nargs=-1, metavar="[TASK|EVENT|A..B]...")
@click.option("--all", "every", is_flag=True, help="All tasks.")
@click.option("--onto", metavar="REV", help="Begin with the files of a commit, not with those that were recorded.")
@click.option("--branch", metavar="NAME", help="Make a branch with one commit for each event.")
@click.option("--into", metavar="DIR", help="Fill a new or empty directory with the files.")
@click.option(
    "--check", "--dry-run", "-n", "check", is_flag=True, help="Write nothing; so it is without --branch and --into."
)
@click.option("--partial", is_flag=True, help="Leave out what cannot be applied, in the place of writing nothing.")
@click.option("--resume", is_flag=True, help="Go on with a branch or a directory whose making was cut off.")
@execution_options
@as_option
@json_option
@pass_env
def command(
    env: Env,
    names: tuple[str, ...],
    every: bool,
    onto: str | None,
    branch: str | None,
    into: str | None,
    check: bool,
    partial: bool,
    resume: bool,
    execution: Execution | None,
    as_json: bool,
) -> int:
    """Apply the recorded effects of events again, in replay order, and check each of them, byte by byte.

    Runs no process, no network and no model, unless --exec says so; by default all of it in memory. An event is
    applied, identical (it is there already), skipped (it is none of ours), diverged (it met other files than recorded,
    and was merged), open (its end was never seen), unverifiable (a content is not here), conflicted, or blocked (it
    rests on one that was not applied). A..B is what came after A up to B. Index, HEAD, work tree and other branches
    are not touched.

    With --exec the command of one event is run again, if it was recorded here, in a fresh work tree, once a person has
    said yes to what is shown; its outputs are the same, differ or are missing. With --check it is shown, and not run.
    """
    exclusive(check=check, branch=branch, into=into)
    if execution is not None:
        exclusive(exec=True, onto=onto, branch=branch, into=into, all=every, partial=partial, resume=resume)
        return execute(env, names, execution, as_json=as_json, dry_run=check)
    exclusive(all=every, TASK=names)
    if resume:
        exclusive(resume=resume, TASK=names, all=every, onto=onto, check=check, partial=partial)
        return _resume(env, branch, into, as_json)
    if branch is not None:
        check_branch(env.store, branch)
    if into is not None:
        check_directory(env.store, Path.cwd() / into)
    replay = plan_replay(env.store, _named(env, names, every), onto, LateBar("events"))
    if (branch is None and into is None) or not (replay.is_whole or partial):
        return _show(replay, None, as_json, branch or into)
    made: Made = None
    if branch is not None:
        made = replay_branch(env.store, replay, branch, env.by, partial=partial, progress=LateBar("commits"))
    elif into is not None:
        place = Path.cwd() / into
        made = replay_directory(env.store, replay, place, env.by, partial=partial, progress=LateBar("files"))
    return _show(replay, made, as_json)


def _named(env: Env, names: Sequence[str], every: bool) -> list[Named | Span]:
    if every:
        return [Named(task) for task in env.store.tasks()]
    return [resolve_target(env.store, name, env.active) for name in names or ("@",)]


def _resume(env: Env, branch: str | None, into: str | None, as_json: bool) -> int:
    begun = replayed.find_begun(env.store, branch, str(place_of(Path.cwd() / into)) if into is not None else None)
    replay = replayed.plan_again(env.store, begun, LateBar("events"))
    if begun.branch is not None:
        return _show(replay, resume_branch(env.store, replay, begun, env.by, LateBar("commits")), as_json)
    return _show(replay, resume_directory(env.store, replay, begun, env.by, LateBar("files")), as_json)


def _show(replay: Replay, made: Made, as_json: bool, refused: str | None = None) -> int:
    """Prints what came of each event and what was made; returns the exit status."""
    status = 0 if replay.ok and refused is None else 1
    if as_json:
        echo_json(_value(replay, made))
        return status
    for line in _lines(replay):
        echo(line)
    _say_rest(replay)
    for line in _made_lines(made):
        echo(line)
    if refused is not None:
        tell("nothing was written; '--partial' leaves out what cannot be applied")
    return status


def _lines(replay: Replay) -> Iterator[str]:
    width = max(len(outcome) for outcome in OUTCOMES)
    for result in replay.results:
        event = result.event
        yield f"{result.outcome:{width}}  {event.event_id[:SHORT]} {safe(headline(event))}"
        if isinstance(event.event, Observed):
            yield f"{'':{width}}  not a step of the task: nobody is recorded to have made this change"
        if result.on is not None:
            yield f"{'':{width}}  rests on {result.on[:SHORT]}, which was not applied"
        for place in result.places:
            yield f"{'':{width}}  {path_text(place.path)}: {place.reason}: {_word(place)}"
    yield _summary(replay)


def _word(place: Place) -> str:
    return WORDS.get(place.reason, "it is in the way")


def _summary(replay: Replay) -> str:
    found = [result.outcome for result in replay.results]
    counts = ", ".join(f"{found.count(outcome)} {outcome}" for outcome in OUTCOMES if outcome in found)
    onto = f" onto {replay.base[:SHORT]}" if replay.onto and replay.base else ""
    return f"{counted(len(found), 'event')}{onto}: {counts}"


def _say_rest(replay: Replay) -> None:
    if replay.absent_base is not None:
        tell(f"the base {safe(replay.absent_base)} is not here; only files that the events changed are known")
    if not replay.onto and any(result.outcome == DIVERGED for result in replay.results):
        tell("the record has a gap: files changed between these events, and no event of the range tells of it")
    if replay.uncovered:
        tell(f"not covered: {counted(len(replay.uncovered), 'tool call')} that may have done more than was recorded")


def _made_lines(made: Made) -> Iterator[str]:
    if isinstance(made, ReplayedBranch):
        commits = counted(len(set(made.commits.values())), "commit")
        yield f"branch '{safe(made.name)}' is at {made.tip[:SHORT]}: {commits}"
    elif made is not None:
        yield f"{counted(made.files, 'file')} in '{safe(str(made.path))}'"
        yield from (f"left out: {path_text(left.path)}: {safe(left.reason)}" for left in made.left)
    for sealed in made.events if made is not None else ():
        yield f"event {sealed.event_id[:SHORT]} of task {sealed.event.task}"


def _value(replay: Replay, made: Made) -> Value:
    commits = made.commits if isinstance(made, ReplayedBranch) else {}
    value: Value = {
        "ok": replay.ok,
        "base": replay.base,
        "onto": replay.onto,
        "events": [_result_value(result, commits.get(result.event.event_id)) for result in replay.results],
        "uncovered": list(replay.uncovered),
        "recorded": [sealed.event_id for sealed in made.events] if made is not None else [],
    }
    if isinstance(made, ReplayedBranch):
        value |= {"branch": made.name, "tip": made.tip}
    elif made is not None:
        left = [{"path": msgspec.to_builtins(each.path), "reason": each.reason} for each in made.left]
        value |= {"directory": str(made.path), "files": made.files, "left": left}
    return value


def _result_value(result: Result, commit: str | None) -> Value:
    value: Value = {"event": result.event.event_id, "task": result.event.event.task, "outcome": result.outcome}
    value["places"] = [{"path": msgspec.to_builtins(each.path), "reason": each.reason} for each in result.places]
    return value | ({"on": result.on} if result.on else {}) | ({"commit": commit} if commit else {})
