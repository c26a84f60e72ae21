"""Which files well-known programs write, by their arguments alone.

Lies on the path of a hook. What is not known here, nobody tells from a command line.
"""

from pogstore.shell.words import Word

_Words = list[Word]

_EVERY = {
    "rm": "", "rmdir": "", "unlink": "", "tee": "", "shred": "ns", "touch": "rdt", "truncate": "sr", "mkdir": "mZ",
    "mkfifo": "m", "mv": "tS",
}  # fmt: skip
"""Programs that write all files they name; their options that take a value."""
_BUT_FIRST = {"chmod": "", "chown": "", "chgrp": ""}
_LAST = {"cp": "tS", "install": "tSmogb", "ln": "tS", "rsync": "ef"}
"""Those that write the last file they name."""
_INTO = {"curl": ("-o", "--output"), "wget": ("-O", "--output-document"), "sort": ("-o", "--output")}
"""Options after which a program writes a file."""
_UNTOLD = Word("", known=False)
"""A file that the arguments of a program do not name."""
_ZIPPED = frozenset(("gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd"))
"""Programs that put another file in the place of each that they name, but with these options."""
_ASIDE = ("--stdout", "--to-stdout", "--test", "--list", "-t", "-l")
_TERSE = "-sSfLkvgqncN"
"""Options without a value that people write in front of those, in one word."""
_IN_PLACE = {"sed": "efl", "gsed": "efl", "perl": "eE", "ruby": "e"}
"""Programs that edit files in place when they are told `-i`; their options that take a value."""


def written_by(name: str, given: _Words) -> _Words:
    """Returns the files that a program writes, by its name and its arguments."""
    found: _Words = []
    if name in _EVERY:
        named, into = operands(given, _EVERY[name])
        found = [*named, *into, *(inside(into or named[-1:], named) if name == "mv" else [])]
    elif name in _BUT_FIRST:
        named, _ = operands(given, "")
        found = named if any(_is_mode(word.text) for word in given) else named[1:]
    elif name in _LAST:
        found = _copied(name, given)
    elif name in _IN_PLACE:
        found = _in_place(name, given)
    elif name in _INTO:
        found = _after_option(given, _INTO[name])
        found += [_UNTOLD] if _is_untold(name, given) else []
    elif _is_untold(name, given):
        found = [_UNTOLD]
    elif name in _ZIPPED:
        named = operands(given, "")[0]
        found = [] if any(_has(word.text, "c", "") or word.text in _ASIDE for word in given) else named
    elif name == "dd":
        found = [Word(word.text[3:], known=word.known) for word in given if word.text.startswith("of=")]
    return found


def _is_untold(name: str, given: _Words) -> bool:
    """Says whether a program writes files that its arguments do not name."""
    options = [word.text for word in given if word.text.startswith("-")]
    short = "".join(text[1:] for text in options if text[1:2] != "-")
    if name in ("tar", "bsdtar", "gtar"):
        first = given[0].text if given and not given[0].text.startswith("-") else ""
        return ("x" in short + first or "--extract" in options) and "O" not in short and "--to-stdout" not in options
    if name == "unzip":
        return not any(letter in short for letter in "lptvZ")
    if name == "patch":
        return "--dry-run" not in options
    if name == "curl":
        return any(text in ("--remote-name", "--remote-name-all") for text in options) or any(
            text[1:2] != "-" and not text[1:].strip(_TERSE + "OJR") and "O" in text for text in options
        )
    return name == "wget" and not {"--spider", "--version", "--help"} & set(options) and not any(
        "O" in text if text[1:2] != "-" else text.startswith("--output-document") for text in options
    )  # fmt: skip


def gone_by(name: str, given: _Words) -> _Words:
    """Returns those of the files that a program takes away or changes, folders with all that is in them."""
    if name in _BUT_FIRST:
        is_all = any(word.text == "--recursive" or (word.text[:1] == "-" and "R" in word.text) for word in given)
        return operands(given, "")[0] if is_all else []
    if name not in ("rm", "mv"):
        return []
    named, into = operands(given, _EVERY[name])
    return named if name == "rm" or into else named[:-1]


def _is_mode(text: str) -> bool:
    """Says whether what looks like an option takes rights away, or the rights are those of another file."""
    return text.startswith("--reference") or (text[:1] == "-" and len(text) > 1 and not text[1:].strip("rwxXst"))


def operands(given: _Words, valued: str) -> tuple[_Words, _Words]:
    """Returns what is no option, and the folders that `-t` names."""
    found: _Words = []
    into: _Words = []
    at, options = 0, True
    while at < len(given):
        word = given[at]
        at += 1
        if not options or not word.known or not word.text.startswith("-") or word.text == "-":
            found.append(word)
        elif word.text == "--":
            options = False
        elif word.text.startswith("--target-directory="):
            into.append(Word(word.text.partition("=")[2]))
        elif not word.text.startswith("--"):
            value = next((place for place, each in enumerate(word.text) if place and each in valued), 0)
            if value and word.text[value] == "t" and "S" in valued:
                into.append(Word(word.text[value + 1 :]) if len(word.text) > value + 1 else _at(given, at))
            at += value > 0 and len(word.text) == value + 1
    return found, into


def _at(given: _Words, at: int) -> Word:
    return given[at] if at < len(given) else Word("", known=False)


def inside(folders: _Words, sources: _Words) -> _Words:
    """Returns what some files are called once they are in some folders."""
    return [
        Word(f"{folder.text}/{source.text.rstrip('/').rpartition('/')[2]}", known=folder.known and source.known,
             glob=folder.glob or source.glob)
        for folder in folders for source in sources if source is not folder
    ]  # fmt: skip


def _copied(name: str, given: _Words) -> _Words:
    named, into = operands(given, _LAST[name])
    if name == "install" and any(word.text in ("-d", "--directory") for word in given):
        return named
    folders = into or named[-1:]
    sources = named if into else named[:-1]
    found = folders + inside(folders, sources)
    if name != "ln":
        return found if sources else []
    # a link is another name of what it leads to: what is written through it is written there
    above = [folder.text.rpartition("/")[0] for folder in folders]
    beside = [
        Word(source.text if source.text.startswith("/") or not place else f"{place}/{source.text}", known=source.known)
        for place in above for source in sources
    ]  # fmt: skip
    return [*found, *named, *beside]


def _in_place(name: str, given: _Words) -> _Words:
    """Returns the files that are edited in place, if any are."""
    valued = _IN_PLACE[name]
    clusters = [word.text for word in given if word.known and word.text.startswith("-")]
    if not any(text.startswith("--in-place") or (text[1:2] != "-" and _has(text, "i", valued)) for text in clusters):
        return []
    named, _ = operands(given, valued)
    told = any(text[1:2] != "-" and any(_has(text, each, "") for each in valued if each != "l") for text in clusters)
    return named if told or "--expression" in "".join(clusters) else named[1:]


def _has(cluster: str, option: str, valued: str) -> bool:
    """Says whether a cluster of short options has one, and not as the value of another."""
    for each in cluster[1:]:
        if each == option:
            return True
        if each in valued:
            return False
    return False


def _after_option(given: _Words, options: tuple[str, ...]) -> _Words:
    """Returns the files that follow an option, which may stand behind others in one word."""
    found: _Words = []
    for at, word in enumerate(given):
        before, letter, value = word.text.partition(options[0][1])
        if word.text == options[1]:
            found.append(_at(given, at + 1))
        elif word.text.startswith(f"{options[1]}="):
            found.append(Word(word.text.partition("=")[2], known=word.known))
        elif letter and before.startswith("-") and not before.strip(_TERSE):
            found.append(Word(value, known=word.known, glob=word.glob) if value else _at(given, at + 1))
    return [word for word in found if word.text != "-" or not word.known]
