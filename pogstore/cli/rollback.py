"""`git pog rollback`: take one piece of work out again."""

import os
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

import click
import msgspec

from pogstore.cli._context import Env, pass_env
from pogstore.cli._events import event_line
from pogstore.cli._options import as_option, exclusive, json_option, pathspecs, pog_command
from pogstore.cli._plans import (
    EXITS,
    REASONS,
    Advice,
    dry_run_option,
    plan_option,
    refuse_if_moved,
    show_done,
    show_plan,
)
from pogstore.cli._progress import LateBar
from pogstore.cli._render import counted, echo, echo_json, path_text, raw_path_text, safe, tell
from pogstore.graph import replay_order
from pogstore.history.materialized import LaidOut, apply_resolved, lay_out, plan_resolved
from pogstore.history.names import Named
from pogstore.history.plans import Cascade, Conflicts, Plan, Terms, Widen
from pogstore.history.rollback import apply_rollback, perhaps_others, plan_rollback
from pogstore.history.takeout import ONE_SIDED
from pogstore.history.targets import Span, chosen_paths, resolve_target
from pogstore.model import Observed, Sealed
from pogstore.store import gitlog
from pogstore.store.content import path_bytes, path_of
from pogstore.store.gitdiff import renames

FEW = 16
"""Events of a cascade that a command line names one by one."""
CHOICE = (
    "hint: '--keep' leaves such a path as it is, '--take' gives it the older side, "
    "'--materialize DIR' lets you settle it"
)
KEEP = "hint: '--keep' leaves such a path as it is, and takes the rest out"
DIRECTORY = click.Path(path_type=Path)


@pog_command("rollback", EXITS)
@click.argument("names", nargs=-1, metavar="TASK|EVENT... [--] [PATHSPEC]...")
@dry_run_option
@plan_option
@click.option("--with-subtasks", is_flag=True, help="A task brings its sub-tasks along, and theirs.")
@click.option("--path", "paths", multiple=True, metavar="PATHSPEC", help="Only these paths; as what stands behind --.")
@click.option("--only", is_flag=True, help="Just these events; do not look for others that stand in the way.")
@click.option("--cascade", is_flag=True, help="Take out the fewest further events with which nothing is in the way.")
@click.option("--keep", is_flag=True, help="Leave a path with a conflict as it is, and say so.")
@click.option("--take", is_flag=True, help="Give a path with a conflict the older side; later edits of it go as well.")
@click.option("--materialize", type=DIRECTORY, metavar="DIR", help="Lay the conflicts out in DIR, to be settled there.")
@click.option("--continue", "settled", type=DIRECTORY, metavar="DIR", help="Go on with what was settled in DIR.")
@as_option
@json_option
@pass_env
def command(
    env: Env,
    names: tuple[str, ...],
    dry_run: bool,
    digest: str | None,
    with_subtasks: bool,
    paths: tuple[str, ...],
    only: bool,
    cascade: bool,
    keep: bool,
    take: bool,
    materialize: Path | None,
    settled: Path | None,
    as_json: bool,
) -> int:
    """Take the effects of events, or of a task's tool calls, out of the work tree, and keep the rest.

    EVENT.. is the chain of its task's tool calls after that event, EVENT..EVENT those up to another; as in git, the
    first one itself stays. Later edits stay where they do not overlap. All or nothing: with a conflict no file changes,
    and the answer names the fewest further events with which there would be none. Index, HEAD and branches are not
    touched. What the work tree does not hold any more is left alone; if that is everything, nothing is recorded.
    'git pog undo' takes it back.
    """
    exclusive(only=only, cascade=cascade, materialize=materialize, **{"continue": settled})
    exclusive(keep=keep, take=take, cascade=cascade, materialize=materialize, **{"continue": settled})
    if settled is not None:
        return _continue(env, settled, (*names, *paths), dry_run, digest, as_json)
    at = len(names) - (pathspecs(names) or 0)
    names, specs = names[:at], (*names[at:], *paths)
    named = _named(env, names, with_subtasks)
    chosen = chosen_paths(env.store, named, specs, Path.cwd(), subtasks=with_subtasks) if specs else None
    widen: Widen = "no" if only or materialize else "take" if cascade else "say"
    conflicts: Conflicts = "keep" if keep else "take" if take or materialize else "refuse"
    terms = Terms(widen, conflicts, chosen, with_subtasks)
    plan = plan_rollback(env.store, named, LateBar("changes"), terms, searching=LateBar("ways out"))
    refuse_if_moved(plan, digest)
    if not as_json:
        _say_chains(named)
    if materialize is not None and not plan.obstacles and not dry_run:
        return _show_laid_out(lay_out(env.store, plan, terms, materialize), as_json)
    shared = perhaps_others(env.store, plan)
    if dry_run or plan.obstacles:
        return show_plan(plan, as_json, _advice(env, plan, (names, with_subtasks, specs)), shared=shared)
    return show_done(apply_rollback(env.store, plan, env.by, LateBar("files")), as_json, shared=shared)


def _named(env: Env, names: Sequence[str], with_subtasks: bool) -> list[Named | Span]:
    if not names:
        raise click.UsageError("missing argument 'TASK|EVENT'")
    named = [resolve_target(env.store, name, env.active) for name in names]
    if with_subtasks and all(isinstance(each, Span) or each.event_id for each in named):
        raise click.UsageError("--with-subtasks needs a task, and none is named")
    return named


def _continue(
    env: Env, directory: Path, others: Sequence[str], dry_run: bool, digest: str | None, as_json: bool
) -> int:
    if others:
        raise click.UsageError("--continue takes what was named with --materialize, and no other names")
    plan = plan_resolved(env.store, directory)
    refuse_if_moved(plan, digest)
    shared = perhaps_others(env.store, plan)
    if dry_run or plan.obstacles:
        return show_plan(plan, as_json, shared=shared)
    return show_done(apply_resolved(env.store, plan, env.by), as_json, shared=shared)


def _say_chains(named: Iterable[object]) -> None:
    for each in named:
        if isinstance(each, Span) and each.after is not None:
            tell(f"chain: what came after event {each.after[:10]}, which itself stays")


def _show_laid_out(laid_out: LaidOut, as_json: bool) -> int:
    directory = os.fspath(laid_out.directory)
    if as_json:
        conflicts = [
            {"path": msgspec.to_builtins(path_of(_raw(clash.path))), "reason": clash.reason}
            | {"event": clash.event, "merged": merged}
            for clash, merged in laid_out.conflicts
        ]
        echo_json({"directory": directory, "conflicts": conflicts})
        return 0
    for clash, merged in laid_out.conflicts:
        echo(f"{safe(directory)}/{merged}: {raw_path_text(_raw(clash.path))}: {REASONS[clash.reason]}")
        if not (laid_out.directory / merged).exists():
            number = merged.partition("/")[0]
            none = "it is gone already, so that changes nothing" if clash.ours is None else "there is to be none"
            tell(
                f"hint: there is no '{safe(merged)}' yet: put the file that you want there, one of those in "
                f"'{number}' perhaps, or make a file '{number}/delete' ({none})"
            )
    tell("nothing was rolled back")
    tell(f"hint: settle each file, then run: git pog rollback --continue {safe(shlex.quote(directory))}")
    return 0


def _advice(env: Env, plan: Plan, asked: tuple[Sequence[str], bool, Sequence[str]]) -> Advice:
    """Returns what to do about conflicts, or which events go beyond those that were asked for."""
    one_sided = any(obstacle.reason in ONE_SIDED for obstacle in plan.obstacles)
    choice = (*_moved(env, plan), CHOICE if one_sided else KEEP) if plan.obstacles else ()
    if plan.cascade is None:
        return Advice(choice)
    events = replay_order(env.store.event(event_id) for event_id in plan.cascade.events)
    if not events:
        return Advice((_no_cascade(plan.cascade), *choice))
    least = "the fewest" if plan.cascade.found == "smallest" else "not surely the fewest: the search was given up"
    if not plan.obstacles:
        head = f"cascade: {counted(len(events), 'further event')} ({least})"
        return Advice((head, *_lines(env, events)))
    line = _command(asked, events)
    head = f"clean with {counted(len(events), 'further event')} ({least}):"
    return Advice((head, *_lines(env, events), f"hint: to take them out as well: {safe(line)}", *choice), line)


def _moved(env: Env, plan: Plan) -> Iterable[str]:
    """Yields where the files went that are gone, as far as git's commits since tell."""
    gone = {obstacle.path: obstacle.event for obstacle in plan.obstacles if obstacle.reason == "deleted-since"}
    head = gitlog.find_head(env.store.git) if gone else None
    if head is None:
        return
    since = min(env.store.event(event_id).event.time for event_id in gone.values()) // 1_000_000
    moves = renames(env.store.git, head, since)
    for path in gone:
        name = path_bytes(path)
        for older, newer in reversed(moves):  # the oldest first
            name = newer if name == older else name
        if name is not None and name != path_bytes(path):
            yield f"moved: git has renamed {path_text(path)} to {raw_path_text(name)}, which is left as it is"


def _no_cascade(cascade: Cascade) -> str:
    if cascade.found == "none":
        return "no further event would help: what is in the way was not recorded, or is not here"
    return "the search for further events was given up before any were enough"


def _lines(env: Env, events: Iterable[Sealed]) -> Iterable[str]:
    for sealed in events:
        yield f"  {event_line(sealed, env.store, with_task=True)}"
        if isinstance(sealed.event, Observed):
            yield "    nobody's recorded step: these files were changed outside of any, perhaps by a person"


def _command(asked: tuple[Sequence[str], bool, Sequence[str]], events: Sequence[Sealed]) -> str:
    names, with_subtasks, specs = asked
    few = len(events) <= FEW
    words = ["git", "pog", "rollback", *(["--with-subtasks"] if with_subtasks else [])]
    words += [] if few else ["--cascade"]
    words += [*names, *(sealed.event_id[:16] for sealed in events if few)]
    return shlex.join([*words, *(["--", *specs] if specs else [])])


def _raw(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")
