"""Git's pathspecs over any paths, whether they are files, were files or never were.

Git itself matches them, against a scratch index that names the paths; the user's own index is not known here.
"""

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from pogstore.errors import BadInput
from pogstore.store.gitcli import Git

_ANY_NAME = ("-c", "core.protectNTFS=false", "-c", "core.protectHFS=false")


def matching(git: Git, paths: Iterable[bytes], pathspecs: Sequence[str], cwd: Path | None = None) -> set[bytes]:
    """Returns those of some paths that pathspecs choose, as `git ls-files` would in a directory of the work tree.

    That is the root of the work tree if none is given.
    No pathspec chooses a path that no index may hold. Raises `BadInput` for a pathspec that git does not understand, or
    that leads out of the work tree, with git's reason.
    """
    rest = {path for path in paths if _may_be_named(path)}
    oid = git.text("hash-object", "--stdin").encode()
    found: set[bytes] = set()
    first = True
    while rest or first:  # no index holds a file and a directory of one name
        above = {folder for path in rest for folder in _folders(path)}
        found |= _listed(git, rest - above, pathspecs, oid, cwd)
        rest, first = rest & above, False
    return found


def _listed(git: Git, paths: Iterable[bytes], pathspecs: Sequence[str], oid: bytes, cwd: Path | None) -> set[bytes]:
    here = ("-C", str(cwd)) if cwd is not None else ()
    with tempfile.TemporaryDirectory(prefix="pog-") as scratch:
        place = {"GIT_INDEX_FILE": str(Path(scratch) / "index")}
        lines = b"".join(b"100644 %b\t%b\0" % (oid, path) for path in paths)
        git.run(*_ANY_NAME, "update-index", "-z", "--index-info", stdin=lines, env=place)
        listing = (*here, "ls-files", "-z", "--full-name", "--", *pathspecs)
        done = git.run(*listing, env=place, check=False)
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip().rpartition("\n")[2].removeprefix("fatal: ")
        raise BadInput(f"pathspec '{' '.join(pathspecs)}'", reason)
    return set(done.stdout.split(b"\0")[:-1])


def _folders(path: bytes) -> list[bytes]:
    parts = path.split(b"/")
    return [b"/".join(parts[:depth]) for depth in range(1, len(parts))]


def _may_be_named(path: bytes) -> bool:
    names = path.split(b"/")
    return not any(name in (b"", b".", b"..") or name.lower() == b".git" or b"\0" in name for name in names)
