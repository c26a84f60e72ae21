"""Exchanges refs with another repository, by the `git` command alone.

Whatever git can reach is a remote. Every ref is named in full and by itself, never by a glob. A fetch writes our
tracking refs and nothing of the user's: no branch, no `FETCH_HEAD`, no tag. A push never forces, and carries no tag and
no submodule. The user's hooks do not run: a `pre-push` is about code. Knows names of refs; nothing of tasks.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from pogstore import digest
from pogstore.errors import BadInput, GitFailed, NotFound, RemoteFailed
from pogstore.model import Oid
from pogstore.store import gitcli
from pogstore.store.contract import Refs
from pogstore.store.gitcli import Git
from pogstore.store.refs import TRACKING, tracking_prefix, tracking_ref

Settings = Mapping[str, list[str]]

REFS_AT_ONCE = 1000
"""So many refspecs in one command line: 100 bytes each stay far below any system's limit."""
MOST_CALLS = 64
"""So many calls at most to find the refs that spoil a fetch for the others."""
_LONGEST_NAME = 120
_SCP = re.compile(r"[^/\\:\s]+:(?!:)\S")
_USER = re.compile(r"\b([a-z][a-z0-9+.-]*://)[^/@\s]*@", re.IGNORECASE)
_LISTED = re.compile(r"([0-9a-f]{40}|[0-9a-f]{64})\t(refs/\S+)")
_LOST_RACE = ("fetch first", "non-fast-forward", "stale info", "failed to update ref", "incorrect old value",
              "reference already exists", "failed to lock", "cannot lock")  # fmt: skip


class Remote(NamedTuple):
    """Another repository: what people call it, and what git is told."""

    name: str
    at: str
    configured: bool
    private: bool = False
    """Whether somebody has chosen that private contents go there: `remote.<name>.pogPrivate`."""

    @property
    def tracked_as(self) -> str:
        """The name under which its refs are remembered; a long address is cut and made unique by its hash."""
        if len(tracking_prefix(self.name)) <= _LONGEST_NAME:
            return self.name
        return f"{self.name[:16]}-{digest.hexdigest(self.name.encode())[:16]}"


class Sent(NamedTuple):
    """What became of one ref in a push."""

    done: bool
    reason: str

    @property
    def lost_race(self) -> bool:
        """Whether somebody else moved or held the ref at the same time, so that trying again makes sense."""
        return not self.done and any(words in self.reason for words in _LOST_RACE)


def choose_remote(git: Git, names: Sequence[str], *, push: bool = False) -> tuple[Remote, Sequence[str]]:
    """Returns the remote that the first of some names means, and the other names.

    If the first means none, they all are others and it is the default remote: that of the current branch's upstream,
    else `origin`, else the only one. Raises `NotFound` or `BadInput`.
    """
    settings = git.settings()
    if names and is_remote(settings, names[0]):
        return find_remote(settings, names[0], push=push), names[1:]
    return find_remote(settings, default_remote(git, settings), push=push), names


def find_remote(settings: Settings, given: str, *, push: bool = False) -> Remote:
    """Returns the remote that a person means: the name of a configured one, a URL or a path; raises `NotFound`.

    For a push it is where the remote's pushes go. Raises `BadInput` for what must never reach a command line.
    """
    if given.startswith("-") or not given or re.search(r"[\x00-\x1f\x7f]", given):
        raise BadInput(f"remote '{given}'", "is not the name of a remote")
    if is_configured(settings, given):
        return _configured(settings, given, push=push)
    if not is_location(given):
        raise NotFound("remote", given, "'git remote -v' lists them")
    for name in remote_names(settings):
        if settings[f"remote.{name}.url"] == [given]:
            return _configured(settings, name, push=push)
    at = str(Path(given).absolute()) if _is_path(given) else given  # git will run in another directory
    return Remote(without_user(given), at, configured=False)


def default_remote(git: Git, settings: Settings) -> str:
    """Returns the remote of the current branch's upstream, else `origin`, else the only one; raises `NotFound`."""
    branch = git.text("symbolic-ref", "--quiet", "--short", "HEAD", check=False)
    upstream = settings.get(f"branch.{branch}.remote", ["."])[-1]
    if upstream != ".":
        return upstream
    names = remote_names(settings)
    if "origin" in names or len(names) == 1:
        return "origin" if "origin" in names else names[0]
    hint = "name one of " + ", ".join(names) if names else "add one with 'git remote add origin URL'"
    raise NotFound("remote", "origin", hint)


def remote_names(settings: Settings) -> list[str]:
    """Returns the names of all configured remotes."""
    return sorted(key[7:-4] for key in settings if key.startswith("remote.") and key.endswith(".url") and len(key) > 11)


def is_remote(settings: Settings, given: str) -> bool:
    """Says whether a text is meant for a remote: a configured name, a location, or what can only be a mistake."""
    return given.startswith("-") or is_configured(settings, given) or is_location(given)


def is_configured(settings: Settings, name: str) -> bool:
    """Says whether a remote of that name is configured."""
    return f"remote.{name}.url" in settings


def is_location(given: str) -> bool:
    """Says whether a text is a URL, an existing path or ssh's `host:path`; never a remote helper's `name::address`."""
    return "::" not in given and ("://" in given or _is_path(given) or _SCP.match(given) is not None)


def without_user(text: str) -> str:
    """Returns a text whose URLs show no user and no password."""
    return _USER.sub(r"\1", text)


def addresses(git: Git, remote: Remote) -> list[str]:
    """Returns where a push to a remote goes, as git rewrites it, without user and password."""
    if remote.configured:
        return without_user(git.text("remote", "get-url", "--push", "--all", "--", remote.at)).split("\n")
    return [without_user(git.text("ls-remote", "--get-url", "--", remote.at))]


def list_refs(git: Git, remote: Remote, names: Sequence[str]) -> dict[str, Oid]:
    """Returns what a remote's refs point at, for names that may end in `*`; raises `RemoteFailed`."""
    try:
        listed = git.text("ls-remote", "--refs", "--", remote.at, *names)
    except GitFailed as fault:
        raise RemoteFailed(remote.name, _reason(fault)) from fault
    found = {match[2]: Oid(match[1]) for line in listed.split("\n") if (match := _LISTED.fullmatch(line))}
    return {ref: oid for ref, oid in found.items() if any(_fits(ref, name) for name in names)}


def fetch_refs(git: Git, remote: Remote, refs: Iterable[str], *, progress: bool = False) -> dict[str, str]:
    """Fetches refs into their tracking refs; returns those that did not come, each with the reason.

    One bad object spoils a whole fetch, so a failed one is tried again in halves. Raises `RemoteFailed` if the remote
    cannot be reached at all.
    """
    failed: dict[str, str] = {}
    pending = list(_parts(sorted(refs)))
    calls = 0
    while pending:
        part = pending.pop()
        calls += 1
        try:
            _fetch(git, remote, part, progress=progress)
        except GitFailed as fault:
            if not failed and calls == 1:
                list_refs(git, remote, part[:1])
            if len(part) == 1 or calls >= MOST_CALLS:
                failed |= dict.fromkeys(part, _reason(fault))
            else:
                pending += [part[len(part) // 2 :], part[: len(part) // 2]]
    return failed


def push_refs(git: Git, remote: Remote, wanted: Mapping[str, Oid], *, progress: bool = False) -> dict[str, Sent]:
    """Moves refs of a remote forward, and says of each what became of it; those named first go first."""
    sent: dict[str, Sent] = {}
    for part in _parts(list(wanted)):
        sent |= _push(git, remote, {ref: wanted[ref] for ref in part}, progress=progress)
    return sent


def seen_at(refs: Refs, ref: str) -> list[str]:
    """Returns the remotes at which one of our refs was last seen, sorted."""
    end = f"/{ref.removeprefix('refs/pog/')}"
    found = [name for name in refs.list(TRACKING) if name.endswith(end)]
    return sorted(unquote(name.removeprefix(TRACKING).removesuffix(end)) for name in found)


def remember(git: Git, moves: Mapping[str, tuple[Oid | None, Oid]]) -> None:
    """Moves tracking refs from an old oid (absent: there is none) to a new one; if any has moved meanwhile, none."""
    zero = "0" * 40
    lines = [f"update {ref} {new} {old or zero}\n" for ref, (old, new) in sorted(moves.items())]
    if lines:
        git.run("update-ref", "--stdin", stdin="".join(lines).encode(), check=False)


def fetch_options(version: tuple[int, int], *, progress: bool) -> list[str]:
    """Returns the options of `git fetch` that leave everything but the named refs alone, as a version spells them."""
    options = ["--refmap=", "--no-tags", "--no-prune", "--no-filter", "--recurse-submodules=no", "--quiet"]
    options += ["--progress"] if progress else []
    if version < (2, 29):  # these still write FETCH_HEAD
        return [*options, "--no-auto-gc"]
    return [*options, "--no-write-fetch-head", "--no-auto-maintenance", "--no-write-commit-graph", "--stdin"]


def _is_path(given: str) -> bool:
    """Says whether a text is a path as one writes it; a word that happens to name a directory is none."""
    return ("/" in given or given.endswith((".git", ".bundle"))) and Path(given).exists()


def _configured(settings: Settings, name: str, *, push: bool) -> Remote:
    urls = settings.get(f"remote.{name}.pushurl", [])
    private = settings.get(f"remote.{name}.pogprivate", ["false"])[-1].lower() in ("true", "yes", "on", "1")
    if not push or not urls or urls == settings[f"remote.{name}.url"]:
        return Remote(name, name, configured=True, private=private)
    if len(urls) > 1:
        raise BadInput(f"remote '{name}'", "pushes to several places", "name one of them by its URL")
    return Remote(without_user(urls[0]), urls[0], configured=False, private=private)


def _fits(ref: str, name: str) -> bool:
    return ref.startswith(name[:-1]) if name.endswith("*") else ref == name


def _parts(refs: Sequence[str]) -> Iterator[list[str]]:
    return (list(refs[at : at + REFS_AT_ONCE]) for at in range(0, len(refs), REFS_AT_ONCE))


def _fetch(git: Git, remote: Remote, refs: Sequence[str], *, progress: bool) -> None:
    specs = [f"+{ref}:{tracking_ref(remote.tracked_as, ref)}" for ref in refs]
    options = fetch_options(gitcli.version(), progress=progress)
    arguments = ["-c", "fetch.fsckObjects=true", "fetch", *options, "--", remote.at]
    if "--stdin" in options:
        git.run(*arguments, stdin="".join(f"{spec}\n" for spec in specs).encode(), progress=progress)
    else:
        git.run(*arguments, *specs, progress=progress)


def _push(git: Git, remote: Remote, wanted: Mapping[str, Oid], *, progress: bool) -> dict[str, Sent]:
    # A mirror forces every ref, and git refuses refspecs for it; these go by themselves, and none is forced.
    no_mirror = ["-c", f"remote.{remote.at}.mirror=false"] if remote.configured and "=" not in remote.at else []
    options = ["--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no"]
    specs = [f"{oid}:{ref}" for ref, oid in wanted.items()]
    done = git.run(*no_mirror, "push", *options, "--", remote.at, *specs, check=False, progress=progress)
    said = dict(_statuses(done.stdout.decode("utf-8", "replace")))
    silent = "git push failed"
    if done.returncode and not said:
        silent = _reason(GitFailed("push", done.returncode, (done.stderr or b"").decode("utf-8", "replace")))
    return {ref: said.get(ref, Sent(done=False, reason=silent)) for ref in wanted}


def _statuses(porcelain: str) -> Iterator[tuple[str, Sent]]:
    for line in porcelain.split("\n"):
        flag, tab, rest = line.partition("\t")
        spec, again, summary = rest.partition("\t")
        if tab and again and len(flag) == 1:
            yield spec.rpartition(":")[2], Sent(flag in " *=", summary.strip())


def _reason(fault: GitFailed) -> str:
    """Returns what git complained of first; without user and password, should an address hold them."""
    lines = [line.strip() for line in fault.stderr.splitlines()]
    telling = [line for line in lines if line and not line.lower().startswith(("warning:", "hint:", "from ", "to "))]
    if not telling:
        return f"git ended with status {fault.status}"
    return without_user(telling[0].removeprefix("fatal: ").removeprefix("error: "))
