"""The environment and the fixed options with which the `git` command runs, for both doors to it.

Stands on the path of commands that cannot afford `subprocess`, so it imports next to nothing.
"""

import os

TYPE_CHECKING = False  # what type checkers take it for; see `pogstore/__init__.py`

if TYPE_CHECKING:
    from collections.abc import Mapping

# What a hook or `git --git-dir=…` exports and a child of ours must not see (`git rev-parse --local-env-vars`).
LOCAL = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CEILING_DIRECTORIES", "GIT_COMMON_DIR", "GIT_CONFIG", "GIT_DIR",
    "GIT_GRAFT_FILE", "GIT_IMPLICIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_LITERAL_PATHSPECS",
    "GIT_NAMESPACE", "GIT_NO_REPLACE_OBJECTS", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_QUARANTINE_PATH",
    "GIT_REFLOG_ACTION", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE", "GIT_WORK_TREE",
)  # fmt: skip
PROTOCOLS = "file:git:http:https:ssh"
QUIET = ("-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "-c", "core.hooksPath=/dev/null")


def environment(extra: "Mapping[str, str] | None" = None) -> dict[str, str]:
    """Returns the environment of a child: ours without a hook's `GIT_*`, with stable output and no optional locks."""
    kept = {name: value for name, value in os.environ.items() if name not in LOCAL}
    kept |= {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C.UTF-8", "LANGUAGE": ""}
    kept.setdefault("GIT_ALLOW_PROTOCOL", PROTOCOLS)
    return kept | dict(extra or {})


def place(git_dir: str, work_tree: str | None) -> list[str]:
    """Returns the options that name a repository, so that it does not matter where the command is run."""
    return ["-C", work_tree or git_dir, f"--git-dir={git_dir}", *([f"--work-tree={work_tree}"] if work_tree else [])]
