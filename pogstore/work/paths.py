"""Which paths may be written: one validator, with the protections of every file system on everywhere.

A repository that was recorded on one system is restored on another. So a name is refused here if any file system could
read it as something else: as a way out of the work tree, as git's own directory, or as a device.
Imports nothing but the errors.
"""

import re
import unicodedata

from pogstore.errors import UnsafePath

LONGEST_NAME = 255
"""The most bytes of one name on every file system in common use."""

_PORTS = (f"{port}{digit}" for port in ("com", "lpt") for digit in range(1, 10))
_DEVICES = frozenset(("con", "prn", "aux", "nul", "conin$", "conout$", "clock$", *_PORTS))
_SHORT_GIT = re.compile(r"gi(t|[0-9a-f]{4})~[0-9]+")
"""The names that NTFS and FAT may give `.git` for programs that take eight letters and three."""
_DRIVE = re.compile(r"[A-Za-z]:")
_INVISIBLE = (
    *((0x034F, 0x034F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x2065, 0x2065), (0x3164, 0x3164)),
    *((0xFE00, 0xFE0F), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0xE0000, 0xE0FFF)),
)
"""Code points that HFS+, or a folding Linux file system, leaves out of a comparison though they are not of class Cf."""
_TURKISH = str.maketrans({"\u0130": "i", "\u0131": "i"})


def check_path(path: str) -> None:
    """Raises `UnsafePath` unless a file of that name may be written below the root of a work tree.

    A byte that is not UTF-8 stands in the path as Python spells it (surrogateescape).
    """
    check_relative(path)
    if _DRIVE.match(path):
        raise UnsafePath(path, "it begins with a drive letter")
    for name in path.split("/"):
        if reason := _fault(name):
            raise UnsafePath(path, reason)


def misspelling(path: str) -> str | None:
    """Returns why another file system would read a name otherwise, if that alone is wrong with a path.

    So it is with a backslash, which is a letter like any other here. What is git's own directory or a device on some
    system, or leads upwards, is no slip of spelling.
    """
    try:
        check_relative(path)
    except UnsafePath:
        return None
    names = path.split("/")
    if _DRIVE.match(path) or any(_fault_of_meaning(fold(name)) for name in names):
        return None
    return next(filter(None, map(_fault_of_spelling, names)), None)


def check_relative(path: str) -> None:
    """Raises `UnsafePath` unless a path is relative and goes downwards only: what reading asks for, and no more."""
    if not path:
        raise UnsafePath(path, "it is empty")
    if path.startswith("/"):
        raise UnsafePath(path, "it is absolute")
    if "\0" in path:
        raise UnsafePath(path, "it holds a NUL")
    if not _one_spelling(path):
        raise UnsafePath(path, "it holds half of a surrogate pair, or spells UTF-8 byte by byte")
    for name in path.split("/"):
        if name in ("", ".", ".."):
            raise UnsafePath(path, f"it has '{name}' for a component")


def fold(name: str) -> str:
    """Returns what a name becomes under all foldings at once: case, compatibility forms, and what is not seen."""
    if name.isascii():
        return name.lower()
    seen = unicodedata.normalize("NFKC", _visible(name)).translate(_TURKISH).casefold()
    return _visible(unicodedata.normalize("NFKC", seen))


def _one_spelling(path: str) -> bool:
    """Whether the bytes of a path spell it and no other: two escaped bytes in a row may be a hidden character."""
    try:
        return path.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape") == path
    except UnicodeEncodeError:
        return False


def _visible(name: str) -> str:
    return "".join(filter(_is_visible, name))


def _is_visible(character: str) -> bool:
    if unicodedata.category(character) == "Cf":
        return False
    point = ord(character)
    return not any(low <= point <= high for low, high in _INVISIBLE)


def _fault(name: str) -> str | None:
    """What is wrong with one component, or nothing."""
    return _fault_of_spelling(name) or _fault_of_meaning(fold(name))


def _fault_of_spelling(name: str) -> str | None:
    if any(unicodedata.category(character) == "Cc" for character in name):
        return "it holds a control character"
    if "\\" in name:
        return "it holds a backslash"
    if name.endswith((".", " ")):
        return f"'{name}' ends with a dot or a space, which Windows drops"
    if ":$" in name:
        return f"'{name}' names an NTFS stream by its type"
    if len(name.encode("utf-8", "surrogateescape")) > LONGEST_NAME:
        return f"'{name[:20]}…' is longer than {LONGEST_NAME} bytes"
    return None


def _fault_of_meaning(folded: str) -> str | None:
    if re.split(r"[.:]", folded, maxsplit=1)[0].rstrip(" ") in _DEVICES:
        return f"'{folded}' is a device on Windows"
    # full-width slashes become separators where a file system folds compatibility forms
    for piece in re.split(r"[/\\]", folded):
        stem, colon, _ = piece.partition(":")
        bare = stem.rstrip(". ")
        if not bare and (stem or not colon):
            return "it has a component that is '.', '..' or nothing in disguise"
        if bare == ".git" or _SHORT_GIT.fullmatch(bare):
            return "it is git's own directory on some file system"
    return None
