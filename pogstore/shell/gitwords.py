"""What the words of a `git` command come to: its verb, settings given for it alone, the files it writes by name, and
the programs that it starts.

Lies on the path of a hook, so that it takes no module but its own. Knows no limits.
"""

from pogstore.shell.words import Word
from pogstore.shell.written import inside, operands

_Words = list[Word]

_VALUED = ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env", "--super-prefix")
_STARTING = ("--exec", "-x", "--extcmd", "--tree-filter", "--index-filter", "--msg-filter", "--env-filter")
"""Options whose value is given to a shell, of the commands that have them."""
_PLAIN = (
    *("user.", "author.", "committer.", "color.", "advice.", "column.", "i18n.", "status.", "grep."),
    *("core.quotepath", "core.abbrev", "core.autocrlf", "core.safecrlf", "core.filemode", "core.ignorecase"),
    *("commit.gpgsign", "tag.gpgsign", "init.defaultbranch", "diff.renames", "diff.algorithm", "diff.context"),
    *("diff.noprefix", "diff.mnemonicprefix", "diff.colormoved", "merge.conflictstyle", "merge.ff", "pull.", "push."),
    *("rebase.autostash", "rebase.autosquash", "gc.auto", "maintenance.auto", "safe.directory", "fetch.prune", "log."),
)
"""Settings that neither start a program nor write a file; those that end with a dot stand for all below."""
_OF_PATHS = ("rm", "mv", "restore", "checkout")
"""The commands that write the paths that they are told, folders with all that is in them."""
_SWITCHING = ("--orphan", "--detach", "-d", "-t", "--track")
_DISCARDING = frozenset(("-f", "--force", "--discard-changes"))
"""Options of `git checkout` and `git switch` by which changed files are written, too."""
_PAGERS = ("", "cat", "false")


def git_verb(given: _Words) -> tuple[str, _Words, bool]:
    """Returns the command that git is given, what follows, and whether git looks from another folder."""
    at, moved = 0, False
    while at < len(given) and given[at].text.startswith("-"):
        text = given[at].text
        moved = moved or text == "-C" or text.startswith(("--git-dir", "--work-tree"))
        at += 2 if text in _VALUED else 1
    return (given[at].text if at < len(given) and given[at].known else ""), given[at + 1 :], moved


def odd_setting(given: _Words) -> str | None:
    """Returns a setting for one command that may start a program or write a file; nothing if there is none."""
    at = 0
    while at < len(given) and given[at].text.startswith("-"):
        text = given[at].text
        if text.startswith(("--config-env", "--exec-path=")):
            return text
        if text == "-c" and not _is_plain(given[at + 1 : at + 2]):
            return given[at + 1].text if at + 1 < len(given) and given[at + 1].known else "-c"
        at += 2 if text in _VALUED else 1
    return None


def _is_plain(setting: _Words) -> bool:
    if not setting or not setting[0].known:
        return False
    name, _, value = setting[0].text.partition("=")
    name = name.casefold()
    if name == "core.pager" or name.startswith("pager."):
        return value in _PAGERS
    return any(name == each or (each.endswith(".") and name.startswith(each)) for each in _PLAIN)


def git_starts(verb: str, rest: _Words) -> tuple[list[_Words], _Words]:
    """Returns the programs that a command of git starts, as words, and those that it gives to a shell, as texts."""
    texts = []
    if verb in ("rebase", "difftool", "filter-branch"):
        for at, word in enumerate(rest):
            name, equals, value = word.text.partition("=")
            if name in _STARTING:
                texts += [Word(value, known=word.known)] if equals else rest[at + 1 : at + 2]
            elif verb != "filter-branch" and name.startswith("-x"):
                texts.append(Word(word.text[2:], known=word.known))
    plain = [word for word in rest if not word.text.startswith("-")]
    if verb == "submodule" and plain and plain[0].text == "foreach":
        texts += [Word(" ".join(word.text for word in plain[1:]), known=all(word.known for word in plain[1:]))]
    words = [rest[at + 1 :] for at, word in enumerate(rest[:1]) if verb == "bisect" and word.text == "run"]
    return [each for each in words if each], [each for each in texts if each.text or not each.known]


def git_writes(verb: str, rest: _Words) -> tuple[_Words, bool]:
    """Returns the files that a command of git writes, not known ones where git alone tells, and whether folders go
    with all that is in them.

    What only brings the work tree to another commit writes nothing of its own.
    """
    options = {word.text for word in rest}
    found = [Word(word.text.partition("=")[2], known=word.known) for word in rest if word.text.startswith("--output=")]
    if verb in ("rm", "mv", "restore"):
        named = operands(rest, "s" if verb == "restore" else "")[0]
        is_staged = verb == "restore" and "--staged" in options and not options & {"--worktree", "-W"}
        found += [] if is_staged else [*named, *(inside(named[-1:], named) if verb == "mv" else [])]
    elif verb == "checkout":
        found += _checked_out(rest, options)
    elif verb in ("archive", "format-patch", "bugreport"):
        found += [rest[at + 1] for at, word in enumerate(rest[:-1]) if word.text in ("-o", "--output")]
    elif _is_sweeping(verb, rest, options):
        found.append(Word("", known=False))
    if verb in _OF_PATHS:
        found = [_pathspec(word) for word in found]
    return found, verb in _OF_PATHS


def _pathspec(word: Word) -> Word:
    """Returns a path as git takes it, which reads globs and marks itself, quoted or not."""
    if word.known and word.text.startswith(":"):
        return Word("", known=False, spelled=word.text)
    is_glob = word.glob or any(each in word.text for each in "*?[")
    return Word(word.text, known=word.known, glob=is_glob, spelled=word.spelled)


def _checked_out(rest: _Words, options: set[str]) -> _Words:
    """Returns what `git checkout` is told that can be nothing but paths."""
    if "--" in options:
        return rest[next(at for at, word in enumerate(rest) if word.text == "--") + 1 :]
    if options & {"-p", "--patch", *_DISCARDING} or any(text.startswith("--pathspec-from-file") for text in options):
        return [Word("", known=False)]
    named = [] if _is_switching(rest) else operands(rest, "")[0]
    if options & {"--ours", "--theirs", "-2", "-3"}:
        return named
    return [word for at, word in enumerate(named) if at or word.text.startswith((".", "/", ":"))]


def perhaps_paths(rest: _Words) -> _Words:
    """Returns what `git checkout` is told that may be a path, or a branch: the first word, if it is known."""
    if _is_switching(rest) or any(word.text == "--" for word in rest):
        return []
    return [_pathspec(word) for word in operands(rest, "")[0][:1] if word.known]


def _is_switching(rest: _Words) -> bool:
    """Says whether `git checkout` makes a branch, or leaves all: then no word is a path."""
    return any(word.text in _SWITCHING or word.text[:2] in ("-b", "-B") for word in rest)


def _is_sweeping(verb: str, rest: _Words, options: set[str]) -> bool:
    """Says whether it writes or takes away files of the work tree that only git knows."""
    first = next((word.text for word in rest if not word.text.startswith("-")), "")
    if verb == "reset":
        return bool(options & {"--hard", "--merge", "--keep"})
    if verb == "switch":
        return bool(options & _DISCARDING)
    if verb == "clean":
        return not (options & {"--dry-run"} or any(text[:1] == "-" != text[1:2] and "n" in text for text in options))
    if verb == "stash":
        return first not in ("list", "show", "drop", "clear", "create", "store")
    if verb == "apply":
        return not options & {"--check", "--stat", "--numstat", "--summary", "--cached"}
    return verb in ("am", "checkout-index") or (verb == "read-tree" and "-u" in options)
