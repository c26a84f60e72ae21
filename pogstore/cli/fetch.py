"""`git pog fetch`: what a remote has, without touching ours."""

from pogstore import sync
from pogstore.cli._context import Env, pass_env
from pogstore.cli._exchange import EXITS, chosen, exchange_arguments, ref_values, show_refs, shows_progress
from pogstore.cli._options import json_option, pog_command
from pogstore.cli._render import echo, echo_json, safe, tell


@pog_command("fetch", EXITS)
@exchange_arguments
@json_option
@pass_env
def command(env: Env, names: tuple[str, ...], private: bool, as_json: bool) -> int:
    """Fetch tasks from a remote: all that is new there, or the tasks named.

    It lands in refs/pog-remotes; git pog pull also joins it to yours. REMOTE is a name, a URL or a path; by default it
    is the remote of this branch, else origin.
    """
    remote, tasks = chosen(env, names)
    report = sync.fetch(env.store, remote, tasks, private=private, progress=shows_progress(as_json))
    if as_json:
        echo_json({"remote": report.remote, "ok": not report.failed, "refs": ref_values(report.refs)})
        return int(report.failed)
    name = safe(report.remote)
    fetched = any(ref.outcome in ("new", "updated") for ref in report.refs)
    if fetched:
        echo(f"fetched from {name}:")
    else:
        tell(f"nothing new at {name}")
    show_refs(env, report.refs)
    return int(report.failed)
