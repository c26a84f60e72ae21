"""`git pog blame FILE` again: what it printed the last time, if nothing has changed on which that depends.

git's own answer is asked for anew each time, and is a part of the key together with all of our refs, HEAD and the code
itself, so that no two answers can be mixed up. Nothing but this is loaded where the answer is known: to import the rest
takes longer than most of git's answers. Where it is not, the command finds git's answer ready.
"""
# ruff: noqa: PTH100, PTH109, PTH112, PTH116, PTH118, PTH120, PTH208 - `pathlib` would be felt

import os
import stat
import sys
from contextlib import suppress
from io import BufferedWriter, RawIOBase, TextIOWrapper

from pogstore import digest
from pogstore.store import begun as commands
from pogstore.store import gitargs, gitenv, outputs, spawn

TYPE_CHECKING = False  # what type checkers take it for; the module `typing` would cost more than all else here

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from _typeshed import ReadableBuffer

FORMATS = ("--porcelain", "--json")
COLORS = ("config", "--null", "--get-regexp", r"^color\.(pog|ui)$")
"""Asks for the settings that put colours into what is printed."""
UNCOMMITTED = b"0" * 40 + b" "
"""Begins a line of git's answer that depends on the clock and on git's index."""
CHUNK = 1 << 16
"""Bytes of a file that are read at once; fewer are its end."""
_TOLD = ("GIT_", "LANG", "LC_", "POG_")
_TOLD_WHOLE = ("CLICOLOR", "COLUMNS", "FORCE_COLOR", "HOME", "NO_COLOR", "TERM", "TZ", "XDG_CONFIG_HOME")
"""Variables that may change what is printed."""


def begun(arguments: "Sequence[str]") -> "Again | None":
    """Returns a command that may have been run before; nothing if it is not one of those whose output is kept."""
    *options, path = [each for each in arguments if each != "--"] or [""]
    if options not in ([], *([each] for each in FORMATS)) or path.startswith("-") or not path or ".." in path:
        return None
    if os.isatty(1) or any(name in os.environ for name in gitenv.LOCAL):
        return None
    written = os.path.abspath(path)
    folder, name = os.path.split(written)
    spelled = os.path.join(os.path.realpath(folder), name)
    top = os.getcwd()
    while not os.path.isdir(f"{top}/.git"):
        if os.path.lexists(f"{top}/.git") or top == "/":
            return None
        top = os.path.dirname(top)
    if not spelled.startswith(f"{top}/") or not _is_plain(top):
        return None
    return Again(top, spelled.removeprefix(f"{top}/"), list(arguments))


def _is_plain(top: str) -> bool:
    """Says whether git, too, takes a directory with `.git` for the root of a work tree: nothing says otherwise.

    The files are ours, on the file system on which the command runs, and no setting moves the work tree.
    """
    git_dir = f"{top}/.git"
    try:
        status = [os.stat(place) for place in (os.getcwd(), top, git_dir, f"{git_dir}/objects", f"{git_dir}/refs")]
        ours = os.lstat(f"{git_dir}/pog")
    except OSError:
        return False
    config = _content(f"{git_dir}/config").lower().replace(b"bare = false", b"")
    told = any(word in config for word in (b"bare", b"worktree", b"include", b"objectformat", b"refstorage"))
    same = len({each.st_dev for each in status}) == 1 and {each.st_uid for each in status[1:3]} == {os.geteuid()}
    return same and not told and stat.S_ISDIR(ours.st_mode) and b"HEAD" in os.listdir(os.fsencode(git_dir))


class Again:
    """One command that may have been run before, on a file below the root of a work tree."""

    def __init__(self, top: str, path: str, arguments: "Sequence[str]") -> None:
        self._top, self._path, self._arguments = top, path, arguments
        self.path = os.fsencode(path)
        self.form = arguments[0] if arguments[0] in FORMATS else None
        self._index = f"{top}/.git/pog/index.sqlite3"
        self._git = os.fsdecode(spawn.find_git(os.environb.get(b"PATH", os.defpath.encode())))
        self._before: bytes | None = None
        self._output, self._errors = _Tee(1), _Tee(2)
        self._blamed = self._begin(gitargs.blame(path))
        self._colors = None if self.form else commands.begin([self._git, *COLORS])

    def tell(self) -> bool:
        """Prints the answer if it is known; if not, says so and has git's answers ready for who works it out."""
        self._before = _state(self._top)
        known = None if self._before is None else self._recall(self._before)
        if known is not None:
            self._output.write(known)
            return True
        self._begin_history()
        return False

    def listen(self) -> None:
        """Lets what the command prints be heard."""
        sys.stdout, sys.stderr = self._output.text(), self._errors.text()

    def keep(self) -> None:
        """Keeps what a command that went well has printed, if nothing on which it depends has changed meanwhile."""
        heard = self._output.whole and not self._errors.heard
        if not heard or self._before is None or self._before != _state(self._top):
            return
        key = self._key(self._question(self._before))
        if key is not None:
            shelf = outputs.Shelf(self._index)
            shelf.keep(key, bytes(self._output.heard))
            shelf.close()

    def end(self) -> None:
        """Ends what was begun and is not needed."""
        commands.end_all()

    def _recall(self, state: bytes) -> bytes | None:
        """Returns what was kept; git's answer is waited for only if anything was kept that may be it."""
        question = self._question(state)
        shelf = outputs.Shelf(self._index)
        key = self._key(question) if shelf.knows(question) else None
        known = shelf.recall(key) if key is not None else None
        shelf.close()
        return known

    def _question(self, state: bytes) -> str:
        """Returns what begins the keys of all answers to this command, whatever git says."""
        told = [str(len(self._arguments)).encode(), *map(os.fsencode, self._arguments), os.fsencode(self._path)]
        return _digest((state, os.fsencode(os.getcwd()), *told, *_environment(), *_code()))

    def _key(self, question: str) -> str | None:
        """Returns the key of an answer; nothing where git says what depends on more than that, or settings do."""
        blamed = self._blamed.output()
        if blamed is None or blamed.startswith(UNCOMMITTED) or b"\n" + UNCOMMITTED in blamed:
            return None
        return None if self._has_colors else question + digest.hexdigest(blamed)

    @property
    def is_plain(self) -> bool:
        """Whether nothing waits in the spool and no setting puts colours into the answer."""
        return self._before is not None and not self._has_colors

    @property
    def _has_colors(self) -> bool:
        return self._colors is not None and bool(self._colors.output())

    def _command(self, arguments: "Sequence[str]") -> list[str]:
        return [self._git, *gitenv.QUIET, *gitenv.place(f"{self._top}/.git", self._top), *arguments]

    def _begin(self, arguments: "Sequence[str]", extra: "Mapping[str, str] | None" = None) -> commands.Begun:
        return commands.begin(self._command(arguments), extra)

    def _begin_history(self) -> None:
        """Begins what will be asked of git when all is loaded; if HEAD has moved by then it is asked again.

        Where the repository lies is known: `begun` has made sure that git would say the same.
        """
        places = (f"{self._top}/.git", f"{self._top}/.git", "false", "false", "sha1", self._top)
        commands.know([self._git, "-C", os.getcwd(), *gitargs.PLACES], os.fsencode("\n".join(places) + "\n"))
        tip = _tip(f"{self._top}/.git")
        if tip is not None:
            commands.know(self._command(gitargs.commit("HEAD")), f"{tip}\n".encode())
            self._begin(gitargs.former_names(tip, self._path), gitargs.LITERAL)
            self._begin(gitargs.changes(tip, [self._path]), gitargs.LITERAL)
            self._begin(gitargs.blob(tip, self._path), gitargs.LITERAL)


class _Tee(RawIOBase):
    """Writes to a descriptor and remembers what it wrote."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.heard = bytearray()
        self.whole = True

    def text(self) -> TextIOWrapper:
        """Returns a stream of text that writes here."""
        return TextIOWrapper(BufferedWriter(self), encoding="utf-8", errors="backslashreplace")

    def writable(self) -> bool:
        """Says that it can be written to."""
        return True

    def fileno(self) -> int:
        """Returns the descriptor."""
        return self._descriptor

    def isatty(self) -> bool:
        """Says whether a person reads."""
        return os.isatty(self._descriptor)

    def write(self, data: "ReadableBuffer") -> int:
        """Writes all of some bytes."""
        rest = memoryview(data)
        size = len(rest)
        self.heard += rest
        self.whole = False
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]
        self.whole = True
        return size


def _state(top: str) -> bytes | None:
    """Returns a digest of HEAD, of our refs and of what alters the history; nothing while records wait in the spool."""
    common = f"{top}/.git"
    with suppress(OSError), os.scandir(f"{common}/pog/spool") as entries:
        if any(entry.name.isdigit() or (entry.name == "current" and entry.stat().st_size) for entry in entries):
            return None
    files = ["HEAD", _branch(common), "packed-refs", "shallow", "info/grafts"]
    files += [*_below(common, "refs/pog"), *_below(common, "refs/replace")]
    return _digest([part for name in files for part in (os.fsencode(name), _content(f"{common}/{name}"))]).encode()


def _branch(common: str) -> str:
    """Returns the name of the ref that HEAD stands for; of one that names a commit itself it is its own."""
    head = _content(f"{common}/HEAD")
    return os.fsdecode(head.removeprefix(b"ref: ").strip()) if head.startswith(b"ref: ") else "HEAD"


def _tip(common: str) -> str | None:
    """Returns the commit of HEAD as its files name it; nothing where it is not as plain as that."""
    name = _branch(common)
    found = _content(f"{common}/{name}").strip()
    if not found:
        before, _, _ = _content(f"{common}/packed-refs").partition(b" %s\n" % os.fsencode(name))
        found = before[-40:]
    return found.decode() if len(found) == 40 and not found.strip(b"0123456789abcdef") else None


def _below(common: str, folder: str) -> "list[str]":
    """Returns the files below a folder, sorted by name."""
    found = []
    with suppress(OSError), os.scandir(f"{common}/{folder}") as entries:
        for entry in entries:
            name = f"{folder}/{entry.name}"
            found += _below(common, name) if entry.is_dir(follow_symlinks=False) else [name]
    return sorted(found)


def _content(path: str) -> bytes:
    """Returns what a file holds; nothing if it cannot be read. File objects would be felt for thousands of refs."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b""
    try:
        found = chunk = os.read(descriptor, CHUNK)
        while len(chunk) == CHUNK:
            chunk = os.read(descriptor, CHUNK)
            found += chunk
    except OSError:
        return b""
    finally:
        os.close(descriptor)
    return found


def _environment() -> "list[bytes]":
    """Returns the variables that may change what is printed."""
    told = (name for name in sorted(os.environ) if name in _TOLD_WHOLE or name.startswith(_TOLD))
    return [os.fsencode(f"{name}={os.environ[name]}") for name in told]


def _code() -> "list[bytes]":
    """Returns what tells one version of this code from another, also while somebody works on it."""
    package = os.path.dirname(os.path.dirname(__file__))
    found = []
    for folder in ("cli", "history", "store", "."):
        with os.scandir(f"{package}/{folder}") as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    status = entry.stat()
                    found.append(f"{folder}/{entry.name} {status.st_mtime_ns} {status.st_size}".encode())
    return sorted(found)


def _digest(parts: "Iterable[bytes]") -> str:
    return digest.hexdigest(b"".join(b"%d:%s" % (len(part), part) for part in parts))
