"""Lines of a file as attribution sees them: split as git splits, compared without white space, weighed by letters."""

from functools import lru_cache

SHORT = 3
REMEMBERED = 1 << 15
"""So many lines are remembered: the versions of a file have most of theirs in common."""
_COMMON = frozenset(
    text.replace(" ", "").encode()
    for text in ("return nil", "} else {", "return", "break", "continue", "pass", "else:", "try:", "end", "fi", "done",
                 "return err", "return None", "return true", "return false", "default:", "do", "then", "begin")
)  # fmt: skip

_BLANKS = b" \t\r\v\f"
_SPACES = _BLANKS + b"\n"
_SIGNS = bytes(byte for byte in range(128) if not chr(byte).isalnum())


def split(content: bytes) -> list[bytes]:
    """Returns the lines of a content with their newlines; a last line without one counts."""
    lines = content.split(b"\n")
    last = lines.pop()
    found = [line + b"\n" for line in lines]
    return [*found, last] if last else found


def bare(content: bytes) -> bytes:
    """Returns a content without white space but for a newline that ends each line."""
    found = content.translate(None, _BLANKS)
    return found + b"\n" if content and not content.endswith(b"\n") else found


def normals(content: bytes) -> list[bytes]:
    """Returns the lines of a content without any white space."""
    return bare(content).split(b"\n")[:-1]


@lru_cache(REMEMBERED)
def normal(line: bytes) -> bytes:
    """Returns a line without any white space."""
    return line.translate(None, _SPACES)


@lru_cache(REMEMBERED)
def score(line: bytes) -> int:
    """Returns how many letters and digits a line has; a byte over 127 counts as one."""
    return len(line.translate(None, _SIGNS))


@lru_cache(REMEMBERED)
def is_trivial(line: bytes) -> bool:
    """Says whether a line stands in too many files to say who wrote it."""
    bare = normal(line)
    return bare in _COMMON or score(bare) < SHORT
