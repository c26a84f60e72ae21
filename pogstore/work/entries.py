"""What commits hold at paths: git's trees, read one folder at a time and each of them once.

So many paths of many commits cost no process, and no more than the folders in which they lie.
"""

from collections.abc import Mapping

from pogstore.model import Oid
from pogstore.store.contract import Objects
from pogstore.store.gitcli import Git

LITERAL = {"GIT_LITERAL_PATHSPECS": "1"}
"""A path given to git means itself, whatever characters it has."""

_LIMIT = 1 << 28
_MOST_COMMITS = 100
_FOLDER = "40000"
_OLD_FILE = "100664"

Entry = tuple[str, Oid]
"""Mode and oid, as git has them in a tree."""


class Entries:
    """The trees of one repository."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._roots: dict[str, Oid] = {}
        self._folders: dict[Oid, dict[bytes, Entry]] = {}

    def at(self, commit: str, path: bytes) -> Entry | None:
        """Returns what a commit has at a path, if that is not a folder; nothing of a commit that is not there yet ("").

        Raises `NotFound` or `ObjectDamaged` for objects that cannot be read.
        """
        if not commit:
            return None
        at = self._root(commit)
        *folders, name = path.split(b"/")
        for folder in folders:
            found = self._folder(at).get(folder)
            if found is None or found[0] != _FOLDER:
                return None
            at = found[1]
        entry = self._folder(at).get(name)
        return entry if entry is not None and entry[0] != _FOLDER else None

    def _root(self, commit: str) -> Oid:
        if commit not in self._roots:
            _, data = self._objects.read(Oid(commit), _LIMIT)
            self._roots[commit] = Oid(data[5:].partition(b"\n")[0].decode("ascii", "replace"))
        return self._roots[commit]

    def _folder(self, oid: Oid) -> dict[bytes, Entry]:
        if oid not in self._folders:
            self._folders[oid] = _parsed(self._objects.read(oid, _LIMIT)[1], len(oid) // 2)
        return self._folders[oid]


def _parsed(data: bytes, width: int) -> dict[bytes, Entry]:
    """Returns the entries of a raw tree, whose oids are so many bytes wide."""
    found: dict[bytes, Entry] = {}
    at = 0
    while at < len(data):
        end = data.index(b"\0", at)
        mode, _, name = data[at:end].partition(b" ")
        at = end + 1 + width
        text = mode.decode("ascii", "replace")
        found[name] = "100644" if text == _OLD_FILE else text, Oid(data[end + 1 : at].hex())
    return found


def paths_committed(git: Git, old: str, new: str, since: int) -> set[bytes]:
    """Returns the paths that changed between two commits, if all from the one to the other was written since a time.

    That is so if each commit on the way is the child of the one before, and its author wrote it in that second (since
    the epoch) or later. What a merge, a rebase, a pull or a cherry-pick brings was written before, as a rule.
    """
    form = ("--format=%at %P", f"--max-count={_MOST_COMMITS + 1}")
    done = git.run("log", *form, f"{old}..{new}" if old else new, "--", check=False)
    commits = [line.split(" ") for line in done.stdout.decode("ascii", "replace").splitlines()]
    if not commits or len(commits) > _MOST_COMMITS or commits[-1][1] != old:
        return set()
    if any(len(commit) != 2 or not commit[0].isdigit() or int(commit[0]) < since for commit in commits):
        return set()
    diff = ("diff-tree", "-r", "-z", "--no-renames", "--name-only", *(() if old else ("--root", "--no-commit-id")))
    found = git.run(*diff, *((old,) if old else ()), new, check=False).stdout.split(b"\0")
    return set(found[:-1])


def in_history(git: Git, wanted: Mapping[bytes, Entry], commit: str) -> set[bytes]:
    """Returns the paths at which some commit of HEAD, of a branch or of the one given has these blobs; one process."""
    plain = [path for path in wanted if b"\n" not in path]
    odd = [path.decode("utf-8", "surrogateescape") for path in wanted if b"\n" in path]
    form = ("--format=", "--raw", "-z", "--no-abbrev", "--no-renames", "--ignore-missing", "--stdin")
    tips = ("--branches", "HEAD", *((commit,) if commit else ()))
    stdin = b"".join(path + b"\n" for path in (b"--", *plain))
    done = git.run("log", *form, *tips, "--", *odd, stdin=stdin, check=False, env=LITERAL)
    fields = iter(done.stdout.split(b"\0"))
    found: set[bytes] = set()
    for field in fields:
        if field.startswith(b":"):
            after, path = field.split()[3].decode("ascii"), next(fields)
            found |= {path} if path in wanted and wanted[path][1] == after else set()
    return found
