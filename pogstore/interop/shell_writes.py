"""What a shell command certainly writes: files whose new text, or whose other name, stands in the command itself.

Reads a small part of the shell's language and stops at the first thing that is not in it, such as a variable, a pipe or
a loop: what comes after is not known. Knows no disk and no contents; whether a command ran to its end, others know.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias


class Wrote(NamedTuple):
    """A text that a file holds now, or with `append` ends with."""

    path: str
    text: str
    append: bool


class Copied(NamedTuple):
    """The contents of files, one after the other, in another one; only the first `lines` of each, if that is told."""

    sources: tuple[str, ...]
    path: str
    append: bool
    lines: int | None = None


class Moved(NamedTuple):
    """A file or directory that has another name; one that ends with a slash is the directory that it went into."""

    old: str
    new: str


Effect: TypeAlias = Wrote | Copied | Moved

_TOKEN = re.compile(
    r"""(?P<blank>[ \t]+|\\\n)
    |(?P<comment>\#[^\n]*)
    |(?P<line>\n)
    |(?P<next>;(?!;)|&&)
    |(?P<quiet>(?:[12]?>>?[ \t]*/dev/null|2>&1|1>&2|>&2)(?=[\s;&]|\Z))
    |(?P<here><<(?P<dash>-?)[ \t]*(?:'(?P<single>[^'\n]+)'|"(?P<double>[^"\n$`\\]+)"|(?P<bare>\w+))(?=[\s;&>]|\Z))
    |(?P<to>>>?)
    |(?P<word>(?:[^\s'"\\$`;&|<>(){}*?\[\]~\#!]|'[^']*'|"(?:[^"\\$`]|\\["\\$`])*"|(?<=[^\s;&|])[\#~!])+)
    """,
    re.VERBOSE,
)
_QUOTED = re.compile(r"""'([^']*)'|"((?:[^"\\]|\\.)*)\"""")
_ESCAPED = re.compile(r'\\(["\\$`])')
_EXPANDED = re.compile(r"[$`\\]")
_LEADING_TABS = re.compile(r"^\t+", re.MULTILINE)
_TURNS = frozenset(
    ("if", "for", "while", "until", "case", "function", "select", "exit", "exec", "eval", "return", "time")
)
"""What makes it uncertain whether the commands after it run, or as what."""
_FLAGS = frozenset(("-f", "-v", "-r", "-R", "-a", "-p"))


class _Command(NamedTuple):
    words: list[str]
    targets: list[tuple[str, bool]]
    """Files that its output goes to, and whether at their ends."""
    heres: list[str]
    """The texts that it is given."""


def effects(command: str) -> Iterator[Effect]:
    """Yields what a shell command that went well has written, as far as that is certain, in its order."""
    directory = ""
    for words, targets, heres in _commands(command):
        if words[:1] and words[0] in _TURNS:
            return
        if words[:1] == ["cd"]:
            if len(words) != 2 or words[1].startswith("-"):
                return
            directory = _inside(directory, words[1])
            continue
        for effect in _effects(words, targets, heres):
            yield _placed(effect, directory)


def _placed(effect: Effect, directory: str) -> Effect:
    match effect:
        case Moved(old, new):
            return Moved(_inside(directory, old), _inside(directory, new))
        case Copied(sources):
            inside = tuple(_inside(directory, source) for source in sources)
            return effect._replace(sources=inside, path=_inside(directory, effect.path))
        case _:
            return effect._replace(path=_inside(directory, effect.path))


def _inside(directory: str, path: str) -> str:
    return path if not directory or path.startswith("/") else f"{directory.rstrip('/')}/{path}"


def _effects(words: Sequence[str], targets: Sequence[tuple[str, bool]], heres: Sequence[str]) -> list[Effect]:
    """Returns what one simple command writes."""
    match list(words), list(targets), list(heres):
        case (["cat"] | ["cat", "-"], [(path, append)], [text]):
            return [Wrote(path, text, append)]
        case ["tee", *given], [], [text] if given[-1:] and given[:-1] in ([], ["-a"]):
            return [Wrote(given[-1], text, append=len(given) > 1)]
        case [name, *given], [(path, append)], []:
            return _put_out(name, given, path, append)
        case [name, *given], [], []:
            return _named(name, given)
    return []


def _put_out(name: str, given: Sequence[str], path: str, append: bool) -> list[Effect]:
    """Returns what a command writes whose output goes to a file."""
    match name, given:
        case "echo", said if _is_plain(said):
            return [Wrote(path, " ".join(said) + "\n", append)]
        case "cat", sources if sources and not _options(sources):
            return [Copied(tuple(sources), path, append)]
        case ("head", ["-n", lines, source]) if lines.isdecimal():
            return [Copied((source,), path, append, int(lines))]
        case ("head", [lines, source]) if re.fullmatch(r"-n?\d+", lines):
            return [Copied((source,), path, append, int(lines.lstrip("-n")))]
    return []


def _named(name: str, given: Sequence[str]) -> list[Effect]:
    """Returns what a command does to the files that it names."""
    if name == "git" and given[:1] == ["mv"]:
        name, given = "mv", given[1:]
    if name == "mv":
        return [Moved(old, new) for old, new in _pairs(given)]
    if name == "cp":
        return [Copied((old,), new, append=False) for old, new in _pairs(given) if not new.endswith("/")]
    return []


def _is_plain(said: Sequence[str]) -> bool:
    return not any("\\" in word for word in said) and not (said and said[0].startswith("-"))


def _options(words: Sequence[str]) -> list[str]:
    return [word for word in words if word.startswith("-")]


def _pairs(given: Sequence[str]) -> list[tuple[str, str]]:
    """Returns the old and the new names; several files can only go into a directory."""
    names = [word for word in given if word not in _FLAGS]
    if len(names) < 2 or _options(names):
        return []
    *sources, target = names
    into = target if len(sources) == 1 else target.rstrip("/") + "/"
    return [(source, into) for source in sources]


def _commands(text: str) -> Iterator[_Command]:
    """Yields the simple commands that surely run one after the other, each as soon as all that it is given is read."""
    line: list[_Command] = []
    pending: list[tuple[_Command, re.Match[str]]] = []
    now, at, to = _Command([], [], []), 0, ""
    while at < len(text):
        found = _TOKEN.match(text, at)
        kind = found.lastgroup if found else None
        if found is None or (to and kind not in ("blank", "word")):
            yield from _whole(line, pending)
            return
        at = found.end()
        if kind == "word":
            said = _unquoted(found[0])
            now.targets.append((said, to == ">>")) if to else now.words.append(said)
            to = ""
        elif kind == "to":
            to = found[0]
        elif found["here"]:
            pending.append((now, found))
        elif kind in ("line", "next"):
            line.append(now)
            now = _Command([], [], [])
        if kind == "line":
            for command, here in pending:
                body, at = _body(text, at, here)
                if body is None:
                    return
                command.heres.append(body)
            pending.clear()
            yield from line
            line.clear()
    if not pending and not to:
        yield from [*line, now]


def _whole(line: Sequence[_Command], pending: Sequence[tuple[_Command, re.Match[str]]]) -> Iterator[_Command]:
    """Yields the commands of a line up to the first whose text was not read."""
    waiting = [command for command, _ in pending]
    for command in line:
        if any(command is other for other in waiting):
            return
        yield command


def _unquoted(word: str) -> str:
    return _QUOTED.sub(lambda quoted: _ESCAPED.sub(r"\1", quoted[2]) if quoted[1] is None else quoted[1], word)


def _body(text: str, at: int, here: re.Match[str]) -> tuple[str | None, int]:
    """Returns the text that a command is given, if the shell leaves it as it is, and where it ends."""
    tabs = r"\t*" if here["dash"] else ""
    end = re.compile(rf"^{tabs}{re.escape(_delimiter(here))}(?:\n|\Z)", re.MULTILINE)
    found = end.search(text, at)
    if found is None:
        return None, at
    body = text[at : found.start()]
    if here["bare"] and _EXPANDED.search(body):
        return None, at
    return _LEADING_TABS.sub("", body) if here["dash"] else body, found.end()


def _delimiter(here: re.Match[str]) -> str:
    return here["single"] or here["double"] or here["bare"]
