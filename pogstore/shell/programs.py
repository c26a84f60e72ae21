"""What the commands of a command line come to: programs with their arguments, those that others start included, and
the files that well-known programs write.

Lies on the path of a hook, so that it takes no module but its own. What a program does that is not known here, nobody
tells from its command line. Knows no limits.
"""

from pogstore.shell.script import Script, Where, parse
from pogstore.shell.words import Word
from pogstore.shell.written import gone_by, inside, operands, written_by

_Words = list[Word]

DEEPEST = 16
"""Programs that start programs."""
_SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "ash", "mksh"))
_STARTERS = {
    "env": ("u", 0),
    "command": ("", 0),
    "builtin": ("", 0),
    "exec": ("", 0),
    "nohup": ("", 0),
    "setsid": ("", 0),
    "nice": ("n", 0),
    "ionice": ("cn", 0),
    "timeout": ("ks", 1),
    "stdbuf": ("ioe", 0),
    "time": ("fo", 0),
    "xargs": ("IndLPs", 0),
    "sudo": ("ug", 0),
    "doas": ("u", 0),
}
"""Programs that start another: their options that take a value, and how many arguments come before the other."""
_OPTIONS = "0rtxpivcfnEHbk"
"""Their options without a value, as far as they change neither the folder nor the program."""
_DECLARING = frozenset(("export", "declare", "typeset", "readonly", "local"))
"""What sets variables that the shell hands on."""
_ALSO_ITSELF = ("sudo", "doas")
"""Those that are more than the program that they start."""


class Run:
    """A program that is started: its words. The first one is not `known` if only the shell can tell which it is."""

    __slots__ = ("words",)

    def __init__(self, words: _Words) -> None:
        self.words = words


class Write:
    """A file that is written, as it is spelled, and the folders that it may be seen from; none if nobody knows.

    `whole` says that all that is in it goes with it, if it is a folder.
    """

    __slots__ = ("wheres", "whole", "word")

    def __init__(self, word: Word, wheres: tuple[Where, ...], *, whole: bool = False) -> None:
        self.word, self.wheres, self.whole = word, wheres, whole


class Doings:
    """All that a command line does, as far as it can be told: `fault` says why that is not all."""

    __slots__ = ("assigned", "fault", "runs", "writes")

    def __init__(self) -> None:
        self.assigned: list[str] = []
        self.runs: list[Run] = []
        self.writes: list[Write] = []
        self.fault = ""


def understand(text: str) -> Doings:
    """Returns what a command line does; never fails."""
    found = Doings()
    _take(found, parse(text), None, 0)
    return found


def _take(found: Doings, script: Script, wheres: tuple[Where, ...] | None, depth: int) -> None:
    """Takes the commands of a script, which runs in another one's folder where `wheres` says so."""
    found.fault = found.fault or script.fault
    if depth > DEEPEST:
        found.fault = found.fault or "programs start each other too often"
        return
    for command in script.commands:
        places = command.wheres if wheres is None else _joined(wheres, command.wheres)
        found.assigned += command.assigned
        found.writes += [Write(word, places) for word in command.writes]
        if command.words:
            _start(found, command.words, places, depth)


def _joined(outer: tuple[Where, ...], inner: tuple[Where, ...]) -> tuple[Where, ...]:
    return tuple((*one, *other) for one in outer for other in inner)


def _start(found: Doings, words: _Words, wheres: tuple[Where, ...], depth: int) -> None:
    """Takes a program that is started, or the one that it starts."""
    name = words[0].text.rpartition("/")[2] if words[0].known else ""
    if depth > DEEPEST:
        found.fault = found.fault or "programs start each other too often"
    elif name in _STARTERS:
        _start_other(found, name, words, wheres, depth)
    elif name in _SHELLS:
        _start_shell(found, words, wheres, depth)
    elif name in _DECLARING:
        found.assigned += [word.text.partition("=")[0] for word in words[1:] if not word.text.startswith("-")]
        found.runs.append(Run(words))
    elif name in ("eval", "trap"):
        given = words[1:] if name == "eval" else words[1:2]
        _start_text(found, given, wheres, depth)
    else:
        found.runs.append(Run(words))
        _write(found, name, words, wheres, depth)


def _start_text(found: Doings, given: _Words, wheres: tuple[Where, ...], depth: int) -> None:
    if all(word.known for word in given):
        _take(found, parse(" ".join(word.text for word in given)), wheres, depth + 1)
    else:
        found.fault = found.fault or "what it runs is known to the shell alone"


def _start_other(found: Doings, name: str, words: _Words, wheres: tuple[Where, ...], depth: int) -> None:
    valued, operands = _STARTERS[name]
    if name in _ALSO_ITSELF:
        found.runs.append(Run(words))
    if name == "command" and any(word.text in ("-v", "-V") for word in words[1:2]):
        return
    rest = _behind_options(words[1:], valued)
    if rest is None:
        found.fault = found.fault or f"these options of '{name}' are not read"
        return
    rest = rest[operands:]
    while name in ("env", *_ALSO_ITSELF) and rest and "=" in rest[0].text:
        found.assigned.append(rest[0].text.partition("=")[0])
        rest = rest[1:]
    if name == "xargs":
        rest = [*rest, Word("", known=False)] if rest else []
    if rest:
        _start(found, rest, wheres, depth + 1)
    elif name not in _ALSO_ITSELF and name not in ("exec", "time"):
        found.runs.append(Run(words))


def _behind_options(words: _Words, valued: str) -> _Words | None:
    """Returns what follows the options; nothing at all if one of them is not known."""
    at = 0
    while at < len(words) and words[at].known and words[at].text.startswith("-"):
        text = words[at].text
        at += 1
        if text == "--":
            break
        if text[1:2] in valued and text != "-":
            at += len(text) == 2
        elif text != "-" and not (text.startswith("--") and "=" not in text and text[2:] in _LONG) and (
            text.startswith("--") or any(each not in _OPTIONS and not each.isdigit() for each in text[1:])
        ):  # fmt: skip
            return None
    return words[at:]


_LONG = frozenset(("null", "no-run-if-empty", "ignore-environment", "foreground", "preserve-status", "wait", "fork"))


_HARMLESS = ("norc", "noprofile", "posix", "login")


def _start_shell(found: Doings, words: _Words, wheres: tuple[Where, ...], depth: int) -> None:
    """Takes a shell: the text that it is given, or the file."""
    at, wants_text = 1, False
    while at < len(words) and words[at].known and words[at].text.startswith(("-", "+")):
        option = words[at].text
        at += 1
        if option in ("-", "--"):
            break
        if option.strip("-") not in _HARMLESS and (option[1:2] == "-" or "o" in option or "s" in option):
            found.fault = found.fault or "these options of a shell are not read"
        wants_text = wants_text or (option[1:2] != "-" and "c" in option)
    if at >= len(words):
        found.fault = found.fault or "a shell gets its commands from elsewhere"
    elif wants_text:
        _start_text(found, words[at : at + 1], wheres, depth)
    else:
        found.runs.append(Run(words))


def _write(found: Doings, name: str, words: _Words, wheres: tuple[Where, ...], depth: int) -> None:
    """Takes what a program writes that is known here."""
    if name == "find":
        _find(found, words[1:], wheres, depth)
    elif name == "git":
        _git(found, words[1:], wheres, depth)
    gone = gone_by(name, words[1:])
    found.writes += [Write(word, wheres, whole=word in gone) for word in written_by(name, words[1:])]


def _find(found: Doings, given: _Words, wheres: tuple[Where, ...], depth: int) -> None:
    """Takes what `find` starts and deletes: files that only it knows."""
    at = 0
    while at < len(given):
        text = given[at].text
        at += 1
        if text == "-delete" or text.startswith(("-fprint", "-fls")):
            found.writes.append(Write(Word("", known=False), wheres))
        elif text in ("-exec", "-execdir", "-ok", "-okdir"):
            start = at
            while at < len(given) and given[at].text not in (";", "+"):
                at += 1
            inner = [Word("", known=False) if "{}" in word.text else word for word in given[start:at]]
            if inner:
                _start(found, inner, wheres, depth + 1)


def _git(found: Doings, given: _Words, wheres: tuple[Where, ...], depth: int) -> None:
    """Takes the files that some commands of git write by name, and what `git pog run` starts."""
    verb, rest, moved = git_verb(given)
    if given and not verb and not given[-1].text.startswith("-"):
        found.fault = found.fault or "which command of git it is, the shell alone knows"
    if verb == "pog":
        inner, _, _ = git_verb(rest)
        behind = next((rest[at + 1 :] for at, word in enumerate(rest) if word.text == "--"), None)
        if inner == "run" and behind:
            _start(found, behind, wheres, depth + 1)
    elif verb in ("rm", "mv", "restore"):
        written = operands(rest, "s" if verb == "restore" else "")[0]
        written += inside(written[-1:], written) if verb == "mv" else []
        found.writes += [Write(word, () if moved else wheres, whole=verb != "restore") for word in written]


def git_verb(given: _Words) -> tuple[str, _Words, bool]:
    """Returns the command that git is given, what follows, and whether git looks from another folder."""
    at, moved = 0, False
    while at < len(given) and given[at].text.startswith("-"):
        text = given[at].text
        moved = moved or text == "-C" or text.startswith(("--git-dir", "--work-tree"))
        at += 2 if text in ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path") else 1
    return (given[at].text if at < len(given) and given[at].known else ""), given[at + 1 :], moved
