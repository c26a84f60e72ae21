"""What the commands of a command line come to: programs with their arguments, those that others start included, and
the files that well-known programs write.

Lies on the path of a hook, so that it takes no module but its own. What a program does that is not known here, nobody
tells from its command line. Knows no limits.
"""

from pogstore.shell.gitwords import git_starts, git_verb, git_writes, perhaps_paths
from pogstore.shell.script import Script, Where, parse
from pogstore.shell.words import Word
from pogstore.shell.written import gone_by, written_by

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
_FOREIGN = frozenset(("fish", "csh", "tcsh", "nu", "elvish", "xonsh", "pwsh", "powershell"))
"""Shells whose language is another one."""
_SETTING = frozenset(("read", "mapfile", "readarray", "getopts"))
"""What sets the variables that it names."""
_COMPARING = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge"))
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

    `whole` says that all that is in it goes with it, if it is a folder, and `maybe` that it may be no path at all.
    """

    __slots__ = ("maybe", "wheres", "whole", "word")

    def __init__(self, word: Word, wheres: tuple[Where, ...], *, whole: bool = False, maybe: bool = False) -> None:
        self.word, self.wheres, self.whole, self.maybe = word, wheres, whole, maybe


class Doings:
    """All that a command line does, as far as it can be told: `fault` says why that is not all."""

    __slots__ = ("assigned", "fault", "runs", "writes")

    def __init__(self) -> None:
        self.assigned: list[str] = []  # `NAME=value`, or `NAME` where the value is not known
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
    if name.startswith("git-") and name != "git-pog":  # as git itself starts it
        git, verb, name = words[0].text[: -len(name)] + "git", name[4:], "git"
        words = [Word(git), Word(verb), *words[1:]]
    if depth > DEEPEST:
        found.fault = found.fault or "programs start each other too often"
    elif name in _STARTERS:
        _start_other(found, name, words, wheres, depth)
    elif name in _SHELLS:
        _start_shell(found, words, wheres, depth)
    elif name in _DECLARING:
        found.assigned += [
            word.text if word.known else word.text.partition("=")[0]
            for word in words[1:]
            if not word.text.startswith("-")
        ]
        if any(word.text.startswith("-") and "n" in word.text for word in words[1:]) and name != "export":
            found.fault = found.fault or "a variable that stands for another is not read"
        if any(_is_run(word.text) for word in words[1:]):
            found.fault = found.fault or "what an index runs is known to the shell alone"
        found.runs.append(Run(words))
    elif name in ("eval", "trap"):
        given = words[2:] if words[1:2] and words[1].text == "--" else words[1:]
        given = given if name == "eval" else given[:1]
        _start_text(found, given, wheres, depth)
    else:
        found.runs.append(Run(words))
        _set(found, name, words[1:])
        _write(found, name, words, wheres, depth)


def _setting(word: Word) -> str:
    return word.text if word.known else word.text.partition("=")[0]


def _set(found: Doings, name: str, given: _Words) -> None:
    """Takes the variables that a command of the shell sets, and what it says in a language that is not read."""
    if name in _FOREIGN or name == "let" or (name == "alias" and any("=" in word.text for word in given)):
        found.fault = found.fault or f"what '{name}' is told is not read"
    elif name in _SETTING:
        found.assigned += [word.text for word in given if not word.text.startswith("-")]
    elif name == "printf":
        found.assigned += [word.text for word in given[1:2] if given[0].text == "-v"]
        found.assigned += [word.text[2:] for word in given[:1] if word.text.startswith("-v") and len(word.text) > 2]
    elif name == "[[" and not all(word.text.isdigit() for at in _compared(given) for word in given[at : at + 1]):
        found.fault = found.fault or "arithmetic is not read"
    if name in (*_SETTING, "printf", "test", "[", "[[", "unset") and any(_is_run(word.text) for word in given):
        found.fault = found.fault or "what an index runs is known to the shell alone"


def _compared(given: _Words) -> list[int]:
    """Returns where the numbers stand that `[[` compares."""
    return [at + by for at, word in enumerate(given) if word.text in _COMPARING for by in (-1, 1) if at + by >= 0]


def _is_run(text: str) -> bool:
    return "[" in text and ("$(" in text or "`" in text)


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
        found.assigned.append(_setting(rest[0]))
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
    """Takes the files that some commands of git write by name, and what some start."""
    verb, rest, moved = git_verb(given)
    if given and not verb and not given[-1].text.startswith("-"):
        found.fault = found.fault or "which command of git it is, the shell alone knows"
    if verb == "pog":
        inner, _, _ = git_verb(rest)
        behind = next((rest[at + 1 :] for at, word in enumerate(rest) if word.text == "--"), None)
        if inner == "run" and behind:
            _start(found, behind, wheres, depth + 1)
        return
    written, whole = git_writes(verb, rest)
    found.writes += [Write(word, () if moved else wheres, whole=whole) for word in written]
    if verb == "checkout" and not moved:
        found.writes += [Write(word, wheres, whole=True, maybe=True) for word in perhaps_paths(rest)]
    started, texts = git_starts(verb, rest)
    for words in started:
        _start(found, words, (), depth + 1)
    for text in texts:
        _start_text(found, [text], (), depth)
