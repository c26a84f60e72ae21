"""A look at a whole work tree: every path that differs from HEAD, as states of a record, in bounded time.

Git says which paths differ, by an index that is a copy of the user's; what they hold is read by `listed.py`. Nothing of
the user's is written to, and where something fails the look says so instead of guessing. Lies on the path of every
hook: see `spool.py`.
"""
# `pathlib` would cost a hook more than all it does
# ruff: noqa: PTH112, PTH116, PTH118

import os
import time

from pogstore.digest import hexdigest
from pogstore.store import spawn
from pogstore.work import looked, sighting, spool, unfinished
from pogstore.work.listed import Folders, Modes, Reader, ignored, mark_inside, read_up_to

TYPE_CHECKING = False  # what type checkers take it for; see `pogstore/__init__.py`

if TYPE_CHECKING:
    from collections.abc import Mapping

TIMEOUT = 2.0
"""Seconds that a look may take where nothing else is said."""
MOST_PATHS = 20_000
"""Paths that one look tells of."""
MOST_REPOSITORIES = 8
"""Repositories inside the work tree that are looked into."""

_WHOLE = b"whole"
_STATUS = (
    *(b"-c", b"core.splitIndex=false", b"-c", b"core.untrackedCache=false", b"-c", b"status.showStash=false"),
    *(
        b"status",
        b"--porcelain=v2",
        b"-z",
        b"--branch",
        b"--no-ahead-behind",
        b"--no-renames",
        b"--untracked-files=all",
    ),
)
_OURS = (b"--ignored=matching", b"--ignore-submodules=none")
_NO_LOCKS = {b"GIT_OPTIONAL_LOCKS": b"0"}
_LIMIT = 16 * 1024 * 1024
_PACKED_LIMIT = 64 * 1024 * 1024
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_HEX = frozenset(b"0123456789abcdef")
_NO_MODE = b"000000"

_FILE, _INDEXED, _IGNORED, _SUBMODULE, _REPOSITORY = range(5)
"""What git says of a path; `_INDEXED` is a file that is as the index says."""

Listing = tuple[bytes, dict[bytes, tuple[int, bytes]]]
"""HEAD, and what is said of each path, with its mode or nothing."""


class Look:
    """What was seen: the fields `head` and `look` of a record and its states, none of them if it is partial.

    `inside` are the repositories in the work tree that git says have changed. `log` is how many bytes HEAD's log had
    when the look began; -1 if that is not known.
    """

    __slots__ = ("_found", "_git_dir", "head", "inside", "log", "look", "states")

    def __init__(
        self,
        git_dir: bytes,
        head: bytes,
        look: bytes,
        states: list[bytes],
        found: "Mapping[bytes, looked.Known] | None" = None,
    ) -> None:
        self.head, self.look, self.states = head, look, states
        self.inside: list[sighting.Place] = []
        self.log = -1
        self._git_dir, self._found = git_dir, found

    def remember(self) -> None:
        """Lets the next look leave out the bytes that this one has; to be called when they are on disk in a record."""
        if self._found is not None:
            looked.save(self._git_dir, self._found)


def look(place: sighting.Place, max_blob: int, timeout: float = TIMEOUT) -> Look:
    """Looks at a work tree for at most `timeout` seconds; files larger than `max_blob` are not read.

    Where the look is partial (`timeout`, `too-many`, `no-git`, `operation`, `failed`) there are no states. Raises
    nothing but what no program can expect.
    """
    deadline = time.monotonic() + timeout
    private = looked.Private(place[1])
    head = head_of(place[1], place[2])
    begun = unfinished.trace(place[1])
    log = _log_size(place[1])
    try:
        reason = b"too-many"
        if not private.is_vast(head):
            done = _whole(place, private, max_blob, deadline)
            if not begun[0] and unfinished.trace(place[1]) == begun:
                done.log = log
                return done
            reason = b"operation"
    except TimeoutError:
        reason = b"timeout"
    except OverflowError:
        private.set_vast(head)
        reason = b"too-many"
    except FileNotFoundError:
        reason = b"no-git"
    except (OSError, ValueError):
        reason = b"failed"
    finally:
        private.close()
    return Look(place[1], head_of(place[1], place[2]), b"partial " + reason, [])


def _log_size(git_dir: bytes) -> int:
    try:
        return os.stat(git_dir + b"/logs/HEAD").st_size
    except FileNotFoundError:
        return 0
    except OSError:
        return -1


def _whole(place: sighting.Place, private: looked.Private, max_blob: int, deadline: float) -> Look:
    root, git_dir, common_dir = place
    head, entries = _listing(place, private, deadline)
    _leave_out_git_dirs(entries, place)
    if len(entries) > MOST_PATHS:
        raise OverflowError(MOST_PATHS)
    try:
        folders = Folders(root)
    except FileNotFoundError as fault:
        raise ValueError("the work tree is gone") from fault
    try:
        known = private.load()
        reader = Reader(folders, max_blob, known, Modes(git_dir, common_dir), private.now, deadline)
        states = _States(root, folders, reader, deadline)
        found = [state for path in sorted(entries) if (state := states.of(path, *entries[path])) is not None]
    finally:
        folders.close()
    done = Look(git_dir, head, _WHOLE, found, reader.found if reader.found != known else None)
    done.inside = states.inside
    return done


def _leave_out_git_dirs(entries: dict[bytes, tuple[int, bytes]], place: sighting.Place) -> None:
    """Takes out what lies in a git dir that is not called `.git`: the repository's own, and others that git lists."""
    root = place[0].rstrip(b"/") + b"/"
    own = [path[len(root) :] + b"/" for path in place[1:] if path.startswith(root)]
    heads = [path for path, (said, mode) in entries.items() if path.endswith(b"/HEAD") and not mode and said == _FILE]
    own += [path[:-4] for path in heads if sighting.looks_like_git_dir(root + path[:-5])]
    if own:
        for path in [path for path in entries if path.startswith(tuple(own))]:
            del entries[path]


def _listing(place: sighting.Place, private: looked.Private, deadline: float) -> Listing:
    """Asks git, by our copy of the index if there can be one; raises `ValueError` if git fails or is not understood."""
    root, git_dir, _ = place
    command = (b"--git-dir=" + git_dir, b"--work-tree=" + root, *_STATUS, *_OURS)
    environ = private.index()
    output = None
    if environ:
        output = spawn.run(command, cwd=root, environ=environ, deadline=deadline, limit=_LIMIT)
        if output is None:
            private.drop_index()
    if output is None:
        output = spawn.run(command, cwd=root, environ=_NO_LOCKS, deadline=deadline, limit=_LIMIT)
    if output is None:
        raise ValueError("git fails")
    return parse(output)


def parse(output: bytes) -> Listing:
    """Returns what `git status --porcelain=v2 -z` says; raises `ValueError` for what it never says."""
    head: dict[bytes, bytes] = {}
    entries: dict[bytes, tuple[int, bytes]] = {}
    lines = iter(output.split(b"\0"))
    for line in lines:
        begin, rest = line[:2], line[2:]
        if begin == b"# ":
            name, _, value = rest.partition(b" ")
            head[name] = value
        elif begin == b"1 ":
            xy, sub, _, _, mode, _, _, path = rest.split(b" ", 7)
            _add(entries, path, *_changed(xy, sub, mode))
        elif begin == b"u ":
            xy, sub, _, _, _, mode, _, _, _, path = rest.split(b" ", 9)
            _add(entries, path, *_changed(xy, sub, mode))
        elif begin == b"? ":
            nested = rest.endswith(b"/")
            _add(entries, rest.rstrip(b"/"), _REPOSITORY if nested else _FILE, b"")
        elif begin == b"! ":
            if not rest.endswith(b"/"):
                _add(entries, rest, _IGNORED, b"")
        elif line:
            raise ValueError("git says something else")
    return _head(head), entries


def _changed(xy: bytes, sub: bytes, mode: bytes) -> tuple[int, bytes]:
    if sub.startswith(b"S"):
        return _SUBMODULE, b""
    if mode == _NO_MODE:
        return _FILE, b""
    return (_INDEXED if xy.endswith(b".") else _FILE), mode


def _add(entries: dict[bytes, tuple[int, bytes]], path: bytes, said: int, mode: bytes) -> None:
    """Takes what git says of a path; of one that is removed from the index and still there, what it says last."""
    if b".git" not in path.lower().split(b"/") and not unfinished.is_temporary(path):
        entries[path] = said, mode


def _head(values: "Mapping[bytes, bytes]") -> bytes:
    oid, name = values.get(b"branch.oid", b""), values.get(b"branch.head", b"")
    if not oid or not name:
        raise ValueError("git does not say what HEAD is")
    branch = b"" if name == b"(detached)" else name if name.startswith(b"refs/") else b"refs/heads/" + name
    return b"%b %b" % (b"" if oid == b"(initial)" else oid, branch)


class _States:
    """Makes the state of each listed path."""

    __slots__ = ("_deadline", "_folders", "_left", "_reader", "_root", "inside")

    def __init__(self, root: bytes, folders: Folders, reader: Reader, deadline: float) -> None:
        self._root, self._folders, self._reader, self._deadline = root, folders, reader, deadline
        self._left = MOST_REPOSITORIES
        self.inside: list[sighting.Place] = []

    def of(self, path: bytes, said: int, mode: bytes) -> bytes | None:
        if said == _IGNORED:
            return ignored(self._folders, path)
        if said in (_SUBMODULE, _REPOSITORY):
            inner = self._inner(path)
            if inner is not None or os.path.isdir(os.path.join(self._root, path)):
                return self._repository(path, said, inner)
        return self._reader.state(path, mode, as_indexed=said == _INDEXED)

    def _inner(self, path: bytes) -> sighting.Place | None:
        """Returns the repository at a path, which may be a file or nothing by now."""
        at = os.path.join(self._root, path)
        place = sighting.find_place(at)
        return place if place is not None and place[0] == at else None

    def _repository(self, path: bytes, said: int, inner: sighting.Place | None) -> bytes:
        reason = b"submodule" if said == _SUBMODULE else b"repository"
        if inner is None:
            return spool.unseen(path, reason)
        self.inside.append(inner)
        head = head_of(inner[1], inner[2])
        mark = b""
        if self._left > 0:
            self._left -= 1
            # one that is large must leave time for the rest
            until = time.monotonic() + max(0.0, self._deadline - time.monotonic()) / 2
            head, mark = _inside_submodule(inner[0], head, until) if said == _SUBMODULE else (head, mark)
            mark = mark_inside(inner[0], until) if said == _REPOSITORY else mark
        commit = head.partition(b" ")[0]
        if mark:
            mark = hexdigest(head + b"\0" + mark).encode()
        return spool.unseen(path, reason, mark=mark, commit=commit if said == _SUBMODULE else b"")


def _inside_submodule(root: bytes, head: bytes, deadline: float) -> tuple[bytes, bytes]:
    """Returns HEAD and a mark of a submodule, into which git looks as well; no mark if that takes too long."""
    try:
        output = spawn.run(_STATUS, cwd=root, environ=_NO_LOCKS, deadline=deadline, limit=_LIMIT)
        head, entries = parse(output or b"")
    except (OSError, OverflowError, ValueError):
        return head, b""
    if len(entries) > MOST_PATHS or output is None:
        return head, b""
    return head, output + b"".join(
        [b"%b\0%b\0" % (path, _stat_of(os.path.join(root, path))) for path in sorted(entries)]
    )


def _stat_of(path: bytes) -> bytes:
    try:
        return looked.stat_text(os.stat(path, follow_symlinks=False))
    except OSError:
        return b""


def head_of(git_dir: bytes, common_dir: bytes) -> bytes:
    """Returns the `head` of a record by reading files alone; nothing where these do not say it.

    They do not in a repository with reftable, and where the packed refs are too large to be read at every step.
    """
    text = _small(git_dir, b"HEAD")
    if _is_oid(text):
        return text + b" "
    branch = name = _target(text)
    for _ in range(5):  # as many links as git follows
        if not name.startswith(b"refs/") or b".." in name or name == b"refs/heads/.invalid":
            return b""
        text = _small(common_dir, name) or _small(git_dir, name) or _packed(common_dir, name)
        if _is_oid(text) or not text:
            return text + b" " + branch
        name = _target(text)
    return b""


def _target(text: bytes) -> bytes:
    return text[4:].strip() if text.startswith(b"ref:") else b""


def _is_oid(text: bytes) -> bool:
    return len(text) in (40, 64) and _HEX.issuperset(text)


def _small(folder: bytes, name: bytes) -> bytes:
    path = os.path.join(folder, name)
    try:
        return (_read(path, 4096) or b"").strip()
    except OSError:
        return b""


def _packed(common_dir: bytes, name: bytes) -> bytes:
    """Returns the oid of a packed ref, nothing if it is not there; a word that is neither if that cannot be known."""
    try:
        data = _read(common_dir + b"/packed-refs", _PACKED_LIMIT)
    except FileNotFoundError:
        return b""
    except OSError:
        return b"?"
    if data is None:
        return b"?"
    at = data.find(b" " + name + b"\n")
    return data[data.rfind(b"\n", 0, at) + 1 : at] if at >= 0 else b""


def _read(path: bytes, limit: int) -> bytes | None:
    """Returns what a file holds; `None` if that is more than `limit`."""
    file = os.open(path, _READ)
    try:
        data = read_up_to(file, limit + 1)
    finally:
        os.close(file)
    return data if len(data) <= limit else None
