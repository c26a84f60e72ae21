"""`git pog pull`: what a remote has, joined to ours."""

from pogstore import sync
from pogstore.cli._context import Env, pass_env
from pogstore.cli._exchange import EXITS, chosen, exchange_arguments, ref_values, show_ahead, show_refs, shows_progress
from pogstore.cli._options import json_option, pog_command
from pogstore.cli._render import echo, echo_json, safe, tell
from pogstore.sync import PullReport
from pogstore.work import contracts


@pog_command("pull", EXITS)
@exchange_arguments
@json_option
@pass_env
def command(env: Env, names: tuple[str, ...], private: bool, as_json: bool) -> int:
    """Fetch tasks from a remote and join them to yours.

    Everything is checked before anything of yours moves; a task that does not hold up is left out and reported. Nothing
    of yours is ever lost. REMOTE is a name, a URL or a path; by default it is the remote of this branch, else origin.
    """
    remote, tasks = chosen(env, names)
    report = sync.pull(env.store, remote, tasks, private=private, progress=shows_progress(as_json))
    contracts.refresh_all(env.store)  # somebody may have claimed elsewhere what is worked on here
    if as_json:
        echo_json(_value(report))
    else:
        _show(env, report)
    return int(report.failed)


def _value(report: PullReport) -> dict[str, object]:
    return {
        "remote": report.fetched.remote,
        "ok": not report.failed,
        "fetched": ref_values(report.fetched.refs),
        "joined": ref_values(report.joined.refs),
        "ahead": list(report.joined.ahead),
    }


def _show(env: Env, report: PullReport) -> None:
    name = safe(report.fetched.remote)
    moved = any(not ref.failed for ref in report.joined.refs)
    if moved:
        echo(f"pulled from {name}:")
    else:
        tell(f"nothing new at {name}")
    show_refs(env, report.joined.refs)
    show_refs(env, [ref for ref in report.fetched.refs if ref.outcome not in ("new", "updated")])
    show_ahead(report.joined.ahead)
