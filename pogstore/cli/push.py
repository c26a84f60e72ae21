"""`git pog push`: our tasks to a remote."""

import click

from pogstore import sync
from pogstore.cli._context import Env, pass_env
from pogstore.cli._exchange import (
    EXITS,
    chosen,
    exchange_arguments,
    place_values,
    ref_values,
    show_refs,
    show_refused,
    shows_progress,
)
from pogstore.cli._options import json_option, pog_command
from pogstore.cli._render import counted, echo, echo_json, safe, tell
from pogstore.model import BlobId
from pogstore.sync import PushReport
from pogstore.work import contracts


@pog_command("push", EXITS | {4: "held back: a secret, a local task, or a remote that is not allowed"})
@click.option("--dry-run", "-n", is_flag=True, help="Say what would be pushed. Nothing is written anywhere.")
@click.option(
    "--allow-secret", "allowed", metavar="ID", multiple=True, help="Let a content pass that only looks like a secret."
)
@exchange_arguments
@json_option
@pass_env
def command(
    env: Env, names: tuple[str, ...], private: bool, dry_run: bool, allowed: tuple[str, ...], as_json: bool
) -> int:
    """Push tasks to a remote: all that is new, or the tasks named.

    What others pushed meanwhile is fetched and joined first. Local tasks and private contents stay at home, and a task
    with a secret is held back. REMOTE is a name, a URL or a path; by default it is the remote of this branch, else
    origin. The pre-push hook of git does not run.
    """
    remote, tasks = chosen(env, names, push=True)
    report = sync.push(
        env.store,
        remote,
        tasks,
        private=private,
        allowed=[BlobId(name) for name in allowed],
        dry_run=dry_run,
        progress=shows_progress(as_json),
    )
    if not dry_run:
        contracts.refresh_all(env.store)  # what the remote had was joined first
    if as_json:
        echo_json(_value(report, dry_run))
    else:
        _show(env, report, dry_run, kept=not private)
    return 4 if report.refused else int(report.failed)


def _value(report: PushReport, dry_run: bool) -> dict[str, object]:
    return {
        "remote": report.remote,
        "ok": not report.failed,
        "dry_run": dry_run,
        "refs": ref_values(report.refs),
        "joined": ref_values(report.joined),
        "refused": place_values(report.refused),
        "local": report.local,
    }


def _show(env: Env, report: PushReport, dry_run: bool, *, kept: bool) -> None:
    name = safe(report.remote)
    if report.joined:
        echo(f"pulled from {name} first:")
        show_refs(env, report.joined)
    if any(not ref.failed for ref in report.refs):
        echo(f"{'would push' if dry_run else 'pushed'} to {name}:")
    elif not report.failed:
        tell(f"nothing to push: {name} is up to date")
    show_refs(env, report.refs, kept=kept)
    show_refused(report.refused)
    if report.local:
        tell(f"{counted(report.local, 'local task')} not pushed")
