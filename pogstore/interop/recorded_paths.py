"""Paths as an agent spelled them on some machine, placed in a repository by text alone.

Knows no disk: the recording machine may have been another one, with another operating system. What cannot be placed
with certainty is outside, and an outside path is never spelled.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

_DRIVE = re.compile(r"[A-Za-z]:")
_VERBATIM = ("\\\\?\\UNC\\", "\\\\?\\", "\\\\.\\", "//?/UNC/", "//?/", "//./")
_HOMES = ("home", "users")
_MAC_LINKS = ("tmp", "var", "etc")
_WORKTREES = (".claude", "worktrees")
"""Where Claude Code keeps the work trees it makes for itself, below the main one."""

_SHALLOW = 2
"""How many components a directory must exceed to be taken for a root though the session did not start in it."""

Parts: TypeAlias = tuple[str, ...]


class Place(NamedTuple):
    """Where a recorded path lies: `relative` to the root it is under, or outside of all (`None`), with the `fault`.

    `whole` tells files apart across roots.
    """

    whole: Parts
    relative: str | None
    fault: str | None = None


def parts_of(path: str, cwd: str = "") -> Parts:
    r"""Returns the components of a path from its root on, alike for every spelling; a relative one continues `cwd`.

    The root is `/`, a drive letter such as `c:`, or the `//` of a server. Windows writes `C:\x`, `c:/x`, `/c:/x` and
    `\\?\C:\x` for one file; a backslash elsewhere is a part of a name.
    """
    root, rest = _rooted(path)
    if not root:
        if not cwd:
            return tuple(_names(path))
        base = parts_of(cwd)
        return (*base, *_names(path.replace("\\", "/") if base[:1] not in ((), ("/",)) else path))
    names = _names(rest)
    if root == "/" and names[:1] == ["private"] and names[1:2] and names[1] in _MAC_LINKS:
        names = names[1:]  # macOS: /tmp is a link to /private/tmp, and both are written
    return (root, *names)


def _rooted(path: str) -> tuple[str, str]:
    """Splits the root off a path; it is empty for a relative one."""
    for verbatim in _VERBATIM:
        if path.startswith(verbatim):
            rest = path.removeprefix(verbatim).replace("\\", "/")
            return ("//", rest) if "UNC" in verbatim else _rooted(rest)
    bare = path.removeprefix("/")
    if _DRIVE.match(bare) and bare[2:3] in ("", "/", "\\"):
        return bare[:2].lower(), bare[2:].replace("\\", "/")
    if path.startswith("\\\\"):
        return "//", path.replace("\\", "/")
    return ("/", path) if path.startswith("/") else ("", path)


def _names(path: str) -> list[str]:
    return [name for name in path.split("/") if name not in ("", ".")]


def own_root(cwds: Sequence[str]) -> Parts | None:
    """Returns the root of a session from the directories it worked in, the first one first, or `None` without any.

    It is the first directory, or the topmost one seen that holds it: a session may start in a sub-directory. A home
    directory, or anything above one, is never a root: half the machine would be inside.
    """
    if not cwds:
        return None
    seen = [parts_of(cwd) for cwd in cwds]
    above = [parts for parts in seen if holds(parts, seen[0]) and (len(parts) > _SHALLOW or parts == seen[0])]
    return min((parts for parts in above if not _is_home_or_above(parts)), key=len, default=None)


def _is_home_or_above(parts: Parts) -> bool:
    return len(parts) <= 1 or parts == ("/", "root") or (len(parts) <= 3 and parts[1].lower() in _HOMES)


def holds(root: Parts, parts: Parts) -> bool:
    """Whether a path lies at or below a root; drives and servers do not tell case apart."""
    head = parts[: len(root)]
    if root[:1] == ("/",):
        return head == root
    return [name.casefold() for name in head] == [name.casefold() for name in root]


def place(path: str, cwd: str, roots: Iterable[Parts]) -> Place:
    """Returns where a path lies below the deepest of the roots that hold it."""
    return placed(parts_of(path, cwd), roots)


def placed(whole: Parts, roots: Iterable[Parts]) -> Place:
    """Returns the same for a path whose components are known."""
    root = max((root for root in roots if holds(root, whole)), key=len, default=None)
    if root is None:
        return Place(whole, None)
    inside = whole[len(root) :]
    if inside[:2] == _WORKTREES and len(inside) > 3:
        inside = inside[3:]
    if fault := _fault(inside):
        return Place(whole, None, fault)
    return Place(whole, "/".join(inside))


def _fault(inside: Parts) -> str | None:
    if not inside:
        return "it is the root itself"
    if ".." in inside:
        return "it has '..' for a component"
    if any(name.casefold() == ".git" for name in inside):
        return "it lies in git's own directory"
    if any("\0" in name for name in inside):
        return "it holds a NUL"
    return None
