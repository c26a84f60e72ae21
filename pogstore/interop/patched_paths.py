"""Which files a patch in the form of `apply_patch` names (case PC-130). Pure.

Lies on the path of every hook: see `work/spool.py`.
"""

BEGIN, END = "*** Begin Patch", "*** End Patch"
ADD, UPDATE, DELETE, MOVE = "*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "
_FILES = (ADD, UPDATE, DELETE, MOVE)
_MARK = "*** "


def patched_paths(patch: str) -> list[str]:
    """Returns the files that a patch names, as it spells them, each once; nothing for a text that is none.

    Between its markers only lines that begin with them name a file: those of its hunks begin with a space, `+` or `-`.
    """
    if _MARK not in patch:
        return []
    found = [name for line in patch.split("\n") if line.startswith(_MARK) and (name := _named(line.rstrip()))]
    return list(dict.fromkeys(found))


def moves(patch: str) -> list[tuple[str, str]]:
    """Returns what a patch moves: each old path with its new one, as it spells them."""
    found: list[tuple[str, str]] = []
    old = ""
    for line in patch.split("\n") if MOVE in patch else ():
        if line.startswith(MOVE) and old:
            found.append((old, _named(line.rstrip())))
        elif line.startswith(_MARK):
            old = _named(line.rstrip()) if line.startswith(UPDATE) else ""
    return [(before, after) for before, after in found if after and before != after]


def _named(line: str) -> str:
    """Returns the path that a line of a marker names; nothing for any other line."""
    return next((line[len(mark) :].strip() for mark in _FILES if line.startswith(mark)), "")
