"""Which files a patch in the form of `apply_patch` names (case PC-130). Pure.

Lies on the path of every hook: see `work/spool.py`.
"""

BEGIN, END = "*** Begin Patch", "*** End Patch"
ADD, UPDATE, DELETE, MOVE = "*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "
_FILES = (ADD, UPDATE, DELETE, MOVE)
_MARK = "*** "


def patched_paths(patch: str) -> list[str]:
    """Returns the files that a patch names, as it spells them, each once; nothing for a text that is none."""
    return list(dict.fromkeys(name for _, name in _markers(patch)))


def moves(patch: str) -> list[tuple[str, str]]:
    """Returns what a patch moves: each old path with its new one, as it spells them."""
    found: list[tuple[str, str]] = []
    old = ""
    for mark, name in _markers(patch) if MOVE in patch else ():
        if mark == MOVE and old and old != name:
            found.append((old, name))
        old = name if mark == UPDATE else ""
    return found


def _markers(patch: str) -> list[tuple[str, str]]:
    """Returns the markers of a patch with the paths that they name.

    Within the hunks of an update a line that begins with a space, `+` or `-` is text of the file; elsewhere the tool
    takes a marker also behind white space, so that we must see it there too.
    """
    found: list[tuple[str, str]] = []
    in_update = False
    for line in patch.split("\n") if _MARK in patch else ():
        mark, name = _named(line.rstrip() if in_update else line.strip())
        if name:
            in_update = mark in (UPDATE, MOVE)
            found.append((mark, name))
    return found


def _named(line: str) -> tuple[str, str]:
    """Returns the marker that a line begins with, and the path behind it; nothing for any other line."""
    mark = next((mark for mark in _FILES if line.startswith(mark)), "")
    return mark, line[len(mark) :].strip() if mark else ""
