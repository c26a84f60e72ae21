"""What a call committed itself: the commits made between two looks, and what they have first. Knows no agents.

HEAD's log tells what was made in a work tree and what git brought there. Where none is kept, the times of the commits
do: what was written and committed while the call ran is its own.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from pogstore.errors import NotFound, ObjectDamaged
from pogstore.model import Oid
from pogstore.store.contract import Objects
from pogstore.store.gitcli import Git
from pogstore.store.layout import Layout
from pogstore.work.entries import LITERAL, Entry
from pogstore.work.movements import Movement, Span, movements

MOST = 100
"""Commits of one call that are gone through."""
_LIMIT = 1 << 24
_AMENDED = b"commit (amend)"
_MIXED = (b"commit (cherry-pick)", b"rebase (continue)", b"rebase (squash)", b"rebase (fixup)")
"""What has an older commit's work in it, and perhaps what was written to make it fit."""
_TIMES = re.compile(rb"^(author|committer) .*> (\d{1,15}) [+-]\d{4}$", re.MULTILINE)


class Written(NamedTuple):
    """What commits of a call made of one path: what was there before them, and what the last one has."""

    before: Entry | None
    after: Entry | None


class Made(NamedTuple):
    """What a call committed, by its paths, in which commits; and whether that is all of it, as far as can be told."""

    paths: Mapping[bytes, Written] = {}
    commits: frozenset[str] = frozenset()
    is_all: bool = True


class _Commit(NamedTuple):
    """A commit, and what it is compared with: its parents, or the commit that it took the place of."""

    oid: str
    over: tuple[str, ...]


def made(
    git: Git,
    objects: Objects,
    layout: Layout,
    span: Span,
    known: frozenset[str],
    was_held: Callable[[bytes, Entry], bool],
) -> Made:
    """Returns what was committed in a span; `known` are commits that were told of before.

    What `was_held` says to have been there before is left out. No process is started where nothing was committed, and
    history is gone through only for what is left.
    """
    lines, is_certain = movements(layout, span)
    if lines:
        commits, is_all = _by_log(objects, lines, span)
        is_all = is_all and is_certain
    elif not is_certain:
        return Made(is_all=False)
    elif span.new and span.old != span.new:
        commits, is_all = _by_times(git, objects, span)
    else:
        return Made()
    commits = [each for each in commits if each.oid not in known]
    if len(commits) > MOST:
        return Made(is_all=False)
    found = _differing(git, commits)
    if found is None:
        return Made(is_all=False)
    oids = frozenset(each.oid for each in commits)
    found = {path: each for path, each in found.items() if each.after is None or not was_held(path, each.after)}
    old = _older(git, {path: each for path, each in found.items() if each.after is not None}, oids, span)
    return Made({path: each for path, each in found.items() if path not in old}, oids, is_all)


def _by_log(objects: Objects, lines: Iterable[Movement], span: Span) -> tuple[list[_Commit], bool]:
    """Returns the commits that a log says were made, the first of them first, and whether all is told."""
    found: dict[str, _Commit] = {}
    is_all = True
    for line in lines:
        is_all = is_all and not line.why.startswith(_MIXED)
        if line.why.startswith(_MIXED) or not (line.why.startswith(b"commit") or not line.why):
            continue
        read = _read(objects, line.new)
        if read is None:
            is_all = False
        elif line.why.startswith(_AMENDED):
            found[line.new] = _Commit(line.new, (line.old,))
        elif line.why or span.since <= min(read[1:]) <= max(read[1:]) <= span.until:
            found[line.new] = _Commit(line.new, read[0])
    return list(found.values()), is_all


def _by_times(git: Git, objects: Objects, span: Span) -> tuple[list[_Commit], bool]:
    """Returns the new commits that were written and committed in a span, and whether there may be more.

    One that was only committed in it is of others, unless it took the place of the one before.
    """
    tips = (span.new, f"^{span.old}") if span.old else (span.new,)
    done = git.run("rev-list", "--reverse", "--topo-order", f"--max-count={MOST + 1}", *tips, "--", check=False)
    found: list[_Commit] = []
    is_all = True
    old = _read(objects, span.old) if span.old else None
    for oid in done.stdout.decode("ascii", "replace").split():
        read = _read(objects, oid)
        if read is None or not span.since <= read[2] <= span.until:
            is_all = is_all and read is not None
        elif old is not None and read[:2] == old[:2]:
            found.append(_Commit(oid, (span.old,)))
        elif len(read[0]) < 2 and span.since <= read[1] <= span.until:
            found.append(_Commit(oid, read[0]))
        else:
            is_all = is_all and len(read[0]) > 1
    return found, is_all


def _read(objects: Objects, oid: str) -> tuple[tuple[str, ...], int, int] | None:
    """Returns the parents of a commit, when it was written and when it was committed."""
    try:
        _, data = objects.read(Oid(oid), _LIMIT)
    except (NotFound, ObjectDamaged):
        return None
    head = data.partition(b"\n\n")[0]
    times = {match[1]: int(match[2]) for match in _TIMES.finditer(head)}
    parents = tuple(line[7:].decode("ascii", "replace") for line in head.split(b"\n") if line.startswith(b"parent "))
    return parents, times.get(b"author", 0), times.get(b"committer", 0)


def _differing(git: Git, commits: Iterable[_Commit]) -> dict[bytes, Written] | None:
    """Returns what commits made of paths; of a merge, where it is as none of its parents. `None` if git fails."""
    stdin = "".join(" ".join((each.oid, *each.over)) + "\n" for each in commits).encode()
    if not stdin:
        return {}
    options = ("-r", "-c", "-z", "--raw", "--root", "--no-abbrev", "--no-renames", "--no-commit-id", "--stdin")
    done = git.run("diff-tree", *options, stdin=stdin, check=False)
    if done.returncode:
        return None
    found: dict[bytes, Written] = {}
    fields = iter(done.stdout.split(b"\0"))
    for field in fields:
        if field.startswith(b":"):
            path = next(fields)
            before, after = _sides(field)
            found[path] = Written(found[path].before if path in found else before, after)
    return {path: each for path, each in found.items() if each.before != each.after}


def _sides(field: bytes) -> tuple[Entry | None, Entry | None]:
    """Returns what the first of the parents has, and the commit itself."""
    count = len(field) - len(field.lstrip(b":"))
    words = field.lstrip(b":").decode("ascii", "replace").split(" ")
    return _entry(words[0], words[count + 1]), _entry(words[count], words[2 * count + 1])


def _entry(mode: str, oid: str) -> Entry | None:
    return (mode, Oid(oid)) if mode.strip("0") else None


def _older(git: Git, found: Mapping[bytes, Written], own: frozenset[str], span: Span) -> set[bytes]:
    """Returns the paths of which a commit that was written before has what is said to be new; one process."""
    if not found:
        return set()
    plain = [path for path in found if b"\n" not in path]
    odd = [path.decode("utf-8", "surrogateescape") for path in found if b"\n" in path]
    form = ("--format=%H %at", "--raw", "-z", "--no-abbrev", "--no-renames", "--ignore-missing", "--stdin")
    tips = ("--branches", "--remotes", "HEAD", *((span.old,) if span.old else ()))
    stdin = b"".join(path + b"\n" for path in (b"--", *plain))
    done = git.run("log", *form, *tips, "--", *odd, stdin=stdin, check=False, env=LITERAL)
    fields = iter(done.stdout.split(b"\0"))
    older: set[bytes] = set()
    counts = False
    for field in map(bytes.strip, fields):
        if not field.startswith(b":"):
            oid, _, time = field.decode("ascii", "replace").partition(" ")
            counts = (oid not in own and time.isdigit() and int(time) < span.since) if time else counts
            continue
        path = next(fields)
        _, after = _sides(field)
        if counts and after is not None and path in found and found[path].after == after:
            older.add(path)
    return older
