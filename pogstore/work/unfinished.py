"""How an operation that writes files shows in a work tree while it goes on, and after it was killed.

For those who look meanwhile: what they see is neither the old state nor the new one. Lies on the path of every hook,
so it takes the standard library's lightest parts: see `spool.py`.
"""
# `pathlib` would cost a hook more than all it does
# ruff: noqa: PTH116

import os

TEMPORARY = ".pog-tmp-"
"""What the names of temporary files begin with; whoever lists a work tree leaves such files out."""
OPERATION = "operation"
"""The journal of an operation, in the work tree's own part of the git dir; empty while there is none."""


def is_temporary(path: bytes) -> bool:
    """Whether a path of a work tree is a temporary file of ours."""
    return path[path.rfind(b"/") + 1 :].startswith(TEMPORARY.encode())


def trace(git_dir: bytes) -> tuple[int, int]:
    """Returns size and time of the journal of a work tree; what is unfinished has a size.

    Twice the same, without a size, says that no operation wrote between the two.
    """
    try:
        found = os.stat(b"%b/pog/%b" % (git_dir, OPERATION.encode()), follow_symlinks=False)
    except OSError:
        return 0, 0
    return found.st_size, found.st_mtime_ns
