"""Where a repository's parts lie: its git dir, the dir shared by its work trees, its work tree, and our own files.

Asks git itself, so that `GIT_DIR`, linked work trees, `safe.directory` and bare repositories mean what they mean to
git. Knows nothing of events.
"""

import os
from pathlib import Path
from typing import NamedTuple

from pogstore.errors import NotARepository, UnsupportedRepository
from pogstore.store import gitcli

_OWN = "pog"
_ANSWERS = 5
"""So many lines git prints of a repository without a work tree."""


class Layout(NamedTuple):
    """The places of one repository, all absolute."""

    git_dir: Path
    common_dir: Path
    work_tree: Path | None
    object_format: str

    @property
    def objects(self) -> Path:
        """The object database that all work trees share."""
        return self.common_dir / "objects"

    @property
    def own(self) -> Path:
        """Our files that all work trees share: lock, clock, index."""
        return self.common_dir / _OWN

    @property
    def own_here(self) -> Path:
        """Our files of this work tree alone: its id, its active task."""
        return self.git_dir / _OWN


def discover(path: Path, env: dict[str, str] | None = None) -> Layout:
    """Returns the layout of the repository that holds a path.

    `env` is what the user's own git would see; by default it is our own environment without a hook's `GIT_*`.
    Raises `NotARepository` with git's own reason (an unsafe owner included) and `UnsupportedRepository`.
    """
    seen = gitcli.environment() if env is None else env
    status, output, fault = gitcli.ask_places(path, seen)
    if status and not output:
        raise NotARepository(str(path), _reason(fault))
    answers = output.removesuffix("\n").split("\n")
    if len(answers) != _ANSWERS + (status == 0):
        raise UnsupportedRepository(str(path), "a line feed in the name of a directory")
    git_dir, common_dir, bare, in_git_dir, object_format, *top = answers
    if bare == "false" and (in_git_dir == "true" or not top):
        raise NotARepository(str(path), "this is inside a git directory; run it in the work tree")
    place = Path(os.path.realpath(path))
    layout = Layout(
        Path(os.path.realpath(place / git_dir)),
        Path(os.path.realpath(place / common_dir)),
        Path(os.path.realpath(top[0])) if top and bare == "false" else None,
        object_format,
    )
    _check_supported(layout)
    return layout


def _reason(fault: str) -> str | None:
    """Git's complaint where it says more than that there is no repository (`safe.directory`, for one)."""
    lines = [line.removeprefix("fatal: ") for line in fault.splitlines() if line.strip()]
    if not lines or lines[0].startswith("not a git repository"):
        return None
    return " ".join(line.strip() for line in lines)


def _check_supported(layout: Layout) -> None:
    if layout.object_format != "sha1":
        raise UnsupportedRepository(str(layout.common_dir), f"object format {layout.object_format}")
    if (layout.common_dir / "reftable").is_dir():
        raise UnsupportedRepository(str(layout.common_dir), "the reftable format")
    for own in (layout.own, layout.own_here):
        if own.is_symlink():
            raise UnsupportedRepository(str(own), "a symbolic link in the place of our own directory")
