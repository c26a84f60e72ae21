"""What a pattern means: `*`, `?` and `[…]` in a word, and `**` in a path.

Lies on the path of a hook, so that it takes no module at all: `fnmatch` would load `re`.
"""


def matches(pattern: str, path: str, *, fold: bool = False, anywhere: bool = False) -> bool:
    """Says whether a pattern means a path, or a folder that it is in.

    `*` and `?` stay inside one folder, `**` goes through any number of them, and `X/**` means X as well. Patterns begin
    at the root; with `anywhere` one without a slash means files in every folder. `fold` takes capitals for small ones.
    """
    if fold:
        pattern, path = pattern.casefold(), path.casefold()
    wanted = _wanted(pattern, anywhere=anywhere)
    return len(wanted) in _reached(wanted, path)


def may_hold(pattern: str, folder: str) -> bool:
    """Says whether a pattern of what is denied may mean something that is in a folder."""
    return bool(_reached(_wanted(pattern.casefold(), anywhere=True), folder.casefold()))


def _wanted(pattern: str, *, anywhere: bool) -> list[str]:
    wanted = [part for part in pattern.split("/") if part not in ("", ".")]
    if anywhere and "/" not in pattern.rstrip("/"):
        wanted.insert(0, "**")
    while len(wanted) > 1 and wanted[-1] == "**":
        wanted.pop()
    return wanted


def _reached(wanted: list[str], path: str) -> set[int]:
    """Returns the places in a pattern at which one may be behind a path; the end of it, once that was reached."""
    reached = _passed({0}, wanted)
    for part in path.split("/"):
        if len(wanted) in reached or not part or part == ".":
            continue
        reached = _passed(
            {at if wanted[at] == "**" else at + 1 for at in reached if wanted[at] == "**" or glob(wanted[at], part)},
            wanted,
        )
    return reached


def _passed(reached: set[int], wanted: list[str]) -> set[int]:
    found = set(reached)
    for at in range(len(wanted)):
        if at in found and wanted[at] == "**":
            found.add(at + 1)
    return found


def glob(pattern: str, text: str) -> bool:
    """Says whether a text is what a pattern of `*`, `?` and `[…]` means, in time of their product at most."""
    at = start = 0
    star = -1
    place = 0
    while at < len(text):
        width = _one(pattern, place, text[at]) if place < len(pattern) and pattern[place] != "*" else 0
        if width:
            at, place = at + 1, place + width
        elif place < len(pattern) and pattern[place] == "*":
            star, start, place = place, at, place + 1
        elif star >= 0:
            start, at, place = start + 1, start + 1, star + 1
        else:
            return False
    return not pattern[place:].strip("*")


def _one(pattern: str, place: int, char: str) -> int:
    """Returns how much of a pattern one character takes; nothing if it is not meant."""
    if pattern[place] == "?":
        return 1
    end = pattern.find("]", place + 2) if pattern[place] == "[" else -1
    if end < 0:
        return int(pattern[place] == char)
    inside = pattern[place + 1 : end]
    negated = inside[:1] in ("!", "^")
    return end + 1 - place if _in_set(inside[negated:], char) != negated else 0


def _in_set(inside: str, char: str) -> bool:
    at = 0
    while at < len(inside):
        if inside[at + 1 : at + 2] == "-" and at + 2 < len(inside):
            if inside[at] <= char <= inside[at + 2]:
                return True
            at += 3
        elif inside[at] == char:
            return True
        else:
            at += 1
    return False


def plainer(path: str) -> str:
    """Returns what a path names where a file system takes characters away, as those of macOS and Windows do (T6)."""
    if (
        path.isascii()
        and not any(each in path for each in ("~", ":", ". ", "./", " /", ".."))
        and path[-1:] not in ". "
    ):
        return path
    parts = [part.translate(_TAKEN_AWAY).partition(":")[0] for part in path.split("/")]
    parts = [part if part in (".", "..") else part.rstrip(" .") for part in parts]
    return "/".join(".git" if part.casefold() == "git~1" else part for part in parts)


_TAKEN_AWAY = dict.fromkeys([*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF])
