"""Which files a patch in the form of `apply_patch` names (case PC-130). Pure.

Lies on the path of every hook: see `work/spool.py`.
"""

BEGIN, END = "*** Begin Patch", "*** End Patch"
ADD, UPDATE, DELETE, MOVE = "*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "
_FILES = (ADD, UPDATE, DELETE, MOVE)
_MARK = "*** "


def patched_paths(patch: str) -> list[str]:
    """Returns the files that a patch names, as it spells them, each once; nothing for a text that is none.

    Within the hunks of an update a line that begins with a space, `+` or `-` is text of the file; elsewhere the tool
    takes a marker also behind white space, so that we must see it there too.
    """
    found: dict[str, None] = {}
    in_update = False
    for line in patch.split("\n") if _MARK in patch else ():
        mark, name = _named(line.rstrip() if in_update else line.strip())
        if name:
            in_update = mark in (UPDATE, MOVE)
            found[name] = None
    return list(found)


def _named(line: str) -> tuple[str, str]:
    """Returns the marker that a line begins with, and the path behind it; nothing for any other line."""
    mark = next((mark for mark in _FILES if line.startswith(mark)), "")
    return mark, line[len(mark) :].strip() if mark else ""
