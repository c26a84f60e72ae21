"""Repositories that a process makes once and copies from then on: with git each would take four times as long."""

import atexit
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Hashable
from functools import cache
from pathlib import Path

_made: dict[Hashable, Path] = {}


def put(key: Hashable, path: Path, make: Callable[[Path], object]) -> None:
    """Puts at `path`, where nothing is yet, what `make` makes in an empty directory."""
    copy(template(key, make), path)
    if (path / ".git" / "index").exists():  # it tells of inodes, as git finds out
        subprocess.run(["git", "update-index", "-q", "--refresh"], cwd=path, check=True)


def template(key: Hashable, make: Callable[[Path], object]) -> Path:
    """Returns what `make` made in an empty directory; it is to be copied, not to be changed.

    It is made once for a key, and once more where git would see other variables or another configuration. What it
    leaves must not name the place in which it was made.
    """
    whole = (key, *_seen_by_git())
    if whole not in _made:
        folder = _folder() / str(len(_made))
        folder.mkdir()
        make(folder)
        _made[whole] = folder
    return _made[whole]


def enable(root: Path, by: str, init: Callable[[Path], object]) -> None:
    """Leaves in a repository what `git pog init` leaves there; `init` runs it once for each configuration it meets.

    `by` names in what it runs: libgit2 in this process sees no global configuration, a process of its own does.
    """
    git = root / ".git"

    def begin(folder: Path) -> None:
        copy(git, folder / ".git")
        init(folder)

    made = template(("init", by, (git / "config").read_bytes()), begin) / ".git"
    shutil.copy(made / "config", git / "config")
    copy(made / "pog", git / "pog")


@cache
def _folder() -> Path:
    folder = tempfile.mkdtemp(prefix="pogstore-templates-")
    atexit.register(shutil.rmtree, folder)
    return Path(folder)


def _seen_by_git() -> tuple[Hashable, ...]:
    config = os.environ.get("GIT_CONFIG_GLOBAL", "")
    text = Path(config).read_bytes() if Path(config).is_file() else b""
    given = {name: value for name, value in os.environ.items() if name.startswith("GIT_") and value != config}
    return (text, *sorted(given.items()))


def copy(source: Path, target: Path) -> None:
    """Copies what is in a directory; git's sample hooks, half of the files, are linked: nobody writes to them."""
    target.mkdir(parents=True, exist_ok=True)
    shutil.copymode(source, target)
    with os.scandir(source) as found:
        for each in found:
            place = target / each.name
            if each.is_dir(follow_symlinks=False):
                copy(Path(each.path), place)
            elif each.name.endswith(".sample"):
                place.hardlink_to(each.path)
            else:
                shutil.copy(each.path, place, follow_symlinks=False)
