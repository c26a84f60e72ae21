"""A work tree that is made anew in a temporary directory, to run a command in, far from the user's own.

It is checked out by git itself, from the objects of the repository, with an index and a git directory that lie beside
it; the user's index, work trees and configuration have no part in it. So that the command finds a repository too, the
tree has one of its own, on the same commit.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from pogstore.errors import BadInput
from pogstore.model import Oid
from pogstore.store.gitcli import Git
from pogstore.store.store import Store
from pogstore.work.begun import Begun

_SAFE = ("-c", "core.protectHFS=true", "-c", "core.protectNTFS=true")
_QUIET = {"GIT_LFS_SKIP_SMUDGE": "1"}
_SETTINGS = ("core.autocrlf", "core.eol", "core.filemode", "core.ignorecase", "core.symlinks")
_INFO = ("attributes", "exclude")


class FreshTree(NamedTuple):
    """A work tree, git's view of it as it was at first, and the paths that could not be made as they were."""

    root: Path
    git: Git
    lacking: tuple[bytes, ...]

    def changed(self) -> set[bytes]:
        """Returns the paths that are not as they were at first, but for what git ignores."""
        told = self.git.run("diff-files", "--name-only", "-z", "--ignore-submodules").stdout
        new = self.git.run("ls-files", "--others", "--exclude-standard", "-z").stdout
        return {path for path in (told + new).split(b"\0") if path}

    def oid(self, path: str, data: bytes) -> str:
        """Returns the blob that git would make of a file of this tree."""
        return self.git.run("hash-object", "--stdin", f"--path={path}", stdin=data).stdout.decode().strip()


@contextmanager
def fresh_tree(store: Store, begun: Begun) -> Iterator[FreshTree]:
    """Makes a work tree as one was, gives it, and removes it with all that is in it.

    Raises `GitFailed` where the commit is not here, `BadInput` where temporary files lie in the user's own work tree.
    """
    top = scratch(store, "pog-exec-")
    try:
        yield _made(store, begun, top)
    finally:
        _make_writable(top)
        shutil.rmtree(top, ignore_errors=True)


def scratch(store: Store, prefix: str) -> Path:
    """Makes an empty directory for temporary files, outside of the repository; raises `BadInput` if there is none."""
    place = Path(os.path.realpath(tempfile.gettempdir()))
    refuse_inside(store, place, "the directory for temporary files")
    return Path(tempfile.mkdtemp(prefix=prefix, dir=place))


def refuse_inside(store: Store, place: Path, what: str) -> None:
    """Raises `BadInput` for a directory in the user's work tree, or in a git directory of the repository."""
    own = (store.layout.work_tree, store.layout.git_dir, store.layout.common_dir)
    if any(root is not None and place.is_relative_to(root) for root in own):
        raise BadInput(what, f"'{place}' is inside the repository", "name another one; TMPDIR says where they lie")


def _made(store: Store, begun: Begun, top: Path) -> FreshTree:
    root = top / "tree"
    root.mkdir()
    git = Git(top / "git", root)
    _repository(store, git, begun)
    shutil.copytree(git.git_dir, root / ".git")
    lacking = [*begun.unknown, *(path for path, file in begun.files.items() if file and not _is_here(store, file.oid))]
    gone = b"".join(b"0 %s\t%s\0" % (b"0" * 40, path) for path in begun.files)
    files = (
        b"%s %s\t%s\0" % (file.mode.encode(), file.oid.encode(), path)
        for path, file in begun.files.items()
        if file is not None and path not in lacking
    )
    if begun.files:
        git.run(*_SAFE, "update-index", "-z", "--add", "--replace", "--index-info", stdin=gone + b"".join(files))
    git.run(*_SAFE, "checkout-index", "--all", "--force", "--quiet", "-u", env=_QUIET)
    return FreshTree(root, git, tuple(lacking))


def _is_here(store: Store, oid: Oid) -> bool:
    return store.objects.exists(oid)


def _repository(store: Store, git: Git, begun: Begun) -> None:
    """Makes a repository that borrows all objects of the user's, on the same commit and with its index."""
    git.run("init", "--quiet", "--template=", f"--object-format={store.layout.object_format}")
    (git.git_dir / "objects" / "info").mkdir(exist_ok=True)
    (git.git_dir / "objects" / "info" / "alternates").write_bytes(os.fsencode(store.layout.objects) + b"\n")
    (git.git_dir / "info").mkdir(exist_ok=True)
    for name in _INFO:
        _copy(store.layout.common_dir / "info" / name, git.git_dir / "info" / name)
    settings = store.git.settings()
    for name in _SETTINGS:
        if name in settings:
            git.run("config", name, settings[name][-1])
    if begun.commit is not None:
        git.run("update-ref", "--no-deref", "HEAD", begun.commit)
        git.run("read-tree", "HEAD")


def _copy(source: Path, target: Path) -> None:
    try:
        target.write_bytes(source.read_bytes())
    except OSError:
        return


def _make_writable(top: Path) -> None:
    """Lets a tree be removed of which a command has taken away the leave to write."""
    for folder, folders, _ in os.walk(top):
        for name in folders:
            path = Path(folder, name)
            if not path.is_symlink():
                path.chmod(0o700)
