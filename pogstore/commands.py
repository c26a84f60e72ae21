"""What a pattern of commands means: the words that a program is started with.

Lies on the path of a hook where a contract was compiled, so that it takes no module but our own.
"""

from pogstore.globs import glob
from pogstore.shell.gitwords import git_verb
from pogstore.shell.programs import understand
from pogstore.shell.words import Word

TYPE_CHECKING = False  # what type checkers take it for; see `pogstore/__init__.py`

if TYPE_CHECKING:
    from collections.abc import Sequence

_LAUNCHERS = frozenset((
    *("busybox", "chpst", "chroot", "chrt", "entr", "flock", "ltrace", "npx", "nsenter", "numactl", "parallel", "pipx"),
    *("pnpx", "bunx", "screen", "script", "setarch", "ssh", "strace", "su", "systemd-run", "taskset", "tmux"),
    *("unbuffer", "unshare", "uvx", "watch", "xvfb-run"),
))  # fmt: skip
"""Programs that start another one, named somewhere among their arguments or in one of them."""
_RUNNERS = frozenset((
    *("bun", "bundle", "conda", "docker", "hatch", "kubectl", "npm", "pdm", "pipenv", "pnpm", "podman", "poetry"),
    *("rye", "uv", "yarn"),
))  # fmt: skip
"""Those that do so behind one of these words."""
_RUNNING = frozenset(("run", "exec", "x", "dlx"))
_SAME = {"--recursive": "-r", "--force": "-f", "-R": "-r"}
"""Options of `rm` that are the same."""
_SENDING = ("send-pack", "http-push")
"""What `git push` itself starts."""
_CLUSTER = 5
"""Letters of options that are written as one word, and the sign before them."""


def allows(pattern: str, words: "Sequence[Word]") -> bool:
    """Says whether a program begins with the words of a pattern, each with `*`, `?` and `[…]`.

    Each of them is known, and the program is named as it is in the pattern.
    """
    wanted = _pattern_words(pattern)
    if not wanted or not words:
        return False
    rest = wanted[1:-1] if len(wanted) > 1 and wanted[-1] == "*" else wanted[1:]
    first = words[0].text
    given = words[1 : len(rest) + 1]
    is_named = glob(wanted[0], first) and ("/" not in first or "/" in wanted[0] or wanted[0] == "*")
    same = all(word.known and glob(each, word.text) for each, word in zip(rest, given, strict=False))
    return is_named and len(given) == len(rest) and same


def denies(pattern: str, words: "Sequence[Word]") -> bool:
    """Says whether the words of a pattern are among those of a program, or of one that it is known to start.

    They stand anywhere in their order, short options in one word or in several; neither the folder of the program
    matters nor what only the shell knows.
    """
    wanted = _pattern_words(pattern)
    if not wanted or not words:
        return False
    rest = wanted[1:-1] if len(wanted) > 1 and wanted[-1] == "*" else wanted[1:]
    return any(_denies(wanted[0], rest, each) for each in _started(_as_people_call_it(list(words))))


def _as_people_call_it(words: "list[Word]") -> "list[Word]":
    """Returns a command of git that sends as the one that people use: what denies that means this, too."""
    if words[0].text.rpartition("/")[2] != "git":
        return words
    verb, behind, _ = git_verb(words[1:])
    if verb in _SENDING or verb.startswith("remote-"):
        return [words[0], Word("push"), *behind]
    return words


def _started(words: "list[Word]") -> "list[list[Word]]":
    """Returns what a program is started with, and what those may be that it starts."""
    found = [words]
    name = words[0].text.rpartition("/")[2]
    behind = 1 if name in _LAUNCHERS else 0
    if name in _RUNNERS:
        behind = next((at + 1 for at, word in enumerate(words) if at and word.text in _RUNNING), 0)
    if behind:
        found += [words[at:] for at in range(behind, len(words))]
        found += [list(run.words) for word in words[behind:] if " " in word.text for run in understand(word.text).runs]
    return found


def _denies(named: str, rest: "list[str]", words: "list[Word]") -> bool:
    name = words[0].text.rpartition("/")[2].casefold()
    if not glob(named.rpartition("/")[2].casefold(), name):
        return False
    verb, behind, _ = git_verb(words[1:]) if name == "git" else ("", words[1:], False)
    if verb and rest and not rest[0].startswith("-") and not glob(rest[0], verb):
        return False
    given = [Word(verb), *behind] if verb else words[1:]
    if name == "rm":
        given = [Word(_SAME.get(word.text, word.text), known=word.known) for word in given]
    letters = {letter for word in given if _is_cluster(word.text) for letter in word.text[1:]}
    if name == "rm":
        letters |= {letter.lower() for letter in letters}
    plain = [each for each in rest if not (_is_cluster(each) and letters.issuperset(each[1:]))]
    return _in_order(plain, given)


def _is_cluster(text: str) -> bool:
    return text[:1] == "-" and 1 < len(text) <= _CLUSTER and text[1:].isalpha()


def _in_order(wanted: "Sequence[str]", given: "Sequence[Word]") -> bool:
    """Says whether all of some words are among others, in their order; one that is not known may be any."""
    at = 0
    for word in given:
        if at < len(wanted) and (not word.known or glob(wanted[at], word.text)):
            at += 1
    return at == len(wanted)


def _pattern_words(pattern: str) -> list[str]:
    doings = understand(pattern)
    is_one = len(doings.runs) == 1 and not doings.fault
    return [word.text for word in doings.runs[0].words] if is_one else [pattern]
